"""What format a file has: told by its content first, by its name where that leaves a doubt."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import PurePath

from gainful.errors import InputError
from gainful.inputs.files import (
    BYTE_ORDER_MARK,
    LocalFile,
    first_fields,
    is_database,
    is_parquet,
    no_text,
    opened,
)
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN, Kind, mistaken
from gainful.inputs.lists_as_text import ROWS_OR_JSON, is_list_as_text
from gainful.inputs.run_and_judgment_columns import (
    ALIASES,
    asked_columns,
    assessor_in,
    find_columns,
    find_rank,
    for_other_side,
    has_column,
    is_number,
    kind_by_columns,
    looks_like_header,
    plain_name,
)
from gainful.message_texts import did_you_mean, shortened, shown

_HEAD = 1 << 16
_DELIMITERS = ("\t", ",", ";", "|")
_BY_NAME = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_LETOR = re.compile(rb"\s*\S+\s+qid:\S+")
_UNGROUPED = re.compile(rb"\s*[-+]?[\d.]+(\s+\d+:[-+.\deE]+)+\s*(#.*)?")
# Seconds from 1973 to 2286, and thousandths and millionths of seconds.
_TIME = re.compile(r"[1-9](\d{8,9}|\d{11,12}|\d{14,15})(\.\d+)?", re.ASCII)
_RATING = 4  # fields of a line with user, item, rating and time
_WIDE = "::"  # between the fields of MovieLens's ratings.dat
_NUMBER = re.compile(rb"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows of a text file are written.

    Attributes:
        format: trec (fields between white space), table (CSV, TSV), jsonl, json, parquet, letor
            or predictions.
        delimiter: between the fields, where one character is.
        names: of the columns, or of the fields.
        places: of query, doc and number among them.
        header: whether the first line names the columns.
        skip: how many blank lines stand before it.
        rank: the place of a column of ranks.
        numbered: whether the caller named columns by number, so that there is no header.
        assessor: the name of a column that tells assessors apart, if there is one.
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


def recognise(file: LocalFile, kind: Kind, given: Mapping[str, str]) -> Layout:
    """Tell the format of a file from its beginning and its name."""
    if is_parquet(file.path):
        return Layout("parquet")
    with opened(str(file.path)) as content:
        head = content.read(_HEAD) + content.readline()  # the first line may be long
    return recognise_head(head, file.name, kind, given)


def recognise_head(head: bytes, name: str, kind: Kind, given: Mapping[str, str]) -> Layout:
    """Tell the format of a text file from its first lines and its name."""
    head = head.removeprefix(BYTE_ORDER_MARK)
    lines = [line for line in head.split(b"\n") if line.strip()]
    if not lines:
        raise InputError(name, kind.contents, "an empty file", "Check what wrote it.")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(name, "UTF-8 text", "UTF-16", "Convert the file to UTF-8.")
    if is_database(head) or (b"\0" in lines[0] and not _is_text(lines[0])):
        raise no_text(name, head)
    first = lines[0]
    if first.lstrip().startswith((b"{", b"[")) and not _is_trec(first, kind):
        return Layout("jsonl" if _is_record(first, kind, given) else "json")
    data = next((line for line in lines if not line.lstrip().startswith(b"#")), first)
    if _LETOR.match(data):
        return Layout("letor")
    if _UNGROUPED.fullmatch(data):
        raise InputError(
            name,
            "labels with qid:",
            "labels and features without",
            "Write the query of each row behind its label, or give arrays to "
            "evaluate_arrays(labels=…, scores=…, group=…).",
        )
    if _NUMBER.fullmatch(first):
        return Layout("predictions")
    layout = _delimited(name, first, head[head.index(first) :], kind, given)
    if layout.format == "trec":
        return layout  # blank lines may stand anywhere
    return replace(layout, skip=head.split(b"\n").index(first))


def trec(kind: Kind, delimiter: str, given: Mapping[str, str], where: str) -> Layout:
    """Return the layout of a TREC file; columns may be named by its fields."""
    kind = kind_by_columns(kind.fields, kind, given)
    places = _places(kind.fields, kind, given, where)
    rank = kind.fields.index("rank") if kind is RUN else None
    return Layout("trec", delimiter, kind.fields, places, rank=rank)


def _places(
    names: Sequence[str], kind: Kind, given: Mapping[str, str], where: str
) -> tuple[int, int, int]:
    return find_columns(names, kind_by_columns(names, kind, given), given, where)


def json_lines_layout(first: bytes, name: str, kind: Kind, given: Mapping[str, str]) -> Layout:
    """Tell which keys of the objects on the lines of a file are read, from the first of them."""
    import json

    names = tuple(json.loads(first))
    places = _places(names, kind, given, f"{name}:1")
    return Layout("jsonl", "", names, places, assessor=assessor_in(names, given))


def _delimited(
    name: str, first: bytes, head: bytes, kind: Kind, given: Mapping[str, str]
) -> Layout:
    """Tell how the fields of a table are delimited, from its first line, with which the head begins."""
    where = f"{name}:1"
    try:
        line = first.decode().rstrip("\r")
    except UnicodeDecodeError:
        if not {*asked_columns(kind, given).values()} <= {*kind.fields}:
            found = shortened(repr(first)[1:])
            remedy = "Convert the file to UTF-8."
            raise InputError(where, "UTF-8 text", found, remedy) from None
        return trec(kind, " ", given, where)  # its reader says where and what
    if line.startswith("sep="):
        remedy = "Remove the line: it is for a spreadsheet alone."
        raise InputError(where, "names of columns", shown(line), remedy)
    by_name = _BY_NAME.get(PurePath(name.removesuffix(".gz").removesuffix(".zst")).suffix, "")
    delimiters = (by_name, *_DELIMITERS) if by_name else _DELIMITERS
    if any(is_number(each) for each in asked_columns(kind, given).values()):
        return _without_header(where, line, _first_row(head), delimiters, kind, given)
    for delimiter in delimiters:
        names = first_fields(line, delimiter) if delimiter in line else []
        _refuse_lists(f"{name}:2", names, head, delimiter, kind, given)
        if len(names) > 1 and looks_like_header(names, kind, given):
            places = _places(names, kind, given, where)
            rank = find_rank(names) if kind_by_columns(names, kind, given) is RUN else None
            assessor = assessor_in(names, given)
            return Layout(
                "table", delimiter, tuple(names), places, header=True, rank=rank, assessor=assessor
            )
    delimiter = next((mark for mark in delimiters if mark in line), "")
    fields = first.split()  # as bytes: only the white space of ASCII separates
    if len(fields) != len(kind.fields):
        _refuse_misplaced_names(where, line, head, kind, given)
    if len(fields) == len(kind.fields) or (delimiter in ("", "\t") and by_name != "\t"):
        _refuse_other_fields(where, line, kind, given)
        _refuse_ratings(where, head, kind, given)
        return trec(kind, "\t" if line.count("\t") == len(kind.fields) - 1 else " ", given, where)
    raise _other_names(where, first_fields(line, delimiter or by_name), kind, given)


def _refuse_lists(
    where: str,
    names: Sequence[str],
    head: bytes,
    delimiter: str,
    kind: Kind,
    given: Mapping[str, str],
) -> None:
    """Refuse a table whose first row has a list, as text, in the place of a document."""
    if len(names) <= 1 or b"[" not in head:  # as in most
        return
    cells = first_fields(_first_row(head.partition(b"\n")[2]), delimiter)
    lists = {name: cell for name, cell in zip(names, cells, strict=False) if is_list_as_text(cell)}
    others = [name for name in names if name not in lists]
    if lists and not has_column("doc", others, kind, given):
        name, cell = next(iter(lists.items()))
        found = f"a list as text in the column {name!r}: {shortened(cell)}"
        raise InputError(where, "one document in each row", found, ROWS_OR_JSON)


def _refuse_misplaced_names(
    where: str, line: str, head: bytes, kind: Kind, given: Mapping[str, str]
) -> None:
    """Refuse names with blanks between them, names that stand in the second line, and pages of the web."""
    if line.lstrip().lower().startswith(("<!doctype", "<html")):
        raise InputError(
            where,
            "a table, or lines in TREC's format",
            f"a page of the web: {shortened(repr(line))}",
            "Download the file itself: the page may be one that asks to sign in.",
        )
    if looks_like_header(line.split(), kind, given):
        raise InputError(
            where,
            "commas or tabs between the names of columns",
            f"blanks: {shortened(repr(line))}",
            "Write the file with commas or tabs.",
        )
    second = _first_row(head.partition(b"\n")[2])
    for delimiter in _DELIMITERS:
        names = first_fields(second, delimiter) if delimiter in second else []
        if len(names) > 1 and looks_like_header(names, kind, given):
            raise InputError(
                where,
                "names of columns",
                shortened(repr(line)),
                "The names stand in line 2: remove line 1.",
            )


def _refuse_other_fields(where: str, line: str, kind: Kind, given: Mapping[str, str]) -> None:
    """Refuse names of columns that a TREC file does not have: it might be a table."""
    for role, name in asked_columns(kind, given).items():
        if name not in kind.fields:
            raise InputError(
                where,
                f"the column {name!r} for {role}",
                f"none in {shortened(repr(line))}, read as the fields {' '.join(kind.fields)}",
                f"{did_you_mean(name, _likely(name, line.split(), kind))} Columns of a table without "
                f"a header are named by their numbers from 1.{for_other_side(kind, given)}",
            )


def are_times(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the last of four fields is a Unix time in every row, and so no grade.

    >>> are_times([["7", "64", "5", "978300760"], ["7", "65", "3", "978302109"]])
    True
    >>> are_times([["q1", "0", "d1", "2"]])
    False
    """
    full = [row for row in rows if row]
    return bool(full) and all(len(row) == _RATING and _TIME.fullmatch(row[-1]) for row in full)


