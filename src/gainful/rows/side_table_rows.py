"""Yield the rows of tables beside runs and judgments, from dicts, records and text files."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Literal, NamedTuple, NoReturn

from gainful.arguments import is_writable
from gainful.errors import InputError
from gainful.message_texts import shortened, shown, shown_with_type
from gainful.rows.files import BYTE_ORDER_MARK, LocalFile, first_fields, no_text, opened
from gainful.rows.identifiers import id_text, refuse_halves
from gainful.rows.input_types import Record
from gainful.rows.nested_json import KEY_ONCE, RepeatedError, repeated_key, unique_keys
from gainful.rows.side_table_columns import (
    Header,
    Roles,
    find_header,
    has_value_names_only,
    looks_like_header,
)
from gainful.rows.text_formats import (
    DELIMITERS,
    HEAD,
    LETOR,
    Fault,
    Head,
    Layout,
    TableDescription,
    TextFormat,
    are_times,
    head_of,
    miscounted,
    number_in,
    numbered_lines,
    object_in,
    recognised,
    table_fields,
)

_PRINTED = re.compile(r'\s*\{\s*"gainful"\s*:\s*"')
_JSON = re.compile(r'\s*(\{\s*["}]|\[\s*[{\]"])')
_ENDS = re.compile(r"\r\n|\n|\r")
_TREC_EVAL = ("measure", "query", "value")
_ALL = "all"  # trec_eval's name for the row over all queries
# A record that begins with its id can be skipped without parsing it.
_FIRST_ID = re.compile(rb'\s*\{\s*"_id"\s*:\s*"([^"\\]*)"')
_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)


class TableRow(NamedTuple):
    """A row: its location, the columns of its table, and its cells.

    The location is a line number in a file, or else a text for messages.
    """

    place: int | str
    header: Header
    cells: Sequence[Any]


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

    def is_header(self, names: Sequence[str]) -> bool:
        """Return whether the fields of the first line are column names."""
        return looks_like_header([name.strip() for name in names], self.roles, self.asked)

    def wants(self, name: str) -> bool:
        """Return whether rows with an id are kept; remember the first id."""
        if self.wanted is None:
            return True
        if not self.first:
            self.first.append(name)
        return name in self.wanted

    def where(self, place: int | str) -> str:
        """Return the location of a row in messages."""
        return place if isinstance(place, str) else f"{self.name}:{place}"


def record_rows(
    records: Iterable[tuple[int | str, object]], reading: Reading, expected: str
) -> Iterator[TableRow]:
    """Yield the rows of records, whose cells are named.

    The first record decides on the names of the key columns.

    Args:
        records: the records, with their locations.
        reading: what to read of them.
        expected: a description of a record, for messages.
    """
    roles, asked = reading.roles, reading.asked
    known: dict[tuple[object, ...], Header] = {}
    for place, record in records:
        if type(record) is not dict and not isinstance(record, Mapping):
            raise InputError(reading.where(place), expected, shown(record))
        names = tuple(record)
        header = known.get(names)
        if header is None:
            _refuse_odd_names(names, reading.name)
            header = known[names] = find_header(names, roles, asked, reading.where(place))
            asked = {
                **{role.name: names[header.places[role.name]] for role in roles.keys},
                **asked,
            }
        yield TableRow(place, header, list(record.values()))


def mapping_rows(given: Record, reading: Reading) -> Iterator[TableRow]:
    """Yield the rows of nested dicts, with one level for each key of the roles."""
    return _Dicts(reading).rows(given, (), reading.name)


class _Dicts:
    """Nested dicts, with the headers of their rows."""

    def __init__(self, reading: Reading) -> None:
        self._reading, self._roles = reading, reading.roles
        self._keys = [role.name for role in reading.roles.keys]
        self._values = [role.name for role in reading.roles.values]
        self._several = reading.roles.others or len(self._values) > 1
        self._headers: dict[tuple[str, ...], Header] = {}
        bare = reading.roles.bare or next(iter(self._values), "")
        self._alone = self._without_names([bare])
        self._tuple = self._without_names(self._values)

    def rows(self, given: Record, ids: tuple[str, ...], where: str) -> Iterator[TableRow]:
        """Yield the rows of the dict under some ids."""
        roles, depth = self._roles, len(ids) + 1
        role, last = roles.keys[len(ids)], depth == len(roles.keys)
        if last and roles.others:
            _refuse_mixed(given, self._reading)
        some = not ids and self._reading.wanted is not None
        if last and not some and not self._several and {*map(type, given)} <= {str}:
            refuse_halves(given, where=f"{where}, {role.noun} ids")
            for item in given.items():  # much faster than checking each item
                yield TableRow(where, self._alone, (*ids, *item))
            return
        seen: set[str] = set()
        for key, value in given.items():
            text = key if type(key) is str else id_text(key, where=f"{where}, {role.noun} ids")
            # If keys may repeat, the caller decides how to handle it.
            if text in seen and not (last and roles.repeats == "yes"):
                found = f"{text!r} as a string and as an integer"
                raise InputError(where, f"each {role.noun} once", found)
            seen.add(text)
            if some and not self._reading.wants(text):
                continue
            if last:
                header, cells = self._cells(value, where, text)
                yield TableRow(where, header, (*ids, text, *cells))
                continue
            inside = f"{where}, {role.noun} {text!r}"
            if not isinstance(value, Mapping):
                shape = roles.shape.split(": ", depth)[-1][:-depth]
                found = shown_with_type(value)
                raise InputError(inside, f"a dict {shape}", found)
            self._reading.groups.append((*ids, text))
            yield from self.rows(value, (*ids, text), inside)
        refuse_halves(seen, where=f"{where}, {role.noun} ids")

    def _cells(self, value: Any, where: str, text: str) -> tuple[Header, Iterable[Any]]:
        """Return the cells that a dict holds for an id: a dict of cells, a tuple, or a single cell."""
        if not self._several:
            return self._alone, (value,)
        if type(value) is dict or isinstance(value, Mapping):
            names = tuple(value)
            if names not in self._headers:
                _refuse_odd_names(names, self._reading.name)
                inside = f"{where}, {self._roles.keys[-1].noun} {text!r}"
                every, count = (*self._keys, *names), len(self._keys)
                self._headers[names] = find_header(every, self._roles, {}, inside, keys=count)
            return self._headers[names], value.values()
        listed = not self._roles.others and isinstance(value, tuple | list)
        if listed and len(value) == len(self._values):
            return self._tuple, value
        if listed or self._roles.bare is None:
            inside = f"{where}, {self._roles.keys[-1].noun} {text!r}"
            raise InputError(inside, f"({', '.join(self._values)})", shown(value))
        return self._alone, (value,)

    def _without_names(self, values: Sequence[str]) -> Header:
        """Return the columns of cells that a dict doesn't name."""
        known = self._keys if self._roles.others else [*self._keys, *values]
        return Header((*self._keys, *values), {name: place for place, name in enumerate(known)})


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


