"""Two-sided confidence intervals of means: Student's t, corrected for skewness, and BCa.

`INTERVALS` is the table of methods; the choices, the command line, the help and the notes use it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gainful.arithmetic.statistics.anytime import asymptotic_reach, betting_ends
from gainful.arithmetic.statistics.argument_checks import read_share, read_values
from gainful.arithmetic.statistics.distributions import normal_quantile, normal_share, t_quantile
from gainful.arithmetic.statistics.exact_sums import Grid, on_grid
from gainful.arithmetic.statistics.moments import Moments, moments, moments_of_columns
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.arithmetic.statistics.resampling import Draws, resampled_sums
from gainful.array_types import Floats

Ends = tuple[float, float]
"""The lowest and the highest possible value; infinite if unbounded."""
ANY: Ends = (-math.inf, math.inf)

NEEDS_RANGE = "betting needs a measure with a range, such as nDCG; choose asymptotic"
_NO_RANGE = "betting needs values that count with their weights; choose asymptotic, or no dialect"
_ONE = "one query, no interval"
_SAME = "all queries have the same value, so the interval is that value, even for few queries"
_SKEWED = 0.2  # skewness/√n: Student's t then misses in 4% of cases on one side, not in 2.5%
_ENOUGH = 50  # queries; with at least as many, intervals were seen to hold
_FEWEST = 10  # queries, below which the default interval is not computed
_FEW_CHANGED = 5  # queries, below which intervals were seen to miss too often
_RARE = 10  # queries that changed, below which they may miss more often than the level says
_STEEPEST = 0.95  # of the way to where the cube root of Hall's correction is vertical
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Interval:
    """The range in which a mean lies, at a level of confidence.

    Attributes:
        low: the lower end; −∞ with too few queries for an interval.
        high: the upper end; ∞ likewise.
        level: the share of such intervals that contain the true mean.
        method: a key of `INTERVALS`.
        resamples: the number of resamples that it is based on, or None.
        note: the reason for a special case, such as an interval without ends; or empty.
        from_grades: the share of the variance that comes from estimated grades, such as from clicks; None for
            grades by people.
    """

    low: float
    high: float
    level: float
    method: str
    resamples: int | None = None
    note: str = ""
    from_grades: float | None = None

    @property
    def known(self) -> bool:
        """Whether the interval has an end; if not, `note` gives the reason (too few queries)."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    @property
    def exact(self) -> bool:
        """Whether the level holds for any values, however few of them differ."""
        return self.method == "betting"

    def within(self, ends: Ends) -> "Interval":
        """Return the interval clipped to the ends.

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
            **({} if self.from_grades is None else {"from_grades": self.from_grades}),
        }


def possible_ends(ends: Ends, *values: Floats) -> Ends:
    """Return the ends of a measure's range that its values, and so their mean, respect.

    A value beyond an end shows that the end does not apply: negative grades take nDCG below 0.

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
    """Return the range of the difference of two means with the same range.

    >>> ends_of_difference((0.0, 1.0)), ends_of_difference((0.0, math.inf))
    ((-1.0, 1.0), (-inf, inf))
    """
    width = ends[1] - ends[0]
    return -width, width


def too_few_queries(count: int, noun: str = "queries") -> str:
    """Return why so few queries, or other units, have no default interval; empty if there are enough.

    >>> too_few_queries(7)
    'too few queries for an interval (7; at least 10 needed)'
    """
    if count >= _FEWEST:
        return ""
    return f"too few {noun} for an interval ({count}; at least {_FEWEST} needed)"


def few_changed(changed: int, count: int, what: str = "changed") -> str:
    """Return why few changed values make an interval unreliable; empty if enough changed.

    >>> few_changed(2, 20)
    'only 2 of 20 queries changed, too few to trust the interval'
    """
    if changed >= min(_FEW_CHANGED, count):
        return ""
    return f"only {changed} of {count} queries {what}, too few to trust the interval"


def few_queries(counts: Iterable[int], level: float, method: str = "hall") -> list[str]:
    """Return the limits of intervals from few queries; nothing for enough queries, or for one.

    Args:
        counts: the number of queries of each interval.
        level: the level of the intervals.
        method: a key of `INTERVALS`.

    >>> [line[:46] for line in few_queries([24, 60], 0.95)]
    ['Only 24 queries: kinds of query that make up a']
    >>> few_queries([7], 0.95)
    ['too few queries for an interval (7; at least 10 needed)']
    """
    few = sorted({count for count in counts if 1 < count < _ENOUGH})
    without = [count for count in few if count < INTERVALS[method].fewest]
    lines = [too_few_queries(without[0])] if without else []
    if len(few) > len(without):
        count = few[len(without)]
        unseen = 1 - ((1 - level) / 2) ** (1 / count)
        lines.append(
            f"Only {count} queries: kinds of query that make up as much as {unseen:.0%} of your traffic "
            "may be missing from this sample, and the interval cannot account for them"
        )
    return lines


