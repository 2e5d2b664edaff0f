"""Records with a query and a list of documents: find the list and the numbers that belong to it."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gainful.errors import InputError
from gainful.message_texts import shortened, shown
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RANKS, RUN, Kind, mistaken
from gainful.rows.identifiers import is_id, is_list_as_text
from gainful.rows.input_types import Record
from gainful.rows.run_and_judgment_columns import (
    ALIASES,
    asked_columns,
    is_name_of_distances,
    plain_name,
)
from gainful.rows.search_responses import (
    BESIDE,
    FOUND,
    JUDGED,
    NAMES,
    PASSAGES,
    RELEVANT,
    RETRIEVED,
    doc_field,
    error_in,
    fields_named,
    first_list,
    has_numbers,
    hits_within,
    is_answer,
    is_from_a_service,
    is_scalar,
    items_of,
)
from gainful.rows.traces import is_of_another_tool

IDS_OF_HITS = ("_id", "objectID", "id", "id_", "node_id", "ref_doc_id")
"""Id fields of hits, in addition to the usual names of documents."""
_HINT_OF_PASSAGES = (
    "If it contains passages of documents, pass the texts: documents=… (--documents FILE). "
)
_TELLING = frozenset([*NAMES, "error"])
_MOST_FIELDS = 200  # of a response
# Under these names, records may hold texts that are not numbers, such as tags.
_TAGS = frozenset(["label", "labels", "target", "targets"])
# Names of query fields that documents may also have, as content.
_CONTENT = frozenset(["topic", "user", "search_term", "keyword", "keywords", "question"])
# Keys that hold all rows of a file or a response, and that are unlikely searches.
_WRAPPERS = frozenset(
    [
        "data", "dataset", "rows", "records", "items", "entries", "examples", "lines", "list", "value",
        "values", "judgments", "judgements", "qrels", "ratings", "interactions", "labels", "run", "runs",
        "results", "result", "hits", "docs", "documents", "predictions", "recommendations", "rankings",
        "train", "dev", "valid", "validation", "test",
    ]
)  # fmt: skip


class Beside(NamedTuple):
    """A list of numbers parallel to a list of documents: its field, its values, and whether they are ranks."""

    field: str
    numbers: list[Any]
    ranks: bool


def with_path(record: Record, path: str | None) -> Record:
    """Return a record with a nested list and its ids moved to a dotted path, such as contexts.metadata.id.

    Both the list and the ids are stored under the whole path. A record with a field of exactly that
    name, or without a list at the start of the path, is returned as it is.

    >>> record = {"query": "q", "contexts": [{"metadata": {"id": "a"}, "score": 2}]}
    >>> with_path(record, "contexts.metadata.id")["contexts.metadata.id"]
    [{'metadata': {'id': 'a'}, 'score': 2, 'contexts.metadata.id': 'a'}]
    """
    if path is None or "." not in path or path in record:
        return record
    name, *within = path.split(".")
    items = items_of(record.get(name))
    if items is None:
        return record
    others = {key: value for key, value in record.items() if key != name}
    return {**others, path: [_with_id(item, within, path) for item in items]}


def _with_id(item: Any, within: Sequence[str], path: str) -> Any:
    value: Any = item
    for name in within:
        if not isinstance(value, Mapping) or name not in value:
            return item  # the missing id is reported when the item is read
        value = value[name]
    return {**item, path: value}


def is_of_a_query(value: Record) -> bool:
    """Return whether a query's value is a response, lists or an error, rather than a dict of documents.

    >>> is_of_a_query({"relevant": ["a"], "retrieved": ["b", "a"]}), is_of_a_query({"error": 1.5})
    (True, False)
    """
    # This runs for every query, so long dicts are skipped: no response has so many fields.
    if len(value) > _MOST_FIELDS or value.keys().isdisjoint(_TELLING):
        return False
    return is_answer(value) or error_in(value) is not None or _has_lists(value)


def _has_lists(record: Record) -> bool:
    """Return whether a query's value consists of lists of relevant or retrieved documents."""
    names = [name for name in (*RELEVANT, *RETRIEVED) if name in record]
    if not names or all(isinstance(value, Mapping) for value in record.values()):
        return False
    return all(
        items_of(value) is not None or (name in names and has_numbers(value))
        for name, value in record.items()
    )


