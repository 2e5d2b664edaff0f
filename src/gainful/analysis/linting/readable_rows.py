"""Readable and unreadable rows of judgments and runs, as tables on the engine."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gainful.analysis.linting.looks import CheckedTable
from gainful.errors import InputError
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.input import BadRow, Input
from gainful.rows.duckdb_engine import EngineError, Session
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.table_source import (
    Source,
    TextState,
    guarded,
    is_whole,
    read_into,
    ready,
    stored_rows,
)
from gainful.rows.text_formats import Row

_KNOWN = "query IS NOT NULL AND doc IS NOT NULL"
_FINITE = "coalesce(isfinite(number), false)"
UNREADABLE, NOT_FINITE = "unreadable-row", "not-finite"


@dataclass(frozen=True, slots=True)
class UnreadRows:
    """Unreadable rows of an input: the rule, the number of rows, the first one, and a remedy."""

    rule: str
    count: int
    first: BadRow
    remedy: str = ""


def check_input(
    session: Session, opened: Input, name: str, cutoff: int
) -> tuple[CheckedTable, list[UnreadRows]]:
    """Read judgments or a run; input that the engine cannot read is read row by row."""
    source = opened.table_to_check()
    if source is not None:
        return _check_table(session, opened, source, name, cutoff)
    table, unread = _by_row(session, opened, name, cutoff)
    answered = opened.kind.name == RUN.name and opened.bare_queries()  # with empty lists
    if not table.size and not unread and not answered:
        raise InputError(name, opened.kind.least, "none")
    return table, unread


def _check_table(
    session: Session, opened: Input, source: Source, name: str, cutoff: int
) -> tuple[CheckedTable, list[UnreadRows]]:
    if not source.lines:
        return _by_engine(session, source, name, cutoff)
    raw: str | None = session.name("checked")
    try:
        source = ready(source, session)
        # Not `read_into`, which would scan the rows to locate the first bad one.
        select = _select(ranked=_has_ranks(session, source)).format(rows=f"({source.select})")
        count = session.rows(f"CREATE TEMP TABLE {raw} AS {select}")[0][0]
        if not is_whole(source, count):
            raise InputError(source.name, f"{source.rows} rows", f"{count}")
    except (EngineError, InputError):
        table, unread = _by_row(session, opened, name, cutoff, source=source)
        if unread:
            return table, unread
        raw = None  # the rows are fine; let the engine read them again and report the error
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
    """Check a table; `raw` is the name of its copy on the engine, if there is one."""
    view = session.name("rows")
    ranked = _has_ranks(session, source)
    select = _select(ranked=ranked)
    if raw is None:
        raw = session.name("checked")
        if source.rescans:
            # Input that is cheap to read again isn't copied; its rows have no numbers.
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
        # If no white space had to be normalised, each line is a row.
        by_line=source.layout.format == "trec" and source.state is TextState.AS_THEY_ARE,
    )
    return checked, _bad_rows(session, checked, numbered) if good < size else []


def _bad_rows(session: Session, table: CheckedTable, numbered: str) -> list[UnreadRows]:
    """Describe the rows of a table without an id or a finite number."""
    unread = []
    for bad, rule in (
        (f"NOT ({_KNOWN})", UNREADABLE),
        (f"{_KNOWN} AND NOT {_FINITE}", NOT_FINITE),
    ):
        bad_rows = session.rows(
            f"SELECT count(*) OVER (), row, query, doc, number FROM ({numbered}) WHERE {bad} "
            "ORDER BY row, query, doc LIMIT 1"
        )
        for count, row, query, doc, number in bad_rows:
            named = query is not None and doc is not None
            example = (
                f"{'nothing' if number is None else table.kind.turned(number)} as {table.kind.number}"
                if named
                else f"no id as {'query' if query is None else 'doc'}"
            )
            unread.append(UnreadRows(rule, count, BadRow(row, query, doc, example)))
    return unread


def _by_row(
    session: Session, opened: Input, name: str, cutoff: int, *, source: Source | None = None
) -> tuple[CheckedTable, list[UnreadRows]]:
    """Read an input row by row: good rows go into a table, bad ones are counted."""
    unread: dict[str, UnreadRows] = {}

    def good() -> Iterator[Row]:
        for entry in opened.rows_to_check(name):
            if isinstance(entry, Row):
                yield entry
                continue
            rule = NOT_FINITE if entry.is_number else UNREADABLE
            rows = unread.get(rule, UnreadRows(rule, 0, entry))
            unread[rule] = replace(rows, count=rows.count + 1, remedy=rows.remedy or entry.remedy)

    table, size = stored_rows(session, good(), "rows", "number + 0.0")
    groups = _grouped(session, table, cutoff)
    if bare := opened.bare_queries():
        listed = session.register("bare", {"query": np.array(bare, object)})
        session.execute(f"INSERT INTO {groups} (query, n) SELECT query, 0 FROM {listed}")
        session.connection.unregister(listed)
    file, layout = (None, None) if source is None else (source.file, source.layout)
    checked = CheckedTable(
        name,
        opened.kind,
        table,
        groups,
        size,
        opened.kind is RUN and layout is not None and layout.rank is not None,
        (groups, table),
        name if source is None else source.name,
        file,
        layout,
        by_line=file is not None,
    )
    if size:  # if other rows are readable, the remedy for one row is only a guess
        return checked, [replace(rows, remedy="") for rows in unread.values()]
    return checked, [*unread.values()]


def folded(session: Session, run: CheckedTable, chunks: Chunks, cutoff: int) -> CheckedTable:
    """Turn a run of chunks into a run of documents, each with its highest score and its first row."""
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


def _grouped(session: Session, table: str, cutoff: int) -> str:
    groups = session.name("groups")
    session.execute(
        f"CREATE TEMP TABLE {groups} AS SELECT query, count(*) AS n, min(number) AS low, "
        f"max(number) AS high, min(row) AS first, max(number, {cutoff + 1}) AS top "
        f"FROM {table} GROUP BY query"
    )
    return groups
