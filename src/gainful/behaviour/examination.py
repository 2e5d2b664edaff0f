"""`position_bias`: how often users look at each rank, estimated from clicks; it can serve as a discount."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from gainful import arguments
from gainful.arithmetic.kernels.click_models import MODELS, Fitting, ShownLists
from gainful.arithmetic.statistics.resampling import Draws
from gainful.array_types import Floats
from gainful.behaviour.click_log import ClickLog, drawn_weights, read_log
from gainful.behaviour.log_tables import LogOptions
from gainful.errors import InputError
from gainful.matching.keyword_options import takes
from gainful.output.plotting import charts
from gainful.output.plotting.charts import SizedLook
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import ResultOfRows
from gainful.rows.duckdb_engine import Progress
from gainful.rows.input_types import TableLike

if TYPE_CHECKING:
    from gainful.output.plotting.charts import Chart

_PATIENCE = 0.8  # of the RBP that is shown next to the estimates
_REFINING = 5  # rounds of EM in a resample
_FEWEST = 10  # clicks on documents shown at two ranks, for a comparison of these ranks


@dataclass(frozen=True, slots=True)
class RankExamined:
    """How often users look at a rank, compared with the first.

    Attributes:
        rank: from 1.
        examination: the estimate; 1 at the first rank.
        low: the lower end of its interval.
        high: the upper end.
        impressions: the number of documents shown there.
    """

    rank: int
    examination: float
    low: float
    high: float
    impressions: int


@dataclass(frozen=True, eq=False, repr=False)
class PositionBias(ResultOfRows[RankExamined]):
    """How often users look at each rank, from 1, next to the usual discounts.

    `weights` can serve as a discount: `Measure("DCG", cutoff=10, discount=bias.weights)`.

    Attributes:
        rows: a row for each rank.
        method: how it was estimated.
        level: the level of the intervals.
    """

    rows: tuple[RankExamined, ...]
    method: str
    level: float

    @property
    def weights(self) -> tuple[float, ...]:
        """The estimates as a discount: a deeper rank is worth no more than those above it."""
        return tuple(np.minimum.accumulate([row.examination for row in self.rows]).tolist())

    @property
    def closest(self) -> str:
        """The usual discount that is closest to the estimates, by the mean squared difference."""
        names = ("log2", "1/rank", f"RBP({_PATIENCE:g})")
        estimates = np.array([row.examination for row in self.rows])
        usual = np.array([_usual(row.rank) for row in self.rows])
        return names[int(((usual - estimates[:, None]) ** 2).mean(axis=0).argmin())]

    @property
    def summary(self) -> str:
        """The estimate and the closest discount, in one sentence."""
        last = self.rows[-1]
        return (
            f"Users look at rank {last.rank} {last.examination:.0%} as often as at rank {self.rows[0].rank} "
            f"({self.level:.0%} interval {last.low:.0%} to {last.high:.0%}, by {self.method}); the closest discount is {self.closest}"
        )

    def table(self) -> Table:
        """Return the ranks for display, next to the usual discounts."""
        rows: list[list[Cell]] = [
            [row.rank, row.examination, row.low, row.high, row.impressions, *_usual(row.rank)]
            for row in self.rows
        ]
        columns = ["rank", "examination", "low", "high", "impressions", "log2", "1/rank", f"RBP({_PATIENCE:g})"]  # fmt: skip
        return Table(columns, rows, notes=[f"{self.summary}."])

    def plot(self, **look: Unpack[SizedLook]) -> "Chart":
        """Plot the estimates, with their intervals, next to the usual discounts."""
        return charts.examination(self.chart_rows(), **look)

    def chart_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the plot."""
        names = ("1/log2(rank + 1)", "1/rank", f"RBP({_PATIENCE:g})")
        rows: list[dict[str, Any]] = [
            {"run": "estimated", "k": row.rank, "value": row.examination, "low": row.low, "high": row.high}
            for row in self.rows
        ]  # fmt: skip
        for place, name in enumerate(names):
            rows += [
                {"run": name, "k": row.rank, "value": _usual(row.rank)[place]} for row in self.rows
            ]
        return rows

    def __repr__(self) -> str:
        return f"PositionBias({self.summary})"


def _usual(rank: int) -> tuple[float, float, float]:
    return 1 / math.log2(rank + 1), 1 / rank, _PATIENCE ** (rank - 1)


