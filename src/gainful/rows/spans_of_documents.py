"""`Evidence` and `RankedChunks`: parts of documents, and tables of chunks.

Their rows are read from files, frames, records and objects of frameworks as columns, and then located in the documents and
checked. They also count as whole documents.
"""

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain
from operator import itemgetter
from typing import Any, Self

import numpy as np

from gainful.arguments import is_truth
from gainful.arithmetic.cores import cached_property
from gainful.array_types import Floats, Ints
from gainful.errors import InputError, PolicyError, warn
from gainful.message_texts import counted, shown
from gainful.rows.decimal_parsing import number_in_text, numbers_in_texts
from gainful.rows.duckdb_engine import Session, name_quoted, reading_table
from gainful.rows.files import LocalFile, beginning, path_of
from gainful.rows.grades_scores_or_ranks import RunInOrder
from gainful.rows.identifiers import UNTYPED, IdType, id_text, type_of_ids
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
from gainful.rows.text_location import Place, TextFinder, plain
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
        self._is_flat = False  # whether all records have the same fields, and no lists

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
        """Return the records in a field of an object that contains all of them, each with its own fields."""
        if isinstance(value, Mapping):
            if _holds_fields(value):
                return [_fields_within(value)]
            for name in _WRAPPERS:
                inner = as_sequence(value.get(name))
                if not (isinstance(inner, list) and inner and isinstance(inner[0], Mapping)):
                    continue
                if _holds_fields(inner[0]) or self._kind.key in self._layout(inner[0]):
                    value = inner
                    break
        records = as_sequence(value)
        if isinstance(records, list) and records and _holds_fields(records[0]):
            return [*map(_fields_within, records)]
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
            if self._is_flat or _are_alike(items):
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
            self._is_flat = True
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


def _holds_fields(record: Any) -> bool:
    """Return whether the fields of a record are within its inputs and outputs, as in LangSmith."""
    return isinstance(record, Mapping) and all(
        isinstance(record.get(name), Mapping) for name in ("inputs", "outputs")
    )


def _fields_within(record: Any) -> Any:
    return {**record["inputs"], **record["outputs"]} if _holds_fields(record) else record


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


UNITS = ("characters", "bytes", "tokens", "documents")
"""What offsets count. With documents, there are none: each document is a passage as a whole."""
_LARGEST = (
    2**40
)  # a longer text doesn't fit into memory; so the sections of a line fit into an int64
_OTHER_VERSION = (
    "The offsets may belong to another version of the document, or count something else."
)
_REMEDY_OF_CHUNKS = "If the run has ids of chunks, pass chunk_table= (--chunk-table FILE)."
_REMEDIES = {
    "run": _REMEDY_OF_CHUNKS,
    "evidence": "If the judgments are grades of whole documents, pass offsets='documents' (--offsets documents).",
}
_MIXING = np.uint64(0x9E3779B97F4A7C15)  # an odd number without a pattern
_UNIT_REMEDY = "Name it: offsets='characters', 'bytes' or 'tokens' (--offsets)."


@dataclass(frozen=True)
class Texts:
    """The documents that offsets refer to, and the unit of the offsets.

    Attributes:
        unit: what offsets count; None if the caller didn't name it.
        texts: the text of each document; None without any.
    """

    unit: str | None
    texts: Mapping[str, str] | None

    @cached_property
    def finder(self) -> TextFinder | None:
        """Finds passages in the texts."""
        return None if self.texts is None else TextFinder(self.texts)

    @cached_property
    def _lengths(self) -> dict[str, int]:
        return {}

    def length(self, doc: str) -> int:
        """Return the length of a document."""
        assert self.texts is not None  # noqa: S101 - the caller has looked
        if doc not in self._lengths:
            text = self.texts[doc]
            self._lengths[doc] = len(text.encode()) if self.unit == "bytes" else len(text)
        return self._lengths[doc]

    def offset(self, doc: str, character: int) -> int:
        """Return the offset of a character in the unit."""
        assert self.texts is not None  # noqa: S101 - the caller has looked
        return len(self.texts[doc][:character].encode()) if self.unit == "bytes" else character

    def part(self, doc: str, start: int, end: int) -> str:
        """Return the text between two offsets."""
        assert self.texts is not None  # noqa: S101 - the caller has looked
        if self.unit == "bytes":
            return self.texts[doc].encode()[start:end].decode(errors="replace")
        return self.texts[doc][start:end]

    def unit_of(self, rows: SpanRows) -> str:
        """Return the unit of the offsets of some rows; reject rows whose unit nobody names."""
        has_offsets = rows.column("start") is not None
        if self.unit is not None:
            if has_offsets and rows.unit not in (None, self.unit):
                found = f"offsets={self.unit}"
                raise InputError(rows.name, f"{rows.unit}, as its fields are named", found)
            return self.unit
        if has_offsets and rows.unit is None:
            expected = "the unit that start and end count"
            raise InputError(rows.name, expected, "none", _UNIT_REMEDY)
        return rows.unit or "characters"


