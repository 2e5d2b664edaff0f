"""Texts in files: delimited lines, lines of JSON, or JSON as a whole; read one row at a time."""

import csv
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import PurePath
from typing import Any

from gainful.errors import InputError, shown
from gainful.inputs.caption_columns import (
    Places,
    find_places,
    looks_named,
    places_without_names,
    says_what,
)
from gainful.inputs.files import BYTE_ORDER_MARK, Plain, csv_fields, opened

_DELIMITERS = ("\t", ",", ";", "|")
_BY_NAME = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
# A record that begins with its id need not be parsed to be passed over.
_FIRST_ID = re.compile(r'\s*\{\s*"_id"\s*:\s*"([^"\\]*)"')


class Lines:
    """A text file, line by line.

    Attributes:
        file: the file, unpacked.
        role: `query` or `doc`.
        ids: those that are wanted.
        see: returns whether an id is wanted, and keeps the first for a message.
    """

    def __init__(
        self, file: Plain, role: str, ids: Collection[str], see: Callable[[str], bool]
    ) -> None:
        self.file, self.role, self.ids, self.see = file, role, ids, see

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line that is not blank."""
        with opened(str(self.file.path)) as content:
            for number, line in enumerate(content, 1):
                bare = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
                if bare.strip():
                    yield number, self._decoded(bare, number).rstrip("\r\n")

    def _decoded(self, line: bytes, number: int) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError as problem:
            raise InputError(
                f"{self.file.name}:{number}",
                "UTF-8 text",
                f"the byte {line[problem.start]:#04x}",
                "Convert the file to UTF-8.",
            ) from None

    @cached_property
    def first(self) -> str:
        """The first line that is not blank."""
        for _, line in self:
            return line
        raise InputError(self.file.name, "texts", "an empty file", "Check what wrote it.")

    @property
    def kind(self) -> str:
        """Whether it is `json`, `jsonl` or a `table`."""
        if self.first.lstrip()[:1] not in ("{", "["):
            return "table"
        try:
            value = json.loads(self.first)
        except (ValueError, RecursionError):
            return "json"
        if not isinstance(value, dict):
            return "json"
        return "jsonl" if self._is_record(value) or self._lacks_id(value) else "json"

    def _is_record(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is one of many, rather than {id: text} of all."""
        try:
            places = find_places([*value], self.role, "")
        except InputError:
            return False
        return not isinstance([*value.values()][places.id], dict | list)

    def _lacks_id(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is one of many that has no id, where one is needed."""
        if len([*islice(self, 2)]) > 1:
            return True
        return not any(name in self.ids for name in value) and says_what(value, self.role)

    def where(self, number: int) -> str:
        """Return what messages call a line."""
        return f"{self.file.name}:{number}"

    def numbered(self, found: Iterable[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield records, each with what messages call it."""
        for place, record in enumerate(found, 1):
            where = f"{self.file.name}, record {place}"
            if not isinstance(record, dict):
                raise InputError(where, "an object with an id and a text", shown(record))
            yield where, record


def read_json(lines: Lines) -> dict[str, Any] | list[Any]:
    """Read a file that is one JSON value."""
    with opened(str(lines.file.path)) as content:
        data = content.read()
    try:
        value = json.loads(data.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError) as problem:
        raise InputError(lines.file.name, "JSON that can be read", str(problem)) from None
    if not isinstance(value, dict | list):
        raise InputError(lines.file.name, "{id: text}, or objects", shown(value))
    return value


def records(lines: Lines) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects on the lines of a file, but those that are surely not wanted."""
    for number, line in lines:
        told = _FIRST_ID.match(line)
        if told is not None and not lines.see(told[1]):
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise InputError(lines.where(number), "a JSON object", str(problem)) from None
        if not isinstance(record, dict):
            raise InputError(lines.where(number), "a JSON object", shown(record))
        yield lines.where(number), record


def rows(lines: Lines) -> Iterator[tuple[str, Places, list[str]]]:
    """Yield the rows of a table as places and cells; the first line may name the columns."""
    delimiter = _delimiter(lines)
    found = _tabbed(lines) if delimiter == "\t" else _quoted(lines, delimiter)
    number, fields = next(found)
    if looks_named(fields, lines.role):
        places = find_places(fields, lines.role, lines.where(number))
        count = len(fields)
    else:
        count = len(fields)
        places = places_without_names(count, lines.role, lines.where(number))
        yield lines.where(number), places, fields
    for number, fields in found:
        if len(fields) != count:
            raise InputError(
                lines.where(number), f"{count} fields", f"{len(fields)}: {shown(fields)}"
            )
        yield lines.where(number), places, fields


def _delimiter(lines: Lines) -> str:
    plain = lines.file.name.removesuffix(".gz").removesuffix(".zst")
    by_name = _BY_NAME.get(PurePath(plain).suffix)
    if by_name is not None:
        return by_name
    return next((mark for mark in _DELIMITERS if mark in lines.first), "\t")


def _tabbed(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    """Split at tabs; quotes are part of a text, but those around a whole field."""
    for number, line in lines:
        yield number, [_bare(field) for field in line.split("\t")]


def _bare(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"' and '"' not in field[1:-1].replace('""', ""):
        return field[1:-1].replace('""', '"')
    return field


def _quoted(lines: Lines, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    last = 0

    def text() -> Iterator[str]:
        nonlocal last
        for number, line in lines:
            last = number
            yield f"{line}\n"

    try:
        for fields in csv_fields(text(), delimiter):
            yield last, fields
    except csv.Error as problem:
        raise InputError(
            lines.where(last), "fields that can be read", str(problem), "Or give JSON lines."
        ) from None
