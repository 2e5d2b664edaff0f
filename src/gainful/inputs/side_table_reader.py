"""`read_table`: one reader of tables beside runs and judgments, from any format and any frame.

It serves what is small beside a run: slices, scores from elsewhere, texts, chunk maps, samples and
judgments of subtopics. Runs and judgments have readers of their own, which are made for size.
"""

import math
import os
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Literal, SupportsFloat

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.inputs.arrays import LARGEST_EXACT
from gainful.inputs.data_frames import (
    id_type_in,
    is_lasting,
    objects_in,
    readable,
    refuse_odd_ids,
    written_names,
)
from gainful.inputs.duckdb_engine import Session, file_quoted, name_quoted, said
from gainful.inputs.faulty_rows import NO_HEADER
from gainful.inputs.files import (
    LocalFile,
    is_parquet,
    parts_of,
    path_of,
    plain_file,
    refuse_versioned_tables,
)
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS
from gainful.inputs.id_types import IdType, type_of_column, type_of_ids
from gainful.inputs.identifiers import id_text, refuse_halves
from gainful.inputs.parquet_and_frame_tables import (
    FRACTIONS,
    id_text_in_sql,
    is_whole_in_sql,
    refuse_mixed,
    written_columns,
)
from gainful.inputs.run_and_judgment_columns import refuse_ids, refuse_repeated
from gainful.inputs.side_table_columns import CHUNKS, Header, Role, Roles, find_header
from gainful.inputs.side_table_formats import format_of, number_in, read_head
from gainful.inputs.side_table_rows import Reading, TableRow, mapping_rows, record_rows
from gainful.inputs.values_as_numbers import INEXACT, is_exact, written_integer
from gainful.message_texts import did_you_mean, shown

Cell = str | float | int | bool | None

_CELLS = frozenset([str, float, int, bool, type(None)])
_TEXT = {str, type(None)}
_PLAIN = {float, type(None)}  # numbers as they are; NumPy makes NaN of None
_TRUTH = ("True", "False")

# The types of the engine: read as they are, as float64, and as text.
_WHOLE = frozenset(
    f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")
) | {"HUGEINT", "UHUGEINT"}
_AS_THEY_ARE = _WHOLE | {"VARCHAR", "BOOLEAN", "FLOAT", "DOUBLE"}
_AS_TEXT = frozenset(["ENUM", "UUID", "DATE", "TIME", "TIMESTAMP", "INTERVAL", "JSON", '"NULL"'])
_IDS = _WHOLE | {"VARCHAR", "ENUM", "UUID"} | FRACTIONS


