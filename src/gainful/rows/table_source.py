"""`Source`: a table of judgments or of a run that the engine reads, with its checks and error messages."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gainful.arithmetic.number_arrays import LARGEST_EXACT
from gainful.array_types import AnyArray
from gainful.errors import InputError
from gainful.rows.decimal_parsing import number_in_text
from gainful.rows.duckdb_engine import (
    Columns,
    EngineError,
    Session,
    file_quoted,
    is_odd_number,
    name_quoted,
    quoted,
    said,
)
from gainful.rows.files import BYTE_ORDER_MARK, NAMES_OF_RUNS, LocalFile
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.rows.identifiers import UNTYPED, IdType, repeated_document
from gainful.rows.run_and_judgment_columns import no_rank, plain_name, rank_again
from gainful.rows.text_formats import (
    Fault,
    Layout,
    Row,
    rows,
)
from gainful.rows.values_as_numbers import BEYOND_SINGLE, beyond_single

_NONE = Layout("")
_BATCH = 1 << 17  # rows passed to the engine at a time
# The engine reads JSON in parts of twice the largest size, each on one core; larger objects are read row by row.
_LARGEST_OBJECT = f"maximum_object_size={1 << 22}"
_USUAL = "compression='uncompressed', hive_partitioning=false"
_FEW_DIGITS = 15  # digits of integers that every float64 represents exactly
_INTEGERS_END = 2.0**63  # the engine reads integers below −2^63 or from 2^64 on as fractions
SEVERAL_ASSESSORS = (
    "The column {!r} names assessors: set how to merge their grades, assessors=mean, median, majority, max, "
    "min, dawid-skene, or the name of the assessor whose grades count; on the command line, --assessors."
)
"""Advice for repeated documents in a table with a column of assessors."""
NO_ID = ", where ids are whole numbers"
"""The end of the error message for a fraction as id in a typed table."""
NOT_HELD = ", which no float64 holds"
"""The end of the error message for an integer that would be rounded."""
_SEVERAL_RUNS = "If the column {0!r} names several runs, pass them as dict([*frame.groupby({0!r})]), or write a file for each."
_SUBTOPICS = " Pass judgments of subtopics with --subtopics, or to gf.subtopics.evaluate_subtopics."


@dataclass(frozen=True, slots=True)
class PlainRows:
    """Rows of judgments or of a run, in order: query, doc and number."""

    queries: list[str]
    docs: list[str]
    numbers: list[float]

    def arrays(self) -> dict[str, AnyArray]:
        """Return the columns query, doc and number."""
        ids = {"query": np.array(self.queries, object), "doc": np.array(self.docs, object)}
        return {**ids, "number": np.array(self.numbers)}

    def documents(self) -> dict[str, dict[str, float]] | None:
        """Return the rows as a dict of dicts; None if a query contains a document twice."""
        by_query: dict[str, dict[str, float]] = {}
        last, documents = None, {}
        for query, doc, number in zip(self.queries, self.docs, self.numbers, strict=True):
            if query != last:
                last, documents = query, by_query.setdefault(query, {})
            documents[doc] = number
        return by_query if sum(map(len, by_query.values())) == len(self.docs) else None


@dataclass(frozen=True, slots=True)
class Source:
    """A table of judgments or of a run: a SELECT of query, doc (strings) and number (float64).

    Attributes:
        kind: judgments or run.
        name: the name of the table in messages.
        select: SQL with the columns query, doc and number, and rank if there is one; empty for text
            as long as it isn't known how its lines reach the engine.
        rescans: whether reading the table several times is cheap.
        strict: whether no value can be missing, because reading fails otherwise; if not, missing
            values are NULL.
        file: the file with the text, if any.
        layout: the layout of the text.
        rows: the number of rows in a text that the engine itself reads.
        types: the original types of the query ids and the document ids.
        plain: the rows of a small table without problems.
    """

    kind: Kind
    name: str
    select: str = ""
    rescans: bool = False
    strict: bool = False
    file: LocalFile | None = None
    layout: Layout = _NONE
    rows: int | None = None
    types: tuple[IdType, ...] = (UNTYPED, UNTYPED)
    plain: PlainRows | None = None


def source_of_arrays(
    kind: Kind,
    name: str,
    arrays: Mapping[str, AnyArray],
    session: Session,
    layout: Layout = _NONE,
    types: tuple[IdType, ...] = (UNTYPED, UNTYPED),
) -> Source:
    """Return arrays with the columns query, doc, number and perhaps rank as a table; no number is missing."""
    table = session.register(kind.name, arrays)
    rank = ", TRY_CAST(CAST(rank AS VARCHAR) AS DOUBLE) AS rank" if "rank" in arrays else ""
    # The engine reads NaN in an array as missing.
    number = "coalesce(number, CAST('nan' AS DOUBLE)) AS number"
    select = f"SELECT query, doc, {number}{rank} FROM {table}"
    return Source(kind, name, select, strict=True, layout=layout, types=types)


def is_lasting(table: Any) -> bool:
    """Return whether an object can be read more than once, judged by whether it has a length."""
    return any(hasattr(table, name) for name in ("__len__", "num_rows", "collect"))


def can_be_read_twice(given: object) -> bool:
    """Return whether judgments or a run can be read again, unlike a stream or standard input."""
    if isinstance(given, str | os.PathLike):
        return os.fspath(given) != "-"
    return is_lasting(given)


def ready(source: Source, session: Session) -> Source:
    """Return a source that the engine can read."""
    if source.select or source.file is None:
        return source
    from gainful.rows.clean_text_files import count_clean_rows, count_json_lines

    layout, path, count = source.layout, source.file.path, None
    # The engine reads only the fields of the first line of JSON, where a later line may have a number.
    if layout.format == "jsonl" and not source.kind.assumed:
        count = count_json_lines(path)
    elif layout.format in ("trec", "table", "jsonl"):
        count = count_clean_rows(path, layout)
    if count is None:
        return row_by_row(source, session)
    make_select = _json_select if layout.format == "jsonl" else _text_select
    select = make_select(source.file, layout, source.kind, session)
    return replace(source, select=select, rows=count)


def row_by_row(source: Source, session: Session) -> Source:
    """Read text row by row, because the engine may misread it or fails on it."""
    assert source.file is not None  # noqa: S101 - only text has lines
    found = rows(source.file, source.layout, source.kind)
    table, _ = stored_rows(session, _good(found, source.file), source.kind.name)
    rank = ", rank" if source.layout.rank is not None else ""
    select = f"SELECT query, doc, number{rank} FROM {table}"
    return replace(source, select=select, rows=None)


def _good(found: Iterator[Row | Fault], file: LocalFile) -> Iterator[Row]:
    for row in found:
        if isinstance(row, Fault):
            raise row.error(file)
        yield row


def stored_rows(
    session: Session, found: Iterator[Row], stem: str, number: str = "number"
) -> tuple[str, int]:
    """Store rows in a table with the columns query, doc, number, rank and row; return its name and size.

    Args:
        session: the session that creates the table.
        found: the rows.
        stem: the prefix of the table's name.
        number: SQL for the number to store.
    """
    table, size = session.name(stem), 0
    session.execute(
        f"CREATE TEMP TABLE {table} "
        "(query VARCHAR, doc VARCHAR, number DOUBLE, rank DOUBLE, row BIGINT)"
    )
    while batch := list(islice(found, _BATCH)):
        columns = {
            "query": np.array([row.query for row in batch], object),
            "doc": np.array([row.doc for row in batch], object),
            "number": np.array([row.number for row in batch], np.float64),
            "rank": np.array([row.rank or "" for row in batch], object),
            "row": np.array([row.line for row in batch], np.int64),
        }
        name = session.register("batch", columns)
        session.execute(
            f"INSERT INTO {table} SELECT query, doc, {number}, TRY_CAST(rank AS DOUBLE), row FROM {name}"
        )
        session.connection.unregister(name)
        size += len(batch)
    return table, size


def _may_be_odd(path: Path) -> bool:
    """Return whether a file contains, anywhere, characters of unusual numbers; most files don't."""
    if not path.stat().st_size:  # empty files cannot be mapped
        return False
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(b"_") >= 0 or content.find(b"+") >= 0


