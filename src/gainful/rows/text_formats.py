"""`FORMATS`: every text format of tables, how to recognise it, and how to read its rows one by one."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gainful.arguments import is_writable
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shortened, shown
from gainful.rows.decimal_parsing import number_in_text
from gainful.rows.files import (
    BYTE_ORDER_MARK,
    LINE_ENDS,
    LocalFile,
    csv_fields,
    first_fields,
    is_binary,
    is_parquet,
    no_text,
    opened,
)
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN, Kind, number_in, other_kind
from gainful.rows.identifiers import ROWS_OR_JSON, id_text, is_list_as_text
from gainful.rows.run_and_judgment_columns import (
    ALIASES,
    advice_on_several_columns,
    asked_columns,
    assessor_in,
    find_columns,
    find_rank,
    for_other_side,
    has_column,
    kind_by_columns,
    looks_like_header,
    number_after_none,
    plain_name,
)

_BLOCK = 1 << 22  # bytes to split at once
_HEAD = 1 << 16  # bytes to inspect at the beginning of a file
DELIMITERS = ("\t", ",", ";", "|")
"""Possible delimiters between the fields of a table, the least ambiguous first."""
NO_HEADER = (
    "Numbers are for files without a header: if the first line names the columns, use the names."
)
"""Advice for a column named by position that has no number in the first row."""
LETOR = re.compile(rb"\s*\S+\s+qid:\S+")
"""A line of labels with a query for each."""
_TABLE = "Columns of a table without a header are named by their numbers: query=1, doc=2 …."
_CANDIDATES = re.compile(rb"\(\w+,\w+\)(\t\w+){4,}\s*")  # more items than a row has fields
_NULL = "A line with null contains no row: remove it."
_EMPTY = "Remove the row: all of its fields are blank."
_LONGEST, _LONGEST_NAMES = 60, 120
_BY_NAME = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_UNGROUPED = re.compile(rb"\s*[-+]?[\d.]+(\s+\d+:[-+.\deE]+)+\s*(#.*)?")
# Unix times from 1973 to 2286 in seconds, milliseconds or microseconds.
_TIME = re.compile(r"[1-9](\d{8,9}|\d{11,12}|\d{14,15})(\.\d+)?", re.ASCII)
_COLUMN_NUMBER = re.compile(r"\d{1,9}", re.ASCII)  # no file has more columns
_RATING = 4  # fields of a line with user, item, rating and time
_WIDE = "::"  # the delimiter of MovieLens's ratings.dat
_TYPED_NUMBER = 2  # the position of the number among the columns read from a typed table
_NUMBER = re.compile(rb"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a text file.

    Attributes:
        format: the name of an entry of `FORMATS`; or parquet, or typed.
        delimiter: the character between fields, if there is one.
        names: the names of the columns or fields.
        places: the positions of query, doc and number among the names.
        header: whether the first line names the columns.
        skip: the number of blank lines before the header.
        rank: the position of a column of ranks.
        numbered: whether the caller named columns by position, because the file has no header.
        assessor: the name of the column of assessors, if there is one.
    """

    format: str
    delimiter: str = ""
    names: tuple[str, ...] = ()
    places: tuple[int, int, int] = (0, 0, 0)
    header: bool = False
    skip: int = 0
    rank: int | None = None
    numbered: bool = False
    assessor: str = ""

    def number_column(self, kind: Kind) -> str:
        """Return the name of the column of numbers; empty without one."""
        at = _TYPED_NUMBER if self.format == "typed" else self.places[2]
        return self.names[at] if 0 <= at < len(self.names) and kind.implied is None else ""


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a text file.

    Attributes:
        name: the name of the file in messages.
        data: its first lines, from the first that isn't blank.
        skipped: the number of blank lines before them.
    """

    name: str
    data: bytes
    skipped: int = 0

    @property
    def first(self) -> bytes:
        """The first line that isn't blank."""
        end = self.data.find(b"\n")
        return self.data if end < 0 else self.data[:end]

    @property
    def where(self) -> str:
        """The location of that line in messages."""
        return f"{self.name}:{self.skipped + 1}"

    @property
    def suggested(self) -> str:
        """The delimiter that the file name suggests; empty if it suggests none."""
        plain = self.name.removesuffix(".gz").removesuffix(".zst")
        return _BY_NAME.get(PurePath(plain).suffix, "")

    @property
    def delimiters(self) -> tuple[str, ...]:
        r"""Possible delimiters; the one suggested by the file name comes first.

        >>> Head("run.csv", b"").delimiters[:2], Head("run.txt", b"").delimiters[:2]
        ((',', '\t'), ('\t', ','))
        """
        return (self.suggested, *DELIMITERS) if self.suggested else DELIMITERS

    @property
    def mark(self) -> str:
        """The delimiter in the first line; empty if it contains none."""
        # In many countries, spreadsheets write semicolons into .csv files.
        return next((mark for mark in self.delimiters if mark.encode() in self.first), "")


