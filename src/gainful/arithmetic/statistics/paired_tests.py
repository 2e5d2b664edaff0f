"""Two-sided tests of paired differences: t, randomisation, bootstrap, Wilcoxon's ranks, signs.

`TESTS` has one entry for each. The choices, the command line, the help, the verdicts and the
captions come from it.

Each test asks how likely differences at least this far from 0 would be if neither system were
better. t, randomisation and bootstrap test the mean. Differences are rounded to 40 bits of the
largest one (`exact_sums.py`), so that those that are equal except for rounding of scores count as
equal.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gainful.arithmetic.statistics.anytime import asymptotic_p, betting_capital
from gainful.arithmetic.statistics.argument_checks import read_margin, read_values
from gainful.arithmetic.statistics.distributions import (
    coin_two_sided,
    normal_two_sided,
    t_two_sided,
)
from gainful.arithmetic.statistics.exact_sums import Grid, on_grid
from gainful.arithmetic.statistics.intervals import NEEDS_RANGE
from gainful.arithmetic.statistics.moments import Moments, moments, moments_of_columns
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.arithmetic.statistics.resampling import Draws, count_all, count_random, resampled_sums
from gainful.array_types import Floats, Ints

_ALL_FLIPS = 1 << 16  # all of them take less time than a random sample
_MOST_FLIPS = 1 << 24  # the sums of all take 64 MB
_COLUMNS = 64  # that are counted at once, in the cache
_EXACT_RANKS, _EXACT_TIED_RANKS = 50, 13  # queries; scipy's limits


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a two-sided test of differences.

    Attributes:
        name: the name of the test, a key of `TESTS`.
        p: the p-value, or None if the test is undefined.
        statistic: `t`: t; `randomisation` and `bootstrap`: the mean difference, whose absolute
            value is compared; `wilcoxon`, corrected or not: the smaller of the sums of positive and
            of
            negative ranks; `sign`: the number of positive differences. None if undefined.
        queries: the number of differences, including zeros.
        exact: whether p needed neither random draws nor an approximation for many queries.
        resamples: the number of random flips or resamples, or None.
        why: the reason why p is undefined, or empty.
        e_value: `betting`: the capital after the last query, the evidence against no difference; None for
            all other tests.
    """

    name: str
    p: float | None
    statistic: float | None
    queries: int
    exact: bool = True
    resamples: int | None = None
    why: str = ""
    e_value: float | None = None


def paired_t(differences: ArrayLike) -> Outcome:
    """Test the mean of (n,) differences by t = mean / (sd/√n), with n − 1 degrees of freedom.

    Differences that are all 0 have p = 1. One query, or differences that are all the same, have no
    spread to compare the mean with, so p is None. By the formula t would be infinite and p 0, a
    certainty that two queries cannot give.

    >>> found = paired_t([0.1, 0.3, 0.2, 0.0])
    >>> round(found.statistic, 3), round(found.p, 3)
    (2.324, 0.103)
    >>> paired_t([0.5, 0.5]).why
    'all differences are the same, so there is no spread to compare their mean with'
    """
    return _by_t(moments(read_values(differences, "differences", ("queries",))))


def _by_t(moments: Moments) -> Outcome:
    if moments.effect is None and not moments.mean:  # all are 0
        return Outcome("t", 1.0, 0.0, moments.count)
    if moments.effect is None:
        why = (
            "one query has no spread to compare its difference with"
            if moments.count == 1
            else "all differences are the same, so there is no spread to compare their mean with"
        )
        return Outcome("t", None, None, moments.count, why=why)
    t = moments.effect * math.sqrt(moments.count)
    return Outcome("t", t_two_sided(t, moments.count - 1), t, moments.count)