def _text_select(file: LocalFile, layout: Layout, kind: Kind, session: Session) -> str:
    """Return a SELECT for lines of fields, none of them empty or quoted."""
    number = layout.places[2]
    plain = not _may_be_odd(file.path)
    types = ", ".join(
        f"'f{place}': '{'DOUBLE' if plain and place == number else 'VARCHAR'}'"
        for place in range(len(layout.names))
    )
    query, doc = (f"f{place}" for place in layout.places[:2])
    value = f"f{number}" if kind.implied is None else f"CAST({kind.implied!r} AS DOUBLE)"
    if not plain and kind.implied is None:
        value = (
            f"CAST(CASE WHEN {is_odd_number(value)} THEN 'no number' ELSE {value} END AS DOUBLE)"
        )
    sign = "-" if kind.ascending else ""
    columns = f"{query} AS query, {doc} AS doc, {sign}{value} AS number"
    if layout.rank is not None:
        # Only the lint reads the rank. DuckDB would push a cast of the plain column into its reader, which
        # fails on text that isn't a number.
        columns += f", TRY_CAST(nullif(f{layout.rank}, '') AS DOUBLE) AS rank"
    return f"SELECT {columns} {_csv_relation(file.path, layout, types, session)}"


def _csv_relation(path: Path, layout: Layout, types: str, session: Session) -> str:
    """Return SQL, from FROM on, that reads delimited text with the table column types."""
    mark = "'\"'" if layout.format == "table" else "''"
    return (
        f"FROM read_csv({file_quoted(path, session)}, delim={quoted(layout.delimiter)}, "
        f"quote={mark}, escape={mark}, header={str(layout.header).lower()}, skip={layout.skip}, "
        f"auto_detect=false, columns={{{types}}}, {_USUAL})"
    )


