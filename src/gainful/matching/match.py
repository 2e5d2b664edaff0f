"""`match`: the one function that matches the rows of a run with judgments, whatever they were read from.

The policy takes effect here, for every kind of input. `STEPS_OF_JUDGMENTS` and `STEPS_OF_RUN` list the choices that
remove or rename documents: a step maps `PackedRows` to `PackedRows`. `_UNJUDGED` treats unjudged documents.

Readers provide whole queries, some at a time, as `PackedRows`, or as `Numbers`, whose ids are read only if the
policy needs them. Documents are never compared one by one: the scores of a query are sorted as plain numbers, and
searched for the scores of judged documents.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, fields, replace
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeVar

import numpy as np

from gainful.arithmetic.cores import beside, cached_property
from gainful.array_types import Floats, Ints
from gainful.errors import InputError, warn
from gainful.matching.chunks_to_documents import Chunks, FurtherChunk, fold
from gainful.matching.matched import Matched, offsets_of
from gainful.matching.ranking import (
    Segments,
    by_rank,
    count_above,
    count_down_to,
    descending_in_blocks,
    distinct,
    locate,
    ranges,
    rows_by_score,
    tied_ranks,
    with_repeats,
)
from gainful.measures.policy import BY_ID, Policy
from gainful.rows.disjoint_documents import QUERIES, warn_of_disjoint_documents
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.identifiers import examples, in_order, refuse_disjoint_queries, repeated_document
from gainful.rows.packed_rows import PackedRows, packed
from gainful.rows.table_source import ready, refuse_beyond_single, refuse_duplicate
from gainful.rows.values_as_numbers import beyond_single, in_single

if TYPE_CHECKING:
    from gainful.rows.duckdb_engine import Session
    from gainful.rows.table_source import Source

Result = TypeVar("Result")

_PAIRS = 1 << 20  # pairs of possibly tied documents compared at a time
_MANY = 4  # times as many pairs as rows; beyond that, rows are sorted first
_ORDERED = (*BY_ID, "order")  # the rules that determine ranks within a tie
_LARGE = 1 << 15  # judgments worth another thread


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
"""The steps, in order. Rounding (`precision`) comes first; `unjudged` and `ties` follow."""


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


def judged_in(
    rows: PackedRows, refuse_duplicate: Callable[[str, str], NoReturn] | None = None
) -> JudgedRows:
    """Return judgments of packed rows; repeated documents are rejected if a function for the error is given."""
    names, refuse = rows.names, refuse_duplicate
    return JudgedRows(names, rows.starts, rows.numbers, rows=rows, refuse_duplicate=refuse)


@dataclass(frozen=True, slots=True)
class Hits:
    """Judged documents that were retrieved.

    Attributes:
        list: (n,) the list that contains each document.
        judged: (n,) its row among the judgments.
        grade: (n,) its grade.
        score: (n,) its score.
        row: (n,) its row in the run, if known.
    """

    list: Ints
    judged: Ints
    grade: Floats
    score: Floats
    row: Ints | None = None

    def at(self, places: Ints) -> "Hits":
        """Return some of the hits."""
        row = None if self.row is None else self.row[places]
        return Hits(
            self.list[places], self.judged[places], self.grade[places], self.score[places], row
        )


class Numbers(ABC):
    """The scores of some queries of a run, whose ids are stored elsewhere.

    Attributes:
        names: (q,) ids of the queries.
        starts: (q+1,) int64, the rows of each query.
        retrieved: (q,) int64, the number of documents of each query, including documents left out here.
        numbers: (n,) float64, the scores.
        has_rows: whether hits include their rows, so that unjudged documents need no ids.
    """

    names: Sequence[str]
    starts: Ints
    retrieved: Ints
    numbers: Floats
    has_rows: ClassVar[bool] = False
    whole_of: ClassVar[Mapping[int, str]] = MappingProxyType({})  # there are no further chunks

    def at(self, rows: Ints) -> "Numbers":
        """Return the given rows (m,), ascending; every query remains."""
        some = copy(self)
        some.numbers, some.starts = self.numbers[rows], rows.searchsorted(self.starts)
        return some

    @abstractmethod
    def find(self, judged: JudgedRows, number: Ints, lists: Ints) -> Hits:
        """Find the judged documents of some lists (p,), which belong to the queries of given numbers (p,)."""

    @abstractmethod
    def packed(self, lists: Ints | None = None) -> PackedRows:
        """Return the rows of some queries (p,), or of all, with their ids."""

    def tied(self, hits: Hits) -> Iterator[PackedRows]:
        """Yield at least the rows that tie with the hits, with their ids, some queries at a time."""
        yield self.packed(distinct(hits.list))


Work = Callable[[PackedRows | Numbers], Result | None]
"""Processes some queries; None if the run can't be processed."""