def sign_flips(differences: ArrayLike, draws: Draws | None = None) -> tuple[Outcome, ...]:
    """Test the mean of each column of (n, c) differences by flipping signs at random.

    If neither system is better, each difference is equally likely to have the other sign. p is the
    share of flips whose |Σ d| is at least the observed one. If m differences are not 0 and 2^m is
    at most 65,536, or at most the resamples, all flips are counted; otherwise a random sample, with
    p = (1 + count) / (1 + resamples). All columns are flipped in the same way.

    Args:
        differences: (n, c).
        draws: how many random flips, 10,000 if None, and their seed.

    Returns:
        An outcome for each column.

    >>> [outcome.p for outcome in sign_flips([[0.1, 0.0], [0.2, 0.0], [0.3, -0.4], [0.1, 0.0]])]
    [0.125, 1.0]
    """
    table = read_values(differences, "differences", ("queries", "columns"))
    chosen = draws or Draws()
    grid = on_grid(table)
    flipped = np.count_nonzero(grid.units, axis=0)
    limit = min(max(chosen.resamples, _ALL_FLIPS), _MOST_FLIPS)
    few = flipped < limit.bit_length()  # 2^m is at most the limit
    counts = np.zeros(flipped.size, np.int64)
    if not few.all():
        counts[~few] = count_random(Grid(grid.units[:, ~few], grid.exponent[~few]), chosen)
    outcomes = []
    for place, column in enumerate(grid.units.T):
        mean = math.fsum(table[:, place].tolist()) / column.size
        resamples: int | None = None
        if few[place]:
            kept = column[column != 0]
            p = count_all(kept, grid.slack) / 2**kept.size if kept.size else 1.0
        else:
            resamples = chosen.resamples
            p = (1 + int(counts[place])) / (1 + resamples)
        exact = resamples is None
        outcome = Outcome("randomisation", p, mean, column.size, exact=exact, resamples=resamples)
        outcomes.append(outcome)
    return tuple(outcomes)


def bootstrap_test(differences: ArrayLike, draws: Draws | None = None) -> tuple[Outcome, ...]:
    """Test the mean of each column of (n, c) differences by the bootstrap, with the shift method.

    Subtracting the mean makes the mean 0, as if neither system were better. From these differences,
    n are drawn with replacement, the same queries for all columns; p is the share of resamples
    whose |mean| is at least the observed one: (1 + count) / (1 + resamples). With one query, or
    with differences that are all the same and not 0, p is None.

    J. Savoy, Statistical inference in retrieval effectiveness evaluation, Information Processing &
    Management 33, 1997.

    Args:
        differences: (n, c).
        draws: how many resamples, 10,000 if None, and their seed.

    Returns:
        An outcome for each column.

    >>> found = bootstrap_test([[0.1], [0.3], [0.2], [0.0]], Draws(resamples=2000))[0]
    >>> found.p < 0.05, found.exact
    (True, False)
    """
    table = read_values(differences, "differences", ("queries", "columns"))
    chosen = draws or Draws()
    grid = on_grid(table)
    observed = grid.units.sum(axis=0)
    moved = np.abs(resampled_sums(grid.units, chosen) - observed)
    reached = np.count_nonzero(moved >= np.abs(observed) - 2 * grid.slack, axis=0)
    outcomes = []
    for column, constant, count in zip(table.T, grid.constant, reached.tolist(), strict=True):
        mean = math.fsum(column.tolist()) / column.size
        if not column.any():
            outcomes.append(Outcome("bootstrap", 1.0, 0.0, column.size))
        elif constant:
            why = "all differences are the same, so there is nothing else to draw"
            outcomes.append(Outcome("bootstrap", None, None, column.size, why=why))
        else:
            p = (1 + count) / (1 + chosen.resamples)
            outcomes.append(
                Outcome("bootstrap", p, mean, column.size, exact=False, resamples=chosen.resamples)
            )
    return tuple(outcomes)


