"""LangChain: what retrievers found as a run; and evaluators of the shape that LangSmith takes."""

import math
from collections.abc import Callable
from typing import Any

from gainful import arguments
from gainful.errors import InputError
from gainful.integrations.recorded_runs import (
    Run,
    document_ids,
    expected_of,
    named_queries,
    part_of,
    ranked_run,
)
from gainful.integrations.required_hosts import requiring
from gainful.integrations.retrieved_ids import DEFAULT, RetrievalMeasures
from gainful.message_texts import shown

with requiring("langchain"):
    from langchain_core.retrievers import BaseRetriever

__all__ = ["evaluator", "record"]

_MOST = 10_000  # calls at a time: more than any service takes


def record(
    retriever: Any,
    queries: Any,
    *,
    id_key: str | None = None,
    concurrency: int = 1,
) -> Run:
    """Ask a retriever all queries, and return what it finds as a run.

    LangChain's documents have no scores, so that their order is the ranking: scores are −1, −2 ….

    Args:
        retriever: a `BaseRetriever`.
        queries: `{query: text}`, or texts, which are then their own ids.
        id_key: the key of a document's metadata that holds its id; None for `Document.id`.
        concurrency: how many queries are asked at a time.
    """
    if not isinstance(retriever, BaseRetriever):
        raise InputError("retriever", "a BaseRetriever", type(retriever).__name__)
    _check_key(id_key)
    most = arguments.whole(concurrency, "concurrency", least=1, most=_MOST)
    asked = named_queries(queries)
    found = retriever.batch([*asked.values()], config={"max_concurrency": most})
    return ranked_run(
        (query, document_ids(documents, id_key, f"retrieved for {shown(query)}"))
        for query, documents in zip(asked, found, strict=True)
    )


def evaluator(
    measure: Any = DEFAULT,
    *,
    judgments: Any = None,
    retrieved: str | None = "documents",
    expected: str = "grades",
    query: str = "query",
    id_key: str | None = None,
    policy: Any = None,
    dialect: Any = None,
) -> Callable[..., dict[str, Any]]:
    """Return an evaluator for `langsmith.evaluate(…, evaluators=[…])`: a function of dicts.

    It returns the name of the measure as `key`, its value as `score`, and as `comment` how many of
    the retrieved ids are judged, and which came more than once. The score is None where the policy
    leaves the question out, so that LangSmith's mean does, too.

    Args:
        measure: in the notation or as a value.
        judgments: `{query: {id: grade}}`; what the reference outputs hold if None.
        retrieved: the key of the outputs that holds the documents or their ids, best first; None if
            the outputs are those.
        expected: the key of the reference outputs that holds `{id: grade}`, or the relevant ids.
        query: the key of the inputs by whose value the judgments know the query.
        id_key: the key of a document's metadata that holds its id; None for its `id`.
        policy: the choices that are not the measure's, as in `evaluate`.
        dialect: measure as another tool does, as in `evaluate`.

    >>> ranking = evaluator("RR")
    >>> ranking({"query": "red wine"}, {"documents": ["b", "a"]}, {"grades": {"a": 2}})
    {'key': 'RR', 'score': 0.5, 'comment': '1 of 2 retrieved ids judged'}
    """
    asked = RetrievalMeasures.of_one(measure, judgments=judgments, policy=policy, dialect=dialect)
    for name, key in (("retrieved", retrieved), ("id_key", id_key)):
        _check_key(key, name)
    for name, key in (("expected", expected), ("query", query)):
        arguments.text(key, name)
    (named,) = asked.names

    def evaluate_ranking(
        inputs: dict[str, Any], outputs: dict[str, Any], reference_outputs: dict[str, Any]
    ) -> dict[str, Any]:
        ids = document_ids(part_of(outputs, retrieved, "outputs"), id_key, "outputs")
        if judgments is None:
            held = part_of(reference_outputs, expected, "reference_outputs")
            found = asked.score(None, expected_of(held, id_key, "reference_outputs"), ids)
        else:
            found = asked.score(part_of(inputs, query, "inputs"), None, ids)
        value = found.values[named]
        score = None if math.isnan(value) else value
        return {"key": named, "score": score, "comment": str(found)}

    return evaluate_ranking


def _check_key(key: str | None, name: str = "id_key") -> None:
    if key is not None:
        arguments.text(key, name)