def _refuse_odd_names(names: Sequence[object], where: str) -> None:
    for name in names:
        if not isinstance(name, str):
            raise InputError(where, "texts as names of columns", shown(name))


# --- text files


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text(Head):
    """The beginning of a text file, from the first line that isn't blank.

    Attributes:
        file: the file, decompressed.
        text: its first lines.
        alone: whether all other lines are blank.
    """

    file: LocalFile
    text: str
    alone: bool

    @property
    def opening(self) -> str:
        """The first line that isn't blank, however it ends."""
        return next(line for line in _ENDS.split(self.text) if line.strip())

    @property
    def fields(self) -> list[str]:
        """The fields of the first line, separated by ASCII white space, as in TREC files."""
        return [field.decode() for field in self.text.split("\n", 1)[0].encode().split()]


_Found = tuple[Literal["text", "json", "dicts"], Iterator[TableRow]]
"""The cells of a file (text, JSON values, or cells in dicts by their keys) and its rows."""


def text_rows(file: LocalFile, reading: Reading) -> _Found:
    """Return the type of the cells in a file, and its rows; raise if the file can't be read."""
    head = _beginning(file, reading.roles)
    if reading.roles.has_numbers and LETOR.match(head.opening.encode()):
        raise InputError(
            head.where, reading.roles.contents, "labels with qid:, whose documents have no ids"
        )
    for read in (_json, _in_columns, _trec_eval, _fields, _unnamed_texts):
        found = read(head, reading)
        if found is not None:
            return found
    return _refuse_names(head, reading)