def wilcoxon(differences: ArrayLike, *, continuity: float = 0.0) -> Outcome:
    """Test whether (n,) differences are balanced around 0, by their ranks.

    The absolute values of the m nonzero differences are ranked, with mean ranks for ties. The
    distribution of the sum W of the ranks of the positive ones is exact for up to 50 differences
    without ties and zeros, and for up to 13 with them; otherwise it is normal, with
    mean m(m+1)/4 and variance m(m+1)(2m+1)/24 − Σ(t³−t)/48 over groups of t ties. These are the
    defaults of scipy.stats.wilcoxon.

    Args:
        differences: (n,).
        continuity: the shift of W towards its mean for the normal distribution; ½ is the continuity
            correction, the `correction=True` of scipy and the default of R.

    >>> wilcoxon([0.1, 0.2, 0.3, 0.4, -0.5]).p
    0.625
    """
    name = "wilcoxon-continuity" if continuity else "wilcoxon"
    column = read_values(differences, "differences", ("queries",))
    units = on_grid(column[:, None]).units[:, 0]
    kept = units[units != 0]
    if not kept.size:
        return Outcome(name, 1.0, 0.0, column.size)
    place, ties = _tied_sizes(kept)
    twice = _doubled_ranks(place, ties)
    above = int(twice[kept > 0].sum())
    smaller = min(above, int(twice.sum()) - above) / 2
    plain = kept.size == column.size == ties.size
    if column.size <= (_EXACT_RANKS if plain else _EXACT_TIED_RANKS):
        return Outcome(name, _exact_ranks(twice, int(2 * smaller)), smaller, column.size)
    m = kept.size
    tied = math.fsum((ties.astype(np.float64) ** 3 - ties).tolist())
    variance = (m * (m + 1) * (2 * m + 1) - tied / 2) / 24
    z = max(m * (m + 1) / 4 - smaller - continuity, 0.0) / math.sqrt(variance)
    return Outcome(name, normal_two_sided(z), smaller, column.size, exact=False)


def signs(differences: ArrayLike, *, tie: float = 0.0) -> Floats:
    """Return (n,) 1, 0 or −1: whether differences are above 0, tied, or below.

    Args:
        differences: (n,).
        tie: the largest absolute difference that counts as a tie, 0 or more.

    >>> signs([0.3 - 0.2, -0.05, 0.2], tie=0.1).tolist()
    [0.0, 0.0, 1.0]
    """
    column = read_values(differences, "differences", ("queries",))
    grid = on_grid(column[:, None])
    margin = _tie_in_units(grid, tie)
    units = grid.units[:, 0]
    return np.where(np.abs(units) <= margin, 0.0, np.sign(units))


@dataclass(frozen=True, slots=True)
class Sides:
    """The side of 0 on which the differences of each column lie.

    Attributes:
        above: (c,) how many are above 0, without ties.
        below: (c,) how many are below.
        changed: (c,) how many are not 0, ties included.
        lean: (c,) numbers with the sign of the mean; 0 if the mean differs from 0 only by rounding.
    """

    above: Ints
    below: Ints
    changed: Ints
    lean: Floats


