"""What the columns of a table beside runs and judgments hold, stated as data, and which holds what.

A `Roles` says all that `read_table` has to know of a kind of table: slices, texts of documents,
chunk maps and so on. A new kind of table is one entry here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gainful.errors import InputError
from gainful.inputs.grades_scores_or_ranks import RUN
from gainful.inputs.run_and_judgment_columns import ALIASES, plain_name, refuse_repeated
from gainful.message_texts import did_you_mean, shortened

_SURE = "id"  # what the surest names of a column of ids have in them
_TITLES = ("title", "headline", "name")
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "query": ("text", "query_text", "question", "utterance", "description", "query", "topic"),
    "doc": ("text", "snippet", "contents", "content", "body", "passage", "abstract", "description",
            "document", "doc", "chunk", "segment"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Role:
    """What one column holds.

    Attributes:
        name: what messages and the result call it.
        names: the usual names of its column, the surest first, as `plain_name` writes them.
        holds: ids, finite numbers, texts, or labels: whatever can be the key of a dict.
        truth: whether True and False count as the numbers 1 and 0.
        longest: the most characters of a text that are kept, if not all.
    """

    name: str
    names: tuple[str, ...]
    holds: Literal["id", "number", "text", "label"] = "id"
    truth: bool = False
    longest: int | None = None

    @property
    def noun(self) -> str:
        """What messages call one of its ids."""
        return "document" if self.name == "doc" else self.name


@dataclass(frozen=True, slots=True)
class Roles:
    """What a kind of table holds.

    Attributes:
        contents: what it is, in a message.
        least: what it must have, in a message.
        shape: how it is written as a dict, in a message.
        keys: the ids that tell its rows apart; dicts are nested by them, in this order.
        values: what else is read; a dict has them in a tuple where there are several.
        optional: the values of which a table may lack all but one.
        besides: what a table may say besides, under these names alone; dicts have none of it.
        bare: what a value in a dict is that stands alone, where there may be several.
        others: whether the other columns are kept, too, by their names.
        keys_alone: whether there may be no other columns.
        unnamed: by the number of fields on a line, what they are where no line names the columns.
        white_space: whether white space stands between such fields, as in TREC files.
        prose: whether it holds texts as people wrote them: a quote within a TSV file is one of them.
        repeats: whether rows may repeat their keys: never, with the same values, or as they like.
        named: what stands before the name of a role where callers name its columns, by `columns`;
            None where they cannot.
    """

    contents: str
    least: str
    shape: str
    keys: tuple[Role, ...]
    values: tuple[Role, ...] = ()
    optional: bool = False
    besides: tuple[Role, ...] = ()
    bare: str | None = None
    others: bool = False
    keys_alone: bool = False
    unnamed: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    white_space: bool = False
    prose: bool = False
    repeats: Literal["no", "same", "yes"] = "no"
    named: str | None = None

    @property
    def all(self) -> tuple[Role, ...]:
        """The keys and the values."""
        return (*self.keys, *self.values)

    @property
    def has_numbers(self) -> bool:
        """Whether one of the values is a number."""
        return any(role.holds == "number" for role in self.values)

    def hint(self, count: int) -> str:
        """Say what a line of another number of fields looks like, or how fields are written."""
        if not self.white_space:
            return ""
        if count == len(RUN.fields):
            return "This looks like a run: give each file as what it is."
        return "Write these fields on each line, with blanks or tabs between them."


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a table: their names, and the place of each role among them, from 0."""

    names: tuple[str, ...]
    places: Mapping[str, int]
    numbered: bool = False

    @property
    def others(self) -> list[tuple[str, int]]:
        """The columns without a role, with their places."""
        taken = {*self.places.values()}
        return [(name, place) for place, name in enumerate(self.names) if place not in taken]


def find_header(
    names: Sequence[str], roles: Roles, asked: Mapping[str, str], where: str, *, keys: int = 0
) -> Header:
    """Find the column of each role: the one that is asked for, or one of a usual name.

    Args:
        names: of the columns.
        roles: what they hold.
        asked: names of columns by role, as a caller gives them.
        where: what messages call the place of the names.
        keys: how many columns are known to be the first keys.

    >>> find_header(["_id", "title", "text", "url"], DOC_TEXTS, {}, "corpus.jsonl").places
    {'doc': 0, 'title': 1, 'text': 2}
    """
    named = [name for name in names[keys:] if name or roles.others]
    refuse_repeated(named, where)
    places = {role.name: place for place, role in enumerate(roles.keys[:keys])}
    for role in roles.all[keys:]:
        place = _find(role, names, asked, {*places.values()}, where)
        if place is not None:
            places[role.name] = place
        elif role in roles.keys or not roles.optional:
            raise _missing(role, roles, names, asked, where)
    for role in roles.besides:
        place = _find(role, names, {}, {*places.values()}, where)
        if place is not None:
            places[role.name] = place
    taken = [*places.values()]
    twice = [place for place in taken if taken.count(place) > 1]
    if twice:
        raise _given_twice(names[twice[0]], roles, where)
    if roles.optional and not any(role.name in places for role in roles.values):
        places[roles.values[-1].name] = _only_other(names, roles, places, where)
    return Header(tuple(names), places)


