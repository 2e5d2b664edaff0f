"""Records with a query and the list of its documents: which list is meant, and what is none.

Of a record that holds both, judgments take what is relevant, and a run what was retrieved.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from gainful.errors import InputError
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RUN, Kind
from gainful.inputs.list_field_names import (
    BESIDE,
    FOUND,
    JUDGED,
    RELEVANT,
    RETRIEVED,
    first_list,
    has_numbers,
    items_of,
)
from gainful.inputs.lists_as_text import is_list_as_text
from gainful.inputs.numbers_beside_documents import numbers_beside
from gainful.inputs.run_and_judgment_columns import ALIASES, asked_columns, plain_name
from gainful.inputs.search_responses import (
    NAMES,
    error_in,
    has_hits_within,
    is_answer,
    is_relevant_alone,
)
from gainful.message_texts import shortened, shown

_TELLING = frozenset([*NAMES, "error"])
_MOST_FIELDS = 200  # of an answer


def with_path(record: Mapping[Any, Any], path: str | None) -> Mapping[Any, Any]:
    """Return a record whose list is named by the path to the ids in it, such as contexts.metadata.chunk_id.

    The list and the ids are then under the whole path. A record that has a field of that very name, or
    no list at the beginning of the path, is returned as it is.

    >>> given = {"query": "q", "contexts": [{"metadata": {"id": "a"}, "score": 2}]}
    >>> with_path(given, "contexts.metadata.id")["contexts.metadata.id"]
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
    if not isinstance(item, Mapping):
        return item
    value: Any = item
    for name in within:
        if not isinstance(value, Mapping) or name not in value:
            return item  # that it lacks the id is said where it is read
        value = value[name]
    return {**item, path: value}


def path_to_ids(name: str, items: Iterable[Any]) -> str:
    """Return the path to the ids in a list of objects; the name of the list where none is known.

    >>> path_to_ids("contexts", [{"text": "…", "metadata": {"chunk_id": "a"}}])
    'contexts.metadata.chunk_id'
    >>> path_to_ids("contexts", ["a"])
    'contexts'
    """
    first = next(iter(items), None)
    if not isinstance(first, Mapping):
        return name
    inside = [([key], each) for key, each in first.items() if isinstance(each, Mapping)]
    for path, fields in [([], first), *inside]:
        plain = {plain_name(field): field for field in fields}
        known = next((plain[one] for one in ("id", "_id", *ALIASES["doc"]) if one in plain), None)
        if known is not None:
            return ".".join([name, *map(str, path), known])
    return name


def is_of_a_query(found: Mapping[Any, Any]) -> bool:
    """Return whether what stands under a query is no dict of documents: an answer, lists, an error.

    >>> is_of_a_query({"relevant": ["a"], "retrieved": ["b", "a"]}), is_of_a_query({"error": 1.5})
    (True, False)
    """
    # Look-ups take time where this is asked of every query, and no answer has so many fields.
    if len(found) > _MOST_FIELDS or found.keys().isdisjoint(_TELLING):
        return False
    return is_answer(found) or error_in(found) is not None or has_lists(found)


def has_lists(found: Mapping[Any, Any]) -> bool:
    """Return whether what stands under a query are lists of what is relevant, or was retrieved."""
    names = [name for name in (*RELEVANT, *RETRIEVED) if name in found]
    if not names or all(isinstance(each, Mapping) for each in found.values()):
        return False
    return all(
        items_of(each) is not None or (name in names and has_numbers(each))
        for name, each in found.items()
    )


def lists_in(found: Mapping[Any, Any], kind: Kind, where: str) -> Collection[Any]:
    """Return which of the lists under a query is meant; refuse them where none can be.

    >>> lists_in({"relevant": ["a"], "retrieved": ["b", "a"]}, RUN, "run")
    ['b', 'a']
    """
    judged = kind.name == JUDGMENTS.name
    items = first_list(found, RELEVANT if judged else FOUND)
    if items is None:
        raise _meant_for_other([*found], kind, where)
    return items


def documents_in(given: Mapping[Any, Any], kind: Kind) -> Mapping[Any, Any] | None:
    """Return the documents with numbers that a record has in the place of a list; None if it has none.

    >>> documents_in({"query": "q", "relevant": {"a": 3, "b": 1}}, JUDGMENTS)
    {'a': 3, 'b': 1}
    """
    if given.keys().isdisjoint(NAMES):
        return None
    judged = kind.name == JUDGMENTS.name
    found = (given[name] for name in (RELEVANT if judged else RETRIEVED) if name in given)
    documents = next(filter(has_numbers, found), None)
    if documents is None:
        return None
    listed = first_list(given, RELEVANT) is not None if judged else not is_relevant_alone(given)
    return None if listed else documents


def name_of_list(given: Mapping[Any, Any], kind: Kind) -> str:
    """Return the name of the list that judgments or a run take of a record; empty where it has none.

    >>> name_of_list({"question": "q", "relevant": ["x"], "retrieved": ["y"]}, RUN)
    'retrieved'
    """
    names = JUDGED if kind.name == JUDGMENTS.name else BESIDE
    return next((name for name in names if items_of(given.get(name)) is not None), "")


def has_name_of_list(names: Iterable[str]) -> bool:
    """Return whether a column has a name that lists of documents have.

    >>> has_name_of_list(["query", "retrieved"]), has_name_of_list(["query", "doc", "score"])
    (True, False)
    """
    return not NAMES.isdisjoint(names)


