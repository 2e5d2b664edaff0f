"""The inputs of a study from any source: runs, judgments, texts and the scale."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import InputError, warn
from gainful.judging.desk.study_records import Grade
from gainful.message_texts import counted, shown
from gainful.rows.grades_scores_or_ranks import PRESETS
from gainful.rows.identifiers import examples
from gainful.rows.input_types import Judgments, Run
from gainful.rows.side_table_columns import PAIRS, WHOLE_DOC_TEXTS, WHOLE_QUERY_TEXTS, Role
from gainful.rows.side_table_reader import InputTable, read_table
from gainful.rows.temporary_files import temporary_folder

Scale = tuple[Grade, ...]
_SCALE = "the lowest and the highest grade, such as '0..3', grades, {grade: word}, esci or excellent-fair-bad"
_RANGE = re.compile(r"\s*([-−]?\d+)\s*(?:\.\.|…)\s*([-−]?\d+)\s*")
_MOST_GRADES = 30
# without the keys that the page uses for other actions
_LETTERS = "qwertyiopasdfghjkzxvbmQWERTYIOPA"
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
_DOCS = replace(WHOLE_DOC_TEXTS, others=True, keys_alone=True)
_MOST_FIELDS = 50


ScaleLike = str | tuple[float, float] | Sequence[float] | Mapping[float, str]
"""Two ends, such as "0..3", all grades, or their words."""


def read_scale(scale: ScaleLike) -> Scale:
    """Read the grades of a scale, with their labels and keys.

    >>> [(grade.value, grade.word, grade.key) for grade in read_scale("0..1")]
    [(0.0, 'not relevant', '0'), (1.0, 'relevant', '1')]
    >>> [(grade.value, grade.key) for grade in read_scale((-1, 1))]
    [(-1.0, 'q'), (0.0, '0'), (1.0, '1')]
    >>> read_scale({0: "no", 2.5: "yes"})[1]
    Grade(value=2.5, word='yes', key='q')
    >>> [grade.word for grade in read_scale("excellent-fair-bad")]
    ['Bad', 'Fair', 'Excellent']
    """
    words: dict[float, str] = {}
    if isinstance(scale, str) and scale in PRESETS:
        scale = {grade: word for word, grade in PRESETS[scale].items()}
    if isinstance(scale, str):
        ends = _RANGE.fullmatch(scale)
        if not ends:
            raise InputError("scale", _SCALE, shown(scale))
        low, high = (int(end.replace("−", "-")) for end in ends.groups())
        values = _between(low, high, scale)
    elif isinstance(scale, Mapping):
        words = {_grade(value): arguments.text(word, "scale") for value, word in scale.items()}
        values = list(words)
    else:
        values = [_grade(value) for value in arguments.listed(scale, "scale", _SCALE)]
        if len(values) == 2 and all(value.is_integer() for value in values):
            values = _between(int(values[0]), int(values[1]), scale)
    grades = sorted(set(values))
    if len(grades) < 2 or len(grades) > _MOST_GRADES or len(grades) != len(values):
        raise InputError("scale", f"2 to {_MOST_GRADES} different grades", shown(scale))
    usual = _WORDS.get((int(grades[0]), int(grades[-1])), ())
    if len(usual) == len(grades) and not words and all(grade.is_integer() for grade in grades):
        words = dict(zip(grades, usual, strict=True))
    return tuple(
        Grade(value, words.get(value, ""), key)
        for value, key in zip(grades, _keys(grades), strict=True)
    )


def _between(low: int, high: int, scale: object) -> list[float]:
    if not 0 < high - low < _MOST_GRADES:
        raise InputError("scale", f"2 to {_MOST_GRADES} grades, the lowest first", shown(scale))
    return [float(grade) for grade in range(low, high + 1)]


def _grade(value: object) -> float:
    return arguments.number(value, "scale", _SCALE, lambda number: abs(number) < 1e15) + 0.0


def _keys(values: Sequence[float]) -> list[str]:
    """Return the shortcut of each grade: its digit, or a letter."""
    letters = iter(_LETTERS)
    return [str(int(value)) if value in range(10) else next(letters) for value in values]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document of a run."""

    query: str
    doc: str
    score: float