@dataclass(frozen=True, slots=True, eq=False)
class InputTable:
    """A table that was read.

    Attributes:
        name: what messages call it: the file, or the word of the caller.
        roles: the columns that have a role, by its name, each (n,) ids, float64 or texts.
        columns: the other columns by name, each (n,) cells: text, number, truth, or None where
            nothing is. Cells of text files are text.
        places: (n,) what messages call the place of each row.
        first: the first id that was met, wanted or not, where only some are wanted.
        has_columns: whether what was read has columns with names, as dicts have not.
        groups: the keys of dicts that hold others, whether there are rows in them or not.
        types: what ids were, before they were text, by role, where they had types.
        called: the name that the column of a role has in the table, by role, where it has one.

    >>> from gainful.inputs.side_table_columns import QUERIES
    >>> given = {"q1": {"length": 3, "locale": "de"}, "q2": {"length": 5}}
    >>> table = read_table(given, QUERIES, "slices")
    >>> table["query"], table.numbers("length"), table.texts("locale")
    (('q1', 'q2'), array([3., 5.]), ['de', None])
    """

    name: str
    roles: dict[str, tuple[Any, ...]]
    columns: dict[str, tuple[Cell, ...]]
    places: tuple[int | str, ...] = field(repr=False)
    first: str | None = None
    has_columns: bool = True
    groups: tuple[tuple[str, ...], ...] = ()
    types: Mapping[str, IdType] = field(default_factory=dict, repr=False)
    called: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __getitem__(self, role: str) -> tuple[Any, ...]:
        return self.roles[role]

    def __len__(self) -> int:
        return len(self.places)

    def where(self, row: int) -> str:
        """Return what messages call the place of a row, from 0."""
        place = self.places[row]
        return place if isinstance(place, str) else f"{self.name}:{place}"

    def numbers(self, column: str) -> Floats:
        """Return a column (n,) as float64, NaN where a cell is missing; truth is 1 or 0."""
        cells = self._cells(column)
        if not {*map(type, cells)} <= _PLAIN:
            cells = tuple(_cell_number(cell) for cell in cells)
        numbers = np.array(cells, np.float64)
        # What is no number came back as infinite too: its place is looked for here alone.
        wrong = np.flatnonzero(np.isinf(numbers))
        if wrong.size:
            self._refuse(column, int(wrong[0]))
        return numbers

    def texts(self, column: str) -> list[str | None]:
        """Return a column (n,) as text, None where a cell is missing."""
        cells = self._cells(column)
        if {*map(type, cells)} <= _TEXT:
            return list(cells)  # type: ignore[arg-type]
        try:
            return [None if cell is None or cell != cell else str(cell) for cell in cells]
        except ValueError:  # Python writes no integer of thousands of digits
            where = f"{self.name}, column {column!r}"
            raise InputError(
                where, "texts, or numbers to write as such", "a huge integer"
            ) from None

    def is_numeric(self, column: str) -> bool:
        """Return whether a column has numbers, or text that reads as such, and nothing else.

        >>> from gainful.inputs.side_table_columns import QUERIES
        >>> table = read_table([{"qid": "1", "n": "2.5", "long": True}], QUERIES, "slices")
        >>> table.is_numeric("n"), table.is_numeric("long")
        (True, False)
        """
        cells = self._cells(column)
        if {*map(type, cells)} == {float}:
            return not bool(np.isinf(np.array(cells, np.float64)).any())
        known = [cell for cell in cells if cell is not None]
        return bool(known) and not any(
            isinstance(cell, bool) or math.isinf(_cell_number(cell)) for cell in known
        )

    def _cells(self, column: str) -> tuple[Cell, ...]:
        if column not in self.columns:
            known = did_you_mean(column, self.columns)
            raise InputError(self.name, "one of its columns", shown(column), known)
        return self.columns[column]

    def _refuse(self, column: str, row: int) -> None:
        cell = self.columns[column][row]
        place = self.places[row]
        line = f":{place}" if isinstance(place, int) else ""
        ids = "".join(f", {key} {ids[row]!r}" for key, ids in self.roles.items())
        raise _no_number(f"{self.name}{line}{ids}", f"{column!r}", cell)


def read_table(
    given: object,
    roles: Roles,
    name: str,
    *,
    columns: Mapping[str, str] | None = None,
    wanted: Collection[str] | None = None,
    session: Session | None = None,
) -> InputTable:
    """Read a table of any kind, from any format.

    Args:
        given: dicts, nested by the keys of the roles; a list of dicts; a data frame; an Arrow
            object; or the path of a file: CSV, TSV, JSON of any of these shapes, JSON lines,
            Parquet, or what else the roles take, packed or not; `-` is standard input.
        roles: what its columns hold.
        name: what messages call it, where it is no file.
        columns: names of columns by role, where they are not among the usual. In a text file
            without names, numbers from 1.
        wanted: the ids of the first key whose rows are kept; None for all.
        session: what reads Parquet and frames, and where files are unpacked.

    >>> from gainful.inputs.side_table_columns import CHUNKS
    >>> read_table([{"chunk": "c1", "doc": "d7"}], CHUNKS, "chunks").roles
    {'chunk': ('c1',), 'document': ('d7',)}
    """
    if isinstance(given, InputTable):
        return given
    reading = Reading(roles, name, columns or {}, wanted)
    for role, asked in reading.asked.items():
        if not isinstance(asked, str):
            raise InputError(f"{name}, {role}", "the name of a column", shown(asked))
    if isinstance(given, Mapping):
        table = _gathered(mapping_rows(given, reading), reading, "dicts")
        return replace(table, types={roles.all[0].name: type_of_ids(given)})
    if isinstance(given, list | tuple):
        records = ((f"{name}, record {number}", each) for number, each in enumerate(given, 1))
        found = record_rows(records, reading, "a dict {column: value}")
        return _gathered(found, reading, "records")
    if session is None:
        with Session() as session:
            return _from_outside(given, reading, session)
    return _from_outside(given, reading, session)


