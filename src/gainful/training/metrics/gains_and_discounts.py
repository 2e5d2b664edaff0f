"""Gains of grades, on the device, and discounts of ranks, from tables on the host."""

import math

import numpy as np

from gainful.arithmetic.kernels import cumulated_gain
from gainful.array_types import Array, Floats
from gainful.measures.discount import Discount
from gainful.measures.gain import FORMS, Gain, gains_by_function
from gainful.training.metrics.ranks_by_score import Ranking
from gainful.training.metrics.scored_lists import ScoredLists


def gains(lists: ScoredLists, gain: Gain) -> Array:
    """Return the gain `[..., list]` of each document; 0 for padding.

    A grade missing from a table gets NaN, since only the device knows that it occurs.
    """
    xp, grades = lists.xp, lists.grades
    if gain.form == "linear":
        return grades
    if gain.form in FORMS:
        worth = FORMS[gain.form].formula(grades, _GradeArithmetic(lists))
    elif gain.form == "table":
        # PyTorch turns two Python numbers into float32, whatever the dtype of the grades.
        worth = grades if gain.own else xp.where(grades == 0, xp.zeros_like(grades), float("nan"))
        for grade, value in gain.table:
            worth = xp.where(grades == lists.constant(grade), value, worth)
    else:
        worth = lists.numbers(gains_by_function(gain, lists.grades))
    return xp.where(lists.valid, worth, 0) if lists.padded else worth


class _GradeArithmetic:
    """The functions that the formula of a gain may use besides operators."""

    def __init__(self, lists: ScoredLists) -> None:
        self._xp, self.numbers = lists.xp, lists.numbers

    def exp2m1(self, grades: Array) -> Array:
        """Return 2^g − 1; 2^g is exact for whole grades, but 2^g − 1 loses digits for small ones."""
        small = self._xp.expm1(grades * math.log(2))
        # Not exp2, which JAX computes from e^x.
        return self._xp.where(grades == self._xp.round(grades), 2.0**grades - 1, small)


def discount_table(discount: Discount, base: float, depth: int) -> Floats:
    """Return the discounts (depth,) from rank 1."""
    return cumulated_gain.discount_table(
        discount.formula, depth, base=base, exponent=discount.exponent
    )[1:]


def weights(lists: ScoredLists, ranking: Ranking, table: Floats) -> Array:
    """Return the discount of each rank; with averaged ties, the mean of its block.

    Args:
        lists: the documents.
        ranking: their ranks.
        table: (at most depth,) discounts down to the cutoff; ranks below it count 0.
    """
    if ranking.first is None:
        return lists.constant(table[: ranking.depth])
    padded = np.concatenate((table, np.zeros(ranking.depth - table.size)))
    high, low = (lists.constant(part) for part in _running(padded))
    first, after = ranking.first, ranking.last + 1
    sums = (high[first] - high[after]) + (low[first] - low[after])
    means = sums / lists.numbers(after - first)
    # The mean of one term is exactly that term.
    return lists.xp.where(after - first == 1, lists.constant(padded), means)


def reciprocals(lists: ScoredLists, ranking: Ranking, cutoff: int | None) -> Array:
    """Return 1/rank; 0 below the cutoff."""
    table = np.zeros(ranking.depth)
    depth = lists.depth(cutoff)
    return lists.constant(
        np.concatenate((cumulated_gain.reciprocal_discounts(depth)[1:], table[depth:]))
    )


def _running(table: Floats) -> tuple[Floats, Floats]:
    """Return the sums (n+1,) from each rank on, as pairs whose differences lose no digits.

    The first number fits in float32, and the second is the remainder. Discounts decrease, so
    summing from the last rank keeps every sum close in size to its terms.
    """
    sums = np.concatenate((np.cumsum(table[::-1])[::-1], np.zeros(1)))
    # Knuth's two-sum: the exact error of each addition.
    before, after = sums[1:], sums[:-1]
    added = after - before
    errors = (before - (after - added)) + (table - added)
    missing = np.concatenate((np.cumsum(errors[::-1])[::-1], np.zeros(1)))
    high = sums.astype(np.float32).astype(np.float64)
    return high, (sums - high) + missing
