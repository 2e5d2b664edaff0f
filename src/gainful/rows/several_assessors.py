"""Merge the grades of several assessors into one grade per document.

A table has a column of assessors; a dict is `{query: {doc: {assessor: grade}}}`. An export of the judging desk
also contains each assessor's role: if there are settled grades, only they count, and grades of models don't count.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.arithmetic.kernels import merged_grades as kernels
from gainful.arithmetic.kernels.dawid_skene import Estimate, dawid_skene
from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shown
from gainful.rows.duckdb_engine import Session
from gainful.rows.identifiers import in_order
from gainful.rows.ranked_lists import Lists
from gainful.rows.run_and_judgment_columns import Columns
from gainful.rows.side_table_columns import ASSESSED
from gainful.rows.side_table_reader import InputTable, read_graded

Item = tuple[str, str]
_EXAMPLES = 5
_MOST_GRADES = 50  # the most for Dawid and Skene's model, whose confusions have the square of that
SETTLED = "adjudicated"
"""The role of grades that settle disagreements, which override all others; also the name of their assessor."""
MODEL = "model"
"""The role of grades that don't count, unless the rule is the name of their assessor."""
_ROLES = frozenset(["assessor", "lead", "judgments", MODEL, SETTLED])
_EQUAL = 1e-9  # probabilities that differ by less are equal except for rounding


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that merges the grades of one document.

    Attributes:
        meaning: its description, for help and documentation.
        merge: takes grades (n, a), NaN where an assessor gave none, weights (a,) and a rule for ties.
        weighted: whether weights of assessors affect it.
        ties: the default rule for ties, one of `kernels.TIES`; None if ties can't occur.
    """

    meaning: str
    merge: Callable[[Floats, Floats, str], Floats]
    weighted: bool = False
    ties: str | None = None


def fit_confusions(grades: Floats) -> Estimate:
    """Fit Dawid and Skene's model to grades (n, a), NaN where an assessor gave none."""
    values = _different(grades)
    if values.size > _MOST_GRADES:
        raise InputError(
            "grades",
            f"at most {_MOST_GRADES} different grades for dawid-skene, which treats them as categories",
            str(values.size),
            "Round them, or merge by the mean or the median.",
        )
    places = np.searchsorted(values, np.nan_to_num(grades))
    return dawid_skene(np.where(np.isnan(grades), -1, places), values.size)


def most_probable(found: Estimate, grades: Floats, ties: str) -> Floats:
    """Return the most probable grade (n,) of each item; the rule for ties decides between equals."""
    top = found.probabilities.max(axis=1, keepdims=True)
    values = np.broadcast_to(_different(grades), found.probabilities.shape)
    return kernels.settled(values, found.probabilities >= top - _EQUAL, grades, ties)


def _different(grades: Floats) -> Floats:
    return np.unique(grades[~np.isnan(grades)])


DAWID_SKENE = "dawid-skene"
RULES: Mapping[str, Rule] = {
    "mean": Rule(
        "the mean of the grades",
        lambda grades, weights, _: kernels.mean(grades, weights),
        weighted=True,
    ),
    "median": Rule(
        "the grade in the middle; of two, their mean", kernels.median, weighted=True, ties="mean"
    ),
    "majority": Rule(
        "the grade given most often; of several, the lowest",
        kernels.majority,
        weighted=True,
        ties="lowest",
    ),
    "max": Rule("the highest grade", lambda grades, *_: kernels.highest(grades)),
    "min": Rule("the lowest grade", lambda grades, *_: kernels.lowest(grades)),
    DAWID_SKENE: Rule(
        "the most probable grade, under the confusions of grades that each assessor shows",
        lambda grades, _, ties: most_probable(fit_confusions(grades), grades, ties),
        ties="lowest",
    ),
}
"""The rules by name. Any other name is an assessor, whose grades alone count."""


def grades_by_item(
    queries: Iterable[str],
    docs: Iterable[str],
    people: Iterable[str],
    numbers: Iterable[float],
    assessors: Sequence[str],
) -> tuple[list[Item], Floats]:
    """Return the items (query, doc) in input order, and their grades (n, a), NaN for missing ones.

    Args:
        queries: the query of each grade.
        docs: the document of each grade.
        people: the assessor of each grade.
        numbers: the grades.
        assessors: (a,) the names, in the order of the columns.
    """
    places: dict[Item, int] = {}
    rows = [places.setdefault(item, len(places)) for item in zip(queries, docs, strict=True)]
    columns = {name: place for place, name in enumerate(assessors)}
    found = np.full((len(places), len(assessors)), np.nan)
    found[rows, [columns[name] for name in people]] = np.fromiter(numbers, np.float64)
    return [*places], found


def read_assessed_rows(
    given: object, columns: Columns, session: Session
) -> tuple[InputTable, Mapping[str, str]]:
    """Read a table with the columns query, doc, assessor and grade; also return the roles of assessors."""
    table = read_graded(given, ASSESSED, columns, session, also="assessor")
    return table, _roles_in(table)


def _roles_in(table: InputTable) -> Mapping[str, str]:
    """Return the roles of assessors in an export of the desk; empty if the table's roles mean something else."""
    if not {*table["role"]} <= _ROLES:
        return {}
    roles: dict[str, str] = {}
    for row, (name, role) in enumerate(zip(table["assessor"], table["role"], strict=True)):
        if roles.setdefault(name, role) != role:
            expected = f"one role for each assessor, {roles[name]} for {shown(name)}"
            raise InputError(table.where(row), expected, role)
    return roles


