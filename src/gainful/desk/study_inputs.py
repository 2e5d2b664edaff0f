"""What a lead brings to a study, read from whatever holds it: runs, judgments, texts, the scale."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.desk.study_records import Grade
from gainful.errors import InputError, warn
from gainful.inputs.identifiers import examples
from gainful.inputs.side_table_columns import PAIRS, WHOLE_DOC_TEXTS, WHOLE_QUERY_TEXTS, Role
from gainful.inputs.side_table_reader import InputTable, read_table
from gainful.inputs.temporary_files import temporary_folder
from gainful.message_texts import counted, shown

Scale = tuple[Grade, ...]
_SCALE = "the lowest and the highest grade, such as '0..3', grades, or {grade: word}"
_RANGE = re.compile(r"\s*([-−]?\d+)\s*(?:\.\.|…)\s*([-−]?\d+)\s*")
_MOST_GRADES = 30
_LETTERS = "qwertyiopasdfghjkzxvbmQWERTYIOPA"  # without those by which the page does other things
_WORDS = {
    (0, 1): ("not relevant", "relevant"),
    (0, 2): ("not relevant", "partly relevant", "relevant"),
    (0, 3): ("not relevant", "related", "relevant", "perfect"),
    (0, 4): ("not relevant", "related", "fairly relevant", "relevant", "perfect"),
}
_QUERIES = replace(
    WHOLE_QUERY_TEXTS,
    values=(
        *WHOLE_QUERY_TEXTS.values,
        Role("description", ("description", "desc", "narrative", "intent"), "text"),
    ),
)


def read_scale(given: Any) -> Scale:
    """Read the grades of a scale, with their words and keys.

    >>> [(each.value, each.word, each.key) for each in read_scale("0..1")]
    [(0.0, 'not relevant', '0'), (1.0, 'relevant', '1')]
    >>> [(each.value, each.key) for each in read_scale((-1, 1))]
    [(-1.0, 'q'), (0.0, '0'), (1.0, '1')]
    >>> read_scale({0: "no", 2.5: "yes"})[1]
    Grade(value=2.5, word='yes', key='q')
    """
    words: dict[float, str] = {}
    if isinstance(given, str):
        ends = _RANGE.fullmatch(given)
        if not ends:
            raise InputError("scale", _SCALE, shown(given))
        low, high = (int(end.replace("−", "-")) for end in ends.groups())
        values = _between(low, high, given)
    elif isinstance(given, Mapping):
        words = {_grade(value): arguments.text(word, "scale") for value, word in given.items()}
        values = list(words)
    else:
        values = [_grade(each) for each in arguments.listed(given, "scale", _SCALE)]
        if len(values) == 2 and all(each.is_integer() for each in values):
            values = _between(int(values[0]), int(values[1]), given)
    found = sorted(set(values))
    if len(found) < 2 or len(found) > _MOST_GRADES or len(found) != len(values):
        raise InputError("scale", f"2 to {_MOST_GRADES} different grades", shown(given))
    usual = _WORDS.get((int(found[0]), int(found[-1])), ())
    if len(usual) == len(found) and not words and all(each.is_integer() for each in found):
        words = dict(zip(found, usual, strict=True))
    return tuple(
        Grade(value, words.get(value, ""), key)
        for value, key in zip(found, _keys(found), strict=True)
    )


def _between(low: int, high: int, given: object) -> list[float]:
    if not 0 < high - low < _MOST_GRADES:
        raise InputError("scale", f"2 to {_MOST_GRADES} grades, the lowest first", shown(given))
    return [float(each) for each in range(low, high + 1)]


def _grade(value: object) -> float:
    return arguments.number(value, "scale", _SCALE, lambda each: abs(each) < 1e15) + 0.0


def _keys(values: Sequence[float]) -> list[str]:
    """Return the digit of each grade, or a letter where it has none."""
    letters = iter(_LETTERS)
    return [str(int(each)) if each in range(10) else next(letters) for each in values]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document of a run."""

    query: str
    doc: str
    score: float


