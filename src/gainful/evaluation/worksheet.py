"""What the measures of one evaluation share: gains, ideals and ranks under the policy."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.worth import RISING, discounts_of, gains_of
from gainful.kernels.cumulation import owners
from gainful.kernels.ties import extreme_order
from gainful.matching.matched import Matched, places_of
from gainful.measures.discount import Discount
from gainful.measures.gain import Gain
from gainful.measures.policy import Policy


class Ideal(NamedTuple):
    """Documents by query, the best first: gain and rank (m,), and the offsets (q+1,) of the queries."""

    gains: Floats
    rank: Ints
    offsets: Ints


class Worksheet:
    """A matched run under a policy, with each intermediate result computed once."""

    def __init__(self, matched: Matched, policy: Policy, *, marks: bool = False) -> None:
        """Take what was matched; with `marks`, a negative grade in it only marks a document."""
        self.matched = matched
        self.policy = policy
        self.marks = marks
        self._listed: dict[Gain, tuple[Floats, Ints, Ints]] = {}
        self._ideal: dict[Gain, Floats] = {}
        self._discounts: dict[tuple[Discount, float, int], Floats] = {}
        self.measuring: object = ""  # what messages name
        self.kept: dict[tuple[object, ...], Any] = {}  # what else measures share

    @cached_property
    def owner(self) -> Ints:
        """(n,) query of each judged and retrieved document."""
        return owners(self.matched.offsets)

    @cached_property
    def pool_rank(self) -> Ints:
        """(m,) rank of each judged document in the ideal."""
        if self.matched.pool_offsets is self.matched.offsets and self.certain:
            return self.matched.rank  # every judged document was retrieved: places are ranks
        return places_of(self.matched.pool_offsets)

    @property
    def certain(self) -> bool:
        """Whether it is known that no documents tie."""
        return self.matched.rank_first is self.matched.rank_last

    @cached_property
    def depth(self) -> int:
        """The deepest rank of any list or ideal."""
        pools = np.diff(self.matched.pool_offsets)
        return int(max(self.matched.retrieved.max(initial=0), pools.max(initial=0)))

    @cached_property
    def absent_grade(self) -> float | None:
        """The grade of what a list shorter than the cutoff lacks; None where it has gain 0."""
        if self.policy.absent == "zero":
            return None
        if self.policy.absent == "lowest":
            return self.matched.lowest_grade
        return float(self.policy.absent)

    @cached_property
    def _known(self) -> Floats:
        grades = np.unique(self.matched.pool_grades)
        return grades if self.absent_grade is None else np.union1d(grades, [self.absent_grade])

    def listed(self, gain: Gain) -> tuple[Floats, Ints, Ints]:
        """Return gain, first and last possible rank (n,) of the judged documents retrieved."""
        if gain not in self._listed:
            self._listed[gain] = self._in_order(self._gains(gain, self.matched.grade))
        return self._listed[gain]

    def graded(self) -> tuple[Floats, Ints, Ints]:
        """Return grade, first and last possible rank (n,) of the judged documents retrieved."""
        return self._graded

    @cached_property
    def _graded(self) -> tuple[Floats, Ints, Ints]:
        return self._in_order(self.matched.grade)

    @cached_property
    def ties_matter(self) -> bool:
        """Whether the order of some judged documents is left open, to be averaged over."""
        matched = self.matched
        if self.policy.ties != "average" or self.certain:
            return False
        return bool((matched.rank_first < matched.rank_last).any())

    def certain_grades(self) -> tuple[Floats, Ints]:
        """Return grade and rank (n,) of the judged documents retrieved, in a certain order."""
        grades, rank, _ = self.graded()
        self._refuse_open_order()
        return grades, rank

    def certain_order(self, gain: Gain) -> tuple[Floats, Ints]:
        """Return gain and rank (n,) of the judged documents retrieved, in a certain order."""
        gains, rank, _ = self.listed(gain)
        self._refuse_open_order()
        return gains, rank

    def _refuse_open_order(self) -> None:
        if self.ties_matter:
            raise InputError(
                f"{self.measuring} under ties=average",
                "no tied documents: its mean over all orders has no closed form",
                "tied documents",
                "Choose ties=order, best or worst, or doc where documents have ids.",
            )

    def _in_order(self, worth: Floats) -> tuple[Floats, Ints, Ints]:
        """Apply the policy on ties: worth, first and last possible rank (n,) of each document."""
        matched = self.matched
        match self.policy.ties:
            case "average":
                return worth, matched.rank_first, matched.rank_last
            case "best" | "worst":
                ordered, rank = extreme_order(
                    worth,
                    matched.rank_first,
                    matched.rank_last,
                    self.owner,
                    best=self.policy.ties == "best",
                )
                return ordered, rank, rank
            case _:
                return worth, matched.rank, matched.rank

    def ideal(self, gain: Gain) -> Floats:
        """Return the gains (m,) of all judged documents by query, descending, negative ones as 0."""
        if gain not in self._ideal:
            self._ideal[gain] = _without_losses(self._descending(gain))
        return self._ideal[gain]

    def _descending(self, gain: Gain) -> Floats:
        """Return the gains (m,) of all judged documents by query, descending."""
        worth = self._gains(gain, self.matched.pool_grades)
        # Pools stand by grade; a table or a function need not rise with it.
        if gain.form not in RISING:
            worth = worth[np.lexsort((-worth, owners(self.matched.pool_offsets)))]
        return worth

    def ideal_of(self, gain: Gain, documents: str) -> Ideal:
        """Return the ideal of all documents that are `judged`, or of those that are `retrieved`.

        Negative gains are 0, but under the policy negative=both. Then a retrieved document without
        a judgment, which has gain 0, stands before them; it has no row of its own.
        """
        key = "ideal", gain, documents
        if key not in self.kept:
            both = self.policy.negative == "both"
            if documents == "judged":
                worth = self._descending(gain) if both else self.ideal(gain)
                self.kept[key] = Ideal(worth, self.pool_rank, self.matched.pool_offsets)
            else:
                worth = self._gains(gain, self.matched.grade)
                worth = worth[np.lexsort((-worth, self.owner))]
                offsets = self.matched.offsets
                rank = places_of(offsets)
                if both:
                    unjudged = self.matched.retrieved - np.diff(offsets)
                    rank = np.where(worth < 0, rank + unjudged[self.owner], rank)
                else:
                    worth = _without_losses(worth)
                self.kept[key] = Ideal(worth, rank, offsets)
        found: Ideal = self.kept[key]
        return found

    def losses(self, gain: Gain) -> Floats:
        """Return the negative gains (m,) as losses by query, descending, all others as 0."""
        worth = self._gains(gain, self.matched.pool_grades)
        lost = np.maximum(-worth, 0.0)
        return lost[np.lexsort((-lost, owners(self.matched.pool_offsets)))]

    def absent_gain(self, gain: Gain) -> float:
        """Return the gain of what a list shorter than the cutoff lacks."""
        if self.absent_grade is None:
            return 0.0
        return self.gain_of(gain, self.absent_grade)

    def gain_of(self, gain: Gain, grade: float) -> float:
        """Return the gain of one grade under the policy."""
        grades = np.array([grade])
        return float(self._gains(gain, grades, grades)[0])

    def empty(self, gain: Gain) -> Bools:
        """Return where (q,) no judged document has a positive gain."""
        starts, ends = self.matched.pool_offsets[:-1], self.matched.pool_offsets[1:]
        empty: Bools = np.equal(starts, ends)
        # The ideal stands best first, so its first gain tells; a pool may have none.
        empty[~empty] = self.ideal(gain)[starts[~empty]] <= 0
        return empty

    def discounts(self, discount: Discount, base: float, depth: int) -> Floats:
        """Return the discounts by rank, down to `depth` at least."""
        key = (discount, base, depth)
        if key not in self._discounts:
            self._discounts[key] = discounts_of(discount, base, depth)
        return self._discounts[key]

    def _gains(self, gain: Gain, grades: Floats, known: Floats | None = None) -> Floats:
        """Return the gains (n,) of grades (n,), which are among the known: all there are if None."""
        if known is None:
            known = self._known if gain.form in ("table", "function") else grades
        worth = gains_of(gain, grades, known)
        if self.policy.negative not in ("zero", "error") or not (worth < 0).any():
            return worth
        if self.policy.negative == "error":
            raise InputError(
                "judgments",
                "no negative gain (policy negative=error)",
                f"grade {grades[worth < 0][0]:g} with gain {worth[worth < 0][0]:g}",
            )
        return np.maximum(worth, 0.0)


def _without_losses(worth: Floats) -> Floats:
    """Return gains with the negative ones as 0."""
    return np.maximum(worth, 0.0) if (worth < 0).any() else worth
