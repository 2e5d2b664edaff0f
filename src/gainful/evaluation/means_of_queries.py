"""Means over queries, of all queries or of slices: intervals, coverage and caveats, also where grades are estimates, such as from clicks.

Such grades are drawn again as other sessions would give them, and the runs are measured against each draw.
The variance of a mean over queries then has two parts: the spread of its values over the queries, and
its own spread over the draws.
"""

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful import arguments
from gainful.arithmetic.statistics.argument_checks import read_share
from gainful.arithmetic.statistics.distributions import t_quantile
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
from gainful.array_types import Bools, Floats
from gainful.errors import InputError, without_warnings
from gainful.evaluation.coverage import Coverage, QueryCounts
from gainful.evaluation.measuring import aggregate_of, cell_of, summands
from gainful.matching.keyword_options import MeasuringOptions
from gainful.measures.measure import Measure
from gainful.measures.measure_family import GEOMETRIC, RUN, SUM
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.rows.identifiers import examples
from gainful.rows.input_types import Judgments, TableLike
from gainful.rows.run_and_judgment_columns import SLICES_QUERY, Columns, read_columns
from gainful.rows.side_table_columns import SLICES
from gainful.rows.side_table_reader import InputTable, read_table

if TYPE_CHECKING:
    from gainful.evaluation.scores import Scores

BY_ID = "id:"
"""The beginning of a value of `clusters` that names a delimiter of ids."""
_DELIMITERS = ("_", "-", ":", "/", "#", ".")
_GROUPS = frozenset(["user", "session", "conversation", "document", "template", "group", "cluster"])
_FEWEST_ALIKE = 2  # queries in a group, on average, before their ids are taken for groups
_FEWEST_GROUPS = 5
_CAUTIONS = 5  # under a table
_REDRAWS = 40
_WIDEST = 2.0  # factor by which draws are spread
_NOTED = 5  # means with a note under a table
_BIAS = "intervals allow for the bias of grades from few impressions, so a mean or a difference needn't be in the middle"


