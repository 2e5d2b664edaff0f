"""Arrays of labels and scores → Matched.

Documents have no ids here, every document has a label, and the passed documents are all
that are judged.
"""

from dataclasses import replace

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.inputs.arrays import Lists
from gainful.inputs.single_precision import beyond_single, in_single
from gainful.matching.matched import Matched, cut, offsets_of, places_of
from gainful.matching.sorting import descending_in_blocks, ranges, sort_lists
from gainful.measures.policy import Policy

_MANY_TIES = 0.75  # fewer blocks than this share of the documents


def match(lists: Lists, policy: Policy) -> Matched:
    """Rank the documents of each list by score.

    >>> from gainful.inputs.arrays import read_lists
    >>> matched = match(read_lists([[0, 2, 1]], [[0.1, 0.9, 0.1]]), Policy(ties="average"))
    >>> matched.rank_first.tolist(), matched.rank_last.tolist(), matched.grade.tolist()
    ([1, 2, 2], [1, 3, 3], [2.0, 1.0, 0.0])
    """
    if policy.negative == "unjudged":
        return _match_judged(lists, policy)
    if lists.masked:
        return _without_masked(match(replace(lists, masked=False), policy), lists)
    if policy.precision == "single":
        lists = _rounded(lists)
    offsets = offsets_of(lists.lengths)
    in_order = policy.ties == "order"
    found = sort_lists(lists, offsets, by_grade=not in_order)
    rank = places_of(offsets)
    if found.opens.all():
        return _matched(lists.queries, offsets, (rank, rank, rank), found.grade, found.pool)
    first, last = _tie_blocks(found.opens, rank)
    if not (in_order or found.by_grade):
        rows = np.flatnonzero(first < last)
        block = rows + first[rows] - rank[rows]  # the row that it begins with
        found.grade[rows] = descending_in_blocks(block, found.grade[rows])
    ranks = (first, last, rank if in_order else first)
    return _matched(lists.queries, offsets, ranks, found.grade, found.pool)


def _match_judged(lists: Lists, policy: Policy) -> Matched:
    """Match lists in which a negative label is no judgment."""
    plain = replace(policy, negative="keep")
    rows = ranges(lists.starts, lists.lengths)
    if lists.masked:  # what is neither judged nor returned is not there
        there = (lists.labels[rows] >= 0) | ~np.isneginf(lists.scores[rows])
        inside = np.concatenate(([0], np.cumsum(there)))
        lengths = np.diff(inside[offsets_of(lists.lengths)])
        rows = rows[there]
        lists = replace(lists, lengths=lengths)
    labels = lists.labels[rows].astype(np.float64)
    judged = labels >= 0
    counts = np.concatenate(([0], np.cumsum(~judged)))
    ends = offsets_of(lists.lengths)
    unjudged = np.diff(counts[ends])
    lowest = float(labels[judged].min(initial=np.inf))
    lists = replace(lists, starts=ends[:-1], labels=labels, scores=lists.scores[rows])
    if policy.unjudged == "error" and unjudged.any():
        place = int(np.flatnonzero(unjudged)[0])
        raise InputError(
            f"labels, query {lists.queries[place]!r}",
            "judged documents only",
            f"{unjudged[place]} unjudged",
            choice="unjudged=error",
        )
    if policy.unjudged == "condense":
        left = lists.lengths - unjudged
        lists = replace(
            lists,
            starts=offsets_of(left)[:-1],
            lengths=left,
            labels=labels[judged],
            scores=lists.scores[judged],
        )
    elif isinstance(policy.unjudged, float):
        lists = replace(lists, labels=np.where(judged, labels, policy.unjudged))
    matched = match(lists, plain)
    if policy.unjudged == "zero":
        matched = _without_negative(matched)
    return replace(matched, unjudged=unjudged, lowest_grade=lowest)


