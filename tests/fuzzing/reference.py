"""A slow reader of judgments and runs, written from docs/reference/formats.md alone.

It shares no code with the package: it tells formats apart by rules of its own, splits CSV itself
and checks every value one by one. It says what a file holds, or that the file must be refused.
"""

import gzip
import json
import math
import re
import sys
import zlib
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
FIELDS = {
    "judgments": ("query", "iteration", "doc", "grade"),
    "run": ("query", "Q0", "doc", "rank", "score", "tag"),
}
NUMBER = {"judgments": "grade", "run": "score"}
BLANKS = b" \t\n\r\v\f"
MARK = b"\xef\xbb\xbf"
DECIMAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
DELIMITERS = "\t,;|"
BY_ENDING = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
ARCHIVES = (b"PK\x03\x04", b"\xfd7zXZ\x00", b"7z\xbc\xaf\x27\x1c")
BZIP = re.compile(rb"BZh[1-9]1AY&SY")


class RefusedError(Exception):
    """The file holds no judgments, or no run, that can be read without a doubt."""


class OpenError(RefusedError):
    """A quote that is not closed."""


class RepeatedError(RefusedError):
    """Nothing is wrong but that a document stands twice for a query."""


class UnsettledError(Exception):
    """The documentation leaves open whether the file is read; both are right."""


def documented_names():
    """Return the names of columns that docs/reference/formats.md lists, by what the columns hold."""
    found = {}
    for role, names in re.findall(r"^- the (\w+): (.*)[;.]$", PAGE.read_text(), re.MULTILINE):
        found[role] = re.findall(r"`([^`]+)`", names)
    return found


NAMES = documented_names()


def read(content, name, kind, columns=()):
    """Return what a file holds: {query: {doc: number}}, or a list for documents without ids.

    Labels with qid: are a list of (query, label), predictions a list of numbers. Ranks are
    negative scores, so that a high one is good. `columns` are (role, name) as a caller gives them.
    """
    columns = dict(columns)
    content = unpacked(content)
    if content[:4] == b"PAR1" == content[-4:] and len(content) >= 12:
        raise UnsettledError("Parquet is for another oracle")
    marked_twice = content.startswith(2 * MARK)
    content = content.removeprefix(MARK)
    lines = [line for line in content.split(b"\n") if line.strip(BLANKS)]
    if not lines:
        raise RefusedError("nothing in it")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RefusedError("UTF-16")
    first = lines[0]
    if b"\0" in first and not (is_text(first) and first.decode().isprintable()):
        raise RefusedError("a binary file")
    if looks_like_json(first, kind):
        return read_json(content, first, kind, columns)
    data = next((line for line in lines if not line.strip(BLANKS).startswith(b"#")), first)
    fields = data.split()
    if len(fields) >= 2 and re.match(rb"qid:.", fields[1]):
        if marked_twice:
            raise RefusedError("a byte order mark within the first label")
        return read_labels(lines)
    if is_decimal(first.strip(BLANKS)):
        return read_predictions(lines)
    if any(text.isdecimal() for text in columns.values()):
        return as_dicts(read_numbered(content, lines, name, kind, columns))
    header = find_header(first, name, kind, columns)
    if header is not None:
        return as_dicts(read_table(content, *header, kind, columns))
    if not {*columns.values()} <= {*FIELDS[kind]}:
        raise RefusedError("a column that TREC files do not have")
    rows = list(read_trec(lines, kind, columns))
    return as_dicts(turned(rows, FIELDS[kind], kind, columns))


def unpacked(content):
    """Return the content without its packing."""
    if content.startswith(ARCHIVES) or BZIP.match(content):
        raise RefusedError("another archive")
    try:
        if content.startswith(b"\x1f\x8b"):
            return gzip.decompress(content)
        if content.startswith(b"\x28\xb5\x2f\xfd"):
            return zstd.decompress(content)
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as problem:
        raise RefusedError(str(problem)) from None
    return content


def text_of(content):
    """Return bytes as text, which is UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedError("not UTF-8") from None


def is_text(content):
    """Return whether bytes are UTF-8."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_decimal(text):
    """Return whether bytes are a decimal number."""
    return text.isascii() and DECIMAL.fullmatch(text.decode()) is not None


def number_of(text):
    """Return text as a finite number."""
    text = text.strip(" \t\n\r\v\f")
    if not DECIMAL.fullmatch(text):
        raise RefusedError(f"no number: {text[:40]!r}")
    value = float(text)
    if not math.isfinite(value):
        raise RefusedError("not finite")
    return value


