"""Intervals and tests that hold however often one looks: by betting, and asymptotically.

A test whose p-value is looked at every day until it is small finds differences that do not exist: a t
test looked at 20 times at the level 0.05 in about a quarter of all cases. Here the probability that the
true mean is ever outside the interval, at any number of queries, is at most 1 − level.

*Betting* is exact for values between known ends, whatever their distribution. Someone who bets against
the mean m starts with capital 1, and before each query stakes a share λ of it on the next value being
above m, or below it. If m is the true mean, these are fair bets: the probability that the capital ever
reaches 1/α is at most α (Ville's inequality). So a mean against which it did is excluded.

I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, Journal of the
Royal Statistical Society B 86, 2024; I. Waudby-Smith and others, Time-uniform central limit theory and
asymptotic confidence sequences, Annals of Statistics 52, 2024.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from gainful import arguments
from gainful.arithmetic.number_arrays import as_array, as_numbers
from gainful.arithmetic.statistics.argument_checks import read_share, read_values
from gainful.arithmetic.statistics.moments import Moments
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.message_texts import shown

EXPECTED = 300
"""The number of units at which asymptotic intervals are shortest by default."""

_BOLDEST = 0.5  # of the stake that could lose the whole capital
_TUNED = 0.05  # the α for which bets are chosen; the guarantee holds for any
_FINEST = 1e-7  # of the range: the precision of an end

Ends = tuple[float, float]


def betting_capital(
    values: ArrayLike, mean: float = 0.0, *, ends: Ends = (-1.0, 1.0), weights: ArrayLike = 1.0
) -> Floats:
    """Return (n,) the capital of bets against a mean after each of (n,) values, in their order.

    It is an e-value at any time: if the mean is true, its expectation is at most 1, and the probability
    that it ever reaches 1/α is at most α. Half of the capital is bet on higher values, half on lower ones.

    Args:
        values: (n,) values, in the order in which they arrived.
        mean: the mean to bet against.
        ends: the lowest and the highest possible value.
        weights: the weight of each value, 0 or more; the bets are about the weighted mean.

    >>> capital = betting_capital([0.3] * 60, ends=(-1.0, 1.0))
    >>> bool(capital[-1] > 20), bool(betting_capital([0.3, -0.3] * 30).max() < 2)
    (True, True)
    """
    table = read_values(values, "values", ("values",))
    low, high = _read_ends(ends)
    shares, sizes, level = _scaled(table, weights, (low, high))
    expected = f"a number between the ends, {low:g} and {high:g}"
    against = arguments.number(mean, "mean", expected, lambda number: low < number < high)
    inside = (against - low) / (high - low)
    return np.exp(_log_capital(shares, sizes, _stakes(shares, level), inside))


def combine_e_values(e_values: ArrayLike, *, same_queries: bool = False) -> Floats:
    """Return (n,) the evidence after each of (n,) e-values, such as one for each day.

    E-values of days with new queries are multiplied. Without a difference, the probability that their product
    ever reaches 1/α is at most α, so you may look every day. E-values of the same queries depend on each other
    and are averaged; look at their mean only once, on a day that you chose in advance.

    Args:
        e_values: (n,) numbers from 0, in the order of the days: `Difference.e_value`, or the last number of
            `betting_capital`.
        same_queries: whether the days measured the same queries.

    >>> combine_e_values([3.0, 8.0, 0.5]).round(6).tolist()
    [3.0, 24.0, 12.0]
    >>> combine_e_values([3.0, 8.0, 1.0], same_queries=True).tolist()
    [3.0, 5.5, 4.0]
    """
    table = read_values(e_values, "e_values", ("e-values",))
    if (table < 0).any():
        raise InputError("e_values", "non-negative numbers", f"{table[table < 0][0]:g}")
    if arguments.truth(same_queries, "same_queries"):
        return np.array([table[:count].mean() for count in range(1, table.size + 1)])
    with np.errstate(over="ignore"):  # overwhelming evidence is infinite
        return np.array([table[:count].prod() for count in range(1, table.size + 1)])


def betting_ends(
    values: ArrayLike, *, level: float = 0.95, ends: Ends = (-1.0, 1.0), weights: ArrayLike = 1.0
) -> Ends:
    """Return the ends of the interval of the mean of (n,) values that holds at any time.

    It contains the means against which the capital has never reached 1/(1 − level).

    Args:
        values: (n,) values, in the order in which they arrived.
        level: the probability that the interval contains the true mean at all times.
        ends: the lowest and the highest possible value.
        weights: what each value counts.

    >>> low, high = betting_ends([0.3, 0.1, 0.2] * 40)
    >>> round(low, 3), round(high, 3)
    (0.128, 0.249)
    """
    table = read_values(values, "values", ("values",))
    limit = -math.log1p(-read_share(level, "level"))
    lowest, highest = _read_ends(ends)
    shares, sizes, scale = _scaled(table, weights, (lowest, highest))
    stakes = _stakes(shares, scale)
    middle = float(shares.sum() / sizes.sum())

    def excluded(mean: float) -> bool:
        return bool(_log_capital(shares, sizes, stakes, mean).max() >= limit)

    def end(outer: float) -> float:
        """Return the end between the middle and an outer one; means that are kept form an interval."""
        if not excluded(outer):
            return outer
        inner = middle
        while abs(outer - inner) > _FINEST:
            between = (outer + inner) / 2
            inner, outer = (inner, between) if excluded(between) else (between, outer)
        return outer

    width = highest - lowest
    return lowest + end(0.0) * width, lowest + end(1.0) * width


def _read_ends(ends: Ends) -> Ends:
    expected = "the lowest and the highest possible value"
    listed = arguments.listed(ends, "ends", expected)
    if len(listed) != 2:
        raise InputError("ends", expected, shown(ends))
    low, high = (arguments.number(end, "ends", expected, math.isfinite) for end in listed)
    if low >= high:
        raise InputError("ends", expected, f"{low:g} and {high:g}")
    return low, high


def _scaled(values: Floats, weights: ArrayLike, ends: Ends) -> tuple[Floats, Floats, float]:
    """Return weighted values and weights (n,), values from 0 to 1 and weights up to 1, and the mean weight."""
    low, high = ends
    given = as_numbers(as_array(weights, "weights"), "weights")
    if given.shape not in ((), values.shape) or not (given >= 0).all() or not given.any():
        expected = "a non-negative number for each value, not all 0"
        raise InputError("weights", expected, shown(weights))
    counts = np.broadcast_to(given, values.shape)
    if (values < low).any() or (values > high).any():
        beyond = values[(values < low) | (values > high)][0]
        raise InputError("values", f"numbers from {low:g} to {high:g}", f"{beyond:g}")
    sizes = counts / counts.max()
    return sizes * (values - low) / (high - low), sizes, float(sizes.mean())


def _stakes(shares: Floats, level: float) -> Floats:
    """Return (n,) the stake on each value, from those before it: larger if these varied less."""
    count = np.arange(1, shares.size + 1)
    means = (0.5 * level + np.cumsum(shares)) / (count + 1)
    spread = (0.25 + np.cumsum(np.square(shares - means))) / (count + 1)
    before = np.concatenate(([0.25], spread[:-1]))
    stakes: Floats = np.sqrt(2 * math.log(2 / _TUNED) / (before * count * np.log1p(count)))
    return stakes


def _log_capital(shares: Floats, sizes: Floats, stakes: Floats, mean: float) -> Floats:
    """Return (n,) the logarithm of the capital after each value, for a mean from 0 to 1."""
    apart = shares - sizes * mean
    # Stakes are limited so that no value can take more than half of the capital.
    higher = np.minimum(stakes, _BOLDEST / mean) if mean else stakes
    lower = np.minimum(stakes, _BOLDEST / (1 - mean)) if mean < 1 else stakes
    up, down = np.cumsum(np.log1p(higher * apart)), np.cumsum(np.log1p(-lower * apart))
    capital: Floats = np.logaddexp(up, down) - math.log(2)
    return capital


def asymptotic_reach(spread: Moments, level: float, expected: int = EXPECTED) -> float:
    """Return how far the ends are from the mean in the asymptotic interval that holds at any time.

    It is sd·√(2(nρ² + 1)/(n²ρ²) · ln(√(nρ² + 1)/α)), with ρ² = (−2 ln α + ln(1 − 2 ln α))/m, which makes it
    shortest at the expected number m. It holds for many values that are not too skewed; for nDCG and
    other measures with a range, betting needs no such assumption.

    >>> from gainful.arithmetic.statistics.moments import moments
    >>> round(asymptotic_reach(moments([0.1, 0.3, 0.2, 0.0] * 25), 0.95), 4)
    0.0356
    """
    if spread.sd is None:
        return math.inf
    alpha, count = 1 - level, spread.count
    scale = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / expected
    grown = count * scale + 1
    return spread.sd * math.sqrt(
        2 * grown / (count**2 * scale) * math.log(math.sqrt(grown) / alpha)
    )


def asymptotic_p(spread: Moments, expected: int = EXPECTED) -> float | None:
    """Return the smallest 1 − level at which the asymptotic interval excludes 0; None without spread.

    >>> from gainful.arithmetic.statistics.moments import moments
    >>> asymptotic_p(moments([0.1, 0.3, 0.2, 0.0] * 25)) < 1e-6
    True
    """
    if not spread.sd:
        return None
    scale = (-2 * math.log(_TUNED) + math.log(1 - 2 * math.log(_TUNED))) / expected
    grown = spread.count * scale + 1
    shift = spread.count**2 * scale * (spread.mean / spread.sd) ** 2 / (2 * grown)
    return min(1.0, math.sqrt(grown) * math.exp(-shift))