class Run(ABC):
    """A run that can be read any number of times.

    Attributes:
        name: its name in messages.
        table: the session and the source of its rows, if errors can be located there.
    """

    name: str = RUN.name
    table: "tuple[Session, Source] | None" = None

    @abstractmethod
    def each(self, work: Work[Result], depth: int | None, policy: Policy) -> list[Result] | None:
        """Process all queries, some at a time, perhaps on several cores.

        Documents that can't be among the `depth` best of their query may be left out. Before that, scores are
        rounded as the policy requires. Returns the results; None if `work` returned None.
        """

    def refuse_duplicate(self, query: str, doc: str) -> NoReturn:
        """Raise the error for a repeated document."""
        if self.table is not None:
            refuse_duplicate(self.table[1], query, doc)
        raise repeated_document(self.name, query, doc, "")

    def refuse_beyond_single(self, query: str, doc: str, score: float) -> NoReturn:
        """Raise the error for a score that a float32 can't represent."""
        if self.table is not None:
            session, source = self.table
            refuse_beyond_single(session, ready(source, session))
        raise beyond_single(f"{self.name}, query {query!r}, document {doc!r}", score)


@dataclass(frozen=True, slots=True)
class _Part:
    """Some queries of a run.

    Attributes:
        number: (p,) the judged queries, by number.
        extra: the other queries.
        retrieved: (p,) the number of documents of each query.
        seen: (p,) the number of documents examined.
        unjudged: (p,) the number of examined documents without a judgment.
        graded: (p,) the number of documents in the ideal that have the policy's grade.
        shared: (p,) the number of judged documents.
        owner: (n,) the number of the query of each document with a grade.
        first: (n,) its first rank.
        last: (n,) its last rank.
        rank: (n,) its rank.
        grade: (n,) its grade.
    """

    number: Ints
    extra: list[str]
    retrieved: Ints
    seen: Ints
    unjudged: Ints
    graded: Ints
    shared: Ints
    owner: Ints
    first: Ints
    last: Ints
    rank: Ints
    grade: Floats


@dataclass(slots=True)
class _Lists:
    """Lists of a run while the policy is being applied."""

    rows: PackedRows | Numbers
    segments: Segments
    hits: Hits
    graded: Ints | int = 0  # (p,) the number of documents in each list that have the policy's grade


class _RepeatedError(Exception):
    """A document occurs twice for a query."""


class _BeyondSingleError(Exception):
    """A float32 can't represent a score."""


def match(
    judged: JudgedRows,
    run: Run,
    policy: Policy,
    depth: int | None = None,
    chunks: Chunks | None = None,
) -> Matched | None:
    """Match a run with its judgments; None if the run can't be read this way.

    Args:
        judged: the judgments, under the policy.
        run: the run.
        policy: with `ties` decided.
        depth: the deepest rank needed; None for all.
        chunks: how to fold chunks into documents.
    """
    matcher = _Matcher(judged, policy, depth, chunks)
    try:
        with beside(judged.prepare) if judged.is_large else nullcontext():
            parts = run.each(matcher.part, matcher.cut, policy)
    except _RepeatedError as problem:
        run.refuse_duplicate(*problem.args)
    except _BeyondSingleError as problem:
        run.refuse_beyond_single(*problem.args)
    judged.refuse_repeats()
    if parts is None:
        return None
    matcher.refuse_other_queries(run, parts)
    if policy.unjudged == "error":
        matcher.refuse_unjudged(run, parts)
    if matcher.found_chunks:
        matcher.warn_of_judged_chunks()
    elif not any(part.shared.any() for part in parts):
        matcher.warn_if_disjoint(run, parts)
    return matcher.matched(parts)


