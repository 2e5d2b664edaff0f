"""Find the columns of a table that hold the query, the doc and the number."""

import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gainful.errors import InputError, warn
from gainful.message_texts import did_you_mean, shortened, shown
from gainful.rows.files import BYTE_ORDER_MARK, opened, path_of
from gainful.rows.grades_scores_or_ranks import (
    DISTANCES,
    FOUND_RANKS,
    HISTORY,
    JUDGMENTS,
    RANKS,
    RUN,
    UNCOUNTED_ROWS,
    UNGRADED_ROWS,
    GradeWords,
    Kind,
    mistaken,
    read_grade_words,
)
from gainful.rows.identifiers import id_text

# Usual names, the least ambiguous first, since a table may contain both the text and the id of a query.
# Names are compared in lower case, with _ for blanks and hyphens.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "query": (
        "query_id", "qid", "q_id", "queryid", "topic_id", "question_id", "user_id", "query", "topic",
        "user", "search_term", "keyword", "keywords", "question", "userid",
    ),
    "doc": (
        "doc_id", "docno", "docid", "did", "document_id", "corpus_id", "item_id", "product_id",
        "passage_id", "pid", "chunk_id", "article_id", "movie_id", "sku", "asin", "doc", "document",
        "item", "product", "url", "itemid", "movieid",
    ),
    "grade": (
        "grade", "relevance", "rel", "label", "esci_label", "target", "relevancy", "judgment",
        "judgement", "relevant", "score", "rating", "stars",
    ),
    "score": ("score", "prediction", "pred", "sim", "similarity", "rating"),
    "rank": ("rank", "position", "pos"),
    "count": (
        "count", "counts", "times", "frequency", "interactions", "plays", "listens", "views", "clicks",
        "purchases",
    ),
    "assessor": (
        "assessor_id", "annotator_id", "judge_id", "rater_id", "worker_id", "assessor", "annotator",
        "judge", "rater", "worker",
    ),
    "subtopic": ("subtopic_id", "subtopic", "intent_id", "intent", "facet_id", "facet", "iteration"),
}  # fmt: skip

_NUMBERS = {
    JUDGMENTS.name: (JUDGMENTS.number,),
    RUN.name: (RUN.number, RANKS.number),
    HISTORY.name: (HISTORY.number,),
}
_ASSESSOR = "assessor"
_RECBOLE_TYPES = ("token", "float", "token_seq", "float_seq")
SLICES_QUERY = "slices.query"
"""The key that names the column of queries in a table of slices."""
PASSAGE_ROLES = ("text", "start", "end", "group")
"""The columns of passages and chunks, besides those of all judgments and runs."""
_SHARED = ("query", "doc", "grade", "score", "rank", "count", _ASSESSOR, "subtopic")
_KEYS = (
    *_SHARED,
    *(f"{kind}.{role}" for kind, roles in _NUMBERS.items() for role in ("query", "doc", *roles)),
    *(f"{JUDGMENTS.name}.{role}" for role in (_ASSESSOR, "subtopic")),
    *(f"{kind}.{role}" for kind in (JUDGMENTS.name, RUN.name) for role in PASSAGE_ROLES),
    *("items.doc", "vectors.doc", SLICES_QUERY),
)
_IDS_ALONE = 2  # columns of a table without numbers
NO_COLUMN = -1
"""The position of the number in a table without a column of numbers."""

_EVENTS = ("event", "event_type", "event_name", "action")  # may be worth more or less
# Columns besides query and doc that cannot be grades.
_NO_GRADES = frozenset(
    [
        "timestamp", "time", "date", "datetime", "ts", "created_at", "session", "session_id",
        *_EVENTS, "iteration", "title", "name", "text", "description", "category",
    ]
)  # fmt: skip


