"""Arrays of labels and scores → Matched.

Documents have no ids here, every document has a label, and the passed documents are all
that are judged.
"""

from collections.abc import Iterator

import numpy as np

from gainful.inputs.arrays import Lists
from gainful.matching.matched import Bools, Floats, Ints, Matched, offsets_of, places_of
from gainful.measures.policy import Policy

# Lists are sorted many at a time, as a matrix padded to the longest. Where that would make it
# so much larger, lists are put in buckets first, whose lengths differ by at most this factor
# and this many documents.
_PADDING = 2.0
_BUCKET_FACTOR, _BUCKET_SLACK = 1.25, 8

_MANY_TIES = 0.75  # fewer blocks than this share of the documents
_SPARE_BITS = 16  # of the 52 of a score's fraction, for the place of the document in its list
_SMALL_SCALE = 1000  # whole grades that lie within this range need no look-up table


def match(lists: Lists, policy: Policy) -> Matched:
    """Rank the documents of each list by score.

    >>> from gainful.inputs.arrays import read_lists
    >>> matched = match(read_lists([[0, 2, 1]], [[0.1, 0.9, 0.1]]), Policy(ties="average"))
    >>> matched.rank_first.tolist(), matched.rank_last.tolist(), matched.grade.tolist()
    ([1, 2, 2], [1, 3, 3], [2.0, 1.0, 0.0])
    """
    offsets = offsets_of(lists.lengths)
    begins = offsets[:-1][lists.lengths > 0]  # where a list begins, its score may rise
    order, pool = _sorted(lists, offsets)
    scores = lists.scores[order]
    rises = scores[1:] > scores[:-1]
    rises[begins[1:] - 1] = False
    if rises.any():
        order, pool = _sorted(lists, offsets, exact=True)
        scores = lists.scores[order]
    opens = np.empty(order.size, np.bool_)  # does a tie block begin here?
    np.not_equal(scores[1:], scores[:-1], out=opens[1:])
    opens[begins] = True

    rank = places_of(offsets)
    if opens.all():
        return _matched(lists.queries, offsets, (rank, rank, rank), lists.labels[order], pool)
    grade = lists.labels[order]
    first, last, rows, block = _tie_blocks(opens, rank)
    if policy.ties == "order":
        return _matched(lists.queries, offsets, (first, last, rank), grade, pool)
    grade[rows] = _descending_in_blocks(block, grade[rows])
    return _matched(lists.queries, offsets, (first, last, first), grade, pool)


def _tie_blocks(opens: Bools, rank: Ints) -> tuple[Ints, Ints, Ints | slice, Ints]:
    """Return the first and last rank (n,) of each row's block, the tied rows, and their blocks.

    Few ties are patched into the ranks; with many, it is faster to write all rows.
    """
    if np.count_nonzero(opens) < _MANY_TIES * opens.size:
        starts = np.flatnonzero(opens)
        sizes = np.diff(starts, append=opens.size)
        first = np.repeat(rank[starts], sizes)
        return first, first + np.repeat(sizes - 1, sizes), slice(None), np.repeat(starts, sizes)
    # The rows that continue a block come in runs; a run and the row before it are a block.
    continues = np.flatnonzero(~opens)
    runs = np.flatnonzero(np.diff(continues, prepend=-1) > 1)
    starts = continues[runs] - 1
    sizes = np.diff(runs, append=continues.size) + 1
    rows, block = _ranges(starts, sizes), np.repeat(starts, sizes)
    first, last = rank.copy(), rank.copy()
    first[rows] = rank[block]
    last[rows] = rank[np.repeat(starts + sizes - 1, sizes)]
    return first, last, rows, block


def match_ranked(grades: Floats, offsets: Ints, pool: Floats, pool_offsets: Ints) -> Matched:
    """Match lists of grades that stand in rank order already.

    Args:
        grades: (n,) in rank order, list after list.
        offsets: (q+1,) where each list stands.
        pool: (m,) all judged grades, list after list, in any order.
        pool_offsets: (q+1,) where those of each list stand.
    """
    rank = places_of(offsets)
    owner = np.repeat(np.arange(pool_offsets.size - 1), np.diff(pool_offsets))
    descending = pool[np.lexsort((-pool, owner))]
    queries = tuple(map(str, range(offsets.size - 1)))
    return _matched(queries, offsets, (rank, rank, rank), grades.copy(), descending, pool_offsets)


def _matched(
    queries: tuple[str, ...],
    offsets: Ints,
    ranks: tuple[Ints, Ints, Ints],
    grade: Floats,
    pool: Floats,
    pool_offsets: Ints | None = None,
) -> Matched:
    first, last, rank = ranks
    return Matched(
        queries=queries,
        offsets=offsets,
        rank_first=first,
        rank_last=last,
        rank=rank,
        grade=grade,
        retrieved=np.diff(offsets),
        pool_offsets=offsets if pool_offsets is None else pool_offsets,
        pool_grades=pool,
        unjudged=np.zeros(len(queries), np.int64),
        missing=np.zeros(len(queries), np.bool_),
        lowest_grade=float(pool.min(initial=np.inf)),
    )


