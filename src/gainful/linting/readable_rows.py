"""Judgments and runs as tables on the engine: the rows that can be read, and those that cannot."""

from dataclasses import dataclass, replace

import numpy as np

from gainful.errors import InputError
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.faulty_rows import Row
from gainful.inputs.files import LocalFile
from gainful.inputs.format_detection import Layout
from gainful.inputs.grades_scores_or_ranks import RUN, Kind
from gainful.inputs.table_source import Source, TextState, guarded, is_whole, read_into, ready
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.input import BadRow, Input

_BATCH = 1 << 17
_KNOWN = "query IS NOT NULL AND doc IS NOT NULL"
_FINITE = "coalesce(isfinite(number), false)"
UNREADABLE, NOT_FINITE = "unreadable-row", "not-finite"


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """The good rows of judgments or of a run.

    Attributes:
        name: judgments, or the name of the run.
        kind: which of the two.
        table: with the columns query, doc, number, rank and row.
        groups: a table with a row for each query: query, n (rows), low and high (numbers),
            first (row), and top (the highest numbers, one more than the cutoff). A query that is
            there without documents has n = 0, and nothing else.
        size: how many rows there are.
        ranked: whether there is a column of ranks.
        stored: the tables that can be dropped.
        source: what messages call the file.
        file: the text, where there is one.
        layout: how it is written.
        by_line: whether the rows have the numbers of their lines; else they are counted from 1.
    """

    name: str
    kind: Kind
    table: str
    groups: str
    size: int
    ranked: bool
    stored: tuple[str, ...]
    source: str
    file: LocalFile | None = None
    layout: Layout | None = None
    by_line: bool = False


@dataclass(frozen=True, slots=True)
class UnreadRows:
    """Rows of an input that cannot be read: by which rule, how many, the first, and what to do."""

    rule: str
    count: int
    first: BadRow
    remedy: str = ""


def check_input(
    session: Session, opened: Input, name: str, cutoff: int
) -> tuple[CheckedTable, list[UnreadRows]]:
    """Read judgments or a run; what the engine cannot read is read row by row."""
    source = opened.table_to_check()
    if source is not None:
        return _check_table(session, opened, source, name, cutoff)
    table, unread = _by_row(session, opened, name, cutoff)
    answered = opened.kind.name == RUN.name and opened.bare_queries()  # with nothing
    if not table.size and not unread and not answered:
        raise InputError(name, opened.kind.least, "none")
    return table, unread


def _check_table(
    session: Session, opened: Input, source: Source, name: str, cutoff: int
) -> tuple[CheckedTable, list[UnreadRows]]:
    import duckdb

    if not source.lines:
        return _by_engine(session, source, name, cutoff)
    raw: str | None = session.name("checked")
    try:
        source = ready(source, session)
        # Not by `read_into`, which would go through the rows to say where the first bad one stands.
        select = _select(ranked=_has_ranks(session, source)).format(rows=f"({source.select})")
        count = session.rows(f"CREATE TEMP TABLE {raw} AS {select}")[0][0]
        if not is_whole(source, count):
            raise InputError(source.name, f"{source.rows} rows", f"{count}")
    except (duckdb.Error, UnicodeError, InputError):
        table, unread = _by_row(session, opened, name, cutoff, source=source)
        if unread:
            return table, unread
        raw = None  # the rows are fine: the engine reads them again, and says what is wrong
    return _by_engine(session, ready(source, session), name, cutoff, raw)


def _has_ranks(session: Session, source: Source) -> bool:
    return source.kind is RUN and "rank" in guarded(
        session, source, f"SELECT * FROM ({source.select}) LIMIT 0"
    )


def _select(*, ranked: bool) -> str:
    rank = "rank" if ranked else "CAST(NULL AS DOUBLE) AS rank"
    return f"SELECT query, doc, number + 0.0 AS number, {rank} FROM {{rows}}"


def _by_engine(
    session: Session, source: Source, name: str, cutoff: int, raw: str | None = None
) -> tuple[CheckedTable, list[UnreadRows]]:
    """Look at a table; `raw` names a copy of it on the engine, if there is one."""
    view = session.name("rows")
    ranked = _has_ranks(session, source)
    select = _select(ranked=ranked)
    if raw is None:
        raw = session.name("checked")
        if source.rescans:
            # What costs little to read again stays where it is; its rows have no numbers.
            rows = f"({source.select})"
            session.execute(f"CREATE TEMP VIEW {raw} AS {select.format(rows=rows)}")
        else:
            read_into(session, source, raw, select)
    looked = guarded(
        session,
        source,
        f"SELECT count(*) AS n, count_if({_KNOWN} AND {_FINITE}) AS good FROM {raw}",
    )
    size, good = int(looked["n"][0]), int(looked["good"][0])
    if not size:
        raise InputError(source.name, source.kind.least, "none")
    numbered = f"SELECT *, {0 if source.rescans else 'rowid + 1'} AS row FROM {raw}"
    keep = f" WHERE {_KNOWN} AND {_FINITE}" if good < size else ""
    session.execute(f"CREATE TEMP VIEW {view} AS SELECT * FROM ({numbered}){keep}")
    groups = _grouped(session, view, cutoff)
    text = source.lines
    checked = CheckedTable(
        name,
        source.kind,
        view,
        groups,
        good,
        ranked,
        (groups,) if source.rescans else (groups, raw),
        source.name,
        source.file if text else None,
        source.layout if text else None,
        # Where no white space had to be put in order, each line is a row.
        by_line=source.layout.format == "trec" and source.state is TextState.AS_THEY_ARE,
    )
    return checked, _bad_rows(session, checked, numbered) if good < size else []


