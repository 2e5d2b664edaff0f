"""Match dicts of dicts, `{query: {doc: grade}}` and `{query: {doc: score}}`.

Numbers are converted first, and judged documents are looked up in the dicts; ids are packed only if the policy
needs them.
"""

import math
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from gainful.arithmetic.number_arrays import LARGEST_EXACT
from gainful.array_types import Floats, Ints
from gainful.errors import InputError, warn
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.match import (
    Hits,
    JudgedRows,
    Numbers,
    Run,
    Work,
    applied,
    documents_in,
    match_part,
    packed_documents,
    steps_of,
    unjudged_documents,
)
from gainful.matching.matched import Matched, offsets_of
from gainful.measures.policy import Policy
from gainful.message_texts import shown_with_type
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.rows.identifiers import empty_id, id_text, in_order, refuse_halves
from gainful.rows.packed_rows import PackedRows, packed
from gainful.rows.values_as_numbers import (
    beyond_single,
    in_single,
    is_array,
    is_held,
    plain_number,
)

if TYPE_CHECKING:
    from gainful.rows.duckdb_engine import Session
    from gainful.rows.table_source import Source

DocNumbers = Mapping[Any, float]
Result = TypeVar("Result")

_AFTER_DIGITS = ":"  # the character after 9; the minus sign comes before 0
_LONGEST_INTEGER = 20  # digits; programs don't use longer integers as ids
_BYTES = 8  # per float64
_PART = 1 << 16  # documents matched at a time
_PLAIN = {int, float, bool}  # the types of numbers that aren't arrays
_NUMBER = struct.Struct("d")
# What converting a value to a float64 raises if it isn't a number, or is a tensor that requires gradients.
_NO_NUMBER = (struct.error, OverflowError, TypeError, ValueError, RuntimeError)


class DictRun(Run):
    """A run given as a dict of dicts: query → document → score, higher is better.

    >>> from gainful.matching.match import match
    >>> policy = Policy(ties="doc")
    >>> judged = judged_rows({"q": {"a": 2, "b": 1}}, policy)
    >>> matched = match(judged, DictRun({"q": {"a": 0.5, "x": 0.9}}, judged), policy)
    >>> matched.rank.tolist(), matched.grade.tolist(), matched.pool_grades.tolist()
    ([2], [2.0], [2.0, 1.0])
    """

    def __init__(
        self,
        documents: Mapping[Any, DocNumbers],
        judged: JudgedRows,
        table: "tuple[Session, Source] | None" = None,
    ) -> None:
        """Store the documents of each query, the judgments to match, and the table that holds both, if any."""
        self._documents, self._judged, self.table = queries_of(documents, RUN.name), judged, table
        if table is not None:
            self.name = table[1].name
        lists = self._documents.values()
        if lists and not any(lists) and not judged.number_of.keys().isdisjoint(self._documents):
            warn(
                "lists: all lists of the run are empty, so every query counts as answered with nothing."
            )

    def each(self, work: Work[Result], depth: int | None, policy: Policy) -> list[Result] | None:
        """Process some queries at a time, so that the numbers of all never are in memory together."""
        del depth
        results: list[Result] = []
        for part in self._parts():
            result = work(_DictRows(part, self._judged, policy))
            if result is None:
                return None
            results.append(result)
        return results

    def _parts(self) -> Iterator[dict[str, DocNumbers]]:
        """Yield all queries, some at a time."""
        part: dict[str, DocNumbers] = {}
        size = 0
        for query, documents in self._documents.items():
            part[query] = documents
            size += len(documents)
            if size > _PART:
                yield part
                part, size = {}, 0
        if part or not self._documents:
            yield part

    def refuse_duplicate(self, query: str, doc: str) -> NoReturn:
        """Reject an id that occurs both as a string and as an integer."""
        if self.table is not None:
            super().refuse_duplicate(query, doc)
        raise _in_two_ways(RUN.name, query, doc, by_policy=True)


