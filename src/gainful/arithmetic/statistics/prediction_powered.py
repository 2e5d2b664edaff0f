"""Prediction-powered inference (PPI, PPI++): means with few known values and predictions for all.

For n units (here queries) drawn at random, the value M and a prediction F are known; for N further
units only F. With a weight λ of the predictions,

    θ̂ = λ·mean_N(F) + mean_n(M − λ·F),    Var θ̂ = λ²·Var_N(F)/N + Var_n(M − λ·F)/n.

For a fixed λ, θ̂ is unbiased whatever the predictions; good predictions make it precise. λ = 0 is
the mean of the known values, λ = 1 is PPI, and PPI++ uses the λ with the smallest variance,
λ* = Cov_n(M, F) / ((1 + n/N)·Var(F)), cut to [0, 1]; Var(F) is that of all n + N.

Intervals are by Student's t, with Hall's correction for the skewness of θ̂,
(λ³·κ₃(F)/N² + κ₃(M − λ·F)/n²) / Var θ̂^1.5, κ₃ the third central moment and all moments divided by
n and N. For λ = 0 this is skewness/√n, so the interval equals that of a comparison by the known
values.

A. Angelopoulos et al., Prediction-powered inference, Science 382, 2023; A. Angelopoulos, J. Duchi and T. Zrnic, PPI++,
arXiv:2311.01453, 2023.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.statistics.distributions import t_power_reaches, t_quantile, t_two_sided
from gainful.arithmetic.statistics.intervals import ANY, Ends, Interval, hall_ends, too_few_queries
from gainful.array_types import Floats

_SAME = 1e-12  # of the largest value: a spread caused by rounding alone

_Error = Callable[[int], float]
_Reached = Callable[[int, _Error], bool]


@dataclass(frozen=True)
class Stratum:
    """The values and predictions of the units of a stratum, or of all units, in c columns.

    Attributes:
        known: (n, c) M, the values.
        predicted: (n, c) F, the predictions of the same units.
        further: (N, c) F of the further units; N may be 0.
    """

    known: Floats
    predicted: Floats
    further: Floats

    @property
    def count(self) -> int:
        """The number n of units whose values are known."""
        return len(self.known)

    @property
    def total(self) -> int:
        """The number n + N of all units."""
        return len(self.known) + len(self.further)

    @cached_property
    def covariance(self) -> Floats:
        """(c,) Cov(M, F) of the n units, divided by n."""
        apart = self.known - self.known.mean(axis=0), self.predicted - self.predicted.mean(axis=0)
        products: Floats = (apart[0] * apart[1]).mean(axis=0)
        return products

    @cached_property
    def spread(self) -> Floats:
        """(c,) Var(F) of all n + N units."""
        return _variance(np.concatenate([self.predicted, self.further]))

    @cached_property
    def known_spread(self) -> Floats:
        """(c,) Var(M) of the n units."""
        return _variance(self.known)

    def best_weight(self) -> Floats:
        """Return λ* (c,); 0 without further units."""
        # (1 + n/N)⁻¹ = N/(n + N)
        share = len(self.further) / self.total
        return np.clip(_ratio(self.covariance * share, self.spread), 0.0, 1.0)

    def variance(self, weight: Floats) -> Floats:
        """Return Var θ̂ (c,)."""
        rest = _variance(self.known - weight * self.predicted) / self.count
        if not len(self.further):
            return rest
        return weight**2 * _variance(self.further) / len(self.further) + rest

    def moments(self, weight: Floats) -> tuple[Floats, Floats]:
        """Return the second and third central moments (c,) of θ̂, dividing by n and N."""
        rest = self.known - weight * self.predicted
        second, third = (_moment(rest, power) / self.count ** (power - 1) for power in (2, 3))
        if not len(self.further):
            return second, third
        more = len(self.further)
        ahead = (weight**p * _moment(self.further, p) / more ** (p - 1) for p in (2, 3))
        return second + next(ahead), third + next(ahead)

    def planned_variance(self, count: float) -> Floats:
        """Return the expected Var θ̂ (c,) of PPI++ if so many of the n + N units were known.

        M is modelled as β·F plus a residual, both estimated from the n units, with Var(F) from all
        units.
        """
        slope = _ratio(self.covariance, self.predicted.var(axis=0))
        rest = _variance(self.known - slope * self.predicted)
        further = self.total - count
        weight = np.clip(slope * further / self.total, 0.0, 1.0)
        ahead = weight**2 * self.spread / further if further > 0 else 0.0
        return ahead + ((slope - weight) ** 2 * self.spread + rest) / count


def _ratio(above: Floats, below: Floats) -> Floats:
    """Return above / below (c,); 0 if below is 0."""
    ratios = np.zeros_like(below)
    np.divide(above, below, out=ratios, where=below > 0)
    return ratios


def _moment(values: Floats, power: int) -> Floats:
    """Return the central moment (c,) of (n, c) values."""
    moment: Floats = ((values - values.mean(axis=0)) ** power).mean(axis=0)
    return moment


def _variance(values: Floats) -> Floats:
    """Return the variance (c,) of (n, c) values; 0 if they differ only by rounding."""
    if len(values) < 2:
        return np.zeros(values.shape[1])
    variance = values.var(axis=0, ddof=1)
    return np.where(variance <= (_SAME * np.abs(values).max(axis=0)) ** 2, 0.0, variance)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, and the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Powered:
    """Estimates of means, each with its variance.

    Attributes:
        value: (c,) θ̂.
        variance: (c,) the variance of θ̂.
        weight: (c,) λ; with several strata, the mean over strata.
        freedom: (c,) degrees of freedom: n − 1; with several strata, by Welch and Satterthwaite.
        worth: (c,) n_eff, the number of known units that would give the same variance without
            predictions; NaN if the variance is 0.
        tilt: (c,) the skewness of θ̂; 0 if the variance is 0.
        count: the number n of known units.
    """

    value: Floats
    variance: Floats
    weight: Floats
    freedom: Floats
    worth: Floats
    tilt: Floats
    count: int

    def estimate(self, column: int, level: float, ends: Ends = ANY) -> Estimate:
        """Return a mean and its interval within the ends, which needs enough units."""
        variance, freedom = float(self.variance[column]), float(self.freedom[column])
        tilt, value = float(self.tilt[column]), float(self.value[column])
        interval = interval_of(value, variance, freedom, tilt, self.count, level, ends)
        return Estimate(value, interval.low, interval.high)

    def p(self, column: int, count: int) -> float:
        """Return p for a mean other than 0, by Student's t; without spread, by the n signs."""
        value, variance = float(self.value[column]), float(self.variance[column])
        if not variance:
            return min(1.0, 2 * 0.5**count) if value else 1.0
        return t_two_sided(value / math.sqrt(variance), float(self.freedom[column]))

    def p_within(self, column: int, margin: float, count: int) -> float:
        """Return p for a mean closer to 0 than a margin, by two one-sided t tests."""
        value, variance = float(self.value[column]), float(self.variance[column])
        if not variance:
            return 0.5**count if abs(value) < margin else 1.0
        t = (margin - abs(value)) / math.sqrt(variance)
        half = t_two_sided(t, float(self.freedom[column])) / 2
        return half if t > 0 else 1 - half


