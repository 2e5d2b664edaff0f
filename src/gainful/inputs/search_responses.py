"""Responses of search services: where the hits of each stand, and the query that it answers.

Known are those of Elasticsearch and OpenSearch (`hits.hits`), Solr (`response.docs`, `grouped`),
Vespa (`root.children`), Algolia, Meilisearch and Typesense (`hits`), Qdrant (`result.points`,
`result`), Azure (`value`), Weaviate (`data.Get`) and Chroma (`ids`), and several in one, as `_msearch`
and multi-search return them. A response may be under a key of its own beside its query. What an
engine answers for a part of its index, or in the place of hits, is no response: `problem_in` says why.

Records with a query and a list are told in the same way, those too that hold what is relevant beside
what was retrieved: judgments take the one, a run takes the other.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.inputs.list_field_names import (
    BESIDE,
    FOUND,
    JUDGED,
    RELEVANT,
    first_list,
    has_numbers,
    is_list,
    is_scalar,
)
from gainful.inputs.run_and_judgment_columns import ALIASES, plain_name
from gainful.message_texts import shortened, shown

# Where a list of hits stands in a response: within another object, or beside other values.
_WITHIN = (
    ("hits", "hits"),
    ("response", "docs"),
    ("root", "children"),
    ("result", "points"),
    ("result", "hits"),
)
_SEVERAL = ("responses", "results", "result")
# Keys under which people keep a response beside its query.
KEPT = ("response", "result", "body", "answer", "output", "search_response")
_GROUPED, _DATA = "grouped", "data"  # of Solr and of Weaviate
_IDS = "ids"  # of Chroma: a list of them for each query, beside lists of what else is known
_BESIDE_IDS = ("distances", "metadatas", "included")

Path = tuple[str, ...]
INCOMPLETE: Mapping[str, tuple[Path, ...]] = {
    "elasticsearch": (
        ("timed_out",), ("_shards", "failed"), ("_clusters", "failed"), ("_clusters", "partial"),
        ("is_partial",), ("is_running",),
    ),
    "solr": (("responseHeader", "partialResults"),),
    "vespa": (
        ("root", "errors"),
        ("root", "coverage", "degraded", "timeout"),
        ("root", "coverage", "degraded", "adaptive-timeout"),
        ("root", "coverage", "degraded", "non-ideal-state"),
    ),
    "typesense": (("search_cutoff",),),
    "meilisearch": (("remoteErrors",), ("degraded",)),
    "algolia": (("timeoutHits",),),
    "qdrant": (("status", "error"),),
    "weaviate": (("errors",),),
    "azure": (("@search.semanticPartialResponseReason",),),
}  # fmt: skip
"""Where the responses of each engine say that they are not complete: true, a number above 0, or errors."""
_MARKS = tuple(dict.fromkeys(path for paths in INCOMPLETE.values() for path in paths))
# What surrounds the hits of a response: those that hardly anything else is called, and others.
_ENVELOPE = frozenset(
    [
        "took", "timed_out", "_shards", "_clusters", "terminated_early", "responseHeader", "search_cutoff",
        "search_time_ms", "request_params", "processingTimeMS", "processingTimeMs", "nbHits", "hitsPerPage",
        "estimatedTotalHits", "out_of", "remoteErrors", "timeoutHits", "@odata.context",
    ]
)  # fmt: skip
_OBJECTS = frozenset(["_shards", "_clusters", "responseHeader", "remoteErrors", "request_params"])
_AROUND = frozenset(
    [
        "status", "time", "usage", "found", "page", "limit", "offset", "query", "params", "error", "errors",
        "message", "code", "type", "link", "debug", "facet_counts", "_scroll_id", "pit_id", "num_reduce_phases",
        "aggregations", "request_id",
    ]
)  # fmt: skip
_FAILING = frozenset([*_ENVELOPE, "error", "errors", "message", "status"])
NAMES = frozenset(
    [*(outer for outer, _ in _WITHIN), *BESIDE, *_SEVERAL, *KEPT, _IDS, _GROUPED, _DATA, *_FAILING]
)
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
    return (
        hits_in(given) is not None
        or responses_in(given) is not None
        or _is_kept(given)
        or _lacks_hits(given)
    )


def response_in(given: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return the response that a record keeps beside its query; the record itself where it keeps none.

    >>> response_in({"query": "q", "response": {"hits": {"hits": []}}})
    {'hits': {'hits': []}}
    """
    if _has_own_hits(given) or not any(map(is_scalar, given.values())):
        return given
    kept = (given[name] for name in KEPT if isinstance(given.get(name), Mapping))
    return next((each for each in kept if is_answer(each)), given)


def _is_kept(given: Mapping[Any, Any]) -> bool:
    return response_in(given) is not given


def _has_own_hits(given: Mapping[Any, Any]) -> bool:
    return hits_in(given) is not None or responses_in(given) is not None