@dataclass(frozen=True, slots=True)
class MeanOfQueries:
    """The mean of a measure over the queries that count.

    Attributes:
        measure: the measure.
        values: (n,) float64, the values of the queries.
        sampling: how these queries were drawn; None if all count equally and independently.
        redrawn: for grades from clicks, returns the values [draw, n] over redrawn grades, for a seed.
    """

    measure: Measure
    values: Floats = field(repr=False, compare=False)
    sampling: Sampling | None = field(default=None, repr=False, compare=False)
    redrawn: Callable[[int], Floats] | None = field(default=None, repr=False, compare=False)

    @property
    def where(self) -> str:
        """The mean in messages."""
        return str(self.measure)

    @property
    def is_mean(self) -> bool:
        """Whether the values have a defined mean rather than a sum."""
        return self.measure.family.aggregate not in (SUM, RUN) and not np.isnan(self.values).any()

    def interval(
        self,
        *,
        method: str = "hall",
        level: float = 0.95,
        resamples: int = 10_000,
        seed: int = 0,
    ) -> Interval:
        """Return a confidence interval for the mean over all queries like these.

        For a geometric mean, it is e to the power of the interval of the mean logarithm. The interval
        never extends beyond the range of the measure. If the grades are estimates, it is corrected for their
        bias, and widened by the errors that the queries share.

        Args:
            method: `hall`, `t`, `bca`, `betting` or `asymptotic`, as in `Scores.interval`, like all further arguments.
            level: the share of such intervals that contain the true mean.
            resamples: the number of resamples for `bca`.
            seed: the seed for `bca` and for resampled sessions.

        >>> from gainful.measures.notation import parse
        >>> found = MeanOfQueries(parse("P@10"), np.array([0.1, 0.3, 0.2, 0.0])).interval(method="t")
        >>> round(found.low, 3), round(found.high, 3)
        (0.0, 0.355)
        """
        measure, values, sampling = self.measure, self.values, self.sampling
        if not values.size and measure.has_users:
            raise InputError(self.where, "a query that counts, for an interval", "none")
        draws = Draws(resamples, seed)
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
        drawn = self.redrawn and self.redrawn(seed)
        of_logarithms = measure.family.aggregate == GEOMETRIC
        try:
            summed = self._summed(values)
            if drawn is not None:
                summed, drawn = self._centred(drawn)
            ends = None if of_logarithms else [possible_ends(measure.family.ends, summed)]
            interval = intervals_of_means(method, summed[:, None], draws, level, ends, sampling)[0]
        except InputError as problem:  # values that are too large
            raise problem.at(str(measure)) from None
        if drawn is not None:
            interval = widened(interval, *in_units(summed, drawn, sampling))
        if of_logarithms and interval.known:
            interval = replace(interval, low=_exp(interval.low), high=_exp(interval.high))
        if sampling is not None and sampling.once is not None:
            return interval  # the mean may leave the range of the values
        return interval.within(possible_ends(measure.family.ends, values))

    def interval_or_none(self, *, method: str = "hall", level: float = 0.95) -> Interval | None:
        """Return the same as `interval`; None for a sum or an undefined mean."""
        if not self.values.size or not self.is_mean:
            return None
        if self.sampling is not None and not self.sampling.units(self.values.size):
            return None  # no query has a weight
        return self.interval(method=method, level=level)

    def grade_variance(self, run: str, level: float = 0.95) -> "GradeVariance | None":
        """Return the part of the variance that comes from the clicks behind the grades; None for grades by people."""
        if self.redrawn is None or self.interval_or_none(level=level) is None:
            return None
        summed, redrawn = in_units(*self._centred(self.redrawn(0)), self.sampling)
        part = Spread.of(summed, redrawn).part(redrawn, level, (str(self.measure), "", run))
        if self.measure.family.aggregate == GEOMETRIC:
            part = replace(part, low=_exp(part.low), high=_exp(part.high))
        least, most = possible_ends(self.measure.family.ends, self.values)
        return replace(part, low=max(part.low, least), high=min(part.high, most))

    @property
    def independent(self) -> Floats:
        """The independent values (u,) that the interval is computed from."""
        summed = self._summed(self.values)
        if self.sampling is None or self.sampling.plain or not self.is_mean:
            return summed
        column: Floats = self.sampling.spread(summed[:, None])[:, 0]
        return column

    def _summed(self, values: Floats) -> Floats:
        return np.array(summands(self.measure, values.tolist()))

    def _centred(self, drawn: Floats) -> tuple[Floats, Floats]:
        return centred(self._summed(self.values), np.array([*map(self._summed, drawn)]))


@dataclass(frozen=True, slots=True)
class GradeVariance:
    """The part of the variance of a mean or of a difference that comes from estimated grades.

    Attributes:
        measure: the measure.
        baseline: the name of the baseline; empty for the mean of a single run.
        run: the name of the run.
        low: the lower end of the interval of the mean or difference for these queries alone.
        high: the upper end.
        share: the variance over redrawn grades / the whole variance, at most 1; the rest comes from the
            choice of queries. None without spread.
    """

    measure: str
    baseline: str
    run: str
    low: float
    high: float
    share: float | None

    def __str__(self) -> str:
        """Say what to collect more of."""
        if self.share is None:
            return ""
        more = "sessions" if self.share > 1 / 2 else "queries"
        subject, sign = (f"{self.run} − {self.baseline}", "+") if self.baseline else (self.run, "")
        return (
            f"{self.measure}, {subject}: {self.share:.0%} of the variance comes from the clicks behind the "
            f"grades and {1 - self.share:.0%} from the choice of queries, so more {more} would help most "
            f"(for these queries, the clicks allow {self.low:{sign}.4f} to {self.high:{sign}.4f})"
        )


