"""Evidence, retrieved chunks and tables of chunks, from files, frames, records and objects of frameworks, as columns."""

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

import numpy as np

from gainful.arguments import is_truth
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.decimal_parsing import number_in_text, numbers_in_texts
from gainful.rows.duckdb_engine import Session, name_quoted, reading_table
from gainful.rows.files import LocalFile, beginning, path_of
from gainful.rows.nested_json import read_json, read_line
from gainful.rows.parquet_and_frame_tables import (
    FRACTIONS,
    WHOLE,
    TypedTable,
    frame_table,
    id_text_in_sql,
    readable,
    rows_in,
    table_or_text,
)
from gainful.rows.ranked_lists import as_sequence, fields_of
from gainful.rows.run_and_judgment_columns import (
    ALIASES,
    no_column,
    place_by_name,
    plain_name,
    refuse_type,
)
from gainful.rows.search_responses import FOUND, PASSAGES, RELEVANT, is_list, items_of
from gainful.rows.side_table_columns import Role, Roles
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.rows.values_as_numbers import number_of

_NAMES: Mapping[str, tuple[str, ...]] = {
    "query": (*ALIASES["query"], "user_input", "input"),
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
_WRAPPERS = ("examples", "data", "records", "rows", "items")
"""Fields that may contain all records of a file."""
_TRIPLE, _SCORED = 3, 2
_NO_GROUPS = {str, dict, tuple}
_NOTHING_INSIDE = {type(None), str, int, float, list, tuple}


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
    (*PASSAGES, "contexts", "context", *RELEVANT),
    (*_PLACE, "grade", "group"),
    grouped=True,
)
RETRIEVED = SpanKind(
    "run",
    "query",
    (*FOUND, "retrieved_chunks", "retrieved_contexts", "retrieval_context", "contexts", "source_nodes", "source_documents",
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
        remedy = f"Usual names of texts are {', '.join(_NAMES['text'])}."
        if self.kind is not CHUNK_TABLE:
            side = "run" if self.kind is RETRIEVED else "judgments"
            remedy = f"{remedy[:-1]}; for any other: columns {side}.text=…."
        if self.column("id") is not None:
            remedy = "The run has ids of chunks: pass their positions as chunk_table= (--chunk-table FILE)."
        expected = "text, or a document with start and end, for each passage"
        raise InputError(self.name, expected, found, remedy, code="rows.no-column")

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

    def numbers(self, role: str) -> Floats:
        """Return a copy of a column of numbers, NaN where a row has none."""
        values = self.column(role)
        return np.full(len(self), np.nan) if values is None else np.array(values, np.float64)


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
    return _without_empty_rows(_Reader(kind, asked, session).read(given))


def _without_empty_rows(rows: SpanRows) -> SpanRows:
    """Move queries without passages, if a row says so, from the rows to the bare keys.

    Such a row is the only one of its query, and all its cells are empty; if they are evidence, its grade is 0.
    """
    certain = ("start", "doc", "text")  # numbers first, since they are checked the fastest
    if rows.kind is CHUNK_TABLE or any(_is_full(rows.columns.get(role)) for role in certain):
        return rows
    empty = np.ones(len(rows), np.bool_)
    for role in (*_PLACE, "id"):
        if (values := rows.column(role)) is not None:
            missing = np.isnan(values) if role in _NUMBERS else [one is None for one in values]
            empty &= missing
    if rows.kind is EVIDENCE:
        empty &= rows.numbers("grade") == 0
    if not empty.any():
        return rows
    keys = rows.columns[rows.kind.key]
    counts = Counter(keys)
    empty &= [counts[key] == 1 for key in keys]
    kept = np.flatnonzero(~empty).tolist()
    columns = {
        role: values[kept] if isinstance(values, np.ndarray) else [values[row] for row in kept]
        for role, values in rows.columns.items()
        if len(values)
    }
    bare = (*rows.bare, *(keys[row] for row in np.flatnonzero(empty).tolist()))
    return replace(rows, columns=columns, bare=bare, place=lambda row: rows.place(kept[row]))


def _is_full(values: Any) -> bool:
    """Return whether a column certainly has a value in every row."""
    if values is None or not len(values):
        return False
    if isinstance(values, np.ndarray):
        return values.dtype.kind == "U" or (values.dtype.kind == "f" and not np.isnan(values).any())
    return None not in values


class _Reader:
    """Reads rows of a kind, and notices the unit of offsets that the names of their fields tell."""

    def __init__(self, kind: SpanKind, asked: Mapping[str, str], session: Session) -> None:
        self._kind, self._session = kind, session
        self._asked, self._roles = tuple(asked.items()), (kind.key, *kind.roles)
        self._list = asked.get("list")
        self._unit: str | None = None
        self._names: tuple[object, ...] = ()

    def read(self, given: object) -> SpanRows:
        """Read rows of any shape."""
        kind, session = self._kind, self._session
        names = [*dict(self._asked).values()]
        if any("," in name for name in names):
            # Imported here because few keys consist of several columns.
            from gainful.rows.keys_of_several_columns import joined_columns, with_joined_columns

            given = with_joined_columns(given, joined_columns(names), session)
        if isinstance(given, str | os.PathLike):
            table = table_or_text(path_of(given), session)
            if isinstance(table, LocalFile):
                return self._of_text(table)
        else:
            value = as_sequence(given)
            if isinstance(value, Mapping | list | tuple):
                return self._of_records(value, kind.name)
            frame = readable(value, kind.name)
            if frame is None:
                raise InputError(kind.name, f"records such as {kind.shape}", type(given).__name__)
            table = frame_table(value, frame, session, kind.name)
        cells = (cell for row in rows_in(table.given, 1) for cell in row.values())
        if table.is_nested or any(items_of(cell) is not None for cell in cells):
            return self._of_records(table.records(session), table.name)
        return self._of_table(table)

    def _layout(self, names: Iterable[Any], roles: tuple[str, ...] = ()) -> Mapping[str, Any]:
        return _layout((*names,), roles or self._roles, self._asked)

    def _of_text(self, file: LocalFile) -> SpanRows:
        kind = self._kind
        if beginning(file.path, 1 << 12).lstrip().startswith((b"{", b"[")):
            value = read_json(file, f"JSON: records such as {kind.shape}")
            return self._of_records(value, file.name)
        key, *others = (
            Role(role, _usual(role, dict(self._asked)), "id" if role == kind.key else "text")
            for role in self._roles
        )
        roles = Roles(
            kind.name,
            (key,),
            besides=tuple(others),
            others=True,
            keys_alone=True,
            repeats="yes",
            prose=True,
        )
        table = read_table(str(file.path), roles, file.name, session=self._session)
        cells = {name: table[role] for role, name in table.called.items()} | table.columns
        for name, column in cells.items():
            if plain_name(name) in kind.lists and _is_json(column[0]):
                return self._of_json_cells(table, cells, name)
        columns: dict[str, Any] = {kind.key: table[kind.key]}
        for role in table.called.keys() & {*kind.roles}:
            cells_of_role = table[role]
            is_number = role in _NUMBERS
            columns[role] = (
                _numbers(cells_of_role, role, table.where) if is_number else cells_of_role
            )
        unit = _unit_of((*table.called.values(),))
        return SpanRows(kind, file.name, columns, unit, table.where, names=(*cells,))

    def _of_json_cells(
        self, table: InputTable, cells: Mapping[str, Sequence[object]], listed: str
    ) -> SpanRows:
        """Read a table whose cells in one column are lists, written as JSON."""
        records = []
        for number, row in enumerate(zip(*cells.values(), strict=True)):
            record = dict(zip(cells, row, strict=True))
            where = f"{table.where(number)}, column {listed!r}"
            records.append(record | {listed: read_line(str(record[listed]).encode(), where)})
        return self._of_records(records, table.name)

    def _of_table(self, table: TypedTable) -> SpanRows:
        """Read a table with typed columns as arrays."""
        key, layout = self._kind.key, self._layout(table.written)
        types = dict(table.described)
        names = dict(zip(table.written, table.names, strict=True))
        if key not in layout:
            what = "the query" if key == "query" else "the id of each chunk"
            advice = f"Give it one of these names: {', '.join(_NAMES[key])}."
            raise no_column(what, table.written, table.name, advice=advice)
        selected = []
        for role, written in layout.items():
            column = names[written]
            sql = name_quoted(column)
            if role in _NUMBERS:
                numeric = WHOLE | FRACTIONS | {"DECIMAL"}
                refuse_type(table.name, (written, types[column]), f"numbers as {role}", numeric)
                sql = f"CAST({sql} AS DOUBLE)"
            elif role != "text":
                sql = id_text_in_sql(column, types[column], table.name)
            selected.append(f"{sql} AS {role}_")
        with reading_table(table.name):
            read = self._session.masked_columns(f"SELECT {', '.join(selected)} {table.relation}")
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

        def place(row: int) -> str:
            return f"{table.name}, row {row + 1}"

        unit, written_names = _unit_of((*layout.values(),)), tuple(table.written)
        return SpanRows(self._kind, table.name, columns, unit, place, names=written_names)

    def _of_records(self, value: Any, name: str) -> SpanRows:
        """Read records and objects."""
        kind, value = self._kind, self._unwrapped(value)
        items: list[Any] = []
        keys: list[Any] = []  # the key of each item, None if the item has its own
        groups: dict[int, int] = {}  # of items in a list within a list
        everywhere: list[tuple[int, Mapping[str, Any]]] = []  # fields for all items of a list
        firsts: list[int] = []  # the first item of each list
        wheres: list[str] = []
        bare = []

        def place(row: int) -> str:
            at = bisect_right(firsts, row) - 1
            return f"{wheres[at]}{row - firsts[at] + 1}"

        for key, shared, listed, where in self._lists(value, name):
            before = len(items)
            firsts.append(before)
            wheres.append(where)
            _extend(items, groups, listed, kind)
            keys += [key] * (len(items) - before)
            if shared:
                everywhere.append((before, shared))
            if len(items) == before and key is not None:
                bare.append(key)
        if not (items or bare):
            raise InputError(name, f"records such as {kind.shape}", "none")
        columns = self._columns(items, everywhere, firsts, place)
        own = columns.get(kind.key)
        if own is not None and None in keys:
            keys = [one if key is None else key for key, one in zip(keys, own, strict=True)]
        columns[kind.key] = keys
        if groups:
            names = columns.get("group", [None] * len(items))
            columns["group"] = [groups.get(row, name) for row, name in enumerate(names)]
        for role in columns.keys() & {*_NUMBERS}:
            columns[role] = _numbers(columns[role], role, place)
        return SpanRows(kind, name, columns, self._unit, place, tuple(bare), self._names)

    def _unwrapped(self, value: Any) -> Any:
        """Return the records in a field of an object that contains all of them; any other value unchanged."""
        if isinstance(value, Mapping):
            for name in _WRAPPERS:
                inner = as_sequence(value.get(name))
                records = isinstance(inner, list) and inner and isinstance(inner[0], Mapping)
                if records and self._kind.key in self._layout(inner[0]):
                    return inner
        return value

    def _columns(
        self,
        items: Sequence[Any],
        everywhere: Sequence[tuple[int, Mapping[str, Any]]],
        firsts: Sequence[int],
        place: Callable[[int], str],
    ) -> dict[str, Any]:
        """Return the values of items by role; fields for all items of a list count where an item lacks them."""
        if not everywhere:
            if (triples := _triples(items)) is not None:
                return triples
            if _are_alike(items):
                layout = self._layout_of(items[0])
                return {role: [*map(itemgetter(key), items)] for role, key in layout.items()}
        rows = [self._fields(item, partial(place, row)) for row, item in enumerate(items)]
        for first, shared in everywhere:
            at = bisect_right(firsts, first)
            for row in range(first, firsts[at] if at < len(firsts) else len(items)):
                rows[row] = {**shared, **rows[row]}
        roles = {role for row in rows for role in row}
        return {role: [row.get(role) for row in rows] for role in roles}

    def _lists(self, value: Any, name: str) -> Iterator[tuple[Any, Mapping[str, Any], Any, str]]:
        """Yield lists of spans: the key, fields for all of them, the items, and their location."""
        kind = self._kind
        if isinstance(value, Mapping) and not self._is_record(value):
            for key, items in value.items():
                where = f"{name}, {'chunk' if kind.key == 'id' else 'query'} {shown(key)}, "
                if kind.grouped and _holds_grades(items):
                    graded = [{"document": doc, "grade": grade} for doc, grade in items.items()]
                    yield key, {}, graded, where
                    continue
                one = isinstance(items, str | Mapping) or _is_triple(items)
                yield key, {}, [items] if one else items, where
            return
        records = as_sequence([value] if isinstance(value, Mapping) else value)
        if isinstance(records, list) and _are_alike(records) and not self._may_list(records[0]):
            yield None, {}, records, f"{name}, record "
            return
        for number, record in enumerate(records, 1):
            where = f"{name}, record {number}, "
            fields = record if isinstance(record, Mapping) else fields_of(record)
            listed = self._list_field(fields)
            if listed is None:
                yield None, {}, [record], where
                continue
            layout = self._layout(fields, (kind.key, "doc"))
            shared = {role: fields[key] for role, key in layout.items() if key != listed}
            items, where = fields[listed], f"{where}{str(listed)!r}, "
            items = [items] if isinstance(items, str | Mapping) else [] if items is None else items
            if kind.key in shared:
                yield shared.pop(kind.key), shared, items, where
            else:  # of another object, as {"chunks": [...]} is
                yield None, {}, items, where

    def _is_record(self, value: Mapping[Any, Any]) -> bool:
        """Return whether a dict is one record, rather than one of lists by query."""
        layout, listed = self._layout(value), self._list_field(value) is not None
        return (self._kind.key in layout and (listed or len(layout) > 1)) or (
            listed and len(value) == 1
        )

    def _may_list(self, fields: Mapping[Any, Any]) -> bool:
        """Return whether a record has a field that may contain the list of spans."""
        lists = self._kind.lists if self._list is None else (plain_name(self._list),)
        return not {*map(plain_name, fields)}.isdisjoint(lists)

    def _list_field(self, fields: Mapping[Any, Any]) -> Any:
        """Return the name of the field that contains the list of spans; None without one."""
        if self._list is not None:
            return self._list if self._list in fields else None
        plain = {plain_name(name): name for name in fields}
        for usual in self._kind.lists:
            if usual in plain:
                value = as_sequence(fields[plain[usual]])
                if is_list(value) or (isinstance(value, Mapping) and usual not in _INSIDE):
                    return plain[usual]
        return None

    def _fields(self, item: Any, where: Callable[[], str]) -> dict[str, Any]:
        """Return the values of an item by role."""
        if isinstance(item, str):
            return {"text": item}
        listed = isinstance(item, tuple | list)
        if listed and _is_triple(item):
            return {"doc": item[0], "start": item[1], "end": item[2]}
        scored = listed and len(item) == _SCORED and not isinstance(item[0], str)
        if scored and isinstance(item[1], float | int | np.floating):
            return {**self._fields(item[0], where), "score": item[1]}
        own = None if listed else _flat(item)
        if own is None:
            raise InputError(where(), f"a passage, as in {self._kind.shape}", shown(item))
        return {role: own[key] for role, key in self._layout_of(own).items()}

    def _layout_of(self, fields: Mapping[Any, Any]) -> Mapping[str, Any]:
        """Return the field of each role, and note what the names of the fields tell."""
        layout = self._layout(fields)
        self._names = self._names or (*fields,)
        if self._unit is None and "start" in layout:
            is_of_langchain = layout["start"] == "start_index" and "page_content" in fields
            self._unit = "characters" if is_of_langchain else _unit_of((layout["start"],))
        return layout


def _is_json(cell: object) -> bool:
    return isinstance(cell, str) and cell.lstrip().startswith("[")


def _holds_grades(items: Any) -> bool:
    """Return whether this is {document: grade}."""
    if not isinstance(items, Mapping) or not items:
        return False
    plain = {plain_name(name) for name in items}
    numbers = all(isinstance(one, int | float | np.number) for one in items.values())
    return numbers and plain.isdisjoint((*_NAMES["start"], *_NAMES["end"]))


def _extend(items: list[Any], groups: dict[int, int], listed: Any, kind: SpanKind) -> None:
    """Add the items of a list; a list within it is a group: any of its passages will do for the same fact."""
    listed = as_sequence(listed)
    listed = listed if is_list(listed) else [listed]
    if not kind.grouped or {*map(type, listed)} <= _NO_GROUPS:
        items += listed
        return
    for number, item in enumerate(listed, 1):
        inner = as_sequence(item)
        if isinstance(inner, list) and not _is_triple(inner):
            groups.update((row, number) for row in range(len(items), len(items) + len(inner)))
            items += inner
        else:
            items.append(item)


def _triples(items: Sequence[Any]) -> dict[str, Any] | None:
    """Return the columns of items (document, start, end); None if they aren't all such triples."""
    if not {*map(type, items)} <= {tuple, list} or {*map(len, items)} != {_TRIPLE}:
        return None
    docs, starts, ends = ([*map(itemgetter(at), items)] for at in range(_TRIPLE))
    whole = {*map(type, starts), *map(type, ends)} == {int} and {*map(type, docs)} <= {str, int}
    return {"doc": docs, "start": starts, "end": ends} if whole else None


def _are_alike(items: Sequence[Any]) -> bool:
    """Return whether all items are dicts with the same fields, and nothing inside them."""
    if {*map(type, items)} != {dict} or len({*map(tuple, items)}) > 1:
        return False
    inside = [name for name in _INSIDE if name in items[0]]
    return all({*map(type, map(itemgetter(name), items))} <= _NOTHING_INSIDE for name in inside)


def _is_triple(item: Any) -> bool:
    """Return whether an item is (document, start, end)."""
    if not isinstance(item, tuple | list) or len(item) != _TRIPLE:
        return False
    doc, start, end = item
    if type(start) is type(end) is int:  # the usual case
        return isinstance(doc, str | int)
    return isinstance(doc, str | int) and all(
        isinstance(end, int | np.integer) and not isinstance(end, bool) for end in (start, end)
    )


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
        if type(inner) in _NOTHING_INSIDE or isinstance(inner, str | int | float | list | tuple):
            continue
        more = _flat(inner)
        if more:
            del fields[name]
            fields = {**more, **{key: one for key, one in fields.items() if one is not None}}
    return fields


@lru_cache(maxsize=256)  # most items have the same fields
def _unit_of(names: tuple[object, ...]) -> str | None:
    """Return the unit that names of fields tell; None if they don't.

    >>> _unit_of(("start_char_idx", "text")), _unit_of(("start", "end"))
    ('characters', None)
    """
    for name in map(plain_name, names):
        if name in _NAMES["start"]:
            return next((unit for part, unit in _UNITS.items() if part in name), None)
    return None


@lru_cache(maxsize=256)
def _layout(
    names: tuple[Any, ...], roles: tuple[str, ...], asked: tuple[tuple[str, str], ...]
) -> Mapping[str, Any]:
    """Return the field of each role, among some names."""
    places: dict[str, int] = {}
    for role in roles:
        place = place_by_name(_usual(role, dict(asked)), names, {*places.values()})
        if place is not None:
            places[role] = place
    return {role: names[place] for role, place in places.items()}


def _usual(role: str, asked: Mapping[str, str]) -> tuple[str, ...]:
    return (plain_name(asked[role]),) if role in asked else _NAMES[role]


def _numbers(cells: Sequence[Any], role: str, place: Callable[[int], str]) -> Floats:
    """Return numbers as float64, NaN where a row has none."""
    kinds = {*map(type, cells)}
    if kinds <= {int, float, type(None)}:
        return np.array(cells, np.float64)  # None becomes NaN
    if kinds == {str} and (read := numbers_in_texts(cells)) is not None:
        return np.array(read, np.float64)
    numbers = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        number = number_in_text(cell) if isinstance(cell, str) else number_of(cell)
        if role == "grade" and is_truth(cell):
            number = float(cell)
        if number is not None:
            numbers[row] = number
        elif cell is not None:
            where = f"{place(row)}, {role}"
            raise InputError(where, "a number", shown(cell), code="rows.not-finite")
    return numbers


def text_of(document: object) -> tuple[Any, Any]:
    """Return the id and the text of a document of a framework; None for what it lacks."""
    fields = _flat(document) or {}
    found = _layout((*fields,), ("doc", "id", "text"), ())
    role = "doc" if "doc" in found else "id"
    return fields.get(found.get(role, "")), fields.get(found.get("text", ""))
