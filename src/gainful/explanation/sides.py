"""Two runs in one query: the terms of their documents, and what each has in the difference."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.evaluation.counting import SKIPPED
from gainful.explanation.listing import Listed
from gainful.explanation.moved import Attribution, Moved, Other
from gainful.explanation.steps import discounts_to, steps_of, why_empty
from gainful.explanation.sums import Sums
from gainful.explanation.worked import Step
from gainful.kernels.cumulation import absent
from gainful.matching.ranking import Ranking
from gainful.measures.spec import Measure

SUMS: Mapping[str, str] = {"CG": "CG", "DCG": "DCG", "nDCG": "DCG"}
"""The measures that are sums over documents, and the sum that they are of."""

NO_VALUE = (*SKIPPED, "error")
"""Answers of the policy `empty` that give an empty query no value."""

UNDEFINED = (*NO_VALUE, "nan")
"""The answers of the policy `empty` under which there is no difference."""

_NOWHERE = None, None


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs: where its documents stand, their terms, and the sums.

    `sums` has the query at `place`. `weight` is what a term counts in the value, `constant` what
    the value is besides the terms; `empty` is whether the policy, and no sum, says the value.
    """

    listed: Listed
    sums: Sums
    place: int
    ranking: Ranking
    terms: Mapping[str, float]
    absent: float
    total: float
    value: float
    ideal: float | None
    weight: float
    constant: float
    empty: bool

    def ranks(self, doc: str) -> tuple[int, int] | tuple[None, None]:
        """Return the first and the last rank that a document may stand at, if it stands at any."""
        return self.ranking.ranks(doc) or _NOWHERE


def side_of(
    listed: Listed,
    sums: Sums,
    place: int,
    ranking: Ranking | None = None,
    steps: Sequence[Step] | None = None,
) -> Side:
    """Return one of two runs.

    Args:
        listed: its documents.
        sums: that have its query at a place.
        place: the place.
        ranking: of its documents, if it is there already.
        steps: the lines of its sum down to the cutoff, if they are there already.
    """
    part = sums.part
    ranking = listed.ranking(sums.worth) if ranking is None else ranking
    if steps is None:
        steps = steps_of(listed.entries(ranking, part.cutoff), sums.sheet, part, sums.worth)
    value, empty = sums.values[place], sums.is_empty(place)
    ideal = None if sums.ideals is None else sums.ideals[place]
    return Side(
        listed=listed,
        sums=sums,
        place=place,
        ranking=ranking,
        terms={
            step.doc: step.contribution
            for step in steps
            if step.doc is not None and step.doc in ranking.scores
        },
        absent=_absent_sum(sums, part, place),
        total=sums.totals[place],
        value=value,
        ideal=ideal,
        weight=0.0 if empty or ideal == 0 else 1.0 if ideal is None else 1.0 / ideal,
        constant=value if empty else 0.0,
        empty=empty,
    )


def _absent_sum(sums: Sums, part: Measure, place: int) -> float:
    """Return what stands at the ranks that the list leaves open (policy `absent`)."""
    sheet = sums.sheet
    if sheet.absent_grade is None:
        return 0.0
    gain = sheet.absent_gain(part.parameters["gain"])
    if gain == 0 or part.cutoff is None or sheet.matched.missing[place]:
        return 0.0  # a query that the run lacks is 0, whatever an open rank is worth
    table = discounts_to(sheet, part, part.cutoff)
    length = sheet.matched.retrieved[place : place + 1]
    return gain * float(absent(length, np.array([part.cutoff]), table)[0, 0])


def attribution_of(
    base: Side, run: Side, remarks: tuple[str, ...] = (), *, idle: bool = True
) -> Attribution:
    """Return what each document has in the difference; without `idle`, of those that have a part."""
    measure, policy = base.sums.measure, base.listed.policy
    if base.sums.own_ideal and base.listed.missing:
        # A run that lacks the query is 0 over any ideal, and may have none of its own.
        base = _over_ideal_of(run, base)
    elif base.sums.own_ideal and run.listed.missing:
        run = _over_ideal_of(base, run)
    elif _same_ideal(base, run):
        # The sums of equal gains may be rounded differently beside lists of other lengths.
        run = _over_ideal_of(base, run)
    weight = (base.weight + run.weight) / 2
    if base.empty or run.empty:
        whose = "" if base.empty == run.empty else f" for the {'base' if base.empty else 'run'}"
        remarks += (why_empty(policy, measure, whose),)
    others = [
        Other("absent", base.absent, run.absent, (run.absent - base.absent) * weight + 0.0),
        Other("ideal", 0.0, 0.0, _ideal_part(base, run)),
    ]
    return Attribution(
        measure=measure,
        query=base.listed.query,
        base_value=base.value,
        run_value=run.value,
        documents=_documents(base, run, weight, idle=idle),
        others=tuple(each for each in others if each.base_term or each.run_term or each.part),
        sums=base.sums.part,
        base_total=base.total,
        run_total=run.total,
        base_ideal=base.ideal,
        run_ideal=run.ideal,
        policy=policy,
        remarks=remarks,
    )


def _over_ideal_of(side: Side, other: Side) -> Side:
    """Return the other side, divided by the ideal of this one."""
    return dataclasses.replace(other, ideal=side.ideal, weight=side.weight)


def _ideal_part(base: Side, run: Side) -> float:
    """Return what the two ideals make differ: their weights, or that one of them is empty."""
    weighted = (base.total + run.total) / 2 * (run.weight - base.weight)
    return weighted + (run.constant - base.constant)


def _same_ideal(base: Side, run: Side) -> bool:
    """Return whether the ideals hold the same gains down to their depth."""
    if base.ideal is None:
        return True
    return base.sums.best_gains(base.place) == run.sums.best_gains(run.place)


def _documents(base: Side, run: Side, weight: float, *, idle: bool) -> tuple[Moved, ...]:
    """Return every document that a run returns down to the cutoff, or that is judged and returned.

    Without `idle`, only those that have a part.
    """
    grades = {**base.listed.grades, **run.listed.grades}
    moved = []
    listed = [*base.terms, *run.terms]
    if idle:
        returned = (doc for side in (base, run) for doc in side.ranking.scores)
        listed += [doc for doc in returned if doc in grades]
    for doc in dict.fromkeys(listed):
        before, after = base.terms.get(doc, 0.0), run.terms.get(doc, 0.0)
        part = (after - before) * weight + 0.0  # + 0: there is no −0
        if not part and not idle:
            continue
        grade = grades.get(doc)
        base_rank, base_rank_last = base.ranks(doc)
        run_rank, run_rank_last = run.ranks(doc)
        moved.append(
            Moved(
                doc=doc,
                grade=grade,
                gain=0.0 if grade is None else base.sums.worth(grade),
                base_rank=base_rank,
                base_rank_last=base_rank_last,
                run_rank=run_rank,
                run_rank_last=run_rank_last,
                base_term=before,
                run_term=after,
                part=part,
            )
        )
    return tuple(sorted(moved, key=_order))


def _order(each: Moved) -> tuple[float, float, float, int, str]:
    """Order by what a document does, then by what it is worth, then by the better of its ranks."""
    ranks = [rank for rank in (each.base_rank, each.run_rank) if rank is not None]
    return -abs(each.part), -abs(each.change), -abs(each.base_term), min(ranks), each.doc
