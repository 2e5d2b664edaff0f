"""The steps of a worked table: the documents of a list by rank, with gains and discounts.

`Sums` computes a measure and its parts for all matched queries at once, for one table or many.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.evaluation.computing.cumulated_gain import floor_of, ideal_for
from gainful.evaluation.gains_ranks_and_ideals import Ideal, Worksheet
from gainful.evaluation.means_over_queries import SKIPPED
from gainful.evaluation.measuring import empty_for
from gainful.evaluation.scores import measure_matched
from gainful.explanation.worked_families import WAYS, Terms, WorkedList, work_out
from gainful.explanation.worked_tables import Step
from gainful.inputs.cores import cached_property
from gainful.kernels.cumulated_gain import mean_discount
from gainful.matching.matched import Matched, cut
from gainful.matching.ranked_documents import Placed
from gainful.measures.discount import Discount
from gainful.measures.gain import Gain
from gainful.measures.measure import Measure
from gainful.measures.own_measures import OwnMeasure
from gainful.measures.policy import Policy

_NORMALISED = "nDCG"
_SUMS = {_NORMALISED: "DCG"}
Worth = Callable[[float], float]
PARTS: Mapping[str, tuple[str, ...]] = {
    "CG": ("CG",),
    "DCG": ("DCG",),
    "IDCG": ("IDCG",),
    "nDCG": ("DCG", "IDCG"),
}
"""The measures whose worked table has gains and discounts, and the sums that it shows."""

NO_VALUE = (*SKIPPED, "error")
"""Answers of the policy `empty` that give an empty query no value."""

IDEAL = "IDCG"
ABSENT = "(absent)"
"""What stands in the place of a document at a rank that a list leaves open."""

JudgedDocs = Sequence[tuple[str | None, float | None]]


class Sums:
    """The sums of one measure over all matched queries, which its worked tables show.

    Attributes:
        sheet: what was matched, under a policy by which every query of it has a row.
        measure: what is worked out.

    >>> from gainful.matching.dict_matching import match_queries
    >>> from gainful.measures.notation import parse
    >>> matched = match_queries([("q", {"a": 2, "b": 1}, {"a": 1.0})], Policy(ties="doc"))
    >>> sums = Sums(matched, parse("nDCG"), Policy(ties="doc"))
    >>> sums.value(parse("DCG"), 0), sums.worth(2.0)
    (2.0, 2.0)
    """

    def __init__(self, matched: Matched, measure: Measure, policy: Policy) -> None:
        # Where documents tie below the cutoff, no order need be known there, as in an evaluation.
        needless = policy.ties == "average" and policy.unjudged == "zero"
        near = cut(matched, measure.reach) if needless else matched
        self.sheet = Worksheet(near, policy)
        self.measure = measure
        self._values: dict[Measure, list[float]] = {}
        self._best: dict[int, list[float]] = {}
        self._worth: dict[float, float] = {}

    def worth(self, grade: float) -> float:
        """Return the gain of a grade; the grade itself where the measure has no gain."""
        if self.gain is None:
            return grade
        if grade not in self._worth:
            self._worth[grade] = self.sheet.gain_of(self.gain, grade)
        return self._worth[grade]

    @cached_property
    def gain(self) -> Gain | None:
        """The gain of the measure, if it has one."""
        known = self.measure.parameters.get("gain")
        return known if isinstance(known, Gain) else None  # one's own may mean something else by it

    def value(self, measure: Measure, place: int) -> float:
        """Return the value of any measure for the query at a place."""
        return self._all(measure)[place]

    def _all(self, measure: Measure) -> list[float]:
        if measure not in self._values:
            matched, policy = self.sheet.matched, self.sheet.policy
            found = measure_matched([matched], (measure,), policy).values[:, 0]
            self._values[measure] = found.tolist()
        return self._values[measure]

    @cached_property
    def values(self) -> list[float]:
        """(q,) values of the measure."""
        return self._all(self.measure)

    @cached_property
    def totals(self) -> list[float]:
        """(q,) sums of the lists: CG or DCG."""
        return self._all(self.part)

    @cached_property
    def ideals(self) -> list[float] | None:
        """(q,) what the lists are divided by; None where the measure does not divide."""
        if self.measure.name != _NORMALISED:
            return None
        return self._all(summed(self.measure, IDEAL))

    @cached_property
    def part(self) -> Measure:
        """The sum over a list that the measure is made of, at its cutoff."""
        return summed(self.measure, _SUMS.get(self.measure.name, self.measure.name))

    @cached_property
    def own_ideal(self) -> bool:
        """Whether the ideal of a list is its own, and not that of the judgments."""
        return self.measure.changes("ideal", "depth")

    @cached_property
    def own_divisor(self) -> bool:
        """Whether what a list is divided by may be its own: an ideal, or a count."""
        return self.own_ideal or not has_table(self.measure)

    def is_empty(self, place: int) -> bool:
        """Return whether the policy decides the value of the query at a place, as no sum can."""
        return self._empty[place]

    @cached_property
    def _empty(self) -> list[bool]:
        if not self.measure.family.normalised:
            return [False] * len(self.sheet.matched.queries)
        found: list[bool] = empty_for(self.sheet, [self.measure])[:, 0].tolist()
        return found

    def best_gains(self, place: int) -> list[float]:
        """Return the gains of the ideal of the query at a place, down to its depth; no zeros last."""
        if place not in self._best:
            ideal = self._ideal
            rows = slice(ideal.offsets[place], ideal.offsets[place + 1])
            gains = np.zeros(ideal.rank[rows].max(initial=0))  # a rank may have no row
            gains[ideal.rank[rows] - 1] = ideal.gains[rows]
            depth = None if self.measure.parameters["depth"] == "all" else self.measure.cutoff
            best: list[float] = gains[:depth].tolist()
            while best and best[-1] == 0:
                best.pop()
            self._best[place] = best
        return self._best[place]

    @cached_property
    def _ideal(self) -> Ideal:
        return ideal_for(self.sheet, self.measure.parameters)


@cache
def summed(measure: Measure, family: str) -> Measure:
    """Return another family at the cutoff of a measure, with the parameters that they share.

    >>> from gainful.measures.notation import parse
    >>> summed(parse("nDCG(gain=exp2)@5"), "DCG")
    Measure('DCG(gain=exp2)@5')
    """
    known = {parameter.name for parameter in Measure(family).family.parameters}
    shared = {name: value for name, value in measure.parameters.items() if name in known}
    return Measure(family, cutoff=measure.cutoff, **shared)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a list before the arithmetic: where it stands, what it is, its grade."""

    placed: Placed
    doc: str | None
    grade: float | None