def _json_relation(path: Path, types: str, session: Session) -> str:
    """Return SQL, from FROM on, that reads JSON lines with the table types."""
    return (
        f"FROM read_json({file_quoted(path, session)}, format='newline_delimited', {_USUAL}, "
        f"columns={{{types}}}, {_LARGEST_OBJECT})"
    )


def _json_select(file: LocalFile, layout: Layout, kind: Kind, session: Session) -> str:
    """Return a SELECT for one object per line; an id or a number of another type is an error."""
    query, doc, *numbers = (layout.names[place] for place in layout.places if place >= 0)
    types = ", ".join(f"{quoted(name)}: 'JSON'" for name in (query, doc, *numbers))

    def text(name: str) -> str:
        value = name_quoted(name)
        # Most values are strings without escapes, which is faster to check than their JSON type.
        written = f"CAST({value} AS VARCHAR)"
        plain = f"({value} ->> '$')"  # in DuckDB 1.5, AND binds more tightly than ->>
        return (
            f"CASE WHEN starts_with({written}, '\"') AND NOT contains({written}, '\\') AND {written} <> '\"\"' "
            f"THEN substring({written}, 2, length({written}) - 2) "
            f"WHEN json_type({value}) IN ('VARCHAR', 'BIGINT', 'UBIGINT') "
            f"AND {plain} <> '' THEN {plain} ELSE error('no id') END"
        )

    number = f"CAST({kind.implied!r} AS DOUBLE)"
    if numbers:
        value = name_quoted(numbers[0])
        written, sign = f"CAST({value} AS VARCHAR)", "-" if kind.ascending else ""
        judged = kind.name == JUDGMENTS.name
        truth = f"WHEN json_type({value}) = 'BOOLEAN' THEN CAST({written} = 'true' AS DOUBLE) "
        truth = truth if judged else ""
        # Most numbers are short and end with a digit, like no other JSON value. Numbers that may be rounded
        # integers are left to the row reader, which accepts or rejects them.
        number = (
            f"CASE WHEN length({written}) <= {_FEW_DIGITS} AND right({written}, 1) BETWEEN '0' AND '9' "
            f"AND NOT contains(lower({written}), 'e') THEN {sign}CAST({written} AS DOUBLE) "
            f"WHEN json_type({value}) = 'DOUBLE' AND abs(CAST({value} AS DOUBLE)) < {_INTEGERS_END!r} "
            f"OR json_type({value}) IN ('BIGINT', 'UBIGINT') "
            f"AND CAST({value} AS HUGEINT) = CAST(CAST({value} AS DOUBLE) AS HUGEINT) "
            f"THEN {sign}CAST({value} AS DOUBLE) {truth}ELSE error('no number') END"
        )
    relation = _json_relation(_without_mark(file.path, session), types, session)
    return f"SELECT {text(query)} AS query, {text(doc)} AS doc, {number} AS number {relation}"


