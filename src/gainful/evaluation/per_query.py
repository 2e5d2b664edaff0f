"""The scores of each query, as columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gainful import arguments
from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, name_of, parse
from gainful.message_texts import did_you_mean, shown
from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.writing.result_base import Result

Held = tuple[tuple[str, ...], Floats, Bools]


class Rows:
    """A row for each query, a column for each measure."""

    def __init__(
        self,
        queries: tuple[str, ...],
        values: Floats,
        counted: Bools,
    ) -> None:
        self._rows = queries, values, counted

    def _held(self) -> Held:
        return self._rows

    @property
    def queries(self) -> tuple[str, ...]:
        """(q,) ids of the queries that count for at least one measure."""
        return self._held()[0]

    @property
    def values(self) -> Floats:
        """[query, measure], read-only; NaN where not counted."""
        return self._held()[1]

    @property
    def counted(self) -> Bools:
        """[query, measure], read-only."""
        return self._held()[2]


class PerQuery(Rows, Result):
    """A table with the columns `query` and one for each measure, a row for each query.

    Queries stand by the length of their id, then by its bytes, so numbers stand by value;
    arrays without query ids keep their order.

    A cell is empty (None, null, NaN in pandas) where the policy left the query out of that
    measure's mean. In data frames the queries have the type that they had in the run, or in the
    judgments; anywhere else they are strings.
    """

    def __init__(
        self,
        queries: tuple[str, ...],
        measures: tuple[str, ...],
        values: Floats,
        counted: Bools,
        query_type: IdType = UNTYPED,
    ) -> None:
        super().__init__(queries, values, counted)
        self.columns = ("query", *measures)
        self.query_type = query_type  # of the ids, where they came from

    def __len__(self) -> int:
        return len(self.queries)

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """Yield the rows as dicts."""
        for query, values, counted in zip(
            self.queries, self.values.tolist(), self.counted.tolist(), strict=True
        ):
            cells = (value if known else None for value, known in zip(values, counted, strict=True))
            yield dict(zip(self.columns, (query, *cells), strict=True))

    def __getitem__(self, column: GivenMeasure) -> list[Cell]:
        """Return a column by its name, or by a measure in any spelling."""
        place = self._place(column) - 1
        if place < 0:
            return list(self.queries)
        return [
            value if known else None
            for value, known in zip(
                self.values[:, place].tolist(), self.counted[:, place].tolist(), strict=True
            )
        ]

    def _place(self, column: GivenMeasure) -> int:
        """Return the place of a column, by its name or by a measure in any spelling."""
        name = name_of(column)
        if name is None:
            raise InputError("per_query", "one of its columns", shown(column))
        if name in self.queries and name not in self.columns:
            hint = f"The values of a query are to_dict()[{name!r}]."
            raise InputError("per_query", "one of its columns", f"the query {name!r}", hint)
        if name not in self.columns and not isinstance(column, Measure):
            name = str(parse(name))
        if name not in self.columns:
            raise InputError(
                "per_query", "one of its columns", shown(name), did_you_mean(name, self.columns)
            )
        return self.columns.index(name)

    def worst(self, count: int = 10, *, measure: GivenMeasure | None = None) -> "PerQuery":
        """Return the queries with the lowest values, the lowest first.

        Args:
            count: how many, at most; none that the policy left out of the mean is among them.
            measure: whose values; of the first if None.

        >>> import gainful as gf
        >>> judgments = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
        >>> run = {"q1": ["b", "a"], "q2": ["a"], "q3": ["b", "c", "a"]}
        >>> gf.evaluate(judgments, run, "RR").per_query.worst(2).queries
        ('q3', 'q1')
        """
        return self.ends(worst=count, measure=measure)

    def best(self, count: int = 10, *, measure: GivenMeasure | None = None) -> "PerQuery":
        """Return the queries with the highest values, the highest first.

        Args:
            count: how many, at most; none that the policy left out of the mean is among them.
            measure: whose values; of the first if None.
        """
        return self.ends(best=count, measure=measure)

    def ends(
        self, *, worst: int = 0, best: int = 0, measure: GivenMeasure | None = None
    ) -> "PerQuery":
        """Return the queries with the lowest values, then those of the others with the highest.

        Args:
            worst: how many of the lowest, at most.
            best: how many of the highest, at most.
            measure: whose values; of the first if None.
        """
        worst = arguments.whole(worst, "worst", least=0)
        best = arguments.whole(best, "best", least=0)
        place = 0 if measure is None else self._place(measure) - 1
        if place < 0:
            raise InputError("measure", "a measure", "the column of the queries")
        known = np.flatnonzero(self.counted[:, place])
        values = self.values[known, place]
        lowest = np.argsort(values, kind="stable")[:worst]
        # Negated, so that queries with the same value stay in their order, too.
        order = np.argsort(-values, kind="stable")
        highest = order[~np.isin(order, lowest)][:best]
        places = known[np.concatenate((lowest, highest))]
        return PerQuery(
            tuple(self.queries[at] for at in places.tolist()),
            self.columns[1:],
            self.values[places],
            self.counted[places],
            self.query_type,
        )

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """Return `{query: {measure: value}}`."""
        return {
            str(row["query"]): {name: row[name] for name in self.columns[1:]}  # type: ignore[misc]
            for row in self
        }

    def table(self) -> Table:
        """Return the rows for rendering."""
        return Table(self.columns, [list(row.values()) for row in self])

    def _columns_by_name(self) -> dict[str, list[Cell]]:
        return {column: self[column] for column in self.columns}

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": self.query_type}

    def _equal_by(self) -> tuple[Any, ...]:
        return self.columns, self.queries, self.values, self.counted

    def __repr__(self) -> str:
        queries = "1 query" if len(self) == 1 else f"{len(self)} queries"
        return f"PerQuery({queries} × {', '.join(self.columns[1:])})"


class RunPerQuery(Result):
    """The same of several runs: the columns `run`, `query` and one for each measure.

    Attributes:
        columns: their names.
        runs: name → its queries.

    >>> import gainful as gf
    >>> runs = {"one": {"q1": ["a"], "q2": ["b", "a"]}, "two": {"q1": ["b"], "q2": ["a"]}}
    >>> found = gf.evaluate_runs({"q1": {"a": 1}, "q2": {"a": 1}}, runs, "RR").per_query
    >>> found["RR"]
    [1.0, 0.5, 0.0, 1.0]
    >>> [(row["run"], row["query"]) for row in found.worst(1)]
    [('one', 'q2'), ('two', 'q1')]
    """

    def __init__(
        self, runs: Mapping[str, PerQuery], notes: Sequence[str] = (), title: str = ""
    ) -> None:
        self.runs = dict(runs)
        self._first = next(iter(self.runs.values()), None)
        self.columns = ("run", *(("query",) if self._first is None else self._first.columns))
        self._notes = tuple(notes)
        self._title = title

    def worst(self, count: int = 10, *, measure: GivenMeasure | None = None) -> "RunPerQuery":
        """Return the queries of each run with the lowest values, as `PerQuery.worst` does."""
        return self.ends(worst=count, measure=measure)

    def best(self, count: int = 10, *, measure: GivenMeasure | None = None) -> "RunPerQuery":
        """Return the queries of each run with the highest values, as `PerQuery.best` does."""
        return self.ends(best=count, measure=measure)

    def ends(
        self, *, worst: int = 0, best: int = 0, measure: GivenMeasure | None = None
    ) -> "RunPerQuery":
        """Return the queries of each run with the lowest values, then those with the highest.

        Args:
            worst: how many of the lowest, at most.
            best: how many of the highest, at most.
            measure: whose values; of the first if None.
        """
        runs = {
            name: each.ends(worst=worst, best=best, measure=measure)
            for name, each in self.runs.items()
        }
        asked = [word for word, count in (("lowest", worst), ("highest", best)) if count]
        name = self.columns[2] if measure is None else name_of(measure)
        title = f"Queries with the {' and the '.join(asked)} {name}" if asked else ""
        return RunPerQuery(runs, self._notes, title)

    def __len__(self) -> int:
        return sum(map(len, self.runs.values()))

    def __iter__(self) -> Iterator[dict[str, Cell]]:
        """Yield the rows as dicts."""
        for name, each in self.runs.items():
            for row in each:
                yield {"run": name, **row}

    def __getitem__(self, column: GivenMeasure) -> list[Cell]:
        """Return a column by its name, or by a measure in any spelling."""
        if isinstance(column, str) and column == "run":
            return [name for name, each in self.runs.items() for _ in each.queries]
        return [cell for each in self.runs.values() for cell in each[column]]

    def to_dict(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """Return `{run: {query: {measure: value}}}`."""
        return {name: each.to_dict() for name, each in self.runs.items()}

    def table(self) -> Table:
        """Return the rows for rendering, with the policy and the coverage of each run as notes."""
        rows = [list(row.values()) for row in self]
        return Table(self.columns, rows, title=self._title, notes=list(self._notes))

    def _columns_by_name(self) -> dict[str, list[Cell]]:
        return {column: self[column] for column in self.columns}

    def _id_types(self) -> Mapping[str, IdType]:
        return {"query": UNTYPED if self._first is None else self._first.query_type}

    def _equal_by(self) -> tuple[Any, ...]:
        return self.columns, self.runs

    def __str__(self) -> str:
        return as_text(self.table())

    def __repr__(self) -> str:
        rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        return f"RunPerQuery({rows} of {', '.join(self.runs)} × {', '.join(self.columns[2:])})"