def looks_like_header(names: Sequence[str], roles: Roles, asked: Mapping[str, str]) -> bool:
    """Return whether the fields of a first line are names of columns, and no row.

    >>> looks_like_header(["qid", "intent", "docno", "rel"], SUBTOPICS, {})
    True
    """
    wanted = {*asked.values()}
    if wanted and wanted <= {*names}:
        return True
    found: set[int] = set()
    for role in roles.all:
        place = None if role.name in asked else _place(role, names, found)
        if place is not None:
            found.add(place)
    # Where white space separates fields, a name alone may well be the first id.
    first = not roles.white_space and plain_name(names[0]) in roles.keys[0].names
    return first or len(found) >= min(2, len(roles.all))


def has_value_names_only(names: Sequence[str], roles: Roles) -> bool:
    """Return whether all names are those of values: of a record that lacks its id.

    >>> has_value_names_only(["title", "text"], DOC_TEXTS), has_value_names_only(["d1"], DOC_TEXTS)
    (True, False)
    """
    known = {name for role in roles.values for name in role.names}
    return bool(names) and {plain_name(name) for name in names} <= known


def _find(
    role: Role, names: Sequence[str], asked: Mapping[str, str], taken: set[int], where: str
) -> int | None:
    if role.name in asked:
        return names.index(asked[role.name]) if asked[role.name] in names else None
    place = _place(role, names, taken)
    if place is None:
        return None
    alike = [name for name in names if plain_name(name) == plain_name(names[place])]
    if len(alike) > 1:
        raise InputError(
            where,
            f"one column {names[place]!r} for {role.name}",
            f"{len(alike)}: {', '.join(map(repr, alike))}",
            "Rename one.",
        )
    return place


def _place(role: Role, names: Sequence[str], taken: set[int]) -> int | None:
    plain = ["" if place in taken else plain_name(name) for place, name in enumerate(names)]
    return next((plain.index(name) for name in role.names if name in plain), None)


def _missing(
    role: Role, roles: Roles, names: Sequence[str], asked: Mapping[str, str], where: str
) -> InputError:
    wanted, place = asked.get(role.name), _place(role, names, set())
    if wanted is None and place is not None and names[place] in asked.values():
        return _given_twice(names[place], roles, where)
    what = f"the id of each {role.noun}" if roles.prose and role in roles.keys else role.name
    return InputError(
        where,
        f"a column for {what}" if wanted is None else f"the column {wanted!r} for {what}",
        shortened("only " + ", ".join(map(repr, names))),
        f"Give it one of these names: {', '.join(role.names)}{_or_say(role, roles)}."
        if wanted is None
        else did_you_mean(wanted, names),
    )


def _or_say(role: Role, roles: Roles) -> str:
    """Return the advice to name a column, where a caller can."""
    if roles.named is None:
        return ""
    return f"; or say which it is: columns {roles.named}{role.name}=…"


def _given_twice(name: str, roles: Roles, where: str) -> InputError:
    count = {2: "two", 3: "three", 4: "four"}.get(len(roles.all), str(len(roles.all)))
    return InputError(where, f"{count} columns", f"{name!r} given for two of them")


def _only_other(names: Sequence[str], roles: Roles, places: Mapping[str, int], where: str) -> int:
    """Return the only column beside the keys, which needs no usual name."""
    others = [place for place in range(len(names)) if place not in places.values()]
    if len(others) != 1:
        last = roles.values[-1].name
        raise InputError(
            where,
            f"a column for the {last}",
            shortened(", ".join(map(repr, names))),
            f"Give it one of these names: {', '.join(n for r in roles.values for n in r.names)}.",
        )
    return others[0]


def _texts(role: str, longest: int | None) -> Roles:
    sure = [alias for alias in ALIASES[role] if _SURE in alias]
    # The surest first: `query` and `doc` may also be the text.
    ids = ("_id", *sure, "id", *(alias for alias in ALIASES[role] if alias not in sure))
    return Roles(
        contents="texts",
        least="at least one text",
        shape=f"{{{role}: text}} or {{{role}: (title, text)}}",
        keys=(Role(role, ids),),
        values=(
            Role("title", _TITLES, "text", longest=longest),
            Role("text", _TEXTS[role], "text", longest=longest),
        ),
        optional=True,
        bare="text",
        unnamed={2: (role, "text"), 3: (role, "title", "text")},
        prose=True,
        repeats="same",
    )


