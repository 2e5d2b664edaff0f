"""`JudgedRows`, and the steps that apply the policy to rows before ranking.

A step is one choice of the policy. It maps `PackedRows` to `PackedRows`, so a new step takes effect for every kind
of input.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import NoReturn

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.array_types import Floats, Ints
from gainful.matching.chunks_to_documents import Chunks, FurtherChunk, fold
from gainful.matching.ranking import Segments, descending_in_blocks, ranges, with_repeats
from gainful.measures.policy import Policy
from gainful.rows.identifiers import in_order
from gainful.rows.packed_rows import PackedRows, packed


@dataclass(frozen=True, slots=True)
class Step:
    """One choice of the policy.

    Attributes:
        applies: whether a policy requires it.
        apply: applies it to rows, given the policy and how chunks are folded.
    """

    applies: Callable[[Policy], bool]
    apply: Callable[[PackedRows, Policy, Chunks | None], PackedRows]


def _once(rows: PackedRows, policy: Policy, _: Chunks | None) -> PackedRows:
    """Keep the first or the best row of each document, at the position of the first."""
    again, first = repeats(rows)
    numbers = rows.numbers
    if policy.duplicates == "best":
        numbers = numbers.copy()
        np.maximum.at(numbers, first, numbers[again])
    kept = np.ones(numbers.size, np.bool_)
    kept[again] = False
    return replace(rows, numbers=numbers).at(np.flatnonzero(kept))


def _folded(rows: PackedRows, policy: Policy, chunks: Chunks | None) -> PackedRows:
    """Fold chunks into their documents."""
    assert chunks is not None  # noqa: S101 - without chunks, no policy folds
    folded = [fold(documents, policy, chunks) for documents in rows.documents()]
    numbers = np.fromiter(chain.from_iterable(each.values() for each in folded), np.float64)
    return packed_documents(rows.names, folded, numbers)


def _without_query(rows: PackedRows, _: Policy, __: Chunks | None) -> PackedRows:
    """Remove documents that have the id of their query."""
    names = rows.names
    queries = packed(names, [[name] for name in names], np.zeros(len(names)))
    owner = np.repeat(np.arange(len(names)), np.diff(rows.starts))
    return rows.at(np.flatnonzero(~rows.are_same(np.arange(owner.size), queries, owner)))


def _without_negative(rows: PackedRows, _: Policy, __: Chunks | None) -> PackedRows:
    """Remove documents with a negative grade, which doesn't count as a judgment."""
    return rows.at(np.flatnonzero(rows.numbers >= 0))


_ONCE = Step(lambda policy: policy.duplicates != "error", _once)
STEPS_OF_JUDGMENTS: tuple[Step, ...] = (
    _ONCE,
    Step(lambda policy: policy.drop_self == "yes", _without_query),
    Step(lambda policy: policy.negative == "unjudged", _without_negative),
)
STEPS_OF_RUN: tuple[Step, ...] = (
    _ONCE,
    Step(lambda policy: policy.fold in ("max", "first", "in_place"), _folded),
    # After folding, because a chunk of the query also counts as the query.
    Step(lambda policy: policy.drop_self != "no", _without_query),
)
"""The steps, in order. Rounding (`precision`) comes first; `unjudged` and `ties` follow in `match`."""


def steps_of(policy: Policy, *, judgments: bool = False, once: bool = False) -> Sequence[Step]:
    """Return the steps that a policy requires; `once` if no document is repeated."""
    table = STEPS_OF_JUDGMENTS if judgments else STEPS_OF_RUN
    return [step for step in table if step.applies(policy) and not (once and step is _ONCE)]


def needs_ids(policy: Policy, *, has_rows: bool = False) -> bool:
    """Return whether a policy needs the id of every document of a run.

    If the rows of judged documents are known, unjudged documents can be identified without ids.
    """
    return bool(steps_of(policy)) or (policy.unjudged != "zero" and not has_rows)


def applied(
    rows: PackedRows, steps: Sequence[Step], policy: Policy, chunks: Chunks | None = None
) -> PackedRows:
    """Return rows after some steps."""
    for step in steps:
        rows = step.apply(rows, policy, chunks)
    return rows


def packed_documents(
    queries: Iterable[str], documents: Sequence[Mapping[str, float]], numbers: Floats
) -> PackedRows:
    """Pack the documents of queries with their numbers (n,); some may be `FurtherChunk`."""
    docs = enumerate(chain.from_iterable(documents))
    whole_of = {row: doc.document for row, doc in docs if isinstance(doc, FurtherChunk)}
    return packed(queries, documents, numbers, whole_of)


def documents_in(rows: PackedRows) -> list[dict[str, float]]:
    """Return the numbers of each query by document; further chunks are `FurtherChunk`."""
    documents = rows.documents()
    if rows.whole_of:
        ids = rows.texts()
        for row, document in rows.whole_of.items():
            ids[row] = chunk = FurtherChunk(ids[row])
            chunk.document = document
        pairs = iter(zip(ids, rows.numbers.tolist(), strict=True))
        documents = [dict(islice(pairs, len(known))) for known in documents]
    return documents


