"""Judgments as a Spark data frame, checked once for any number of runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gainful.errors import InputError
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.inputs.spark_frames import (
    Unread,
    errors_of_spark,
    functions,
    in_shape,
    is_faulty,
    refuse_duplicates,
    refuse_values,
    without_pandas,
)
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.dict_table_conversion import Documents, columns_of
from gainful.matching.minus_one_marks import MARK, marks_in
from gainful.measures.policy import Policy
from gainful.message_texts import shown

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SOME = 1000


@dataclass(frozen=True, slots=True)
class SparkJudgments:
    """Judgments on Spark.

    Attributes:
        frame: with the columns query, doc and number, each document once for a query; where
            it must be so by the policy, that is checked when they are matched.
        bare: queries without documents, the column query; None where no query is.
        queries: about how many queries they have.
        lowest: the lowest grade; infinite where there is none.
        marks: how many grades are −1, where that is the only negative one.
        local: whether they came from this machine, and are small.
    """

    frame: "DataFrame"
    bare: "DataFrame | None"
    queries: int
    lowest: float
    marks: int
    local: bool


def judgments_in_frame(
    given: "DataFrame | Unread", columns: Mapping[str, str], policy: Policy
) -> SparkJudgments:
    """Check judgments that are a Spark data frame.

    That a document comes twice for a query is seen where the rows of the query meet, so that
    they are not sent for that alone; unless the best of several counts.
    """
    sql = functions()
    frame = in_shape(given, JUDGMENTS, columns)
    kept = sql.when(is_counted(policy), sql.col("number"))
    times, faulty, grade = sql.lit(1), is_faulty(sql), kept
    if policy.duplicates == "error":
        rows = frame
    else:
        rows = frame.groupBy("query", "doc").agg(
            sql.count(sql.lit(1)).alias("times"),
            sql.max(faulty).alias("faulty"),
            sql.max(kept).alias("grade"),
        )
        times, faulty, grade = (sql.col(name) for name in ("times", "faulty", "grade"))
    found = rows.agg(
        sql.count(sql.lit(1)).alias("rows"),
        sql.approx_count_distinct("query").alias("queries"),
        sql.max(times).alias("times"),
        sql.max(faulty).alias("faulty"),
        sql.min(grade).alias("lowest"),
        sql.count(sql.when(grade == sql.lit(MARK), 1)).alias("marks"),
        sql.max(sql.when(grade < 0, grade)).alias("nearest"),
    ).collect()[0]
    if not found["rows"]:
        raise InputError(JUDGMENTS.name, JUDGMENTS.least, "none")
    if found["faulty"]:
        refuse_values(frame, JUDGMENTS)
    if found["times"] > 1:
        frame = frame.groupBy("query", "doc").agg(sql.max("number").alias("number"))
    lowest = np.inf if found["lowest"] is None else found["lowest"] + 0.0
    marks = found["marks"] if lowest == MARK == found["nearest"] else 0
    return SparkJudgments(frame, None, found["queries"], lowest, marks, local=False)


def is_counted(policy: Policy) -> "Column":
    """Return the condition under which a judgment, with the columns query, doc and number, counts."""
    sql = functions()
    counted: Column = sql.lit(True)  # noqa: FBT003 - a value of a column
    if policy.drop_self == "yes":
        counted = counted & (sql.col("query") != sql.col("doc"))
    if policy.negative == "unjudged":
        counted = counted & (sql.col("number") >= 0)
    return counted


def judgments_in_dicts(
    documents: Documents, session: "SparkSession", policy: Policy
) -> SparkJudgments:
    """Bring judgments that are on this machine, a dict of dicts, to Spark."""
    known = queries_of(documents, JUDGMENTS.name)
    frame = frame_of(known, JUDGMENTS, session, policy)
    judged = [judged_of(found, query, policy) for query, found in known.items()]
    grades = np.array([grade for each in judged for grade in each.values()], np.float64)
    bare = [(query,) for query, found in known.items() if not found]
    return SparkJudgments(
        frame,
        session.createDataFrame(bare, "query string") if bare else None,
        len(known),
        float(grades.min(initial=np.inf)) + 0.0,
        marks_in(grades),
        local=True,
    )


def frame_of(
    documents: Documents, kind: Kind, session: "SparkSession", policy: Policy
) -> "DataFrame":
    """Bring a dict of dicts to Spark, with the columns query, doc and number."""
    import pyarrow as pa

    queries, docs, numbers = columns_of(documents, kind, policy)
    try:
        table = pa.table(
            {
                "query": pa.array(queries, pa.string()),
                "doc": pa.array(docs, pa.string()),
                "number": pa.array(numbers, pa.float64()),
            }
        )
    except UnicodeEncodeError as problem:
        raise InputError(kind.name, "ids that are text", shown(problem.object)) from None
    with without_pandas():
        return session.createDataFrame(table)


@errors_of_spark()
def documents_on_spark(
    given: "DataFrame | Unread", kind: Kind, columns: Mapping[str, str], policy: Policy, query: str
) -> dict[str, dict[str, float]]:
    """Fetch one query; where there is no such query, the ids of some, without documents."""
    sql = functions()
    frame = in_shape(given, kind, columns)
    mine = frame.where(sql.col("query") == sql.lit(query))
    refuse_values(mine, kind)
    if policy.duplicates == "error":
        refuse_duplicates(mine, kind)
    best = mine.groupBy("doc").agg(sql.max("number").alias("number"))
    found = {row["doc"]: row["number"] for row in best.collect()}
    if found:
        return {query: found}
    others = frame.select("query").where(sql.col("query").isNotNull()).distinct()
    return {row["query"]: {} for row in others.limit(_SOME).collect()}
