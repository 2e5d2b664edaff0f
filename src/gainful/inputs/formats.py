"""What format a file has: told by its content first, by its name where that leaves a doubt."""

import csv
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from gainful.errors import InputError, shortened
from gainful.inputs.columns import find_columns, find_part, find_rank, looks_like_header
from gainful.inputs.files import BYTE_ORDER_MARK, Plain, opened
from gainful.inputs.kinds import JUDGMENTS, RUN, Kind, mistaken

_HEAD = 1 << 16
_PARQUET = b"PAR1"
_DELIMITERS = ("\t", ",", ";", "|")
_BY_NAME = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_LETOR = re.compile(rb"\s*\S+\s+qid:\S+")
_NUMBER = re.compile(rb"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows of a text file are written.

    Attributes:
        format: trec, table (CSV, TSV), jsonl, json, parquet, letor or predictions.
        delimiter: between the fields, where one character is.
        names: of the columns, or of the fields.
        places: of query, doc and number among them.
        header: whether the first line names the columns.
        skip: how many blank lines stand before it.
        rank: the place of a column of ranks.
        part: the place of a column of subtopics, where rows belong to one.
    """

    format: str
    delimiter: str = ""
    names: tuple[str, ...] = ()
    places: tuple[int, int, int] = (0, 0, 0)
    header: bool = False
    skip: int = 0
    rank: int | None = None
    part: int | None = None


def recognise(file: Plain, kind: Kind, given: Mapping[str, str]) -> Layout:
    """Tell the format of a file from its beginning and its name."""
    with opened(str(file.path)) as content:
        head = content.read(_HEAD) + content.readline()  # the first line may be long
    return recognise_head(head, file.name, kind, given)


def recognise_head(head: bytes, name: str, kind: Kind, given: Mapping[str, str]) -> Layout:
    """Tell the format of a file from its first lines and its name."""
    if head.startswith(_PARQUET):
        return Layout("parquet")
    head = head.removeprefix(BYTE_ORDER_MARK)
    lines = [line for line in head.split(b"\n") if line.strip()]
    if not lines:
        raise InputError(name, kind.contents, "an empty file", "Check what wrote it.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(name, "UTF-8 text", "UTF-16", "Convert the file to UTF-8.")
    if b"\0" in lines[0] and not _is_text(lines[0]):
        raise InputError(name, "text or Parquet", "a binary file", "Check the path.")
    first = lines[0]
    if first.lstrip().startswith((b"{", b"[")) and not _is_trec(first, kind):
        return Layout("jsonl" if _is_record(first) else "json")
    data = next((line for line in lines if not line.lstrip().startswith(b"#")), first)
    if _LETOR.match(data):
        return Layout("letor")
    if _NUMBER.fullmatch(first):
        return Layout("predictions")
    layout = _delimited(name, first, kind, given)
    if layout.format == "trec":
        return layout  # blank lines may stand anywhere
    return replace(layout, skip=head.split(b"\n").index(first))


def trec(kind: Kind, delimiter: str) -> Layout:
    """Return the layout of a TREC file."""
    rank = kind.fields.index("rank") if "rank" in kind.fields else None
    part = None if kind.part is None else kind.fields.index(kind.part)
    return Layout("trec", delimiter, kind.fields, kind.places, rank=rank, part=part)


def json_lines_layout(first: bytes, name: str, kind: Kind, given: Mapping[str, str]) -> Layout:
    """Tell which keys of the objects on the lines of a file are read, from the first of them."""
    names, where = tuple(json.loads(first)), f"{name}:1"
    places, part = find_columns(names, kind, given, where), find_part(names, kind, given, where)
    return Layout("jsonl", "", names, places, part=part)


def _delimited(name: str, first: bytes, kind: Kind, given: Mapping[str, str]) -> Layout:
    try:
        line = first.decode().rstrip("\r")
    except UnicodeDecodeError:
        return trec(kind, " ")  # its reader says where and what
    by_name = _BY_NAME.get(PurePath(name.removesuffix(".gz").removesuffix(".zst")).suffix, "")
    for delimiter in (by_name, *_DELIMITERS) if by_name else _DELIMITERS:
        names = _split(line, delimiter)
        if len(names) > 1 and looks_like_header(names, kind, given):
            places = find_columns(names, kind, given, f"{name}:1")
            rank, part = find_rank(names), find_part(names, kind, given, f"{name}:1")
            return Layout(
                "table", delimiter, tuple(names), places, header=True, rank=rank, part=part
            )
    delimiter = next((mark for mark in (by_name, *_DELIMITERS) if mark and mark in line), "")
    fields = first.split()  # as bytes: only the white space of ASCII separates
    if len(fields) == len(kind.fields) or (delimiter in ("", "\t") and by_name != "\t"):
        return trec(kind, "\t" if line.count("\t") == len(kind.fields) - 1 else " ")
    return _without_header(name, _split(line, delimiter), delimiter, kind, given)


def _without_header(
    name: str, fields: list[str], delimiter: str, kind: Kind, given: Mapping[str, str]
) -> Layout:
    """Take fields by their numbers, from 1; only the caller can know what they mean."""
    names = tuple(str(number) for number in range(1, len(fields) + 1))
    if looks_like_header(names, kind, given):
        places = find_columns(names, kind, given, name)
        part = find_part(names, kind, given, name)
        return Layout("table", delimiter, names, places, part=part)
    raise InputError(
        f"{name}:1",
        f"names of columns, or the {len(kind.fields)} fields {' '.join(kind.fields)}",
        shortened(", ".join(map(repr, fields))),
        f"Name the columns: query=…, doc=…, {kind.number}=…, by their numbers from 1 where the "
        "file has no header.",
    )


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _is_text(line: bytes) -> bool:
    try:
        return line.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _is_trec(line: bytes, kind: Kind) -> bool:
    """Return whether a line that begins as JSON does is one of a TREC file: ids may begin so."""
    fields = line.split()
    if len(fields) != len(kind.fields) or not _NUMBER.fullmatch(fields[kind.places[2]]):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def _is_record(line: bytes) -> bool:
    """Return whether a line is a JSON object with a value in it that is no object."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and any(not isinstance(item, dict) for item in value.values())


def other_kind(count: int, kind: Kind) -> str:
    """Return a hint where lines look like those of the other kind."""
    for other in (JUDGMENTS, RUN):
        if other is not kind and count == len(other.fields):
            return mistaken(other, given=kind)
    return ""