def _rows_of(given: object, write: Any, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of runs or judgments of any kind, in the order in which gainful writes them."""
    folder = temporary_folder(None)
    try:
        path = folder.path / "rows.jsonl"
        try:
            write(given, path)
        except InputError as problem:
            raise (problem.at(name) if problem.where in ("run", "judgments") else problem) from None
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
    finally:
        folder.remove()


def read_run(given: object, name: str, depth: int) -> tuple[list[Ranked], int]:
    """Read a run down to a rank, and say how long its longest list is; documents with equal scores stand by id, descending."""
    found, query, rank, longest = [], None, 0, 0
    for row in _rows_of(given, gf.write_run, f"run {name!r}"):
        rank = rank + 1 if row["query"] == query else 1
        query, longest = row["query"], max(longest, rank)
        if rank <= depth:
            found.append(Ranked(row["query"], row["doc"], float(row["score"])))
    return found, longest


def read_judgments(given: object, name: str = "judgments") -> dict[tuple[str, str], float]:
    """Read judgments of any kind that `evaluate` takes."""
    return {
        (row["query"], row["doc"]): float(row["grade"])
        for row in _rows_of(given, gf.write_judgments, name)
    }


def read_feedback(given: Any) -> dict[str, dict[str, str]]:
    """Read what is said after each document of a practice set: the column `feedback` of a table of its answers, if it has one.

    >>> read_feedback([{"query": "q1", "doc": "a", "grade": 2, "feedback": "It names all steps."}])
    {'q1': {'a': 'It names all steps.'}}
    """
    try:
        table = read_table(given, PAIRS, "answers")
    except (
        InputError
    ):  # dicts of grades have no such column; the grades are checked where they are read
        return {}
    column = next((name for name in table.columns if name.strip().lower() == "feedback"), None)
    found: dict[str, dict[str, str]] = {}
    if column is not None:
        for query, doc, text in zip(table["query"], table["doc"], table.texts(column), strict=True):
            if _plain(text):
                found.setdefault(query, {})[doc] = _plain(text)
    return found


@dataclass(frozen=True, slots=True)
class Text:
    """What a query or a document says: for a query, what was searched and what is meant by it; for a document, its title and text."""

    short: str
    long: str


def read_queries(given: object, wanted: Iterable[str]) -> dict[str, Text]:
    """Read the texts of queries; a column named description says what is meant."""
    ids = {*wanted}
    # A dict of texts has them in a pair at most; all else may have a column more.
    pairs = isinstance(given, Mapping) and not any(
        isinstance(each, Mapping) for each in given.values()
    )
    table = read_table(
        given, WHOLE_QUERY_TEXTS if pairs else _QUERIES, "queries", wanted=frozenset(ids)
    )
    descriptions = [None] * len(table) if pairs else table["description"]
    found = {}
    for one, title, text, description in zip(
        table["query"], table["title"], table["text"], descriptions, strict=True
    ):
        parts = [_plain(each) for each in (title, text, description)]
        parts = [each for each in parts if each]
        if parts:
            found[one] = Text(parts[0], "\n\n".join(parts[1:]))
    _warn_of_missing(found, ids, "queries", table)
    return found


def read_docs(given: object, wanted: Iterable[str]) -> dict[str, Text]:
    """Read the titles and texts of documents."""
    ids = {*wanted}
    table = read_table(given, WHOLE_DOC_TEXTS, "docs", wanted=frozenset(ids))
    found = {
        one: Text(_plain(title), _plain(text))
        for one, title, text in zip(table["doc"], table["title"], table["text"], strict=True)
        if _plain(title) or _plain(text)
    }
    _warn_of_missing(found, ids, "docs", table)
    return found


def _plain(text: str | None) -> str:
    # PostgreSQL keeps no NUL, and no file half of a character.
    clean = (text or "").strip().replace("\0", "�")
    return clean.encode("utf-8", "replace").decode("utf-8")


def _warn_of_missing(
    found: Mapping[str, Text], wanted: set[str], name: str, table: InputTable
) -> None:
    """Refuse texts of nothing that is judged; where some lack, say which are shown by their id alone."""
    missing = sorted(wanted - found.keys())
    if not found and missing:
        raise InputError(
            table.name,
            f"a text for each of {counted(len(wanted), 'id')}",
            f"none, not even for {examples(missing)}",
            "Check the ids.",
        )
    if missing:
        warn(
            f"{name}: {counted(len(missing), 'text')} of {len(wanted):,} missing, for {examples(missing)}; "
            "assessors see the id alone."
        )
