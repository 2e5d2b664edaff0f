"""`attribute`: which documents moved between two runs, and what each did to the value."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gainful.errors import InputError, MeasureError
from gainful.evaluation.computing.cumulated import ideal_for
from gainful.evaluation.evaluate import measure_matched, read_policy
from gainful.evaluation.worksheet import Worksheet
from gainful.explanation.moved import Attribution, Moved, Other
from gainful.explanation.steps import (
    Floats,
    Listed,
    discounts_to,
    is_empty,
    read_listed,
    steps_of,
    summed,
    why_empty,
)
from gainful.inputs.engine import Engine
from gainful.inputs.identifiers import id_text
from gainful.kernels.cumulation import absent
from gainful.matching.dispatch import reading
from gainful.matching.ranking import Placed
from gainful.measures.notation import parse
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

_SUMS: Mapping[str, str] = {"CG": "CG", "DCG": "DCG", "nDCG": "DCG"}
_NORMALISED = "nDCG"
_NOWHERE = None, None


def attribute(
    judgments: object,
    base: object,
    run: object,
    measure: str | Measure = "nDCG@10",
    *,
    query: object,
    policy: Policy | None = None,
    columns: Mapping[str, str] | None = None,
    chunks: str | Mapping[str, str] | None = None,
    engine: Engine | None = None,
) -> Attribution:
    """Say which documents moved between two runs in a query, and what each did to the value.

    A document at rank i of the base and rank j of the run changes DCG by g·(d_j − d_i), where a
    discount below the cutoff, or of a run that does not return it, is 0. Its part of nDCG is that
    change divided by the ideal, which is of the judgments and so the same for both. The parts
    sum to the difference.

    Under the policy `unjudged` with a grade, the ideal also has the documents without a judgment that
    a run returns, and so may differ. Then a change is weighted by the mean of the two 1/IDCG, and
    what is left is the part of the ideal: (DCG_base + DCG_run)/2 · (1/IDCG_run − 1/IDCG_base).
    So it is with ideal=retrieved and depth=retrieved, where each run has an ideal of its own.
    Exchanging base and run changes the sign of every part, and nothing else.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        base: the run to start from, `{query: {doc: score}}`, or any of the others.
        run: the run that is compared with it. One of the two may lack the query (policy `missing`).
        measure: CG, DCG or nDCG, in the notation or as a value.
        query: the id of the query.
        policy: the choices that are not the measure's; the defaults if None.
        columns: names of columns that are not among the usual, as in `evaluate`.
        chunks: how to fold chunks to documents, as in `evaluate`.
        engine: what may be used of the machine for files and tables.

    >>> judgments = {"q": {"a": 2, "b": 1}}
    >>> found = attribute(judgments, {"q": {"b": 9, "a": 8}}, {"q": {"a": 9, "b": 8}}, "DCG", query="q")
    >>> [(each.doc, each.base_rank, each.run_rank, round(each.part, 3)) for each in found.documents]
    [('a', 2, 1, 0.738), ('b', 1, 2, -0.369)]
    >>> round(found.difference, 3)
    0.369
    """
    asked = _attributed(measure)
    chosen = read_policy(policy).resolved(ids=True)
    name = id_text(query, where="query")
    with reading(judgments, chosen, columns=columns, chunks=chunks, engine=engine) as reader:
        first, second = (read_listed(reader, each, name, chosen) for each in (base, run))
    remarks = _missing(asked, name, first, second)
    sides = _side(first, asked, name), _side(second, asked, name)
    return _attribution(asked, name, *sides, remarks)


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs: where its documents stand, their terms, and the sums.

    `weight` is what a term counts in the value, `constant` what the value is besides the terms;
    `empty` is whether the policy, and no sum, says the value.
    """

    listed: Listed
    sheet: Worksheet
    places: Mapping[str, Placed]
    terms: Mapping[str | None, float]
    absent: float
    total: float
    value: float
    ideal: float | None
    weight: float
    constant: float
    empty: bool

    def ranks(self, doc: str) -> tuple[int, int] | tuple[None, None]:
        """Return the first and the last rank that a document may stand at, if it stands at any."""
        placed = self.places.get(doc)
        return _NOWHERE if placed is None else (placed.rank_first, placed.rank_last)


def _attributed(measure: str | Measure) -> Measure:
    """Read a measure that is a sum over documents, divided by what they do not change."""
    asked = measure if isinstance(measure, Measure) else parse(measure)
    if asked.name not in _SUMS or asked.changes("norm"):
        raise MeasureError(
            "attribute",
            f"one of {', '.join(_SUMS)}, which are sums over documents (nDCG with norm=ideal)",
            f"'{asked}'",
        )
    return asked


def _missing(measure: Measure, query: str, base: Listed, run: Listed) -> tuple[str, ...]:
    """Say which run lacks the query, if that has a value."""
    lacking = [name for name, each in (("base", base), ("run", run)) if each.missing]
    if not lacking:
        return ()
    if len(lacking) == len(("base", "run")):
        raise InputError("query", "a query of the base or of the run", f"{query!r} in neither")
    answer = base.policy.missing
    if answer != "zero":
        raise InputError(
            f"{measure} of query {query!r}",
            "a query of both the base and the run",
            f"it missing from the {lacking[0]}",
            f"It has no value there under the policy missing={answer}.",
        )
    return (f"the {lacking[0]} lacks the query: policy missing={answer}",)


