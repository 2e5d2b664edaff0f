"""How the families beside cumulated gain are worked out for one list, document by document.

Each has terms, what a document is worth times how much that counts, and a closing: what the sum of the terms is divided by, or
the formula that it goes into.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.evaluation.computing.average_precision_and_kin import ELEVEN, UP
from gainful.evaluation.computing.user_models import chances_of
from gainful.evaluation.gains_ranks_and_ideals import Worksheet, worth_on_scale
from gainful.inputs.cores import cached_property
from gainful.kernels import tied_orders
from gainful.kernels.binary_relevance import EPSILON
from gainful.kernels.cumulated_gain import mean_discount
from gainful.kernels.user_models import ROUNDING, overlap_weights, squares
from gainful.measures.discount import Discount
from gainful.measures.measure import Measure
from gainful.measures.written_numbers import write_number

SUM, IDEAL_SUM = "sum", "ideal"
"""The names of the sums over a list and over its ideal, which are no measures."""

_DIGITS = 3
_SMALL = 0.1  # below, three decimals are fewer than three digits
_LOG = Discount("log")


@dataclass(frozen=True)
class OneList:
    """A list beside the judgments of its query, as the policy has both.

    Attributes:
        measure: what is worked out.
        sheet: that has the gains and discounts.
        grade: (n,) of the documents by rank, down to the cutoff; NaN without a judgment.
        first: (n,) the first rank that each may have.
        last: (n,) the last rank that it may have; the same where the order is certain.
        judged: (m,) the grades of all judged documents, descending.
        retrieved: how long the whole list is.
    """

    measure: Measure
    sheet: Worksheet
    grade: Floats
    first: Ints
    last: Ints
    judged: Floats
    retrieved: int

    def __getitem__(self, parameter: str) -> Any:
        """Return a parameter of the measure."""
        return self.measure.parameters[parameter]

    @property
    def cutoff(self) -> int | None:
        """The cutoff of the measure."""
        return self.measure.cutoff

    @property
    def size(self) -> int:
        """How many documents are asked for: the cutoff, or the whole list."""
        return self.retrieved if self.cutoff is None else self.cutoff

    @property
    def seen(self) -> int:
        """How many documents there are down to the cutoff."""
        return min(self.size, self.retrieved)

    @property
    def is_judged(self) -> Bools:
        """(n,) which documents have a judgment."""
        return ~np.isnan(self.grade)

    @cached_property
    def threshold(self) -> float:
        """The lowest grade that is relevant; negative ones are none where they mark the unjudged."""
        rel: float = self["rel"]
        return max(rel, 0.0) if self.measure.family.marks else rel

    @property
    def is_relevant(self) -> Bools:
        """(n,) which documents are relevant."""
        return self.grade >= self.threshold

    @property
    def relevant(self) -> int:
        """R: how many documents are relevant, retrieved or not."""
        return int((self.judged >= self.threshold).sum())

    @property
    def is_other(self) -> Bools:
        """(n,) which documents are judged not relevant, where a negative grade is no judgment."""
        return (self.grade >= 0) & (self.grade < self.threshold)

    @cached_property
    def gains(self) -> Floats:
        """(n,) of the documents; 0 without a judgment."""
        return self._gains_of(self.grade)

    @cached_property
    def best_gains(self) -> Floats:
        """(m,) of all judged documents, descending, negative ones as 0."""
        return -np.sort(-np.maximum(self._gains_of(self.judged), 0.0))

    def _gains_of(self, grades: Floats) -> Floats:
        found = [
            0.0 if np.isnan(grade) else self.sheet.gain_of(self["gain"], grade)
            for grade in grades.tolist()
        ]
        return np.array(found, np.float64)

    @property
    def worth(self) -> Floats:
        """(n,) what the documents are worth, from 0 to 1."""
        highest = max(1.0, float(self.judged[0])) if self.judged.size else 1.0
        grades = np.nan_to_num(self.grade, nan=-np.inf)
        return worth_on_scale(grades, self.measure.parameters, highest)

    def mean_of(self, by_rank: Floats) -> Floats:
        """Return the weight (n,) of the documents from that of each rank, the mean where the order is open."""
        return mean_discount(by_rank, self.first, self.last, self.cutoff)

    @property
    def deepest(self) -> int:
        """The last rank that a document of the list may have."""
        return int(self.last.max(initial=0))

    def discounts(self, discount: Discount, base: float, depth: int) -> Floats:
        """Return the discounts (depth+1,) by rank; entry 0 is unused."""
        return self.sheet.discounts(discount, base, depth)[: depth + 1]

    def precision(self, chosen: Bools) -> Floats:
        """Return the share (n,) of some documents down to the rank of each, where the order is certain."""
        found: Floats = np.cumsum(chosen) / self.first
        return found

    def shared(self, expectations: Floats, chosen: Bools) -> Floats:
        """Return the weight (n,) of chosen documents from what is expected of the ranks (depth,).

        The chosen documents of a block are alike, so each has the same part of its ranks.
        """
        weights = np.zeros(self.grade.size)
        running = np.concatenate(([0.0], np.cumsum(expectations)))
        for place in np.flatnonzero(chosen).tolist():
            first, last = int(self.first[place]), int(self.last[place])
            alike = int((chosen & (self.first == first)).sum())
            weights[place] = (running[last] - running[first - 1]) / alike
        return weights

    def blocks(self, chosen: Bools) -> tied_orders.Blocks:
        """Return the blocks of ranks that hold chosen documents."""
        none = np.zeros(int(chosen.sum()), np.int64)
        return tied_orders.blocks(self.first[chosen], self.last[chosen], none)

    def ranks(self) -> Ints:
        """Return the ranks (depth,) down to the last, at least one."""
        return np.arange(1, max(self.deepest, 1) + 1)


class Terms(NamedTuple):
    """What each document is worth (n,), and how much that counts (n,)."""

    worth: Floats
    weight: Floats


class Closing(NamedTuple):
    """How the value follows from the sum of the terms: in symbols, in numbers, and in words.

    `divisor` is what the sum is divided by, 1 where it is the value; None where it goes into another formula.
    """

    formula: str
    numbers: str
    value: float
    divisor: float | None = None
    remark: str = ""

    @property
    def working(self) -> str:
        """The formula in symbols and in numbers; "" where the sum is the value."""
        return f"{self.formula} = {self.numbers}" if self.formula else ""


@dataclass(frozen=True, slots=True)
class Way:
    """How a family is worked out.

    Attributes:
        worth: what the documents are worth, as the heading of a column.
        weight: what that is multiplied by; "" where all count alike, unless their order is open.
        terms: of a list.
        close: what becomes of their sum.
        adds: whether the terms add up; else only the worth and the weight are shown.
        divides: whether the value is their sum, divided by one number.
        ideal: the terms of all judged documents in the best order, where the sum is divided by theirs.
    """

    worth: str
    weight: str
    terms: Callable[[OneList], Terms]
    close: Callable[[OneList, float], Closing]
    adds: bool = True
    divides: bool = True
    ideal: Callable[[OneList], Terms] | None = None


def said(number: float) -> str:
    """Write a number: whole ones without decimals, small ones with three digits that count.

    >>> said(3.0), said(1 / 3), said(1 / 300)
    ('3', '0.333', '0.00333')
    """
    if float(number).is_integer():
        return str(int(number))
    return f"{number:.{_DIGITS}f}" if abs(number) >= _SMALL else f"{number:#.{_DIGITS}g}"


def _plain(_: OneList, total: float) -> Closing:
    return Closing("", "", total, 1.0)


def _over(symbol: str, count: Callable[[OneList], float]) -> Callable[[OneList, float], Closing]:
    """Return the closing of a sum that is divided by a count."""

    def close(one: OneList, total: float) -> Closing:
        divisor = float(count(one))
        remark = "" if divisor else f"there is nothing to divide by: {symbol} is 0"
        value = total / divisor if divisor else 0.0
        numbers = f"{said(total)} / {said(divisor)}"
        return Closing(f"sum / {symbol}", numbers, value, divisor, remark)

    return close


def _over_size(one: OneList, total: float) -> Closing:
    symbol = "the length of the list" if one.cutoff is None else "k"
    return _over(symbol, lambda each: each.size)(one, total)


def _of_relevant(one: OneList) -> float:
    return one.relevant


_OVER_R = _over("R", _of_relevant)


def _over_most(one: OneList, total: float) -> Closing:
    """Divide by R, or by min(k, R) or what was found where the measure says so."""
    graded = "gain" in one.measure.parameters
    relevant = int((one.best_gains > 0).sum()) if graded else one.relevant
    cutoff = one.cutoff
    if one["denominator"] == "found":
        return _over("F", lambda each: int(each.is_relevant.sum()))(one, total)
    if one["denominator"] == "R" or cutoff is None:
        return _over("R", lambda _: relevant)(one, total)
    return _over("min(k, R)", lambda _: min(relevant, cutoff))(one, total)


def _counted(chosen: Callable[[OneList], Bools]) -> Callable[[OneList], Terms]:
    """Return the terms of documents that are counted; where the order is open, by their chance to be above the cutoff."""

    def terms(one: OneList) -> Terms:
        ones = np.ones(one.deepest + 1)
        return Terms(chosen(one).astype(np.float64), one.mean_of(ones))

    return terms


def _nothing(one: OneList) -> Terms:
    return Terms(np.zeros(one.grade.size), np.ones(one.grade.size))


_HITS = _counted(lambda one: one.is_relevant)


def _precision_terms(one: OneList) -> Terms:
    chosen = one.is_relevant
    if (one.first == one.last).all():
        return Terms(chosen.astype(np.float64), one.precision(chosen))
    ranks = one.ranks()
    sums = tied_orders.precision_sums(one.blocks(chosen), 1, ranks)[0]
    return Terms(chosen.astype(np.float64), one.shared(_down_to(sums, one), chosen))


def _down_to(sums: Floats, one: OneList) -> Floats:
    """Return what each rank adds (depth,), from the sums down to it; nothing below the cutoff."""
    added = np.diff(sums, prepend=0.0)
    if one.cutoff is not None:
        added[one.cutoff :] = 0.0
    return added


def _first_terms(one: OneList) -> Terms:
    chosen = one.is_relevant
    ranks = one.ranks()
    sums = tied_orders.first_relevant(one.blocks(chosen), 1, ranks)[0][0]
    return Terms(chosen.astype(np.float64), one.shared(_down_to(sums, one), chosen))


def _success(one: OneList, total: float) -> Closing:
    if total == 0:
        return Closing("", "", 0.0, None, "no relevant document is among them")
    if (one.first == one.last).all():
        return Closing("", "", 1.0, None, "a relevant document is among them")
    chances = tied_orders.first_relevant(one.blocks(one.is_relevant), 1, np.array([one.size]))[1]
    remark = "the chance that a relevant document is among them"
    return Closing("", "", float(chances[0, 0]), None, remark)


def _f_measure(one: OneList, total: float) -> Closing:
    square, relevant = one["beta"] ** 2, one.relevant
    precision = total / one.size if one.size else 0.0
    recall = total / relevant if relevant else 0.0
    factor = "" if square == 1 else f"{said(square)}·"
    numbers = f"{said(1 + square)}·{said(precision)}·{said(recall)} / ({factor}{said(precision)} + {said(recall)})"
    symbols = "2·P·R / (P + R)" if square == 1 else "(1+β²)·P·R / (β²·P + R)"
    remark = f"P = {said(total)} / {one.size}, R = {said(total)} / {relevant}"
    below = square * precision + recall
    value = (1 + square) * precision * recall / below if below else 0.0
    return Closing(symbols, numbers, value, None, remark)


def _set_precision(one: OneList, total: float) -> Closing:
    numbers = f"{said(total)} / {said(one.size)} · {said(total)} / {said(one.relevant)}"
    whole = one.size * one.relevant
    return Closing("P · R", numbers, total * total / whole if whole else 0.0)


def _utility(one: OneList, total: float) -> Closing:
    relevant, retrieved = one.relevant, one.retrieved
    counts = {
        "a": total,
        "b": retrieved - total,
        "c": relevant - total,
        "d": one["docs"] + total - retrieved - relevant,
    }
    numbers = " + ".join(
        f"{_bracketed(one[name])}·{_bracketed(count)}" for name, count in counts.items()
    )
    formula = "a·sum + b·(others) + c·(relevant, not retrieved) + d·(others, not retrieved)"
    return Closing(formula, numbers, sum(one[name] * count for name, count in counts.items()))


def _bracketed(number: float) -> str:
    return said(number) if number >= 0 else f"({said(number)})"


def _unjudged_mass(one: OneList) -> Terms:
    table = one.discounts(one["discount"], one["base"], one.deepest)
    return Terms((~one.is_judged).astype(np.float64), one.mean_of(table))


def _mass(one: OneList) -> float:
    return float(one.discounts(one["discount"], one["base"], one.seen)[1:].sum())


def _share_of_seen(one: OneList) -> float:
    return one.seen


def _r_size(one: OneList) -> int:
    return int(np.floor(one.relevant * one["mult"] + UP))


def _r_precision(one: OneList) -> Terms:
    within = (one.first <= _r_size(one)).astype(np.float64)
    return Terms(one.is_relevant.astype(np.float64), within)


def _r_closing(one: OneList, total: float) -> Closing:
    symbol = "R" if one["mult"] == 1 else f"⌊{write_number(one['mult'])}·R + 0.9⌋"
    return _over(symbol, _r_size)(one, total)


def _interpolated(one: OneList, recall: float) -> float:
    """Return the highest precision from the document on at which a recall is reached; 0 if it never is."""
    needed = max(int(np.floor(one.relevant * recall + UP)), 1)
    precisions = one.precision(one.is_relevant)[one.is_relevant]
    return float(precisions[needed - 1 :].max(initial=0.0))


def _at_recall(one: OneList, _: float) -> Closing:
    needed = max(int(np.floor(one.relevant * one["recall"] + UP)), 1)
    found = int(one.is_relevant.sum())
    value = _interpolated(one, one["recall"])
    remark = f"the highest precision from relevant document {needed} of {one.relevant} on"
    if found < needed:
        remark = f"it takes {needed} of {one.relevant} relevant documents, {found} are retrieved"
    return Closing("", "", value, None, remark)


def _eleven(one: OneList, _: float) -> Closing:
    points = [_interpolated(one, recall) for recall in ELEVEN]
    numbers = f"({' + '.join(map(said, points))}) / 11"
    return Closing("Σ iprec(recall=0, 0.1, …, 1) / 11", numbers, sum(points) / len(points))


def _logarithm(one: OneList, total: float) -> Closing:
    relevant = one.relevant
    numbers = f"ln((1 + {said(total)}) / (1 + {relevant} − {said(total)}))"
    value = math.log((1 + total) / (1 + relevant - total))
    return Closing("ln((1 + sum) / (1 + R − sum))", numbers, value)


def _preferred(one: OneList) -> Terms:
    relevant = one.relevant
    others = int(((one.judged >= 0) & (one.judged < one.threshold)).sum())
    above = np.cumsum(one.is_other)
    most = max(min(others, relevant), 1)
    weight = np.where(above > 0, 1.0 - np.minimum(above, relevant) / most, 1.0)
    return Terms(one.is_relevant.astype(np.float64), np.where(one.is_relevant, weight, 0.0))


def _inferred(one: OneList) -> Terms:
    chosen, rank = one.is_relevant, one.first
    before: Ints = np.cumsum(chosen) - chosen
    others = np.cumsum(one.is_other)
    pooled: Ints = np.cumsum(one.is_judged) - one.is_judged
    share = (before + EPSILON) / (before + others + 2 * EPSILON)
    weight = np.where(rank == 1, 1.0, 1.0 / rank + pooled / rank * share)
    return Terms(chosen.astype(np.float64), np.where(chosen, weight, 0.0))


def _binary_gain(one: OneList) -> Terms:
    chosen = one.is_relevant
    weight = 1.0 / np.log2(2.0 + one.first - np.cumsum(chosen))
    return Terms(chosen.astype(np.float64), np.where(chosen, weight, 0.0))


def _gain_terms(one: OneList) -> Terms:
    positive = int((one.best_gains > 0).sum())
    costs = np.concatenate(([0.0], np.cumsum(np.maximum(one.best_gains, 1.0))))
    reach = np.minimum(one.first, positive)
    cost = costs[reach] + (one.first - reach)
    return Terms(one.gains, 1.0 / np.log2(2.0 + cost - np.cumsum(one.gains)))


def _sum_of_gains(one: OneList) -> float:
    return float(one.best_gains.sum())


def _scaled(one: OneList) -> Terms:
    return Terms(one.worth, one.mean_of(one.discounts(_LOG, 2.0, one.deepest)))


def _sum_of_discounts(one: OneList) -> float:
    return float(one.discounts(_LOG, 2.0, one.size)[1:].sum())


def _ndcg_by_rank(one: OneList, ranks: Ints) -> Floats:
    """Return the nDCG down to some ranks."""
    depth = int(max(one.deepest, one.judged.size, ranks.max(initial=0)))
    discount = one.discounts(_LOG, 2.0, depth)
    listed, best = np.zeros(depth + 1), np.zeros(depth + 1)
    listed[one.first] = one.gains * discount[one.first]
    best[1 : one.judged.size + 1] = one.best_gains * discount[1 : one.judged.size + 1]
    found, ideal = np.cumsum(listed)[ranks], np.cumsum(best)[ranks]
    return np.divide(found, ideal, out=np.zeros(ranks.size), where=ideal > 0)


def _at_relevant(one: OneList) -> Terms:
    return Terms((one.gains > 0).astype(np.float64), _ndcg_by_rank(one, one.first))


def _mean_at_relevant(one: OneList, total: float) -> Closing:
    relevant = int((one.best_gains > 0).sum())
    lacking = relevant - int((one.gains > 0).sum())
    depth = np.array([max(one.deepest, one.judged.size, 1)])
    final = float(_ndcg_by_rank(one, depth)[0])
    value = (total + lacking * final) / relevant if relevant else 0.0
    if not lacking:
        return Closing("sum / R", f"{said(total)} / {relevant}", value)
    numbers = f"({said(total)} + {lacking}·{said(final)}) / {relevant}"
    remark = f"nDCG = {said(final)} counts for each relevant document that is not retrieved"
    return Closing("(sum + lacking·nDCG) / R", numbers, value, None, remark)


def _falls(one: OneList) -> Ints:
    """Return the ranks at which the gain of the ideal is the last of its size."""
    following = np.append(one.best_gains[1:], 0.0)[: one.best_gains.size]
    return np.flatnonzero((one.best_gains > 0) & (following < one.best_gains)) + 1


def _at_changes(one: OneList) -> Terms:
    changes = np.isin(one.first, _falls(one)).astype(np.float64)
    return Terms(changes, _ndcg_by_rank(one, one.first))


def _mean_at_changes(one: OneList, _: float) -> Closing:
    ranks = _falls(one)
    points = _ndcg_by_rank(one, ranks).tolist()
    positive = int((one.best_gains > 0).sum())
    names = [f"rank {rank}" for rank in ranks.tolist()]
    if positive and one.retrieved > positive + 1:
        depth = np.array([max(one.deepest, one.judged.size, 1)])
        points.append(float(_ndcg_by_rank(one, depth)[0]))
        names.append("the end")
    if not points:
        return Closing("", "", 0.0)
    numbers = f"({' + '.join(map(said, points))}) / {len(points)}"
    value = sum(points) / len(points)
    return Closing("Σ nDCG / points", numbers, value, None, f"nDCG at {', '.join(names)}")


def _cascade_terms(grades: Floats, rank: Ints, highest: float) -> Terms:
    chances = chances_of(np.nan_to_num(grades, nan=0.0), highest)
    reached = np.concatenate(([1.0], np.cumprod(1.0 - chances)[:-1])) if chances.size else chances
    return Terms(chances, reached / rank)


def _cascade(one: OneList) -> Terms:
    return _cascade_terms(one.grade, one.first, one["max"])


def _best_cascade(one: OneList) -> Terms:
    depth = one.judged.size if one.cutoff is None else min(one.cutoff, one.judged.size)
    return _cascade_terms(one.judged[:depth], np.arange(1, depth + 1), one["max"])


def _over_ideal(one: OneList, total: float) -> Closing:
    ideal = WAYS[one.measure.name].ideal
    best = float(np.prod(ideal(one), axis=0).sum()) if ideal is not None else 1.0
    value = total / best if best else 0.0
    return Closing("sum / ideal", f"{said(total)} / {said(best)}", value, best)


def _geometric(one: OneList) -> Floats:
    p: float = one["p"]
    powers = p ** (np.arange(one.deepest + 1) - 1.0)
    return one.mean_of((1.0 - p) * powers.astype(np.float64))


def _rank_biased(one: OneList) -> Terms:
    return Terms(one.worth, _geometric(one))


def _residual(one: OneList) -> Terms:
    return Terms((~one.is_judged).astype(np.float64), _geometric(one))


def _rest(one: OneList, total: float) -> Closing:
    p: float = one["p"]
    below = p**one.seen
    numbers = f"{said(total)} + {write_number(p)}^{one.seen}"
    return Closing("sum + p^n", numbers, total + below, None, f"{said(below)} for all that follows")


def _blended(one: OneList) -> Terms:
    positive, beta = one.gains > 0, one["beta"]
    ideal = np.concatenate(([0.0], np.cumsum(one.best_gains)))
    best = ideal[np.minimum(one.first, one.best_gains.size)]
    found = np.cumsum(np.maximum(one.gains, 0.0))
    weight = (np.cumsum(positive) + beta * found) / (one.first + beta * best)
    return Terms(positive.astype(np.float64), np.where(positive, weight, 0.0))


def _graded_precision(one: OneList) -> Terms:
    gains = np.maximum(one.gains, 0.0)
    pairs = [
        float(np.minimum(gains[: place + 1], gains[place]).sum()) for place in range(gains.size)
    ]
    return Terms(np.array(pairs, np.float64), 1.0 / one.first)


def _by_rank(one: OneList) -> Floats:
    """Return what stands at each rank (depth,) down to the last of the list."""
    found = np.zeros(one.deepest)
    found[one.first - 1] = one.worth
    return found


def _attention(one: OneList) -> tuple[Floats, float]:
    """Return the attention (depth+1,) of each rank of INST beside the first's, and all of it over an endless list."""
    target: float = one["T"]
    worth = _by_rank(one)
    lacking = target - np.cumsum(worth)
    here = np.arange(1, worth.size + 1) + target + lacking
    weights = np.concatenate(([1.0], np.cumprod(((here - 1.0) / here) ** 2)))
    end = float(here[-1]) if here.size else 2.0 * target
    beyond = float(weights[-1] * end**2 * squares(np.array([end]))[0])
    return weights, float(weights[:-1].sum()) + beyond


