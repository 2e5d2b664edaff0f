"""Retrieval for a model: the utility of passages, and the curve of abstention."""

import math

import numpy as np

from gainful.array_types import Floats

_RATES = np.linspace(0, 1, 11)[:-1]  # the shares of queries that are left unanswered


def utility(worth: Floats, answering: Floats) -> float:
    """Return 1/(1 + exp(−u)) of the mean u of worth (n,) times the probability of an answer (n,); 0 of no passages.

    >>> round(utility(np.array([1.0, -1 / 3]), np.array([1.0, 0.6])), 4)
    0.5987
    """
    if not worth.size:
        return 0.0
    return 1 / (1 + math.exp(-float((worth * answering).mean())))


def abstention_area(confidence: Floats, values: Floats) -> float:
    """Return the normalised area under the curve of the mean value as the least confident are left out.

    Queries with the same confidence keep their order. The result is NaN if all values are equal.

    Args:
        confidence: (q,) of each query.
        values: (q,) of a measure.

    >>> abstention_area(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    1.0
    """
    area, most = (_area_of_means(values, by) for by in (confidence, values))
    same = values.mean() * (_RATES[-1] - _RATES[0])
    return float((area - same) / (most - same)) if values.min() < values.max() else math.nan


def _area_of_means(values: Floats, by: Floats) -> float:
    """Return the area under the means of the values that remain as those lowest by a number are left out."""
    ordered = values[np.argsort(by, kind="stable")]
    left_out = np.minimum(np.rint(_RATES * values.size).astype(np.int64), values.size - 1)
    means = np.array([ordered[count:].mean() for count in left_out.tolist()])
    return float(((means[1:] + means[:-1]) / 2 * np.diff(_RATES)).sum())
