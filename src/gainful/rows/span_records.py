"""Evidence, retrieved chunks and tables of chunks, from files, frames, records and objects of frameworks, as columns."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.duckdb_engine import Session, name_quoted, reading_table
from gainful.rows.files import LocalFile, beginning, is_parquet, parts_of, path_of, plain_file
from gainful.rows.nested_json import read_json, read_line
from gainful.rows.parquet_and_frame_tables import (
    FRACTIONS,
    WHOLE,
    TypedTable,
    frame_table,
    id_text_in_sql,
    parquet_table,
    readable,
    rows_in,
)
from gainful.rows.ranked_lists import as_sequence, fields_of
from gainful.rows.run_and_judgment_columns import ALIASES, plain_name
from gainful.rows.search_responses import FOUND, PASSAGES, RELEVANT, is_list, items_of
from gainful.rows.side_table_columns import Role, Roles
from gainful.rows.side_table_reader import InputTable, read_table

_NAMES: Mapping[str, tuple[str, ...]] = {
    "query": ALIASES["query"],
    "id": ("chunk_id", "passage_id", "pid", "segment_id", "node_id", "id", "_id", "id_", "chunk"),
    "doc": (
        "document_id", "doc_id", "docid", "docno", "corpus_id", "source_id", "ref_doc_id", "document", "doc",
        "source", "file_name", "filename", "file_path", "file", "path", "url", "title",
    ),
    "start": (
        "start", "start_index", "start_char", "start_char_idx", "char_start", "start_offset", "begin",
        "start_byte", "start_token", "split_idx_start",
    ),
    "end": (
        "end", "end_index", "end_char", "end_char_idx", "char_end", "end_offset", "stop", "end_byte",
        "end_token",
    ),
    "text": (
        "text", "content", "page_content", "quote", "passage", "snippet", "span", "evidence", "contents", "body",
        "context", "chunk_text", "chunk_content", "excerpt", "sentence", "answer_span", "supporting_text",
    ),
    "group": ("group", "group_id", "hop", "fact"),
    "grade": ALIASES["grade"],
    "score": ALIASES["score"],
    "rank": ALIASES["rank"],
}  # fmt: skip
"""The usual names of columns and fields, by role, the least ambiguous first."""
_NUMBERS = ("start", "end", "grade", "score", "rank")
_UNITS = {"char": "characters", "byte": "bytes", "token": "tokens", "split_idx": "characters"}
"""Parts of field names that name the unit of the offsets; Haystack's split_idx_start counts characters."""
_INSIDE = ("metadata", "meta", "node", "document", "payload", "chunk", "fields", "_source")
_OF_OBJECTS = ("text", "content", "page_content", "ref_doc_id")  # which may be properties
_TRIPLE, _SCORED = 3, 2


@dataclass(frozen=True, slots=True)
class SpanKind:
    """What rows of spans are.

    Attributes:
        name: their name in messages.
        key: the role that a dict has as keys: the query, or the id of a chunk.
        lists: the fields of records that may contain a list of them.
        roles: the roles that such rows may have, besides the key.
        grouped: whether a list within the list is a group.
    """

    name: str
    key: str
    lists: tuple[str, ...]
    roles: tuple[str, ...]
    grouped: bool = False

    @property
    def shape(self) -> str:
        """An example of a record, for messages."""
        if self.key == "id":
            return '{"id": …, "document": …, "start": …, "end": …}'
        return f'{{"question": …, "{self.lists[0]}": [{{"document": …, "start": …, "end": …}}, …]}}'


_PLACE = ("doc", "start", "end", "text")
EVIDENCE = SpanKind(
    "evidence",
    "query",
    (*PASSAGES, "contexts", *RELEVANT),
    (*_PLACE, "grade", "group"),
    grouped=True,
)
RETRIEVED = SpanKind(
    "run",
    "query",
    (*FOUND, "retrieved_chunks", "retrieved_contexts", "contexts", "source_nodes", "source_documents",
     "passages"),
    ("id", *_PLACE, "score", "rank"),
)  # fmt: skip
CHUNK_TABLE = SpanKind("chunk_table", "id", ("chunks",), _PLACE)