def interval_of(
    value: float,
    variance: float,
    freedom: float,
    tilt: float,
    count: int,
    level: float,
    ends: Ends = ANY,
) -> Interval:
    """Return the interval of an estimate from known units, as `intervals_of_means` for a mean."""
    if note := too_few_queries(count):
        return Interval(*ANY, level, "hall", note=note)
    low, high = hall_ends(value, math.sqrt(variance), freedom, tilt, level)
    return Interval(low, high, level, "hall").within(ends)


def half_width(variance: float, freedom: float, level: float) -> float:
    """Return t·√variance, half of an interval."""
    return -t_quantile((1 - level) / 2, freedom) * math.sqrt(variance)


def powered_means(strata: Sequence[Stratum], weight: float | None = None) -> Powered:
    """Estimate means from known values and predictions.

    Each stratum is estimated separately and weighted by its share of all units.

    Args:
        strata: the strata, or one for all units; each has at least 2 known units.
        weight: a fixed λ; if None, the best λ of each stratum and column (PPI++).

    >>> known, predicted = np.array([[0.2], [0.4], [0.9]]), np.array([[0.3], [0.6], [0.9]])
    >>> further = np.array([[0.2], [0.4], [0.6], [0.8]])
    >>> powered = powered_means([Stratum(known, predicted, further)], weight=1.0)
    >>> powered.value.round(4).tolist(), powered.variance.round(5).tolist()  # 0.5 − 0.1; 0.06667/4 + 0.01/3
    ([0.4], [0.02])
    """
    total = sum(stratum.total for stratum in strata)
    shares = [stratum.total / total for stratum in strata]
    columns = strata[0].known.shape[1]
    value, variance, weights, alone, square, second, third = (np.zeros(columns) for _ in range(7))
    for share, stratum in zip(shares, strata, strict=True):
        # Without further units there is no mean of their predictions to use.
        fixed = np.full(columns, 0.0 if weight is None or not len(stratum.further) else weight)
        chosen = stratum.best_weight() if weight is None else fixed
        ahead = stratum.further.mean(axis=0) if len(stratum.further) else 0.0
        value += share * (
            chosen * ahead + (stratum.known - chosen * stratum.predicted).mean(axis=0)
        )
        part = share**2 * stratum.variance(chosen)
        variance += part
        weights += share * chosen
        alone += share**2 * stratum.known_spread / stratum.count
        square += part**2 / (stratum.count - 1)
        central = stratum.moments(chosen)
        second += share**2 * central[0]
        third += share**3 * central[1]
    count = sum(stratum.count for stratum in strata)
    freedom = np.full(columns, float(count - len(strata)))
    np.divide(variance**2, square, out=freedom, where=square > 0)
    worth = np.full(columns, np.nan)
    np.divide(count * alone, variance, out=worth, where=variance > 0)
    tilt = np.zeros(columns)
    np.divide(third, second**1.5, out=tilt, where=variance > 0)
    return Powered(value, variance, weights, freedom, worth, tilt, count)


