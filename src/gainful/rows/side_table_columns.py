"""`Role` and `Roles`: the columns of each kind of table next to runs and judgments, as data."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gainful.errors import InputError
from gainful.rows.golden_sets import abstention_rows, nugget_rows, subtopic_rows
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.input_types import Record
from gainful.rows.run_and_judgment_columns import (
    ALIASES,
    find_column,
    no_column,
    place_by_name,
    plain_name,
    refuse_repeated,
)

_SURE = "id"  # a part of the least ambiguous names of id columns
_TITLES = ("title", "headline", "name")
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "query": ("text", "query_text", "question", "utterance", "description", "query", "topic"),
    "doc": ("text", "snippet", "contents", "content", "body", "passage", "abstract", "description",
            "document", "doc", "chunk", "segment"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Role:
    """The contents of one column.

    Attributes:
        name: its name in messages and in the result.
        names: the usual column names, the least ambiguous first, as `plain_name` spells them.
        holds: ids, finite numbers, texts, or labels (anything that can be a dict key).
        truth: whether True and False count as the numbers 1 and 0.
        longest: the number of characters to keep of a text; all if None.
    """

    name: str
    names: tuple[str, ...]
    holds: Literal["id", "number", "text", "label"] = "id"
    truth: bool = False
    longest: int | None = None

    @property
    def noun(self) -> str:
        """The name of one of its ids in messages."""
        return "document" if self.name == "doc" else self.name


@dataclass(frozen=True, slots=True)
class Roles:
    """The contents of a kind of table: all that `read_table` needs to know about it.

    Attributes:
        contents: a description, for messages.
        keys: the ids that identify a row; dicts are nested in this order.
        values: the other columns to read; a dict holds several of them as a tuple.
        other_shape: its form as a dict, for messages, unless it follows from the keys and values.
        optional: values that a table may lack, except for one.
        besides: optional columns, recognised by these names only; dicts don't contain them.
        bare: the role of a single value in a dict, if there are several values.
        others: whether all other columns are kept, by name.
        keys_alone: whether a table may consist of the keys only.
        unnamed: the roles of fields in a file without column names, by the number of fields on a line.
        white_space: whether such fields are separated by white space, as in TREC files.
        prose: whether it contains texts by people: in TSV, a quote within a text is part of it.
        repeats: whether rows may repeat keys: never, only with the same values, or freely.
        unpack: returns the rows in a record of another tool; None for any other record.
        named: the prefix of role names in the caller's `columns`; None if they can't be named.
    """

    contents: str
    keys: tuple[Role, ...]
    values: tuple[Role, ...] = ()
    other_shape: str = ""
    optional: bool = False
    besides: tuple[Role, ...] = ()
    bare: str | None = None
    others: bool = False
    keys_alone: bool = False
    unnamed: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    white_space: bool = False
    prose: bool = False
    repeats: Literal["no", "same", "yes"] = "no"
    unpack: Callable[[Record], Iterator[Record] | None] | None = None
    named: str | None = None

    @property
    def shape(self) -> str:
        """Its form as a dict, for messages.

        >>> SAMPLES.shape, NUGGETS.shape
        ('{query: {doc: (stratum, grade)}}', '{query: {nugget: {doc: support}}}')
        """
        value = self.bare or ", ".join(role.name for role in self.values)
        shape = f"({value})" if "," in value else value
        for role in reversed(self.keys):
            shape = f"{{{role.name}: {shape}}}"
        return self.other_shape or shape

    @property
    def all(self) -> tuple[Role, ...]:
        """The keys and the values."""
        return (*self.keys, *self.values)

    @property
    def least(self) -> str:
        """The minimum contents, for messages."""
        return f"at least one {self.all[-1].noun}"

    @property
    def has_numbers(self) -> bool:
        """Whether any value is a number."""
        return any(role.holds == "number" for role in self.values)

    def hint(self, count: int) -> str:
        """Return a hint about a line with another number of fields, or on how to write the fields."""
        if not self.white_space:
            return ""
        if count == len(RUN.fields):
            return "This looks like a run. Check the order of the arguments."
        return "Write these fields on each line, with blanks or tabs between them."


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a table: their names, and the position of each role, from 0."""

    names: tuple[str, ...]
    places: Mapping[str, int]
    numbered: bool = False

    @property
    def others(self) -> list[tuple[str, int]]:
        """The columns without a role, with their positions."""
        taken = {*self.places.values()}
        return [(name, place) for place, name in enumerate(self.names) if place not in taken]


