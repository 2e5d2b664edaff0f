"""Readable and unreadable rows of judgments and runs: tables on the engine, and findings."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gainful.analysis.linting.looks import CheckedTable, Draft, RuledDraft
from gainful.errors import InputError
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.input import BadRow, Input
from gainful.message_texts import counted
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


def check_input(
    session: Session, opened: Input, name: str, cutoff: int
) -> tuple[CheckedTable, list[RuledDraft]]:
    """Read judgments or a run; text that the engine can't read is read row by row."""
    source = opened.table_to_check()
    if source is not None and not source.lines:
        return _by_engine(session, source, name, cutoff)
    if source is not None:
        with suppress(EngineError, InputError):  # reading row by row finds all bad rows
            return _by_engine(session, ready(source, session), name, cutoff)
    checked, drafts = _by_row(session, opened, name, cutoff, source)
    only_empty_lists = opened.kind.name == RUN.name and opened.bare_queries()
    if not (checked.size or drafts or only_empty_lists):
        raise InputError(checked.source, opened.kind.least, "none")
    return checked, drafts


def _by_engine(
    session: Session, source: Source, name: str, cutoff: int
) -> tuple[CheckedTable, list[RuledDraft]]:
    raw, view = session.name("checked"), session.name("rows")
    columns = guarded(session, source, f"SELECT * FROM ({source.select}) LIMIT 0")
    ranked = source.kind is RUN and "rank" in columns
    rank = "rank" if ranked else "CAST(NULL AS DOUBLE) AS rank"
    select = f"SELECT query, doc, number + 0.0 AS number, {rank} FROM {{rows}}"
    of_source = select.format(rows=f"({source.select})")
    if source.rescans:
        # Input that is cheap to read again isn't copied; its rows have no numbers.
        session.execute(f"CREATE TEMP VIEW {raw} AS {of_source}")
    elif not source.lines:
        read_into(session, source, raw, select)
    else:
        count = session.rows(f"CREATE TEMP TABLE {raw} AS {of_source}")[0][0]
        if not is_whole(source, count):
            raise InputError(source.name, f"{source.rows} rows", f"{count}")
    counts = f"SELECT count(*) AS n, count_if({_KNOWN} AND {_FINITE}) AS good FROM {raw}"
    size, good = (int(column[0]) for column in guarded(session, source, counts).values())
    if not size:
        raise InputError(source.name, source.kind.least, "none")
    numbered = f"SELECT *, {0 if source.rescans else 'rowid + 1'} AS row FROM {raw}"
    keep = f" WHERE {_KNOWN} AND {_FINITE}" if good < size else ""
    session.execute(f"CREATE TEMP VIEW {view} AS SELECT * FROM ({numbered}){keep}")
    groups = _grouped(session, view, cutoff)
    checked = CheckedTable(
        name,
        source.kind,
        view,
        groups,
        good,
        ranked,
        (groups,) if source.rescans else (groups, raw),
        source.name,
        source.file if source.lines else None,
        source.layout if source.lines else None,
        # If no white space had to be normalised, each line is a row.
        by_line=source.layout.format == "trec" and source.state is TextState.AS_THEY_ARE,
    )
    return checked, [*_bad_rows(session, checked, numbered)] if good < size else []


def _bad_rows(session: Session, table: CheckedTable, numbered: str) -> Iterator[RuledDraft]:
    """Yield findings for the rows of a table without an id or a finite number."""
    for rule, condition in (
        (UNREADABLE, f"NOT ({_KNOWN})"),
        (NOT_FINITE, f"{_KNOWN} AND NOT {_FINITE}"),
    ):
        bad_rows = session.rows(
            "SELECT count(*) OVER (), row, query, doc, number "
            f"FROM ({numbered}) WHERE {condition} ORDER BY row, query, doc LIMIT 1"
        )
        for count, row, query, doc, number in bad_rows:
            problem = f"no id as {'query' if query is None else 'doc'}"
            if rule == NOT_FINITE:
                written = "nothing" if number is None else table.kind.turned(number)
                problem = f"{written} as {table.kind.number}"
            yield _finding(table, rule, count, BadRow(row, query, doc, problem))


def _finding(
    table: CheckedTable, rule: str, count: int, first: BadRow, remedy: str = ""
) -> RuledDraft:
    problem = "cannot be read" if rule == UNREADABLE else f"without a finite {table.kind.number}"
    message = f"{counted(count, 'row')} {problem}"
    place = first.query, first.doc, first.row
    return rule, Draft(table, count, message, first.found, *place, remedy)


def _by_row(
    session: Session, opened: Input, name: str, cutoff: int, source: Source | None
) -> tuple[CheckedTable, list[RuledDraft]]:
    """Read an input row by row: good rows are stored in a table, bad ones are counted."""
    counts: Counter[str] = Counter()
    first: dict[str, BadRow] = {}
    remedies: dict[str, str] = {}

    def good_rows() -> Iterator[Row]:
        for entry in opened.rows_to_check(name):
            if isinstance(entry, Row):
                yield entry
                continue
            rule = NOT_FINITE if entry.is_number else UNREADABLE
            counts[rule] += 1
            first.setdefault(rule, entry)
            remedies[rule] = remedies.get(rule) or entry.remedy

    table, size = stored_rows(session, good_rows(), "rows", "number + 0.0")
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
        remedies.clear()
    return checked, [
        _finding(checked, rule, counts[rule], row, remedies.get(rule, ""))
        for rule, row in first.items()
    ]


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
