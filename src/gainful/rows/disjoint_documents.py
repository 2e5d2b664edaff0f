"""Explain why no document of a run is judged: different spelling of ids, chunks, or other queries."""

from collections.abc import Collection, Iterable
from itertools import chain, islice
from typing import TYPE_CHECKING

from gainful.errors import warn
from gainful.rows.duckdb_engine import Session
from gainful.rows.identifiers import ELSEWHERE, Sides, examples, in_order, reading_in_common

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUERIES = 200  # a sample, the same in every form of the same data
_DOCUMENTS = 1000  # of each query
_OF_OTHER_QUERIES = (
    "Some of them match under other queries: check that both use the same query ids."
)
_CHUNK_MARKS = ("#", "::", *":|@/_-.")  # common separators before the number of a chunk


def warn_of_disjoint_documents(
    documents: Iterable[tuple[Collection[str], Collection[str]]],
    *,
    folded: bool = False,
) -> None:
    """Warn that no retrieved document of the run is judged; do nothing if none was retrieved.

    Args:
        documents: for each query in both inputs, sorted by `in_order`, its judged and its retrieved
            documents. Only the first queries, and the first documents of each, are compared.
        folded: whether the retrieved ids have already been cut from ids of chunks.
    """
    some = islice((pair for pair in documents if pair[1]), QUERIES)
    sides = [
        (in_order(judged)[:_DOCUMENTS], in_order(retrieved)[:_DOCUMENTS])
        for judged, retrieved in some
    ]
    if sides:
        judged, retrieved = names_on_sides(sides)
        hint = hint_for_documents(
            sides,
            "They match as chunks of documents: pass chunks='{0}' (--chunks '{0}' on the command line).",
            folded=folded,
        )
        warn(
            "document ids: no retrieved document is judged: "
            f"judgments have {examples(judged) or 'none'}; the run has {examples(retrieved)}. {hint}",
            "input.disjoint",
        )


def sides_in_tables(session: Session, queries: str, judged: str, run: str) -> Sides:
    """Return the documents of the queries in both tables, for `warn_of_disjoint_documents`.

    Args:
        session: the engine's session.
        queries: a table of the judged queries, with the column query.
        judged: a table of judgments, with the columns query and doc.
        run: a table of the run, with the same columns.
    """
    shared = (
        f"(SELECT DISTINCT query FROM {queries} SEMI JOIN {run} USING (query) "
        f"ORDER BY length(query), query LIMIT {QUERIES})"
    )
    documents: dict[str, tuple[list[str], list[str]]] = {}
    for side, table in enumerate((judged, run)):
        for query, docs in session.rows(
            f"SELECT query, list(doc ORDER BY length(doc), doc)[:{_DOCUMENTS}] FROM "
            f"(SELECT DISTINCT query, doc FROM {table} SEMI JOIN {shared} USING (query)) GROUP BY query"
        ):
            documents.setdefault(query, ([], []))[side].extend(docs)
    return [documents[query] for query in in_order(documents)]


def sides_on_spark(
    queries: "DataFrame", judged: "DataFrame", run: "DataFrame"
) -> dict[str, tuple[list[str], list[str]]]:
    """Return the documents of the queries in both frames, like `sides_in_tables`, by query."""
    # Imported here because only users of Spark have it installed.
    from pyspark.sql import Window

    from gainful.rows.spark_frames import functions

    sql = functions()
    shared = queries.join(run.select("query").distinct(), "query", "left_semi")
    shared = shared.orderBy(sql.length("query"), "query").limit(QUERIES)
    in_query = Window.partitionBy("query").orderBy(sql.length("doc"), "doc")
    documents: dict[str, tuple[list[str], list[str]]] = {}
    for side, frame in enumerate((judged, run)):
        rows = frame.join(shared, "query", "left_semi").select("query", "doc").distinct()
        rows = rows.withColumn("place", sql.row_number().over(in_query))
        for row in rows.where(sql.col("place") <= sql.lit(_DOCUMENTS)).collect():
            documents.setdefault(row["query"], ([], []))[side].append(row["doc"])
    return {query: documents[query] for query in in_order(documents)}


def names_on_sides(sides: Sides) -> tuple[list[str], list[str]]:
    """Return the distinct ids on each side, in order.

    >>> names_on_sides([(["a"], ["y"]), (["a"], ["x", "y"])])
    (['a'], ['x', 'y'])
    """
    judged, retrieved = (
        in_order({*chain.from_iterable(side)}) for side in zip(*sides, strict=True)
    )
    return judged, retrieved


def hint_for_documents(sides: Sides, as_chunks: str, *, folded: bool = False) -> str:
    """Return a hint on how the retrieved documents would match the judged documents of their query.

    Args:
        sides: the judged and the retrieved documents of each query, without any in common.
        as_chunks: the hint for chunks, with {0} for their separator.
        folded: whether the retrieved ids have already been cut from ids of chunks.

    >>> hint_for_documents([(["a"], ["A"])], "")
    'They would match if compared case-insensitively.'
    >>> hint_for_documents([(["a"], ["b"]), (["b"], ["a"])], "")
    'Some of them match under other queries: check that both use the same query ids.'
    """
    mark = _mark_of_chunks(sides, folded=folded)
    if mark:
        return as_chunks.format(mark)
    hint = reading_in_common(sides)
    if hint:
        return hint
    judged, retrieved = names_on_sides(sides)
    return ELSEWHERE if {*judged}.isdisjoint(retrieved) else _OF_OTHER_QUERIES


def _mark_of_chunks(sides: Sides, *, folded: bool = False) -> str:
    """Return the `chunks` option that makes ids of the run match judged documents; empty without one.

    The separator with the most matches wins. Ids that have already been cut at the last separator can
    only be cut at the first one.

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
    for judged_ids, retrieved in sides:
        judged = {*judged_ids} - {""}
        # An id that ends in .0 is an integer that became a float, not a chunk.
        chunks = [text for text in retrieved if not text.endswith(".0")]
        for way, (mark, cut) in ways.items():
            meet[way] += sum(mark in text and cut(text, mark)[0] in judged for text in chunks)
    best = max(meet, key=meet.__getitem__)  # the first of equals
    return best if meet[best] else ""
