"""`SparkScores`: the result of an evaluation whose queries stay on Spark until they are asked for."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from gainful.array_types import Ints
from gainful.errors import InputError
from gainful.evaluation.coverage import Coverage, QueryCounts, count_queries
from gainful.evaluation.input_hashes import short_hash
from gainful.evaluation.means_over_queries import aggregate_of, aggregate_of_sum
from gainful.evaluation.per_query import Held, PerQuery
from gainful.evaluation.scores import Scores, TieRange
from gainful.evaluation.spark.summary_of_queries import Summary
from gainful.inputs.cores import cached_property
from gainful.inputs.id_types import IdType
from gainful.inputs.identifiers import in_order
from gainful.inputs.spark_frames import errors_of_spark, without_pandas
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Conditions of SQL: that a row is of a judged query, and that it is empty for one of the measures.
IS_MEASURED = "NOT extra"
IS_EMPTY = "exists(empty, one -> one)"

Again = Callable[[tuple[Measure, ...], Policy], "SparkScores"]


class Names(Sequence[str]):
    """So many ids, in order; they are fetched when one is looked at.

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

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._all[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and self._all == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all)

    def __repr__(self) -> str:
        return repr(self._all)


class SparkScores(Scores):
    """Means over queries, and the values of each query, as in `Scores`.

    Only counts and sums have left Spark; the values of the queries are fetched when one is
    looked at. `per_query.to_spark()` is the data frame that holds them.
    """

    def __init__(
        self,
        *,
        measures: tuple[Measure, ...],
        policy: Policy,
        coverage: Coverage,
        summary: Summary,
        reaches: tuple[int | None, ...],
        rows: "DataFrame",
        again: Again,
        grades: Callable[[], list[float]],
        ends_of_grades: Callable[[], tuple[float, float]],
    ) -> None:
        nothing = (), np.empty((0, len(measures))), np.empty((0, len(measures)), np.bool_)
        super().__init__(
            measures=measures,
            policy=policy,
            coverage=coverage,
            means={},
            queries=nothing[0],
            values=nothing[1],
            counted=nothing[2],
            empty=tuple(summary.lacking),
            batches=(),
        )
        self._summary = summary
        self._frame = rows
        self._again = again
        self._grades = grades
        self._ends_of_grades = ends_of_grades
        hashes = [short_hash(number) for number in summary.digests]
        pairs = zip(hashes[::2], hashes[1::2], strict=True)
        self._hashed = dict(zip(reaches, pairs, strict=True))
        self.means = {str(each): self._mean(at, each) for at, each in enumerate(measures)}

    @cached_property
    def _collected(self) -> tuple[Held, Ints]:
        """The queries that count, their values, where these count, and how many are judged."""
        with errors_of_spark(), without_pandas():
            wanted = self._frame.where(IS_MEASURED).select("query", "values", "judged").toArrow()
        names = wanted["query"].to_pylist()
        place = {name: number for number, name in enumerate(names)}
        order = [place[name] for name in in_order(names)]
        shape = len(names), len(self.measures)
        flat = wanted["values"].combine_chunks().flatten()
        counted = flat.is_valid().to_numpy(zero_copy_only=False).reshape(shape)[order]
        values = flat.to_numpy(zero_copy_only=False).reshape(shape)[order]
        values = np.where(counted, values, np.nan)
        judged = wanted["judged"].to_numpy()[order]
        kept = counted.any(axis=1)
        arrays = values[kept], counted[kept], judged[kept]
        for array in arrays:
            array.flags.writeable = False
        queries = tuple(
            names[row] for row, known in zip(order, kept.tolist(), strict=True) if known
        )
        return (queries, arrays[0], arrays[1]), arrays[2]

    def _held(self) -> Held:
        return self._collected[0]

    @property
    def judged(self) -> Ints:
        """The number of judged documents of each of `queries` (q,), read-only."""
        return self._collected[1]

    @cached_property
    def query_counts(self) -> QueryCounts:
        """What the scores rest on, query by query, fetched from Spark."""
        numbers = ("judged", "retrieved", "seen", "unjudged", "tied")
        with errors_of_spark(), without_pandas():
            rows = self._frame.where(IS_MEASURED)
            wanted = rows.selectExpr("query", "missing", f"{IS_EMPTY} AS empty", *numbers).toArrow()
        names = wanted["query"].to_pylist()
        place = {name: number for number, name in enumerate(names)}
        order = [place[name] for name in in_order(names)]

        def column(name: str) -> Any:
            return wanted[name].to_numpy()[order]

        return QueryCounts(
            queries=tuple(names[row] for row in order),
            missing=column("missing").astype(np.bool_),
            empty=column("empty").astype(np.bool_),
            **{name: column(name) for name in numbers},
            extra=tuple(self.coverage.extra),
        )

    def _count(self, column: int) -> int:
        return self._summary.counted[column]

    def _mean(self, column: int, measure: Measure) -> float:
        """Return the mean of a measure from what was summed on Spark."""
        terms, count = self._summary.sums[column], self._summary.counted[column]
        if terms is None:  # a sum that is too large, of numbers whose mean may still be one
            values = self.values[self.counted[:, column], column].tolist()
            return aggregate_of(measure, values)
        return aggregate_of_sum(measure, math.fsum(terms), count)

    @cached_property
    def ties(self) -> dict[str, TieRange]:
        """How far the order of tied documents moves the mean of every measure, by its name.

        Judgments and run are read again for each order.
        """
        found = {}
        for measure in self.measures:
            worst, best = (self._mean_under(measure, ties) for ties in ("worst", "best"))
            try:
                expected = self._mean_under(measure, "average")
            except InputError:
                expected = None
            ends = [worst, best, *([] if expected is None else [expected])]
            found[str(measure)] = TieRange(min(ends), expected, max(ends))
        return found

    def _mean_under(self, measure: Measure, ties: str) -> float:
        from dataclasses import replace

        other = self._again((measure,), replace(self.policy, ties=ties))
        other.unpersist()
        return other[measure]

    @property
    def per_query(self) -> "SparkPerQuery":
        """The values of each query: columns query, and one for each measure."""
        names = tuple(str(measure) for measure in self.measures)
        kept = self._summary.kept
        return SparkPerQuery(names, self._frame, kept, self._held, self.query_type)

    @property
    def ends_of_grades(self) -> tuple[float, float]:
        """The lowest and the highest grade that the judgments have; infinite where there is none."""
        return self._ends_of_grades()

    def grades(self) -> list[float]:
        """Return the grades that the judgments have, each once, ascending."""
        return self._grades()

    def unpersist(self) -> None:
        """Let Spark drop the values of the queries; to ask for them computes them again."""
        self._frame.unpersist()

    def __repr__(self) -> str:
        means = ", ".join(f"{name}: {mean:.4f}" for name, mean in self.means.items())
        return f"Scores({means}; {count_queries(self._summary.kept)})"


class SparkPerQuery(PerQuery):
    """The same table, on Spark until a row is looked at."""

    def __init__(
        self,
        measures: tuple[str, ...],
        frame: "DataFrame",
        count: int,
        fetch: Callable[[], Held],
        query_type: IdType,
    ) -> None:
        nothing = np.empty((0, len(measures)))
        super().__init__((), measures, nothing, nothing.astype(np.bool_), query_type)
        self._frame = frame
        self._size = count
        self._fetch = fetch

    def _held(self) -> Held:
        return self._fetch()

    def __len__(self) -> int:
        return self._size

    @errors_of_spark()
    def to_spark(self) -> Any:
        """Return a Spark data frame, in no order; nothing is fetched."""
        values = [
            f"values[{place}] AS `{name.replace('`', '``')}`"
            for place, name in enumerate(self.columns[1:])
        ]
        counts = "exists(values, value -> value IS NOT NULL)"
        return self._frame.where(IS_MEASURED).where(counts).selectExpr("query", *values)