def _from_outside(given: object, reading: Reading, session: Session) -> InputTable:
    if isinstance(given, str | os.PathLike):
        return _from_path(path_of(given), reading, session)
    table = readable(given, reading.name)
    if table is None:
        forms = (
            f"a dict {reading.roles.shape}, a list of dicts, the path of a file, or a data frame"
        )
        raise InputError(reading.name, forms, type(given).__name__)
    return _from_frame(given, table, reading, session)


def _from_path(name: str, reading: Reading, session: Session) -> InputTable:
    parts = parts_of(name)
    if parts is not None:
        return _from_parquet(parts, _renamed(reading, name), session)
    file = plain_file(name, session)
    reading = _renamed(reading, file.name)
    if is_parquet(file.path):
        return _from_parquet([file.path], reading, session)
    return _from_text(file, reading)


def _renamed(reading: Reading, name: str) -> Reading:
    return Reading(reading.roles, name, reading.asked, reading.wanted)


def _from_text(file: LocalFile, reading: Reading) -> InputTable:
    head = read_head(file, reading.roles)
    text_format = format_of(head, reading)
    return _gathered(text_format.rows(head, reading), reading, text_format.cells)


# --- tables whose columns have types


def _from_parquet(parts: Sequence[Path], reading: Reading, session: Session) -> InputTable:
    refuse_versioned_tables((part.parent for part in parts), reading.name)
    files = ", ".join(file_quoted(part, session) for part in parts)
    written = written_columns(files, session, reading.name)
    relation = f"read_parquet([{files}], binary_as_string=true, hive_partitioning=false)"
    for part in written:
        names = [column for column, _ in part]
        header = find_header(names, reading.roles, reading.asked, reading.name)
        read = names if reading.roles.others else [names[at] for at in header.places.values()]
        refuse_mixed(written, read, reading.name)
    return _typed(relation, reading, session)


def _from_frame(given: object, table: object, reading: Reading, session: Session) -> InputTable:
    import duckdb

    try:
        relation = session.register("table", table)
        if not is_lasting(given):  # what can be read only once is looked at twice
            stored = session.name("table")
            session.execute(f"CREATE TEMP TABLE {stored} AS FROM {relation}")
            relation = stored
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(reading.name, "a table that can be read", said(problem)) from None
    return _typed(relation, reading, session, given, table)


