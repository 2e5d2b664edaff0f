"""Measures of gains beyond cumulated gain.

Rows are the judged documents that were retrieved, by query and rank: `gains` (n,), `rank` (n,),
`offsets` (q+1,); the pool holds the gains of all judged documents, descending, none negative:
`pool` (m,), `pool_offsets` (q+1,).
"""

from typing import NamedTuple

import numpy as np

from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.arithmetic.kernels.cumulated_gain import owners
from gainful.arithmetic.kernels.row_sums import (
    at_rank,
    running_counts,
    running_sums,
    steps,
    sums,
    sums_down_to,
)
from gainful.array_types import Floats, Ints

_FEW_LEVELS = 64


def reached(chances: Floats, offsets: Ints) -> Floats:
    """Return the chance (n,) that a user reads each row, Π of (1−s) above, from the chances s (n,) to satisfy."""
    reading = np.empty(chances.size)
    going_on = np.ones(offsets.size - 1)
    for queries, rows in steps(offsets):
        reading[rows] = going_on[queries]
        going_on[queries] *= 1.0 - chances[rows]
    return reading


def cascade(chances: Floats, rank: Ints, offsets: Ints, cutoffs: Ints) -> Floats:
    """Return Σ (1/rank)·s·Π of (1−s) above (q, c): ERR, from the chances s (n,) to satisfy."""
    terms = reached(chances, offsets) * chances / rank
    return sums_down_to(terms, rank, owners(offsets), offsets.size - 1, cutoffs)


def blended_ratios(
    gains: Floats, rank: Ints, offsets: Ints, pool: Floats, pool_offsets: Ints, beta: float
) -> Floats:
    """Return (c + β·s)/(i + β·t) (n,) at the rows with a positive gain, else 0: they sum to R times Q-measure."""
    positive = gains > 0
    found_gain = running_sums(np.maximum(gains, 0.0), offsets)
    running = running_sums(pool, pool_offsets)
    ideal_gain = at_rank(running, pool_offsets, owners(offsets), rank)
    place = running_counts(positive, offsets)
    return np.where(positive, (place + beta * found_gain) / (rank + beta * ideal_gain), 0.0)


def graded_precision_sums(gains: Floats, rank: Ints, offsets: Ints) -> Floats:
    """Return Σ_n (1/n) Σ_{m≤n} min(g_m, g_n) (q,): GAP times the gain of all judged documents.

    min(a, b) is the sum of the steps between the gain levels that both reach, so sums over pairs
    are sums of precisions at each level.
    """
    queries = offsets.size - 1
    owner = owners(offsets)
    levels = np.sort(gains[gains > 0])
    levels = levels[np.concatenate(([True], levels[1:] != levels[:-1]))] if levels.size else levels
    if levels.size > _FEW_LEVELS:
        return sums(sums_of_minima(gains, offsets) / rank, owner, queries)
    pairs = np.zeros(queries)
    below = 0.0
    for level in levels.tolist():
        reaching = gains >= level
        place = running_counts(reaching, offsets)
        pairs += (level - below) * sums(np.where(reaching, place / rank, 0.0), owner, queries)
        below = level
    return pairs


def sums_of_minima(gains: Floats, offsets: Ints) -> Floats:
    """Return Σ_{m≤n} min(g_m, g_n) (n,) over the rows of a query with a positive gain, pair by pair."""
    pairs = np.zeros(gains.size)
    for query in range(offsets.size - 1):
        rows = np.arange(offsets[query], offsets[query + 1])
        rows = rows[gains[rows] > 0]
        own = gains[rows]
        pairs[rows] = [np.minimum(own[: place + 1], own[place]).sum() for place in range(own.size)]
    return pairs


def logarithms_of_costs(
    gains: Floats, rank: Ints, offsets: Ints, pool: Floats, pool_offsets: Ints
) -> Floats:
    """Return log2(2 + cost − gain so far) (n,), the divisor of the gains in G."""
    positive = np.bincount(owners(pool_offsets)[pool > 0], minlength=offsets.size - 1)
    costs = running_sums(np.maximum(pool, 1.0), pool_offsets)
    owner = owners(offsets)
    # Below the last positive gain of the ideal, each rank costs 1.
    reach = np.minimum(rank, positive[owner])
    cost = at_rank(costs, pool_offsets, owner, reach) + (rank - reach)
    logarithms: Floats = np.log2(2.0 + cost - running_sums(gains, offsets))
    return logarithms


def ndcg_so_far(
    terms: Floats, rank: Ints, offsets: Ints, ideal_terms: Floats, pool_offsets: Ints
) -> Floats:
    """Return the nDCG (n,) down to each row.

    `terms` (n,) and `ideal_terms` (m,) are gains times discounts, of the list and of the ideal.
    """
    ideal = running_sums(ideal_terms, pool_offsets)
    best = at_rank(ideal, pool_offsets, owners(offsets), rank)
    return ratio(running_sums(terms, offsets), best)


def ndcg_at_the_end(
    terms: Floats, offsets: Ints, ideal_terms: Floats, pool_offsets: Ints
) -> Floats:
    """Return the DCG of the whole list divided by the DCG of the whole ideal (q,)."""
    queries = offsets.size - 1
    whole = sums(ideal_terms, owners(pool_offsets), queries)
    return ratio(sums(terms, owners(offsets), queries), whole)


class Changes(NamedTuple):
    """Where the gain of the ideal falls: the rank, the query, and the nDCG down to there; each field (p,)."""

    rank: Ints
    query: Ints
    ndcg: Floats


def ndcg_at_changes(
    terms: Floats,
    rank: Ints,
    offsets: Ints,
    ideal_terms: Floats,
    pool: Floats,
    pool_offsets: Ints,
) -> Changes:
    """Return the nDCG at the ranks where the gain of the ideal falls."""
    ideal = running_sums(ideal_terms, pool_offsets)
    following = np.append(pool[1:], 0.0)
    following[pool_offsets[1:][np.diff(pool_offsets) > 0] - 1] = 0.0
    falls = np.flatnonzero((pool > 0) & (following < pool))
    query = owners(pool_offsets)[falls]
    at = falls - pool_offsets[query] + 1
    # The DCG of the list down to those ranks: the value at its last row at or above each.
    running = running_sums(terms, offsets)
    span = int(max(rank.max(initial=0), at.max(initial=0))) + 1
    key = owners(offsets) * span + rank
    row = np.searchsorted(key, query * span + at, "right")
    reaching = row > offsets[query]
    dcg = np.where(reaching, running[np.maximum(row, 1) - 1] if running.size else 0.0, 0.0)
    return Changes(at, query, dcg / ideal[falls])
