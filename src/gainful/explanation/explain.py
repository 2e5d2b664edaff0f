"""`explain`: the worked table of a query of a run, or of a list of grades."""

import dataclasses
from collections.abc import Sequence
from typing import Unpack

from gainful.errors import InputError
from gainful.evaluation.means_over_queries import SKIPPED
from gainful.evaluation.measures_of_grades import Grades, match_grades
from gainful.evaluation.request import read_one
from gainful.explanation.judged_ranking import look_at_grades, read_judged_ranking, sums_of
from gainful.explanation.worked_steps import (
    IDEAL,
    PARTS,
    Entry,
    JudgedDocs,
    Sums,
    ideal_steps,
    is_empty,
    list_steps,
    read_explained,
    summed,
    why_empty,
)
from gainful.explanation.worked_tables import Explanation, Part, Step
from gainful.inputs.identifiers import id_text
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.ranked_documents import Placed
from gainful.matching.reader import Reader
from gainful.measures.dialect import Dialect
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import GivenPolicy, Policy, read_policy

_TITLES = {
    "judged": "the ideal: all judged documents, best first",
    "retrieved": "the ideal: the documents of the list, best first",
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
    asked = read_explained(request.measure)
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
    asked, chosen = read_explained(measure), policy.resolved(ids=True)
    listed = read_judged_ranking(reader.under(chosen), run, query, chosen)
    look_at_grades(listed, asked, policy, tool)
    if listed.missing:
        raise InputError("query", "a query of the run", f"{query!r} missing from it")
    sums = sums_of([listed], asked, listed.policy)
    entries = listed.entries(listed.ranking(sums.worth))
    return _worked(sums, query, entries, listed.pool(asked))


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
        judged: all known grades, those of the list included; None if the list holds them all.
        policy: the choices that are not the measure's, a `Policy` or a dict of choices; the
            defaults if None.

    >>> print(explain_grades([3, 2, 3, 0, 1, 2], judged=[3, 2, 3, 0, 1, 2, 3, 2]).conclusion)
    nDCG = DCG / IDCG = 6.861 / 9.074 = 0.756
    """
    asked = read_explained(measure)
    matched, single = match_grades(grades, judged, asked)
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
    return _worked(Sums(matched, asked, chosen), None, entries, pool)


def _worked(
    sums: Sums, query: str | None, entries: Sequence[Entry], pool: JudgedDocs
) -> Explanation:
    measure, policy = sums.measure, sums.sheet.policy
    empty = is_empty(sums, 0, query, undefined=(*SKIPPED, "error"))
    parts = []
    for family in PARTS[measure.name]:
        part = summed(measure, family)
        total = sums.value(part, 0)
        if family == IDEAL:
            title, steps = _TITLES[part.parameters["ideal"]], ideal_steps(sums, 0, part, pool)
        else:
            title, steps = "the list", list_steps(sums, part, entries, len(entries))
        shown = _last_that_matters(steps)
        parts.append(Part(title, str(part), tuple(steps[:shown]), total, len(steps) - shown))
    remark = why_empty(policy, measure) if empty else ""
    return Explanation(measure, query, sums.value(measure, 0), tuple(parts), policy, remark)


def _last_that_matters(steps: Sequence[Step]) -> int:
    """Return how many steps to show: down to the last judged document."""
    judged = [place for place, step in enumerate(steps, 1) if step.grade is not None]
    return max(judged, default=min(len(steps), 1))
