"""The text formats of tables beside runs and judgments: how each is told, and how its rows are read.

Those are slices, scores, texts, chunk maps, samples and subtopics; runs and judgments themselves are
told in `format_detection`. A new format is one entry in `FORMATS`. The first entry that fits the beginning
of a file reads it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal, NoReturn

from gainful.arguments import is_writable
from gainful.errors import InputError
from gainful.inputs.faulty_rows import (
    Fault,
    delimited_rows,
    numbered_lines,
    trailing_delimiters,
)
from gainful.inputs.files import (
    BYTE_ORDER_MARK,
    LocalFile,
    first_fields,
    is_database,
    no_text,
    opened,
)
from gainful.inputs.format_detection import are_times
from gainful.inputs.nested_json import KEY_ONCE, RepeatedError, repeated_key, unique_keys
from gainful.inputs.run_and_judgment_columns import is_number
from gainful.inputs.side_table_columns import (
    Header,
    Roles,
    find_header,
    has_value_names_only,
    looks_like_header,
)
from gainful.inputs.side_table_rows import Reading, TableRow, mapping_rows, record_rows
from gainful.message_texts import shortened, shown

_DELIMITERS = ("\t", ",", ";", "|")
_BY_NAME = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_HEAD = 1 << 16
_PRINTED = re.compile(r'\s*\{\s*"gainful"\s*:\s*"')
_JSON = re.compile(r'\s*(\{\s*["}]|\[\s*[{\]"])')
_ENDS = re.compile(r"\r\n|\n|\r")
_LETOR = re.compile(r"\s*\S+\s+qid:\S+")
_TREC_EVAL = ("measure", "query", "value")
_ALL = "all"  # trec_eval's word for the row of all queries together
# Python reads more than this: digits of every script, and 1_0 as 10.
_NUMBER = re.compile(r"\s*[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf(inity)?|nan)\s*", re.A | re.I)
# A record that begins with its id need not be parsed to be passed over.
_FIRST_ID = re.compile(rb'\s*\{\s*"_id"\s*:\s*"([^"\\]*)"')
_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a text file.

    Attributes:
        file: the file, unpacked.
        text: its first lines, from the first that is not blank.
        line: the number of that line.
        alone: whether all others are blank.
    """

    file: LocalFile
    text: str
    line: int
    alone: bool

    @property
    def first(self) -> str:
        """The first line that is not blank."""
        return next(line for line in _ENDS.split(self.text) if line.strip())

    @property
    def where(self) -> str:
        """What messages call the place of that line."""
        return f"{self.file.name}:{self.line}"

    @property
    def told(self) -> str | None:
        """The delimiter that the name of the file tells."""
        plain = self.file.name.removesuffix(".gz").removesuffix(".zst")
        return _BY_NAME.get(PurePath(plain).suffix)

    @property
    def delimiters(self) -> tuple[str, ...]:
        """What may stand between fields; what the name of the file tells comes first."""
        return _DELIMITERS if self.told is None else (self.told, *_DELIMITERS)

    @property
    def delimiter(self) -> str:
        """What the name of the file tells, or what stands in the first line; else a tab."""
        marks = [mark for mark in _DELIMITERS if mark in self.first]
        return self.told or (marks[0] if marks else "\t")

    @property
    def fields(self) -> list[str]:
        """The fields of the first line between white space: that of ASCII alone, as in TREC files."""
        return [field.decode() for field in self.text.split("\n", 1)[0].encode().split()]

    def names(self, delimiter: str) -> list[str]:
        """Return the fields of the first line."""
        return [name.strip() for name in first_fields(self.text, delimiter)]


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A text format.

    Attributes:
        name: what it is called.
        cells: whether its cells are text, the values of JSON, or in dicts by their keys.
        fits: whether a file that begins so has this format.
        rows: the rows of such a file.
    """

    name: str
    cells: Literal["text", "json", "dicts"]
    fits: Callable[[Head, Reading], bool]
    rows: Callable[[Head, Reading], Iterator[TableRow]]


def read_head(file: LocalFile, roles: Roles) -> Head:
    """Read the beginning of a text file."""
    with opened(str(file.path)) as content:
        data = content.read(_HEAD) + content.readline()  # the first line may be long
        data = data.removeprefix(BYTE_ORDER_MARK)
        while _is_blank(data) and (more := content.read(_HEAD) + content.readline()):
            data += more
        lines = [line for line in data.split(b"\n") if not _is_blank(line)]
        alone = len(lines) <= 1 and not any(line.strip() for line in content)
    if not lines:
        raise InputError(file.name, roles.contents, "an empty file", "Check what wrote it.")
    if data.startswith(_UTF_16):
        raise InputError(file.name, "UTF-8 text", "UTF-16", "Convert the file to UTF-8.")
    if is_database(data):
        raise no_text(file.name, data)
    text = _decoded(data, file, 1)
    start = len(text) - len(text.lstrip())
    # A tab may be the first field of a line, and empty.
    start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    return Head(file, text[start:], len(_ENDS.findall(text[:start])) + 1, alone)


def _is_blank(data: bytes) -> bool:
    """Return whether there is nothing but white space, of ASCII or of any script."""
    return data.isspace() or not data.decode(errors="replace").strip()


def format_of(head: Head, reading: Reading) -> TextFormat:
    """Return the format of a file, or say why it has none."""
    if reading.roles.has_numbers and _LETOR.match(head.first):
        raise InputError(
            head.where, reading.roles.contents, "labels with qid:, whose documents have no ids"
        )
    found = next((each for each in FORMATS if each.fits(head, reading)), None)
    if found is None:
        _refuse_names(head, reading)
    return found


def number_in(text: str) -> float | None:
    """Return the number that a text is, None if it is none.

    >>> number_in("0.5"), number_in("1_0"), number_in("fast")
    (0.5, None, None)
    """
    return float(text) if _NUMBER.fullmatch(text) else None


def _decoded(data: bytes, file: LocalFile, line: int) -> str:
    """Decode bytes that begin on a line."""
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        if b"\0" in data[: problem.end]:
            raise no_text(file.name, data) from None
        line += data.count(b"\n", 0, problem.start)
        raise _no_text(f"{file.name}:{line}", data[problem.start]) from None


def _no_text(where: str, byte: int) -> InputError:
    return InputError(where, "UTF-8 text", f"the byte {byte:#04x}", "Convert the file to UTF-8.")


def _refuse_names(head: Head, reading: Reading) -> NoReturn:
    """Refuse a first line that neither names the columns nor is a row that needs no names."""
    # Spreadsheets of many countries write semicolons into .csv.
    mark = next((mark for mark in head.delimiters if mark in head.first), head.delimiter)
    roles, fields = reading.roles, head.names(mark)
    unnamed = " or ".join(" ".join(fields) for fields in roles.unnamed.values())
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


def _begins_json(head: Head, reading: Reading) -> bool:
    if head.first.lstrip()[:1] not in ("{", "["):
        return False
    # Ids may begin so, too.
    roles = reading.roles
    return not (roles.white_space and len(head.fields) in roles.unnamed) or bool(
        _JSON.match(head.text) and (_object_in(head.first) is not None or not _ends_in_number(head))
    )


def _ends_in_number(head: Head) -> bool:
    return number_in(head.fields[-1]) is not None


def _object_in(line: str) -> dict[str, Any] | None:
    """Return the JSON object that a line is; None if it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _has_json_lines(head: Head, reading: Reading) -> bool:
    value = _object_in(head.first) if _begins_json(head, reading) else None
    if value is None:
        return False
    return not head.alone or _is_record(value, reading)