@dataclass(frozen=True, slots=True)
class SpanRows:
    """Rows of spans, by column.

    Attributes:
        kind: what they are.
        name: their name in messages.
        columns: the values by role; None where a row lacks one.
        unit: the unit of the offsets that the names of the fields tell; None if they don't.
        place: returns the location of a row, from 0, in messages.
        bare: the keys whose list is empty.
        names: the names of the columns, or of the fields of the first row.
    """

    kind: SpanKind
    name: str
    columns: Mapping[str, Any]
    unit: str | None
    place: Callable[[int], str] = field(repr=False)
    bare: tuple[object, ...] = ()
    names: tuple[object, ...] = ()

    def refuse_without_places(self) -> None:
        """Raise an error if no row can have a place, because no column has a usual name."""
        if not len(self) or any(self.column(role) is not None for role in _PLACE):
            return
        found = f"only {', '.join(map(repr, self.names))}" if self.names else "none"
        raise InputError(
            self.name,
            "a text, or a document with start and end, for each passage",
            found,
            f"Usual names of texts are {', '.join(_NAMES['text'])}.",
            code="rows.no-column",
        )

    def __len__(self) -> int:
        return len(self.columns[self.kind.key])

    def column(self, role: str) -> Any:
        """Return a column; None if no row has it."""
        values = self.columns.get(role)
        if values is None or not len(values):
            return None
        if role in _NUMBERS:
            return None if np.isnan(values).all() else values
        return None if all(value is None for value in values) else values


def read_span_rows(
    given: object, kind: SpanKind, asked: Mapping[str, str], session: Session
) -> SpanRows:
    """Read rows of spans of any shape.

    Args:
        given: a path, a data frame, an Arrow object, a dict or a list.
        kind: what the rows are.
        asked: unusual names of columns or fields, by role.
        session: the engine's session.
    """
    if isinstance(given, str | os.PathLike):
        return _of_path(path_of(given), kind, asked, session)
    value = as_sequence(given)
    if not isinstance(value, Mapping | list | tuple):
        first = rows_in(value, 1)
        if first and any(items_of(cell) is not None for cell in first[0].values()):
            return _of_records(rows_in(value), kind, asked, kind.name)
        table = readable(value, kind.name)
        if table is not None:
            return _of_table(frame_table(value, table, session, kind.name), kind, asked, session)
        raise InputError(kind.name, f"records such as {kind.shape}", type(given).__name__)
    return _of_records(value, kind, asked, kind.name)


def _of_path(name: str, kind: SpanKind, asked: Mapping[str, str], session: Session) -> SpanRows:
    parts = parts_of(name)
    if parts is None:
        file = plain_file(name, session)
        if not is_parquet(file.path):
            return _of_text(file, kind, asked, session)
        parts = [file.path]
    table = parquet_table(parts, session, name)
    if any(type_.endswith(("]", ")")) and "(" not in type_[:8] for _, type_ in table.described):
        with reading_table(name):
            rows = session.rows(f"SELECT * {table.relation}")
        records = [dict(zip(table.names, row, strict=True)) for row in rows]
        return _of_records(records, kind, asked, name)
    return _of_table(table, kind, asked, session)


def _of_text(
    file: LocalFile, kind: SpanKind, asked: Mapping[str, str], session: Session
) -> SpanRows:
    if beginning(file.path, 1 << 12).lstrip().startswith((b"{", b"[")):
        value = read_json(file, f"JSON: records such as {kind.shape}")
        return _of_records(value, kind, asked, file.name)
    usual = {role: _named(role, asked) for role in (kind.key, *kind.roles)}
    keys = (Role(kind.key, usual[kind.key]),)
    others = tuple(Role(role, usual[role], "text") for role in kind.roles)
    roles = Roles(
        kind.name,
        kind.shape,
        keys,
        besides=others,
        others=True,
        keys_alone=True,
        repeats="yes",
        prose=True,
    )
    table = read_table(str(file.path), roles, file.name, session=session)
    written = {name: role for role, name in table.called.items()}
    names = (*written, *table.columns)
    for name in names:
        cells = table[written[name]] if name in written else table.columns[name]
        if plain_name(name) in kind.lists and _is_json(cells[0]):
            return _of_json_cells(table, {**dict.fromkeys(names)}, name, kind, asked)
    columns: dict[str, Any] = {kind.key: table[kind.key]}
    for role in kind.roles:
        values = [cell or None for cell in table[role]]
        columns[role] = _numbers(values, role, table.where) if role in _NUMBERS else values
    unit = _unit_of(table.called.values())
    return SpanRows(kind, file.name, columns, unit, table.where, names=names)


