"""`explain`: the worked table of a query of a run, or of a list of grades."""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError, MeasureError
from gainful.evaluation.computing.own_measures import steps_of_own
from gainful.evaluation.measures_on_grade_lists import Grades, match_grades
from gainful.evaluation.request import read_one
from gainful.explanation.judged_ranking import look_at_grades, read_judged_ranking, sums_of
from gainful.explanation.worked_families import IDEAL_SUM, SUM, Terms, said
from gainful.explanation.worked_steps import (
    IDEAL,
    NO_VALUE,
    PARTS,
    Entry,
    JudgedDocs,
    Sums,
    family_steps,
    ideal_steps,
    ideal_steps_of,
    is_empty,
    is_worked,
    list_steps,
    steps_with,
    summed,
    why_empty,
    worst_steps,
)
from gainful.explanation.worked_tables import Explanation, Part, Step
from gainful.inputs.identifiers import id_text
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.matched import Matched
from gainful.matching.ranked_documents import Placed
from gainful.matching.reader import Reader
from gainful.measures.baseline_in_formulas import measures_inside
from gainful.measures.combination import Combination
from gainful.measures.dialect import Dialect
from gainful.measures.ir_measures_definitions import DocumentMeasure
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, read_measure
from gainful.measures.own_measures import OwnMeasure
from gainful.measures.policy import GivenPolicy, Policy, read_policy

_TITLES = {
    "judged": "the ideal: all judged documents, best first",
    "retrieved": "the ideal: the documents of the list, best first",
    "list": "the ideal of the list itself, best first",
}


@takes(MeasuringOptions)
def explain(
    judgments: object,
    run: object,
    measure: GivenMeasure = "nDCG@10",
    *,
    query: object,
    **options: Unpack[MeasuringOptions],
) -> Explanation:
    """Work out the value of one query of a run.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        run: `{query: {doc: score}}`, or any of the others.
        measure: in the notation or as a value.
        query: the id of the query.
        **options: see `MeasuringOptions`.

    >>> print(explain({"q": {"a": 2, "b": 1}}, {"q": {"b": 9, "a": 8}}, "nDCG", query="q").conclusion)
    nDCG = DCG / IDCG = 2.262 / 2.631 = 0.860
    """
    request = read_one(measure, options)
    name = id_text(query, where="query")
    asked = request.measure
    with request.reader_of(judgments, options) as reader:
        worked = explain_with(reader, run, asked, name, request.policy, request.tool)
        return dataclasses.replace(worked, doc_type=reader.doc_type(run))


def explain_with(
    reader: Reader,
    run: object,
    measure: Measure,
    query: str,
    policy: Policy,
    tool: Dialect | None = None,
) -> Explanation:
    """Work out the value of one query of a run that is read already, under another policy."""
    asked = measure
    listed = read_judged_ranking(reader.under(policy), run, query)
    look_at_grades(listed, asked, policy, tool)
    if listed.missing:
        raise InputError("query", "a query of the run", f"{query!r} missing from it")

    def work(each: Measure) -> Explanation:
        sums = sums_of([listed], each, listed.policy)
        return _worked(sums, query, listed.entries(listed.ranking(sums.worth)), listed.pool(each))

    return _explained(asked, work, sums_of([listed], asked, listed.policy))


def explain_grades(
    grades: "Grades",
    measure: GivenMeasure = "nDCG",
    *,
    judged: "Grades | None" = None,
    policy: GivenPolicy | None = None,
) -> Explanation:
    """Work out the value of one list of grades in rank order.

    Args:
        grades: in rank order.
        measure: in the notation or as a value.
        judged: all known grades, those of the list included. None if the list holds them all: the ideal is
            then that of the list itself.
        policy: the choices that are not the measure's, a `Policy` or a dict of choices; the
            defaults if None.

    >>> print(explain_grades([3, 2, 3, 0, 1, 2], judged=[3, 2, 3, 0, 1, 2, 3, 2]).conclusion)
    nDCG = DCG / IDCG = 6.861 / 9.074 = 0.756
    """
    asked = read_measure(measure)
    chosen = dataclasses.replace(read_policy(policy), ties="order")  # the list says the order

    def work(each: Measure) -> Explanation:
        matched = _one_list(grades, judged, each)
        entries = [
            Entry(Placed("", rank, rank), None, grade)
            for rank, grade in enumerate(matched.grade.tolist(), 1)
        ]
        known = matched.pool_grades
        if each.parameters.get("ideal") == "retrieved":
            known = matched.grade
        pool = [(None, grade) for grade in known.tolist()]
        return _worked(Sums(matched, each, chosen), None, entries, pool, alone=judged is None)

    return _explained(asked, work, Sums(_one_list(grades, judged, asked), asked, chosen))