def counting(
    assessors: Sequence[str], roles: Mapping[str, str], rule: str, first: str | None = None
) -> list[int]:
    """Return the positions of the assessors whose grades a rule uses.

    Models don't count, and if the rule is an assessor's name, neither do settled grades; but an assessor
    named as the rule or as the first always counts.

    >>> counting(["ann", "gpt", "adjudicated"], {"gpt": "model", "adjudicated": "adjudicated"}, "mean")
    [0, 2]
    """
    left_out = {MODEL} if rule in RULES else {MODEL, SETTLED}
    return [
        place
        for place, name in enumerate(assessors)
        if name in (rule, first) or roles.get(name) not in left_out
    ]


def read_assessed(given: object, columns: Columns, rule: object, session: Session) -> Lists:
    """Read judgments of several assessors as `{query: {doc: grade}}`.

    Args:
        given: dicts, records, a data frame, an Arrow object, or the path of a file.
        columns: unusual column names, by role.
        rule: the name of one of `RULES`, or of an assessor.
        session: the engine's session.

    >>> given = {"q": {"a": {"ann": 2, "bob": 1, "eve": 1}, "b": {"ann": 0}}}
    >>> with Session() as session:
    ...     read_assessed(given, Columns(), "mean", session).documents
    {'q': {'a': 1.3333333333333333, 'b': 0.0}}
    """
    if not isinstance(rule, str) or not rule:
        expected = f"{', '.join(RULES)}, or the name of an assessor"
        raise InputError("assessors", expected, shown(rule))
    try:
        table, roles = read_assessed_rows(given, columns, session)
    except InputError as problem:
        # A first line of several fields without a row is a header with unusual names.
        if problem.code == "rows.no-header" and isinstance(given, str | os.PathLike):
            raise InputError(
                problem.where,
                "a table with the columns query, doc, assessor and grade",
                "no column names",
                "TREC judgments have no assessors: leave out the rule.",
            ) from None
        raise
    people = table["assessor"]
    assessors = in_order({*people})
    refuse_unknown(rule, assessors)
    items, grades = grades_by_item(table["query"], table["doc"], people, table["grade"], assessors)
    places = counting(assessors, roles, rule)
    named = [assessors[place] for place in places]
    first = [name for name in named if roles.get(name) == SETTLED]
    there: Bools = np.logical_or.reduce(~np.isnan(grades[:, places]), axis=1)
    merged = np.full(len(items), np.nan)
    if there.any():
        merged[there] = merge_by(rule, grades[there][:, places], named, first=first)
    documents: dict[str, dict[str, float]] = {}
    for (query, doc), counts, grade in zip(items, there.tolist(), merged.tolist(), strict=True):
        if counts:
            documents.setdefault(query, {})
        if grade == grade:  # NaN if the only assessor who counts gave no grade
            documents[query][doc] = grade
    return Lists(documents, table.id_types)


def merge_by(
    rule: str,
    grades: Floats,
    assessors: Sequence[str],
    weights: Floats | None = None,
    ties: str | None = None,
    first: Sequence[str] = (),
) -> Floats:
    """Return one grade (n,) for each row of grades (n, a), by a rule or from one assessor.

    It is NaN if that assessor gave none. Grades of the assessors in `first` replace merged grades, in that
    order of precedence.

    >>> merge_by("median", np.array([[2.0, 0.0, 1.0]]), ["ann", "bob", "eve"]).tolist()
    [1.0]
    >>> merge_by("mean", np.array([[2.0, 0.0], [np.nan, 1.0]]), ["ann", "bob"], first=["ann"]).tolist()
    [2.0, 1.0]
    """
    if rule not in RULES:
        return grades[:, [*assessors].index(rule)]
    chosen = RULES[rule]
    even = np.ones(len(assessors)) if weights is None else weights
    # Dawid and Skene's model is fitted to the other assessors: settled grades have no confusions.
    fitted = [name not in first or rule != DAWID_SKENE for name in assessors]
    there = ~np.isnan(grades[:, fitted]).all(axis=1)
    merged = np.full(len(grades), np.nan)
    if there.any():
        ties = ties or chosen.ties or ""
        merged[there] = chosen.merge(grades[there][:, fitted], even[fitted], ties)
    for name in reversed(first):
        column = grades[:, [*assessors].index(name)]
        merged = np.where(np.isnan(column), merged, column)
    return merged


def refuse_unknown(name: object, assessors: Sequence[str], where: str = "assessors") -> None:
    """Reject a name that is neither a rule nor an assessor, or that is both."""
    names = sorted({*assessors})
    if name in RULES and name in names:
        raise InputError(
            where,
            "a rule, or the name of an assessor",
            f"{shown(name)}, which is both",
            "Give that assessor another name: in the table, or with names=[…] for judgments in a list.",
        )
    if name not in RULES and name not in names:
        listed = [*map(shown, names[:_EXAMPLES])] + ["…"] * (len(names) > _EXAMPLES)
        expected = f"{', '.join(RULES)}, or one of the assessors {', '.join(listed)}"
        raise InputError(where, expected, shown(name), did_you_mean(name, [*RULES, *names]))