class _DictRows(Numbers):
    """The scores of a dict of dicts; ids are read only where they matter for a value."""

    def __init__(
        self, documents: Mapping[str, DocNumbers], judged: JudgedRows, policy: Policy
    ) -> None:
        number_of = judged.number_of
        mine = [query for query in documents if query in number_of]
        self._others = [query for query in documents if query not in number_of]
        self.names = [*mine, *self._others]
        self._policy, self._queries = policy, mine
        self._documents = [documents[query] for query in mine]
        counts = np.fromiter(map(len, self._documents), np.int64, len(mine))
        self.retrieved = np.concatenate((counts, np.zeros(len(self._others), np.int64)))
        self.starts = offsets_of(self.retrieved)
        self.numbers = np.empty(int(self.starts[-1]))
        self._wanted: list[Any] = []
        at = 0
        for query, scores, count in zip(mine, self._documents, counts.tolist(), strict=True):
            _pack(scores, self.numbers, at, RUN, query)
            at += count * _BYTES
            docs = judged.documents[number_of[query]]
            if _has_other_ids(scores, docs):
                scores = documents_of(scores, RUN, query, policy)
            self._wanted += map(scores.get, docs)
        if any("" in scores for scores in self._documents):
            query = next(query for query in mine if "" in documents[query])
            raise empty_id(f"run, query {query!r}, document ids")
        _refuse_unusable(self.numbers, self._documents, RUN, mine)

    def find(self, judged: JudgedRows, number: Ints, lists: Ints) -> Hits:
        """Return the hits that were found with the numbers, since looking up judged documents is cheap."""
        list_of, judged_row = judged.lists_and_rows(number)
        score = self._scores_of_judged()
        there = (~np.isnan(score)).nonzero()[0]
        judged_row = judged_row[there]
        return Hits(lists[list_of[there]], judged_row, judged.grades[judged_row], score[there])

    def _scores_of_judged(self) -> Floats:
        """Return the scores (m,) of the judged documents, NaN for documents that were not retrieved."""
        with suppress(*_NO_NUMBER):
            scores = np.array(self._wanted, np.float64)  # None becomes NaN
            if scores.ndim == 1:
                return scores
        # Arrays, or tensors that NumPy doesn't convert.
        refuse_arrays_in(self._documents, RUN, self._queries)
        plain = [math.nan if score is None else plain_number(score) for score in self._wanted]
        return np.array(plain, np.float64)

    def packed(self, lists: Ints | None = None) -> PackedRows:
        """Return the rows of some queries, or of all, with their ids."""
        places = [*range(len(self._queries))] if lists is None else lists.tolist()
        names = [self._queries[place] for place in places]
        documents = [
            documents_of(self._documents[place], RUN, self._queries[place], self._policy)
            for place in places
        ]
        numbers = self.numbers
        if lists is not None or sum(map(len, documents)) < numbers.size:
            numbers = numbers_of(documents, RUN, names)
        others = [] if lists is not None else self._others
        return packed([*names, *others], [*documents, *([()] * len(others))], numbers)


def judged_rows(judgments: Mapping[Any, DocNumbers], policy: Policy) -> JudgedRows:
    """Return judgments under a policy."""
    by_query = queries_of(judgments, JUDGMENTS.name)
    queries = in_order(by_query)
    documents = [documents_of(by_query[query], JUDGMENTS, query, policy) for query in queries]
    if not any(documents):
        raise InputError("judgments", "at least one judged document", "none")
    grades = numbers_of(documents, JUDGMENTS, queries)
    refuse_arrays_in(documents, JUDGMENTS, queries)
    starts = offsets_of(np.fromiter(map(len, documents), np.int64, len(documents)))
    return JudgedRows(queries, starts, grades, documents=documents).under(policy)


def match_queries(
    documents: Sequence[tuple[str, DocNumbers, DocNumbers | None]], policy: Policy
) -> Matched:
    """Match some queries after all steps of the policy: id, grades, and scores (None if the run lacks it).

    >>> matched = match_queries([("q", {"a": 2}, {"a": 0.5}), ("r", {"a": 1}, None)], Policy(ties="doc"))
    >>> matched.rank.tolist(), matched.missing.tolist()
    ([1], [False, True])
    """
    if policy.unjudged == "error":
        for query, grades, scores in documents:
            docs = [doc for doc in scores or () if doc not in grades]
            if docs:
                raise unjudged_documents(query, docs)
    queries = [query for query, _, _ in documents]
    names = [f"{place:09}" for place in range(len(queries))]  # a query may occur for several runs
    graded = [grades for _, grades, _ in documents]
    starts = offsets_of(np.fromiter(map(len, graded), np.int64, len(graded)))
    judged = JudgedRows(
        names,
        starts,
        numbers_of(graded, JUDGMENTS, queries),
        documents=[[*docs] for docs in graded],
    )
    listed = {
        name: scores
        for name, (_, _, scores) in zip(names, documents, strict=True)
        if scores is not None
    }
    for query, _, scores in documents:
        refuse_arrays_in([scores or {}], RUN, [query])
    plain = replace(policy, duplicates="error", fold="none", drop_self="no", precision="double")
    if policy.fold == "none":
        rows: PackedRows | Numbers = _DictRows(listed, judged, plain)
    else:
        returned = [*listed.values()]
        rows = packed_documents(listed, returned, numbers_of(returned, RUN, [*listed]))
    return replace(match_part(judged, rows, plain)[0], queries=tuple(queries))