def _typed(
    relation: str, reading: Reading, session: Session, given: object = None, table: object = None
) -> InputTable:
    """Read columns that have types.

    Args:
        relation: SQL, what stands after FROM.
        reading: what is read.
        session: where it can be read.
        given: the frame, if it is one.
        table: what the engine reads of that frame.
    """
    import duckdb

    roles, name = reading.roles, reading.name
    try:
        described = session.rows(f"DESCRIBE SELECT * FROM {relation}")
        names = [str(row[0]) for row in described]
        if table is not None:  # the engine gives another name to the second of two that are equal
            refuse_repeated(written_names(table) or [], name)
        header = find_header(names, roles, reading.asked, name)
        types = dict(zip(names, (_plain_type(str(row[1])) for row in described), strict=True))
        ids = {role.name: header.places[role.name] for role in roles.all if role.holds == "id"}
        refuse_ids(name, [*types.items()], ids, _IDS)
        _refuse_fractions(
            relation, {role: names[at] for role, at in ids.items()}, types, name, session
        )
        refuse_odd_ids(given, [names[place] for place in ids.values()], name)
        select, read = _selected(header, types, reading)
        rows = session.rows(f"{select} FROM {relation}{_join(header, types, reading, session)}")
        if reading.wanted is not None and not rows:
            some = session.rows(f"{select} FROM {relation} LIMIT 1")
            reading.first.extend(str(row[0]) for row in some)
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None
    objects = {str(column): values for column, values in objects_in(given, read.names)}
    if objects and reading.wanted is None:
        rows = _with_integers(rows, read, objects, ids)
    numbers = count(1) if reading.wanted is None else None
    places = (name if numbers is None else f"{name}, row {next(numbers)}" for _ in rows)
    found = map(TableRow, places, [read] * len(rows), rows)
    id_types = {
        role: type_of_column(str(described[place][1]))
        if table is None
        else id_type_in(table, place, str(described[place][1]))
        for role, place in ids.items()
    }
    return replace(_gathered(found, reading, "typed"), types=id_types)


def _refuse_fractions(
    relation: str, ids: Mapping[str, str], types: Mapping[str, str], name: str, session: Session
) -> None:
    """Refuse ids, in columns by role, that are fractions; those that are missing are found later."""
    for role, column in ids.items():
        if types[column] not in FRACTIONS:
            continue
        odd = f"NOT coalesce({is_whole_in_sql(column)}, true) AND NOT isnan({name_quoted(column)})"
        for (found,) in session.rows(
            f"SELECT CAST({name_quoted(column)} AS VARCHAR) FROM {relation} WHERE {odd} LIMIT 1"
        ):
            expected = f"strings (or integers) as ids for {role}"
            raise InputError(
                f"{name}, column {column!r}", expected, found, "Make the ids strings first."
            )


def _plain_type(written: str) -> str:
    """Return a type of the engine without what it is made of; of decimals, whether it has places."""
    if written.startswith("DECIMAL") and written.endswith(",0)"):
        return "HUGEINT"
    kind = written.split("(")[0].split(" WITH ")[0]
    return kind.split("_")[0] if kind.startswith("TIMESTAMP") else kind


def _selected(header: Header, types: Mapping[str, str], reading: Reading) -> tuple[str, Header]:
    """Write as SQL what is read: the roles first, then the other columns where they are kept."""
    found, names = [], []
    for role in (*reading.roles.all, *reading.roles.besides):
        place = header.places.get(role.name)
        if place is not None:
            names.append(header.names[place])
            found.append(_column(names[-1], types, role, reading.name))
    places = {name: at for at, name in enumerate(r for r in header.places)}
    others = [name for name, _ in header.others] if reading.roles.others else []
    found += [_column(column, types, None, reading.name) for column in others]
    return f"SELECT {', '.join(found)}", Header((*names, *others), places)


def _column(column: str, types: Mapping[str, str], role: Role | None, name: str) -> str:
    quoted, kind = name_quoted(column), types[column]
    if role is not None and role.holds == "id":
        return id_text_in_sql(column, kind, name)
    if role is not None and role.holds == "text":
        text = f"CAST({quoted} AS VARCHAR)"
        quoted = text if role.longest is None else f"left({text}, {role.longest})"
        kind = kind if kind not in _AS_TEXT else "VARCHAR"
    if kind in _AS_THEY_ARE:
        return quoted
    if kind == "DECIMAL":
        return f"CAST({quoted} AS DOUBLE)"
    if kind in _AS_TEXT and (role is None or role.holds != "number"):
        return f"CAST({quoted} AS VARCHAR)"
    raise InputError(
        f"{name}, column {column!r}",
        f"numbers as {role.name}" if role and role.holds == "number" else "text, numbers or truth",
        f"values of type {kind}",
        "Leave the column out, or make its values text."
        if role is None
        else "Make them numbers first."
        if role.holds == "number"
        else "Make them texts first.",
    )