def _one_list(grades: Grades, judged: Grades | None, measure: Measure) -> Matched:
    matched, single = match_grades(grades, judged, measure)
    if not single:
        raise InputError("grades", "one list of grades", "several", "Explain them one by one.")
    return matched


def _explained(measure: Measure, work: Callable[[Measure], Explanation], sums: Sums) -> Explanation:
    """Work out a measure, or each of those that a formula has and then the formula."""
    for each in measures_inside([measure]):
        if isinstance(each, DocumentMeasure):
            raise MeasureError(
                "explain",
                "a measure of ranks and grades",
                f"'{each}', a function of ir_measures, which says no more than its value",
                "`evaluate` has the value.",
            )
    if not isinstance(measure, Combination):
        return work(measure)
    value = sums.values[0]  # says what is wrong with the formula
    found = {each: work(each) for each in measure.formula.measures()}
    often = Counter(part.name for worked in found.values() for part in worked.parts)
    parts = [
        dataclasses.replace(
            part,
            title=f"{each}: {part.title}",
            name=_named(each, part.name, alone=often[part.name] == 1),
        )
        for each, worked in found.items()
        for part in worked.parts
    ]
    working = measure.formula.written(lambda each: _bracketed(found[each].value))
    some = next(iter(found.values()))
    remark = "; ".join(one.conclusion for one in found.values())
    return Explanation(measure, some.query, value, tuple(parts), some.policy, remark, working)


def _bracketed(value: float) -> str:
    return said(value) if value >= 0 else f"({said(value)})"


def _named(measure: Measure, part: str, *, alone: bool) -> str:
    """Name a part of one of several measures, of which no other may have one of that name."""
    return part if alone and part not in (SUM, IDEAL_SUM) else f"{part} of {measure}"


def _worked(
    sums: Sums,
    query: str | None,
    entries: Sequence[Entry],
    pool: JudgedDocs,
    *,
    alone: bool = False,
) -> Explanation:
    """Work out a measure; where the list is `alone`, no other document is known, and the ideal is its own."""
    measure, policy = sums.measure, sums.sheet.policy
    remark = why_empty(policy, measure) if is_empty(sums, 0, query, NO_VALUE) else ""
    value = sums.values[0]  # before the steps: it says what cannot be measured
    if measure.name in PARTS:
        parts, working = _cumulated_parts(sums, entries, pool, alone=alone)
    elif isinstance(measure, OwnMeasure):
        parts, working, note = _own_parts(measure, sums, entries, value)
        remark = remark or note
    elif is_worked(measure):
        parts, working, note = _family_parts(sums, entries, pool, alone=alone)
        working, remark = ("", remark) if remark else (working, note)  # the policy says it, no sum
    else:
        gains = "" if sums.gain is None else "gain"
        inside = _down_to_cutoff(entries, measure)
        worth = [0.0 if entry.grade is None else sums.worth(entry.grade) for entry in inside]
        parts, working = [_listed_part(inside, np.array(worth), gains)], ""
        remark = remark or "by the definition above, without steps"
    return Explanation(measure, query, value, tuple(parts), policy, remark, working)