@dataclass(frozen=True, eq=False, repr=False)
class Located:
    """Rows of spans whose documents and offsets are known.

    Attributes:
        query: (n,) the query of each row, or in a table of chunks the id, as its place among `queries`.
        queries: the queries or the ids.
        docs: (n,) its document, as its place among `doc_names`.
        doc_names: the documents.
        start: (n,) its first position.
        end: (n,) the position behind its last one.
        unit: what positions count: characters, bytes, tokens or documents.
    """

    query: Ints
    queries: list[str]
    docs: Ints
    doc_names: list[str]
    start: Ints
    end: Ints
    unit: str

    @property
    def columns(self) -> tuple[Ints, ...]:
        """What distinguishes rows: query, document, start and end."""
        return self.query, self.docs, self.start, self.end

    def at(self, rows: Ints) -> Self:
        """Return some rows."""
        query, docs, start, end = (column[rows] for column in self.columns)
        return replace(self, query=query, docs=docs, start=start, end=end)


def numbered(names: Sequence[str]) -> tuple[Ints, list[str]]:
    """Return the place (n,) of each name among the distinct ones, in their order.

    >>> places, distinct = numbered(["b", "a", "b"])
    >>> places.tolist(), distinct
    ([0, 1, 0], ['b', 'a'])
    """
    distinct = [*dict.fromkeys(names)]
    place = {name: at for at, name in enumerate(distinct)}
    return np.fromiter(map(place.__getitem__, names), np.int64, len(names)), distinct


def located(rows: SpanRows, texts: Texts) -> Located:
    """Return the document and the offsets of each row; search texts, and reject offsets that can't be right."""
    return _Search(rows, texts).located()


