"""The rows of a text file, one by one, with their lines: slow, and exact about what is wrong.

The engine reads files fast and says little of what it cannot read. Then, and for the
examples of a lint, these generators go through the file again.
"""

import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from gainful.arguments import HALF, is_writable
from gainful.errors import InputError
from gainful.inputs.files import BYTE_ORDER_MARK, LocalFile, csv_fields, opened
from gainful.inputs.format_detection import Layout, other_kind
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.inputs.identifiers import id_advice
from gainful.inputs.run_and_judgment_columns import number_after_none
from gainful.inputs.values_as_numbers import INEXACT, is_exact
from gainful.message_texts import shortened, shown

_LONGEST = 60
_FINITE = "a finite number as"
NO_HEADER = (
    "Columns named by number are those of a file without a header: where its first line names "
    "them, use the names."
)
"""What to do where a column that is named by number holds no number in the first row."""
_TABLE = "Columns of a table without a header are named by their numbers: query=1, doc=2 …."
_EMPTY = "Remove the row: nothing stands in it."


@dataclass(frozen=True, slots=True)
class Row:
    """A row that can be read."""

    line: int
    query: str
    doc: str
    number: float
    rank: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that cannot be read, and why."""

    line: int
    expected: str
    found: str
    remedy: str = ""

    def error(self, file: LocalFile) -> InputError:
        """Return it as an error with its place."""
        return InputError(f"{file.name}:{self.line}", self.expected, self.found, self.remedy)


def rows(file: LocalFile, layout: Layout, kind: Kind) -> Iterator[Row | Fault]:
    """Go through the rows of a file."""
    reader = {"trec": _trec, "table": _table, "jsonl": _jsonl}[layout.format]
    found = reader(file, layout, kind)
    first = next(found, None)
    if isinstance(first, Fault) and (layout.numbered or not first.remedy):
        first = replace(first, remedy=f"{_advice(first, layout)} {first.remedy}".strip())
    if first is not None:
        yield first
        yield from found


def _advice(first: Fault, layout: Layout) -> str:
    """Say how columns are named, where the first row suggests that they were named wrongly."""
    if layout.numbered and first.expected.startswith(_FINITE):
        return NO_HEADER
    if layout.names == RUN.fields or layout.names == JUDGMENTS.fields:
        return _TABLE if first.expected.startswith(f"{len(layout.names)} fields") else ""
    return ""


def first_fault(file: LocalFile, layout: Layout, kind: Kind) -> Fault | None:
    """Return the first row that cannot be read."""
    return next((row for row in rows(file, layout, kind) if isinstance(row, Fault)), None)


def line_of(nth: int, wanted: Callable[[Row], bool], found: Iterator[Row | Fault]) -> int | None:
    """Return the line of the nth row, from 1, of those that are wanted."""
    lines = (row.line for row in found if isinstance(row, Row) and wanted(row))
    return next(islice(lines, nth - 1, None), None)


def numbered_lines(file: LocalFile) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers, without a byte order mark."""
    with opened(str(file.path)) as content:
        for number, line in enumerate(content, 1):
            yield number, line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def _trec(file: LocalFile, layout: Layout, kind: Kind) -> Iterator[Row | Fault]:
    for number, line in numbered_lines(file):
        if row := trec_row(number, line, layout, kind):
            yield row


def trec_row(number: int, line: bytes, layout: Layout, kind: Kind) -> Row | Fault | None:
    """Read a line of fields between white space; None where it is blank."""
    query, doc, value = layout.places
    fields = line.split()
    if not fields:
        return None
    if len(fields) != len(layout.names):
        return Fault(
            number,
            f"{len(layout.names)} fields ({' '.join(layout.names)})",
            f"{len(fields)}: {_quoted(line)}",
            "" if layout.numbered else other_kind(len(fields), kind),
        )
    text = [field.decode(errors="surrogateescape") for field in fields]
    rank = None if layout.rank is None else text[layout.rank]
    found = text[value] if kind.implied is None else kind.implied
    return _row(number, text[query], text[doc], found, kind, rank)