def _join(header: Header, types: Mapping[str, str], reading: Reading, session: Session) -> str:
    """Write as SQL which rows are wanted."""
    if reading.wanted is None:
        return ""
    column = header.names[header.places[reading.roles.keys[0].name]]
    ids = np.array([*reading.wanted], object)
    known = session.register("ids", {"wanted": ids})
    key = id_text_in_sql(column, types[column], reading.name)
    return f" SEMI JOIN {known} ON {key} = wanted"


def _with_integers(
    rows: Sequence[Sequence[Any]],
    header: Header,
    objects: Mapping[str, Iterable[Any]],
    ids: Mapping[str, int],
) -> list[tuple[Any, ...]]:
    """Return rows with the integers of columns of objects, which the engine has written as text."""
    columns = [*zip(*rows, strict=True)]
    read_as_ids = {header.places[role] for role in ids}
    for place, name in enumerate(header.names):
        if name in objects and place not in read_as_ids and columns:
            columns[place] = tuple(
                int(value) if isinstance(value, int | np.integer) and text not in _TRUTH else text
                for value, text in zip(objects[name], columns[place], strict=True)
            )
    return [*zip(*columns, strict=True)]


# --- cells, checked and gathered as columns

_Form = Literal["text", "json", "dicts", "records", "typed"]


def _gathered(found: Iterable[TableRow], reading: Reading, form: _Form) -> InputTable:
    """Make columns of rows, and check what is in them."""
    rows = _Rows(reading, form)
    rows.keep(found)
    roles = reading.roles
    if not rows.places and reading.wanted is None:
        raise InputError(reading.name, roles.least, "none")
    columns, others = rows.columns()
    if roles.others and not others and not roles.keys_alone:
        raise InputError(reading.name, f"a column beside the {roles.keys[0].noun}", "none")
    every = (*roles.all, *roles.besides)
    read = {role.name: rows.checked(columns[role.name], role) for role in every}
    table = InputTable(
        reading.name,
        read,
        {name: _known(column, read, f"{reading.name}, column {name!r}") for name, column in others},
        tuple(rows.places),
        reading.first[0] if reading.first else None,
        form != "dicts",
        tuple(reading.groups),
        called=rows.called(),
    )
    if roles.repeats != "yes":
        _refuse_repeats(table, roles)
    return table


