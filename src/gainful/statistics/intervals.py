"""Two-sided intervals of a mean, of differences or of scores: by Student's t, corrected for skewness, by BCa.

`INTERVALS` is the one table of them: the choices, the command line, the help and the notes follow.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gainful.array_types import Floats
from gainful.statistics.argument_checks import read_share, read_values
from gainful.statistics.distributions import normal_quantile, normal_share, t_quantile
from gainful.statistics.exact_sums import Grid, on_grid
from gainful.statistics.moments import Moments, moments, moments_of_columns
from gainful.statistics.resampling import Draws, resampled_sums
from gainful.writing.result_base import Record

Ends = tuple[float, float]
"""The lowest and the highest value that something can have; infinite where there is no such end."""
ANY: Ends = (-math.inf, math.inf)

_ONE = "one query, no interval"
_SAME = "all queries have the same value: the interval is that value, however few they are"
_SKEWED = 0.2  # skewness/√n: Student's t then misses in 4% of cases on one side, not in 2.5%
_ENOUGH = 50  # queries, from which on intervals were seen to hold
_FEWEST = 10  # queries, below which the default interval is not computed
_FEW_CHANGED = 5  # queries, below which intervals were seen to miss too often
_RARE = 10  # queries that changed, below which they may miss more often than the level says
_STEEPEST = 0.95  # of the way to where the cube root of Hall's correction is vertical
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Interval(Record):
    """The range in which a mean lies, at a level of confidence.

    Attributes:
        low: the lower end; −∞ where there are too few queries for an interval.
        high: the upper end; ∞ likewise.
        level: the share of such intervals that contain the true mean.
        method: a key of `INTERVALS`.
        resamples: how many the interval is from, or None.
        note: what makes the interval a special case, such as why it has no ends; or empty.
    """

    low: float
    high: float
    level: float
    method: str
    resamples: int | None = None
    note: str = ""

    @property
    def known(self) -> bool:
        """Whether the interval has an end; of too few queries it has none, and `note` says so."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    def within(self, ends: Ends) -> "Interval":
        """Return the interval without what lies beyond the ends.

        >>> found = t_interval([0.9, 1.0, 1.0, 0.8]).within((0.0, 1.0))
        >>> round(found.low, 3), found.high
        (0.773, 1.0)
        """
        if not self.known:
            return self
        low, high = (min(max(end, ends[0]), ends[1]) for end in (self.low, self.high))
        return replace(self, low=low, high=high)

    def to_dict(self) -> dict[str, float | int | str | None]:
        """Return it as plain values; an end that is infinite becomes None."""
        return {
            "low": self.low if math.isfinite(self.low) else None,
            "high": self.high if math.isfinite(self.high) else None,
            "level": self.level,
            "method": self.method,
            "resamples": self.resamples,
            "note": self.note,
        }


def possible_ends(ends: Ends, *values: Floats) -> Ends:
    """Return the ends of the range of a measure that its values, and so their mean, keep to.

    A value beyond an end says that it is none here: negative grades take nDCG below 0.

    >>> possible_ends((0.0, 1.0), np.array([-0.2, 0.8]))
    (-inf, 1.0)
    """
    low, high = ends
    slack = _ROUNDING * max([abs(end) for end in ends if math.isfinite(end)], default=0.0)
    if any(column.size and column.min() < low - slack for column in values):
        low = -math.inf
    if any(column.size and column.max() > high + slack for column in values):
        high = math.inf
    return low, high


def ends_of_difference(ends: Ends) -> Ends:
    """Return between what ends the difference of two means lies, each of which has a range.

    >>> ends_of_difference((0.0, 1.0)), ends_of_difference((0.0, math.inf))
    ((-1.0, 1.0), (-inf, inf))
    """
    width = ends[1] - ends[0]
    return -width, width


def too_few_queries(count: int) -> str:
    """Return why so few queries have no default interval; empty of enough.

    >>> too_few_queries(7)
    'too few queries for an interval (7; at least 10)'
    """
    if count >= _FEWEST:
        return ""
    return f"too few queries for an interval ({count}; at least {_FEWEST})"


