"""Traces of OpenInference and OpenTelemetry: the documents that retriever spans found, as runs."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gainful.errors import InputError
from gainful.rows.golden_sets import form_of, plain_text
from gainful.rows.input_types import Record
from gainful.rows.search_responses import is_list, items_of

_KIND, _RETRIEVER = "openinference.span.kind", "RETRIEVER"
_QUERIES = ("input.value", "gen_ai.retrieval.query.text")
_DOCUMENTS = re.compile(
    r"(?:retrieval\.documents\.(?P<place>\d+)\.document|gen_ai\.retrieval\.documents\.(?P<other>\d+))"
    r"\.(?P<field>id|score|content)"
)
_OF_SPANS = ("span_id", "spanId", "context", "parent_id", "parentSpanId", "trace_id", "traceId")


def spans_in(value: Any) -> list[Record] | None:
    """Return the spans of a trace, from JSON lines or OTLP; None for any other value."""
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list) or not value or not isinstance(value[0], Mapping):
        return None
    if "resourceSpans" in value[0]:
        spans: list[Record] = value
        for name in ("resourceSpans", "scopeSpans", "spans"):
            spans = [
                inner
                for each in spans
                if isinstance(each, Mapping)
                for inner in items_of(each.get(name)) or ()
            ]
        return spans
    return value if is_span(value[0]) else None


def is_span(record: Record) -> bool:
    """Return whether a record is a span of OpenInference or OpenTelemetry.

    >>> is_span({"name": "retrieve", "span_id": "1", "attributes": {"input.value": "shoes"}})
    True
    >>> is_span({"query": "shoes", "doc": "a", "attributes": {"colour": "red"}})
    False
    """
    if "resourceSpans" in record:
        return True
    if "attributes" in record:
        attributes = record["attributes"]
        within = isinstance(attributes, Mapping) and (
            _KIND in attributes or "openinference" in attributes
        )
        return within or (
            isinstance(attributes, Mapping | list) and any(name in record for name in _OF_SPANS)
        )
    return any(f"attributes.{name}" in record for name in (_KIND, _QUERIES[0]))


def is_of_another_tool(record: Record) -> bool:
    """Return whether a record is a span, or has one of the forms of golden sets."""
    return form_of(record) is not None or is_span(record)


def retrieved_in(spans: Iterable[Record], name: str) -> dict[str, list[Any]]:
    """Return the documents that each retriever span found, by its query; spans of other kinds are ignored.

    Documents without an id are identified by their contents. A query that was retrieved again must have the
    same documents.
    """
    by_query: dict[str, list[Any]] = {}
    for place, span in enumerate(spans, 1):
        where = f"{name}, span {place}"
        flat = dict(_flattened(_attributes(span, where), ""))
        if flat.get(_KIND, span.get("span_kind", _RETRIEVER)) != _RETRIEVER:
            continue
        hits: dict[int, dict[str, Any]] = {}
        for key, value in flat.items():
            if match := _DOCUMENTS.fullmatch(key):
                at = int(match["place"] or match["other"])
                hits.setdefault(at, {})[match["field"]] = value
        query = next((text for key in _QUERIES if (text := flat.get(key)) is not None), None)
        if not hits and _KIND not in flat:
            continue  # of another kind
        if query is None:
            raise InputError(where, "the query in input.value", "none")
        query = _query_text(query)
        found = [_hit(hits[at], f"{where}, document {at}") for at in sorted(hits)]
        if by_query.setdefault(query, found) != found:
            remedy = "Keep one span for each query, such as the last one."
            raise InputError(
                where, "each query once", f"{query!r} again, with other documents", remedy
            )
    if not by_query:
        raise InputError(name, f"spans of kind {_RETRIEVER} with retrieval.documents", "none")
    return by_query


def _attributes(span: Any, where: str) -> Any:
    """Return the attributes of a span, from a dict, OTLP's list of keys and values, or columns."""
    if not isinstance(span, Mapping):
        raise InputError(where, "a span with attributes", type(span).__name__)
    attributes = span.get("attributes")
    if is_list(attributes):
        return _pairs(attributes)
    if isinstance(attributes, Mapping):
        return attributes
    start = "attributes."
    return {key.removeprefix(start): value for key, value in span.items() if key.startswith(start)}


def _pairs(listed: Iterable[Any]) -> dict[Any, Any]:
    """Return OTLP's list of keys and values as a dict."""
    return {
        each.get("key"): _otlp(each.get("value")) for each in listed if isinstance(each, Mapping)
    }


def _otlp(value: Any) -> Any:
    """Return the value in OTLP's {"stringValue": …}, {"doubleValue": …} and so on."""
    if not isinstance(value, Mapping):
        return value
    kind: str
    inner: Any
    kind, inner = next(iter(value.items()), ("", None))
    if kind == "arrayValue":
        return [_otlp(each) for each in _values(inner)]
    if kind == "kvlistValue":
        return _pairs(_values(inner))
    return inner


def _values(inner: Any) -> Iterable[Any]:
    return (items_of(inner.get("values")) or ()) if isinstance(inner, Mapping) else ()


def _flattened(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the path of each value in nested dicts and lists, and the value."""
    if isinstance(value, str) and path.endswith("retrieval.documents") and value[:1] == "[":
        value = _from_json(value)
    if isinstance(value, Mapping):
        pairs: Iterable[tuple[Any, Any]] = value.items()
    elif is_list(value):
        pairs = enumerate(value)
    else:
        yield path, value
        return
    for key, inner in pairs:
        yield from _flattened(inner, f"{path}.{key}" if path else str(key))


def _query_text(query: Any) -> Any:
    """Return the text of a query, which may be the only text in a JSON object."""
    if isinstance(query, str) and query[:1] == "{" and isinstance(inner := _from_json(query), dict):
        texts = [text for text in inner.values() if isinstance(text, str)]
        return texts[0] if len(texts) == 1 else query
    return query


def _from_json(text: str) -> Any:
    """Return the value of a JSON text; the text itself if it isn't JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _hit(fields: Record, where: str) -> Any:
    doc = fields.get("id")
    if doc is None:
        doc = plain_text(fields.get("content"))
    if doc is None:
        raise InputError(where, "an id or the content of a document", "neither")
    score = fields.get("score")
    return {"id": doc} if score is None else {"id": doc, "score": score}
