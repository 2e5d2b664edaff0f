"""Read tables whose grades are words, with the caller's grade for each word."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gainful.errors import InputError
from gainful.rows.duckdb_engine import Session
from gainful.rows.grade_words import GradeWords, advice_on_words
from gainful.rows.run_and_judgment_columns import Columns
from gainful.rows.side_table_columns import JUDGED, Roles
from gainful.rows.side_table_reader import InputTable, read_table

_GRADE = "grade"


def read_graded(
    given: object,
    roles: Roles,
    name: str,
    columns: Columns,
    *,
    asked: Mapping[str, str],
    session: Session | None = None,
) -> InputTable:
    """Read a table with a column of grades, which are words if the caller gave grades for words.

    >>> from gainful.rows.run_and_judgment_columns import read_columns
    >>> columns = read_columns(None, grade_words="esci")
    >>> table = read_graded({"q": {"a": "Exact", "b": 1}}, JUDGED, "judgments", columns, asked={})
    >>> table["grade"]
    (3.0, 1.0)
    """
    words = columns.use_grade_words()
    if words is None:
        return read_table(given, roles, name, columns=asked, session=session)
    table = read_table(given, _as_text(roles), name, columns=asked, session=session)
    return replace(table, roles=table.roles | {_GRADE: _grades_of(table, words)})


def _as_text(roles: Roles) -> Roles:
    values = (
        replace(role, holds="text", truth=False) if role.name == _GRADE else role
        for role in roles.values
    )
    return replace(roles, values=tuple(values))


def _grades_of(table: InputTable, words: GradeWords) -> tuple[float, ...]:
    """Return the grade of each row."""
    texts: Sequence[str | None] = table[_GRADE]
    grades = {text: None if text is None else words.grade(text) for text in {*texts}}
    if None in grades.values():
        unknown = [text for text in texts if grades[text] is None]
        row = next(row for row, text in enumerate(texts) if grades[text] is None)
        ids = ", ".join(f"{role} {table[role][row]!r}" for role in ("query", "doc"))
        where = table.where(row)
        if isinstance(table.places[row], str):
            where = f"{table.name}, {ids}"
        raise words.refuse(unknown[0], where, [text for text in unknown if text])
    return tuple(grade for text in texts if (grade := grades[text]) is not None)


def with_all_words(
    problem: InputError, given: object, columns: Mapping[str, str], session: Session
) -> InputError:
    """Return an error about a word as grade with the option for all words in the judgments."""
    try:
        table = read_table(given, _as_text(JUDGED), problem.where, columns=columns, session=session)
    except InputError:  # another shape, such as lists; the error names its first word
        return problem
    numbers = GradeWords((), {})
    texts = dict.fromkeys(text for text in table[_GRADE] if text)
    return problem.with_remedy(
        advice_on_words(text for text in texts if numbers.grade(text) is None)
    )
