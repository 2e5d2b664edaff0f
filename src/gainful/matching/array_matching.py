"""Match arrays of labels and scores.

Documents in arrays have no ids. Every document has a label, so the given documents are all the judged ones.
"""

from dataclasses import replace

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.matching.matched import Matched, cut, offsets_of, places_of
from gainful.matching.ranking import descending_in_blocks, ranges, sort_lists
from gainful.matching.rows_under_policy import steps_of
from gainful.measures.policy import Policy
from gainful.rows.arrays import Lists
from gainful.rows.values_as_numbers import beyond_single, in_single

_MANY_TIES = 0.75  # the share of documents; with fewer blocks, there are many ties


def match(lists: Lists, policy: Policy) -> Matched:
    """Rank the documents of each list by score.

    >>> from gainful.rows.arrays import read_lists
    >>> matched = match(read_lists([[0, 2, 1]], [[0.1, 0.9, 0.1]]), Policy(ties="average"))
    >>> matched.rank_first.tolist(), matched.rank_last.tolist(), matched.grade.tolist()
    ([1, 2, 2], [1, 3, 3], [2.0, 1.0, 0.0])
    """
    # Without ids, no document is repeated, is a chunk, or has the id of its query.
    policy = replace(policy, duplicates="error", fold="none", drop_self="no")
    if steps_of(policy):
        return _match_as_dicts(lists, policy)
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
        block = rows + first[rows] - rank[rows]  # the first row of the block
        found.grade[rows] = descending_in_blocks(block, found.grade[rows])
    ranks = (first, last, rank if in_order else first)
    return _matched(lists.queries, offsets, ranks, found.grade, found.pool)


def _match_as_dicts(lists: Lists, policy: Policy) -> Matched:
    """Match documents under a policy that needs their ids, with positions as ids."""
    # Imported here because other arrays don't need it.
    from gainful.matching import dict_matching

    labels: dict[object, dict[object, float]] = {}
    scores: dict[object, dict[object, float]] = {}
    spans = zip(lists.queries, lists.starts.tolist(), lists.lengths.tolist(), strict=True)
    for query, start, length in spans:
        places = range(start, start + length)
        labels[query] = {f"row {place}": float(lists.labels[place]) for place in places}
        scores[query] = {
            f"row {place}": float(lists.scores[place])
            for place in places
            if not np.isneginf(lists.scores[place])
        }
    return dict_matching.match(labels, scores, policy)


def _match_judged(lists: Lists, policy: Policy) -> Matched:
    """Match lists in which a negative label means unjudged."""
    plain = replace(policy, negative="keep")
    rows = ranges(lists.starts, lists.lengths)
    if lists.masked:  # a document that is neither judged nor returned doesn't exist
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
    """Remove rows with a negative grade; the others keep their ranks."""
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
    """Remove documents with the score −∞, at the end of each list, from the lists; they remain judged."""
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
    """Rank the documents of each list by score, and keep the ranks down to a depth."""
    matched = match(lists, policy)
    if depth is None:
        return matched
    near = np.concatenate(([0], np.cumsum(matched.rank_first <= depth)))[matched.offsets]
    return replace(cut(matched, depth), seen=np.diff(near))


def _rounded(lists: Lists) -> Lists:
    """Return lists with scores in single precision, without documents that belong to other lists."""
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
    """Return the first and last rank (n,) of each row's block of equal scores.

    A few ties are patched into the ranks; if there are many, writing all rows is faster.
    """
    if np.count_nonzero(opens) < _MANY_TIES * opens.size:
        block = opens.astype(np.int64)  # NumPy adds up booleans several times as slowly
        np.cumsum(block, out=block)
        block -= 1
        starts = np.flatnonzero(opens)
        first = rank[starts]
        last = first + np.diff(starts, append=opens.size)
        last -= 1
        return first[block], last[block]
    # Rows that continue a block are contiguous; together with the row before them, they form the block.
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
    """Match lists of grades that are already in rank order.

    Args:
        grades: (n,) in rank order, all lists concatenated.
        offsets: (q+1,) the offsets of each list.
        pool: (m,) all judged grades, all lists concatenated, in any order.
        pool_offsets: (q+1,) the offsets of each list's judged grades.
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