def centred(values: Floats, drawn: Floats) -> tuple[Floats, Floats]:
    """Return values (q,) and their draws [draw, query] without the bias of grades from few impressions.

    Redrawn grades are from half of the sessions, so they are biased about twice as much as the grades. The draws
    are then moved so that their means are the values. A prior pulls grades together, values and their errors
    alike, and those of a half more so: the draws are spread as much wider as the values over the queries are.

    Args:
        values: (q,) the values of the queries.
        drawn: [draw, query] their values over redrawn grades; NaN if a query doesn't count.

    >>> values, drawn = centred(np.array([0.5]), np.array([[0.25], [0.5]]))
    >>> values.tolist(), drawn.tolist()
    ([0.625], [[0.5], [0.75]])
    """
    counts = (~np.isnan(drawn)).sum(axis=0)
    means = np.where(counts > 0, np.nansum(drawn, axis=0) / np.maximum(counts, 1), values)
    unbiased = 2 * values - means
    before, after = float(means.std()), float(unbiased.std())
    wider = min(max(after / before, 1.0), _WIDEST) if before > 0 else 1.0
    drawn = np.where(np.isnan(drawn), means, drawn)
    return unbiased, unbiased + (drawn - means) * wider


def in_units(values: Floats, drawn: Floats, sampling: Sampling | None) -> tuple[Floats, Floats]:
    """Return the independent values (u,) behind the mean of values (q,), and their draws [draw, u]."""
    if sampling is None or sampling.plain:
        return values, drawn
    return sampling.spread(values[:, None])[:, 0], sampling.spread(drawn.T).T


@dataclass(frozen=True, slots=True)
class Spread:
    """The variance of a mean over queries whose values are from estimated grades.

    Attributes:
        of_values: the variance of the mean that follows from the spread of its values over the queries. It
            includes errors of grades that are independent from query to query.
        of_grades: the variance of the mean over redrawn grades.
        shared: the part of it that queries have in common, such as through the examination of ranks.
    """

    of_values: float
    of_grades: float
    shared: float

    @classmethod
    def of(cls, values: Floats, drawn: Floats) -> "Spread":
        """Return the parts of the variance of a mean, from its values (q,) and their draws [draw, query]."""
        queries = values.size
        of_values = float(values.var(ddof=1)) / queries if queries > 1 else 0.0
        of_grades = float(drawn.mean(axis=1).var(ddof=1))
        own = float(drawn.var(axis=0, ddof=1).sum()) / queries**2
        return cls(of_values, of_grades, max(of_grades - own, 0.0))

    @property
    def whole(self) -> float:
        """The variance of the mean."""
        return self.of_values + self.shared

    @property
    def share(self) -> float | None:
        """The part of the grades, at most 1; None without spread."""
        return min(self.of_grades / self.whole, 1.0) if self.whole > 0 else None

    def part(self, drawn: Floats, level: float, names: tuple[str, str, str]) -> GradeVariance:
        """Return it for people, from the draws [draw, query]; `names` are the measure, the baseline and the run."""
        mean = float(drawn.mean())
        reach = t_quantile((1 + level) / 2, len(drawn) - 1) * math.sqrt(self.of_grades)
        return GradeVariance(*names, mean - reach, mean + reach, self.share)


def corrected(
    values: Floats, drawn: Floats, sampling: Sampling | None
) -> tuple[Floats, float | None]:
    """Return values (q,) whose mean and spread allow for estimated grades, and the share of the variance due to them.

    Their mean has no bias, and their deviations from it are enlarged by the errors that the queries share, so
    that intervals and tests of these values allow for both.

    Args:
        values: (q,) the values of the queries.
        drawn: [draw, query] their values over redrawn grades.
        sampling: how the queries were drawn; None if all count the same, on their own.

    >>> values, share = corrected(np.array([0.5, 1.0]), np.array([[0.5, 1.0], [0.0, 0.5]]), None)
    >>> values.round(3).tolist(), round(share, 3)
    ([0.646, 1.354], 1.0)
    """
    values, drawn = centred(values, drawn)
    units, drawn = in_units(values, drawn, sampling)
    spread = Spread.of(units, drawn)
    if spread.of_values:
        mean = units.mean()
        values = mean + (values - mean) * math.sqrt(spread.whole / spread.of_values)
    return values, spread.share