class _Rows:
    """The rows of a table that are kept: where each stands, its header and its cells."""

    def __init__(self, reading: Reading, form: _Form) -> None:
        self._reading, self._roles, self._form = reading, reading.roles, form
        self.places: list[int | str] = []
        self._headers: list[Header] = []
        self._cells: list[Sequence[Any]] = []

    def keep(self, found: Iterable[TableRow]) -> None:
        """Keep the rows that are wanted; of their texts no more than is read."""
        some = self._reading.wanted is not None and self._form != "dicts"
        longest = max((role.longest or 0 for role in self._roles.values), default=0)
        if not some and not longest:
            rows = [*found]
            if rows:
                places, headers, cells = zip(*rows, strict=True)  # much faster than one by one
                self.places, self._headers, self._cells = [*places], [*headers], [*cells]
            return
        for place, header, cells in found:
            if some and not self._is_wanted(place, header, cells):
                continue
            self.places.append(place)
            self._headers.append(header)
            self._cells.append(
                [cell[:longest] if type(cell) is str else cell for cell in cells]
                if longest
                else cells
            )

    def _is_wanted(self, place: int | str, header: Header, cells: Sequence[Any]) -> bool:
        role = self._roles.keys[0]
        key = cells[header.places[role.name]]
        return self._reading.wants(key if type(key) is str else self._id(key, role, place))

    def columns(self) -> tuple[dict[str, Sequence[Any]], list[tuple[str, Sequence[Any]]]]:
        """Return the columns of roles, and the others; what a row lacks is None."""
        roles = self._roles
        headers = {id(header): header for header in self._headers}
        every = (*roles.all, *roles.besides)
        nothing = [None] * len(self._cells)
        if len(headers) == 1:  # as of most tables, which is faster
            header, found = self._headers[0], [*zip(*self._cells, strict=True)]
            at = header.places
            return (
                {r.name: found[at[r.name]] if r.name in at else nothing for r in every},
                [(name, found[place]) for name, place in header.others] if roles.others else [],
            )
        names = [name for header in headers.values() for name, _ in header.others] * roles.others
        places = {key: {**dict(each.others), **each.places} for key, each in headers.items()}
        rows = [*zip(map(places.get, map(id, self._headers)), self._cells, strict=True)]

        def column(name: str) -> list[Any]:
            return [cells[at[name]] if at and name in at else None for at, cells in rows]

        return (
            {role.name: column(role.name) for role in every},
            [(name, column(name)) for name in dict.fromkeys(names)],
        )

    def called(self) -> dict[str, str]:
        """Return the names that the first row has for the columns of roles."""
        if self._form == "dicts" or not self._headers or self._headers[0].numbered:
            return {}
        header = self._headers[0]
        return {role: header.names[place] for role, place in header.places.items()}

    def checked(self, column: Sequence[Any], role: Role) -> tuple[Any, ...]:
        """Return a column as what its role holds."""
        if role.holds == "id":
            return self._ids(column, role)
        plain = role.holds == "number" and {*map(type, column)} <= {int, float}
        if plain and all(-LARGEST_EXACT < number < LARGEST_EXACT for number in column):
            return tuple(map(float, column))  # much faster than a look at each
        check = {"number": self._number, "text": self._text, "label": self._label}[role.holds]
        return tuple([check(cell, role, row) for row, cell in enumerate(column)])

    def _ids(self, column: Sequence[Any], role: Role) -> tuple[str, ...]:
        if not {*map(type, column)} <= {str}:
            column = [
                self._id(cell, role, place) for cell, place in zip(column, self.places, strict=True)
            ]
        if "" in column and self._form != "dicts":
            where = self._reading.where(self.places[[*column].index("")])
            raise InputError(where, f"an id as {role.name}", "an empty text")
        refuse_halves(column, where=f"{self._reading.name}, {role.noun} ids")
        return tuple(column)

    def _id(self, cell: object, role: Role, place: int | str) -> str:
        if cell is None:
            raise InputError(self._reading.where(place), f"an id as {role.name}", "nothing")
        return id_text(cell, where=self._reading.where(place))

    def _number(self, cell: Any, role: Role, row: int) -> float:
        number: float | None = None
        written = isinstance(cell, str) and self._form in ("text", "typed")
        if written:
            number = number_in(cell)
        elif isinstance(cell, bool | np.bool_):
            # JSON has numbers for numbers; a column of truth and a dict are what programs make.
            number = float(cell) if role.truth and self._form in ("dicts", "typed") else None
        elif isinstance(cell, SupportsFloat):
            try:
                number = float(cell)
            except (TypeError, ValueError, OverflowError):
                number = None
        if number is None or not math.isfinite(number) or not _is_exact(cell):
            remedy = NO_HEADER if self._headers[row].numbered and written else ""
            raise _no_number(self._where(row), role.name, cell, remedy)
        return number

    def _text(self, cell: Any, role: Role, row: int) -> str | None:
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return None
        if not isinstance(cell, str | int | float):
            raise InputError(self._where(row), "a text", shown(cell))
        try:
            text = str(cell)[: role.longest]
            text.encode()
        except (ValueError, UnicodeEncodeError):  # thousands of digits, or half a character
            raise InputError(self._where(row), "a text", shown(cell)) from None
        return text

    def _label(self, cell: Any, role: Role, row: int) -> Any:
        if not isinstance(cell, Hashable) or (cell is None and self._form != "dicts"):
            raise InputError(self._where(row), f"the name of a {role.name}", shown(cell))
        return cell

    def _where(self, row: int) -> str:
        """Return what messages call the place of a cell: its line, or its row and the ids of that."""
        where = self._reading.where(self.places[row])
        if isinstance(self.places[row], int):
            return where
        keys = self._roles.keys if self._form != "dicts" else self._roles.keys[-1:]
        header, cells = self._headers[row], self._cells[row]
        named = [(role.noun, cells[header.places[role.name]]) for role in keys]
        return where + "".join(f", {noun} {cell!r}" for noun, cell in named)


