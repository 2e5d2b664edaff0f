"""Text as tables: lines of fields, and lines of JSON."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from gainful.errors import InputError
from gainful.inputs.cleaning import clean, see_lines, see_rows, see_table
from gainful.inputs.columns import kind_of
from gainful.inputs.engine import Session, file_quoted, is_odd_number, name_quoted, quoted, said
from gainful.inputs.files import BYTE_ORDER_MARK, Plain
from gainful.inputs.formats import Layout, json_lines_layout
from gainful.inputs.kinds import Kind
from gainful.inputs.rows import Fault, Row, rows
from gainful.inputs.source import Source, TextState

_BATCH = 1 << 17  # rows that are handed to the engine at a time
_INTEGERS_END = 2.0**63  # integers below −2^63 or from 2^64 on are fractions to the engine


def ready(source: Source, session: Session) -> Source:
    """Return a source that the engine can read: with its white space in order, if it is a TREC file."""
    if source.state is not TextState.UNSEEN or source.file is None:
        return source
    layout, path = source.layout, source.file.path
    trec = layout.format == "trec"
    seen = see_lines(path, layout.delimiter) if trec else see_table(path, layout.delimiter)
    if trec and not seen.usual:
        return cleaned(source, session)
    if seen.long or not seen.usual:
        return row_by_row(source, session)
    select = _text_select(path, layout, source.kind, session)
    count = seen.rows - layout.header
    return replace(source, select=select, state=TextState.AS_THEY_ARE, rows=count)


def cleaned(source: Source, session: Session) -> Source:
    """Return a TREC file with its white space in order."""
    assert source.file is not None  # noqa: S101 - only text is cleaned
    with session.written_aside("cleaned") as (target, file):
        ended = clean(source.file.path, file)
    seen = see_rows(target)
    if seen.long or not ended:
        target.unlink()
        return row_by_row(source, session)
    layout = replace(source.layout, delimiter=" ")
    select = _text_select(target, layout, source.kind, session)
    return replace(source, select=select, state=TextState.CLEANED, rows=seen.rows)


def row_by_row(source: Source, session: Session) -> Source:
    """Read text that the engine may take for something else, or does not read to its end."""
    import duckdb

    assert source.file is not None  # noqa: S101 - only text has lines
    ranked = source.layout.rank is not None
    table = session.name(source.kind.name)
    found = rows(source.file, source.layout, source.kind)
    try:
        session.execute(
            f"CREATE TEMP TABLE {table} (query VARCHAR, doc VARCHAR, number DOUBLE"
            f"{', rank DOUBLE' if ranked else ''})"
        )
        while batch := list(islice(found, _BATCH)):
            _insert(session, table, _good(batch, source.file), ranked=ranked)
    except duckdb.Error as problem:
        expected = f"room for the rows of {source.name}"
        raise InputError("engine", expected, said(problem)) from None
    return replace(source, select=f"FROM {table}", state=TextState.ROW_BY_ROW, rows=None)


def _good(batch: list[Row | Fault], file: Plain) -> list[Row]:
    for row in batch:
        if isinstance(row, Fault):
            raise row.error(file)
    return batch  # type: ignore[return-value]


def _insert(session: Session, table: str, batch: list[Row], *, ranked: bool) -> None:
    columns = {
        "query": np.array([row.query for row in batch], object),
        "doc": np.array([row.doc for row in batch], object),
        "number": np.array([row.number for row in batch], np.float64),
    }
    if ranked:
        columns["rank"] = np.array([row.rank for row in batch], object)
    name = session.register("batch", columns)
    rank = ", TRY_CAST(rank AS DOUBLE)" if ranked else ""
    session.execute(f"INSERT INTO {table} SELECT query, doc, number{rank} FROM {name}")
    session.connection.unregister(name)


def _may_be_odd(path: Path) -> bool:
    """Return whether a file has what makes numbers odd, anywhere: most have not."""
    if not path.stat().st_size:  # which cannot be mapped
        return False
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(b"_") >= 0 or content.find(b"+") >= 0


def _text_select(path: Path, layout: Layout, kind: Kind, session: Session) -> str:
    """Read lines of fields; an empty field is an error, not a value."""
    number = layout.places[2]
    plain = not _may_be_odd(path)
    types = ", ".join(
        f"'f{place}': '{'DOUBLE' if plain and place == number else 'VARCHAR'}'"
        for place in range(len(layout.names))
    )
    mark = "'\"'" if layout.format == "table" else "''"
    # Fields of a clean TREC file cannot be empty.
    empty = " OR ".join(f"f{place} IS NULL" for place in layout.places)
    checked = f" WHERE CASE WHEN {empty} THEN error('an empty field') ELSE true END"
    query, doc = (f"f{place}" for place in layout.places[:2])
    value = f"f{number}"
    if not plain:
        value = (
            f"CAST(CASE WHEN {is_odd_number(value)} THEN 'no number' ELSE {value} END AS DOUBLE)"
        )
    sign = "-" if kind.ascending else ""
    columns = f"{query} AS query, {doc} AS doc, {sign}{value} AS number"
    if layout.rank is not None:
        # For the lint; not read where it is not asked for. Of a bare column, the cast would
        # become one of the reader, which fails on what is no number.
        columns += f", TRY_CAST(nullif(f{layout.rank}, '') AS DOUBLE) AS rank"
    return (
        f"SELECT {columns} FROM read_csv({file_quoted(path, session)}, "
        f"delim={quoted(layout.delimiter)}, quote={mark}, escape={mark}, "
        f"header={str(layout.header).lower()}, skip={layout.skip}, auto_detect=false, compression='none', "
        f"hive_partitioning=false, columns={{{types}}})"
        f"{checked if layout.format == 'table' else ''}"
    )


def json_lines(file: Plain, kind: Kind, columns: Mapping[str, str], session: Session) -> Source:
    """Read an object on each line; an id or a number of another type is an error."""
    file = _without_mark(file, session)
    with file.path.open("rb") as content:
        first = next(line for line in content if line.strip())
    layout = json_lines_layout(first, file.name, kind, columns)
    query, doc, number = (layout.names[place] for place in layout.places)
    kind = kind_of(layout.names, kind, columns)
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
        # What may have been an integer, and is rounded, is for the rows to read, or to refuse.
        f"CASE WHEN json_type({value}) = 'DOUBLE' AND abs(CAST({value} AS DOUBLE)) < {_INTEGERS_END!r} "
        f"OR json_type({value}) IN ('BIGINT', 'UBIGINT') "
        f"AND CAST({value} AS HUGEINT) = CAST(CAST({value} AS DOUBLE) AS HUGEINT) "
        f"THEN {'-' if kind.ascending else ''}CAST({value} AS DOUBLE) ELSE error('no number') END AS number "
        f"FROM read_json({file_quoted(file.path, session)}, format='newline_delimited', "
        "compression='none', hive_partitioning=false, "
        f"columns={{{types}}}, maximum_object_size=268435456)"
    )
    count = see_rows(file.path).rows
    state = TextState.AS_THEY_ARE
    return Source(
        kind, file.name, select, strict=True, file=file, layout=layout, state=state, rows=count
    )


def _without_mark(file: Plain, session: Session) -> Plain:
    """Return a file without a byte order mark, which the engine does not expect in JSON."""
    with file.path.open("rb") as content:
        if content.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            return file
        with session.written_aside("unmarked") as (target, copy):
            shutil.copyfileobj(content, copy)
    return Plain(file.name, target)
