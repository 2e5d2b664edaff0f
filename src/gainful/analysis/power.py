"""`power`: how many queries a comparison needs, or what a number of queries can detect.

The calculation is for the two-sided paired t test. With n queries, a true mean difference δ and the
standard deviation σ of the differences, t is noncentral with n − 1 degrees of freedom and noncentrality
δ·√n/σ; the power is the probability that t exceeds the critical value.
"""

import math
from dataclasses import dataclass

import numpy as np

from gainful import arguments
from gainful.arithmetic.statistics.argument_checks import read_positive, read_share
from gainful.arithmetic.statistics.distributions import (
    normal_quantile,
    t_power,
    t_power_near,
    t_power_reaches,
)
from gainful.errors import InputError
from gainful.output.rendering.table_formats import Table
from gainful.output.writing.result_base import Printed

USUAL_POWER = 0.8
"""The default power: four of five true differences are detected."""

_FEWEST = 2  # queries with a standard deviation
_ROUNDING = 1e-9
_MOST = 10**15  # queries that a float64 can count one by one
_SMALLEST = 1e-7  # standard deviations; smaller differences need more queries than can be counted
_SURE = 1 - 1e-9
_STRICTEST = 1e-100  # scipy's quantiles of t are accurate down to about 1e-160


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Power(Printed):
    """A power calculation: the queries, the difference and the power of a planned comparison.

    Attributes:
        sd: the standard deviation of the differences between two runs, query by query.
        difference: the true mean difference.
        queries: the number of queries.
        power: the probability of detecting the difference.
        alpha: the probability of detecting a difference that doesn't exist.
        solved_for: `queries`, `difference` or `power`: the number that was computed from the others.
        cluster_size: the mean number of queries in a cluster.
    """

    sd: float
    difference: float
    queries: int
    power: float
    alpha: float
    solved_for: str
    cluster_size: float = 1.0

    def table(self) -> Table:
        """Return the numbers for rendering."""
        notes = [f"solved for {self.solved_for}; two-sided paired t test"]
        if self.cluster_size != 1:
            clusters = _clusters(self.queries, self.cluster_size)
            notes.append(f"{clusters} clusters of {self.cluster_size:.3g} queries on average")
        return Table(
            ["sd", "difference", "queries", "power", "alpha"],
            [[self.sd, self.difference, self.queries, self.power, self.alpha]],
            notes=notes,
        )


def power(
    *,
    sd: float,
    difference: float | None = None,
    queries: int | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    cluster_size: float = 1.0,
) -> Power:
    """Compute whichever of difference, queries and power is left out.

    From sd and difference, compute the number of queries needed; from sd and queries, the smallest
    detectable difference. Both use a power of 0.8 by default. From sd, difference and queries, compute
    the power. Take the sd from a comparison of similar runs; for nDCG it is often near 0.2.

    Args:
        sd: the standard deviation of the differences between two runs, query by query, above 0. In a
            comparison with weights or clusters, it takes them into account.
        difference: the true mean difference, above 0.
        queries: the number of queries, at least 2.
        power: the probability of detecting the difference, above alpha and below 1.
        alpha: the level of the two-sided paired t test.
        cluster_size: the mean number of queries in a cluster, if the sd comes from a comparison with clusters.

    Raises:
        InputError: if a number is invalid, or too few or too many are passed.

    >>> power(sd=0.18, difference=0.02).queries
    638
    >>> round(power(sd=0.18, queries=638).difference, 4)
    0.02
    >>> round(power(sd=0.18, difference=0.02, queries=50).power, 3)
    0.12
    >>> print(power(sd=0.1, difference=0.05))
        sd   difference   queries    power    alpha
    ───────────────────────────────────────────────
    0.1000       0.0500        34   0.8000   0.0500
    <BLANKLINE>
    solved for queries; two-sided paired t test
    """
    level = _level(alpha)
    spread = read_positive(sd, "sd")
    expected = "a number of queries, at least 1"
    size = arguments.number(cluster_size, "cluster_size", expected, lambda number: number >= 1)
    wanted = USUAL_POWER if power is None else power
    if queries is None:
        if difference is None:
            raise InputError(
                "power", "a difference or a number of queries", "neither", "Pass one or both."
            )
        needed = math.ceil(queries_needed(spread, difference, wanted, level) * size)
        return Power(spread, float(difference), needed, float(wanted), level, "queries", size)
    count = arguments.whole(queries, "queries", least=_FEWEST, most=_MOST)
    units = _clusters(count, size)
    if units < _FEWEST:
        raise InputError(
            "queries", f"at least {_FEWEST} clusters, {_FEWEST * size:g} queries", f"{count}"
        )
    if difference is None:
        least = detectable(spread, units, wanted, level)
        return Power(spread, least, count, float(wanted), level, "difference", size)
    if power is not None:
        raise InputError(
            "power",
            "one of difference, queries and power left to solve for",
            "all of them",
            "Leave out the number that you want to know.",
        )
    reached = power_of(spread, difference, units, level)
    return Power(spread, float(difference), count, reached, level, "power", size)


