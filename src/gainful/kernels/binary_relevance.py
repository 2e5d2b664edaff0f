"""Measures of where the relevant documents stand.

Throughout, the rows are the relevant documents that were retrieved, by query and rank:
`rank` (n,), `owner` (n,) the query, `place` (n,) the place among those of its query, from 1;
`relevant` (q,) is how many relevant documents a query has, `retrieved` (q,) the length of
its list. Cutoffs (c,) may be larger than any list.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Floats, Ints
from gainful.kernels.row_sums import counts, sums, sums_down_to

EPSILON = 1e-5
"""Of infAP: it keeps shares from 0/0."""


def hits(rank: Ints, owner: Ints, queries: int, cutoffs: Ints) -> Ints:
    """Return the number (q, c) of rows down to each cutoff."""
    return np.stack([counts(rank <= cutoff, owner, queries) for cutoff in cutoffs.tolist()], axis=1)


def ratio(values: NDArray[Any], totals: NDArray[Any]) -> Floats:
    """Divide, 0 where the total is 0."""
    values, totals = np.broadcast_arrays(values, totals)
    quotients: Floats = np.divide(values, totals, out=np.zeros(values.shape), where=totals > 0)
    return quotients


def reciprocal_rank(rank: Ints, owner: Ints, place: Ints, queries: int, cutoffs: Ints) -> Floats:
    """Return 1 / the first rank (q, c); 0 where there is none down to the cutoff."""
    first = np.zeros(queries, np.int64)
    first[owner[place == 1]] = rank[place == 1]
    found = (first[:, None] > 0) & (first[:, None] <= cutoffs)
    return ratio(found, np.maximum(first, 1)[:, None])


def precision_sums(rank: Ints, owner: Ints, place: Ints, queries: int, cutoffs: Ints) -> Floats:
    """Return Σ place/rank (q, c) over the rows down to each cutoff: R times average precision."""
    return sums_down_to(place / rank, rank, owner, queries, cutoffs)


def interpolated(rank: Ints, owner: Ints, place: Ints, queries: int, needed: Ints) -> Floats:
    """Return the highest precision (q, c) at the rank of the needed-th (q, c) row or a later one.

    Precision is highest at the rank of a row, so no other ranks need a look. 0 where a query
    has fewer rows.
    """
    precisions = place / rank
    lengths = np.bincount(owner, minlength=queries)
    ends = np.cumsum(lengths)
    found = np.zeros(needed.shape)
    for column in range(needed.shape[1]):
        wanted = np.maximum(needed[:, column], 1)
        some = wanted <= lengths
        bounds = np.stack(((ends - lengths + wanted - 1)[some], ends[some]), axis=1).ravel()
        if not bounds.size:
            continue
        # The last stretch runs to the end by itself.
        bounds = bounds[:-1] if bounds[-1] == precisions.size else bounds
        found[some, column] = np.maximum.reduceat(precisions, bounds)[::2]
    return found


def preference(owner: Ints, above: Ints, relevant: Ints, others: Ints) -> Floats:
    """Return bpref (q,).

    Args:
        owner: (n,) the query of each row.
        above: (n,) how many documents judged not relevant stand above it.
        relevant: (q,) how many relevant documents there are.
        others: (q,) how many judged not relevant.
    """
    bounded = np.minimum(above, relevant[owner])
    most = np.minimum(others, relevant)[owner]
    terms = np.where(above > 0, 1.0 - bounded / np.maximum(most, 1), 1.0)
    return ratio(sums(terms, owner, relevant.size), relevant)


def inferred(
    rank: Ints, owner: Ints, place: Ints, above: Ints, unjudged: Ints, relevant: Ints
) -> Floats:
    """Return infAP (q,).

    Of the documents above a row, `above` (n,) are judged not relevant, and `unjudged` (n,) are
    in the pool without a judgment.
    """
    before = place - 1.0
    depth = rank - 1.0
    share = (before + EPSILON) / (before + above + 2 * EPSILON)
    pooled = (before + above + unjudged) / np.maximum(depth, 1.0)
    terms = np.where(rank == 1, 1.0, 1.0 / rank + (depth / rank) * pooled * share)
    return ratio(sums(terms, owner, relevant.size), relevant)


def smoothed(precision_sum: Floats, relevant: Ints) -> Floats:
    """Return yaap (q,) from Σ place/rank (q,)."""
    logarithm: Floats = np.log((1.0 + precision_sum) / (1.0 + relevant - precision_sum))
    return logarithm


def binary_gain(rank: Ints, owner: Ints, place: Ints, relevant: Ints) -> Floats:
    """Return binG (q,)."""
    terms = 1.0 / np.log2(2.0 + (rank - place))
    return ratio(sums(terms, owner, relevant.size), relevant)