def holds_documents(
    record: Mapping[Any, Any], kind: Kind, columns: Mapping[str, str], name: str = ""
) -> bool:
    """Return whether a row of a table has the documents of a query in a list, as records have.

    A row whose lists may be documents, or not, is refused. Messages call the table by its name, or
    by what it was given as.

    >>> holds_documents({"query": "q", "retrieved": ["a"]}, RUN, {})
    True
    """
    asked = asked_columns(kind, columns).get("doc")
    record = with_path(record, asked)
    listed = [name for name in record if items_of(record[name]) is not None]
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


def refuse_list_as_doc(
    record: Mapping[Any, Any], kind: Kind, columns: Mapping[str, str], where: str
) -> None:
    """Refuse a record with a list in the field of the document, which nobody named for a list.

    >>> refuse_list_as_doc({"query": "q", "doc": ["a", "b"]}, RUN, {}, "run, record 1")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run, record 1: expected one document in 'doc', found a list: ['a', 'b']. Write a record for each document. Or say that it holds ranked lists: columns run.doc=doc.
    """
    plain = {plain_name(name): name for name in record if isinstance(name, str)}
    doc = next((plain[one] for one in ALIASES["doc"] if one in plain), None)
    if doc is None or "doc" in asked_columns(kind, columns) or items_of(record[doc]) is None:
        return
    raise InputError(
        where,
        f"one document in {doc!r}",
        f"a list: {shortened(shown(record[doc]))}",
        f"Write a record for each document. Or say that it holds ranked lists: columns {kind.name}.doc={doc}.",
    )


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
    own = RELEVANT if judged else RETRIEVED
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


def refuse_other_list(given: Mapping[Any, Any], kind: Kind, where: str) -> None:
    """Refuse a record of which the list that `hits_in` takes is meant for the other input.

    >>> refuse_other_list({"question": "q", "relevant": ["x"], "contexts": ["y"]}, RUN, "run")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run: expected a list of what was retrieved, found 'relevant', and 'contexts', which may be one. Name its field: columns run.doc=contexts.
    """
    relevant = [name for name in RELEVANT if name in given]
    if kind.name != JUDGMENTS.name:
        if relevant and is_relevant_alone(given):
            refuse_no_list(given, kind, where)
            others = _other_lists(given)
            if others:
                raise _unnamed(where, "a list of what was retrieved", relevant[0], others[0], kind)
            if kind.name == RUN.name:
                raise _meant_for_other(relevant, kind, where)
    elif relevant and first_list(given, RELEVANT) is None:
        expected = f"a list of documents in the field {relevant[0]!r}"
        remedy = f"Write it as a list, or name another field: columns {kind.name}.doc=…."
        raise InputError(where, expected, shown(given[relevant[0]]), remedy)
    elif not relevant and not has_hits_within(given):
        name = name_of_list(given, kind)
        if name in RETRIEVED:
            others = _other_lists(given)
            if others:
                raise _unnamed(where, "a list of what is relevant", name, others[0], kind)
            raise _meant_for_other([name], kind, where)


def refuse_lists(
    record: Mapping[Any, Any], kind: Kind, columns: Mapping[str, str], where: str
) -> None:
    """Refuse a record with a query and lists, of which no name tells that it has documents.

    >>> refuse_lists({"question": "q", "contexts": ["y"]}, RUN, {}, "run.jsonl")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run.jsonl: expected a column for doc, or a list of documents, found only 'question', 'contexts'. Name the field of the list: columns run.doc=contexts; known are hits, matches, retrieved, retrieved_ids, retrieved_docs, retrieved_doc_ids, retrieved_documents, ranking, docs, documents, results, result, nodes, points, value, doc_ids.
    """
    asked, plain = asked_columns(kind, columns), {plain_name(name) for name in record}
    lists = [name for name in record if items_of(record[name]) is not None]
    has = {role: role in asked or bool(plain & {*ALIASES[role]}) for role in ("query", "doc")}
    if lists and has["query"] and not has["doc"]:
        known = (*RELEVANT, *FOUND) if kind.name == JUDGMENTS.name else FOUND
        raise InputError(
            where,
            "a column for doc, or a list of documents",
            f"only {', '.join(map(repr, record))}",
            f"Name the field of the list: columns {kind.name}.doc="
            f"{path_to_ids(lists[0], items_of(record[lists[0]]) or ())}; "
            f"known are {', '.join(known)}.",
        )


def _other_lists(given: Mapping[Any, Any]) -> list[str]:
    """Return the fields of lists whose names do not tell what they have."""
    beside = (numbers_beside(given, name_of_list(given, each), each) for each in (JUDGMENTS, RUN))
    numbers = [found[0] for found in beside if found is not None]
    return [
        name
        for name in given
        if name not in (*BESIDE, *numbers) and items_of(given[name]) is not None
    ]


def _without_list(given: Mapping[Any, Any]) -> list[str]:
    """Return the fields that are named for lists of documents, and hold none, nor a number."""
    if given.keys().isdisjoint(NAMES):
        return []
    # A ranking may be a name, that of a model.
    names = (name for name in (*RELEVANT, *RETRIEVED) if name in given and name != "ranking")
    return [name for name in names if _is_no_list(given[name])]


def _is_no_list(value: Any) -> bool:
    return (
        value is None or isinstance(value, str | Mapping) or value != value
    )  # NaN of a data frame


def _meant_for_other(names: Sequence[str], kind: Kind, where: str) -> InputError:
    judged = kind.name == JUDGMENTS.name
    return InputError(
        where,
        f"a list of what {'is relevant' if judged else 'was retrieved'}",
        f"only {', '.join(map(repr, names))}",
        f"Name it {'relevant' if judged else 'retrieved'}, or give {{query: list}}.",
    )


def _unnamed(where: str, expected: str, found: str, other: str, kind: Kind) -> InputError:
    return InputError(
        where,
        expected,
        f"{found!r}, and {other!r}, which may be one",
        f"Name its field: columns {kind.name}.doc={other}.",
    )