def documents_of_record(
    record: Record, kind: Kind, where: str
) -> tuple[Collection[Any], str] | None:
    """Return a record's documents, a list or `{doc: number}`, and the name of their field.

    Judgments use the relevant documents of a record, and a run the retrieved ones. Returns None if
    the record has no such field. Raises if the only list is meant for the other input, or if the field
    holds something else than a list.

    >>> documents_of_record({"relevant": ["a"], "retrieved": ["b", "a"]}, RUN, "run")
    (['b', 'a'], 'retrieved')
    >>> documents_of_record({"query": "q", "relevant": {"a": 3, "b": 1}}, JUDGMENTS, "judgments")
    ({'a': 3, 'b': 1}, 'relevant')
    >>> documents_of_record({"query": "q", "retrieved": None}, RUN, "run")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run: expected a list in 'retrieved', found None. Write [] if nothing was retrieved.
    """
    judged = kind.name == JUDGMENTS.name
    own, other = (RELEVANT, RETRIEVED) if judged else (RETRIEVED, RELEVANT)
    name, hits = name_of_list(record, kind), hits_within(record)
    if name not in own and (judged or (hits is None and name in ("", *other))):
        with_numbers = next((name for name in own if has_numbers(record.get(name))), None)
        if with_numbers is not None:
            return record[with_numbers], with_numbers
        _refuse_no_list(record, own, kind, where)
    if hits is None and name in other:
        raise _meant_for_other(record, name, kind, where)
    if judged and is_from_a_service(record):
        raise InputError(
            where,
            "judgments",
            f"the response of a search: {', '.join(map(repr, record))}",
            mistaken(RUN, given=kind),
            code="input.swapped",
        )
    if hits is not None and not (judged and name in own):
        return hits, name
    items = items_of(record.get(name))
    return None if items is None else (items, name)


def _refuse_no_list(record: Record, names: Sequence[str], kind: Kind, where: str) -> None:
    """Reject a record whose list field holds something other than a list."""
    name = next((name for name in without_list(record) if name in names), None)
    if name is None:
        return
    value, judged = record[name], kind.name == JUDGMENTS.name
    one = f"Write it as a list, [{shown(value)}], or" if isinstance(value, str) else "Write"
    remedy = f"{one} [] if nothing {'is relevant' if judged else 'was retrieved'}."
    if is_list_as_text(value):
        remedy = f"Parse the texts first: frame[{name!r}].map(ast.literal_eval)."
    if isinstance(value, Mapping):
        remedy = f"Write a list of ids, or a dict {{doc: {kind.number}}} of numbers."
    raise InputError(where, f"a list in {name!r}", shown(value), remedy)


def _meant_for_other(record: Record, name: str, kind: Kind, where: str) -> InputError:
    """Return the error for a record whose list is meant for the other input."""
    own = "relevant" if kind.name == JUDGMENTS.name else "retrieved"
    sides = (
        numbers_beside(record, name_of_list(record, side), side, {}) for side in (JUDGMENTS, RUN)
    )
    usual = {*BESIDE, *(numbers.field for numbers in sides if numbers is not None)}
    # Lists whose names do not reveal their contents.
    lists = (
        field for field in record if field not in usual and items_of(record[field]) is not None
    )
    another = next(lists, None)
    if another is None:
        found = f"only {name!r}"
        remedy = f"Rename it to {own}, or pass {{query: list}}."
    else:
        found = f"{name!r}, and {another!r}, which may be such a list"
        remedy = f"Name its field: columns {kind.name}.doc={another}."
    return InputError(where, f"a list of {own} documents", found, remedy)


def without_list(record: Record) -> list[str]:
    """Return the fields named like lists of documents that hold text, a dict or nothing.

    >>> without_list({"query": "q", "retrieved": None, "relevant": ["a"]})
    ['retrieved']
    """
    if record.keys().isdisjoint(NAMES):
        return []
    # "ranking" may hold the name of a model.
    names = (name for name in (*RELEVANT, *RETRIEVED) if name in record and name != "ranking")
    # NaN, from a data frame, is not equal to itself.
    return [
        name
        for name in names
        if record[name] is None
        or isinstance(record[name], str | Mapping)
        or record[name] != record[name]
    ]