def as_dicts(rows):
    """Return rows as {query: {doc: number}}, each document once."""
    found = {}
    repeated = False
    for query, doc, number in rows:
        if not query or not doc:
            raise RefusedError("an empty id")
        documents = found.setdefault(query, {})
        repeated |= doc in documents
        documents[doc] = number
    if not found:
        raise RefusedError("no rows")
    if isinstance(rows, Ranks) and any(
        len({*documents.values()}) < len(documents) for documents in found.values()
    ):
        raise RefusedError("a rank twice")
    if repeated:
        raise RepeatedError("a document twice")
    return found


# TREC: fields between white space of ASCII


def read_trec(lines, kind, columns):
    """Yield the rows of TREC lines."""
    names = FIELDS[kind]
    query, doc, number = places_of(list(names), kind, columns)
    for line in lines:
        fields = line.split()
        if len(fields) != len(names):
            raise RefusedError(f"{len(fields)} fields")
        yield text_of(fields[query]), text_of(fields[doc]), number_of(text_of(fields[number]))


# CSV and TSV


def delimiters_of(name):
    """Return what may separate fields, the likeliest by the name of a file first."""
    stem = name.removesuffix(".gz").removesuffix(".zst")
    ending = f".{stem.rpartition('.')[2]}" if "." in stem else ""
    return BY_ENDING.get(ending, "") + DELIMITERS


def find_header(first, name, kind, columns):
    """Return the delimiter and the names of columns, where the first line has some."""
    try:
        line = first.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError:
        return None
    for delimiter in delimiters_of(name):
        try:
            names = next(
                iter(begun(split_csv(line, delimiter), delimiter)), []
            )  # a lone \r ends a row, too
        except RefusedError:
            if could_be_header(line + '"', delimiter, kind, columns):
                raise UnsettledError("a name that goes over several lines") from None
            continue
        if len(names) > 1 and is_header(names, kind, columns):
            return delimiter, names
    return None


def could_be_header(line, delimiter, kind, columns):
    """Return whether a line, once its quote is closed, has names of columns."""
    try:
        names = next(iter(split_csv(line, delimiter)), [])
    except RefusedError:
        return False
    return len(names) > 1 and is_header(names, kind, columns)


def plain(name):
    """Return the name of a column as the documentation compares it."""
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def place_of(role, names, columns):
    """Return where the column of a role stands; None if there is none."""
    if role in columns:
        return names.index(columns[role]) if columns[role] in names else None
    known = [plain(name) for name in names]
    return next((known.index(alias) for alias in NAMES[role] if alias in known), None)


def number_role(names, kind, columns):
    """Return what the numbers are: a run may have ranks where it has no scores."""
    if kind != "run" or "score" in columns or place_of("rank", names, columns) is None:
        return NUMBER[kind]
    has_scores = "rank" not in columns and place_of("score", names, columns) is not None
    return "score" if has_scores else "rank"


def is_header(names, kind, columns):
    """Return whether fields are names of columns: those given, query and doc, or two of three."""
    given = {*columns.values()}
    if given <= {*names} and not given <= {*FIELDS[kind]}:
        return True
    roles = ("query", "doc", number_role(names, kind, columns))
    query, doc, number = (place_of(role, names, columns) for role in roles)
    return None not in (query, doc) or (query, doc, number).count(None) <= 1


def places_of(names, kind, columns):
    """Return where query, doc and number stand among the names of columns."""
    roles = ("query", "doc", number_role(names, kind, columns))
    places = [place_of(role, names, columns) for role in roles]
    if None in places or len(set(places)) < len(places):
        raise RefusedError("a column is missing, or serves twice")
    if any(names.count(names[place]) > 1 for place in places):
        raise RefusedError("a column stands twice")
    return places


class Ranks(list):
    """Rows whose numbers are ranks, turned into scores."""


def turned(rows, names, kind, columns):
    """Return rows, ranks turned into scores; whole ones, where only their name tells them."""
    if number_role(names, kind, columns) != "rank":
        return rows
    found = Ranks(rows)
    whole = all(number.is_integer() and number >= 0 for _, _, number in found)
    if "rank" not in columns and not whole:
        raise RefusedError("a rank that is not a whole number from 0")
    return Ranks((query, doc, -number) for query, doc, number in found)


