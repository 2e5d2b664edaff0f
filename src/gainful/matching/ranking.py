"""Sort many lists of documents at a time, and find ranks of a few documents among a query's scores.

Sorting plain integers is several times faster than sorting with an index. So each score is converted to an
integer of the same order, shifted to make room in the low bits for a payload, the grade or the position. If
there isn't enough room, the lowest bits of the score are dropped. Scores that differ only in those bits are rare;
they are detected afterwards and sorted again in the slow way.

For ranks, queries of similar length form a matrix, which is sorted and then searched for all wanted documents at
once: with the row number as part of each number, the whole matrix is in order. Threads wait for Python's lock
after each operation, so only few operations make many cores fast.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful.arithmetic.cores import in_parallel
from gainful.array_types import Bools, Floats, Ints

if TYPE_CHECKING:
    from gainful.arithmetic.number_arrays import Numbers

Scalar = TypeVar("Scalar", bound=np.generic)

# Lists are sorted as a matrix padded to the longest. Where that would make it so much larger,
# lists are put in buckets first, whose lengths differ by at most this factor and this many.
_PADDING = 2.0
_BUCKET_FACTOR, _BUCKET_SLACK = 1.25, 8

_KEY_BITS = 64
_SPARE_BITS = 16  # of the 52 bits of a score's fraction
_LARGEST_STEP = 4095  # integer grades within such a range fit the lowest bits

Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Sorted:
    """The documents of all lists, each list by descending score.

    Attributes:
        opens: (n,) whether a document is the first of its list with this score.
        grade: (n,) the grades of the same documents.
        pool: (n,) the grades of each list, descending.
        by_grade: whether documents with equal scores are by descending grade; if not, they are in input
            order.
    """

    opens: Bools
    grade: Floats
    pool: Floats
    by_grade: bool


def sort_lists(scores: "Numbers", labels: "Numbers", lengths: Ints, *, by_grade: bool) -> Sorted:
    """Sort consecutive lists (l,); with `by_grade`, sort equal scores by grade if that is fast."""
    steps = _steps(labels) if by_grade else None
    if steps is not None:
        found = _sort_with_steps(scores, steps, float(labels.max()), lengths)
        if found is not None:
            return found
    order = rows_by_score(np.add(scores, 0.0, dtype=np.float64), lengths)
    pool = np.subtract(0.0, labels, dtype=np.float64)
    sort_in_lists(pool, lengths)
    np.subtract(0.0, pool, out=pool)
    grade = labels[order].astype(np.float64, copy=False)
    return Sorted(_opens(scores[order], lengths), grade, pool, by_grade=False)


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return `lengths` consecutive integers from each start: starts[0], starts[0]+1, …, starts[1], ….

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    shifts: Ints = (starts - lengths.cumsum() + lengths).repeat(lengths)
    return np.arange(lengths.sum()) + shifts


def distinct(values: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the distinct values, ascending.

    `np.unique` would import masked arrays, which takes longer than most evaluations.
    """
    ascending = values.copy()
    ascending.sort()
    first = np.empty(ascending.size, np.bool_)
    first[:1] = True
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return ascending[first]


def descending_in_blocks(block: Ints, grades: Floats) -> Floats:
    """Sort grades (n,) in descending order within their blocks (n,), which are numbered in ascending order.

    Block and grade form a single integer, and plain integers sort fastest.
    """
    known = distinct(grades)[::-1]
    base = block * known.size
    key = base + (known.size - 1 - known[::-1].searchsorted(grades))
    key.sort()
    key -= base
    descending: Floats = known[key]
    return descending