def delimited_rows(file: LocalFile, delimiter: str) -> Iterator[tuple[int, list[str]] | Fault]:
    """Yield the line on which each row of a delimited file begins, and its fields.

    A blank line has none. Bytes that are not UTF-8 come as lone surrogates. The last row is a
    fault where its quotes are not closed.
    """
    with (
        opened(str(file.path)) as content,
        io.TextIOWrapper(content, "utf-8-sig", errors="surrogateescape", newline="") as text,
    ):
        reader = csv_fields(text, delimiter, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as problem:
                yield Fault(line, "fields in quotes that are closed", str(problem))
                return
            yield line, fields


def _table(file: LocalFile, layout: Layout, kind: Kind) -> Iterator[Row | Fault]:
    names = layout.header
    for row in delimited_rows(file, layout.delimiter):
        if isinstance(row, Fault):
            yield row
            return
        line, fields = row
        if names:  # blank lines may stand before the header
            names = not any(field.strip() for field in fields)
        elif fields:
            yield table_row(line, fields, layout, kind)


def table_row(line: int, fields: list[str], layout: Layout, kind: Kind) -> Row | Fault:
    """Read the fields of a line of a table, in which bytes that are no UTF-8 are surrogates."""
    query, doc, value = layout.places
    written = _shown(layout.delimiter.join(fields))
    if not any(map(str.strip, fields)):  # what a spreadsheet writes below its last row
        return Fault(line, "a row with ids", f"an empty one: {written}", _EMPTY)
    if len(fields) != len(layout.names):
        expected = f"{len(layout.names)} fields ({', '.join(layout.names)})"
        remedy = trailing_delimiters(fields, len(layout.names), layout.delimiter)
        return Fault(line, expected, f"{len(fields)}: {written}", remedy)
    rank = None if layout.rank is None else fields[layout.rank]
    found = fields[value] if kind.implied is None else kind.implied
    return _row(line, fields[query], fields[doc], found, kind, rank)


def trailing_delimiters(fields: Sequence[str], count: int, delimiter: str) -> str:
    r"""Say how to remove delimiters at the ends of lines, where those alone are too many.

    >>> trailing_delimiters(["q1", "d1", "5", ""], 3, ",")
    "Remove the delimiters at the ends of lines: sed -E 's/[,]+\\r?$//' FILE > NEW."
    >>> trailing_delimiters(["q1", "d1", "5", "x"], 3, ",")
    ''
    """
    if len(fields) <= count or any(field.strip() for field in fields[count:]):
        return ""
    mark = "\\t" if delimiter == "\t" else delimiter
    return f"Remove the delimiters at the ends of lines: sed -E 's/[{mark}]+\\r?$//' FILE > NEW."


def _jsonl(file: LocalFile, layout: Layout, kind: Kind) -> Iterator[Row | Fault]:
    for number, line in numbered_lines(file):
        if row := json_row(number, line, layout, kind):
            yield row


def json_row(number: int, line: bytes, layout: Layout, kind: Kind) -> Row | Fault | None:
    """Read a line that is a JSON object; None where it is blank."""
    import json

    from gainful.inputs.nested_json import KEY_ONCE, RepeatedError, unique_keys

    query, doc = (layout.names[place] for place in layout.places[:2])
    value = layout.names[layout.places[2]] if kind.implied is None else query
    if not line.strip():
        return None
    try:
        record = json.loads(line, object_pairs_hook=unique_keys)
    except RepeatedError as problem:
        return Fault(number, "each key once", f"{problem} again", KEY_ONCE)
    except (ValueError, RecursionError) as problem:
        return Fault(number, "a JSON object", f"{_quoted(line)} ({problem})")
    if not isinstance(record, dict) or not {query, doc, value} <= record.keys():
        names = ", ".join(record) if isinstance(record, dict) else _quoted(line)
        keys = f"{query}, {doc} and {value}" if kind.implied is None else f"{query} and {doc}"
        return Fault(number, f"the keys {keys}", names)
    if kind.assumed and tuple(record) != layout.names:
        extra = number_after_none(record, (query, doc), kind, "the first line")
        if extra is not None:
            return Fault(number, *extra)
    ids = [record[query], record[doc]]
    fault = _fault_of_ids(number, ids)
    if fault is not None:
        return fault
    if kind.implied is not None:
        return _row(number, str(ids[0]), str(ids[1]), kind.implied, kind)
    if isinstance(record[value], str):  # a number in quotes is none, as in a dict
        found, advice = _shown(record[value]), kind.advice(record[value])
        return Fault(number, f"{_FINITE} {kind.number}", found, advice)
    return _row(number, str(ids[0]), str(ids[1]), record[value], kind)


def _fault_of_ids(number: int, ids: list[object]) -> Fault | None:
    """Say what is wrong with the ids of a JSON object, if anything is."""
    wrong = [one for one in ids if not isinstance(one, str | int) or isinstance(one, bool)]
    if wrong:
        expected = "a string (or an integer) as id"
        return Fault(number, expected, shown(wrong[0]), id_advice(wrong[0]))
    half = [one for one in ids if isinstance(one, str) and not is_writable(one)]
    return Fault(number, "ids of whole characters", shown(half[0]), HALF) if half else None


def _row(
    line: int, query: str, doc: str, value: object, kind: Kind, rank: str | None = None
) -> Row | Fault:
    for role, text in (("query", query), ("doc", doc)):
        if not text:
            return Fault(line, f"an id as {role}", "an empty field")
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            return Fault(line, "UTF-8 text", _shown(text), "Convert the file to UTF-8.")
    truth = kind.number_of_truth(value)
    number = _number(value) if truth is None else truth
    if isinstance(value, int) and math.isfinite(number) and not is_exact(value):
        return Fault(
            line,
            f"a {kind.number} that a float64 holds exactly",
            shortened(str(value), _LONGEST),
            INEXACT,
        )
    if not math.isfinite(number):
        found = _shown(value) if isinstance(value, str) else shown(value)
        found = found if value != "" else "nothing"
        return Fault(line, f"{_FINITE} {kind.number}", found, kind.advice(value))
    if rank is not None and not rank.isascii():  # only the lint reads it, as a number
        rank = rank.encode(errors="replace").decode()
    return Row(line, query, doc, kind.turned(number), rank)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return math.nan
    # Python reads digits of every script, and 1_000 as 1000.
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _quoted(line: bytes) -> str:
    return _shown(line.decode(errors="replace").strip())


def _shown(text: str) -> str:
    text = text.encode(errors="replace").decode()
    return repr(shortened(text, _LONGEST))