def match_part(
    judged: JudgedRows,
    rows: PackedRows | Numbers,
    policy: Policy,
    depth: int | None = None,
    chunks: Chunks | None = None,
) -> tuple[Matched, Ints]:
    """Match rows that have already been checked, without warnings.

    Also returns the number of documents found for each judged query (q,), including documents below the depth.
    """
    matcher = _Matcher(judged, policy, depth, chunks)
    part = matcher.part(rows)
    shared = np.zeros(len(judged.queries), np.int64)
    shared[part.number] = part.shared
    return matcher.matched([part]), shared


def unjudged_documents(query: str, docs: Sequence[str]) -> InputError:
    """Return the error for documents of a query without a judgment."""
    return InputError(
        f"run, query {query!r}",
        "judged documents only",
        f"{len(docs)} unjudged: {examples(docs)}",
        choice="unjudged=error",
    )


class _Matcher:
    """The state shared by all parts of a run."""

    def __init__(
        self, judged: JudgedRows, policy: Policy, depth: int | None, chunks: Chunks | None
    ) -> None:
        self.judged, self.policy, self.depth, self.chunks = judged, policy, depth, chunks
        self.steps = steps_of(policy)
        # Documents below the depth may rise above it.
        self.cut = None if needs_ids(policy) else depth
        self.found_chunks: list[tuple[str, str]] = []  # queries and judged ids of chunks

    @cached_property
    def _judged_chunks(self) -> dict[str, list[str]]:
        """The judged ids of chunks by query; a folded run contains only ids of documents."""
        assert self.chunks is not None  # noqa: S101 - without chunks, nothing is folded
        is_chunk = self.chunks.is_chunk
        judged = zip(self.judged.queries, self.judged.documents, strict=True)
        return {query: [*filter(is_chunk, docs)] for query, docs in judged}

    def part(self, rows: PackedRows | Numbers) -> _Part:
        """Match some queries."""
        rows, number, chosen, extra = self._under_policy(rows)
        starts = rows.starts[chosen]
        segments = Segments(starts, rows.starts[chosen + 1] - starts)
        lists = _Lists(rows, segments, self._find(rows, number, chosen, segments))
        shared = np.bincount(lists.hits.list, minlength=number.size)
        unjudged = segments.lengths - shared
        _UNJUDGED.get(self.policy.unjudged, _grade_unjudged)(lists, self.policy)
        retrieved = rows.retrieved[chosen]
        return self._ranked(lists, number, retrieved, unjudged, extra, shared)

    def _under_policy(
        self, rows: PackedRows | Numbers
    ) -> tuple[PackedRows | Numbers, Ints, Ints, list[str]]:
        """Return the rows after the policy's steps, the numbers and positions of judged queries, and other queries."""
        numbers = [self.judged.number_of.get(name, -1) for name in rows.names]
        every = np.array(numbers, np.int64)
        chosen = (every >= 0).nonzero()[0]
        extra = [name for name, at in zip(rows.names, numbers, strict=True) if at < 0]
        if isinstance(rows, Numbers) and needs_ids(self.policy, has_rows=rows.has_rows):
            rows = rows.packed()
        if self.policy.precision == "single":
            rows = _rounded(rows)
        if self.steps and isinstance(rows, PackedRows):
            rows = rows.at(ranges(rows.starts[chosen], np.diff(rows.starts)[chosen]))
            if self.policy.duplicates == "error" and (again := first_repeat(rows)) is not None:
                raise _RepeatedError(*again)
            if self.chunks is not None and any(self._judged_chunks.values()):
                for query, scores in zip(rows.names, rows.documents(), strict=True):
                    found = (doc for doc in self._judged_chunks.get(query, ()) if doc in scores)
                    self.found_chunks += [(query, doc) for doc in found]
            rows = applied(rows, self.steps, self.policy, self.chunks)
        return rows, every[chosen], chosen, extra

    def _find(
        self, rows: PackedRows | Numbers, number: Ints, chosen: Ints, lists: Segments
    ) -> Hits:
        if isinstance(rows, Numbers):
            hits = rows.find(self.judged, number, chosen)
            if self.policy.precision == "single":
                hits = replace(hits, score=in_single(hits.score))
            return hits
        list_of, judged_row = self.judged.lists_and_rows(number)
        row = _located(rows, lists, list_of, self.judged.rows, judged_row)
        there = (row >= 0).nonzero()[0]
        there = there[rows.are_same(row[there], self.judged.rows, judged_row[there])]
        list_of, judged_row, row = list_of[there], judged_row[there], row[there]
        hits = Hits(list_of, judged_row, self.judged.grades[judged_row], rows.numbers[row], row)
        return self._with_further_chunks(rows, number, lists, hits) if rows.whole_of else hits

    def _with_further_chunks(
        self, rows: PackedRows, number: Ints, lists: Segments, hits: Hits
    ) -> Hits:
        """Return hits with the further chunks of judged documents, which add nothing.

        Further chunks of an unjudged document are unjudged.
        """
        judged = [{*self.judged.documents[query]} for query in number.tolist()]
        owner = np.full(rows.numbers.size, -1)
        owner[ranges(lists.starts, lists.lengths)] = np.repeat(
            np.arange(lists.lengths.size), lists.lengths
        )
        further = np.array(
            [row for row, doc in rows.whole_of.items() if doc in judged[owner[row]]], np.int64
        )
        row = np.concatenate((hits.row if hits.row is not None else further[:0], further))
        return Hits(
            owner[row],
            np.concatenate((hits.judged, np.full(further.size, -1))),
            np.concatenate((hits.grade, np.zeros(further.size))),
            rows.numbers[row],
            row,
        )

    def _ranked(
        self,
        lists: _Lists,
        number: Ints,
        retrieved: Ints,
        unjudged: Ints,
        extra: list[str],
        shared: Ints,
    ) -> _Part:
        """Rank the hits."""
        hits, lengths = lists.hits, lists.segments.lengths
        if self.policy.unjudged == "condense":
            retrieved = lengths
        graded = np.zeros(number.size, np.int64) + lists.graded
        if hits.row is None:
            above, last = count_above(lists.rows.numbers, lists.segments, hits.list, hits.score)
            first = above + 1
        else:
            scores, starts = lists.rows.numbers, lists.rows.starts
            first, last = tied_ranks(scores, starts, lists.segments, hits.list, hits.row)
        seen = lengths
        if self.depth is not None:
            seen = count_down_to(lists.rows.numbers, lists.segments, self.depth)
            near = first <= self.depth
            at_all = np.bincount(hits.list[near], minlength=number.size)
            if self.policy.unjudged != "error":  # which checks all of them
                unjudged = np.where(retrieved > self.depth, seen - at_all, unjudged)
            hits, first, last = hits.at(near.nonzero()[0]), first[near], last[near]
        rank = first
        if self.policy.ties in _ORDERED and first is not last:
            tied = (first < last).nonzero()[0]
            if tied.size:
                rank = first.copy()
                rank[tied] += self._places(lists, number, hits.at(tied))
        return _Part(
            number, extra, retrieved, seen, unjudged, graded, shared,
            number[hits.list], first, last, rank, hits.grade,
        )  # fmt: skip

    def _places(self, lists: _Lists, number: Ints, hits: Hits) -> Ints:
        """Return the position (n,) of hits within their blocks of equal scores, from 0."""
        rows, segments = lists.rows, lists.segments
        if hits.row is not None:
            return _places_in_ties(rows, segments, hits, self.policy.ties)
        assert isinstance(rows, Numbers)  # noqa: S101 - otherwise, rows are known
        places = np.zeros(hits.list.size, np.int64)
        queries = [self.judged.queries[at] for at in number.tolist()]
        for tied in rows.tied(hits):
            if self.policy.precision == "single":
                tied = replace(tied, numbers=in_single(tied.numbers))
            place_of = {name: place for place, name in enumerate(tied.names)}
            at = np.array([place_of.get(query, -1) for query in queries], np.int64)
            lengths = np.where(at < 0, 0, np.diff(tied.starts)[at])
            segments = Segments(tied.starts[at], lengths)
            mine = np.flatnonzero(at[hits.list] >= 0)
            some = hits.at(mine)
            row = _located(tied, segments, some.list, self.judged.rows, some.judged)
            some = replace(some, row=row)
            places[mine] = _places_in_ties(tied, segments, some, self.policy.ties)
        return places

    def refuse_other_queries(self, run: Run, parts: Sequence[_Part]) -> None:
        """Reject a run without queries, or without judged queries."""
        if any(part.number.size for part in parts):
            return
        extra = [query for part in parts for query in part.extra]
        if not extra:
            raise InputError(run.name, RUN.least, "none")
        refuse_disjoint_queries(self.judged.queries, extra)

    def refuse_unjudged(self, run: Run, parts: Sequence[_Part]) -> None:
        """Reject unjudged documents; the message lists the first query's, best first."""
        counts = {
            number: count
            for part in parts
            for number, count in zip(part.number.tolist(), part.unjudged.tolist(), strict=True)
            if count
        }
        if not counts:
            return
        number = min(counts)
        query = self.judged.queries[number]
        scores = self._listed(run, [number])[query]
        judged = {*self.judged.documents[number]}
        docs = [doc for doc in scores if getattr(doc, "document", doc) not in judged]
        docs.sort(key=scores.__getitem__, reverse=True)
        raise unjudged_documents(query, docs)

    def warn_of_judged_chunks(self) -> None:
        """Warn that some judged ids are those of chunks, which a folded run doesn't contain."""
        query, chunk = min(self.found_chunks)
        document = "" if self.chunks is None else self.chunks.document(chunk)
        more = len(self.found_chunks) - 1
        others = f" (and {more} more)" if more else ""
        warn(
            f"judgments: {chunk!r} of query {query!r}{others} is the id of a chunk, but chunks are folded into "
            f"documents before they are measured, so it counts as not returned. Judge {document!r} instead, "
            "or leave chunks out.",
        )

    def warn_if_disjoint(self, run: Run, parts: Sequence[_Part]) -> None:
        """Warn if no retrieved document is judged, including documents below the depth."""
        try:
            self._warn_if_disjoint(run, sorted(n for part in parts for n in part.number.tolist()))
        except InputError as problem:
            # Matching has accepted the run: a document repeated below the depth changes no value.
            if problem.code != "rows.duplicate":
                raise

    def _warn_if_disjoint(self, run: Run, numbers: Sequence[int]) -> None:
        if self.cut is not None:
            whole = _Matcher(self.judged, self.policy, None, self.chunks)
            parts = run.each(whole.part, None, self.policy)
            if parts is None or any(part.shared.any() for part in parts):
                return
        listed = self._listed(run, numbers[:QUERIES])
        warn_of_disjoint_documents(
            (
                (self.judged.documents[self.judged.number_of[query]], listed[query])
                for query in in_order(listed)
            ),
            folded=self.chunks is not None,
        )

    def _listed(self, run: Run, numbers: Sequence[int]) -> dict[str, dict[str, float]]:
        """Return documents and scores of some judged queries of a run, given by number."""
        wanted = {self.judged.queries[number] for number in numbers}

        def listed(rows: PackedRows | Numbers) -> dict[str, dict[str, float]]:
            chosen = np.flatnonzero([name in wanted for name in rows.names])
            if not chosen.size:
                return {}
            if isinstance(rows, Numbers):
                rows = rows.packed(chosen)
            else:
                rows = rows.at(ranges(rows.starts[chosen], np.diff(rows.starts)[chosen]))
            documents = documents_in(applied(rows, self.steps, self.policy, self.chunks))
            return {
                name: docs
                for name, docs in zip(rows.names, documents, strict=True)
                if name in wanted
            }

        found = run.each(listed, None, self.policy)
        return {query: docs for some in found or () for query, docs in some.items()}

    def matched(self, parts: list[_Part]) -> Matched:
        """Combine the parts, and empty their list."""
        part = parts[0] if len(parts) == 1 else _joined(parts)
        parts.clear()  # only one copy stays in memory
        number, first, last, rank = part.number, part.first, part.last, part.rank
        judged, count = self.judged, len(self.judged.queries)
        answered = np.zeros(count, np.bool_)
        answered[number] = True
        counts = np.zeros((3, count), np.int64)
        counts[:, number] = part.retrieved, part.seen, part.unjudged
        owner, grade, graded = part.owner, part.grade, part.graded
        order = by_rank(owner, rank, grade)
        if self.depth is not None:
            order = order[rank[order] <= self.depth]
        sizes, pool = judged.pools.lengths, judged.pool_grades.copy()
        if graded.any():
            owners = np.concatenate((np.repeat(np.arange(count), sizes), np.repeat(number, graded)))
            worth = np.full(int(graded.sum()), float(self.policy.unjudged) + 0.0)
            by_owner = np.argsort(owners, kind="stable")
            every_grade = np.concatenate((pool, worth))[by_owner]
            pool = descending_in_blocks(owners[by_owner], every_grade)
            sizes = np.bincount(owners, minlength=count)
        return Matched(
            queries=judged.queries,
            offsets=offsets_of(np.bincount(owner[order], minlength=count)),
            rank_first=first[order],
            rank_last=last[order],
            rank=rank[order],
            grade=grade[order],
            retrieved=counts[0],
            seen=counts[1],
            pool_offsets=offsets_of(sizes),
            pool_grades=pool,
            unjudged=counts[2],
            missing=~answered,
            lowest_grade=judged.lowest,
            extra=tuple(in_order(part.extra)),
        )