def _beginning(file: LocalFile, roles: Roles) -> _Text:
    with opened(str(file.path)) as content:
        data = content.read(HEAD) + content.readline()  # the first line may be long
        data = data.removeprefix(BYTE_ORDER_MARK)
        while _is_blank(data) and (more := content.read(HEAD) + content.readline()):
            data += more
        lines = [line for line in data.split(b"\n") if not _is_blank(line)]
        alone = len(lines) <= 1 and not any(line.strip() for line in content)
    head_of(data if lines else b"", file.name, roles.contents)
    text = _decoded(data, file, 1)
    start = len(text) - len(text.lstrip())
    # The first field may be empty and end with a tab.
    start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    line, text = len(_ENDS.findall(text[:start])) + 1, text[start:]
    return _Text(file.name, text.encode(), line, file=file, text=text, alone=alone)


def _is_blank(data: bytes) -> bool:
    """Return whether there is only white space, in ASCII or Unicode."""
    return data.isspace() or not data.decode(errors="replace").strip()


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


def _refuse_names(head: _Text, reading: Reading) -> NoReturn:
    """Reject a first line that neither names the columns nor is a row without names."""
    # In many countries, spreadsheets write semicolons into .csv files.
    marks = (mark for mark in head.delimiters if mark in head.opening)
    delimiter = next(marks, head.suggested or "\t")
    fields = [name.strip() for name in first_fields(head.text, delimiter)]
    roles = reading.roles
    unnamed = " or ".join(" ".join(names) for names in roles.unnamed.values())
    numbers = any(number_in(field) is not None for field in fields)
    if fields and (reading.asked or not (unnamed or numbers)):
        find_header(fields, roles, reading.asked, head.where)
    raise InputError(
        head.where,
        f"names of columns, or the fields {unnamed}" if unnamed else "names of columns",
        shortened(", ".join(map(repr, fields))) or "quotes that are not closed",
        f"Name the columns in the first line: {', '.join(role.name for role in roles.all)}.",
    )


# --- JSON lines and JSON


def _json(head: _Text, reading: Reading) -> _Found | None:
    """Read JSON lines, or one JSON value; None if the first line doesn't begin like JSON."""
    roles = reading.roles
    if head.opening.lstrip()[:1] not in ("{", "["):
        return None
    record = object_in(head.opening)
    if roles.white_space and len(head.fields) in roles.unnamed:  # ids may begin like JSON
        is_json = record is not None or number_in(head.fields[-1]) is None
        if not (is_json and _JSON.match(head.text)):
            return None
    printed = roles.others and _PRINTED.match(head.text)
    if printed and ('"runs"' in head.text or '"baseline"' in head.text):
        return "json", _printed(_whole_json(head, reading), head, reading)
    if record is not None and (not head.alone or _is_record(record, reading)):
        return "json", _json_lines(head, reading)
    value = _whole_json(head, reading)
    if isinstance(value, Mapping):
        return "dicts", mapping_rows(value, reading)
    return "json", _listed(value, head, reading)


def _is_record(value: Mapping[str, object], reading: Reading) -> bool:
    """Return whether an object is one of many records, rather than a dict of all records by id."""
    roles, names = reading.roles, [*value]
    if not names:
        return False
    if looks_like_header(names, roles, reading.asked):
        try:
            places = find_header(names, roles, reading.asked, "").places
        except InputError:  # reported when the record is read
            return not any(isinstance(cell, dict) for cell in value.values())
        cells = [*value.values()]
        return not any(isinstance(cells[places[role.name]], dict | list) for role in roles.keys)
    wanted = reading.wanted
    return (
        wanted is not None
        and not any(name in wanted for name in names)
        and has_value_names_only(names, roles)
    )


def _json_lines(head: _Text, reading: Reading) -> Iterator[TableRow]:
    def records() -> Iterator[tuple[int, object]]:
        quick = reading.wanted is not None and not reading.asked
        for number, line in numbered_lines(head.file):
            told = _FIRST_ID.match(line) if quick else None
            if told is not None and not reading.wants(told[1].decode(errors="replace")):
                continue
            if line.strip():
                text = _decoded(line, head.file, number)
                yield number, _parsed(text, f"{head.name}:{number}", "a JSON object")

    return record_rows(records(), reading, "a JSON object")


def _whole_json(head: _Text, reading: Reading) -> Any:
    name, shape = head.name, f"{reading.roles.shape}, or a list of objects"
    with opened(str(head.file.path)) as content:
        text = _decoded(content.read().removeprefix(BYTE_ORDER_MARK), head.file, 1)
    keys = [role.noun for role in reading.roles.keys]
    return _parsed(text, name, f"JSON: {shape}", keys)


