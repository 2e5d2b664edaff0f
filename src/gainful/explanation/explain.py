"""`explain`: the worked table of a query of a run, or of a list of grades."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gainful.errors import InputError, MeasureError
from gainful.evaluation.computing.cumulated import floor_of
from gainful.evaluation.evaluate import measure_matched, read_policy
from gainful.evaluation.grades import Grades, match_grades
from gainful.evaluation.worksheet import Worksheet
from gainful.explanation.steps import (
    Entry,
    Worth,
    is_empty,
    read_listed,
    steps_of,
    summed,
    why_empty,
)
from gainful.explanation.worked import Explanation, Part, Step
from gainful.inputs.engine import Engine
from gainful.inputs.identifiers import id_text
from gainful.matching.dispatch import reading
from gainful.matching.matched import Matched
from gainful.matching.ranking import Placed
from gainful.measures.notation import parse
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

_PARTS: Mapping[str, tuple[str, ...]] = {
    "CG": ("CG",),
    "DCG": ("DCG",),
    "IDCG": ("IDCG",),
    "nDCG": ("DCG", "IDCG"),
}
_IDEAL = "IDCG"
_ABSENT = "(absent)"
_TITLES = {
    "judged": "the ideal: all judged documents, best first",
    "retrieved": "the ideal: the judged documents of the list, best first",
}


def explain(
    judgments: object,
    run: object,
    measure: str | Measure = "nDCG@10",
    *,
    query: object,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    chunks: str | Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> Explanation:
    """Work out the value of one query of a run.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        run: `{query: {doc: score}}`, or any of the others.
        measure: in the notation or as a value.
        query: the id of the query.
        policy: the choices that are not the measure's; the defaults if None.
        columns: names of columns that are not among the usual, as in `evaluate`.
        chunks: how to fold chunks to documents, as in `evaluate`.
        engine: what may be used of the machine for files and tables.

    >>> print(explain({"q": {"a": 2, "b": 1}}, {"q": {"b": 9, "a": 8}}, "nDCG", query="q").conclusion)
    nDCG = DCG / IDCG = 2.262 / 2.631 = 0.860
    """
    asked = _explained(measure)
    chosen = read_policy(policy).resolved(ids=True)
    name = id_text(query, where="query")
    with reading(judgments, chosen, columns=columns, chunks=chunks, engine=engine) as reader:
        listed = read_listed(reader, run, name, chosen)
    if listed.missing:
        raise InputError("query", "a query of the run", f"{name!r} missing from it")
    pool = sorted(listed.grades.items())
    if asked.parameters.get("ideal") == "retrieved":
        pool = [(doc, grade) for doc, grade in pool if doc in listed.scores]
    return _worked(asked, name, listed.matched, listed.policy, listed.entries, pool)


def explain_grades(
    grades: Grades,
    measure: str | Measure = "nDCG",
    *,
    judged: Grades | None = None,
    policy: Policy | None = None,
) -> Explanation:
    """Work out the value of one list of grades in rank order.

    Args:
        grades: in rank order.
        measure: in the notation or as a value.
        judged: all known grades, those of the list included; None if the list holds them all.
        policy: the choices that are not the measure's; the defaults if None.

    >>> print(explain_grades([3, 2, 3, 0, 1, 2], judged=[3, 2, 3, 0, 1, 2, 3, 2]).conclusion)
    nDCG = DCG / IDCG = 6.861 / 9.074 = 0.756
    """
    asked = _explained(measure)
    matched, single = match_grades(grades, judged, asked.parameters["gain"])
    if not single:
        raise InputError("grades", "one list of grades", "several", "Explain them one by one.")
    entries = [
        Entry(Placed("", rank, rank), None, grade)
        for rank, grade in enumerate(matched.grade.tolist(), 1)
    ]
    known = matched.pool_grades
    if asked.parameters.get("ideal") == "retrieved":
        known = matched.grade
    pool = [(None, grade) for grade in known.tolist()]
    chosen = dataclasses.replace(read_policy(policy), ties="order")  # the list says the order
    return _worked(asked, None, matched, chosen, lambda _: entries, pool)


def _explained(measure: str | Measure) -> Measure:
    """Read a measure that has a worked table."""
    asked = measure if isinstance(measure, Measure) else parse(measure)
    if asked.name not in _PARTS or asked.changes("norm"):
        raise MeasureError(
            "explain",
            f"one of {', '.join(_PARTS)}, which have a worked table (nDCG with norm=ideal)",
            f"'{asked}'",
            f"See `gainful measures {asked.name}` for its definition and an example.",
        )
    return asked


def _worked(
    measure: Measure,
    query: str | None,
    matched: Matched,
    policy: Policy,
    ranked: Callable[[Worth], list[Entry]],
    pool: Sequence[tuple[str | None, float]],
) -> Explanation:
    sheet = Worksheet(matched, policy)
    gain = measure.parameters["gain"]

    def worth(grade: float) -> float:
        return sheet.gain_of(gain, grade)

    empty = is_empty(sheet, measure, query, undefined=("skip", "error"))
    parts = []
    for family in _PARTS[measure.name]:
        part = summed(measure, family)
        total = float(measure_matched(matched, (part,), policy).values[0, 0])
        summands = part
        if family == _IDEAL:
            entries = _ideal_entries(sheet, part, pool, worth)
            title = _TITLES[part.parameters["ideal"]]
            if part.parameters["depth"] == "all":
                summands = part.at(None)
        else:
            entries = ranked(worth)
            title = "the list"
        entries = [*entries, *_absent_entries(sheet, part, len(entries))]
        steps = steps_of(entries, sheet, summands, worth)
        shown = _last_that_matters(steps)
        beyond = (
            sum(entry.placed.rank_first <= (summands.cutoff or np.inf) for entry in entries) - shown
        )
        parts.append(Part(title, str(part), tuple(steps[:shown]), total, beyond))
    value = float(measure_matched(matched, (measure,), policy).values[0, 0])
    remark = why_empty(sheet, measure) if empty else ""
    return Explanation(measure, query, value, tuple(parts), policy, remark)


def _ideal_entries(
    sheet: Worksheet, part: Measure, pool: Sequence[tuple[str | None, float]], worth: Worth
) -> list[Entry]:
    floor = 0.0 if part.cutoff is None else floor_of(sheet, part.parameters)
    better = sorted(pool, key=lambda item: worth(item[1]), reverse=True)
    if floor or sheet.policy.negative != "both":
        better = [(doc, grade) for doc, grade in better if worth(grade) > floor]
    if part.parameters["depth"] == "retrieved":
        better = better[: int(sheet.matched.retrieved[0])]
    return [
        Entry(Placed("", rank, rank), doc, grade) for rank, (doc, grade) in enumerate(better, 1)
    ]


def _absent_entries(sheet: Worksheet, part: Measure, length: int) -> list[Entry]:
    grade = sheet.absent_grade
    if grade is None or part.cutoff is None:
        return []
    if part.name == _IDEAL and not floor_of(sheet, part.parameters):
        return []
    return [
        Entry(Placed("", rank, rank), _ABSENT, grade) for rank in range(length + 1, part.cutoff + 1)
    ]


def _last_that_matters(steps: Sequence[Step]) -> int:
    """Return how many steps to show: down to the last judged document."""
    judged = [place for place, step in enumerate(steps, 1) if step.grade is not None]
    return max(judged, default=min(len(steps), 1))