def _bad_rows(session: Session, table: CheckedTable, numbered: str) -> list[UnreadRows]:
    """Describe the rows of a table that have no id, or no finite number."""
    unread = []
    for bad, rule in (
        (f"NOT ({_KNOWN})", UNREADABLE),
        (f"{_KNOWN} AND NOT {_FINITE}", NOT_FINITE),
    ):
        found = session.rows(
            f"SELECT count(*) OVER (), row, query, doc, number FROM ({numbered}) WHERE {bad} "
            "ORDER BY row, query, doc LIMIT 1"
        )
        for count, row, query, doc, number in found:
            known = query is not None and doc is not None
            example = (
                f"{'nothing' if number is None else table.kind.turned(number)} as {table.kind.number}"
                if known
                else f"no id as {'query' if query is None else 'doc'}"
            )
            unread.append(UnreadRows(rule, count, BadRow(row, query, doc, example)))
    return unread


def _by_row(
    session: Session, opened: Input, name: str, cutoff: int, *, source: Source | None = None
) -> tuple[CheckedTable, list[UnreadRows]]:
    """Read an input row by row: good rows go into a table, bad ones are counted."""
    kind = opened.kind
    table = session.name("rows")
    session.execute(
        f"CREATE TEMP TABLE {table} "
        "(query VARCHAR, doc VARCHAR, number DOUBLE, rank DOUBLE, row BIGINT)"
    )
    first: dict[str, BadRow] = {}
    counts: dict[str, int] = {}
    batch: list[Row] = []
    remedies: dict[str, str] = {}
    size = 0
    for entry in opened.rows_to_check(name):
        if isinstance(entry, Row):
            batch.append(entry)
            size += 1
            if len(batch) == _BATCH:
                _insert(session, table, batch)
                batch.clear()
        else:
            rule = NOT_FINITE if entry.is_number else UNREADABLE
            first.setdefault(rule, entry)
            counts[rule] = counts.get(rule, 0) + 1
            if entry.remedy:
                remedies.setdefault(rule, entry.remedy)
    if batch:
        _insert(session, table, batch)
    ranked = kind is RUN and source is not None and source.layout.rank is not None
    groups = _grouped(session, table, cutoff)
    if bare := opened.bare_queries():
        listed = session.register("bare", {"query": np.array(bare, object)})
        session.execute(f"INSERT INTO {groups} (query, n) SELECT query, 0 FROM {listed}")
        session.connection.unregister(listed)
    file = None if source is None else source.file
    checked = CheckedTable(
        name,
        kind,
        table,
        groups,
        size,
        ranked,
        (groups, table),
        name if source is None else source.name,
        file,
        None if source is None else source.layout,
        by_line=file is not None,
    )
    if size:
        remedies.clear()  # where other rows can be read, the advice for one row is only a guess
    return checked, [
        UnreadRows(rule, counts[rule], entry, remedies.get(rule, ""))
        for rule, entry in first.items()
    ]


def folded(session: Session, run: CheckedTable, chunks: Chunks, cutoff: int) -> CheckedTable:
    """Return a run of chunks as one of documents, each with its highest score, at its first row."""
    table = session.name("folded")
    session.execute(
        f"CREATE TEMP TABLE {table} AS SELECT query, document AS doc, max(number) AS number, "
        f"CAST(NULL AS DOUBLE) AS rank, min(row) AS row FROM ({chunks.sql(session, run.table)}) "
        "GROUP BY query, document"
    )
    groups = _grouped(session, table, cutoff)
    session.execute(
        f"INSERT INTO {groups} (query, n) SELECT query, 0 FROM {run.groups} WHERE n = 0"
    )
    return replace(run, table=table, groups=groups, ranked=False, stored=(groups, table))


def _insert(session: Session, table: str, batch: list[Row]) -> None:
    name = session.register(
        "batch",
        {
            "query": np.array([row.query for row in batch], object),
            "doc": np.array([row.doc for row in batch], object),
            "number": np.array([row.number for row in batch], np.float64),
            "rank": np.array([row.rank or "" for row in batch], object),
            "row": np.array([row.line for row in batch], np.int64),
        },
    )
    session.execute(
        f"INSERT INTO {table} SELECT query, doc, number + 0.0, TRY_CAST(rank AS DOUBLE), row "
        f"FROM {name}"
    )
    session.connection.unregister(name)


def _grouped(session: Session, table: str, cutoff: int) -> str:
    groups = session.name("groups")
    session.execute(
        f"CREATE TEMP TABLE {groups} AS SELECT query, count(*) AS n, min(number) AS low, "
        f"max(number) AS high, min(row) AS first, max(number, {cutoff + 1}) AS top "
        f"FROM {table} GROUP BY query"
    )
    return groups
