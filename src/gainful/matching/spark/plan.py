"""What Spark does with a run and its judgments before they are matched.

Rows of both are put under each other, sent to the partition of their query, and sorted, so that
each query comes with its judgments first and its documents by rank. The run is sent once. Where
a depth is all that matters, each partition first keeps the documents of each query with the
highest scores, and what is sent does not grow with the lists.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gainful.errors import PolicyError
from gainful.inputs.spark_frames import as_texts, functions, is_faulty
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.spark.spark_judgments import SparkJudgments
from gainful.measures.policy import BY_ID, Policy
from gainful.message_texts import shown

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_UNORDERED = {"ties": "order", "duplicates": "first", "fold": "first"}
# The kinds of rows, in the order in which a query has them.
BARE, JUDGMENT, PRESENT, FAULTY, UNFOLDED, RETRIEVED = range(6)
FEW = 200_000  # judged queries that every machine can hold
_APART = "spark.sql.requireAllClusterKeysForDistribution"
_SHARES = 2  # in how many parts, times the depth, the documents of a query are looked at
Keep = Callable[["DataFrame"], "DataFrame"]
"""Has Spark keep rows that are used twice."""


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
    rows = _judgments(sql, judged)
    if plan.policy.precision == "single":
        run = run.withColumn(
            "number", sql.col("number").cast("float").cast("double") + sql.lit(0.0)
        )
    if plan.cut:
        itself = plan.policy.drop_self != "no"
        assert plan.depth is not None  # noqa: S101 - what is cut has a depth
        return _in_order(sql, _cut(judged, rows, run, plan.depth, keep, itself=itself), plan)
    listed = _retrieved(sql, as_texts(run))
    if plan.chunks is not None:
        # Before rows are sent: after a function of Python, Spark does not know any more that the rows of a
        # query are together, and would send them apart.
        listed = with_document(sql, listed, plan.chunks)
        rows = rows.withColumn("document", sql.col("doc"))
    rows = rows.unionByName(listed).repartition("query")
    if plan.once:
        rows = _grouped(sql, rows, plan)
    if plan.policy.drop_self != "no":  # after folding: a chunk of the query is the query too
        itself = (sql.col("kind") == sql.lit(RETRIEVED)) & (sql.col("query") == sql.col("doc"))
        rows = _marked(sql, rows, itself, PRESENT)  # its query is there all the same
    return _in_order(sql, rows, plan)


def _judgments(sql: Any, judged: SparkJudgments) -> "DataFrame":
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

    The groups are formed where the rows of a query are together already, unless a setting of the
    session has Spark send each group by itself; then the queries are put together again.
    """
    best = sql.max("score").alias("score"), sql.max("value").alias("value")
    chunk = ["doc"] if plan.chunks is None else ["doc", "document"]
    rows = rows.groupBy("query", "kind", *chunk).agg(*best, sql.count(sql.lit(1)).alias("times"))
    listed = sql.col("kind") == sql.lit(RETRIEVED)
    if plan.policy.duplicates == "error":
        of_documents = listed | (sql.col("kind") == sql.lit(JUDGMENT))
        rows = _marked(sql, rows, of_documents & (sql.col("times") > sql.lit(1)), FAULTY)
    if plan.chunks is not None:
        document = sql.when(listed, sql.col("document")).otherwise(sql.col("doc"))
        rows = rows.withColumn("doc", document).groupBy("query", "kind", "doc").agg(*best)
        rows = _marked(sql, rows, listed & sql.col("doc").isNull(), UNFOLDED)
    if rows.sparkSession.conf.get(_APART, "false") == "true":
        rows = rows.repartition("query")
    return rows.select("query", "kind", "doc", "score", "value")


def with_document(sql: Any, rows: "DataFrame", chunks: Chunks) -> "DataFrame":
    """Return rows with the column document of the chunk in doc; null where it is not known."""
    if isinstance(chunks.by, str):
        mark = "\\Q" + chunks.by.replace("\\E", "\\E\\\\E\\Q") + "\\E"
        parts = sql.split(sql.col("doc"), mark)
        before = sql.array_join(sql.slice(parts, 1, sql.size(parts) - 1), chunks.by)
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
    order = [sql.col("query"), sql.col("kind"), sql.col("score").desc()]
    if plan.policy.ties in BY_ID:
        doc = sql.col("doc")
        order.append(doc.desc() if plan.policy.ties == "doc" else doc.asc())
    return rows.sortWithinPartitions(*order).withColumn("id", sql.xxhash64("doc"))


def row_of(sql: Any, kind: "int | Column", **given: "Column") -> list["Column"]:
    """Return the columns that rows of every kind have."""
    known = {"query": sql.col("query"), **given}
    types = {"query": "string", "doc": "string", "score": "double", "value": "double"}
    code = sql.lit(kind) if isinstance(kind, int) else kind
    columns = {
        name: (known[name] if name in known else sql.lit(None).cast(type_)).alias(name)
        for name, type_ in types.items()
    }
    return [columns.pop("query"), code.cast("tinyint").alias("kind"), *columns.values()]