def head_of(data: bytes, name: str, contents: str) -> Head:
    """Return the beginning of a file; raise if it isn't text, or contains NCF's candidates.

    Args:
        data: the first bytes.
        name: the name of the file in messages.
        contents: the expected contents, for messages.
    """
    data = data.removeprefix(BYTE_ORDER_MARK)
    if not data.strip():
        raise InputError(name, contents, "an empty file", "Check the program that wrote it.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(name, "UTF-8 text", "UTF-16", "Convert the file to UTF-8.")
    blank = data[: len(data) - len(data.lstrip())]
    start = blank.rfind(b"\n") + 1
    head = Head(name, data[start:], skipped=blank.count(b"\n"))
    if is_binary(data) or b"\0" in head.first:
        raise no_text(name, data)
    if _CANDIDATES.fullmatch(head.first):
        found = "NCF's candidates: a pair (user,item), and items that the user did not rate"
        remedy = (
            "Pass the ratings (.test.rating), and your model's scores of the candidates as a run."
        )
        raise InputError(head.where, contents, found, remedy)
    return head


@dataclass(frozen=True, slots=True)
class TableDescription:
    """What the recognition of columns in a text needs to know about a kind of table.

    Attributes:
        asked: the caller's names or numbers of columns, by role.
        holds_number: the required roles, and whether their columns contain numbers.
        is_header: whether the fields of a first line, split at a delimiter, are column names.
        advice: advice about column names, for messages.
    """

    asked: Mapping[str, str]
    holds_number: Mapping[str, bool]
    is_header: Callable[[Sequence[str], Head, str], bool]
    advice: str = ""


class Row(NamedTuple):
    """A valid row."""

    line: int
    query: str
    doc: str
    number: float
    rank: str = ""


class Fault(NamedTuple):
    """An invalid row, with its error, which doesn't name the file."""

    line: int
    problem: InputError

    def error(self, file: LocalFile) -> InputError:
        """Return the error with its location."""
        error = self.problem.at(f"{file.name}:{self.line}")
        if error.code == InputError.usual_code:
            error.code = "rows.unreadable"
        return error

    @property
    def is_number(self) -> bool:
        """Whether the invalid value is NaN or infinite, rather than not a number."""
        number = number_in_text(str(self.problem.subject))
        is_value = self.problem.code == "rows.not-finite"
        return is_value and number is not None and not math.isfinite(number)


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A text format whose rows are fields, for runs, judgments and all other tables.

    The first format in `FORMATS` that recognises a file reads it. Rows keep their line numbers, so that
    errors are exact. Runs in common formats are also read by faster readers, the reader of clean texts
    and the engine, which report errors less precisely.

    Attributes:
        name: its name in a `Layout`.
        layout: returns the layout of a file with this beginning; None if the format is another one.
        fields: yields the line and the fields of each row, or their error.
    """

    name: str
    layout: Callable[[Head, TableDescription], Layout | None]
    fields: Callable[[LocalFile, Layout], Iterator[tuple[int, list[str] | InputError]]]


def recognise(file: LocalFile, kind: Kind, columns: Mapping[str, str]) -> Layout:
    """Return the layout of a file, by its first lines and its name."""
    if is_parquet(file.path):
        return Layout("parquet")
    return recognise_head(first_bytes(file), file.name, kind, columns)


def first_bytes(file: LocalFile) -> bytes:
    """Return the beginning of a file, up to the end of a line."""
    with opened(str(file.path)) as content:
        return content.read(_HEAD) + content.readline()  # the first line may be long


def recognise_head(data: bytes, name: str, kind: Kind, columns: Mapping[str, str]) -> Layout:
    """Return the layout of judgments or of a run, by the first lines and the name of the file."""
    head = head_of(data, name, kind.contents)
    layout = _layout_without_columns(head, kind, columns)
    if layout is not None:
        return layout
    layout = recognised(head, _described(kind, columns))
    if layout is None:
        return _trec_layout(head, kind, columns)
    ranked = layout.header and kind_by_columns(layout.names, kind, columns) is RUN
    return replace(
        layout,
        places=_places(layout.names, kind, columns, head.where),
        rank=find_rank(layout.names) if ranked else None,
        assessor="" if layout.numbered else assessor_in(layout.names, columns),
    )


def _described(kind: Kind, columns: Mapping[str, str]) -> TableDescription:
    """Describe judgments or a run, with the caller's column names."""
    numbers = kind_by_columns((), kind, columns)
    needed = {"query": False, "doc": False}
    if numbers.implied is None:
        needed[numbers.number] = True

    def is_header(names: Sequence[str], head: Head, delimiter: str) -> bool:
        if len(names) < 2:
            return False
        _refuse_lists(names, head, delimiter, kind, columns)
        return looks_like_header(names, kind, columns)

    asked = asked_columns(kind, columns)
    return TableDescription(asked, needed, is_header, for_other_side(kind, columns))


def recognised(head: Head, table: TableDescription) -> Layout | None:
    """Return the layout in the first matching format; None if no format matches."""
    layouts = (entry.layout(head, table) for entry in FORMATS)
    return next((layout for layout in layouts if layout is not None), None)


def fields_in(file: LocalFile, layout: Layout) -> Iterator[tuple[int, list[str] | InputError]]:
    """Yield the line and the fields of each row in one of the `FORMATS`, or their error."""
    entry = next(entry for entry in FORMATS if entry.name == layout.format)
    return entry.fields(file, layout)


def _layout_without_columns(head: Head, kind: Kind, columns: Mapping[str, str]) -> Layout | None:
    """Recognise JSON, labels with queries, and predictions; reject labels without queries."""
    data = head.first
    if data.lstrip().startswith((b"{", b"[")) and not _is_trec(data, kind):
        is_record = _is_record(data, kind, columns)
        return json_lines_layout(data, head.name, kind, columns) if is_record else Layout("json")
    if data.lstrip().startswith(b"#"):
        lines = (line for line in head.data.split(b"\n") if line.strip())
        data = next((line for line in lines if not line.lstrip().startswith(b"#")), data)
    if LETOR.match(data):
        return Layout("letor")
    if _UNGROUPED.fullmatch(data):
        raise InputError(
            head.name,
            "labels with qid:",
            "labels and features without",
            "Write the query of each row after its label, or pass arrays to "
            "evaluate_arrays(labels=…, scores=…, group=…).",
        )
    return Layout("predictions") if _NUMBER.fullmatch(head.first) else None


def object_in(line: bytes | str) -> dict[str, object] | None:
    """Return the JSON object on a line; None if the line isn't one."""
    # Imported here because other formats don't need it.
    import json

    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_trec(line: bytes, kind: Kind) -> bool:
    """Return whether a line that begins like JSON is a TREC line, since ids may begin like JSON."""
    fields = line.split()
    is_long = len(fields) == len(kind.fields) and _NUMBER.fullmatch(fields[kind.places[2]])
    return bool(is_long) and object_in(line) is None


def _is_record(line: bytes, kind: Kind, columns: Mapping[str, str]) -> bool:
    """Return whether a line is a JSON object about one document, rather than a query with its list.

    Such an object has scalar values, and if it also has other values, the ids of query and doc are scalar.
    """
    value, doc = object_in(line), asked_columns(kind, columns).get("doc")
    if value is None or all(isinstance(item, dict) for item in value.values()):
        return False
    if isinstance(value.get(doc or ""), list):
        return False
    plain = [name for name, item in value.items() if not isinstance(item, dict | list)]
    # Imported here because other formats don't need them.
    from gainful.rows.search_responses import is_answer
    from gainful.rows.traces import is_of_another_tool

    if doc is None and is_of_another_tool(value):
        return False
    if len(plain) == len(value):
        return doc in plain or not is_answer(value)  # a response without hits
    # A record with a query's list may also contain a score, for example.
    listed = is_answer(value) and not any(plain_name(name) in ALIASES["doc"] for name in plain)
    return (doc in plain or not listed) and looks_like_header(plain, kind, columns)


def numbered_layout(head: Head, table: TableDescription) -> Layout | None:
    """Return the layout if the caller named columns by number, from 1; the first line is then a row.

    The delimiter is one that yields enough fields, with numbers where numbers are required: only the caller
    knows what the columns mean. If none fits, the reader reports the field that isn't a number.
    """
    line, asked = first_line(head), table.asked
    if line is None or not any(map(_COLUMN_NUMBER.fullmatch, asked.values())):
        return None
    if not all(_COLUMN_NUMBER.fullmatch(asked.get(role, "")) for role in table.holds_number):
        raise InputError(
            head.where,
            f"a column number for each of {', '.join(table.holds_number)}, because one is a number",
            ", ".join(f"{role}={name}" for role, name in asked.items()),
            "If the file has no header, name all columns by their numbers, from 1; otherwise use "
            f"their names.{table.advice}",
        )
    numbers = {role: int(asked[role]) for role in table.holds_number}
    held = [numbers[role] - 1 for role, is_held in table.holds_number.items() if is_held]
    row = first_row(head.data)
    splits = [(delimiter, first_fields(row, delimiter)) for delimiter in head.delimiters]
    splits.append(("", [field.decode() for field in line.encode().split()]))
    enough = [split for split in splits if 1 < len(split[1]) >= max(numbers.values())]
    fitting = [
        split for split in enough if all(number_in_text(split[1][at]) is not None for at in held)
    ]
    widest = max(splits, key=lambda split: len(split[1]))
    delimiter, fields = (fitting or enough or [widest])[0]
    for role, number in numbers.items():
        if not 0 < number <= len(fields):
            raise InputError(
                head.where,
                f"column number {asked[role]} for {role}",
                f"{len(fields)}, from 1: {shortened(', '.join(map(repr, fields)))}",
                f"{NO_HEADER}{table.advice}",
            )
    names = tuple(str(place) for place in range(1, len(fields) + 1))
    if delimiter:
        return Layout("table", delimiter, names, numbered=True, skip=head.skipped)
    if "\r" in line:  # the whole file would be one row, of which only the first part would be read
        raise InputError(
            head.where, "lines that end with a line feed", "carriage returns alone", LINE_ENDS
        )
    return Layout("trec", " ", names, numbered=True)


def table_layout(head: Head, table: TableDescription) -> Layout | None:
    """Recognise column names on the first line."""
    line = first_line(head)
    if line is None:
        return None
    text = line if '"' not in line else head.data.decode(errors="replace")
    for delimiter in head.delimiters:
        names = first_fields(text, delimiter)
        if names and table.is_header(names, head, delimiter):
            return Layout("table", delimiter, tuple(names), header=True, skip=head.skipped)
    return None


def _trec_layout(head: Head, kind: Kind, columns: Mapping[str, str]) -> Layout:
    """Return the layout of a TREC file, the fallback; raise if the file isn't one."""
    where, line = head.where, first_line(head)
    delimiter = " "
    if line is None:  # otherwise, the line reader raises an error with its location
        if not {*asked_columns(kind, columns).values()} <= {*kind.fields}:
            line = shortened(repr(head.first)[1:])
            raise InputError(where, "UTF-8 text", line, "Convert the file to UTF-8.")
    else:
        _refuse_first_line(head, line, kind, columns)
        delimiter = "\t" if line.count("\t") == len(kind.fields) - 1 else " "
    kind = kind_by_columns(kind.fields, kind, columns)
    rank = kind.fields.index("rank") if kind is RUN else None
    places = _places(kind.fields, kind, columns, where)
    return Layout("trec", delimiter, kind.fields, places, rank=rank)


def _places(
    names: Sequence[str], kind: Kind, columns: Mapping[str, str], where: str
) -> tuple[int, int, int]:
    return find_columns(names, kind_by_columns(names, kind, columns), columns, where)


def json_lines_layout(first: bytes, name: str, kind: Kind, columns: Mapping[str, str]) -> Layout:
    """Return the layout of JSON lines, by the keys of the first object."""
    record = object_in(first) or {}
    names = tuple(record)
    try:
        places = _places(names, kind, columns, f"{name}:1")
    except InputError as problem:
        from gainful.rows.records_of_lists import path_to_doc

        path = path_to_doc(record) if problem.subject == "doc" else None
        if path is None:
            raise
        remedy = f"Name the path to it: columns {kind.name}.doc={path}."
        raise problem.with_remedy(remedy) from None
    return Layout("jsonl", "", names, places, assessor=assessor_in(names, columns))


def first_line(head: Head) -> str | None:
    """Return the first line; None if it isn't UTF-8."""
    try:
        line = head.first.decode().rstrip("\r")
    except UnicodeDecodeError:
        return None
    if line.startswith("sep="):
        remedy = "Remove the line, which is only for spreadsheets."
        raise InputError(head.where, "column names", shown(line), remedy)
    return line


def first_row(head: bytes) -> str:
    r"""Return the first row of a table; a quoted field may span several lines.

    >>> first_row(b'q1,"a\nb",1\nq1,c,2\n')
    'q1,"a\nb",1'
    """
    lines = head.split(b"\n")
    quotes = accumulate(line.count(b'"') for line in lines)
    last = next((place for place, count in enumerate(quotes) if count % 2 == 0), len(lines))
    return b"\n".join(lines[: last + 1]).decode(errors="replace").rstrip("\r")


# --- files that look like tables but aren't, with advice


def _refuse_lists(
    names: Sequence[str], head: Head, delimiter: str, kind: Kind, columns: Mapping[str, str]
) -> None:
    """Reject a table whose first row contains a list, as text, instead of a document."""
    if b"[" not in head.data:  # the usual case
        return
    cells = first_fields(first_row(head.data.partition(b"\n")[2]), delimiter)
    lists = {name: cell for name, cell in zip(names, cells, strict=False) if is_list_as_text(cell)}
    others = [name for name in names if name not in lists]
    if lists and not has_column("doc", others, kind, columns):
        name, cell = next(iter(lists.items()))
        found = f"a list as text in the column {name!r}: {shortened(cell)}"
        raise InputError(f"{head.name}:2", "one document in each row", found, ROWS_OR_JSON)


def _refuse_first_line(head: Head, line: str, kind: Kind, columns: Mapping[str, str]) -> None:
    """Reject a first line that is not a row of a TREC file, or lacks a column that the caller named."""
    asked, suggested = asked_columns(kind, columns), head.suggested
    names: Sequence[str] = kind.fields
    is_row = len(head.first.split()) == len(names)  # bytes split only at ASCII white space
    mark = head.mark
    is_table = not is_row and (mark not in ("", "\t") or suggested == "\t")
    if is_table:
        names = first_fields(line, mark or suggested)
    rows = [names] if is_table else [row.split() for row in head.data.decode("latin-1").split("\n")]
    remedy = "" if is_row else _advice_on_names(head, line, names, kind, columns)
    if kind.number not in asked and are_times(rows):
        remedy = f"The fields look like user, item, rating and time. {_by_numbers(kind)}"
    missing = next(((role, name) for role, name in asked.items() if name not in names), None)
    if not (is_table or remedy or missing):
        return
    remedy = remedy or (
        f"Name the columns: query=…, doc=…, {kind.number}=…{', or rank=…' * (kind is RUN)}, by their "
        "numbers from 1 if the file has no header."
    )
    found = shortened(repr(line)) if names else "quotes that are not closed"
    if missing is None:
        expected = f"column names, or the {len(kind.fields)} fields {' '.join(kind.fields)}"
        raise InputError(head.where, expected, found, remedy, code="rows.no-column")
    role, name = missing
    expected = f"the column {name!r} for {role}"
    remedy = (
        f"{did_you_mean(name, (*names, *line.split()))} {remedy}{for_other_side(kind, columns)}"
    )
    code = "rows.no-such-column"
    raise InputError(head.where, expected, found, remedy, code=code, subject=name)


def _advice_on_names(
    head: Head, line: str, fields: Sequence[str], kind: Kind, columns: Mapping[str, str]
) -> str:
    """Return advice for a first line with a common mistake; else empty."""
    # Imported here because few files have such a line.
    from gainful.rows.records_of_lists import has_name_of_list

    if line.lstrip().lower().startswith(("<!doctype", "<html")):
        return "This is a web page, perhaps one that asks to sign in: download the file itself."
    if line.strip() == "null":
        return _NULL
    if looks_like_header(line.split(), kind, columns):
        return "Write commas or tabs between the column names."
    second = first_row(head.data.partition(b"\n")[2])
    for delimiter in DELIMITERS:
        names = first_fields(second, delimiter) if delimiter in second else []
        if len(names) > 1 and looks_like_header(names, kind, columns):
            return "The names are in line 2: remove line 1."
    if line.count(_WIDE) > 1 and len(line.split()) == 1:
        return f"Replace {_WIDE!r}: sed 's/::/\\t/g' FILE > FILE.tsv. {_by_numbers(kind)}"
    return advice_on_several_columns("doc", fields) or (
        ROWS_OR_JSON if has_name_of_list(map(plain_name, fields)) else ""
    )


def are_times(rows: Iterable[Sequence[str]]) -> bool:
    """Return whether the last of four fields is a Unix time in every row, and so isn't a grade.

    >>> are_times([["7", "64", "5", "978300760"], ["7", "65", "3", "978302109"]])
    True
    >>> are_times([["q1", "0", "d1", "2"]])
    False
    """
    looked_at = False
    for row in rows:
        if row and not (len(row) == _RATING and _TIME.fullmatch(row[-1])):
            return False
        looked_at = looked_at or bool(row)
    return looked_at


def _by_numbers(kind: Kind) -> str:
    """Return the options that name the first three columns user, item and rating."""
    numbers = [kind.number] if kind.number in (JUDGMENTS.number, RUN.number) else []
    roles = enumerate(["query", "doc", *numbers], 1)
    names = {f"{kind.name}.{role}": str(place) for place, role in roles}
    options = " ".join(f"--columns {role}={name}" for role, name in names.items())
    return f"Name the columns by their numbers: {options}; in Python, columns={names}."


# --- rows of runs and judgments


def rows(file: LocalFile, layout: Layout, kind: Kind) -> Iterator[Row | Fault]:
    """Yield the rows of a file."""
    lines = (
        numbered_lines if layout.format in ("trec", "jsonl") else partial(fields_in, layout=layout)
    )
    return rows_of_lines(lines(file), layout, kind)


def rows_of_lines(
    lines: Iterable[tuple[int, Any]], layout: Layout, kind: Kind
) -> Iterator[Row | Fault]:
    """Yield the rows in numbered lines, or in the fields, the record or the error of each; blank lines have none."""
    if layout.format == "jsonl":
        lines = _parsed_lines(lines)
    read: Callable[[int, Any], Row | None]
    if layout.format in ("json", "jsonl"):
        read = _record_reader(layout, kind)
    else:
        read_row = _trec_row if layout.format == "trec" else _table_row
        read = partial(read_row, layout=layout, kind=kind)
    for number, line in lines:
        try:
            if isinstance(line, InputError):
                raise line
            row = read(number, line)
        except InputError as problem:
            yield Fault(number, problem)
        else:
            if row is not None:
                yield row


def _parsed_lines(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Any]]:
    """Yield the value of each line of JSON that isn't blank, or its error."""
    from gainful.rows.nested_json import read_line

    for number, line in lines:
        if line.strip():
            try:
                yield number, read_line(line)
            except InputError as problem:
                yield number, problem


