"""Responses of search services, and records in the same forms: find the hits, the query and any error."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from gainful.message_texts import shortened, shown
from gainful.rows.grades_scores_or_ranks import RUN, Kind
from gainful.rows.identifiers import is_id
from gainful.rows.input_types import Record
from gainful.rows.run_and_judgment_columns import ALIASES, plain_name

Path = tuple[str, ...]

# Field names of retrieved documents, from the unambiguous to the general.
RETRIEVED = (
    "retrieved", "retrieved_ids", "retrieved_docs", "retrieved_doc_ids", "retrieved_documents",
    "ranking",
)  # fmt: skip
FOUND = (
    "hits", "matches", *RETRIEVED, "docs", "documents", "results", "result", "nodes", "points", "value",
    "doc_ids", "chunks",
)  # fmt: skip
RELEVANT = (
    "relevant", "relevant_ids", "relevant_docs", "relevant_doc_ids", "relevant_documents",
    "gold", "gold_ids", "gold_docs", "gold_doc_ids", "positives", "positive_ids", "expected_ids", "sources",
)  # fmt: skip
PASSAGES = (
    "evidence", "evidences", "references", "spans", "highlights", "quotes", "passages", "reference_contexts",
    "ground_truth_contexts",
)  # fmt: skip
"""Fields of golden sets that contain passages, as texts or as parts of documents."""
BESIDE = (*FOUND, *RELEVANT)
JUDGED = (*RELEVANT, *(name for name in FOUND if name not in RETRIEVED), *RETRIEVED)
"""All names, in the order in which judgments search for them."""


def first_list(record: Record, names: Sequence[str]) -> Collection[Any] | None:
    """Return the first of the named fields that holds a list."""
    lists = (items_of(record[name]) for name in names if name in record)
    return next((items for items in lists if items is not None), None)


def items_of(value: Any) -> Collection[Any] | None:
    """Return the items of a list or a set; None for anything else."""
    if type(value) is list:  # the usual case; the other checks are slower
        return value.copy()
    if isinstance(value, Set):
        return value
    return list(value) if is_list(value) else None


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is a sequence or a one-dimensional array, but not a text or a named tuple."""
    if type(value) is list or value is None:
        return value is not None
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    texts = str | bytes | bytearray | memoryview
    return isinstance(value, Sequence) and not (
        isinstance(value, texts) or hasattr(value, "_fields")
    )


def has_numbers(value: Any) -> bool:
    """Return whether a value is a dict of documents with numbers."""
    return isinstance(value, Mapping) and all(
        isinstance(number, Real) and not isinstance(number, bool) for number in value.values()
    )


def is_scalar(value: Any) -> bool:
    """Return whether a value is None, text or a number."""
    return value is None or isinstance(value, str | int | float | np.integer)


@lru_cache(maxsize=256)  # most records have the same fields
def _named(names: tuple[Any, ...], usual: tuple[str, ...]) -> tuple[Any, ...]:
    plain = {plain_name(name): name for name in names}
    written = (one for one in usual if one in names)
    return (*dict.fromkeys([*written, *(plain[one] for one in usual if one in plain)]),)