def _without_negative(matched: Matched) -> Matched:
    """Leave the rows with a negative grade out; the others keep their ranks."""
    kept, pool = matched.grade >= 0, matched.pool_grades >= 0
    return replace(
        matched,
        offsets=np.concatenate(([0], np.cumsum(kept)))[matched.offsets],
        rank_first=matched.rank_first[kept],
        rank_last=matched.rank_last[kept],
        rank=matched.rank[kept],
        grade=matched.grade[kept],
        pool_offsets=np.concatenate(([0], np.cumsum(pool)))[matched.pool_offsets],
        pool_grades=matched.pool_grades[pool],
    )


def _without_masked(matched: Matched, lists: Lists) -> Matched:
    """Leave documents with the score −∞, the last of each list, out of the lists; they are judged."""
    returned = ~np.isneginf(lists.scores[ranges(lists.starts, lists.lengths)])
    ends = offsets_of(lists.lengths)
    lengths = np.diff(np.concatenate(([0], np.cumsum(returned)))[ends])
    kept = matched.rank_first <= np.repeat(lengths, np.diff(matched.offsets))
    return replace(
        matched,
        offsets=offsets_of(lengths),
        rank_first=matched.rank_first[kept],
        rank_last=matched.rank_last[kept],
        rank=matched.rank[kept],
        grade=matched.grade[kept],
        retrieved=lengths,
        seen=lengths,
    )


def match_down_to(lists: Lists, policy: Policy, depth: int | None) -> Matched:
    """Rank the documents of each list by score, and keep those down to a depth."""
    matched = match(lists, policy)
    if depth is None:
        return matched
    near = np.concatenate(([0], np.cumsum(matched.rank_first <= depth)))[matched.offsets]
    return replace(cut(matched, depth), seen=np.diff(near))


def _rounded(lists: Lists) -> Lists:
    """Return lists with their scores in single precision.

    The arrays may hold the documents of other lists too, which are left out.
    """
    rows = ranges(lists.starts, lists.lengths)
    given = lists.scores[rows].astype(np.float64)
    scores = in_single(given)
    ends = np.cumsum(lists.lengths)
    beyond = np.flatnonzero(np.isinf(scores) & np.isfinite(given))
    if beyond.size:
        query = lists.queries[int(ends.searchsorted(beyond[0], "right"))]
        raise beyond_single(f"scores, query {query!r}", given[beyond[0]])
    return replace(lists, starts=ends - lists.lengths, labels=lists.labels[rows], scores=scores)


def _tie_blocks(opens: Bools, rank: Ints) -> tuple[Ints, Ints]:
    """Return the first and last rank (n,) of the block that each row belongs to.

    Few ties are patched into the ranks; with many, it is faster to write all rows.
    """
    if np.count_nonzero(opens) < _MANY_TIES * opens.size:
        block = opens.astype(np.int64)  # to add up truths takes NumPy several times as long
        np.cumsum(block, out=block)
        block -= 1
        starts = np.flatnonzero(opens)
        first = rank[starts]
        last = first + np.diff(starts, append=opens.size)
        last -= 1
        return first[block], last[block]
    # The rows that continue a block come in runs; a run and the row before it are a block.
    continues = np.flatnonzero(~opens)
    runs = np.flatnonzero(np.diff(continues, prepend=-1) > 1)
    starts = continues[runs] - 1
    sizes = np.diff(runs, append=continues.size) + 1
    rows = ranges(starts, sizes)
    first, last = rank.copy(), rank.copy()
    first[rows] = rank[np.repeat(starts, sizes)]
    last[rows] = rank[np.repeat(starts + sizes - 1, sizes)]
    return first, last


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
    lengths = np.diff(offsets)
    return Matched(
        queries=queries,
        offsets=offsets,
        rank_first=first,
        rank_last=last,
        rank=rank,
        grade=grade,
        retrieved=lengths,
        seen=lengths,
        pool_offsets=offsets if pool_offsets is None else pool_offsets,
        pool_grades=pool,
        unjudged=np.zeros(len(queries), np.int64),
        missing=np.zeros(len(queries), np.bool_),
        lowest_grade=float(pool.min(initial=np.inf)),
    )
