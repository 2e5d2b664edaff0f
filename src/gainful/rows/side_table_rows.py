"""The rows of tables next to runs and judgments, from dicts, records and text files."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Literal

from gainful.arguments import is_writable
from gainful.errors import InputError
from gainful.message_texts import shortened, shown, shown_with_type
from gainful.rows.decimal_parsing import number_in_text
from gainful.rows.files import LocalFile, first_fields, no_text
from gainful.rows.identifiers import id_text, refuse_halves
from gainful.rows.input_types import Record
from gainful.rows.nested_json import KEY_ONCE, read_json, read_line
from gainful.rows.side_table_columns import (
    Header,
    Roles,
    find_header,
    has_value_names_only,
    looks_like_header,
)
from gainful.rows.text_formats import (
    DELIMITERS,
    LETOR,
    Head,
    Layout,
    TableDescription,
    are_times,
    fields_in,
    first_bytes,
    head_of,
    miscounted,
    numbered_lines,
    object_in,
    recognised,
    table_columns,
)

_WIDE = b"::"  # separates the fields of MovieLens files
_PRINTED = re.compile(rb'\s*\{\s*"gainful"\s*:\s*"')
_JSON = re.compile(rb'\s*(\{\s*["}]|\[\s*[{\]"])')
_TREC_EVAL = ("measure", "query", "value")
_ALL = "all"  # trec_eval's name for the row over all queries
# A record that begins with its id can be skipped without parsing it.
_FIRST_ID = re.compile(rb'\s*\{\s*"_id"\s*:\s*"([^"\\]*)"')

Place = int | str
"""The location of a row: its line number in a file, or else a text for messages."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What to read of a table.

    Attributes:
        roles: the contents of its columns.
        name: its name in messages.
        asked: the caller's column names, by role.
        wanted: the ids of the first key whose rows are kept; all if None.
        first: the first id in the table, wanted or not; set while reading.
        groups: the keys of nested dicts, with or without rows; filled while reading.
    """

    roles: Roles
    name: str
    asked: Mapping[str, str] = field(default_factory=dict)
    wanted: Collection[str] | None = None
    first: list[str] = field(default_factory=list)
    groups: list[tuple[str, ...]] = field(default_factory=list)

    def wants(self, name: str) -> bool:
        """Return whether rows with an id are kept; remember the first id."""
        if self.wanted is None:
            return True
        if not self.first:
            self.first.append(name)
        return name in self.wanted

    def where(self, place: Place) -> str:
        """Return the location of a row in messages."""
        return place if isinstance(place, str) else f"{self.name}:{place}"


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table whose cells haven't been checked.

    Attributes:
        form: where its cells come from: text, JSON values, dicts by their keys, records, or typed columns.
        header: its columns.
        rows: the location and the cells of each row.
        columns: the locations of all rows and the cells of each column, in place of the rows.
    """

    form: Literal["text", "json", "dicts", "records", "typed"]
    header: Header
    rows: Iterable[tuple[Place, Sequence[Any]]]
    columns: tuple[Sequence[Place], Sequence[Sequence[Any]]] | None = None


# --- records and dicts


def listed_records(
    records: Iterable[object], reading: Reading, *, from_file: bool = False
) -> RawTable:
    """Return a list of records as a table."""
    places = ((f"{reading.name}, record {place}", each) for place, each in enumerate(records, 1))
    if from_file:
        return _record_table(places, reading, "json", "an object with a value for each column")
    return _record_table(places, reading, "records", "a dict {column: value}")


def _record_table(
    records: Iterable[tuple[Place, Any]],
    reading: Reading,
    form: Literal["text", "json", "records"],
    expected: str,
) -> RawTable:
    """Return records as a table with a column for every name in any of them.

    Args:
        records: the records, with their locations.
        reading: what to read of them.
        form: where the cells come from.
        expected: a description of a record, for messages.
    """
    kept: list[tuple[Place, Mapping[Any, Any]]] = []
    start, names, key = reading.name, dict[Any, None](), None
    combinations: set[tuple[Any, ...]] = set()
    for place, record in _unpacked(records, reading):
        if type(record) is not dict and not isinstance(record, Mapping):
            raise InputError(reading.where(place), expected, shown(record))
        if (combination := tuple(record)) not in combinations:
            _refuse_odd_names(combination, reading.name)
            if not combinations:
                start = reading.where(place)
                header = find_header(combination, reading.roles, reading.asked, start)
                key = combination[header.places[reading.roles.keys[0].name]]
            combinations.add(combination)
            names.update(dict.fromkeys(combination))
        if reading.wanted is None or not _is_unwanted(record.get(key), reading):
            kept.append((place, record))
    if not combinations:
        return RawTable(form, Header((), {}), ())
    header = find_header(tuple(names), reading.roles, reading.asked, start)
    return RawTable(form, header, ((place, [*map(record.get, names)]) for place, record in kept))