def find_header(
    names: Sequence[str], roles: Roles, asked: Mapping[str, str], where: str, *, keys: int = 0
) -> Header:
    """Find the column of each role, by the caller's name for it or by a usual one.

    Args:
        names: the column names.
        roles: the kind of table.
        asked: the caller's column names, by role.
        where: the location of the names in messages.
        keys: the number of columns known to be the first keys.

    >>> find_header(["_id", "title", "text", "url"], DOC_TEXTS, {}, "corpus.jsonl").places
    {'doc': 0, 'title': 1, 'text': 2}
    """
    named = [name for name in names[keys:] if name or roles.others]
    refuse_repeated(named, where)
    places = {role.name: place for place, role in enumerate(roles.keys[:keys])}
    for role in (*roles.all[keys:], *roles.besides):
        wanted = None if role in roles.besides else asked.get(role.name)
        taken = {*places.values()}
        place = find_column(role.name, role.names, names, wanted, where, taken=taken)
        usual = place_by_name(role.names, names) if wanted is None and place is None else place
        if usual in taken and names[usual] in asked.values():
            name = names[usual]
            raise InputError(where, "a column for each role", f"{name!r} given for two of them")
        if place is not None:
            places[role.name] = place
        elif role in roles.keys or not (roles.optional or role in roles.besides):
            raise _missing(role, roles, names, wanted, where, places)
    if roles.optional and not any(role.name in places for role in roles.values):
        places[roles.values[-1].name] = _only_other(names, roles, places, where)
    return Header(tuple(names), places)


def looks_like_header(names: Sequence[str], roles: Roles, asked: Mapping[str, str]) -> bool:
    """Return whether the fields of a first line are column names.

    >>> looks_like_header(["qid", "intent", "docno", "rel"], SUBTOPICS, {})
    True
    """
    wanted = {*asked.values()}
    if wanted and wanted <= {*names}:
        return True
    found: set[int] = set()
    for role in roles.all:
        place = None if role.name in asked else place_by_name(role.names, names, found)
        if place is not None:
            found.add(place)
    # In files separated by white space, a single matching name may well be the first id.
    first = not roles.white_space and plain_name(names[0]) in roles.keys[0].names
    return first or len(found) >= min(2, len(roles.all))


def has_value_names_only(names: Sequence[str], roles: Roles) -> bool:
    """Return whether all names are names of values, as in a record without its id.

    >>> has_value_names_only(["title", "text"], DOC_TEXTS), has_value_names_only(["d1"], DOC_TEXTS)
    (True, False)
    """
    known = {name for role in roles.values for name in role.names}
    return bool(names) and {plain_name(name) for name in names} <= known


def _missing(
    role: Role,
    roles: Roles,
    names: Sequence[str],
    wanted: str | None,
    where: str,
    places: Mapping[str, int],
) -> InputError:
    what = f"the id of each {role.noun}" if roles.prose and role in roles.keys else role.name
    option = (
        "" if roles.named is None else f"; or name the column: columns {roles.named}{role.name}=…"
    )
    advice = f"Give it one of these names: {', '.join(role.names)}{option}."
    # With foreign names, four columns may well be query, doc, assessor and grade.
    if len(names) > (3 if role.name == "assessor" else 4):
        advice = f"{advice}{_melting(roles, names, places)}"
    code = "rows.no-column" if len(names) > 1 else "rows.no-header"
    return no_column(what, names, where, wanted, advice="" if wanted else advice, code=code)