def _adaptive(one: OneList) -> Terms:
    return Terms(one.worth, _attention(one)[0][one.first - 1])


def _all_attention(one: OneList) -> float:
    return _attention(one)[1]


def _squared(one: OneList) -> Terms:
    return Terms(one.worth, 1.0 / (one.first + 2.0 * one["T"] - 1.0) ** 2)


def _all_squared(one: OneList) -> float:
    return float(squares(np.array([2.0 * one["T"]]))[0])


def _stop(one: OneList) -> int:
    enough = (np.cumsum(one.worth) >= one["T"] - ROUNDING) & (one.first <= one["K"])
    return int(one.first[enough].min(initial=int(one["K"])))


def _player(one: OneList) -> Terms:
    return Terms(one.worth, (one.first <= _stop(one)).astype(np.float64))


def _stopped(one: OneList) -> float:
    return _stop(one)


def _overlaps(one: OneList) -> Terms:
    weights = overlap_weights(one["p"])
    positive = one.grade > 0
    weight = np.zeros(one.grade.size)
    for grade in np.unique(one.grade[positive]).tolist():
        alike = np.flatnonzero(one.grade == grade)
        place = int((one.judged > grade).sum()) + np.arange(1, alike.size + 1)
        met = np.maximum(place, one.first[alike])
        weight[alike] = weights[np.minimum(met, weights.size) - 1]
    return Terms(positive.astype(np.float64), weight)


