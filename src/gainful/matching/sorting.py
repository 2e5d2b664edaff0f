"""Sorting many lists of documents at a time: by score, best first, with their grades.

A sort of bare integers is several times faster than one that keeps track of places. So each
score is read as an integer, which orders the same way, and its lowest bits make room for
what has to come along: the grade, or the place. Scores that differ in those bits alone are
noticed afterwards, and sorted again the slow way; they are rare.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints

if TYPE_CHECKING:
    from gainful.inputs.arrays import Lists, Numbers

Scalar = TypeVar("Scalar", bound=np.generic)

# Lists are sorted as a matrix padded to the longest. Where that would make it so much larger,
# lists are put in buckets first, whose lengths differ by at most this factor and this many.
_PADDING = 2.0
_BUCKET_FACTOR, _BUCKET_SLACK = 1.25, 8

_SPARE_BITS = 16  # of the 52 of a score's fraction
_SAMPLE, _OFTEN = 4, 0.1  # lists to look at, and the share of ties from which on it pays
_LARGEST_STEP = 4095  # whole grades within such a range come along in the lowest bits


@dataclass(frozen=True, slots=True)
class Sorted:
    """Documents list after list, each by score descending.

    Attributes:
        scores: (n,), or the scores negated: enough to see which are equal.
        grade: (n,) of the same documents.
        pool: (n,) the grades of each list, descending.
        by_grade: whether documents with equal scores stand by grade descending; if not, they
            stand as they come.
    """

    scores: "Numbers"
    grade: Floats
    pool: Floats
    by_grade: bool


def sort_lists(lists: "Lists", offsets: Ints, *, by_grade: bool) -> Sorted:
    """Sort each list; with `by_grade`, equal scores by grade where that is fast."""
    lengths = lists.lengths
    if lengths.size * int(lengths.max()) <= _PADDING * int(offsets[-1]):
        return _sort_together(lists, lists.starts, lengths, by_grade=by_grade)
    scores, grade, pool = (np.empty(offsets[-1]) for _ in range(3))
    for bucket in buckets(lengths):
        part = _sort_together(lists, lists.starts[bucket], lengths[bucket], by_grade=by_grade)
        rows = ranges(offsets[bucket], lengths[bucket])
        scores[rows], grade[rows], pool[rows] = part.scores, part.grade, part.pool
        by_grade = by_grade and part.by_grade
    return Sorted(scores, grade, pool, by_grade)


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return starts[0], starts[0]+1, …, then starts[1], …: `lengths` of each.

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    return np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)


def distinct(values: Floats) -> Floats:
    """Return the values that occur, ascending.

    `np.unique` would import masked arrays first, which takes longer than most evaluations.
    """
    ascending = np.sort(values)
    first = np.ones(ascending.size, np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return ascending[first]


def descending_in_blocks(block: Ints, grades: Floats) -> Floats:
    """Sort grades (n,) descending within their blocks (n,), which are numbered ascending.

    Block and grade make one integer, and a sort of bare integers is the fastest there is.
    """
    known = distinct(grades)[::-1]
    base = block * known.size
    key = base + (known.size - 1 - np.searchsorted(known[::-1], grades))
    key.sort()
    key -= base
    descending: Floats = known[key]
    return descending


def buckets(lengths: Ints) -> Iterator[Ints]:
    """Yield the lists of similar length together."""
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order]
    start = int(ascending.searchsorted(0, "right"))  # lists without documents have no rows
    while start < order.size:
        longest = int(ascending[start] * _BUCKET_FACTOR) + _BUCKET_SLACK
        end = int(ascending.searchsorted(longest, "right"))
        yield order[start:end]
        start = end


def _sort_together(lists: "Lists", starts: Ints, lengths: Ints, *, by_grade: bool) -> Sorted:
    """Sort lists as one matrix [list, place], padded to the longest."""
    shape = lengths.size, int(lengths.max())
    real = None if (lengths == shape[1]).all() else np.arange(shape[1]) < lengths[:, None]
    source: Ints | slice = slice(starts[0], starts[0] + int(lengths.sum()))
    if (starts[1:] != starts[:-1] + lengths[:-1]).any():  # the lists stand apart
        source = ranges(starts, lengths)
    scores, labels = lists.scores[source], lists.labels[source]
    steps = _steps(labels) if by_grade and _often_tied(scores, lengths) else None
    if steps is not None:
        highest = float(labels.max())
        negated = _negated(scores, real, shape)
        found = _with_grades(negated, _laid_out(steps, real, shape, 0), highest)
        if found is not None:
            pool = _laid_out(steps.astype(np.int16), real, shape, np.iinfo(np.int16).max)
            pool.sort(axis=1)
            descending = np.subtract(highest, _documents(pool, real), dtype=np.float64)
            ascending, grades = (_documents(matrix, real) for matrix in found)
            return Sorted(ascending, grades, descending, by_grade=True)
    pools = _negated(labels, real, shape)
    pools.sort(axis=1)
    np.subtract(0.0, pools, out=pools)
    places = _places(_negated(scores, real, shape))
    places += starts[:, None]
    order = _documents(places, real)
    ordered = lists.scores[order]
    rises = ordered[1:] > ordered[:-1]
    ends = np.cumsum(lengths)
    rises[ends[(ends > 0) & (ends < ordered.size)] - 1] = False  # from one list to the next it may
    if rises.any():
        exact = np.argsort(_negated(scores, real, shape), axis=1, kind="stable")
        order = _documents(exact + starts[:, None], real)
        ordered = lists.scores[order]
    grades = lists.labels[order].astype(np.float64, copy=False)
    return Sorted(ordered, grades, _documents(pools, real), by_grade=False)


def _often_tied(scores: "Numbers", lengths: Ints) -> bool:
    """Guess from the first few lists whether many documents tie; only speed depends on it."""
    ends = np.cumsum(lengths[:_SAMPLE])
    lists = np.split(scores[: ends[-1]], ends[:-1])
    return sum(distinct(each).size for each in lists) < (1 - _OFTEN) * int(ends[-1])


def _laid_out(
    numbers: NDArray[Scalar], real: Bools | None, shape: tuple[int, int], padding: float
) -> NDArray[Scalar]:
    if real is None:
        return numbers.reshape(shape)
    matrix = np.full(shape, padding, numbers.dtype)
    matrix[real] = numbers
    return matrix


def _negated(numbers: "Numbers", real: Bools | None, shape: tuple[int, int]) -> Floats:
    """Lay numbers out negated, so that ascending is best first and padding stays behind."""
    if real is None:
        # 0 − x and not −x: there is no −0.
        return np.subtract(0.0, numbers.reshape(shape), dtype=np.float64)
    matrix = np.full(shape, -np.inf)
    matrix[real] = numbers
    np.subtract(0.0, matrix, out=matrix)
    return matrix


def _documents(matrix: NDArray[Scalar], real: Bools | None) -> NDArray[Scalar]:
    """Return the documents (n,) of a sorted matrix, without the padding."""
    return matrix.ravel() if real is None else matrix[real]


def _steps(labels: "Numbers") -> Ints | None:
    """Return how far below the highest each grade is, if they are whole and within a small range."""
    highest, lowest = float(labels.max()), float(labels.min())
    if not highest.is_integer() or highest / 2 - lowest / 2 > _LARGEST_STEP / 2:
        return None
    below = np.subtract(highest, labels, dtype=np.float64)
    steps = below.astype(np.int64)
    return steps if (steps == below).all() else None


def _with_grades(negated: Floats, steps: Ints, highest: float) -> tuple[Floats, Floats] | None:
    """Return scores and grades sorted by both, or None where scores are too close.

    Overwrites the scores.
    """
    bits = max(int(steps.max()).bit_length(), 1)
    ascending = np.sort(negated, axis=1)
    key = _packed(negated, steps, bits)
    key.sort(axis=1)
    differ = ascending[:, 1:] != ascending[:, :-1]
    seen = (key[:, 1:] ^ key[:, :-1]) >> bits != 0
    if (differ & ~seen).any():
        return None
    key &= (1 << bits) - 1
    return ascending, np.subtract(highest, key, dtype=np.float64)


def _places(negated: Floats) -> Ints:
    """Return the places [list, rank] of the documents by score, equal ones as they come.

    Scores that are very close may be out of order. Overwrites the scores.
    """
    length = negated.shape[1]
    bits = length.bit_length()
    if bits > _SPARE_BITS:
        return np.argsort(negated, axis=1, kind="stable")
    order = _packed(negated, np.arange(length), bits)
    order.sort(axis=1)
    order &= (1 << bits) - 1
    return order


def _packed(numbers: Floats, low: Ints, bits: int) -> Ints:
    """Return integers in the order of the numbers, their lowest bits replaced, in their memory."""
    key = numbers.view(np.int64)
    sign = key >> 63
    sign &= np.iinfo(np.int64).max
    key ^= sign  # of negative numbers all bits but the sign are turned
    key &= -1 << bits
    key |= low
    return key
