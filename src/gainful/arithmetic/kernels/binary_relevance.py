"""Measures computed from the ranks of the relevant documents.

Throughout, the rows are the relevant documents that were retrieved, by query and rank:
`rank` (n,), `owner` (n,) the query, `place` (n,) the place among the query's rows, from 1;
`relevant` (q,) is the number of relevant documents of a query, `retrieved` (q,) the length of its
list. Cutoffs (c,) may be larger than any list.
"""

import numpy as np

from gainful.arithmetic.kernels.row_sums import counts, sums_down_to
from gainful.array_types import AnyArray, Floats, Ints

EPSILON = 1e-5
"""The ε of infAP, which avoids 0/0."""


def hits(rank: Ints, owner: Ints, queries: int, cutoffs: Ints) -> Ints:
    """Return the number (q, c) of rows down to each cutoff."""
    return np.stack([counts(rank <= cutoff, owner, queries) for cutoff in cutoffs.tolist()], axis=1)


def ratio(values: AnyArray, totals: AnyArray) -> Floats:
    """Divide, 0 where the total is 0."""
    values, totals = np.broadcast_arrays(values, totals)
    quotients: Floats = np.divide(values, totals, out=np.zeros(values.shape), where=totals > 0)
    return quotients


def reciprocal_rank(rank: Ints, owner: Ints, place: Ints, queries: int, cutoffs: Ints) -> Floats:
    """Return 1 / the first rank (q, c); 0 if there are no rows down to the cutoff."""
    first = np.zeros(queries, np.int64)
    first[owner[place == 1]] = rank[place == 1]
    within = (first[:, None] > 0) & (first[:, None] <= cutoffs)
    return ratio(within, np.maximum(first, 1)[:, None])


def precision_sums(rank: Ints, owner: Ints, place: Ints, queries: int, cutoffs: Ints) -> Floats:
    """Return Σ place/rank (q, c) over the rows down to each cutoff: R times average precision."""
    return sums_down_to(place / rank, rank, owner, queries, cutoffs)


def interpolated(rank: Ints, owner: Ints, place: Ints, queries: int, needed: Ints) -> Floats:
    """Return the highest precision (q, c) at the rank of the needed-th (q, c) row or later.

    Precision is highest at the rank of a row, so other ranks can be skipped. 0 if a query has fewer
    rows.
    """
    precisions = place / rank
    lengths = np.bincount(owner, minlength=queries)
    ends = np.cumsum(lengths)
    highest = np.zeros(needed.shape)
    for column in range(needed.shape[1]):
        places = np.maximum(needed[:, column], 1)
        some = places <= lengths
        bounds = np.stack(((ends - lengths + places - 1)[some], ends[some]), axis=1).ravel()
        if not bounds.size:
            continue
        # The last stretch runs to the end by itself.
        bounds = bounds[:-1] if bounds[-1] == precisions.size else bounds
        highest[some, column] = np.maximum.reduceat(precisions, bounds)[::2]
    return highest


def preference_terms(owner: Ints, above: Ints, relevant: Ints, others: Ints) -> Floats:
    """Return what each row (n,) adds to R times bpref.

    Args:
        owner: (n,) the query of each row.
        above: (n,) the number of documents judged not relevant above it.
        relevant: (q,) the number of relevant documents.
        others: (q,) the number of documents judged not relevant.
    """
    bounded = np.minimum(above, relevant[owner])
    most = np.minimum(others, relevant)[owner]
    return np.where(above > 0, 1.0 - bounded / np.maximum(most, 1), 1.0)


def inferred_terms(rank: Ints, place: Ints, above: Ints, unjudged: Ints) -> Floats:
    """Return the expected precision (n,) at each row: what it adds to R times infAP.

    Among the documents above a row, `above` (n,) are judged not relevant, and `unjudged` (n,) are
    in the pool without a grade.
    """
    before = place - 1.0
    depth = rank - 1.0
    share = (before + EPSILON) / (before + above + 2 * EPSILON)
    pooled = (before + above + unjudged) / np.maximum(depth, 1.0)
    return np.where(rank == 1, 1.0, 1.0 / rank + (depth / rank) * pooled * share)


def smoothed(precision_sum: Floats, relevant: Ints) -> Floats:
    """Return yaap (q,) from Σ place/rank (q,)."""
    logarithm: Floats = np.log((1.0 + precision_sum) / (1.0 + relevant - precision_sum))
    return logarithm
