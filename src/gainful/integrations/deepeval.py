"""deepeval: `RankingMetric`, any measure as a `BaseMetric`."""

import math
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import warn
from gainful.integrations.documents_as_runs import document_ids, expected_of
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieval_measures import DEFAULT, RetrievalMeasures
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect

with requiring("deepeval"):
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

__all__ = ["RankingMetric"]

_CALLED = {"expected": "test_case, context", "retrieved": "test_case, retrieval_context"}


class RankingMetric(BaseMetric):  # type: ignore[misc, unused-ignore]
    """A measure of retrieved ids for `assert_test` and `evaluate`, which calls no model.

    A test case has the ids in its metadata: `retrieved_ids`, best first, and `grades`, {id: grade}, or
    `expected_ids`. Without them, `retrieval_context` and `context` are compared directly, or by
    source if they name one.

    After `measure`, `score` is the value. `reason` contains the number of judged ids and any
    repeated ones; `score_breakdown` has the counts. A question left out by the policy is skipped.

    Args:
        notation: the measure, as text or as a Measure.
        threshold: the lowest value that counts as success.
        judgments: `{input: {id: grade}}`; taken from the test case if None.
        name: the name of the metric in deepeval; the measure's name if None.
        policy: the policy, as in `evaluate`.
        dialect: the dialect of another tool, as in `evaluate`.

    >>> ids = {"retrieved_ids": ["b", "a"], "grades": {"a": 2}}
    >>> metric = RankingMetric("RR", threshold=0.4)
    >>> metric.measure(LLMTestCase(input="red wine", metadata=ids))
    0.5
    >>> metric.is_successful(), metric.reason
    (True, '1 of 2 retrieved ids judged')
    """

    async_mode = False
    verbose_mode = False
    include_reason = True
    evaluation_model = None
    evaluation_cost = 0.0

    def __init__(
        self,
        notation: GivenMeasure = DEFAULT,
        threshold: float = 0.5,
        *,
        judgments: "gf.inputs.Judgments | None" = None,
        name: str | None = None,
        policy: GivenPolicy | None = None,
        dialect: GivenDialect | None = None,
    ) -> None:
        # deepeval copies a metric by its arguments, which it looks up by name.
        self.threshold = arguments.number(threshold, "threshold", "a number", math.isfinite)
        self.judgments, self.policy, self.dialect = judgments, policy, dialect
        self.notation, self.name = notation, name
        self._measures = RetrievalMeasures.of_one(
            notation, judgments=judgments, name=name, policy=policy, dialect=dialect, called=_CALLED
        )

    @property
    def __name__(self) -> str:
        return self._measures.label

    def measure(self, test_case: LLMTestCase, *args: object, **options: object) -> float:
        """Measure a test case; other arguments of deepeval are ignored."""
        del args, options
        # Results of an earlier test case must not remain if this one is an error.
        self.score = self.success = self.reason = self.score_breakdown = self.error = None
        self.skipped = False
        metadata = test_case.metadata or {}
        named, grades = metadata.get("retrieved_ids"), metadata.get("grades")
        grades = metadata.get("expected_ids") if grades is None else grades
        ids = _ids_of(test_case.retrieval_context) if named is None else named
        expected = test_case.context if grades is None else grades
        if expected is not None:
            expected = expected_of(expected, None, _CALLED["expected"])
        retrieved = document_ids(ids, None, _CALLED["retrieved"])
        result = self._measures.score(test_case.input, expected, retrieved)
        by_id = self.judgments is not None or grades is not None
        if result.retrieved and not result.judged and by_id != (named is not None):
            pair = ("retrieval_context", "ids") if by_id else ("context", "retrieved_ids")
            warn(f"test_case: {pair[0]} is compared with {pair[1]}, and they share nothing.")
        value = result.values[self._measures.names[0]]
        self.skipped = math.isnan(value)
        self.score, self.reason = None if self.skipped else value, str(result)
        self.score_breakdown = result.coverage()
        self.success = self.skipped or value >= self.threshold
        return value

    async def a_measure(self, test_case: LLMTestCase, *args: object, **options: object) -> float:
        """Measure a test case, as `measure` does."""
        return self.measure(test_case, *args, **options)

    def is_successful(self) -> bool:
        """Return whether the value reached the threshold; a skipped test case did not fail."""
        return bool(self.success)


def _ids_of(contexts: Any) -> Any:
    return contexts and [getattr(context, "source", context) for context in contexts]
