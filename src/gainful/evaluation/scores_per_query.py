"""The values of queries as tables: `PerQuery` for one run, `RunPerQuery` for several."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar, cast

import numpy as np

from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.evaluation.measuring import Rows
from gainful.evaluation.request import find_measure
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, name_of
from gainful.message_texts import counted, did_you_mean, shown
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed, Result
from gainful.rows.identifiers import UNTYPED, IdType

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