def is_empty(sums: Sums, place: int, query: str | None, undefined: Collection[str]) -> bool:
    """Return whether the policy decides the value of a normalised measure, as no sum can.

    Refuse answers of the policy `empty` that are `undefined`: they say no value.
    """
    if not sums.is_empty(place):
        return False
    measure, policy = sums.measure, sums.sheet.policy
    if policy.empty in undefined:
        raise InputError(
            str(measure) if query is None else f"{measure} of query {query!r}",
            *(
                ("an ideal above 0", "one that is not")
                if policy.negative == "both" and has_table(measure)
                else (f"a relevant document among the {_pool(measure)}", "none")
                if "rel" in measure.parameters
                else (f"a positive gain among the {_pool(measure)}", "none")
            ),
            f"It has no value under the policy empty={policy.empty}.",
        )
    return True


def why_empty(policy: Policy, measure: Measure, whose: str = "") -> str:
    """Say why the policy decides the value of a normalised measure, as no sum can."""
    said = "no judged document has a positive gain"
    if "rel" in measure.parameters and not isinstance(measure, OwnMeasure):
        return f"no judged document is relevant{whose}: policy empty={policy.empty}"
    if measure.changes("ideal", "depth"):
        said = "no document of the ideal has a positive gain"
    if policy.negative == "both" and has_table(measure):
        said = "the ideal is not above 0"
    return f"{said}{whose}: policy empty={policy.empty}"


def _pool(measure: Measure) -> str:
    return "documents of the ideal" if measure.changes("ideal", "depth") else "judged documents"


def discounts_to(sheet: Worksheet, part: Measure, depth: int) -> Floats:
    """Return the discounts of a sum by rank, down to `depth`; those of CG are 1."""
    discount = part.parameters.get("discount", Discount("none"))
    return sheet.discounts(discount, part.parameters.get("base", 2.0), depth)


def steps_of(entries: Sequence[Entry], sheet: Worksheet, part: Measure, worth: Worth) -> list[Step]:
    """Work out the entries down to the cutoff of a sum."""
    inside = [
        entry for entry in entries if part.cutoff is None or entry.placed.rank_first <= part.cutoff
    ]
    if not inside:
        return []
    table = discounts_to(sheet, part, max(entry.placed.rank_last for entry in inside))
    first = np.array([entry.placed.rank_first for entry in inside])
    last = np.array([entry.placed.rank_last for entry in inside])
    discounts, certain = table[first], first == last
    if not certain.all():
        shared = mean_discount(table, first, last, part.cutoff)
        discounts = np.where(certain, discounts, shared)
    gains = np.array([0.0 if entry.grade is None else worth(entry.grade) for entry in inside])
    return steps_with(inside, Terms(gains, discounts))


def has_table(measure: Measure) -> bool:
    """Return whether the worked table of a measure has gains and discounts.

    >>> has_table(Measure("nDCG")), has_table(Measure("AP"))
    (True, False)
    """
    return measure.name in PARTS and not measure.changes("norm")


def is_worked(measure: Measure) -> bool:
    """Return whether lists have a table of their steps: under every family, but no formula and no measure of one's own.

    >>> is_worked(Measure("AP")), is_worked(Measure("nDCG", norm="minmax"))
    (True, False)
    """
    return has_table(measure) or (measure.name in WAYS and not isinstance(measure, OwnMeasure))