def _best_overlaps(one: OneList) -> Terms:
    weights = overlap_weights(one["p"])
    places = np.minimum(np.arange(1, one.judged.size + 1), weights.size)
    return Terms((one.judged > 0).astype(np.float64), weights[places - 1])


_COUNT = "relevant", ""
_PRECISION = "relevant", "precision"

WAYS: Mapping[str, Way] = {
    "nDCGrel": Way("gain above 0", "nDCG so far", _at_relevant, _mean_at_relevant, divides=False),
    "RnDCG": Way(
        "ideal changes", "nDCG so far", _at_changes, _mean_at_changes, adds=False, divides=False
    ),
    "G": Way("gain", "1/log2(2 + cost)", _gain_terms, _over("Σ g", _sum_of_gains)),
    "binG": Way("relevant", "1/log2(2 + n)", _binary_gain, _OVER_R),
    "SDCG": Way("worth", "discount", _scaled, _over("Σ d", _sum_of_discounts)),
    "P": Way(*_COUNT, _HITS, _over_size),
    "R": Way(*_COUNT, _HITS, _OVER_R),
    "F": Way(*_COUNT, _HITS, _f_measure, divides=False),
    "RelP": Way(*_COUNT, _HITS, _over("min(k, R)", lambda one: min(one.size, one.relevant))),
    "SetAP": Way(*_COUNT, _HITS, _set_precision, divides=False),
    "Success": Way(*_COUNT, _HITS, _success, divides=False),
    "Utility": Way(*_COUNT, _HITS, _utility, divides=False),
    "Judged": Way(
        "judged", "", _counted(lambda one: one.is_judged), _over("documents seen", _share_of_seen)
    ),
    "Unjudged": Way("unjudged", "", _counted(lambda one: ~one.is_judged), _over_size),
    "UnjudgedMass": Way("unjudged", "discount", _unjudged_mass, _over("Σ d", _mass)),
    "NumRet": Way("retrieved", "", _counted(lambda one: np.ones(one.grade.size, np.bool_)), _plain),
    "NumRelRet": Way(*_COUNT, _HITS, _plain),
    "NumNonrelRet": Way("not relevant", "", _counted(lambda one: one.is_other), _plain),
    "NumQ": Way(
        "",
        "",
        _nothing,
        lambda *_: Closing("", "", 1.0, None, "1 for every query"),
        adds=False,
        divides=False,
    ),
    "NumRel": Way(
        *_COUNT,
        _HITS,
        lambda one, _: Closing("", "", one.relevant, None, f"R = {one.relevant}, retrieved or not"),
        divides=False,
    ),
    "AP": Way(*_PRECISION, _precision_terms, _over_most),
    "GMAP": Way(*_PRECISION, _precision_terms, _OVER_R),
    "RR": Way("relevant", "1/i of the first", _first_terms, _plain),
    "Rprec": Way("relevant", "among the first R", _r_precision, _r_closing),
    "iprec": Way(*_PRECISION, _precision_terms, _at_recall, adds=False, divides=False),
    "11pt": Way(*_PRECISION, _precision_terms, _eleven, adds=False, divides=False),
    "bpref": Way("relevant", "1 − others above", _preferred, _OVER_R),
    "GMbpref": Way("relevant", "1 − others above", _preferred, _OVER_R),
    "infAP": Way("relevant", "expected precision", _inferred, _OVER_R),
    "yaap": Way(*_PRECISION, _precision_terms, _logarithm, divides=False),
    "ERR": Way("satisfies", "read / i", _cascade, _plain),
    "nERR": Way("satisfies", "read / i", _cascade, _over_ideal, ideal=_best_cascade),
    "RBP": Way("worth", "(1−p)·p^(i−1)", _rank_biased, _plain),
    "RBPres": Way("unjudged", "(1−p)·p^(i−1)", _residual, _rest, divides=False),
    "Q": Way("gain above 0", "blended ratio", _blended, _over_most),
    "GAP": Way("Σ min of gains", "1/i", _graded_precision, _over("Σ g", _sum_of_gains)),
    "INST": Way("worth", "attention", _adaptive, _over("all attention", _all_attention)),
    "INSQ": Way("worth", "attention", _squared, _over("all attention", _all_squared)),
    "BPM": Way("worth", "read", _player, _over("documents read", _stopped)),
    "Compat": Way("grade above 0", "overlap", _overlaps, _over_ideal, ideal=_best_overlaps),
}
"""How each family beside CG, DCG, IDCG and nDCG is worked out."""