def _listed(records: Sequence[object], head: _Text, reading: Reading) -> Iterator[TableRow]:
    named = ((f"{head.name}, record {number}", each) for number, each in enumerate(records, 1))
    return record_rows(named, reading, "an object with a value for each column")


def _parsed(text: str, where: str, expected: str, keys: Sequence[str] | None = None) -> object:
    """Return a JSON value; for a whole file of several lines, check that keys are unique."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as problem:
        place = where if keys is None else f"{where}:{problem.lineno}"
        found = f"{problem.msg.lower()} at column {problem.colno}"
        raise InputError(place, expected, found) from None
    except RepeatedError as problem:
        if keys is not None:
            raise repeated_key(text, where, keys, problem, KEY_ONCE) from None
        raise InputError(where, "each key once", f"{problem} again", KEY_ONCE) from None
    except (ValueError, RecursionError) as problem:
        raise InputError(where, "readable JSON", str(problem)) from None


def _printed(value: Mapping[str, Any], head: _Text, reading: Reading) -> Iterator[TableRow]:
    """Return the rows of queries in the JSON output of `gainful evaluate --per-query`."""
    if value["gainful"] == "baseline":  # a file with a baseline is recognised earlier
        advice = "A baseline is compared by the path of its file, not from a pipe."
        raise InputError(head.name, "scores of queries", "a saved baseline", advice)
    runs = value.get("runs")
    if not isinstance(runs, list):
        return mapping_rows(value, reading)
    if len(runs) != 1 or not isinstance(runs[0], dict):
        advice = "Make a file for each run."
        raise InputError(head.name, "scores of one run", f"those of {len(runs)}", advice)
    rows = runs[0].get("per_query")
    if not isinstance(rows, list):
        advice = "Let evaluate print every query: --per-query."
        raise InputError(head.name, "scores of every query", "only their means", advice)
    return _listed(rows, head, reading)


# --- delimited fields


def _in_columns(head: _Text, reading: Reading) -> _Found | None:
    """Read columns with names or numbers, in one of the `FORMATS` of all tables."""
    roles, asked = reading.roles, reading.asked
    needed = {role.name: role.holds == "number" for role in roles.all}
    described = TableDescription(asked, needed, lambda names, *_: reading.is_header(names))
    found = recognised(head, described)
    if found is None:
        return None
    text_format, layout = found
    header = find_header([name.strip() for name in layout.names], roles, asked, head.where)
    header = replace(header, numbered=layout.numbered)
    if layout.format == "trec":
        rows = _split(head)
    else:
        rows = _whole_rows(head, text_format, layout, roles)
    return "text", _as_long(rows, header, head, layout.delimiter or " ")


def _unnamed_texts(head: _Text, reading: Reading) -> _Found | None:
    """Read texts without column names."""
    roles = reading.roles
    if not roles.prose or reading.asked:
        return None
    marks = (mark for mark in DELIMITERS if mark in head.opening)
    layout = Layout("table", head.suggested or next(marks, "\t"))
    rows = _whole_rows(head, None, layout, roles)
    first = next(rows)
    count = len(first[1])
    if count not in roles.unnamed:
        raise InputError(
            head.where,
            f"the id of a {roles.keys[0].noun} and its text, or names of columns in the first line",
            f"{count} {'field' if count == 1 else 'fields'}",
            f"{'Quote the text' if layout.delimiter == ',' else 'Leave the others out'}, or name the columns."
            if count > len(roles.keys) + 1
            else "",
        )
    header = find_header(roles.unnamed[count], roles, {}, head.where)
    return "text", _as_long(chain([first], rows), header, head, layout.delimiter)


def _whole_rows(
    head: _Text, text_format: TextFormat | None, layout: Layout, roles: Roles
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the fields of each row that isn't blank."""
    if roles.prose and layout.delimiter == "\t":
        yield from islice(_tabbed(head), int(layout.header), None)
        return
    read = table_fields if text_format is None else text_format.fields
    for row in read(head.file, layout):
        if isinstance(row, Fault):
            raise row.error(head.file)
        line, fields = row
        if fields and (len(fields) > 1 or fields[0].strip()):
            every = "".join(fields)
            if not every.isascii() and not is_writable(every):
                wrong = next(char for char in every if "\ud800" <= char <= "\udfff")
                raise _no_text(f"{head.name}:{line}", ord(wrong) & 0xFF)
            yield line, fields


