"""`write_run` and `write_judgments`: write what `evaluate` takes, in any format that it reads."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Unpack

import numpy as np

from gainful import arguments
from gainful.errors import InputError, warn
from gainful.matching.engine_rows import stored, unique
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.matching.reader import open_input, opened_session
from gainful.message_texts import counted, shown
from gainful.output.writing.output_files import (
    DOCUMENTS,
    FileFormat,
    name_of,
    read_naming,
    replacing,
    write_parts,
)
from gainful.output.writing.table_files import copied_aside, copy
from gainful.output.writing.trec_run_lines import RankedIds
from gainful.rows.duckdb_engine import Session, quoted
from gainful.rows.files import LocalFile
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN, UNGRADED, Kind
from gainful.rows.identifiers import examples, in_order
from gainful.rows.input_types import Judgments, Run
from gainful.rows.run_and_judgment_columns import Columns
from gainful.rows.text_formats import recognise

# How a reader must recognise each: its format and delimiter.
_READ_AS = {
    "trec": ("trec", " "),
    "csv": ("table", ","),
    "tsv": ("table", "\t"),
    "jsonl": ("jsonl", ""),
}
# The shortest text that reads back bit for bit. DuckDB 2.0.0 writes 2^81, 2^91 and 2^807 wrongly, but not in JSON.
_SURE = 1e24
_NUMBER = (
    f"CASE WHEN abs(number) < {_SURE} THEN CAST(number AS VARCHAR) "
    "ELSE regexp_replace(CAST(to_json(number) AS VARCHAR), 'e([0-9])', 'e+\\1') END"
)
_WHOLE = f"regexp_replace({_NUMBER}, '[.]0$', '')"  # tools in C read whole grades only


@takes(ReadingOptions)
def write_run(
    run: Run,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the vocabulary
    tag: str = "gainful",
    **options: Unpack[ReadingOptions],
) -> None:
    """Write a run to a file, which is replaced only when the new one is complete.

    Queries are sorted by id, their documents by score, and documents with equal scores by id, descending as
    bytes; the ranks of a TREC file are these. Numbers read back bit for bit.

    Args:
        run: `{query: {doc: score}}`, the path of a file, a data frame, an Arrow object.
        path: of the file to write; `-` is standard output.
        format: trec, csv, tsv, jsonl or parquet; inferred from the name if None: .run, .trec, .txt,
            .csv, .tsv, .jsonl, .parquet. All but Parquet are packed where the name ends in .gz
            or .zst.
        tag: the last field of the lines of a TREC file.
        **options: see `ReadingOptions`.

    >>> import pathlib, tempfile, gainful as gf
    >>> file = pathlib.Path(tempfile.mkdtemp(), "mine.run")
    >>> gf.write_run({"q1": {"a": 0.5, "b": 0.5, "c": 2}}, file, tag="mine")
    >>> print(file.read_text(), end="")
    q1 Q0 c 1 2.0 mine
    q1 Q0 b 2 0.5 mine
    q1 Q0 a 3 0.5 mine
    """
    _write(run, RUN, path, format=format, tag=read_tag(tag), options=options)


@takes(ReadingOptions)
def write_judgments(
    judgments: Judgments,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word of the vocabulary
    **options: Unpack[ReadingOptions],
) -> None:
    """Write judgments to a file, which is replaced only when the new one is complete.

    Queries are sorted by id; their documents keep their order. Numbers read back bit for bit.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        path: of the file to write; `-` is standard output.
        format: trec, csv, tsv, jsonl or parquet; inferred from the name if None: .qrels, .trec, .txt,
            .csv, .tsv, .jsonl, .parquet. All but Parquet are packed where the name ends in .gz
            or .zst.
        **options: see `ReadingOptions`.

    >>> import pathlib, tempfile, gainful as gf
    >>> file = pathlib.Path(tempfile.mkdtemp(), "mine.qrels")
    >>> gf.write_judgments({"q1": {"a": 3, "b": 0.5}}, file)
    >>> print(file.read_text(), end="")
    q1 0 a 3
    q1 0 b 0.5
    """
    _write(judgments, JUDGMENTS, path, format=format, tag="", options=options)


def write_pool(
    grades: Mapping[str, Mapping[str, float | None]],
    path: str | os.PathLike[str],
    *,
    packing: str | None = None,
) -> None:
    """Write a TREC file of judgments to fill in: `query 0 doc grade`, queries by id.

    A missing grade is `?`, which does not parse as a number, so an unfilled line cannot be mistaken for a
    judgment.

    Args:
        grades: `{query: {doc: grade}}`, or None.
        path: of the file to write; `-` is standard output.
        packing: .gz or .zst, where the file is to be packed.
    """
    rows_to_check = {query: dict.fromkeys(docs, 0.0) for query, docs in grades.items()}
    naming = FileFormat("trec", packing)
    if rows_to_check:
        with Session() as session:
            rows = read_rows(rows_to_check, JUDGMENTS, Columns(), session)
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
    documents: object,
    kind: Kind,
    path: str | os.PathLike[str],
    *,
    format: str | None,  # noqa: A002 - the word of the vocabulary
    tag: str,
    options: ReadingOptions,
) -> None:
    naming = read_naming(path, format, DOCUMENTS)
    with opened_session(options) as (session, columns):
        rows = read_rows(documents, kind, columns, session)
        columns.refuse_unused()
        write_rows(rows, path, naming, tag)


def write_rows(
    rows: "OrderedRows", path: str | os.PathLike[str], naming: FileFormat, tag: str
) -> None:
    """Write rows that are in order to a file, which is replaced when the new one is complete."""
    refuse_ids(rows, naming.format)
    select = select_of(rows, naming.format, tag)
    refuse_misread(rows, select, naming, name_of(path))
    with replacing(path) as file:
        copy(rows.session, select, file, naming)


def write_ranked(
    ranked: RankedIds,
    path: str | os.PathLike[str],
    naming: FileFormat,
    tag: str,
    *,
    name: str,
    session: Session,
) -> None:
    """Write a run whose ids are integers to a TREC file, which is replaced when the new one is complete.

    Args:
        ranked: the rows.
        path: of the file.
        naming: its format and its packing.
        tag: the last field of the lines.
        name: what messages call the run.
        session: provides a folder for temporary files.
    """
    refuse_queries(name, ranked.queries, naming.format)
    with session.written_aside("plain") as (file, opened):
        opened.writelines(ranked.lines(tag, most=1))
    _refuse_misread(file, RUN, name, ranked.queries[0], naming.format, name_of(path))
    write_parts(ranked.lines(tag), path, naming.packing)


def read_tag(tag: object) -> str:
    """Return the last field of the lines of a TREC file."""
    expected = "a word without white space"
    text = arguments.text(tag, "tag", expected)
    if text.split() != [text]:
        raise InputError("tag", expected, shown(tag))
    return text


@dataclass(frozen=True, slots=True)
class OrderedRows:
    """The rows to write, in order.

    Attributes:
        session: where the rows are.
        kind: whether they are of a run or of judgments.
        name: what messages call their source.
        table: with the columns query, doc, number and rank, which is from 1.
        queries: (q,) ids, in order.
    """

    session: Session
    kind: Kind
    name: str
    table: str
    queries: tuple[str, ...]


def read_rows(documents: object, kind: Kind, columns: Columns, session: Session) -> OrderedRows:
    """Read what a caller passed as run or judgments, check it, and put it in order.

    Queries are sorted by id. The documents of a run are sorted by score, the best first, equal
    scores by id, descending, or in the order that a response showed; documents of judgments keep
    their order.
    """
    opened = open_input(documents, kind, columns, session)
    source = opened.table(None)
    _warn_of_lost_queries(opened.bare_queries(), kind)
    copy = stored(session, source)
    placed = unique(session, source, copy)
    if kind is RUN:
        opened.warn_of_ranks()  # when nothing is wrong with it
    counts = session.columns(f"SELECT query, count(*) AS n FROM {placed} GROUP BY query")
    sizes = dict(zip(counts["query"].tolist(), counts["n"].tolist(), strict=True))
    queries = in_order(sizes)
    ends = np.cumsum([sizes[query] for query in queries])
    starts = session.register(
        "starts",
        {
            "query": np.array(queries, object),
            "start": np.concatenate(([0], ends[:-1])).astype(np.int64),
        },
    )
    ordered, table = session.name("ordered"), session.name("rows")
    order = "number DESC, doc DESC" if kind is RUN else "place"
    if opened.in_order:
        _warn_of_kept_order(session, placed)
        order = "number DESC, place"
    # Sorted once: where a row stands, and where its query begins, is its rank.
    session.execute(
        f"CREATE TEMP TABLE {ordered} AS SELECT query, doc, number, start "
        f"FROM {placed} JOIN {starts} USING (query) ORDER BY start, {order}"
    )
    session.execute(
        f"CREATE TEMP VIEW {table} AS SELECT query, doc, number, rowid - start + 1 AS rank "
        f"FROM {ordered}"
    )
    session.execute(f"DROP VIEW {placed}")
    session.drop(copy)
    return OrderedRows(session, kind, source.name, table, tuple(queries))


def _warn_of_kept_order(session: Session, rows: str) -> None:
    """Say that documents with equal scores are in the order that was shown, which no reader knows."""
    tied = session.rows(
        f"SELECT query FROM {rows} GROUP BY query, number HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
    )
    if tied:
        warn(
            f"run: documents of query {tied[0][0]!r} have equal scores. The file has them in the order of "
            "the response, which is not the usual order of ties: measure the file under the policy "
            "ties=order."
        )


def _warn_of_lost_queries(queries: Iterable[str], kind: Kind) -> None:
    """Say which queries are not in the file, because they have no documents."""
    lost = in_order(queries)
    if lost:
        meaning = "missing" if kind is RUN else "not judged"
        warn(
            f"{kind.name}: queries without documents are not in the file: {examples(lost)}. It has a row "
            f"for each document; read back, {counted(len(lost), 'query is', 'queries are')} {meaning}."
        )


_BLANKS = " \t\n\v\f\r"
_BYTE_ORDER_MARK = "\ufeff"  # at the beginning of a file it is no part of the text


def refuse_ids(rows: OrderedRows, format: str) -> None:  # noqa: A002 - the word of the vocabulary
    """Refuse the first id that the format cannot hold."""
    if format == "parquet":
        return
    refuse_queries(rows.name, rows.queries, format)
    blanks = _BLANKS if format == "trec" else ""
    wrong = " OR ".join(["doc = ''", *(f"contains(doc, chr({ord(blank)}))" for blank in blanks)])
    unwritable = rows.session.rows(f"SELECT query, doc FROM {rows.table} WHERE {wrong} LIMIT 1")
    if unwritable:
        query, doc = unwritable[0]
        _refuse(f"{rows.name}, query {query!r}, document {doc!r}", doc)


def refuse_queries(name: str, queries: Iterable[str], format: str) -> None:  # noqa: A002
    """Refuse the first id of a query that the format cannot hold."""
    blanks = _BLANKS if format == "trec" else ""
    for query in queries:
        marked = format == "trec" and query.startswith(_BYTE_ORDER_MARK)
        if not query or marked or any(blank in query for blank in blanks):
            _refuse(f"{name}, query {query!r}", query)


def _refuse(where: str, text: str) -> NoReturn:
    if not text:
        raise InputError(
            where, "an id", "an empty one", "Give it an id, or write Parquet, which holds any."
        )
    if text.startswith(_BYTE_ORDER_MARK):
        raise InputError(
            where,
            "an id that TREC holds",
            "one that begins with a byte order mark",
            "Remove it, or write CSV, TSV, JSON lines or Parquet.",
        )
    raise InputError(
        where,
        "an id without white space, which separates the fields of TREC",
        shown(text),
        "Replace it, or write CSV, TSV, JSON lines or Parquet.",
    )


def select_of(rows: OrderedRows, format: str, tag: str) -> str:  # noqa: A002 - the word of the vocabulary
    """Return SQL with the fields of a line, or the columns."""
    if format != "trec":
        number = _NUMBER if format in ("csv", "tsv") else "number"
        return f"SELECT query, doc, {number} AS {rows.kind.number} FROM {rows.table}"
    if rows.kind is RUN:
        return f"SELECT query, 'Q0', doc, rank, {_NUMBER}, {quoted(tag)} FROM {rows.table}"
    return f"SELECT query, 0, doc, {_WHOLE} FROM {rows.table}"


def refuse_misread(rows: OrderedRows, select: str, naming: FileFormat, name: str) -> None:
    """Refuse a first line that a reader would take for one of another format."""
    if naming.format not in _READ_AS:
        return
    file = copied_aside(rows.session, f"{select} LIMIT 1", naming.format)
    _refuse_misread(file, rows.kind, rows.name, rows.queries[0], naming.format, name)


def _refuse_misread(
    file: Path,
    kind: Kind,
    source: str,
    query: str,
    format: str,  # noqa: A002 - the word of the vocabulary
    name: str,
) -> None:
    """Refuse what the first line alone, in a file, would be taken for."""
    try:
        layout = recognise(LocalFile(name, file), kind, {})
    except InputError:
        layout = None
    if layout is None or (layout.format, layout.delimiter) != _READ_AS[format]:
        raise InputError(
            f"{source}, query {query!r}",
            f"ids with which the first line reads as {format.upper()}",
            shown(file.read_text("utf-8")[:60]),
            "Change the id, or write Parquet, which holds any.",
        )