class Columns(dict[str, str]):
    """Column names by role, which remember whether an input had such a column.

    They also carry the query ids of a list of lists, the rule that merges the grades of several
    assessors, and the grades of words.

    >>> columns = Columns({"query": "user"})
    >>> find_columns(["user", "doc", "score"], RUN, columns, "run.csv")
    (0, 1, 2)
    >>> columns.refuse_unused()
    """

    def __init__(
        self,
        names: Mapping[str, str] | None = None,
        queries: Sequence[object] | None = None,
        assessors: object = None,
        grade_words: GradeWords | None = None,
    ) -> None:
        super().__init__(names or {})
        self._used: set[str] = set()
        self._options = {"queries": queries, "assessors": assessors, "grade_words": grade_words}

    def option(self, name: str) -> Any:
        """Return the query ids for a list of lists, the rule that merges grades, or the grades of words.

        None if not given. The name is queries, assessors or grade_words.
        """
        self._used.add(name)
        return self._options[name]

    def use(self, role: str, kind: Kind) -> None:
        """Record that an input of a kind had the column for a role."""
        self._used.add(_key(role, kind, self))

    def is_used(self, role: str, kind: Kind) -> bool:
        """Return whether an input of a kind had the column for a role."""
        return _key(role, kind, self) in self._used

    def item_key(self, table: str) -> str:
        """Return the key of the caller's name for the id column in a table of items."""
        own = f"{table}.doc"
        return own if own in self else "doc"

    def use_key(self, key: str) -> None:
        """Record that an input had the column of a key."""
        self._used.add(key)

    def refuse_unused(self) -> None:
        """Reject a name that no input used, because its input was read in another way."""
        lists = "a list of lists, or responses of a search, that lack the ids of their queries"
        for name, expected in (
            ("queries", lists),
            ("assessors", "judgments, whose grades become one"),
            ("grade_words", "judgments, whose grades may be words"),
        ):
            if self._options[name] is not None and name not in self._used:
                raise InputError(name, expected, "none", "Leave it out.")
        for key, name in self.items():
            if key not in self._used:
                raise InputError(
                    f"columns, {key}",
                    f"an input with columns, including {name!r}",
                    "none",
                    "Leave it out: dicts, JSON of their shape, labels with qid: and predictions "
                    "have no columns.",
                )


def read_columns(
    columns: object,
    queries: object = None,
    assessors: object = None,
    grade_words: object = None,
) -> Columns:
    """Check the caller's column names; names that were checked before are returned unchanged.

    Args:
        columns: column names by role.
        queries: the query ids for a list of lists, or the path of a file with one id per line.
        assessors: the rule that merges the grades of several assessors.
        grade_words: the grades of words, as a dict, a string or the name of a preset.

    >>> read_columns({"query": "user", "run.doc": "item"})
    {'query': 'user', 'run.doc': 'item'}
    """
    if isinstance(columns, Columns):
        return columns
    ids = _read_queries(queries)
    words = None if grade_words is None else read_grade_words(grade_words)
    if columns is None:
        return Columns(queries=ids, assessors=assessors, grade_words=words)
    if not isinstance(columns, Mapping):
        raise InputError("columns", "a dict such as {'query': 'user'}", shown(columns))
    for key, name in columns.items():
        if key not in _KEYS:
            raise InputError("columns", "a key", f"{key!r}", did_you_mean(key, _KEYS))
        ungraded = name is None and key.rpartition(".")[2] == JUDGMENTS.number
        if not ungraded and (not isinstance(name, str | int) or isinstance(name, bool)):
            raise InputError(f"columns, {key}", "the name of a column", shown(name))
    both = [key for key in columns if key.rpartition(".")[2] in _NUMBERS[RUN.name]]
    if len({key.rpartition(".")[2] for key in both}) > 1:
        raise InputError(
            "columns",
            "either a score or a rank to order the run",
            f"both, {' and '.join(both)}",
            "Leave one of them out.",
        )
    names = {key: "" if name is None else str(name) for key, name in columns.items()}
    return Columns(names, ids, assessors, words)


def columns_in(options: Mapping[str, object]) -> Columns:
    """Read the column names in `ReadingOptions`, with the options about judgments that they carry.

    >>> columns_in({"grade_words": "Good=1,Bad=0"}).option("grade_words").grade("good")
    1.0
    """
    about = (options.get(name) for name in ("columns", "queries", "assessors", "grade_words"))
    return read_columns(*about)


