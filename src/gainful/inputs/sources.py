"""Files, data frames and Arrow objects as tables that the engine can read.

A source is a SELECT of the columns query, doc (strings) and number (float64). Reading it
fails on what is no row; then the place is looked for, and the error says it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from gainful.errors import InputError
from gainful.inputs.columns import no_rank, rank_again
from gainful.inputs.engine import Columns, Session, said
from gainful.inputs.frames import is_lasting, readable, refuse_odd_objects, written_names
from gainful.inputs.kinds import JUDGMENTS, Kind
from gainful.inputs.precision import BEYOND_SINGLE, beyond_single
from gainful.inputs.rows import Row, first_fault, line_of, rows
from gainful.inputs.source import Source, TextState
from gainful.inputs.texts import cleaned, row_by_row
from gainful.inputs.typed import typed

_SUBTOPICS = " Judgments of subtopics go with --subtopics, or evaluate_subtopics."

Given = Mapping[str, str]
Documents = Mapping[Any, Mapping[Any, float]]


def open_frame(
    given: object, kind: Kind, columns: Mapping[str, str], session: Session
) -> Source | None:
    """Open a data frame, an Arrow object or a stream of batches; None if it is none of them."""
    table = readable(given)
    if table is None:
        return None
    name = _registered(session, given, table, kind)
    source = typed(f"FROM {name}", kind, columns, session, kind.name, written_names(table))
    refuse_odd_objects(given, source.layout.names, kind)
    return source


def _registered(session: Session, given: object, table: object, kind: Kind) -> str:
    """Have a frame or a stream as a table; what can be read only once is kept."""
    import duckdb

    try:
        name = session.register(kind.name, table)
        if is_lasting(given):
            return name
        stored = session.name(kind.name)
        session.execute(f"CREATE TEMP TABLE {stored} AS FROM {name}")
    except duckdb.Error as problem:
        raise InputError(kind.name, "a table that can be read", said(problem)) from None
    return stored


def read_into(
    session: Session, source: Source, table: str, select: str, *, whole: bool = True
) -> None:
    """Make a table of what is selected; `{rows}` stands for the source.

    Text that the engine does not read, or not to its end, is read row by row; a TREC file before
    that with its white space put in order.

    Args:
        session: where the table is made.
        source: what is read.
        table: its name.
        select: SQL.
        whole: whether every row of the source is selected, so that they can be counted.
    """
    import duckdb

    statement = f"CREATE OR REPLACE TEMP TABLE {table} AS {select}"
    try:
        count = session.rows(statement.format(rows=f"({source.select})"))[0][0]
    except (duckdb.Error, UnicodeError) as problem:
        if source.layout.format == "trec" and source.state is TextState.AS_THEY_ARE:
            other = cleaned(source, session)
        elif source.is_read_by_engine:
            # Says what is wrong, if anything is but that the engine is stricter.
            other = row_by_row(source, session)
        else:
            refuse(source, problem)
        read_into(session, other, table, select, whole=whole)
        return
    if whole and not is_whole(source, count):
        read_into(session, row_by_row(source, session), table, select)


def is_whole(source: Source, count: int) -> bool:
    """Return whether the engine found as many rows in a text as there are."""
    return source.rows is None or not source.is_read_by_engine or source.rows == count


def guarded(session: Session, source: Source, sql: str) -> Columns:
    """Run a query that may read a source once more, and return its columns."""
    import duckdb

    try:
        return session.columns(sql)
    except duckdb.Error as problem:
        refuse(source, problem)


def refuse(source: Source, problem: Exception) -> NoReturn:
    """Say where a source cannot be read."""
    if source.lines and source.file is not None:
        fault = first_fault(source.file, source.layout, source.kind)
        if fault is not None:
            raise fault.error(source.file) from None
    raise InputError(
        source.name, f"{source.kind.name} that can be read", said(problem), "Check what wrote it."
    ) from None


def refuse_duplicate(source: Source, query: str, doc: str, *, by_policy: bool = True) -> NoReturn:
    """Say where a document stands for the second time; by a policy, another could be set."""
    where = _place(source, 2, lambda row: (row.query, row.doc) == (query, doc))
    remedy = "Remove one of the rows."
    if by_policy:
        remedy = "Remove one, or set the policy duplicates to first or best."
        if source.kind is JUDGMENTS and source.layout.format == "trec":
            remedy += _SUBTOPICS
    raise InputError(
        where,
        "each document once for a query",
        f"document {doc!r} of query {query!r} again",
        remedy,
    )


def refuse_values(session: Session, source: Source) -> NoReturn:
    """Say where a value is missing, or is no finite number."""
    if source.lines:
        refuse(source, ValueError("a number that is not finite"))
    bad = "query IS NULL OR doc IS NULL OR number IS NULL OR NOT isfinite(number)"
    found = _first_row(session, source, bad)
    row, query, doc, number = found or (0, "", "", None)
    where = f"{source.name}, row {row}"
    if query is None or doc is None:
        raise InputError(where, f"an id as {'query' if query is None else 'doc'}", "nothing")
    raise InputError(
        f"{where}, query {query!r}, document {doc!r}",
        f"a finite number as {source.kind.number}",
        "nothing" if number is None else str(source.kind.turned(number)),
        source.kind.advice(number),
    )


def refuse_ranks(session: Session, source: Source, table: str, number: str) -> None:
    """Refuse ranks that order nothing, in a copy of a source: two that are equal, or no ranks.

    Values that are missing or not finite are looked for apart.
    """
    if not source.kind.ascending:
        return
    ranks = f"(SELECT query, doc, -{number} AS rank FROM {table} WHERE isfinite({number}))"
    found = session.rows(
        f"SELECT query, doc, rank FROM {ranks} WHERE rank < 0 OR rank <> floor(rank) "
        "ORDER BY query, doc LIMIT 1"
    )
    if found and source.kind.whole:
        query, doc, rank = found[0]
        where = _place(source, 1, lambda row: (row.query, row.doc) == (query, doc))
        raise no_rank(where, query, doc, rank)
    found = session.rows(
        f"SELECT query, rank, min(doc), max(doc) FROM {ranks} GROUP BY query, rank "
        "HAVING count(*) > 1 AND min(doc) < max(doc) ORDER BY query, rank LIMIT 1"
    )
    if found:
        query, rank, one, other = found[0]
        where = _place(source, 2, lambda row: (row.query, -row.number) == (query, rank))
        raise rank_again(where, query, rank, (one, other))


def _place(source: Source, nth: int, wanted: Callable[[Row], bool]) -> str:
    """Return the place of the nth of the rows that are wanted: its line, where rows have one."""
    line = None
    if source.lines and source.file is not None:
        line = line_of(nth, wanted, rows(source.file, source.layout, source.kind))
    return source.name if line is None else f"{source.name}:{line}"


def refuse_beyond_single(session: Session, source: Source) -> None:
    """Say where a score is finite and a float32 cannot hold it, if one is."""
    if source.lines and source.file is not None:
        for row in rows(source.file, source.layout, source.kind):
            if isinstance(row, Row) and abs(row.number) >= BEYOND_SINGLE:
                raise beyond_single(f"{source.name}:{row.line}", source.kind.turned(row.number))
        return
    found = _first_row(session, source, f"isfinite(number) AND abs(number) >= {BEYOND_SINGLE!r}")
    if found:
        row, query, doc, number = found
        place = f"{source.name}, row {row}, query {query!r}, document {doc!r}"
        raise beyond_single(place, source.kind.turned(number))


def _first_row(session: Session, source: Source, condition: str) -> tuple[Any, ...] | None:
    """Return the first row under a condition: its place from 1, query, doc and number."""
    found = session.rows(
        "SELECT row, query, doc, number FROM "
        f"(SELECT row_number() OVER () AS row, * FROM ({source.select})) WHERE {condition} LIMIT 1"
    )
    return found[0] if found else None
