"""Scores that are probably ranks: 1, 2, 3 … from row to row of every query.

Taken as scores, they turn a ranking round. Whole numbers that fall, or stand in another order, are
left alone: scores may be whole, too.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.errors import warn
from gainful.inputs.arrays import Lists
from gainful.inputs.engine import Session
from gainful.inputs.rows import Row, rows
from gainful.inputs.source import Source
from gainful.inputs.sources import read_into
from gainful.inputs.spark import functions
from gainful.inputs.texts import ready

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FIRST = (0, 1)  # where ranks begin
_HEAD = 200  # rows, of which the first two tell of most runs that they have scores
_IN_TABLES = 2  # how high ranks must go to be told from scores
_ELSEWHERE = 3  # the same; in dicts and arrays, two documents with 1 and 2 are an example
# SQL, with {rows} for a table, that tells whether its numbers rise by 1 in every query.
RISE = (
    "SELECT min(number - place) = max(number - place) AND min(number) IN (0, 1) "
    f"AND max(number) >= {_IN_TABLES} FROM (SELECT number, "
    "row_number() OVER (PARTITION BY query ORDER BY row) AS place "
    "FROM (SELECT query, number, row_number() OVER () AS row FROM {rows}))"
)
_OF_TABLE = "name their column: columns rank=…"
_OF_OTHERS = "give their negatives"


def warn_of_ranks(run: object, session: Session) -> None:
    """Warn of a run, a table or a dict of dicts, whose scores are probably ranks."""
    if isinstance(run, Mapping):
        highest = _highest(_documents(run))
        if highest is not None and highest >= _ELSEWHERE:
            _warn(_OF_OTHERS)
    elif isinstance(run, Source) and not run.kind.ascending and are_ranks(run, session):
        _warn(_OF_TABLE)


def warn_of_ranks_in_arrays(lists: Lists) -> None:
    """Warn of lists whose scores are probably ranks."""
    head = lists.scores[:_ELSEWHERE].tolist()
    if head[0] not in _FIRST or any(not 0 <= each - head[0] < _ELSEWHERE for each in head):
        return  # as in most
    order = np.argsort(lists.starts, kind="stable")
    places = np.arange(lists.scores.size) - np.repeat(lists.starts[order], lists.lengths[order])
    if lists.scores.max() >= _ELSEWHERE and (lists.scores == head[0] + places).all():
        _warn(_OF_OTHERS)


def warn_of_ranks_on_spark(run: "DataFrame") -> None:
    """Warn of a run on Spark, with the columns query and number, whose scores are probably ranks.

    Its rows have no order but that in which the first of them come. Of all of them it is looked
    at whether each query has as many as its numbers count.
    """
    sql = functions()
    head = run.select("query", "number").limit(_HEAD).collect()
    highest = _highest((row["query"], row["number"]) for row in head)
    if highest is None or highest < _IN_TABLES:
        return
    if len(head) == _HEAD:
        least, most = sql.min("number"), sql.max("number")
        odd = (least != sql.lit(head[0]["number"])) | (most - least + 1 != sql.count("number"))
        queries = run.groupBy("query").agg(odd.alias("odd"))
        if queries.where("odd").limit(1).collect():
            return
    _warn(_OF_TABLE)


def _warn(remedy: str) -> None:
    warn(
        "scores: 1, 2, 3 … from row to row of every query, as ranks are, with the highest taken for "
        f"the best. If they are ranks, {remedy}."
    )


def are_ranks(source: Source, session: Session) -> bool:
    """Return whether the scores of a table are probably ranks."""
    found = _rows(source, session)
    highest = _highest(islice(found, _HEAD))
    if highest is None:
        return False
    if next(found, None) is None:
        return highest >= _IN_TABLES
    table = session.name("numbers")
    read_into(session, ready(source, session), table, "SELECT query, number FROM {rows}")
    rise = bool(session.rows(RISE.format(rows=table))[0][0])
    session.drop(table)
    return rise


def _highest(numbers: Iterable[tuple[Any, Any]]) -> float | None:
    """Return the highest number where they rise by 1 from row to row of each query; else None.

    >>> _highest([("q", 1), ("r", 1), ("q", 2)]), _highest([("q", 2), ("q", 1)])
    (2, None)
    """
    follows: dict[Any, float] = {}
    for query, number in numbers:
        if query is None or not isinstance(number, int | float | np.number):
            return None
        if not follows:
            first = number
            if first not in _FIRST:
                return None
        if number != follows.get(query, first):
            return None
        follows[query] = number + 1
    return max(follows.values()) - 1 if follows else None


def _documents(run: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    for query, documents in run.items():
        if not isinstance(documents, Mapping):  # which is said when they are matched
            return
        for number in documents.values():
            yield query, number


def _rows(source: Source, session: Session) -> Iterator[tuple[str, float | None]]:
    """Yield query and number of the rows of a table, a few more than are looked at."""
    import duckdb

    if source.lines and source.file is not None:
        for row in rows(source.file, source.layout, source.kind):
            yield (row.query, row.number) if isinstance(row, Row) else ("", None)
        return
    try:
        yield from session.rows(f"SELECT query, number FROM ({source.select}) LIMIT {_HEAD + 1}")
    except (duckdb.Error, UnicodeError):  # which is said when all rows are read
        return