def fields_named(record: Record, usual: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the fields with one of the usual names, however spelled; exact spellings come first.

    >>> fields_named({"Doc-ID": 1, "title": 2, "doc": 3}, ("doc_id", "doc", "item"))
    ('doc', 'Doc-ID')
    """
    return _named((*record,), usual)


def doc_field(record: Record) -> Any:
    """Return the field of a record with a usual name of documents; None without one."""
    return next(iter(fields_named(record, ALIASES["doc"])), None)


class Mark(NamedTuple):
    """A field that marks a response as incomplete: by a truthy value, or by a number below a limit.

    The limit applies to fields such as the percentage of the index that was searched.
    """

    path: Path
    below: float | None = None


@dataclass(frozen=True, slots=True)
class ResponseForm:
    """The form of an engine's responses.

    Attributes:
        hits: paths to a nested list of hits; a list at the top level is found by its usual name.
        id: path to the id in a hit.
        score: path to the score in a hit; None if no score determines the order.
        distance: path to the distance in a hit, which rises along the list if nothing else orders it.
        partial: marks of an incomplete response.
        around: fields next to the hits whose names hardly occur anywhere else.
        find: a function that returns hits without a fixed path, or None.
    """

    hits: tuple[Path, ...] = ()
    id: str = "id"
    score: str | None = None
    distance: str | None = None
    partial: tuple[Mark, ...] = ()
    around: tuple[str, ...] = ()
    find: Callable[[Record], list[Any] | None] | None = None

    @property
    def ids(self) -> str:
        """The JSON path to the ids of all hits."""
        return f"{self._list}[*].{self.id}"

    @property
    def scores(self) -> str | None:
        """The JSON path to the scores of all hits; None if no score determines the order."""
        return None if self.score is None else f"{self._list}[*].{self.score}"

    @property
    def _list(self) -> str:
        return ".".join(self.hits[0]) if self.hits else "hits"


def value_at(value: object, *names: str) -> Any:
    """Return the value at a path of nested keys; None if it does not exist."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _marks(*paths: str) -> tuple[Mark, ...]:
    return tuple(Mark((*path.split("."),)) for path in paths)


def _grouped_hits(response: Record) -> list[Any] | None:
    """Return the hits of all Solr groups, in order.

    >>> _grouped_hits({"grouped": {"maker": {"groups": [{"doclist": {"docs": [{"id": "a"}]}}]}}})
    [{'id': 'a'}]
    """
    grouped = response.get("grouped")
    if not isinstance(grouped, Mapping) or len(grouped) != 1:
        return None
    (field,) = grouped.values()
    groups = field.get("groups", [field]) if isinstance(field, Mapping) else None
    if not is_list(groups):
        return None
    lists = [value_at(group, "doclist", "docs") for group in groups]
    return [hit for hits in lists for hit in hits] if all(map(is_list, lists)) else None


def _hits_of_a_class(response: Record) -> list[Any] | None:
    """Return the hits of a Weaviate response, which are nested under the name of their class.

    >>> _hits_of_a_class({"data": {"Get": {"Article": [{"_additional": {"id": "a"}}]}}})
    [{'_additional': {'id': 'a'}}]
    """
    classes = value_at(response.get("data"), "Get")
    if not isinstance(classes, Mapping) or len(classes) != 1:
        return None
    (hits,) = classes.values()
    return list(hits) if is_list(hits) else None


def _no_children(response: Record) -> list[Any] | None:
    """Return an empty list for a Vespa response without hits, whose root has no children.

    >>> _no_children({"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}}})
    []
    """
    root = response.get("root")
    if not isinstance(root, Mapping) or "children" in root:
        return None
    empty = root.get("id") == "toplevel" or value_at(root, "fields", "totalCount") is not None
    return [] if empty or is_list(root.get("errors")) else None


_IDS, _DISTANCES = "ids", "distances"  # in Chroma responses: one list per query


def _hits_by_query(response: Record) -> list[list[Any]] | None:
    """Return the ids that Chroma found for each query, with distances if there are any; None for other responses.

    >>> _hits_by_query({"ids": [["a", "b"]], "distances": [[0.1, 0.2]]})
    [[{'id': 'a', 'distances': 0.1}, {'id': 'b', 'distances': 0.2}]]
    """
    ids, distances = response.get(_IDS), response.get(_DISTANCES)
    if not ids or response.keys().isdisjoint((_DISTANCES, "metadatas", "included")):
        return None
    if not (is_list(ids) and all(map(is_list, ids))):
        return None
    if not is_list(distances) or [*map(np.size, distances)] != [*map(len, ids)]:
        return [list(docs) for docs in ids]
    return [
        [{"id": id_, _DISTANCES: distance} for id_, distance in zip(*hits, strict=True)]
        for hits in zip(ids, distances, strict=True)
    ]


def _hits_of_one_query(response: Record) -> list[Any] | None:
    lists = _hits_by_query(response)
    return None if lists is None else lists[0]


_LUCENE = ResponseForm(
    hits=(("hits", "hits"),),
    id="_id",
    score="_score",
    partial=_marks(
        "timed_out", "_shards.failed", "_clusters.failed", "_clusters.partial", "_clusters.skipped",
        "is_partial", "is_running",
    ),
    around=("took", "timed_out", "_shards", "_clusters", "terminated_early"),
)  # fmt: skip
FORMS: Mapping[str, ResponseForm] = {
    "elasticsearch": _LUCENE,
    "opensearch": _LUCENE,
    "solr": ResponseForm(
        hits=(("response", "docs"),),
        score="score",
        partial=_marks("responseHeader.partialResults"),
        around=("responseHeader",),
        find=_grouped_hits,
    ),
    "vespa": ResponseForm(
        hits=(("root", "children"),),
        score="relevance",
        partial=_marks(
            "root.errors", "root.coverage.degraded.timeout",
            "root.coverage.degraded.adaptive-timeout", "root.coverage.degraded.non-ideal-state",
        ),
        find=_no_children,
    ),
    "qdrant": ResponseForm(
        hits=(("result", "points"), ("result", "hits")),
        score="score",
        partial=_marks("status.error"),
    ),
    "weaviate": ResponseForm(
        id="_additional.id",
        score="_additional.score",
        distance="_additional.distance",
        partial=_marks("errors"),
        find=_hits_of_a_class,
    ),
    "chroma": ResponseForm(distance=_DISTANCES, find=_hits_of_one_query),
    "typesense": ResponseForm(
        id="document.id",
        distance="vector_distance",
        partial=_marks("search_cutoff"),
        around=("search_cutoff", "search_time_ms", "request_params", "out_of"),
    ),
    "meilisearch": ResponseForm(
        score="_rankingScore",
        partial=_marks("remoteErrors", "degraded"),
        around=("processingTimeMs", "estimatedTotalHits", "remoteErrors"),
    ),
    "algolia": ResponseForm(
        id="objectID",
        partial=_marks("timeoutHits"),
        around=("processingTimeMS", "nbHits", "hitsPerPage", "timeoutHits"),
    ),
    "azure": ResponseForm(
        score="@search.score",
        partial=(
            *_marks("@search.semanticPartialResponseReason"),
            Mark(("@search.coverage",), below=100),
        ),
        around=("@odata.context",),
    ),
}  # fmt: skip
"""The forms of responses by engine."""
DISTANCES = tuple((*form.distance.split("."),) for form in FORMS.values() if form.distance)
"""Paths to the distances in the hits of all engines."""
# Fields by which Typesense orders hits even if they have distances.
ORDERS_TOO = frozenset(["text_match", "hybrid_search_info"])
_MARKS = tuple(dict.fromkeys(mark for form in FORMS.values() for mark in form.partial))
_PLACES = tuple(dict.fromkeys(path for form in FORMS.values() for path in form.hits))
_FINDERS = tuple(form.find for form in FORMS.values() if form.find)
_SEVERAL = ("responses", "results", "result")
# Keys under which people store a response together with its query.
KEPT = ("response", "result", "body", "answer", "output", "search_response")
_ENVELOPE = frozenset(name for form in FORMS.values() for name in form.around)
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
    [*(path[0] for path in _PLACES), *BESIDE, *_SEVERAL, *KEPT, _IDS, "grouped", "data", *_FAILING]
)
"""All names that identify a response, or a record with a list."""

