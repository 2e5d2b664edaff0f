"""The rows of tables in which each belongs to a part of its query, such as a subtopic.

They are few beside those of a run, so they are read one by one, and an error says where.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from gainful.errors import InputError
from gainful.inputs.engine import Session
from gainful.inputs.rows import Fault, rows
from gainful.inputs.source import Source
from gainful.inputs.sources import read_into


class Part(NamedTuple):
    """A row, with the place that a message names."""

    where: str
    query: str
    part: str
    doc: str
    number: float


def read_parts(source: Source, session: Session) -> Iterator[Part]:
    """Go through the rows of a source whose kind has a part."""
    return _lines(source) if source.lines else _rows(source, session)


def _lines(source: Source) -> Iterator[Part]:
    assert source.file is not None  # noqa: S101 - lines stand in a file
    for row in rows(source.file, source.layout, source.kind):
        if isinstance(row, Fault):
            raise row.error(source.file)
        yield Part(f"{source.name}:{row.line}", row.query, str(row.part), row.doc, row.number)


def _rows(source: Source, session: Session) -> Iterator[Part]:
    kind, table = source.kind, session.name(source.kind.name)
    columns = "query, part, doc, number"
    read_into(session, source, table, f"SELECT {columns} FROM {{rows}}")
    found = session.rows(f"SELECT {columns} FROM {table} ORDER BY rowid")
    for count, (query, part, doc, number) in enumerate(found, 1):
        where = f"{source.name}, row {count}"
        for role, text in (("query", query), (kind.part, part), ("doc", doc)):
            if text is None:
                raise InputError(where, f"an id as {role}", "nothing")
        if number is None or not math.isfinite(number):
            raise InputError(
                f"{where}, query {query!r}, document {doc!r}",
                f"a finite number as {kind.number}",
                "nothing" if number is None else str(number),
            )
        yield Part(where, query, part, doc, number)