def _read_queries(queries: object) -> list[object] | None:
    """Return query ids in the order of a list of lists, unchanged."""
    if queries is None:
        return None
    if isinstance(queries, str | os.PathLike):
        return _ids_in_file(path_of(queries))
    if isinstance(queries, bytes | Mapping) or not isinstance(queries, Iterable):
        raise InputError("queries", "a list of ids, or a file of them", shown(queries))
    ids = list(queries)
    for place, query in enumerate(ids, 1):
        id_text(query, where=f"queries, item {place}")
    return ids


def _ids_in_file(name: str) -> list[object]:
    with opened(name) as file:
        lines = file.read().removeprefix(BYTE_ORDER_MARK).splitlines()
    try:
        return [line.decode().strip() for line in lines if line.strip()]
    except UnicodeDecodeError:
        raise InputError(name, "UTF-8 text", "invalid bytes") from None


def asked_columns(
    kind: Kind, columns: Mapping[str, str], *, also: Sequence[str] = ()
) -> dict[str, str]:
    """Return the caller's column names for a kind, by role, including the roles that `also` names.

    >>> asked_columns(RUN, {"query": "user", "grade": "stars", "run.rank": "place"})
    {'query': 'user', 'rank': 'place'}
    """
    if not columns:
        return {}
    roles = ("query", "doc", *_NUMBERS[kind.name], *also)
    named = {role: _asked(role, kind, columns) for role in roles}
    return {role: name for role, name in named.items() if name}


def assessor_in(names: Sequence[str], columns: Mapping[str, str]) -> str:
    """Return the name of the column of assessors; empty without one.

    >>> assessor_in(["query", "doc", "Annotator", "grade"], {})
    'Annotator'
    >>> assessor_in(["query", "doc", "Bewerter", "grade"], {"judgments.assessor": "Bewerter"})
    'Bewerter'
    """
    asked = _asked(_ASSESSOR, JUDGMENTS, columns)
    if asked in names:
        return str(asked)
    place = place_by_name(ALIASES[_ASSESSOR], names)
    return "" if place is None else names[place]


def kind_by_columns(names: Sequence[str], kind: Kind, columns: Mapping[str, str]) -> Kind:
    """Return the kind of a table: a run without scores has ranks.

    Rows of judgments have grade 1 if no column holds grades, or could.

    A column named rank may still hold scores, as in PostgreSQL's full-text search, so ranks must be
    integers unless the caller named their column.

    >>> kind_by_columns(["query", "doc", "position"], RUN, {}) is FOUND_RANKS
    True
    >>> kind_by_columns(["query", "doc", "position"], RUN, {"rank": "position"}) is RANKS
    True
    >>> kind_by_columns(["query", "doc", "distance"], RUN, {"rank": "distance"}) is DISTANCES
    True
    >>> kind_by_columns(["query", "doc", "rank", "score"], RUN, {}) is RUN
    True
    """
    if kind is JUDGMENTS:
        if not _has_no_grade(names, columns):
            return kind
        if _asked(JUDGMENTS.number, JUDGMENTS, columns) is not None:
            return replace(UNGRADED_ROWS, assumed=False)
        event = next((one for one in names if plain_name(one) in _EVENTS), "")
        return replace(UNGRADED_ROWS, ignored=event) if event else UNGRADED_ROWS
    if kind is HISTORY:  # any other column may accompany user and item
        counted = _find(HISTORY.number, names, kind, columns) is not None
        counted = counted or _asked(HISTORY.number, kind, columns) is not None
        return kind if counted else UNCOUNTED_ROWS
    if kind is not RUN or _asked(RUN.number, kind, columns) is not None:
        return kind
    asked = _asked(RANKS.number, kind, columns)
    if asked is not None:
        return DISTANCES if is_name_of_distances(asked) else RANKS
    has = [_find(role, names, kind, columns) is not None for role in _NUMBERS[RUN.name]]
    return FOUND_RANKS if has == [False, True] else RUN