def sides(differences: ArrayLike, *, tie: float = 0.0) -> Sides:
    """Count the `signs` of each column of (n, c) differences.

    >>> counts = sides([[0.3, -0.1], [-0.05, 0.0]], tie=0.1)
    >>> counts.above.tolist(), counts.below.tolist(), counts.changed.tolist()
    ([1, 0], [0, 0], [2, 1])
    """
    table = read_values(differences, "differences", ("queries", "columns"))
    parts = [_sides(table[:, at : at + _COLUMNS], tie) for at in range(0, table.shape[1], _COLUMNS)]
    return Sides(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _sides(table: Floats, tie: float) -> tuple[Ints, Ints, Ints, Floats]:
    grid = on_grid(table)
    units, margin = grid.units, _tie_in_units(grid, tie)
    above, below = (np.count_nonzero(side, axis=0) for side in (units > margin, units < -margin))
    return above, below, np.count_nonzero(units, axis=0), units.sum(axis=0)


def _tie_in_units(grid: Grid, tie: float) -> Floats:
    """Return (c,) the tie threshold of each column in units."""
    with np.errstate(over="ignore"):  # with an infinite tie all differences are ties
        margins: Floats = np.rint(np.ldexp(read_margin(tie, "tie"), -grid.exponent))
    return margins


def sign_test(differences: ArrayLike, *, tie: float = 0.0) -> Outcome:
    """Test whether (n,) differences without ties are above 0 as often as below.

    The number of positive ones is binomial with probability ½; p is exact.

    Args:
        differences: (n,).
        tie: the largest absolute difference that counts as a tie.

    >>> sign_test([0.1, 0.2, 0.3, 0.0, 0.4, -0.5]).p
    0.375
    >>> sign_test([0.1, 0.2, 0.3, 0.0, 0.4, -0.5], tie=0.1).p
    0.625
    """
    column = read_values(differences, "differences", ("queries",))
    directions = signs(column, tie=tie)
    above, changed = int(np.count_nonzero(directions > 0)), int(np.count_nonzero(directions))
    p = coin_two_sided(above, changed) if changed else 1.0
    return Outcome("sign", p, float(above), column.size)


def _tied_sizes(kept: Floats) -> tuple[NDArray[np.intp], Ints]:
    """Return the place of each difference among the distinct sizes, and the count of each size."""
    _, place, ties = np.unique(np.abs(kept), return_inverse=True, return_counts=True)
    return place, ties


def _doubled_ranks(place: NDArray[np.intp], ties: Ints) -> Ints:
    """Return the rank of each size, doubled: a whole number even in a tie."""
    return (2 * np.cumsum(ties) - ties + 1)[place]


def _exact_ranks(twice: Ints, smaller: int) -> float:
    """Return the share of all choices of ranks whose sum is at least this far from the middle."""
    ways = np.zeros(int(twice.sum()) + 1)  # by sum; counts up to 2^50 are exact
    ways[0] = 1
    for rank in twice:
        ways[rank:] = ways[rank:] + ways[:-rank]
    return min(1.0, 2 * float(ways[: smaller + 1].sum()) / 2.0**twice.size)


Tester = Callable[[ArrayLike, Draws | None, float], tuple[Outcome, ...]]
"""A function of differences (n, c), draws and a tie threshold; returns an outcome per column."""
Leaning = Callable[[Floats, float], float]
"""A function of differences (n,) and a tie threshold; returns a number with the test's sign."""


def lean_of_mean(differences: Floats, _tie: float) -> float:
    """Return a number with the sign of the mean; 0 if it differs from 0 only by rounding."""
    return float(on_grid(differences[:, None]).units.sum())


def _lean_of_ranks(differences: Floats, _tie: float) -> float:
    """Return the signed ranks of the differences, summed and doubled."""
    units = on_grid(differences[:, None]).units[:, 0]
    kept = units[units != 0]
    place, ties = _tied_sizes(kept)
    return float((np.sign(kept) * _doubled_ranks(place, ties)).sum())


def _lean_of_signs(differences: Floats, tie: float) -> float:
    """Return how many more differences are above 0 than below."""
    return float(signs(differences, tie=tie).sum())


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A test of a difference, with all its properties.

    Attributes:
        title: its name in a caption.
        meaning: its description in one line of help.
        run: the test itself.
        leans: the direction of the differences in terms of the test: of the mean, the ranks or the
            signs. A verdict requires that it agrees with the mean.
        on_request: whether it runs only if chosen, since it takes long.
        of_sample: the independent values to test instead of differences of queries with weights or
            clusters; None if the test counts every query once.
        in_order: a function of differences in the order in which they arrived, their weights and their
            possible range; None if their order does not matter.
        anytime: whether p holds however often one looks.
    """

    title: str
    meaning: str
    run: Tester | None
    leans: Leaning = lean_of_mean
    on_request: bool = False
    of_sample: Callable[[Sampling, Floats], Floats] | None = None
    in_order: Callable[[Floats, Floats, tuple[float, float]], Outcome] | None = None
    anytime: bool = False

    @property
    def takes_samples(self) -> bool:
        """Whether it can be used for queries with weights or clusters."""
        return self.of_sample is not None or self.in_order is not None

    def __call__(
        self,
        differences: ArrayLike,
        draws: Draws | None = None,
        tie: float = 0.0,
        sampling: Sampling | None = None,
        ends: Sequence[tuple[float, float]] | None = None,
    ) -> tuple[Outcome, ...]:
        """Return an outcome for each column of differences (n, c).

        Args:
            differences: (n, c).
            draws: the resamples and their seed.
            tie: the largest difference that counts as a tie.
            sampling: how the queries were drawn; None if all count the same, on their own.
            ends: (c,) the possible range of each column; unlimited if None.
        """
        if self.run is not None and (sampling is None or sampling.plain):
            return self.run(differences, draws, tie)
        table = read_values(differences, "differences", ("queries", "columns"))
        if self.in_order is not None:
            units, weights = (sampling or Sampling()).stream(table)
            ranges = ends or [(-math.inf, math.inf)] * table.shape[1]
            pairs = zip(units.T, ranges, strict=True)
            return tuple(self.in_order(column, weights, end) for column, end in pairs)
        if self.of_sample is None or self.run is None or sampling is None:
            why = "the test counts every query once, without weights and clusters"
            none = Outcome(self.title, None, None, len(table), why=why)
            return tuple(none for _ in table.T)
        return self.run(self.of_sample(sampling, table), draws, tie)


def by_column(test: Callable[[ArrayLike, float], Outcome]) -> Tester:
    """Make a test of columns (n, c) from a test of one column (n,) and a tie threshold."""

    def run(differences: ArrayLike, _draws: Draws | None, tie: float) -> tuple[Outcome, ...]:
        table = read_values(differences, "differences", ("queries", "columns"))
        return tuple(test(column, tie) for column in table.T)

    return run


def _t_of_columns(differences: ArrayLike, _draws: Draws | None, _tie: float) -> tuple[Outcome, ...]:
    table = read_values(differences, "differences", ("queries", "columns"))
    return tuple(map(_by_t, moments_of_columns(table)))


def _by_betting(differences: Floats, weights: Floats, ends: tuple[float, float]) -> Outcome:
    if not all(map(math.isfinite, ends)):
        return Outcome("betting", None, None, differences.size, why=NEEDS_RANGE)
    capital = betting_capital(differences, ends=ends, weights=weights)
    most = float(capital.max())
    last = float(capital[-1])
    return Outcome("betting", min(1.0, 1 / most), most, differences.size, e_value=last)


def _asymptotic_of_columns(
    differences: ArrayLike, _draws: Draws | None, _tie: float
) -> tuple[Outcome, ...]:
    table = read_values(differences, "differences", ("queries", "columns"))
    return tuple(
        Outcome("asymptotic", asymptotic_p(one), one.mean, one.count, exact=False)
        for one in moments_of_columns(table)
    )


TESTS: Mapping[str, PairedTest] = {
    "t": PairedTest(
        "paired t test",
        "paired t test, or randomisation if t is undefined",
        _t_of_columns,
        of_sample=Sampling.spread,
    ),
    "randomisation": PairedTest(
        "randomisation test",
        "flips the signs of the differences at random or, if there are few queries, in every possible way",
        lambda differences, draws, _: sign_flips(differences, draws),
        of_sample=Sampling.contributions,
    ),
    "bootstrap": PairedTest(
        "bootstrap test",
        "draws differences with replacement after subtracting their mean",
        lambda differences, draws, _: bootstrap_test(differences, draws),
        on_request=True,
        of_sample=Sampling.spread,
    ),
    "wilcoxon": PairedTest(
        "Wilcoxon signed-rank test",
        "compares the ranks of gains and losses (signed ranks)",
        by_column(lambda column, _: wilcoxon(column)),
        _lean_of_ranks,
    ),
    "wilcoxon-continuity": PairedTest(
        "Wilcoxon signed-rank test with continuity correction",
        "like wilcoxon, with continuity correction if there are many differences",
        by_column(lambda column, _: wilcoxon(column, continuity=0.5)),
        _lean_of_ranks,
        on_request=True,
    ),
    "sign": PairedTest(
        "sign test",
        "counts how many differences are above 0, leaving out ties",
        by_column(lambda column, tie: sign_test(column, tie=tie)),
        _lean_of_signs,
    ),
    "betting": PairedTest(
        "betting test",
        "valid however often you look while queries are added, for measures with a range",
        None,
        on_request=True,
        in_order=_by_betting,
        anytime=True,
    ),
    "asymptotic": PairedTest(
        "asymptotic anytime test",
        "like betting but approximate, for measures without a range",
        _asymptotic_of_columns,
        on_request=True,
        of_sample=Sampling.spread,
        anytime=True,
    ),
}
"""The tests by name, the default first."""