def judged_of(grades: DocNumbers, query: str, policy: Policy) -> DocNumbers:
    """Return the judged documents of a query that count; reject grades that aren't finite numbers."""
    documents = documents_of(grades, JUDGMENTS, query, policy)
    numbers = numbers_of([documents], JUDGMENTS, [query])
    steps = steps_of(policy, judgments=True, once=True)
    if not steps:
        return documents
    rows = packed([query], [documents], numbers)
    return {doc: documents[doc] for doc in applied(rows, steps, policy).texts()}


def returned_of(
    scores: DocNumbers, query: str, policy: Policy, chunks: Chunks | None
) -> DocNumbers:
    """Return the retrieved documents of a query that count, with scores rounded and chunks folded."""
    documents = documents_of(scores, RUN, query, policy)
    numbers = numbers_of([documents], RUN, [query])
    steps = steps_of(policy, once=True)
    if not steps and policy.precision == "double":
        return documents
    rows = packed([query], [documents], numbers)
    if policy.precision == "single":
        single = in_single(numbers)
        if np.isinf(single).any():
            place = int(np.flatnonzero(np.isinf(single))[0])
            doc, score = rows.texts()[place], float(numbers[place])
            raise beyond_single(f"run, query {query!r}, document {doc!r}", score)
        rows = replace(rows, numbers=single)
    return documents_in(applied(rows, steps, policy, chunks))[0]


def queries_of(source: object, what: str) -> dict[str, DocNumbers]:
    """Return the queries by id as text; each value must be a dict of documents."""
    if not isinstance(source, Mapping):
        raise InputError(what, "a dict {query: {doc: number}}", shown_with_type(source))
    for query, documents in source.items():
        if not isinstance(documents, Mapping):
            raise InputError(
                f"{what}, query {query!r}",
                "a dict {doc: number}",
                shown_with_type(documents),
            )
    if "" in source:
        raise empty_id(f"{what}, query ids")
    if {*map(type, source)} <= {str}:
        if not "".join(source).isascii():
            refuse_halves(source, where=f"{what}, query ids")
        return dict(source)
    queries: dict[str, DocNumbers] = {}
    for query, documents in source.items():
        text = id_text(query, where=f"{what}, query ids")
        if text in queries:
            raise InputError(
                f"{what}, query ids", "each query once", f"{text!r} as a string and as an integer"
            )
        queries[text] = documents
    return queries


def _has_other_ids(returned: DocNumbers, judged: Collection[str]) -> bool:
    """Return whether a run has ids that aren't strings and matter for the value.

    The first id is representative unless types are mixed. In a mixture, only judged documents given as
    integers matter; checking the type of every id would take a third of the time of an evaluation.
    """
    for doc in returned:
        if not isinstance(doc, str):
            return True
        break
    if min(judged, default=_AFTER_DIGITS) >= _AFTER_DIGITS:
        return False  # no id begins like an integer
    integers = [*filter(str.isdecimal, judged)]
    integers += [doc for doc in judged if doc[:1] == "-" and doc[1:].isdecimal()]
    return any(len(doc) < _LONGEST_INTEGER and int(doc) in returned for doc in integers)