def _without_mark(path: Path, session: Session) -> Path:
    """Return a file without a byte order mark, which the engine does not expect in JSON."""
    with path.open("rb") as content:
        if content.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            return path
        with session.written_aside("unmarked") as (target, copy):
            import shutil

            shutil.copyfileobj(content, copy)
    return target


def read_into(
    session: Session, source: Source, table: str, select: str, *, whole: bool = True
) -> None:
    """Create a table from a SELECT in which `{rows}` denotes the source.

    If the engine can't read the text, or not to its end, the text is read row by row.

    Args:
        session: the session that creates the table.
        source: the source to read.
        table: the name of the table.
        select: the SELECT.
        whole: whether it selects every row of the source, so that rows can be counted.
    """
    statement = f"CREATE OR REPLACE TEMP TABLE {table} AS {select}"
    try:
        count = session.rows(statement.format(rows=f"({source.select})"))[0][0]
    except EngineError as problem:
        if source.rows is None:
            refuse(source, problem)
        # Raises the error in the rows, unless the engine is merely stricter.
        read_into(session, row_by_row(source, session), table, select, whole=whole)
        return
    if whole and not is_whole(source, count):
        read_into(session, row_by_row(source, session), table, select)


def is_whole(source: Source, count: int) -> bool:
    """Return whether the engine found all rows of a text."""
    return source.rows is None or source.rows == count


def guarded(session: Session, source: Source, sql: str) -> Columns:
    """Run a query that may read a source again, and return its columns."""
    try:
        return session.columns(sql)
    except EngineError as problem:
        refuse(source, problem)


def refuse(source: Source, problem: Exception) -> NoReturn:
    """Raise the error that locates the problem in a source."""
    if source.file is not None:
        for entry in rows(source.file, source.layout, source.kind):
            if isinstance(entry, Fault):
                raise entry.error(source.file) from None
    found, kind, code = said(problem), source.kind, ""
    number, remedy = kind.number, "Check the program that wrote it."
    expected = f"{kind.contents} that can be read"
    if found.endswith(NOT_HELD):
        raise kind.inexact(source.name, found.removesuffix(NOT_HELD)) from None
    if f" as {number} of query " in found:  # the error that the SELECT of a typed table raises
        expected = f"numbers as {number}s"
        text = found.partition(f" as {number} of query ")[0].removeprefix("'").removesuffix("'")
        remedy = kind.advice(text) or "Write a number for it, or leave the row out."
        code = kind.code(text)
    elif found.endswith(NO_ID):
        expected, remedy = "strings (or integers) as ids", "Make the ids strings first."
    raise InputError(source.name, expected, found, remedy, code=code) from None