def numbered_lines(file: LocalFile) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers, without a byte order mark."""
    with opened(str(file.path)) as content:
        for number, line in enumerate(content, 1):
            yield number, line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def _trec_row(number: int, line: bytes, layout: Layout, kind: Kind) -> Row | None:
    """Read a line of fields separated by white space; None if it is blank."""
    fields = [field.decode(errors="surrogateescape") for field in line.split()]
    try:
        return _table_row(number, fields, layout, kind)
    except InputError as problem:
        is_header = number == 1 and not layout.numbered and _names_columns(fields)
        if is_header and problem.code in ("rows.not-finite", "rows.grade-word"):
            written = shortened(repr(" ".join(fields)))
            remedy = f"{written} looks like a header. TREC files don't have one, so remove it."
            header = problem.with_remedy(remedy)
            header.code = "rows.not-finite"
            raise header from None
        other = "" if layout.numbered else other_kind(len(fields), kind)
        remedy = LINE_ENDS if b"\r" in line.rstrip(b"\r\n") else other
        if not remedy and number == 1:
            remedy = _TABLE
        if problem.code != "rows.fields" or not remedy:
            raise
        code = "input.swapped" if remedy == other else problem.code
        raise InputError("", problem.expected, problem.found, remedy, code=code) from None


def _names_columns(fields: Sequence[str]) -> bool:
    """Return whether the fields of a line include usual names for the query and for the document.

    >>> _names_columns(["qid", "iter", "docno", "rel"]), _names_columns(["q1", "0", "doc", "good"])
    (True, False)
    """
    names = {*map(plain_name, fields)}
    return all(names.intersection(ALIASES[role]) for role in ("query", "doc"))


def table_fields(file: LocalFile, layout: Layout) -> Iterator[tuple[int, list[str] | InputError]]:
    """Yield the first line number and the fields of each row of a delimited file, without the header.

    A blank line has no fields. Bytes that aren't UTF-8 become lone surrogates. The last row is an
    error if its quotes aren't closed.
    """
    names = layout.header
    with (
        opened(str(file.path)) as content,
        io.TextIOWrapper(content, "utf-8-sig", errors="surrogateescape", newline="") as text,
    ):
        reader = csv_fields(text, layout.delimiter, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as problem:
                expected = "fields in quotes that are closed"
                yield line, InputError("", expected, str(problem))
                return
            if names:  # blank lines may precede the header
                names = not any(field.strip() for field in fields)
            else:
                yield line, fields


def table_columns(
    file: LocalFile, layout: Layout, count: int
) -> tuple[range, list[Sequence[str | None]]] | None:
    """Return the lines and the columns of a delimited file without its header, much faster than by row.

    None if a row isn't a line with as many fields, or if any field is in quotes or not UTF-8. Empty fields are None.
    """
    columns: list[list[str]] = [[] for _ in range(count)]
    pattern = np.frombuffer(layout.delimiter.encode() * (count - 1) + b"\n", np.uint8)
    if count == 1 or pattern.size != count:
        return None
    with opened(str(file.path)) as content:
        rest = content.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
        while block := content.read(_BLOCK):
            lines, end, rest = (rest + block).rpartition(b"\n")
            if not _split_into(columns, lines + end, pattern):
                return None
        if rest and not _split_into(columns, rest + b"\n", pattern):
            return None
    for column in columns if layout.header else ():
        del column[0]
    lines_of = range(1 + layout.header, 1 + layout.header + len(columns[0]))
    return lines_of, [[one or None for one in each] if "" in each else each for each in columns]


def _split_into(columns: Sequence[list[str]], lines: bytes, pattern: NDArray[np.uint8]) -> bool:
    """Add the fields of whole lines to columns; return False if their delimiters have another pattern."""
    lines = lines.replace(b"\r\n", b"\n")
    characters = np.frombuffer(lines, np.uint8)
    marks = characters[(characters == pattern[0]) | (characters == pattern[-1])]
    if b'"' in lines or b"\r" in lines or marks.size % pattern.size:
        return False
    if (marks.reshape(-1, pattern.size) != pattern).any():
        return False
    try:
        text = lines.decode()
    except UnicodeDecodeError:
        return False
    delimiter = chr(pattern[0])
    fields = text.replace("\n", delimiter).split(delimiter)[:-1]
    for at, column in enumerate(columns):
        column += fields[at :: pattern.size]
    return True


def _table_row(line: int, fields: list[str], layout: Layout, kind: Kind) -> Row | None:
    """Read the fields of a table row, if any; bytes that aren't UTF-8 are lone surrogates."""
    if not fields:
        return None
    query, doc, value = layout.places
    if not any(map(str.strip, fields)):  # spreadsheets write such rows below the last one
        written = _shown(layout.delimiter.join(fields))
        raise InputError("", "a row with ids", f"an empty one: {written}", _EMPTY)
    if len(fields) != len(layout.names):
        raise miscounted("", fields, layout.names, layout.delimiter or ",")
    ids = _text_id("query", fields[query]), _text_id("doc", fields[doc])
    rank = "" if layout.rank is None else fields[layout.rank]
    if not rank.isascii():  # only the lint uses it, as a number
        rank = rank.encode(errors="replace").decode()
    number = kind.implied if kind.implied is not None else number_in_text(fields[value])
    if number is None or not math.isfinite(number):
        found = _shown(fields[value]) if fields[value] else "nothing"
        problem = kind.no_number("", fields[value], found)
        if layout.numbered and line == 1:
            problem = problem.with_remedy(f"{NO_HEADER} {problem.remedy}".strip())
            problem.code = "rows.not-finite"
        raise problem
    return Row(line, *ids, kind.turned(number), rank)


