"""`Scores`: the result of an evaluation, with everything needed to quote it, its values as tables of queries, and its charts.

`scores_of` creates scores from measured values; `Scores.ties` measures again under other rules for ties.
"""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, Unpack, cast

import numpy as np

from gainful import arguments, message_texts
from gainful.arithmetic.cores import cached_property
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, MeasureError, warn
from gainful.evaluation.computing.own_measures import with_values_of_documents
from gainful.evaluation.coverage import (
    Coverage,
    Evidence,
    notes_by_run,
    notes_of,
    policy_note,
)
from gainful.evaluation.measuring import (
    Measured,
    Rows,
    apply_policy,
    cell_of,
    means_of,
    measure_batches,
    refuse_by_policy,
    refuse_nothing_counted,
)
from gainful.evaluation.request import find_measure
from gainful.matching.matched import Matched
from gainful.matching.reader import Reader
from gainful.measures.formulas import replaced_inside
from gainful.measures.measure import Measure, measures_inside
from gainful.measures.measure_family import MEAN, NEVER
from gainful.measures.notation import GivenMeasure, name_of, parse, read_measure, read_measures
from gainful.measures.policy import BY_ID, Policy, shared_policy
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import counted, did_you_mean, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.experiment_trackers import Logged, flat_names
from gainful.output.writing.result_base import Printed, Record, Result
from gainful.rows.identifiers import UNTYPED, IdType
from gainful.rows.input_types import Run
from gainful.version import VERSION

if TYPE_CHECKING:
    from gainful.arithmetic.statistics.intervals import Interval
    from gainful.arithmetic.statistics.query_sampling import Sampling
    from gainful.evaluation.means_of_queries import ScoreSlice
    from gainful.evaluation.query_samples import QuerySample
    from gainful.output.plotting.charts import Chart, Look, SizedLook

Array = TypeVar("Array", bound=np.ndarray)


class TableOfQueries(Result, ABC):
    """The common interface of `PerQuery` and `RunPerQuery`."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @abstractmethod
    def __getitem__(self, column: GivenMeasure) -> list[Cell]:
        """Return a column by its name, or by a measure in any spelling."""

    @abstractmethod
    def ends(self, *, worst: int = 0, best: int = 0, measure: GivenMeasure | None = None) -> Self:
        """Return the queries with the lowest values, then the other queries with the highest.

        Args:
            worst: the largest number of queries with the lowest values.
            best: the largest number of queries with the highest values.
            measure: the measure whose values are sorted; the first if None.
        """

    def worst(self, count: int = 10, *, measure: GivenMeasure | None = None) -> Self:
        """Return the queries with the lowest values, the lowest first; with several runs, for each run.

        Args:
            count: the largest number of queries; queries that don't count in the mean are never included.
            measure: the measure whose values are sorted; the first if None.

        >>> import gainful as gf
        >>> judgments = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
        >>> run = {"q1": ["b", "a"], "q2": ["a"], "q3": ["b", "c", "a"]}
        >>> gf.evaluate(judgments, run, "RR").per_query.worst(2).queries
        ('q3', 'q1')
        """
        return self.ends(worst=count, measure=measure)

    def best(self, count: int = 10, *, measure: GivenMeasure | None = None) -> Self:
        """Return the queries with the highest values, the highest first; with several runs, for each run.

        Args:
            count: the largest number of queries; queries that don't count in the mean are never included.
            measure: the measure whose values are sorted; the first if None.
        """
        return self.ends(best=count, measure=measure)

    @abstractmethod
    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """Yield the rows as dicts."""

    def table(self) -> Table:
        """Return the rows for rendering."""
        return Table(self.columns, [list(row.values()) for row in self])

    def _columns_by_name(self) -> dict[str, list[Cell]]:
        return {column: self[column] for column in self.columns}


@dataclass(frozen=True, eq=False, repr=False)
class PerQuery(TableOfQueries):
    """A table with a row for each query, and the columns `query` and one for each measure.

    Queries are sorted by the length of their id, then by its bytes, so numeric ids are in numeric order;
    arrays without query ids keep their order.

    A cell is empty (None, null, or NaN in pandas) if the policy leaves the query out of the measure's mean.
    In data frames, queries have their original type from the run or the judgments; elsewhere they are
    strings. Measures without values per query have no column.

    Attributes:
        rows: the values of all measures.
        measures: the measures.
        query_type: the original type of the ids.
    """

    rows: Rows
    measures: tuple[Measure, ...]
    query_type: IdType = UNTYPED

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return ("query", *(str(self.measures[place]) for place in self._places))

    @cached_property
    def _places(self) -> list[int]:
        """The positions of the measures that have a column."""
        return [place for place, measure in enumerate(self.measures) if measure.has_users]

    @property
    def queries(self) -> tuple[str, ...]:
        """(q,) ids of the queries that count for at least one measure."""
        return self.rows.queries

    @property
    def values(self) -> Floats:
        """[query, column], read-only; NaN where not counted."""
        return self._of_users(self.rows.values)

    @property
    def counted(self) -> Bools:
        """[query, column], read-only."""
        return self._of_users(self.rows.counted)

    def _of_users(self, array: Array) -> Array:
        """Return the columns [query, column] of measures with values per query."""
        if len(self._places) == len(self.measures):
            return array
        chosen = array[:, self._places]
        chosen.flags.writeable = False
        return cast("Array", chosen)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """Yield the rows as dicts."""
        for query, *cells in zip(*map(self.__getitem__, self.columns), strict=True):
            yield dict(zip(self.columns, (query, *cells), strict=True))

    def __getitem__(self, column: GivenMeasure) -> list[Cell]:
        """Return a column by its name, or by a measure in any spelling."""
        if self._place(column) is None:
            return list(self.queries)
        values, counts = self._column(column)
        pairs = zip(values.tolist(), counts.tolist(), strict=True)
        return [value if known else None for value, known in pairs]

    def _column(self, column: GivenMeasure) -> tuple[Floats, Bools]:
        place = self._place(column)
        if place is None:
            raise InputError("measure", "a measure", "the column of the queries")
        return self.rows.values[:, place], self.rows.counted[:, place]

    def _place(self, column: GivenMeasure) -> int | None:
        """Return the position of a measure among all, in any spelling; None for the column of queries."""
        name = name_of(column)
        if name is None:
            raise InputError("per_query", "one of its columns", shown(column))
        if name in self.columns:
            place = self.columns.index(name) - 1
            return None if place < 0 else self._places[place]
        if name in self.queries:
            hint = f"The values of a query are to_dict()[{name!r}]."
            raise InputError("per_query", "one of its columns", f"the query {name!r}", hint)
        measure = find_measure(column, self.measures)
        if measure is None:
            hint = did_you_mean(name, self.columns)
            raise InputError("per_query", "one of its columns", shown(name), hint)
        if not measure.has_users:
            description = f"'{measure}', a value of the whole run"
            raise InputError("per_query", "a measure with values per query", description)
        return self.measures.index(measure)

    def ends(self, *, worst: int = 0, best: int = 0, measure: GivenMeasure | None = None) -> Self:
        """Return the queries with the lowest values, then the other queries with the highest.

        Args:
            worst: the largest number of queries with the lowest values.
            best: the largest number of queries with the highest values.
            measure: the measure whose values are sorted; the first if None.
        """
        worst = arguments.whole(worst, "worst", least=0)
        best = arguments.whole(best, "best", least=0)
        values, counts = self._column(self.columns[1] if measure is None else measure)
        counting = np.flatnonzero(counts)
        values = values[counting]
        lowest = np.argsort(values, kind="stable")[:worst]
        # Negated, so that queries with the same value keep their order.
        order = np.argsort(-values, kind="stable")
        highest = order[~np.isin(order, lowest)][:best]
        places = counting[np.concatenate((lowest, highest))]
        queries = tuple(self.queries[at] for at in places.tolist())
        rows = Rows(queries, self.rows.values[places], self.rows.counted[places])
        return type(self)(rows, self.measures, self.query_type)

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Return `{query: {measure: value}}`."""
        return {
            str(row["query"]): {name: row[name] for name in self.columns[1:]}  # type: ignore[misc]
            for row in self
        }

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type}

    def _equal_by(self) -> tuple[Any, ...]:
        return self.columns, self.queries, self.values, self.counted

    def __repr__(self) -> str:
        return f"PerQuery({counted(len(self), 'query', 'queries')} × {', '.join(self.columns[1:])})"


