"""What Spark does with a run and its judgments before they are matched.

Rows of both are put under each other, sent to the partition of their query, and sorted, so that
each query comes with its judgments first and its documents by rank. The run is sent once. Where
a depth is all that matters, each partition first keeps the documents of each query with the
highest scores, and what is sent does not grow with the lists.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gainful.errors import PolicyError
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.spark.spark_judgments import SparkJudgments
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import shown
from gainful.rows.spark_frames import Awaited, aggregated, by_query, functions, is_faulty

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_UNORDERED = (("ties", "order"), ("duplicates", "first"), ("fold", "first"), ("fold", "in_place"))
# The kinds of rows, in the order in which a query has them.
BARE, JUDGMENT, PRESENT, FAULTY, UNFOLDED, RETRIEVED = range(6)
_ROW = {
    "query": "string",
    "kind": "tinyint",
    "doc": "string",
    "score": "double",
    "value": "double",
}
FEW = 200_000  # queries whose edges every machine can hold
_APART = "spark.sql.requireAllClusterKeysForDistribution"
_SHARES = 1.5  # in how many parts, times the depth, the documents of a query are looked at
_WIDE = 16  # how many of them are columns
Keep = Callable[["DataFrame"], "DataFrame"]
"""Has Spark keep rows that are used twice."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is matched on Spark.

    Attributes:
        policy: with `ties` decided.
        depth: the deepest rank that matters; None for all.
        chunks: how to fold chunks to documents.
        lowest: the lowest grade of all judgments, where the policy asks for it; else infinite.
        cut: whether Spark leaves out what stands below the depth, and counts the documents.
        once: whether it is certain that no document comes twice for a query.
    """

    policy: Policy
    depth: int | None
    chunks: Chunks | None
    lowest: float
    cut: bool = field(init=False)
    once: bool = field(init=False)

    def __post_init__(self) -> None:
        grouped = self.policy.duplicates == "best" or self.chunks is not None
        object.__setattr__(self, "once", grouped)
        object.__setattr__(self, "cut", self.depth is not None and not grouped)


def refuse_orders(policy: Policy) -> None:
    """Refuse a policy that asks for the order of rows, which Spark does not keep."""
    for name, answer in _UNORDERED:
        if getattr(policy, name) == answer:
            raise PolicyError(
                f"policy {name}",
                "a choice that does not need the order of rows, which Spark does not keep",
                shown(answer),
                "Choose another, or evaluate where rows have an order: files, or a data frame.",
            )


def planned(judged: SparkJudgments, run: "DataFrame", plan: Plan, keep: Keep) -> "DataFrame":
    """Return all rows of the judged and the other queries, each query together and in order.

    Args:
        judged: the judgments.
        run: with the columns query, doc and number; ids have any type.
        plan: how they are matched.
        keep: has Spark keep rows for as long as the answer is worked on.

    The columns are query, kind, doc, score, value (a grade, or how many documents) and id, a hash
    of doc.
    """
    sql = functions()
    rows = _judgments(judged)
    if plan.policy.precision == "single":
        run = run.withColumn("number", sql.expr("CAST(CAST(number AS float) AS double) + 0D"))
    if plan.cut:
        itself = plan.policy.drop_self != "no"
        assert plan.depth is not None  # noqa: S101 - what is cut has a depth
        return _in_order(sql, _cut(sql, judged, rows, run, plan.depth, keep, itself=itself), plan)
    judged.facts.start()
    listed = _retrieved(run)
    if plan.chunks is not None:
        # Before rows are sent: after a function of Python, Spark does not know any more that the rows of a
        # query are together, and would send them apart.
        listed = with_document(sql, listed, plan.chunks)
        rows = rows.withColumn("document", sql.col("doc"))
    rows = by_query(rows.unionByName(listed))
    if plan.once:
        rows = _grouped(sql, rows, plan)
    if plan.policy.drop_self != "no":  # after folding: a chunk of the query is the query too
        # Its query is there all the same.
        rows = _marked(sql, rows, f"kind = {RETRIEVED} AND query = doc", PRESENT)
    return _in_order(sql, rows, plan)


def _judgments(judged: SparkJudgments) -> "DataFrame":
    rows = judged.frame.selectExpr(*row_of(JUDGMENT, doc="doc", value="number"))
    if judged.bare is not None:
        rows = rows.unionByName(judged.bare.selectExpr(*row_of(BARE)))
    return rows


def _retrieved(run: "DataFrame") -> "DataFrame":
    """Return the rows of a run, those that are wrong marked."""
    kind = f"if({is_faulty()}, {FAULTY}, {RETRIEVED})"
    query = "coalesce(CAST(query AS string), '')"
    return run.selectExpr(*row_of(kind, query=query, doc="doc", score="number"))


def _marked(sql: Any, rows: "DataFrame", condition: str, kind: int) -> "DataFrame":
    code = f"CAST(if({condition}, {kind}, kind) AS tinyint)"
    return rows.withColumn("kind", sql.expr(code))


def _grouped(sql: Any, rows: "DataFrame", plan: Plan) -> "DataFrame":
    """Return the rows with each document once: the best of several rows or chunks.

    The groups are formed where the rows of a query are together already, unless a setting of the
    session has Spark send each group by itself; then the queries are put together again.
    """
    best = "max(score) AS score", "max(value) AS value"
    chunk = ["doc"] if plan.chunks is None else ["doc", "document"]
    rows = aggregated(rows, ["query", "kind", *chunk], [*best, "count(1) AS times"])
    if plan.policy.duplicates == "error":
        twice = f"kind IN ({RETRIEVED}, {JUDGMENT}) AND times > 1"
        rows = _marked(sql, rows, twice, FAULTY)
    if plan.chunks is not None:
        document = f"if(kind = {RETRIEVED}, document, doc)"
        rows = rows.withColumn("doc", sql.expr(document))
        rows = aggregated(rows, ["query", "kind", "doc"], best)
        rows = _marked(sql, rows, f"kind = {RETRIEVED} AND doc IS NULL", UNFOLDED)
    if rows.sparkSession.conf.get(_APART, "false") == "true":
        rows = by_query(rows)
    return rows.select("query", "kind", "doc", "score", "value")


def with_document(sql: Any, rows: "DataFrame", chunks: Chunks) -> "DataFrame":
    """Return rows with the column document of the chunk in doc; null where it is not known."""
    if isinstance(chunks.by, str):
        mark = "\\Q" + chunks.delimiter.replace("\\E", "\\E\\\\E\\Q") + "\\E"
        parts = sql.split(sql.col("doc"), mark)
        kept = sql.lit(1) if chunks.at_first else sql.size(parts) - 1
        before = sql.array_join(sql.slice(parts, 1, kept), chunks.delimiter)
        whole = sql.when(sql.size(parts) > sql.lit(1), before).otherwise(sql.col("doc"))
        return rows.withColumn("document", whole)
    if not isinstance(chunks.by, Mapping):
        by = (
            chunks.by
        )  # on its own, Spark sends it to its workers; within `Chunks`, a lambda is not kept
        told = sql.udf(lambda chunk: Chunks(by).document_or_none(chunk), "string", useArrow=False)
        return rows.withColumn("document", told(sql.col("doc")))
    known = rows.sparkSession.createDataFrame(
        list(chunks.by.items()), "chunk string, document string"
    )
    return rows.join(sql.broadcast(known), sql.col("doc") == sql.col("chunk"), "left").drop("chunk")


def _in_order(sql: Any, rows: "DataFrame", plan: Plan) -> "DataFrame":
    """Sort the rows of each partition; those that tie by id, where the policy says so."""
    order = [sql.expr("query"), sql.expr("kind"), sql.expr("score").desc()]
    if plan.policy.ties in BY_ID:
        doc = sql.expr("doc")
        order.append(doc.desc() if plan.policy.ties == "doc" else doc)
    return rows.sortWithinPartitions(*order).selectExpr("*", "xxhash64(doc) AS id")


def row_of(kind: int | str, **given: str) -> list[str]:
    """Return the columns that rows of every kind have, in SQL."""
    known = {"query": "query", "kind": kind, **given}
    return [f"CAST({known.get(name, 'NULL')} AS {type_}) AS {name}" for name, type_ in _ROW.items()]


def _cut(
    sql: Any,
    judged: SparkJudgments,
    rows: "DataFrame",
    run: "DataFrame",
    depth: int,
    keep: Keep,
    *,
    itself: bool,
) -> "DataFrame":
    """Return judgments and a run, of each query down to a depth, each query together.

    Args:
        sql: Spark's functions.
        judged: the judgments.
        rows: of them.
        run: with the columns query, doc and number; ids have any type, and become strings
            only where they are sent.
        depth: the deepest rank that matters.
        keep: has Spark keep the counts, which are used twice.
        itself: whether a document with the id of the query is left out.

    How many documents each query has, and whether a row is wrong, is counted in a look at the
    run of its own.
    """
    # Where nothing else is asked of documents, the first look does not even read their ids.
    faulty = is_faulty(doc=itself)
    other = " AND CAST(query AS string) != CAST(doc AS string)" if itself else ""
    sound = _Sound(faulty, f"(NOT {faulty}{other})")
    stats = keep(_stats(run, sound, depth))
    edges = stats.where("NOT faulty AND n > 0").selectExpr("query AS owner", "edge")
    # Fetched, because every step that Spark has to plan ahead takes longer than these numbers. What
    # does not need them is put together meanwhile.
    known = "count(1) AS queries", "coalesce(min(edge), double('inf')) AS lowest"
    look = Awaited(run.sparkSession, lambda: edges.selectExpr(*known).collect()[0])
    look.start()
    judged.facts.start()
    rows = rows.unionByName(_counted(stats))
    listed = run.where(sound.mine)
    near = rows.unionByName(_listed(_above_edges(sql, listed, edges)))
    found = look()
    if found["queries"] > FEW:
        if judged.facts().queries > FEW:
            return _among_steps(sql, rows.unionByName(_listed(listed)), depth)
        names = sql.broadcast(judged.frame.selectExpr("query AS name").distinct())
        edges = edges.join(names, sql.expr("CAST(owner AS string) = name"), "left_semi")
        near = rows.unionByName(_listed(_above_edges(sql, listed, edges)))
    # Where queries have similar scores, most rows are below the lowest of all edges. Spark sees to
    # it that their edges are not even looked up.
    near = near.where(f"kind != {RETRIEVED} OR score >= double('{found['lowest']}')")
    about = judged.facts().count + found["queries"] * math.ceil(_SHARES * depth + 1)
    return by_query(near, about)


@dataclass(frozen=True, slots=True)
class _Sound:
    """The conditions, in SQL, that a row is wrong, and that its document is listed."""

    faulty: str
    mine: str


def _above_edges(sql: Any, run: "DataFrame", edges: "DataFrame") -> "DataFrame":
    """Keep what has a score as high as one that so many documents are known to reach.

    The edges are few, and every machine gets them all. If rows were read again in another order,
    an edge might be too high: then fewer documents than the depth come, and the stream notices.
    """
    near = run.join(sql.broadcast(edges), sql.expr("query = owner"), "left")
    return near.where("number >= edge OR doc IS NULL")


def _stats(run: "DataFrame", sound: _Sound, depth: int) -> "DataFrame":
    """Return the edge of each query, how many documents it has, and whether a row is wrong.

    The documents of a query are dealt into parts, and the highest score of each part is found. So
    many parts have a document at least as good as the best but so many of these: that is the
    edge. It is close to the score at the depth, and takes no sort of the run. A few parts are columns
    of one group, so that for a small depth the groups are the queries. Neighbours are dealt
    to different parts, for in most runs the best of a query are neighbours; the round begins at
    another part each time, for the rows of several queries may alternate.
    """
    parts = math.ceil(_SHARES * depth)
    wide = min(parts, _WIDE)
    number = "monotonically_increasing_id()"
    start = f"pmod(xxhash64({number} div {parts}), {parts})"
    dealt = run.selectExpr(
        "query",
        f"if({sound.mine}, number, NULL) AS number",
        f"{sound.faulty} AS faulty",
        f"CAST(({number} + {start}) % {parts} AS int) AS part",
    ).selectExpr("*", f"part % {wide} AS place", f"part div {wide} AS share")
    best = (f"max(number) FILTER (WHERE place = {place})" for place in range(wide))
    bests = f"array({', '.join(best)})"
    counts = "count(number) AS n", "max(faulty) AS faulty"
    if parts > wide:
        dealt = aggregated(dealt, ["query", "share"], [f"{bests} AS bests", *counts])
        bests, counts = "flatten(collect_list(bests))", ("sum(n) AS n", "max(faulty) AS faulty")
    edge = f"coalesce(get(sort_array({bests}, false), {depth - 1}), -double('inf'))"
    return aggregated(dealt, ["query"], [f"{edge} AS edge", *counts])


def _among_steps(sql: Any, rows: "DataFrame", depth: int) -> "DataFrame":
    """Keep what has one of the highest scores, of so many different ones.

    What has no score, judgments and counts, ranks first, with all that has none. Spark leaves out
    the others before it sends the rows, where it sees that nothing but a rank is asked for.
    """
    by_score = "PARTITION BY query ORDER BY score DESC NULLS FIRST"
    step = sql.expr(f"dense_rank() OVER ({by_score})")
    return rows.withColumn("step", step).where(f"step <= {depth + 1}").drop("step")


def _counted(stats: "DataFrame") -> "DataFrame":
    kind = f"if(faulty OR isnan(edge), {FAULTY}, {PRESENT})"
    query = "coalesce(CAST(query AS string), '')"
    return stats.selectExpr(*row_of(kind, query=query, value="n"))


def _listed(run: "DataFrame") -> "DataFrame":
    kind = f"if(doc IS NULL, {FAULTY}, {RETRIEVED})"
    return run.selectExpr(*row_of(kind, doc="doc", score="number"))