def _tabbed(head: _Text) -> Iterator[tuple[int, list[str]]]:
    """Split at tabs; quotes are part of the text, unless they enclose a whole field."""
    for number, line in numbered_lines(head.file):
        if line.strip():
            text = _decoded(line, head.file, number).strip("\r\n")
            # A lone carriage return ends a row only if every part is a row by itself; otherwise it is a character
            # of a text.
            rows = [row for row in text.split("\r") if row.strip()]
            alike = len({row.count("\t") for row in rows}) == 1 and "\t" in rows[0]
            for row in rows if alike else [text]:
                fields = row.split("\t")
                yield number, [_unquoted(field) for field in fields] if '"' in row else fields


def _unquoted(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"' and '"' not in field[1:-1].replace('""', ""):
        return field[1:-1].replace('""', '"')
    return field


def _as_long(
    rows: Iterable[tuple[int, list[str]]],
    header: Header,
    head: _Text,
    delimiter: str,
    remedy: Callable[[int], str] | None = None,
) -> Iterator[TableRow]:
    """Yield rows padded to the length of the header; an empty field is missing."""
    names = header.names
    for line, fields in rows:
        if len(fields) != len(names):
            told = None if remedy is None else remedy(len(fields))
            raise miscounted(line, fields, names, delimiter, told).error(head.file)
        yield TableRow(line, header, [field or None for field in fields])


# --- fields separated by white space


def _fields(head: _Text, reading: Reading) -> _Found | None:
    """Read fields without names, separated by white space."""
    roles = reading.roles
    if not roles.white_space:
        return None
    names = roles.unnamed.get(len(head.fields))
    if names is None:
        if head.suggested == "\t" or any(mark in head.opening for mark in DELIMITERS[1:]):
            return None
        names = next(iter(roles.unnamed.values()))  # the expected fields
    header = find_header(names, roles, reading.asked, head.where)
    if not reading.asked and are_times([line.split() for line in head.text.split("\n")]):
        raise InputError(
            head.where,
            f"the {len(names)} fields {' '.join(names)}",
            f"a Unix time in field 4: {shown(head.opening.strip())}",
            f"Name the columns in the first line: {', '.join(role.name for role in roles.all)}.",
        )
    return "text", _as_long(_split(head), header, head, " ", roles.hint)


def _split(head: _Text) -> Iterator[tuple[int, list[str]]]:
    """Split at ASCII white space, as in TREC files; ids may contain any other white space."""
    for number, line in numbered_lines(head.file):
        fields = line.split()
        if fields:
            yield number, [_decoded(field, head.file, number) for field in fields]


def _trec_eval(head: _Text, reading: Reading) -> _Found | None:
    """Read lines of `measure query value`, if the first line is a word, an id and a number."""
    scores = reading.roles.others and not reading.roles.white_space
    if not scores or reading.asked or len(head.fields) != len(_TREC_EVAL):
        return None
    measure, query, value = head.fields
    if number_in(measure) is not None or (query != _ALL and number_in(value) is None):
        return None
    return "text", _measures(head)


def _measures(head: _Text) -> Iterator[TableRow]:
    """Turn each measure into a column; rows over all queries are left out."""
    measures: dict[str, dict[str, float]] = {}
    queries: dict[str, int] = {}
    summed = False
    for line, fields in _split(head):
        if len(fields) > 1 and fields[1] == _ALL:
            summed = True
            continue
        if len(fields) != len(_TREC_EVAL):
            raise miscounted(line, fields, _TREC_EVAL, " ").error(head.file)
        measure, query, written = fields
        value, values = number_in(written), measures.setdefault(measure, {})
        if value is None:
            raise InputError(f"{head.name}:{line}", "a number as value", shown(written))
        if query in values:
            expected = f"each query once for {measure}"
            raise InputError(
                f"{head.name}:{line}", expected, f"{query!r} again", "Remove one of them."
            )
        values[query] = value
        queries.setdefault(query, line)
    if not queries:
        advice = "Let trec_eval print every query: -q."
        raise InputError(head.name, "values of queries", "only those of all together", advice)
    # trec_eval prints every measure for every query, so this is a table of queries without names.
    if not summed and len(queries) > 1 and all(len(values) == 1 for values in measures.values()):
        raise InputError(
            f"{head.name}:1",
            "names of columns, or lines of trec_eval -q (measure query value)",
            f"'{next(iter(measures))}' and others once each",
            "Put names of columns in the first line.",
        )
    header = Header(("query", *measures), {"query": 0})
    for query, line in queries.items():
        cells = [query, *(values.get(query) for values in measures.values())]
        yield TableRow(line, header, cells)