def family_steps(sums: Sums, place: int, entries: Sequence[Entry]) -> tuple[WorkedList, list[Step]]:
    """Work out a list under a family that is no cumulated gain, down to its cutoff."""
    measure = sums.measure
    inside = [
        entry
        for entry in entries
        if measure.cutoff is None or entry.placed.rank_first <= measure.cutoff
    ]
    ranks = [(entry.placed.rank_first, entry.placed.rank_last) for entry in inside]
    worked = work_out(measure, sums.sheet, place, ranks, [entry.grade for entry in inside])
    return worked, steps_with(inside, worked.terms)


def steps_with(entries: Sequence[Entry], terms: Terms) -> list[Step]:
    """Return a step for each entry, of what it is worth and counts."""
    contributions = terms.worth * terms.weight
    columns = terms.worth, terms.weight, contributions, np.cumsum(contributions)
    return [
        Step(entry.placed.rank_first, entry.placed.rank_last, entry.doc, entry.grade, *numbers)
        for entry, *numbers in zip(entries, *(column.tolist() for column in columns), strict=True)
    ]


def _best_entries(entries: Sequence[Entry], pool: JudgedDocs) -> list[Entry]:
    """Return all judged documents by grade descending; of one grade, those of the list as they stand there."""
    stands = {entry.doc: entry.placed.rank_first for entry in entries if entry.doc is not None}
    known = [(doc, grade) for doc, grade in pool if grade is not None]
    nowhere = len(entries) + 1
    order = sorted(known, key=lambda item: (-item[1], stands.get(item[0] or "", nowhere)))
    return [Entry(Placed("", rank, rank), doc, grade) for rank, (doc, grade) in enumerate(order, 1)]


def ideal_steps_of(worked: WorkedList, entries: Sequence[Entry], pool: JudgedDocs) -> list[Step]:
    """Return the steps of the ideal of a family that has one."""
    if worked.ideal is None:
        return []
    return steps_with(_best_entries(entries, pool)[: worked.ideal.worth.size], worked.ideal)


def list_steps(sums: Sums, part: Measure, entries: Sequence[Entry], length: int) -> list[Step]:
    """Work out a list of this length, or its first entries alone, down to the cutoff."""
    lines = [*entries, *_absent_entries(sums.sheet, part, length)]
    return steps_of(lines, sums.sheet, part, sums.worth)


def ideal_steps(sums: Sums, place: int, part: Measure, pool: JudgedDocs) -> list[Step]:
    """Work out the ideal of the query at a place, of documents with their grades."""
    entries = _ideal_entries(sums, place, part, pool)
    entries += _absent_entries(sums.sheet, part, len(entries))
    whole = part.at(None) if part.parameters["depth"] == "all" else part
    return steps_of(entries, sums.sheet, whole, sums.worth)


def worst_steps(sums: Sums, part: Measure, pool: JudgedDocs) -> list[Step]:
    """Work out the worst list: the documents of negative gain, and the absent ones where they are worse."""
    sheet = sums.sheet
    absent = 0.0 if part.cutoff is None else min(0.0, sheet.absent_gain(part.parameters["gain"]))
    worse = [item for item in pool if item[1] is not None and sums.worth(item[1]) < absent]
    order = sorted(worse, key=lambda item: sums.worth(item[1] or 0.0))
    entries = [
        Entry(Placed("", rank, rank), doc, grade) for rank, (doc, grade) in enumerate(order, 1)
    ]
    if absent < 0 and part.cutoff is not None:
        entries += [
            Entry(Placed("", rank, rank), ABSENT, sheet.absent_grade)
            for rank in range(len(entries) + 1, part.cutoff + 1)
        ]
    return steps_of(entries, sheet, part, sums.worth)


def _ideal_entries(sums: Sums, place: int, part: Measure, pool: JudgedDocs) -> list[Entry]:
    sheet = sums.sheet

    def worth(grade: float | None) -> float:
        return 0.0 if grade is None else sums.worth(grade)

    floor = 0.0 if part.cutoff is None else floor_of(sheet, part.parameters)
    better = sorted(pool, key=lambda item: worth(item[1]), reverse=True)
    if floor or sheet.policy.negative != "both":
        better = [(doc, grade) for doc, grade in better if worth(grade) > floor]
    if part.parameters["depth"] == "retrieved":
        better = better[: int(sheet.matched.retrieved[place])]
    return [
        Entry(Placed("", rank, rank), doc, grade) for rank, (doc, grade) in enumerate(better, 1)
    ]


def _absent_entries(sheet: Worksheet, part: Measure, length: int) -> list[Entry]:
    grade = sheet.absent_grade
    if grade is None or part.cutoff is None:
        return []
    if part.name == IDEAL and not floor_of(sheet, part.parameters):
        return []
    return [
        Entry(Placed("", rank, rank), ABSENT, grade) for rank in range(length + 1, part.cutoff + 1)
    ]
