"""Ranks of a few documents among the scores of their queries, many queries at a time.

The numbers of each query stand together, in any order. They are laid out as matrices, one
for queries of similar length, sorted, and searched for all wanted documents at once: where the row
of the matrix is part of a number, the whole matrix is in order. Threads wait for Python's lock
after each operation, so few operations are what makes many cores fast.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Floats, Ints
from gainful.inputs.cores import in_parallel
from gainful.matching.sorting import buckets, ranges

Number = TypeVar("Number", bound=np.generic)

_BLOCK = 1 << 17  # numbers


@dataclass(frozen=True, slots=True)
class Segments:
    """Where the rows of each query stand.

    Attributes:
        starts: (q,) first row.
        lengths: (q,) how many rows.
    """

    starts: Ints
    lengths: Ints


def count_above(
    scores: Floats, segments: Segments, owner: Ints, wanted: Floats
) -> tuple[Ints, Ints]:
    """Return how many scores of its query are greater than each wanted one, and how many at least.

    Args:
        scores: (n,) of all documents.
        segments: the queries.
        owner: (m,) the query of each wanted score.
        wanted: (m,) scores that their queries have.

    >>> segments = Segments(np.array([0, 3]), np.array([3, 2]))
    >>> above, at_least = count_above(
    ...     np.array([1.0, 3.0, 3.0, 5.0, 4.0]), segments, np.array([0, 1]), np.array([3.0, 4.0])
    ... )
    >>> above.tolist(), at_least.tolist()
    ([0, 1], [2, 2])
    """
    above, at_least = np.empty(owner.size, np.int64), np.empty(owner.size, np.int64)
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(segments.lengths.size + 1))

    def work(block: Ints) -> None:
        counts = bounds[block + 1] - bounds[block]
        rows = order[ranges(bounds[block], counts)]
        if not rows.size:
            return
        matrix = _ascending(scores, segments, block, np.inf)
        row = np.repeat(np.arange(block.size), counts)
        lengths, base = segments.lengths[block][row], row * matrix.shape[1]
        values = wanted[rows]
        in_order = _numbered(matrix, np.arange(block.size)[:, None]).ravel()
        upto = in_order.searchsorted(_numbered(values, row), "right") - base
        above[rows] = lengths - upto
        # The score itself stands last of those up to it; the one before may be equal.
        tied = matrix.ravel()[base + np.maximum(upto - 2, 0)] == values
        tied &= upto > 1
        below = upto - 1
        if tied.any():
            below[tied] = in_order.searchsorted(_numbered(values[tied], row[tied])) - base[tied]
        at_least[rows] = lengths - below

    in_parallel(work, _blocks(segments))
    return above, at_least


def tied_ranks(
    scores: Floats, starts: Ints, segments: Segments, owner: Ints, rows: Ints
) -> tuple[Ints, Ints]:
    """Return the first and the last rank that each row shares with those of its query and score.

    Runs are usually written best first. There a place is a rank, and nothing has to be sorted.

    Args:
        scores: (n,) of all documents.
        starts: (l+1,) where lists begin, and where the last ends.
        segments: the queries, each one of the lists.
        owner: (m,) the query of each row.
        rows: (m,).

    >>> scores, starts = np.array([5.0, 3.0, 3.0, 9.0]), np.array([0, 3, 4])
    >>> segments = Segments(starts[:-1], np.diff(starts))
    >>> first, last = tied_ranks(scores, starts, segments, np.array([0, 1]), np.array([2, 3]))
    >>> first.tolist(), last.tolist()
    ([2, 1], [3, 1])
    """
    if _rises(scores[: starts[1]], starts[:2]) or _rises(scores, starts):
        above, last = count_above(scores, segments, owner, scores[rows])
        return above + 1, last
    opens = np.ones(scores.size + 1, np.bool_)  # whether a row differs from the one before
    np.not_equal(scores[1:], scores[:-1], out=opens[1:-1])
    opens[starts] = True
    head = segments.starts[owner]
    if (opens[rows] & opens[rows + 1]).all():
        rank = rows - head + 1
        return rank, rank
    blocks = np.flatnonzero(opens)
    following = blocks.searchsorted(rows, "right")
    return blocks[following - 1] - head + 1, blocks[following] - head


def _rises(scores: Floats, starts: Ints) -> bool:
    """Return whether a score is higher than the one before it in its list."""
    rises = scores[1:] > scores[:-1]
    rises[starts[1:-1] - 1] = False  # from one list to the next
    return bool(rises.any())


def with_repeats(values: NDArray[np.uint64], segments: Segments) -> Ints:
    """Return the queries in which a value stands more than once.

    >>> with_repeats(np.array([7, 8, 7, 9], np.uint64), Segments(np.array([0, 3]), np.array([3, 1])))
    array([0])
    """

    def work(block: Ints) -> Ints:
        matrix = _ascending(values, segments, block, np.iinfo(np.uint64).max)
        same = matrix[:, 1:] == matrix[:, :-1]
        if not same.any():
            return block[:0]
        inside = np.arange(1, matrix.shape[1]) < segments.lengths[block][:, None]
        repeated: Ints = block[(same & inside).any(axis=1)]
        return repeated

    found = in_parallel(work, _blocks(segments))
    return np.sort(np.concatenate([np.empty(0, np.int64), *found]))


def locate(
    keys: NDArray[np.uint64], segments: Segments, owner: Ints, wanted: NDArray[np.uint64]
) -> Ints | None:
    """Return the row of each wanted key among those of its query, −1 where it has none.

    Only the highest bits of the keys are compared: a caller looks at the rows again. None
    where two keys of a query cannot be told apart by them.

    Args:
        keys: (n,) with bits that are well mixed.
        segments: the queries.
        owner: (m,) the query of each wanted key.
        wanted: (m,) keys.

    >>> keys = np.array([3 << 60, 1 << 60, 2 << 60], np.uint64)
    >>> segments = Segments(np.array([0]), np.array([3]))
    >>> wanted = np.array([2 << 60, 5 << 60], np.uint64)
    >>> locate(keys, segments, np.array([0, 0]), wanted).tolist()
    [2, -1]
    """
    found = np.full(owner.size, -1, np.int64)
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(segments.lengths.size + 1))

    def work(block: Ints) -> bool:
        # A key gives its lowest bits to its place, which a bare sort then carries along, and its
        # highest to the row of the matrix.
        packed = _laid_out(keys, segments, block, np.iinfo(np.uint64).max)
        lengths, place = segments.lengths[block], np.arange(packed.shape[1], dtype=np.uint64)
        row_bits = np.uint64(block.size.bit_length())
        row = np.arange(block.size, dtype=np.uint64) << (np.uint64(64) - row_bits)
        low = (np.uint64(1) << np.uint64(place.size.bit_length())) - np.uint64(1)
        packed >>= row_bits
        packed &= ~low
        packed |= row[:, None] | place
        packed.sort(axis=1)
        apart = packed[:, 1:] ^ packed[:, :-1]
        if (
            apart.min(initial=~low) <= low
            and ((apart <= low) & (place[1:] < lengths[:, None])).any()
        ):
            return False
        counts = bounds[block + 1] - bounds[block]
        rows = order[ranges(bounds[block], counts)]
        values = ((wanted[rows] >> row_bits) & ~low) | np.repeat(row, counts)
        in_order = packed.ravel()
        nearest = in_order[np.minimum(in_order.searchsorted(values), in_order.size - 1)]
        at = (nearest & low).astype(np.int64)
        hit = (nearest ^ values) <= low
        hit &= at < np.repeat(lengths, counts)  # and no padding
        found[rows] = np.where(hit, np.repeat(segments.starts[block], counts) + at, -1)
        return True

    return found if all(in_parallel(work, _blocks(segments))) else None


def count_down_to(scores: Floats, segments: Segments, depth: int) -> Ints:
    """Return how many scores of each query are as high as the one at a depth.

    >>> segments = Segments(np.array([0, 3]), np.array([3, 1]))
    >>> count_down_to(np.array([1.0, 3.0, 3.0, 5.0]), segments, 1).tolist()
    [2, 1]
    """
    seen = segments.lengths.copy()

    def work(block: Ints) -> None:
        lengths = segments.lengths[block]
        if lengths.max() <= depth:
            return
        # Padded at the lower end, so that the highest stand in the same columns.
        matrix = _laid_out(scores, segments, block, -np.inf)
        matrix.partition(matrix.shape[1] - depth, axis=1)
        edge = matrix[:, matrix.shape[1] - depth, None]
        seen[block] = np.where(lengths > depth, (matrix >= edge).sum(axis=1), lengths)

    in_parallel(work, _blocks(segments))
    return seen


def _blocks(segments: Segments) -> list[Ints]:
    """Return queries of similar length, as many at a time as fit a core's cache."""
    blocks: list[Ints] = []
    for bucket in buckets(segments.lengths):
        size = max(_BLOCK // int(segments.lengths[bucket[-1]]), 1)
        blocks += np.split(bucket, np.arange(size, bucket.size, size))
    return blocks


def _ascending(
    values: NDArray[Number], segments: Segments, block: Ints, padding: float
) -> NDArray[Number]:
    """Return the values [query, place] of some queries, ascending, padded to the longest."""
    matrix = _laid_out(values, segments, block, padding)
    matrix.sort(axis=1)
    return matrix


def _laid_out(
    values: NDArray[Number], segments: Segments, block: Ints, padding: float
) -> NDArray[Number]:
    """Return a copy of the values [query, place] of some queries, padded to the longest."""
    starts, lengths = segments.starts[block], segments.lengths[block]
    shape = block.size, int(lengths.max())
    if (lengths == shape[1]).all():
        if (np.diff(starts) == shape[1]).all():
            matrix = values[starts[0] : starts[0] + block.size * shape[1]].reshape(shape).copy()
        else:
            matrix = values[starts[:, None] + np.arange(shape[1])]
    else:
        matrix = np.full(shape, padding, values.dtype)
        matrix[np.arange(shape[1]) < lengths[:, None]] = values[ranges(starts, lengths)]
    return matrix


def _numbered(values: Floats, row: Ints) -> NDArray[np.complex128]:
    """Return the values with the row of each: complex numbers are in order of their real parts first."""
    both = np.empty(values.shape, np.complex128)
    both.real, both.imag = row, values
    return both


def by_rank(owner: Ints, rank: Ints, grade: Floats) -> Ints:
    """Return the order of rows by query, rank, and grade descending.

    One sort of a combined integer key is several times faster than a sort by three keys;
    the rows that share a rank, few or none, are put in order of grade afterwards.
    """
    key = owner * (rank.max(initial=0) + 1) + rank
    order = np.argsort(key)  # rows of equal key are ordered below
    shared = np.flatnonzero(np.diff(key[order]) == 0)
    if shared.size:
        rows = np.union1d(shared, shared + 1)
        chosen = order[rows]
        order[rows] = chosen[np.lexsort((-grade[chosen], key[chosen]))]
    return order
