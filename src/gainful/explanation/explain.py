"""`explain`: the worked table of a query of a run, or of a list of grades."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.errors import InputError, MeasureError, did_you_mean
from gainful.evaluation.evaluate import measure_matched, read_policy
from gainful.evaluation.grades import Grades, match_grades
from gainful.evaluation.worksheet import Worksheet
from gainful.explanation.worked import Explanation, Part, Step
from gainful.inputs.engine import Engine
from gainful.inputs.identifiers import id_text
from gainful.kernels.cumulation import mean_discount
from gainful.matching.dispatch import reading
from gainful.matching.mappings import judged_of, match_query, queries_of, returned_of
from gainful.matching.matched import Matched
from gainful.matching.ranking import Placed, rank_documents
from gainful.measures.discount import Discount
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


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of a list before the arithmetic: where it stands, what it is, its grade."""

    placed: Placed
    doc: str | None
    grade: float | None


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
        some_judged, some_returned = reader.documents(run, name)
        all_judged = queries_of(some_judged, "judgments")
        all_returned = queries_of(some_returned, "run")
        if name not in all_judged:
            raise InputError("query", "a judged query", repr(name), did_you_mean(name, all_judged))
        if name not in all_returned:
            raise InputError("query", "a query of the run", f"{name!r} missing from it")
        if chosen.absent == "lowest":  # of all judgments, not of this query's
            chosen = dataclasses.replace(chosen, absent=reader.lowest_grade)
        judged = judged_of(all_judged[name], name, chosen)
        returned = returned_of(all_returned[name], name, chosen, reader.chunks)
    matched = match_query(name, judged, returned, chosen)
    grades = {doc: float(grade) for doc, grade in judged.items()}
    scores = {doc: float(score) for doc, score in returned.items()}
    if chosen.unjudged == "condense":
        scores = {doc: score for doc, score in scores.items() if doc in grades}
    elif isinstance(chosen.unjudged, float):
        grades = {**dict.fromkeys(scores, chosen.unjudged), **grades}

    def ranked(worth: Callable[[float], float]) -> list[_Entry]:
        def gain(doc: str) -> float:
            return worth(grades[doc]) if doc in grades else 0.0

        return [
            _Entry(placed, placed.doc, grades.get(placed.doc))
            for placed in rank_documents(scores, chosen, gain)
        ]

    return _worked(asked, name, matched, chosen, ranked, sorted(grades.items()))


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
        _Entry(Placed("", rank, rank), None, grade)
        for rank, grade in enumerate(matched.grade.tolist(), 1)
    ]
    pool = [(None, grade) for grade in matched.pool_grades.tolist()]
    chosen = dataclasses.replace(read_policy(policy), ties="order")  # the list says the order
    return _worked(asked, None, matched, chosen, lambda _: entries, pool)


def _explained(measure: str | Measure) -> Measure:
    """Read a measure that has a worked table."""
    asked = measure if isinstance(measure, Measure) else parse(measure)
    if asked.name not in _PARTS or asked.parameters.get("norm") == "minmax":
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
    ranked: Callable[[Callable[[float], float]], list[_Entry]],
    pool: Sequence[tuple[str | None, float]],
) -> Explanation:
    sheet = Worksheet(matched, policy)
    gain = measure.parameters["gain"]

    def worth(grade: float) -> float:
        return sheet.gain_of(gain, grade)

    empty = measure.family.normalised and bool(sheet.empty(gain)[0])
    if empty and policy.empty in ("skip", "error"):
        raise InputError(
            str(measure) if query is None else f"{measure} of query {query!r}",
            "a positive gain among the judged documents",
            "none",
            f"It has no value under the policy empty={policy.empty}.",
        )
    parts = []
    for family in _PARTS[measure.name]:
        known = {p.name for p in Measure(family).family.parameters}
        shared = {name: value for name, value in measure.parameters.items() if name in known}
        part = Measure(family, cutoff=measure.cutoff, **shared)
        total = float(measure_matched(matched, (part,), policy).values[0, 0])
        if family == _IDEAL:
            floor = 0.0 if part.cutoff is None else max(0.0, sheet.absent_gain(gain))
            entries = _ideal_entries(pool, worth, floor)
            title = "the ideal: all judged documents, best first"
        else:
            entries = ranked(worth)
            title = "the list"
        entries = [*entries, *_absent_entries(sheet, part, len(entries), worth)]
        steps = _steps(entries, sheet, part, worth)
        shown = _last_that_matters(steps)
        beyond = (
            sum(entry.placed.rank_first <= (part.cutoff or np.inf) for entry in entries) - shown
        )
        parts.append(Part(title, str(part), tuple(steps[:shown]), total, beyond))
    value = float(measure_matched(matched, (measure,), policy).values[0, 0])
    remark = f"no judged document has a positive gain: policy empty={policy.empty}" if empty else ""
    return Explanation(measure, query, value, tuple(parts), policy, remark)


def _ideal_entries(
    pool: Sequence[tuple[str | None, float]], worth: Callable[[float], float], floor: float
) -> list[_Entry]:
    best_first = sorted(pool, key=lambda item: worth(item[1]), reverse=True)
    better = [(doc, grade) for doc, grade in best_first if worth(grade) > floor]
    return [
        _Entry(Placed("", rank, rank), doc, grade) for rank, (doc, grade) in enumerate(better, 1)
    ]


def _absent_entries(
    sheet: Worksheet, part: Measure, length: int, worth: Callable[[float], float]
) -> list[_Entry]:
    grade = sheet.absent_grade
    if grade is None or part.cutoff is None or (part.name == _IDEAL and worth(grade) <= 0):
        return []
    return [
        _Entry(Placed("", rank, rank), _ABSENT, grade)
        for rank in range(length + 1, part.cutoff + 1)
    ]


def _steps(
    entries: Sequence[_Entry], sheet: Worksheet, part: Measure, worth: Callable[[float], float]
) -> list[Step]:
    inside = [
        entry for entry in entries if part.cutoff is None or entry.placed.rank_first <= part.cutoff
    ]
    if not inside:
        return []
    discount = part.parameters.get("discount", Discount("none"))
    depth = max(entry.placed.rank_last for entry in inside)
    table = sheet.discounts(discount, part.parameters.get("base", 2.0), depth)
    first = np.array([entry.placed.rank_first for entry in inside])
    last = np.array([entry.placed.rank_last for entry in inside])
    certain = first == last
    discounts = np.where(certain, table[first], mean_discount(table, first, last, part.cutoff))
    gains = np.array([0.0 if entry.grade is None else worth(entry.grade) for entry in inside])
    contributions = gains * discounts
    sums = np.cumsum(contributions)
    return [
        Step(
            entry.placed.rank_first,
            entry.placed.rank_last,
            entry.doc,
            entry.grade,
            *map(float, (gains[place], discounts[place], contributions[place], sums[place])),
        )
        for place, entry in enumerate(inside)
    ]


def _last_that_matters(steps: Sequence[Step]) -> int:
    """Return how many steps to show: down to the last judged document."""
    judged = [place for place, step in enumerate(steps, 1) if step.grade is not None]
    return max(judged, default=min(len(steps), 1))
