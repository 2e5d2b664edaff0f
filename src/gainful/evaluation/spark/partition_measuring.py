"""The work of a Spark worker: match and measure the queries of a partition."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any
from uuid import uuid4

from gainful.array_types import Ints
from gainful.errors import GainfulError
from gainful.evaluation.coverage import digests, total
from gainful.evaluation.measuring import apply_policy, measure_batches, summands
from gainful.evaluation.request import refuse_grades
from gainful.matching.matched import Matched
from gainful.matching.spark.partition_matching import bunches
from gainful.matching.spark.plan import Plan
from gainful.measures.measure import Measure
from gainful.measures.tool_dialect import Dialect

_COLUMNS = {
    "query": "string",
    "extra": "boolean",
    "missing": "boolean",
    "judged": "bigint",
    "retrieved": "bigint",
    "seen": "bigint",
    "tied": "bigint",
    "unjudged": "double",
    "values": "array<double>",
    "empty": "array<boolean>",
    "note": "string",
}
SCHEMA = ", ".join(f"{name} {type_}" for name, type_ in _COLUMNS.items())
_TERMS = 3  # numbers that represent a sum of float64 without an error that a mean could show


@dataclass(slots=True)
class Summary:
    """Counts and sums over queries.

    Attributes:
        queries: the number of judged queries.
        kept: the number of queries that count for at least one measure.
        missing, empty, extra, tied_queries: the number of such queries.
        retrieved, seen, unjudged, shared, tied: numbers of documents.
        counted: [measure] the number of queries that count.
        lacking: [measure] the number of queries without positive gain.
        sums: [measure] numbers that add up to the sum; None if it is too large.
        digests: [reach and side] sums of the digests.
        flags: possible faults of the rows.
        problems: the names and arguments of errors.
    """

    queries: int = 0
    kept: int = 0
    missing: int = 0
    empty: int = 0
    extra: int = 0
    retrieved: int = 0
    seen: int = 0
    unjudged: float = 0.0
    shared: int = 0
    tied: int = 0
    tied_queries: int = 0
    counted: list[int] = field(default_factory=list)
    lacking: list[int] = field(default_factory=list)
    sums: list[list[float] | None] = field(default_factory=list)
    digests: list[int] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    problems: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Measuring:
    """What to measure, as Spark sends it to its workers.

    Attributes:
        plan: how the rows are matched.
        measures: the measures, in the requested order.
        reaches: their distinct reaches.
        tool: the dialect, if requested.
        once: different in every evaluation. Otherwise, Spark would reuse the rows that it keeps of an earlier
            evaluation that looks the same, although the files may have changed.
    """

    plan: Plan
    measures: tuple[Measure, ...]
    reaches: tuple[int | None, ...]
    tool: Dialect | None
    once: str = field(default_factory=lambda: uuid4().hex)

    def __call__(self, batches: Iterable[object]) -> Iterator[object]:
        """Yield Arrow batches of the columns of `SCHEMA`: a row per query, and a last row with a summary as note.

        Errors are a part of the summary, because Spark would retry a failed task.
        """
        width = len(self.measures)
        nothing = Summary(
            counted=[0] * width,
            lacking=[0] * width,
            sums=[[] for _ in self.measures],
            digests=[0] * (2 * len(self.reaches)),
        )
        parts = [nothing]
        for bunch in bunches(batches, self.plan):
            nothing.flags += bunch.flags
            try:
                matched, shared = bunch.match()
                measured = [self._measured(matched, shared)] if matched.queries else []
            except GainfulError as problem:
                nothing.problems.append([type(problem).__name__, *problem.args])
                continue
            extra = list(matched.extra)
            nothing.extra += len(extra)
            if extra:
                yield _batch(query=extra, extra=[True] * len(extra))
            for batch, summary in measured:
                parts.append(summary)
                yield batch
        if nothing.extra or nothing.flags or nothing.problems or parts[1:]:
            yield _batch(note=[json.dumps(asdict(added(parts)))])

    def _measured(self, matched: Matched, shared: Ints) -> tuple[object, Summary]:
        """Return the rows of some queries, and their summary; `shared` counts the judged documents retrieved."""
        measures = self.measures
        refuse_grades(self.tool, matched.grade, matched.pool_grades, measures)
        measured = measure_batches([matched], measures, self.plan.policy, self.plan.depth)
        counts, policy = measured.counts, self.plan.policy
        counted = apply_policy(measured.values, measured.empty, counts, measures, policy)
        numbers = {name: getattr(counts, name) for name in ("missing", "retrieved", "seen", "tied")}
        batch = _batch(
            **numbers,
            query=list(matched.queries),
            extra=[False] * len(matched.queries),
            judged=counts.judged,
            unjudged=counts.unjudged,
            values=[
                [value if counts_here else None for value, counts_here in zip(*row, strict=True)]
                for row in zip(measured.values.tolist(), counted.tolist(), strict=True)
            ],
            empty=measured.empty.tolist(),
        )
        totals: dict[str, Any] = {name: int(column.sum()) for name, column in numbers.items()}
        summary = Summary(
            **totals,
            queries=len(matched.queries),
            kept=int(counted.any(axis=1).sum()),
            empty=int(counts.empty.sum()),
            unjudged=math.fsum(counts.unjudged.tolist()),
            shared=int(shared.sum()),
            tied_queries=int((counts.tied > 0).sum()),
            counted=counted.sum(axis=0).tolist(),
            lacking=measured.empty.sum(axis=0).tolist(),
            sums=[
                _terms(summands(measure, measured.values[counted[:, column], column].tolist()))
                for column, measure in enumerate(measures)
            ],
            digests=[total(column) for reach in self.reaches for column in digests(matched, reach)],
        )
        return batch, summary


def _batch(**columns: Any) -> object:
    """Return an Arrow batch of all columns; columns that aren't given have no values."""
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "boolean": pa.bool_(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "array<double>": pa.list_(pa.float64()),
        "array<boolean>": pa.list_(pa.bool_()),
    }
    count = len(next(iter(columns.values())))
    arrays = [
        pa.array(columns.get(name, [None] * count), types[type_])
        for name, type_ in _COLUMNS.items()
    ]
    return pa.record_batch(arrays, [*_COLUMNS])


def read_summary(text: str) -> Summary:
    """Read the summary of a partition."""
    return Summary(**json.loads(text))


def added(parts: Sequence[Summary]) -> Summary:
    """Add summaries; their order doesn't matter."""
    columns = {
        field.name: [getattr(part, field.name) for part in parts] for field in fields(Summary)
    }
    combine = {
        "unjudged": math.fsum,
        "counted": _by_place(sum),
        "lacking": _by_place(sum),
        "sums": _by_place(_joined),
        "digests": _by_place(total),
        "flags": _together,
        "problems": _together,
    }
    return Summary(**{name: combine.get(name, sum)(column) for name, column in columns.items()})


def _by_place(function: Any) -> Any:
    """Return a function of lists that combines their first members, their second members, …."""
    return lambda lists: [function(column) for column in zip(*lists, strict=True)]


def _together(lists: Iterable[list[Any]]) -> list[Any]:
    return [member for members in lists for member in members]


def _joined(sums: Sequence[list[float] | None]) -> list[float] | None:
    terms = [terms for terms in sums if terms is not None]
    return _terms(_together(terms)) if len(terms) == len(sums) else None


def _terms(values: list[float]) -> list[float] | None:
    """Return a few numbers with the same sum, each the rest that the previous ones leave.

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