def _has_no_grade(names: Sequence[str], columns: Mapping[str, str]) -> bool:
    asked = _asked(JUDGMENTS.number, JUDGMENTS, columns)
    if asked is not None or _find(JUDGMENTS.number, names, JUDGMENTS, columns) is not None:
        return asked == ""
    ids = [_find(role, names, JUDGMENTS, columns) for role in ("query", "doc")]
    others = [name for place, name in enumerate(names) if place not in ids]
    return None not in ids and {plain_name(name) for name in others} <= _NO_GRADES


def number_after_none(
    names: Iterable[str], ids: Container[str], kind: Kind, first: str
) -> tuple[str, str, str] | None:
    """Return the error parts if a row has a number, or a candidate for one, although the first row has none.

    They are the expected and the actual value, and advice; None if the row has no number either.

    Args:
        names: the fields of the row.
        ids: the fields of the query and the doc.
        kind: the kind of the rows, as inferred from the first one.
        first: the name of the first row in messages.

    >>> expected, found, remedy = number_after_none(["q", "d", "Rel"], ["q", "d"], UNGRADED_ROWS, "line 1")
    >>> expected, found
    ('a grade in every row, or in none as in line 1', "'Rel'")
    """
    if not kind.assumed:
        return None
    number = kind.number
    others = {plain_name(name): name for name in names if isinstance(name, str) and name not in ids}
    extra = next((repr(others[one]) for one in ALIASES[number] if one in others), None)
    if extra is None and kind.name == JUDGMENTS.name:
        unknown = (name for plain, name in others.items() if plain not in _NO_GRADES)
        extra = next((f"{name!r}, which may be one" for name in unknown), None)
    if extra is None:
        return None
    remedy = f"Give every row a {number}, or leave it out of all."
    if kind.name == JUDGMENTS.name:
        remedy += f" Or declare that no column counts, with columns {number}= (None in Python): every row then has {number} 1."
    return f"a {number} in every row, or in none as in {first}", extra, remedy


def looks_like_header(names: Sequence[str], kind: Kind, columns: Mapping[str, str]) -> bool:
    """Return whether these are column names rather than data."""
    asked = set(asked_columns(kind, columns).values())
    if asked <= {*names} and not asked <= {*kind.fields}:
        return True
    kind = kind_by_columns(names, kind, columns)
    places = [_find(role, names, kind, columns) for role in ("query", "doc", kind.number)]
    return None not in places[:2] or places.count(None) <= 1


def refuse_ids(
    where: str, described: Sequence[tuple[str, str]], ids: Mapping[str, int], types: Container[str]
) -> None:
    """Reject columns of a type that ids can't have.

    Args:
        where: the location of the table in messages.
        described: name and type of each column; only the word counts in types such as DECIMAL(9,2).
        ids: the positions of id columns, by role.
        types: the types that ids can have.

    >>> refuse_ids("run", [("q", "FLOAT")], {"query": 0}, {"VARCHAR"})
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run, column 'q': expected strings (or integers) as ids for query, found values of type FLOAT. Make the ids strings first.
    """
    for role, place in ids.items():
        expected = f"strings (or integers) as ids for {role}"
        refuse_type(where, described[place], expected, types, "Make the ids strings first.")


def refuse_type(
    where: str, column: tuple[str, str], expected: str, types: Container[str], remedy: str = ""
) -> None:
    """Reject a column (name and type) whose type isn't among the types that its role can have."""
    name, type_ = column
    if type_.split("(")[0] not in types:
        raise InputError(f"{where}, column {name!r}", expected, f"values of type {type_}", remedy)


def no_rank(where: str, query: str, doc: str, rank: float) -> InputError:
    """Return the error for a number that isn't a rank, in a column that was taken for ranks."""
    return InputError(
        where,
        "whole numbers from 1 (or 0), because the name of the column suggests ranks",
        f"{rank!r} for document {doc!r} of query {query!r}",
        "Name the column: columns rank=… if the lowest is the best, score=… if the highest is.",
    )


def rank_again(where: str, query: str, rank: float, docs: tuple[str, str]) -> InputError:
    """Return the error for two documents of a query with the same rank."""
    return InputError(
        where,
        "a different rank for each document of a query",
        f"rank {rank:g} for {docs[0]!r} and {docs[1]!r} of query {query!r}",
        "Correct the ranks. Scores may be equal (columns score=…), as may the distances in a "
        "column named distance.",
    )