class _Search:
    """The documents and the offsets of rows, as far as they are known; NaN is an unknown offset."""

    def __init__(self, rows: SpanRows, texts: Texts) -> None:
        unit = texts.unit_of(rows)
        self.rows, self.texts = rows, replace(texts, unit=unit) if texts.unit != unit else texts
        self.unit, self.words = unit, rows.column("text")
        self.docs: list[Any] = [None] * len(rows)
        if (docs := rows.column("doc")) is not None:
            self.docs = self._ids(docs, "document", optional=True)
        self.start, self.end = (rows.numbers(role) for role in ("start", "end"))

    def located(self) -> Located:
        """Return all rows, located."""
        query, queries = numbered(
            self._ids(self.rows.columns[self.rows.kind.key], self.rows.kind.key)
        )
        if self.unit == "documents":
            self._name_whole_documents()
            self.start, self.end = np.zeros(len(self.rows)), np.ones(len(self.rows))
        else:
            self.rows.refuse_without_places()
            self._locate_texts()
            self._refuse_wrong()
        docs, names = numbered(self.docs)
        start, end = self.start.astype(np.int64), self.end.astype(np.int64)
        return Located(query, queries, docs, names, start, end, self.unit)

    def _error(self, row: int, expected: str, found: str, remedy: str = "") -> InputError:
        return InputError(self.rows.place(row), expected, found, remedy)

    def _ids(self, column: Any, role: str, *, optional: bool = False) -> list[Any]:
        kinds = {*map(type, column)}
        if kinds <= {str} or (optional and kinds <= {str, type(None)}):
            return column.tolist() if isinstance(column, np.ndarray) else list(column)
        ids: list[Any] = []
        for row, value in enumerate(column):
            if value is None and not optional:
                raise self._error(row, f"the id of a {role}", "none")
            ids.append(None if value is None else id_text(value, where=self.rows.place(row)))
        return ids

    def _name_whole_documents(self) -> None:
        """Set the documents of rows that have only a text, which is then their id."""
        for row, doc in enumerate(self.docs):
            own = self.words[row] if doc is None and self.words is not None else doc
            if own is None:
                raise self._error(row, "the id of a document", "none")
            self.docs[row] = id_text(own, where=self.rows.place(row))

    def _locate_texts(self) -> None:
        """Set the document and the offsets of rows with a text only, and compare other texts with their offsets."""
        texts, start, end = self.texts, self.start, self.end
        repeated: list[int] = []
        for row, text in enumerate(() if self.words is None else self.words):
            if text is None:
                continue
            if self.unit == "tokens" and np.isnan(end[row]):
                raise self._error(row, "start and end in tokens", "text without both")
            if np.isnan(start[row]):
                place = self._found(row, text)
                self.docs[row] = place.doc
                start[row] = texts.offset(place.doc, place.start)
                end[row] = texts.offset(place.doc, place.end)
                repeated += [row] * (place.others > 0)
                continue
            if np.isnan(end[row]):
                end[row] = start[row] + (len(text.encode()) if self.unit == "bytes" else len(text))
            self._refuse_other_version(row, text)
        if repeated:
            many = counted(len(repeated), "text")
            verb = "occurs" if len(repeated) == 1 else "occur"
            warn(
                f"{self.rows.name}: {many} {verb} several times in the documents, such as "
                f"{shown(self.words[repeated[0]])} ({self.rows.place(repeated[0])}). The first occurrence counts. "
                "Give its document, or start and end.",
                "input.repeated-text",
            )

    def _found(self, row: int, text: str) -> Place:
        """Return the place of a text; raise an error with the nearest passage if it occurs nowhere."""
        finder, doc = self.texts.finder, self.docs[row]
        if finder is None:
            raise self._error(
                row, "start and end, or the text of the documents", "only text",
                "Pass documents={id: text} (--documents FILE), in which it is found.",
            )  # fmt: skip
        if doc is not None and doc not in finder.texts:
            raise self._unknown(row)
        place = finder.find(text, doc) if text.strip() else None
        if place is not None:
            return place
        near = finder.nearest(text, doc)
        remedy = "" if near is None else f"The nearest passage: {near}."
        if self.rows.kind.name == "run" and " " not in text.strip():
            remedy = _REMEDY_OF_CHUNKS
        where = "the documents" if doc is None else f"document {doc!r}"
        raise self._error(row, f"text that occurs in {where}", shown(text), remedy)

    def _refuse_other_version(self, row: int, text: str) -> None:
        """Reject a text that isn't the one between its offsets."""
        texts, finder, doc = self.texts, self.texts.finder, self.docs[row]
        start, end = self.start[row], self.end[row]
        if finder is None or doc not in finder.texts or self.unit == "tokens":
            return
        if not (0 <= start < end <= texts.length(doc)):
            return  # rejected with all others
        there = texts.part(doc, int(start), int(end))
        if there == text or plain(there) == plain(text):
            return
        elsewhere = ""
        if (place := finder.find(text, doc)) is not None:
            first, last = texts.offset(doc, place.start), texts.offset(doc, place.end)
            elsewhere = f"The text is at {first} to {last} instead. "
        expected = f"the text of document {doc!r} from {start:.0f} to {end:.0f}, {shown(there)}"
        raise self._error(row, expected, shown(text), f"{elsewhere}{_OTHER_VERSION}")

    def _refuse_wrong(self) -> None:
        """Reject rows without a document or offsets, and offsets that no text has."""
        start, end = self.start, self.end
        remedy = _REMEDIES.get(self.rows.kind.name, "")
        if None in self.docs:
            row = self.docs.index(None)
            found = "none" if np.isnan(start[row]) else f"{self._span(row)} without a document"
            expected = "a passage: a document with start and end, or text"
            raise self._error(row, expected, found, remedy)
        after = "The end is the first position after the passage."
        for wrong, expected, advice in (
            (np.isnan(start) | np.isnan(end), "start and end, or text", remedy),
            ((start % 1 != 0) | (end % 1 != 0), "whole numbers as start and end", ""),
            ((start < 0) | (end < 0), "non-negative offsets", ""),
            (end <= start, "an end after the start", after),
            (end > _LARGEST, f"offsets up to {_LARGEST:,}", ""),
        ):
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                neither = np.isnan(start[row]) and np.isnan(end[row])
                found = "neither" if neither else self._span(row)
                raise self._error(row, expected, found, advice)
        if self.texts.texts is not None and self.unit != "tokens":
            self._refuse_beyond(self.texts.texts)

    def _refuse_beyond(self, texts: Mapping[str, str]) -> None:
        """Reject offsets beyond the end of a document, and evidence in unknown documents."""
        places, names = numbered(self.docs)
        lengths = np.full(len(names), np.inf)
        for place, doc in enumerate(names):
            if doc in texts:
                lengths[place] = self.texts.length(doc)
            elif self.rows.kind.name == "evidence":
                raise self._unknown(self.docs.index(doc))
        ends = lengths[places]
        if (self.end > ends).any():
            row = int(np.flatnonzero(self.end > ends)[0])
            size = f"{ends[row]:.0f} {self.unit}"
            expected = f"an end within document {self.docs[row]!r}, which has {size}"
            raise self._error(row, expected, _written(self.end[row]), _OTHER_VERSION)

    def _unknown(self, row: int) -> InputError:
        known = ", ".join(map(repr, [*(self.texts.texts or ())][:3]))
        side = "run" if self.rows.kind.name == "run" else "judgments"
        remedy = f"If another field names the document, name that field: columns {side}.doc=…."
        return self._error(row, f"one of the documents: {known}, …", repr(self.docs[row]), remedy)

    def _span(self, row: int) -> str:
        return f"{_written(self.start[row])} to {_written(self.end[row])}"