def _clusters(queries: int, size: float) -> int:
    """Return how many clusters of a mean size so many queries make."""
    return int(queries / size + _ROUNDING)


def power_of(sd: float, difference: float, queries: int, alpha: float = 0.05) -> float:
    """Return the probability that the two-sided paired t test detects a true mean difference.

    >>> round(power_of(0.1, 0.05, 34), 4)
    0.8078
    """
    spread = read_positive(sd, "sd")
    shift = read_positive(difference, "difference") / spread
    count = arguments.whole(queries, "queries", least=_FEWEST, most=_MOST)
    return _power(shift, count, _level(alpha))


def queries_needed(
    sd: float, difference: float, power: float = USUAL_POWER, alpha: float = 0.05
) -> int:
    """Return the smallest number of queries that reaches the requested power.

    >>> queries_needed(0.1, 0.05), queries_needed(0.25, 0.01)
    (34, 4908)
    """
    spread = read_positive(sd, "sd")
    shift = read_positive(difference, "difference") / spread
    wanted, level = _power_and_level(power, alpha)
    if shift < _SMALLEST:
        raise InputError(
            "difference", f"at least {_SMALLEST:g} standard deviations", f"{shift:.3g}"
        )
    # The power grows with the queries. The guess is close to the answer: widen around it, then bisect.
    enough = few = _guess(shift, wanted, level)
    step = 1
    while few >= _FEWEST and _reaches(wanted, shift, few, level):
        enough, few, step = few, max(few - step, _FEWEST - 1), 2 * step
    while enough == few or not _reaches(wanted, shift, enough, level):
        few, enough, step = enough, enough + step, 2 * step
    while enough - few > 1:
        middle = (few + enough) // 2
        if _reaches(wanted, shift, middle, level):
            enough = middle
        else:
            few = middle
    return enough


def _guess(shift: float, wanted: float, alpha: float) -> int:
    """Return an approximate number of queries for the requested power: Φ⁻¹(power) is near shift·√n."""
    aim, critical = normal_quantile(np.array([wanted, alpha / 2])).tolist()
    root = math.sqrt(((aim - critical) / shift) ** 2 + critical**2 / 2)
    queries = max(round(root**2), _FEWEST)
    reached = t_power_near(shift * math.sqrt(queries), queries - 1, alpha)
    if 0 < reached < 1:
        root += (aim - float(normal_quantile(np.array(reached)))) / shift
    return max(math.ceil(root**2), _FEWEST)


def detectable(sd: float, queries: int, power: float = USUAL_POWER, alpha: float = 0.05) -> float:
    """Return the smallest true mean difference that is detected with the requested power.

    >>> round(detectable(0.1, 34), 4)
    0.0495
    """
    spread = read_positive(sd, "sd")
    count = arguments.whole(queries, "queries", least=_FEWEST, most=_MOST)
    wanted, level = _power_and_level(power, alpha)
    low, high = 0.0, 1.0  # in standard deviations
    while not _reaches(wanted, high, count, level):
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        if _reaches(wanted, middle, count, level):
            high = middle
        else:
            low = middle
    return high * spread


def _power(shift: float, queries: int, alpha: float) -> float:
    return t_power(shift * math.sqrt(queries), queries - 1, alpha)


def _reaches(wanted: float, shift: float, queries: int, alpha: float) -> bool:
    return t_power_reaches(wanted, shift * math.sqrt(queries), queries - 1, alpha)


def _power_and_level(power: object, alpha: object) -> tuple[float, float]:
    """Return power and level; the power must exceed the level, which it has without any difference."""
    wanted, level = read_share(power, "power"), _level(alpha)
    if not level < wanted <= _SURE:
        raise InputError("power", f"more than alpha, {level:g}, and at most {_SURE}", f"{wanted:g}")
    return wanted, level


def _level(alpha: object) -> float:
    level = read_share(alpha, "alpha")
    if level < _STRICTEST:
        raise InputError("alpha", f"at least {_STRICTEST:g}", f"{level:g}")
    return level
