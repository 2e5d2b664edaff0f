"""Tables with one row for each query: scores that come from elsewhere, and what is known of queries."""

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError, did_you_mean, shown
from gainful.inputs.columns import refuse_repeated
from gainful.inputs.engine import Session, file_quoted, name_quoted, said
from gainful.inputs.files import Plain, is_parquet, path_of, plain_file
from gainful.inputs.frames import objects_in, readable, refuse_odd_ids, written_names
from gainful.inputs.identifiers import id_text, refuse_halves
from gainful.inputs.kinds import Kind
from gainful.inputs.precision import INEXACT, is_exact, written_integer
from gainful.inputs.query_files import (
    Cell,
    Listed,
    Recorded,
    find_query,
    number_in,
    read_query_file,
)
from gainful.inputs.typed import written_columns

Given = Mapping[Any, Any]

_FORMS = (
    "a dict {query: value} or {query: {column: value}}, dicts in a list, a path, or a data frame"
)
_VALUE = "value"  # the column of a table that has one without a name
_CELLS = frozenset([str, float, int, bool, type(None)])
_TEXT = (str, type(None))
_TRUTH = ("True", "False")

# The types of the engine: read as they are, as float64, and as text.
_WHOLE = frozenset(
    f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
) | {"HUGEINT", "UHUGEINT"}
_AS_THEY_ARE = _WHOLE | {"VARCHAR", "BOOLEAN", "FLOAT", "DOUBLE"}
_AS_TEXT = frozenset(["ENUM", "UUID", "DATE", "TIME", "TIMESTAMP", "INTERVAL", "JSON", '"NULL"'])
_IDS = _WHOLE | {"VARCHAR", "ENUM", "UUID"}


