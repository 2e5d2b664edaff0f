"""Detect scores that are probably ranks, 1, 2, 3 … or 0, 1, 2 … in every query, which reverse a ranking."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.errors import warn
from gainful.rows.duckdb_engine import EngineError, Session
from gainful.rows.input_types import Record
from gainful.rows.run_and_judgment_columns import is_name_of_ranks
from gainful.rows.table_source import Source, read_into, ready
from gainful.rows.text_formats import Row, rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gainful.rows.arrays import Lists

_FIRST = (0, 1)  # possible first ranks
_HEAD = 200  # rows, enough to recognise scores in most runs
_IN_TABLES = 2  # the highest rank needed to distinguish ranks from scores
_ELSEWHERE = (
    3  # the same for dicts and arrays, where two documents with 1 and 2 are usually an example
)
Head = list[tuple[Any, Any]]
# SQL for whether numbers may be ranks, by their minimum, maximum and count in each query.
_MAY_BE = (
    "SELECT min(low) = max(low) AND min(low) IN (0, 1) AND bool_and(high - low = n - 1), min(low) "
    "FROM {groups} WHERE n > 0"
)
_GROUPS = (
    "(SELECT min(number) AS low, max(number) AS high, count(*) AS n FROM {rows} GROUP BY query)"
)
# SQL for whether rows contain ranks in every query that don't fall in all queries. Ranks that fall from
# row to row are scores made from ranks, n, n - 1, …, 1, and correct.
_ARE_RANKS = (
    "SELECT min(number - rank) = max(number - rank) AND min(number) IN (0, 1) "
    f"AND max(number) >= {_IN_TABLES} AND NOT bool_and(rank + place = n + 1) FROM ("
    "SELECT number, row_number() OVER (PARTITION BY query ORDER BY number) AS rank, "
    "row_number() OVER (PARTITION BY query ORDER BY row) AS place, "
    "count(*) OVER (PARTITION BY query) AS n "
    "FROM (SELECT query, number, row_number() OVER () AS row FROM {rows}))"
)
_OF_TABLE = "name their column: columns rank=…"
_OF_OTHERS = "give their negatives"


def warn_of_ranks_in_dicts(run: Record) -> None:
    """Warn about a dict of dicts whose scores are probably ranks."""
    first = _first(_documents(run), _ELSEWHERE)
    if first is not None:
        _warn(first, _OF_OTHERS)


def warn_of_ranks_in_table(source: Source, session: Session, head: Head) -> None:
    """Warn about a table whose scores are probably ranks, or come from a column named like ranks.

    The head is the result of `first_rows`.
    """
    if source.kind.ascending:
        return
    first = _first_in_table(source, session, head)
    if first is not None:
        _warn(first, _OF_TABLE)
    elif is_name_of_ranks(name := source.number_column) and _may_be_ranks(head):
        warn(
            f"scores: they come from the column {name!r}, which is a name of ranks; the highest "
            f"is taken for the best. If they are ranks, name their column: columns rank={name}.",
            "run.ranks-as-scores",
        )


def warn_of_ranks_in_arrays(lists: "Lists") -> None:
    """Warn about lists whose scores are probably ranks."""
    edges = zip(lists.starts.tolist(), lists.lengths.tolist(), strict=True)
    scores = (lists.scores[start : start + length].tolist() for start, length in edges)
    first = _first(scores, _ELSEWHERE)
    if first is not None:
        _warn(first, _OF_OTHERS)


def warn_of_ranks_on_spark(run: "DataFrame") -> None:
    """Warn about a run on Spark, with the columns query and number, whose scores are probably ranks.

    Rows on Spark have no fixed order, so only the first rows show whether scores fall.
    """
    rows = run.select("query", "number").limit(_HEAD + 1).collect()
    head = [(row["query"], row["number"]) for row in rows]
    first = _first_of_long(head, lambda: _first_on_spark(run))
    if first is not None:
        _warn(first, _OF_TABLE)


def _first_on_spark(run: "DataFrame") -> int | None:
    """Return the first rank in a long run; None if its scores aren't ranks."""
    from gainful.rows.spark_frames import functions

    sql: Any = functions()
    least, most = sql.min("number"), sql.max("number")
    queries = run.groupBy("query").agg(
        least.alias("low"), (most - least + 1 == sql.count("number")).alias("full")
    )
    low, high, full = queries.agg(sql.min("low"), sql.max("low"), sql.min("full")).collect()[0]
    if not full or low != high or low not in _FIRST:
        return None
    twice = run.groupBy("query", "number").count().where("count > 1")
    return None if twice.limit(1).collect() else int(low)


