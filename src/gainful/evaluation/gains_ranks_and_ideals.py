"""`Worksheet`: the intermediate results that measures share: gains, ideals and ranks under the policy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from gainful.arithmetic.cores import cached_property
from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.arithmetic.kernels.cumulated_gain import (
    cumulated,
    discount_table,
    mapped_gains,
    mean_discount,
    named_gains,
    owners,
)
from gainful.arithmetic.kernels.row_sums import counts, running_counts, sums_down_to
from gainful.arithmetic.kernels.tied_orders import extreme_order
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.matching.matched import Matched, places_of
from gainful.matching.ranking import distinct
from gainful.measures.discount import Discount
from gainful.measures.gain import FORMS, Gain
from gainful.measures.policy import Policy
from gainful.measures.written_numbers import read_number, write_number

_SHORT = 1000  # ranks; tables up to this size are cached
Cutoffs = Sequence[int | None]
Given = ParamSpec("Given")
Made = TypeVar("Made")
Sheet = TypeVar("Sheet", bound="Worksheet")
Parameters = Mapping[str, Any]


def gains_of(gain: Gain, grades: Floats, known: Floats) -> Floats:
    """Return the gain (n,) of each grade (n,).

    `known` contains the grades that may occur, ascending: a table or a function is evaluated once for
    each of them.
    """
    if gain.form == "linear":
        return grades  # always finite
    if gain.form in FORMS:
        worth = named_gains(FORMS[gain.form].formula, grades)
    else:
        known_gains = np.array([_gain_of(gain, grade) for grade in known.tolist()], np.float64)
        worth = mapped_gains(grades, known, known_gains)
    if not np.isfinite(worth).all():
        grade = grades[~np.isfinite(worth)][0]
        raise InputError(
            f"gain {gain}",
            "a finite gain for every grade",
            f"none for grade {write_number(float(grade))}",
            "Scale the grades down, or choose another gain.",
        )
    return worth


def gains_under(
    policy: Policy,
    gain: Gain,
    grades: Floats,
    known: Floats,
    where: Callable[[int], str] = lambda _: "judgments",
) -> Floats:
    """Return the gain (n,) of each grade (n,) under a policy on negative ones.

    Args:
        policy: the policy.
        gain: the gain.
        grades: (n,) the grades.
        known: the grades that may occur, as for `gains_of`.
        where: returns the place of a row in messages.
    """
    worth = gains_of(gain, grades, known)
    if policy.negative not in ("zero", "error") or not (worth < 0).any():
        return worth
    if policy.negative == "error":
        row = int(np.argmax(worth < 0))
        found = f"grade {grades[row]:g} with gain {worth[row]:g}"
        raise InputError(where(row), "no negative gain", found, choice="negative=error")
    return np.maximum(worth, 0.0)


def judged_gains(policy: Policy, gain: Gain, grades: Floats, query: str) -> Floats:
    """Return the gains, in the same shape, of documents of a query; 0 without a grade (NaN)."""
    judged, where = ~np.isnan(grades), f"judgments, query {query!r}"
    gains, known = np.zeros(grades.shape), grades[judged]
    gains[judged] = gains_under(policy, gain, known, np.unique(known), lambda _: where)
    return gains


def _gain_of(gain: Gain, grade: float) -> float:
    if gain.function is not None:
        try:
            value = gain.function(grade)
        except Exception as problem:
            # The caller's function raised it, so the argument helps to find the cause.
            problem.add_note(f"raised by gain {gain}, called with the grade {grade!r}")
            raise
        return read_number(value, where=f"gain {gain} of grade {write_number(grade)}")
    table = dict(gain.table)
    if grade not in table and grade != 0 and not gain.own:
        raise InputError(
            f"gain {gain}",
            "a gain for every grade that occurs",
            f"none for grade {write_number(grade)}",
            "Add it to the table, or 'else: linear' for grades that are their own gain.",
        )
    return table.get(grade, grade)


def discounts_of(discount: Discount, base: float, depth: int) -> Floats:
    """Return the discounts (depth+1,) by rank; entry 0 is unused."""
    if discount.function is None and depth <= _SHORT:
        return _short_table(discount, base, depth)
    return discount_table(discount.formula, depth, base=base, exponent=discount.exponent)


@lru_cache(maxsize=256)
def _short_table(discount: Discount, base: float, depth: int) -> Floats:
    table = discount_table(discount.formula, depth, base=base, exponent=discount.exponent)
    table.flags.writeable = False
    return table


class Ideal(NamedTuple):
    """The documents of each query, the best first: gain and rank (m,), and the offsets (q+1,) of queries."""

    gains: Floats
    rank: Ints
    offsets: Ints


def shared(
    compute: Callable[Concatenate[Sheet, Given], Made],
) -> Callable[Concatenate[Sheet, Given], Made]:
    """Have a function of a worksheet computed once for its other arguments, for all measures."""

    @wraps(compute)
    def once(sheet: Sheet, /, *given: Given.args, **named: Given.kwargs) -> Made:
        key = (compute, *(tuple(one.items()) if isinstance(one, Mapping) else one for one in given))
        if key not in sheet.kept:
            sheet.kept[key] = compute(sheet, *given, **named)
        made: Made = sheet.kept[key]
        return made

    return once


class Worksheet:
    """A matched run under a policy, with each intermediate result computed once."""

    def __init__(self, matched: Matched, policy: Policy, *, marks: bool = False) -> None:
        """Wrap a matched run; with `marks`, a negative grade only marks a document."""
        self.matched = matched
        self.policy = policy
        self.marks = marks
        self.measuring: object = ""  # the measure's name in messages
        self.kept: dict[tuple[object, ...], Any] = {}  # the results of `shared` functions

    @cached_property
    def owner(self) -> Ints:
        """(n,) query of each judged and retrieved document."""
        return owners(self.matched.offsets)

    @cached_property
    def pool_rank(self) -> Ints:
        """(m,) rank of each judged document in the ideal."""
        if self.matched.pool_offsets is self.matched.offsets and self.certain:
            return self.matched.rank  # every judged document was retrieved, so positions are ranks
        return places_of(self.matched.pool_offsets)

    @property
    def certain(self) -> bool:
        """Whether no documents tie."""
        return self.matched.rank_first is self.matched.rank_last

    @cached_property
    def longest(self) -> int:
        """The length of the longest list or pool, which is the deepest possible rank."""
        offsets = self.matched.pool_offsets
        pools = offsets[1:] - offsets[:-1]
        return int(max(self.matched.retrieved.max(initial=0), pools.max(initial=0)))

    @cached_property
    def absent_grade(self) -> float | None:
        """The grade of unfilled ranks, in lists shorter than the cutoff; None if they have gain 0."""
        if self.policy.absent == "zero":
            return None
        if self.policy.absent == "lowest":
            return self.matched.lowest_grade
        return float(self.policy.absent)

    @cached_property
    def _known(self) -> Floats:
        grades = np.unique(self.matched.pool_grades)
        return grades if self.absent_grade is None else np.union1d(grades, [self.absent_grade])

    @shared
    def listed(self, gain: Gain) -> tuple[Floats, Ints, Ints]:
        """Return gain, first and last possible rank (n,) of the judged documents retrieved."""
        return self._under_tie_rule(self._gains(gain, self.matched.grade))

    @shared
    def graded(self) -> tuple[Floats, Ints, Ints]:
        """Return grade, first and last possible rank (n,) of the judged documents retrieved."""
        return self._under_tie_rule(self.matched.grade)

    @cached_property
    def ties_matter(self) -> bool:
        """Whether the order of some judged documents is left open, to be averaged over."""
        matched = self.matched
        if self.policy.ties != "average" or self.certain:
            return False
        return bool((matched.rank_first < matched.rank_last).any())

    def certain_grades(self) -> tuple[Floats, Ints]:
        """Return grade and rank (n,) of the judged documents retrieved, in a certain order."""
        return self._in_certain_order(self.graded())

    def certain_order(self, gain: Gain) -> tuple[Floats, Ints]:
        """Return gain and rank (n,) of the judged documents retrieved, in a certain order."""
        return self._in_certain_order(self.listed(gain))

    def _in_certain_order(self, rows: tuple[Floats, Ints, Ints]) -> tuple[Floats, Ints]:
        if self.ties_matter:
            raise InputError(
                f"{self.measuring} under ties=average",
                "no tied documents: its mean over all orders has no closed form",
                "tied documents",
                "Choose ties=order, best or worst, or doc where documents have ids.",
            )
        return rows[:2]

    def _under_tie_rule(self, worth: Floats) -> tuple[Floats, Ints, Ints]:
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

    @shared
    def ideal(self, gain: Gain) -> Floats:
        """Return the gains (m,) of all judged documents by query, descending, negative ones as 0."""
        return _without_losses(self._descending(gain))

    def _descending(self, gain: Gain) -> Floats:
        """Return the gains (m,) of all judged documents by query, descending."""
        worth = self._gains(gain, self.matched.pool_grades)
        # Pools are sorted by grade, but a table or a function may not increase with the grade.
        if gain.form not in FORMS or not FORMS[gain.form].rises:
            worth = worth[np.lexsort((-worth, owners(self.matched.pool_offsets)))]
        return worth

    @shared
    def ideal_of(self, gain: Gain, documents: str) -> Ideal:
        """Return the ideal of all `judged` documents, or of the `retrieved` judged documents.

        Negative gains count as 0, except under the policy negative=both. Then unjudged retrieved
        documents, which have gain 0 and no rows, are ranked above negative gains.
        """
        both = self.policy.negative == "both"
        if documents == "judged":
            worth = self._descending(gain) if both else self.ideal(gain)
            return Ideal(worth, self.pool_rank, self.matched.pool_offsets)
        worth, offsets = self._gains(gain, self.matched.grade), self.matched.offsets
        worth = worth[np.lexsort((-worth, self.owner))]
        rank = places_of(offsets)
        if not both:
            return Ideal(_without_losses(worth), rank, offsets)
        unjudged = self.matched.retrieved - np.diff(offsets)
        return Ideal(worth, np.where(worth < 0, rank + unjudged[self.owner], rank), offsets)

    def losses(self, gain: Gain) -> Floats:
        """Return the negative gains (m,) as losses by query, descending, all others as 0."""
        worth = self._gains(gain, self.matched.pool_grades)
        lost = np.maximum(-worth, 0.0)
        return lost[np.lexsort((-lost, owners(self.matched.pool_offsets)))]

    def absent_gain(self, gain: Gain) -> float:
        """Return the gain of unfilled ranks, in lists shorter than the cutoff."""
        if self.absent_grade is None:
            return 0.0
        return self.gain_of(gain, self.absent_grade)

    def gain_of(self, gain: Gain, grade: float) -> float:
        """Return the gain of one grade under the policy."""
        return float(self.gains(gain, np.array([grade]))[0])

    def gains(self, gain: Gain, grades: Floats) -> Floats:
        """Return the gains (n,) of any grades (n,) under the policy."""
        return self._gains(gain, grades, distinct(grades))

    def empty(self, gain: Gain) -> Bools:
        """Return which queries (q,) have no judged document with a positive gain."""
        starts, ends = self.matched.pool_offsets[:-1], self.matched.pool_offsets[1:]
        empty: Bools = np.equal(starts, ends)
        # The ideal is sorted, best first, so its first gain decides; a pool may be empty.
        empty[~empty] = self.ideal(gain)[starts[~empty]] <= 0
        return empty

    @shared
    def discounts(self, discount: Discount, base: float, depth: int) -> Floats:
        """Return the discounts by rank, down to `depth` at least."""
        return discounts_of(discount, base, depth)

    def _gains(self, gain: Gain, grades: Floats, known: Floats | None = None) -> Floats:
        """Return the gains (n,) of grades (n,), which are among `known`: all that occur if None."""
        if known is None:
            known = self._known if gain.form in ("table", "function") else grades
        return gains_under(self.policy, gain, grades, known)


Compute = Callable[[Worksheet, Parameters, Cutoffs], Floats | Ints]
"""Computes a family: its parameters and cutoffs → values [query, cutoff]."""


class Terms(NamedTuple):
    """What each row of a worksheet is worth (n,), and how much that counts down to a cutoff (n,)."""

    worth: Floats
    weight: Floats


class Working(NamedTuple):
    """How a value follows from the terms.

    Attributes:
        symbols: the formula in symbols; "" without one.
        numbers: the formula in numbers, with a field for each one that may be rounded: `{}`, `{:()}` with
            brackets if it is negative, or `{:f}` with decimals even if it is whole; "" without one.
        values: the numbers of these fields.
        remark: what the formula leaves out.
    """

    symbols: str = ""
    numbers: str = ""
    values: tuple[float, ...] = ()
    remark: str = ""

    def in_numbers(self, digits: int) -> str:
        """Return the formula in numbers with so many decimals.

        >>> Working("sum / R", "{} / {}", (1 / 3, 2)).in_numbers(4)
        '0.3333 / 2'
        """
        return self.numbers.format(*(_Rounded(value, digits) for value in self.values))


class _Rounded(NamedTuple):
    """A number that is written with so many decimals, as the formula's field specifies."""

    value: float
    digits: int

    def __format__(self, form: str) -> str:
        if form == "f":
            return f"{self.value:.{self.digits}f}"
        text = said(self.value, self.digits)
        return f"({text})" if form == "()" and self.value < 0 else text


