"""Slices of one run: the mean, its interval and the coverage of subsets of the queries, worst first."""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from gainful import arguments
from gainful.arithmetic.statistics.argument_checks import read_share
from gainful.arithmetic.statistics.intervals import INTERVALS
from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.evaluation.coverage import Coverage, QueryCounts
from gainful.evaluation.mean_intervals import (
    MeanOfQueries,
    cautions_of_intervals,
    ends_of,
    names_of_ends,
    notes_on_grades,
)
from gainful.evaluation.measuring import aggregate_of, cell_of
from gainful.matching.keyword_options import MeasuringOptions
from gainful.measures.measure_family import RUN
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.rows.identifiers import examples
from gainful.rows.input_types import TableLike
from gainful.rows.run_and_judgment_columns import SLICES_QUERY, Columns, read_columns
from gainful.rows.side_table_columns import SLICES
from gainful.rows.side_table_reader import InputTable, read_table

if TYPE_CHECKING:
    from gainful.evaluation.scores import Scores
    from gainful.measures.measure import Measure

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