def _written(offset: float) -> str:
    return "nothing" if np.isnan(offset) else f"{offset:g}" if offset % 1 else f"{offset:.0f}"


def _type_of_queries(rows: SpanRows) -> IdType:
    return type_of_ids(chain(rows.columns["query"], rows.bare))


@dataclass(frozen=True, eq=False, repr=False)
class Evidence(Located):
    """Passages that answer each query, located. As judgments, a document has the highest grade of its passages.

    Attributes:
        documents: `{query: {document: grade}}`.
        grade: (n,) the grade of each passage.
        group: (n,) its group, as a number from 0; all groups of all queries are numbered.
        texts: the documents that positions refer to.
        query_type: the original type of the queries.
    """

    documents: dict[str, dict[str, float]]
    grade: Floats
    group: Ints
    texts: Texts
    query_type: IdType


def evidence_of(rows: SpanRows, texts: Texts) -> Evidence:
    """Return rows of evidence, located."""
    places = located(rows, texts)
    grade = rows.numbers("grade")
    if np.isinf(grade).any():
        row = int(np.flatnonzero(np.isinf(grade))[0])
        raise InputError(rows.place(row), "a finite number as the grade", f"{grade[row]:g}")
    grade[np.isnan(grade)] = 1.0
    queries = [*places.queries, *(id_text(one, where=rows.name) for one in rows.bare)]
    documents: dict[str, dict[str, float]] = {query: {} for query in queries}
    in_order = [*documents.values()]
    of_row = places.query.tolist()
    for query, place, own in zip(of_row, places.docs.tolist(), grade.tolist(), strict=True):
        graded, doc = in_order[query], places.doc_names[place]
        graded[doc] = max(own, graded.get(doc, own))
    names = rows.column("group")
    groups: dict[tuple[object, object], int] = {}
    of_group = [
        groups.setdefault((query, row if name is None else (name,)), len(groups))
        for row, (query, name) in enumerate(
            zip(of_row, [None] * len(rows) if names is None else names, strict=True)
        )
    ]
    texts, type_ = Texts(places.unit, texts.texts), _type_of_queries(rows)
    group = np.array(of_group, np.int64)
    return Evidence(
        **vars(places), documents=documents, grade=grade, group=group, texts=texts, query_type=type_
    )


@dataclass(frozen=True, eq=False, repr=False)
class RankedChunks(Located):
    """The chunks that a run returned, located and ranked. As a run, a document has the highest score of its chunks.

    Attributes:
        documents: `{query: {document: score}}`.
        rank: (n,) the rank of each chunk, from 1.
        query_type: the original type of the queries.
    """

    documents: dict[str, dict[str, float]]
    rank: Ints
    query_type: IdType = UNTYPED


