"""Measure judgments and a run that are on Spark."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gainful.errors import InputError
from gainful.evaluation.coverage import Coverage, in_documents
from gainful.evaluation.means_over_queries import (
    refuse_empty,
    refuse_extra,
    refuse_missing,
    refuse_nothing_counted,
)
from gainful.evaluation.spark.partition_measuring import SCHEMA, Measuring, problem_of
from gainful.evaluation.spark.scores import IS_EMPTY, IS_MEASURED, Names, SparkScores
from gainful.evaluation.spark.summary_of_queries import Summary, Summing, added, read_summary
from gainful.inputs.grades_scores_or_ranks import RUN
from gainful.inputs.identifiers import refuse_disjoint_queries
from gainful.inputs.mistaken_ranks import warn_of_ranks_on_spark
from gainful.inputs.spark_frames import (
    batches_by_rows,
    errors_of_spark,
    functions,
    in_python,
    keeping,
    kept,
)
from gainful.matching.spark.checked_run_and_judgments import RunWithJudgments
from gainful.matching.spark.plan import Keep
from gainful.measures.dialect import Dialect
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EXAMPLES = 1000
_TOO_LARGE = "OversizedAllocationException"


@errors_of_spark()
def measure_on_spark(
    pair: RunWithJudgments,
    measures: tuple[Measure, ...],
    policy: Policy,
    tool: Dialect | None = None,
) -> SparkScores:
    """Match and measure where the rows are; only counts and sums are collected.

    Args:
        pair: the run with its judgments.
        measures: the measures, in the order asked.
        policy: with `ties` decided.
        tool: the dialect, if one is asked for.
    """
    plan = pair.plan
    reaches = tuple(dict.fromkeys(measure.reach for measure in measures))
    # What the lowest grade is, the machines do not know: each sees a part of the judgments.
    plan = replace(plan, policy=plan.policy.knowing(plan.lowest))
    with keeping() as keep:
        try:
            rows = measured_rows(pair, Measuring(plan, measures, reaches, tool), keep)
        except Exception:
            pair.judged.facts()  # what is wrong with judgments is told first
            raise
        pair.judged.facts()
        frame = kept(rows)
        try:
            summary = _summary(frame)
        except BaseException:
            frame.unpersist()
            raise
    try:
        _refuse(pair, frame, summary)
        names = {
            what: Names(count, partial(_names, frame, condition))
            for what, condition, count in _subsets(summary)
        }
        _refuse_queries(frame, summary, names, measures, policy)
    except BaseException:
        frame.unpersist()
        raise
    if not summary.shared and summary.unjudged:
        pair.warn_if_disjoint()
    if "fractional" not in summary.flags:
        warn_of_ranks_on_spark(pair.run)
    return SparkScores(
        measures=measures,
        policy=policy,
        coverage=_coverage(summary, names, policy, plan.depth),
        summary=summary,
        reaches=reaches,
        rows=frame,
        again=lambda chosen, other: measure_on_spark(pair.under(other), chosen, other, tool),
        grades=pair.grades,
        ends_of_grades=pair.ends_of_grades,
    )


def measured_rows(
    pair: RunWithJudgments, measuring: Measuring, keep: Keep = lambda rows: rows
) -> "DataFrame":
    """Return a row for each query, and one for each partition with what is known of all its queries.

    Where a depth is all that matters, Spark has its first look at the run now.
    """
    return in_python(pair.rows(keep), Summing(measuring), SCHEMA)


def _summary(frame: "DataFrame") -> Summary:
    try:
        with batches_by_rows(frame.sparkSession):
            parts = _notes(frame)
    except Exception as problem:
        if _TOO_LARGE not in str(problem):
            raise
        parts = _notes(frame)  # ids are so long that their bytes have to be counted, after all
    if not parts:
        raise InputError(RUN.name, RUN.least, "none")
    return added([read_summary(row["note"]) for row in parts])


def _notes(frame: "DataFrame") -> list[Any]:
    found: list[Any] = frame.where("note IS NOT NULL").select("note").collect()
    return found


def _refuse(pair: RunWithJudgments, frame: "DataFrame", summary: Summary) -> None:
    """Refuse what is wrong with the rows, or could not be measured."""
    if "faulty" in summary.flags:
        pair.refuse_faulty()
    if "suspect" in summary.flags:
        pair.refuse_repeats()
    if "unfolded" in summary.flags:
        pair.refuse_unfolded()
    _refuse_disjoint(frame, summary)
    if pair.plan.policy.unjudged == "error" and summary.unjudged:
        first = _ordered(frame.where("unjudged > 0")).limit(1).collect()[0]
        pair.refuse_unjudged(first["query"], int(first["unjudged"]))
    if summary.problems:
        raise problem_of(min(summary.problems))


def _refuse_queries(
    frame: "DataFrame",
    summary: Summary,
    names: dict[str, Names],
    measures: tuple[Measure, ...],
    policy: Policy,
) -> None:
    """Refuse queries that the policy does not allow; their names are fetched only then."""
    if policy.missing == "error":
        refuse_missing(summary.missing, names["missing"].first(_EXAMPLES), policy)
    if policy.extra == "error":
        refuse_extra(summary.extra, names["extra"].first(_EXAMPLES), policy)
    for column, measure in enumerate(measures):
        if policy.empty == "error" and summary.lacking[column]:
            found = _names(frame, f"empty[{column}]", _EXAMPLES)
            refuse_empty(measure, summary.lacking[column], found, policy)
        refuse_nothing_counted(measure, summary.counted[column], policy)


def _refuse_disjoint(frame: "DataFrame", summary: Summary) -> None:
    if summary.problems or summary.missing < summary.queries:
        return
    if not summary.extra:
        raise InputError(RUN.name, RUN.least, "none")
    refuse_disjoint_queries(
        _names(frame, IS_MEASURED, _EXAMPLES), _names(frame, "extra", _EXAMPLES)
    )


def _subsets(summary: Summary) -> list[tuple[str, str, int]]:
    """Return the kinds of queries, the condition of each in SQL, and how many there are."""
    return [
        ("missing", "missing", summary.missing),
        ("empty", IS_EMPTY, summary.empty),
        ("extra", "extra", summary.extra),
    ]


@errors_of_spark()
def _names(frame: "DataFrame", condition: str, most: int | None) -> tuple[str, ...]:
    """Return the first ids of some queries, or all, in order."""
    chosen = _ordered(frame.where(condition)).select("query")
    return tuple(row["query"] for row in (chosen if most is None else chosen.limit(most)).collect())


def _ordered(rows: "DataFrame") -> "DataFrame":
    sql = functions()
    return rows.orderBy(sql.expr("length(query)"), sql.expr("query"))


def _coverage(
    summary: Summary, names: dict[str, Any], policy: Policy, depth: int | None
) -> Coverage:
    # What is condensed was retrieved all the same.
    dropped = int(summary.unjudged) if policy.unjudged == "condense" else 0
    return Coverage(
        judged=summary.queries,
        evaluated=summary.queries - summary.missing,
        **names,
        retrieved=summary.retrieved + dropped,
        depth=depth,
        seen=summary.seen + dropped,
        unjudged=in_documents(summary.unjudged),
        tied=summary.tied,
        tied_queries=summary.tied_queries,
    )
