"""A pair of clean text files → Matched, on arrays alone.

Ids are compared by keys of 64 bits, and byte by byte where keys agree. What is unusual (documents
that stand twice, no id in common) is left to the engine.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.inputs.clean_text_files import CleanRows, read_clean_rows, work_on_clean_rows
from gainful.inputs.cores import beside, cached_property
from gainful.inputs.decimal_parsing import WORD
from gainful.inputs.format_detection import Layout
from gainful.inputs.identifiers import in_order
from gainful.matching.matched import Matched, offsets_of
from gainful.matching.rank_search import (
    Segments,
    by_rank,
    count_down_to,
    locate,
    tied_ranks,
    with_repeats,
)
from gainful.matching.sorting import descending_in_blocks, ranges
from gainful.measures.policy import Policy

_LARGE = 1 << 15  # judgments that are worth another thread
_PAIRS = 1 << 20  # documents that may be tied, compared at a time
_ORDERED = ("doc", "doc_ascending", "order")  # the rules that settle a rank within a tie


class LeftToEngine(Enum):
    """Why two files are not matched here."""

    NOT_CLEAN = "a file is not clean"
    UNUSUAL = "their ids have to be seen in full"


class CleanJudgments:
    """Judgments of a clean text file, prepared once for any number of runs.

    Attributes:
        rows: of the file.
        queries: (q,) ids, in order.
        number_of: which of them each is.
        pools: (q,) where their rows stand.
    """

    def __init__(self, rows: CleanRows) -> None:
        self.rows = rows
        place_of = {query.decode(): place for place, query in enumerate(rows.queries)}
        self.queries = tuple(in_order(place_of))
        places = np.array([place_of[query] for query in self.queries], np.int64)
        self.number_of = {query.encode(): number for number, query in enumerate(self.queries)}
        starts = rows.starts[places]
        self.pools = Segments(starts, rows.starts[places + 1] - starts)

    def prepare(self) -> None:
        """Have at hand what is asked for after the run."""
        _ = self.has_repeats, self.pool_grades

    @cached_property
    def has_repeats(self) -> bool:
        """Whether a query may have a document twice."""
        return bool(with_repeats(self.rows.keys, self.pools).size)

    @cached_property
    def pool_grades(self) -> Floats:
        """The grades of all queries (m,), each descending."""
        owner = np.repeat(np.arange(len(self.queries)), self.pools.lengths)
        return descending_in_blocks(
            owner, self.rows.numbers[ranges(self.pools.starts, self.pools.lengths)]
        )


def read_judgments(path: Path, layout: Layout) -> CleanJudgments | None:
    """Read judgments; None if the file is not clean."""
    rows = read_clean_rows(path, layout)
    return None if rows is None else CleanJudgments(rows)


@dataclass(frozen=True, slots=True)
class _Part:
    """Some queries of a run.

    Attributes:
        number: (p,) those that are judged, by their number.
        retrieved, seen: (p,) how many documents they have, and how many were looked at.
        extra: the others.
        owner: (n,) the number of the query of each judged document that was retrieved.
        first, last, rank: (n,) its ranks.
        grade: (n,).
    """

    number: Ints
    retrieved: Ints
    seen: Ints
    extra: list[str]
    owner: Ints
    first: Ints
    last: Ints
    rank: Ints
    grade: Floats


def match(
    judged: CleanJudgments, run: Path, layout: Layout, policy: Policy, depth: int | None
) -> Matched | LeftToEngine:
    """Match a run with its judgments, or leave it to the engine."""
    unusual: list[bool] = []

    def match_queries(rows: CleanRows) -> _Part | None:
        part = _match_part(judged, rows, policy.ties, depth)
        if part is None:
            unusual.append(True)
        return part

    single = policy.precision == "single"
    large = judged.rows.numbers.size > _LARGE
    with beside(judged.prepare) if large else nullcontext():
        parts = work_on_clean_rows(run, layout, match_queries, depth, single=single)
    if judged.has_repeats:
        return LeftToEngine.UNUSUAL
    if parts is None:
        return LeftToEngine.UNUSUAL if unusual else LeftToEngine.NOT_CLEAN
    number, retrieved, seen, owner, first, last, rank, grade = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("number", "retrieved", "seen", "owner", "first", "last", "rank", "grade")
    )
    if not owner.size:  # no query in common, or no document
        return LeftToEngine.UNUSUAL
    count = len(judged.queries)
    all_retrieved, all_seen, unjudged = (np.zeros(count, np.int64) for _ in range(3))
    missing = np.ones(count, np.bool_)
    missing[number] = False
    all_retrieved[number], all_seen[number] = retrieved, seen
    unjudged = all_seen - np.bincount(owner, minlength=count)
    order = by_rank(owner, rank, grade)
    if depth is not None:
        order = order[rank[order] <= depth]
    return Matched(
        queries=judged.queries,
        offsets=offsets_of(np.bincount(owner[order], minlength=count)),
        rank_first=first[order],
        rank_last=last[order],
        rank=rank[order],
        grade=grade[order],
        retrieved=all_retrieved,
        seen=all_seen,
        pool_offsets=offsets_of(judged.pools.lengths),
        pool_grades=judged.pool_grades.copy(),
        unjudged=unjudged,
        missing=missing,
        lowest_grade=float(judged.rows.numbers.min()),
        extra=tuple(in_order(query for part in parts for query in part.extra)),
    )


class _Hits(NamedTuple):
    """Judged documents that were retrieved (n,): the list of each, and its row on either side."""

    list: Ints
    judged: Ints
    run: Ints

    def at(self, chosen: Bools | Ints) -> "_Hits":
        """Return some of them."""
        return _Hits(self.list[chosen], self.judged[chosen], self.run[chosen])


def _match_part(
    judged: CleanJudgments, run: CleanRows, ties: str, depth: int | None
) -> _Part | None:
    """Match some queries of a run; None where a document may stand twice."""
    numbers = [judged.number_of.get(query, -1) for query in run.queries]
    number = np.array(numbers, np.int64)
    chosen = np.flatnonzero(number >= 0)
    extra = [query.decode() for query, at in zip(run.queries, numbers, strict=True) if at < 0]
    number = number[chosen]
    lists = Segments(run.starts[chosen], run.starts[chosen + 1] - run.starts[chosen])
    hits = _find_hits(judged, number, run, lists)
    if hits is None:
        return None
    first, last = tied_ranks(run.numbers, run.starts, lists, hits.list, hits.run)
    seen = lists.lengths
    if depth is not None:
        # A block of ties that begins above the depth is kept whole, until its order is known.
        seen = count_down_to(run.numbers, lists, depth)
        near = first <= depth
        hits, first, last = hits.at(near), first[near], last[near]
    rank = first
    if ties in _ORDERED:
        tied = np.flatnonzero(first < last)
        if tied.size:
            rank = first.copy()
            rank[tied] += _places_in_ties(run, lists, hits.at(tied), ties)
    grade = judged.rows.numbers[hits.judged]
    return _Part(
        number, run.retrieved[chosen], seen, extra, number[hits.list], first, last, rank, grade
    )


def _find_hits(
    judged: CleanJudgments, number: Ints, run: CleanRows, lists: Segments
) -> _Hits | None:
    """Find the judged documents among those retrieved; None where keys cannot tell them apart."""
    lengths = judged.pools.lengths[number]
    list_of = np.repeat(np.arange(number.size), lengths)
    judged_row = ranges(judged.pools.starts[number], lengths)
    run_row = locate(run.keys, lists, list_of, judged.rows.keys[judged_row])
    if run_row is None:
        return None
    found = _Hits(list_of, judged_row, run_row).at(np.flatnonzero(run_row >= 0))
    same = run.lengths[found.run] == judged.rows.lengths[found.judged]
    for place in range(0, int(run.lengths[found.run].max(initial=0)), WORD):
        same &= run.characters(found.run, place) == judged.rows.characters(found.judged, place)
    return found.at(same)


def _places_in_ties(run: CleanRows, lists: Segments, hits: _Hits, ties: str) -> Ints:
    """Return the place (n,) of documents within the blocks that share their score, from 0."""
    places = np.zeros(hits.run.size, np.int64)
    lengths = lists.lengths[hits.list]
    part_of = (np.cumsum(lengths) - 1) // _PAIRS
    for some in np.split(np.arange(hits.run.size), np.flatnonzero(np.diff(part_of)) + 1):
        hit = np.repeat(some, lengths[some])
        other = ranges(lists.starts[hits.list[some]], lengths[some])
        tied = np.flatnonzero(run.numbers[other] == run.numbers[hits.run[hit]])
        hit, other = hit[tied], other[tied]
        own = hits.run[hit]
        if ties == "order":
            before = other < own
        elif ties == "doc":
            before = _is_less(run, own, other)
        else:
            before = _is_less(run, other, own)
        places += np.bincount(hit[before], minlength=places.size)
    return places


def _is_less(run: CleanRows, rows: Ints, others: Ints) -> Bools:
    """Return whether the ids at some rows are less than those at others, as bytes."""
    less = np.zeros(rows.size, np.bool_)
    open_ = np.arange(rows.size)  # the pairs that are the same so far
    for place in range(0, int(run.lengths[rows].max(initial=0)) + 1, WORD):
        # The first byte counts most.
        one, other = (run.characters(some[open_], place).byteswap() for some in (rows, others))
        less[open_[one < other]] = True
        open_ = open_[one == other]
        if not open_.size:
            break
    return less
