"""`attribute`: which documents make the difference between two runs of a query."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from gainful.errors import InputError, MeasureError
from gainful.evaluation.coverage import policy_note
from gainful.evaluation.request import read_one
from gainful.explanation.judged_ranking import (
    JudgedRanking,
    look_at_grades,
    read_judged_ranking,
    sums_of,
)
from gainful.explanation.worked_families import SUM, adds_up
from gainful.explanation.worked_steps import (
    IDEAL,
    NO_VALUE,
    Sums,
    discounts_to,
    family_steps,
    has_table,
    is_empty,
    steps_of,
    summed,
    why_empty,
)
from gainful.explanation.worked_tables import Account, Step, grade_cell, plain_cell, rank_cell
from gainful.inputs.id_types import UNTYPED, IdType
from gainful.inputs.identifiers import id_text
from gainful.kernels.cumulated_gain import absent
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.ranked_documents import Ranking
from gainful.measures.gain import Gain
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure, read_measure
from gainful.measures.own_measures import OwnMeasure
from gainful.measures.policy import Policy, shared_policy
from gainful.message_texts import printable
from gainful.rendering.table_formats import Cell, Table

_DIGITS = 4
_MOST_IDLE = 3  # documents without a part that are shown, so that one sees what they are
_CUMULATED = ("CG", "DCG", "nDCG")  # of cumulated gain, what is a sum over the documents of a list

UNDEFINED = (*NO_VALUE, "nan")
"""The answers of the policy `empty` under which there is no difference."""

_NOWHERE = None, None


@dataclass(frozen=True, slots=True)
class MovedDocument:
    """A document: its ranks in both runs, its terms there, and its part of the difference.

    Ranks are None where a run does not return it, and may be below the cutoff, where its term is
    0; `base_rank_last` and `run_rank_last` are above the first where it shares a block of ranks
    (ties averaged). A term is what the document adds to the sum: of DCG, the gain times the discount. `grade` is None for an unjudged document.
    """

    doc: str
    grade: float | None
    gain: float
    base_rank: int | None
    base_rank_last: int | None
    run_rank: int | None
    run_rank_last: int | None
    base_term: float
    run_term: float
    part: float

    @property
    def change(self) -> float:
        """Its part of the difference of the sums: the second term less the first."""
        return self.run_term - self.base_term


@dataclass(frozen=True, slots=True)
class Other:
    """What no document accounts for, and its part of the difference.

    `absent`: what the policy `absent` puts at ranks that a list leaves open. `ideal`: that
    the two runs have different ideals, as under the policy `unjudged` with a grade. `divisor`: that their sums are
    divided by different numbers, as by the lengths of their lists.
    """

    name: str
    base_term: float
    run_term: float
    part: float

    @property
    def change(self) -> float:
        """Its part of the difference of the sums."""
        return self.run_term - self.base_term


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attribution(Account):
    """The difference of two runs in one query, and the part that each document has in it.

    The parts of `documents` and `others` sum to `difference`. Prints as text, shows as HTML in a
    notebook; `to_markdown()`, `to_html()` and `to_dict()` export it.

    Attributes:
        measure: the measure.
        query: the id of the query.
        base_value: the value of the base.
        run_value: the value of the run.
        documents: those with the largest part, up or down, first; those without one last.
        others: what no document accounts for; mostly nothing.
        sums: what the terms sum to: CG, DCG or another measure, or `sum` where that is none.
        base_total: that sum of the base.
        run_total: that sum of the run.
        base_ideal: what the sum of the base is divided by, an ideal or a count; None if the measure does not divide.
        run_ideal: what the sum of the run is divided by.
        divisor: what they are divided by, as it is written.
        policy: the policy, ties decided.
        remarks: what else there is to say of the values.
        doc_type: what the ids of documents were, before they were text.
    """

    measure: Measure
    query: str
    base_value: float
    run_value: float
    documents: tuple[MovedDocument, ...]
    others: tuple[Other, ...]
    sums: str
    base_total: float
    run_total: float
    base_ideal: float | None
    run_ideal: float | None
    policy: Policy
    remarks: tuple[str, ...] = ()
    divisor: str = ""
    doc_type: IdType = field(default=UNTYPED, compare=False)

    @property
    def difference(self) -> float:
        """The value of the run less the value of the base."""
        return self.run_value - self.base_value

    @property
    def heading(self) -> str:
        """What is attributed."""
        return printable(f"{self.measure} of query {self.query}, run less base")

    @property
    def conclusion(self) -> str:
        """The last line: the two values and their difference."""
        base, run = f"{self.base_value:.{_DIGITS}f}", f"{self.run_value:.{_DIGITS}f}"
        return f"{self.measure}: base {base}, run {run}, difference {self.difference:+.{_DIGITS}f}"

    def table(self) -> Table:
        """Return all documents as one table, and what no document accounts for."""
        return self._table(self.documents)

    def tables(self) -> list[Table]:
        """Return what people are shown: most documents without a part are left out, and counted."""
        moved = sum(document.part != 0 or document.change != 0 for document in self.documents)
        table = self._table(self.documents[: moved + _MOST_IDLE])
        left_out = self.documents[moved + _MOST_IDLE :]
        total = self._row("sum", self.base_total, self.run_total, self.difference)
        return [
            Table(
                table.columns,
                [*table.rows, total],
                digits=_DIGITS,
                notes=self._notes(left_out),
            )
        ]

    def _table(self, documents: Iterable[MovedDocument]) -> Table:
        sides = ["base rank", "run rank", "base term", "run term"]
        parts = dict.fromkeys([f"part of {self.sums}", f"part of {self.measure}"])
        rows: list[list[Cell]] = [
            [
                document.doc,
                grade_cell(document.grade),
                *([plain_cell(document.gain)] if self._has_gain else []),
                rank_cell(document.base_rank, document.base_rank_last),
                rank_cell(document.run_rank, document.run_rank_last),
                *self._numbers(document.base_term, document.run_term, document.part),
            ]
            for document in documents
        ]
        rows += [
            self._row(f"({other.name})", other.base_term, other.run_term, other.part)
            for other in self.others
        ]
        gain = ["gain"] if self._has_gain else []
        return Table(["doc", "grade", *gain, *sides, *parts], rows, digits=_DIGITS)

    @property
    def _has_gain(self) -> bool:
        return isinstance(self.measure.parameters.get("gain"), Gain)

    def _row(self, name: str, base_term: float, run_term: float, part: float) -> list[Cell]:
        """Return a row that is not of a document: it has no grade and no rank."""
        blank: list[Cell] = [None] * (4 if self._has_gain else 3)
        return [name, *blank, *self._numbers(base_term, run_term, part)]

    def _numbers(self, base_term: float, run_term: float, part: float) -> list[Cell]:
        change = run_term - base_term
        # Of a bare sum, the part is the change.
        return [base_term, run_term, change, *([] if self.sums == str(self.measure) else [part])]

    def _notes(self, left_out: Sequence[MovedDocument]) -> list[str]:
        notes = []
        if left_out:
            count = len(left_out)
            more = "1 more document has" if count == 1 else f"{count} more documents have"
            notes.append(f"{more} no part in the difference")
            if any(document.base_term for document in left_out):  # the same in both
                same = math.fsum(document.base_term for document in left_out)
                notes[-1] += f"; {same:.{_DIGITS}f} of either sum"
        if self.base_ideal is not None and self.run_ideal is not None:
            ideal, other = (self._divided(each) for each in (self.base_ideal, self.run_ideal))
            both = (
                "" if self.base_ideal == self.run_ideal else f" for the base, {other} for the run"
            )
            notes.append(f"{self.divisor} = {ideal}{both}")
        return [*notes, *self.remarks, policy_note(self.policy)]

    def _divided(self, by: float) -> str:
        """Write what a sum is divided by: a count without decimals."""
        is_count = self.measure.name not in _CUMULATED and by.is_integer()
        return str(int(by)) if is_count else f"{by:.{_DIGITS}f}"

    def _id_types(self) -> Mapping[str, IdType]:
        return {"doc": self.doc_type}

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "measure": str(self.measure),
            "query": self.query,
            "base_value": self.base_value,
            "run_value": self.run_value,
            "difference": self.difference,
            "conclusion": self.conclusion,
            "policy": self.policy.answers(),
            "sums": self.sums,
            "base_total": self.base_total,
            "run_total": self.run_total,
            "base_ideal": self.base_ideal,
            "run_ideal": self.run_ideal,
            "remarks": list(self.remarks),
            "documents": [asdict(each) | {"change": each.change} for each in self.documents],
            "others": [asdict(each) | {"change": each.change} for each in self.others],
        }


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs: where its documents stand, their terms, and the sums.

    `sums` has the query at `place`. `weight` is what a term counts in the value, `constant` what
    the value is besides the terms; `empty` is whether the policy, and no sum, says the value. `divisor`
    is how the ideal, or the count that the sum is divided by, is written.
    """

    listed: JudgedRanking
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
    divisor: str = ""

    def ranks(self, doc: str) -> tuple[int, int] | tuple[None, None]:
        """Return the first and the last rank that a document may stand at, if it stands at any."""
        return self.ranking.ranks(doc) or _NOWHERE