def refuse_duplicate(source: Source, query: str, doc: str, *, by_policy: bool = True) -> NoReturn:
    """Raise the error for a repeated document; with `by_policy`, suggest another policy."""
    where = _place(source, 2, lambda row: (row.query, row.doc) == (query, doc))
    code = ""
    remedy = "Remove one of the rows."
    if by_policy:
        remedy = "Remove one, or set the policy duplicates=first or duplicates=best."
        if source.kind is JUDGMENTS and source.layout.format == "trec":
            remedy += _SUBTOPICS
        names = source.layout.names if source.kind.name == RUN.name else ()
        if run := next((name for name in names if plain_name(name) in NAMES_OF_RUNS), None):
            remedy = _SEVERAL_RUNS.format(run)
    if source.kind.name == JUDGMENTS.name and source.layout.assessor:
        remedy = SEVERAL_ASSESSORS.format(source.layout.assessor)
        code = "judgments.several-assessors"
    raise repeated_document(where, query, doc, remedy, code)


def refuse_values(session: Session, source: Source) -> NoReturn:
    """Raise the error for a missing value, or for a number that isn't finite."""
    if source.file is not None:
        refuse(source, ValueError("a number that is not finite"))
    bad = "query IS NULL OR doc IS NULL OR number IS NULL OR NOT isfinite(number)"
    row, query, doc, number = _first_row(session, source, bad) or (0, "", "", None)
    where = f"{source.name}, row {row}"
    if query is None or doc is None:
        raise InputError(where, f"an id as {'query' if query is None else 'doc'}", "nothing")
    given = "nothing" if number is None else str(source.kind.turned(number))
    raise source.kind.no_number(f"{where}, query {query!r}, document {doc!r}", number, given)


def refuse_ranks(session: Session, source: Source, table: str, number: str) -> None:
    """Reject equal ranks within a query, and numbers that aren't ranks, in a copy of a source.

    `refuse_values` checks for missing and non-finite values.
    """
    if source.kind.tied:
        return
    ranks = f"(SELECT query, doc, -{number} AS rank FROM {table} WHERE isfinite({number}))"
    odd = session.rows(
        f"SELECT query, doc, rank FROM {ranks} WHERE rank < 0 OR rank <> floor(rank) "
        "ORDER BY query, doc LIMIT 1"
    )
    if odd and source.kind.whole:
        query, doc, rank = odd[0]
        where = _place(source, 1, lambda row: (row.query, row.doc) == (query, doc))
        raise no_rank(where, query, doc, rank)
    shared = session.rows(
        f"SELECT query, rank, min(doc), max(doc) FROM {ranks} GROUP BY query, rank "
        "HAVING count(*) > 1 AND min(doc) < max(doc) ORDER BY query, rank LIMIT 1"
    )
    if shared:
        query, rank, one, other = shared[0]
        where = _place(source, 2, lambda row: (row.query, -row.number) == (query, rank))
        raise rank_again(where, query, rank, (one, other))


def _place(source: Source, nth: int, wanted: Callable[[Row], bool]) -> str:
    """Return the location of the nth wanted row: its line, if rows have lines."""
    if source.file is None:
        return source.name
    found = rows(source.file, source.layout, source.kind)
    lines = (row.line for row in found if isinstance(row, Row) and wanted(row))
    line = next(islice(lines, nth - 1, None), None)
    return source.name if line is None else f"{source.name}:{line}"


def refuse_beyond_single(session: Session, source: Source) -> None:
    """Raise if a finite score is too large for a float32."""
    if source.file is not None:
        for row in rows(source.file, source.layout, source.kind):
            if isinstance(row, Row) and abs(row.number) >= BEYOND_SINGLE:
                raise beyond_single(f"{source.name}:{row.line}", source.kind.turned(row.number))
        return
    beyond = _first_row(session, source, f"isfinite(number) AND abs(number) >= {BEYOND_SINGLE!r}")
    if beyond:
        row, query, doc, number = beyond
        place = f"{source.name}, row {row}, query {query!r}, document {doc!r}"
        raise beyond_single(place, source.kind.turned(number))


