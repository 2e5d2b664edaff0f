"""`Scores`: the result of an evaluation, with all that is needed to quote it, and its charts.

`scores_of` makes them of what was measured; `Scores.ties` measures the same again.
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.array_types import Bools, Floats
from gainful.errors import InputError, warn
from gainful.evaluation.coverage import Coverage, QueryCounts, count_queries, counts_of, notes_of
from gainful.evaluation.means_over_queries import (
    apply_policy,
    means_of,
    refuse_empty,
    refuse_extra,
    refuse_missing,
    refuse_nothing_counted,
)
from gainful.evaluation.measuring import measure_batches
from gainful.evaluation.per_query import PerQuery, Rows
from gainful.evaluation.request import find_measure
from gainful.evaluation.values_before_policy import Measured
from gainful.inputs.cores import cached_property
from gainful.inputs.id_types import UNTYPED
from gainful.matching.matched import Matched
from gainful.measures.measure import Measure
from gainful.measures.measure_family import MEAN, RUN, SUM
from gainful.measures.notation import GivenMeasure, name_of, read_measures
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import did_you_mean, shown
from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.version import VERSION
from gainful.writing.experiment_trackers import Logged, flat_names
from gainful.writing.result_base import Record

if TYPE_CHECKING:
    from gainful.evaluation.score_slices import ScoreSlice
    from gainful.plotting.charts import Chart, Look, SizedLook
    from gainful.statistics.intervals import Interval

_DEEPEST = 10**9  # no list is longer


class Scores(Rows, Logged):
    """Means over queries, the values of each query, and what they rest on.

    Attributes:
        measures: the measures, in the order asked.
        policy: the policy they were computed under, ties decided.
        coverage: what was counted and what was missing.
        means: the mean over queries of every measure, by its name; counts are summed. Sums are
            exact before the one rounding at the end, so the order of queries does not matter.
        slices: the same of parts of the queries, worst first, where `by` or `slices` asks for them.
    """

    def __init__(
        self,
        *,
        measures: tuple[Measure, ...],
        policy: Policy,
        coverage: Coverage,
        means: dict[str, float],
        queries: tuple[str, ...],
        values: NDArray[np.float64],
        counted: NDArray[np.bool_],
        empty: tuple[int, ...],
        batches: tuple[Matched, ...],
        counts: QueryCounts | None = None,
    ) -> None:
        for array in (values, counted):
            array.flags.writeable = False
        super().__init__(queries, values, counted)
        self.measures = measures
        self.policy = policy
        self.coverage = coverage
        self.means = means
        self._empty = empty  # how many queries have no positive gain, for each measure
        self._batches = batches
        self._counts = counts
        self._hashed: dict[int | None, tuple[str, str]] = {}
        self.dialect: str | None = None  # of another tool, where it was asked for
        self.query_type = UNTYPED  # of the ids, where they came from
        self.slices: tuple[ScoreSlice, ...] = ()  # where they were asked for
        self.match_whole: Callable[[], Sequence[Matched]] | None = None  # where lists were cut

    _kind = "those of subtopics"  # what these scores are, where they are no usual ones
    run_values: Mapping[str, float] = MappingProxyType({})
    """The values that the run has as a whole, by measure: of recommendations alone."""

    def _count(self, column: int) -> int:
        """Return how many queries count for a measure."""
        return int(self.counted[:, column].sum())

    @property
    def first_measure(self) -> Measure:
        """The first measure of which queries have values; the first of all where none has."""
        with_values = (each for each in self.measures if each.family.aggregate != RUN)
        return next(with_values, self.measures[0])

    def __getitem__(self, measure: GivenMeasure) -> float:
        """Return the mean over queries, or what the measure has in its place."""
        return self.means[str(self._measure(measure))]

    def keys(self) -> tuple[str, ...]:
        """Return the names of the measures: `dict(scores)` are the means by their names."""
        return tuple(self.means)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the measures."""
        return iter(self.means)

    def counted_values(self, measure: GivenMeasure) -> Floats:
        """Return the values (n,) of a measure, of the queries that count for its mean."""
        column = self.measures.index(self._measure(measure))
        values: Floats = self.values[self.counted[:, column], column]
        return values

    def values_by_measure(self) -> dict[Measure, dict[str, float]]:
        """Return the value of each query by its measure; NaN where it does not count."""
        columns = zip(self.measures, self.values.T.tolist(), strict=True)
        return {measure: dict(zip(self.queries, each, strict=True)) for measure, each in columns}

    def interval(
        self,
        measure: GivenMeasure | None = None,
        *,
        method: str = "hall",
        level: float = 0.95,
        resamples: int = 10_000,
        seed: int = 0,
    ) -> "Interval":
        """Return the interval in which the mean of a measure lies over all queries like these.

        The queries are taken as a random sample. Its ends may lie beyond 0 or 1 where they are few.
        To tell two runs apart, use `compare`. The interval of a difference is much narrower than
        those of two means, which share their hard and easy queries.

        Args:
            measure: one of those evaluated, in any spelling; the first if None. A measure that is
                summed over the queries has no interval.
            method: `hall`, `t` or `bca`, as in `compare`.
            level: the share of such intervals that contain the true mean.
            resamples: of `bca`.
            seed: of `bca`; the same seed gives the same bits.

        >>> import gainful as gf
        >>> judgments = {f"q{i}": {"a": 1} for i in range(60)}
        >>> run = {query: {"a": i % 3, "b": 0.5} for i, query in enumerate(judgments)}
        >>> scores = gf.evaluate(judgments, run, "RR")
        >>> found = scores.interval("RR")
        >>> round(scores["RR"], 4), round(found.low, 4), round(found.high, 4)
        (0.8333, 0.7672, 0.8947)
        """
        # Imported here because most scores are asked for none.
        from gainful.evaluation.mean_intervals import mean_interval
        from gainful.statistics.resampling import Draws

        chosen = self.first_measure if measure is None else self._measure(measure)
        return mean_interval(
            chosen,
            self.counted_values(chosen),
            method=method,
            level=level,
            draws=Draws(resamples, seed),
        )

    @staticmethod
    def intervals_table(
        runs: "Mapping[str, Scores]", *, method: str = "hall", level: float = 0.95
    ) -> Table:
        """Return the means of several runs with their intervals: a row for each run and measure.

        Args:
            runs: name → scores.
            method: `hall`, `t` or `bca`, as in `compare`.
            level: of the intervals.
        """
        from gainful.evaluation.mean_intervals import intervals_table

        refuse_unlike_scores(runs)
        return intervals_table(runs, method=method, level=level)

    @cached_property
    def ties(self) -> dict[str, "TieRange"]:
        """How far the order of tied documents moves the mean of every measure, by its name.

        Where all measures have cutoffs, the judgments and the run are read once more, whole.
        """
        return tie_ranges(self.whole(), self.measures, self.policy)

    def whole(self) -> Sequence[Matched]:
        """Return the lists that were measured; those that were cut are read once more, whole."""
        if self.match_whole is None:
            return self._batches
        remedy = "Evaluate again; with tie_warning, ties are looked at in the same call."
        try:
            batches = self.match_whole()
        except InputError as problem:
            expected = "judgments and run that can be read once more, for what is below the cutoff"
            raise InputError("scores", expected, str(problem).rstrip("."), remedy) from None
        for reach in {measure.reach for measure in self.measures}:
            if _hashes_of(batches, reach) != self._hashes(reach):
                found = "others: they have changed since"
                raise InputError("scores", "judgments and run as they were", found, remedy)
        return batches

    @cached_property
    def plot(self) -> "ScoresPlot":
        """The charts of these scores: `distribution` and `curve`."""
        return ScoresPlot(self)

    def remeasured(self, measures: tuple[Measure, ...]) -> "Scores":
        """Return the scores of the same lists under other measures and the same policy.

        Where the lists were cut above what a measure sees, judgments and run are read once more.
        """
        if not self._batches:
            raise InputError("scores", "rankings to measure again", "their values alone")
        measures = read_measures(measures)
        seen = max((each.reach or 0 for each in self.measures), default=0)
        deeper = any(each.reach is None or each.reach > seen for each in measures)
        batches = self.whole() if deeper else self._batches
        found = measure_matched(batches, measures, self.policy)
        found.dialect, found.query_type = self.dialect, self.query_type
        return found

    def warn_of_ties(self, amount: float) -> None:
        """Warn where ties move the mean of a measure with a cutoff by more than an amount."""
        least = arguments.number(amount, "tie_warning", "an amount from 0", lambda each: each >= 0)
        warn_of_ties(self, least)

    @property
    def per_query(self) -> PerQuery:
        """The values of each query: columns query, and one for each measure."""
        names = tuple(str(measure) for measure in self.measures)
        return PerQuery(self.queries, names, self.values, self.counted, self.query_type)

    def signature(self, measure: GivenMeasure) -> str:
        """Return one line that pins the number down.

        It names the measure, every choice of the policy that is not the default (ties always), and
        the queries counted. It has a hash of what was measured on either side, and the version.
        The hashes are of the grades and ranks that the measure sees, down to its reach. They are
        the same whatever kind of input or engine the data came through, and whatever else was
        measured with it.
        """
        found = self._measure(measure)
        column = self.measures.index(found)
        usual = Policy().resolved(ids=True).answers()
        choices = [
            f"{name}={answer}"
            for name, answer in self.policy.resolved(ids=True).answers().items()
            if name == "ties" or answer != usual[name]
        ]
        if self.dialect is not None:
            choices.insert(0, f"dialect={self.dialect}")
        coverage = self.coverage
        counts = f"queries={self._count(column)}"
        counts += f" missing={len(coverage.missing)} empty={self._empty[column]}"
        judgments, run = self._hashes(found.reach)
        return " | ".join(
            [
                str(found),
                " ".join(choices),
                counts,
                f"judgments={judgments} run={run}",
                f"gainful {VERSION}",
            ]
        )

    def grades(self) -> list[float]:
        """Return the grades that the judgments have, each once, ascending."""
        pools = [np.unique(batch.pool_grades) for batch in self._batches]
        return np.unique(np.concatenate(pools)).tolist() if pools else []

    @property
    def ends_of_grades(self) -> tuple[float, float]:
        """The lowest and the highest grade that the judgments have; infinite where there is none."""
        lowest = min((batch.lowest_grade for batch in self._batches), default=math.inf)
        tops = (float(batch.pool_grades.max(initial=-math.inf)) for batch in self._batches)
        return lowest, max(tops, default=-math.inf)

    def unjudged_at(self, rank: int) -> tuple[int, int] | None:
        """Return how many documents stand down to a rank, and how many of them have no judgment.

        None where that is not known. So it is under a policy that changes what is unjudged, or
        leaves the order of tied documents open, and below the depth looked at.
        """
        rank = min(arguments.whole(rank, "rank", least=1), _DEEPEST)
        depth = self.coverage.depth
        ordered = self.policy.ties in (*BY_ID, "order")
        too_deep = not self._batches or (depth is not None and depth < rank)
        if self.policy.unjudged != "zero" or not ordered or too_deep:
            return None
        seen = sum(int(np.minimum(batch.retrieved, rank).sum()) for batch in self._batches)
        judged = sum(int((batch.rank <= rank).sum()) for batch in self._batches)
        return seen, seen - judged

    def hashes(self, measure: GivenMeasure) -> tuple[str, str]:
        """Return the hashes of the judgments and of the run, as the signature of a measure has them."""
        return self._hashes(self._measure(measure).reach)

    @cached_property
    def judged(self) -> NDArray[np.int64]:
        """The number of judged documents of each of `queries` (q,), read-only."""
        counts = self.query_counts
        judged = dict(zip(counts.queries, counts.judged.tolist(), strict=True))
        found = np.array([judged[query] for query in self.queries], np.int64)
        found.flags.writeable = False
        return found

    @property
    def query_counts(self) -> QueryCounts:
        """What the scores rest on, query by query: how many are judged, retrieved, unjudged …."""
        if self._counts is None:  # of subtopics, whose documents are judged for each
            raise InputError("judged", "scores of queries without subtopics", self._kind)
        return self._counts

    def _hashes(self, reach: int | None) -> tuple[str, str]:
        if reach not in self._hashed:
            self._hashed[reach] = _hashes_of(self._batches, reach)
        return self._hashed[reach]

    def known(self, measure: GivenMeasure) -> Measure:
        """Return the measure of these scores that is meant, in any spelling."""
        return self._measure(measure)

    def _measure(self, measure: GivenMeasure) -> Measure:
        found = find_measure(measure, self.measures, self.dialect)
        if found is None:
            names = [str(known) for known in self.measures]
            written = name_of(measure)
            raise InputError(
                "scores",
                "a measure that was evaluated",
                f"'{measure}'" if isinstance(measure, Measure) else shown(written),
                did_you_mean(written, names),
            )
        return found

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
        per_query: bool = True,
    ) -> None:
        """Write the scores to a file, which is replaced only when the new one is complete.

        Args:
            path: of the file; `-` is standard output.
            format: csv, tsv, json, jsonl or parquet, which keep every digit; markdown, latex,
                html or table, which round and say policy and coverage. Told by the name if
                None: .csv, .tsv, .json, .jsonl, .parquet, .md, .tex, .html, .txt. All but
                Parquet are packed where the name ends in .gz or .zst.
            per_query: a row for each query; else one for the mean of each measure.
        """
        from gainful.writing.table_files import write_table

        arguments.truth(per_query, "per_query")
        means = self.table()
        table = replace(self.per_query.table(), notes=means.notes) if per_query else means
        write_table(table, path, format=format, id_types={"query": self.query_type})

    def to_dict(self) -> dict[str, Any]:
        """Return the means, and what they rest on, as plain values; `per_query` has its own."""
        return {
            "means": {
                name: mean if math.isfinite(mean) else None for name, mean in self.means.items()
            },
            "policy": self.policy.answers(),
            "dialect": self.dialect,
            "coverage": self.coverage.to_dict(),
            "signatures": {str(measure): self.signature(measure) for measure in self.measures},
        }

    def _numbers(self) -> dict[str, float]:
        numbers = dict(zip(flat_names(self.means), self.means.values(), strict=True))
        counts = {
            name: count for name, count in self.coverage.counts().items() if count is not None
        }
        return numbers | {f"coverage/{name}": float(count) for name, count in counts.items()}

    def _equal_by(self) -> tuple[Any, ...]:
        held = self.queries, self.values, self.counted
        return (self.measures, self.policy, self.dialect, self.coverage, *held)

    def cells(self) -> list[Cell]:
        """Return the means for a table: sums that are whole without a point."""
        return [
            int(mean) if measure.family.aggregate == SUM and mean.is_integer() else mean
            for measure, mean in zip(self.measures, self.means.values(), strict=True)
        ]

    @property
    def aggregates(self) -> list[str]:
        """What is said of measures whose value over all queries is not their mean."""
        return [
            f"{measure}: the {measure.family.aggregate} over the queries"
            for measure in self.measures
            if measure.family.aggregate != MEAN
        ]

    def table(self) -> Table:
        """Return the means, with policy and coverage as notes, for rendering."""
        rows = [[name, cell] for name, cell in zip(self.means, self.cells(), strict=True)]
        notes = notes_of(self.policy, self.coverage)
        notes += [f"          {note}" for note in self.aggregates]
        return Table(["measure", "mean"], rows, notes=notes)

    @staticmethod
    def slices_table(
        runs: "Mapping[str, Scores]", *, method: str = "hall", level: float = 0.95
    ) -> Table:
        """Return the slices of several runs: a row for each slice, measure and run, worst first.

        Before them stand all queries; beside each mean stand its interval, and what was missing.

        Args:
            runs: name → scores.
            method: of the intervals: `hall`, `t` or `bca`, as in `compare`.
            level: of the intervals.
        """
        from gainful.evaluation.score_slices import slices_table

        refuse_unlike_scores(runs)
        return slices_table(runs, method=method, level=level)

    def tables(self) -> list[Table]:
        """Return what is shown to people: the means, or with slices those and their means."""
        means = self.table()
        if not self.slices:
            return [means]
        sliced = Scores.slices_table({"run": self})
        return [replace(sliced, notes=[*sliced.notes, *means.notes])]

    def __str__(self) -> str:
        return as_text(*self.tables())

    def __repr__(self) -> str:
        means = ", ".join(f"{name}: {mean:.4f}" for name, mean in self.means.items())
        return f"Scores({means}; {count_queries(len(self.queries))})"