def side_of(
    listed: JudgedRanking,
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
    ranking = listed.ranking(sums.worth) if ranking is None else ranking
    if not has_table(sums.measure):
        return _family_side(listed, sums, place, ranking)
    part = sums.part
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
        divisor="" if ideal is None else str(summed(sums.measure, IDEAL)),
    )


def _family_side(listed: JudgedRanking, sums: Sums, place: int, ranking: Ranking) -> Side:
    """Return one of two runs under a measure that is no cumulated gain."""
    worked, steps = family_steps(sums, place, listed.entries(ranking, sums.measure.cutoff))
    value, empty = sums.values[place], sums.is_empty(place)
    closing = worked.closing
    ideal = closing.divisor if closing.formula else None
    return Side(
        listed=listed,
        sums=sums,
        place=place,
        ranking=ranking,
        terms={step.doc: step.contribution for step in steps if step.doc is not None},
        absent=0.0,
        total=worked.total,
        value=value,
        ideal=ideal,
        weight=0.0 if empty or ideal == 0 else 1.0 if ideal is None else 1.0 / ideal,
        constant=value if empty else 0.0,
        empty=empty,
        divisor=closing.formula.removeprefix("sum / "),
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
    """Return the part of each document in the difference; without `idle`, of those that have one."""
    measure = base.sums.measure
    policy = shared_policy([base.listed.policy, run.listed.policy])
    if base.sums.own_divisor and base.listed.missing:
        # A run that lacks the query is 0 over any ideal, and may have none of its own.
        base = _over_ideal_of(run, base)
    elif base.sums.own_divisor and run.listed.missing:
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
        Other(_dividing(measure), 0.0, 0.0, _ideal_part(base, run)),
    ]
    return Attribution(
        measure=measure,
        query=base.listed.query,
        base_value=base.value,
        run_value=run.value,
        documents=_documents(base, run, weight, idle=idle),
        others=tuple(each for each in others if each.base_term or each.run_term or each.part),
        sums=_summing(base),
        base_total=base.total,
        run_total=run.total,
        base_ideal=base.ideal,
        run_ideal=run.ideal,
        policy=policy,
        remarks=remarks,
        divisor=run.divisor if base.listed.missing else base.divisor,
    )