@takes(LogOptions)
def position_bias(
    log: TableLike | ClickLog,
    method: str = "pbm",
    *,
    depth: int = 10,
    level: float = 0.95,
    resamples: int = 200,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Unpack[LogOptions],
) -> PositionBias:
    """Estimate how often users look at each rank, from the clicks of a log.

    Clicks at a deep rank are rare because fewer users look there and because worse documents are there. The
    methods separate the two effects with documents that were shown at several ranks.

    Args:
        log: a log in any shape that `read_log` reads, or its result.
        method: pbm, the position-based model, fitted by EM; ubm, the user browsing model, averaged over the
            clicks above; swaps, which compares the clicks of documents shown at two neighbouring ranks;
            harvesting, which does so for documents shown at any two ranks, such as by several rankers.
        depth: the deepest rank.
        level: the level of the intervals.
        resamples: how often the sessions (or lists, in a log without sessions) are resampled for the intervals.
        seed: a non-negative integer; the same seed gives the same intervals.
        progress: called with the share of the resamples that is done.
        **options: see `LogOptions`.
    """
    arguments.choice(method, "method", METHODS)
    last = arguments.whole(depth, "depth", least=2, most=1000)
    share = arguments.number(level, "level", "a number between 0 and 1", lambda x: 0 < x < 1)
    draws = Draws(resamples=resamples, seed=seed)
    arguments.function(progress, "progress")
    read = read_log(log, **options)
    if method == "ubm" and not read.has_lists:
        raise InputError("log", "separate lists, for ubm", f"{read.shape} per row", "Use pbm.")
    shown = read.shown.part_of_rows(read.shown.ranks <= last)
    estimate = METHODS[method](shown)
    examined = estimate(shown)
    ranks = np.flatnonzero(shown.by_rank())
    first = int(ranks[0])
    if len(ranks) < 2:
        raise InputError("log", "documents at two or more ranks", f"only rank {first}")
    if np.isnan(examined[ranks]).any():
        missing = int(ranks[np.isnan(examined[ranks])][0])
        raise InputError(
            "log", f"documents shown at rank {missing} and at others, with {_FEWEST} clicks or more", "too few",
            "Use method pbm, or a log in which results were swapped or several rankers ran.",
        )  # fmt: skip
    drawn = np.empty((draws.resamples, len(ranks)))
    generator = np.random.default_rng(draws.seed)
    for place in range(draws.resamples):
        weights = drawn_weights(read, generator)[read.shown.ranks <= last]
        drawn[place] = estimate(replace(shown, weights=weights))[ranks]
        if progress is not None:
            progress((place + 1) / draws.resamples, "resampling")
    ends = [(1 - share) / 2, 1 - (1 - share) / 2]
    low, high = np.nanquantile(drawn, ends, axis=0)
    impressions = np.rint(shown.by_rank())[ranks]
    rows = map(RankExamined, ranks.tolist(), examined[ranks].tolist(), low.tolist(), high.tolist(), impressions.astype(int).tolist())  # fmt: skip
    return PositionBias(tuple(rows), method, share)


Estimate = Callable[[ShownLists], Floats]
"""Returns the examination (k + 1,) of each rank; continues from an earlier estimate on the same lists."""


def _by_pbm(lists: ShownLists) -> Estimate:
    fitted = MODELS["pbm"].fit(lists, Fitting())

    def estimate(resample: ShownLists) -> Floats:
        if resample is lists:
            return fitted.shared["examination"]
        again = MODELS["pbm"].fit(resample, Fitting(_REFINING, start=fitted))
        return again.shared["examination"]

    return estimate


def _by_ubm(lists: ShownLists) -> Estimate:
    fitted = MODELS["ubm"].fit(lists, Fitting())

    def estimate(resample: ShownLists) -> Floats:
        again = fitted
        if resample is not lists:
            again = MODELS["ubm"].fit(resample, Fitting(_REFINING, start=fitted))
        examined = MODELS["ubm"].examined(resample, again)
        seen, count = resample.by_rank(examined), resample.by_rank()
        means = np.divide(seen, count, out=np.zeros(len(seen)), where=count > 0)
        top = means[np.flatnonzero(count)[0]]
        scaled: Floats = means / top
        return scaled

    return estimate


def _by_pairs_of_ranks(lists: ShownLists, farthest: int) -> Floats:
    """Return the examination (k + 1,) that best explains the clicks of documents shown at two ranks.

    Each document that was shown at two ranks gives an estimate of the ratio of their examinations. The
    estimates for all pairs of ranks are combined by least squares on their logarithms, weighted by clicks.
    """
    depth = lists.deepest
    cells = lists.pairs.astype(np.int64) * (depth + 1) + lists.ranks
    size = lists.count * (depth + 1)
    shown_at, clicks = (
        lists.sums_at(cells, rows, size).reshape(lists.count, depth + 1)
        for rows in (None, lists.clicks)
    )
    rates = np.divide(clicks, shown_at, out=np.zeros(clicks.shape), where=shown_at > 0)
    left, right, goal = [], [], []
    for upper, lower in combinations(range(1, depth + 1), 2):
        if lower - upper > farthest:
            continue
        there = np.minimum(shown_at[:, upper], shown_at[:, lower])
        above, below = there @ rates[:, upper], there @ rates[:, lower]
        if min(above, below) * 2 >= _FEWEST:
            certainty = math.sqrt(above * below / (above + below))
            row = np.zeros(depth + 1)
            row[lower], row[upper] = certainty, -certainty
            left.append(row)
            goal.append(certainty * math.log(below / above))
            right.append((upper, lower))
    logarithms = np.full(depth + 1, np.nan)
    first = int(lists.ranks.min(initial=1))
    reached = {first}
    while more := {b if a in reached else a for a, b in right if (a in reached) != (b in reached)}:
        reached |= more
    known = sorted(reached - {first})
    logarithms[first] = 0.0
    if known:
        solution = np.linalg.lstsq(np.array(left)[:, known], np.array(goal), rcond=None)[0]
        logarithms[known] = solution
    examined: Floats = np.exp(logarithms)
    return examined


METHODS: dict[str, Callable[[ShownLists], Estimate]] = {
    "pbm": _by_pbm,
    "ubm": _by_ubm,
    "swaps": lambda _: lambda resample: _by_pairs_of_ranks(resample, 1),
    "harvesting": lambda _: lambda resample: _by_pairs_of_ranks(resample, resample.deepest),
}
"""The methods by name: each prepares an estimator for a log, which is then also used for its resamples."""
