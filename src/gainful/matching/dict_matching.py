"""Dicts of dicts, `{query: {doc: grade}}` and `{query: {doc: score}}`, → Matched.

A run is never ordered document by document: the scores of a query are sorted as bare
numbers, and two binary searches give the tie block of each judged document.
"""

import math
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import repeat
from typing import Any, NoReturn

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.errors import InputError, warn
from gainful.inputs.arrays import LARGEST_EXACT
from gainful.inputs.disjoint_documents import warn_of_disjoint_documents
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.inputs.identifiers import (
    empty_id,
    examples,
    id_text,
    in_order,
    refuse_disjoint_queries,
    refuse_halves,
)
from gainful.inputs.single_precision import beyond_single, in_single
from gainful.inputs.values_as_numbers import INEXACT, is_array, is_held, plain_number
from gainful.matching.chunks_to_documents import (
    Chunks,
    FurtherChunk,
    fold,
    further_chunks,
    without_self,
)
from gainful.matching.matched import Matched, offsets_of
from gainful.matching.minus_one_marks import without_negative
from gainful.matching.rank_search import by_rank
from gainful.measures.policy import Policy
from gainful.message_texts import shown, shown_with_type

DocNumbers = Mapping[Any, float]

_AFTER_DIGITS = ":"  # the character after 9; the minus sign stands before 0
_LONGEST_INTEGER = 20  # digits: an id of more is no integer that a program counts with


def match(
    judgments: Mapping[object, Mapping[object, float]],
    run: Mapping[object, Mapping[object, float]],
    policy: Policy,
    depth: int | None = None,
    chunks: Chunks | None = None,
) -> Matched:
    """Match a run with its judgments.

    Args:
        judgments: query → document → grade.
        run: query → document → score, higher is better.
        policy: with `ties` decided.
        depth: the deepest rank that matters; None for all.
        chunks: how to fold chunks to documents.

    >>> matched = match({"q": {"a": 2, "b": 1}}, {"q": {"a": 0.5, "x": 0.9}}, Policy(ties="doc"))
    >>> matched.rank.tolist(), matched.grade.tolist(), matched.pool_grades.tolist()
    ([2], [2.0], [2.0, 1.0])
    """
    judged = queries_of(judgments, "judgments")
    returned = queries_of(run, "run")
    if not any(judged.values()):
        raise InputError("judgments", "at least one judged document", "none")
    if not returned:
        raise InputError("run", "at least one retrieved document", "none")
    if judged.keys().isdisjoint(returned):
        refuse_disjoint_queries(judged, returned)
    if not any(returned.values()):
        warn(
            "lists: all lists of the run are empty, so every query counts as answered with nothing."
        )
    queries = in_order(judged)
    rows = _Rows(policy, depth, chunks)
    for query in queries:
        rows.add(query, judged[query], returned.get(query))
    matched = rows.matched(queries, tuple(in_order(returned.keys() - judged.keys())))
    if not rows.shared and matched.unjudged.any():
        warn_of_disjoint_documents(
            (
                (
                    judged_of(judged[query], query, policy),
                    returned_of(returned[query], query, policy, chunks),
                )
                for query in queries
                if query in returned
            ),
            folded=chunks is not None,
        )
    return matched