def _refuse_ratings(where: str, head: bytes, kind: Kind, given: Mapping[str, str]) -> None:
    """Refuse lines of user, item, rating and time, which look like judgments of TREC."""
    if kind.number in asked_columns(kind, given):
        return
    lines = head.decode(errors="replace").split("\n")
    if are_times([line.split() for line in lines]):
        raise InputError(
            where,
            f"the {len(kind.fields)} fields {' '.join(kind.fields)}",
            f"a Unix time in field 4: {shown(lines[0].strip())}",
            f"The fields look like user, item, rating and time. {_by_numbers(kind)}",
        )
    if lines[0].count(_WIDE) > 1 and len(lines[0].split()) == 1:
        raise InputError(
            where,
            "a tab or another single character between fields",
            f"{_WIDE!r}: {shown(lines[0].strip())}",
            f"Replace it: sed 's/::/\\t/g' FILE > FILE.tsv. {_by_numbers(kind)}",
        )


def _by_numbers(kind: Kind) -> str:
    """Say which options name user, item and rating as the first three columns."""
    roles = [
        "query",
        "doc",
        *([kind.number] if kind.number in (JUDGMENTS.number, RUN.number) else []),
    ]
    names = {f"{kind.name}.{role}": str(place) for place, role in enumerate(roles, 1)}
    options = " ".join(f"--columns {role}={name}" for role, name in names.items())
    return f"Name the columns by their numbers: {options}; in Python, columns={names}."