def _is_json(cell: object) -> bool:
    return isinstance(cell, str) and cell.lstrip().startswith("[")


def _of_json_cells(
    table: InputTable, names: Iterable[str], listed: str, kind: SpanKind, asked: Mapping[str, str]
) -> SpanRows:
    """Read a table whose cells in one column are lists, written as JSON."""
    called = {name: role for role, name in table.called.items()}
    records = []
    for row in range(len(table)):
        record = {
            name: table[called[name]][row] if name in called else table.columns[name][row]
            for name in names
        }
        where = f"{table.where(row)}, column {listed!r}"
        record[listed] = read_line(str(record[listed]).encode(), where)
        records.append(record)
    return _of_records(records, kind, asked, table.name)


def _named(role: str, asked: Mapping[str, str]) -> tuple[str, ...]:
    return (plain_name(asked[role]),) if role in asked else _NAMES[role]


def _of_table(
    table: TypedTable, kind: SpanKind, asked: Mapping[str, str], session: Session
) -> SpanRows:
    """Read a table with typed columns as arrays."""
    layout = dict(_layout(tuple(table.written), (kind.key, *kind.roles), tuple(asked.items())))
    types = dict(table.described)
    names = dict(zip(table.written, table.names, strict=True))
    if kind.key not in layout:
        expected = f"a column for the {'query' if kind.key == 'query' else 'id of each chunk'}"
        raise InputError(
            table.name, expected, f"only {', '.join(map(repr, table.written))}",
            f"Give it one of these names: {', '.join(_NAMES[kind.key])}.", code="rows.no-column",
        )  # fmt: skip
    selected = []
    for role, written in layout.items():
        column = names[written]
        type_ = types[column]
        if role in _NUMBERS:
            if type_ not in WHOLE | FRACTIONS and not type_.startswith("DECIMAL"):
                where = f"{table.name}, column {written!r}"
                raise InputError(where, f"numbers as {role}", f"values of type {type_}")
            sql = f"CAST({name_quoted(column)} AS DOUBLE)"
        elif role == "text":
            sql = name_quoted(column)
        else:
            sql = id_text_in_sql(column, type_, table.name)
        selected.append(f"{sql} AS {role}_")
    with reading_table(table.name):
        read = session.masked_columns(f"SELECT {', '.join(selected)} {table.relation}")
    columns: dict[str, Any] = {}
    for role in layout:
        values = np.ma.getdata(read[f"{role}_"])
        empty = np.ma.getmaskarray(read[f"{role}_"])
        if role in _NUMBERS:
            values = np.where(empty, np.nan, values.astype(np.float64))
        elif empty.any():
            values = values.astype(object)
            values[empty] = None
        columns[role] = values
    return SpanRows(
        kind,
        table.name,
        columns,
        _unit_of(layout.values()),
        lambda row: f"{table.name}, row {row + 1}",
        names=tuple(table.written),
    )


def _unit_of(names: Iterable[object]) -> str | None:
    """Return the unit that names of fields tell; None if they don't.

    >>> _unit_of(["start_char_idx", "text"]), _unit_of(["start", "end"])
    ('characters', None)
    """
    for name in map(plain_name, names):
        if name in _NAMES["start"]:
            return next((unit for part, unit in _UNITS.items() if part in name), None)
    return None


# --- records and objects