@dataclass(frozen=True, eq=False, repr=False)
class RunPerQuery(TableOfQueries, Printed):
    """The values of the queries of several runs: columns `run`, `query` and one for each measure.

    Attributes:
        runs: the table of each run, by its name.

    >>> import gainful as gf
    >>> runs = {"one": {"q1": ["a"], "q2": ["b", "a"]}, "two": {"q1": ["b"], "q2": ["a"]}}
    >>> found = gf.evaluate_runs({"q1": {"a": 1}, "q2": {"a": 1}}, runs, "RR").per_query
    >>> found["RR"]
    [1.0, 0.5, 0.0, 1.0]
    >>> [(row["run"], row["query"]) for row in found.worst(1)]
    [('one', 'q2'), ('two', 'q1')]
    """

    runs: Mapping[str, PerQuery]
    _notes: Sequence[str] = ()
    _title: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return ("run", *(("query",) if self._first is None else self._first.columns))

    @property
    def _first(self) -> PerQuery | None:
        return next(iter(self.runs.values()), None)

    def ends(self, *, worst: int = 0, best: int = 0, measure: GivenMeasure | None = None) -> Self:
        """Return the queries of each run with the lowest values, then the queries with the highest.

        Args:
            worst: the largest number of queries with the lowest values.
            best: the largest number of queries with the highest values.
            measure: the measure whose values are sorted; the first if None.
        """
        runs = {
            name: queries.ends(worst=worst, best=best, measure=measure)
            for name, queries in self.runs.items()
        }
        words = [word for word, count in (("lowest", worst), ("highest", best)) if count]
        name = self.columns[2] if measure is None else name_of(measure)
        title = f"Queries with the {' and the '.join(words)} {name}" if words else ""
        return type(self)(runs, self._notes, title)

    def __len__(self) -> int:
        return sum(map(len, self.runs.values()))

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """Yield the rows as dicts."""
        for name, queries in self.runs.items():
            for row in queries:
                yield {"run": name, **row}

    def __getitem__(self, column: GivenMeasure) -> list[Cell]:
        """Return a column by its name, or by a measure in any spelling."""
        if isinstance(column, str) and column == "run":
            return [name for name, queries in self.runs.items() for _ in queries.queries]
        return [cell for queries in self.runs.values() for cell in queries[column]]

    def to_dict(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """Return `{run: {query: {measure: value}}}`."""
        return {name: queries.to_dict() for name, queries in self.runs.items()}

    def table(self) -> Table:
        """Return the rows for rendering, with the policy and the coverage of each run as notes."""
        return replace(super().table(), title=self._title, notes=list(self._notes))

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": UNTYPED if self._first is None else self._first.query_type}

    def _equal_by(self) -> tuple[object, ...]:
        return self.columns, self.runs

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        return f"RunPerQuery({rows} of {', '.join(self.runs)} × {', '.join(self.columns[2:])})"


_DEEPEST = 10**9  # no list is longer
_SHOWN = 10  # runs in a repr


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Scores(Logged, Printed):
    """Means over queries, the values of each query, and the evidence behind them.

    Attributes:
        measures: the measures, in the requested order.
        policy: the policy, with the rule for ties resolved.
        means: the mean of every measure over the queries, by its name; counts are summed. Sums are
            exact and rounded once at the end, so the order of queries does not matter.
        rows: the queries that count, and their values.
        evidence: the matched lists, counts of documents, and hashes.
        dialect: the name of the other tool whose numbers were reproduced (a dialect), if any.
        query_type: the original type of query ids, before they became text.
        slices: the scores of subsets of the queries, worst first, if requested with `by` or `slices`.
        sample: the weights and clusters of the queries; None if all count equally and independently.
        redrawn: for judgments from clicks, returns the scores against redrawn grades, for a seed; otherwise None.
    """

    _called: ClassVar[str] = "Scores"
    _units: ClassVar[tuple[str, str]] = "query", "queries"  # the name of a row: singular and plural

    measures: tuple[Measure, ...]
    policy: Policy
    means: Mapping[str, float]
    rows: Rows
    evidence: Evidence
    dialect: str | None = None
    query_type: IdType = UNTYPED
    slices: "tuple[ScoreSlice, ...]" = ()
    sample: "QuerySample | None" = None
    redrawn: "Callable[[int], Sequence[Scores]] | None" = None

    @cached_property
    def coverage(self) -> Coverage:
        """Counts of everything that could affect the scores, such as missing queries."""
        evidence = self.evidence
        if evidence.covered is not None:
            return evidence.covered
        return evidence.counts.coverage(self.policy, evidence.depth)

    @property
    def run_values(self) -> dict[str, float]:
        """The values of measures that describe the run as a whole and have no values per query."""
        return {str(one): self.means[str(one)] for one in self.measures if not one.has_users}

    @property
    def queries(self) -> tuple[str, ...]:
        """(q,) ids of the queries that count for at least one measure."""
        return self.rows.queries

    @cached_property
    def sampling(self) -> "Sampling | None":
        """How `queries` were drawn; None if all count equally and independently."""
        return None if self.sample is None else self.sample.of(self.queries)

    def counted_sampling(self, measure: GivenMeasure) -> "Sampling | None":
        """Return how the queries of `counted_values` were drawn."""
        chosen = self.measure(measure)
        sampling = self.sampling_of(chosen)
        column = self.measures.index(chosen)
        return None if sampling is None else sampling.at(self.counted[:, column])

    def sampling_of(self, measure: GivenMeasure) -> "Sampling | None":
        """Return how `queries` were drawn, and which of them are added to the sum of a measure without their weight."""
        once = self.once.get(self.measure(measure))
        if self.sample is None or once is None:
            return self.sampling
        return self.sample.of(self.queries, once)

    @cached_property
    def once(self) -> Mapping[Measure, Bools]:
        """Which of `queries` (q,) are added to the sum of a measure without their weight, as some dialects add empty ones."""
        if self.sample is None or self.sample.weights is None or self.dialect is None:
            return {}
        # Imported here because few evaluations have weights.
        from gainful.measures.dialect_catalogue import counts_empty_once

        return queries_without_gain(self) if counts_empty_once(self.dialect) else {}

    @property
    def values(self) -> Floats:
        """[query, measure], read-only; NaN where not counted."""
        return self.rows.values

    @property
    def counted(self) -> Bools:
        """[query, measure], read-only."""
        return self.rows.counted

    def __getitem__(self, measure: GivenMeasure) -> float:
        """Return the mean over queries, or the measure's sum or value of the whole run."""
        return self.means[str(self.measure(measure))]

    def keys(self) -> tuple[str, ...]:
        """Return the names of the measures: `dict(scores)` are the means by their names."""
        return tuple(self.means)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the measures."""
        return iter(self.means)

    def counted_values(self, measure: GivenMeasure) -> Floats:
        """Return the values (n,) of a measure, of the queries that count for its mean."""
        column = self.measures.index(self.measure(measure))
        values: Floats = self.values[self.counted[:, column], column]
        return values

    def counted_queries(self, measure: GivenMeasure) -> tuple[str, ...]:
        """Return the queries (n,) that count for the mean of a measure."""
        column = self.measures.index(self.measure(measure))
        return tuple(compress(self.queries, self.counted[:, column]))

    def values_by_measure(self) -> dict[Measure, dict[str, float]]:
        """Return the value of each query by its measure; NaN where it does not count."""
        columns = zip(self.measures, self.values.T.tolist(), strict=True)
        return {measure: dict(zip(self.queries, row, strict=True)) for measure, row in columns}

    def interval(
        self,
        measure: GivenMeasure | None = None,
        *,
        method: str = "hall",
        level: float = 0.95,
        resamples: int = 10_000,
        seed: int = 0,
    ) -> "Interval":
        """Return a confidence interval for the mean of a measure over all queries like these.

        The queries are treated as a random sample. Use `compare` to compare two runs: the interval of a
        difference is much narrower than the intervals of two means, because both runs have the same hard
        and easy queries.

        With judgments from clicks, the interval also allows for the errors of the grades that the queries share, and
        `from_grades` is the share of the variance that comes from the clicks: the grades are estimated
        again from resampled sessions.

        Args:
            measure: an evaluated measure, in any spelling; the first if None. Measures that are summed
                over the queries have no interval.
            method: `hall` (Student's t with Hall's correction for skewness), `t` or `bca`.
            level: the confidence level: the share of such intervals that contain the true mean.
            resamples: the number of resamples for `bca`.
            seed: the seed for `bca` and for resampled sessions; the same seed gives the same bits.

        >>> import gainful as gf
        >>> judgments = {f"q{i}": {"a": 1} for i in range(60)}
        >>> run = {query: {"a": i % 3, "b": 0.5} for i, query in enumerate(judgments)}
        >>> scores = gf.evaluate(judgments, run, "RR")
        >>> found = scores.interval("RR")
        >>> round(scores["RR"], 4), round(found.low, 4), round(found.high, 4)
        (0.8333, 0.7672, 0.8947)
        """
        chosen = _first_of_queries(self) if measure is None else self.measure(measure)
        of_all = self._of_all_queries(chosen)
        return of_all.interval(method=method, level=level, resamples=resamples, seed=seed)

    def interval_or_none(
        self, measure: GivenMeasure, *, method: str = "hall", level: float = 0.95
    ) -> "Interval | None":
        """Return the same as `interval`; None for a sum or an undefined mean."""
        of_all = self._of_all_queries(self.measure(measure))
        return of_all.interval_or_none(method=method, level=level)

    def redrawn_values(
        self, measure: Measure, queries: Sequence[str] | None = None
    ) -> "Callable[[int], Floats] | None":
        """Return a function from a seed to the values [draw, query] over redrawn grades; None for grades by people.

        Args:
            measure: an evaluated measure.
            queries: the queries; those that count for the mean of the measure if None.
        """
        if self.redrawn is None:
            return None
        from gainful.evaluation.means_of_queries import drawn_values

        chosen = self.counted_queries(measure) if queries is None else queries
        return partial(drawn_values, self.redrawn, measure, chosen)

    def per_query_intervals(
        self, *, level: float = 0.95, seed: int = 0, name: str = "run"
    ) -> Table:
        """Return the value of each query with what the clicks behind its grades allow: a row per query and measure.

        The ends are from grades that are estimated again from resampled sessions. They don't allow for the
        choice of queries; the notes give the shares of both in the variance of the mean.

        Args:
            level: the level of the ends.
            seed: the seed of the resampled sessions.
            name: the name of the run in the notes.
        """
        from gainful.evaluation.means_of_queries import per_query_intervals

        return per_query_intervals(self, level, seed, name)

    @staticmethod
    def intervals_table(
        runs: "Mapping[str, Scores]", *, method: str = "hall", level: float = 0.95
    ) -> Table:
        """Return the means of several runs with their intervals: a row for each run and measure.

        Args:
            runs: name → scores.
            method: `hall`, `t`, `bca`, `betting` or `asymptotic`, as in `compare`.
            level: the level of the intervals.
        """
        from gainful.evaluation.means_of_queries import clusters_to_name, intervals_table

        refuse_unlike_scores(runs)
        slices = {name: scores.overall() for name, scores in runs.items()}
        table = intervals_table(slices, method=method, level=level)
        first = next(iter(runs.values()), None)
        hints = [] if first is None or first.sample else clusters_to_name(first.queries)
        return replace(table, notes=[*table.notes, *hints])

    def overall(self) -> "list[ScoreSlice]":
        """Return a slice of all queries for each measure."""
        return [self._of_all_queries(measure) for measure in self.measures]

    def _of_all_queries(self, measure: Measure) -> "ScoreSlice":
        # Imported here because most scores need no interval and no slices.
        from gainful.evaluation.means_of_queries import ALL, ScoreSlice

        values, sampling = self.counted_values(measure), self.counted_sampling(measure)
        mean, redrawn = self[measure], self.redrawn_values(measure)
        of = measure, values, sampling, redrawn
        return ScoreSlice(*of, column=ALL, value="", mean=mean, coverage=self.coverage)

    @cached_property
    def ties(self) -> dict[str, "TieRange"]:
        """How much the order of tied documents can change the mean of every measure, by its name.

        If all measures have cutoffs, the whole judgments and run are read again.
        """
        if not self.evidence.lists:
            expected = "scores whose tied documents can be reordered"
            raise InputError("ties", expected, "those of recommendations")
        batches = self.evidence.whole()

        def mean(measure: Measure, ties: str) -> float:
            return measure_matched(batches, (measure,), replace(self.policy, ties=ties))[measure]

        return tie_ranges(self.measures, mean)

    @cached_property
    def plot(self) -> "ScoresPlot":
        """The charts of these scores: `distribution` and `curve`."""
        return ScoresPlot(self)

    @property
    def per_query(self) -> PerQuery:
        """The values of each query, as a table with a column for each measure."""
        return PerQuery(self.rows, self.measures, self.query_type)

    def signature(self, measure: GivenMeasure) -> str:
        """Return the signature: one line with everything that the number depends on.

        It contains the measure, every choice of the policy that differs from the default (and always
        ties), the number of queries, the version, and hashes of judgments and run. The hashes cover the
        grades and ranks that the measure uses, so they don't depend on the kind of input, the engine or
        the other measures.
        """
        chosen = self.measure(measure)
        column = self.measures.index(chosen)
        usual = Policy().resolved(ids=True).answers()
        choices = [
            f"{name}={answer}"
            for name, answer in self.policy.resolved(ids=True).answers().items()
            if name == "ties" or answer != usual[name]
        ]
        if self.dialect is not None:
            choices.insert(0, f"dialect={self.dialect}")
        coverage = self.coverage
        counts = f"queries={self.evidence.counting[column]}"
        counts += f" missing={len(coverage.missing)} empty={self.evidence.empty[column]}"
        if self.sample is not None:
            counts += self.sample.signature(self.queries)
        judgments, run = self.evidence.hashes(chosen.reach)
        of_run = self.measures[column].of_run
        tables = f" tables={of_run.digest}" if of_run and self.evidence.lists else ""
        return " | ".join(
            [
                str(chosen),
                " ".join(choices),
                counts,
                f"judgments={judgments} run={run}{tables}",
                f"gainful {VERSION}",
            ]
        )

    def hashes(self, measure: GivenMeasure) -> tuple[str, str]:
        """Return the hashes of the judgments and of the run in the signature of a measure."""
        return self.evidence.hashes(self.measure(measure).reach)

    @cached_property
    def judged(self) -> Ints:
        """The number of judged documents of each of `queries` (q,), read-only."""
        counts = self.evidence.counts
        judged = dict(zip(counts.queries, counts.judged.tolist(), strict=True))
        of_queries = np.array([judged[query] for query in self.queries], np.int64)
        of_queries.flags.writeable = False
        return of_queries

    def measure(self, measure: GivenMeasure) -> Measure:
        """Return one of the measures of these scores, in any spelling."""
        evaluated = find_measure(measure, self.measures, self.dialect)
        if evaluated is None:
            name = name_of(measure)
            written = f"'{name}'" if isinstance(measure, Measure) else shown(name)
            hint = did_you_mean(name, map(str, self.measures))
            raise InputError("scores", "a measure that was evaluated", written, hint)
        return evaluated

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
        per_query: bool = True,
    ) -> None:
        """Write the scores to a file, which is replaced only when the new one is complete.

        Args:
            path: the path of the file; `-` is standard output.
            format: csv, tsv, json, jsonl or parquet, which keep every digit; markdown, latex, html
                or table, which round and include policy and coverage. If None, it follows from the
                name: .csv, .tsv, .json, .jsonl, .parquet, .md, .tex, .html, .txt. All formats
                    except Parquet are compressed if the name ends in .gz or .zst.
            per_query: whether to write a row for each query, rather than one for the mean of each
                measure.
        """
        from gainful.output.writing.table_files import write_table

        arguments.truth(per_query, "per_query")
        means = self.table()
        table = replace(self.per_query.table(), notes=means.notes) if per_query else means
        write_table(table, path, format=format, id_types={"query": self.query_type})

    def to_dict(self) -> dict[str, Any]:
        """Return the means and the data behind them as plain values; for the values of queries, use `per_query.to_dict()`."""
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
        return (self.measures, self.policy, self.dialect, self.coverage, self.run_values, *held)

    @property
    def aggregates(self) -> list[str]:
        """The notes on measures whose value over all queries is not their mean."""
        names: dict[str, list[str]] = {}
        for measure in self.measures:
            if measure.family.aggregate != MEAN:
                value = f"the {measure.family.aggregate} over the queries"
                if not measure.has_users:
                    value = f"computed over the whole run, not averaged over {self._units[1]}"
                names.setdefault(value, []).append(str(measure))
        return [f"{', '.join(measures)}: {value}" for value, measures in names.items()]

    @property
    def sample_notes(self) -> list[str]:
        """How weights and clusters affect the certainty of the means; empty without them."""
        return [] if self.sample is None else self.sample.notes(self.queries, self._units)

    def table(self) -> Table:
        """Return the means, with policy and coverage as notes, for rendering."""
        rows: list[list[Cell]] = [
            [str(measure), cell_of(measure, self.means[str(measure)])] for measure in self.measures
        ]
        notes = [*self.aggregates, *self.sample_notes, *notes_of(self.policy, self.coverage)]
        return Table(["measure", "mean"], rows, notes=notes)

    @staticmethod
    def slices_table(
        runs: "Mapping[str, Scores]", *, method: str = "hall", level: float = 0.95
    ) -> Table:
        """Return the slices of several runs: a row for each slice, measure and run, worst first.

        The first rows are for all queries. Each row contains the mean, its interval and the coverage.

        Args:
            runs: a dict from names to scores.
            method: the kind of intervals: `hall`, `t`, `bca`, `betting` or `asymptotic`, as in `compare`.
            level: the level of the intervals.
        """
        from gainful.evaluation.means_of_queries import slices_table

        refuse_unlike_scores(runs)
        slices = {name: (*scores.overall(), *scores.slices) for name, scores in runs.items()}
        return slices_table(slices, method=method, level=level)

    def tables(self) -> list[Table]:
        """Return the tables that are printed: the means, or the slices if there are any."""
        means = self.table()
        if not self.slices:
            return [means]
        sliced = Scores.slices_table({"run": self})
        return [replace(sliced, notes=[*sliced.notes, *means.notes])]

    def __repr__(self) -> str:
        means = ", ".join(f"{name}: {mean:.4f}" for name, mean in self.means.items())
        count = message_texts.counted(len(self.rows), *self._units)
        return f"{self._called}({means}; {count})"


def _first_of_queries(scores: Scores) -> Measure:
    """Return the first measure with values per query, or else the first measure."""
    with_values = (measure for measure in scores.measures if measure.has_users)
    return next(with_values, scores.measures[0])


def remeasured(scores: Scores, measures: tuple[Measure, ...]) -> Scores:
    """Return the scores of the same lists under other measures and the same policy.

    If the lists were cut above a measure's cutoff, judgments and run are read again.
    """
    if not scores.evidence.lists:
        raise InputError("scores", "rankings to measure again", "only their values")
    asked = read_measures(measures)
    seen = max((one.reach or 0 for one in scores.measures), default=0)
    deeper = any(one.reach is None or one.reach > seen for one in asked)
    batches = scores.evidence.whole() if deeper else scores.evidence.lists
    again = measure_matched(batches, asked, scores.policy)
    again = replace(again, dialect=scores.dialect, query_type=scores.query_type)
    return sampled_like(scores, again)


def sampled_like(scores: Scores, again: Scores) -> Scores:
    """Return scores of the same lists under other measures, with the weights and the redrawn grades of `scores`."""
    if scores.redrawn is not None:
        redrawn = partial(_redrawn_under, scores.redrawn, again.measures, {})
        again = replace(again, redrawn=redrawn)
    return again if scores.sample is None else scores.sample.weighed(again)


def _redrawn_under(
    redrawn: Callable[[int], Sequence[Scores]],
    measures: tuple[Measure, ...],
    known: dict[int, list[Scores]],
    seed: int,
) -> list[Scores]:
    if seed not in known:
        known[seed] = [remeasured(scores, measures) for scores in redrawn(seed)]
    return known[seed]


def queries_without_gain(scores: Scores) -> dict[Measure, Bools]:
    """Return which of the queries (q,) have no document with a gain, for each nDCG among the measures."""
    asked = tuple(measure for measure in scores.measures if measure.name == "nDCG")
    if not asked or not scores.evidence.lists:
        return {}
    known = measure_matched(scores.evidence.lists, asked, replace(scores.policy, empty="nan"))
    return dict(zip(asked, np.isnan(known.values).T, strict=True))


def unjudged_at(scores: Scores, rank: int) -> tuple[int, int] | None:
    """Return the number of documents down to a rank, and how many of them are unjudged.

    The result is None if that is unknown: the policy regrades or removes unjudged documents, or doesn't
    order tied documents, or the rank is below the depth of the lists.
    """
    rank = min(arguments.whole(rank, "rank", least=1), _DEEPEST)
    depth, lists = scores.coverage.depth, scores.evidence.lists
    ordered = scores.policy.ties in (*BY_ID, "order")
    too_deep = not lists or (depth is not None and depth < rank)
    if scores.policy.unjudged != "zero" or not ordered or too_deep:
        return None
    seen = sum(int(np.minimum(batch.retrieved, rank).sum()) for batch in lists)
    judged = sum(int((batch.rank <= rank).sum()) for batch in lists)
    return seen, seen - judged


def refuse_unlike_scores(runs: Mapping[str, Scores]) -> None:
    """Reject scores that can't be in one table."""
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
                "Render them separately.",
            )