def documents_of(source: DocNumbers, kind: Kind, query: str, policy: Policy | None) -> DocNumbers:
    """Return the documents of a query by id as text; the policy is None if no policy applies."""
    where = f"{kind.name}, query {query!r}, document ids"
    try:
        every = "".join(source)  # raises unless all are strings, faster than checking each type
    except TypeError:
        pass
    else:
        if not every.isascii():
            refuse_halves(source, where=where)
        if "" in source:
            raise empty_id(where)
        return source
    rule = "error" if policy is None else policy.duplicates
    documents: dict[str, float] = {}
    for doc, number in source.items():
        text = id_text(doc, where=where)
        if text not in documents:
            documents[text] = number
        elif rule == "best":
            documents[text] = max(documents[text], number)
        elif rule == "error":
            raise _in_two_ways(kind.name, query, text, by_policy=policy is not None)
    return documents


def _in_two_ways(what: str, query: str, doc: str, *, by_policy: bool) -> InputError:
    return InputError(
        f"{what}, query {query!r}",
        "each document once",
        f"{doc!r} as a string and as an integer",
        "Remove one, or set the policy duplicates=first or duplicates=best."
        if by_policy
        else "Remove one of them.",
        code="rows.duplicate",
    )


def numbers_of(documents: Sequence[DocNumbers], kind: Kind, queries: Sequence[str]) -> Floats:
    """Return the numbers (n,) of the documents of queries (q,); reject numbers that aren't finite."""
    numbers = np.empty(sum(map(len, documents)))
    at = 0
    for query, docs in zip(queries, documents, strict=True):
        _pack(docs, numbers, at, kind, query)
        at += len(docs) * _BYTES
    _refuse_unusable(numbers, documents, kind, queries)
    return numbers


def _pack(documents: DocNumbers, numbers: Floats, at: int, kind: Kind, query: str) -> None:
    """Write the numbers of a query's documents into memory, from a byte on."""
    try:
        # struct converts several times faster than NumPy, and rejects values that aren't numbers.
        struct.pack_into(f"{len(documents)}d", numbers, at, *documents.values())
    except _NO_NUMBER:
        _refuse_unusable_numbers(documents, kind, query)


def _refuse_unusable(
    numbers: Floats, documents: Sequence[DocNumbers], kind: Kind, queries: Sequence[str]
) -> None:
    """Reject numbers that aren't finite, and integers that a float64 can't represent."""
    if not numbers.size or max(numbers.max(), -numbers.min()) < LARGEST_EXACT:  # false for NaN
        return
    for query, docs in zip(queries, documents, strict=True):
        _refuse_unusable_numbers(docs, kind, query)


def refuse_arrays_in(documents: Sequence[DocNumbers], kind: Kind, queries: Sequence[str]) -> None:
    """Reject arrays and tensors among the numbers of queries, with a quick check of their types."""
    if {type(number) for docs in documents for number in docs.values()} <= _PLAIN:
        return
    for query, docs in zip(queries, documents, strict=True):
        refuse_arrays(docs, kind, kind.name, query)


def refuse_arrays(documents: DocNumbers, kind: Kind, name: str, query: object) -> None:
    """Reject arrays and tensors with dimensions, although float() accepts some of them."""
    for doc, number in documents.items():
        if is_array(number):
            raise kind.no_number(f"{name}, query {query!r}, document {doc!r}", number)


def _refuse_unusable_numbers(documents: DocNumbers, kind: Kind, query: str) -> None:
    """Reject numbers that aren't finite, and integers that a float64 can't represent."""
    for doc, number in documents.items():
        value, where = float64_of(number), f"{kind.name}, query {query!r}, document {doc!r}"
        if value is None or not math.isfinite(value):
            raise kind.no_number(where, number)
        if not is_held(number):
            raise kind.inexact(where, str(number))


def float64_of(number: object) -> float | None:
    """Return a number as matching converts it; None if it isn't a number."""
    try:
        value: float = _NUMBER.unpack(_NUMBER.pack(number))[0]
    except _NO_NUMBER:
        return None
    return value


def treat_unjudged(
    choice: str | float, query: str, judged: DocNumbers, returned: DocNumbers
) -> tuple[DocNumbers, DocNumbers]:
    """Return the grades and the scores of a query after the policy for unjudged documents."""
    if choice == "zero":
        return judged, returned
    if choice == "condense":
        return judged, {doc: score for doc, score in returned.items() if doc in judged}
    unjudged = [doc for doc in returned if doc not in judged]
    if choice == "error" and unjudged:
        raise unjudged_documents(query, unjudged)
    return {
        **judged,
        **dict(zip(unjudged, repeat(float(choice)))),
    } if unjudged else judged, returned