def side_of_misses(skewness: float | None, count: int) -> str:
    """Return where the true mean may lie more often than the level implies: above, below, or empty.

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
    """Return why an interval may miss more often than its level implies; empty if it should not.

    The share of misses on one side grows with skewness/√n. If almost all differences are 0, the
    interval is only as reliable as the few others.

    Args:
        subject: the names of the interval's quantity.
        noun: the quantity in one word, such as mean.
        skewness: the skewness of the values.
        count: the number of values.
        changed: how many differ from the usual value; None to ignore this.

    >>> caution("RR, new − old", "difference", 1.9, 60, 4)
    'RR, new − old: 4 of 60 queries changed, skewness +1.90; the true difference may lie above the interval more often than its level implies'
    """
    side = side_of_misses(skewness, count)
    rare = changed is not None and 0 < changed < min(_RARE, count)
    if not side and not rare:
        return ""
    extent = "" if changed is None else f"{changed} of {count} queries changed, "
    return (
        f"{subject}: {extent}skewness {skewness or 0:+.2f}; the true {noun} may lie "
        f"{side or 'outside'} the interval more often than its level implies"
    )


def t_interval(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Return the interval mean ± t·sd/√n of (n,) values.

    For one query it is −∞ to ∞; if all values are the same, it is that value.

    >>> found = t_interval([0.1, 0.3, 0.2, 0.0])
    >>> round(found.low, 3), round(found.high, 3)
    (-0.055, 0.355)
    """
    return _by_t(moments(values), read_share(level, "level"))


def _by_t(moments: Moments, share: float) -> Interval:
    if moments.sd is None:
        return Interval(-math.inf, math.inf, share, "t", note=_ONE)
    reach = -t_quantile((1 - share) / 2, moments.count - 1) * moments.sd / math.sqrt(moments.count)
    note = "" if moments.sd else _SAME
    return Interval(moments.mean - reach, moments.mean + reach, share, "t", note=note)


def hall_interval(values: ArrayLike, *, level: float = 0.95) -> Interval:
    """Return the t interval of (n,) values, with one end moved out if they are skewed.

    If values are skewed, t = (mean − μ)/(sd/√n) is skewed to the other side. Hall's
    transformation g(t) = t + λt²/3 + λ²t³/27 + λ/6, λ = skewness/√n, is less skewed, so g(t) is
    between the quantiles ±q of Student's t. Solving for μ moves one end out and the other in, by t
    = (3/λ)·(∛(1 + λ(±q − λ/6)) − 1). Each end is the farther of both methods: the skewness of few
    values is too uncertain to shorten an interval.

    The cube root is vertical where |λ|·(q + |λ|/6) = 1. Near that point a little more skewness,
    such as from a single outlier, moves the end without bound. So |λ| is limited to keep the left
    side at 0.95 or less; then an end is at most about twice as far from the mean as with Student's
    t.

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


def _by_hall(moments: Moments, share: float) -> Interval:
    plain = _by_t(moments, share)
    if not moments.sd or moments.skewness is None:
        return replace(plain, method="hall")
    error, tilt = (value / math.sqrt(moments.count) for value in (moments.sd, moments.skewness))
    low, high = hall_ends(moments.mean, error, moments.count - 1, tilt, share)
    return Interval(min(low, plain.low), max(high, plain.high), share, "hall")


def hall_ends(mean: float, error: float, freedom: float, tilt: float, level: float) -> Ends:
    """Return the ends of the interval of an estimate by Student's t and Hall's correction.

    Args:
        mean: the estimate.
        error: its standard error.
        freedom: the degrees of freedom of the standard error.
        tilt: λ, the skewness of the estimate; for a mean, skewness/√n of the values.
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
        # Adding 1 to a small number would lose its digits.
        return 3 / tilt * math.expm1(math.log1p(apart) / 3)
    return 3 / tilt * (math.cbrt(1 + apart) - 1)