class _Rows:
    """The rows gathered so far, query by query."""

    def __init__(
        self, policy: Policy, depth: int | None = None, chunks: Chunks | None = None
    ) -> None:
        self.policy = policy
        self.depth = depth
        self.chunks = chunks
        self.rank_first: list[Ints] = []
        self.rank_last: list[Ints] = []
        self.rank: list[Ints] = []
        self.grade: list[Floats] = []
        self.pool: list[Floats] = []
        self.retrieved: list[int] = []
        self.seen: list[int] = []
        self.unjudged: list[int] = []
        self.missing: list[bool] = []
        self.lowest_grade = math.inf
        self.shared = False  # is any judged document in the run?

    def add(self, query: str, grades: DocNumbers, scores: DocNumbers | None) -> None:
        """Match one query; `scores` is None where the run lacks it."""
        judged = judged_of(grades, query, self.policy)
        returned = self._returned({} if scores is None else scores, query, judged)
        pool = sorted_numbers(judged, "grade", "judgments", query)
        if pool.size:
            self.lowest_grade = min(self.lowest_grade, float(pool[0]))
        if self.policy.fold == "in_place":
            judged = {**judged, **further_chunks(returned, judged)}
        ascending = None
        if self.policy.unjudged == "zero":  # now, since documents are then found in the cache
            ascending = sorted_numbers(returned, "score", "run", query)
        shared = judged.keys() & returned.keys()
        unjudged = len(returned) - len(shared)
        self.shared = self.shared or bool(shared)
        if ascending is None:
            if unjudged:
                judged, returned = treat_unjudged(self.policy.unjudged, query, judged, returned)
                shared = judged.keys() & returned.keys()
                whole = {doc: g for doc, g in judged.items() if not isinstance(doc, FurtherChunk)}
                pool = sorted_numbers(whole, "grade", "judgments", query)
            ascending = sorted_numbers(returned, "score", "run", query)
        wanted, grade = _shared_numbers(shared, judged, returned, query)
        last = ascending.size - ascending.searchsorted(wanted, "left")
        first = ascending.size + 1 - ascending.searchsorted(wanted, "right")
        rank = first
        if self.policy.ties in _ORDERS and (first < last).any():
            docs = returned
            if self.chunks is None:  # else they are texts already
                docs = documents_of(returned, "run", query, self.policy)
            rank = _untied(first, list(shared), docs, _ORDERS[self.policy.ties])
        seen = ascending.size
        if self.depth is not None and self.depth < seen:
            edge = ascending[-self.depth]
            seen -= int(ascending.searchsorted(edge, "left"))
            unjudged = seen - int((first <= self.depth).sum())
            near = rank <= self.depth
            first, last, rank, grade = first[near], last[near], rank[near], grade[near]
        self.rank_first.append(first)
        self.rank_last.append(last)
        self.rank.append(rank)
        self.grade.append(grade)
        self.seen.append(seen)
        self.pool.append(pool[::-1])
        self.retrieved.append(ascending.size)
        self.unjudged.append(unjudged)
        self.missing.append(scores is None)

    def _returned(self, scores: DocNumbers, query: str, judged: DocNumbers) -> DocNumbers:
        """Return the retrieved documents of a query; ids that matter for no value stay as they are."""
        if "" in scores:
            raise empty_id(f"run, query {query!r}, document ids")
        plain = (self.policy.drop_self, self.policy.precision) == ("no", "double")
        if self.chunks is not None or not plain:
            return returned_of(scores, query, self.policy, self.chunks)
        if _has_other_ids(scores, judged):
            return documents_of(scores, "run", query, self.policy)
        return scores

    def matched(self, queries: list[str], extra: tuple[str, ...]) -> Matched:
        """Put the rows together in their canonical order."""
        lengths = np.array([rows.size for rows in self.rank], np.int64)
        offsets = offsets_of(lengths)
        # + 0: there is no −0.
        rank, grade = np.concatenate(self.rank), np.concatenate(self.grade) + 0.0
        order = by_rank(np.repeat(np.arange(lengths.size), lengths), rank, grade)
        return Matched(
            queries=tuple(queries),
            offsets=offsets,
            rank_first=np.concatenate(self.rank_first)[order],
            rank_last=np.concatenate(self.rank_last)[order],
            rank=rank[order],
            grade=grade[order],
            retrieved=np.array(self.retrieved, np.int64),
            seen=np.array(self.seen, np.int64),
            pool_offsets=offsets_of(np.array([pool.size for pool in self.pool], np.int64)),
            pool_grades=np.concatenate(self.pool) + 0.0,
            unjudged=np.array(self.unjudged, np.int64),
            missing=np.array(self.missing, np.bool_),
            lowest_grade=self.lowest_grade,
            extra=extra,
        )


def match_queries(
    documents: Sequence[tuple[str, DocNumbers, DocNumbers | None]], policy: Policy
) -> Matched:
    """Match some queries alone: id, grades, and scores, folded already; None where it is missing.

    >>> matched = match_queries([("q", {"a": 2}, {"a": 0.5}), ("r", {"a": 1}, None)], Policy(ties="doc"))
    >>> matched.rank.tolist(), matched.missing.tolist()
    ([1], [False, True])
    """
    rows = _Rows(policy)
    for query, grades, scores in documents:
        rows.add(query, grades, scores)
    return rows.matched([query for query, _, _ in documents], ())


def judged_of(grades: DocNumbers, query: str, policy: Policy) -> DocNumbers:
    """Return the judged documents of a query that count."""
    judged = documents_of(grades, "judgments", query, policy)
    if policy.drop_self == "yes":
        judged = without_self(judged, query)
    if policy.negative == "unjudged":
        sorted_numbers(judged, "grade", "judgments", query)  # says what is no number
        judged = without_negative(judged)
    return judged


def lowest_grade(judgments: Mapping[Any, DocNumbers], policy: Policy) -> float:
    """Return the lowest grade of the judged documents that count; infinite where there is none."""
    pools = (
        sorted_numbers(judged_of(found, query, policy), "grade", "judgments", query)
        for query, found in queries_of(judgments, "judgments").items()
    )
    return min((float(pool[0]) for pool in pools if pool.size), default=math.inf)