def widened(interval: Interval, summed: Floats, drawn: Floats) -> Interval:
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


def _exp(end: float) -> float:
    try:
        return math.exp(end)
    except OverflowError:
        return math.inf


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
    return [f"{100 * float(level):g}% {end}" for end in ("low", "high")]


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


@dataclass(frozen=True, slots=True, eq=False)
class RedrawnRuns:
    """The values of several runs over redrawn grades, for judgments from clicks.

    Attributes:
        scores: the scores of each run by name.
        seed: of the draws.
    """

    scores: "Mapping[str, Scores]"
    seed: int
    _known: dict[tuple[str, str, tuple[str, ...]], Floats] = field(default_factory=dict)

    def of(self, run: str, measure: str, queries: tuple[str, ...]) -> Floats | None:
        """Return the values [draw, query] of a run, as `drawn_values`; None if its grades aren't estimates."""
        scores = self.scores.get(run)
        if scores is None or scores.redrawn is None:
            return None
        key = run, measure, queries
        if key not in self._known:
            of = scores.measure(measure)
            self._known[key] = drawn_values(scores.redrawn, of, queries, self.seed)
        return self._known[key]


@dataclass(frozen=True, slots=True, eq=False)
class GradeDraws:
    """The scores of runs against redrawn grades, which are computed when they are first needed.

    Attributes:
        judgments: judgments with estimated grades, whose method `redrawn` yields judgments as other sessions would
            give them.
        measure: measures all runs against judgments.
    """

    judgments: Any
    measure: Callable[[Judgments], "Mapping[str, Scores]"]
    _of_seed: "dict[int, list[Mapping[str, Scores]]]" = field(default_factory=dict)

    def of(self, run: str, seed: int) -> "Sequence[Scores]":
        """Return the scores of a run against each draw."""
        if seed not in self._of_seed:
            with without_warnings():
                draws = self.judgments.redrawn(_REDRAWS, seed=seed)
                self._of_seed[seed] = [self.measure(grades) for grades in draws]
        return [scores[run] for scores in self._of_seed[seed]]


def drawn_values(
    redrawn: "Callable[[int], Sequence[Scores]]",
    measure: "Measure",
    queries: Sequence[str],
    seed: int,
) -> Floats:
    """Return the values [draw, query] of a measure over redrawn grades; NaN if a query doesn't count in a draw.

    Args:
        redrawn: returns the scores against each draw.
        measure: one of their measures.
        queries: (q,) the queries.
        seed: of the draws.
    """
    drawn = []
    for scores in redrawn(seed):
        column = scores.measures.index(measure)
        values = np.where(scores.counted[:, column], scores.values[:, column], np.nan).tolist()
        by_query = dict(zip(scores.queries, values, strict=True))
        drawn.append([by_query.get(query, np.nan) for query in queries])
    return np.array(drawn)


def notes_on_grades(parts: "Iterable[GradeVariance | None]") -> list[str]:
    """Return what the clicks contribute to variances, for the notes under a table."""
    notes = [text for part in parts if part is not None and (text := str(part))]
    more = len(notes) - _NOTED
    others = [f"… and {more} more shares of the clicks"] if more > 0 else []
    return [*([_BIAS] if notes else []), *notes[:_NOTED], *others]


