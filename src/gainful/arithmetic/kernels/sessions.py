"""Sessions of several queries: the weight of each query, and the best lists of a session."""

import math
from collections.abc import Sequence

import numpy as np

from gainful.array_types import Floats


def log_weights(places: Sequence[int], base: float) -> Floats:
    """Return 1/(1 + log_bq m) for the places m (q,) of queries, from 1.

    >>> log_weights([1, 4, 16], 4).round(4).tolist()
    [1.0, 0.5, 0.3333]
    """
    weights: Floats = 1.0 / (1.0 + np.log(np.array(places, np.float64)) / math.log(base))
    return weights


def reformulation_weights(places: Sequence[int], p: float, b: float) -> Floats:
    """Return ((p − b·p)/(1 − b·p))^(m−1) for the places m (q,) of queries: the probability that the user gets there.

    The user stays in the session with probability p at each document, and then looks at the next document with
    probability b, or else asks the next query.

    >>> reformulation_weights([1, 2, 3], 0.8, 0.5).round(4).tolist()
    [1.0, 0.6667, 0.4444]
    """
    weights: Floats = ((p - b * p) / (1.0 - b * p)) ** (np.array(places, np.float64) - 1.0)
    return weights


def best_sum(gains: Floats, query_weights: Floats, rank_weights: Floats) -> float:
    """Return the highest sum of gain · query weight · rank weight if every document is shown once in the session.

    Args:
        gains: [document, query], at least 0.
        query_weights: (q,) of each query.
        rank_weights: (k,) of the ranks of each list.

    >>> best_sum(np.array([[2.0, 2.0], [1.0, 3.0]]), np.array([1.0, 0.5]), np.array([1.0, 0.6]))
    3.5
    """
    from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

    ranks = min(rank_weights.size, gains.shape[0])
    worth = (gains * query_weights)[:, :, None] * rank_weights[None, None, :ranks]
    worth = worth.reshape(gains.shape[0], -1)
    documents, slots = linear_sum_assignment(worth, maximize=True)
    return float(worth[documents, slots].sum())