def _is_record(value: Mapping[str, Any], reading: Reading) -> bool:
    """Return whether an object is one of many, rather than a dict of all by their ids."""
    roles, names = reading.roles, [*value]
    if not names:
        return False
    if looks_like_header(names, roles, reading.asked):
        try:
            places = find_header(names, roles, reading.asked, "").places
        except InputError:  # said when it is read
            return not any(isinstance(cell, dict) for cell in value.values())
        cells = [*value.values()]
        return not any(isinstance(cells[places[role.name]], dict | list) for role in roles.keys)
    wanted = reading.wanted
    return (
        wanted is not None
        and not any(name in wanted for name in names)
        and has_value_names_only(names, roles)
    )


def _json_lines(head: Head, reading: Reading) -> Iterator[TableRow]:
    def records() -> Iterator[tuple[int, Any]]:
        quick = reading.wanted is not None and not reading.asked
        for number, line in numbered_lines(head.file):
            told = _FIRST_ID.match(line) if quick else None
            if told is not None and not reading.wants(told[1].decode(errors="replace")):
                continue
            if line.strip():
                text = _decoded(line, head.file, number)
                yield number, _parsed(text, f"{head.file.name}:{number}", "a JSON object")

    return record_rows(records(), reading, "a JSON object")


def _whole_json(head: Head, reading: Reading) -> Any:
    name, shape = head.file.name, f"{reading.roles.shape}, or a list of objects"
    with opened(str(head.file.path)) as content:
        text = _decoded(content.read().removeprefix(BYTE_ORDER_MARK), head.file, 1)
    keys = [role.noun for role in reading.roles.keys]
    return _parsed(text, name, f"JSON: {shape}", keys)


