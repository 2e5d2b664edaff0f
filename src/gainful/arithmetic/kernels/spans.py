"""Intervals: which parts of the evidence a ranked list of chunks covers, and at which rank each part first appears.

All intervals of all queries lie on one line of whole numbers: each query and document has a section of its own.
"""

from dataclasses import dataclass

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.array_types import Bools, Floats, Ints

NEVER = np.iinfo(np.int64).max
"""The rank of a part that no chunk covers."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of several queries on one line.

    Attributes:
        query: (n,) the query of each, as a number from 0.
        start: (n,) its first position.
        end: (n,) the position behind its last one.
    """

    query: Ints
    start: Ints
    end: Ints

    @property
    def length(self) -> Ints:
        """The number of positions in each interval."""
        return self.end - self.start

    def chosen(self, which: Bools | Ints) -> "Intervals":
        """Return some of the intervals."""
        return Intervals(self.query[which], self.start[which], self.end[which])


def expanded(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return each whole number from `first` to before `last`, after the place of its range.

    >>> place, number = expanded(np.array([3, 0]), np.array([5, 1]))
    >>> place.tolist(), number.tolist()
    ([0, 0, 1], [3, 4, 0])
    """
    counts = np.maximum(last - first, 0)
    place = np.repeat(np.arange(counts.size), counts)
    before = np.cumsum(counts) - counts
    return place, np.arange(place.size) - np.repeat(before - first, counts)


def line_of(sections: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return the section of each row as a number from 0, and the position of each section on the line.

    Args:
        sections: (n,) the key of each row's section.
        ends: (n,) the last position in its section that a row needs.
    """
    keys, number = np.unique(sections, return_inverse=True)
    longest = np.zeros(keys.size, np.int64)
    np.maximum.at(longest, number, ends)
    return number, np.concatenate([[0], np.cumsum(longest[:-1])]) if keys.size else longest


def distinct(intervals: Intervals, worth: Floats) -> tuple[Intervals, Floats]:
    """Cut intervals where any of them begins or ends, so that the parts don't overlap; each has the highest worth.

    >>> one = Intervals(np.array([0, 0]), np.array([0, 4]), np.array([6, 8]))
    >>> parts, worth = distinct(one, np.array([1.0, 2.0]))
    >>> parts.start.tolist(), parts.end.tolist(), worth.tolist()
    ([0, 4, 6], [4, 6, 8], [1.0, 2.0, 2.0])
    """
    bounds = np.sort(np.concatenate([intervals.start, intervals.end]))
    bounds = bounds[np.flatnonzero(np.diff(bounds, prepend=-1))]  # faster than np.unique
    first, last = (np.searchsorted(bounds, each) for each in (intervals.start, intervals.end))
    place, part = expanded(first, last)
    best = np.full(bounds.size, -np.inf)
    np.maximum.at(best, part, worth[place])
    query = np.zeros(bounds.size, np.int64)
    query[part] = intervals.query[place]
    known = np.flatnonzero(best > -np.inf)
    return Intervals(query[known], bounds[known], bounds[known + 1]), best[known]


def overlaps(chunks: Intervals, parts: Intervals) -> tuple[Ints, Ints, Intervals]:
    """Return where chunks overlap parts, which are sorted and don't overlap: the chunk, the part, and the overlap."""
    first = np.searchsorted(parts.end, chunks.start, "right")
    last = np.searchsorted(parts.start, chunks.end, "left")
    chunk, part = expanded(first, last)
    start = np.maximum(chunks.start[chunk], parts.start[part])
    end = np.minimum(chunks.end[chunk], parts.end[part])
    return chunk, part, Intervals(parts.query[part], start, end)


def first_ranks(intervals: Intervals, ranks: Ints) -> tuple[Intervals, Ints]:
    """Return the positions that any interval covers, as intervals that don't overlap, and the first rank of each.

    >>> two = Intervals(np.array([0, 0]), np.array([0, 3]), np.array([5, 9]))
    >>> parts, rank = first_ranks(two, np.array([2, 1]))
    >>> parts.start.tolist(), parts.end.tolist(), rank.tolist()
    ([0, 3, 5], [3, 5, 9], [2, 1, 1])
    """
    order = np.argsort(intervals.start, kind="stable")
    intervals, ranks = intervals.chosen(order), ranks[order]
    if not (intervals.start[1:] < intervals.end[:-1]).any():  # the usual case: nothing overlaps
        return intervals, ranks
    parts, negative = distinct(intervals, -ranks.astype(np.float64))
    return parts, -negative.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Covered:
    """What the ranked chunks of a run cover.

    Attributes:
        count: the number of queries.
        evidence: the evidence, as intervals that are sorted and don't overlap.
        gain: (e,) the gain of a position in each of these intervals.
        chunks: all retrieved chunks of the queries.
        rank: (c,) the rank of each chunk, from 1.
    """

    count: int
    evidence: Intervals
    gain: Floats
    chunks: Intervals
    rank: Ints

    @cached_property
    def _overlaps(self) -> tuple[Ints, Ints, Intervals]:
        return overlaps(self.chunks, self.evidence)

    @cached_property
    def found(self) -> tuple[Intervals, Ints]:
        """The evidence that was retrieved, in parts, and the first rank of each part."""
        chunk, _, overlap = self._overlaps
        return first_ranks(overlap, self.rank[chunk])

    @cached_property
    def part_of_found(self) -> Ints:
        """The interval of the evidence that each part of `found` lies in."""
        return np.searchsorted(self.evidence.start, self.found[0].start, "right") - 1

    @cached_property
    def retrieved(self) -> tuple[Intervals, Ints]:
        """The retrieved text, in parts that don't overlap, and the first rank of each part."""
        return first_ranks(self.chunks, self.rank)

    def total(self, intervals: Intervals, worth: Floats | None = None) -> Floats:
        """Return the length of intervals (q,) of each query, or their sum of length times worth."""
        lengths = intervals.length.astype(np.float64)
        weights = lengths if worth is None else lengths * worth
        totals: Floats = np.bincount(intervals.query, weights, self.count).astype(np.float64)
        return totals

    @cached_property
    def relevant(self) -> Floats:
        """The length of the evidence (q,) of each query."""
        return self.total(self.evidence)

    def found_within(self, cutoff: int | None) -> Floats:
        """Return the length of the evidence (q,) that the chunks down to a rank cover."""
        parts, rank = self.found
        return self.total(parts if cutoff is None else parts.chosen(rank <= cutoff))

    def retrieved_within(self, cutoff: int | None, *, once: bool) -> Floats:
        """Return the length of the text (q,) down to a rank; text in several chunks counts once, or every time."""
        parts, rank = self.retrieved if once else (self.chunks, self.rank)
        return self.total(parts if cutoff is None else parts.chosen(rank <= cutoff))

    def added(self) -> tuple[Ints, Ints, Floats]:
        """Return the gains that chunks add to the chunks above them: the query, the rank, and the gain of each part."""
        parts, rank = self.found
        return parts.query, rank, parts.length * self.gain[self.part_of_found]


def rank_of_share(covered: Covered, spans: Intervals, share: float) -> Ints:
    """Return the rank (s,) at which the chunks cover a share of each span; `NEVER` if they don't.

    The spans may overlap one another, and consist of intervals of the evidence.
    """
    found, ranks = covered.found
    first = np.searchsorted(found.start, spans.start, "left")
    last = np.searchsorted(found.start, spans.end, "left")
    span, part = expanded(first, last)
    order = np.lexsort((ranks[part], span))
    span, part = span[order], part[order]
    sums = np.cumsum(found.length[part])
    begins = np.searchsorted(span, np.arange(spans.start.size))
    sums -= np.concatenate([[0], sums])[begins][span]
    # A share such as 0.7 of 10 positions is 7 of them, although 0.7 * 10 may be slightly more.
    needed = np.ceil(share * spans.length - 1e-9)
    reached = sums >= needed[span]
    rank = np.full(spans.start.size, NEVER)
    np.minimum.at(rank, span[reached], ranks[part[reached]])
    return rank


def greedy_gains(matrix: Bools, worth: Floats, depth: int) -> Floats:
    """Return the gains of the greedy ideal: at each rank, the chunk that adds the most.

    Args:
        matrix: [chunk, part] which parts each chunk covers.
        worth: (p,) the worth of each part.
        depth: the last rank.

    >>> greedy_gains(np.array([[True, False], [True, True]]), np.array([1.0, 2.0]), 2).tolist()
    [3.0]
    """
    left, gains = worth.copy(), []
    for _ in range(min(depth, matrix.shape[0])):
        adds = matrix @ left
        best = int(adds.argmax())
        if adds[best] <= 0:
            break
        gains.append(float(adds[best]))
        left[matrix[best]] = 0.0
    return np.array(gains)
