"""LlamaIndex: measures as `BaseRetrievalMetric`s, and retrieved nodes as a run."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import InputError, MeasureError
from gainful.integrations.documents_as_runs import Run, named_queries, ranked_run
from gainful.integrations.ranking_measures import flat, metric_names
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieval_measures import DEFAULT, RetrievalMeasures, by_id, listed
from gainful.measures.notation import GivenMeasure, Measures
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect
from gainful.message_texts import shown

with requiring("llama_index"):
    from llama_index.core.evaluation.retrieval.metrics_base import (
        BaseRetrievalMetric,
        RetrievalMetricResult,
    )

__all__ = ["RankingMetric", "metrics", "record", "run_of"]

_IDS = ("node_id", "ref_doc_id")
_SCORES = ("rank", "given")
_SCORE = "a finite number as the score"
_CALLED = {"expected": "expected_ids", "retrieved": "retrieved_ids"}


class RankingMetric(BaseRetrievalMetric):  # type: ignore[misc, unused-ignore]
    """A measure for `RetrieverEvaluator(metrics=[…])`; `metrics` creates several.

    The `score` of its result is the value. The `metadata` contains how many ids were retrieved,
    how many of them are judged, and which occurred more than once.

    Args:
        measure: a measure as text or as a `Measure`.
        judgments: as in `metrics`, like all further arguments.
        name: the name of the metric; the name of the measure if None.
        policy: the policy, as in `evaluate`.
        dialect: the name of a tool whose numbers to reproduce.

    >>> RankingMetric("RR", name="first hit")
    RankingMetric('RR', name='first hit')
    """

    _measures: RetrievalMeasures

    def __init__(
        self,
        measure: GivenMeasure = DEFAULT,
        *,
        judgments: "gf.inputs.Judgments | None" = None,
        name: str | None = None,
        policy: GivenPolicy | None = None,
        dialect: GivenDialect | None = None,
    ) -> None:
        super().__init__()
        self._measures = RetrievalMeasures.of_one(
            measure, judgments=judgments, name=name, policy=policy, dialect=dialect, called=_CALLED
        )

    @property
    def metric_name(self) -> str:  # type: ignore[override, unused-ignore]
        """The name of the metric: the evaluator's key for the result."""
        return self._measures.label

    def __repr__(self) -> str:
        return f"RankingMetric({self._measures.written()})"

    def compute(
        self,
        query: str | None = None,
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,
        retrieved_texts: list[str] | None = None,
        **kwargs: object,
    ) -> RetrievalMetricResult:
        """Measure a question.

        Args:
            query: the text of the question, which is its id in the judgments, if there are judgments.
            expected_ids: the relevant ids; ignored with judgments.
            retrieved_ids: the retrieved ids, best first.
            expected_texts: ignored.
            retrieved_texts: ignored.
            **kwargs: ignored.
        """
        del expected_texts, retrieved_texts, kwargs
        result = self._measures.score(query, expected_ids, retrieved_ids)
        return RetrievalMetricResult(
            score=result.values[self._measures.names[0]], metadata=result.coverage()
        )


def metrics(
    *measures: Measures,
    judgments: "gf.inputs.Judgments | None" = None,
    name: object = None,
    policy: GivenPolicy | None = None,
    dialect: GivenDialect | None = None,
) -> list[RankingMetric]:
    """Return a metric for each measure.

    Args:
        *measures: measures as text or as `Measure`; nDCG@10 by default.
        judgments: `{query: {id: grade}}`, by the text of the queries; if None, the expected ids have
            grade 1.
        name: the name of the metric, or a list with a name for each measure; the names of the measures if
            None. Of two metrics with the same name, LlamaIndex keeps only the last.
        policy: the policy, as in `evaluate`.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`.

    >>> metric, = metrics("nDCG@10", judgments={"red wine": {"a": 2, "b": 1}})
    >>> result = metric.compute("red wine", retrieved_ids=["b", "a", "a"])
    >>> round(result.score, 4), result.metadata
    (0.8597, {'retrieved': 2, 'judged': 2, 'repeated': ['a']})
    """
    asked = flat(measures) or (DEFAULT,)
    parts = [part for measure in asked for part in _parted(measure, policy, dialect)]
    names = metric_names(name, [title for _, title in parts])
    made = [
        RankingMetric(measure, judgments=judgments, name=own, policy=policy, dialect=dialect)
        for (measure, _), own in zip(parts, names, strict=True)
    ]
    _refuse_one_name([measure for measure, _ in parts], made)
    return made


