"""Responses of search services: where the hits of each stand, and the query that it answers.

Known are those of Elasticsearch and OpenSearch (`hits.hits`), Solr (`response.docs`), Vespa
(`root.children`), Algolia, Meilisearch and Typesense (`hits`), Qdrant (`result.points`), Azure
(`value`) and Chroma (`ids`), and several in one, as `_msearch` and multi-search return them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gainful.inputs.columns import ALIASES

# Where a list of hits stands in a response: within another object, or beside other values.
_WITHIN = (
    ("hits", "hits"),
    ("response", "docs"),
    ("root", "children"),
    ("result", "points"),
    ("result", "hits"),
)
_BESIDE = (
    "hits", "matches", "docs", "documents", "results", "nodes", "points", "value",
    "retrieved", "ranking", "doc_ids", "relevant",
)  # fmt: skip
_SEVERAL = ("responses", "results")
_IDS = "ids"  # of Chroma: a list of them for each query, beside lists of what else is known
_BESIDE_IDS = ("distances", "metadatas", "included")
_OUTER = frozenset([*(outer for outer, _ in _WITHIN), *_BESIDE, *_SEVERAL, _IDS])
_QUERIES = ("request_params", "responseHeader", "params", "query")
_TEXTS = ("q", "query")


def is_answer(given: Mapping[Any, Any]) -> bool:
    """Return whether a dict is what a search service answers, rather than documents with numbers.

    >>> is_answer({"hits": {"hits": [{"_id": "a"}]}}), is_answer({"hits": 3.5})
    (True, False)
    """
    # A few look-ups, since this is asked of every query of every dict.
    if given.keys().isdisjoint(_OUTER):
        return False
    return hits_in(given) is not None or responses_in(given) is not None


def hits_in(given: Mapping[Any, Any]) -> list[Any] | None:
    """Return the hits of one response, in order; None if it is none.

    >>> hits_in({"response": {"docs": [{"id": "a"}]}})
    [{'id': 'a'}]
    """
    if responses_in(given) is not None:
        return None
    ids = _lists_of_ids(given)
    if ids is not None:
        return list(ids[0])
    for outer, name in _WITHIN:
        inside = given.get(outer)
        if isinstance(inside, Mapping) and _is_list(inside.get(name)):
            return list(inside[name])
    listed = next((given[name] for name in _BESIDE if _is_list(given.get(name))), None)
    # {query: list} may have a query of such a name; a response has a text or a number as well.
    if listed is None or not (_is_alone(given, listed) or any(map(_is_scalar, given.values()))):
        return None
    return list(listed)


def _lists_of_ids(given: Mapping[Any, Any]) -> Sequence[Sequence[Any]] | None:
    """Return the ids that Chroma found for each query, the nearest first; None if it is none of its.

    >>> _lists_of_ids({"ids": [["a", "b"], ["c"]], "distances": [[0.1, 0.2], [0.3]]})
    [['a', 'b'], ['c']]
    """
    ids = given.get(_IDS)
    if not _is_list(ids) or not ids or given.keys().isdisjoint(_BESIDE_IDS):
        return None
    return ids if all(map(_is_list, ids)) else None


def is_from_a_service(given: Mapping[Any, Any]) -> bool:
    """Return whether a response can be from a search service alone, whose scores are no grades.

    >>> is_from_a_service({"query": "q", "hits": []}), is_from_a_service({"query": "q", "docs": []})
    (True, False)
    """
    inside = (given.get(outer) for outer, _ in _WITHIN)
    hits = _is_list(given.get("hits")) or _lists_of_ids(given) is not None
    return hits or any(isinstance(each, Mapping) for each in inside)


def _is_alone(given: Mapping[Any, Any], listed: Sequence[Any]) -> bool:
    """Return whether there is nothing but a list of objects."""
    return len(given) == 1 and bool(listed) and isinstance(listed[0], Mapping)


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def responses_in(given: Mapping[Any, Any]) -> list[Mapping[Any, Any]] | None:
    """Return the responses of a request for several; None if it is one.

    >>> len(responses_in({"responses": [{"hits": {"hits": []}}, {"hits": {"hits": []}}]}))
    2
    """
    ids = _lists_of_ids(given)
    if ids is not None and len(ids) > 1:
        return [{**given, _IDS: [each]} for each in ids]
    for name in _SEVERAL:
        found = given.get(name)
        if _is_list(found) and found and all(_has_hits(each) for each in found):
            return list(found)
    return None


def query_in(response: Mapping[Any, Any], asked: str | None = None) -> Any:
    """Return the id of the query that a response answers, or its text; None where it does not tell.

    >>> query_in({"query": "shoes", "hits": []}), query_in({"hits": []})
    ('shoes', None)
    """
    names = (asked,) if asked is not None else ALIASES["query"]
    for name in names:
        value = response.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return value
    for outer in _QUERIES:
        inside = response.get(outer)
        inside = inside.get("params", inside) if isinstance(inside, Mapping) else None
        for name in _TEXTS:
            value = inside.get(name) if isinstance(inside, Mapping) else None
            if isinstance(value, str):
                return value
    return None


def _has_hits(given: Any) -> bool:
    return isinstance(given, Mapping) and ("hits" in given or hits_in(given) is not None)


def _is_list(given: Any) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)
