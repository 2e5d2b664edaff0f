"""Why no document of a run is judged: ids that are written in another way, chunks, or other queries.

Documents are compared within their query, as matching does. Of large inputs some queries are looked
at, the same ones in every form of the same data.
"""

from collections.abc import Collection, Iterable
from itertools import chain, islice
from typing import TYPE_CHECKING

from gainful.errors import warn
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.identifiers import ELSEWHERE, Sides, examples, in_order, reading_in_common

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_QUERIES = 200
_DOCUMENTS = 1000  # of each
_OF_OTHER_QUERIES = "Some of them meet under other queries: check that both name the queries alike."
_CHUNK_MARKS = ("#", "::", *":|@/_-.")  # what often stands before the number of a chunk


def warn_of_disjoint_documents(
    documents: Iterable[tuple[Collection[str], Collection[str]]],
    *,
    folded: bool = False,
) -> None:
    """Warn of a run in which no document of a judged query is judged.

    Args:
        documents: those judged and those retrieved, of each query that both have, by `in_order`.
            The first queries are looked at, and the first documents of each.
        folded: whether those retrieved were chunks, cut at the last of some delimiter or in another way.

    Where none is retrieved there is nothing to say.
    """
    some = islice((pair for pair in documents if pair[1]), _QUERIES)
    sides = [(in_order(known)[:_DOCUMENTS], in_order(found)[:_DOCUMENTS]) for known, found in some]
    if sides:
        known, found = names_on_sides(sides)
        hint = hint_for_documents(
            sides,
            "They meet as chunks of documents: chunks='{0}', on the command line --chunks '{0}'.",
            folded=folded,
        )
        warn(
            "document ids: no retrieved document is judged: "
            f"judgments have {examples(known) or 'none'}; the run has {examples(found)}. {hint}"
        )


def sides_in_tables(session: Session, queries: str, judged: str, run: str) -> Sides:
    """Return documents of queries that judgments and run both have, as `warn_of_disjoint_documents` takes them.

    Args:
        session: of the engine.
        queries: a table with the column query, of those judged.
        judged: a table of judgments, with the columns query and doc.
        run: one of a run.
    """
    shared = session.name("shared")
    session.execute(
        f"CREATE TEMP TABLE {shared} AS SELECT DISTINCT query FROM {queries} "
        f"SEMI JOIN {run} USING (query) ORDER BY length(query), query LIMIT {_QUERIES}"
    )
    documents: dict[str, tuple[list[str], list[str]]] = {}
    for side, table in enumerate((judged, run)):
        rows = session.rows(
            f"SELECT query, doc FROM (SELECT DISTINCT query, doc FROM {table} "
            f"SEMI JOIN {shared} USING (query)) QUALIFY row_number() "
            f"OVER (PARTITION BY query ORDER BY length(doc), doc) <= {_DOCUMENTS}"
        )
        for query, doc in rows:
            documents.setdefault(query, ([], []))[side].append(doc)
    session.drop(shared)
    return [documents[query] for query in in_order(documents)]


def sides_on_spark(queries: "DataFrame", judged: "DataFrame", run: "DataFrame") -> Sides:
    """Return documents as `sides_in_tables` does, of frames with the columns query and doc."""
    # Imported here because only runs on Spark have it.
    from pyspark.sql import Window

    from gainful.inputs.spark_frames import functions

    sql = functions()
    shared = queries.join(run.select("query").distinct(), "query", "left_semi")
    shared = shared.orderBy(sql.length("query"), "query").limit(_QUERIES)
    in_query = Window.partitionBy("query").orderBy(sql.length("doc"), "doc")
    documents: dict[str, tuple[list[str], list[str]]] = {}
    for side, frame in enumerate((judged, run)):
        rows = frame.join(shared, "query", "left_semi").select("query", "doc").distinct()
        rows = rows.withColumn("place", sql.row_number().over(in_query))
        for row in rows.where(sql.col("place") <= sql.lit(_DOCUMENTS)).collect():
            documents.setdefault(row["query"], ([], []))[side].append(row["doc"])
    return [documents[query] for query in in_order(documents)]


def names_on_sides(sides: Sides) -> tuple[list[str], list[str]]:
    """Return the ids on either side, each once, in order.

    >>> names_on_sides([(["a"], ["y"]), (["a"], ["x", "y"])])
    (['a'], ['x', 'y'])
    """
    known, found = (in_order({*chain.from_iterable(side)}) for side in zip(*sides, strict=True))
    return known, found


def hint_for_documents(sides: Sides, as_chunks: str, *, folded: bool = False) -> str:
    """Say how documents that are not judged would be, each among those of its own query.

    Args:
        sides: the documents judged and retrieved, query by query; no query shares one.
        as_chunks: what to say of chunks, with {0} for their mark.
        folded: whether the documents retrieved were cut out of the ids of chunks.

    >>> hint_for_documents([(["a"], ["A"])], "")
    'They meet when read in lower case.'
    >>> hint_for_documents([(["a"], ["b"]), (["b"], ["a"])], "")
    'Some of them meet under other queries: check that both name the queries alike.'
    """
    mark = _mark_of_chunks(sides, folded=folded)
    if mark:
        return as_chunks.format(mark)
    hint = reading_in_common(sides)
    if hint:
        return hint
    known, found = names_on_sides(sides)
    return ELSEWHERE if {*known}.isdisjoint(found) else _OF_OTHER_QUERIES


def _mark_of_chunks(sides: Sides, *, folded: bool = False) -> str:
    """Return how ids of a run are cut, where they are chunks of those judged; else nothing.

    Of several marks it is the one under which most ids of the run are judged for their query. What is
    left of chunks that were cut at the last mark has to be cut at the first.

    >>> _mark_of_chunks([(["doc7"], ["doc7#1", "doc8#2"])]), _mark_of_chunks([(["vpn.md"], ["vpn.md::1"])])
    ('#', '::')
    >>> _mark_of_chunks([(["doc7"], ["doc7::256::3"])])
    'first:::'
    >>> _mark_of_chunks([(["doc7"], ["doc8#2"]), (["doc8"], ["doc7#1"])])
    ''
    """
    last = {} if folded else {mark: (mark, str.rpartition) for mark in _CHUNK_MARKS}
    ways = last | {f"first:{mark}": (mark, str.partition) for mark in _CHUNK_MARKS}
    meet = dict.fromkeys(ways, 0)
    for known, found in sides:
        judged = {*known} - {""}
        # An integer that became a float ends in .0, and is no chunk.
        chunks = [text for text in found if not text.endswith(".0")]
        for way, (mark, cut) in ways.items():
            meet[way] += sum(mark in text and cut(text, mark)[0] in judged for text in chunks)
    best = max(meet, key=meet.__getitem__)  # the first of those that are equal
    return best if meet[best] else ""