def _unpacked(
    records: Iterable[tuple[Place, Any]], reading: Reading
) -> Iterable[tuple[Place, Any]]:
    """Yield records, and the rows in those of another tool."""
    unpack = None if reading.asked else reading.roles.unpack
    if unpack is None:
        yield from records
        return
    for place, record in records:
        rows = unpack(record) if isinstance(record, Mapping) else None
        yield from ((place, row) for row in ([record] if rows is None else rows))


def _is_unwanted(key: object, reading: Reading) -> bool:
    """Return whether a key is a valid id of a row that isn't wanted; invalid ids are reported later."""
    if isinstance(key, int) and not isinstance(key, bool):
        key = str(key)
    return isinstance(key, str) and not reading.wants(key)


def dict_table(given: Record, reading: Reading) -> RawTable:
    """Return nested dicts, with one level for each key of the roles, as a table."""
    roles = reading.roles
    rows = [*_leaves(given, (), reading.name, reading)]
    keys, values = ([role.name for role in group] for group in (roles.keys, roles.values))
    if not roles.others and len(values) <= 1:  # each value is a cell
        header = Header((*keys, *values), {name: at for at, name in enumerate((*keys, *values))})
        return RawTable("dicts", header, ((where, (*ids, cell)) for where, ids, cell in rows))
    records = [_named_cells(cell, where, ids, roles) for where, ids, cell in rows]
    names = dict.fromkeys(chain.from_iterable(records))
    _refuse_odd_names(names, reading.name)
    header = Header(tuple(keys), {name: at for at, name in enumerate(keys)})
    if names:
        header = find_header((*keys, *names), roles, {}, reading.name, keys=len(keys))
    cells = (
        (where, (*ids, *map(record.get, names)))
        for (where, ids, _), record in zip(rows, records, strict=True)
    )
    return RawTable("dicts", header, cells)


def _leaves(
    given: Record, ids: tuple[str, ...], where: str, reading: Reading
) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """Yield the location, the ids and the value of each key at the lowest level."""
    roles, depth = reading.roles, len(ids) + 1
    role, last = roles.keys[len(ids)], depth == len(roles.keys)
    if last and roles.others:
        _refuse_mixed(given, reading)
    names = [
        key if type(key) is str else id_text(key, where=f"{where}, {role.noun} ids")
        for key in given
    ]
    refuse_halves(names, where=f"{where}, {role.noun} ids")
    # If keys may repeat, the caller decides how to handle it.
    if len({*names}) < len(names) and not (last and roles.repeats == "yes"):
        again = next(name for name in names if names.count(name) > 1)
        found = f"{again!r} as a string and as an integer"
        raise InputError(where, f"each {role.noun} once", found)
    for name, value in zip(names, given.values(), strict=True):
        if not ids and not reading.wants(name):
            continue
        if last:
            yield where, (*ids, name), value
            continue
        inside = f"{where}, {role.noun} {name!r}"
        if not isinstance(value, Mapping):
            shape = roles.shape.split(": ", depth)[-1][:-depth]
            raise InputError(inside, f"a dict {shape}", shown_with_type(value))
        reading.groups.append((*ids, name))
        yield from _leaves(value, (*ids, name), inside, reading)


def _named_cells(value: Any, where: str, ids: tuple[str, ...], roles: Roles) -> Mapping[Any, Any]:
    """Return the cells that a dict holds for an id by name: from a dict, a tuple, or a single cell."""
    if isinstance(value, Mapping):
        return value
    names = [role.name for role in roles.values]
    listed = not roles.others and isinstance(value, tuple | list)
    if listed and len(value) == len(names):
        return dict(zip(names, value, strict=True))
    if listed or roles.bare is None:
        inside = f"{where}, {roles.keys[-1].noun} {ids[-1]!r}"
        raise InputError(inside, f"({', '.join(names)})", shown(value))
    return {roles.bare: value}


