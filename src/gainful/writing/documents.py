"""`write_run` and `write_judgments`: what `evaluate` takes, in any of the formats that it reads."""

import os
from collections.abc import Mapping

from gainful import arguments
from gainful.errors import InputError, shown
from gainful.inputs.columns import read_columns
from gainful.inputs.engine import Engine, Session
from gainful.inputs.identifiers import in_order
from gainful.inputs.kinds import JUDGMENTS, RUN, UNGRADED, Kind
from gainful.writing.copying import copy, refuse_misread, select_of
from gainful.writing.legality import refuse_ids
from gainful.writing.naming import DOCUMENTS, Naming, read_naming
from gainful.writing.packing import write_parts
from gainful.writing.replacing import name_of, replacing
from gainful.writing.rows import read_rows


def write_run(
    run: object,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the vocabulary
    columns: Mapping[str, str] | None = None,
    engine: Engine | None = None,
    tag: str = "gainful",
) -> None:
    """Write a run to a file, which is replaced only when the new one is complete.

    Queries stand by id, their documents by score, those with equal scores by id, descending as
    bytes; the ranks of a TREC file are these. Numbers read back bit for bit.

    Args:
        run: `{query: {doc: score}}`, the path of a file, a data frame, an Arrow object.
        path: of the file to write; `-` is standard output.
        format: trec, csv, tsv, jsonl or parquet; told by the name if None: .run, .trec, .txt,
            .csv, .tsv, .jsonl, .parquet. All but Parquet are packed where the name ends in .gz
            or .zst.
        columns: names of columns in `run` that are not among the usual, as in `evaluate`.
        engine: what may be used of the machine.
        tag: the last field of the lines of a TREC file.

    >>> import pathlib, tempfile, gainful as gf
    >>> file = pathlib.Path(tempfile.mkdtemp(), "mine.run")
    >>> gf.write_run({"q1": {"a": 0.5, "b": 0.5, "c": 2}}, file, tag="mine")
    >>> print(file.read_text(), end="")
    q1 Q0 c 1 2.0 mine
    q1 Q0 b 2 0.5 mine
    q1 Q0 a 3 0.5 mine
    """
    expected = "a word without white space"
    if arguments.text(tag, "tag", expected).split() != [tag]:
        raise InputError("tag", expected, shown(tag))
    _write(run, RUN, path, format=format, columns=columns, engine=engine, tag=tag)


def write_judgments(
    judgments: object,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the vocabulary
    columns: Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> None:
    """Write judgments to a file, which is replaced only when the new one is complete.

    Queries stand by id, their documents as they came. Numbers read back bit for bit.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        path: of the file to write; `-` is standard output.
        format: trec, csv, tsv, jsonl or parquet; told by the name if None: .qrels, .trec, .txt,
            .csv, .tsv, .jsonl, .parquet. All but Parquet are packed where the name ends in .gz
            or .zst.
        columns: names of columns in `judgments` that are not among the usual, as in `evaluate`.
        engine: what may be used of the machine.

    >>> import pathlib, tempfile, gainful as gf
    >>> file = pathlib.Path(tempfile.mkdtemp(), "mine.qrels")
    >>> gf.write_judgments({"q1": {"a": 3, "b": 0.5}}, file)
    >>> print(file.read_text(), end="")
    q1 0 a 3
    q1 0 b 0.5
    """
    _write(judgments, JUDGMENTS, path, format=format, columns=columns, engine=engine, tag="")


def write_pool(
    grades: Mapping[str, Mapping[str, float | None]],
    path: str | os.PathLike[str],
    *,
    packing: str | None = None,
) -> None:
    """Write a TREC file of judgments to fill in: `query 0 doc grade`, queries by id.

    A grade that nobody has given yet is `?`, which reads as no number: what is not filled in cannot be
    taken for a judgment.

    Args:
        grades: `{query: {doc: grade}}`, None where there is none.
        path: of the file to write; `-` is standard output.
        packing: .gz or .zst, where the file is to be packed.
    """
    known = {query: dict.fromkeys(docs, 0.0) for query, docs in grades.items()}
    naming = Naming("trec", packing)
    if known:
        with Session() as session:
            rows = read_rows(known, JUDGMENTS, {}, session)
            refuse_ids(rows, naming.format)
            refuse_misread(rows, select_of(rows, naming.format, ""), naming, name_of(path))
    lines = [
        f"{query} 0 {doc} {UNGRADED if grade is None else _shortest(grade)}\n"
        for query in in_order(grades)
        for doc, grade in grades[query].items()
    ]
    write_parts(["".join(lines).encode()], path, packing)


def _shortest(grade: float) -> str:
    """Write a grade so that it reads back bit for bit; tools in C read whole ones only."""
    return repr(float(grade)).removesuffix(".0")


def _write(
    given: object,
    kind: Kind,
    path: str | os.PathLike[str],
    *,
    format: str | None,  # noqa: A002 - the word of the vocabulary
    columns: object,
    engine: Engine | None,
    tag: str,
) -> None:
    naming = read_naming(path, format, DOCUMENTS)
    names = read_columns(columns)
    with Session(engine) as session:
        rows = read_rows(given, kind, names, session)
        names.refuse_unused()
        refuse_ids(rows, naming.format)
        select = select_of(rows, naming.format, tag)
        refuse_misread(rows, select, naming, name_of(path))
        with replacing(path) as file:
            copy(session, select, file, naming)