def miscounted(
    where: str,
    fields: Sequence[str],
    names: Sequence[str],
    delimiter: str,
    remedy: str | None = None,
) -> InputError:
    """Return the error for a row with too few or too many fields; by default, advise on trailing delimiters."""
    between = ", " if delimiter.strip(" ") else " "
    if remedy is None:
        remedy = _trailing_delimiters(fields, len(names), delimiter)
    return InputError(
        where,
        shortened(f"{len(names)} fields ({between.join(names)})", _LONGEST_NAMES),
        f"{len(fields)}: {_shown(delimiter.join(fields))}",
        remedy,
        code="rows.fields",
    )


def _trailing_delimiters(fields: Sequence[str], count: int, delimiter: str) -> str:
    r"""Return advice on removing delimiters at the ends of lines, if those are the only surplus.

    >>> _trailing_delimiters(["q1", "d1", "5", ""], 3, ",")
    "Remove the delimiters at the ends of lines: sed -E 's/[,]+\\r?$//' FILE > NEW."
    >>> _trailing_delimiters(["q1", "d1", "5", "x"], 3, ",")
    ''
    """
    if len(fields) <= count or any(field.strip() for field in fields[count:]):
        return ""
    mark = "\\t" if delimiter == "\t" else delimiter
    return f"Remove the delimiters at the ends of lines: sed -E 's/[{mark}]+\\r?$//' FILE > NEW."