def per_query_intervals(scores: "Scores", level: float, seed: int, name: str) -> Table:
    """Return the value of each query with what the clicks behind its grades allow.

    Args:
        scores: the scores.
        level: the level of the ends.
        seed: of the draws.
        name: the name of the run.
    """
    share = read_share(level, "level")
    whole = arguments.whole(seed, "seed", least=0)
    rows: list[list[Cell]] = []
    for measure in filter(lambda one: one.has_users, scores.measures):
        redrawn = scores.redrawn_values(measure)
        if redrawn is None:
            raise InputError(
                "scores", "judgments from clicks, whose grades have a variance", "grades without one",
                "Pass the result of gf.behaviour.click_judgments as judgments.",
            )  # fmt: skip
        queries, values = scores.counted_queries(measure), scores.counted_values(measure)
        unbiased, drawn = centred(values, redrawn(whole))
        reach = t_quantile((1 + share) / 2, len(drawn) - 1) * drawn.std(axis=0, ddof=1)
        ends = np.array([unbiased - reach, unbiased + reach])
        ends = np.clip(ends, *possible_ends(measure.family.ends, values))
        for query, value, low, high in zip(queries, values.tolist(), *ends.tolist(), strict=True):
            rows.append([query, str(measure), value, low, high])
    columns = ["query", "measure", "value", *(f"{100 * share:g}% {end}" for end in ("low", "high"))]
    notes = ["low and high: what the clicks behind the grades of each query allow"]
    parts = [one.grade_variance(name, share) for one in scores.overall()]
    return Table(columns, rows, notes=[*notes, *notes_on_grades(parts)])


_MOST_VALUES = 12  # of a column of numbers that are taken as they are
_BINS = 4
_NONE = "(none)"


@dataclass(frozen=True, slots=True)
class Part:
    """A group of queries.

    Attributes:
        column: the column that defines the groups.
        value: the group's value in it, or a range of values.
        chosen: (q,) which of the queries are in the group.
    """

    column: str
    value: str
    chosen: Bools


AUTOMATIC = ("judged",)
"""Slices that need no metadata: how many documents are judged."""

ALL = "all"
"""The slice of all queries."""


@dataclass(frozen=True, slots=True)
class Slicing:
    """How the queries of an evaluation are sliced.

    Attributes:
        columns: the columns to slice by.
        metadata: a table with a row for each query, if there is one.
    """

    columns: Sequence[str]
    metadata: InputTable | None

    def parts(self, counts: QueryCounts) -> list[Part]:
        """Return the groups into which the columns divide the judged queries, then the run's other queries."""
        judged, queries = len(counts.queries), (*counts.queries, *counts.extra)
        nothing = np.full(len(counts.extra), np.nan)  # queries without judgments are in no group
        parts = []
        for column in self.columns:
            if self.metadata is not None and column in self.metadata.columns:
                parts += parts_by_metadata(column, queries, self.metadata, judged)
            else:
                parts += parts_by_number(column, np.append(counts.judged, nothing), judged)
        return parts

    def sliced(self, scores: "Scores") -> "Scores":
        """Return the same scores with slices: by column, then by measure, then from the worst mean to the best."""
        measures, rows, counts = scores.measures, scores.rows, scores.evidence.counts
        samplings = [scores.sampling_of(measure) for measure in measures]
        row = {query: at for at, query in enumerate(rows.queries)}
        slices: list[ScoreSlice] = []
        for part in self.parts(counts):
            own = counts.only(part.chosen)
            coverage = own.coverage(scores.policy, scores.coverage.depth)
            chosen = [query for query in own.queries if query in row]  # others count for no measure
            places = [row[query] for query in chosen]
            values, counted = rows.values[places], rows.counted[places]
            for column, measure in enumerate(measures):
                kept = counted[:, column]
                known = values[kept, column]
                whole = samplings[column]
                sampling = None if whole is None else whole.at(places).at(kept)
                mean = aggregate_of(measure, known.tolist(), sampling) if known.size else None
                redrawn = scores.redrawn_values(measure, [*compress(chosen, kept)])
                of = measure, known, sampling, redrawn
                slices.append(
                    ScoreSlice(
                        *of, column=part.column, value=part.value, mean=mean, coverage=coverage
                    )
                )

        def place(one: ScoreSlice) -> tuple[int, int, float]:
            mean = math.inf if one.known_mean is None else one.known_mean
            return self.columns.index(one.column), measures.index(one.measure), mean

        return replace(scores, slices=tuple(sorted(slices, key=place)))