# Keys that documents rarely have: those of responses and errors, and of the first row in a column as a dict.
_TELLING = NAMES | {"error", 0, "0"}
_QUERIES = ("request_params", "responseHeader", "params", "query")
_PARAMS: tuple[Path, ...] = (("params",), ())
_TEXTS = ("q", "query")


def is_plain(value: object) -> TypeGuard[dict[Any, Any]]:
    """Return whether a value is beyond doubt `{query: {doc: number}}`, judging by the first document of each query.

    No other reader need be loaded then.

    >>> is_plain({"q": {"a": 2, "b": 1}}), is_plain({"hits": {"total": 3, "hits": []}})
    (True, False)
    """
    if type(value) is not dict:
        return False
    for documents in value.values():
        if type(documents) is not dict or not documents.keys().isdisjoint(_TELLING):
            return False
        if not isinstance(next(iter(documents.values()), None), int | float):
            return False
    return bool(value)


def is_answer(value: Record) -> bool:
    """Return whether a dict is a response of a search service, rather than documents with numbers.

    >>> is_answer({"hits": {"hits": [{"_id": "a"}]}}), is_answer({"hits": 3.5})
    (True, False)
    """
    # Fast, since this runs for every query of every dict.
    if value.keys().isdisjoint(NAMES):
        return False
    return (
        hits_in(value) is not None
        or responses_in(value) is not None
        or _kept_in(value) is not None
        or _lacks_hits(value)
    )