def _joined(parts: Sequence[_Part]) -> _Part:
    """Return several parts as one."""
    extra = [query for part in parts for query in part.extra]
    arrays = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(_Part)
        if field.name != "extra"
    }
    return _Part(extra=extra, **arrays)


def _rounded(rows: PackedRows | Numbers) -> PackedRows | Numbers:
    """Return rows with their scores in single precision."""
    numbers = in_single(rows.numbers)
    beyond = np.flatnonzero(np.isinf(numbers))
    if beyond.size:
        score = float(rows.numbers[beyond[0]])
        query = int(rows.starts.searchsorted(beyond[0], "right")) - 1
        every = rows.packed() if isinstance(rows, Numbers) else rows
        raise _BeyondSingleError(rows.names[query], every.texts(beyond[:1])[0], score)
    if isinstance(rows, PackedRows):
        return replace(rows, numbers=numbers)
    rows.numbers = numbers
    return rows


def _located(
    rows: PackedRows, lists: Segments, list_of: Ints, judged: PackedRows, judged_row: Ints
) -> Ints:
    """Return the row (n,) of each judged document in a list; −1, or a row with another id, if it isn't there."""
    keys = judged.keys[judged_row]
    row = locate(rows.keys, lists, list_of, keys)
    if row is not None:
        return row
    # A document occurs twice, or the highest bits of two keys are equal.
    if (again := first_repeat(rows)) is not None:
        raise _RepeatedError(*again)
    texts = judged.texts(judged_row)
    row = np.full(keys.size, -1)
    for number in distinct(list_of).tolist():
        start, length = int(lists.starts[number]), int(lists.lengths[number])
        docs = rows.texts(np.arange(start, start + length))
        row_of = dict(zip(docs, range(start, start + length), strict=True))
        for wanted in np.flatnonzero(list_of == number).tolist():
            row[wanted] = row_of.get(texts[wanted], -1)
    return row