def returned_of(
    scores: DocNumbers, query: str, policy: Policy, chunks: Chunks | None
) -> DocNumbers:
    """Return the retrieved documents of a query that count, their scores rounded, and folded."""
    documents = documents_of(scores, "run", query, policy)
    if policy.precision == "single":
        documents = _rounded(documents, query)
    if chunks is not None:
        sorted_numbers(documents, "score", "run", query)  # says what is no number
        documents = fold(documents, policy, chunks)
    return documents if policy.drop_self == "no" else without_self(documents, query)


def _rounded(scores: DocNumbers, query: str) -> DocNumbers:
    """Return the scores of a query in single precision."""
    sorted_numbers(scores, "score", "run", query)  # says what is no number
    numbers = in_single(floats_of([*scores.values()], {query: scores}, RUN))
    rounded = dict(zip(scores, numbers.tolist(), strict=True))
    if np.isinf(numbers).any():
        doc = next(doc for doc, score in rounded.items() if math.isinf(score))
        raise beyond_single(f"run, query {query!r}, document {doc!r}", scores[doc])
    return rounded


def queries_of(given: object, what: str) -> dict[str, DocNumbers]:
    """Return the queries by their id as a string; each must have a dict of documents."""
    if not isinstance(given, Mapping):
        raise InputError(what, "a dict {query: {doc: number}}", shown_with_type(given))
    for query, documents in given.items():
        if not isinstance(documents, Mapping):
            raise InputError(
                f"{what}, query {query!r}",
                "a dict {doc: number}",
                shown_with_type(documents),
            )
    if "" in given:
        raise empty_id(f"{what}, query ids")
    if all(type(query) is str for query in given):
        refuse_halves(given, where=f"{what}, query ids")
        return dict(given)
    queries: dict[str, DocNumbers] = {}
    for query, documents in given.items():
        text = id_text(query, where=f"{what}, query ids")
        if text in queries:
            raise InputError(
                f"{what}, query ids", "each query once", f"{text!r} as a string and as an integer"
            )
        queries[text] = documents
    return queries


def _has_other_ids(returned: DocNumbers, judged: DocNumbers) -> bool:
    """Return whether a run has ids that are no strings and matter for the value.

    The first id tells for all but a mixture. In a mixture, what matters is whether a judged
    document is there under an integer; a look at the type of every id would take a third
    of the time of an evaluation.
    """
    for doc in returned:
        if not isinstance(doc, str):
            return True
        break
    if min(judged, default=_AFTER_DIGITS) >= _AFTER_DIGITS:
        return False  # no id begins as an integer does
    integers = [*filter(str.isdecimal, judged)]
    integers += [doc for doc in judged if doc[:1] == "-" and doc[1:].isdecimal()]
    return any(len(doc) < _LONGEST_INTEGER and int(doc) in returned for doc in integers)


def documents_of(given: DocNumbers, what: str, query: str, policy: Policy | None) -> DocNumbers:
    """Return the documents of a query by their id as a string; None where no policy can be set."""
    try:
        every = "".join(given)  # refuses all but strings, faster than a look at each type
    except TypeError:
        pass
    else:
        if not every.isascii():
            refuse_halves(given, where=f"{what}, query {query!r}, document ids")
        if "" in given:
            raise empty_id(f"{what}, query {query!r}, document ids")
        return given
    rule = "error" if policy is None else policy.duplicates
    documents: dict[str, float] = {}
    for doc, number in given.items():
        text = id_text(doc, where=f"{what}, query {query!r}, document ids")
        if text not in documents:
            documents[text] = number
        elif rule == "best":
            documents[text] = max(documents[text], number)
        elif rule == "error":
            raise InputError(
                f"{what}, query {query!r}",
                "each document once",
                f"{text!r} as a string and as an integer",
                "Remove one of them."
                if policy is None
                else "Remove one, or set the policy duplicates to first or best.",
            )
    return documents


def sorted_numbers(documents: DocNumbers, kind: str, what: str, query: str) -> Floats:
    """Return the numbers (n,) of a query's documents, sorted; refuse what is not finite."""
    numbers = np.empty(len(documents))
    try:
        # struct converts several times faster than NumPy does, and refuses what is no number.
        struct.pack_into(f"{numbers.size}d", numbers, 0, *documents.values())
    except (struct.error, OverflowError, TypeError, ValueError, RuntimeError):
        _refuse_infinite_number(documents, kind, what, query)
    numbers.sort()
    # A sort puts NaN and infinities at the ends.
    if numbers.size:
        largest = max(numbers[-1], -numbers[0])  # NaN first: nothing is larger than it
        if not largest < LARGEST_EXACT:
            _refuse_unusable_numbers(documents, kind, what, query)
    return numbers