def rows_by_score(scores: Floats, lengths: Ints) -> Ints:
    """Return the rows of consecutive lists, each by descending score; equal scores keep their order.

    Args:
        scores: (n,) finite, without −0.
        lengths: (l,) the lengths of the lists.

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
    wrong = rises[heads[rises] < rises]  # rises between lists are allowed
    if wrong.size:
        again = np.zeros(scores.size, np.bool_)
        again[heads[wrong]] = True
        rows = np.flatnonzero(again[heads])
        key[rows] = rows[np.lexsort((-scores[rows], heads[rows]))]
    return key


def sort_in_lists(keys: NDArray[Scalar], lengths: Ints) -> None:
    """Sort numbers (n,) in ascending order within consecutive lists (l,), in place.

    >>> keys = np.array([3, 1, 2, 5, 4])
    >>> sort_in_lists(keys, np.array([3, 2]))
    >>> keys.tolist()
    [1, 2, 3, 4, 5]
    """
    longest = int(lengths.max(initial=0))
    if lengths.size * longest == keys.size:
        keys.reshape(lengths.size, longest).sort(axis=1)
        return
    padding = np.inf if keys.dtype.kind == "f" else np.iinfo(keys.dtype.name).max
    whole = lengths.size * longest <= _PADDING * keys.size
    starts = np.cumsum(lengths) - lengths
    for bucket in [slice(None)] if whole else buckets(lengths):
        some = lengths[bucket]
        rows = slice(None) if whole else ranges(starts[bucket], some)
        shape = some.size, int(some.max())
        inside = np.arange(shape[1]) < some[:, None]
        matrix = np.full(shape, padding, keys.dtype)
        matrix[inside] = keys[rows]
        matrix.sort(axis=1)
        keys[rows] = matrix[inside]


def buckets(lengths: Ints) -> Iterator[Ints]:
    """Yield groups of lists of similar length."""
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order]
    start = int(ascending.searchsorted(0, "right"))  # lists without documents have no rows
    while start < order.size:
        longest = int(ascending[start] * _BUCKET_FACTOR) + _BUCKET_SLACK
        end = int(ascending.searchsorted(longest, "right"))
        yield order[start:end]
        start = end


def _sort_with_steps(
    scores: "Numbers", steps: Ints, highest: float, lengths: Ints
) -> Sorted | None:
    """Sort by score, and by grade if scores are equal; None if scores are too close.

    `steps` (n,) is the distance of each grade from the highest.
    """
    bits = max(int(steps.max()).bit_length(), 1)
    exact = _descending_keys(scores)
    lost = max(int(exact.max()).bit_length() + bits - _KEY_BITS, 0)
    key: Keys = (exact >> np.uint64(lost) if lost else exact) << np.uint64(bits)
    key |= steps.view(np.uint64)
    sort_in_lists(key, lengths)
    low = np.uint64((1 << bits) - 1)
    grade = np.subtract(highest, (key & low).view(np.int64), dtype=np.float64)
    key |= low  # the remaining bits are the score
    opens = _opens(key, lengths)
    if lost and int(np.bitwise_or.reduce(exact)) & ((1 << lost) - 1):
        ends = np.cumsum(lengths)
        opened = np.concatenate(([0], np.cumsum(opens)))
        tied = opened[ends] - opened[ends - lengths] < lengths
        rows = np.repeat(tied, lengths)
        ascending = exact[rows]
        sort_in_lists(ascending, lengths[tied])
        if (_opens(ascending, lengths[tied]) != opens[rows]).any():
            return None
    # Narrow integers, which can hold every step, sort three times as fast.
    pool = steps.astype(np.int16)
    sort_in_lists(pool, lengths)
    return Sorted(opens, grade, np.subtract(highest, pool, dtype=np.float64), by_grade=True)


def _descending_keys(scores: "Numbers") -> Keys:
    """Return an integer (n,) for each score, 0 for the highest, that rises as scores fall.

    The bits of a non-negative float order like the float; for negative floats, all bits except the sign are
    inverted.
    """
    bits = np.add(scores, 0.0, dtype=np.float64).view(np.int64)  # + 0 removes −0
    lowest, highest = int(bits.min()), int(bits.max())
    if lowest < 0:
        sign = bits >> 63
        sign &= np.iinfo(np.int64).max
        bits ^= sign
        highest = int(bits.max())
    keys: Keys = np.subtract(np.int64(highest), bits, out=bits).view(np.uint64)  # modulo 2^64
    return keys


def _opens(values: NDArray[Any], lengths: Ints) -> Bools:
    """Return where (n,) a value differs from the previous one in its list."""
    opens = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=opens[1:])
    opens[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
    return opens


def _steps(labels: "Numbers") -> Ints | None:
    """Return the distance of each grade from the highest, if grades are integers within a small range."""
    if not labels.size:
        return None
    highest, lowest = float(labels.max()), float(labels.min())
    if not highest.is_integer() or highest / 2 - lowest / 2 > _LARGEST_STEP / 2:
        return None
    below = np.subtract(highest, labels, dtype=np.float64)
    steps = below.astype(np.int64)
    return steps if (steps == below).all() else None


def _packed(numbers: Floats, low: Ints, bits: int) -> Ints:
    """Return integers in the order of the numbers, with their lowest bits replaced, in place."""
    key = numbers.view(np.int64)
    sign = key >> 63
    sign &= np.iinfo(np.int64).max
    key ^= sign  # for negative numbers, all bits except the sign are inverted
    key &= -1 << bits
    key |= low
    return key


Number = TypeVar("Number", bound=np.generic)

_BLOCK = 1 << 17  # numbers
_FEW = 8  # queries, below which searching each is faster than searching all at once


@dataclass(frozen=True, slots=True)
class Segments:
    """The positions of the rows of each query.

    Attributes:
        starts: (q,) the first row.
        lengths: (q,) the number of rows.
    """

    starts: Ints
    lengths: Ints


def count_above(
    scores: Floats, segments: Segments, owner: Ints, wanted: Floats
) -> tuple[Ints, Ints]:
    """Return how many scores of its query are greater than each wanted one, and how many greater or equal.

    Args:
        scores: (n,) of all documents.
        segments: the queries.
        owner: (m,) the query of each wanted score.
        wanted: (m,) scores that occur in their queries.

    >>> segments = Segments(np.array([0, 3]), np.array([3, 2]))
    >>> above, at_least = count_above(
    ...     np.array([1.0, 3.0, 3.0, 5.0, 4.0]), segments, np.array([0, 1]), np.array([3.0, 4.0])
    ... )
    >>> above.tolist(), at_least.tolist()
    ([0, 1], [2, 2])
    """
    above, at_least = np.empty(owner.size, np.int64), np.empty(owner.size, np.int64)
    if segments.lengths.size <= _FEW:
        spans = zip(segments.starts.tolist(), segments.lengths.tolist(), strict=True)
        for query, (start, length) in enumerate(spans):
            ascending, rows = scores[start : start + length].copy(), owner == query
            ascending.sort()
            values = wanted[rows]
            above[rows] = length - ascending.searchsorted(values, "right")
            at_least[rows] = length - ascending.searchsorted(values)
        return above, at_least
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
        # The score itself is the last of the scores up to it; the one before may be equal.
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
    """Return the first and the last rank of each row's block of equal scores in its query.

    Runs are usually sorted. Then the position of a row is its rank, without sorting.

    Args:
        scores: (n,) of all documents.
        starts: (l+1,) the start of each list, and the end of the last one.
        segments: the queries, each one of the lists.
        owner: (m,) the query of each row.
        rows: (m,) the rows.

    >>> scores, starts = np.array([5.0, 3.0, 3.0, 9.0]), np.array([0, 3, 4])
    >>> segments = Segments(starts[:-1], np.diff(starts))
    >>> first, last = tied_ranks(scores, starts, segments, np.array([0, 1]), np.array([2, 3]))
    >>> first.tolist(), last.tolist()
    ([2, 1], [3, 1])
    """
    if not rows.size:
        return rows, rows
    if _rises(scores[: starts[1]], starts[:2]) or _rises(scores, starts):
        above, last = count_above(scores, segments, owner, scores[rows])
        return above + 1, last
    opens = np.ones(scores.size + 1, np.bool_)  # whether a row differs from the previous one
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
    """Return whether any score is higher than the previous one in its list."""
    rises = scores[1:] > scores[:-1]
    heads = starts[(starts > 0) & (starts < scores.size)]
    rises[heads - 1] = False  # between lists
    return bool(rises.any())


def with_repeats(values: NDArray[np.uint64], segments: Segments) -> Ints:
    """Return the queries in which a value occurs more than once.

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
    """Return the row of each wanted key in its query, −1 without one.

    Only the highest bits of the keys are compared, so callers must verify the rows. None if these bits
    don't distinguish two keys of a query.

    Args:
        keys: (n,) with well-mixed bits.
        segments: the queries.
        owner: (m,) the query of each wanted key.
        wanted: (m,) the keys.

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
        # The lowest bits of a key are replaced by its position, which a plain sort then carries along, and the
        # highest by the row of the matrix.
        packed = _matrix_of(keys, segments, block, np.iinfo(np.uint64).max)
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
        hit &= at < np.repeat(lengths, counts)  # and isn't padding
        found[rows] = np.where(hit, np.repeat(segments.starts[block], counts) + at, -1)
        return True

    return found if all(in_parallel(work, _blocks(segments))) else None


def count_down_to(scores: Floats, segments: Segments, depth: int) -> Ints:
    """Return how many scores of each query are at least as high as the one at a depth.

    >>> segments = Segments(np.array([0, 3]), np.array([3, 1]))
    >>> count_down_to(np.array([1.0, 3.0, 3.0, 5.0]), segments, 1).tolist()
    [2, 1]
    """
    seen = segments.lengths.copy()
    if not (seen > depth).any():
        return seen

    def work(block: Ints) -> None:
        lengths = segments.lengths[block]
        if lengths.max() <= depth:
            return
        # Padded at the lower end, so that the highest scores are in the same columns.
        matrix = _matrix_of(scores, segments, block, -np.inf)
        matrix.partition(matrix.shape[1] - depth, axis=1)
        edge = matrix[:, matrix.shape[1] - depth, None]
        seen[block] = np.where(lengths > depth, (matrix >= edge).sum(axis=1), lengths)

    in_parallel(work, _blocks(segments))
    return seen


def _blocks(segments: Segments) -> list[Ints]:
    """Return groups of queries of similar length that fit a core's cache."""
    blocks: list[Ints] = []
    for bucket in buckets(segments.lengths):
        size = max(_BLOCK // int(segments.lengths[bucket[-1]]), 1)
        blocks += np.split(bucket, np.arange(size, bucket.size, size))
    return blocks


def _ascending(
    values: NDArray[Number], segments: Segments, block: Ints, padding: float
) -> NDArray[Number]:
    """Return the values [query, place] of some queries, in ascending order, padded to the longest."""
    matrix = _matrix_of(values, segments, block, padding)
    matrix.sort(axis=1)
    return matrix


def _matrix_of(
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
    """Return the values combined with their row: complex numbers are ordered by their real part first."""
    both = np.empty(values.shape, np.complex128)
    both.real, both.imag = row, values
    return both


def by_rank(owner: Ints, rank: Ints, grade: Floats) -> Ints:
    """Return the order of rows by query, rank and descending grade.

    One sort by a combined integer key is several times faster than a sort by three keys; the few rows that
    share a rank are then ordered by grade.
    """
    key = owner * (rank.max(initial=0) + 1) + rank
    order: Ints = key.argsort()  # rows of equal keys are ordered below
    ascending = key[order]
    same = ascending[1:] == ascending[:-1]
    if same.any():
        shared = np.zeros(order.size, np.bool_)
        shared[1:] = same
        shared[:-1] |= same
        chosen = order[shared]
        order[shared] = chosen[np.lexsort((-grade[chosen], key[chosen]))]
    return order
