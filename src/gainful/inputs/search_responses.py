"""Responses of search services: where the hits of each stand, and the query that it answers.

Known are those of Elasticsearch and OpenSearch (`hits.hits`), Solr (`response.docs`), Vespa
(`root.children`), Algolia, Meilisearch and Typesense (`hits`), Qdrant (`result.points`), Azure
(`value`) and Chroma (`ids`), and several in one, as `_msearch` and multi-search return them.

Records with a query and a list are told in the same way, those too that hold what is relevant beside
what was retrieved: judgments take the one, a run takes the other.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.inputs.list_field_names import (
    BESIDE,
    FOUND,
    JUDGED,
    RELEVANT,
    first_list,
    is_list,
    is_scalar,
)
from gainful.inputs.run_and_judgment_columns import ALIASES

# Where a list of hits stands in a response: within another object, or beside other values.
_WITHIN = (
    ("hits", "hits"),
    ("response", "docs"),
    ("root", "children"),
    ("result", "points"),
    ("result", "hits"),
)
_SEVERAL = ("responses", "results")
_IDS = "ids"  # of Chroma: a list of them for each query, beside lists of what else is known
_BESIDE_IDS = ("distances", "metadatas", "included")
NAMES = frozenset([*(outer for outer, _ in _WITHIN), *BESIDE, *_SEVERAL, _IDS])
"""All names that tell a response, or a record with a list."""

_QUERIES = ("request_params", "responseHeader", "params", "query")
_TEXTS = ("q", "query")


def is_answer(given: Mapping[Any, Any]) -> bool:
    """Return whether a dict is what a search service answers, rather than documents with numbers.

    >>> is_answer({"hits": {"hits": [{"_id": "a"}]}}), is_answer({"hits": 3.5})
    (True, False)
    """
    # A few look-ups, since this is asked of every query of every dict.
    if given.keys().isdisjoint(NAMES):
        return False
    return hits_in(given) is not None or responses_in(given) is not None


def hits_in(given: Mapping[Any, Any], kind: Kind = RUN) -> Collection[Any] | None:
    """Return the hits of one response, in order, or a set as it is; None if it is none.

    Of a record that holds both, judgments take what is relevant, and a run what was retrieved.

    >>> hits_in({"response": {"docs": [{"id": "a"}]}})
    [{'id': 'a'}]
    >>> hits_in({"question": "q", "relevant": ["x"], "retrieved": ["y", "x"]}, JUDGMENTS)
    ['x']
    """
    if responses_in(given) is not None:
        return None
    judged = kind.name == JUDGMENTS.name
    relevant = first_list(given, RELEVANT) if judged else None
    if relevant is not None and any(map(is_scalar, given.values())):
        return relevant
    ids = _lists_of_ids(given)
    if ids is not None:
        return list(ids[0])
    for outer, name in _WITHIN:
        inside = given.get(outer)
        # Most have none, and to ask None whether it is a mapping takes longer.
        if inside is not None and isinstance(inside, Mapping) and is_list(inside.get(name)):
            return list(inside[name])
    if _is_empty_root(given.get("root")):
        return []
    listed = first_list(given, JUDGED if judged else BESIDE)
    # {query: list} may have a query of such a name; a response has a text or a number as well.
    if listed is None or not (_is_alone(given, listed) or any(map(is_scalar, given.values()))):
        return None
    return listed


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
        if is_list(found) and found and all(_has_hits(each) for each in found):
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


def error_in(given: Mapping[Any, Any], kind: Kind = RUN) -> Any:
    """Return the error that a service answered in the place of hits; None if there is none.

    A list of a run that is empty beside an error is no answer, either.

    >>> error_in({"root": {"id": "toplevel", "errors": [{"message": "Timed out"}]}})
    [{'message': 'Timed out'}]
    >>> error_in({"query": "q", "retrieved": [], "error": "timeout"})
    'timeout'
    """
    inside = given.get("root")
    if isinstance(inside, Mapping) and _is_empty_root(inside):
        return inside.get("errors")
    error = given.get("error")
    if not isinstance(error, str | Mapping):
        return None
    hits = hits_in(given, kind)
    if hits is None:
        return error
    searched = kind.name == RUN.name and bool(error)
    failed = searched and (not hits or is_relevant_alone(given))
    return error if failed else None


def is_from_a_service(given: Mapping[Any, Any]) -> bool:
    """Return whether a response can be from a search service alone, whose scores are no grades.

    >>> is_from_a_service({"query": "q", "hits": []}), is_from_a_service({"query": "q", "docs": []})
    (True, False)
    """
    if first_list(given, RELEVANT) is not None:  # stored beside what was judged
        return False
    inside = (given.get(outer) for outer, _ in _WITHIN)
    hits = is_list(given.get("hits")) or _lists_of_ids(given) is not None
    return hits or any(isinstance(each, Mapping) for each in inside)


def has_hits_within(given: Mapping[Any, Any]) -> bool:
    """Return whether there are hits within another object, or those of Chroma."""
    inside = ((given.get(outer), name) for outer, name in _WITHIN)
    found = any(
        each is not None and isinstance(each, Mapping) and is_list(each.get(name))
        for each, name in inside
    )
    return found or _is_empty_root(given.get("root")) or _lists_of_ids(given) is not None


def is_relevant_alone(given: Mapping[Any, Any]) -> bool:
    """Return whether a record has no list but of what is relevant."""
    return first_list(given, FOUND) is None and not has_hits_within(given)


def _is_empty_root(inside: Any) -> bool:
    """Return whether this is the root of a response of Vespa that has no hits: it has no children.

    >>> _is_empty_root({"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}})
    True
    """
    if not isinstance(inside, Mapping) or "children" in inside:
        return False
    fields = inside.get("fields")
    counted = isinstance(fields, Mapping) and "totalCount" in fields
    return counted or inside.get("id") == "toplevel"


def _lists_of_ids(given: Mapping[Any, Any]) -> Sequence[Sequence[Any]] | None:
    """Return the ids that Chroma found for each query, the nearest first; None if it is none of its.

    >>> _lists_of_ids({"ids": [["a", "b"], ["c"]], "distances": [[0.1, 0.2], [0.3]]})
    [['a', 'b'], ['c']]
    """
    ids = given.get(_IDS)
    if not is_list(ids) or not ids or given.keys().isdisjoint(_BESIDE_IDS):
        return None
    return ids if all(map(is_list, ids)) else None


def _is_alone(given: Mapping[Any, Any], listed: Collection[Any]) -> bool:
    """Return whether there is nothing but a list of objects, or an empty one."""
    return len(given) == 1 and isinstance(next(iter(listed), {}), Mapping)


def _has_hits(given: Any) -> bool:
    return isinstance(given, Mapping) and ("hits" in given or hits_in(given) is not None)