def split_csv(text, delimiter):
    """Return the rows of CSV: quotes around a field, two of them for one within."""
    rows, row, field, state = [], [], [], "start"
    place = 0
    while place < len(text):
        char = text[place]
        place += 1
        if state == "quoted":
            if char != '"':
                field.append(char)
            elif text[place : place + 1] == '"':
                field.append(char)
                place += 1
            else:
                state = "closed"
        elif char == delimiter:
            row.append("".join(field))
            field, state = [], "start"
        elif char in "\r\n":
            if row or field or state == "closed":
                rows.append([*row, "".join(field)])
            row, field, state = [], [], "start"
            place += char == "\r" and text[place : place + 1] == "\n"
        elif state == "closed":
            raise RefusedError("text after a closing quote")
        elif state == "start" and char == '"':
            state = "quoted"
        else:
            field.append(char)
            state = "open"
    if state == "quoted":
        raise OpenError("an open quote")
    if row or field or state == "closed":
        rows.append([*row, "".join(field)])
    return rows


def begun(rows, delimiter):
    """Return the rows of CSV from the first that is not blank; one of tabs alone is."""
    first = next((place for place, row in enumerate(rows) if delimiter.join(row).strip()), 0)
    return rows[first:]


def first_row(content, delimiter):
    """Return the first row of CSV in a list, if there is one: a field in quotes may have line ends."""
    lines = content.split(b"\n")
    begins = next(place for place, line in enumerate(lines) if line.strip(BLANKS))
    for end in range(begins + 1, len(lines)):
        try:
            return split_csv(loose_text(b"\n".join(lines[begins:end])), delimiter)[:1]
        except OpenError:
            continue
    return split_csv(loose_text(b"\n".join(lines[begins:])), delimiter)[:1]


def read_table(content, delimiter, names, kind, columns):
    """Return the rows of a table with its names of columns in the first line."""
    lines = content.split(b"\n")
    header = next(place for place, line in enumerate(lines) if line.strip(BLANKS))
    _, *rest = begun(split_csv(loose_text(b"\n".join(lines[header:])), delimiter), delimiter)
    return turned(checked(rest, names, places_of(names, kind, columns)), names, kind, columns)


def checked(table, names, places):
    """Return query, doc and number of each row."""
    found = []
    for row in table:
        if len(row) != len(names):
            raise RefusedError(f"{len(row)} fields")
        query, doc, number = (row[place] for place in places)
        if not query or not doc:
            raise RefusedError("an empty id")
        if has_surrogate(query + doc):
            raise RefusedError("not UTF-8")
        found.append((query, doc, number_of(number)))
    return found


def read_numbered(content, lines, name, kind, columns):
    """Return the rows of a table without a header, whose columns are named by number."""
    number = "rank" if "rank" in columns else NUMBER[kind]
    if {*columns} != {"query", "doc", number}:
        raise RefusedError("a column without a number")
    if not all(text.isdecimal() and int(text) > 0 for text in columns.values()):
        raise RefusedError("a column without a number")
    places = [int(columns[role]) - 1 for role in ("query", "doc", number)]
    if len({*places}) < len(places):
        raise RefusedError("a column serves twice")
    first = text_of(lines[0]).rstrip("\r")
    splits = []
    for delimiter in delimiters_of(name):
        try:
            splits += [(delimiter, fields) for fields in first_row(content, delimiter)]
        except RefusedError:  # quotes that are wrong, if it is a table of this delimiter
            if first.count(delimiter) >= max(1, *places):
                raise
    if b"\r" not in lines[0].rstrip(b"\r"):  # which ends a row of a table, but no line of fields
        splits.append(("", text_of_all(lines[0].split())))
    splits = [(mark, fields) for mark, fields in splits if len(fields) > max(1, *places)]
    if not splits:
        raise RefusedError("too few fields")
    fits = (each for each in splits if DECIMAL.fullmatch(each[1][places[2]].strip(" \t\r\v\f")))
    delimiter, names = next(fits, splits[0])
    table = split_csv(loose_text(content), delimiter) if delimiter else split_lines(lines)
    return turned(
        checked(table, names, places), ["rank"] if number == "rank" else [], kind, columns
    )


def text_of_all(fields):
    """Return several fields as text."""
    return [text_of(field) for field in fields]


def loose_text(content):
    """Return bytes as text in which those that are no text can be found."""
    return content.decode("utf-8", "surrogateescape")