def _cut(
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
    sql = functions()
    other = sql.col("query").cast("string") != sql.col("doc").cast("string")
    if judged.queries <= FEW:
        # Where nothing else is asked of documents, a first look does not even read their ids.
        faulty = is_faulty(sql) if itself else is_faulty(sql, doc=False)
        mine = ~faulty & other if itself else ~faulty
        return _above_edges(sql, judged, rows, run, _Sound(faulty, mine), depth, keep)
    mine = ~is_faulty(sql) & other if itself else ~is_faulty(sql)
    return _among_steps(sql, rows, as_texts(run), mine, depth)


@dataclass(frozen=True, slots=True)
class _Sound:
    """The conditions that a row is wrong, and that its document is listed."""

    faulty: "Column"
    mine: "Column"


def _above_edges(
    sql: Any,
    judged: SparkJudgments,
    rows: "DataFrame",
    run: "DataFrame",
    sound: _Sound,
    depth: int,
    keep: Keep,
) -> "DataFrame":
    """Keep what has a score as high as one that so many documents are known to reach.

    The documents of a query are dealt into parts, and the highest score of each part is
    found. So many parts have a document at least as good as the best but so many of these; that
    is close to the score at the depth, and takes no sort of the run. The edges are few, and every
    machine gets them all. If rows were read again in another order, an edge might be too high:
    then fewer documents than the depth come, and the stream notices.
    """
    part = sql.pmod(sql.xxhash64(sql.monotonically_increasing_id()), sql.lit(_SHARES * depth))
    parts = run.groupBy("query", part.alias("part")).agg(
        sql.max(sql.when(sound.mine, sql.col("number"))).alias("best"),
        sql.count(sql.when(sound.mine, sql.lit(1))).alias("n"),
        sql.max(sound.faulty).alias("faulty"),
    )
    best = sql.sort_array(sql.collect_list("best"), asc=False)
    stats = parts.groupBy("query").agg(
        sql.coalesce(sql.get(best, sql.lit(depth - 1)), sql.lit(float("-inf"))).alias("edge"),
        sql.sum("n").alias("n"),
        sql.max("faulty").alias("faulty"),
    )
    stats = keep(stats)  # else Spark would count twice
    names = sql.broadcast(judged.frame.select(sql.col("query").alias("name")).distinct())
    owner = stats.where(~sql.col("faulty") & (sql.col("n") > 0))
    owner = owner.select(sql.col("query").alias("owner"), "edge")
    is_judged = sql.col("owner").cast("string") == sql.col("name")
    edges = owner.join(names, is_judged, "left_semi")
    # Most rows are below the lowest of all edges, and need not be looked up.
    lowest = edges.agg(sql.min("edge").alias("lowest")).scalar()
    nameless = sql.col("doc").isNull()
    near = run.where(sound.mine & ((sql.col("number") >= lowest) | nameless))
    near = near.join(sql.broadcast(edges), sql.col("query") == sql.col("owner"), "left")
    near = as_texts(near.where((sql.col("number") >= sql.col("edge")) | nameless))
    odd = sql.col("faulty") | sql.isnan("edge")
    counted = _counted(sql, stats.withColumn("faulty", odd))
    together = rows.unionByName(counted).unionByName(_listed(sql, near))
    return together.repartition("query")


def _among_steps(
    sql: Any, rows: "DataFrame", run: "DataFrame", mine: "Column", depth: int
) -> "DataFrame":
    """Keep what has one of the highest scores, of so many different ones.

    What has no score, judgments and counts, ranks first, with all that has none. Spark leaves out
    the others before it sends the rows, where it sees that nothing but a rank is asked for.
    """
    from pyspark.sql import Window

    stats = run.groupBy("query").agg(
        sql.count(sql.when(mine, sql.lit(1))).alias("n"), sql.max(is_faulty(sql)).alias("faulty")
    )
    together = rows.unionByName(_counted(sql, stats)).unionByName(_listed(sql, run.where(mine)))
    by_score = Window.partitionBy("query").orderBy(sql.col("score").desc_nulls_first())
    steps = together.withColumn("step", sql.dense_rank().over(by_score))
    return steps.where(sql.col("step") <= sql.lit(depth + 1)).drop("step")


def _counted(sql: Any, stats: "DataFrame") -> "DataFrame":
    kind = sql.when(sql.col("faulty"), sql.lit(FAULTY)).otherwise(sql.lit(PRESENT))
    query = sql.coalesce(sql.col("query").cast("string"), sql.lit(""))
    return stats.select(*row_of(sql, kind, query=query, value=sql.col("n").cast("double")))


def _listed(sql: Any, run: "DataFrame") -> "DataFrame":
    kind = sql.when(sql.col("doc").isNull(), sql.lit(FAULTY)).otherwise(sql.lit(RETRIEVED))
    return run.select(*row_of(sql, kind, doc=sql.col("doc"), score=sql.col("number")))
