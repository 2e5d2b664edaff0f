"""Measures of gains beyond cumulated gain.

Rows are the judged documents that were retrieved, by query and rank: `gains` (n,), `rank` (n,),
`offsets` (q+1,); the pool holds the gains of all judged documents, descending, none negative:
`pool` (m,), `pool_offsets` (q+1,).
"""

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.kernels.binary_relevance import ratio
from gainful.kernels.cumulated_gain import owners
from gainful.kernels.row_sums import (
    at_rank,
    running_counts,
    running_sums,
    steps,
    sums,
    sums_down_to,
)

_FEW_LEVELS = 64


def cascade(chances: Floats, rank: Ints, offsets: Ints, cutoffs: Ints) -> Floats:
    """Return Σ (1/rank)·s·Π of (1−s) above (q, c): ERR, from the chances s (n,) to satisfy."""
    terms = np.empty(chances.size)
    going_on = np.ones(offsets.size - 1)
    for queries, rows in steps(offsets):
        terms[rows] = going_on[queries] * chances[rows] / rank[rows]
        going_on[queries] *= 1.0 - chances[rows]
    return sums_down_to(terms, rank, owners(offsets), offsets.size - 1, cutoffs)


def blended(
    gains: Floats,
    rank: Ints,
    offsets: Ints,
    pool: Floats,
    pool_offsets: Ints,
    beta: float,
    cutoffs: Ints,
) -> Floats:
    """Return Σ (c + β·s)/(i + β·t) (q, c) over the rows with a positive gain: R times Q-measure."""
    owner = owners(offsets)
    positive = gains > 0
    found_gain = running_sums(np.maximum(gains, 0.0), offsets)
    ideal_gain = at_rank(running_sums(pool, pool_offsets), pool_offsets, owner, rank)
    place = running_counts(positive, offsets)
    terms = np.where(positive, (place + beta * found_gain) / (rank + beta * ideal_gain), 0.0)
    return sums_down_to(terms, rank, owner, offsets.size - 1, cutoffs)


def graded_precision(
    gains: Floats, rank: Ints, offsets: Ints, pool: Floats, pool_offsets: Ints
) -> Floats:
    """Return GAP (q,).

    min(a, b) is the sum of the steps between the levels of gain that both reach, so the sums of
    pairs are sums of precisions at each level.
    """
    queries = offsets.size - 1
    owner = owners(offsets)
    totals = sums(pool, owners(pool_offsets), queries)
    levels = np.sort(gains[gains > 0])
    levels = levels[np.concatenate(([True], levels[1:] != levels[:-1]))] if levels.size else levels
    if levels.size > _FEW_LEVELS:
        return ratio(_pairs(gains, rank, offsets), totals)
    pairs = np.zeros(queries)
    below = 0.0
    for level in levels.tolist():
        reached = gains >= level
        place = running_counts(reached, offsets)
        pairs += (level - below) * sums(np.where(reached, place / rank, 0.0), owner, queries)
        below = level
    return ratio(pairs, totals)


def _pairs(gains: Floats, rank: Ints, offsets: Ints) -> Floats:
    """Return Σ_n (1/n) Σ_{m≤n} min(g_m, g_n) (q,), pair by pair."""
    found = np.zeros(offsets.size - 1)
    for query in range(offsets.size - 1):
        rows = slice(offsets[query], offsets[query + 1])
        positive = gains[rows] > 0
        own, ranks = gains[rows][positive], rank[rows][positive]
        terms = [
            float(np.minimum(own[: place + 1], own[place]).sum()) / int(ranks[place])
            for place in range(own.size)
        ]
        found[query] = sum(terms)
    return found


def normalised_gain(
    gains: Floats, rank: Ints, offsets: Ints, pool: Floats, pool_offsets: Ints
) -> Floats:
    """Return G (q,)."""
    queries = offsets.size - 1
    owner = owners(offsets)
    positive = np.bincount(owners(pool_offsets)[pool > 0], minlength=queries)
    costs = running_sums(np.maximum(pool, 1.0), pool_offsets)
    # Below the last positive gain of the ideal, each rank costs 1.
    reach = np.minimum(rank, positive[owner])
    cost = at_rank(costs, pool_offsets, owner, reach) + (rank - reach)
    terms = gains / np.log2(2.0 + cost - running_sums(gains, offsets))
    return ratio(sums(terms, owner, queries), sums(pool, owners(pool_offsets), queries))


def mean_at_relevant(
    terms: Floats,
    gains: Floats,
    rank: Ints,
    offsets: Ints,
    ideal_terms: Floats,
    pool: Floats,
    pool_offsets: Ints,
) -> Floats:
    """Return the mean of nDCG at the ranks of documents with a positive gain (q,).

    `terms` (n,) and `ideal_terms` (m,) are gains times discounts, of the list and of the ideal.
    """
    queries = offsets.size - 1
    owner, pool_owner = owners(offsets), owners(pool_offsets)
    found, ideal = running_sums(terms, offsets), running_sums(ideal_terms, pool_offsets)
    positive = gains > 0
    at = ratio(found, at_rank(ideal, pool_offsets, owner, rank))
    relevant = np.bincount(pool_owner[pool > 0], minlength=queries)
    lacking = relevant - np.bincount(owner[positive], minlength=queries)
    final = ratio(sums(terms, owner, queries), sums(ideal_terms, pool_owner, queries))
    return ratio(sums(np.where(positive, at, 0.0), owner, queries) + lacking * final, relevant)


def mean_at_changes(
    terms: Floats,
    rank: Ints,
    offsets: Ints,
    retrieved: Ints,
    ideal_terms: Floats,
    pool: Floats,
    pool_offsets: Ints,
) -> Floats:
    """Return the mean of nDCG at the ranks where the gain of the ideal falls (q,)."""
    queries = offsets.size - 1
    pool_owner = owners(pool_offsets)
    ideal = running_sums(ideal_terms, pool_offsets)
    following = np.append(pool[1:], 0.0)
    following[pool_offsets[1:][np.diff(pool_offsets) > 0] - 1] = 0.0
    falls = np.flatnonzero((pool > 0) & (following < pool))
    query = pool_owner[falls]
    at = falls - pool_offsets[query] + 1
    # The DCG of the list down to those ranks: that of its last row at or above each.
    found = running_sums(terms, offsets)
    span = int(max(rank.max(initial=0), at.max(initial=0))) + 1
    key = owners(offsets) * span + rank
    row = np.searchsorted(key, query * span + at, "right")
    reached = row > offsets[query]
    dcg = np.where(reached, found[np.maximum(row, 1) - 1] if found.size else 0.0, 0.0)
    total = sums(dcg / ideal[falls], query, queries)
    points = np.bincount(query, minlength=queries)
    # At the end of a list that goes deeper, once more.
    positive = np.bincount(pool_owner[pool > 0], minlength=queries)
    deeper = (positive > 0) & (retrieved > positive + 1)
    final = ratio(sums(terms, owners(offsets), queries), sums(ideal_terms, pool_owner, queries))
    return ratio(total + np.where(deeper, final, 0.0), points + deeper)
