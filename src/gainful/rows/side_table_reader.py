"""`read_table`: read small tables next to runs and judgments, such as slices, texts and chunk maps."""

import math
import os
from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np

from gainful.arguments import is_truth, is_writable
from gainful.arithmetic.number_arrays import LARGEST_EXACT
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shown
from gainful.rows.decimal_parsing import number_in_text
from gainful.rows.duckdb_engine import Session, name_quoted, reading_table
from gainful.rows.files import LocalFile, path_of
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, GradeWords, advice_on_words
from gainful.rows.identifiers import UNTYPED, IdType, id_text, refuse_halves, type_of_ids
from gainful.rows.parquet_and_frame_tables import (
    FRACTIONS,
    WHOLE,
    TypedTable,
    frame_table,
    id_text_in_sql,
    objects_in,
    readable,
    refuse_odd_ids,
    table_or_text,
)
from gainful.rows.run_and_judgment_columns import Columns, asked_columns, plain_name, refuse_ids
from gainful.rows.side_table_columns import CHUNKS, JUDGED, Header, Role, Roles, find_header
from gainful.rows.side_table_rows import (
    Place,
    RawTable,
    Reading,
    dict_table,
    listed_records,
    text_table,
)
from gainful.rows.text_formats import NO_HEADER
from gainful.rows.values_as_numbers import is_held, number_of, written_integer

Cell = str | float | int | bool | None

_CELLS = frozenset([str, float, int, bool, type(None)])
_TEXT = {str, type(None)}
_PLAIN = {float, type(None)}  # plain numbers; NumPy turns None into NaN

# Types of the engine by how they are read: unchanged, as float64, or as text.
_AS_THEY_ARE = WHOLE | {"VARCHAR", "BOOLEAN", "FLOAT", "DOUBLE"}
_AS_TEXT = frozenset(["ENUM", "UUID", "DATE", "TIME", "TIMESTAMP", "INTERVAL", "JSON", '"NULL"'])
_IDS = WHOLE | {"VARCHAR", "ENUM", "UUID"} | FRACTIONS