def _melting(roles: Roles, names: Sequence[str], places: Mapping[str, int]) -> str:
    """Return how to turn columns of assessors into rows; empty if the table has no such columns."""
    people = [role for role in roles.all if role.name in ("assessor", "grade")]
    if len(people) < 2 or any(place_by_name(role.names, names) is not None for role in people):
        return ""
    ids = [names[place] for place in places.values()]
    columns = [*ids, *(name for name in names if name not in ids)]
    return (
        f" If each assessor has a column, make it a row per assessor, in pandas: table.melt({columns[:2]}, "
        f"value_vars=[{columns[2]!r}, {columns[3]!r}, …], var_name='assessor', value_name='grade').dropna()."
    )


def _only_other(names: Sequence[str], roles: Roles, places: Mapping[str, int], where: str) -> int:
    """Return the position of the only column besides the keys, whatever its name."""
    others = [place for place in range(len(names)) if place not in places.values()]
    if len(others) != 1:
        raise _missing(roles.values[-1], roles, names, None, where, places)
    return others[0]


def _texts(role: str, longest: int | None) -> Roles:
    sure = [alias for alias in ALIASES[role] if _SURE in alias]
    # The least ambiguous names first, since `query` and `doc` may also be the text.
    ids = ("_id", *sure, "id", *(alias for alias in ALIASES[role] if alias not in sure))
    return Roles(
        contents="texts",
        other_shape=f"{{{role}: text}} or {{{role}: (title, text)}}",
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


_QUERY = Role("query", ALIASES["query"])
_DOC = Role("doc", ALIASES["doc"])
_ITEM = Role("item", ALIASES["doc"])
_GRADE = Role("grade", ALIASES["grade"], "number")
_TRUE_GRADE = replace(_GRADE, truth=True)

QUERIES = Roles(
    contents="a table of queries",
    other_shape="{query: value} or {query: {column: value}}",
    keys=(_QUERY,),
    bare="value",
    others=True,
)
"""One row per query: slices, and scores from elsewhere."""
SLICES = replace(QUERIES, named="slices.")
"""One row per query, in a call that accepts column names."""
BOARD = Roles(
    contents="a table of scores",
    other_shape="{query: {run: value}}",
    keys=(Role("query", (*ALIASES["query"], "task", "task_name", "dataset", "benchmark")),),
    others=True,
)
"""One row per query or task, with a column for each run."""
TASKS = replace(QUERIES, keys=BOARD.keys)
"""One row per query or task: the scores of one run."""
QUERY_TEXTS = _texts("query", longest=1201)
DOC_TEXTS = _texts("doc", longest=801)
WHOLE_QUERY_TEXTS = _texts("query", longest=None)
WHOLE_DOC_TEXTS = _texts("doc", longest=None)
"""Texts that are used in full, because a model reads them."""
SENT_QUERY_TEXTS = replace(WHOLE_QUERY_TEXTS, unnamed={2: ("query", "text")})
"""Texts of searches. A third unnamed field may be half of a text that contains a comma."""
PAIRS = Roles(
    contents="queries and documents",
    other_shape="{query: [doc, …]}",
    keys=(_QUERY, _DOC),
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
"""Documents of queries, with any other columns: pools, judgments, lists to grade."""
CHUNKS = Roles(
    contents="a chunk and its document on each line",
    keys=(Role("chunk", ("chunk_id", "chunk", "passage_id", "pid", "segment_id", "segment")),),
    values=(Role("document", ALIASES["doc"]),),
    unnamed={2: ("chunk", "document")},
    white_space=True,
    repeats="same",
)
SAMPLES = Roles(
    contents="samples of pools",
    keys=(_QUERY, _DOC),
    values=(Role("stratum", ("stratum_id", "stratum"), "label"), _GRADE),
    unnamed={5: ("query", "iteration", "doc", "stratum", "grade")},
    white_space=True,
)
ASSESSED = Roles(
    contents="judgments of several assessors",
    keys=(_QUERY, _DOC, Role("assessor", ALIASES["assessor"])),
    values=(_TRUE_GRADE,),
    besides=(Role("role", ("role",), "text"),),
    named="",
)
JUDGED = Roles(
    contents="judgments of grades",
    keys=(_QUERY, _DOC),
    values=(_TRUE_GRADE,),
    besides=(Role("assessor", ALIASES["assessor"], "text"),),
    unnamed={4: ("query", "iteration", "doc", "grade")},
    white_space=True,
    repeats="yes",
    named="",
)
"""Judgments whose grades may be words; the policy decides about repeated documents."""
SUBTOPICS = Roles(
    contents="judgments with subtopics",
    keys=(_QUERY, Role("subtopic", ALIASES["subtopic"]), _DOC),
    values=(_TRUE_GRADE,),
    unnamed={4: ("query", "subtopic", "doc", "grade")},
    white_space=True,
    repeats="yes",
    unpack=subtopic_rows,
    named="",
)
WEIGHTS = Roles(
    contents="weights of subtopics",
    keys=SUBTOPICS.keys[:2],
    values=(Role("weight", ("weight", "probability"), "number"),),
)
NUGGETS = Roles(
    contents="nuggets and the documents that support them",
    keys=(_QUERY, Role("nugget", ("nugget_id", "nugget", "nugget_text")), _DOC),
    values=(
        Role("importance", ("importance",), "text"),
        Role("support", ("support", "assignment"), "text"),
    ),
    optional=True,
    bare="support",
    unpack=nugget_rows,
)
FACTS = Roles(
    contents="nuggets: the facts that an answer needs",
    keys=NUGGETS.keys[:2],
    besides=(Role("importance", ("importance",), "text"),),
    keys_alone=True,
    prose=True,
)
ABSTENTIONS = Roles(
    contents="probabilities that a model abstains",
    keys=(_QUERY, _DOC),
    values=(
        Role(
            "probability",
            (
                "abstention_probability",
                "no_res_prob",
                "p_abstain",
                "abstention",
                "probability",
                "prob",
            ),
            "number",
        ),
    ),
    repeats="same",
    unpack=abstention_rows,
)
CONFIDENCE = Roles(
    contents="the confidence in each query",
    keys=(_QUERY,),
    values=(Role("confidence", ("confidence", "certainty", "score"), "number"),),
)
LENGTHS = Roles(
    contents="the lengths of documents",
    other_shape="{doc: length} or {doc: {column: length}}",
    keys=(_DOC,),
    bare="length",
    others=True,
)
"""One row per document: its words, its characters, and the document that it repeats."""
SESSIONS = Roles(
    contents="the session of each query",
    other_shape="{session: [query, …]} or {query: session}",
    keys=(_QUERY,),
    bare="session",
    others=True,
)
"""One row per query: its session, and its place there."""
ITEMS = Roles(
    contents="a table of items",
    other_shape="{item: category}, {item: [category, …]} or {item: {column: category or list}}",
    keys=(_ITEM,),
    bare="category",
    others=True,
    keys_alone=True,
    repeats="yes",
)
"""The items of a recommender, one row per item, or per category of an item."""
RATINGS = Roles(
    contents="ratings, or other interactions of users with items",
    other_shape="{user: {item: rating}}",
    keys=(Role("user", ALIASES["query"]), _ITEM),
    bare="rating",
    others=True,
    keys_alone=True,
    unnamed={
        2: ("user", "item"),
        3: ("user", "item", "rating"),
        4: ("user", "item", "rating", "time"),
    },
    white_space=True,
    repeats="yes",
)
"""One row per interaction, with columns for a rating and a time, if any."""
VECTORS = Roles(
    contents="a table of vectors",
    other_shape="{item: [number, …]}",
    keys=(_ITEM,),
    bare="number",
    others=True,
)
"""One row per item, with a numeric column for each dimension."""