def _places_in_ties(rows: PackedRows | Numbers, lists: Segments, hits: Hits, ties: str) -> Ints:
    """Return the position (n,) of documents within their blocks of equal scores, from 0."""
    assert hits.row is not None  # noqa: S101 - rows are known here
    places = np.zeros(hits.row.size, np.int64)
    starts, lengths, order = lists.starts[hits.list], lists.lengths[hits.list], None
    if lengths.sum() > _MANY * rows.numbers.size:
        order, starts, lengths = _blocks(rows.numbers, lists, hits)
    part_of = (np.cumsum(lengths) - 1) // _PAIRS
    for some in np.split(np.arange(hits.row.size), np.flatnonzero(np.diff(part_of)) + 1):
        hit, other = np.repeat(some, lengths[some]), ranges(starts[some], lengths[some])
        if order is not None:
            other = order[other]
        tied = np.flatnonzero(rows.numbers[other] == rows.numbers[hits.row[hit]])
        hit, other = hit[tied], other[tied]
        own = hits.row[hit]
        if ties == "order" or isinstance(rows, Numbers):
            before = other < own
        elif ties == "doc":
            before = rows.are_less(own, other)
        else:
            before = rows.are_less(other, own)
        places += np.bincount(hit[before], minlength=places.size)
    return places