def _likely(name: str, words: Sequence[str], kind: Kind) -> Sequence[str]:
    """Return the words of a line, where it looks like a header with a name like the one asked for."""
    from difflib import get_close_matches

    return words if get_close_matches(name, words, n=1) else kind.fields


def _other_names(
    where: str, fields: Sequence[str], kind: Kind, given: Mapping[str, str]
) -> InputError:
    """Return an error that says which columns a first line does not name."""
    missing = {
        role: name for role, name in asked_columns(kind, given).items() if name not in fields
    }
    remedy = f"Name the columns: query=…, doc=…, {kind.number}=…"
    remedy += ", or rank=…, " if kind is RUN else ", "
    remedy += "by their numbers from 1 where the file has no header."
    expected = f"names of columns, or the {len(kind.fields)} fields {' '.join(kind.fields)}"
    # Imported here because few files have names of lists.
    from gainful.inputs.records_of_lists import has_name_of_list

    if has_name_of_list(map(plain_name, fields)):
        remedy = ROWS_OR_JSON
    if not asked_columns(kind, given) and are_times([fields]):
        remedy = f"The fields look like user, item, rating and time. {_by_numbers(kind)}"
    if missing:
        role, name = next(iter(missing.items()))
        expected = f"the column {name!r} for {role}"
        remedy = f"{did_you_mean(name, fields)} {remedy}{for_other_side(kind, given)}"
    found = shortened(", ".join(map(repr, fields))) or "quotes that are not closed"
    return InputError(where, expected, found, remedy)


def _first_row(head: bytes) -> str:
    r"""Return the first row of a table: a field in quotes may go over several lines.

    >>> _first_row(b'q1,"a\nb",1\nq1,c,2\n')
    'q1,"a\nb",1'
    """
    lines = head.split(b"\n")
    quotes = accumulate(line.count(b'"') for line in lines)
    last = next((place for place, count in enumerate(quotes) if count % 2 == 0), len(lines))
    return b"\n".join(lines[: last + 1]).decode(errors="replace").rstrip("\r")


