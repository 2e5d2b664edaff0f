"""`Result`: the methods that every result has, based on its table: data frames, files, text, and equality.

A result class defines `table()`, or is a `Record` of a few fields, and inherits everything else.
"""

import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

from gainful import arguments
from gainful.errors import warn
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.message_texts import printable, shortened, shown
from gainful.output.rendering.table_formats import (
    SCREEN,
    WRITERS,
    Cell,
    Table,
    as_html,
    as_text,
    data_frame_library,
    folded,
    read_digits,
    read_width,
)

if TYPE_CHECKING:
    from gainful.rows.identifiers import IdType

_LONGEST = 1000  # letters of a repr, about 10 lines
_LONGEST_CELL = 200  # letters in a notebook
_MOST_KEYS = 6  # keys of a dict in a repr
_MOST_ROWS = 200  # rows that a notebook shows
_FOR_PEOPLE = ("table", "markdown", "latex", "html")


def write_for_file(format: str) -> Callable[[Table], str]:  # noqa: A002
    """Return the function that writes a table to a file in a format, regardless of the screen."""
    if format == "table":
        return partial(as_text, width=SCREEN, verbose=True)
    return WRITERS[format]


class FormerNames:
    """Attributes that had other names: a former name works until the next release, with a warning."""

    __slots__ = ()
    _FORMER: ClassVar[Mapping[str, str]] = MappingProxyType(
        {}
    )  # from the former name to the new one

    if not TYPE_CHECKING:  # so that type checkers report former names

        def __getattr__(self, name: str) -> Any:
            owner = type(self).__name__
            if name in (former := self._FORMER):
                new = former[name]
                warn(
                    f"{owner}.{name} is now {owner}.{new}. The old name works until the next release."
                )
                return getattr(self, new)
            message = f"{owner!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)


class Result:
    """The methods of every result: `to_dict`, data frames, `write`, a short `repr`, HTML, equality.

    Results are equal if all their contents are; NaN counts as equal to NaN.
    """

    __slots__ = ()

    def table(self) -> Table:
        """Return the result for rendering."""
        raise NotImplementedError

    def tables(self) -> list[Table]:
        """Return all tables for people."""
        return [self.table()]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; numbers that aren't finite become None."""
        return {name: _plain(getattr(self, name)) for name in _public_fields(self)}

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame; ids have their original type."""
        pandas = data_frame_library("pandas")
        return pandas.DataFrame(self._columns_for(pandas))

    def to_polars(self) -> Any:
        """Return the table as a polars DataFrame; ids have their original type."""
        polars = data_frame_library("polars")
        return polars.DataFrame(self._columns_for(polars))

    def to_arrow(self) -> Any:
        """Return the table as a pyarrow Table; ids have their original type."""
        pyarrow = data_frame_library("pyarrow")
        return pyarrow.table(self._columns_for(pyarrow))

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
    ) -> None:
        """Write the result to a file, which is replaced only when the new one is complete.

        Args:
            path: the path of the file; `-` is standard output.
            format: csv, tsv, json, jsonl or parquet, which keep every digit; markdown, latex, html
                or table, which round. If None, it follows from the name: .csv, .tsv, .json,
                .jsonl, .parquet, .md, .tex, .html, .txt. All formats except Parquet are compressed
                if the name ends in .gz or .zst.
        """
        # Imported here because most results are not written.
        from gainful.output.writing.output_files import TABLES, read_naming, write_parts
        from gainful.output.writing.table_files import write_table

        naming = read_naming(path, format, TABLES)
        if naming.format == "parquet":
            write_table(self.table(), path, format=format, id_types=self._id_types())
            return
        text = f"{self.rendered(naming.format)}\n"
        write_parts([text.encode(errors="surrogateescape")], path, naming.packing)

    def rendered(self, format: str | None = None) -> str:  # noqa: A002
        """Return the result as text, as in a file, with all notes in full.

        Args:
            format: one of `gainful.writing.formats()`; table if None.
        """
        if format is None:
            return self._rendered("table")
        return self._rendered(arguments.choice(format, "format", WRITERS))

    def _rendered(self, format: str) -> str:  # noqa: A002
        if format == "json" and hasattr(self, "to_json"):
            return str(self.to_json())
        tables = self.tables() if format in _FOR_PEOPLE else [self.table()]
        return "\n\n".join(write_for_file(format)(table) for table in tables)

    def _columns_by_name(self) -> dict[str, list[Cell]]:
        """Return the columns of the table, each of one type."""
        return self.table().columns_by_name()

    def _id_types(self) -> Mapping[str, "IdType"]:
        """Return the original types of ids, by the columns that contain them."""
        return {}

    def _columns_for(self, library: object) -> dict[str, Any]:
        """Return the columns of the table, with ids in their original type."""
        columns, types = self._columns_by_name(), self._id_types()
        if all(type_.is_plain for type_ in types.values()):
            return {**columns}
        # Imported here because it needs NumPy, and most ids are text.
        from gainful.output.writing.id_columns import with_ids

        return with_ids(columns, types, library)

    def _equal_by(self) -> tuple[object, ...]:
        """Return the values that determine whether two results are equal."""
        return tuple(getattr(self, name) for name in _fields(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return NotImplemented
        if not isinstance(other, type(self)) and not isinstance(self, type(other)):
            return False
        return _same(self._equal_by(), other._equal_by())

    def __hash__(self) -> int:
        return hash(tuple(part for part in self._equal_by() if isinstance(part, str)))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={_brief(getattr(self, name))}" for name in _public_fields(self))
        return printable(shortened(f"{type(self).__name__}({fields})", _LONGEST))

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the first rows of each table. No class overrides it."""
        return self._as_html(map(_cut, self._notebook_tables()))

    def _notebook_tables(self) -> list[Table]:
        return self.tables()

    def _as_html(self, tables: Iterable[Table]) -> str:
        return "".join(map(as_html, tables))