def read_slices(
    slices: TableLike | None, options: MeasuringOptions
) -> tuple[InputTable | None, MeasuringOptions]:
    """Read a table of slices, whose query column the options may name; None without a table.

    Also return the options without that name.
    """
    if slices is None:
        return None, options
    columns = read_columns(options.get("columns"))
    name = columns.pop(SLICES_QUERY, None)
    if name is None:
        return read_table(slices, SLICES, "slices", keys=columns), options
    table = read_table(slices, SLICES, "slices", columns={"query": name}, keys={})
    if not table.has_columns:
        Columns({SLICES_QUERY: name}).refuse_unused()
    return table, {**options, "columns": {**columns}}


def slicing_of(
    table: InputTable | None, by: str | Sequence[str], *, besides: Sequence[str] = ()
) -> Slicing | None:
    """Return how to slice queries, checked before the work; None without slices.

    Args:
        table: a table with a row for each query, or None.
        by: its columns, or `judged`; all of its columns if none is named.
        besides: columns that aren't sliced by unless they are named, such as one with weights.
    """
    names = arguments.listed(by, "by", "names of columns in the slices")
    if table is None and not names:
        return None
    columns = columns_to_cut_by(names, table, AUTOMATIC, besides)
    return Slicing(columns, table) if columns else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSlice(MeanOfQueries):
    """One measure of one group of queries.

    Attributes:
        measure, values, sampling, redrawn: of the queries of the group that count, as in `MeanOfQueries`.
        column: the column of the metadata, or `judged`.
        value: the group's value in this column, or a range of values.
        mean: the mean over these queries, or the measure's other aggregate; None if none of them counts.
        coverage: its counts, and missing queries.
    """

    column: str
    value: str
    mean: float | None
    coverage: Coverage

    @property
    def queries(self) -> int:
        """How many queries count."""
        return self.values.size

    @property
    def where(self) -> str:
        """The measure and the group, in messages."""
        return f"{self.measure} of {self.column} {self.value}"

    @property
    def place(self) -> str:
        """The slice's name in messages; empty for all queries."""
        return "" if self.column == ALL else f", {self.column} {self.value}"

    @property
    def known_mean(self) -> float | None:
        """The mean; None if it is undefined."""
        return None if self.mean is None or math.isnan(self.mean) else self.mean

    def to_dict(self, *, method: str = "hall", level: float = 0.95) -> dict[str, object]:
        """Return everything as plain values, with the interval by a method at a level."""
        interval = self.interval_or_none(method=method, level=level)
        return {
            "slice": self.column,
            "value": self.value,
            "measure": str(self.measure),
            "queries": self.queries,
            "mean": self.known_mean,
            "interval": None if interval is None else interval.to_dict(),
            "coverage": self.coverage.to_dict(),
        }


def intervals_table(
    runs: Mapping[str, Sequence[ScoreSlice]], *, method: str = "hall", level: float = 0.95
) -> Table:
    """Return a row for each run and measure: the mean, its interval, and how many queries count.

    Args:
        runs: name → all queries as a slice, for each measure.
        method: a key of `INTERVALS`.
        level: above 0 and below 1.
    """
    ordered = [(run, one) for run, slices in runs.items() for one in slices]
    means, notes = _means_and_ends(ordered, method, level)
    rows: list[list[Cell]] = []
    for (run, one), cells in zip(ordered, means, strict=True):
        queries = None if one.measure.family.aggregate == RUN else one.queries
        rows.append([run, str(one.measure), *cells, queries])
    columns = ["run", "measure", "mean", *names_of_ends(level), "queries"]
    return Table(columns, rows, notes=notes)