def _parted(
    measure: GivenMeasure, policy: GivenPolicy | None, dialect: GivenDialect | None
) -> list[tuple[GivenMeasure, str]]:
    """Return the measures of one text, such as nDCG@5,10, one by one, each with its name."""
    names = RetrievalMeasures(measure, policy=policy, dialect=dialect).names
    return [(measure, *names)] if len(names) == 1 else [(name, name) for name in names]


def _refuse_one_name(measures: list[GivenMeasure], made: list[RankingMetric]) -> None:
    """Reject two measures with the same name, such as two unnamed functions."""
    by_name: dict[str, object] = {}
    for measure, metric in zip(measures, made, strict=True):
        if by_name.setdefault(metric.metric_name, _measure(measure)) != _measure(measure):
            remedy = "Name the measures: name=[…]."
            raise InputError("measures", "different names", f"{metric.metric_name!r} twice", remedy)


def _measure(measure: GivenMeasure) -> object:
    try:
        return gf.measure(measure) if isinstance(measure, str) else measure
    except MeasureError:  # a name that a dialect alone knows
        return measure


def run_of(retrieved: object, *, id: str = "node_id", score: str = "rank") -> Run:  # noqa: A002
    """Return the run of retrieved nodes, for `evaluate`, `compare` and all other functions.

    Args:
        retrieved: `{query: nodes}`, each a list of `NodeWithScore`, best first.
        id: `node_id`, or `ref_doc_id`, the document that a node belongs to; its best node counts.
        score: `rank`: the order is the ranking, and scores are −1, −2 …; `given`: the scores of the
            nodes, whatever their order.
    """
    if not isinstance(retrieved, Mapping):
        raise InputError("retrieved", "a dict {query: nodes}", shown(retrieved))
    which = arguments.choice(id, "id", _IDS)
    lists = (
        (
            query,
            [
                _node(node, which, query)
                for node in listed(nodes, f"retrieved for {shown(query)}", "nodes")
            ],
        )
        for query, nodes in by_id(retrieved, "retrieved").items()
    )
    if arguments.choice(score, "score", _SCORES) == "given":
        return {query: _by_score(query, nodes) for query, nodes in lists}
    return ranked_run((query, _ids(nodes, which)) for query, nodes in lists)


def _node(node: object, which: str, query: object) -> tuple[str, object]:
    inner = getattr(node, "node", node)
    own = getattr(inner, which, None)
    if not isinstance(own, str):
        expected = f"nodes with a {which}"
        raise InputError(f"retrieved for {shown(query)}", expected, shown(own or node))
    return own, getattr(node, "score", None)


def _ids(nodes: Iterable[tuple[str, object]], which: str) -> Iterable[str]:
    ids = [one for one, _ in nodes]
    # Several nodes of a document are expected; the same node twice is worth a warning.
    return [*dict.fromkeys(ids)] if which == "ref_doc_id" else ids


def _by_score(query: str, nodes: Iterable[tuple[str, object]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for one, score in nodes:
        if score is None:
            remedy = 'Use the order instead: score="rank".'
            raise InputError(f"retrieved for {shown(query)}", "scores", "a node without", remedy)
        number = arguments.number(
            score, f"retrieved for {shown(query)}, node {shown(one)}", _SCORE, math.isfinite
        )
        best[one] = max(number, best.get(one, number))
    return best


def record(
    retriever: Any,
    queries: Any,
    *,
    id: str = "node_id",  # noqa: A002 - the host's name
    score: str = "rank",
) -> Run:
    """Send all queries to a retriever, and return the results as a run.

    Args:
        retriever: an object with `retrieve(text)`, such as
            `index.as_retriever(similarity_top_k=10)`.
        queries: `{query: text}`, or texts, which are then their own ids.
        id: as in `run_of`.
        score: as in `run_of`.
    """
    if not callable(getattr(retriever, "retrieve", None)):
        raise InputError("retriever", "one with retrieve(text)", type(retriever).__name__)
    arguments.choice(id, "id", _IDS)
    arguments.choice(score, "score", _SCORES)
    nodes = {query: retriever.retrieve(text) for query, text in named_queries(queries).items()}
    return run_of(nodes, id=id, score=score)
