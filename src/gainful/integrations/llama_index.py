"""LlamaIndex: measures as `BaseRetrievalMetric`s, and what retrievers found as a run."""

from collections.abc import Iterable, Mapping
from typing import Any

from gainful import arguments
from gainful.errors import InputError
from gainful.integrations.recorded_runs import Run, named_queries, ranked_run
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieved_ids import DEFAULT, RetrievalMeasures, by_id, listed
from gainful.message_texts import shown

with requiring("llama_index"):
    from llama_index.core.evaluation.retrieval.metrics_base import (
        BaseRetrievalMetric,
        RetrievalMetricResult,
    )

__all__ = ["RankingMetric", "metrics", "record", "run_of"]

_IDS = ("node_id", "ref_doc_id")
_SCORES = ("rank", "given")


class RankingMetric(BaseRetrievalMetric):  # type: ignore[misc, unused-ignore]
    """A measure for `RetrieverEvaluator(metrics=[…])`; `metrics` makes one for each measure.

    Its result has the value as `score`, and in `metadata` how many ids were retrieved, how many of
    them are judged, and which came more than once.
    """

    _measures: RetrievalMeasures
    _name: str

    @classmethod
    def of(cls, measures: RetrievalMeasures, name: str) -> "RankingMetric":
        """Return the metric of one of some measures."""
        metric = cls()
        metric._measures, metric._name = measures, name
        return metric

    @property
    def metric_name(self) -> str:  # type: ignore[override, unused-ignore]
        """The name of the measure, by which the evaluator keeps the result."""
        return self._name

    def compute(
        self,
        query: str | None = None,
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,
        retrieved_texts: list[str] | None = None,
        **kwargs: Any,
    ) -> RetrievalMetricResult:
        """Measure a question.

        Args:
            query: its text, which the judgments know it by, where there are any.
            expected_ids: the relevant ids; not looked at where there are judgments.
            retrieved_ids: best first.
            expected_texts: not looked at.
            retrieved_texts: not looked at.
            **kwargs: not looked at.
        """
        del expected_texts, retrieved_texts, kwargs
        found = self._measures.score(query, expected_ids, retrieved_ids)
        return RetrievalMetricResult(score=found.values[self._name], metadata=found.coverage())


def metrics(
    *measures: Any, judgments: Any = None, policy: Any = None, dialect: Any = None
) -> list[RankingMetric]:
    """Return a metric for each measure.

    Args:
        *measures: in the notation or as values; nDCG@10 if there are none.
        judgments: `{query: {id: grade}}`, by the texts of the queries; the expected ids, each with
            the grade 1, if None.
        policy: the choices that are not the measure's, as in `evaluate`.
        dialect: measure as another tool does, as in `evaluate`.

    >>> metric, = metrics("nDCG@10", judgments={"red wine": {"a": 2, "b": 1}})
    >>> found = metric.compute("red wine", retrieved_ids=["b", "a", "a"])
    >>> round(found.score, 4), found.metadata
    (0.8597, {'retrieved': 2, 'judged': 2, 'repeated': ['a']})
    """
    made = [
        RetrievalMeasures(each, judgments=judgments, policy=policy, dialect=dialect)
        for each in _flat(measures)
    ]
    return [RankingMetric.of(each, name) for each in made for name in each.names]


def _flat(measures: tuple[Any, ...]) -> tuple[Any, ...]:
    alone = len(measures) == 1 and isinstance(measures[0], list | tuple)
    return tuple(measures[0] if alone else measures) or (DEFAULT,)


def run_of(retrieved: Any, *, id: str = "node_id", score: str = "rank") -> Run:  # noqa: A002
    """Return the run of nodes that were retrieved, for `evaluate`, `compare` and all else.

    Args:
        retrieved: `{query: nodes}`, each a list of `NodeWithScore`, best first.
        id: `node_id`, or `ref_doc_id`: the document that a node is of. Of a document, its best node counts.
        score: `rank`: the order is the ranking, and scores are −1, −2 …; `given`: the scores of the
            nodes, whatever their order.
    """
    if not isinstance(retrieved, Mapping):
        raise InputError("retrieved", "a dict {query: nodes}", shown(retrieved))
    which = arguments.choice(id, "id", _IDS)
    lists = (
        (query, [_read(each, which, query) for each in listed(nodes, "retrieved")])
        for query, nodes in by_id(retrieved, "retrieved").items()
    )
    if arguments.choice(score, "score", _SCORES) == "given":
        return {query: _by_score(query, nodes) for query, nodes in lists}
    return ranked_run((query, _ids(nodes, which)) for query, nodes in lists)


def _read(node: Any, which: str, query: Any) -> tuple[str, Any]:
    inner = getattr(node, "node", node)
    found = getattr(inner, which, None)
    if not isinstance(found, str):
        expected = f"nodes with a {which}"
        raise InputError(f"retrieved for {shown(query)}", expected, shown(found or node))
    return found, getattr(node, "score", None)


def _ids(nodes: Iterable[tuple[str, Any]], which: str) -> Iterable[str]:
    ids = [one for one, _ in nodes]
    # Several nodes of a document are what was asked for; the same node twice is worth a warning.
    return [*dict.fromkeys(ids)] if which == "ref_doc_id" else ids


def _by_score(query: str, nodes: Iterable[tuple[str, Any]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for one, score in nodes:
        if score is None:
            remedy = 'Take the order: score="rank".'
            raise InputError(f"retrieved for {shown(query)}", "scores", "a node without", remedy)
        best[one] = max(float(score), best.get(one, float(score)))
    return best


def record(
    retriever: Any,
    queries: Any,
    *,
    id: str = "node_id",  # noqa: A002 - the word of the host
    score: str = "rank",
) -> Run:
    """Ask a retriever all queries, and return what it finds as a run.

    Args:
        retriever: with `retrieve(text)`, such as `index.as_retriever(similarity_top_k=10)`.
        queries: `{query: text}`, or texts, which are then their own ids.
        id: as in `run_of`.
        score: as in `run_of`.
    """
    if not callable(getattr(retriever, "retrieve", None)):
        raise InputError("retriever", "one with retrieve(text)", type(retriever).__name__)
    arguments.choice(id, "id", _IDS)
    arguments.choice(score, "score", _SCORES)
    found = {query: retriever.retrieve(text) for query, text in named_queries(queries).items()}
    return run_of(found, id=id, score=score)