def slices_table(
    runs: Mapping[str, Sequence[ScoreSlice]], *, method: str = "hall", level: float = 0.95
) -> Table:
    """Return a row for each slice, measure and run, after a row for all queries of each.

    Args:
        runs: name → all queries as a slice, for each measure, then slices cut in the same way.
        method: a key of `INTERVALS`.
        level: above 0 and below 1.
    """
    together: dict[tuple[str, str, Measure], list[tuple[str, ScoreSlice]]] = {}
    for run, slices in runs.items():
        for one in slices:
            together.setdefault((one.column, one.value, one.measure), []).append((run, one))
    ordered = [pair for pairs in together.values() for pair in pairs]
    means, notes = _means_and_ends(ordered, method, level)
    rows: list[list[Cell]] = []
    for (run, one), cells in zip(ordered, means, strict=True):
        coverage = one.coverage
        row: list[Cell] = [one.column, one.value, str(one.measure), run, one.queries, *cells]
        rows.append([*row, len(coverage.missing), len(coverage.empty), coverage.unjudged_share])
    columns = ["slice", "value", "measure", "run", "queries", "mean", *names_of_ends(level)]
    columns += ["missing", "empty", "unjudged"]
    notes.append("missing and empty are numbers of queries, unjudged is the share of documents")
    return Table(columns, rows, title="Slices, worst first", notes=notes)


def _means_and_ends(
    ordered: Sequence[tuple[str, ScoreSlice]], method: str, level: float
) -> tuple[list[list[Cell]], list[str]]:
    """Return each mean with the ends of its interval, and the caveats for all."""
    arguments.choice(method, "method", INTERVALS)
    level = read_share(level, "level")
    made = []
    for run, one in ordered:
        interval = one.interval_or_none(method=method, level=level)
        made.append((f"{one.measure}, {run}{one.place}", one.independent, interval))
    means = [
        [cell_of(one.measure, one.mean), *ends_of(interval)]
        for (_, one), (*_, interval) in zip(ordered, made, strict=True)
    ]
    parts = (one.grade_variance(f"{run}{one.place}", level) for run, one in ordered)
    return means, [*cautions_of_intervals(made, method, level), *notes_on_grades(parts)]


def columns_to_cut_by(
    by: Sequence[str],
    metadata: InputTable | None,
    automatic: Collection[str],
    besides: Sequence[str] = (),
) -> list[str]:
    """Return the requested columns, each once; all of the metadata if none is named.

    Args:
        by: names of columns.
        metadata: a table with a row for each query, if there is one.
        automatic: the columns that need no metadata.
        besides: columns to leave out if none is named.
    """
    known = [*(metadata.columns if metadata is not None else ()), *automatic]
    if not by:
        columns = () if metadata is None else metadata.columns
        return [column for column in columns if column not in besides]
    for column in by:
        if not isinstance(column, str):
            raise InputError("by", "names of columns", shown(column))
        if metadata is None and column not in known:
            raise InputError(
                "slices",
                f"a table of queries with the column {shown(column)}",
                "none",
                f"Pass slices=…, on the command line --slices FILE; {' and '.join(automatic)} alone "
                f"need{'s' * (len(automatic) == 1)} no table.",
            )
        arguments.choice(column, "slices", known, expected="a column of the metadata")
    return list(dict.fromkeys(by))


def parts_by_metadata(
    column: str, queries: Sequence[str], metadata: InputTable, first: int | None = None
) -> list[Part]:
    """Cut queries by a column of a table: by its values, or by ranges of many numbers.

    Queries without a value in the table form a group of their own.

    Args:
        column: the column of the table.
        queries: (q,) ids.
        metadata: a table with a row for each query.
        first: how many of the queries determine the groups; the others are only assigned to them. All if None.
    """
    place = {query: row for row, query in enumerate(metadata["query"])}
    rows = [place.get(query) for query in queries]
    if all(row is None for row in rows[:first]):
        raise InputError(
            f"slices {metadata.name}",
            "some of the queries that are measured",
            f"none of them; it has {examples(metadata['query'])}",
            f"Measured are {examples(queries[:first])}.",
        )
    if metadata.is_numeric(column):
        numbers = metadata.numbers(column)
        values = np.array([np.nan if row is None else numbers[row] for row in rows], np.float64)
        return parts_by_number(column, values, first)
    texts = metadata.texts(column)
    cells = np.array([None if row is None else texts[row] for row in rows], np.object_)
    names = [*sorted({cell for cell in cells[:first] if cell is not None}), None]
    parts = [Part(column, _NONE if name is None else name, cells == name) for name in names]
    return [part for part in parts if part.chosen[:first].any()]


