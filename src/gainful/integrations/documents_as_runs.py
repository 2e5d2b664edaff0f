"""Retrieved documents of any host as ids, and lists of them as a run."""

from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any

from gainful.errors import InputError, warn
from gainful.integrations.retrieval_measures import RetrievedIds, by_id, listed
from gainful.message_texts import counted, shown
from gainful.rows.identifiers import id_text

Run = dict[str, dict[str, float]]


def named_queries(queries: object) -> dict[str, str]:
    """Return texts by query id; texts without ids are their own ids.

    >>> named_queries({"q1": "red wine"}), named_queries(["red wine"])
    ({'q1': 'red wine'}, {'red wine': 'red wine'})
    """
    texts = queries if isinstance(queries, Mapping) else {text: text for text in _texts(queries)}
    for query, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"queries: {shown(query)}", "a string", shown(text))
    return by_id(texts, "queries")


def _texts(queries: object) -> list[object]:
    texts = listed(queries, "queries", "texts, or a dict {query: text}")
    for text in texts:
        if not isinstance(text, str):
            raise InputError("queries", "texts, or a dict {query: text}", shown(text))
    return texts


def ranked_run(lists: Iterable[tuple[str, Iterable[object]]]) -> Run:
    """Return the run of lists of ids, best first: scores −1, −2 …, each id once, at its first rank.

    >>> ranked_run([("q1", ["b", "a"])])
    {'q1': {'b': -1.0, 'a': -2.0}}
    """
    run, repeats = {}, {}
    for query, ids in lists:
        ranking = RetrievedIds.of(ids, f"retrieved for {shown(query)}")
        run[query] = ranking.ranked()
        if ranking.repeated:
            repeats[query] = ranking.repeated
    if repeats:
        query, ids = next(iter(repeats.items()))
        warn(
            f"retrieved: {counted(len(repeats), 'query', 'queries')} with an id more than once, "
            f"such as {ids[0]!r} for {shown(query)}. Each counts once, at its first rank."
        )
    return run


def document_id(document: object, key: str | None, where: str) -> str:
    """Return the id of a document: an object, a dict, or an id itself.

    Args:
        document: with an `id`, and `metadata`.
        key: the metadata key of the id; None for the document's own id.
        where: the location in an error.

    >>> document_id({"id": "a", "metadata": {"source": "b"}}, None, "run")
    'a'
    >>> document_id({"id": "a", "metadata": {"source": "b"}}, "source", "run")
    'b'
    """
    if isinstance(document, str | bytes | Number):  # including NumPy numbers
        return id_text(document, where=where)
    fields = document if isinstance(document, Mapping) else _fields(document)
    metadata = fields.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    own = fields.get("id") if key is None else metadata.get(key, fields.get(key))
    if own is None:
        missing = "an id" if key is None else f"{key!r} in the metadata"
        keys = ", ".join(map(str, metadata)) or "nothing"
        remedy = f"Name the key that holds it: id_key=…; the metadata have {keys}."
        raise InputError(where, f"a document with {missing}", "none", remedy)
    return id_text(own, where=where)


def _fields(document: object) -> dict[str, object]:
    return {name: getattr(document, name, None) for name in ("id", "metadata")}


def document_ids(documents: object, key: str | None, where: str) -> list[str]:
    """Return the ids of documents, in their order."""
    return [document_id(d, key, where) for d in listed(documents, where, "ids or documents")]


def part_of(value: object, key: str | None, where: str) -> Any:
    """Return a host's data, or its entry under a key."""
    if key is None:
        return value
    if not isinstance(value, Mapping) or key not in value:
        keys = ", ".join(map(str, value)) if isinstance(value, Mapping) else shown(value)
        raise InputError(where, f"a dict with the key {key!r}", keys or "nothing")
    return value[key]


def part_if_any(value: object, key: str | None) -> Any:
    """Return an entry of a host's dict, or None, for names in messages."""
    return value.get(key) if isinstance(value, Mapping) else None


def expected_of(grades: object, id_key: str | None, where: str) -> Any:
    """Return grades unchanged, and relevant documents as ids."""
    return grades if isinstance(grades, Mapping) else document_ids(grades, id_key, where)
