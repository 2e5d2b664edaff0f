"""`write_run` and `write_judgments`: write anything that `evaluate` accepts, in any format that it reads."""

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

# The format and the delimiter that a reader must detect for each.
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
_WHOLE = f"regexp_replace({_NUMBER}, '[.]0$', '')"  # tools in C only read whole grades


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

    Queries are sorted by id, their documents by score, and documents with equal scores by
    descending id, compared as bytes; the ranks in a TREC file follow this order. Numbers read back
    bit for bit.

    Args:
        run: `{query: {doc: score}}`, the path of a file, a data frame, an Arrow object.
        path: the path of the file to write; `-` is standard output.
        format: trec, csv, tsv, jsonl or parquet; inferred from the name if None: .run, .trec,
            .txt, .csv, .tsv, .jsonl, .parquet. All formats except Parquet are compressed if the
            name ends in .gz or .zst.
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
        path: the path of the file to write; `-` is standard output.
        format: trec, csv, tsv, jsonl or parquet; inferred from the name if None: .qrels, .trec,
            .txt, .csv, .tsv, .jsonl, .parquet. All formats except Parquet are compressed if the
            name ends in .gz or .zst.
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
        path: the path of the file to write; `-` is standard output.
        packing: .gz or .zst, if the file is to be compressed.
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
    """Write a grade so that it reads back bit for bit; tools in C only read whole grades."""
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
    """Write sorted rows to a file, which is replaced when the new one is complete."""
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
        path: the path of the file.
        naming: its format and its compression.
        tag: the last field of the lines.
        name: the name of the run in messages.
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
        session: the session that contains the rows.
        kind: whether they belong to a run or to judgments.
        name: the name of their source in messages.
        table: a table with the columns query, doc, number and rank, which starts at 1.
        queries: (q,) ids, in order.
    """

    session: Session
    kind: Kind
    name: str
    table: str
    queries: tuple[str, ...]


def read_rows(documents: object, kind: Kind, columns: Columns, session: Session) -> OrderedRows:
    """Read the caller's run or judgments, check them, and sort them.

    Queries are sorted by id. The documents of a run are sorted by score, the best first; equal
    scores are ordered by descending id, or as in the search response. The documents of judgments
    keep their order.
    """
    opened = open_input(documents, kind, columns, session)
    source = opened.table(None)
    _warn_of_lost_queries(opened.bare_queries(), kind)
    copy = stored(session, source)
    placed = unique(session, source, copy)
    if kind is RUN:
        opened.warn_of_ranks()  # once it is known to be valid
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
    # Sorted once: a row's position relative to the start of its query is its rank.
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
    """Warn that documents with equal scores are in the order of the response, which no reader of the file can know."""
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
    """Warn about queries that are not in the file because they have no documents."""
    lost = in_order(queries)
    if lost:
        meaning = "missing" if kind is RUN else "not judged"
        warn(
            f"{kind.name}: queries without documents are not in the file: {examples(lost)}. It has a row "
            f"for each document; read back, {counted(len(lost), 'query is', 'queries are')} {meaning}."
        )


_BLANKS = " \t\n\v\f\r"
_BYTE_ORDER_MARK = "\ufeff"  # at the beginning of a file it isn't part of the text


def refuse_ids(rows: OrderedRows, format: str) -> None:  # noqa: A002 - the word of the vocabulary
    """Reject the first id that the format cannot represent."""
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
    """Reject the first id of a query that the format cannot represent."""
    blanks = _BLANKS if format == "trec" else ""
    for query in queries:
        marked = format == "trec" and query.startswith(_BYTE_ORDER_MARK)
        if not query or marked or any(blank in query for blank in blanks):
            _refuse(f"{name}, query {query!r}", query)


def _refuse(where: str, text: str) -> NoReturn:
    if not text:
        raise InputError(
            where,
            "an id",
            "an empty one",
            "Give it an id, or write Parquet, which supports any id.",
        )
    if text.startswith(_BYTE_ORDER_MARK):
        raise InputError(
            where,
            "an id that TREC can represent",
            "an id that begins with a byte order mark",
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
    """Reject a first line that a reader would mistake for another format."""
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
    """Reject a first line that would be mistaken for another format."""
    try:
        layout = recognise(LocalFile(name, file), kind, {})
    except InputError:
        layout = None
    if layout is None or (layout.format, layout.delimiter) != _READ_AS[format]:
        raise InputError(
            f"{source}, query {query!r}",
            f"ids with which the first line reads as {format.upper()}",
            shown(file.read_text("utf-8")[:60]),
            "Change the id, or write Parquet, which supports any id.",
        )