def _descending_in_blocks(block: Ints, grades: Floats) -> Floats:
    """Sort grades (n,) descending within their blocks (n,), which are numbered ascending."""
    highest = grades.max()
    below = highest - grades
    steps = below.astype(np.int64)
    if (steps == below).all() and below.max() <= _SMALL_SCALE:  # whole grades, as most are
        scale: Floats = highest - np.arange(below.max() + 1)
        return scale[_ascending_in_blocks(block, steps, scale.size)]
    known = np.unique(grades)[::-1]
    steps = known.size - 1 - np.searchsorted(known[::-1], grades)
    return known[_ascending_in_blocks(block, steps, known.size)]


def _ascending_in_blocks(block: Ints, number: Ints, bound: int) -> Ints:
    """Sort numbers below `bound` within their blocks, which are numbered ascending.

    Block and number make one integer, and a sort of bare integers is the fastest there is.
    """
    base = block * bound
    key = base + number
    key.sort()
    key -= base
    return key


def _sorted(lists: Lists, offsets: Ints, *, exact: bool = False) -> tuple[Ints, Floats]:
    """Return the places (n,) of the documents by list and score descending, and the pools (n,).

    Documents with equal scores stand as they come. Unless `exact`, scores that agree to all
    but their last bits may come out in the wrong order.
    """
    lengths = lists.lengths
    if lengths.size * int(lengths.max()) <= _PADDING * int(offsets[-1]):
        return _sorted_together(lists, lists.starts, lengths, exact=exact)
    order, pool = np.empty(offsets[-1], np.int64), np.empty(offsets[-1])
    for bucket in _buckets(lengths):
        starts, target = lists.starts[bucket], _ranges(offsets[bucket], lengths[bucket])
        order[target], pool[target] = _sorted_together(lists, starts, lengths[bucket], exact=exact)
    return order, pool


def _sorted_together(
    lists: Lists, starts: Ints, lengths: Ints, *, exact: bool
) -> tuple[Ints, Floats]:
    """Sort lists of similar length as one matrix [list, place], padded to the longest."""
    places = np.arange(int(lengths.max()))
    real = None if (lengths == places.size).all() else places < lengths[:, None]
    source: Ints | slice = slice(starts[0], starts[0] + int(lengths.sum()))
    if (starts[1:] != starts[:-1] + lengths[:-1]).any():  # the lists stand apart
        source = _ranges(starts, lengths)
    # 0 − x and not −x: there is no −0, and ascending is best first.
    negated, pool = (
        _padded(0.0 - numbers[source], real, (lengths.size, places.size))
        for numbers in (lists.scores, lists.labels)
    )
    order = _ascending(negated, places, exact=exact)
    order += starts[:, None]
    pool.sort(axis=1)
    np.subtract(0.0, pool, out=pool)
    return (order.ravel(), pool.ravel()) if real is None else (order[real], pool[real])


def _padded(numbers: Floats, real: Bools | None, shape: tuple[int, int]) -> Floats:
    """Lay lists out as a matrix; infinite padding stays behind when they are sorted."""
    if real is None:
        return numbers.reshape(shape)
    matrix = np.full(shape, np.inf)
    matrix[real] = numbers
    return matrix


def _ascending(numbers: Floats, places: Ints, *, exact: bool) -> Ints:
    """Return the places [list, rank] of the numbers in ascending order; overwrites the numbers.

    A sort of integers that hold the place in their lowest bits is several times faster than
    a sort that keeps track of places, and right unless numbers differ in those bits alone.
    """
    bits = int(places.size).bit_length()
    if exact or bits > _SPARE_BITS:
        return np.argsort(numbers, axis=1, kind="stable")
    key = numbers.view(np.int64)
    sign = key >> 63
    sign &= np.iinfo(np.int64).max
    key ^= sign  # integers in the order of the floats
    key &= -1 << bits
    key |= places
    key.sort(axis=1)
    key &= (1 << bits) - 1
    return key


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return starts[0], starts[0]+1, …, then starts[1], …: `lengths` of each.

    >>> _ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    return np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)


def _buckets(lengths: Ints) -> Iterator[Ints]:
    """Yield the lists of similar length together, the longest last."""
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order]
    start = int(ascending.searchsorted(0, "right"))  # lists without documents have no rows
    while start < order.size:
        longest = int(ascending[start] * _BUCKET_FACTOR) + _BUCKET_SLACK
        end = int(ascending.searchsorted(longest, "right"))
        yield order[start:end]
        start = end
