"""Conformal risk control: how much of the gap between a prediction and exact bounds an interval must take.

A value v has a prediction p and exact bounds l ≤ v ≤ u. With a share λ from 0 to 1, the interval goes from
p − λ·(p − l) to p + λ·(u − p): λ = 0 is the prediction alone, and λ = 1 the bounds, which always contain v. On n
units whose values are known, R(λ) is the share of intervals that miss. The smallest λ with
(n·R(λ) + 1)/(n + 1) ≤ α misses a further unit like them with a probability of at most α.

A. Angelopoulos, S. Bates, A. Fisch, L. Lei and T. Schuster, Conformal risk control, ICLR 2024.
"""

import math

import numpy as np

from gainful.array_types import Floats

_ROUNDING = 1e-9


def needed_shares(value: Floats, predicted: Floats, low: Floats, high: Floats) -> Floats:
    """Return the smallest λ (n,) whose interval contains each value.

    >>> one = np.array([0.5, 0.5, 0.5])
    >>> needed_shares(np.array([0.5, 0.3, 0.7]), one, one - 0.4, one + 0.2).tolist()
    [0.0, 0.5, 1.0]
    """
    error = value - predicted
    gap = np.where(error < 0, predicted - low, high - predicted)
    shares = np.zeros(error.shape)
    np.divide(np.abs(error), gap, out=shares, where=gap > _ROUNDING)
    return np.clip(shares, 0.0, 1.0)


def controlled_share(shares: Floats, count: int, alpha: float) -> float:
    """Return the smallest λ whose risk is controlled at α; 1 if too few units are known.

    Args:
        shares: (b,) the λ that each unit needs, or each of many resamples of the units.
        count: the number n of known units.
        alpha: the share of intervals that may miss.

    >>> controlled_share(np.array([0.1, 0.2, 0.9]), 3, 0.25), controlled_share(np.array([0.1, 0.2, 0.9]), 3, 0.5)
    (0.9, 0.2)
    >>> controlled_share(np.array([0.1, 0.2, 0.9]), 3, 0.05)
    1.0
    """
    allowed = alpha - (1 - alpha) / count
    if allowed < -_ROUNDING:
        return 1.0
    misses = math.floor(allowed * shares.size + _ROUNDING)
    return float(np.sort(shares)[::-1][min(misses, shares.size - 1)])


def fewest_for_control(alpha: float) -> int:
    """Return the fewest known units with which λ may be below 1.

    >>> fewest_for_control(0.05), fewest_for_control(0.1)
    (19, 9)
    """
    return math.ceil((1 - alpha) / alpha - _ROUNDING)


def controlled_share_of_mean(
    value: Floats,
    predicted: Floats,
    low: Floats,
    high: Floats,
    weights: Floats,
    others: int,
    alpha: float,
    rng: np.random.Generator,
    resamples: int,
) -> float:
    """Return λ for the mean over further units, from resampled means of the n known units.

    The mean error over N further units and that over the n known ones differ with a variance of
    σ²·(1/n + 1/N), so each resample has n·N/(n + N) units.

    Args:
        value: (n,) the known values.
        predicted: (n,) their predictions.
        low: (n,) their lower bounds.
        high: (n,) their upper bounds.
        weights: (n,) what they count in a mean.
        others: the number N of further units.
        alpha: the share of intervals that may miss.
        rng: the source of random numbers.
        resamples: the number of resamples.
    """
    size = max(1, round(value.size * others / (value.size + others)))
    chosen = rng.integers(0, value.size, (resamples, size))
    counts = weights[chosen]
    chosen, counts = chosen[counts.any(axis=1)], counts[counts.any(axis=1)]
    means = [
        (column[chosen] * counts).mean(axis=1) / counts.mean(axis=1)
        for column in (value, predicted, low, high)
    ]
    return controlled_share(needed_shares(*means), value.size, alpha) if counts.size else 1.0
