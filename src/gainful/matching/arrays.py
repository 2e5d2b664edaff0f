"""Arrays of labels and scores → Matched.

Documents have no ids here, every document has a label, and the passed documents are all
that are judged.
"""

from collections.abc import Iterator

import numpy as np

from gainful.inputs.arrays import Lists
from gainful.matching.matched import Floats, Ints, Matched, offsets_of, places_of
from gainful.measures.policy import Policy

# Lists are sorted many at a time, as a matrix padded to the longest. Where that would make it
# so much larger, lists are put in buckets first, whose lengths differ by at most this factor
# and this many documents.
_PADDING = 2.0
_BUCKET_FACTOR, _BUCKET_SLACK = 1.25, 8

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
    starts = np.flatnonzero(opens)
    sizes = np.diff(starts, append=order.size)
    first = np.repeat(rank[starts], sizes)
    last = np.repeat(rank[starts] + sizes - 1, sizes)
    tied = np.flatnonzero(first < last)
    block = np.repeat(starts, sizes)[tied]
    grade = lists.labels[order]
    if policy.ties == "order":
        return _matched(lists.queries, offsets, (first, last, rank), grade, pool)
    grade[tied] = _descending_in_blocks(block, grade[tied])
    return _matched(lists.queries, offsets, (first, last, first), grade, pool)


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
    key = block * bound
    return np.sort(key + number) - key


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
    padding = None if (lengths == places.size).all() else places >= lengths[:, None]
    if padding is None and (np.diff(starts) == places.size).all():
        source = slice(starts[0], starts[0] + lengths.size * places.size)
        negated = 0.0 - lists.scores[source].reshape(-1, places.size)
        pool = 0.0 - lists.labels[source].reshape(-1, places.size)
    else:
        places_of_documents = starts[:, None] + places
        negated = 0.0 - lists.scores.take(places_of_documents, mode="clip")
        pool = 0.0 - lists.labels.take(places_of_documents, mode="clip")
    if padding is not None:  # ascending, it stays behind the documents of its list
        negated[padding] = np.inf
        pool[padding] = np.inf
    order = _ascending(negated, places, exact=exact)
    order += starts[:, None]
    pool.sort(axis=1)
    np.subtract(0.0, pool, out=pool)
    if padding is None:
        return order.ravel(), pool.ravel()
    real = ~padding
    return order[real], pool[real]


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
