"""What one judgment more would do to the value of a run.

Each grade of each document becomes a copy of its query with that one judgment more, under an id
of its own, and the copies are evaluated together: the arithmetic is that of `evaluate`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gainful.evaluation.evaluate import evaluate
from gainful.judging.gathering import Judged, Scores, without_warnings
from gainful.measures.family import SUM
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

_TOGETHER = 1_000_000  # documents that are copied before they are evaluated

Value = float | None  # None where the policy leaves the query out of the mean


@dataclass(frozen=True, slots=True)
class Standing:
    """A run as it is measured now.

    Attributes:
        values: query → value.
        summed: whether they are summed; else the mean is taken.
        mean: what they come to.
        counted: how many count.
    """

    values: Mapping[str, Value]
    summed: bool
    mean: float
    counted: int

    def change(self, query: str, value: Value) -> float:
        """Return by how much the mean changes where a query has this value instead of its own."""
        own = self.values[query]
        if own is not None and value is not None:
            return (value - own) / (1 if self.summed else self.counted)
        if own is value:
            return 0.0
        return self.mean_with(query, value) - self.mean

    def mean_with(self, query: str, value: Value) -> float:
        """Return the mean where a query has this value instead of its own; of no query, 0."""
        values = {**self.values, query: value}.values()
        known = [value for value in values if value is not None]
        return math.fsum(known) / (1 if self.summed else max(len(known), 1))


def standing_of(judged: Judged, scores: Scores, measure: Measure, policy: Policy) -> Standing:
    """Measure a run as it is."""
    with without_warnings():
        found = evaluate(judged, scores, measure, policy=policy)
    column: list[Value] = found.per_query[measure]  # type: ignore[assignment]
    values = dict.fromkeys(judged, None) | dict(zip(found.queries, column, strict=True))
    counted = sum(value is not None for value in column)
    summed = measure.family.aggregate == SUM
    return Standing(values, summed, found[measure], counted)


def values_with(
    judged: Judged,
    scores: Scores,
    measure: Measure,
    policy: Policy,
    candidates: Mapping[str, Sequence[str]],
    grades: Sequence[float],
) -> dict[tuple[str, str], tuple[Value, ...]]:
    """Return the value of a query for each grade that one document more of it may have.

    Args:
        judged: query → document → grade.
        scores: query → document → score, those documents that count.
        measure: what to measure.
        policy: with the lowest grade decided.
        candidates: query → documents without a judgment, of queries that the run has.
        grades: to try.

    Documents that the run lacks all do the same to it, so one stands for all of a query.
    """
    alike = {
        (query, doc): (query, doc if doc in scores[query] else None)
        for query, docs in candidates.items()
        for doc in docs
    }
    examples = {kind: doc for (_, doc), kind in alike.items()}
    wanted = ((query, doc) for (query, _), doc in examples.items())
    found: list[tuple[Value, ...]] = []
    for batch in _batches(wanted, judged, scores, len(grades)):
        values = _evaluated(batch, judged, scores, measure, policy, grades)
        found += zip(*[iter(values)] * len(grades), strict=True)
    by_kind = dict(zip(examples, found, strict=True))
    return {candidate: by_kind[kind] for candidate, kind in alike.items()}


def _batches(
    wanted: Iterator[tuple[str, str]], judged: Judged, scores: Scores, grades: int
) -> Iterator[list[tuple[str, str]]]:
    batch: list[tuple[str, str]] = []
    size = 0
    for query, doc in wanted:
        batch.append((query, doc))
        size += grades * (len(judged[query]) + len(scores[query]) + 1)
        if size >= _TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _evaluated(
    batch: Sequence[tuple[str, str]],
    judged: Judged,
    scores: Scores,
    measure: Measure,
    policy: Policy,
    grades: Sequence[float],
) -> list[Value]:
    """Evaluate every document of a batch at every grade."""
    copies = [(query, doc, grade) for query, doc in batch for grade in grades]
    # Ids of one length stand in the order of the numbers.
    ids = [f"{place:012}" for place in range(len(copies))]
    each = list(zip(ids, copies, strict=True))
    with without_warnings():
        found = evaluate(
            {name: {**judged[query], doc: grade} for name, (query, doc, grade) in each},
            {name: scores[query] for name, (query, _, _) in each},
            measure,
            # Ids are not those of the queries: documents were left out already. What is not a
            # number shows which copies have no positive gain.
            policy=replace(policy.resolved(ids=True), empty="nan", drop_self="no"),
        )
    column: list[float] = found.per_query[measure]  # type: ignore[assignment]
    meaning: dict[str, Value] = {"zero": 0.0, "one": 1.0, "skip": None}
    return [meaning[policy.empty] if math.isnan(value) else value for value in column]