def split_lines(lines):
    """Return the fields of lines, between white space."""
    return [[loose_text(field) for field in line.split()] for line in lines]


# JSON and JSON lines


def parsed(text, read=None):
    """Return JSON as a value, each key of an object once; of those that are not read, not all readers see that."""

    def unique(pairs):
        keys = [key for key, _ in pairs]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice and read is not None and not twice & read:
            raise UnsettledError("a key twice that is not read")
        if twice:
            raise RefusedError("a key twice")
        return dict(pairs)

    if read is not None and not is_text(text):
        loose = json_or_nothing(text.decode(errors="replace"))
        if isinstance(loose, dict) and not any("\ufffd" in str(loose.get(key)) for key in read):
            raise UnsettledError("bytes that are no text in what is not read")
    try:
        # Every file of some that were put together may begin with the mark.
        return json.loads(text_of(text).removeprefix("\ufeff"), object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise RefusedError("no JSON") from None


def json_or_nothing(text):
    """Return JSON as a value; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def looks_like_json(first, kind):
    """Return whether a file begins as JSON does, and not as TREC with an odd id."""
    if not first.lstrip(BLANKS).startswith((b"{", b"[")):
        return False
    fields = first.split()
    if len(fields) != len(FIELDS[kind]):
        return True
    if not is_decimal(fields[FIELDS[kind].index(NUMBER[kind])]):
        return True
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def read_json(content, first, kind, columns):
    """Read an object on each line, or one value in the whole file."""
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict) and not all(isinstance(value, dict) for value in record.values()):
        lines = [line for line in content.split(b"\n") if line.strip(BLANKS)]
        names = list(record)
        read = {names[place] for place in places_of(names, kind, columns)}
        return as_dicts(read_records([parsed(line, read) for line in lines], kind, columns))
    value = parsed(content)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return as_dicts(read_records(value, kind, columns))
    if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
        raise RefusedError("neither records nor {query: {doc: number}}")
    found = {
        query: {doc: json_number(number, kind) for doc, number in documents.items()}
        for query, documents in value.items()
    }
    if any(has_surrogate(text) for query in found for text in (query, *found[query])):
        raise RefusedError("a lone surrogate")
    if any(not text for query in found for text in (query, *found[query])):
        raise RefusedError("an empty id")
    if not any(found.values()):
        raise RefusedError("no documents")
    return found


def read_records(records, kind, columns):
    """Return the rows of objects with the same keys."""
    names = list(records[0]) if isinstance(records[0], dict) else []
    keys = [names[place] for place in places_of(names, kind, columns)]
    found = []
    for record in records:
        if not isinstance(record, dict) or any(key not in record for key in keys):
            raise RefusedError("a key is missing")
        query, doc, number = (record[key] for key in keys)
        found.append((json_id(query), json_id(doc), json_number(number, kind)))
    return turned(found, names, kind, columns)


def has_surrogate(text):
    """Return whether text holds half a pair, which no file can."""
    return any("\ud800" <= char <= "\udfff" for char in text)


def json_id(value):
    """Return an id: a string that is not empty, or an integer."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RefusedError(f"no id: {value!r}")
    text = str(value)
    if has_surrogate(text):
        raise RefusedError("a lone surrogate")
    return text


def json_number(value, kind):
    """Return a number that a float64 holds, an integer exactly; as a grade, a truth value is 1 or 0."""
    if isinstance(value, bool) and kind == "judgments":
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RefusedError("no number")
    try:
        number = float(value)
    except OverflowError:
        raise RefusedError("too large") from None
    if not math.isfinite(number) or (isinstance(value, int) and int(number) != value):
        raise RefusedError("not finite, or not exact")
    return number


# Labels with qid:, and predictions


def without_comments(lines):
    """Return lines up to a #, and of those the ones that hold anything."""
    cut = (line.removeprefix(MARK).split(b"#", 1)[0] for line in lines)
    return [line for line in cut if line.strip(BLANKS)]


def read_labels(lines):
    """Return (query, label) of each line."""
    found = []
    for line in without_comments(lines):
        fields = line.split()
        if len(fields) < 2 or not fields[1].startswith(b"qid:"):
            raise RefusedError("no qid:")
        label = number_of(text_of(fields[0]))
        found.append((text_of(fields[1].removeprefix(b"qid:")), label))
    return found


def read_predictions(lines):
    """Return the number on each line."""
    return [number_of(text_of(line)) for line in without_comments(lines)]
