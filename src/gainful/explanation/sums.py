"""`Sums`: a measure and its sums over all queries that were matched, computed together."""

from functools import cache, cached_property

import numpy as np

from gainful.evaluation.computing.cumulated import ideal_for
from gainful.evaluation.evaluate import measure_matched
from gainful.evaluation.table import empty_for
from gainful.evaluation.worksheet import Ideal, Worksheet
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

_NORMALISED, _IDEAL = "nDCG", "IDCG"
_SUMS = {_NORMALISED: "DCG"}


class Sums:
    """What the worked tables of one measure share: one query is explained as many are.

    Attributes:
        sheet: what was matched, under a policy by which every query of it has a row.
        measure: what is worked out.

    >>> from gainful.matching.mappings import match_queries
    >>> from gainful.measures.notation import parse
    >>> matched = match_queries([("q", {"a": 2, "b": 1}, {"a": 1.0})], Policy(ties="doc"))
    >>> sums = Sums(matched, parse("nDCG"), Policy(ties="doc"))
    >>> sums.value(parse("DCG"), 0), sums.worth(2.0)
    (2.0, 2.0)
    """

    def __init__(self, matched: Matched, measure: Measure, policy: Policy) -> None:
        self.sheet = Worksheet(matched, policy)
        self.measure = measure
        self._values: dict[Measure, list[float]] = {}
        self._best: dict[int, list[float]] = {}
        self._worth: dict[float, float] = {}

    def worth(self, grade: float) -> float:
        """Return the gain of a grade."""
        if grade not in self._worth:
            self._worth[grade] = self.sheet.gain_of(self.measure.parameters["gain"], grade)
        return self._worth[grade]

    def value(self, measure: Measure, place: int) -> float:
        """Return the value of any measure for the query at a place."""
        return self._all(measure)[place]

    def _all(self, measure: Measure) -> list[float]:
        if measure not in self._values:
            matched, policy = self.sheet.matched, self.sheet.policy
            found = measure_matched(matched, (measure,), policy).values[:, 0]
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
        return self._all(summed(self.measure, _IDEAL))

    @cached_property
    def part(self) -> Measure:
        """The sum over a list that the measure is made of, at its cutoff."""
        return summed(self.measure, _SUMS.get(self.measure.name, self.measure.name))

    @cached_property
    def own_ideal(self) -> bool:
        """Whether the ideal of a list is its own, and not that of the judgments."""
        return self.measure.changes("ideal", "depth")

    def is_empty(self, place: int) -> bool:
        """Return whether the policy, and no sum, says the value of the query at a place."""
        return self._empty[place]

    @cached_property
    def _empty(self) -> list[bool]:
        if not self.measure.family.normalised:
            return [False] * len(self.sheet.matched.queries)
        found: list[bool] = empty_for(self.sheet, self.measure).tolist()
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