def _refuse_mixed(given: Mapping[object, object], reading: Reading) -> None:
    """Reject a mixture of dicts of columns and single values."""
    # The exact type is checked first; isinstance with Mapping takes five times as long.
    nested = [type(value) is dict or isinstance(value, Mapping) for value in given.values()]
    if any(nested) and not all(nested):
        key = [*given][nested.index(False)]
        role = reading.roles.keys[-1]
        raise InputError(
            f"{reading.name}, {role.noun} {key!r}",
            f"a dict {{column: value}}, as another {role.noun} has",
            shown(given[key]),
        )


def _refuse_odd_names(names: Iterable[object], where: str) -> None:
    for name in names:
        if not isinstance(name, str):
            raise InputError(where, "texts as column names", shown(name))


# --- text files


def text_table(file: LocalFile, reading: Reading) -> RawTable:
    """Return the table in a text file."""
    roles = reading.roles
    data = first_bytes(file)
    head = head_of(data, file.name, roles.contents)
    _decoded(data, file, 1)
    if roles.has_numbers and LETOR.match(head.first):
        raise InputError(
            head.where, roles.contents, "labels with qid:, whose documents have no ids"
        )
    table = _json(head, file, reading)
    if table is not None:
        return table
    found = _in_columns(head, reading)
    if found is None and _is_of_trec_eval(head, reading):
        return _record_table(_measured(file), reading, "text", "")
    found = found or _fields(head, reading) or _unnamed_texts(head, file, reading)
    if found is None:
        raise _no_names(head, reading)
    layout, header = found
    is_whole = reading.wanted is None and all(role.longest is None for role in roles.values)
    if is_whole and layout.format == "table" and not (roles.prose and layout.delimiter == "\t"):
        columns = table_columns(file, layout, len(header.names))
        if columns is not None:
            return RawTable("text", header, (), columns)
    return RawTable("text", header, _rows(file, layout, header, roles))


def _decoded(data: bytes, file: LocalFile, line: int) -> str:
    """Decode bytes whose first line has a known number."""
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        if b"\0" in data[: problem.end]:
            raise no_text(file.name, data) from None
        line += data.count(b"\n", 0, problem.start)
        raise _no_text(f"{file.name}:{line}", data[problem.start]) from None


def _no_text(where: str, byte: int) -> InputError:
    return InputError(where, "UTF-8 text", f"the byte {byte:#04x}", "Convert the file to UTF-8.")


def _no_names(head: Head, reading: Reading) -> InputError:
    """Return the error for a first line that contains neither column names nor a row."""
    mark = head.mark or head.suggested or "\t"
    fields = [name.strip() for name in first_fields(head.data.decode(), mark)]
    roles = reading.roles
    if head.first.count(_WIDE) > 1:
        raise InputError(
            head.where,
            "fields separated by blanks, tabs or commas",
            shown(head.first.decode().strip()),
            "Replace '::': sed 's/::/\\t/g' FILE > FILE.tsv.",
        )
    unnamed = " or ".join(" ".join(names) for names in roles.unnamed.values())
    numbers = any(number_in_text(field) is not None for field in fields)
    if fields and (reading.asked or not (unnamed or numbers)):
        find_header(fields, roles, reading.asked, head.where)
    return InputError(
        head.where,
        f"column names, or the fields {unnamed}" if unnamed else "column names",
        shortened(", ".join(map(repr, fields))) or "quotes that are not closed",
        f"Name the columns in the first line: {', '.join(role.name for role in roles.all)}.",
    )


# --- JSON lines and JSON


def _words(head: Head) -> list[str]:
    """Return the fields of the first line, separated by ASCII white space, as in TREC files."""
    return [field.decode() for field in head.first.split()]


def _json(head: Head, file: LocalFile, reading: Reading) -> RawTable | None:
    """Read JSON lines, or one JSON value; None if the first line doesn't begin like JSON."""
    roles = reading.roles
    if not head.first.lstrip().startswith((b"{", b"[")):
        return None
    record = object_in(head.first)
    fits = roles.white_space and len(_words(head)) in roles.unnamed
    if fits and record is None and not _JSON.match(head.data):  # ids may begin like JSON
        return None
    is_printed = roles.others and _PRINTED.match(head.data) is not None
    if record is not None and not is_printed:
        lines = (line for _, line in numbered_lines(file) if line.strip())
        if len([*islice(lines, 2)]) > 1 or _is_record(record, reading):
            return _record_table(_json_lines(file, reading), reading, "json", "a JSON object")
    levels = [role.noun for role in roles.keys]
    expected = f"JSON: {roles.shape}, or a list of objects"
    value = read_json(file, expected, levels, KEY_ONCE)
    if is_printed and isinstance(value, Mapping):
        value = _printed(value, head)
    if isinstance(value, Mapping):
        return dict_table(value, reading)
    return listed_records(value if isinstance(value, list) else [value], reading, from_file=True)


