"""What a machine of Spark does: match and measure the queries of a partition, a row for each."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from uuid import uuid4

import numpy as np

from gainful import errors
from gainful.errors import GainfulError
from gainful.evaluation.coverage import digests, total
from gainful.evaluation.measuring import apply_policy, measure_batches, summands
from gainful.evaluation.request import refuse_grades
from gainful.matching.matched import Matched
from gainful.matching.spark.partition_matching import Bunch, bunches
from gainful.matching.spark.plan import Plan
from gainful.measures.measure import Measure
from gainful.measures.tool_dialect import Dialect

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

    def __call__(self, batches: Iterable[object]) -> Iterator[object]:
        """Yield Arrow batches of the columns of `SCHEMA`.

        What is wrong is told in a row without a query, since a failure here would be tried again.
        """
        for bunch in bunches(batches, self.plan):
            flags = [name for name in FLAGS if getattr(bunch, name)]
            if flags:
                yield noted({"flags": flags})
            if extra := list(bunch.matched.extra):
                yield _batch(query=extra, extra=[True] * len(extra))
            if bunch.matched.queries:
                try:
                    yield self._measured(bunch)
                except GainfulError as problem:
                    yield noted({"problem": [type(problem).__name__, *problem.args]})

    def _measured(self, bunch: Bunch) -> object:
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

    def _digests(self, matched: Matched) -> object:
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


def _lists(column: object, count: int, width: int) -> object:
    import pyarrow as pa

    return pa.ListArray.from_arrays(np.arange(count + 1, dtype=np.int32) * width, column)


def noted(note: dict[str, object]) -> object:
    """Return a row without a query that tells something else."""
    return _batch(note=[json.dumps(note)])


def _batch(**columns: Any) -> object:
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


_TERMS = 3  # numbers that hold a sum of float64 with no error that a mean could show


@dataclass(slots=True)
class Summary:
    """Counts and sums over queries.

    Attributes:
        queries: how many are judged.
        kept: how many of them count for at least one measure.
        missing, empty, extra, tied_queries: how many are so.
        retrieved, seen, unjudged, shared, tied: documents.
        counted: [measure] how many queries count.
        lacking: [measure] how many have no positive gain.
        sums: [measure] numbers that add up to the sum; None where it is too large.
        digests: [reach and side] sums of the digests.
        notes: what is wrong, where something is.
    """

    queries: int
    kept: int
    missing: int
    empty: int
    extra: int
    retrieved: int
    seen: int
    unjudged: float
    shared: int
    tied: int
    tied_queries: int
    counted: list[int]
    lacking: list[int]
    sums: list[list[float] | None]
    digests: list[int]
    notes: list[dict[str, Any]]

    @property
    def flags(self) -> set[str]:
        """What is, or may be, wrong with the rows."""
        return {flag for note in self.notes for flag in note.get("flags", ())} & set(FLAGS)

    @property
    def problems(self) -> list[list[str]]:
        """What could not be measured."""
        return [note["problem"] for note in self.notes if "problem" in note]


@dataclass(frozen=True, slots=True)
class Summing:
    """Measures the queries of one partition, and adds them up on the way."""

    measuring: Measuring

    def __call__(self, batches: Iterable[object]) -> Iterator[Any]:
        """Yield the rows of the queries, and at the end one with a note, the summary of all."""
        parts = []
        for batch in self.measuring(batches):
            parts.append(self._summary(batch))
            if not parts[-1].notes:
                yield batch
        if parts:
            whole = added(parts)
            yield noted({field.name: getattr(whole, field.name) for field in fields(whole)})

    def _summary(self, batch: object) -> Summary:
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = pa.Table.from_batches([batch])
        notes = [json.loads(note) for note in rows["note"].to_pylist() if note is not None]
        mine, others = rows.filter(pc.invert(rows["extra"])), rows.filter(rows["extra"])
        measures = self.measuring.measures
        width = len(measures)
        flat = mine["values"].combine_chunks().flatten()
        values = flat.to_numpy(zero_copy_only=False).reshape(-1, width)
        counted = flat.is_valid().to_numpy(zero_copy_only=False).reshape(-1, width)
        lacking = mine["empty"].combine_chunks().flatten()
        empty = lacking.to_numpy(zero_copy_only=False).astype(np.bool_).reshape(-1, width)
        counts = {name: mine[name].to_numpy() for name in COUNTS}
        digests = mine["digests"].to_pylist()
        return Summary(
            queries=mine.num_rows,
            kept=int(counted.any(axis=1).sum()),
            missing=int(mine["missing"].to_numpy().sum()),
            empty=int(empty.any(axis=1).sum()),
            extra=others.num_rows,
            **{name: int(column.sum()) for name, column in counts.items()},
            unjudged=math.fsum(mine["unjudged"].to_pylist()),
            tied_queries=int((counts["tied"] > 0).sum()),
            counted=counted.sum(axis=0).tolist(),
            lacking=empty.sum(axis=0).tolist(),
            sums=[
                _terms(summands(measure, values[counted[:, column], column].tolist()))
                for column, measure in enumerate(measures)
            ],
            digests=[
                total(int.from_bytes(row[place], "little") for row in digests)
                for place in range(2 * len(self.measuring.reaches))
            ],
            notes=notes,
        )


def read_summary(text: str) -> Summary:
    """Read the summary of a partition."""
    return Summary(**json.loads(text))


def added(parts: Sequence[Summary]) -> Summary:
    """Add summaries up; the order does not matter."""
    first = parts[0]
    numbers = [
        field.name for field in fields(Summary) if isinstance(getattr(first, field.name), int)
    ]
    return Summary(
        **{name: sum(getattr(part, name) for part in parts) for name in numbers},
        unjudged=math.fsum(part.unjudged for part in parts),
        counted=[sum(column) for column in zip(*(part.counted for part in parts), strict=True)],
        lacking=[sum(column) for column in zip(*(part.lacking for part in parts), strict=True)],
        sums=[_joined(column) for column in zip(*(part.sums for part in parts), strict=True)],
        digests=[total(column) for column in zip(*(part.digests for part in parts), strict=True)],
        notes=[note for part in parts for note in part.notes],
    )


def _joined(sums: Sequence[list[float] | None]) -> list[float] | None:
    terms: list[float] = []
    for each in sums:
        if each is None:
            return None
        terms += each
    return _terms(terms)


def _terms(values: list[float]) -> list[float] | None:
    """Return a few numbers with the sum of all, each the rest that those before leave.

    >>> _terms([1.0, 1e-30])
    [1.0, 1e-30, 0.0]
    """
    terms: list[float] = []
    try:
        for _ in range(_TERMS):
            terms.append(math.fsum([*values, *(-term for term in terms)]))
    except (OverflowError, ValueError):  # the sum is too large for a float64
        return None
    return terms