def _kept_in(record: Record) -> Record | None:
    """Return the response that a record stores together with its query; None without one.

    >>> _kept_in({"query": "q", "response": {"hits": {"hits": []}}})
    {'hits': {'hits': []}}
    """
    if hits_in(record) is not None or responses_in(record) is not None:
        return None
    if not any(map(is_scalar, record.values())):
        return None
    kept = (record[name] for name in KEPT if isinstance(record.get(name), Mapping))
    return next(filter(is_answer, kept), None)


def response_in(record: Record, kind: Kind = RUN) -> tuple[Record, tuple[str, str] | None]:
    """Return the response stored in a record, or the record itself, and the result of `problem_in`.

    Fields around a stored response, such as the `is_partial` of an asynchronous search, can also mark
    it as incomplete.

    >>> response_in({"query": "q", "response": {"hits": {"hits": []}}})
    ({'hits': {'hits': []}}, None)
    >>> response_in({"is_running": True, "response": {"hits": {"hits": []}}})[1]
    ('a complete response', 'is_running is True')
    """
    kept = _kept_in(record)
    if kept is None:
        return record, problem_in(record, kind)
    response, problem = response_in(kept, kind)
    mark = incomplete_in(record, _MARKS) if kind.name == RUN.name else None
    return response, problem if mark is None else ("a complete response", mark)


def problem_in(response: Record, kind: Kind = RUN) -> tuple[str, str] | None:
    """Return the expected and the actual content of a faulty response; None if it is complete.

    >>> problem_in({"took": 5, "timed_out": True, "hits": {"hits": []}})
    ('a complete response', 'timed_out is True')
    >>> problem_in({"took": 5})
    ('a response with hits', "only 'took'")
    """
    error = error_in(response, kind)
    if error is not None:
        return "documents", f"an error: {shortened(shown(error))}"
    lacking = _lacks_hits(response)
    if kind.name != RUN.name or not (lacking or hits_in(response) is not None):
        return None
    mark = incomplete_in(response, _MARKS)
    if mark is not None:
        return "a complete response", mark
    only = f"only {shortened(', '.join(map(repr, response)))}"
    return ("a response with hits", only) if lacking else None


def incomplete_in(response: object, marks: Iterable[Mark]) -> str | None:
    """Return the first mark that shows a response to be incomplete, with its value; None without one.

    >>> incomplete_in({"_shards": {"total": 2, "failed": 1}}, FORMS["elasticsearch"].partial)
    '_shards.failed is 1'
    >>> incomplete_in({"@search.coverage": 80.5}, FORMS["azure"].partial)
    '@search.coverage is 80.5'
    """
    for path, below in marks:
        value = value_at(response, *path)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if (number and value < below) if below is not None else value:
            return f"{'.'.join(path)} is {shortened(shown(value))}"
    return None


def _lacks_hits(response: Record) -> bool:
    """Return whether this is a response without hits: only metadata or an error.

    >>> _lacks_hits({"took": 1}), _lacks_hits({"took": 1, "d7": 2}), _lacks_hits({"message": "no index"})
    (True, False, True)
    """
    if response.keys().isdisjoint(_FAILING):
        return False
    for name, value in response.items():
        if value is None or name in _AROUND or plain_name(name) in ALIASES["query"]:
            continue
        # A query may be named like such a field; its value is then a list or a dict of documents.
        if name not in _ENVELOPE or not (is_scalar(value) or name in _OBJECTS):
            return False
    message = _message_in(response)
    failed = isinstance(message, str | list | Mapping) and not has_numbers(message)
    return failed or not response.keys().isdisjoint(_ENVELOPE)