def _dividing(measure: Measure) -> str:
    """Name what the sums of a measure are divided by."""
    return "ideal" if has_table(measure) else "divisor"


def _summing(side: Side) -> str:
    """Name what the terms of a side sum to."""
    if has_table(side.sums.measure):
        return str(side.sums.part)
    return str(side.sums.measure) if side.ideal is None else SUM


def _over_ideal_of(side: Side, other: Side) -> Side:
    """Return the other side, divided by the ideal of this one."""
    return dataclasses.replace(other, ideal=side.ideal, weight=side.weight)


def _ideal_part(base: Side, run: Side) -> float:
    """Return the part of the difference that comes from different ideals."""
    weighted = (base.total + run.total) / 2 * (run.weight - base.weight)
    return weighted + (run.constant - base.constant)


def _same_ideal(base: Side, run: Side) -> bool:
    """Return whether the ideals hold the same gains down to their depth."""
    if base.ideal is None:
        return True
    if not has_table(base.sums.measure):
        return base.ideal == run.ideal
    return base.sums.best_gains(base.place) == run.sums.best_gains(run.place)


def _documents(base: Side, run: Side, weight: float, *, idle: bool) -> tuple[MovedDocument, ...]:
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
            MovedDocument(
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


def _order(each: MovedDocument) -> tuple[float, float, float, int, str]:
    """Order documents by their part, then by their gain, then by the better of their ranks."""
    ranks = [rank for rank in (each.base_rank, each.run_rank) if rank is not None]
    return -abs(each.part), -abs(each.change), -abs(each.base_term), min(ranks), each.doc


@takes(MeasuringOptions)
def attribute(
    judgments: object,
    base: object,
    run: object,
    measure: GivenMeasure = "nDCG@10",
    *,
    query: object,
    **options: Unpack[MeasuringOptions],
) -> Attribution:
    """Say which documents moved between two runs in a query, and what each did to the value.

    A document at rank i of the base and rank j of the run changes DCG by g·(d_j − d_i). A discount
    below the cutoff, or of a run that does not return it, is 0. Its part of nDCG is that change
    divided by the ideal, which is of the judgments and so the same for both. The parts sum to the
    difference. So it is with every measure that is a sum over documents. Of AP, a document adds the
    precision at its rank, divided by the number of relevant documents.

    Under the policy `unjudged` with a grade, the ideal also has the documents without a judgment that
    a run returns, and so may differ. Then a change is weighted by the mean of the two 1/IDCG. What is
    left is the part of the ideal: (DCG_base + DCG_run)/2 · (1/IDCG_run − 1/IDCG_base). So it is with
    ideal=retrieved and depth=retrieved, where each run has an ideal of its own. Exchanging base and
    run changes the sign of every part, and nothing else.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object.
        base: the run to start from, `{query: {doc: score}}`, or any of the others.
        run: the run that is compared with it. One of the two may lack the query (policy `missing`).
        measure: one that is a sum over documents, in the notation or as a value.
        query: the id of the query.
        **options: see `MeasuringOptions`.

    >>> judgments = {"q": {"a": 2, "b": 1}}
    >>> found = attribute(judgments, {"q": {"b": 9, "a": 8}}, {"q": {"a": 9, "b": 8}}, "DCG", query="q")
    >>> [(each.doc, each.base_rank, each.run_rank, round(each.part, 3)) for each in found.documents]
    [('a', 2, 1, 0.738), ('b', 1, 2, -0.369)]
    >>> round(found.difference, 3)
    0.369
    """
    request = read_one(measure, options)
    asked = read_attributed(request.measure)
    name = id_text(query, where="query")
    with request.reader_of(judgments, options) as reader:
        first, second = (read_judged_ranking(reader, each, name) for each in (base, run))
        doc_type = reader.doc_type(run, base)
    look_at_grades(first, asked, request.policy, request.tool)
    remarks = _missing(asked, name, first, second)
    sides = []
    for listed in (first, second):
        sums = sums_of([listed], asked, listed.policy)
        is_empty(sums, 0, name, undefined=UNDEFINED)
        sides.append(side_of(listed, sums, 0))
    base_side, run_side = sides
    return replace(attribution_of(base_side, run_side, remarks), doc_type=doc_type)


def has_parts(measure: Measure) -> bool:
    """Return whether a measure is a sum over the documents of a list, divided by one number."""
    if measure.name in _CUMULATED:
        return has_table(measure)
    return adds_up(measure) and not isinstance(measure, OwnMeasure)


def read_attributed(measure: GivenMeasure) -> Measure:
    """Read a measure that is a sum over the documents of a list, divided by one number."""
    asked = read_measure(measure)
    if not has_parts(asked):
        raise MeasureError(
            "attribute",
            "a measure that is a sum over the documents of a list, such as nDCG, AP, RBP or ERR",
            f"'{asked}', which is none",
            "`explain` shows how its value comes about.",
        )
    return asked


def _missing(
    measure: Measure, query: str, base: JudgedRanking, run: JudgedRanking
) -> tuple[str, ...]:
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