def _cumulated_parts(
    sums: Sums, entries: Sequence[Entry], pool: JudgedDocs, *, alone: bool
) -> tuple[list[Part], str]:
    measure, parts = sums.measure, []
    for family in PARTS[measure.name]:
        part = summed(measure, family)
        total = sums.value(part, 0)
        if family == IDEAL:
            title = _TITLES["list" if alone else part.parameters["ideal"]]
            steps = ideal_steps(sums, 0, part, pool)
        else:
            title, steps = "the list", list_steps(sums, part, entries, len(entries))
        parts.append(_part(title, str(part), steps, total))
    if not measure.changes("norm"):
        return parts, ""
    steps = worst_steps(sums, summed(measure, "DCG"), pool)
    worst = steps[-1].sum if steps else 0.0
    listed, best = parts
    parts.append(_part("the worst: documents of negative gain, worst first", "worst", steps, worst))
    lowest = f"({said(worst)})" if worst < 0 else said(worst)
    numbers = f"({said(listed.total or 0.0)} − {lowest}) / ({said(best.total or 0.0)} − {lowest})"
    return parts, f"({listed.name} − worst) / ({best.name} − worst) = {numbers}"


def _family_parts(
    sums: Sums, entries: Sequence[Entry], pool: JudgedDocs, *, alone: bool
) -> tuple[list[Part], str, str]:
    worked, steps = family_steps(sums, 0, entries)
    way, closing = worked.way, worked.closing
    weight = way.weight
    if not weight and any(step.discount != 1 for step in steps):
        weight = "chance"  # to stand above the cutoff: ties averaged
    # Without an ideal of its own, what the sum is divided by, such as R, is counted in the list.
    whole = alone and worked.ideal is None and sums.measure.family.normalised
    parts = [
        _part(
            "the list, which has all known relevant documents" if whole else "the list",
            SUM,
            steps,
            worked.total if way.adds else None,
            worth=way.worth,
            weight=weight,
            adds=way.adds,
        )
    ]
    if worked.ideal is not None:
        ideal = ideal_steps_of(worked, entries, pool)
        total = ideal[-1].sum if ideal else 0.0
        title = _TITLES["list" if alone else "judged"]
        parts.append(_part(title, IDEAL_SUM, ideal, total, worth=way.worth, weight=way.weight))
    return parts, closing.working, closing.remark


def _down_to_cutoff(entries: Sequence[Entry], measure: Measure) -> list[Entry]:
    return [
        entry
        for entry in entries
        if measure.cutoff is None or entry.placed.rank_first <= measure.cutoff
    ]


def _listed_part(entries: Sequence[Entry], worth: Floats, heading: str) -> Part:
    """Show a list by rank and grade, with what its documents are worth if that has a heading; nothing adds up."""
    steps = steps_with(entries, Terms(worth, np.ones(len(entries))))
    return _part("the list", SUM, steps, None, worth=heading, weight="", adds=False)


def _own_parts(
    measure: OwnMeasure, sums: Sums, entries: Sequence[Entry], value: float
) -> tuple[list[Part], str, str]:
    """Show the list of a measure of one's own, with the steps that it gives, if it gives them."""
    own_steps = steps_of_own(measure.own, sums.sheet, measure, 0)
    inside = _down_to_cutoff(entries, measure)
    terms = np.zeros(len(inside))
    if own_steps is None:
        return [_listed_part(inside, terms, "")], "", "the function gives no steps of its own"
    terms[[place for place, entry in enumerate(inside) if entry.grade is not None]] = own_steps
    steps = steps_with(inside, Terms(terms, np.ones(len(inside))))
    total = float(terms.sum())
    note = (
        ""
        if math.isclose(total, value, rel_tol=1e-9, abs_tol=1e-12)
        else f"its steps add up to {said(total)}"
    )
    return [_part("the list", SUM, steps, total, worth="part", weight="")], "", note


def _part(title: str, name: str, steps: Sequence[Step], total: float | None, **shown: Any) -> Part:
    """Return a part with the steps down to the last document that is judged or adds something."""
    matters = [
        place for place, step in enumerate(steps, 1) if step.grade is not None or step.contribution
    ]
    count = max(matters, default=min(len(steps), 1))
    return Part(title, name, tuple(steps[:count]), total, len(steps) - count, **shown)