def _record_reader(layout: Layout, kind: Kind) -> Callable[[int, Any], Row]:
    """Return the function that reads a record, given the keys of the first one."""
    # Imported here because other formats don't need it.
    import json

    first = "the first line" if layout.format == "jsonl" else "record 1"
    query, doc, *number = names = [layout.names[at] for at in layout.places if at >= 0]
    needed = {*names}

    def read(place: int, record: Any) -> Row:
        if not isinstance(record, dict) or not record.keys() >= needed:
            keys = f"the keys {', '.join(names[:-1])} and {names[-1]}"
            if isinstance(record, dict):
                raise InputError("", keys, ", ".join(map(str, record)))
            remedy = _NULL if record is None else ""
            raise InputError("", f"an object with {keys}", _shown(json.dumps(record)), remedy)
        if kind.assumed and tuple(record) != layout.names:
            extra = number_after_none(record, names, kind, first)
            if extra is not None:
                raise InputError("", *extra)
        ids = _record_id("query", record[query]), _record_id("doc", record[doc])
        value = record[number[0]] if number else kind.implied
        # Measures reject a table with NaN or infinities; a check counts them.
        finite = layout.format == "jsonl" or not isinstance(value, float)
        return Row(place, *ids, kind.turned(number_in(value, kind, "", finite=finite)))

    return read


def _record_id(role: str, value: object) -> str:
    if type(value) is str and value and value.isascii():  # the usual case
        return value
    return _text_id(role, "" if value == "" else id_text(value, where=""))


def _text_id(role: str, text: str) -> str:
    """Return an id; raise if it is empty, or contains bytes that aren't UTF-8."""
    if not text:
        raise InputError("", f"an id as {role}", "an empty field")
    if not text.isascii() and not is_writable(text):
        raise InputError("", "UTF-8 text", _shown(text), "Convert the file to UTF-8.")
    return text


def _shown(text: str) -> str:
    text = text.encode(errors="replace").decode()
    return repr(shortened(text, _LONGEST))


FORMATS: list[TextFormat] = [
    # A table whose fields are separated by white space has the format trec.
    TextFormat("table", numbered_layout, table_fields),
    TextFormat("table", table_layout, table_fields),
]