def few_changed(changed: int, count: int, what: str = "changed") -> str:
    """Return why an interval cannot be trusted where few values of many tell; empty where enough do.

    >>> few_changed(2, 20)
    'only 2 of 20 queries changed, too few to trust the interval'
    """
    if changed >= min(_FEW_CHANGED, count):
        return ""
    return f"only {changed} of {count} queries {what}, too few to trust the interval"


def few_queries(counts: Iterable[int], level: float, method: str = "hall") -> list[str]:
    """Return what intervals of so few queries cannot show: nothing of enough, nor of one.

    Args:
        counts: how many queries each interval is from.
        level: of the intervals.
        method: a key of `INTERVALS`.

    >>> [line[:46] for line in few_queries([24, 60], 0.95)]
    ['24 queries are few: up to 14% of all queries m']
    >>> few_queries([7], 0.95)
    ['too few queries for an interval (7; at least 10)']
    """
    few = sorted({count for count in counts if 1 < count < _ENOUGH})
    without = [count for count in few if count < INTERVALS[method].fewest]
    lines = [too_few_queries(without[0])] if without else []
    if len(few) > len(without):
        count = few[len(without)]
        unseen = 1 - ((1 - level) / 2) ** (1 / count)
        lines.append(
            f"{count} queries are few: up to {unseen:.0%} of all queries may be of a kind that none "
            "of these is, and no interval can show that"
        )
    return lines


def side_of_misses(skewness: float | None, count: int) -> str:
    """Return where the true mean may lie more often than the level says: above, below, or empty.

    The share of misses on one side grows with skewness/√n.

    >>> side_of_misses(-2.0, 25), side_of_misses(0.5, 25), side_of_misses(None, 1)
    ('below', '', '')
    """
    tilt = (skewness or 0.0) / math.sqrt(count)
    if abs(tilt) <= _SKEWED:
        return ""
    return "above" if tilt > 0 else "below"


def caution(
    subject: str, noun: str, skewness: float | None, count: int, changed: int | None = None
) -> str:
    """Return why an interval may miss more often than its level says; empty where it need not.

    The share of misses on one side grows with skewness/√n. Differences that are nearly all 0 say
    as little as the few that are not.

    Args:
        subject: what the interval is of, by its names.
        noun: the same in a word, such as mean.
        skewness: of the values.
        count: how many there are.
        changed: how many differ from the usual one; None where that is not asked.

    >>> caution("RR, new − old", "difference", 1.9, 60, 4)
    'RR, new − old: 4 of 60 queries changed, skewness +1.90; the true difference may lie above the interval more often than its level says'
    """
    side = side_of_misses(skewness, count)
    rare = changed is not None and 0 < changed < min(_RARE, count)
    if not side and not rare:
        return ""
    told = "" if changed is None else f"{changed} of {count} queries changed, "
    return (
        f"{subject}: {told}skewness {skewness or 0:+.2f}; the true {noun} may lie "
        f"{side or 'outside'} the interval more often than its level says"
    )


