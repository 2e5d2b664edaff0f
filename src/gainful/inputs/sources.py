"""Files, data frames and Arrow objects as tables that the engine can read.

A source is a SELECT of the columns query, doc (strings) and number (float64). Reading it
fails on what is no row; then the place is looked for, and the error says it.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from gainful.errors import InputError
from gainful.inputs.cleaning import clean, is_clean
from gainful.inputs.columns import find_columns
from gainful.inputs.engine import Columns, Session, file_quoted, name_quoted, quoted, said
from gainful.inputs.files import Plain, parts_of, path_of, plain_file
from gainful.inputs.formats import Layout, recognise
from gainful.inputs.frames import readable
from gainful.inputs.kinds import Kind
from gainful.inputs.letor import Labels, Predictions, read_labels, read_predictions
from gainful.inputs.nested import read_nested
from gainful.inputs.rows import again, first_fault

Given = Mapping[str, str]
Documents = Mapping[Any, Mapping[Any, float]]

_IDS = frozenset(
    [
        "VARCHAR",
        "UUID",
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
    ]
)
_LARGE = frozenset(["BIGINT", "HUGEINT", "UBIGINT", "UHUGEINT"])
_NUMBERS = _IDS - {"UUID"} | frozenset(["FLOAT", "DOUBLE", "BOOLEAN", "DECIMAL"])


_NONE = Layout("")


@dataclass(frozen=True, slots=True)
class Source:
    """A table of judgments or of a run.

    Attributes:
        kind: which of the two.
        name: what messages call it.
        select: SQL with the columns query, doc and number.
        rescans: whether it costs little to read it several times.
        strict: whether reading it fails on missing values; else they come as NULL.
        file: where its text stands, if it does.
        layout: how its text is written.
    """

    kind: Kind
    name: str
    select: str
    rescans: bool = False
    strict: bool = False
    file: Plain | None = None
    layout: Layout = _NONE


def open_source(
    given: object, kind: Kind, columns: Given, session: Session
) -> Source | Documents | Labels | Predictions:
    """Return what a caller passed as judgments or run, as a table, a dict of dicts, or lists."""
    if isinstance(given, Mapping):
        return given
    if isinstance(given, str | os.PathLike):
        return _open_file(path_of(given), kind, columns, session)
    table = readable(given)
    if table is not None:
        name = session.register(kind.name, table)
        return _typed(f"FROM {name}", kind, columns, session, kind.name)
    raise InputError(
        kind.name,
        f"a dict {{query: {{doc: {kind.number}}}}}, the path of a file, or a data frame",
        type(given).__name__,
    )


def _open_file(
    name: str, kind: Kind, columns: Given, session: Session
) -> Source | Documents | Labels | Predictions:
    parts = parts_of(name)
    if parts is not None:
        return _parquet(parts, kind, columns, session, name)
    file = plain_file(name, session)
    layout = recognise(file, kind, columns)
    match layout.format:
        case "parquet":
            return _parquet([file.path], kind, columns, session, file.name)
        case "letor":
            return read_labels(file)
        case "predictions":
            return read_predictions(file)
        case "json":
            found = read_nested(file, kind)
            if isinstance(found, Mapping):
                return found
            table = session.register(kind.name, found.arrays(columns))
            return Source(kind, file.name, f"SELECT query, doc, number FROM {table}", strict=True)
        case "jsonl":
            return _jsonl(file, kind, columns, session)
    source = Source(kind, file.name, "", strict=True, file=file, layout=layout)
    if layout.format == "trec" and not is_clean(file.path, layout.delimiter):
        return _cleaned(source, session)
    return replace(source, select=_text_select(file.path, layout, session))


def read(session: Session, source: Source, sql: str) -> Columns:
    """Run a statement in which `{rows}` stands for the source, and return its columns.

    A TREC file that the engine cannot read is read once more with its white space put in order.
    """
    import duckdb

    try:
        return session.columns(sql.format(rows=f"({source.select})"))
    except (duckdb.Error, UnicodeError) as problem:
        if source.layout.format == "trec" and source.layout.delimiter:
            return read(session, _cleaned(source, session), sql)
        refuse(source, problem)


def guarded(session: Session, source: Source, sql: str) -> Columns:
    """Run a query that may read a source once more, and return its columns."""
    import duckdb

    try:
        return session.columns(sql)
    except duckdb.Error as problem:
        refuse(source, problem)


def refuse(source: Source, problem: Exception) -> NoReturn:
    """Say where a source cannot be read."""
    if source.file is not None and source.layout.format in ("trec", "table", "jsonl"):
        fault = first_fault(source.file, source.layout, source.kind)
        if fault is not None:
            raise fault.error(source.file) from None
    raise InputError(
        source.name, f"{source.kind.name} that can be read", said(problem), "Check what wrote it."
    ) from None


def refuse_duplicate(source: Source, query: str, doc: str) -> NoReturn:
    """Say where a document stands for the second time."""
    where = source.name
    if source.file is not None and source.layout.format in ("trec", "table", "jsonl"):
        line = again(source.file, source.layout, source.kind, query, doc)
        where = source.name if line is None else f"{source.name}:{line}"
    raise InputError(
        where,
        "each document once for a query",
        f"document {doc!r} of query {query!r} again",
        "Remove one, or set the policy duplicates to first or best.",
    )


def refuse_values(session: Session, source: Source) -> NoReturn:
    """Say where a value is missing, or is no finite number."""
    if source.file is not None and source.layout.format in ("trec", "table", "jsonl"):
        refuse(source, ValueError("a number that is not finite"))
    found = session.rows(
        "SELECT row, query, doc, number FROM "
        f"(SELECT row_number() OVER () AS row, * FROM ({source.select})) "
        "WHERE query IS NULL OR doc IS NULL OR number IS NULL OR NOT isfinite(number) LIMIT 1"
    )
    row, query, doc, number = found[0] if found else (0, "", "", None)
    where = f"{source.name}, row {row}"
    if query is None or doc is None:
        raise InputError(where, f"an id as {'query' if query is None else 'doc'}", "nothing")
    raise InputError(
        f"{where}, query {query!r}, document {doc!r}",
        f"a finite number as {source.kind.number}",
        "nothing" if number is None else str(number),
    )


def _cleaned(source: Source, session: Session) -> Source:
    assert source.file is not None  # noqa: S101 - only text is cleaned
    target = session.folder / session.name("cleaned")
    clean(source.file.path, target)
    layout = replace(source.layout, delimiter="")
    select = _text_select(target, replace(layout, delimiter=" "), session)
    return replace(source, select=select, layout=layout)


def _text_select(path: Path, layout: Layout, session: Session) -> str:
    """Read lines of fields; an empty field is an error, not a value."""
    number = layout.places[2]
    types = ", ".join(
        f"'f{place}': '{'DOUBLE' if place == number else 'VARCHAR'}'"
        for place in range(len(layout.names))
    )
    mark = "'\"'" if layout.format == "table" else "''"
    # Fields of a clean TREC file cannot be empty.
    empty = " OR ".join(f"f{place} IS NULL" for place in layout.places)
    checked = f" WHERE CASE WHEN {empty} THEN error('an empty field') ELSE true END"
    columns = ", ".join(
        f"f{place} AS {name}"
        for place, name in zip(layout.places, ("query", "doc", "number"), strict=True)
    )
    return (
        f"SELECT {columns} FROM read_csv({file_quoted(path, session)}, "
        f"delim={quoted(layout.delimiter)}, quote={mark}, escape={mark}, "
        f"header={str(layout.header).lower()}, auto_detect=false, columns={{{types}}})"
        f"{checked if layout.format == 'table' else ''}"
    )


def _jsonl(file: Plain, kind: Kind, columns: Given, session: Session) -> Source:
    import json

    with file.path.open("rb") as content:
        first = next(line for line in content if line.strip())
    names = tuple(json.loads(first.removeprefix(b"\xef\xbb\xbf")))
    layout = Layout("jsonl", "", names, find_columns(names, kind, columns, f"{file.name}:1"))
    query, doc, number = (names[place] for place in layout.places)
    types = ", ".join(f"{quoted(name)}: 'JSON'" for name in (query, doc, number))

    def text(name: str) -> str:
        value = name_quoted(name)
        return (
            f"CASE WHEN json_type({value}) IN ('VARCHAR', 'BIGINT', 'UBIGINT') "
            f"AND {value} ->> '$' <> '' THEN {value} ->> '$' ELSE error('no id') END"
        )

    value = name_quoted(number)
    select = (
        f"SELECT {text(query)} AS query, {text(doc)} AS doc, "
        f"CASE WHEN json_type({value}) IN ('DOUBLE', 'BIGINT', 'UBIGINT') "
        f"THEN CAST({value} AS DOUBLE) ELSE error('no number') END AS number "
        f"FROM read_json({file_quoted(file.path, session)}, format='newline_delimited', "
        f"columns={{{types}}}, maximum_object_size=268435456)"
    )
    return Source(kind, file.name, select, strict=True, file=file, layout=layout)


def _parquet(
    parts: Sequence[Path], kind: Kind, columns: Given, session: Session, name: str
) -> Source:
    files = ", ".join(file_quoted(part, session) for part in parts)
    relation = f"FROM read_parquet([{files}], binary_as_string=true)"
    return replace(_typed(relation, kind, columns, session, name), rescans=True)


def _typed(relation: str, kind: Kind, columns: Given, session: Session, name: str) -> Source:
    """Read columns that have types; numbers as ids are written as they are."""
    import duckdb

    try:
        described = session.rows(f"DESCRIBE SELECT * {relation}")
    except (duckdb.Error, UnicodeError) as problem:
        raise InputError(name, "a table that can be read", said(problem)) from None
    names, types = [row[0] for row in described], [row[1] for row in described]
    places = find_columns(names, kind, columns, name)
    query, doc, number = (name_quoted(names[place]) for place in places)
    for role, place in zip(("query", "doc"), places, strict=False):
        if types[place].split("(")[0] not in _IDS | {"ENUM"}:
            raise InputError(
                f"{name}, column {names[place]!r}",
                f"strings (or integers) as ids for {role}",
                f"values of type {types[place]}",
                "Make the ids strings first.",
            )
    found = types[places[2]].split("(")[0]
    if found not in _NUMBERS:
        raise InputError(
            f"{name}, column {names[places[2]]!r}",
            f"numbers as {kind.number}",
            f"values of type {types[places[2]]}",
        )
    value = f"CAST({number} AS DOUBLE)"
    if found in _LARGE:  # as in a dict, an integer is never rounded in silence
        value = (
            f"CASE WHEN CAST({number} AS HUGEINT) = CAST({value} AS HUGEINT) THEN {value} "
            "ELSE error('an integer that a float64 does not hold exactly: scale it down') END"
        )
    select = (
        f"SELECT CAST({query} AS VARCHAR) AS query, CAST({doc} AS VARCHAR) AS doc, "
        f"{value} AS number {relation}"
    )
    return Source(kind, name, select)