def bca_interval(
    values: ArrayLike, draws: Draws | None = None, *, level: float = 0.95
) -> tuple[Interval, ...]:
    """Return the BCa bootstrap interval of the mean of each column of (n, c) values.

    Queries are drawn with replacement, n at a time, the same for all columns. The ends are the
    quantiles Φ(z₀ + (z₀ + z)/(1 − a(z₀ + z))) of the resampled means, interpolated linearly, with z
    = Φ⁻¹((1 ∓ level)/2). The bias z₀ is Φ⁻¹ of the share of means below the
    observed, equal ones counting half; the acceleration a = Σ(x − x̄)³ / (6·(Σ(x − x̄)²)^1.5)
    is from the jackknife.

    For one query it is −∞ to ∞; if a column has only one value, it is that value.

    Args:
        values: (n, c).
        draws: the number of resamples (10,000 if None) and their seed.
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
    # If all were on one side, z₀ would be infinite, which a finite number of resamples cannot show.
    rest = 1 / (2 * resamples)
    bias = normal_quantile(np.clip((1 + (below - above) / resamples) / 2, rest, 1 - rest))
    # The cubes of whole numbers up to 2^40 would not be exact; near 1 they need not be.
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
    """A method for intervals.

    Attributes:
        title: its name in a sentence.
        meaning: its description in one line of help.
        build: the function; None if values are taken in their order.
        fewest: the minimum number of queries.
        in_order: a function of values in the order in which they arrived, their weights, the level and the
            possible range; None if their order does not matter.
        on_request: whether it is computed only if chosen.
    """

    title: str
    meaning: str
    build: Builder | None
    fewest: int = 1
    in_order: Callable[[Floats, Floats, float, Ends], Interval] | None = None
    on_request: bool = False


def _by_betting(values: Floats, weights: Floats, share: float, ends: Ends) -> Interval:
    if not all(map(math.isfinite, ends)):
        return Interval(*ANY, share, "betting", note=NEEDS_RANGE)
    low, high = betting_ends(values, level=share, ends=ends, weights=weights)
    return Interval(low, high, share, "betting")


def _by_asymptotics(moments: Moments, share: float) -> Interval:
    reach = asymptotic_reach(moments, share)
    if not moments.sd:
        note = _ONE if moments.sd is None else "all queries have the same value"
        return Interval(*ANY, share, "asymptotic", note=note)
    return Interval(moments.mean - reach, moments.mean + reach, share, "asymptotic")


def _by_moments(interval: Callable[[Moments, float], Interval]) -> Builder:
    def build(values: ArrayLike, _draws: Draws | None, level: float) -> tuple[Interval, ...]:
        share = read_share(level, "level")
        return tuple(interval(moments, share) for moments in moments_of_columns(values))

    return build


INTERVALS: Mapping[str, Method] = {
    "hall": Method(
        "Student's t and Hall's correction for skewness",
        "Student's t for at least 10 queries, with one end moved outwards if per-query values are "
        "skewed (Hall)",
        _by_moments(_by_hall),
        _FEWEST,
    ),
    "t": Method("Student's t", "Student's t", _by_moments(_by_t)),
    "bca": Method(
        "BCa bootstrap",
        "the BCa bootstrap, which is too short for fewer than 100 queries",
        lambda values, draws, level: bca_interval(values, draws, level=level),
    ),
    "betting": Method(
        "betting, at any time",
        "valid however often you look while queries are added, for measures with a range",
        None,
        in_order=_by_betting,
        on_request=True,
    ),
    "asymptotic": Method(
        "the asymptotic confidence sequence",
        "like betting but approximate, for measures without a range and at least 50 queries",
        _by_moments(_by_asymptotics),
        _ENOUGH,
        on_request=True,
    ),
}
"""The intervals by name, the default first."""


def intervals_of_means(
    method: str,
    values: Floats,
    draws: Draws | None,
    level: float,
    ends: Sequence[Ends] | None = None,
    sampling: Sampling | None = None,
) -> tuple[Interval, ...]:
    """Return the interval of each column's mean, as shown to users.

    With too few queries for the method there is no interval, and no interval leaves the possible
    range.

    Args:
        method: a key of `INTERVALS`.
        values: (n, c).
        draws: the draws of a bootstrap; 10,000 resamples if None.
        level: above 0 and below 1.
        ends: (c,) the possible range of each mean; unlimited if None.
        sampling: how the queries were drawn; None if all count equally and independently.
    """
    chosen, noun, drawn = INTERVALS[method], "queries", sampling
    columns, effective = values.shape[1], float(len(values))
    if sampling is not None and sampling.once is not None:
        ends = None  # the mean may leave the range of the values
    if sampling is not None and not sampling.plain:
        noun = "clusters" if sampling.clusters is not None else "queries"
        effective = sampling.effective(len(values))
        values = values if chosen.in_order else sampling.spread(values)
    # Few of many queries may have almost all the weight.
    few = min(len(values), math.floor(effective + _ROUNDING))
    note = too_few_queries(few, noun) if few < chosen.fewest and len(values) > 1 else ""
    if chosen.in_order is not None and drawn is not None and drawn.once is not None:
        note = _NO_RANGE
    if note:
        none = Interval(*ANY, read_share(level, "level"), method, note=note)
        return tuple(none for _ in range(columns))
    if chosen.in_order is not None:
        share = read_share(level, "level")
        units, weights = (drawn or Sampling()).stream(values)
        return tuple(
            chosen.in_order(column, weights, share, end)
            for column, end in zip(units.T, ends or [ANY] * columns, strict=True)
        )
    if chosen.build is None:
        raise AssertionError(method)
    made = chosen.build(values, draws, level)
    return tuple(one.within(end) for one, end in zip(made, ends or [ANY] * columns, strict=True))