def _known(cells: Sequence[Any], read: Mapping[str, Sequence[Any]], where: str) -> tuple[Cell, ...]:
    """Return the cells of a column without a role: text, numbers, truth or nothing."""
    if {*map(type, cells)} <= _CELLS:
        return tuple(cells)
    known: list[Cell] = []
    for row, cell in enumerate(cells):
        plain = cell.item() if isinstance(cell, np.generic) else cell
        if type(plain) not in _CELLS:
            ids = "".join(f", {key} {ids[row]!r}" for key, ids in read.items())
            raise InputError(f"{where}{ids}", "text, a number, truth or nothing", shown(cell))
        known.append(plain)
    return tuple(known)


def _refuse_repeats(table: InputTable, roles: Roles) -> None:
    """Refuse rows with the keys of another, unless they may be the same."""
    keys = [*zip(*(table[role.name] for role in roles.keys), strict=True)]
    if len({*keys}) == len(keys):
        return
    seen: dict[tuple[str, ...], int] = {}
    for row, key in enumerate(keys):
        before = seen.setdefault(key, row)
        values = [table[role.name] for role in roles.values]
        same = roles.repeats == "same" and all(each[row] == each[before] for each in values)
        if before != row and not same:
            *outer, noun = [role.noun for role in roles.keys]
            of = f" for a {' of a '.join(reversed(outer))}" if outer else ""
            other = ", with another " + roles.values[-1].noun if roles.repeats == "same" else ""
            raise InputError(
                table.where(row),
                f"each {noun} once{of}",
                f"{key[-1]!r} again{other}",
                "Remove one of them.",
            )


def _cell_number(cell: Cell) -> float:
    """Return a cell as a float: NaN where nothing is, infinite where no finite number is."""
    if cell is None:
        return math.nan
    if isinstance(cell, str):
        number = math.nan if not cell.strip() else number_in(cell)
        return math.inf if number is None else number
    if not _is_exact(cell):
        return math.inf
    return float(cell)


def _is_exact(cell: object) -> bool:
    return not isinstance(cell, int | np.integer) or is_exact(int(cell))


def _no_number(where: str, name: str, cell: object, remedy: str = "") -> InputError:
    if isinstance(cell, int | np.integer) and not _is_exact(cell):
        expected = f"a number as {name} that a float64 holds exactly"
        return InputError(where, expected, written_integer(int(cell)), INEXACT)
    advice = JUDGMENTS.advice(cell) if name == JUDGMENTS.number else ""
    found = "nothing" if cell is None else shown(cell)
    return InputError(where, f"a finite number as {name}", found, remedy or advice)


def read_chunk_map(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Read which document each chunk belongs to, for the `chunks` of `evaluate`.

    Args:
        path: of a file with a chunk and its document on each line, white space of ASCII between
            them, as in TREC files. Or of a table of any other format, with a column for each.
            Packed or not; `-` is standard input.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "chunks.txt")
    >>> _ = file.write_text("c1 doc7\nc2 doc7\n")
    >>> read_chunk_map(file)
    {'c1': 'doc7', 'c2': 'doc7'}
    """
    table = read_table(path_of(path), CHUNKS, "chunks")
    return dict(zip(table["chunk"], table["document"], strict=True))