def _side(listed: Listed, measure: Measure, query: str) -> _Side:
    sheet = Worksheet(listed.matched, listed.policy)
    part, gain = summed(measure, _SUMS[measure.name]), measure.parameters["gain"]
    empty = is_empty(sheet, measure, query, undefined=("skip", "error", "nan"))

    def worth(grade: float) -> float:
        return sheet.gain_of(gain, grade)

    def value_of(asked: Measure) -> float:
        return float(measure_matched(listed.matched, (asked,), listed.policy).values[0, 0])

    value, total = value_of(measure), value_of(part)
    ideal = value_of(summed(measure, "IDCG")) if measure.name == _NORMALISED else None
    entries = listed.entries(worth)
    return _Side(
        listed=listed,
        sheet=sheet,
        places={entry.placed.doc: entry.placed for entry in entries},
        terms={step.doc: step.contribution for step in steps_of(entries, sheet, part, worth)},
        absent=_absent_sum(sheet, part),
        total=total,
        value=value,
        ideal=ideal,
        weight=0.0 if empty or ideal == 0 else 1.0 if ideal is None else 1.0 / ideal,
        constant=value if empty else 0.0,
        empty=empty,
    )


def _absent_sum(sheet: Worksheet, part: Measure) -> float:
    """Return what stands at the ranks that the list leaves open (policy `absent`)."""
    gain = sheet.absent_gain(part.parameters["gain"])
    if gain == 0 or part.cutoff is None or sheet.matched.missing[0]:
        return 0.0  # a query that the run lacks is 0, whatever an open rank is worth
    table = discounts_to(sheet, part, part.cutoff)
    return gain * float(absent(sheet.matched.retrieved, np.array([part.cutoff]), table)[0, 0])


def _attribution(
    measure: Measure, query: str, base: _Side, run: _Side, remarks: tuple[str, ...]
) -> Attribution:
    policy = base.listed.policy
    if measure.changes("ideal", "depth") and base.listed.missing:
        # A run that lacks the query is 0 over any ideal, and may have none of its own.
        base = _over_ideal_of(run, base)
    elif measure.changes("ideal", "depth") and run.listed.missing:
        run = _over_ideal_of(base, run)
    elif _same_ideal(measure, base, run):
        # The sums of equal gains may be rounded differently beside lists of other lengths.
        run = _over_ideal_of(base, run)
    weight = (base.weight + run.weight) / 2
    if base.empty or run.empty:
        whose = "" if base.empty == run.empty else f" for the {'base' if base.empty else 'run'}"
        remarks += (why_empty(base.sheet, measure, whose),)
    others = [
        Other("absent", base.absent, run.absent, (run.absent - base.absent) * weight + 0.0),
        Other("ideal", 0.0, 0.0, _ideal_part(base, run)),
    ]
    return Attribution(
        measure=measure,
        query=query,
        base_value=base.value,
        run_value=run.value,
        documents=_documents(measure, base, run, weight),
        others=tuple(each for each in others if each.base_term or each.run_term or each.part),
        sums=summed(measure, _SUMS[measure.name]),
        base_total=base.total,
        run_total=run.total,
        base_ideal=base.ideal,
        run_ideal=run.ideal,
        policy=policy,
        remarks=remarks,
    )


def _over_ideal_of(side: _Side, other: _Side) -> _Side:
    """Return the other side, divided by the ideal of this one."""
    return dataclasses.replace(other, ideal=side.ideal, weight=side.weight)


def _ideal_part(base: _Side, run: _Side) -> float:
    """Return what the two ideals make differ: their weights, or that one of them is empty."""
    weighted = (base.total + run.total) / 2 * (run.weight - base.weight)
    return weighted + (run.constant - base.constant)


def _same_ideal(measure: Measure, base: _Side, run: _Side) -> bool:
    """Return whether the ideals hold the same gains down to their depth."""
    if measure.name != _NORMALISED:
        return True
    parameters = measure.parameters
    depth = None if parameters["depth"] == "all" else measure.cutoff

    def best(side: _Side) -> Floats:
        return np.trim_zeros(ideal_for(side.sheet, parameters).gains[:depth], "b")

    return np.array_equal(best(base), best(run))


def _documents(measure: Measure, base: _Side, run: _Side, weight: float) -> tuple[Moved, ...]:
    """Return every document that a run returns down to the cutoff, or that is judged and returned."""
    grades = {**base.listed.grades, **run.listed.grades}
    moved = []
    for doc in dict.fromkeys([*base.places, *run.places]):
        if doc not in grades and doc not in base.terms and doc not in run.terms:
            continue
        before, after = base.terms.get(doc, 0.0), run.terms.get(doc, 0.0)
        grade = grades.get(doc)
        gain = 0.0 if grade is None else base.sheet.gain_of(measure.parameters["gain"], grade)
        base_rank, base_rank_last = base.ranks(doc)
        run_rank, run_rank_last = run.ranks(doc)
        moved.append(
            Moved(
                doc=doc,
                grade=grade,
                gain=gain,
                base_rank=base_rank,
                base_rank_last=base_rank_last,
                run_rank=run_rank,
                run_rank_last=run_rank_last,
                base_term=before,
                run_term=after,
                part=(after - before) * weight + 0.0,  # + 0: there is no −0
            )
        )
    return tuple(sorted(moved, key=_order))


def _order(each: Moved) -> tuple[float, float, float, int, str]:
    """Order by what a document does, then by what it is worth, then by the better of its ranks."""
    ranks = [rank for rank in (each.base_rank, each.run_rank) if rank is not None]
    return -abs(each.part), -abs(each.change), -abs(each.base_term), min(ranks), each.doc
