"""Keys of several columns: a table gets a column that joins them."""

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from gainful.errors import InputError
from gainful.rows.duckdb_engine import Session, name_quoted
from gainful.rows.files import LocalFile, is_address, path_of
from gainful.rows.parquet_and_frame_tables import readable, table_or_text
from gainful.rows.stored_tables import connected, stored_table

_JOINT = "/"


def joined_columns(names: Iterable[str]) -> list[str]:
    """Return those names that list several columns, whose values together are one key.

    >>> joined_columns(["day,query_id", "doc"])
    ['day,query_id']
    """
    return [name for name in names if "," in name]


def with_joined_columns(given: Any, names: Sequence[str], session: Session) -> Any:
    """Return a table with a column for each list of names, whose cells join those of the listed columns.

    The input itself is returned if it isn't a table, has a column of that name, or lacks one that is listed.
    """
    table = _as_relation(given, session)
    if table is None:
        return given
    parts = {name: [part.strip() for part in name.split(",")] for name in names}
    parts = {name: some for name, some in parts.items() if name not in table.columns}
    listed = dict.fromkeys(chain.from_iterable(parts.values()))
    if not parts or not {*listed} <= {*table.columns}:
        return given
    as_text = {part: f"CAST({name_quoted(part)} AS VARCHAR)" for part in listed}
    ambiguous = ", ".join(f"bool_or(contains({text}, '{_JOINT}'))" for text in as_text.values())
    for part, found in zip(
        listed, table.query("rows", f"SELECT {ambiguous} FROM rows").fetchall()[0], strict=True
    ):
        if found:
            expected = f"values without {_JOINT!r}, which separates the columns of a key"
            raise InputError(
                f"column {part!r}", expected, "one with it", "Replace it by another character."
            )
    joined = (
        f" || '{_JOINT}' || ".join(as_text[part] for part in some) + f" AS {name_quoted(name)}"
        for name, some in parts.items()
    )
    return table.query("rows", f"SELECT *, {', '.join(joined)} FROM rows")


def _as_relation(given: Any, session: Session) -> Any:
    """Return a file, an address or a frame as a relation of DuckDB, whose text files have only texts; else None."""
    connection = connected()
    if not isinstance(given, str | os.PathLike):
        frame = None if isinstance(given, list | tuple) else readable(given, "the table")
        return None if frame is None else connection.register("given", frame).sql("FROM given")
    name = path_of(given)
    if is_address(name):
        table = stored_table(name)
        return table if hasattr(table, "query") else _as_relation(table, session)
    opened = table_or_text(name, session)
    if not isinstance(opened, LocalFile):
        return connection.sql(f"SELECT * {opened.relation}")
    with opened.path.open("rb") as file:
        is_json = file.read(1) in (b"{", b"[")
    return None if is_json else connection.read_csv(str(opened.path), all_varchar=True, header=True)
