"""deepeval: `RankingMetric`, any measure as a `BaseMetric`."""

import math
from typing import Any

from gainful import arguments
from gainful.errors import warn
from gainful.integrations.documents_as_runs import document_ids, expected_of
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieval_measures import DEFAULT, RetrievalMeasures

with requiring("deepeval"):
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

__all__ = ["RankingMetric"]

_CALLED = {"expected": "test_case, context", "retrieved": "test_case, retrieval_context"}


class RankingMetric(BaseMetric):  # type: ignore[misc, unused-ignore]
    """A measure of what was retrieved, for `assert_test` and `evaluate`; it asks no model.

    A test case has the ids in its metadata: `retrieved_ids`, best first, and `grades`, {id: grade}, or
    `expected_ids`. Without them, its `retrieval_context` and its `context` are compared as they
    are; of a context that names its source, the source.

    After `measure`, `score` is the value. `reason` says how many of the retrieved ids are judged and
    which came more than once; `score_breakdown` has the counts. A question that the policy leaves out
    is skipped.

    Args:
        notation: of the measure, or the measure as a value.
        threshold: the least value of a success.
        judgments: `{input: {id: grade}}`; what the test case holds if None.
        name: of the metric, by which deepeval reports it; that of the measure if None.
        policy: the choices that are not the measure's, as in `evaluate`.
        dialect: measure as another tool does, as in `evaluate`.

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
        notation: Any = DEFAULT,
        threshold: float = 0.5,
        *,
        judgments: Any = None,
        name: str | None = None,
        policy: Any = None,
        dialect: Any = None,
    ) -> None:
        # deepeval copies a metric by its arguments, and looks for them under their names.
        self.threshold = arguments.number(threshold, "threshold", "a number", math.isfinite)
        self.judgments, self.policy, self.dialect = judgments, policy, dialect
        self.notation, self.name = notation, name
        self._measures = RetrievalMeasures.of_one(
            notation, judgments=judgments, name=name, policy=policy, dialect=dialect, called=_CALLED
        )

    @property
    def __name__(self) -> str:
        return self._measures.label

    def measure(self, test_case: LLMTestCase, *args: Any, **options: Any) -> float:
        """Measure a test case; what deepeval passes besides is not looked at."""
        del args, options
        # What an earlier test case left must not stand where this one is an error.
        self.score = self.success = self.reason = self.score_breakdown = self.error = None
        self.skipped = False
        held = test_case.metadata or {}
        named, grades = held.get("retrieved_ids"), held.get("grades")
        grades = held.get("expected_ids") if grades is None else grades
        ids = _told(test_case.retrieval_context) if named is None else named
        expected = test_case.context if grades is None else grades
        if expected is not None:
            expected = expected_of(expected, None, _CALLED["expected"])
        retrieved = document_ids(ids, None, _CALLED["retrieved"])
        found = self._measures.score(test_case.input, expected, retrieved)
        by_id = self.judgments is not None or grades is not None
        if found.retrieved and not found.judged and by_id != (named is not None):
            said = ("retrieval_context", "ids") if by_id else ("context", "retrieved_ids")
            warn(f"test_case: {said[0]} is compared with {said[1]}, and they share nothing.")
        value = found.values[self._measures.names[0]]
        self.skipped = math.isnan(value)
        self.score, self.reason = None if self.skipped else value, str(found)
        self.score_breakdown = found.coverage()
        self.success = self.skipped or value >= self.threshold
        return value

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **options: Any) -> float:
        """Measure a test case, as `measure` does."""
        return self.measure(test_case, *args, **options)

    def is_successful(self) -> bool:
        """Return whether the value reached the threshold; one that is skipped did not fail."""
        return bool(self.success)


def _told(contexts: Any) -> Any:
    return contexts and [getattr(each, "source", each) for each in contexts]
