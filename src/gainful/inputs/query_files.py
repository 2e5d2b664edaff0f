"""Files with one row for each query: CSV, TSV, JSON, JSON lines, and what trec_eval -q prints.

Text is read by Python's own reader of CSV: a row for each query is little beside a run, and
every row has its line.
"""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from gainful.errors import InputError, did_you_mean, shortened, shown
from gainful.inputs.columns import ALIASES
from gainful.inputs.files import BYTE_ORDER_MARK, Plain, csv_fields, first_fields, opened
from gainful.inputs.nested import KEY_ONCE, RepeatedError, unique_keys

Cell = str | float | int | bool | None

_DELIMITERS = ("\t", ",", ";", "|")
_BY_NAME = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_TREC_EVAL = ("measure", "query", "value")
_ALL = b"all"  # trec_eval's word for the row of all queries together
# Python reads more than this: digits of every script, and 1_0 as 10.
_NUMBER = re.compile(r"\s*[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf(inity)?|nan)\s*", re.A | re.I)
_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)


@dataclass(frozen=True, slots=True)
class Listed:
    """Rows of a file, as columns.

    Attributes:
        queries: the cell of each row that holds its query.
        columns: the others by name.
        lines: on which line each row begins; None where a row is of several.
    """

    queries: tuple[Cell, ...]
    columns: dict[str, tuple[Cell, ...]]
    lines: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Objects, one for each query, with their lines."""

    records: list[Any]
    lines: tuple[int, ...] | None


def read_query_file(file: Plain, query: str | None) -> Listed | Recorded | Mapping[str, Any]:
    """Read a text file with one row, object or key for each query."""
    with opened(str(file.path)) as content:
        data = content.read()
    if data.startswith(_UTF_16):
        raise InputError(file.name, "UTF-8 text", "UTF-16", "Convert the file to UTF-8.")
    text = _decoded(data.removeprefix(BYTE_ORDER_MARK), file)
    first = text.lstrip()[:1]
    if not first:
        raise InputError(file.name, "a table of queries", "an empty file", "Check what wrote it.")
    if first in "{[":
        if _is_lines(text, query):
            return _json_lines(text, file)
        return _json(text, file)
    return _table(text, file, query)


def number_in(text: str) -> float | None:
    """Return the number that a text is, None if it is none.

    >>> number_in("0.5"), number_in("1_0"), number_in("fast")
    (0.5, None, None)
    """
    return float(text) if _NUMBER.fullmatch(text) else None


def query_place(names: Sequence[str], query: str | None) -> int | None:
    """Return which of some columns, from 0, holds the query: the one given, or one of a usual name.

    >>> query_place(["ndcg", "Query-ID"], None)
    1
    """
    if query is not None:
        return names.index(query) if query in names else None
    plain = [name.strip().casefold().replace("-", "_").replace(" ", "_") for name in names]
    return next((plain.index(alias) for alias in ALIASES["query"] if alias in plain), None)


def find_query(names: Sequence[str], query: str | None, where: str) -> int:
    """Return which of some columns, from 0, holds the query, or say that none does.

    >>> find_query(["session", "ndcg"], None, "scores.csv:1")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: scores.csv:1: expected a column for query, found only 'session', 'ndcg'. ...
    """
    place = query_place(names, query)
    if place is None:
        raise InputError(
            where,
            f"the column {query!r} for query" if query is not None else "a column for query",
            shortened("only " + ", ".join(map(repr, names))),
            did_you_mean(query, names)
            if query is not None
            else f"Give the queries' column one of these names: {', '.join(ALIASES['query'])}.",
        )
    return place


def _decoded(data: bytes, file: Plain) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        if b"\0" in data[: problem.end]:
            raise InputError(
                file.name, "text or Parquet", "a binary file", "Check the path."
            ) from None
        line = data.count(b"\n", 0, problem.start) + 1
        raise InputError(
            f"{file.name}:{line}",
            "UTF-8 text",
            f"the byte {data[problem.start]:#04x}",
            "Convert the file to UTF-8.",
        ) from None


def _table(text: str, file: Plain, query: str | None) -> Listed:
    start = len(text) - len(text.lstrip())
    # Blank lines may stand before the first; a tab may be the first field of it, and empty.
    start = text.rfind("\n", 0, start) + 1
    first = text[start:].split("\n", 1)[0].rstrip("\r")
    by_name = _BY_NAME.get(PurePath(file.name.removesuffix(".gz").removesuffix(".zst")).suffix, "")
    delimiters = (by_name, *_DELIMITERS) if by_name else _DELIMITERS
    for delimiter in delimiters:
        names = [name.strip() for name in first_fields(text[start:], delimiter)]
        if query_place(names, query) is not None:
            return _rows(text, file, delimiter, query, names)
    delimiter = next((mark for mark in delimiters if mark in first), "")
    fields = first_fields(text[start:], delimiter or ",")
    if query is not None and query.isdecimal() and delimiter:
        return _rows(text, file, delimiter, query, [])
    if query is None and _is_trec_eval(first):
        return _trec_eval(text, file)
    where = f"{file.name}:{text.count(chr(10), 0, start) + 1}"
    if any(number_in(field) is not None for field in fields):
        raise InputError(
            where,
            "names of columns",
            shortened(", ".join(map(repr, fields))),
            "Put them in the first line, query for that of the queries.",
        )
    find_query(fields, query, where)
    raise InputError(where, "names of columns", shown(first))  # of an odd header


def _rows(text: str, file: Plain, delimiter: str, query: str | None, names: list[str]) -> Listed:
    """Read delimited lines; without names, columns are numbered from 1."""
    reader = csv_fields(io.StringIO(text, newline=""), delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    line = 1
    try:
        for row in reader:
            if row and (len(row) > 1 or row[0].strip()):
                rows.append(row)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error as problem:
        raise InputError(
            f"{file.name}:{line}", "fields in quotes that are closed", str(problem)
        ) from None
    if names:
        where = f"{file.name}:{lines[0]}"
        del rows[0], lines[0]
    else:
        names = [str(number) for number in range(1, len(rows[0]) + 1)]
        where = f"{file.name}:{lines[0]}"
    for name in names:
        if names.count(name) > 1:
            raise InputError(where, "each column once", f"{name!r} again")
    if any(len(row) != len(names) for row in rows):
        place = next(place for place, row in enumerate(rows) if len(row) != len(names))
        raise InputError(
            f"{file.name}:{lines[place]}",
            shortened(f"{len(names)} fields ({', '.join(names)})", 120),
            f"{len(rows[place])}: {shown(delimiter.join(rows[place]))}",
        )
    columns: dict[str, tuple[Cell, ...]] = {
        name: tuple([cell or None for cell in column])
        for name, column in zip(
            names, zip(*rows, strict=True) if rows else [()] * len(names), strict=True
        )
    }
    queries = columns.pop(names[find_query(names, query, where)])
    return Listed(queries, columns, tuple(lines))


def _is_trec_eval(line: str) -> bool:
    """Return whether a line is `measure query value`: a word, an id, a number."""
    fields = line.encode(errors="replace").split()
    if len(fields) != len(_TREC_EVAL) or number_in(fields[0].decode()) is not None:
        return False
    return fields[1] == _ALL or number_in(fields[2].decode()) is not None


def _trec_eval(text: str, file: Plain) -> Listed:
    """Make a column of each measure; the rows of all queries together are left out."""
    measures: dict[str, dict[str, float]] = {}
    queries: dict[str, None] = {}
    told = 0
    summed = False
    # As bytes: only the white space of ASCII separates.
    for line, row in enumerate(text.encode().split(b"\n"), 1):
        fields = row.split()
        if not fields:
            continue
        if len(fields) > 1 and fields[1] == _ALL:
            summed = True
            continue
        if len(fields) != len(_TREC_EVAL):
            raise InputError(
                f"{file.name}:{line}",
                f"3 fields ({' '.join(_TREC_EVAL)})",
                f"{len(fields)}: {shown(row.decode().strip())}",
            )
        measure, query, written = (field.decode() for field in fields)
        value = number_in(written)
        if value is None:
            raise InputError(f"{file.name}:{line}", "a number as value", shown(written))
        values = measures.setdefault(measure, {})
        if query in values:
            raise InputError(
                f"{file.name}:{line}",
                f"each query once for {measure}",
                f"{query!r} again",
                "Remove one of them.",
            )
        values[query] = value
        queries[query] = None
        told += 1
    if not told:
        raise InputError(
            file.name,
            "values of queries",
            "only those of all together",
            "Let trec_eval print every query: -q.",
        )
    # Each measure is printed for many queries: this is a table of queries without names.
    if not summed and len(measures) == told and len(queries) > 1:
        raise InputError(
            f"{file.name}:1",
            "names of columns, or lines of trec_eval -q (measure query value)",
            f"'{next(iter(measures))}' and others once each",
            "Put names of columns in the first line.",
        )
    columns: dict[str, tuple[Cell, ...]] = {
        measure: tuple([values.get(query) for query in queries])
        for measure, values in measures.items()
    }
    return Listed(tuple(queries), columns, None)


def _is_lines(text: str, query: str | None) -> bool:
    """Return whether text is an object on each line, rather than one JSON value."""
    first, _, rest = text.lstrip().partition("\n")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict):
        return False
    if rest.strip():
        return True
    # A line alone is a record if it names its query, else {query: value}.
    place = query_place(list(value), query)
    return place is not None and not isinstance([*value.values()][place], dict)


def _json_lines(text: str, file: Plain) -> Recorded:
    rows = text.split("\n")
    lines = [line for line, row in enumerate(rows, 1) if row and not row.isspace()]
    line = 0
    try:
        records = [_DECODER.decode(rows[(line := number) - 1]) for number in lines]
    except (ValueError, RecursionError):
        _parsed(rows[line - 1], f"{file.name}:{line}", file.name, "a JSON object")
        raise  # it failed before, so it fails again
    return Recorded(records, tuple(lines))


def _json(text: str, file: Plain) -> Recorded | Mapping[str, Any]:
    expected = "{query: {column: value}}, {query: value}, or objects"
    value = _parsed(text, "", file.name, f"JSON: {expected}")
    if isinstance(value, list):
        return Recorded(value, None)
    if not isinstance(value, dict):
        raise InputError(file.name, expected, shown(value))
    if value.get("gainful") == "baseline":  # as a file of its own, it is known before
        raise InputError(
            file.name,
            expected,
            "a saved baseline",
            "One is compared by the path of its file, not from a pipe.",
        )
    if isinstance(value.get("gainful"), str) and isinstance(value.get("runs"), list):
        return _printed(value["runs"], file)
    return value


def _printed(runs: list[Any], file: Plain) -> Recorded:
    """Return the rows of queries in what `gainful evaluate --per-query --format json` prints."""
    if len(runs) != 1 or not isinstance(runs[0], dict):
        raise InputError(
            file.name, "scores of one run", f"those of {len(runs)}", "Make a file for each run."
        )
    rows = runs[0].get("per_query")
    if not isinstance(rows, list):
        raise InputError(
            file.name,
            "scores of every query",
            "only their means",
            "Let evaluate print every query: --per-query.",
        )
    return Recorded(rows, None)


def _parsed(text: str, where: str, name: str, expected: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as problem:
        raise InputError(
            where or f"{name}:{problem.lineno}",
            expected,
            f"{problem.msg.lower()} at column {problem.colno}",
        ) from None
    except RepeatedError as problem:
        raise InputError(where or name, "each key once", f"{problem} again", KEY_ONCE) from None
    except (ValueError, RecursionError) as problem:
        raise InputError(where or name, "JSON that can be read", str(problem)) from None