def _is_record(value: Mapping[str, object], reading: Reading) -> bool:
    """Return whether an object is one of many records, rather than a dict of all records by id."""
    if reading.roles.unpack is not None and reading.roles.unpack(value) is not None:
        return True
    names = [*value]
    is_header = bool(names) and looks_like_header(names, reading.roles, reading.asked)
    if not is_header and reading.wanted is not None:
        unknown = not any(name in reading.wanted for name in names)
        is_header = unknown and has_value_names_only(names, reading.roles)
    return is_header and not any(isinstance(cell, dict) for cell in value.values())


def _json_lines(file: LocalFile, reading: Reading) -> Iterator[tuple[Place, object]]:
    quick = reading.wanted is not None and not reading.asked
    for number, line in numbered_lines(file):
        first_id = _FIRST_ID.match(line) if quick else None
        if first_id is not None and not reading.wants(first_id[1].decode(errors="replace")):
            continue
        if not line.strip():
            continue
        yield number, read_line(line, f"{file.name}:{number}")


def _printed(value: Mapping[str, Any], head: Head) -> Any:
    """Return the rows of queries in the JSON output of `gainful evaluate --per-query`."""
    if value["gainful"] != "baseline" and "runs" not in value:
        return value
    runs = value.get("runs", [])
    if len(runs) == 1 and isinstance(runs[0].get("per_query"), list):
        return runs[0]["per_query"]
    # The file of a baseline is recognised earlier.
    found = "a saved baseline" if value["gainful"] == "baseline" else f"{len(runs)} runs"
    raise InputError(
        head.name,
        "the scores of every query of one run",
        found if len(runs) != 1 else "only their means",
        "Print every query of a single run with evaluate --per-query. Pass a baseline as the path of its file.",
    )


# --- delimited fields


def _in_columns(head: Head, reading: Reading) -> tuple[Layout, Header] | None:
    """Recognise columns with names or numbers, in one of the `FORMATS` of all tables."""
    roles, asked = reading.roles, reading.asked

    def is_header(names: Sequence[str], *_: object) -> bool:
        return looks_like_header([name.strip() for name in names], roles, asked)

    needed = {role.name: role.holds == "number" for role in roles.all}
    layout = recognised(head, TableDescription(asked, needed, is_header))
    if layout is None:
        return None
    header = find_header([name.strip() for name in layout.names], roles, asked, head.where)
    return layout, replace(header, numbered=layout.numbered)


def _fields(head: Head, reading: Reading) -> tuple[Layout, Header] | None:
    """Recognise fields without names, separated by white space."""
    roles = reading.roles
    if not roles.white_space:
        return None
    names = roles.unnamed.get(len(_words(head)))
    if names is None:
        if (
            head.suggested == "\t"
            or head.first.count(_WIDE) > 1
            or any(mark.encode() in head.first for mark in DELIMITERS[1:])
        ):
            return None
        names = next(iter(roles.unnamed.values()))  # the expected fields
    header = find_header(names, roles, reading.asked, head.where)
    timed = "time" in roles.unnamed.get(len(names), ())
    if not (reading.asked or timed) and are_times(
        [line.split() for line in head.data.decode().split("\n")]
    ):
        raise InputError(
            head.where,
            f"the {len(names)} fields {' '.join(names)}",
            f"a Unix time in field 4: {shown(head.first.decode().strip())}",
            f"Name the columns in the first line: {', '.join(role.name for role in roles.all)}.",
        )
    return Layout("trec", " "), header


def _unnamed_texts(head: Head, file: LocalFile, reading: Reading) -> tuple[Layout, Header] | None:
    """Recognise texts without column names."""
    roles = reading.roles
    if not roles.prose or reading.asked or not roles.unnamed:
        return None
    layout = Layout("table", head.suggested or head.mark or "\t")
    count = len(next(_whole_rows(file, layout, roles))[1])
    if count not in roles.unnamed:
        advice = "Quote the text" if layout.delimiter == "," else "Leave the others out"
        raise InputError(
            head.where,
            f"the id of a {roles.keys[0].noun} and its text, or column names in the first line",
            f"{count} {'field' if count == 1 else 'fields'}",
            f"{advice}, or name the columns." if count > len(roles.keys) + 1 else "",
        )
    return layout, find_header(roles.unnamed[count], roles, {}, head.where)