def find_columns(
    names: Sequence[str], kind: Kind, columns: Mapping[str, str], where: str
) -> tuple[int, int, int]:
    """Return the positions, from 0, of query, doc and number among the columns of a table.

    `kind_by_columns` determines the kind of number; the position is `NO_COLUMN` for rows without a number.

    >>> find_columns(["query-id", "corpus-id", "score"], JUDGMENTS, {}, "qrels.tsv")
    (0, 1, 2)
    """
    query, doc = (_place(role, names, kind, columns, where) for role in ("query", "doc"))
    if kind.implied is None:
        number = _place(kind.number, names, kind, columns, where)
    else:
        number = NO_COLUMN
        if _asked(kind.number, kind, columns) is not None and isinstance(columns, Columns):
            columns.use(kind.number, kind)
    if len({query, doc, number}) < len(kind.places):
        raise InputError(where, "three columns", f"{names[query]!r} given for two of them")
    return query, doc, number


def _place(
    role: str, names: Sequence[str], kind: Kind, columns: Mapping[str, str], where: str
) -> int:
    asked = _asked(role, kind, columns)
    place = find_column(role, ALIASES[role], names, asked, where, option=f"columns {role}=…")
    if place is None:
        if asked:
            raise no_column(role, names, where, asked, advice=for_other_side(kind, columns))
        swapped = _swapped(role, names, kind)
        code = "input.swapped" if swapped else "rows.no-column"
        raise no_column(role, names, where, advice=swapped or _remedy(role, names, kind), code=code)
    if asked is not None and isinstance(columns, Columns):
        if role == RUN.number and is_name_of_distances(asked) and not columns.is_used(role, kind):
            warn(
                f"{where}: {asked!r} is read as scores, where higher is better. For distances, where "
                f"lower is better, set columns rank={asked}."
            )
        columns.use(role, kind)
    return place


def find_column(
    role: str,
    usual: Sequence[str],
    names: Sequence[str],
    asked: str | None,
    where: str,
    *,
    taken: Container[int] = (),
    option: str = "",
) -> int | None:
    """Return the position of the column for a role, in a table of any kind; raise if several match.

    Args:
        role: the role.
        usual: its usual names, the least ambiguous first.
        names: the column names.
        asked: the name that the caller gave, which must match exactly; None if the usual names count.
        where: the location of the names in messages.
        taken: the positions of columns that already have a role.
        option: how the caller can name the column, if they can.

    >>> find_column("doc", ["doc_id", "doc"], ["Query", "Doc-ID"], None, "run.csv")
    1
    >>> find_column("doc", ["doc_id"], ["Doc ID", "doc_id"], None, "run.csv")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run.csv: expected one column 'Doc ID' for doc, found 2: 'Doc ID', 'doc_id'. Rename one.
    """
    if asked is not None:
        place = names.index(asked) if asked in names else None
    else:
        place = place_by_name(usual, names, taken)
    if place is None:
        return None
    same = (
        str if asked else plain_name
    )  # other names that differ in blanks or capitals are also ambiguous
    alike = [name for name in names if same(name) == same(names[place])]
    if len(alike) > 1:
        say = f", or name the column: {option}" if option and len({*alike}) > 1 else ""
        found = f"{len(alike)}: {', '.join(map(repr, alike))}"
        raise InputError(
            where, f"one column {names[place]!r} for {role}", found, f"Rename one{say}."
        )
    return place


def no_column(
    role: str,
    names: Sequence[str],
    where: str,
    asked: str | None = None,
    *,
    advice: str = "",
    code: str = "rows.no-column",
) -> InputError:
    """Return the error for a table without the column that the caller named, or any column, for a role."""
    only = shortened("only " + ", ".join(map(repr, names)))
    if asked is None:
        return InputError(where, f"a column for {role}", only, advice, code=code, subject=role)
    return InputError(
        where,
        f"the column {asked!r} for {role}",
        only,
        did_you_mean(asked, names) + advice,
        code="rows.no-such-column",
        subject=asked,
    )