def units_for_width(
    strata: Sequence[Stratum], column: int, width: float, level: float, tilt: float = 0.0
) -> int | None:
    """Return how many known units PPI++ needs for an interval width; None if all are too few.

    Newly known units come from the further ones, in proportion in each stratum. The tilt is the
    present one, decreasing with the root of the number of units.
    """
    known = sum(stratum.count for stratum in strata)

    def narrow(count: int, error: _Error) -> bool:
        left = tilt * math.sqrt(known / count)
        interval = interval_of(0.0, error(count), count - len(strata), left, count, level)
        return interval.high - interval.low <= width

    return _fewest(strata, narrow, column)


def units_for_sign(
    strata: Sequence[Stratum], column: int, value: float, power: float, alpha: float
) -> int | None:
    """Return how many known units would show that a true mean is not 0; None if all are too few.

    They do so with probability `power`, by PPI++ and a t test at level `alpha`.
    """

    def shows(count: int, error: _Error) -> bool:
        variance = error(count)
        if not variance:
            return bool(value)
        return t_power_reaches(power, abs(value) / math.sqrt(variance), count - len(strata), alpha)

    return _fewest(strata, shows, column)


def _fewest(strata: Sequence[Stratum], reached: _Reached, column: int) -> int | None:
    """Return the fewest further known units that suffice; None if all are too few."""
    known, total = (sum(s.count for s in strata), sum(s.total for s in strata))

    def error(count: int) -> float:
        more = (count - known) / (total - known) if total > known else 0.0
        total_variance = 0.0
        for s in strata:
            variance = s.planned_variance(s.count + more * len(s.further))
            total_variance += (s.total / total) ** 2 * float(variance[column])
        return total_variance

    if total <= known or not reached(total, error):
        return None
    low, high = known, total  # the error falls with the units: halve
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle, error) else (middle, high)
    return high