def _without_header(
    where: str,
    line: str,
    row: str,
    delimiters: Sequence[str],
    kind: Kind,
    given: Mapping[str, str],
) -> Layout:
    """Take fields by their numbers, from 1; only the caller can know what they mean.

    What separates them is what gives enough of them, with a number where one is expected; if
    nothing does, its reader says what is no number. The first line is part of the first row.
    """
    asked = asked_columns(kind, given)
    kind = kind_by_columns((), kind, given)
    _refuse_partly_numbered(where, kind, given)
    numbers = [int(name) for name in asked.values()]
    splits = [(delimiter, first_fields(row, delimiter)) for delimiter in delimiters]
    for delimiter, fields in splits:
        misplaced = not fields or row.count('"') % 2 == 1
        if misplaced and len(fields) < max(numbers) <= line.count(delimiter) + 1:
            raise InputError(
                where,
                "quotes around whole fields alone",
                shortened(repr(line)),
                "Close them, or write the file without quotes.",
            )
    splits.append(("", [field.decode() for field in line.encode().split()]))
    enough = [each for each in splits if len(each[1]) > 1 and max(numbers) <= len(each[1])]
    number = int(asked.get(kind.number, 0)) - 1
    fitting = (
        each
        for each in enough
        if kind.implied is not None or _NUMBER.fullmatch(each[1][number].encode())
    )
    delimiter, fields = next(fitting, enough[0] if enough else max(splits, key=_width))
    names = tuple(str(place) for place in range(1, len(fields) + 1))
    if not enough or min(numbers) < 1:
        wrong = next(role for role, name in asked.items() if name not in names)
        raise InputError(
            where,
            f"a column of the number {asked[wrong]} for {wrong}",
            f"{len(fields)}, from 1: {shortened(', '.join(map(repr, fields)))}",
            f"Columns named by number are those of a file without a header.{for_other_side(kind, given)}",
        )
    places = _places(names, kind, given, where)
    if delimiter:
        return Layout("table", delimiter, names, places, numbered=True)
    if "\r" in line.rstrip("\r\n"):  # or all rows would be one, and the first of them alone be read
        raise InputError(
            where,
            "lines that end with a line feed",
            "carriage returns alone",
            "Write its line ends anew: tr '\\r' '\\n'.",
        )
    return Layout("trec", " ", names, places, numbered=True)


def _refuse_partly_numbered(where: str, kind: Kind, given: Mapping[str, str]) -> None:
    """Refuse columns of which only some are named by number."""
    asked = asked_columns(kind, given)
    roles = ["query", "doc", *([kind.number] if kind.implied is None else [])]
    if not all(role in asked and is_number(asked[role]) for role in roles):
        raise InputError(
            where,
            f"a number for each of {', '.join(roles)}, since one has a number",
            ", ".join(f"{role}={name}" for role, name in asked.items()),
            "Name all columns by their numbers from 1, where the file has no header, or all by "
            f"their names.{for_other_side(kind, given)}",
        )


def _width(split: tuple[str, list[str]]) -> int:
    return len(split[1])


def _is_text(line: bytes) -> bool:
    try:
        return line.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _is_trec(line: bytes, kind: Kind) -> bool:
    """Return whether a line that begins as JSON does is one of a TREC file: ids may begin so."""
    import json

    fields = line.split()
    if len(fields) != len(kind.fields) or not _NUMBER.fullmatch(fields[kind.places[2]]):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def _is_record(line: bytes, kind: Kind, given: Mapping[str, str]) -> bool:
    """Return whether a line is a JSON object of one document, not of a query with its list.

    The one has values that are neither objects nor lists, the ids of query and doc among them where
    it has others, too.
    """
    import json

    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict) or all(isinstance(item, dict) for item in value.values()):
        return False
    if isinstance(value.get(asked_columns(kind, given).get("doc")), list):
        return False
    plain = [name for name, item in value.items() if not isinstance(item, dict | list)]
    # Imported here because files of other formats need none of it.
    from gainful.inputs.search_responses import is_answer

    named = asked_columns(kind, given).get("doc") in plain
    if len(plain) == len(value):
        return named or not is_answer(value)  # one without hits
    # A score, say, may stand beside the list of a query.
    listed = is_answer(value) and not any(plain_name(name) in ALIASES["doc"] for name in plain)
    return (named or not listed) and looks_like_header(plain, kind, given)


def other_kind(count: int, kind: Kind) -> str:
    """Return a hint where lines look like those of the other kind."""
    for other in (JUDGMENTS, RUN):
        if other.name != kind.name and count == len(other.fields):
            return mistaken(other, given=kind)
    return ""
