"""Of each query, the documents with the highest scores: what stands below a depth is not sent."""

from typing import TYPE_CHECKING, Any

from gainful.inputs.spark import as_texts, functions, is_faulty
from gainful.matching.spark.judged import SparkJudged
from gainful.matching.spark.tagged import FAULTY, PRESENT, RETRIEVED, row_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FEW = 200_000  # judged queries that every machine can hold

_SHARES = 4  # in how many parts, times the depth, the documents of a query are looked at


def cut(
    judged: SparkJudged, rows: "DataFrame", run: "DataFrame", depth: int, *, itself: bool
) -> "DataFrame":
    """Return judgments and a run, of each query down to a depth, each query together.

    Args:
        judged: the judgments.
        rows: of them.
        run: with the columns query, doc and number; ids have any type, and become strings
            only where they are sent.
        depth: the deepest rank that matters.
        itself: whether a document with the id of the query is left out.

    How many documents each query has, and whether a row is wrong, is counted in a look at the
    run of its own.
    """
    sql = functions()
    mine = ~is_faulty(sql)
    if itself:
        mine = mine & (sql.col("query").cast("string") != sql.col("doc").cast("string"))
    if judged.queries <= FEW:
        return _above_edges(sql, judged, rows, run, mine, depth)
    return _among_steps(sql, rows, as_texts(run), mine, depth)


def _above_edges(
    sql: Any, judged: SparkJudged, rows: "DataFrame", run: "DataFrame", mine: "Column", depth: int
) -> "DataFrame":
    """Keep what has a score as high as one that so many documents are known to reach.

    The documents of a query are dealt into parts by a hash, and the highest score of each part is
    found. So many parts have a document at least as good as the best but so many of these; that
    is close to the score at the depth, and takes no sort of the run. The edges are few, and every machine gets them all.
    """
    part = sql.pmod(sql.xxhash64("doc"), sql.lit(_SHARES * depth))
    parts = run.groupBy("query", part.alias("part")).agg(
        sql.max(sql.when(mine, sql.col("number"))).alias("best"),
        sql.count(sql.when(mine, sql.lit(1))).alias("n"),
        sql.max(is_faulty(sql)).alias("faulty"),
    )
    best = sql.sort_array(sql.collect_list("best"), asc=False)
    stats = parts.groupBy("query").agg(
        sql.coalesce(sql.get(best, sql.lit(depth - 1)), sql.lit(float("-inf"))).alias("edge"),
        sql.sum("n").alias("n"),
        sql.max("faulty").alias("faulty"),
    )
    # Both uses of the counts ask for all of their columns, and for no other rows (hence no plain
    # equality, which leaves out nulls beforehand): else Spark would count twice.
    names = sql.broadcast(judged.frame.select(sql.col("query").alias("name")).distinct())
    owner = stats.withColumnRenamed("query", "owner")
    is_judged = sql.col("owner").cast("string").eqNullSafe(sql.col("name"))
    edges = sql.broadcast(owner.join(names, is_judged, "left_semi"))
    is_near = (sql.col("number") >= sql.col("edge")) & (sql.col("n") > 0) & ~sql.col("faulty")
    near = run.join(edges, sql.col("query").eqNullSafe(sql.col("owner"))).where(mine & is_near)
    near = as_texts(near)
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
    return run.select(*row_of(sql, RETRIEVED, doc=sql.col("doc"), score=sql.col("number")))
