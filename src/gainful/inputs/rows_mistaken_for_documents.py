"""Rows under a key, `{"data": [{"query": …, "doc": …}, …]}`, which would count as documents of one query.

A hit may have a field such as `question` or `user` as content, and the text of its query beside the
id. So a name tells a row by itself only where it can hardly be content.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gainful.errors import InputError
from gainful.inputs.run_and_judgment_columns import ALIASES, plain_name
from gainful.message_texts import shortened, shown

IDS_OF_HITS = ("_id", "objectID", "id", "id_", "node_id", "ref_doc_id")
"""The ids that hits have of their own, beside the usual names of documents."""

# Documents have such fields too, as content.
_CONTENT = frozenset(["topic", "user", "search_term", "keyword", "keywords", "question"])
# Keys that hold all rows of a file or a response, and that hardly anybody searches for.
_WRAPPERS = frozenset(
    [
        "data", "dataset", "rows", "records", "items", "entries", "examples", "lines", "list", "value",
        "values", "judgments", "judgements", "qrels", "ratings", "interactions", "labels", "run", "runs",
        "results", "result", "hits", "docs", "documents", "predictions", "recommendations", "rankings",
        "train", "dev", "valid", "validation", "test",
    ]
)  # fmt: skip


class RowField(NamedTuple):
    """The field of an item that names a query, and whether the item can hardly be but a row."""

    name: str
    certain: bool


class Row(NamedTuple):
    """What an item of a list says of its own query."""

    field: RowField
    query: str
    doc: str


def row_field(fields: Mapping[Any, Any], asked: Mapping[str, str]) -> RowField | None:
    """Return the field of an item that names its own query; None where it has none.

    `asked` are the names that the caller gives.

    >>> row_field({"query": "q1", "doc": "a", "score": 1}, {})
    RowField(name='query', certain=True)
    >>> row_field({"objectID": "a", "query": "shoes"}, {})
    RowField(name='query', certain=False)
    >>> row_field({"doc": "a", "score": 1}, {})
    """
    plain = {plain_name(name): name for name in fields}
    doc = asked.get("doc")
    docs = [doc] if doc is not None else [plain[one] for one in ALIASES["doc"] if one in plain]
    has_doc = any(id_of_query(fields.get(one)) is not None for one in docs)
    has_id = doc is None and not fields.keys().isdisjoint(IDS_OF_HITS)
    if not has_doc and not has_id:
        return None
    named = asked.get("query")
    if named is not None:
        return RowField(named, certain=True) if named in fields else None
    found = next((one for one in ALIASES["query"] if one in plain), None)
    if found is None:
        return None
    return RowField(plain[found], certain=not has_id and found not in _CONTENT)


def id_of_query(value: object) -> str | None:
    """Return the query that a row names, as text; None where its field holds no id.

    >>> id_of_query(7), id_of_query(7.0), id_of_query(["q"]), id_of_query(None)
    ('7', '7', None, None)
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            return None
        return str(int(value)) if value == int(value) else str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(value)
    return None


def refuse_rows(rows: list[Row], query: str, where: str, record: object = None) -> None:
    """Refuse rows of other queries in the list of a query.

    Args:
        rows: what the items say of their own query.
        query: the key that the list stands under.
        where: what messages call the list.
        record: what holds the list, where it is one; it may have the text of the query, too.

    >>> refuse_rows([Row(RowField("query", True), "q1", "a")], "data", "run, query 'data'")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run, query 'data': expected documents of this query, found a row of another: 'query' is 'q1'. Give the rows alone: given['data'] in Python; in a file, that list or JSON lines. If all belong to 'data', leave the field 'query' out.
    """
    own = {query}
    if isinstance(record, Mapping):
        own.update(
            str(value) for name, value in record.items() if plain_name(name) in ALIASES["query"]
        )
    other = next((row for row in rows if row.query not in own), None)
    if other is None:
        return
    wrapped = plain_name(query) in _WRAPPERS
    if not (wrapped or other.field.certain or _repeats(rows)):
        return
    # The text of a query may stand beside its id, the same in each of its documents.
    several = any(row.query != other.query for row in rows)
    if not (several or wrapped) and any(map(str.isspace, other.query)):
        return
    raise InputError(
        where,
        "documents of this query",
        f"a row of another: {_told(other)}",
        f"{_remedy(query)} If all belong to {query!r}, leave the field {other.field.name!r} out.",
    )


def refuse_unnamed_rows(
    items: Iterable[Any], asked: Mapping[str, str], key: str, name: str
) -> None:
    """Refuse rows in a list that would be the answer to a query, if it named one.

    >>> refuse_unnamed_rows([{"query": "q1", "doc": "a"}], {}, "results", "run")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run: expected rows, or the documents of a query, found rows under the key 'results': 'query' is 'q1'. Give the rows alone: given['results'] in Python; in a file, that list or JSON lines.
    """
    first = next(iter(items), None)
    if not isinstance(first, Mapping):
        return
    field = row_field(first, asked)
    query = None if field is None else id_of_query(first[field.name])
    if field is not None and field.certain and query is not None:
        found = f"rows under the key {key!r}: {_told(Row(field, query, ''))}"
        raise InputError(name, "rows, or the documents of a query", found, _remedy(key))


def _told(row: Row) -> str:
    return f"{row.field.name!r} is {shortened(shown(row.query))}"


def _remedy(key: str) -> str:
    return f"Give the rows alone: given[{key!r}] in Python; in a file, that list or JSON lines."


def _repeats(rows: list[Row]) -> bool:
    """Return whether a document stands under two queries: what it has as content would not change."""
    seen: dict[str, str] = {}
    return any(seen.setdefault(row.doc, row.query) != row.query for row in rows)
