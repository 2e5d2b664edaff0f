"""What is known of all queries together: a row from each partition, added up."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from gainful.evaluation.input_hashes import total
from gainful.evaluation.means_over_queries import summands
from gainful.evaluation.spark.partition_measuring import COUNTS, FLAGS, Measuring, noted

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

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows of the queries, and at the end one with a note, the summary of all."""
        parts = []
        for batch in self.measuring(batches):
            parts.append(self._summary(batch))
            if not parts[-1].notes:
                yield batch
        if parts:
            whole = added(parts)
            yield noted({field.name: getattr(whole, field.name) for field in fields(whole)})

    def _summary(self, batch: Any) -> Summary:
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