def for_other_side(kind: Kind, columns: Mapping[str, str]) -> str:
    """Return how to name columns for only the other input, if both inputs may be meant.

    >>> for_other_side(JUDGMENTS, {"query": "user"})
    ' For the run only, write run.query=….'
    >>> for_other_side(JUDGMENTS, {"judgments.query": "user"})
    ''
    """
    shared = next((role for role in ("query", "doc") if role in columns), None)
    if shared is None:
        return ""
    other, meant = (RUN, "the run") if kind.name == JUDGMENTS.name else (JUDGMENTS, "the judgments")
    return f" For {meant} only, write {other.name}.{shared}=…."


def _swapped(role: str, names: Sequence[str], kind: Kind) -> str:
    """Return advice if the columns belong to the other kind; else empty."""
    plain = {plain_name(name) for name in names}
    if role == RUN.number and not any(map(is_name_of_distances, names)):
        return "" if plain.isdisjoint(ALIASES[JUDGMENTS.number]) else mistaken(JUDGMENTS, given=RUN)
    if kind.name == JUDGMENTS.name and "hits" in plain:  # the response of a search service
        return mistaken(RUN, given=JUDGMENTS)
    if role == JUDGMENTS.number and not plain.isdisjoint(ALIASES[RANKS.number]):
        return (
            f"{mistaken(RUN, given=JUDGMENTS)} If every row has grade 1, set columns grade= (None in "
            "Python)."
        )
    return ""


_NUMBERED = re.compile(r"(.*\D)\d+", re.ASCII)
_LISTS_AS_TEXT = ("docs", "documents", "doc_ids", "ids", "items", "results")


def advice_on_several_columns(role: str, names: Sequence[str]) -> str:
    """Return the line of pandas that reshapes a table with a column for each rank or each run; else empty.

    >>> advice_on_several_columns("doc", ["query", "doc1", "doc2"])
    "For ranked lists with a column for each rank, pass frame.set_index('query')[['doc1', 'doc2']].T.to_dict('list'), or write that dict as JSON."
    >>> advice_on_several_columns("doc", ["query", "docs"])
    "For lists as text, such as 'd1 d2 d3', pass dict(zip(frame['query'], frame['docs'].str.split())), or write that dict as JSON."
    >>> advice_on_several_columns("score", ["query", "doc", "score_a", "score_b"])
    "For the scores of several runs, pass {name: frame.rename(columns={name: 'score'}) for name in ['score_a', 'score_b']}, or a file for each run; for one of them, name it: columns score=score_a."
    """
    if role == RUN.number:
        scores = [name for name in names if {"score", "scores"} & {*plain_name(name).split("_")}]
        if len(scores) < 2:
            return ""
        return (
            f"For the scores of several runs, pass {{name: frame.rename(columns={{name: 'score'}}) for name in "
            f"{scores}}}, or a file for each run; for one of them, name it: columns score={scores[0]}."
        )
    query = next((name for name in names if plain_name(name) in ALIASES["query"]), None)
    if role != "doc" or query is None:
        return ""
    numbered = [name for name in names if name != query and _NUMBERED.fullmatch(name)]
    stems = {_NUMBERED.sub(r"\1", name) for name in numbered}
    if len(numbered) > 1 and len(stems) == 1:
        return (
            f"For ranked lists with a column for each rank, pass frame.set_index({query!r})[{numbered}]"
            ".T.to_dict('list'), or write that dict as JSON."
        )
    listed = next((name for name in names if plain_name(name) in _LISTS_AS_TEXT), None)
    if listed is None:
        return ""
    return (
        f"For lists as text, such as 'd1 d2 d3', pass dict(zip(frame[{query!r}], frame[{listed!r}].str.split())), "
        "or write that dict as JSON."
    )


