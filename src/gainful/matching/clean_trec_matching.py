"""A pair of clean TREC files → Matched, on arrays alone.

Ids are compared by keys of 64 bits, and byte by byte where keys agree. What is unusual (ties in
great number, documents that stand twice, no id in common) is left to the engine.
"""

import operator

import numpy as np

from gainful.array_types import Ints
from gainful.inputs.clean_trec_files import TrecArrays, doc_bytes, same_docs
from gainful.inputs.identifiers import in_order
from gainful.matching.matched import Matched, by_rank, offsets_of
from gainful.matching.rank_search import Segments, count_above, count_down_to, locate, with_repeats
from gainful.matching.sorting import descending_in_blocks, ranges
from gainful.measures.policy import Policy

_MOST_TIES = 20_000  # judged documents whose ties are settled one by one
_BEFORE = {"doc": operator.gt, "doc_ascending": operator.lt}  # which of two ids stands first


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

    # Of each judged document that was retrieved: its list, among the common ones, its row in the
    # judgments, and its row in the run.
    list_of = np.repeat(np.arange(common.size), pools.lengths[common])
    judged_row = ranges(pools.starts[common], pools.lengths[common])
    run_row = locate(run.keys, lists, list_of, judged.keys[judged_row])
    if run_row is None:
        return None
    hit = np.flatnonzero(run_row >= 0)
    hit = hit[same_docs(run, run_row[hit], judged, judged_row[hit])]
    list_of, judged_row, run_row = list_of[hit], judged_row[hit], run_row[hit]

    above, last = count_above(run.numbers, lists, list_of, run.numbers[run_row])
    first = above + 1
    seen = lists.lengths
    if depth is not None:
        seen = count_down_to(run.numbers, lists, depth)
        near = first <= depth
        list_of, judged_row, run_row = list_of[near], judged_row[near], run_row[near]
        first, last = first[near], last[near]
    if not list_of.size:
        return None
    rank = first
    if policy.ties in (*_BEFORE, "order"):
        tied = np.flatnonzero(first < last)
        if tied.size > _MOST_TIES:
            return None
        rank = first.copy()
        rank[tied] += _places_in_ties(run, lists, list_of[tied], run_row[tied], policy.ties)

    retrieved, all_seen, unjudged = (np.zeros(len(queries), np.int64) for _ in range(3))
    missing = np.ones(len(queries), np.bool_)
    missing[common] = False
    retrieved[common] = run.retrieved[lists_at]
    all_seen[common] = seen
    unjudged[common] = seen - np.bincount(list_of, minlength=common.size)
    query_of, grade = common[list_of], judged.numbers[judged_row]
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


def _segments(arrays: TrecArrays, places: list[int]) -> Segments:
    """Return where the rows of some queries stand."""
    at = np.array(places, np.int64)
    return Segments(arrays.starts[at], arrays.starts[at + 1] - arrays.starts[at])


def _places_in_ties(run: TrecArrays, lists: Segments, owner: Ints, rows: Ints, ties: str) -> Ints:
    """Return the place (n,) of documents within the blocks that share their score, from 0."""
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