def _rows_of(source: object, write: Any, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of runs or judgments of any kind, in the order in which gainful writes them."""
    folder = temporary_folder(None)
    try:
        path = folder.path / "rows.jsonl"
        try:
            write(source, path)
        except InputError as problem:
            raise (problem.at(name) if problem.where in ("run", "judgments") else problem) from None
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
    finally:
        folder.remove()


def read_run(run: Run, name: str, depth: int) -> tuple[list[Ranked], int]:
    """Read a run down to a rank, and return the length of its longest list. Equal scores are ordered by id, descending."""
    rows, query, rank, longest = [], None, 0, 0
    for row in _rows_of(run, gf.write_run, f"run {name!r}"):
        rank = rank + 1 if row["query"] == query else 1
        query, longest = row["query"], max(longest, rank)
        if rank <= depth:
            rows.append(Ranked(row["query"], row["doc"], float(row["score"])))
    return rows, longest


def read_judgments(
    judgments: Judgments, scale: Scale, name: str = "judgments"
) -> dict[tuple[str, str], float]:
    """Read judgments of any kind that `evaluate` accepts; grades may be the labels of the scale."""
    words = {grade.word: grade.value for grade in scale if grade.word}
    try:
        rows = [*_rows_of(judgments, gf.write_judgments, name)]
    except InputError as problem:
        if problem.code != "rows.grade-word" or not words:
            raise
        rows = [*_rows_of(judgments, partial(gf.write_judgments, grade_words=words), name)]
    return {(row["query"], row["doc"]): float(row["grade"]) for row in rows}


def read_feedback(answers: object) -> dict[str, dict[str, str]]:
    """Read the comments on a practice set: the column `feedback` of the table of its answers, if any.

    >>> read_feedback([{"query": "q1", "doc": "a", "grade": 2, "feedback": "It names all steps."}])
    {'q1': {'a': 'It names all steps.'}}
    """
    try:
        table = read_table(answers, PAIRS, "answers")
    except (
        InputError
    ):  # dicts of grades have no such column; the grades are checked where they are read
        return {}
    column = next((name for name in table.columns if name.strip().lower() == "feedback"), None)
    feedback: dict[str, dict[str, str]] = {}
    if column is not None:
        for query, doc, text in zip(table["query"], table["doc"], table.texts(column), strict=True):
            if _plain(text):
                feedback.setdefault(query, {})[doc] = _plain(text)
    return feedback


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a query or a document.

    Attributes:
        short: the query, or the title of a document.
        long: the description of a query, or the text of a document.
        fields: the other columns of a document's table, such as a price or the address of a photo.
    """

    short: str
    long: str
    fields: Mapping[str, str] = field(default_factory=dict)


def read_queries(queries: object, wanted: Iterable[str]) -> dict[str, Text]:
    """Read the texts of queries, and their intents from a column named description."""
    ids = {*wanted}
    # A dict of texts contains at most pairs; other input may have one more column.
    pairs = isinstance(queries, Mapping) and not any(
        isinstance(value, Mapping) for value in queries.values()
    )
    table = read_table(
        queries, WHOLE_QUERY_TEXTS if pairs else _QUERIES, "queries", wanted=frozenset(ids)
    )
    descriptions = [None] * len(table) if pairs else table["description"]
    texts = {}
    for query, title, text, description in zip(
        table["query"], table["title"], table["text"], descriptions, strict=True
    ):
        parts = [_plain(part) for part in (title, text, description)]
        parts = [part for part in parts if part]
        if parts:
            texts[query] = Text(parts[0], "\n\n".join(parts[1:]))
    _warn_of_missing(texts, ids, "queries", table)
    return texts


def read_docs(docs: object, wanted: Iterable[str]) -> dict[str, Text]:
    """Read the titles and texts of documents."""
    ids = {*wanted}
    table = _docs_table(docs, frozenset(ids))
    columns = {name: table.texts(name) for name in [*table.columns][:_MOST_FIELDS]}
    texts = {}
    for row, (doc, title, text) in enumerate(
        zip(table["doc"], table["title"], table["text"], strict=True)
    ):
        fields = {_plain(name): _plain(cells[row]) for name, cells in columns.items()}
        fields = {name: cell for name, cell in fields.items() if name and cell}
        if _plain(title) or _plain(text) or fields:
            texts[doc] = Text(_plain(title), _plain(text), fields)
    _warn_of_missing(texts, ids, "docs", table)
    return texts


def _docs_table(docs: object, wanted: frozenset[str]) -> InputTable:
    """Read a table of documents with all its columns, or only its texts if others can't be shown, such as vectors."""
    pairs = isinstance(docs, Mapping) and not any(
        isinstance(value, Mapping) for value in docs.values()
    )
    if not pairs:
        with suppress(InputError):
            return read_table(docs, _DOCS, "docs", wanted=wanted)
    return read_table(docs, WHOLE_DOC_TEXTS, "docs", wanted=wanted)


def _plain(text: str | None) -> str:
    # PostgreSQL can't store NUL, and no file can contain half a character.
    clean = (text or "").strip().replace("\0", "�")
    return clean.encode("utf-8", "replace").decode("utf-8")


def _warn_of_missing(
    texts: Mapping[str, Text], wanted: set[str], name: str, table: InputTable
) -> None:
    """Reject texts without any judged id; if only some are missing, warn that assessors see ids instead."""
    missing = sorted(wanted - texts.keys())
    if not texts and missing:
        raise InputError(
            table.name,
            f"text for each of {counted(len(wanted), 'id')}",
            f"none, not even for {examples(missing)}",
            "Check the ids.",
        )
    if missing:
        warn(
            f"{name}: {counted(len(missing), 'text')} of {len(wanted):,} missing, for {examples(missing)}; "
            "assessors see only the id."
        )