def _shared_numbers(
    shared: Collection[str], judged: DocNumbers, returned: DocNumbers, query: str
) -> tuple[Floats, Floats]:
    """Return the scores and the grades, (n,) each, of the documents that are judged and returned."""
    scores, grades = [returned[doc] for doc in shared], [judged[doc] for doc in shared]
    try:  # here, too: a call for each would take time
        found = np.array(scores, np.float64), np.array(grades, np.float64)
        if found[0].ndim == found[1].ndim == 1:
            return found
    except (TypeError, ValueError, RuntimeError):
        pass
    return floats_of(scores, {query: returned}, RUN), floats_of(grades, {query: judged}, JUDGMENTS)


def floats_of(numbers: Sequence[float], documents: Mapping[str, DocNumbers], kind: Kind) -> Floats:
    """Return some numbers (n,) of documents that `sorted_numbers` has looked at, query by query."""
    try:
        found = np.array(numbers, np.float64)
    except (TypeError, ValueError, RuntimeError):  # tensors in training, or of other types
        found = np.empty(())
    if found.ndim != 1:
        for query, known in documents.items():
            refuse_arrays(known, kind.number, kind.name, query)
        found = np.array([*map(plain_number, numbers)], np.float64)
    return found


def refuse_arrays(documents: DocNumbers, kind: str, what: str, query: object) -> None:
    """Refuse arrays and tensors that have dimensions, which a float may be made of all the same."""
    for doc, number in documents.items():
        if is_array(number):
            raise _no_number(doc, number, kind, what, query)


def _refuse_unusable_numbers(documents: DocNumbers, kind: str, what: str, query: str) -> None:
    """Refuse what is not finite, and integers that a float64 cannot hold."""
    for doc, number in documents.items():
        if not _is_finite(number):
            _refuse_infinite_number(documents, kind, what, query)
        if not is_held(number):
            raise InputError(
                f"{what}, query {query!r}, document {doc!r}",
                f"a {kind} that a float64 holds exactly",
                str(number),
                INEXACT,
            )


def _refuse_infinite_number(documents: DocNumbers, kind: str, what: str, query: str) -> NoReturn:
    doc, number = next(item for item in documents.items() if not _is_finite(item[1]))
    raise _no_number(doc, number, kind, what, query)


def _no_number(doc: object, number: object, kind: str, what: str, query: object) -> InputError:
    return InputError(
        f"{what}, query {query!r}, document {doc!r}",
        f"a finite number as {kind}",
        shown(number),
        (JUDGMENTS if kind == JUDGMENTS.number else RUN).advice(number),
    )


def _is_finite(number: object) -> bool:
    try:
        return math.isfinite(struct.unpack("d", struct.pack("d", number))[0])
    except (struct.error, OverflowError, TypeError, ValueError, RuntimeError):
        return False


def treat_unjudged(
    choice: str | float, query: str, judged: DocNumbers, returned: DocNumbers
) -> tuple[DocNumbers, DocNumbers]:
    """Return the grades and the scores of a query after the policy on documents without a judgment."""
    if choice == "zero":
        return judged, returned
    if choice == "condense":
        return judged, {doc: score for doc, score in returned.items() if doc in judged}
    unjudged = [doc for doc in returned if doc not in judged]
    if not unjudged:
        return judged, returned
    if choice == "error":
        raise InputError(
            f"run, query {query!r}",
            "judged documents only",
            f"{len(unjudged)} unjudged: {examples(unjudged)}",
            choice="unjudged=error",
        )
    return {**judged, **dict(zip(unjudged, repeat(float(choice))))}, returned


def _untied(
    first: Ints, shared: list[str], returned: DocNumbers, order: Callable[[list[str]], list[str]]
) -> Ints:
    """Return the ranks of the shared documents after a rule that orders tied ones."""
    blocks: dict[float, list[str]] = {float(returned[doc]): [] for doc in shared}
    for doc, score in returned.items():
        if float(score) in blocks:
            blocks[float(score)].append(doc)
    places = {doc: place for block in blocks.values() for place, doc in enumerate(order(block))}
    return first + np.array([places[doc] for doc in shared], np.int64)


def _by_id_descending(block: list[str]) -> list[str]:
    return sorted(block, reverse=True)


def _by_id_ascending(block: list[str]) -> list[str]:
    return sorted(block)


def _as_they_come(block: list[str]) -> list[str]:
    return block


_ORDERS: Mapping[str, Callable[[list[str]], list[str]]] = {
    "doc": _by_id_descending,
    "doc_ascending": _by_id_ascending,
    "order": _as_they_come,
}
