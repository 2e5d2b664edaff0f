"""A pair of clean TREC files → Matched, on arrays alone.

Ids are compared by keys of 64 bits, and byte by byte where keys agree. What is unusual (ties in
great number, documents that stand twice, no id in common) is left to the engine.
"""

import operator
from typing import NamedTuple

import numpy as np

from gainful.array_types import Bools, Ints
from gainful.inputs.clean_trec_files import TrecArrays, doc_bytes, same_docs
from gainful.inputs.identifiers import in_order
from gainful.matching.matched import Matched, by_rank, offsets_of
from gainful.matching.rank_search import Segments, count_above, count_down_to, locate, with_repeats
from gainful.matching.sorting import descending_in_blocks, ranges
from gainful.measures.policy import Policy

_MOST_TIES = 20_000  # judged documents whose ties are settled one by one
_BEFORE = {"doc": operator.gt, "doc_ascending": operator.lt}  # which of two ids stands first


class _Hits(NamedTuple):
    """The judged documents that were retrieved (n,): the list of each, and its row on either side.

    Lists are those of the queries that both sides have, in their order.
    """

    list: Ints
    judged: Ints
    run: Ints

    def at(self, chosen: Bools | Ints) -> "_Hits":
        """Return some of them."""
        return _Hits(self.list[chosen], self.judged[chosen], self.run[chosen])


def match(judged: TrecArrays, run: TrecArrays, policy: Policy, depth: int | None) -> Matched | None:
    """Match a run with its judgments; None where the engine has to."""
    queries = in_order(judged.queries)
    judged_at = {query: place for place, query in enumerate(judged.queries)}
    run_at = {query: place for place, query in enumerate(run.queries)}
    pools = _segments(judged, [judged_at[query] for query in queries])
    # The queries that both have, by their place among all that are judged.
    common = np.array([place for place, query in enumerate(queries) if query in run_at], np.int64)
    if not common.size or with_repeats(judged.keys, pools).size:
        return None
    lists_at = [run_at[queries[place]] for place in common]
    lists = _segments(run, lists_at)

    hits = _find_hits(judged, pools, run, lists, common)
    if hits is None:
        return None
    above, last = count_above(run.numbers, lists, hits.list, run.numbers[hits.run])
    first = above + 1
    seen = lists.lengths
    if depth is not None:
        # A block of ties that begins above the depth is kept whole, until its order is known.
        seen = count_down_to(run.numbers, lists, depth)
        near = first <= depth
        hits, first, last = hits.at(near), first[near], last[near]
    if not hits.list.size:
        return None
    rank = first
    if policy.ties in (*_BEFORE, "order"):
        tied = np.flatnonzero(first < last)
        if tied.size > _MOST_TIES:
            return None
        rank = first.copy()
        rank[tied] += _places_in_ties(run, lists, hits.at(tied), policy.ties)

    retrieved, all_seen, unjudged = (np.zeros(len(queries), np.int64) for _ in range(3))
    missing = np.ones(len(queries), np.bool_)
    missing[common] = False
    retrieved[common] = run.retrieved[lists_at]
    all_seen[common] = seen
    unjudged[common] = seen - np.bincount(hits.list, minlength=common.size)
    query_of, grade = common[hits.list], judged.numbers[hits.judged]
    order = by_rank(query_of, rank, grade)
    if depth is not None:
        order = order[rank[order] <= depth]
    pool = judged.numbers[ranges(pools.starts, pools.lengths)]
    pool_owner = np.repeat(np.arange(len(queries)), pools.lengths)
    return Matched(
        queries=tuple(queries),
        offsets=offsets_of(np.bincount(query_of[order], minlength=len(queries))),
        rank_first=first[order],
        rank_last=last[order],
        rank=rank[order],
        grade=grade[order],
        retrieved=retrieved,
        seen=all_seen,
        pool_offsets=offsets_of(pools.lengths),
        pool_grades=descending_in_blocks(pool_owner, pool),
        unjudged=unjudged,
        missing=missing,
        lowest_grade=float(pool.min()),
        extra=tuple(in_order(run_at.keys() - judged_at.keys())),
    )


def _find_hits(
    judged: TrecArrays, pools: Segments, run: TrecArrays, lists: Segments, common: Ints
) -> _Hits | None:
    """Find the judged documents among those retrieved; None where keys cannot tell them apart."""
    list_of = np.repeat(np.arange(common.size), pools.lengths[common])
    judged_row = ranges(pools.starts[common], pools.lengths[common])
    run_row = locate(run.keys, lists, list_of, judged.keys[judged_row])
    if run_row is None:
        return None
    found = _Hits(list_of, judged_row, run_row).at(np.flatnonzero(run_row >= 0))
    return found.at(same_docs(run, found.run, judged, found.judged))


def _segments(arrays: TrecArrays, places: list[int]) -> Segments:
    """Return where the rows of some queries stand."""
    at = np.array(places, np.int64)
    return Segments(arrays.starts[at], arrays.starts[at + 1] - arrays.starts[at])


def _places_in_ties(run: TrecArrays, lists: Segments, hits: _Hits, ties: str) -> Ints:
    """Return the place (n,) of documents within the blocks that share their score, from 0."""
    owner, rows = hits.list, hits.run
    places = np.zeros(rows.size, np.int64)
    for query in sorted(set(owner.tolist())):
        start, length = int(lists.starts[query]), int(lists.lengths[query])
        scores = run.numbers[start : start + length]
        for place in np.flatnonzero(owner == query).tolist():
            block = start + np.flatnonzero(scores == run.numbers[rows[place]])
            own = int(np.flatnonzero(block == rows[place])[0])
            if ties == "order":
                places[place] = own
            else:
                ids = doc_bytes(run, block)
                places[place] = sum(_BEFORE[ties](other, ids[own]) for other in ids)
    return places