def _of_records(value: Any, kind: SpanKind, asked: Mapping[str, str], name: str) -> SpanRows:
    roles = (kind.key, *kind.roles)
    reader = _RecordReader(kind, tuple(asked.items()), roles)
    rows: list[tuple[Any, ...]] = []
    places: list[tuple[str, int]] = []
    bare = []
    for key, shared, items, where in _lists(value, kind, asked, name):
        before = len(rows)
        for at, (item, group) in enumerate(_grouped(items, kind), 1):
            fields = {**shared, **reader.fields(item, f"{where}, {at}")}
            if key is not None:
                fields[kind.key] = key
            if group is not None:
                fields["group"] = group
            rows.append(tuple([fields.get(role) for role in roles]))
            places.append((where, at))
        if len(rows) == before and key is not None:
            bare.append(key)
    if not (rows or bare):
        raise InputError(name, f"records such as {kind.shape}", "none")
    columns: dict[str, Sequence[Any]] = (
        dict(zip(roles, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(roles, ())
    )

    def place(row: int) -> str:
        where, at = places[row]
        return f"{where}, {at}"

    for role in _NUMBERS:
        if role in columns:
            columns[role] = _numbers(columns[role], role, place)
    return SpanRows(kind, name, columns, reader.unit, place, tuple(bare), reader.names)


def _lists(
    value: Any, kind: SpanKind, asked: Mapping[str, str], name: str
) -> Iterator[tuple[Any, Mapping[str, Any], Any, str]]:
    """Yield lists of spans: the key, fields for all of them, the items, and their location."""
    if isinstance(value, Mapping) and not _is_record(value, kind, asked):
        for key, items in value.items():
            where = f"{name}, {'chunk' if kind.key == 'id' else 'query'} {shown(key)}"
            if kind.grouped and _holds_grades(items):
                graded = [{"document": doc, "grade": grade} for doc, grade in items.items()]
                yield key, {}, graded, where
                continue
            one = isinstance(items, str | Mapping) or _is_triple(items)
            yield key, {}, [items] if one else items, where
        return
    records = [value] if isinstance(value, Mapping) else value
    for number, record in enumerate(as_sequence(records), 1):
        where = f"{name}, record {number}"
        fields = record if isinstance(record, Mapping) else fields_of(record)
        field_ = _list_field(fields, kind, asked)
        if field_ is None:
            yield None, {}, [record], where
            continue
        layout = dict(_layout((*fields,), (kind.key, "doc"), (*asked.items(),)))
        shared = {role: fields[key] for role, key in layout.items() if key != field_}
        if kind.key in shared:
            yield (
                shared.pop(kind.key),
                shared,
                _as_list(fields[field_]),
                f"{where}, {str(field_)!r}",
            )
        else:  # of another object, as {"chunks": [...]} is
            yield None, {}, _as_list(fields[field_]), f"{where}, {str(field_)!r}"


def _holds_grades(items: Any) -> bool:
    """Return whether this is {document: grade}."""
    if not isinstance(items, Mapping) or not items:
        return False
    plain = {plain_name(name) for name in items}
    numbers = all(isinstance(one, int | float | np.number) for one in items.values())
    return numbers and plain.isdisjoint((*_NAMES["start"], *_NAMES["end"]))


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | Mapping) else [] if value is None else value


def _is_record(value: Mapping[Any, Any], kind: SpanKind, asked: Mapping[str, str]) -> bool:
    """Return whether a dict is one record, rather than one of lists by query."""
    layout = dict(_layout((*value,), (kind.key, *kind.roles), (*asked.items(),)))
    listed = _list_field(value, kind, asked) is not None
    return (kind.key in layout and (listed or len(layout) > 1)) or (listed and len(value) == 1)


def _list_field(fields: Mapping[Any, Any], kind: SpanKind, asked: Mapping[str, str]) -> Any:
    """Return the name of the field that contains the list of spans; None without one."""
    if "list" in asked:
        return asked["list"] if asked["list"] in fields else None
    plain = {plain_name(name): name for name in fields}
    for usual in kind.lists:
        if usual in plain:
            value = as_sequence(fields[plain[usual]])
            if is_list(value) or (isinstance(value, Mapping) and usual not in _INSIDE):
                return plain[usual]
    return None


def _grouped(items: Any, kind: SpanKind) -> Iterator[tuple[Any, int | None]]:
    """Yield each item and its group, if a list of lists says which passages will do for the same fact."""
    items = as_sequence(items)
    for number, item in enumerate(items if is_list(items) else [items], 1):
        inner = as_sequence(item)
        if kind.grouped and isinstance(inner, list) and not _is_triple(inner):
            yield from ((one, number) for one in inner)
        else:
            yield item, None


def _is_triple(item: Any) -> bool:
    """Return whether an item is (document, start, end)."""
    if not isinstance(item, tuple | list) or len(item) != _TRIPLE:
        return False
    doc, *ends = item
    return isinstance(doc, str | int) and all(
        isinstance(end, int | np.integer) and not isinstance(end, bool) for end in ends
    )


class _RecordReader:
    """Reads the fields of items, and notices the unit of offsets that their names tell."""

    def __init__(
        self, kind: SpanKind, asked: tuple[tuple[str, str], ...], roles: tuple[str, ...]
    ) -> None:
        self._kind, self._asked, self._roles = kind, asked, roles
        self.unit: str | None = None
        self.names: tuple[object, ...] = ()

    def fields(self, item: Any, where: str) -> dict[str, Any]:
        """Return the values of an item by role."""
        if isinstance(item, str):
            return {"text": item}
        if isinstance(item, tuple | list):
            if _is_triple(item):
                return dict(zip(("doc", "start", "end"), item, strict=True))
            scored = len(item) == _SCORED and isinstance(item[1], float | int | np.floating)
            if scored and not isinstance(item[0], str):
                return {**self.fields(item[0], where), "score": item[1]}
            raise InputError(where, f"a passage, as in {self._kind.shape}", shown(item))
        own = _flat(item)
        if own is None:
            raise InputError(where, f"a passage, as in {self._kind.shape}", shown(item))
        layout = _layout((*own,), self._roles, self._asked)
        self.names = self.names or (*own,)
        if self.unit is None:
            named = [key for role, key in layout if role == "start"]
            self.unit = _unit_of(named)
            if named == ["start_index"] and "page_content" in own:  # LangChain counts characters
                self.unit = "characters"
        return {role: own[key] for role, key in layout}


def _flat(item: Any) -> dict[str, Any] | None:
    """Return the fields of an item, with those of its metadata; None for something else."""
    if not isinstance(item, Mapping):
        fields = fields_of(item)
        for name in _OF_OBJECTS:
            if name not in fields and isinstance(getattr(item, name, None), str):
                fields[name] = getattr(item, name)
        if not fields:
            return None
    else:
        fields = dict(item)
    for name in _INSIDE:
        inner = fields.get(name)
        if inner is None or isinstance(inner, str | int | float | list | tuple):
            continue
        more = _flat(inner)
        if more:
            del fields[name]
            fields = {**more, **{key: one for key, one in fields.items() if one is not None}}
    return fields


@lru_cache(maxsize=256)  # most items have the same fields
def _layout(
    names: tuple[Any, ...], roles: tuple[str, ...], asked: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, Any], ...]:
    """Return the field of each role, among some names."""
    wanted = dict(asked)
    plain: dict[str, Any] = {}
    for name in names:
        plain.setdefault(plain_name(name), name)
    taken: set[Any] = set()
    layout = []
    for role in roles:
        usual = (plain_name(wanted[role]),) if role in wanted else _NAMES[role]
        own = next((plain[one] for one in usual if one in plain and plain[one] not in taken), None)
        if own is not None:
            taken.add(own)
            layout.append((role, own))
    return tuple(layout)


def _numbers(cells: Sequence[Any], role: str, place: Callable[[int], str]) -> Any:
    """Return numbers as float64, NaN where a row has none."""
    if not chain.from_iterable([cells]) or {*map(type, cells)} <= {int, float, type(None)}:
        return np.array([np.nan if cell is None else cell for cell in cells], np.float64)
    numbers = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        try:
            if isinstance(cell, bool) and role != "grade":
                raise ValueError
            numbers[row] = float(cell)
        except (TypeError, ValueError):
            where = f"{place(row)}, {role}"
            raise InputError(where, "a number", shown(cell), code="rows.not-finite") from None
    return numbers


def text_of(document: object) -> tuple[Any, Any]:
    """Return the id and the text of a document of a framework; None for what it lacks."""
    fields = _flat(document) or {}
    found = dict(_layout((*fields,), ("doc", "id", "text"), ()))
    role = "doc" if "doc" in found else "id"
    return fields.get(found.get(role, "")), fields.get(found.get("text", ""))
