"""A table of cells → a file, in every format that tables are rendered in, and Parquet."""

import os

import numpy as np

from gainful.inputs.engine import Columns, Session, name_quoted
from gainful.rendering.table import WRITERS, Cell, Table
from gainful.writing.copying import copy
from gainful.writing.naming import TABLES, read_naming
from gainful.writing.packing import write_parts
from gainful.writing.replacing import replacing


def write_table(
    table: Table,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the vocabulary
) -> None:
    """Write a table to a file, in the format that is asked for or that the name tells."""
    naming = read_naming(path, format, TABLES)
    if naming.format == "parquet":
        with Session() as session:
            select = _select(table, session)
            with replacing(path) as file:
                copy(session, select, file, naming)
        return
    text = f"{WRITERS[naming.format](table)}\n"
    write_parts([text.encode(errors="surrogateescape")], path, naming.packing)


def _select(table: Table, session: Session) -> str:
    """Hand the cells to the engine, numbers as float64, what is missing as null."""
    columns: Columns = {}
    selected = []
    for place, (name, numeric) in enumerate(zip(table.columns, table.numeric(), strict=True)):
        cells: list[Cell] = [row[place] for row in table.rows]
        known = np.array([cell is not None for cell in cells])
        columns[f"known{place}"] = known
        columns[f"cell{place}"] = (
            np.array([cell if cell is not None else np.nan for cell in cells], np.float64)
            if numeric
            else np.array([str(cell) for cell in cells], object)
        )
        # The engine takes what is not a number for missing; only what is None is.
        cell = f"coalesce(cell{place}, 'nan'::DOUBLE)" if numeric else f"cell{place}"
        selected.append(f"CASE WHEN known{place} THEN {cell} END AS {name_quoted(name)}")
    return f"SELECT {', '.join(selected)} FROM {session.register('cells', columns)}"