def chunks_of(rows: SpanRows, texts: Texts, *, ties: str, duplicates: str) -> RankedChunks:
    """Return the retrieved chunks of rows, located and ranked.

    Args:
        rows: rows of a run.
        texts: the documents, and the unit.
        ties: how to order chunks with equal scores: doc or doc_ascending, by their ids; order, by their order in
            the input. `auto` means doc, or order if they have no ids.
        duplicates: what to do about a chunk that a query has twice: error, first or best.
    """
    places, scores = located(rows, texts), None
    if rows.column("score") is not None:
        scores = rows.numbers("score")
    elif rows.column("rank") is not None:
        scores = -rows.numbers("rank")
    if scores is not None and not np.isfinite(scores).all():
        row = int(np.flatnonzero(~np.isfinite(scores))[0])
        expected = "a score for every chunk, or for none"
        raise InputError(rows.place(row), expected, shown(scores[row]))
    bare = [id_text(one, where=rows.name) for one in rows.bare]
    ranked = ranked_chunks(places, scores, rows.column("id"), ties, duplicates, rows.place, bare)
    return replace(ranked, query_type=_type_of_queries(rows))


def ranked_chunks(
    places: Located,
    scores: Floats | None,
    ids: Sequence[str | None] | None,
    ties: str,
    duplicates: str,
    place: Callable[[int], str],
    bare: Sequence[str],
) -> RankedChunks:
    """Return located chunks, ranked; see `chunks_of`."""
    if ties == "auto":
        ties = "order" if ids is None and scores is not None else "doc"
    order, repeats = _ranked(places, scores, ids, ties, place), _repeats(places)
    if repeats.size and duplicates == "error":
        row = int(repeats.min())
        named = f"document {places.doc_names[places.docs[row]]!r}"
        if places.unit != "documents":
            named += f" from {places.start[row]} to {places.end[row]}"
        raise InputError(
            place(row), "each chunk once for a query", f"{named} again",
            "Remove one, or set the policy duplicates=first or duplicates=best.", code="rows.duplicate",
        )  # fmt: skip
    if repeats.size:
        order = np.delete(order, _repeats(places.at(order)))
    chunks = places.at(order)
    queries = [*places.queries, *bare]
    counts = np.bincount(chunks.query, minlength=len(queries))
    ends = np.cumsum(counts)
    rank = np.arange(order.size) - np.repeat(ends - counts, counts) + 1
    worth = (-rank.astype(np.float64) if scores is None else scores[order]).tolist()
    named_docs = [*map(places.doc_names.__getitem__, chunks.docs.tolist())]
    documents: dict[str, Any] = RunInOrder() if ties == "order" else {}
    for key, end, count in zip(queries, ends.tolist(), counts.tolist(), strict=True):
        some = slice(end - count, end)
        # In the order of the ranks. Of several chunks of a document, the first one has the best score.
        documents[key] = dict.fromkeys(named_docs[some], 0.0)
        documents[key].update(zip(named_docs[some][::-1], worth[some][::-1], strict=True))
    return RankedChunks(**vars(chunks), documents=documents, rank=rank)


def _ranked(
    places: Located,
    scores: Floats | None,
    ids: Sequence[str | None] | None,
    ties: str,
    place: Callable[[int], str],
) -> Ints:
    """Return the rows in the order of their queries and ranks."""
    in_order = np.arange(places.query.size)
    sorted_queries = not (np.diff(places.query) < 0).any()
    if scores is None:
        return in_order if sorted_queries else np.argsort(places.query, kind="stable")
    of_one = np.diff(places.query) == 0
    if sorted_queries and not (of_one & (np.diff(scores) >= 0)).any():  # the usual case
        return in_order
    order = np.lexsort((-scores, places.query))
    if ties == "order":
        return order
    same = (np.diff(places.query[order]) == 0) & (np.diff(scores[order]) == 0)
    if not same.any():
        return order
    if ids is None:
        raise PolicyError(
            f"{place(int(order[1:][same].min()))}, policy ties",
            "order for chunks with equal scores and without ids",
            shown(ties),
        )
    texts = ["" if one is None else str(one) for one in ids]
    number = {one: at for at, one in enumerate(sorted({*texts}))}
    tie = np.fromiter(map(number.__getitem__, texts), np.int64, len(texts))
    return np.lexsort((tie * (-1 if ties == "doc" else 1), -scores, places.query))


def _repeats(places: Located) -> Ints:
    """Return the rows whose chunk occurs earlier for the same query."""
    # One number for each row: if all are different, so are the rows.
    mixed = np.zeros(places.query.size, np.uint64)
    for column in places.columns:
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIXING + column.astype(np.uint64)
    mixed.sort()
    if not (mixed[1:] == mixed[:-1]).any():
        return np.empty(0, np.int64)
    by = np.lexsort(places.columns[::-1])
    same = np.logical_and.reduce([column[by][1:] == column[by][:-1] for column in places.columns])
    return by[1:][same]