def _first_row(session: Session, source: Source, condition: str) -> tuple[Any, ...] | None:
    """Return the first row that fulfils a condition: its position from 1, query, doc and number."""
    rows = session.rows(
        "SELECT row, query, doc, number FROM "
        f"(SELECT row_number() OVER () AS row, * FROM ({source.select})) WHERE {condition} LIMIT 1"
    )
    return rows[0] if rows else None


# --- events of several kinds, such as clicks and purchases, that would all count the same


def with_events(kind: Kind, events: Iterable[object]) -> Kind:
    """Return the kind of a table, without its event column if all events are the same.

    Numbers aren't kinds of events: they may mean anything.
    """
    different = {event for event in events if isinstance(event, str) and event}
    texts = [event for event in different if number_in_text(event) is None]
    return kind if len(texts) > 1 else replace(kind, ignored="")


def with_events_in_table(kind: Kind, relation: str, session: Session) -> Kind:
    """Return the kind of a table (SQL from FROM on), like `with_events`."""
    if not kind.ignored:
        return kind
    event = f"CAST({name_quoted(kind.ignored)} AS VARCHAR)"
    try:
        rows = session.rows(f"SELECT DISTINCT {event} {relation}")
    except EngineError:  # reported when the rows are read
        return kind
    return with_events(kind, (row[0] for row in rows))


def with_events_in_text(kind: Kind, file: LocalFile, layout: Layout, session: Session) -> Kind:
    """Return the kind of a text with named columns, one of which may hold events, like `with_events`."""
    is_json = layout.format == "jsonl"
    names = [kind.ignored] if is_json else layout.names
    types = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
    if is_json:
        return with_events_in_table(kind, _json_relation(file.path, types, session), session)
    return with_events_in_table(kind, _csv_relation(file.path, layout, types, session), session)


MOST_ROWS = 20_000
"""The largest table to read in Python; for larger ones, the engine is at least as fast."""
_MINUS_ZERO = re.compile(
    rb"(?<![0-9eE])-(?:[0.]+(?![0-9.])|[0-9.]+[eE])"
)  # -0, -.0, and tiny negative numbers
_MOST_BYTES = 40  # the average size of a row in text that is read in Python


def is_small(rows: int) -> bool:
    """Return whether a table with this many rows is read in Python."""
    return 0 < rows <= MOST_ROWS


def plain_rows(queries: list[Any], docs: list[Any], numbers: AnyArray) -> PlainRows | None:
    """Return the columns of a table as rows; None if it isn't small, or if an id or a number is unusual."""
    if not is_small(len(docs)) or numbers.dtype.kind not in "iuf":
        return None
    floats = numbers.astype(np.float64)
    fits = np.isfinite(floats) if numbers.dtype.kind == "f" else np.abs(floats) < LARGEST_EXACT
    if not fits.all():
        return None
    columns = _plain_ids(queries), _plain_ids(docs)
    if columns[0] is None or columns[1] is None:
        return None
    return PlainRows(columns[0], columns[1], floats.tolist())


def _plain_ids(listed: list[Any]) -> list[str] | None:
    """Return a column of integers or of printable text as text; None for other ids."""
    types = {*map(type, listed)}
    if types == {int}:
        return [*map(str, listed)]
    usual = types == {str} and "" not in listed and "".join(listed).isprintable()
    return listed if usual else None


def plain_text(path: Path, layout: Layout) -> PlainRows | None:
    """Return the rows of a short text file; None if it isn't clean."""
    # Imported here because evaluations of clean texts don't need it.
    from gainful.rows.clean_text_files import read_clean_rows

    if path.stat().st_size > MOST_ROWS * _MOST_BYTES:
        return None
    rows = read_clean_rows(path, layout)
    # The reader of clean text drops the sign of −0, which the engine keeps.
    if rows is None or (not rows.numbers.all() and _MINUS_ZERO.search(path.read_bytes())):
        return None
    return PlainRows(rows.names_by_row, rows.texts(), rows.numbers.tolist())