def t_interval(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Return the interval mean ± t·sd/√n of (n,) values.

    For one query it is from −∞ to ∞; for values that are all the same, it is that value.

    >>> found = t_interval([0.1, 0.3, 0.2, 0.0])
    >>> round(found.low, 3), round(found.high, 3)
    (-0.055, 0.355)
    """
    return _by_t(moments(values), read_share(level, "level"))


def _by_t(found: Moments, share: float) -> Interval:
    if found.sd is None:
        return Interval(-math.inf, math.inf, share, "t", note=_ONE)
    reach = -t_quantile((1 - share) / 2, found.count - 1) * found.sd / math.sqrt(found.count)
    note = "" if found.sd else _SAME
    return Interval(found.mean - reach, found.mean + reach, share, "t", note=note)


def hall_interval(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Return the t interval of (n,) values, with an end moved out where they are skewed.

    Where values are skewed, t = (mean − μ)/(sd/√n) is skewed too, to the other side. Hall's
    transformation g(t) = t + λt²/3 + λ²t³/27 + λ/6, λ = skewness/√n, has less of it, so it is
    g(t) that lies between the quantiles ±q of Student's t. Solved for μ, that moves one end out
    and the other in, by t = (3/λ)·(∛(1 + λ(±q − λ/6)) − 1). Each end is the farther of the two:
    the skewness of few values is too uncertain to make an interval shorter.

    The cube root is vertical where |λ|·(q + |λ|/6) = 1. Near there a little more skewness, such
    as that of a single outlier, moves the end without bound. So |λ| is cut to where the left side
    is 0.95; then an end lies about twice as far from the mean as that of Student's t, at most.

    P. Hall, On the removal of skewness by transformation, Journal of the Royal Statistical
    Society B 54, 1992; it is the monotone form of Johnson's modified t (1978).

    >>> found = hall_interval([0.1, 0.1, 0.2, 0.0, 0.9])
    >>> round(found.low, 3), round(found.high, 3)
    (-0.193, 1.181)
    >>> plain = t_interval([0.1, 0.1, 0.2, 0.0, 0.9])
    >>> round(plain.low, 3), round(plain.high, 3)
    (-0.193, 0.713)
    """
    return _by_hall(moments(values), read_share(level, "level"))


def _by_hall(found: Moments, share: float) -> Interval:
    plain = _by_t(found, share)
    if not found.sd or found.skewness is None:
        return replace(plain, method="hall")
    error, tilt = (each / math.sqrt(found.count) for each in (found.sd, found.skewness))
    low, high = hall_ends(found.mean, error, found.count - 1, tilt, share)
    return Interval(min(low, plain.low), max(high, plain.high), share, "hall")


def hall_ends(mean: float, error: float, freedom: float, tilt: float, level: float) -> Ends:
    """Return the ends of the interval of an estimate by Student's t and Hall's correction.

    Args:
        mean: the estimate.
        error: its standard error.
        freedom: the degrees of freedom of that.
        tilt: λ, the skewness of the estimate; of a mean, skewness/√n of the values.
        level: above 0 and below 1.
    """
    reach = -t_quantile((1 - level) / 2, freedom)
    # λ(q + λ/6) = c, solved for λ without a difference of large numbers.
    most = 2 * _STEEPEST / (reach + math.sqrt(reach**2 + 2 * _STEEPEST / 3))
    cut = min(max(tilt, -most), most)
    low, high = _untilted(reach, cut), _untilted(-reach, cut)
    return mean - max(low, reach) * error, mean - min(high, -reach) * error


def _untilted(value: float, tilt: float) -> float:
    """Return the t whose g(t) is a value: (3/λ)·(∛(1 + λ·(value − λ/6)) − 1)."""
    apart = tilt * (value - tilt / 6)
    if not apart:
        return value - tilt / 6
    if abs(apart) < 1 / 2:
        # 1 + a small number would lose its digits.
        return 3 / tilt * math.expm1(math.log1p(apart) / 3)
    return 3 / tilt * (math.cbrt(1 + apart) - 1)


def bca_interval(
    values: ArrayLike, draws: Draws | None = None, *, level: float = 0.95
) -> tuple[Interval, ...]:
    """Return the BCa bootstrap interval of the mean of each column of (n, c) values.

    Queries are drawn with replacement, n at a time, the same for all columns. Of the means of the
    resamples the interval takes the quantiles Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))), interpolated
    linearly, with z = Φ⁻¹((1 ∓ level)/2). The bias z₀ is Φ⁻¹ of the share of means below the
    observed, equal ones counting half; the acceleration a = Σ(x − x̄)³ / (6·(Σ(x − x̄)²)^1.5)
    is from the jackknife.

    For one query it is from −∞ to ∞; for a column of one value, it is that value.

    Args:
        values: (n, c).
        draws: how many resamples, 10,000 if None, and their seed.
        level: above 0 and below 1.

    Returns:
        An interval for each column.

    >>> found = bca_interval([[0.1], [0.3], [0.2], [0.0], [0.9]])[0]
    >>> 0 < found.low < 0.3 < found.high < 0.9
    True
    """
    table = read_values(values, "values", ("queries", "columns"))
    share = read_share(level, "level")
    chosen = draws or Draws()
    queries, columns = table.shape
    if queries == 1:
        return tuple(Interval(-math.inf, math.inf, share, "bca", note=_ONE) for _ in range(columns))
    grid = on_grid(table)
    constant = grid.constant
    intervals = [
        Interval(mean, mean, share, "bca", note=_SAME)
        for mean in (math.fsum(column.tolist()) / queries for column in table.T)
    ]
    varied = np.flatnonzero(~constant)
    if varied.size:
        kept = Grid(grid.units[:, varied], grid.exponent[varied])
        ends = _bca(kept, resampled_sums(kept.units, chosen), share)
        for place, (low, high) in zip(varied.tolist(), ends.tolist(), strict=True):
            intervals[place] = Interval(low, high, share, "bca", chosen.resamples)
    return tuple(intervals)


def _bca(grid: Grid, sums: Floats, level: float) -> Floats:
    """Return (c, 2), the ends of the intervals, from the sums (r, c) of the resamples."""
    queries = len(grid.units)
    resamples = len(sums)
    observed = grid.units.sum(axis=0)
    below = np.count_nonzero(sums < observed - grid.slack, axis=0)
    above = np.count_nonzero(sums > observed + grid.slack, axis=0)
    # All on one side would put z₀ at infinity, which so many resamples do not tell.
    rest = 1 / (2 * resamples)
    bias = normal_quantile(np.clip((1 + (below - above) / resamples) / 2, rest, 1 - rest))
    # Of whole numbers as large as 2^40 the cubes would not be exact; near 1 they need not be.
    apart = grid.units / np.abs(grid.units).max(axis=0)
    apart -= apart.mean(axis=0)
    speed = (apart**3).sum(axis=0) / (6 * (apart**2).sum(axis=0) ** 1.5)
    tails = normal_quantile(np.array([(1 - level) / 2, (1 + level) / 2]))
    wanted = bias[:, None] + tails  # (c, 2)
    slowed = 1 - speed[:, None] * wanted
    # The quantile tends to an end as the denominator tends to 0, and stays there.
    shifted = np.where(slowed > 0, wanted / np.where(slowed > 0, slowed, 1), wanted * np.inf)
    shares = normal_share(bias[:, None] + shifted)
    ends = np.stack(
        [np.quantile(column, share) for column, share in zip(sums.T, shares, strict=True)]
    )
    return grid.back(ends.T / queries).T


Builder = Callable[[ArrayLike, Draws | None, float], tuple[Interval, ...]]
"""Takes values (n, c), draws and a level, returns an interval for each column."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to make an interval: what it is called, what it means, how it is made, and from how many queries on."""

    title: str
    meaning: str
    build: Builder
    fewest: int = 1


def _by_moments(interval: Callable[[Moments, float], Interval]) -> Builder:
    def build(values: ArrayLike, _draws: Draws | None, level: float) -> tuple[Interval, ...]:
        share = read_share(level, "level")
        return tuple(interval(found, share) for found in moments_of_columns(values))

    return build


INTERVALS: Mapping[str, Method] = {
    "hall": Method(
        "Student's t and Hall's correction for skewness",
        "Student's t, with an end moved out where the values of queries are skewed (Hall); from 10 queries on",
        _by_moments(_by_hall),
        _FEWEST,
    ),
    "t": Method("Student's t", "Student's t", _by_moments(_by_t)),
    "bca": Method(
        "BCa bootstrap",
        "the BCa bootstrap, which is too short for fewer than 100 queries",
        lambda values, draws, level: bca_interval(values, draws, level=level),
    ),
}
"""The intervals by name, the default first."""


def intervals_of_means(
    method: str,
    values: Floats,
    draws: Draws | None,
    level: float,
    ends: Sequence[Ends] | None = None,
) -> tuple[Interval, ...]:
    """Return an interval of the mean of each column, as it is shown.

    Too few queries for the method have none, and no interval leaves what is possible.

    Args:
        method: a key of `INTERVALS`.
        values: (n, c).
        draws: of a bootstrap; 10,000 resamples if None.
        level: above 0 and below 1.
        ends: (c,) between what ends each mean lies; anything is possible if None.
    """
    count, columns = values.shape
    chosen = INTERVALS[method]
    if 1 < count < chosen.fewest:
        none = Interval(*ANY, read_share(level, "level"), method, note=too_few_queries(count))
        return tuple(none for _ in range(columns))
    made = chosen.build(values, draws, level)
    return tuple(one.within(end) for one, end in zip(made, ends or [ANY] * columns, strict=True))
