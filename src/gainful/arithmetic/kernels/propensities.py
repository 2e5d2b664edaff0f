"""Probabilities that interactions are observed, estimated from popularity."""

import numpy as np

from gainful.array_types import Floats


def popularity_propensities(counts: Floats, gamma: float, least: float) -> Floats:
    """Return propensities (n,) in proportion to n^((γ + 1) / 2), 1 for the most popular, at least `least`.

    This is the estimate of Yang et al. 2018: an item is shown in proportion to n^γ, and interactions are
    observed in proportion to how often it is shown and to how often it is liked.

    >>> popularity_propensities(np.array([1.0, 4.0, 16.0]), 0.0, 0.3).tolist()
    [0.3, 0.5, 1.0]
    """
    chance = counts ** ((gamma + 1) / 2)
    return np.asarray(np.maximum(chance / chance.max(), least))


def effective_size(weights: Floats) -> float:
    """Return how many equal weights vary as little as these: (Σw)² / Σw²; 0 without any.

    >>> effective_size(np.array([1.0, 1.0])), effective_size(np.array([3.0, 1.0]))
    (2.0, 1.6)
    """
    return float(weights.sum() ** 2 / (weights**2).sum()) if weights.size else 0.0
