"""Scores that are probably ranks: in every query 1, 2, 3 … or 0, 1, 2 …, in any order of rows.

Taken as scores, they turn a ranking round. Where they fall from row to row of every query, as
n, n - 1, …, 1, they are scores made from ranks, and right.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.errors import warn
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.faulty_rows import Row, rows
from gainful.inputs.run_and_judgment_columns import is_name_of_ranks
from gainful.inputs.table_source import Source, read_into, ready

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gainful.inputs.arrays import Lists

_FIRST = (0, 1)  # where ranks begin
_HEAD = 200  # rows, which tell of most runs that they have scores
_IN_TABLES = 2  # how high ranks must go to be told from scores
_ELSEWHERE = 3  # the same; in dicts and arrays, two documents with 1 and 2 are an example
Head = list[tuple[Any, Any]]
# SQL, with {rows} for a table, that tells whether its numbers may be ranks. It sorts nothing.
_MAY_BE = (
    "SELECT min(low) = max(low) AND min(low) IN (0, 1) AND bool_and(high - low = n - 1) FROM ("
    "SELECT min(number) AS low, max(number) AS high, count(*) AS n FROM {rows} GROUP BY query)"
)
# The same, that tells whether they are: ranks in every query, which do not fall in all of them.
ARE_RANKS = (
    "SELECT min(number - rank) = max(number - rank) AND min(number) IN (0, 1) "
    f"AND max(number) >= {_IN_TABLES} AND NOT bool_and(rank + place = n + 1) FROM ("
    "SELECT number, row_number() OVER (PARTITION BY query ORDER BY number) AS rank, "
    "row_number() OVER (PARTITION BY query ORDER BY row) AS place, "
    "count(*) OVER (PARTITION BY query) AS n "
    "FROM (SELECT query, number, row_number() OVER () AS row FROM {rows}))"
)
_OF_TABLE = "name their column: columns rank=…"
_OF_OTHERS = "give their negatives"


def warn_of_ranks_in_dicts(run: Mapping[Any, Any]) -> None:
    """Warn of a dict of dicts whose scores are probably ranks."""
    first = _first(_documents(run), _ELSEWHERE)
    if first is not None:
        _warn(first, _OF_OTHERS)


def warn_of_ranks_in_table(source: Source, session: Session, head: Head) -> None:
    """Warn of a table whose scores are probably ranks, or come from a column of that name.

    The head is what `first_rows` returns.
    """
    if source.kind.ascending:
        return
    first = _first_in_table(source, session, head)
    if first is not None:
        _warn(first, _OF_TABLE)
    elif (name := _named_as_rank(source)) and _may_be_ranks(head):
        warn(
            f"scores: they come from the column {name!r}, which is a name of ranks; the highest "
            f"is taken for the best. If they are ranks, name their column: columns rank={name}."
        )


def warn_of_ranks_in_arrays(lists: "Lists") -> None:
    """Warn of lists whose scores are probably ranks."""
    filled = np.flatnonzero(lists.lengths)
    if not filled.size:
        return
    start, length = lists.starts[filled[0]], lists.lengths[filled[0]]
    head = np.sort(lists.scores[start : start + length])
    first = head[0]
    if first not in _FIRST or (head != first + np.arange(length)).any():
        return  # as in most
    order = np.argsort(lists.starts, kind="stable")
    lengths = lists.lengths[order]
    places = np.arange(lists.scores.size) - np.repeat(lists.starts[order], lengths)
    if lists.scores.max() < _ELSEWHERE:
        return
    if (lists.scores == first + np.repeat(lengths, lengths) - 1 - places).all():
        return  # they fall
    owner = np.repeat(np.arange(lengths.size), lengths)
    if (lists.scores[np.lexsort((lists.scores, owner))] == first + places).all():
        _warn(int(first), _OF_OTHERS)


def warn_of_ranks_on_spark(run: "DataFrame") -> None:
    """Warn of a run on Spark, with the columns query and number, whose scores are probably ranks.

    Its rows have no order but that in which the first of them come: only of these it is known
    whether they fall.
    """
    from gainful.inputs.spark_frames import functions

    sql = functions()
    head = [
        (row["query"], row["number"])
        for row in run.select("query", "number").limit(_HEAD).collect()
    ]
    if len(head) < _HEAD:
        first = _first(_lists(head), _IN_TABLES)
    else:
        first = _first_on_spark(run, sql) if _may_be_ranks(head) and not _fall(head) else None
    if first is not None:
        _warn(first, _OF_TABLE)


def _first_on_spark(run: "DataFrame", sql: Any) -> int | None:
    """Return with what the ranks of a long run begin; None where they are none."""
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
        f"ranks; the highest is taken for the best. If they are ranks, {remedy}."
    )


def _first_in_table(source: Source, session: Session, head: Head) -> int | None:
    """Return with what the numbers of a table begin if they are probably ranks; else None."""
    if len(head) <= _HEAD:
        return _first(_lists(head), _IN_TABLES)
    if not _may_be_ranks(head) or _fall(head):
        return None
    table = session.name("numbers")
    read_into(session, ready(source, session), table, "SELECT query, number FROM {rows}")
    ranks = all(session.rows(each.format(rows=table))[0][0] for each in (_MAY_BE, ARE_RANKS))
    first = int(session.rows(f"SELECT min(number) FROM {table}")[0][0]) if ranks else None
    session.drop(table)
    return first


def _named_as_rank(source: Source) -> str:
    """Return the name of the column of scores where it is one of ranks; else an empty text."""
    name = source.number_column
    return name if is_name_of_ranks(name) else ""


def _first(lists: Iterable[Sequence[Any]], least: int) -> int | None:
    """Return with what ranks begin, if each list has them in some order, up to `least` at least.

    None if they are none, or fall in every list.

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
    """Return whether some rows of a table may have ranks: whole numbers from 0, each once.

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
    """Return whether the numbers fall from row to row of every query that has more than one."""
    pairs = [pair for numbers in _lists(head) for pair in pairwise(numbers)]
    return bool(pairs) and all(before > after for before, after in pairs)


def _lists(rows: Iterable[tuple[Any, Any]]) -> list[list[Any]]:
    """Return the numbers of each query, in the order of the rows."""
    found: dict[Any, list[Any]] = {}
    for query, number in rows:
        found.setdefault(query, []).append(number)
    return [*found.values()]


def _documents(run: Mapping[Any, Any]) -> Iterator[list[Any]]:
    for documents in run.values():
        if not isinstance(documents, Mapping):  # which is said when they are matched
            return
        yield [*documents.values()]


def first_rows(source: Source, session: Session) -> Head:
    """Return query and number of the first rows of a table, one more than are looked at."""
    return [*islice(_rows(source, session), _HEAD + 1)]


def _rows(source: Source, session: Session) -> Iterator[tuple[str, float | None]]:
    """Yield query and number of the rows of a table, a few more than are looked at."""
    if source.lines and source.file is not None:
        for row in rows(source.file, source.layout, source.kind):
            yield (row.query, row.number) if isinstance(row, Row) else ("", None)
        return
    if source.plain is not None:
        yield from zip(source.plain.queries, source.plain.numbers, strict=True)
        return
    import duckdb  # which clean lines do without

    try:
        yield from session.rows(f"SELECT query, number FROM ({source.select}) LIMIT {_HEAD + 1}")
    except (duckdb.Error, UnicodeError):  # which is said when all rows are read
        return
