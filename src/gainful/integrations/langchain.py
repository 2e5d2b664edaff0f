"""LangChain: retrieved documents as a run, and evaluators for LangSmith."""

import math
from collections.abc import Callable
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import InputError
from gainful.integrations.documents_as_runs import (
    Run,
    document_ids,
    expected_of,
    named_queries,
    part_if_any,
    part_of,
    ranked_run,
)
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieval_measures import DEFAULT, RetrievalMeasures
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import GivenPolicy
from gainful.measures.tool_dialect import GivenDialect
from gainful.message_texts import shown

with requiring("langchain"):
    from langchain_core.retrievers import BaseRetriever

__all__ = ["evaluator", "record"]

_CALLED = {"expected": "reference_outputs", "retrieved": "outputs"}
_MOST = 10_000  # simultaneous calls: more than any service accepts


def record(
    retriever: object,
    queries: object,
    *,
    id_key: str | None = None,
    concurrency: int = 1,
) -> Run:
    """Send all queries to a retriever, and return the results as a run.

    LangChain's documents have no scores, so their order is the ranking: the scores are −1, −2 ….

    Args:
        retriever: a `BaseRetriever`.
        queries: `{query: text}`, or texts, which are then their own ids.
        id_key: the key of a document's metadata that contains its id; None for `Document.id`.
        concurrency: how many queries are sent at a time.
    """
    if not isinstance(retriever, BaseRetriever):
        raise InputError("retriever", "a BaseRetriever", type(retriever).__name__)
    _check_key(id_key)
    most = arguments.whole(concurrency, "concurrency", least=1, most=_MOST)
    texts = named_queries(queries)
    results = retriever.batch([*texts.values()], config={"max_concurrency": most})
    return ranked_run(
        (query, document_ids(documents, id_key, f"retrieved for {shown(query)}"))
        for query, documents in zip(texts, results, strict=True)
    )


def evaluator(
    measure: GivenMeasure = DEFAULT,
    *,
    judgments: "gf.inputs.Judgments | None" = None,
    retrieved: str | None = "documents",
    expected: str = "grades",
    query: str = "query",
    id_key: str | None = None,
    name: str | None = None,
    policy: GivenPolicy | None = None,
    dialect: GivenDialect | None = None,
) -> Callable[..., dict[str, Any]]:
    """Return an evaluator for `langsmith.evaluate(…, evaluators=[…])`: a function of dicts.

    It returns the name of the measure as `key` and its value as `score`. The `comment` shows how many of
    the retrieved ids are judged, and which occurred more than once. If the policy leaves a question out,
    the score is None, so LangSmith's mean also leaves it out.

    Args:
        measure: a measure as text or as a `Measure`.
        judgments: `{query: {id: grade}}`; if None, the reference outputs contain the grades.
        retrieved: the key of the outputs that contains the documents or their ids, best first; None if
            the outputs themselves are the documents or ids.
        expected: the key of the reference outputs that contains `{id: grade}`, or the relevant ids.
        query: the key of the inputs that contains the query's id in the judgments.
        id_key: the key of a document's metadata that contains its id; None for its `id`.
        name: the `key`; the name of the measure if None. LangSmith stores scores by this name and mixes
            the scores of two evaluators with the same name.
        policy: the policy, as in `evaluate`.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`.

    >>> ranking = evaluator("RR")
    >>> ranking({"query": "red wine"}, {"documents": ["b", "a"]}, {"grades": {"a": 2}})
    {'key': 'RR', 'score': 0.5, 'comment': '1 of 2 retrieved ids judged'}
    """
    retrieval = RetrievalMeasures.of_one(
        measure, judgments=judgments, name=name, policy=policy, dialect=dialect, called=_CALLED
    )
    for what, key in (("retrieved", retrieved), ("id_key", id_key)):
        _check_key(key, what)
    for what, key in (("expected", expected), ("query", query)):
        arguments.text(key, what)
    keys = {"retrieved": retrieved, "expected": expected, "query": query, "id_key": id_key}
    return _Evaluator(retrieval, keys, graded=judgments is not None)


class _Evaluator:
    """A measure of dicts, as LangSmith calls it: a class, so that it can be pickled."""

    def __init__(
        self, measures: RetrievalMeasures, keys: dict[str, str | None], *, graded: bool
    ) -> None:
        self.__name__ = measures.label  # LangSmith shows it for failures
        self._measures, self._keys, self._graded = measures, keys, graded

    def __call__(
        self,
        inputs: dict[str, object],
        outputs: dict[str, object],
        reference_outputs: dict[str, object],
    ) -> dict[str, object]:
        keys, retrieval = self._keys, self._measures
        id_key = keys["id_key"]
        ids = document_ids(part_of(outputs, keys["retrieved"], "outputs"), id_key, "outputs")
        if self._graded:
            result = retrieval.score(part_of(inputs, keys["query"], "inputs"), None, ids)
        else:
            reference = part_of(reference_outputs, keys["expected"], "reference_outputs")
            grades = expected_of(reference, id_key, "reference_outputs")
            result = retrieval.score(part_if_any(inputs, keys["query"]), grades, ids)
        value = result.values[retrieval.names[0]]
        score = None if math.isnan(value) else value
        return {"key": retrieval.label, "score": score, "comment": str(result)}

    def __repr__(self) -> str:
        return f"evaluator({self._measures.written()})"


def _check_key(key: str | None, name: str = "id_key") -> None:
    if key is not None:
        arguments.text(key, name)