def problem_in(given: Mapping[Any, Any], kind: Kind = RUN) -> tuple[str, str] | None:
    """Return what was expected of a response, and what it says instead; None where it is complete.

    >>> problem_in({"took": 5, "timed_out": True, "hits": {"hits": []}})
    ('a complete response', 'timed_out is True')
    >>> problem_in({"took": 5})
    ('a response with hits', "only 'took'")
    """
    error = error_in(given, kind)
    if error is not None:
        return "documents", f"an error: {shortened(shown(error))}"
    if kind.name != RUN.name:
        return None
    lacking = _lacks_hits(given)
    if lacking or hits_in(given) is not None or _is_kept(given):
        mark = incomplete_in(given, _MARKS)
        if mark is not None:
            return "a complete response", mark
    if lacking:
        return "a response with hits", f"only {shortened(', '.join(map(repr, given)))}"
    return None


def incomplete_in(given: object, marks: Iterable[Path]) -> str | None:
    """Return which of some marks says that a response is not complete, and what; None where none does.

    >>> incomplete_in({"_shards": {"total": 2, "failed": 1}}, INCOMPLETE["elasticsearch"])
    '_shards.failed is 1'
    """
    for path in marks:
        value = _within(given, *path)
        if value:
            return f"{'.'.join(path)} is {shortened(shown(value))}"
    return None


def _lacks_hits(given: Mapping[Any, Any]) -> bool:
    """Return whether this is what surrounds the hits of a response, without any.

    >>> _lacks_hits({"took": 1}), _lacks_hits({"took": 1, "d7": 2}), _lacks_hits({"message": "no index"})
    (True, False, True)
    """
    if given.keys().isdisjoint(_FAILING):
        return _has_failed_root(given)
    for name, value in given.items():
        if value is None or name in _AROUND or plain_name(name) in ALIASES["query"]:
            continue
        # A query may have the name of such a field, and a list or a dict of documents.
        if not (name in _OBJECTS if isinstance(value, Mapping) else is_scalar(value)):
            return False
        if name not in _ENVELOPE:
            return False
    told = isinstance(_said_in(given), str | list | Mapping) and not has_numbers(_said_in(given))
    return told or not given.keys().isdisjoint(_ENVELOPE)


def _has_failed_root(given: Mapping[Any, Any]) -> bool:
    """Return whether this is what Vespa answers in the place of hits."""
    errors = _within(given.get("root"), "errors")
    return is_list(errors) and bool(errors) and "children" not in given["root"]


def _said_in(given: Mapping[Any, Any]) -> Any:
    """Return what a service says in the place of hits."""
    status = given.get("status")
    inside = status.get("error") if isinstance(status, Mapping) else None
    errors = given.get("errors")
    listed = errors if is_list(errors) and errors else None
    return given.get("error") or inside or listed or given.get("message")


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
    deep = _deep_hits(given)
    if deep is not None:
        return deep
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
        if not is_list(found) or not found:
            continue
        if all(map(is_list, found)) and "status" in given:  # of Qdrant
            return [{"hits": each} for each in found]
        if all(isinstance(each, Mapping) for each in found) and all(
            _has_hits(each) or _lacks_hits(each) for each in found
        ):
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
        if isinstance(value, str | int | np.integer) and not isinstance(value, bool):
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
    if isinstance(inside, Mapping) and (_is_empty_root(inside) or _has_failed_root(given)):
        return inside.get("errors")
    error = given.get("error")
    if not isinstance(error, str | Mapping):
        return _said_in(given) if _lacks_hits(given) else None
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
    hits = hits or _deep_hits(given) is not None
    return hits or any(isinstance(each, Mapping) for each in inside)


def has_hits_within(given: Mapping[Any, Any]) -> bool:
    """Return whether there are hits within another object, or those of Chroma."""
    inside = ((given.get(outer), name) for outer, name in _WITHIN)
    found = any(
        each is not None and isinstance(each, Mapping) and is_list(each.get(name))
        for each, name in inside
    )
    root = _is_empty_root(given.get("root"))
    return found or root or _lists_of_ids(given) is not None or _deep_hits(given) is not None


def is_relevant_alone(given: Mapping[Any, Any]) -> bool:
    """Return whether a record has no list but of what is relevant."""
    return first_list(given, FOUND) is None and not has_hits_within(given)


def _deep_hits(given: Mapping[Any, Any]) -> list[Any] | None:
    """Return the hits of the groups of Solr, in their order, or those of Weaviate; None of anything else.

    >>> _deep_hits({"grouped": {"maker": {"groups": [{"doclist": {"docs": [{"id": "a"}]}}]}}})
    [{'id': 'a'}]
    >>> _deep_hits({"data": {"Get": {"Article": [{"_additional": {"id": "a"}}]}}})
    [{'_additional': {'id': 'a'}}]
    """
    grouped, data = given.get(_GROUPED), given.get(_DATA)
    if isinstance(grouped, Mapping) and len(grouped) == 1:
        field = next(iter(grouped.values()))
        if isinstance(field, Mapping):
            groups = field.get("groups", [field])
            lists = [_within(group, "doclist", "docs") for group in groups if is_list(groups)]
            if all(map(is_list, lists)):
                return [hit for each in lists for hit in each]
    classes = _within(data, "Get")
    if isinstance(classes, Mapping) and len(classes) == 1:
        hits = next(iter(classes.values()))
        return list(hits) if is_list(hits) else None
    return None


def _within(given: object, *names: str) -> Any:
    """Return what an object holds at the end of some names; None where there is nothing."""
    for name in names:
        given = given.get(name) if isinstance(given, Mapping) else None
    return given


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