def _rows(
    file: LocalFile, layout: Layout, header: Header, roles: Roles
) -> Iterator[tuple[Place, list[str | None]]]:
    """Yield rows as long as the header; an empty field is missing."""
    names, is_split = header.names, layout.format == "trec"
    for line, fields in _split(file) if is_split else _whole_rows(file, layout, roles):
        if len(fields) != len(names):
            remedy = roles.hint(len(fields)) if is_split and not layout.names else None
            raise miscounted(f"{file.name}:{line}", fields, names, layout.delimiter or " ", remedy)
        yield line, [field or None for field in fields]


def _whole_rows(file: LocalFile, layout: Layout, roles: Roles) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the fields of each row that isn't blank."""
    if roles.prose and layout.delimiter == "\t":
        yield from islice(_tabbed(file, header=layout.header), int(layout.header), None)
        return
    for line, fields in fields_in(file, layout):
        if isinstance(fields, InputError):
            raise fields.at(f"{file.name}:{line}")
        if fields and (len(fields) > 1 or fields[0].strip()):
            every = "".join(fields)
            if not is_writable(every):
                wrong = next(char for char in every if "\ud800" <= char <= "\udfff")
                raise _no_text(f"{file.name}:{line}", ord(wrong) & 0xFF)
            yield line, fields


def _tabbed(file: LocalFile, *, header: bool) -> Iterator[tuple[int, list[str]]]:
    """Split lines at tabs; quotes are part of the text, unless they enclose a whole field.

    A carriage return alone also ends a header; below it, it is part of a text.
    """
    for number, whole in numbered_lines(file):
        for line in whole.split(b"\r", 1) if header else [whole]:
            if line.strip():
                header = False
                fields = _decoded(line, file, number).strip("\r\n").split("\t")
                yield number, [*map(_unquoted, fields)] if b'"' in line else fields


def _unquoted(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"' and '"' not in field[1:-1].replace('""', ""):
        return field[1:-1].replace('""', '"')
    return field


def _split(file: LocalFile) -> Iterator[tuple[int, list[str]]]:
    """Split at ASCII white space, as in TREC files; ids may contain any other white space."""
    for number, line in numbered_lines(file):
        fields = line.split()
        if fields:
            yield number, [_decoded(field, file, number) for field in fields]


def _is_of_trec_eval(head: Head, reading: Reading) -> bool:
    """Return whether lines are `measure query value`: the first is a word, an id and a number."""
    words, scores = _words(head), reading.roles.others and not reading.roles.white_space
    if not scores or reading.asked or len(words) != len(_TREC_EVAL):
        return False
    measure, query, value = words
    return number_in_text(measure) is None and (query == _ALL or number_in_text(value) is not None)


def _measured(file: LocalFile) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield a record of the measures of each query; rows over all queries are left out."""
    records: dict[str, dict[str, Any]] = {}
    lines: dict[str, int] = {}
    averaged = False
    for line, fields in _split(file):
        if fields[1:2] == [_ALL]:
            averaged = True
            continue
        if len(fields) != len(_TREC_EVAL):
            raise miscounted(f"{file.name}:{line}", fields, _TREC_EVAL, " ")
        measure, query, value = fields
        record = records.setdefault(query, {"query": query})
        where, number = f"{file.name}:{line}", number_in_text(value)
        if number is None:
            raise InputError(where, "a number as the value", shown(value))
        if measure in record:
            again = f"{query!r} again"
            raise InputError(where, f"each query once for {measure}", again, "Remove one of them.")
        record[measure] = number
        lines.setdefault(query, line)
    if not records:
        advice = "Print every query with trec_eval -q."
        raise InputError(file.name, "values of queries", "only values over all queries", advice)
    # trec_eval prints every measure for every query; otherwise this is a table of queries without names.
    measures = [measure for record in records.values() for measure in islice(record, 1, None)]
    if not averaged and len(records) > 1 and len({*measures}) == len(measures):
        raise InputError(
            f"{file.name}:1",
            "column names, or lines of trec_eval -q (measure query value)",
            f"{measures[0]!r} and others once each",
            "Put the column names in the first line.",
        )
    yield from ((lines[query], record) for query, record in records.items())