def _blocks(scores: Floats, lists: Segments, hits: Hits) -> tuple[Ints, Ints, Ints]:
    """Return rows in order of score, and the start and end (n,) of each hit's block of equal scores."""
    chosen = distinct(hits.list)
    lengths = lists.lengths[chosen]
    every = ranges(lists.starts[chosen], lengths)
    order = every[rows_by_score(scores[every] + 0.0, lengths)]
    opens = np.ones(order.size + 1, np.bool_)
    np.not_equal(scores[order[1:]], scores[order[:-1]], out=opens[1:-1])
    opens[np.cumsum(lengths)] = True
    bounds = np.flatnonzero(opens)
    place = np.empty(scores.size, np.int64)
    place[order] = np.arange(order.size)
    block = bounds.searchsorted(place[hits.row], "right")
    return order, bounds[block - 1], bounds[block] - bounds[block - 1]


def _leave_unjudged(_: _Lists, __: Policy) -> None:
    """Keep unjudged documents where they are."""


def _drop_unjudged(lists: _Lists, _: Policy) -> None:
    """Remove unjudged documents from the lists."""
    rows, hits = lists.rows, lists.hits
    assert hits.row is not None  # noqa: S101 - rows are known
    hits = hits.at(np.argsort(hits.row))
    assert hits.row is not None  # noqa: S101
    lengths = np.bincount(hits.list, minlength=lists.segments.lengths.size)
    lists.segments = Segments(hits.row.searchsorted(lists.segments.starts), lengths)
    lists.rows = rows.at(hits.row)
    lists.hits = replace(hits, row=np.arange(hits.row.size))


def _grade_unjudged(lists: _Lists, policy: Policy) -> None:
    """Give unjudged documents a grade."""
    rows, hits, segments = lists.rows, lists.hits, lists.segments
    assert hits.row is not None  # noqa: S101 - rows are known
    grade = np.full(rows.numbers.size, float(policy.unjudged) + 0.0)
    grade[hits.row] = hits.grade
    every = ranges(segments.starts, segments.lengths)
    owner = np.repeat(np.arange(segments.lengths.size), segments.lengths)
    counted = np.ones(grade.size, np.bool_)
    counted[hits.row] = False
    counted[[*rows.whole_of]] = False  # further chunks add nothing to the ideal
    lists.graded = np.bincount(owner[counted[every]], minlength=segments.lengths.size)
    unjudged = np.full(every.size, -1)
    lists.hits = Hits(owner, unjudged, grade[every], rows.numbers[every], every)


_UNJUDGED: Mapping[object, Callable[[_Lists, Policy], None]] = {
    "zero": _leave_unjudged,
    "error": _leave_unjudged,  # until all are counted
    "condense": _drop_unjudged,
}
"""How to treat unjudged documents; any other answer is a grade."""
