"""ragas: `RankingMetric`, any measure as a `SingleTurnMetric` of context ids."""

from typing import TYPE_CHECKING, Any

from gainful.errors import warn
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieval_measures import DEFAULT, QuestionScore, RetrievalMeasures
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect
from gainful.message_texts import shown

if TYPE_CHECKING:
    import gainful as gf

with requiring("ragas"):
    from ragas.dataset_schema import SingleTurnSample
    from ragas.metrics.base import MetricOutputType, MetricType, SingleTurnMetric
    from ragas.metrics.result import MetricResult

__all__ = ["RankingMetric"]

_CALLED = {"expected": "reference_context_ids", "retrieved": "retrieved_context_ids"}


class RankingMetric(SingleTurnMetric):  # type: ignore[misc, unused-ignore]
    """A measure of the ids of retrieved contexts, which calls no model.

    `ragas.evaluate(…, metrics=[…])` accepts only numbers, so `coverage` contains how many of the
    ids retrieved so far are judged. A warning lists ids that occur more than once for a question.
    For experiments, `score` and `ascore` return a `MetricResult`, whose reason contains both. A
    question that the policy leaves out is NaN, which ragas excludes from its mean.

    Args:
        measure: a measure as text or as a `Measure`.
        judgments: `{query: {id: grade}}`, by the text of the queries; if None, the reference ids
            have grade 1.
        name: the name of the metric; the name of the measure if None. ragas stores results by
            name, and keeps only the last of two metrics with the same name.
        policy: the policy, as in `evaluate`.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`.

    >>> result = RankingMetric("RR").score(retrieved_context_ids=[7, 3], reference_context_ids=[3])
    >>> result.value, result.reason
    (0.5, '1 of 2 retrieved ids judged')
    """

    def __init__(
        self,
        measure: GivenMeasure = DEFAULT,
        *,
        judgments: "gf.inputs.Judgments | None" = None,
        name: str | None = None,
        policy: GivenPolicy | None = None,
        dialect: GivenDialect | None = None,
    ) -> None:
        self._measures = RetrievalMeasures.of_one(
            measure, judgments=judgments, name=name, policy=policy, dialect=dialect, called=_CALLED
        )
        # ragas passes only the named columns: the query is needed for messages.
        columns = {"reference_context_ids", "user_input:optional"}
        columns = columns if judgments is None else {"user_input"}
        needed = {MetricType.SINGLE_TURN: {"retrieved_context_ids", *columns}}
        super().__init__(_required_columns=needed, name=self._measures.label)
        self.output_type = MetricOutputType.CONTINUOUS
        self.coverage = {"questions": 0, "retrieved": 0, "judged": 0, "repeated": 0}

    def init(self, run_config: object) -> None:
        """Require nothing from ragas' run configuration."""

    def score(
        self,
        *,
        retrieved_context_ids: object,
        reference_context_ids: object = None,
        user_input: str | None = None,
    ) -> MetricResult:
        """Measure a question.

        Args:
            retrieved_context_ids: the retrieved ids, best first, as texts or whole numbers.
            reference_context_ids: the relevant ids, or `{id: grade}`; ignored with judgments.
            user_input: the query, which identifies it in the judgments, if there are judgments.
        """
        result = self._measure(user_input, reference_context_ids, retrieved_context_ids)
        return MetricResult(
            value=self._value(result), reason=str(result), traces={"output": result.coverage()}
        )

    async def ascore(self, **columns: Any) -> MetricResult:
        """Measure a question, as `score` does."""
        return self.score(**columns)

    async def _single_turn_ascore(self, sample: SingleTurnSample, callbacks: object) -> float:
        del callbacks
        result = self._measure(
            sample.user_input, sample.reference_context_ids, sample.retrieved_context_ids
        )
        if result.repeated:
            query = sample.user_input
            whose = f" for {shown(query)}" if isinstance(query, str) and query else ""
            warn(f"retrieved_context_ids{whose}: {result}.")
        return self._value(result)

    def _value(self, result: QuestionScore) -> float:
        return result.values[self._measures.names[0]]  # the caller may set `name`

    def _measure(self, query: object, reference: object, retrieved: object) -> QuestionScore:
        result = self._measures.score(query, reference, retrieved)
        counts = {"retrieved": result.retrieved, "judged": result.judged}
        for name, count in {**counts, "questions": 1, "repeated": len(result.repeated)}.items():
            self.coverage[name] += count
        return result