class Positions(NamedTuple):
    """The positions on a page, by rank (depth+1,): row and column from 1, and weight; entry 0 is unused."""

    row: Ints
    column: Ints
    weight: Floats


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How a family is computed, and the terms of its documents, which `explain` and the report show.

    Attributes:
        worth: the heading of the column with each document's worth.
        weight: the heading of the factor; "" if all documents count the same, unless their order is open.
        terms: the worth and the weight of each row; no row begins below the cutoff.
        values: the values of every query.
        working: how the value of one list follows from the sum of its terms, if it is neither that sum nor
            a quotient of it.
        divisor: the number (q, c) or (q, 1) that the sum of the terms is divided by; None if the value is
            another function of the terms.
        over: how the divisor is written; "" if the sum is the value.
        has_ideal: whether the divisor is the sum of the terms of all judged documents, best first.
        adds: whether the terms add up to something; else only the worth and the weight are shown.
        positions: the positions on a page of the ranks down to a depth, if the weight isn't a discount of ranks.
    """

    worth: str
    weight: str
    terms: Callable[[Worksheet, Parameters, int | None], Terms]
    values: Compute
    working: Callable[[Worksheet, Parameters, int | None, float], Working] | None = None
    divisor: Compute | None = None
    over: str = ""
    has_ideal: bool = False
    adds: bool = True
    positions: Callable[[Parameters, int], Positions] | None = None


def _undivided(_: Worksheet, __: Parameters, ___: Cutoffs) -> Floats:
    return np.ones((1, 1))


def sum_of_terms(
    worth: str,
    weight: str,
    terms: Callable[[Worksheet, Parameters, int | None], Terms],
    total: Compute | None = None,
    divisor: Compute = _undivided,
    over: str = "",
    *,
    has_ideal: bool = False,
    divide: Callable[[Any, Any], Floats] = ratio,
) -> Arithmetic:
    """Return a family whose value is the sum of its terms, divided by one number.

    `total` sums them down to each cutoff, for a family that does so without their terms; else they are summed here.
    """

    def all_terms(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
        worths, weights = terms(sheet, parameters, None)
        queries, deep = len(sheet.matched.queries), deepest(cutoffs, sheet)
        _, rank, _ = sheet.graded()
        return sums_down_to(worths * weights, rank, sheet.owner, queries, deep)

    add = total or all_terms

    def values(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
        return divide(add(sheet, parameters, cutoffs), divisor(sheet, parameters, cutoffs))

    return Arithmetic(worth, weight, terms, values, None, divisor, over, has_ideal)


DIGITS = 3
_SMALL = 0.1  # below, three decimals are fewer than three digits


def said(number: float, digits: int = DIGITS) -> str:
    """Write a number: whole ones without decimals, small ones with so many significant digits.

    >>> said(3.0), said(1 / 3), said(1 / 300)
    ('3', '0.333', '0.00333')
    """
    if float(number).is_integer():
        return str(int(number))
    return f"{number:.{digits}f}" if abs(number) >= _SMALL else f"{number:#.{digits}g}"


def discounted(sheet: Worksheet, worth: Floats, discounts: Floats, cutoff: int | None) -> Terms:
    """Return terms (n,) from a discount (depth+1,) by rank, averaged if the order of documents is open."""
    _, first, last = sheet.graded()
    return Terms(worth, mean_discount(discounts, first, last, cutoff))


def _without_losses(worth: Floats) -> Floats:
    """Return gains with the negative ones as 0."""
    return np.maximum(worth, 0.0) if (worth < 0).any() else worth


def depths(cutoffs: Cutoffs, sheet: Worksheet) -> Ints:
    """Return the cutoffs (c,), at most the deepest rank, which also stands for None."""
    return np.array(
        [sheet.longest if cutoff is None else min(cutoff, sheet.longest) for cutoff in cutoffs],
        np.int64,
    )


def deepest(cutoffs: Cutoffs, sheet: Worksheet) -> Ints:
    """Return the cutoffs (c,) as they are; the deepest rank stands for None."""
    return np.array([sheet.longest if k is None else k for k in cutoffs], np.int64)


@dataclass(frozen=True, slots=True)
class Relevant:
    """The relevant documents that were retrieved, in one certain order.

    `rank`, `owner` and `place` (n,) are of those documents: the rank, the query, and the place
    among the relevant documents of the query, from 1. `total` (q,) counts the relevant documents,
    retrieved or not. `rel` is the lowest grade that is relevant.
    """

    rank: Ints
    owner: Ints
    place: Ints
    total: Ints
    rel: float


@shared
def relevant(sheet: Worksheet, rel: float) -> Relevant:
    """Return the relevant documents of a sheet whose order is certain."""
    grades, rank = sheet.certain_grades()
    chosen = grades >= rel
    place = running_counts(chosen, sheet.matched.offsets)
    total = relevant_total(sheet, rel)
    return Relevant(rank[chosen], sheet.owner[chosen], place[chosen], total, rel)


@shared
def relevant_total(sheet: Worksheet, rel: float) -> Ints:
    """Return how many relevant documents (q,) there are, retrieved or not."""
    matched = sheet.matched
    return counts(matched.pool_grades >= rel, owners(matched.pool_offsets), len(matched.queries))


def are_judged(sheet: Worksheet) -> Bools:
    """Return which rows (n,) of `sheet.graded` are judgments.

    Rows without a grade are not, nor are negative grades that only mark a document.
    """
    grades, _, _ = sheet.graded()
    return grades >= 0 if sheet.marks else ~np.isnan(grades)


def expected_hits(sheet: Worksheet, chosen: Bools, cutoffs: Cutoffs) -> Floats:
    """Return the number (q, c) of chosen rows down to each cutoff, averaged over the orders of ties.

    `chosen` (n,) is a mask of the rows of `sheet.graded`.
    """
    return summed(sheet, chosen.astype(np.float64), np.ones(sheet.longest + 1), cutoffs)


def summed(sheet: Worksheet, worth: Floats, discounts: Floats, cutoffs: Cutoffs) -> Floats:
    """Sum (q, c) the worth (n,) of rows, discounted by rank (depth+1,), down to each cutoff."""
    _, first, last = sheet.graded()
    return cumulated(worth, first, last, sheet.matched.offsets, discounts, depths(cutoffs, sheet))


def worth_of(sheet: Worksheet, parameters: Parameters) -> Floats:
    """Return the worth (n,) of judged and retrieved documents, from 0 to 1."""
    grades, _, _ = sheet.graded()
    scale = parameters["max"]
    if scale == "query":
        pool, starts = sheet.matched.pool_grades, sheet.matched.pool_offsets[:-1]
        highest = np.ones(starts.size)
        some = starts < sheet.matched.pool_offsets[1:]
        highest[some] = np.maximum(pool[starts[some]], 1.0)
        return worth_on_scale(grades, parameters, highest[sheet.owner])
    if scale != "none":
        refuse_above(sheet, scale)
    return worth_on_scale(grades, parameters)


def worth_on_scale(grades: Floats, parameters: Parameters, highest: Floats | float = 1.0) -> Floats:
    """Return the worth of grades (n,), from 0 to 1; `highest` is the query's highest grade, for max=query."""
    scale, worth = parameters["max"], np.fmax(grades, 0.0)  # 0 without a grade
    if scale == "none":
        worth = (grades >= parameters["rel"]).astype(np.float64)
    elif scale == "query":
        worth /= highest
    else:
        worth /= scale
    return worth


def refuse_above(sheet: Worksheet, highest: float) -> None:
    """Reject grades above the scale, because a document can't be worth more than 1."""
    grades = sheet.matched.pool_grades
    if grades.size and grades.max() > highest:
        raise InputError(
            f"judgments for {sheet.measuring}",
            f"grades up to {write_number(highest)} (parameter max)",
            f"a grade of {write_number(float(grades.max()))}",
            f"Set the scale of the grades, e.g. max={write_number(float(grades.max()))}.",
        )