def _warn(first: int, remedy: str) -> None:
    warn(
        f"scores: those of every query are {first}, {first + 1}, {first + 2} …, so they look like "
        f"ranks; the highest is taken for the best. If they are ranks, {remedy}.",
        "run.ranks-as-scores",
    )


def _first_in_table(source: Source, session: Session, head: Head) -> int | None:
    """Return the first rank if the numbers of a table are probably ranks; else None."""

    def whole() -> int | None:
        table = session.name("numbers")
        read_into(session, ready(source, session), table, "SELECT query, number FROM {rows}")
        first = ranks_on_engine(session, table)
        session.drop(table)
        return first

    return _first_of_long(head, whole)


def ranks_on_engine(session: Session, rows: str, groups: str = "") -> int | None:
    """Return the first rank if the numbers of a table on the engine are probably ranks; else None.

    `groups` is a table of its queries with n, low and high, if there is one.
    """
    may_be = _MAY_BE.format(groups=groups or _GROUPS.format(rows=rows))
    possible, first = session.rows(may_be)[0]
    if not possible or not session.rows(_ARE_RANKS.format(rows=rows))[0][0]:
        return None
    return int(first)


def _first_of_long(head: Head, whole: Callable[[], int | None]) -> int | None:
    """Return the first rank, from the first rows if there are no more, or else from all rows."""
    if len(head) <= _HEAD:
        return _first(_lists(head), _IN_TABLES)
    return None if not _may_be_ranks(head) or _fall(head) else whole()


def _first(lists: Iterable[Sequence[Any]], least: int) -> int | None:
    """Return the first rank if each list contains consecutive ranks in some order, up to `least` or more.

    None if they aren't ranks, or fall in every list.

    >>> _first([[2, 1, 3], [1]], 3), _first([[3, 2, 1], [1]], 3), _first([[1, 3]], 3)
    (1, None, None)
    """
    first, highest, falls = None, -1, True
    for numbers in filter(None, lists):
        if not all(
            isinstance(number, int | float | np.integer | np.floating) for number in numbers
        ):
            return None
        if first is None:
            if min(numbers) not in _FIRST:
                return None
            first = int(min(numbers))
        ranks = [*range(first, first + len(numbers))]
        if sorted(numbers) != ranks:
            return None
        highest = max(highest, ranks[-1])
        falls = falls and [*numbers] == ranks[::-1]
    return first if highest >= least and not falls else None


def _may_be_ranks(head: Iterable[tuple[Any, Any]]) -> bool:
    """Return whether rows may contain ranks: non-negative integers that don't repeat within a query.

    >>> _may_be_ranks([("q", 7.0), ("r", 7.0)]), _may_be_ranks([("q", 7.0), ("q", 7.0)])
    (True, False)
    """
    lists = _lists(head)
    return bool(lists) and all(
        None not in numbers
        and all(number >= 0 and number % 1 == 0 for number in numbers)
        and len({*numbers}) == len(numbers)
        for numbers in lists
    )


def _fall(head: Iterable[tuple[Any, Any]]) -> bool:
    """Return whether the numbers of every query with more than one row fall from row to row."""
    pairs = [pair for numbers in _lists(head) for pair in pairwise(numbers)]
    return bool(pairs) and all(before > after for before, after in pairs)


def _lists(rows: Iterable[tuple[Any, Any]]) -> list[list[Any]]:
    """Return the numbers of each query in row order."""
    lists: dict[Any, list[Any]] = {}
    for query, number in rows:
        lists.setdefault(query, []).append(number)
    return [*lists.values()]


def _documents(run: Record) -> Iterator[list[Any]]:
    for documents in run.values():
        if not isinstance(documents, Mapping):  # matching reports the error
            return
        yield [*documents.values()]


def first_rows(source: Source, session: Session) -> Head:
    """Return query and number of the first rows of a table, one more than are inspected."""
    return [*islice(_rows(source, session), _HEAD + 1)]


def _rows(source: Source, session: Session) -> Iterator[tuple[str, float | None]]:
    """Yield query and number of the first rows of a table, a few more than are inspected."""
    if source.lines and source.file is not None:
        for row in rows(source.file, source.layout, source.kind):
            yield (row.query, row.number) if isinstance(row, Row) else ("", None)
        return
    if source.plain is not None:
        yield from zip(source.plain.queries, source.plain.numbers, strict=True)
        return
    try:
        yield from session.rows(f"SELECT query, number FROM ({source.select}) LIMIT {_HEAD + 1}")
    except EngineError:  # reported when all rows are read
        return