def lacks_list(record: Record, kind: Kind, columns: Mapping[str, str] | None = None) -> bool:
    """Return whether a record has a field named like a list that holds none, and no document column.

    The field may hold `{doc: number}`, which can be read.

    >>> lacks_list({"query": "q", "retrieved": None}, RUN)
    True
    >>> lacks_list({"query": "q", "doc": "d", "retrieved": None}, RUN)
    False
    """
    if not without_list(record) or "doc" in asked_columns(kind, columns or {}):
        return False
    return doc_field(record) is None


def name_of_list(record: Record, kind: Kind) -> str:
    """Return the name of the list that judgments or a run use from a record; empty without one.

    >>> name_of_list({"question": "q", "relevant": ["x"], "retrieved": ["y"]}, RUN)
    'retrieved'
    """
    names = JUDGED if kind.name == JUDGMENTS.name else BESIDE
    return next((name for name in names if items_of(record.get(name)) is not None), "")


def has_name_of_list(names: Iterable[str]) -> bool:
    """Return whether any column has a usual name of a list of documents.

    >>> has_name_of_list(["query", "retrieved"]), has_name_of_list(["query", "doc", "score"])
    (True, False)
    """
    return not NAMES.isdisjoint(names)


def holds_documents(record: Record, kind: Kind, columns: Mapping[str, str], name: str = "") -> bool:
    """Return whether a table row holds a query's documents in a list, as records do.

    Raises if it is unclear whether a list holds documents. Messages refer to the table by `name`, or
    else by its kind.

    >>> holds_documents({"query": "q", "retrieved": ["a"]}, RUN, {})
    True
    """
    asked = asked_columns(kind, columns).get("doc")
    if asked is None and is_of_another_tool(record):
        return True
    record = with_path(record, asked)
    listed = any(items_of(value) is not None for value in record.values())
    if listed and asked is None and doc_field(record) is None and is_answer(record):
        return True
    error = odd_list(record, kind, columns, name or kind.name)
    if error is not None:
        raise error
    return items_of(record.get(asked)) is not None or lacks_list(record, kind, columns)


def odd_list(
    record: Record, kind: Kind, columns: Mapping[str, str], where: str
) -> InputError | None:
    """Return the error for a list that the caller did not name as the list of documents; None without one.

    Such a list is in the document field, or the record has a query but no document field.

    >>> print(odd_list({"query": "q", "doc": ["a", "b"]}, RUN, {}, "run"))
    run, column 'doc': expected one document in each row, found a list: ['a', 'b']. Make a row of each document: explode(['doc']) in a data frame. Or, if the column holds ranked lists, name it: columns run.doc=doc.
    >>> print(odd_list({"question": "q", "contexts": ["y"]}, RUN, {}, "run.jsonl"))
    run.jsonl: expected a column for doc, or a list of documents, found only 'question', 'contexts'. Name the field of the list: columns run.doc=contexts. Usual names are hits, matches, retrieved, retrieved_ids, retrieved_docs, retrieved_doc_ids, retrieved_documents, ranking, docs, documents, results, result, nodes, points, value, doc_ids, chunks.
    """
    asked = asked_columns(kind, columns)
    lists = {name: items for name in record if (items := items_of(record[name])) is not None}
    doc = asked["doc"] if "doc" in asked else doc_field(record)
    text = is_list_as_text(record.get(doc))
    if text or (doc in lists and "doc" not in asked):
        rows = f"Make a row of each document: explode({[*lists]!r}) in a data frame. Or, if the column "
        return InputError(
            f"{where}, column {doc!r}",
            "one document in each row",
            f"a list{' as text' * text}: {shortened(shown(record[doc]))}",
            "Parse the texts with ast.literal_eval, then make a row of each document with explode."
            if text
            else f"{rows}holds ranked lists, name it: columns {kind.name}.doc={doc}.",
        )
    if (
        not lists
        or doc is not None
        or not ("query" in asked or fields_named(record, ALIASES["query"]))
    ):
        return None
    names = (*RELEVANT, *FOUND) if kind.name == JUDGMENTS.name else FOUND
    name, items = next(iter(lists.items()))
    return InputError(
        where,
        "a column for doc, or a list of documents",
        f"only {', '.join(map(repr, record))}",
        f"Name the field of the list: columns {kind.name}.doc={path_to_doc({name: items}) or name}. "
        f"{_HINT_OF_PASSAGES if plain_name(name) in PASSAGES else ''}Usual names are {', '.join(names)}.",
    )