@dataclass(frozen=True, slots=True, eq=False)
class QueryTable:
    """A table with one row for each query.

    Attributes:
        name: what messages call it: the file, or the word of the caller.
        queries: (q,) ids, in the order of the input.
        columns: the other columns by name, each (q,) cells: text, number, truth, or None where
            nothing is. Cells of text files are text.
        lines: (q,) where the rows stand, if on lines of a file.

    >>> table = read_query_table({"q1": {"length": 3, "locale": "de"}, "q2": {"length": 5}}, "queries")
    >>> table.numbers("length"), table.texts("locale")
    (array([3., 5.]), ['de', None])
    """

    name: str
    queries: tuple[str, ...]
    columns: dict[str, tuple[Cell, ...]]
    lines: tuple[int, ...] | None = field(default=None, repr=False)

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Return a column (q,) as float64, NaN where a cell is missing; truth is 1 or 0."""
        cells = self._cells(column)
        numbers = np.array([_number(cell) for cell in cells], np.float64)
        # What is no number came back as infinite too: its place is looked for here alone.
        wrong = np.flatnonzero(np.isinf(numbers))
        if wrong.size:
            self._refuse(column, int(wrong[0]))
        return numbers

    def texts(self, column: str) -> list[str | None]:
        """Return a column (q,) as text, None where a cell is missing."""
        cells = self._cells(column)
        if {*map(type, cells)} <= {*_TEXT}:
            return list(cells)  # type: ignore[arg-type]
        return [_text(cell) for cell in cells]

    def is_numeric(self, column: str) -> bool:
        """Return whether a column has numbers, or text that reads as such, and nothing else.

        >>> table = read_query_table([{"qid": "1", "n": "2.5", "long": True}], "queries")
        >>> table.is_numeric("n"), table.is_numeric("long")
        (True, False)
        """
        known = [cell for cell in self._cells(column) if cell is not None]
        return bool(known) and not any(
            isinstance(cell, bool) or math.isinf(_number(cell)) for cell in known
        )

    def _cells(self, column: str) -> tuple[Cell, ...]:
        if column not in self.columns:
            raise InputError(
                self.name,
                "one of its columns",
                shown(column),
                did_you_mean(column, self.columns),
            )
        return self.columns[column]

    def _refuse(self, column: str, place: int) -> None:
        cell = self.columns[column][place]
        line = "" if self.lines is None else f":{self.lines[place]}"
        where = f"{self.name}{line}, query {self.queries[place]!r}"
        if isinstance(cell, int) and not is_exact(cell):
            raise InputError(
                where,
                f"a number as {column!r} that a float64 holds exactly",
                written_integer(cell),
                INEXACT,
            )
        raise InputError(where, f"a finite number as {column!r}", shown(cell))


def read_query_table(given: object, name: str, *, query: str | None = None) -> QueryTable:
    """Read a table with one row for each query.

    Args:
        given: `{query: value}` (its column is called value), `{query: {column: value}}`, a list
            of dicts, a data frame, an Arrow object, or the path of a file: CSV, TSV, JSON of any
            of these shapes, JSON lines, Parquet, or what trec_eval -q prints, packed or not;
            `-` is standard input.
        name: what messages call it.
        query: the column of the query; one of the usual names if None. In a text file without
            names, its number from 1.

    >>> read_query_table([{"qid": "007", "ndcg": 0.5}], "scores").columns
    {'ndcg': (0.5,)}
    """
    if query is not None and not isinstance(query, str):
        raise InputError(f"{name}, query", "the name of a column", shown(query))
    if isinstance(given, QueryTable):
        return given
    if isinstance(given, Mapping):
        return _of_mapping(given, name)
    if isinstance(given, str | os.PathLike):
        with Session() as session:
            return _of_file(plain_file(path_of(given), session), query, session)
    if isinstance(given, list | tuple):
        return _of_records(Recorded(list(given), None), name, query)
    table = readable(given)
    if table is None:
        raise InputError(name, _FORMS, type(given).__name__)
    with Session() as session:
        return _of_frame(given, table, name, query, session)


def _of_file(file: Plain, query: str | None, session: Session) -> QueryTable:
    if is_parquet(file.path):
        path = file_quoted(file.path, session)
        relation = f"read_parquet([{path}], binary_as_string=true, hive_partitioning=false)"
        for part in written_columns(path, session, file.name):
            refuse_repeated([column for column, _ in part], file.name)
        return _typed(relation, file.name, query, session)
    found = read_query_file(file, query)
    if isinstance(found, Mapping):
        return _of_mapping(found, file.name)
    if isinstance(found, Recorded):
        return _of_records(found, file.name, query)
    return _checked(found, file.name)


def _of_mapping(given: Given, name: str) -> QueryTable:
    nested = [isinstance(row, Mapping) for row in given.values()]
    if all(nested):
        columns = _gathered(list(given.values()), name)
    elif not any(nested):
        columns = {_VALUE: tuple(given.values())}
    else:
        where = f"{name}, query {list(given)[nested.index(False)]!r}"
        raise InputError(where, "a dict {column: value}, as other queries have", "a value")
    return _checked(Listed(tuple(given), columns, None), name)


def _of_records(found: Recorded, name: str, query: str | None) -> QueryTable:
    records = found.records

    def where(place: int) -> str:
        return (
            f"{name}, record {place + 1}" if found.lines is None else f"{name}:{found.lines[place]}"
        )

    if not {*map(type, records)} <= {dict}:  # much faster than a look at each
        for place, record in enumerate(records):
            if not isinstance(record, Mapping):
                raise InputError(
                    where(place), "an object with a value for each column", shown(record)
                )
    columns = _gathered(records, name)
    key = [*columns][find_query([*columns], query, where(0))] if records else ""
    queries = columns.pop(key, ())
    for place, found_id in enumerate(queries):
        if found_id is None:
            raise InputError(where(place), f"an id as {key!r}", "nothing")
    return _checked(Listed(queries, columns, found.lines), name)


def _gathered(records: Sequence[Given], name: str) -> dict[str, tuple[Cell, ...]]:
    """Make columns of records, in the order in which their keys come; what one lacks is None."""
    keys: dict[Any, Any] = {}
    for record in records:
        keys.update(record)
    columns = {}
    for key in keys:
        if not isinstance(key, str):
            raise InputError(name, "texts as names of columns", shown(key))
        columns[key] = tuple([record.get(key) for record in records])
    return columns


def _of_frame(
    given: object, table: object, name: str, query: str | None, session: Session
) -> QueryTable:
    import duckdb

    try:
        # What can be read only once is looked at twice.
        stored = session.name("queries")
        session.execute(f"CREATE TEMP TABLE {stored} AS FROM {session.register('queries', table)}")
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None
    refuse_repeated(written_names(table) or [], name)
    return _typed(stored, name, query, session, given)


def _typed(
    relation: str, name: str, query: str | None, session: Session, given: object = None
) -> QueryTable:
    """Read columns that have types."""
    import duckdb

    try:
        described = session.rows(f"DESCRIBE SELECT * FROM {relation}")
        names = [str(row[0]) for row in described]
        types = [str(row[1]).split("(")[0].split(" WITH ")[0] for row in described]
        types = [kind.split("_")[0] if kind.startswith("TIMESTAMP") else kind for kind in types]
        place = find_query(names, query, name)
        if types[place] not in _IDS:
            raise InputError(
                f"{name}, column {names[place]!r}",
                "strings (or integers) as ids for query",
                f"values of type {types[place]}",
                "Make the ids strings first.",
            )
        refuse_odd_ids(given, [names[place]], Kind(name, _VALUE, ("query",)))
        selected = [_selected(*column, name) for column in zip(names, types, strict=True)]
        selected[place] = f"CAST({name_quoted(names[place])} AS VARCHAR)"
        rows = session.rows(f"SELECT {', '.join(selected)} FROM {relation}")
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    columns: dict[str, tuple[Cell, ...]] = dict(zip(names, cells, strict=True))
    for column, values in objects_in(given, names):  # which the engine has written as text
        columns[str(column)] = tuple(
            int(value) if isinstance(value, int | np.integer) and text not in _TRUTH else text
            for value, text in zip(values, columns[str(column)], strict=True)
        )
    return _checked(Listed(columns.pop(names[place]), columns, None), name)


def _selected(column: str, kind: str, name: str) -> str:
    quoted = name_quoted(column)
    if kind in _AS_THEY_ARE:
        return quoted
    if kind == "DECIMAL":
        return f"CAST({quoted} AS DOUBLE)"
    if kind in _AS_TEXT:
        return f"CAST({quoted} AS VARCHAR)"
    raise InputError(
        f"{name}, column {column!r}",
        "text, numbers or truth",
        f"values of type {kind}",
        "Leave the column out, or make its values text.",
    )


def _checked(found: Listed, name: str) -> QueryTable:
    """Make a table of what was read, each query once, every cell of a kind that is known."""
    if not found.queries:
        raise InputError(name, "at least one query", "none")
    if not found.columns:
        raise InputError(name, "a column beside the query", "none")
    lines = found.lines

    def where(place: int) -> str:
        return f"{name}, row {place + 1}" if lines is None else f"{name}:{lines[place]}"

    queries = found.queries
    if {*map(type, queries)} != {str}:
        for place, query in enumerate(queries):
            if query is None:
                raise InputError(where(place), "an id as query", "nothing")
        queries = tuple(id_text(query, where=where(place)) for place, query in enumerate(queries))
    refuse_halves(map(str, queries), where=f"{name}, query ids")
    if len({*queries}) < len(queries):
        place = _again(queries)
        raise InputError(
            where(place), "each query once", f"{queries[place]!r} again", "Remove one of them."
        )
    columns = {
        column: _known(cells, queries, f"{name}, column {column!r}")  # type: ignore[arg-type]
        for column, cells in found.columns.items()
    }
    return QueryTable(name, queries, columns, lines)  # type: ignore[arg-type]


def _again(queries: Iterable[object]) -> int:
    """Return the place at which a query comes for the second time."""
    seen: set[object] = set()
    for place, query in enumerate(queries):
        if query in seen:
            return place
        seen.add(query)
    raise AssertionError  # is called where one does


def _known(cells: tuple[Any, ...], queries: Sequence[str], where: str) -> tuple[Cell, ...]:
    if {*map(type, cells)} <= _CELLS:
        return cells
    known: list[Cell] = []
    for cell, query in zip(cells, queries, strict=True):
        plain = cell.item() if isinstance(cell, np.generic) else cell
        if type(plain) not in _CELLS:
            raise InputError(
                f"{where}, query {query!r}", "text, a number, truth or nothing", shown(cell)
            )
        known.append(plain)
    return tuple(known)


def _number(cell: Cell) -> float:
    """Return a cell as a float: NaN where nothing is, infinite where no finite number is."""
    if cell is None:
        return math.nan
    if isinstance(cell, str):
        number = math.nan if not cell.strip() else number_in(cell)
        return math.inf if number is None else number
    if isinstance(cell, int) and not is_exact(cell):
        return math.inf
    return float(cell)


def _text(cell: Cell) -> str | None:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return str(cell)
