"""`Source`: a table of judgments or of a run that the engine reads, and what can be wrong with it.

A source is a SELECT of the columns query, doc (strings) and number (float64). A text is looked at
first, since the engine may take it for something else. Reading fails on what is no row; then the
place is looked for, and the error says it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gainful.errors import InputError
from gainful.inputs.duckdb_engine import (
    Columns,
    Session,
    file_quoted,
    is_odd_number,
    name_quoted,
    quoted,
    said,
)
from gainful.inputs.faulty_rows import Fault, Row, first_fault, line_of, rows
from gainful.inputs.files import BYTE_ORDER_MARK, LocalFile
from gainful.inputs.format_detection import Layout, json_lines_layout
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.inputs.run_and_judgment_columns import (
    kind_by_columns,
    no_rank,
    number_after_none,
    rank_again,
)
from gainful.inputs.single_precision import BEYOND_SINGLE, beyond_single
from gainful.inputs.small_tables import PlainRows
from gainful.inputs.values_as_numbers import INEXACT

_NONE = Layout("")
_NUMBER = 2  # the place among the columns that are read of a table with types
_BATCH = 1 << 17  # rows that are handed to the engine at a time
# How long an object may be; the engine reads in parts of twice that, each on one core.
_ANY_OBJECT, _USUAL_OBJECT = (f"maximum_object_size={1 << bits})" for bits in (28, 22))
_FEW_DIGITS = 15  # of integers that every float64 holds
_INTEGERS_END = 2.0**63  # integers below −2^63 or from 2^64 on are fractions to the engine
SEVERAL_ASSESSORS = (
    "The column {!r} tells assessors apart: say how their grades become one, assessors=mean, median, "
    "majority, max, min, dawid-skene, or the name of the one whose grades count; on the command line, --assessors."
)
"""What to do about documents that stand again where a column tells assessors apart."""
NO_ID = ", where ids are whole numbers"
"""How the error about a fraction as id ends that reading a typed table raises."""
NOT_HELD = ", which no float64 holds"
"""How the one about an integer ends that would be rounded."""
_SUBTOPICS = " Judgments of subtopics go with --subtopics, or gf.subtopics.evaluate_subtopics."


class TextState(Enum):
    """How the lines of a text come to the engine."""

    UNSEEN = "nobody has looked at them yet"
    AS_THEY_ARE = "the engine reads the file itself"
    CLEANED = "the engine reads a copy whose white space is in order"
    ROW_BY_ROW = "they were read one by one, into a table"


@dataclass(frozen=True, slots=True)
class Source:
    """A table of judgments or of a run.

    Attributes:
        kind: which of the two.
        name: what messages call it.
        select: SQL with the columns query, doc and number, and rank where there is one; it may be
            missing for a text that nobody has looked at.
        rescans: whether it costs little to read it several times.
        strict: whether no value can be missing: none is, or reading fails; else they are NULL.
        file: where its text stands, if it does.
        layout: how its text is written.
        state: how its lines come to the engine; None where it has none.
        rows: how many rows its text has, as counted without the engine, where they are.
        query_type: what the ids of its queries were, before they were text.
        doc_type: what those of its documents were.
        plain: its rows, where it is a small table of which nothing is odd.
    """

    kind: Kind
    name: str
    select: str
    rescans: bool = False
    strict: bool = False
    file: LocalFile | None = None
    layout: Layout = _NONE
    state: TextState | None = None
    rows: int | None = None
    query_type: IdType = UNTYPED
    doc_type: IdType = UNTYPED
    plain: PlainRows | None = None

    @property
    def number_column(self) -> str:
        """The name of the column of its numbers; empty where it has none."""
        names, at = self.layout.names, self.layout.places[2]
        at = _NUMBER if self.layout.format == "typed" else at
        return names[at] if 0 <= at < len(names) and self.kind.implied is None else ""

    @property
    def lines(self) -> bool:
        """Whether its rows stand on lines that a message can name."""
        return self.state is not None

    @property
    def is_read_by_engine(self) -> bool:
        """Whether the engine itself reads the lines, of the file or of a copy."""
        return self.state in (TextState.AS_THEY_ARE, TextState.CLEANED)


def ready(source: Source, session: Session) -> Source:
    """Return a source that the engine can read: with its white space in order, if it is a TREC file."""
    if source.state is not TextState.UNSEEN or source.file is None:
        return source
    from gainful.inputs.text_preparation_for_duckdb import see_json_lines, see_lines, see_table

    layout, path = source.layout, source.file.path
    if layout.format == "jsonl":
        seen = see_json_lines(path)
        if not seen.usual or _has_other_fields(source, session):
            return row_by_row(source, session)
        select = source.select
        if not seen.long:
            select = select.removesuffix(_ANY_OBJECT) + _USUAL_OBJECT
        return replace(source, select=select, state=TextState.AS_THEY_ARE, rows=seen.rows)
    trec = layout.format == "trec"
    seen = see_lines(path, layout.delimiter) if trec else see_table(path, layout.delimiter)
    if trec and not seen.usual:
        return cleaned(source, session)
    if seen.long or not seen.usual:
        return row_by_row(source, session)
    select = _text_select(path, layout, source.kind, session)
    count = seen.rows - layout.header
    return replace(source, select=select, state=TextState.AS_THEY_ARE, rows=count)


def _has_other_fields(source: Source, session: Session) -> bool:
    """Return whether a line of JSON has a number, or what may be one, where the first has none.

    The engine reads the fields of the first line alone. Most files are seen to have no others without it.
    """
    import duckdb

    from gainful.inputs.clean_text_files import are_lines_alike

    kind, layout = source.kind, source.layout
    assert source.file is not None  # noqa: S101 - only text has lines
    if not kind.assumed or are_lines_alike(source.file.path, layout):
        return False
    try:
        found = session.rows(
            f"SELECT DISTINCT json_keys(json) FROM read_json_objects({file_quoted(source.file.path, session)}, "
            f"format='newline_delimited', compression='none', hive_partitioning=false, {_ANY_OBJECT}"
        )
    except (duckdb.Error, UnicodeError):  # which the rows say
        return True
    ids = [layout.names[place] for place in layout.places[:2]]
    return any(number_after_none(names, ids, kind, "") is not None for (names,) in found)


def cleaned(source: Source, session: Session) -> Source:
    """Return a TREC file with its white space in order."""
    from gainful.inputs.text_preparation_for_duckdb import clean, see_cleaned

    assert source.file is not None  # noqa: S101 - only text is cleaned
    with session.written_aside("cleaned") as (target, file):
        ended = clean(source.file.path, file)
    seen = see_cleaned(target)
    if seen.long or not ended:
        target.unlink()
        return row_by_row(source, session)
    layout = replace(source.layout, delimiter=" ")
    select = _text_select(target, layout, source.kind, session)
    return replace(source, select=select, state=TextState.CLEANED, rows=seen.rows)


def row_by_row(source: Source, session: Session) -> Source:
    """Read text that the engine may take for something else, or does not read to its end."""
    import duckdb

    assert source.file is not None  # noqa: S101 - only text has lines
    ranked = source.layout.rank is not None
    table = session.name(source.kind.name)
    found = rows(source.file, source.layout, source.kind)
    try:
        session.execute(
            f"CREATE TEMP TABLE {table} (query VARCHAR, doc VARCHAR, number DOUBLE"
            f"{', rank DOUBLE' if ranked else ''})"
        )
        while batch := list(islice(found, _BATCH)):
            _insert(session, table, _good(batch, source.file), ranked=ranked)
    except duckdb.Error as problem:
        expected = f"room for the rows of {source.name}"
        raise InputError("engine", expected, said(problem)) from None
    return replace(source, select=f"FROM {table}", state=TextState.ROW_BY_ROW, rows=None)


def _good(batch: list[Row | Fault], file: LocalFile) -> list[Row]:
    for row in batch:
        if isinstance(row, Fault):
            raise row.error(file)
    return batch  # type: ignore[return-value]


def _insert(session: Session, table: str, batch: list[Row], *, ranked: bool) -> None:
    columns = {
        "query": np.array([row.query for row in batch], object),
        "doc": np.array([row.doc for row in batch], object),
        "number": np.array([row.number for row in batch], np.float64),
    }
    if ranked:
        columns["rank"] = np.array([row.rank for row in batch], object)
    name = session.register("batch", columns)
    rank = ", TRY_CAST(rank AS DOUBLE)" if ranked else ""
    session.execute(f"INSERT INTO {table} SELECT query, doc, number{rank} FROM {name}")
    session.connection.unregister(name)


def _may_be_odd(path: Path) -> bool:
    """Return whether a file has what makes numbers odd, anywhere: most have not."""
    if not path.stat().st_size:  # which cannot be mapped
        return False
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(b"_") >= 0 or content.find(b"+") >= 0


def _text_select(path: Path, layout: Layout, kind: Kind, session: Session) -> str:
    """Read lines of fields; an empty field is an error, not a value."""
    number = layout.places[2]
    plain = not _may_be_odd(path)
    types = ", ".join(
        f"'f{place}': '{'DOUBLE' if plain and place == number else 'VARCHAR'}'"
        for place in range(len(layout.names))
    )
    mark = "'\"'" if layout.format == "table" else "''"
    # Fields of a clean TREC file cannot be empty.
    empty = " OR ".join(f"f{place} IS NULL" for place in layout.places if place >= 0)
    checked = f" WHERE CASE WHEN {empty} THEN error('an empty field') ELSE true END"
    query, doc = (f"f{place}" for place in layout.places[:2])
    value = f"f{number}" if kind.implied is None else f"CAST({kind.implied!r} AS DOUBLE)"
    if not plain and kind.implied is None:
        value = (
            f"CAST(CASE WHEN {is_odd_number(value)} THEN 'no number' ELSE {value} END AS DOUBLE)"
        )
    sign = "-" if kind.ascending else ""
    columns = f"{query} AS query, {doc} AS doc, {sign}{value} AS number"
    if layout.rank is not None:
        # For the lint; not read where it is not asked for. Of a bare column, the cast would
        # become one of the reader, which fails on what is no number.
        columns += f", TRY_CAST(nullif(f{layout.rank}, '') AS DOUBLE) AS rank"
    return (
        f"SELECT {columns} FROM read_csv({file_quoted(path, session)}, "
        f"delim={quoted(layout.delimiter)}, quote={mark}, escape={mark}, "
        f"header={str(layout.header).lower()}, skip={layout.skip}, auto_detect=false, compression='none', "
        f"hive_partitioning=false, columns={{{types}}})"
        f"{checked if layout.format == 'table' else ''}"
    )


def json_lines(file: LocalFile, kind: Kind, columns: Mapping[str, str], session: Session) -> Source:
    """Read an object on each line; an id or a number of another type is an error."""
    file = _without_mark(file, session)
    with file.path.open("rb") as content:
        first = next(line for line in content if line.strip())
    layout = json_lines_layout(first, file.name, kind, columns)
    query, doc, *numbers = (layout.names[place] for place in layout.places if place >= 0)
    kind = kind_by_columns(layout.names, kind, columns)
    types = ", ".join(f"{quoted(name)}: 'JSON'" for name in (query, doc, *numbers))

    def text(name: str) -> str:
        value = name_quoted(name)
        # Most are strings without escapes, which is seen faster than what JSON they are.
        written = f"CAST({value} AS VARCHAR)"
        return (
            f"CASE WHEN starts_with({written}, '\"') AND NOT contains({written}, '\\') AND {written} <> '\"\"' "
            f"THEN substring({written}, 2, length({written}) - 2) "
            f"WHEN json_type({value}) IN ('VARCHAR', 'BIGINT', 'UBIGINT') "
            f"AND {value} ->> '$' <> '' THEN {value} ->> '$' ELSE error('no id') END"
        )

    number = f"CAST({kind.implied!r} AS DOUBLE)"
    if numbers:
        value = name_quoted(numbers[0])
        written, sign = f"CAST({value} AS VARCHAR)", "-" if kind.ascending else ""
        judged = kind.name == JUDGMENTS.name
        truth = f"WHEN json_type({value}) = 'BOOLEAN' THEN CAST({written} = 'true' AS DOUBLE) "
        truth = truth if judged else ""
        # Most are short, and end with a digit, as nothing else does in JSON. What may have been an
        # integer, and is rounded, is for the rows to read, or to refuse.
        number = (
            f"CASE WHEN length({written}) <= {_FEW_DIGITS} AND right({written}, 1) BETWEEN '0' AND '9' "
            f"AND NOT contains(lower({written}), 'e') THEN {sign}CAST({written} AS DOUBLE) "
            f"WHEN json_type({value}) = 'DOUBLE' AND abs(CAST({value} AS DOUBLE)) < {_INTEGERS_END!r} "
            f"OR json_type({value}) IN ('BIGINT', 'UBIGINT') "
            f"AND CAST({value} AS HUGEINT) = CAST(CAST({value} AS DOUBLE) AS HUGEINT) "
            f"THEN {sign}CAST({value} AS DOUBLE) {truth}ELSE error('no number') END"
        )
    select = (
        f"SELECT {text(query)} AS query, {text(doc)} AS doc, {number} AS number "
        f"FROM read_json({file_quoted(file.path, session)}, format='newline_delimited', "
        "compression='none', hive_partitioning=false, "
        f"columns={{{types}}}, {_ANY_OBJECT}"
    )
    state = TextState.UNSEEN
    return Source(kind, file.name, select, strict=True, file=file, layout=layout, state=state)


def _without_mark(file: LocalFile, session: Session) -> LocalFile:
    """Return a file without a byte order mark, which the engine does not expect in JSON."""
    with file.path.open("rb") as content:
        if content.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            return file
        with session.written_aside("unmarked") as (target, copy):
            import shutil

            shutil.copyfileobj(content, copy)
    return LocalFile(file.name, target)


def read_into(
    session: Session, source: Source, table: str, select: str, *, whole: bool = True
) -> None:
    """Make a table of what is selected; `{rows}` stands for the source.

    Text that the engine does not read, or not to its end, is read row by row; a TREC file before
    that with its white space put in order.

    Args:
        session: where the table is made.
        source: what is read.
        table: its name.
        select: SQL.
        whole: whether every row of the source is selected, so that they can be counted.
    """
    import duckdb

    statement = f"CREATE OR REPLACE TEMP TABLE {table} AS {select}"
    try:
        count = session.rows(statement.format(rows=f"({source.select})"))[0][0]
    except (duckdb.Error, UnicodeError) as problem:
        if source.layout.format == "trec" and source.state is TextState.AS_THEY_ARE:
            other = cleaned(source, session)
        elif source.is_read_by_engine:
            # Says what is wrong, if anything is but that the engine is stricter.
            other = row_by_row(source, session)
        else:
            refuse(source, problem)
        read_into(session, other, table, select, whole=whole)
        return
    if whole and not is_whole(source, count):
        read_into(session, row_by_row(source, session), table, select)


def is_whole(source: Source, count: int) -> bool:
    """Return whether the engine found as many rows in a text as there are."""
    return source.rows is None or not source.is_read_by_engine or source.rows == count


def guarded(session: Session, source: Source, sql: str) -> Columns:
    """Run a query that may read a source once more, and return its columns."""
    import duckdb

    try:
        return session.columns(sql)
    except duckdb.Error as problem:
        refuse(source, problem)


def refuse(source: Source, problem: Exception) -> NoReturn:
    """Say where a source cannot be read."""
    if source.lines and source.file is not None:
        fault = first_fault(source.file, source.layout, source.kind)
        if fault is not None:
            raise fault.error(source.file) from None
    found = said(problem)
    number = source.kind.number
    expected, remedy = f"{source.kind.contents} that can be read", "Check what wrote it."
    if f" as {number} of query " in found:  # what the SELECT of a typed table says
        expected = f"numbers as {number}"
        text = found.partition(f" as {number} of query ")[0].removeprefix("'").removesuffix("'")
        remedy = source.kind.advice(text) or "Write a number for it, or leave the row out."
        if found.endswith(NOT_HELD):
            found, remedy = found.removesuffix(NOT_HELD), INEXACT
            expected = f"a {number} that a float64 holds exactly"
    elif found.endswith(NO_ID):
        expected, remedy = "strings (or integers) as ids", "Make the ids strings first."
    raise InputError(source.name, expected, found, remedy) from None


def refuse_duplicate(source: Source, query: str, doc: str, *, by_policy: bool = True) -> NoReturn:
    """Say where a document stands for the second time; by a policy, another could be set."""
    where = _place(source, 2, lambda row: (row.query, row.doc) == (query, doc))
    remedy = "Remove one of the rows."
    if by_policy:
        remedy = "Remove one, or set the policy duplicates to first or best."
        if source.kind is JUDGMENTS and source.layout.format == "trec":
            remedy += _SUBTOPICS
    if source.kind.name == JUDGMENTS.name and source.layout.assessor:
        remedy = SEVERAL_ASSESSORS.format(source.layout.assessor)
    raise InputError(
        where,
        "each document once for a query",
        f"document {doc!r} of query {query!r} again",
        remedy,
    )


def refuse_values(session: Session, source: Source) -> NoReturn:
    """Say where a value is missing, or is no finite number."""
    if source.lines:
        refuse(source, ValueError("a number that is not finite"))
    bad = "query IS NULL OR doc IS NULL OR number IS NULL OR NOT isfinite(number)"
    found = _first_row(session, source, bad)
    row, query, doc, number = found or (0, "", "", None)
    where = f"{source.name}, row {row}"
    if query is None or doc is None:
        raise InputError(where, f"an id as {'query' if query is None else 'doc'}", "nothing")
    raise InputError(
        f"{where}, query {query!r}, document {doc!r}",
        f"a finite number as {source.kind.number}",
        "nothing" if number is None else str(source.kind.turned(number)),
        source.kind.advice(number),
    )


def refuse_ranks(session: Session, source: Source, table: str, number: str) -> None:
    """Refuse ranks that order nothing, in a copy of a source: two that are equal, or no ranks.

    Values that are missing or not finite are looked for apart.
    """
    if source.kind.tied:
        return
    ranks = f"(SELECT query, doc, -{number} AS rank FROM {table} WHERE isfinite({number}))"
    found = session.rows(
        f"SELECT query, doc, rank FROM {ranks} WHERE rank < 0 OR rank <> floor(rank) "
        "ORDER BY query, doc LIMIT 1"
    )
    if found and source.kind.whole:
        query, doc, rank = found[0]
        where = _place(source, 1, lambda row: (row.query, row.doc) == (query, doc))
        raise no_rank(where, query, doc, rank)
    found = session.rows(
        f"SELECT query, rank, min(doc), max(doc) FROM {ranks} GROUP BY query, rank "
        "HAVING count(*) > 1 AND min(doc) < max(doc) ORDER BY query, rank LIMIT 1"
    )
    if found:
        query, rank, one, other = found[0]
        where = _place(source, 2, lambda row: (row.query, -row.number) == (query, rank))
        raise rank_again(where, query, rank, (one, other))


def _place(source: Source, nth: int, wanted: Callable[[Row], bool]) -> str:
    """Return the place of the nth of the rows that are wanted: its line, where rows have one."""
    line = None
    if source.lines and source.file is not None:
        line = line_of(nth, wanted, rows(source.file, source.layout, source.kind))
    return source.name if line is None else f"{source.name}:{line}"


def refuse_beyond_single(session: Session, source: Source) -> None:
    """Say where a score is finite and a float32 cannot hold it, if one is."""
    if source.lines and source.file is not None:
        for row in rows(source.file, source.layout, source.kind):
            if isinstance(row, Row) and abs(row.number) >= BEYOND_SINGLE:
                raise beyond_single(f"{source.name}:{row.line}", source.kind.turned(row.number))
        return
    found = _first_row(session, source, f"isfinite(number) AND abs(number) >= {BEYOND_SINGLE!r}")
    if found:
        row, query, doc, number = found
        place = f"{source.name}, row {row}, query {query!r}, document {doc!r}"
        raise beyond_single(place, source.kind.turned(number))


def _first_row(session: Session, source: Source, condition: str) -> tuple[Any, ...] | None:
    """Return the first row under a condition: its place from 1, query, doc and number."""
    found = session.rows(
        "SELECT row, query, doc, number FROM "
        f"(SELECT row_number() OVER () AS row, * FROM ({source.select})) WHERE {condition} LIMIT 1"
    )
    return found[0] if found else None
