"""Runs of what retrievers found: documents of any host as ids, and lists of them as a run."""

from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any

from gainful.errors import InputError, warn
from gainful.inputs.identifiers import id_text
from gainful.integrations.retrieval_measures import RetrievedIds, by_id, listed
from gainful.message_texts import counted, shown

Run = dict[str, dict[str, float]]


def named_queries(queries: Any) -> dict[str, str]:
    """Return texts by query id; of texts alone, each is its own id.

    >>> named_queries({"q1": "red wine"}), named_queries(["red wine"])
    ({'q1': 'red wine'}, {'red wine': 'red wine'})
    """
    given = queries if isinstance(queries, Mapping) else {one: one for one in _texts(queries)}
    for query, text in given.items():
        if not isinstance(text, str):
            raise InputError(f"queries: {shown(query)}", "a text", shown(text))
    return by_id(given, "queries")


def _texts(queries: Any) -> list[Any]:
    texts = listed(queries, "queries", "texts, or a dict {query: text}")
    for text in texts:
        if not isinstance(text, str):
            raise InputError("queries", "texts, or a dict {query: text}", shown(text))
    return texts


def ranked_run(lists: Iterable[tuple[str, Iterable[Any]]]) -> Run:
    """Return the run of lists of ids, best first: scores −1, −2 …, each id once, at its first rank.

    >>> ranked_run([("q1", ["b", "a"])])
    {'q1': {'b': -1.0, 'a': -2.0}}
    """
    run, repeats = {}, {}
    for query, ids in lists:
        found = RetrievedIds.of(ids, f"retrieved for {shown(query)}")
        run[query] = found.ranked()
        if found.repeated:
            repeats[query] = found.repeated
    if repeats:
        query, ids = next(iter(repeats.items()))
        warn(
            f"retrieved: {counted(len(repeats), 'query', 'queries')} with an id more than once, "
            f"such as {ids[0]!r} for {shown(query)}. Each counts once, at its first rank."
        )
    return run


def document_id(document: Any, key: str | None, where: str) -> str:
    """Return the id of a document: of an object, a dict, or a bare id.

    Args:
        document: with an `id`, and `metadata`.
        key: of the id in the metadata; None for the document's own.
        where: what an error names.

    >>> document_id({"id": "a", "metadata": {"source": "b"}}, None, "run")
    'a'
    >>> document_id({"id": "a", "metadata": {"source": "b"}}, "source", "run")
    'b'
    """
    if isinstance(document, str | bytes | Number):  # numbers of numpy are, too
        return id_text(document, where=where)
    held = document if isinstance(document, Mapping) else _held(document)
    metadata = held.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    found = held.get("id") if key is None else metadata.get(key, held.get(key))
    if found is None:
        said = "an id" if key is None else f"{key!r} in the metadata"
        known = ", ".join(map(str, metadata)) or "nothing"
        remedy = f"Name the key that holds it: id_key=…; the metadata have {known}."
        raise InputError(where, f"a document with {said}", "none", remedy)
    return id_text(found, where=where)


def _held(document: Any) -> dict[str, Any]:
    return {name: getattr(document, name, None) for name in ("id", "metadata")}


def document_ids(documents: Any, key: str | None, where: str) -> list[str]:
    """Return the ids of documents, in their order."""
    return [document_id(each, key, where) for each in listed(documents, where, "ids or documents")]


def part_of(given: Any, key: str | None, where: str) -> Any:
    """Return what a host handed over, or what it holds under a key."""
    if key is None:
        return given
    if not isinstance(given, Mapping) or key not in given:
        known = ", ".join(map(str, given)) if isinstance(given, Mapping) else shown(given)
        raise InputError(where, f"a dict with the key {key!r}", known or "nothing")
    return given[key]


def part_if_any(given: Any, key: str | None) -> Any:
    """Return what a host's dict holds under a key, or None: for names in messages."""
    return given.get(key) if isinstance(given, Mapping) else None


def expected_of(given: Any, id_key: str | None, where: str) -> Any:
    """Return grades as they are, and relevant documents as their ids."""
    return given if isinstance(given, Mapping) else document_ids(given, id_key, where)