def repeats(rows: PackedRows) -> tuple[Ints, Ints]:
    """Return the rows (m,) whose document occurs earlier, and the first row of each document (m,).

    Keys identify the queries that may contain repeats; for these, ids are compared.
    """
    lengths = np.diff(rows.starts)
    again: list[int] = []
    first: list[int] = []
    for query in with_repeats(rows.keys, Segments(rows.starts[:-1], lengths)).tolist():
        start = int(rows.starts[query])
        known: dict[str, int] = {}
        texts = rows.texts(np.arange(start, start + int(lengths[query])))
        for row, doc in enumerate(texts, start):
            if known.setdefault(doc, row) != row:
                again.append(row)
                first.append(known[doc])
    return np.array(again, np.int64), np.array(first, np.int64)


def first_repeat(rows: PackedRows) -> tuple[str, str] | None:
    """Return the first query, in text order, with a repeated document, and the document."""
    again, _ = repeats(rows)
    if not again.size:
        return None
    queries = rows.starts.searchsorted(again, "right") - 1
    names = [rows.queries[query].decode() for query in queries.tolist()]
    return min(zip(names, rows.texts(again), strict=True))


class JudgedRows:
    """Judgments under a policy.

    Attributes:
        queries: (q,) ids, in order.
        number_of: the position of each query.
        pools: (q,) the rows of each query.
        grades: (m,) the grades of all rows.
        tables: the engine's tables of rows and queries, once they have been created.
    """

    tables: tuple[str, str] | None = None

    def __init__(
        self,
        queries: Sequence[str],
        starts: Ints,
        grades: Floats,
        *,
        rows: PackedRows | None = None,
        documents: Sequence[Collection[str]] = (),
        refuse_duplicate: Callable[[str, str], NoReturn] | None = None,
    ) -> None:
        """Store queries with packed rows, or queries in order with the distinct documents of each."""
        places = np.arange(len(queries))
        self.queries = tuple(queries)
        if rows is not None:
            self.queries = tuple(in_order(queries))
            place_of = {query: place for place, query in enumerate(queries)}
            places = np.array([place_of[query] for query in self.queries], np.int64)
        self.number_of = {query: number for number, query in enumerate(self.queries)}
        self.pools = Segments(starts[places], starts[places + 1] - starts[places])
        self.grades = grades + 0.0  # turns −0 into 0
        self._places, self._rows, self._documents = places, rows, documents
        self._refuse_duplicate, self._is_once = refuse_duplicate, rows is None

    @property
    def is_large(self) -> bool:
        """Whether preparing them is worth another thread."""
        return self.grades.size > _LARGE

    def prepare(self) -> None:
        """Compute in advance what matching needs after the run has been read."""
        _ = self.repeat, self.pool_grades

    @cached_property
    def rows(self) -> PackedRows:
        """The rows, packed."""
        if self._rows is not None:
            return self._rows
        return packed(self.queries, self.documents, self.grades)

    @cached_property
    def documents(self) -> Sequence[Collection[str]]:
        """The documents of each query, in the order of its rows."""
        if self._rows is None:
            return self._documents
        texts = self.rows.texts_by_query()
        return [texts[place] for place in self._places.tolist()]

    @cached_property
    def repeat(self) -> tuple[str, str] | None:
        """The first query with a repeated document, and the document; None without repeats."""
        return None if self._rows is None else first_repeat(self.rows)

    @cached_property
    def pool_grades(self) -> Floats:
        """The grades of all queries (m,), in descending order within each."""
        owner = np.arange(len(self.queries)).repeat(self.pools.lengths)
        if self._rows is None:
            return descending_in_blocks(owner, self.grades)
        rows = ranges(self.pools.starts, self.pools.lengths)
        return descending_in_blocks(owner, self.grades[rows])

    def lists_and_rows(self, number: Ints) -> tuple[Ints, Ints]:
        """Return the rows of some queries (p,), in any order, after the position of each row's query in `number`."""
        lengths = self.pools.lengths[number]
        rows = ranges(self.pools.starts[number], lengths)
        return np.arange(number.size).repeat(lengths), rows

    @cached_property
    def lowest(self) -> float:
        """The lowest grade; infinite without judged documents."""
        return float(self.grades.min(initial=np.inf))

    def refuse_repeats(self) -> None:
        """Reject a document that occurs twice for a query."""
        if self._refuse_duplicate is not None and self.repeat is not None:
            self._refuse_duplicate(*self.repeat)

    def under(self, policy: Policy) -> "JudgedRows":
        """Return the judgments that count under a policy."""
        steps = steps_of(policy, judgments=True, once=self._is_once)
        if not steps:
            return self
        if policy.duplicates == "error":
            self.refuse_repeats()
        return judged_in(applied(self.rows, steps, policy))


_LARGE = 1 << 15  # judgments worth another thread


def judged_in(
    rows: PackedRows, refuse_duplicate: Callable[[str, str], NoReturn] | None = None
) -> JudgedRows:
    """Return judgments of packed rows; repeated documents are rejected if a function for the error is given."""
    names, refuse = rows.names, refuse_duplicate
    return JudgedRows(names, rows.starts, rows.numbers, rows=rows, refuse_duplicate=refuse)
