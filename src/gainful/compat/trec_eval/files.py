"""The lines of trec_eval's files, read as it reads them: bytes, fields, comments."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gainful.compat.trec_eval.c_numbers_and_sorting import BAD_INPUT, StoppedError, decimal, whole
from gainful.rows.duckdb_engine import Session
from gainful.rows.values_as_numbers import in_single

_QRELS_FIELDS, _RUN_FIELDS = 4, 6
_TAIL = 1 << 14  # bytes, longer than the last line of a clean file
_SINCE_COMMENTS = 10  # the version

Row = list[bytes]


@dataclass(frozen=True, slots=True)
class Run:
    """A run: the documents and scores of each query in the order of the file, and the last tag."""

    documents: dict[bytes, list[tuple[bytes, float]]]
    tag: bytes


def text_of(written: bytes) -> str:
    """Return bytes as text; invalid UTF-8 survives a round trip."""
    return written.decode(errors="surrogateescape")


def bytes_of(text: str) -> bytes:
    """Return the bytes of a text."""
    return text.encode(errors="surrogateescape")


def read_rows(path: Path, fields: int, reader: str, version: int) -> list[Row]:
    """Read lines of so many fields.

    Version 10 skips a line that begins with #, but never two in a row: the second is read as data.
    """
    rows: list[Row] = []
    lines = iter(path.read_bytes().removesuffix(b"\n").split(b"\n"))
    for line in lines:
        if version >= _SINCE_COMMENTS and line.startswith(b"#"):
            following = next(lines, None)
            if following is None:
                break
            line = following
        row = line.split()
        if len(row) != fields or b"\0" in line:
            raise malformed(reader, len(rows) + 1)
        rows.append(row)
    if not rows:
        raise malformed(reader, 1)
    return rows


def read_run(path: Path, version: int) -> Run:
    """Read a run; anything after the tag on a line is ignored."""
    documents: dict[bytes, list[tuple[bytes, float]]] = {}
    last, row = None, [b""]
    scored: list[tuple[bytes, float]] = []
    for row in _run_rows(path, version):
        query, _, doc, _, score, _ = row
        if query != last:
            scored = documents.setdefault(query, [])
            last = query
        scored.append((doc, _score(score)))
    if version < _SINCE_COMMENTS:
        for query, rows in documents.items():
            rounded = in_single(np.array([score for _, score in rows])).tolist()
            documents[query] = [(doc, score) for (doc, _), score in zip(rows, rounded, strict=True)]
    return Run(documents, row[-1])


def read_judgments(path: Path, version: int) -> list[Row]:
    """Read qrels: query, iteration, document and grade."""
    return read_rows(path, _QRELS_FIELDS, "get_qrels", version)


def write_judgments(path: Path, version: int, session: Session) -> Path:
    """Write qrels to a temporary file, without comments and with whole grades."""
    with session.written_aside("judgments") as (target, copy):
        for query, _, doc, grade in read_judgments(path, version):
            copy.write(b"%s 0 %s %d\n" % (query, doc, whole(grade)))
    return target


def write_run(path: Path, version: int, session: Session) -> Path:
    """Write a run to a temporary file, without comments, blank lines and text after the tag."""
    with session.written_aside("run") as (target, copy):
        for row in _run_rows(path, version):
            copy.write(b" ".join(row) + b"\n")
    return target


def _run_rows(path: Path, version: int) -> Iterator[Row]:
    """Yield the fields of a run, line by line."""
    number = 0
    with path.open("rb") as file:
        for line in file:
            row = line.split(None, _RUN_FIELDS)
            if not row or (version >= _SINCE_COMMENTS and row[0].startswith(b"#")):
                continue
            number += 1
            if len(row) < _RUN_FIELDS or b"\0" in line:
                raise malformed("get_results", number)
            yield row[:_RUN_FIELDS]


def _score(written: bytes) -> float:
    """Read a number as C does; use Python, in half the time, where both agree."""
    try:
        return decimal(written) if b"_" in written else float(written)
    except ValueError:
        return decimal(written)


def last_tag(path: Path) -> str:
    """Return the tag on the last line of a run without comments: `runid`."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - _TAIL, 0))
        *_, tag = file.read().split()
    return text_of(tag)


def malformed(reader: str, number: int) -> StoppedError:
    """Return the error for a line without the right fields."""
    return StoppedError(f"trec_eval.{reader}: Malformed line {number}", BAD_INPUT)