QUERIES = Roles(
    contents="a table of queries",
    least="at least one query",
    shape="{query: value} or {query: {column: value}}",
    keys=(Role("query", ALIASES["query"]),),
    bare="value",
    others=True,
)
"""One row for each query: slices, and scores that come from elsewhere."""
SLICES = replace(QUERIES, named="slices.")
"""One row for each query, in a call that takes names of columns."""
BOARD = Roles(
    contents="a table of scores",
    least="at least one query, or task",
    shape="{query: {run: value}}",
    keys=(Role("query", (*ALIASES["query"], "task", "task_name", "dataset", "benchmark")),),
    others=True,
)
"""One row for each query, or task, and a column for each run."""
TASKS = replace(QUERIES, keys=BOARD.keys)
"""One row for each query, or task: the scores of one run."""
QUERY_TEXTS = _texts("query", longest=1201)
DOC_TEXTS = _texts("doc", longest=801)
WHOLE_QUERY_TEXTS = _texts("query", longest=None)
WHOLE_DOC_TEXTS = _texts("doc", longest=None)
"""Texts that are more than looked at: a model reads them."""
SENT_QUERY_TEXTS = replace(WHOLE_QUERY_TEXTS, unnamed={2: ("query", "text")})
"""Texts that are searched for: a third field that nobody has named may be half of a text with a comma in it."""
PAIRS = Roles(
    contents="queries and documents",
    least="at least one query and document",
    shape="{query: [doc, …]}",
    keys=(Role("query", ALIASES["query"]), Role("doc", ALIASES["doc"])),
    others=True,
    keys_alone=True,
    unnamed={
        2: ("query", "doc"),
        4: ("query", "iteration", "doc", "grade"),
        6: ("query", "iteration", "doc", "rank", "score", "tag"),
    },
    white_space=True,
    repeats="yes",
)
"""Documents of queries, with whatever stands beside them: pools, judgments, lists to grade."""
CHUNKS = Roles(
    contents="a chunk and its document on each line",
    least="at least one chunk",
    shape="{chunk: document}",
    keys=(Role("chunk", ("chunk_id", "chunk", "passage_id", "pid", "segment_id", "segment")),),
    values=(Role("document", ALIASES["doc"]),),
    unnamed={2: ("chunk", "document")},
    white_space=True,
    repeats="same",
)
SAMPLES = Roles(
    contents="samples of pools",
    least="at least one sampled document",
    shape="{query: {doc: (stratum, grade)}}",
    keys=(Role("query", ALIASES["query"]), Role("doc", ALIASES["doc"])),
    values=(
        Role("stratum", ("stratum_id", "stratum"), "label"),
        Role("grade", ALIASES["grade"], "number"),
    ),
    unnamed={5: ("query", "iteration", "doc", "stratum", "grade")},
    white_space=True,
)
ASSESSED = Roles(
    contents="judgments of several assessors",
    least="at least one judged document",
    shape="{query: {doc: {assessor: grade}}}",
    keys=(
        Role("query", ALIASES["query"]),
        Role("doc", ALIASES["doc"]),
        Role("assessor", ALIASES["assessor"]),
    ),
    values=(Role("grade", ALIASES["grade"], "number", truth=True),),
    besides=(Role("role", ("role",), "text"),),
    named="",
)
SUBTOPICS = Roles(
    contents="judgments with subtopics",
    least="at least one judged document",
    shape="{query: {subtopic: {doc: grade}}}",
    keys=(
        Role("query", ALIASES["query"]),
        Role("subtopic", ALIASES["subtopic"]),
        Role("doc", ALIASES["doc"]),
    ),
    values=(Role("grade", ALIASES["grade"], "number", truth=True),),
    unnamed={4: ("query", "subtopic", "doc", "grade")},
    white_space=True,
    repeats="yes",
    named="",
)
ITEMS = Roles(
    contents="a table of items",
    least="at least one item",
    shape="{item: category}, {item: [category, …]} or {item: {column: category}}",
    keys=(Role("item", ALIASES["doc"]),),
    bare="category",
    others=True,
    keys_alone=True,
    repeats="yes",
)
"""The items of a recommender: a row for each, or one for each category of an item."""
VECTORS = Roles(
    contents="a table of vectors",
    least="at least one vector",
    shape="{item: [number, …]}",
    keys=(Role("item", ALIASES["doc"]),),
    bare="number",
    others=True,
)
"""One row for each item, and a column of numbers for each dimension."""
