"""Slices of one run: the mean, its interval and the coverage of parts of the queries, worst first."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful import arguments
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.evaluation.coverage import Coverage
from gainful.evaluation.mean_intervals import (
    cautions_of_intervals,
    ends_of,
    has_interval,
    mean_interval,
    names_of_ends,
)
from gainful.evaluation.means_over_queries import aggregate_of
from gainful.evaluation.query_slicing import (
    Part,
    columns_to_cut_by,
    parts_by_metadata,
    parts_by_number,
)
from gainful.inputs.run_and_judgment_columns import SLICES_QUERY, Columns, read_columns
from gainful.inputs.side_table_columns import SLICES
from gainful.inputs.side_table_reader import InputTable, read_table
from gainful.matching.keyword_options import MeasuringOptions
from gainful.measures.measure import Measure
from gainful.measures.measure_family import SUM
from gainful.rendering.table_formats import Cell, Table
from gainful.statistics.argument_checks import read_share
from gainful.statistics.intervals import INTERVALS, Interval
from gainful.statistics.resampling import Draws

if TYPE_CHECKING:
    from gainful.evaluation.scores import Scores

AUTOMATIC = ("judged",)
"""Slices that need no metadata: how many documents are judged."""

_ALL = "all"


@dataclass(frozen=True, slots=True)
class Slicing:
    """How the queries of an evaluation are sliced.

    Attributes:
        columns: to slice by.
        metadata: a table with a row for each query, where there is one.
    """

    columns: Sequence[str]
    metadata: InputTable | None

    def parts(self, scores: "Scores") -> list[Part]:
        """Return the parts into which the columns cut the judged queries of scores."""
        counts = scores.query_counts
        found = []
        for column in self.columns:
            if self.metadata is not None and column in self.metadata.columns:
                found += parts_by_metadata(column, counts.queries, self.metadata, counts.extra)
            else:  # queries without judgments are in none
                nothing = np.full(len(counts.extra), np.nan)
                found += parts_by_number(column, counts.judged.astype(np.float64), nothing)
        return found


def read_slices(
    slices: object, options: MeasuringOptions
) -> tuple[InputTable | None, MeasuringOptions]:
    """Read a table of slices, whose column of queries the options may name; None where there is none.

    With it come the options for what is measured, without that name.
    """
    if slices is None:
        return None, options
    columns = read_columns(options.get("columns"), slicing=True)
    name = columns.pop(SLICES_QUERY, None)
    if name is None:
        return read_table(slices, SLICES, "slices"), options
    table = read_table(slices, SLICES, "slices", columns={"query": name})
    if not table.has_columns:
        Columns({SLICES_QUERY: name}).refuse_unused()
    return table, {**options, "columns": {**columns}}


def slicing_of(table: InputTable | None, by: str | Sequence[str]) -> Slicing | None:
    """Return how queries are to be sliced, checked before the work; None where they are not.

    Args:
        table: with a row for each query; or None.
        by: its columns, or `judged`; all of its columns if none is named.
    """
    names = arguments.listed(by, "by", "names of columns of the slices")
    if table is None and not names:
        return None
    return Slicing(columns_to_cut_by(names, table, AUTOMATIC), table)


@dataclass(frozen=True, slots=True)
class ScoreSlice:
    """One measure of one part of the queries.

    Attributes:
        column: of the metadata, or `judged`.
        value: that the queries have there, or a range of it.
        measure: the measure.
        mean: over the queries of the part that count, or what the measure has in its place; None
            where none of them counts.
        queries: how many count.
        coverage: what was counted and what was missing in this part.
        values: (n,) float64 of the queries that count.
    """

    column: str
    value: str
    measure: Measure
    mean: float | None
    queries: int
    coverage: Coverage
    values: Floats = field(repr=False, compare=False)

    def interval(
        self,
        *,
        method: str = "hall",
        level: float = 0.95,
        resamples: int = 10_000,
        seed: int = 0,
    ) -> Interval:
        """Return the interval in which the mean lies over all queries like these.

        Args:
            method: `hall`, `t` or `bca`, as in `Scores.interval`, like all that follow.
            level: the share of such intervals that contain the true mean.
            resamples: of `bca`.
            seed: of `bca`.
        """
        if not self.queries:
            where = f"{self.measure} of {self.column} {self.value}"
            raise InputError(where, "a query that counts, for an interval", "none")
        draws = Draws(resamples, seed)
        return mean_interval(self.measure, self.values, method=method, level=level, draws=draws)

    def interval_or_none(self, *, method: str = "hall", level: float = 0.95) -> Interval | None:
        """Return the interval, or None where there is none: of a sum, and of what is undefined."""
        if not self.queries or not has_interval(self.measure, self.values):
            return None
        return self.interval(method=method, level=level)

    def to_dict(self, *, method: str = "hall", level: float = 0.95) -> dict[str, Any]:
        """Return all of it as plain values, with the interval by a method, at a level."""
        interval = self.interval_or_none(method=method, level=level)
        known = self.mean is not None and not math.isnan(self.mean)
        return {
            "slice": self.column,
            "value": self.value,
            "measure": str(self.measure),
            "queries": self.queries,
            "mean": self.mean if known else None,
            "interval": None if interval is None else interval.to_dict(),
            "coverage": self.coverage.to_dict(),
        }


def slices_of_scores(scores: "Scores", slicing: Slicing) -> tuple[ScoreSlice, ...]:
    """Return the slices of scores: by column, then by measure, then from the worst mean to the best."""
    counts = scores.query_counts
    row = {query: at for at, query in enumerate(scores.queries)}
    found: list[ScoreSlice] = []
    for part in slicing.parts(scores):
        coverage = counts.only(part.chosen, part.also).coverage(
            scores.policy, scores.coverage.depth
        )
        chosen = (counts.queries[at] for at in np.flatnonzero(part.chosen).tolist())
        rows = [row[query] for query in chosen if query in row]  # others count for no measure
        values, counted = scores.values[rows], scores.counted[rows]
        for column, measure in enumerate(scores.measures):
            known = values[counted[:, column], column]
            mean = aggregate_of(measure, known.tolist()) if known.size else None
            found.append(
                ScoreSlice(part.column, part.value, measure, mean, known.size, coverage, known)
            )
    return tuple(sorted(found, key=lambda one: _place(one, slicing, scores)))


def _place(one: ScoreSlice, slicing: Slicing, scores: "Scores") -> tuple[int, int, float]:
    known = one.mean is not None and not math.isnan(one.mean)
    mean = one.mean if known and one.mean is not None else math.inf
    return slicing.columns.index(one.column), scores.measures.index(one.measure), mean


def slices_table(
    runs: "Mapping[str, Scores]", *, method: str = "hall", level: float = 0.95
) -> Table:
    """Return a row for each slice, measure and run, after a row for all queries of each.

    Args:
        runs: name → scores that were sliced alike.
        method: of the intervals, a key of `INTERVALS`.
        level: above 0 and below 1.
    """
    arguments.choice(method, "method", INTERVALS)
    level = read_share(level, "level")
    by_run = [(name, slices_with_all(scores)) for name, scores in runs.items()]
    rows: list[list[Cell]] = []
    told: list[tuple[str, Measure, Floats, Interval | None]] = []
    for key in dict.fromkeys(key for _, each in by_run for key in each):
        for name, each in by_run:
            if key not in each:
                continue
            one = each[key]
            interval = one.interval_or_none(method=method, level=level)
            rows.append([*_named(one, name), *ends_of(interval), *_covered(one.coverage)])
            where = "" if one.column == _ALL else f", {one.column} {one.value}"
            told.append((f"{one.measure}, {name}{where}", one.measure, one.values, interval))
    columns = ["slice", "value", "measure", "run", "queries", "mean", *names_of_ends(level)]
    columns += ["missing", "empty", "unjudged"]
    notes = cautions_of_intervals(told, method, level)
    notes.append("missing and empty are numbers of queries, unjudged is the share of documents")
    return Table(columns, rows, title="Slices, worst first", notes=notes)


def slices_with_all(scores: "Scores") -> dict[tuple[str, str, Measure], ScoreSlice]:
    """Return the slices by column, value and measure, with all queries of each measure before them."""
    whole = [
        ScoreSlice(_ALL, "", measure, scores[measure], values.size, scores.coverage, values)
        for measure in scores.measures
        for values in (scores.counted_values(measure),)
    ]
    return {(one.column, one.value, one.measure): one for one in (*whole, *scores.slices)}


def _named(one: ScoreSlice, run: str) -> list[Cell]:
    mean: Cell = one.mean
    if one.measure.family.aggregate == SUM and one.mean is not None and one.mean.is_integer():
        mean = int(one.mean)
    return [one.column, one.value, str(one.measure), run, one.queries, mean]


def _covered(coverage: Coverage) -> list[Cell]:
    return [len(coverage.missing), len(coverage.empty), coverage.unjudged_share]