def parts_by_number(column: str, values: Floats, first: int | None = None) -> list[Part]:
    """Use few numbers as they are, and divide many into four groups of about the same size.

    Args:
        column: the name of the numbers.
        values: (q,) the number of each query; queries with NaN are a separate group.
        first: how many of the queries determine the groups; all if None.

    >>> [part.value for part in parts_by_number("length", np.array([2.0, 3.0, 2.0, np.nan]))]
    ['2', '3', '(none)']
    """
    deciding = values[:first]
    known = deciding[~np.isnan(deciding)]
    distinct = np.unique(known)
    if distinct.size <= _MOST_VALUES:
        parts = [Part(column, _plain(number), values == number) for number in distinct.tolist()]
    else:
        inner = np.quantile(known, np.arange(1, _BINS) / _BINS)
        edges = [-np.inf, *np.unique(inner).tolist(), np.inf]
        parts = [
            Part(column, _range(inside), (values > low) & (values <= high))
            for low, high in itertools.pairwise(edges)
            if (inside := known[(known > low) & (known <= high)]).size
        ]
    parts.append(Part(column, _NONE, np.isnan(values)))
    return [part for part in parts if part.chosen[:first].any()]


def _plain(number: float) -> str:
    """Write a number with all its digits, whole ones without a point."""
    return str(int(number)) if number.is_integer() else repr(number)


def _range(values: Floats) -> str:
    ends = [float(values.min()), float(values.max())]
    return " to ".join(_plain(end) if end.is_integer() else f"{end:.4g}" for end in ends)


def id_before(delimiter: str, query: str) -> str:
    """Return the part of an id before its last delimiter; the whole id without one."""
    head, found, _ = query.rpartition(delimiter)
    return head if found else query


def clusters_to_name(queries: Sequence[str], metadata: InputTable | None = None) -> list[str]:
    """Return a hint if queries look like parts of groups that move together; nothing otherwise.

    Args:
        queries: the ids.
        metadata: the table of slices, whose columns may name such groups.

    >>> for hint in clusters_to_name([f"user_{user}_q{number}" for user in range(10) for number in range(3)]):
    ...     print(hint)
    The ids look like 10 groups of queries ('user_0' …). If the queries of a group move together, intervals are too short: name the groups by clusters='id:_', on the command line --clusters id:_.
    """
    columns = () if metadata is None else metadata.columns
    for column in columns:
        if column.lower().removesuffix("_id") in _GROUPS:
            groups = len({*metadata.texts(column)}) if metadata is not None else 0
            if _are_groups(groups, len(queries)):
                what = f"The column {column} has {groups} values"
                return [_hint(what, column)]
    for delimiter in _DELIMITERS:
        if all(delimiter in query for query in queries):
            heads = {id_before(delimiter, query) for query in queries}
            if _are_groups(len(heads), len(queries)):
                what = f"The ids look like {len(heads)} groups of queries ({min(heads)!r} …)"
                return [_hint(what, f"{BY_ID}{delimiter}")]
    return []


def _are_groups(groups: int, queries: int) -> bool:
    return _FEWEST_GROUPS <= groups <= queries / _FEWEST_ALIKE


def _hint(what: str, option: str) -> str:
    return (
        f"{what}. If the queries of a group move together, intervals are too short: "
        f"name the groups by clusters={option!r}, on the command line --clusters {option}."
    )
