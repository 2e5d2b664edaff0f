"""The texts of queries and documents for a report, cut to what is read at a glance."""

from collections.abc import Collection

from gainful.inputs.captions import Caption, Wanted, read_captions

_QUERY, _SNIPPET = 300, 200  # characters


def texts_of_queries(given: object, queries: Collection[str]) -> dict[str, str]:
    """Return the text of each query that has one.

    >>> texts_of_queries({"q1": "what is a ranking"}, ["q1", "q2"])
    {'q1': 'what is a ranking'}
    """
    if given is None:
        return {}
    found = read_captions(given, Wanted(frozenset(queries), "query", "queries", _QUERY))
    texts = {query: caption.text or caption.title for query, caption in found.items()}
    return {query: text for query, text in texts.items() if text is not None}


def captions_of_docs(given: object, docs: Collection[str]) -> dict[str, Caption]:
    """Return the title and the beginning of each document that has any."""
    if given is None or not docs:
        return {}
    return read_captions(given, Wanted(frozenset(docs), "doc", "docs", _SNIPPET))
