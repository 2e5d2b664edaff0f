"""Rows → a file of a format, by the engine, without a detour through Python."""

from collections.abc import Mapping
from pathlib import Path

from gainful.errors import InputError, shown
from gainful.inputs.engine import Session, file_quoted, quoted, reason_of
from gainful.inputs.files import Plain
from gainful.inputs.formats import recognise
from gainful.inputs.kinds import RUN
from gainful.inputs.temporary import no_room
from gainful.writing.naming import Naming
from gainful.writing.packing import PACKINGS, parts_of
from gainful.writing.rows import Rows

_OPTIONS: Mapping[str, str] = {
    "trec": "FORMAT csv, DELIMITER ' ', HEADER false, QUOTE '', ESCAPE ''",
    "csv": "FORMAT csv, DELIMITER ',', HEADER true",
    "tsv": "FORMAT csv, DELIMITER '\t', HEADER true",
    "jsonl": "FORMAT json",
    "parquet": "FORMAT parquet, COMPRESSION zstd",
}
# How a reader must recognise each: its format and delimiter.
_READ_AS = {
    "trec": ("trec", " "),
    "csv": ("table", ","),
    "tsv": ("table", "\t"),
    "jsonl": ("jsonl", ""),
}
# The shortest text that reads back bit for bit; tools in C read whole grades only.
_WHOLE = "regexp_replace(CAST(number AS VARCHAR), '[.]0$', '')"


def select_of(rows: Rows, format: str, tag: str) -> str:  # noqa: A002 - the word of the vocabulary
    """Return SQL with the fields of a line, or the columns."""
    if format != "trec":
        return f"SELECT query, doc, number AS {rows.kind.number} FROM {rows.table}"
    if rows.kind is RUN:
        return f"SELECT query, 'Q0', doc, rank, number, {quoted(tag)} FROM {rows.table}"
    return f"SELECT query, 0, doc, {_WHOLE} FROM {rows.table}"


def copy(session: Session, select: str, file: Path, naming: Naming) -> None:
    """Write what a SELECT finds to a file; raise OSError where it cannot be written."""
    if not naming.packing:
        _copy(session, select, file, naming.format)
        return
    plain = _copied_aside(session, select, naming.format)
    with file.open("wb") as packed:
        packed.writelines(PACKINGS[naming.packing](parts_of(plain)))
    plain.unlink()


def _copy(session: Session, select: str, file: Path, format: str) -> None:  # noqa: A002
    import duckdb

    session.prepare_writing()
    try:
        session.execute(
            f"COPY ({select}) TO {file_quoted(file, session)} "
            f"({_OPTIONS[format]}, USE_TMP_FILE false)"
        )
    except duckdb.Error as problem:
        raise OSError(None, reason_of(problem)) from None


def _copied_aside(session: Session, select: str, format: str) -> Path:  # noqa: A002
    file = session.folder / session.name("plain")
    try:
        _copy(session, select, file, format)
    except OSError as problem:
        raise no_room(problem.strerror) from None
    return file


def refuse_misread(rows: Rows, select: str, naming: Naming, name: str) -> None:
    """Refuse a first line that a reader would take for one of another format."""
    if naming.format not in _READ_AS:
        return
    file = _copied_aside(rows.session, f"{select} LIMIT 1", naming.format)
    try:
        layout = recognise(Plain(name, file), rows.kind, {})
    except InputError:
        layout = None
    if layout is None or (layout.format, layout.delimiter) != _READ_AS[naming.format]:
        raise InputError(
            f"{rows.name}, query {rows.queries[0]!r}",
            f"ids with which the first line reads as {naming.format.upper()}",
            shown(file.read_text("utf-8")[:60]),
            "Change the id, or write Parquet, which holds any.",
        )
