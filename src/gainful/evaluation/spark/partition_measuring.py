"""What a machine of Spark does: match and measure the queries of a partition, a row for each."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import numpy as np

from gainful import errors
from gainful.errors import GainfulError
from gainful.evaluation.input_hashes import digests
from gainful.evaluation.means_over_queries import apply_policy
from gainful.evaluation.measuring import measure_batches
from gainful.evaluation.request import refuse_grades
from gainful.matching.matched import Matched
from gainful.matching.spark.partition_matching import Bunch, bunches
from gainful.matching.spark.plan import Plan
from gainful.measures.dialect import Dialect
from gainful.measures.measure import Measure

SCHEMA = (
    "query string, extra boolean, missing boolean, judged bigint, retrieved bigint, seen bigint, "
    "shared bigint, tied bigint, unjudged double, values array<double>, empty array<boolean>, "
    "digests array<binary>, note string"
)
COUNTS = ("retrieved", "seen", "shared", "tied")
FLAGS = ("faulty", "suspect", "unfolded", "fractional")


@dataclass(frozen=True, slots=True)
class Measuring:
    """What to measure, as it is sent to the machines of Spark.

    Attributes:
        plan: how the rows are matched.
        measures: the measures, in the order asked.
        reaches: the different reaches of these.
        tool: the dialect, if one is asked for.
        once: different in every evaluation. Spark would take what it keeps of an earlier one that
            looks the same, though the files behind it may have changed.
    """

    plan: Plan
    measures: tuple[Measure, ...]
    reaches: tuple[int | None, ...]
    tool: Dialect | None
    once: str = field(default_factory=lambda: uuid4().hex)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield Arrow batches of the columns of `SCHEMA`.

        What is wrong is told in a row without a query, since a failure here would be tried again.
        """
        for bunch in bunches(batches, self.plan):
            flags = [name for name in FLAGS if getattr(bunch, name)]
            if flags:
                yield noted({"flags": flags})
            if bunch.extra:
                yield _batch(query=bunch.extra, extra=[True] * len(bunch.extra))
            if bunch.matched.queries:
                try:
                    yield self._measured(bunch)
                except GainfulError as problem:
                    yield noted({"problem": [type(problem).__name__, *problem.args]})

    def _measured(self, bunch: Bunch) -> Any:
        import pyarrow as pa

        matched, policy = bunch.matched, self.plan.policy
        refuse_grades(self.tool, matched.grade, matched.pool_grades, self.measures)
        depth = self.plan.depth
        found = measure_batches([matched], self.measures, policy, depth)
        counted = apply_policy(found, self.measures, policy)
        judged = np.diff(matched.pool_offsets)
        if isinstance(policy.unjudged, float):  # the others have that grade in the pool
            judged = judged - matched.unjudged
        count, width = counted.shape
        values = pa.array(found.values.ravel(), mask=~counted.ravel())
        empty = pa.array(found.empty.ravel())
        return _batch(
            query=list(matched.queries),
            extra=[False] * count,
            missing=matched.missing,
            judged=judged,
            retrieved=matched.retrieved,
            seen=found.seen,
            unjudged=found.unjudged,
            shared=bunch.shared,
            tied=found.tied,
            values=_lists(values, count, width),
            empty=_lists(empty, count, width),
            digests=self._digests(matched),
        )

    def _digests(self, matched: Matched) -> Any:
        import pyarrow as pa

        columns = [one for reach in self.reaches for one in digests(matched, reach)]
        packed = [
            [number.to_bytes(16, "little") for number in row] for row in zip(*columns, strict=True)
        ]
        return pa.array(packed, pa.list_(pa.binary()))


def problem_of(told: list[str]) -> GainfulError:
    """Return the error that a machine has told of."""
    name, *parts = told
    found: GainfulError = getattr(errors, name)(*parts)
    return found


def _lists(column: Any, count: int, width: int) -> Any:
    import pyarrow as pa

    return pa.ListArray.from_arrays(np.arange(count + 1, dtype=np.int32) * width, column)


def noted(note: dict[str, Any]) -> Any:
    """Return a row without a query that tells something else."""
    return _batch(note=[json.dumps(note)])


def _batch(**columns: Any) -> Any:
    """Return an Arrow batch of all columns, those that are not given without values."""
    import pyarrow as pa

    schema = pa.schema(
        [
            ("query", pa.string()),
            ("extra", pa.bool_()),
            ("missing", pa.bool_()),
            *((name, pa.int64()) for name in ("judged", *COUNTS)),
            ("unjudged", pa.float64()),
            ("values", pa.list_(pa.float64())),
            ("empty", pa.list_(pa.bool_())),
            ("digests", pa.list_(pa.binary())),
            ("note", pa.string()),
        ]
    )
    count = len(next(iter(columns.values())))
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(count, field.type)
        for field in schema
    ]
    return pa.record_batch(arrays, schema)