def _has_json_object(head: Head, reading: Reading) -> bool:
    return _begins_json(head, reading) and head.first.lstrip()[0] == "{"


def _json_object(head: Head, reading: Reading) -> Iterator[TableRow]:
    return mapping_rows(_whole_json(head, reading), reading)


def _json_list(head: Head, reading: Reading) -> Iterator[TableRow]:
    return _listed(_whole_json(head, reading), head, reading)


def _listed(records: Sequence[Any], head: Head, reading: Reading) -> Iterator[TableRow]:
    named = ((f"{head.file.name}, record {number}", each) for number, each in enumerate(records, 1))
    return record_rows(named, reading, "an object with a value for each column")


def _parsed(text: str, where: str, expected: str, keys: Sequence[str] | None = None) -> Any:
    """Return a JSON value; of a whole file, which has several lines, with what its keys are."""
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
        raise InputError(where, "JSON that can be read", str(problem)) from None


def _is_printed(head: Head, reading: Reading) -> bool:
    told = reading.roles.others and _PRINTED.match(head.text)
    return bool(told) and ('"runs"' in head.text or '"baseline"' in head.text)


def _printed(head: Head, reading: Reading) -> Iterator[TableRow]:
    """Return the rows of queries in what `gainful evaluate --per-query --format json` prints."""
    name, value = head.file.name, _whole_json(head, reading)
    if value["gainful"] == "baseline":  # a file that holds one is known before
        advice = "A baseline is compared by the path of its file, not from a pipe."
        raise InputError(name, "scores of queries", "a saved baseline", advice)
    runs = value.get("runs")
    if not isinstance(runs, list):
        return mapping_rows(value, reading)
    if len(runs) != 1 or not isinstance(runs[0], dict):
        advice = "Make a file for each run."
        raise InputError(name, "scores of one run", f"those of {len(runs)}", advice)
    rows = runs[0].get("per_query")
    if not isinstance(rows, list):
        advice = "Let evaluate print every query: --per-query."
        raise InputError(name, "scores of every query", "only their means", advice)
    return _listed(rows, head, reading)


# --- fields between delimiters


def _named_delimiter(head: Head, reading: Reading) -> str | None:
    """Return the delimiter by which the first line names columns; None if it does not."""
    if any(map(is_number, reading.asked.values())):
        return None
    for delimiter in head.delimiters:
        names = head.names(delimiter)
        if names and looks_like_header(names, reading.roles, reading.asked):
            return delimiter
    return None


def _has_names(head: Head, reading: Reading) -> bool:
    return _named_delimiter(head, reading) is not None


def _with_names(head: Head, reading: Reading) -> Iterator[TableRow]:
    delimiter = _named_delimiter(head, reading) or ","
    found = _delimited(head, delimiter, reading.roles)
    line, fields = next(found)
    names = [name.strip() for name in fields]
    where = f"{head.file.name}:{line}"
    header = find_header(names, reading.roles, reading.asked, where)
    return _as_long(found, header, head, delimiter)


def _has_unnamed_texts(_: Head, reading: Reading) -> bool:
    return reading.roles.prose and not reading.asked


def _unnamed_texts(head: Head, reading: Reading) -> Iterator[TableRow]:
    delimiter, roles = head.delimiter, reading.roles
    count = len(next(_delimited(head, delimiter, roles))[1])
    if count not in roles.unnamed:
        raise InputError(
            head.where,
            f"the id of a {roles.keys[0].noun} and its text, or names of columns in the first line",
            f"{count} {'field' if count == 1 else 'fields'}",
            f"{'Quote the text' if delimiter == ',' else 'Leave the others out'}, or name the columns."
            if count > len(roles.keys) + 1
            else "",
        )
    header = find_header(roles.unnamed[count], roles, {}, head.where)
    return _as_long(_delimited(head, delimiter, roles), header, head, delimiter)


