"""Which column of a table holds the query, the doc and the number."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from gainful.errors import InputError, did_you_mean, shown
from gainful.inputs.kinds import JUDGMENTS, RUN, SUBTOPICS, Kind, mistaken

# The names in use, the surest first: a table may have the text of a query beside its id.
# They are compared in lower case, with _ for blanks and hyphens.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "query": ("query_id", "qid", "q_id", "queryid", "topic_id", "user_id", "query", "topic", "user"),
    "doc": (
        "doc_id", "docno", "docid", "did", "document_id", "corpus_id", "item_id", "passage_id",
        "pid", "chunk_id", "doc", "document", "item",
    ),
    "grade": ("grade", "relevance", "rel", "label", "target", "score", "rating"),
    "score": ("score", "prediction", "pred", "sim", "similarity", "rating"),
    "subtopic": ("subtopic_id", "subtopic", "intent_id", "intent", "facet_id", "facet", "iteration"),
}  # fmt: skip

_KEYS = ("query", "doc", "grade", "score", *(
    f"{kind.name}.{role}" for kind in (JUDGMENTS, RUN) for role in ("query", "doc", kind.number)
))  # fmt: skip
_PARTS = (f"{SUBTOPICS.part}", f"{SUBTOPICS.name}.{SUBTOPICS.part}")


def read_columns(columns: object, *, parts: bool = False) -> dict[str, str]:
    """Check the names of columns that a caller gives; with `parts`, of subtopics too.

    >>> read_columns({"query": "user", "run.doc": "item"})
    {'query': 'user', 'run.doc': 'item'}
    """
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise InputError("columns", "a dict such as {'query': 'user'}", shown(columns))
    keys = (*_KEYS, *_PARTS) if parts else _KEYS
    for key, name in columns.items():
        if key not in keys:
            raise InputError("columns", "a key", f"{key!r}", did_you_mean(key, keys))
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise InputError(f"columns, {key}", "the name of a column", shown(name))
    return {key: str(name) for key, name in columns.items()}


def looks_like_header(names: Sequence[str], kind: Kind, given: Mapping[str, str]) -> bool:
    """Return whether these are names of columns rather than data."""
    found = [_find(role, names, kind, given) for role in ("query", "doc", kind.number)]
    return None not in found[:2] or found.count(None) <= 1


def refuse_ids(
    where: str, columns: Sequence[tuple[str, str]], roles: Mapping[str, int], known: Container[str]
) -> None:
    """Refuse columns whose type is none of ids.

    Args:
        where: the table.
        columns: name and type of each; of a type such as DECIMAL(9,2) the word counts.
        roles: what a column holds the ids of → its place.
        known: the types that ids have.

    >>> refuse_ids("run", [("q", "FLOAT")], {"query": 0}, {"VARCHAR"})
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run, column 'q': expected strings (or integers) as ids for query, found values of type FLOAT. Make the ids strings first.
    """
    for role, place in roles.items():
        name, type_ = columns[place]
        if type_.split("(")[0] not in known:
            raise InputError(
                f"{where}, column {name!r}",
                f"strings (or integers) as ids for {role}",
                f"values of type {type_}",
                "Make the ids strings first.",
            )


def refuse_numbers(where: str, column: tuple[str, str], kind: Kind, known: Container[str]) -> None:
    """Refuse a column, name and type, that cannot hold the grades or scores of a table."""
    name, type_ = column
    if type_.split("(")[0] not in known:
        raise InputError(
            f"{where}, column {name!r}", f"numbers as {kind.number}", f"values of type {type_}"
        )


def find_columns(
    names: Sequence[str], kind: Kind, given: Mapping[str, str], where: str
) -> tuple[int, int, int]:
    """Return the places, from 0, of query, doc and number among the columns of a table.

    >>> find_columns(["query-id", "corpus-id", "score"], JUDGMENTS, {}, "qrels.tsv")
    (0, 1, 2)
    """
    query, doc, number = (
        _place(role, names, kind, given, where) for role in ("query", "doc", kind.number)
    )
    if len({query, doc, number}) < len(kind.places):
        raise InputError(where, "three columns", f"{names[query]!r} given for two of them")
    return query, doc, number


def find_part(names: Sequence[str], kind: Kind, given: Mapping[str, str], where: str) -> int | None:
    """Return the place, from 0, of the part of a query that a row belongs to, if rows do.

    >>> find_part(["query", "intent", "doc", "grade"], SUBTOPICS, {}, "qrels.tsv")
    1
    """
    if kind.part is None:
        return None
    place = _place(kind.part, names, kind, given, where)
    if place in find_columns(names, kind, given, where):
        raise InputError(where, "four columns", f"{names[place]!r} given for two of them")
    return place


def _place(
    role: str, names: Sequence[str], kind: Kind, given: Mapping[str, str], where: str
) -> int:
    asked = _given(role, kind, given)
    place = _find(role, names, kind, given)
    if place is None:
        raise InputError(
            where,
            f"the column {asked!r} for {role}" if asked else f"a column for {role}",
            "only " + ", ".join(map(repr, names)),
            did_you_mean(asked, names) if asked else _remedy(role, names),
        )
    if names.count(names[place]) > 1:
        raise InputError(
            where, f"one column {names[place]!r} for {role}", f"{names.count(names[place])}"
        )
    return place


def _remedy(role: str, names: Sequence[str]) -> str:
    plain = [_plain(name) for name in names]
    if role == RUN.number and any(alias in plain for alias in ALIASES[JUDGMENTS.number]):
        return mistaken(JUDGMENTS, given=RUN)
    return f"Read are {', '.join(ALIASES[role])}; or name it: columns {role}=…."


def find_rank(names: Sequence[str]) -> int | None:
    """Return the place of a column of ranks, if there is one."""
    plain = [_plain(name) for name in names]
    return plain.index("rank") if "rank" in plain else None


def _given(role: str, kind: Kind, given: Mapping[str, str]) -> str | None:
    return given.get(f"{kind.name}.{role}", given.get(role))


def _find(role: str, names: Sequence[str], kind: Kind, given: Mapping[str, str]) -> int | None:
    asked = _given(role, kind, given)
    if asked is not None:
        return names.index(asked) if asked in names else None
    plain = [_plain(name) for name in names]
    return next((plain.index(alias) for alias in ALIASES[role] if alias in plain), None)


def _plain(name: Any) -> str:
    return str(name).strip().casefold().replace("-", "_").replace(" ", "_")
