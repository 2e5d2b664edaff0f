"""Writes tables to files: the results of the engine, and the cells of a rendered table."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from gainful.array_types import AnyArray
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shown
from gainful.output.rendering.table_formats import SCREEN, WRITERS, Table, as_text
from gainful.output.writing.output_files import (
    PACKINGS,
    TABLES,
    FileFormat,
    new_folder,
    parts_of,
    read_naming,
    replacing,
    write_parts,
)
from gainful.rows.duckdb_engine import (
    Columns,
    EngineError,
    Session,
    file_quoted,
    name_quoted,
    quoted,
    reason_of,
)
from gainful.rows.identifiers import IdType
from gainful.rows.temporary_files import no_room

_OPTIONS: Mapping[str, str] = {
    "trec": "FORMAT csv, DELIMITER ' ', HEADER false, QUOTE '', ESCAPE ''",
    "csv": "FORMAT csv, DELIMITER ',', HEADER true",
    "tsv": "FORMAT csv, DELIMITER '\t', HEADER true",
    "jsonl": "FORMAT json",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}
_NO_TYPES: Mapping[str, IdType] = MappingProxyType({})


def copy(session: Session, select: str, file: Path, naming: FileFormat) -> None:
    """Write what a SELECT finds to a file; raise OSError where it cannot be written."""
    if not naming.packing:
        _copy(session, select, file, naming.format)
        return
    plain = copied_aside(session, select, naming.format)
    with file.open("wb") as packed:
        packed.writelines(PACKINGS[naming.packing](parts_of(plain)))
    plain.unlink()


def _copy(session: Session, select: str, file: Path, format: str) -> None:  # noqa: A002
    session.prepare_writing()
    try:
        session.execute(
            f"COPY ({select}) TO {file_quoted(file, session)} "
            f"({_OPTIONS[format]}, USE_TMP_FILE false)"
        )
    except EngineError as problem:
        raise OSError(None, reason_of(problem)) from None


def copied_aside(session: Session, select: str, format: str) -> Path:  # noqa: A002
    """Write what a SELECT finds to a temporary file, and return its path."""
    file = session.folder / session.name("plain")
    try:
        _copy(session, select, file, format)
    except OSError as problem:
        raise no_room(problem.strerror) from None
    return file


def write_table(
    table: Table,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the vocabulary
    id_types: Mapping[str, IdType] = _NO_TYPES,
    partition_by: Sequence[str] = (),
) -> None:
    """Write a table to a file, in the requested format or the format of its ending.

    In Parquet, the only format with types, columns of ids have their original types. With `partition_by`, it
    is a folder of Parquet files, with a subfolder for each value of these columns.
    """
    if partition_by:
        _refuse_columns(table, partition_by)
        with Session() as session, new_folder(path) as folder:
            session.prepare_writing()
            by = ", ".join(map(name_quoted, partition_by))
            options = f"{_OPTIONS['parquet']}, PARTITION_BY ({by}), OVERWRITE_OR_IGNORE"
            select, target = _select(table, session, id_types), quoted(str(folder))
            try:
                session.execute(f"COPY ({select}) TO {target} ({options})")
            except EngineError as problem:
                raise OSError(None, reason_of(problem)) from None
        return
    naming = read_naming(path, format, TABLES)
    if naming.format == "parquet":
        with Session() as session:
            select = _select(table, session, id_types)
            with replacing(path) as file:
                copy(session, select, file, naming)
        return
    if naming.format == "table":
        text = f"{as_text(table, width=SCREEN, verbose=True)}\n"
    else:
        text = f"{WRITERS[naming.format](table)}\n"
    write_parts([text.encode(errors="surrogateescape")], path, naming.packing)


def _refuse_columns(table: Table, partition_by: Sequence[str]) -> None:
    """Reject columns that a folder cannot be partitioned by."""
    for column in partition_by:
        if column not in table.columns:
            known = did_you_mean(column, table.columns)
            raise InputError("partition_by", "columns of the table", shown(column), known)
    if {*partition_by} == {*table.columns}:
        raise InputError("partition_by", "at least one column for the files", "all columns")


def _select(table: Table, session: Session, id_types: Mapping[str, IdType]) -> str:
    """Pass the cells to the engine, with numbers as int64 or float64 and missing values as null."""
    columns: Columns = {}
    selected = []
    cells_of = table.columns_by_name()
    for place, (name, numeric) in enumerate(zip(table.columns, table.numeric(), strict=True)):
        cells = cells_of[name]
        present = np.array([cell is not None for cell in cells])
        columns[f"known{place}"] = present
        columns[f"cell{place}"] = (
            _numbers(cells) if numeric else np.array([*map(str, cells)], object)
        )
        # The engine treats NaN as missing, but only None is.
        has_nan = columns[f"cell{place}"].dtype.kind == "f"
        cell = f"coalesce(cell{place}, 'nan'::DOUBLE)" if has_nan else f"cell{place}"
        if name in id_types and not numeric:
            texts = [None if cell is None else str(cell) for cell in cells]
            cell = f"CAST({cell} AS {id_types[name].engine_type(texts)})"
        selected.append(f"CASE WHEN known{place} THEN {cell} END AS {name_quoted(name)}")
    return f"SELECT {', '.join(selected)} FROM {session.register('cells', columns)}"


def _numbers(cells: Sequence[Any]) -> AnyArray:
    """Return the numbers of a column, with any number for missing ones: integers if all are integers that fit."""
    present = [cell for cell in cells if cell is not None]
    if present and all(type(cell) is int and -(2**63) <= cell < 2**63 for cell in present):
        return np.array([0 if cell is None else cell for cell in cells], np.int64)
    return np.array([np.nan if cell is None else cell for cell in cells], np.float64)