def _remedy(role: str, names: Sequence[str], kind: Kind) -> str:
    if several := advice_on_several_columns(role, names):
        return several
    distance = next((name for name in names if is_name_of_distances(name)), None)
    if role == RUN.number and distance is not None:
        return (
            "For distances, lower is better: read them as ranks, columns "
            f"rank={distance}. Equal distances tie, like equal scores."
        )
    other = ""
    if role == RUN.number:
        other = ", or rank=… for ranks"
        if len(names) == _IDS_ALONE:
            other += ". Judgments without grades come before the run"
    if role == JUDGMENTS.number:
        other = ", or grade= (None in Python) for no grades, so that every row has grade 1"
    # Both inputs have a query and a doc, and the other one was or may be recognised.
    is_shared = role in ("query", "doc") and kind.name in (RUN.name, JUDGMENTS.name)
    named = f"{kind.name}.{role}" if is_shared else role
    return f"Rename it to one of: {', '.join(ALIASES[role])}; or name it: columns {named}=…{other}."


def refuse_repeated(names: Sequence[str], where: str) -> None:
    """Reject a table with two columns of the same name.

    >>> refuse_repeated(["query", "ndcg", "ndcg"], "scores")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: scores: expected each column once, found 'ndcg' again. Rename one.
    """
    if len({*names}) < len(names):
        again = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(where, "each column once", f"{again!r} again", "Rename one.")


def is_name_of_distances(name: str) -> bool:
    """Return whether a column name denotes distances, for which the lowest is the best.

    >>> is_name_of_distances("Dist"), is_name_of_distances("cosine distance")
    (True, True)
    """
    plain = plain_name(name).removesuffix("s")
    return plain == "dist" or plain.endswith("distance")


def may_be_of_a_run(name: str) -> bool:
    """Return whether a column of judgments has a name typical of runs, or an empty one.

    >>> may_be_of_a_run("Score"), may_be_of_a_run("rel"), may_be_of_a_run("rating")
    (True, False, False)
    """
    return plain_name(name) in ("", RUN.number)  # a rating is a grade


def find_rank(names: Sequence[str]) -> int | None:
    """Return the position of a column of ranks, if there is one."""
    return place_by_name(["rank"], names)


def has_column(role: str, names: Sequence[str], kind: Kind, columns: Mapping[str, str]) -> bool:
    """Return whether there is a column for a role, with the caller's name or a usual one.

    >>> has_column("doc", ["query", "SKU"], RUN, {}), has_column("doc", ["query"], RUN, {})
    (True, False)
    """
    return _find(role, names, kind, columns) is not None


def _asked(role: str, kind: Kind, columns: Mapping[str, str]) -> str | None:
    return columns.get(_key(role, kind, columns))


def _key(role: str, kind: Kind, columns: Mapping[str, str]) -> str:
    own = f"{kind.name}.{role}"
    return own if own in columns else role


def _find(role: str, names: Sequence[str], kind: Kind, columns: Mapping[str, str]) -> int | None:
    asked = _asked(role, kind, columns)
    if asked is not None:
        return names.index(asked) if asked in names else None
    return place_by_name(ALIASES[role], names)


def place_by_name(
    usual: Sequence[str], names: Sequence[str], taken: Container[int] = ()
) -> int | None:
    """Return the position of the first usual name among the columns that aren't taken.

    >>> place_by_name(ALIASES["doc"], ["Item", "doc-id"]), place_by_name(["doc"], ["Doc"], {0})
    (1, None)
    """
    plain = ["" if place in taken else plain_name(name) for place, name in enumerate(names)]
    return next((plain.index(name) for name in usual if name in plain), None)


def plain_name(name: object) -> str:
    """Return a column name as it is compared: in lower case, with _ for blanks and hyphens, without RecBole's types.

    >>> plain_name(" Query-ID"), plain_name("item_id:token")
    ('query_id', 'item_id')
    """
    plain = str(name).strip().casefold().replace("-", "_").replace(" ", "_")
    column, _, type_ = plain.partition(":")
    return column if type_ in _RECBOLE_TYPES else plain


def column_names() -> dict[str, tuple[str, ...]]:
    """Return the usual column names by role, the least ambiguous first.

    >>> column_names()["rank"]
    ('rank', 'position', 'pos')
    """
    return dict(ALIASES)
