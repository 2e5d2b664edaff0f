"""Responses of search services: where the hits of each stand, and the query that it answers.

Known are those of Elasticsearch and OpenSearch (`hits.hits`), Solr (`response.docs`), Vespa
(`root.children`), Algolia, Meilisearch and Typesense (`hits`), Qdrant (`result.points`), Azure
(`value`) and Chroma (`ids`), and several in one, as `_msearch` and multi-search return them.

Records with a query and a list are read in the same way, those too that hold what is relevant beside
what was retrieved: judgments take the one, a run takes the other.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.inputs.columns import ALIASES, asked_columns, is_name_of_distances, plain_name
from gainful.inputs.judgments_or_run import JUDGMENTS, RANKS, RUN, Kind
from gainful.inputs.lists_as_text import is_list_as_text
from gainful.message_texts import shortened, shown

# Where a list of hits stands in a response: within another object, or beside other values.
_WITHIN = (
    ("hits", "hits"),
    ("response", "docs"),
    ("root", "children"),
    ("result", "points"),
    ("result", "hits"),
)
_RETRIEVED = (
    "retrieved", "retrieved_ids", "retrieved_docs", "retrieved_doc_ids", "retrieved_documents",
    "ranking",
)  # fmt: skip
_FOUND = (
    "hits", "matches", *_RETRIEVED, "docs", "documents", "results", "nodes", "points", "value",
    "doc_ids",
)  # fmt: skip
_RELEVANT = (
    "relevant", "relevant_ids", "relevant_docs", "relevant_doc_ids", "relevant_documents",
    "gold", "gold_ids", "gold_docs", "gold_doc_ids", "positives", "positive_ids", "expected_ids",
)  # fmt: skip
_BESIDE = (*_FOUND, *_RELEVANT)
_JUDGED = (*_RELEVANT, *(name for name in _FOUND if name not in _RETRIEVED), *_RETRIEVED)
_SEVERAL = ("responses", "results")
_IDS = "ids"  # of Chroma: a list of them for each query, beside lists of what else is known
_BESIDE_IDS = ("distances", "metadatas", "included")
_OUTER = frozenset([*(outer for outer, _ in _WITHIN), *_BESIDE, *_SEVERAL, _IDS])
_TELLING = frozenset([*_OUTER, "error"])
_QUERIES = ("request_params", "responseHeader", "params", "query")
_TEXTS = ("q", "query")
# A record may have a text of its own under these names, such as tags.
_TAGS = frozenset(["label", "labels", "target", "targets"])


def is_answer(given: Mapping[Any, Any]) -> bool:
    """Return whether a dict is what a search service answers, rather than documents with numbers.

    >>> is_answer({"hits": {"hits": [{"_id": "a"}]}}), is_answer({"hits": 3.5})
    (True, False)
    """
    # A few look-ups, since this is asked of every query of every dict.
    if given.keys().isdisjoint(_OUTER):
        return False
    return hits_in(given) is not None or responses_in(given) is not None


def is_of_a_query(found: Mapping[Any, Any]) -> bool:
    """Return whether what stands under a query is no dict of documents: an answer, lists, an error.

    >>> is_of_a_query({"relevant": ["a"], "retrieved": ["b", "a"]}), is_of_a_query({"error": 1.5})
    (True, False)
    """
    # A few look-ups, since this is asked of every query of every dict.
    if found.keys().isdisjoint(_TELLING):
        return False
    return is_answer(found) or error_in(found) is not None or has_lists(found)


def has_lists(found: Mapping[Any, Any]) -> bool:
    """Return whether what stands under a query are lists of what is relevant, or was retrieved."""
    names = [name for name in (*_RELEVANT, *_RETRIEVED) if name in found]
    if not names or all(isinstance(each, Mapping) for each in found.values()):
        return False
    return all(
        _items(each) is not None or (name in names and _has_numbers(each))
        for name, each in found.items()
    )


def lists_in(found: Mapping[Any, Any], kind: Kind, where: str) -> Collection[Any]:
    """Return which of the lists under a query is meant; refuse them where none can be.

    >>> lists_in({"relevant": ["a"], "retrieved": ["b", "a"]}, RUN, "run")
    ['b', 'a']
    """
    judged = kind.name == JUDGMENTS.name
    items = _listed(found, _RELEVANT if judged else _FOUND)
    if items is None:
        raise _meant_for_other([*found], kind, where)
    return items


def _meant_for_other(names: Sequence[str], kind: Kind, where: str) -> InputError:
    judged = kind.name == JUDGMENTS.name
    return InputError(
        where,
        f"a list of what {'is relevant' if judged else 'was retrieved'}",
        f"only {', '.join(map(repr, names))}",
        f"Name it {'relevant' if judged else 'retrieved'}, or give {{query: list}}.",
    )


def documents_in(given: Mapping[Any, Any], kind: Kind) -> Mapping[Any, Any] | None:
    """Return the documents with numbers that a record has in the place of a list; None if it has none.

    >>> documents_in({"query": "q", "relevant": {"a": 3, "b": 1}}, JUDGMENTS)
    {'a': 3, 'b': 1}
    """
    if given.keys().isdisjoint(_OUTER):
        return None
    judged = kind.name == JUDGMENTS.name
    found = (given[name] for name in (_RELEVANT if judged else _RETRIEVED) if name in given)
    documents = next(filter(_has_numbers, found), None)
    if documents is None:
        return None
    listed = _listed(given, _RELEVANT) is not None if judged else not _is_relevant_alone(given)
    return None if listed else documents


def lacks_list(
    record: Mapping[Any, Any], kind: Kind, columns: Mapping[str, str] | None = None
) -> bool:
    """Return whether a record has something else where its list is, and no column of documents.

    That may be documents with numbers, which can be read.

    >>> lacks_list({"query": "q", "retrieved": None}, RUN)
    True
    >>> lacks_list({"query": "q", "doc": "d", "retrieved": None}, RUN)
    False
    """
    if not _without_list(record) or "doc" in asked_columns(kind, columns or {}):
        return False
    return {plain_name(name) for name in record}.isdisjoint(ALIASES["doc"])


def refuse_no_list(given: Mapping[Any, Any], kind: Kind, where: str) -> None:
    """Refuse a record that has something else where its list is.

    >>> refuse_no_list({"query": "q", "retrieved": None}, RUN, "run")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run: expected a list in 'retrieved', found None. Write [] if nothing was retrieved.
    """
    judged = kind.name == JUDGMENTS.name
    own = _RELEVANT if judged else _RETRIEVED
    names = _without_list(given)
    name = next((name for name in names if name in own), None)
    if name is not None:
        nothing = "is relevant" if judged else "was retrieved"
        value = given[name]
        one = f"Write it as a list, [{shown(value)}], or" if isinstance(value, str) else "Write"
        remedy = f"{one} [] if nothing {nothing}."
        if is_list_as_text(value):
            remedy = f"Make lists of the texts first: frame[{name!r}].map(ast.literal_eval)."
        if isinstance(value, Mapping):
            remedy = f"Write a list of ids, or a dict {{doc: {kind.number}}} of numbers."
        raise InputError(where, f"a list in {name!r}", shown(value), remedy)
    if names:
        raise _meant_for_other(names, kind, where)


def _without_list(given: Mapping[Any, Any]) -> list[str]:
    """Return the fields that are named for lists of documents, and hold none, nor a number."""
    if given.keys().isdisjoint(_OUTER):
        return []
    # A ranking may be a name, that of a model.
    names = (name for name in (*_RELEVANT, *_RETRIEVED) if name in given and name != "ranking")
    return [name for name in names if _is_no_list(given[name])]


def _is_no_list(value: Any) -> bool:
    return (
        value is None or isinstance(value, str | Mapping) or value != value
    )  # NaN of a data frame


def name_of_list(given: Mapping[Any, Any], kind: Kind) -> str:
    """Return the name of the list that judgments or a run take of a record; empty where it has none.

    >>> name_of_list({"question": "q", "relevant": ["x"], "retrieved": ["y"]}, RUN)
    'retrieved'
    """
    names = _JUDGED if kind.name == JUDGMENTS.name else _BESIDE
    return next((name for name in names if _items(given.get(name)) is not None), "")


def numbers_beside(
    given: Mapping[Any, Any], name: str, kind: Kind, asked: str | None = None
) -> tuple[str, list[Any]] | None:
    """Return the field with a grade or a score for each item of a list of a record, and what it has.

    None where there is none. Of a record with what is relevant and what was retrieved, scores are
    those of the one, and ratings those of the other.

    Args:
        given: the record.
        name: the field of the list.
        kind: judgments or run.
        asked: the field, where the caller names it.

    >>> numbers_beside({"relevant": ["a", "b"], "grades": [0, 3]}, "relevant", JUDGMENTS)
    ('grades', [0, 3])
    >>> numbers_beside({"relevant": ["a"], "retrieved": ["b"], "scores": [9]}, "relevant", JUDGMENTS)
    """
    if asked is None and _NUMBERS[kind.number].isdisjoint(map(plain_name, given)):  # as most are
        return None
    if not name or (_is_within(given) and name not in _RELEVANT):  # hits have their own
        return None
    if asked is not None:
        names = [asked] if asked in given else []
    else:
        others = _of_other(given, name, kind)
        aliases = [one for one in _NAMES_OF_NUMBERS[kind.number] if one not in others]
        plain = {plain_name(each): each for each in given}
        forms = (form for one in aliases for form in _forms(one))
        names = [plain[form] for form in forms if form in plain]
    for each in names:
        values = None if each == name or isinstance(given[each], Set) else _items(given[each])
        if values is None or not all(_is_scalar(one) or np.isscalar(one) for one in values):
            continue
        texts = values and all(isinstance(one, str) for one in values)
        if not (texts and plain_name(each) in _TAGS):
            return each, list(values)
    return None


def ranks_beside(
    given: Mapping[Any, Any], name: str, asked: str | None = None
) -> tuple[str, list[Any]] | None:
    """Return the field with a rank, or a distance, for each item of a list of a run, and what it has.

    None where there is none. Args are as those of `numbers_beside`.

    >>> ranks_beside({"retrieved": ["a", "b"], "ranks": [2, 1]}, "retrieved")
    ('ranks', [2, 1])
    >>> ranks_beside({"relevant": ["b"], "retrieved": ["a", "b"], "ranks": [2]}, "retrieved")
    """
    names = _names_of_ranks((*given,)) if asked is None else (asked,)
    if not names or not name or _is_within(given):
        return None
    relevant = _listed(given, _RELEVANT)
    for each in names:
        values = None if each == name or each not in given else _items(given[each])
        if values is None or not all(_is_scalar(one) or np.isscalar(one) for one in values):
            continue
        # Those at which the relevant documents were found are not those of the list.
        of_relevant = relevant is not None and len(values) == len(relevant) != len(given[name])
        if asked is not None or not of_relevant:
            return each, list(values)
    return None


@lru_cache(maxsize=64)  # most records have the same fields
def _names_of_ranks(names: tuple[Any, ...]) -> tuple[Any, ...]:
    known = _NUMBERS[RANKS.number]
    return tuple(one for one in names if plain_name(one) in known or is_name_of_distances(one))


def _of_other(given: Mapping[Any, Any], name: str, kind: Kind) -> tuple[str, ...]:
    """Return the names of numbers that belong to another list of a record, if it has one."""
    others = [one for one in _BESIDE if one != name and _items(given.get(one)) is not None]
    if not others and not _is_within(given):
        return ()
    scores, grades = ALIASES[RUN.number], ALIASES[JUDGMENTS.number]
    ratings = tuple(one for one in scores if one in grades and one != RUN.number)
    if kind.name == JUDGMENTS.name:
        return tuple(one for one in scores if one not in ratings)
    return ratings


def _forms(name: str) -> tuple[str, ...]:
    """Return the names that a list of such numbers may have.

    >>> _forms("similarity")
    ('similarity', 'similaritys', 'similarities')
    """
    return (name, f"{name}s", *([f"{name[:-1]}ies"] if name.endswith("y") else []))


# What is relevant is a list of documents here, though the grades of a table may have that name.
_NAMES_OF_NUMBERS = {
    role: [one for one in names if one not in _RELEVANT] for role, names in ALIASES.items()
}
_NUMBERS = {
    role: frozenset(form for one in names for form in _forms(one))
    for role, names in _NAMES_OF_NUMBERS.items()
}
"""The names of lists of numbers, by what these are."""


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
    relevant = _listed(given, _RELEVANT) if judged else None
    if relevant is not None and any(map(_is_scalar, given.values())):
        return relevant
    ids = _lists_of_ids(given)
    if ids is not None:
        return list(ids[0])
    for outer, name in _WITHIN:
        inside = given.get(outer)
        # Most have none, and to ask None whether it is a mapping takes longer.
        if inside is not None and isinstance(inside, Mapping) and _is_list(inside.get(name)):
            return list(inside[name])
    if _is_empty_root(given.get("root")):
        return []
    listed = _listed(given, _JUDGED if judged else _BESIDE)
    # {query: list} may have a query of such a name; a response has a text or a number as well.
    if listed is None or not (_is_alone(given, listed) or any(map(_is_scalar, given.values()))):
        return None
    return listed


def refuse_other_list(given: Mapping[Any, Any], kind: Kind, where: str) -> None:
    """Refuse a record of which the list that `hits_in` takes is meant for the other input.

    >>> refuse_other_list({"question": "q", "relevant": ["x"], "contexts": ["y"]}, RUN, "run")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run: expected a list of what was retrieved, found 'relevant', and 'contexts', which may be one. Name its field: columns run.doc=contexts.
    """
    relevant = [name for name in _RELEVANT if name in given]
    if kind.name != JUDGMENTS.name:
        if relevant and _is_relevant_alone(given):
            refuse_no_list(given, kind, where)
            others = _other_lists(given)
            if others:
                raise _unnamed(where, "a list of what was retrieved", relevant[0], others[0], kind)
            if kind.name == RUN.name:
                raise _meant_for_other(relevant, kind, where)
    elif relevant and _listed(given, _RELEVANT) is None:
        expected = f"a list of documents in the field {relevant[0]!r}"
        remedy = f"Write it as a list, or name another field: columns {kind.name}.doc=…."
        raise InputError(where, expected, shown(given[relevant[0]]), remedy)
    elif not relevant and not _is_within(given):
        name = name_of_list(given, kind)
        if name in _RETRIEVED:
            others = _other_lists(given)
            if others:
                raise _unnamed(where, "a list of what is relevant", name, others[0], kind)
            raise _meant_for_other([name], kind, where)


def _other_lists(given: Mapping[Any, Any]) -> list[str]:
    """Return the fields of lists whose names do not tell what they have."""
    beside = (numbers_beside(given, name_of_list(given, each), each) for each in (JUDGMENTS, RUN))
    numbers = [found[0] for found in beside if found is not None]
    return [
        name
        for name in given
        if name not in (*_BESIDE, *numbers) and _items(given[name]) is not None
    ]


def refuse_lists(
    record: Mapping[Any, Any], kind: Kind, columns: Mapping[str, str], where: str
) -> None:
    """Refuse a record with a query and lists, of which no name tells that it has documents.

    >>> refuse_lists({"question": "q", "contexts": ["y"]}, RUN, {}, "run.jsonl")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run.jsonl: expected a column for doc, or a list of documents, found only 'question', 'contexts'. Name the field of the list: columns run.doc=contexts; known are hits, matches, retrieved, retrieved_ids, retrieved_docs, retrieved_doc_ids, retrieved_documents, ranking, docs, documents, results, nodes, points, value, doc_ids.
    """
    asked, plain = asked_columns(kind, columns), {plain_name(name) for name in record}
    lists = [name for name in record if _items(record[name]) is not None]
    has = {role: role in asked or bool(plain & {*ALIASES[role]}) for role in ("query", "doc")}
    if lists and has["query"] and not has["doc"]:
        known = (*_RELEVANT, *_FOUND) if kind.name == JUDGMENTS.name else _FOUND
        raise InputError(
            where,
            "a column for doc, or a list of documents",
            f"only {', '.join(map(repr, record))}",
            f"Name the field of the list: columns {kind.name}.doc={lists[0]}; "
            f"known are {', '.join(known)}.",
        )


def has_name_of_list(names: Iterable[str]) -> bool:
    """Return whether a column has a name that lists of documents have.

    >>> has_name_of_list(["query", "retrieved"]), has_name_of_list(["query", "doc", "score"])
    (True, False)
    """
    return not _OUTER.isdisjoint(names)


def holds_documents(
    record: Mapping[Any, Any], kind: Kind, columns: Mapping[str, str], name: str = ""
) -> bool:
    """Return whether a row of a table has the documents of a query in a list, as records have.

    A row whose lists may be documents, or not, is refused. Messages call the table by its name, or
    by what it was given as.

    >>> holds_documents({"query": "q", "retrieved": ["a"]}, RUN, {})
    True
    """
    listed = [name for name in record if _items(record[name]) is not None]
    asked = asked_columns(kind, columns).get("doc")
    plain = {plain_name(name): name for name in record}
    doc = next((plain[one] for one in ALIASES["doc"] if one in plain), None)
    text = record.get(doc if asked is None else asked)
    if is_list_as_text(text):
        raise InputError(
            f"{name or kind.name}, column {asked or doc!r}",
            "one document in each row",
            f"a list as text: {shortened(shown(text))}",
            "Make lists of the texts first, with ast.literal_eval, and a row of each document: explode.",
        )
    if not listed:
        return lacks_list(record, kind, columns)
    if asked is not None:
        return asked in listed
    if doc is None:
        if not is_answer(record):
            refuse_lists(record, kind, columns, name or kind.name)
        return is_answer(record)
    if doc in listed:
        raise InputError(
            f"{name or kind.name}, column {doc!r}",
            "one document in each row",
            f"lists: {shown(record[doc])}",
            f"Make a row of each document: explode({listed!r}). Or say that it holds ranked lists: "
            f"columns {kind.name}.doc={doc}.",
        )
    return False


def _unnamed(where: str, expected: str, found: str, other: str, kind: Kind) -> InputError:
    return InputError(
        where,
        expected,
        f"{found!r}, and {other!r}, which may be one",
        f"Name its field: columns {kind.name}.doc={other}.",
    )


def _listed(given: Mapping[Any, Any], names: Sequence[str]) -> Collection[Any] | None:
    """Return the first list of some names."""
    found = (_items(given[name]) for name in names if name in given)
    return next((items for items in found if items is not None), None)


def _items(value: Any) -> Collection[Any] | None:
    """Return the items of a list, or a set; None of anything else."""
    if type(value) is list:  # as most are: the other questions take longer
        return value.copy()
    if isinstance(value, np.ndarray):
        return list(value) if value.ndim == 1 else None
    if isinstance(value, Set):
        return value
    return list(value) if _is_list(value) else None


def _is_within(given: Mapping[Any, Any]) -> bool:
    """Return whether there are hits within another object, or those of Chroma."""
    inside = ((given.get(outer), name) for outer, name in _WITHIN)
    found = any(
        each is not None and isinstance(each, Mapping) and _is_list(each.get(name))
        for each, name in inside
    )
    return found or _is_empty_root(given.get("root")) or _lists_of_ids(given) is not None


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
    failed = searched and (not hits or _is_relevant_alone(given))
    return error if failed else None


def _is_relevant_alone(given: Mapping[Any, Any]) -> bool:
    """Return whether a record has no list but of what is relevant."""
    return _listed(given, _FOUND) is None and not _is_within(given)


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
    if _listed(given, _RELEVANT) is not None:  # stored beside what was judged
        return False
    inside = (given.get(outer) for outer, _ in _WITHIN)
    hits = _is_list(given.get("hits")) or _lists_of_ids(given) is not None
    return hits or any(isinstance(each, Mapping) for each in inside)


def _is_alone(given: Mapping[Any, Any], listed: Collection[Any]) -> bool:
    """Return whether there is nothing but a list of objects, or an empty one."""
    return len(given) == 1 and isinstance(next(iter(listed), {}), Mapping)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _has_numbers(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_number, value.values()))


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
    return type(given) is list or (
        given is not None and isinstance(given, Sequence) and not isinstance(given, str | bytes)
    )