@dataclass(frozen=True, slots=True, eq=False)
class InputTable:
    """A table that has been read.

    Attributes:
        name: its name in messages: the file, or the argument.
        roles: the columns with a role, by its name, each (n,) ids, float64 or texts.
        columns: the other columns by name, each (n,) cells: text, a number, a boolean, or None if
            missing. Cells of text files are text.
        places: (n,) the location of each row in messages.
        first: the first id in the table, if only some ids are wanted.
        has_columns: whether the input has named columns, unlike dicts.
        groups: the keys of nested dicts, whether or not they contain rows.
        types: the original types of ids, by role.
        called: the name of each role's column in the table, if it has one.

    >>> from gainful.rows.side_table_columns import QUERIES
    >>> given = {"q1": {"length": 3, "locale": "de"}, "q2": {"length": 5}}
    >>> table = read_table(given, QUERIES, "slices")
    >>> table["query"], table.numbers("length"), table.texts("locale")
    (('q1', 'q2'), array([3., 5.]), ['de', None])
    """

    name: str
    roles: dict[str, tuple[object, ...]]
    columns: dict[str, tuple[Cell, ...]]
    places: tuple[int | str, ...] = field(repr=False)
    first: str | None = None
    has_columns: bool = True
    groups: tuple[tuple[str, ...], ...] = ()
    types: Mapping[str, IdType] = field(default_factory=dict, repr=False)
    called: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def id_types(self) -> tuple[IdType, IdType]:
        """The original types of the ids of queries and documents."""
        return self.types.get("query", UNTYPED), self.types.get("doc", UNTYPED)

    def __getitem__(self, role: str) -> tuple[Any, ...]:
        return self.roles[role]

    def __len__(self) -> int:
        return len(self.places)

    def where(self, row: int) -> str:
        """Return the location of a row, from 0, in messages."""
        place = self.places[row]
        return place if isinstance(place, str) else f"{self.name}:{place}"

    def numbers(self, column: str) -> Floats:
        """Return a column (n,) as float64, NaN for missing cells; booleans become 1 and 0."""
        cells = self._cells(column)
        if not {*map(type, cells)} <= _PLAIN:
            cells = tuple(_cell_number(cell) for cell in cells)
        numbers = np.array(cells, np.float64)
        # Cells that aren't numbers are also infinite here; only now are they located.
        wrong = np.flatnonzero(np.isinf(numbers))
        if wrong.size:
            self._refuse(column, int(wrong[0]))
        return numbers

    def texts(self, column: str) -> list[str | None]:
        """Return a column (n,) as text, None for missing cells."""
        cells = self._cells(column)
        if {*map(type, cells)} <= _TEXT:
            return list(cells)  # type: ignore[arg-type]
        try:
            return [None if cell is None or cell != cell else str(cell) for cell in cells]
        except ValueError:  # Python refuses to write integers of thousands of digits
            sizes = [abs(cell) if isinstance(cell, int) else 0 for cell in cells]
            where = f"{self.where(sizes.index(max(sizes)))}, column {column!r}"
            raise InputError(where, "text or a shorter number", "a huge integer") from None

    def is_numeric(self, column: str) -> bool:
        """Return whether a column contains only numbers, or text that represents numbers.

        >>> from gainful.rows.side_table_columns import QUERIES
        >>> table = read_table([{"qid": "1", "n": "2.5", "long": True}], QUERIES, "slices")
        >>> table.is_numeric("n"), table.is_numeric("long")
        (True, False)
        """
        known = [cell for cell in self._cells(column) if cell is not None]
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
    keys: Mapping[str, str] | None = None,
) -> InputTable:
    """Read a table of any kind, from any format.

    Args:
        given: dicts, nested by the keys of the roles; a list of dicts; a data frame; an Arrow
            object; or the path of a file: CSV, TSV, JSON in any of these shapes, JSON lines,
            Parquet, or other formats that the roles allow, compressed or not; `-` is standard input.
        roles: the contents of its columns.
        name: its name in messages, unless it is a file.
        columns: unusual column names, by role. In a text file without names, numbers from 1.
        wanted: the ids of the first key whose rows are kept; all if None.
        session: the engine's session, which reads Parquet and frames, and decompresses files.
        keys: the caller's names of columns in judgments and runs; those of the session if None. If they join
            several columns into one key, and the table has these columns, so does this function.

    >>> from gainful.rows.side_table_columns import CHUNKS
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
        table = _gathered(dict_table(given, reading), reading)
        return replace(table, types={roles.all[0].name: type_of_ids(given)})
    if (joined := _with_joined_keys(given, reading, session, keys)) is not None:
        return joined
    if isinstance(given, list | tuple):
        return _gathered(listed_records(given, reading), reading)
    with Session() if session is None else nullcontext(session) as session:
        if isinstance(given, str | os.PathLike):
            opened = table_or_text(path_of(given), session)
            reading = replace(reading, name=opened.name)
            if isinstance(opened, LocalFile):
                return _gathered(text_table(opened, reading), reading)
        else:
            frame = readable(given, name)
            if frame is None:
                forms = (
                    f"a dict {roles.shape}, a list of dicts, the path of a file, or a data frame"
                )
                raise InputError(name, forms, type(given).__name__)
            opened = frame_table(given, frame, session, name)
        return _typed(opened, reading, session)


_ID_OF = {
    "user": "query",
    "item": "doc",
    "document": "doc",
}  # in the names of columns that callers give


def _keys_of_several(
    roles: Roles, asked: Mapping[str, str], keys: Mapping[str, str]
) -> dict[str, str]:
    """Return the ids of a table that may consist of several columns, by role."""
    if not any("," in str(name) for name in (*asked.values(), *keys.values())):
        return {}
    from gainful.rows.keys_of_several_columns import joined_columns, key_of_several

    ids = [role.name for role in roles.all if role.holds == "id"]
    named = {
        role: asked[role] if role in asked else key_of_several(_ID_OF.get(role, role), keys)
        for role in ids
    }
    return {role: name for role, name in named.items() if name and joined_columns([name])}


def _with_joined_keys(
    given: object, reading: Reading, session: Session | None, keys: Mapping[str, str] | None
) -> "InputTable | None":
    """Read a table with the columns of each key joined; None if it has no such keys."""
    if keys is None:
        keys = {} if session is None else session.column_names
    joined = _keys_of_several(reading.roles, reading.asked, keys)
    if not joined:
        return None
    from gainful.rows.keys_of_several_columns import with_joined_columns

    with Session() if session is None else nullcontext(session) as own:
        table = with_joined_columns(given, [*joined.values()], own)
        if table is given:
            return None
        name = path_of(given) if isinstance(given, str | os.PathLike) else reading.name
        columns = {**reading.asked, **joined}
        how: dict[str, Any] = {"columns": columns, "wanted": reading.wanted, "keys": {}}
        read = read_table(table, reading.roles, name, session=own, **how)
    return replace(read, columns=_without_parts(read, reading.roles, joined))


def _without_parts(
    table: "InputTable", roles: Roles, joined: Mapping[str, str]
) -> dict[str, tuple[Cell, ...]]:
    """Return the other columns of a table, without the parts of a key that have a usual name of an id."""
    from gainful.rows.keys_of_several_columns import columns_of_key

    usual = {name for role in roles.all if role.name in joined for name in role.names}
    parts = {part for name in joined.values() for part in columns_of_key(name)}
    return {
        name: cells
        for name, cells in table.columns.items()
        if name not in parts or plain_name(name) not in usual
    }


# --- tables with typed columns


def _typed(table: TypedTable, reading: Reading, session: Session) -> InputTable:
    roles, name, wanted, names = reading.roles, reading.name, reading.wanted, table.names
    if roles.unpack is not None and not reading.asked:
        first = table.records(session, 1)
        if first and roles.unpack(first[0]) is not None:
            return _gathered(listed_records(table.records(session), reading), reading)
    header = find_header(table.written, roles, reading.asked, name)
    types = [_plain_type(type_) for _, type_ in table.described]
    ids = {role.name: header.places[role.name] for role in roles.all if role.holds == "id"}
    refuse_ids(name, [*zip(names, types, strict=True)], ids, _IDS)
    refuse_odd_ids(table.given, [names[place] for place in ids.values()], name)
    by_place = {header.places.get(role.name): role for role in (*roles.all, *roles.besides)}
    chosen = [*header.places.values(), *(at for _, at in header.others if roles.others)]
    places = {role: at for at, role in enumerate(header.places)}
    header = Header(tuple(names[at] for at in chosen), places)
    table.refuse_mixed(header.names)
    columns = [_column(names[at], types[at], by_place.get(at), name) for at in chosen]
    select, join = f"SELECT {', '.join(columns)} {table.relation}", ""
    if wanted is not None:
        known = session.register("ids", {"wanted": np.array([*wanted], object)})
        key = ids[roles.keys[0].name]
        join = f" SEMI JOIN {known} ON {id_text_in_sql(names[key], types[key], name)} = wanted"
    with reading_table(name):
        rows = session.rows(select + join)
        if wanted is not None and not rows:
            reading.first.extend(str(row[0]) for row in session.rows(f"{select} LIMIT 1"))
    if wanted is None:
        rows = _with_integers(rows, header.names, table.given)
    # The engine returns wanted rows without their number.
    where = (name if wanted is not None else f"{name}, row {row}" for row in count(1))
    raw = RawTable("typed", header, zip(where, rows, strict=False))
    types_of_ids = {role: table.id_type(place) for role, place in ids.items()}
    return replace(_gathered(raw, reading), types=types_of_ids)


def _with_integers(
    rows: list[tuple[Any, ...]], names: Sequence[str], given: object
) -> list[tuple[Any, ...]]:
    """Return rows with the integers in object columns of pandas, which the engine writes as text."""
    objects = [*objects_in(given, names)]
    if not objects or not rows:
        return rows
    columns = [*zip(*rows, strict=True)]
    for name, values in objects:
        place = names.index(str(name))
        columns[place] = tuple(
            int(value) if isinstance(value, int | np.integer) and not is_truth(value) else cell
            for value, cell in zip(values, columns[place], strict=True)
        )
    return [*zip(*columns, strict=True)]


def _plain_type(written: str) -> str:
    """Return an engine type without its parameters; of decimals, only whether it has decimal places."""
    if written.startswith("DECIMAL") and written.endswith(",0)"):
        return "HUGEINT"
    kind = written.split("(")[0].split(" WITH ")[0]
    return kind.split("_")[0] if kind.startswith("TIMESTAMP") else kind


def _column(column: str, type_: str, role: Role | None, name: str) -> str:
    """Return SQL for a column with a role, or with any cells."""
    quoted, holds = name_quoted(column), "cells" if role is None else role.holds
    if role is not None and holds == "text" and type_ in _AS_THEY_ARE | _AS_TEXT:
        text = f"CAST({quoted} AS VARCHAR)"
        return text if role.longest is None else f"left({text}, {role.longest})"
    if type_ in _AS_THEY_ARE and not (holds == "id" and type_ in WHOLE):
        return quoted  # fractions as ids are checked row by row
    if type_ == "DECIMAL":
        return f"CAST({quoted} AS DOUBLE)"
    if type_ in _AS_TEXT | WHOLE and holds != "number":
        return f"CAST({quoted} AS VARCHAR)"
    raise InputError(
        f"{name}, column {column!r}",
        f"numbers as {role.name}" if role and holds == "number" else "text, numbers or truth",
        f"values of type {type_}",
        "Make its values numbers or text, or leave the column out.",
    )


# --- cells, checked and collected into columns


def _gathered(raw: RawTable, reading: Reading) -> InputTable:
    """Collect the rows of a table into columns, and check their contents."""
    roles, header = reading.roles, raw.header
    cells = _Cells(raw, reading)
    if not cells.places and reading.wanted is None:
        raise InputError(reading.name, roles.least, "none")
    if cells.places and roles.others and not header.others and not roles.keys_alone:
        raise InputError(reading.name, f"a column besides the {roles.keys[0].noun}", "none")
    columns = cells.columns or [() for _ in header.names]
    nothing = (None,) * len(cells.places)
    read = {
        role.name: cells.checked(
            columns[header.places[role.name]] if role.name in header.places else nothing, role
        )
        for role in (*roles.all, *roles.besides)
    }
    others = header.others if roles.others else []
    called = {role: header.names[place] for role, place in header.places.items()}
    table = InputTable(
        reading.name,
        read,
        {
            name: _plain(columns[at], read, f"{reading.name}, column {name!r}")
            for name, at in others
        },
        tuple(cells.places),
        reading.first[0] if reading.first else None,
        raw.form != "dicts",
        tuple(reading.groups),
        called={} if raw.form == "dicts" or header.numbered or not cells.places else called,
    )
    if roles.repeats != "yes":
        _refuse_repeats(table, roles)
    return table


class _Cells:
    """The rows of a table to keep, and the checks of their cells."""

    def __init__(self, raw: RawTable, reading: Reading) -> None:
        """Keep the wanted rows, and only the needed part of their texts."""
        self._reading, self._raw, self._roles = reading, raw, reading.roles
        self.places: Sequence[Place]
        self.columns: Sequence[Sequence[Any]]
        if raw.columns is not None:
            self.places, self.columns = raw.columns
            return
        rows = raw.rows
        if reading.wanted is not None and raw.form != "dicts":
            rows = (row for row in rows if self._is_wanted(*row))
        longest = max((role.longest or 0 for role in self._roles.values), default=0)
        if longest:
            rows = ((place, [_shortened(cell, longest) for cell in cells]) for place, cells in rows)
        kept = [*rows]
        self.places = [place for place, _ in kept]
        self.columns = [*zip(*(cells for _, cells in kept), strict=True)]

    def _is_wanted(self, place: Place, cells: Sequence[object]) -> bool:
        role = self._roles.keys[0]
        key = cells[self._raw.header.places[role.name]]
        return self._reading.wants(key if type(key) is str else self._id(key, role, place))

    def checked(self, column: Sequence[Any], role: Role) -> tuple[Any, ...]:
        """Return a column as the contents of its role."""
        if role.holds == "id":
            return self._ids(column, role)
        plain = role.holds == "number" and {*map(type, column)} <= {int, float}
        if plain and all(-LARGEST_EXACT < number < LARGEST_EXACT for number in column):
            return tuple(map(float, column))  # much faster than checking each cell
        if role.holds == "text" and self._raw.columns is not None:
            return tuple(column)
        if role.holds == "text" and role.longest is None and {*map(type, column)} <= _TEXT:
            is_decoded = self._raw.form == "text"
            if is_decoded or all(map(is_writable, filter(None, column))):
                return tuple(column)
        check = {"number": self._number, "text": self._text, "label": self._label}[role.holds]
        try:
            return tuple([check(cell, role, row) for row, cell in enumerate(column)])
        except InputError as problem:
            if problem.code != "rows.grade-word":
                raise
            words = (cell for cell in column if JUDGMENTS.code(cell) == "rows.grade-word")
            raise problem.with_remedy(advice_on_words(words)) from None

    def _ids(self, column: Sequence[Any], role: Role) -> tuple[str, ...]:
        if not {*map(type, column)} <= {str} or ("" in column and self._raw.form != "dicts"):
            column = [
                self._id(cell, role, place) for cell, place in zip(column, self.places, strict=True)
            ]
        refuse_halves(column, where=f"{self._reading.name}, {role.noun} ids")
        return tuple(column)

    def _id(self, cell: object, role: Role, place: Place) -> str:
        if self._raw.form == "typed" and isinstance(
            cell, float
        ):  # integers, of which some are missing
            cell = None if math.isnan(cell) else int(cell) if cell.is_integer() else cell
        where = self._reading.where(place)
        if cell is None or (isinstance(cell, str) and not cell and self._raw.form != "dicts"):
            found = "nothing" if cell is None else "an empty text"
            raise InputError(where, f"an id as {role.name}", f"{found}{self._in_column(role)}")
        return id_text(cell, where=where)

    def _in_column(self, role: Role) -> str:
        """Return in which column a role is; nothing where the column is called like it, or not at all."""
        header = self._raw.header
        called = header.names[header.places[role.name]]
        if self._raw.form == "dicts" or header.numbered or called == role.name:
            return ""
        return f" in the column {called!r}"

    def _number(self, cell: Any, role: Role, row: int) -> float:
        form, number = self._raw.form, None
        written = isinstance(cell, str) and form in ("text", "typed")
        if written:
            number = number_in_text(cell)
        elif isinstance(cell, bool | np.bool_):
            # JSON has numbers for numbers; booleans in dicts and typed columns are written by programs.
            number = float(cell) if role.truth and form in ("dicts", "typed") else None
        elif not isinstance(cell, str):
            number = number_of(cell)
        if number is None or not math.isfinite(number) or not is_held(cell):
            remedy = NO_HEADER if self._raw.header.numbered and written else ""
            raise _no_number(self._where(row), role.name, cell, remedy)
        return number

    def _text(self, cell: object, role: Role, row: int) -> str | None:
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return None
        if not isinstance(cell, str | int | float):
            raise InputError(self._where(row), "text", shown(cell))
        try:
            text = str(cell)[: role.longest]
            text.encode()
        except ValueError:  # thousands of digits, or a lone surrogate
            raise InputError(self._where(row), "text", shown(cell)) from None
        return text

    def _label(self, cell: object, role: Role, row: int) -> object:
        if not isinstance(cell, Hashable) or (cell is None and self._raw.form != "dicts"):
            raise InputError(self._where(row), f"the name of a {role.name}", shown(cell))
        return cell

    def _where(self, row: int) -> str:
        """Return the location of a cell in messages: its line, or its row with the ids."""
        where = self._reading.where(self.places[row])
        if isinstance(self.places[row], int):
            return where
        keys = self._roles.keys if self._raw.form != "dicts" else self._roles.keys[-1:]
        places = self._raw.header.places
        return where + "".join(
            f", {role.noun} {self.columns[places[role.name]][row]!r}" for role in keys
        )


def _plain(
    cells: Sequence[Any], read: Mapping[str, Sequence[object]], where: str
) -> tuple[Cell, ...]:
    """Return the cells of a column without a role: text, numbers, booleans or None."""
    if {*map(type, cells)} <= _CELLS:
        return tuple(cells)
    known: list[Cell] = []
    for row, cell in enumerate(cells):
        plain = cell.item() if isinstance(cell, np.generic) else cell
        if type(plain) not in _CELLS:
            ids = "".join(f", {key} {ids[row]!r}" for key, ids in read.items())
            raise InputError(f"{where}{ids}", "text, a number, true, false or nothing", shown(cell))
        known.append(plain)
    return tuple(known)


def _refuse_repeats(table: InputTable, roles: Roles) -> None:
    """Reject rows that repeat the keys of another row, unless the roles allow it."""
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


def _shortened(cell: Any, longest: int) -> Any:
    return cell[:longest] if type(cell) is str else cell


def _cell_number(cell: Cell) -> float:
    """Return a cell as a float: NaN if missing, infinite if it isn't a finite number."""
    if cell is None:
        return math.nan
    if isinstance(cell, str):
        number = math.nan if not cell.strip() else number_in_text(cell)
        return math.inf if number is None else number
    if not is_held(cell):
        return math.inf
    return float(cell)


