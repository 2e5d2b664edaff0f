"""The scores of each query, as columns."""

from collections.abc import Iterator, Mapping
from typing import Any

from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, name_of, parse
from gainful.message_texts import did_you_mean, shown
from gainful.rendering.table_formats import Cell, Table
from gainful.writing.result import Result

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
        name = name_of(column)
        if name is None:
            raise InputError("per_query", "one of its columns", shown(column))
        if name == "query":
            return list(self.queries)
        if name not in self.columns and not isinstance(column, Measure):
            name = str(parse(name))
        if name not in self.columns:
            raise InputError(
                "per_query", "one of its columns", shown(name), did_you_mean(name, self.columns)
            )
        place = self.columns.index(name) - 1
        return [
            value if known else None
            for value, known in zip(
                self.values[:, place].tolist(), self.counted[:, place].tolist(), strict=True
            )
        ]

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
