"""MLflow: `scorer`, any measure as a scorer of `mlflow.genai.evaluate`.

`scores.log(mlflow)` logs results; it doesn't use this module.
"""

import math

import gainful as gf
from gainful import arguments
from gainful.integrations.documents_as_runs import document_ids, expected_of, part_if_any, part_of
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieval_measures import DEFAULT, RetrievalMeasures
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect

with requiring("mlflow"):
    from mlflow.entities import AssessmentSource, Feedback
    from mlflow.genai.scorers import Scorer
    from mlflow.genai.scorers import scorer as make_scorer

__all__ = ["scorer"]

_CALLED = {"expected": "expectations", "retrieved": "outputs"}


def scorer(
    measure: GivenMeasure = DEFAULT,
    *,
    judgments: "gf.inputs.Judgments | None" = None,
    retrieved: str | None = None,
    expected: str = "grades",
    query: str = "query",
    id_key: str | None = None,
    name: str | None = None,
    policy: GivenPolicy | None = None,
    dialect: GivenDialect | None = None,
) -> Scorer:
    """Return a scorer for `mlflow.genai.evaluate(…, scorers=[…])`.

    Its feedback contains the value. The rationale and the metadata show how many of the retrieved ids are
    judged, and which occurred more than once. If the policy leaves a question out, there is no feedback,
    so MLflow's mean also leaves it out.

    Args:
        measure: a measure as text or as a `Measure`.
        judgments: `{query: {id: grade}}`; if None, the expectations contain the grades.
        retrieved: the key of the outputs that contains the documents or their ids, best first; None if
            the outputs themselves are the documents or ids.
        expected: the key of the expectations that contains `{id: grade}`, or the relevant documents or
            ids, such as MLflow's own `expected_retrieved_context`.
        query: the key of the inputs that contains the query's id in the judgments.
        id_key: the key of a document, or of its metadata, that contains its id, such as MLflow's
            `doc_uri`; None for its `id`.
        name: the name of the scorer; if None, the measure's name in characters that MLflow permits, such
            as `nDCG_at_10`.
        policy: the policy, as in `evaluate`.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`.

    >>> feedback = scorer("RR")(inputs={}, outputs=["b", "a"], expectations={"grades": {"a": 2}})
    >>> feedback.value, feedback.rationale
    (0.5, '1 of 2 retrieved ids judged')
    """
    retrieval = RetrievalMeasures.of_one(
        measure, judgments=judgments, name=name, policy=policy, dialect=dialect, called=_CALLED
    )
    for what, key in (("retrieved", retrieved), ("id_key", id_key)):
        if key is not None:
            arguments.text(key, what)
    for what, key in (("expected", expected), ("query", query)):
        arguments.text(key, what)
    (measured,) = retrieval.names
    source = AssessmentSource(source_type="CODE", source_id=f"gainful {measured}")

    def score_ranking(inputs: object, outputs: object, expectations: object) -> Feedback | None:
        ids = document_ids(part_of(outputs, retrieved, "outputs"), id_key, "outputs")
        if judgments is None:
            reference = part_of(expectations, expected, "expectations")
            grades = expected_of(reference, id_key, "expectations")
            result = retrieval.score(part_if_any(inputs, query), grades, ids)
        else:
            result = retrieval.score(part_of(inputs, query, "inputs"), None, ids)
        value = result.values[measured]
        if math.isnan(value):
            return None
        metadata = {key: str(count) for key, count in result.coverage().items()}
        return Feedback(value=value, rationale=str(result), source=source, metadata=metadata)

    return make_scorer(name=gf.writing.flat_name(measured) if name is None else name)(score_ranking)