def _delimited(head: Head, delimiter: str, roles: Roles) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the fields of each row that is not blank."""
    if roles.prose and delimiter == "\t":
        yield from _tabbed(head)
        return
    for row in delimited_rows(head.file, delimiter):
        if isinstance(row, Fault):
            raise row.error(head.file)
        line, fields = row
        if fields and (len(fields) > 1 or fields[0].strip()):
            every = "".join(fields)
            if not every.isascii() and not is_writable(every):
                wrong = next(char for char in every if "\ud800" <= char <= "\udfff")
                raise _no_text(f"{head.file.name}:{line}", ord(wrong) & 0xFF)
            yield line, fields


def _tabbed(head: Head) -> Iterator[tuple[int, list[str]]]:
    """Split at tabs; quotes are part of a text, but those around a whole field."""
    for number, line in numbered_lines(head.file):
        if line.strip():
            text = _decoded(line, head.file, number).strip("\r\n")
            # A carriage return alone ends a row where all that it separates are rows; else it is
            # a character of a text.
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
    found: Iterator[tuple[int, list[str]]], header: Header, head: Head, delimiter: str
) -> Iterator[TableRow]:
    """Yield rows, each as long as its header; an empty field is nothing."""
    names = header.names
    for line, fields in found:
        if len(fields) != len(names):
            raise InputError(
                f"{head.file.name}:{line}",
                shortened(f"{len(names)} fields ({', '.join(names)})", 120),
                f"{len(fields)}: {shown(delimiter.join(fields))}",
                trailing_delimiters(fields, len(names), delimiter),
            )
        yield TableRow(line, header, [field or None for field in fields])


# --- fields by their numbers, and between white space


def _has_numbers(_: Head, reading: Reading) -> bool:
    return any(map(is_number, reading.asked.values()))


def _with_numbers(head: Head, reading: Reading) -> Iterator[TableRow]:
    """Take fields by their numbers, from 1: only the caller can know what they hold.

    What separates them is what gives enough of them, with a number where one is expected.
    """
    roles, asked = reading.roles, reading.asked
    needed = [role.name for role in roles.all]
    if not all(is_number(asked.get(name, "")) for name in needed):
        raise InputError(
            head.where,
            f"a number for each of {', '.join(needed)}, since one has a number",
            ", ".join(f"{role}={name}" for role, name in asked.items()),
            "Name all columns by their numbers from 1, where the file has no header, or all by "
            "their names.",
        )
    splits = [(mark, first_fields(head.first, mark)) for mark in head.delimiters]
    splits.append(("", head.fields))
    most = max(int(asked[name]) for name in needed)
    enough = [each for each in splits if 1 < len(each[1]) >= most]
    numbers = [int(asked[role.name]) - 1 for role in roles.values if role.holds == "number"]
    fitting = [
        each for each in enough if all(number_in(each[1][place]) is not None for place in numbers)
    ]
    delimiter, fields = (fitting or enough or [max(splits, key=lambda each: len(each[1]))])[0]
    names = [str(place) for place in range(1, len(fields) + 1)]
    for name in needed:
        if asked[name] not in names:
            raise InputError(
                head.where,
                f"a column of the number {asked[name]} for {name}",
                f"{len(fields)}, from 1: {shortened(', '.join(map(repr, fields)))}",
                "Columns named by number are those of a file without a header.",
            )
    header = find_header(names, roles, asked, head.where)
    header = Header(header.names, header.places, numbered=True)
    if not delimiter and "\r" in head.text.split("\n", 1)[0].rstrip("\r"):
        # Or all rows would be one, and the first of them alone be read.
        raise InputError(
            head.where,
            "lines that end with a line feed",
            "carriage returns alone",
            "Write its line ends anew: tr '\\r' '\\n'.",
        )
    found = _delimited(head, delimiter, roles) if delimiter else _split(head)
    return _as_long(found, header, head, delimiter or " ")


def _has_fields(head: Head, reading: Reading) -> bool:
    roles = reading.roles
    if not roles.white_space:
        return False
    if len(head.fields) in roles.unnamed:
        return True
    return head.told != "\t" and not any(mark in head.first for mark in _DELIMITERS[1:])


def _fields(head: Head, reading: Reading) -> Iterator[TableRow]:
    roles = reading.roles
    # Where none fits, the first says what is expected.
    names = roles.unnamed.get(len(head.fields)) or next(iter(roles.unnamed.values()))
    header = find_header(names, roles, reading.asked, head.where)
    if not reading.asked and are_times([line.split() for line in head.text.split("\n")]):
        raise InputError(
            head.where,
            f"the {len(names)} fields {' '.join(names)}",
            f"a Unix time in field 4: {shown(head.first.strip())}",
            f"Name the columns in the first line: {', '.join(role.name for role in roles.all)}.",
        )
    for line, fields in _split(head):
        if len(fields) != len(names):
            raise InputError(
                f"{head.file.name}:{line}",
                f"{len(names)} fields ({' '.join(names)})",
                f"{len(fields)}: {shown(' '.join(fields))}",
                roles.hint(len(fields)),
            )
        yield TableRow(line, header, fields)


def _split(head: Head) -> Iterator[tuple[int, list[str]]]:
    """Split at white space, as in TREC files: that of ASCII alone; ids may hold any other."""
    for number, line in numbered_lines(head.file):
        fields = line.split()
        if fields:
            yield number, [_decoded(field, head.file, number) for field in fields]


# --- what trec_eval -q prints


def _is_trec_eval(head: Head, reading: Reading) -> bool:
    """Return whether the first line is `measure query value`: a word, an id, a number."""
    scores = reading.roles.others and not reading.roles.white_space
    if not scores or reading.asked or len(head.fields) != len(_TREC_EVAL):
        return False
    measure, query, value = head.fields
    if number_in(measure) is not None:
        return False
    return query == _ALL or number_in(value) is not None


def _trec_eval(head: Head, _: Reading) -> Iterator[TableRow]:
    """Make a column of each measure; the rows of all queries together are left out."""
    name = head.file.name
    measures: dict[str, dict[str, float]] = {}
    queries: dict[str, int] = {}
    summed = False
    for line, fields in _split(head):
        if len(fields) > 1 and fields[1] == _ALL:
            summed = True
            continue
        measure, query, value = _trec_eval_line(fields, f"{name}:{line}")
        values = measures.setdefault(measure, {})
        if query in values:
            expected = f"each query once for {measure}"
            raise InputError(f"{name}:{line}", expected, f"{query!r} again", "Remove one of them.")
        values[query] = value
        queries.setdefault(query, line)
    if not queries:
        advice = "Let trec_eval print every query: -q."
        raise InputError(name, "values of queries", "only those of all together", advice)
    # trec_eval prints each measure for many queries: this is a table of queries without names.
    told = sum(map(len, measures.values()))
    if not summed and len(measures) == told and len(queries) > 1:
        raise InputError(
            f"{name}:1",
            "names of columns, or lines of trec_eval -q (measure query value)",
            f"'{next(iter(measures))}' and others once each",
            "Put names of columns in the first line.",
        )
    header = Header(("query", *measures), {"query": 0})
    for query, line in queries.items():
        yield TableRow(line, header, [query, *(each.get(query) for each in measures.values())])


def _trec_eval_line(fields: Sequence[str], where: str) -> tuple[str, str, float]:
    if len(fields) != len(_TREC_EVAL):
        raise InputError(
            where,
            f"3 fields ({' '.join(_TREC_EVAL)})",
            f"{len(fields)}: {shown(' '.join(fields))}",
        )
    measure, query, written = fields
    value = number_in(written)
    if value is None:
        raise InputError(where, "a number as value", shown(written))
    return measure, query, value


FORMATS: list[TextFormat] = [
    TextFormat("scores that gainful printed", "json", _is_printed, _printed),
    TextFormat("JSON lines", "json", _has_json_lines, _json_lines),
    TextFormat("JSON object", "dicts", _has_json_object, _json_object),
    TextFormat("JSON list", "json", _begins_json, _json_list),
    TextFormat("columns with names", "text", _has_names, _with_names),
    TextFormat("columns with numbers", "text", _has_numbers, _with_numbers),
    TextFormat("trec_eval -q", "text", _is_trec_eval, _trec_eval),
    TextFormat("fields between white space", "text", _has_fields, _fields),
    TextFormat("texts without names", "text", _has_unnamed_texts, _unnamed_texts),
]
