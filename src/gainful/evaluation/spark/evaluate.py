"""Measure judgments and a run that are on Spark."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful import errors
from gainful.arithmetic.cores import cached_property
from gainful.errors import InputError
from gainful.evaluation.coverage import (
    Evidence,
    QueryCounts,
    coverage_of,
    short_hash,
)
from gainful.evaluation.measuring import (
    Rows,
    aggregate_of,
    aggregate_of_sum,
    refuse_by_policy,
    refuse_nothing_counted,
)
from gainful.evaluation.scores import PerQuery, Scores, TieRange, tie_ranges
from gainful.evaluation.spark.partition_measuring import (
    SCHEMA,
    Measuring,
    Summary,
    added,
    read_summary,
)
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.spark.plan import Keep, RunWithJudgments
from gainful.measures.measure import Measure
from gainful.measures.tool_dialect import Dialect
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.identifiers import UNTYPED, IdType, in_order, refuse_disjoint_queries
from gainful.rows.mistakes import warn_of_ranks_on_spark
from gainful.rows.spark_frames import (
    batches_by_rows,
    errors_of_spark,
    functions,
    in_python,
    keeping,
    kept,
    without_pandas,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# SQL conditions: the row of a judged query; a query without relevant documents for any measure.
IS_MEASURED = "NOT extra"
IS_EMPTY = "exists(empty, one -> one)"


class Names(Sequence[str]):
    """A known number of ids, in order, which are fetched on first use.

    >>> names = Names(2, lambda most: ("q1", "q2")[:most])
    >>> len(names), names[0], names == ("q1", "q2")
    (2, 'q1', True)
    """

    def __init__(self, count: int, fetch: Callable[[int | None], tuple[str, ...]]) -> None:
        self._count = count
        self._fetch = fetch

    @cached_property
    def _all(self) -> tuple[str, ...]:
        return self._fetch(None) if self._count else ()

    def first(self, most: int) -> tuple[str, ...]:
        """Return the first few, without the others."""
        return self._fetch(most) if self._count else ()

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and self._all == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all)

    def __repr__(self) -> str:
        return repr(self._all)


class SparkRows(Rows):
    """The values of queries, on Spark until a row is looked at.

    Attributes:
        frame: a row for each query, and one for each partition.
    """

    def __init__(self, frame: "DataFrame", count: int, measures: int) -> None:
        self.frame = frame
        self._count, self._measures = count, measures

    def __getattr__(self, name: str) -> Any:
        """Fetch the rows when one of their attributes is first used."""
        if name not in Rows.__annotations__:
            raise AttributeError(name)
        with errors_of_spark(), without_pandas():
            table = self.frame.where(IS_MEASURED).select("query", "values").toArrow()
        names, order = _in_order(table)
        shape = len(names), self._measures
        flat = table["values"].combine_chunks().flatten()
        counted = flat.is_valid().to_numpy(zero_copy_only=False).reshape(shape)[order]
        values = flat.to_numpy(zero_copy_only=False).reshape(shape)[order]
        counting = counted.any(axis=1)
        values = np.where(counted, values, np.nan)[counting]
        super().__init__(tuple(compress(names, counting.tolist())), values, counted[counting])
        return getattr(self, name)

    def __len__(self) -> int:
        return self._count


def _in_order(table: Any) -> tuple[list[str], list[int]]:
    """Return the ids of the queries of a table from Spark, in order, and their rows in it."""
    row = {name: number for number, name in enumerate(table["query"].to_pylist())}
    names = in_order(row)
    return names, [row[name] for name in names]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SparkEvidence(Evidence):
    """The data behind scores on Spark.

    Attributes:
        rows: the queries and their values.
        extra: queries of the run without judgments.
        pair: the run with its judgments.
        tool: the dialect, if requested.
    """

    rows: SparkRows
    extra: Sequence[str]
    pair: RunWithJudgments
    tool: Dialect | None

    @cached_property
    def counts(self) -> QueryCounts:
        """The numbers of judged, retrieved and unjudged documents, query by query, fetched from Spark."""
        flags = {"missing": "missing", "empty": f"{IS_EMPTY} AS empty"}
        numbers = ("judged", "retrieved", "seen", "unjudged", "tied")
        with errors_of_spark(), without_pandas():
            rows = self.rows.frame.where(IS_MEASURED)
            table = rows.selectExpr("query", *flags.values(), *numbers).toArrow()
        names, order = _in_order(table)
        return QueryCounts(
            queries=tuple(names),
            extra=tuple(self.extra),
            **{name: table[name].to_numpy()[order].astype(np.bool_) for name in flags},
            **{name: table[name].to_numpy()[order] for name in numbers},
        )

    def grades(self) -> list[float]:
        """Return the distinct grades of the judgments, ascending."""
        return self.pair.grades()

    def ends_of_grades(self) -> tuple[float, float]:
        """Return the lowest and the highest grade of the judgments; infinite without judgments."""
        return self.pair.ends_of_grades()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SparkScores(Scores):
    """Means over queries, and the values of each query, as in `Scores`.

    Only counts and sums have left Spark; the values of the queries are fetched when one is
    looked at. `per_query.to_spark()` is the data frame that holds them.
    """

    rows: SparkRows
    evidence: SparkEvidence

    @cached_property
    def ties(self) -> dict[str, TieRange]:
        """How far the order of tied documents moves the mean of every measure, by its name.

        Judgments and run are read again for each order.
        """
        return tie_ranges(self.measures, self._mean_under)

    def _mean_under(self, measure: Measure, ties: str) -> float:
        pair = self.evidence.pair.under(replace(self.policy, ties=ties))
        other = measure_on_spark(pair, (measure,), self.evidence.tool)
        other.unpersist()
        return other[measure]

    @property
    def per_query(self) -> "SparkPerQuery":
        """The values of each query: columns query, and one for each measure."""
        return SparkPerQuery(self.rows, self.measures, self.query_type)

    def unpersist(self) -> None:
        """Let Spark drop the values of the queries; to ask for them computes them again."""
        self.rows.frame.unpersist()


@dataclass(frozen=True, eq=False, repr=False)
class SparkPerQuery(PerQuery):
    """The same table, on Spark until a row is looked at."""

    rows: SparkRows

    @errors_of_spark()
    def to_spark(self) -> Any:
        """Return a Spark data frame, in no order; nothing is fetched."""
        values = [
            f"values[{place}] AS `{name.replace('`', '``')}`"
            for place, name in enumerate(self.columns[1:])
        ]
        counts = "exists(values, value -> value IS NOT NULL)"
        return self.rows.frame.where(IS_MEASURED).where(counts).selectExpr("query", *values)


_EXAMPLES = 1000
_TOO_LARGE = "OversizedAllocationException"


@errors_of_spark()
def measure_on_spark(
    pair: RunWithJudgments,
    measures: tuple[Measure, ...],
    tool: Dialect | None = None,
    query_type: IdType = UNTYPED,
) -> SparkScores:
    """Match and measure where the rows are; only counts and sums are collected.

    Args:
        pair: the run with its judgments.
        measures: the measures, in the requested order.
        tool: the dialect, if requested.
        query_type: the original type of the query ids.
    """
    plan, policy = pair.plan, pair.plan.policy
    reaches = tuple(dict.fromkeys(measure.reach for measure in measures))
    # Workers don't know the lowest grade, because each of them has only a part of the judgments.
    plan = replace(plan, policy=plan.policy.knowing(plan.lowest))
    with keeping() as keep:
        try:
            rows = measured_rows(pair, Measuring(plan, measures, reaches, tool), keep)
        except Exception:
            pair.judged.facts()  # errors in judgments are reported first
            raise
        pair.judged.facts()
        frame = kept(rows)
        try:
            summary = _summary(frame)
            names = {
                what: Names(count, partial(_names, frame, condition))
                for what, condition, count in (
                    ("missing", "missing", summary.missing),
                    ("empty", IS_EMPTY, summary.empty),
                    ("extra", "extra", summary.extra),
                )
            }
            _refuse(pair, frame, summary)
            refuse_by_policy(
                measures,
                policy,
                missing=(summary.missing, partial(names["missing"].first, _EXAMPLES)),
                extra=(summary.extra, partial(names["extra"].first, _EXAMPLES)),
                empty=[
                    (count, partial(_names, frame, f"empty[{column}]", _EXAMPLES))
                    for column, count in enumerate(summary.lacking)
                ],
            )
            for measure, count in zip(measures, summary.counted, strict=True):
                refuse_nothing_counted(measure, count, policy)
        except BaseException:
            frame.unpersist()
            raise
    if not summary.shared and summary.unjudged:
        pair.warn_if_disjoint()
    if "fractional" not in summary.flags:
        warn_of_ranks_on_spark(pair.run)
    hashes = [short_hash(number) for number in summary.digests]
    pairs = zip(hashes[::2], hashes[1::2], strict=True)
    fetched = SparkRows(frame, summary.kept, len(measures))
    coverage = coverage_of(
        policy,
        judged=summary.queries,
        evaluated=summary.queries - summary.missing,
        **names,
        retrieved=summary.retrieved,
        depth=plan.depth,
        seen=summary.seen,
        unjudged=summary.unjudged,
        tied=summary.tied,
        tied_queries=summary.tied_queries,
    )
    return SparkScores(
        measures=measures,
        policy=policy,
        means={
            str(measure): _mean(summary, column, measure, fetched)
            for column, measure in enumerate(measures)
        },
        rows=fetched,
        evidence=SparkEvidence(
            covered=coverage,
            counting=tuple(summary.counted),
            empty=tuple(summary.lacking),
            rows=fetched,
            extra=names["extra"],
            pair=pair,
            tool=tool,
            hash_of=dict(zip(reaches, pairs, strict=True)).__getitem__,
        ),
        dialect=None if tool is None else tool.name,
        query_type=query_type,
    )


def _mean(summary: Summary, column: int, measure: Measure, rows: SparkRows) -> float:
    """Return the mean of a measure from the sums computed on Spark."""
    terms = summary.sums[column]
    if terms is None:  # a sum that is too large, of numbers whose mean may still be one
        return aggregate_of(measure, rows.values[rows.counted[:, column], column].tolist())
    return aggregate_of_sum(measure, math.fsum(terms), summary.counted[column])


def measured_rows(
    pair: RunWithJudgments, measuring: Measuring, keep: Keep = lambda rows: rows
) -> "DataFrame":
    """Return a row for each query, and a row with a summary for each partition.

    If only ranks down to a depth matter, Spark makes its first pass over the run now.
    """
    plan = measuring.plan
    by = None if plan.chunks is None else plan.chunks.by

    def work(batches: Iterable[object]) -> Iterator[object]:
        # Spark can send a lambda to its workers, but `Chunks` doesn't keep it when pickled.
        chunks = None if by is None else Chunks(by)
        return replace(measuring, plan=replace(plan, chunks=chunks))(batches)

    return in_python(pair.rows(keep), work, SCHEMA)


def _summary(frame: "DataFrame") -> Summary:
    notes = frame.where("note IS NOT NULL").select("note")
    try:
        with batches_by_rows(frame.sparkSession):
            rows = notes.collect()
    except Exception as problem:
        if _TOO_LARGE not in str(problem):
            raise
        rows = notes.collect()  # ids are so long that Spark has to count their bytes
    if not rows:
        raise InputError(RUN.name, RUN.least, "none")
    return added([read_summary(row["note"]) for row in rows])


def _refuse(pair: RunWithJudgments, frame: "DataFrame", summary: Summary) -> None:
    """Raise the error for faulty rows, or for queries that couldn't be measured."""
    if "faulty" in summary.flags:
        pair.refuse_faulty()
    if "suspect" in summary.flags:
        pair.refuse_repeats()
    if not summary.problems and summary.missing == summary.queries:
        if not summary.extra:
            raise InputError(RUN.name, RUN.least, "none")
        judged, extra = (
            _names(frame, condition, _EXAMPLES) for condition in (IS_MEASURED, "extra")
        )
        refuse_disjoint_queries(judged, extra)
    if pair.plan.policy.unjudged == "error" and summary.unjudged:
        first = _ordered(frame.where("unjudged > 0")).limit(1).collect()[0]
        pair.refuse_unjudged(first["query"])
    if summary.problems:
        name, *arguments = min(summary.problems)
        raise getattr(errors, name)(*arguments)


@errors_of_spark()
def _names(frame: "DataFrame", condition: str, most: int | None) -> tuple[str, ...]:
    """Return the first ids of some queries, or all, in order."""
    chosen = _ordered(frame.where(condition)).select("query")
    return tuple(row["query"] for row in (chosen if most is None else chosen.limit(most)).collect())


def _ordered(rows: "DataFrame") -> "DataFrame":
    sql = functions()
    return rows.orderBy(sql.expr("length(query)"), sql.expr("query"))