class ScoresPlot:
    """The charts of scores: altair charts, which appear in a notebook and have a `save` method.

    Every chart accepts `name`, the label of the run; `width`, in pixels or "container"; and `theme`,
    "light" or "dark". A curve also accepts `height`.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def distribution(
        self, measure: GivenMeasure | None = None, *, name: str = "run", **look: Unpack["Look"]
    ) -> "Chart":
        """Draw how per-query scores are distributed, and their mean, for a measure; the first if None.

        Queries that do not count for the measure are not drawn.
        """
        from gainful.output.plotting import charts

        scores = self._scores
        chosen = str(_first_of_queries(scores) if measure is None else scores.measure(measure))
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
        """Draw the mean of a measure at the cutoffs 1, 2, ….

        Args:
            measure: any measure that supports cutoffs; its own cutoff is ignored. If None, the
                first evaluated measure with a cutoff, or nDCG.
            upto: the last cutoff. Beyond 100, the curve ends with the longest list or pool,
                because deeper cutoffs change nothing.
            name: the label of the run.
            look: width, height and theme.
        """
        from gainful.output.plotting import charts

        chosen = curve_measure(self._scores.measures) if measure is None else measure
        asked = drawn_cutoffs([self._scores.evidence.whole], chosen, upto)
        means = remeasured(self._scores, asked).means
        rows = [{"run": name, "k": one.cutoff, "value": means[str(one)]} for one in asked]
        return charts.curve(rows, measure=without_cutoff(asked[0]), **look)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TieRange(Record):
    """A mean with tied documents in their worst order, in their best order, and in expectation.

    `expected` is None for a measure whose expectation has no closed form here.
    """

    worst: float
    expected: float | None
    best: float

    @property
    def spread(self) -> float:
        """The distance between the worst and the best."""
        return self.best - self.worst


def tie_ranges(
    measures: Sequence[Measure], mean: Callable[[Measure, str], float]
) -> dict[str, TieRange]:
    """Return how far the order of tied documents can move means.

    Args:
        measures: the measures.
        mean: returns the mean of a measure with ties ordered `worst`, `best`, or averaged over.
    """
    ranges = {}
    for measure in measures:
        if any(part.of_run is not None for part in measures_inside([measure])):
            continue  # its tables were read for one order of the documents
        # For a measure that doesn't rise with the grades, these need not be the extremes.
        ends = [mean(measure, "worst"), mean(measure, "best")]
        expected = None
        with suppress(InputError):
            expected = mean(measure, "average")
            ends.append(expected)
        ranges[str(measure)] = TieRange(min(ends), expected, max(ends))
    return ranges


def warn_of_ties(scores: Scores, amount: float) -> None:
    """Warn about measures with a cutoff that the order of tied documents can move by more than an amount."""
    least = arguments.number(amount, "tie_warning", "an amount from 0", lambda value: value >= 0)
    for measure in scores.measures:
        tie_range = scores.ties.get(str(measure))
        if tie_range is not None and measure.cutoff is not None and tie_range.spread > least:
            warn(
                f"ties: {measure} is {scores[measure]:.4f}, and would be from {tie_range.worst:.4f} to "
                f"{tie_range.best:.4f} with documents of equal scores in another order. Break the "
                f"ties, or report how they were broken.",
                "run.tied",
            )


def measure_matched(
    batches: Sequence[Matched],
    measures: tuple[Measure, ...],
    policy: Policy,
    depth: int | None = None,
) -> Scores:
    """Measure matched lists down to a depth, under a policy with ties resolved."""
    measured = measure_batches(batches, measures, policy, depth)
    return scores_of(batches, measured, measures, policy, depth)


def measure_alone(reader: Reader, run: Run, measure: Measure) -> Scores:
    """Measure a run under a measure that is a part of another one."""
    valued = with_values_of_documents(measures_inside([measure]), reader, run)
    matched, decided = reader.match(run)
    return measure_matched([matched], replaced_inside((measure,), valued), decided)


def scores_of(
    batches: Sequence[Matched],
    measured: Measured,
    measures: tuple[Measure, ...],
    policy: Policy,
    depth: int | None = None,
    *,
    dialect: Dialect | None = None,
    query_type: IdType = UNTYPED,
    rematch: Callable[[], Sequence[Matched]] | None = None,
) -> Scores:
    """Return the scores of measured batches; the policy decides which queries count, and how.

    Args:
        batches: the matched batches.
        measured: their values.
        measures: the measures of the values.
        policy: the policy, with the rule for ties resolved.
        depth: the depth at which lists were cut.
        dialect: the dialect of another tool, if any.
        query_type: the original type of query ids, before they became text.
        rematch: a function that matches the whole lists, if they were cut.
    """
    counts, lacking = measured.counts, measured.empty.sum(axis=0).tolist()
    queries, lost = counts.queries, int(counts.missing.sum())
    refuse_by_policy(
        measures,
        policy,
        missing=(lost, lambda: compress(queries, counts.missing)),
        extra=(len(counts.extra), lambda: counts.extra),
        empty=(
            (count, partial(compress, queries, empty))
            for count, empty in zip(lacking, measured.empty.T, strict=True)
        ),
    )
    # The values change, too.
    counted = apply_policy(measured.values, measured.empty, counts, measures, policy)
    of_users = [measure.has_users for measure in measures]
    counting = [
        count if known else len(queries) - lost
        for known, count in zip(of_users, counted.sum(axis=0).tolist(), strict=True)
    ]
    for measure, count in zip(measures, counting, strict=True):
        refuse_nothing_counted(measure, count, policy)
    rows = Rows(queries, measured.values, counted)
    kept: Bools = np.logical_or.reduce(counted, axis=1)
    if any(of_users) and not kept.all():
        rows = Rows(tuple(compress(queries, kept)), measured.values[kept], counted[kept])
    return Scores(
        measures=measures,
        policy=policy,
        means=means_of(measures, measured.values, counted),
        rows=rows,
        evidence=Evidence(
            counting=tuple(counting),
            empty=tuple(lacking),
            lists=tuple(batches),
            by_query=counts,
            depth=depth,
            reaches=frozenset(measure.reach for measure in measures),
            rematch=rematch,
        ),
        dialect=None if dialect is None else dialect.name,
        query_type=query_type,
    )


class RunScores(Logged, Printed, dict[str, Scores]):
    """The scores of several runs, a dict {name: scores}; as a table, a row for each run.

    >>> import gainful as gf
    >>> runs = {"one": {"q": {"a": 2, "b": 1}}, "two": {"q": {"a": 1, "b": 2}}}
    >>> gf.evaluate_runs({"q": {"a": 1}}, runs, ["nDCG@1", "RR"])
    RunScores(one: nDCG@1 1.0000, RR 1.0000; two: nDCG@1 0.0000, RR 0.5000)
    """

    __slots__ = ()

    def table(self) -> Table:
        """Return a row for each run and a column for each measure, policy and coverage as notes."""
        return means_table(self)

    @property
    def per_query(self) -> RunPerQuery:
        """The values of each query of each run: columns run, query, and one for each measure."""
        rows = {name: scores.per_query for name, scores in self.items()}
        return RunPerQuery(rows, notes_of_runs(self) if self else ())

    def slices_table(self, *, method: str = "hall", level: float = 0.95) -> Table:
        """Return the slices of all runs, as `Scores.slices_table` does.

        Args:
            method: the kind of intervals: `hall`, `t`, `bca`, `betting` or `asymptotic`, as in `compare`.
            level: the level of the intervals.
        """
        return Scores.slices_table(self, method=method, level=level)

    def to_dict(self) -> dict[str, Any]:
        """Return the scores of each run as plain values."""
        return {name: scores.to_dict() for name, scores in self.items()}

    def _numbers(self) -> dict[str, float]:
        named = zip(flat_names(self), self.values(), strict=True)
        return {
            f"{run}/{name}": number
            for run, scores in named
            for name, number in scores._numbers().items()  # noqa: SLF001
        }

    __eq__ = dict.__eq__
    __ne__ = dict.__ne__
    __hash__ = None  # type: ignore[assignment]  # as of any dict

    @property
    def policy(self) -> Policy:
        """The policy of all runs; `ties` is auto if it differs between them."""
        return shared_policy(scores.policy for scores in self.values())

    def __repr__(self) -> str:
        lines = [
            f"{name}: "
            + ", ".join(f"{measure} {mean:.4f}" for measure, mean in scores.means.items())
            for name, scores in list(self.items())[:_SHOWN]
        ]
        more = len(self) - _SHOWN
        lines += [f"… and {more} more"] if more > 0 else []
        return f"RunScores({'; '.join(lines)})"


def means_table(runs: Mapping[str, Scores]) -> Table:
    """Return the means of several runs, a row for each."""
    scores = next(iter(runs.values()), None)
    if scores is None:
        return Table(["run"], [])
    columns = ["run", *(str(measure) for measure in scores.measures)]
    rows: list[list[Cell]] = [
        [run, *(cell_of(measure, of_run.means[str(measure)]) for measure in of_run.measures)]
        for run, of_run in runs.items()
    ]
    return Table(columns, rows, notes=notes_of_runs(runs))


def notes_of_runs(runs: Mapping[str, Scores]) -> list[str]:
    """Return the notes under a table of several runs: dialect, policy and coverage."""
    first = next(iter(runs.values()))
    policy = shared_policy(run.policy for run in runs.values())
    covered = notes_by_run({name: (run.coverage, run.policy) for name, run in runs.items()})
    spoken = [] if first.dialect is None else [f"dialect: {first.dialect}"]
    return [*first.aggregates, *first.sample_notes, *covered, *spoken, policy_note(policy)]


_ALWAYS = 100  # cutoffs of a curve, even if the lists are shorter


def at_cutoffs(measure: GivenMeasure, upto: int) -> tuple[Measure, ...]:
    """Return a measure at the cutoffs 1, 2, … up to the last.

    >>> [str(each) for each in at_cutoffs("nDCG(gain=exp2)@10", 2)]
    ['nDCG(gain=exp2)@1', 'nDCG(gain=exp2)@2']
    """
    asked = read_measure(measure)
    if asked.family.cutoff == NEVER:
        raise MeasureError("curve", "a measure with a cutoff", f"'{asked}'")
    last = arguments.whole(upto, "upto", least=1, most=arguments.MOST_CUTOFFS)
    return tuple(asked.at(cutoff) for cutoff in range(1, last + 1))


def drawn_cutoffs(
    runs: Iterable[Callable[[], Sequence[Matched]]], measure: GivenMeasure, upto: int
) -> tuple[Measure, ...]:
    """Return a measure at the cutoffs of a curve.

    Beyond 100, they end with the longest list or pool of the runs, because the curve is constant from there.

    Args:
        runs: a function for each run that returns its whole lists; called only beyond 100.
        measure: a measure with a cutoff.
        upto: the last cutoff.
    """
    last = arguments.whole(upto, "upto", least=1)
    first = at_cutoffs(measure, min(last, _ALWAYS))
    if last <= _ALWAYS:
        return first
    depth = max((_depth(whole()) for whole in runs), default=0)
    return first if depth <= _ALWAYS else at_cutoffs(measure, min(last, depth))


def _depth(lists: Sequence[Matched]) -> int:
    """Return the length of the longest list or pool."""
    lengths = (np.concatenate((batch.retrieved, np.diff(batch.pool_offsets))) for batch in lists)
    return max((int(some.max(initial=0)) for some in lengths), default=0)


def curve_measure(measures: Sequence[Measure]) -> Measure:
    """Return the measure whose curve is drawn by default: the first with a cutoff, or nDCG.

    >>> str(curve_measure([parse("AP"), parse("P@5"), parse("nDCG@10")]))
    'P@5'
    """
    cut = (measure for measure in measures if measure.cutoff is not None)
    return next(cut, parse("nDCG@10"))


def without_cutoff(measure: Measure) -> str:
    """Return the name of a measure without its cutoff, for the axis of a curve.

    >>> without_cutoff(parse("nDCG(gain=exp2)@10"))
    'nDCG(gain=exp2)'
    """
    return str(measure).removesuffix(f"@{measure.cutoff}")
