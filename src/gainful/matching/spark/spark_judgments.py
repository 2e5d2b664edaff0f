"""Judgments on Spark, checked once for any number of runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gainful.errors import InputError, PolicyError
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.engine_rows import Documents, columns_of
from gainful.matching.matched import MARK, marks_in
from gainful.measures.policy import Policy
from gainful.message_texts import shown
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, Kind
from gainful.rows.spark_frames import (
    Awaited,
    SparkText,
    aggregated,
    errors_of_spark,
    functions,
    in_shape,
    is_faulty,
    refuse_duplicates,
    refuse_values,
    without_pandas,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SOME = 1000
_UNORDERED = (("ties", "order"), ("duplicates", "first"), ("fold", "first"), ("fold", "in_place"))


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about all judgments.

    Attributes:
        count: the number of judgments.
        queries: the approximate number of queries.
        lowest: the lowest grade; infinite without judgments.
        marks: the number of grades of −1 if it is the only negative grade.
        highest: the highest grade; negative infinity without judgments.
    """

    count: int
    queries: int
    lowest: float
    marks: int
    highest: float


@dataclass(frozen=True, slots=True)
class SparkJudgments:
    """Judgments on Spark.

    Attributes:
        frame: with the columns query, doc and number. Matching checks for repeated documents, or takes the best.
        bare: queries without documents, in the column query; None without such queries.
        facts: facts about the judgments, computed in parallel with reading the run, which takes longer.
        local: whether the judgments are from this machine, and small.
    """

    frame: "DataFrame"
    bare: "DataFrame | None"
    facts: Awaited[Facts]
    local: bool


def judgments_in_frame(
    given: "DataFrame | SparkText", columns: Mapping[str, str], policy: Policy
) -> SparkJudgments:
    """Return judgments in a Spark data frame, which are checked when their facts are computed."""
    frame = in_shape(given, JUDGMENTS, columns)
    facts = Awaited(frame.sparkSession, lambda: _facts(frame, policy))
    return SparkJudgments(frame, None, facts, local=False)


def _facts(frame: "DataFrame", policy: Policy) -> Facts:
    """Check judgments.

    Repeated documents are found later, when the rows of a query are together anyway, unless the best one counts.
    """
    rows, faulty = frame, is_faulty()
    grade = f"if({is_counted(policy)}, number, NULL)"
    if policy.duplicates != "error":
        of_each = [f"max({faulty}) AS faulty", f"max({grade}) AS grade"]
        rows = aggregated(frame, ["query", "doc"], of_each)
        faulty, grade = "faulty", "grade"
    found = rows.selectExpr(
        "count(1) AS rows",
        "approx_count_distinct(query) AS queries",
        f"max({faulty}) AS faulty",
        f"min({grade}) AS lowest",
        f"max({grade}) AS highest",
        f"count_if({grade} = {MARK}) AS marks",
        f"max(if({grade} < 0, {grade}, NULL)) AS nearest",
    ).collect()[0]
    if not found["rows"]:
        raise InputError(JUDGMENTS.name, JUDGMENTS.least, "none")
    if found["faulty"]:
        refuse_values(frame, JUDGMENTS)
    lowest = np.inf if found["lowest"] is None else found["lowest"] + 0.0
    marks = found["marks"] if lowest == MARK == found["nearest"] else 0
    highest = -np.inf if found["highest"] is None else found["highest"] + 0.0
    return Facts(found["rows"], found["queries"], lowest, marks, highest)


def is_counted(policy: Policy) -> str:
    """Return the condition, in SQL, that a judgment with the columns query, doc and number counts."""
    conditions = ["true"]
    if policy.drop_self == "yes":
        conditions.append("query != doc")
    if policy.negative == "unjudged":
        conditions.append("number >= 0")
    return f"({' AND '.join(conditions)})"


def judgments_in_dicts(
    documents: Documents, session: "SparkSession", policy: Policy
) -> SparkJudgments:
    """Bring judgments on this machine, a dict of dicts, to Spark."""
    known = queries_of(documents, JUDGMENTS.name)
    frame = frame_of(known, JUDGMENTS, session, policy)
    judged = [judged_of(found, query, policy) for query, found in known.items()]
    grades = np.array([grade for each in judged for grade in each.values()], np.float64)
    bare = [(query,) for query, found in known.items() if not found]
    lowest = float(grades.min(initial=np.inf)) + 0.0
    highest = float(grades.max(initial=-np.inf)) + 0.0
    facts = Facts(grades.size, len(known), lowest, marks_in(grades), highest)
    return SparkJudgments(
        frame,
        session.createDataFrame(bare, "query string") if bare else None,
        Awaited(session, lambda: facts),
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


def refuse_orders(policy: Policy) -> None:
    """Reject a policy that depends on the order of rows, which Spark doesn't keep."""
    for name, answer in _UNORDERED:
        if getattr(policy, name) == answer:
            raise PolicyError(
                f"policy {name}",
                "a choice that doesn't need the order of rows, which Spark doesn't keep",
                shown(answer),
                "Make another choice, or evaluate ordered rows: files, or a data frame.",
            )


@errors_of_spark()
def documents_on_spark(
    given: "DataFrame | SparkText",
    kind: Kind,
    columns: Mapping[str, str],
    policy: Policy,
    query: str,
) -> dict[str, dict[str, float]]:
    """Fetch one query; if it doesn't exist, the ids of some queries, without documents."""
    sql = functions()
    frame = in_shape(given, kind, columns)
    mine = frame.where(sql.col("query") == sql.lit(query))
    refuse_values(mine, kind)
    if policy.duplicates == "error":
        refuse_duplicates(mine, kind)
    best = aggregated(mine, ["doc"], ["max(number) AS number"])
    found = {row["doc"]: row["number"] for row in best.collect()}
    if found:
        return {query: found}
    others = frame.select("query").where("query IS NOT NULL").distinct()
    return {row["query"]: {} for row in others.limit(_SOME).collect()}