def _message_in(response: Record) -> Any:
    """Return the error or message that a service returned instead of hits."""
    errors = response.get("errors")
    listed = errors if is_list(errors) else None
    failed = value_at(response, "status", "error")
    return response.get("error") or failed or listed or response.get("message")


def hits_in(response: Record) -> Collection[Any] | None:
    """Return the hits of one response, in order (a set stays a set); None if this isn't a response.

    >>> hits_in({"response": {"docs": [{"id": "a"}]}})
    [{'id': 'a'}]
    """
    if responses_in(response) is not None:
        return None
    hits = hits_within(response)
    listed = first_list(response, BESIDE) if hits is None else hits
    # {query: list} may have a query of such a name; a response also holds a text or a number.
    if listed is None or hits is not None or any(map(is_scalar, response.values())):
        return listed
    alone = len(response) == 1 and isinstance(next(iter(listed), {}), Mapping)
    return listed if alone else None


def hits_within(response: Record) -> list[Any] | None:
    """Return the hits that are nested in another object, or in an engine-specific form."""
    for outer, name in _PLACES:
        inside = response.get(outer)
        # The check for None comes first because it is much faster than isinstance.
        if inside is not None and isinstance(inside, Mapping) and is_list(inside.get(name)):
            return list(inside[name])
    lists = (find(response) for find in _FINDERS)
    return next((hits for hits in lists if hits is not None), None)


def responses_in(value: Record) -> list[Record] | None:
    """Return the responses to a multi-search request; None if this is a single response.

    >>> len(responses_in({"responses": [{"hits": {"hits": []}}, {"hits": {"hits": []}}]}))
    2
    """
    lists = _hits_by_query(value)
    if lists is not None and len(lists) > 1:
        return [{"hits": hits} for hits in lists]
    for name in _SEVERAL:
        responses = value.get(name)
        if not is_list(responses) or not responses:
            continue
        if all(map(is_list, responses)) and "status" in value:  # Qdrant
            return [{"hits": hits} for hits in responses]
        if all(isinstance(one, Mapping) for one in responses) and all(
            "hits" in one or hits_in(one) is not None or _lacks_hits(one) for one in responses
        ):
            return list(responses)
    return None


def query_in(response: Record, asked: str | None = None) -> Any:
    """Return the id or the text of a response's query; None if the response names none.

    >>> query_in({"query": "shoes", "hits": []}), query_in({"hits": []})
    ('shoes', None)
    """
    names = (asked,) if asked is not None else ALIASES["query"]
    for name in names:
        if is_id(response.get(name)):
            return response[name]
    paths = ((outer, *inner, name) for outer in _QUERIES for inner in _PARAMS for name in _TEXTS)
    texts = (value_at(response, *path) for path in paths)
    return next((text for text in texts if isinstance(text, str)), None)


def error_in(response: Record, kind: Kind = RUN) -> Any:
    """Return the error that a service returned instead of hits; None without one.

    For a run, an empty list next to an error counts as an error.

    >>> error_in({"root": {"id": "toplevel", "errors": [{"message": "Timed out"}]}})
    [{'message': 'Timed out'}]
    >>> error_in({"query": "q", "retrieved": [], "error": "timeout"})
    'timeout'
    """
    if _no_children(response) is not None:
        return response["root"].get("errors")
    error = response.get("error")
    if not isinstance(error, str | Mapping):
        return _message_in(response) if _lacks_hits(response) else None
    hits = hits_in(response)
    alone = first_list(response, FOUND) is None and hits_within(response) is None  # the judgments
    failed = error and kind.name == RUN.name and (not hits or alone)
    return error if hits is None or failed else None


def is_from_a_service(response: Record) -> bool:
    """Return whether only a search service can have written this, so that its scores aren't grades.

    >>> is_from_a_service({"query": "q", "hits": []}), is_from_a_service({"query": "q", "docs": []})
    (True, False)
    """
    if first_list(response, RELEVANT) is not None:  # a record that also stores judgments
        return False
    inside = any(isinstance(response.get(outer), Mapping) for outer, _ in _PLACES)
    return inside or is_list(response.get("hits")) or hits_within(response) is not None
