"""Sorting many lists of documents at a time: by score, best first, with their grades.

A sort of bare integers is several times faster than one that keeps track of places. So each
score is read as an integer, which orders the same way, and shifted to make room below for what
has to come along: the grade, or the place. Where there is not room enough, the lowest bits of
the score are left out. Scores that differ in those bits alone are noticed afterwards, and
sorted again the slow way; they are rare.
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
Whole = TypeVar("Whole", np.int64, np.uint64)

# Lists are sorted as a matrix padded to the longest. Where that would make it so much larger,
# lists are put in buckets first, whose lengths differ by at most this factor and this many.
_PADDING = 2.0
_BUCKET_FACTOR, _BUCKET_SLACK = 1.25, 8

_KEY_BITS = 64
_SPARE_BITS = 16  # of the 52 of a score's fraction
_LARGEST_STEP = 4095  # whole grades within such a range come along in the lowest bits

Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Sorted:
    """Documents list after list, each by score descending.

    Attributes:
        opens: (n,) whether a document is the first of its list with this score.
        grade: (n,) of the same documents.
        pool: (n,) the grades of each list, descending.
        by_grade: whether documents with equal scores stand by grade descending; if not, they
            stand as they come.
    """

    opens: Bools
    grade: Floats
    pool: Floats
    by_grade: bool


def sort_lists(lists: "Lists", offsets: Ints, *, by_grade: bool) -> Sorted:
    """Sort each list; with `by_grade`, equal scores by grade where that is fast."""
    lengths = lists.lengths
    if lengths.size * int(lengths.max()) <= _PADDING * int(offsets[-1]):
        return _sort_together(lists, lists.starts, lengths, by_grade=by_grade)
    opens = np.empty(offsets[-1], np.bool_)
    grade, pool = (np.empty(offsets[-1]) for _ in range(2))
    for bucket in buckets(lengths):
        part = _sort_together(lists, lists.starts[bucket], lengths[bucket], by_grade=by_grade)
        rows = ranges(offsets[bucket], lengths[bucket])
        opens[rows], grade[rows], pool[rows] = part.opens, part.grade, part.pool
        by_grade = by_grade and part.by_grade
    return Sorted(opens, grade, pool, by_grade)


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


def rows_by_score(scores: Floats, lengths: Ints) -> Ints:
    """Return the rows of lists, which follow one another, each by score, descending.

    Those with equal scores stay as they stand.

    Args:
        scores: (n,) finite, without −0.
        lengths: (l,) of the lists.

    >>> rows_by_score(np.array([1.0, 2.0, 2.0, 5.0]), np.array([3, 1])).tolist()
    [1, 2, 0, 3]
    """
    starts = np.cumsum(lengths) - lengths
    heads = np.repeat(starts, lengths)
    bits = int(lengths.max(initial=0)).bit_length()
    if bits > _SPARE_BITS:
        return np.lexsort((-scores, heads))
    place = np.arange(scores.size) - heads
    key = _packed(0.0 - scores, place, bits)
    sort_in_lists(key, lengths)
    key &= (1 << bits) - 1
    key += heads
    ordered = scores[key]
    rises = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
    wrong = rises[heads[rises] < rises]  # from one list to the next it may
    if wrong.size:
        again = np.zeros(scores.size, np.bool_)
        again[heads[wrong]] = True
        rows = np.flatnonzero(again[heads])
        key[rows] = rows[np.lexsort((-scores[rows], heads[rows]))]
    return key


def sort_in_lists(keys: NDArray[Whole], lengths: Ints) -> None:
    """Sort integers (n,) ascending within lists (l,), which follow one another, in their memory.

    >>> keys = np.array([3, 1, 2, 5, 4])
    >>> sort_in_lists(keys, np.array([3, 2]))
    >>> keys.tolist()
    [1, 2, 3, 4, 5]
    """
    longest = int(lengths.max(initial=0))
    if lengths.size * longest == keys.size:
        keys.reshape(lengths.size, longest).sort(axis=1)
        return
    padding = np.iinfo(keys.dtype).max
    whole = lengths.size * longest <= _PADDING * keys.size
    starts = np.cumsum(lengths) - lengths
    for bucket in [slice(None)] if whole else buckets(lengths):
        some = lengths[bucket]
        rows = slice(None) if whole else ranges(starts[bucket], some)
        shape = some.size, int(some.max())
        real = np.arange(shape[1]) < some[:, None]
        matrix = _laid_out(keys[rows], real, shape, padding)
        matrix.sort(axis=1)
        keys[rows] = matrix[real]


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
    steps = _steps(labels) if by_grade else None
    if steps is not None:
        found = _sort_with_steps(scores, steps, float(labels.max()), real, shape)
        if found is not None:
            return found
    pools = _negated(labels, real, shape)
    pools.sort(axis=1)
    np.subtract(0.0, pools, out=pools)
    places = _places(_negated(scores, real, shape))
    places += starts[:, None]
    order = _documents(places, real)
    ordered = lists.scores[order]
    rises = ordered[1:] > ordered[:-1]
    ends = np.cumsum(lengths)
    heads = ends[(ends > 0) & (ends < ordered.size)]  # where the next list begins
    rises[heads - 1] = False  # from one list to the next it may
    if rises.any():
        exact = np.argsort(_negated(scores, real, shape), axis=1, kind="stable")
        order = _documents(exact + starts[:, None], real)
        ordered = lists.scores[order]
    opens = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=opens[1:])
    opens[heads] = True
    grades = lists.labels[order].astype(np.float64, copy=False)
    return Sorted(opens, grades, _documents(pools, real), by_grade=False)


def _sort_with_steps(
    scores: "Numbers", steps: Ints, highest: float, real: Bools | None, shape: tuple[int, int]
) -> Sorted | None:
    """Sort by score and, where scores are equal, by grade; None where scores are too close.

    `steps` (n,) is how far each grade is below the highest.
    """
    bits = max(int(steps.max()).bit_length(), 1)
    exact = _descending_keys(scores)
    lost = max(int(exact.max()).bit_length() + bits - _KEY_BITS, 0)
    key: Keys = (exact >> np.uint64(lost) if lost else exact) << np.uint64(bits)
    key |= steps.view(np.uint64)
    matrix = _laid_out(key, real, shape, np.iinfo(np.uint64).max)
    matrix.sort(axis=1)
    low = np.uint64((1 << bits) - 1)
    step = (matrix & low).view(np.int64)
    grade = np.subtract(highest, _documents(step, real), dtype=np.float64)
    matrix |= low  # what is left is the score
    opens = _opens(matrix)
    if lost and int(np.bitwise_or.reduce(exact)) & ((1 << lost) - 1):
        tied = np.flatnonzero(~opens.all(axis=1))
        ascending = _laid_out(exact, real, shape, np.iinfo(np.uint64).max)[tied]
        ascending.sort(axis=1)
        if (_opens(ascending) != opens[tied]).any():
            return None
    # Narrow integers, which hold every step, are sorted three times as fast.
    pool = _laid_out(steps.astype(np.int16), real, shape, np.iinfo(np.int16).max)
    pool.sort(axis=1)
    descending = np.subtract(highest, _documents(pool, real), dtype=np.float64)
    return Sorted(_documents(opens, real), grade, descending, by_grade=True)


def _descending_keys(scores: "Numbers") -> Keys:
    """Return an integer (n,) for each score, 0 for the highest, that rises as scores fall.

    The bits of a float that is not negative order as the float does; of a negative one, all bits
    but the sign are turned.
    """
    bits = np.add(scores, 0.0, dtype=np.float64).view(np.int64)  # + 0: there is no −0
    lowest, highest = int(bits.min()), int(bits.max())
    if lowest < 0:
        sign = bits >> 63
        sign &= np.iinfo(np.int64).max
        bits ^= sign
        highest = int(bits.max())
    keys: Keys = np.subtract(np.int64(highest), bits, out=bits).view(np.uint64)  # modulo 2^64
    return keys


def _opens(ascending: Keys) -> Bools:
    """Return where [list, rank] a key differs from the one before in its list."""
    opens = np.empty(ascending.shape, np.bool_)
    opens[:, :1] = True
    np.not_equal(ascending[:, 1:], ascending[:, :-1], out=opens[:, 1:])
    return opens


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