def numbers_beside(
    record: Record, name: str, kind: Kind, asked: Mapping[str, str]
) -> Beside | None:
    """Return a record's field with one grade, score, rank or distance per document; None without one.

    If the record holds both relevant and retrieved documents, scores and ranks belong to the retrieved
    ones, and ratings to the relevant ones.

    Args:
        record: the record.
        name: the field that holds the list of documents.
        kind: judgments or run.
        asked: the field names in the caller's column options, by role.

    >>> numbers_beside({"relevant": ["a", "b"], "grades": [0, 3]}, "relevant", JUDGMENTS, {})
    Beside(field='grades', numbers=[0, 3], ranks=False)
    >>> numbers_beside({"relevant": ["a"], "retrieved": ["b"], "scores": [9]}, "relevant", JUDGMENTS, {})
    >>> numbers_beside({"retrieved": ["a", "b"], "ranks": [2, 1]}, "retrieved", RUN, {}).ranks
    True
    >>> numbers_beside({"relevant": ["b"], "retrieved": ["a", "b"], "ranks": [2]}, "retrieved", RUN, {})
    """
    roles = (RUN.number, RANKS.number) if kind.name == RUN.name else (kind.number,)
    for role in [role for role in roles if role in asked] or roles:
        usual = fields_of_numbers((*record,), role)
        fields = [asked[role]] if role in asked else [*usual]
        if not fields or not name:
            continue
        hits, ranks = hits_within(record) is not None, role == RANKS.number
        if hits and (ranks or name not in RELEVANT):  # hits contain their own numbers
            continue
        listed = [one for one in BESIDE if one != name and items_of(record.get(one)) is not None]
        of_other = _of_other(kind) if (listed or hits) and not ranks else ()
        relevant = first_list(record, RELEVANT) if ranks else None
        for field in fields:
            values = None if field == name else _scalars(record.get(field))
            if values is None:
                continue
            if role not in asked:
                texts = values and all(isinstance(one, str) for one in values)
                tags = texts and plain_name(field) in _TAGS and not ranks
                # The ranks at which relevant documents were found are not ranks of the list.
                found = relevant is not None and len(values) == len(relevant) != len(record[name])
                if tags or found or usual[field] in of_other:
                    continue
            return Beside(field, values, ranks)
    return None


@lru_cache(maxsize=64)  # most records have the same fields
def fields_of_numbers(names: tuple[Any, ...], role: str) -> Mapping[Any, str]:
    """Return the fields whose names denote a number or a list of numbers, with the usual name of each.

    >>> fields_of_numbers(("id", "Position", "cosine_distance", "ranks"), "rank")
    {'ranks': 'rank', 'Position': 'position', 'cosine_distance': ''}
    """
    plain = {plain_name(name): name for name in names}
    fields = {}
    # Tables may name grades "relevant"; here that name denotes a list of documents.
    for usual in (one for one in ALIASES[role] if one not in RELEVANT):
        for form in (usual, f"{usual}s", f"{usual.removesuffix('y')}ies"):
            if form in plain:
                fields[plain[form]] = usual
    if role == RANKS.number:
        fields |= {name: "" for name in names if name not in fields and is_name_of_distances(name)}
    return fields


def _of_other(kind: Kind) -> tuple[str, ...]:
    """Return the usual names of numbers that belong to the record's other list."""
    ratings = {*ALIASES[RUN.number]} & {*ALIASES[JUDGMENTS.number]} - {RUN.number}
    if kind.name != JUDGMENTS.name:
        return (*ratings,)
    return tuple(name for name in ALIASES[RUN.number] if name not in ratings)


def _scalars(value: Any) -> list[Any] | None:
    """Return a list of numbers or texts; None for anything else."""
    values = None if isinstance(value, Set) else items_of(value)
    if values is None or not all(is_scalar(one) or np.isscalar(one) for one in values):
        return None
    return list(values)


