"""Judgments of several assessors: how the grades that they gave a document become one.

A table has a column that tells assessors apart; a dict is `{query: {doc: {assessor: grade}}}`.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gainful.errors import InputError
from gainful.inputs.column_roles import ASSESSED
from gainful.inputs.columns import Columns, asked_columns
from gainful.inputs.engine import Session
from gainful.inputs.id_types import UNTYPED
from gainful.inputs.judgments_or_run import JUDGMENTS
from gainful.inputs.lists_and_records import Lists
from gainful.inputs.read_table import read_table
from gainful.message_texts import did_you_mean, shown

_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Rule:
    """How grades of one document become one.

    Attributes:
        meaning: what it is, for help and documentation.
        merge: takes the grades that assessors gave, one or more.
    """

    meaning: str
    merge: Callable[[Sequence[float]], float]


def _most_frequent(grades: Sequence[float]) -> float:
    counts = Counter(grades)
    most = max(counts.values())
    return min(grade for grade, count in counts.items() if count == most)


RULES: Mapping[str, Rule] = {
    "mean": Rule("the mean of the grades", statistics.fmean),
    "median": Rule("the grade in the middle; of two, their mean", statistics.median),
    "majority": Rule("the grade given most often; of several, the lowest", _most_frequent),
    "max": Rule("the highest grade", max),
    "min": Rule("the lowest grade", min),
}
"""The rules by name. Another name is that of an assessor, whose grades alone count."""


def read_assessed(given: object, columns: Columns, rule: object, session: Session) -> Lists:
    """Read judgments of several assessors as `{query: {doc: grade}}`.

    Args:
        given: dicts, records, a data frame, an Arrow object, or the path of a file.
        columns: names of columns that are not among the usual.
        rule: the name of one of `RULES`, or of an assessor.
        session: of the engine.

    >>> given = {"q": {"a": {"ann": 2, "bob": 1, "eve": 1}, "b": {"ann": 0}}}
    >>> with Session() as session:
    ...     read_assessed(given, Columns(), "mean", session).documents
    {'q': {'a': 1.3333333333333333, 'b': 0.0}}
    """
    if not isinstance(rule, str) or not rule:
        expected = f"{', '.join(RULES)}, or the name of an assessor"
        raise InputError("assessors", expected, shown(rule))
    asked = asked_columns(JUDGMENTS, columns, also="assessor")
    table = read_table(given, ASSESSED, JUDGMENTS.name, columns=asked, session=session)
    if table.has_columns:
        for role in asked:
            columns.use(role, JUDGMENTS)
    grades: dict[str, dict[str, dict[str, float]]] = {}
    rows = zip(*(table[name] for name in ("query", "doc", "assessor", "grade")), strict=True)
    for query, doc, assessor, grade in rows:
        grades.setdefault(query, {}).setdefault(doc, {})[assessor] = grade
    types = table.types.get("query", UNTYPED), table.types.get("doc", UNTYPED)
    if rule in RULES:
        merge = RULES[rule].merge
        merged = {
            query: {doc: float(merge([*given.values()])) for doc, given in docs.items()}
            for query, docs in grades.items()
        }
        return Lists(merged, types)
    _refuse_unknown(rule, table["assessor"])
    chosen = {
        query: {doc: given[rule] for doc, given in docs.items() if rule in given}
        for query, docs in grades.items()
    }
    return Lists(chosen, types)


def _refuse_unknown(name: str, assessors: Sequence[str]) -> None:
    known = sorted({*assessors})
    if name not in known:
        listed = ", ".join(map(shown, known[:_EXAMPLES])) + (
            ", …" if len(known) > _EXAMPLES else ""
        )
        raise InputError(
            "assessors",
            f"{', '.join(RULES)}, or one of the assessors {listed}",
            shown(name),
            did_you_mean(name, [*RULES, *known]),
        )