class Printed(Result):
    """A result that prints its tables."""

    __slots__ = ()

    def __str__(self) -> str:
        return as_text(*self.tables())


class Document(Result):
    """A result that prints sentences and narrow tables, and whose JSON is all of it rather than the rows of its table."""

    __slots__ = ()

    def sentences(self) -> list[str]:
        """Return the sentences that are printed above the result's tables."""
        return []

    def narrow_tables(self) -> list[Table]:
        """Return the tables for a terminal, which most people need; `tables()` returns all of them."""
        return self.tables()

    def brief_text(self, *, width: int | None = None, digits: int | None = None) -> str:
        """Return the result as text for a terminal: sentences, then narrow tables.

        Args:
            width: the width of the text in characters; if None, the terminal's width, and at least 80.
            digits: the number of decimals; if None, as many as each table usually has.
        """
        most, decimals = read_width(width), read_digits(digits)
        said = "\n".join(folded(printable(sentence), most) for sentence in self.sentences())
        tables = [
            table if decimals is None else dataclasses.replace(table, digits=decimals)
            for table in self.narrow_tables()
        ]
        parts = (said, *(as_text(table, width=most) for table in tables))
        return "\n\n".join(part for part in parts if part)

    def to_json(self) -> str:
        """Return everything as JSON."""
        # Imported here because most results are never written as JSON.
        import json

        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def __str__(self) -> str:
        return self.brief_text()


class Record(Result):
    """A result of a few fields: a row of a data frame, and a row for each field in a notebook."""

    __slots__ = ()

    def table(self) -> Table:
        """Return one row, with a column for each field."""
        record = _flat(self.to_dict())
        return Table(list(record), [list(record.values())])

    def _notebook_tables(self) -> list[Table]:
        rows: list[list[Cell]] = [
            [name, shortened(cell, _LONGEST_CELL) if isinstance(cell, str) else cell]
            for name, cell in _flat(self.to_dict()).items()
        ]
        return [Table(["field", "value"], rows)]


Row = TypeVar("Row")


class ResultOfRows(Result, Sequence[Row]):
    """A result that is a sequence of its rows."""

    __slots__ = ()
    rows: tuple[Row, ...]

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)


def _fields(result: object) -> list[str]:
    """Return the fields of a dataclass that determine equality."""
    if not dataclasses.is_dataclass(result):
        return []
    return [field.name for field in dataclasses.fields(result) if field.compare]


def _public_fields(result: object) -> list[str]:
    return [name for name in _fields(result) if not name.startswith("_")]


def _brief(value: object) -> str:
    """Return a value on one short line; for a dict only its keys, because values may be computed on access."""
    if isinstance(value, Mapping):
        keys = [str(key) for key in islice(value, _MOST_KEYS)]
        return f"<{', '.join([*keys, *(['…'] if len(value) > _MOST_KEYS else [])])}>"
    return shown(value)


def _plain(value: Any) -> Any:
    """Return a value that JSON can represent."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, Policy):
        return value.answers()
    if isinstance(value, Measure):
        return str(value)
    if hasattr(value, "dtype"):  # NumPy's types, although the help of commands doesn't load NumPy
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in _public_fields(value)}
    return str(value)


def _flat(record: Mapping[str, Any]) -> dict[str, Cell]:
    """Return the cells of a record: a dict's items under dotted names, lists as JSON."""
    import json

    cells: dict[str, Cell] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            cells |= {f"{name}.{inner}": cell for inner, cell in _flat(value).items()}
        elif isinstance(value, list):
            cells[name] = json.dumps(value, ensure_ascii=False)
        else:
            cells[name] = value
    return cells


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are equal, whatever they contain; NaN is equal to NaN."""
    if one is other:
        return True
    if hasattr(one, "dtype") and hasattr(other, "dtype"):
        import numpy as np

        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if _is_plain_dataclass(one) and type(one) is type(other):
        return all(_same(getattr(one, name), getattr(other, name)) for name in _fields(one))
    return bool(one == other)


def _is_plain_dataclass(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, Result | Measure | Policy)


def _cut(table: Table) -> Table:
    """Return a table for a notebook: the first rows, and the number of the others."""
    more = len(table.rows) - _MOST_ROWS
    if more <= 0:
        return table
    notes = [f"… and {more:,} more {'row' if more == 1 else 'rows'}", *table.notes]
    return dataclasses.replace(table, rows=table.rows[:_MOST_ROWS], notes=notes)
