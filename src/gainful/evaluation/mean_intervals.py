"""The interval of a mean over queries, and its caveats."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gainful import arguments
from gainful.arithmetic.statistics.argument_checks import read_share
from gainful.arithmetic.statistics.intervals import (
    INTERVALS,
    Interval,
    caution,
    few_queries,
    intervals_of_means,
    possible_ends,
)
from gainful.arithmetic.statistics.moments import moments
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.arithmetic.statistics.resampling import Draws
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.evaluation.measuring import summands
from gainful.evaluation.uncertain_grades import GradeVariance, Spread, centred, in_units
from gainful.measures.measure import Measure
from gainful.measures.measure_family import GEOMETRIC, RUN, SUM
from gainful.output.rendering.table_formats import Cell

_CAUTIONS = 5  # under a table


def mean_interval(
    measure: Measure,
    values: Floats,
    sampling: Sampling | None = None,
    *,
    method: str = "hall",
    level: float = 0.95,
    draws: Draws | None = None,
    drawn: Floats | None = None,
) -> Interval:
    """Return the interval of the mean of a measure, from the values of the queries that count.

    For a geometric mean, it is e to the power of the interval of the mean logarithm. The interval
    never extends beyond the range of the measure.

    Args:
        measure: the measure; sums are rejected.
        values: (n,) float64, at least one.
        sampling: how the queries were drawn; None if all count equally and independently.
        method: a key of `INTERVALS`.
        level: above 0 and below 1.
        draws: the resamples of a bootstrap; 10,000 if None.
        drawn: [draw, n] the values over redrawn grades, if the grades are estimates: the interval is then
            corrected for their bias, and widened by the errors that the queries share.

    >>> from gainful.measures.notation import parse
    >>> found = mean_interval(parse("P@10"), np.array([0.1, 0.3, 0.2, 0.0]), method="t")
    >>> round(found.low, 3), round(found.high, 3)
    (0.0, 0.355)
    """
    arguments.choice(method, "method", INTERVALS)
    level = read_share(level, "level")
    if measure.family.aggregate in (SUM, RUN):
        is_sum = measure.family.aggregate == SUM
        other = "one that is summed over them" if is_sum else "a value of the run as a whole"
        expected = "a measure with a mean over the queries, which has an interval"
        raise InputError(str(measure), expected, other)
    if unknown := int(np.isnan(values).sum()):
        expected = "a value of every query that counts, for an interval"
        undefined = f"{unknown} of {values.size} undefined"
        remedy = "Choose how they count: the policy empty=zero, or empty=skip."
        raise InputError(str(measure), expected, undefined, remedy, choice="empty=nan")
    try:
        summed = _summed(measure, values)
        if drawn is not None:
            summed, drawn = centred(summed, _drawn_summed(measure, drawn))
        of_logarithms = measure.family.aggregate == GEOMETRIC
        ends = None if of_logarithms else [possible_ends(measure.family.ends, summed)]
        interval = intervals_of_means(method, summed[:, None], draws, level, ends, sampling)[0]
    except InputError as problem:  # values that are too large
        raise problem.at(str(measure)) from None
    if drawn is not None:
        interval = _widened(interval, *in_units(summed, drawn, sampling))
    if measure.family.aggregate == GEOMETRIC and interval.known:
        interval = replace(interval, low=_exp(interval.low), high=_exp(interval.high))
    if sampling is not None and sampling.once is not None:
        return interval  # the mean may leave the range of the values
    return interval.within(possible_ends(measure.family.ends, values))


def _summed(measure: Measure, values: Floats) -> Floats:
    return np.array(summands(measure, values.tolist()))


def _drawn_summed(measure: Measure, drawn: Floats) -> Floats:
    return np.array([_summed(measure, row) for row in drawn])


def _widened(interval: Interval, summed: Floats, drawn: Floats) -> Interval:
    """Return an interval around the mean that allows for the errors of grades that the queries share."""
    spread = Spread.of(summed, drawn)
    interval = replace(interval, from_grades=spread.share)
    if not interval.known or not spread.of_values:
        return interval
    mean = float(summed.mean())
    factor = math.sqrt(spread.whole / spread.of_values)
    return replace(
        interval,
        low=mean - (mean - interval.low) * factor,
        high=mean + (interval.high - mean) * factor,
    )


def grade_variance(
    run: str,
    measure: Measure,
    values: Floats,
    sampling: Sampling | None,
    drawn: Floats,
    level: float,
) -> GradeVariance:
    """Return the part of the variance of a mean that comes from estimated grades.

    Args:
        run: the name of the run.
        measure: the measure.
        values: (n,) the values of the queries that count.
        sampling: how the queries were drawn; None if all count equally and independently.
        drawn: [draw, n] the values over redrawn grades.
        level: the level of the ends.
    """
    centre = centred(_summed(measure, values), _drawn_summed(measure, drawn))
    summed, redrawn = in_units(*centre, sampling)
    part = Spread.of(summed, redrawn).part(redrawn, level, (str(measure), "", run))
    if measure.family.aggregate == GEOMETRIC:
        part = replace(part, low=_exp(part.low), high=_exp(part.high))
    least, most = possible_ends(measure.family.ends, values)
    return replace(part, low=max(part.low, least), high=min(part.high, most))


def _exp(end: float) -> float:
    try:
        return math.exp(end)
    except OverflowError:
        return math.inf


def has_interval(measure: Measure, values: Floats) -> bool:
    """Return whether the values of a measure have a defined mean rather than a sum."""
    return measure.family.aggregate not in (SUM, RUN) and not np.isnan(values).any()


def interval_or_none(
    measure: Measure,
    values: Floats,
    sampling: Sampling | None = None,
    *,
    method: str = "hall",
    level: float = 0.95,
    drawn: Floats | None = None,
) -> Interval | None:
    """Return the interval of a mean; None for a sum or an undefined mean."""
    if not values.size or not has_interval(measure, values):
        return None
    if sampling is not None and not sampling.units(values.size):
        return None  # no query has a weight
    return mean_interval(measure, values, sampling, method=method, level=level, drawn=drawn)


def independent(measure: Measure, values: Floats, sampling: Sampling | None) -> Floats:
    """Return (u,) the independent values that the interval of a mean is computed from."""
    summed = _summed(measure, values)
    if sampling is None or sampling.plain or not has_interval(measure, values):
        return summed
    column: Floats = sampling.spread(summed[:, None])[:, 0]
    return column


def cautions_of_intervals(
    made: Iterable[tuple[str, Floats, Interval | None]], method: str, level: float
) -> list[str]:
    """Return how intervals were computed, and why they may miss more often than their level implies.

    Args:
        made: for each mean, its name, its independent values and its interval, if any.
        method: a key of `INTERVALS`.
        level: the level of the intervals.
    """
    lines = [f"{100 * level:g}% interval of each mean on its own, by {INTERVALS[method].title}"]
    known = [(name, values, interval) for name, values, interval in made if interval is not None]
    lines += few_queries((values.size for _, values, _ in known), level, method)
    cautions = [line for mean in known for line in _cautions(*mean)]
    rest = len(cautions) - _CAUTIONS
    others = "more mean" if rest == 1 else "more means"
    more = [f"… and {rest} {others} whose values are skewed or the same"] if rest > 0 else []
    return [*lines, *cautions[:_CAUTIONS], *more]


def names_of_ends(level: float) -> list[str]:
    """Return the names of the columns of an interval.

    >>> names_of_ends(0.95)
    ['95% low', '95% high']
    """
    return [f"{100 * level:g}% {end}" for end in ("low", "high")]


def ends_of(interval: Interval | None) -> list[Cell]:
    """Return the ends of an interval as cells, empty if infinite or unknown."""
    if interval is None:
        return [None, None]
    return [end if math.isfinite(end) else None for end in (interval.low, interval.high)]


def _cautions(what: str, values: Floats, interval: Interval) -> Iterable[str]:
    """Yield the reasons why an interval may miss more often than its level implies."""
    if not interval.known and values.size > 1:
        return  # which is reported once for all
    if interval.note:
        yield f"{what}: {interval.note}"
        return
    skewness = moments(values).skewness
    if warning := caution(what, "mean", skewness, values.size):
        yield warning
