"""What Spark does with a run and its judgments before they are matched.

Rows of both are put under each other, sent to the partition of their query, and sorted, so that
each query comes with its judgments first and its documents by rank. The run is sent once. Where
a depth is all that matters, each partition first keeps the documents of each query with the
highest scores, and what is sent does not grow with the lists.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gainful.errors import PolicyError
from gainful.inputs.spark import as_texts, functions, is_faulty
from gainful.matching.chunks import Chunks
from gainful.matching.spark.cutting import cut
from gainful.matching.spark.judged import SparkJudged
from gainful.matching.spark.tagged import (
    BARE,
    FAULTY,
    JUDGMENT,
    PRESENT,
    RETRIEVED,
    UNFOLDED,
    row_of,
)
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import shown

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_UNORDERED = {"ties": "order", "duplicates": "first", "fold": "first"}


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is matched on Spark.

    Attributes:
        policy: with `ties` decided.
        depth: the deepest rank that matters; None for all.
        chunks: how to fold chunks to documents.
        lowest: the lowest grade of all judgments.
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
    for name, answer in _UNORDERED.items():
        if getattr(policy, name) == answer:
            raise PolicyError(
                f"policy {name}",
                "a choice that does not need the order of rows, which Spark does not keep",
                shown(answer),
                "Choose another, or evaluate where rows have an order: files, or a data frame.",
            )


def planned(judged: SparkJudged, run: "DataFrame", plan: Plan) -> "DataFrame":
    """Return all rows of the judged and the other queries, each query together and in order.

    Args:
        judged: the judgments.
        run: with the columns query, doc and number; ids have any type.
        plan: how they are matched.

    The columns are query, kind, doc, score, value (a grade, or how many documents) and id, a hash
    of doc.
    """
    sql = functions()
    rows = _judgments(sql, judged)
    if plan.policy.precision == "single":
        run = run.withColumn(
            "number", sql.col("number").cast("float").cast("double") + sql.lit(0.0)
        )
    if plan.cut:
        itself = plan.policy.drop_self != "no"
        assert plan.depth is not None  # noqa: S101 - what is cut has a depth
        return _in_order(sql, cut(judged, rows, run, plan.depth, itself=itself), plan)
    rows = rows.unionByName(_retrieved(sql, as_texts(run))).repartition("query")
    if plan.once:
        rows = _grouped(sql, rows, plan)
    if plan.policy.drop_self != "no":  # after folding: a chunk of the query is the query too
        itself = (sql.col("kind") == sql.lit(RETRIEVED)) & (sql.col("query") == sql.col("doc"))
        rows = _marked(sql, rows, itself, PRESENT)  # its query is there all the same
    return _in_order(sql, rows, plan)


def _judgments(sql: Any, judged: SparkJudged) -> "DataFrame":
    rows = judged.frame.select(*row_of(sql, JUDGMENT, doc=sql.col("doc"), value=sql.col("number")))
    if judged.bare is not None:
        rows = rows.unionByName(judged.bare.select(*row_of(sql, BARE)))
    return rows


def _retrieved(sql: Any, run: "DataFrame") -> "DataFrame":
    """Return the rows of a run, those that are wrong marked."""
    kind = sql.when(is_faulty(sql), sql.lit(FAULTY)).otherwise(sql.lit(RETRIEVED))
    query = sql.coalesce(sql.col("query"), sql.lit(""))
    return run.select(*row_of(sql, kind, query=query, doc=sql.col("doc"), score=sql.col("number")))


def _marked(sql: Any, rows: "DataFrame", condition: "Column", kind: int) -> "DataFrame":
    code = sql.when(condition, sql.lit(kind)).otherwise(sql.col("kind"))
    return rows.withColumn("kind", code.cast("tinyint"))


def _grouped(sql: Any, rows: "DataFrame", plan: Plan) -> "DataFrame":
    """Return the rows with each document once: the best of several rows or chunks.

    The groups are formed where the rows of a query are together already.
    """
    best = sql.max("score").alias("score"), sql.max("value").alias("value")
    rows = rows.groupBy("query", "kind", "doc").agg(*best, sql.count(sql.lit(1)).alias("times"))
    listed = sql.col("kind") == sql.lit(RETRIEVED)
    if plan.policy.duplicates == "error":
        rows = _marked(sql, rows, listed & (sql.col("times") > sql.lit(1)), FAULTY)
    if plan.chunks is not None:
        rows = with_document(sql, rows, plan.chunks)
        document = sql.when(listed, sql.col("document")).otherwise(sql.col("doc"))
        rows = rows.withColumn("doc", document).groupBy("query", "kind", "doc").agg(*best)
        rows = _marked(sql, rows, listed & sql.col("doc").isNull(), UNFOLDED)
    return rows.select("query", "kind", "doc", "score", "value")


def with_document(sql: Any, rows: "DataFrame", chunks: Chunks) -> "DataFrame":
    """Return rows with the column document of the chunk in doc; null where it is not known."""
    if isinstance(chunks.by, str):
        mark = "\\Q" + chunks.by.replace("\\E", "\\E\\\\E\\Q") + "\\E"
        parts = sql.split(sql.col("doc"), mark)
        before = sql.array_join(sql.slice(parts, 1, sql.size(parts) - 1), chunks.by)
        whole = sql.when(sql.size(parts) > sql.lit(1), before).otherwise(sql.col("doc"))
        return rows.withColumn("document", whole)
    known = rows.sparkSession.createDataFrame(
        list(chunks.by.items()), "chunk string, document string"
    )
    return rows.join(sql.broadcast(known), sql.col("doc") == sql.col("chunk"), "left").drop("chunk")


def _in_order(sql: Any, rows: "DataFrame", plan: Plan) -> "DataFrame":
    """Sort the rows of each partition; those that tie by id, where the policy says so."""
    order = [sql.col("query"), sql.col("kind"), sql.col("score").desc()]
    if plan.policy.ties in BY_ID:
        doc = sql.col("doc")
        order.append(doc.desc() if plan.policy.ties == "doc" else doc.asc())
    return rows.sortWithinPartitions(*order).withColumn("id", sql.xxhash64("doc"))
