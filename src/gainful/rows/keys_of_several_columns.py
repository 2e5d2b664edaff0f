"""Keys of several columns: a table gets a column that joins them."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from gainful.errors import InputError
from gainful.rows.duckdb_engine import Session, name_quoted
from gainful.rows.files import LocalFile, is_address, path_of
from gainful.rows.nested_json import read_json
from gainful.rows.parquet_and_frame_tables import readable, table_or_text
from gainful.rows.spark_frames import SparkText, functions, is_spark
from gainful.rows.stored_tables import connected, stored_table

_JOINT = "/"


def joined_columns(names: Iterable[object]) -> list[str]:
    """Return those names that list several columns, whose values together are one key.

    >>> joined_columns(["day,query_id", "doc"])
    ['day,query_id']
    """
    return [name for name in names if isinstance(name, str) and "," in name]


def key_of_several(role: str, columns: Mapping[str, str]) -> str | None:
    """Return the several columns that the caller joins for queries or documents; None for a single one.

    >>> key_of_several("query", {"run.query": "day,query_id", "doc": "sku"})
    'day,query_id'
    """
    names = (columns.get(f"{prefix}{role}") or "" for prefix in ("", "judgments.", "run."))
    return next(iter(joined_columns(names)), None)


def columns_of_key(name: str) -> list[str]:
    """Return the columns that are joined.

    >>> columns_of_key("day, query_id")
    ['day', 'query_id']
    """
    return [part.strip() for part in name.split(",")]


def with_joined_columns(given: Any, names: Sequence[str], session: Session) -> Any:
    """Return a table with a column for each list of names, whose cells join those of the listed columns.

    The input itself is returned if it isn't a table, has a column of that name, or lacks one that is listed.
    """
    import duckdb

    if is_spark(given):
        return _joined_on_spark(given, names)
    try:
        table = _as_table(given, session)
        if isinstance(table, list):
            return _joined_records(given, table, names)
        if table is None:
            return given
        keys = keys_in_sql(
            names, table.columns, lambda sql: table.query("rows", f"{sql} FROM rows").fetchall()
        )
        return table.query("rows", f"SELECT *, {keys} FROM rows") if keys else given
    except duckdb.Error:  # the reader of the table reports what is wrong with it
        return given


def keys_in_sql(
    names: Sequence[str], columns: Iterable[str], rows: Callable[[str], list[tuple[Any, ...]]]
) -> str:
    """Return SQL for the columns that join others; empty if none can be made of a table.

    Args:
        names: the lists of columns.
        columns: the columns of the table.
        rows: runs a SELECT, without FROM, on the table.
    """
    parts = _parts(names, columns)
    listed = dict.fromkeys(chain.from_iterable(parts.values()))
    if not listed:
        return ""
    text = {part: f"CAST({name_quoted(part)} AS VARCHAR)" for part in listed}
    ambiguous = ", ".join(f"bool_or(contains({each}, '{_JOINT}'))" for each in text.values())
    for part, is_ambiguous in zip(listed, rows(f"SELECT {ambiguous}")[0], strict=True):
        if is_ambiguous:
            raise _ambiguous(part)
    return ", ".join(
        f" || '{_JOINT}' || ".join(text[part] for part in some) + f" AS {name_quoted(name)}"
        for name, some in parts.items()
    )


def _parts(names: Sequence[str], columns: Iterable[str]) -> dict[str, list[str]]:
    """Return the columns to join, by the name of the new column."""
    known = {*columns}
    parts = {name: columns_of_key(name) for name in names if name not in known}
    return parts if {*chain.from_iterable(parts.values())} <= known else {}


def _ambiguous(part: str) -> InputError:
    expected = f"values without {_JOINT!r}, which separates the columns of a key"
    remedy = "Replace it by another character."
    return InputError(f"column {part!r}", expected, "one with it", remedy)


def _joined_on_spark(given: Any, names: Sequence[str]) -> Any:
    """Return a Spark data frame with the keys that join others, which Spark computes; Spark's text files as they are."""
    if isinstance(given, SparkText):
        return given
    sql = functions()
    for name, some in _parts(names, given.columns).items():
        key = None
        for part in some:
            cell = given[f"`{part.replace('`', '``')}`"].cast("string")
            error = sql.raise_error(sql.lit(str(_ambiguous(part)))).cast("string")
            checked = sql.when(cell.contains(_JOINT), error).otherwise(cell)
            key = checked if key is None else sql.concat(key, sql.lit(_JOINT), checked)
        given = given.withColumn(name, key)
    return given


def _joined_records(given: Any, records: list[Any], names: Sequence[str]) -> Any:
    """Return records with the keys that join others."""
    if not records or not all(isinstance(record, Mapping) for record in records):
        return given
    parts = _parts(names, records[0])
    joined = []
    for record in records:
        keys = {}
        for name, some in parts.items():
            cells = [record.get(part) for part in some]
            for part, cell in zip(some, cells, strict=True):
                if _JOINT in str(cell):
                    raise _ambiguous(part)
            keys[name] = None if None in cells else _JOINT.join(map(str, cells))
        joined.append({**record, **keys})
    return joined if parts else given


def _as_table(given: Any, session: Session) -> Any:
    """Return a file, an address or a frame as a relation of DuckDB, whose text files have only texts, or as records; else None."""
    connection = connected()
    if isinstance(given, list | tuple):
        return [*given]
    if not isinstance(given, str | os.PathLike):
        frame = readable(given, "the table")
        return None if frame is None else connection.register("given", frame).sql("FROM given")
    name = path_of(given)
    if is_address(name):
        table = stored_table(name)
        return table if hasattr(table, "query") else _as_table(table, session)
    opened = table_or_text(name, session)
    if not isinstance(opened, LocalFile):
        return connection.sql(f"SELECT * {opened.relation}")
    with opened.path.open("rb") as file:
        is_json = file.read(1) in (b"{", b"[")
    if is_json:
        value = read_json(opened)
        return value if isinstance(value, list) else None
    rows = connection.read_csv(str(opened.path), all_varchar=True, header=True)
    if opened.holder is None:
        return rows
    rows.create("kept")  # the copy of standard input is removed
    return connection.table("kept")