def _no_number(where: str, name: str, cell: Any, remedy: str = "") -> InputError:
    if not is_held(cell):
        return replace(JUDGMENTS, number=name).inexact(where, written_integer(int(cell)))
    found = "nothing" if cell is None else shown(cell)
    if name == JUDGMENTS.number and not remedy:
        return JUDGMENTS.no_number(where, cell, found)
    expected = f"a finite number as {name}"
    return InputError(where, expected, found, remedy, code="rows.not-finite")


def read_chunk_map(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Read which document each chunk belongs to, for the `chunks` option of `evaluate`.

    Args:
        path: a file with a chunk and its document on each line, separated by ASCII white space, as in
            TREC files; or a table of any other format, with a column for each. Compressed or not; `-`
            is standard input.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "chunks.txt")
    >>> _ = file.write_text("c1 doc7\nc2 doc7\n")
    >>> read_chunk_map(file)
    {'c1': 'doc7', 'c2': 'doc7'}
    """
    table = read_table(path_of(path), CHUNKS, "chunks")
    return dict(zip(table["chunk"], table["document"], strict=True))


# --- judgments, whose grades may be words


def read_graded(
    given: object, roles: Roles, columns: Columns, session: Session, *, also: str | None = None
) -> InputTable:
    """Read judgments as a table with a column of grades, which are words if the caller gave grades for words.

    Args:
        given: the judgments, as for `read_table`.
        roles: the contents of its columns.
        columns: the caller's column names.
        session: the engine's session.
        also: a further role that the caller may name.

    >>> from gainful.rows.run_and_judgment_columns import read_columns
    >>> columns = read_columns(None, grade_words="esci")
    >>> with Session() as session:
    ...     read_graded({"q": {"a": "Exact", "b": 1}}, JUDGED, columns, session)["grade"]
    (3.0, 1.0)
    """
    asked, words = (
        asked_columns(JUDGMENTS, columns, also=() if also is None else (also,)),
        columns.option("grade_words"),
    )
    kept = roles if words is None else _with_words(roles)
    table = read_table(given, kept, JUDGMENTS.name, columns=asked, session=session)
    if words is not None:
        table = replace(table, roles=table.roles | {JUDGMENTS.number: _grades_of(table, words)})
    for role in asked if table.has_columns else ():
        columns.use(role, JUDGMENTS)
    return table


def _with_words(roles: Roles) -> Roles:
    values = (
        replace(role, holds="text", truth=False) if role.name == JUDGMENTS.number else role
        for role in roles.values
    )
    return replace(roles, values=tuple(values))


def _grades_of(table: InputTable, words: GradeWords) -> tuple[float, ...]:
    """Return the grade of each row."""
    texts: Sequence[str | None] = table[JUDGMENTS.number]
    grades = {text: None if text is None else words.grade(text) for text in {*texts}}
    if None in grades.values():
        unknown = [text for text in texts if grades[text] is None]
        row = next(row for row, text in enumerate(texts) if grades[text] is None)
        ids = ", ".join(f"{role} {table[role][row]!r}" for role in ("query", "doc"))
        where = table.where(row)
        if isinstance(table.places[row], str):
            where = f"{table.name}, {ids}"
        raise words.refuse(unknown[0], where, [text for text in unknown if text])
    return tuple(grade for text in texts if (grade := grades[text]) is not None)


def with_all_words(
    problem: InputError, given: object, columns: Mapping[str, str], session: Session
) -> InputError:
    """Return an error about a word as grade with the option for all words in the judgments."""
    try:
        table = read_table(
            given, _with_words(JUDGED), problem.where, columns=columns, session=session
        )
    except InputError:  # another shape, such as lists; the error names its first word
        return problem
    numbers = GradeWords((), {})
    texts = dict.fromkeys(text for text in table[JUDGMENTS.number] if text)
    return problem.with_remedy(
        advice_on_words(text for text in texts if numbers.grade(text) is None)
    )