def refuse_unlike_scores(runs: Mapping[str, Scores]) -> None:
    """Refuse scores that do not belong in one table."""
    arguments.refuse_unnamed(runs, "scores", "a dict {name: Scores} with at least one run")
    first = next(iter(runs.values()))
    for name, scores in runs.items():
        if not isinstance(scores, Scores):
            raise InputError("scores", "a dict {name: Scores}", f"{name!r}: {shown(scores)}")
        if (scores.measures, scores.policy) != (first.measures, first.policy):
            raise InputError(
                f"scores of {name!r}",
                "the measures and the policy of the other runs",
                ", ".join(scores.means) + f" under {scores.policy!r}",
                "Render them apart.",
            )


def _hashes_of(batches: Sequence[Matched], reach: int | None) -> tuple[str, str]:
    """Return the hashes of the judgments and of the run down to a reach."""
    from gainful.evaluation.input_hashes import digests, short_hash, total

    judgments, run = zip(*(digests(batch, reach) for batch in batches), strict=True)
    return short_hash(total(chain.from_iterable(judgments))), short_hash(
        total(chain.from_iterable(run))
    )


class ScoresPlot:
    """The charts of scores: altair charts, which show in a notebook and have a `save`.

    Every one takes `name`, what the run is called in it; `width`, in pixels or "container"; and `theme`,
    "light" or "dark". A curve has a `height`, too.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def distribution(
        self, measure: GivenMeasure | None = None, *, name: str = "run", **look: Unpack["Look"]
    ) -> "Chart":
        """Draw how many queries have which score, and their mean; of the first measure if None.

        Queries that do not count for the measure are not drawn.
        """
        from gainful.plotting import charts

        scores = self._scores
        chosen = str(scores.first_measure if measure is None else scores.known(measure))
        shown = scores.per_query[chosen]
        rows = [{"run": name, "score": score} for score in shown if score is not None]
        return charts.distribution(rows, measure=chosen, **look)

    def curve(
        self,
        measure: GivenMeasure | None = None,
        *,
        upto: int = 20,
        name: str = "run",
        **look: Unpack["SizedLook"],
    ) -> "Chart":
        """Draw the mean of a measure at the cutoffs from 1 on.

        Args:
            measure: any that has a cutoff, which is not looked at; the first evaluated that has one,
                or nDCG, if None.
            upto: the last cutoff. Past 100 the curve ends with the longest list or pool: deeper
                cutoffs see nothing more.
            name: what the run is called.
            look: width, height and theme.
        """
        from gainful.evaluation.curve_cutoffs import curve_measure, drawn_cutoffs, without_cutoff
        from gainful.plotting import charts

        chosen = curve_measure(self._scores.measures) if measure is None else measure
        asked = drawn_cutoffs([self._scores.whole], chosen, upto)
        means = self._scores.remeasured(asked).means
        rows = [{"run": name, "k": each.cutoff, "value": means[str(each)]} for each in asked]
        return charts.curve(rows, measure=without_cutoff(asked[0]), **look)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TieRange(Record):
    """What a mean is with tied documents in their worst and best order, and in expectation.

    `expected` is None for a measure whose expectation has no closed form here.
    """

    worst: float
    expected: float | None
    best: float

    @property
    def spread(self) -> float:
        """How far apart the worst and the best are."""
        return self.best - self.worst


def tie_ranges(
    batches: Sequence[Matched], measures: Sequence[Measure], policy: Policy
) -> dict[str, TieRange]:
    """Measure whole lists again with ties ordered worst, averaged over, and ordered best."""

    def mean(measure: Measure, ties: str) -> float:
        chosen = replace(policy, ties=ties)
        return measure_matched(batches, (measure,), chosen)[measure]

    found = {}
    for measure in measures:
        try:
            expected = mean(measure, "average")
        except InputError:
            expected = None
        # Of a measure that does not rise with the grades, these need not be the ends.
        ends = [mean(measure, "worst"), mean(measure, "best")]
        ends += [] if expected is None else [expected]
        found[str(measure)] = TieRange(min(ends), expected, max(ends))
    return found


def warn_of_ties(scores: Scores, amount: float) -> None:
    """Warn of measures with a cutoff that the order of tied documents moves by more than this."""
    for measure in scores.measures:
        found = scores.ties[str(measure)]
        if measure.cutoff is not None and found.spread > amount:
            warn(
                f"ties: {measure} is {scores[measure]:.4f}, and would be from {found.worst:.4f} to "
                f"{found.best:.4f} with documents of equal scores in another order. "
                "Break the ties, or say how they were broken.",
            )


def measure_matched(
    batches: Sequence[Matched],
    measures: tuple[Measure, ...],
    policy: Policy,
    depth: int | None = None,
) -> Scores:
    """Measure what has been matched down to a depth, under a policy with ties decided."""
    measured = measure_batches(batches, measures, policy, depth)
    return scores_of(batches, measured, measures, policy, depth)


def scores_of(
    batches: Sequence[Matched],
    measured: Measured,
    measures: tuple[Measure, ...],
    policy: Policy,
    depth: int | None = None,
) -> Scores:
    """Return the scores of measured batches: the policy says what each value means and counts."""
    lost = (query for batch in batches for query in compress(batch.queries, batch.missing))
    refuse_missing(int(measured.missing.sum()), lost, policy)
    extra = (query for batch in batches for query in batch.extra)
    refuse_extra(sum(len(batch.extra) for batch in batches), extra, policy)
    lacking = measured.empty.sum(axis=0).tolist()
    for column, measure in enumerate(measures):
        empty = compress(measured.queries, measured.empty[:, column])
        refuse_empty(measure, lacking[column], empty, policy)
    counted = apply_policy(measured, measures, policy)  # which changes the values, too
    for measure, count in zip(measures, counted.sum(axis=0).tolist(), strict=True):
        refuse_nothing_counted(measure, count, policy)
    kept: Bools = np.logical_or.reduce(counted, axis=1)
    counts = counts_of(batches, measured, policy)
    return Scores(
        measures=measures,
        policy=policy,
        coverage=counts.coverage(policy, depth),
        means=means_of(measures, measured.values, counted),
        queries=tuple(compress(measured.queries, kept)),
        values=measured.values[kept],
        counted=counted[kept],
        empty=tuple(lacking),
        batches=tuple(batches),
        counts=counts,
    )


def evaluated_measure(
    measure: GivenMeasure, known: Sequence[Measure], parse: Callable[[Any], Measure]
) -> Measure:
    """Return a measure of another catalogue among those that were evaluated; `parse` reads a text."""
    by_name = {str(each): each for each in known}
    if isinstance(measure, str) and measure in by_name:
        return by_name[
            measure
        ]  # a segment or a function in it may have no notation that reads back
    found = measure if isinstance(measure, Measure) else parse(measure)
    if found not in known:
        raise InputError(
            "scores", "a measure that was evaluated", f"'{found}'", did_you_mean(found, by_name)
        )
    return found