def _id_of_query(value: object) -> str | None:
    """Return the query id of a row as text; None if its field holds something else.

    >>> _id_of_query(7), _id_of_query(7.0), _id_of_query(["q"]), _id_of_query(None)
    ('7', '7', None, None)
    """
    if isinstance(value, float | np.floating) and math.isfinite(value):
        return str(int(value)) if value == int(value) else str(value)
    return str(value) if is_id(value) else None


def refuse_rows(
    items: Iterable[Any], query: str, asked: Mapping[str, str], where: str, record: object = None
) -> None:
    """Reject rows of other queries in a query's list, as in `{"data": [{"query": …, "doc": …}, …]}`.

    Args:
        items: the list.
        query: the key of the list.
        asked: the field names in the caller's column options, by role.
        where: the location of the list in messages.
        record: the record that holds the list, if any; it may also contain the text of the query.

    >>> refuse_rows([{"query": "q1", "doc": "a"}], "data", {}, "run, query 'data'")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run, query 'data': expected documents of this query, found a row of another: 'query' is 'q1'. Pass only the rows: content['data'] in Python; in a file, write that list or JSON lines. If all belong to 'data', leave the field 'query' out.
    """
    wrapped = plain_name(query) in _WRAPPERS
    own = {query, None}
    if isinstance(record, Mapping):
        own.update(str(record[name]) for name in fields_named(record, ALIASES["query"]))
    rows = (_query_of_row(item, asked, wrapped=wrapped) for item in items)
    field, other = next(((field, other) for field, other in rows if other not in own), ("", None))
    if other is not None:
        raise InputError(
            where,
            "documents of this query",
            f"a row of another: {field!r} is {shortened(shown(other))}",
            f"Pass only the rows: content[{query!r}] in Python; in a file, write that list or JSON lines. "
            f"If all belong to {query!r}, leave the field {field!r} out.",
        )


def _query_of_row(item: Any, asked: Mapping[str, str], *, wrapped: bool) -> tuple[str, str | None]:
    """Return the field and the id of the query that a list item names, if it is a row; else no id.

    A hit may have a field such as `question` or `user` as content, or repeat the text of its query; under the
    key of a wrapper, it is a row.

    >>> _query_of_row({"query": "q1", "doc": "a", "score": 1}, {}, wrapped=False)
    ('query', 'q1')
    >>> _query_of_row({"objectID": "a", "query": "shoes"}, {}, wrapped=False)
    ('', None)
    """
    if not isinstance(item, Mapping):
        return "", None
    usual = fields_named(item, ALIASES["query"])
    field = asked.get("query", next(iter(usual), None))
    if field is None:  # the usual case
        return "", None
    query, own_id = _id_of_query(item.get(field)), not item.keys().isdisjoint(IDS_OF_HITS)
    docs = [asked["doc"]] if "doc" in asked else fields_named(item, ALIASES["doc"])
    is_content = own_id or " " in (query or "") or plain_name(field) in _CONTENT
    if is_content and not wrapped and "query" not in asked:
        return "", None
    has_doc = own_id or any(_id_of_query(item.get(doc)) is not None for doc in docs)
    return field, query if has_doc else None


def path_to_doc(record: Mapping[str, Any]) -> str | None:
    """Return the path to the field in a nested record that is named most like a document's id; None without one.

    >>> path_to_doc({"contexts": [{"document": {"text": "…", "metadata": {"chunk_id": "c1"}}}]})
    'contexts.document.metadata.chunk_id'
    """
    names = [*ALIASES["doc"], *map(plain_name, IDS_OF_HITS)]
    paths: dict[str, int] = {}  # the place among the usual names, by path

    def look_into(fields: Mapping[str, Any], path: str) -> None:
        for name, value in fields.items():
            inner = next(iter(value), None) if isinstance(value, list | Set) else value
            if isinstance(inner, Mapping):
                look_into(inner, f"{path}{name}.")
            elif path and isinstance(value, str | int) and plain_name(name) in names:
                paths[f"{path}{name}"] = names.index(plain_name(name))

    look_into(record, "")
    return min(paths, key=paths.__getitem__, default=None)