@dataclass(frozen=True, slots=True)
class WorkedList:
    """A list worked out: what its documents are worth and count, and what the sum becomes.

    Attributes:
        way: how the family is worked out.
        terms: of the documents that are given, down to the cutoff.
        total: the sum of the terms.
        closing: how the value follows.
        ideal: the terms of all judged documents in their best order; None without such.
    """

    way: Way
    terms: Terms
    total: float
    closing: Closing
    ideal: Terms | None


def work_out(
    measure: Measure,
    sheet: Worksheet,
    place: int,
    ranks: Sequence[tuple[int, int]],
    grades: Sequence[float | None],
) -> WorkedList:
    """Work out the list of the query at a place of a sheet.

    Args:
        measure: one of a family of `WAYS`.
        sheet: that has its judgments and its length.
        place: of the query.
        ranks: the first and the last that each document may have, in rank order, down to the cutoff.
        grades: of those documents; None without a judgment.
    """
    matched = sheet.matched
    pool = slice(matched.pool_offsets[place], matched.pool_offsets[place + 1])
    bounds = np.array(ranks, np.int64).reshape(-1, 2)
    given = [np.nan if grade is None else grade for grade in grades]
    one = OneList(
        measure=measure,
        sheet=sheet,
        grade=np.array(given, np.float64),
        first=bounds[:, 0],
        last=bounds[:, 1],
        judged=matched.pool_grades[pool],
        retrieved=int(matched.retrieved[place]),
    )
    way = WAYS[measure.name]
    terms = way.terms(one)
    total = float((terms.worth * terms.weight).sum())
    return WorkedList(
        way, terms, total, way.close(one, total), None if way.ideal is None else way.ideal(one)
    )


def adds_up(measure: Measure) -> bool:
    """Return whether the value of a measure is the sum over documents, divided by one number.

    >>> adds_up(Measure("AP")), adds_up(Measure("F"))
    (True, False)
    """
    return measure.name in WAYS and WAYS[measure.name].divides
