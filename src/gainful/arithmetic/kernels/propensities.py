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


_SMALL = 1e-12
_STEPS, _LONGEST_STEP = 200, 1.0  # of Fisher scoring, which needs about ten
_HALVINGS, _LARGEST_SPREAD = 60, 1e6


def power_law_exponent(popularity: Floats, counts: Floats) -> tuple[float, float]:
    """Return the exponent b of counts (n,) with means in proportion to popularity^b, and its standard error.

    This is a negative binomial regression: the variance of a count is μ + κ·μ², where κ makes Pearson's χ² equal to its
    degrees of freedom, so that a few very popular items don't decide the result. Counts may be 0. The error is a
    robust one, NaN with two items, whose counts the curve always meets. Both are NaN if no exponent fits best.

    >>> power_law_exponent(np.array([1.0, 4.0]), np.array([3.0, 6.0]))
    (0.5, nan)
    """
    logs = np.log(popularity)
    columns = np.stack((np.ones(logs.size), logs - logs.mean()))
    exponents = np.array([np.log(counts.mean()), 0.0])
    try:
        for _ in range(_STEPS):
            means = np.exp(exponents @ columns)
            shrunk = 1 + _overdispersion(counts, means) * means
            information = (columns * (means / shrunk)) @ columns.T
            residuals = (counts - means) / shrunk
            step = np.linalg.solve(information, columns @ residuals)
            exponents += np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
            if np.abs(step).max() <= _SMALL:
                break
    except np.linalg.LinAlgError:
        step = np.full(2, np.inf)
    if not np.abs(step).max() <= _SMALL**0.5:  # such as counts of a single item
        return float("nan"), float("nan")
    freedom = counts.size - exponents.size
    if freedom < 1:
        return round(float(exponents[1]), 12), float("nan")
    inverse = np.linalg.inv(information)
    spread = inverse @ ((columns * residuals**2) @ columns.T) @ inverse
    return round(float(exponents[1]), 12), float(np.sqrt(spread[1, 1] * counts.size / freedom))


def _overdispersion(counts: Floats, means: Floats) -> float:
    """Return κ ≥ 0 with Σ (y − μ)² / (μ + κ·μ²) = n − 2."""

    def excess(spread: float) -> float:
        return float(((counts - means) ** 2 / (means + spread * means**2)).sum()) - counts.size + 2

    low, high = 0.0, 1.0
    if excess(low) <= 0:
        return 0.0
    while excess(high) > 0 and high < _LARGEST_SPREAD:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high
