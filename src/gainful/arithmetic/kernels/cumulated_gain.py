"""Cumulated gain: gains, discounts, and the sums of their products at every cutoff of a request.

Gains are elementwise: grades (n,) float64 → gains (n,) float64. Discounts are tables by rank: entry i
is the discount of rank i, entry 0 is 0 and unused.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.arithmetic.kernels.row_sums import MANY_CUTOFFS, sums, sums_down_to
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError


class GradeArithmetic:
    """The functions that the formula of a gain may use besides operators."""

    def exp2m1(self, grades: Floats) -> Floats:
        """Return 2^g − 1."""
        exact = np.exp2(grades) - 1.0  # for whole grades
        if (grades == np.rint(grades)).all():
            return exact
        return np.where(grades == np.rint(grades), exact, np.expm1(grades * math.log(2)))

    def numbers(self, truths: Bools) -> Floats:
        """Return 1 where a condition is true, otherwise 0."""
        return truths.astype(np.float64)


def named_gains(formula: Callable[[Any, Any], Any], grades: Floats) -> Floats:
    """Return the gains by a formula of grades and a `GradeArithmetic`; infinite if one overflows, for the caller to reject."""
    with np.errstate(over="ignore"):
        gains: Floats = formula(grades, GradeArithmetic())
    return gains


def mapped_gains(grades: Floats, levels: Floats, values: Floats) -> Floats:
    """Return `values` at the place of each grade in `levels`, which is sorted and holds them all."""
    return values[np.searchsorted(levels, grades)]


@dataclass(frozen=True, slots=True)
class NumpyArithmetic:
    """The functions that a discount formula may use besides operators."""

    base: float
    exponent: float

    def inverse_log(self, numbers: Floats) -> Floats:
        """Return 1/log_b of numbers above 1."""
        inverse: Floats = 1.0 / _logarithm(numbers, self.base)
        return inverse

    def where(self, condition: Bools, yes: float, no: Floats | float) -> Floats:
        """Return `yes` where the condition holds, otherwise `no`."""
        return np.where(condition, yes, no)

    def entries(self, table: Sequence[float], deeper: float, rank: Floats) -> Floats:
        """Return the table entry of each whole rank, from rank 1, or the value for deeper ranks."""
        worths = np.array([*table, deeper])
        values: Floats = worths[np.minimum(rank.astype(np.int64), worths.size) - 1]
        return values

    def checked(self, worth: Any, where: str) -> Floats:
        """Return discounts; reject them if negative, infinite or rising with the rank."""
        numbers = np.asarray(worth, np.float64)
        wrong = ~(np.isfinite(numbers) & (numbers >= 0))
        wrong[1:] |= numbers[1:] > numbers[:-1]
        if wrong.any():
            rank = int(np.flatnonzero(wrong)[0])
            raise InputError(
                where,
                "finite numbers from 0 that never rise with the rank",
                f"{numbers[rank]:g} at rank {rank + 1}"
                + (f", after {numbers[rank - 1]:g}" if rank else ""),
                "A deeper rank must not be worth more than one above it: the ideal and the bounds "
                "depend on that.",
            )
        return numbers


def discount_table(
    formula: Callable[[Any, Any], Any], depth: int, *, base: float, exponent: float | None
) -> Floats:
    """Return the table of a discount.

    Args:
        formula: a function of ranks (depth,) from 1 and a `NumpyArithmetic` that returns discounts.
        depth: the last rank.
        base: the base of the logarithm.
        exponent: the exponent of a discount that has one.

    >>> discount_table(lambda rank, _: 1 / rank, 3, base=2.0, exponent=None).round(3).tolist()
    [0.0, 1.0, 0.5, 0.333]
    """
    return _table(formula(_ranks(depth), NumpyArithmetic(base, exponent or 0.0)))


def log_discounts(depth: int, base: float) -> Floats:
    """Return 1/log_b(i+1) for i = 1..depth."""
    return _table(1.0 / _logarithm(_ranks(depth) + 1.0, base))


def reciprocal_discounts(depth: int) -> Floats:
    """Return 1/i."""
    return _table(1.0 / _ranks(depth))


def _ranks(depth: int) -> Floats:
    return np.arange(1, depth + 1, dtype=np.float64)


def _logarithm(values: Floats, base: float) -> Floats:
    # The dedicated functions are exact at powers of their base.
    if base == 2:
        return np.log2(values)
    if base == 10:
        return np.log10(values)
    return np.log(values) / math.log(base)


def _table(discounts: Floats) -> Floats:
    return np.concatenate(([0.0], discounts))


# From this share of tied rows, working block by block is faster than selecting them.
_MANY_TIED = 0.25

# NumPy adds in a tree, so a sum of n terms is off by about log2(n) units in the last place.
_ROUNDING = 32 * np.finfo(np.float64).eps


def owners(offsets: Ints) -> Ints:
    """Return the query (n,) of each row from the offsets (q+1,) of compressed rows."""
    return np.arange(offsets.size - 1).repeat(offsets[1:] - offsets[:-1])


def mean_discount(discount: Floats, first: Ints, last: Ints, cutoff: int | None = None) -> Floats:
    """Return the mean discount (n,) of the ranks first..last, with 0 for ranks below the cutoff.

    Each block is summed separately: differences of running sums would lose digits.

    Args:
        discount: (depth+1,) by rank.
        first: (n,) first rank of each block, at most the cutoff.
        last: (n,) last rank of each block.
        cutoff: None for no cutoff.
    """
    if not first.size:
        return np.empty(0)
    counted = last if cutoff is None else np.minimum(last, cutoff)
    bounds = np.stack((first, counted + 1), axis=1).ravel()
    sums: Floats = np.add.reduceat(np.append(discount, 0.0), bounds)[::2]
    return sums / (last - first + 1)


def cumulated(
    gains: Floats,
    rank_first: Ints,
    rank_last: Ints,
    offsets: Ints,
    discount: Floats,
    cutoffs: Ints,
) -> Floats:
    """Sum gain times discount per query, up to each cutoff.

    A document that may be anywhere in a block of ranks gets the mean discount of the block, with 0
    for ranks below the cutoff: the expectation over all orders of the block.

    Args:
        gains: (n,) in order of query and rank.
        rank_first: (n,) first rank of the document's block.
        rank_last: (n,) last rank of the block; equal to rank_first if the rank is certain.
        offsets: (q+1,) the boundaries of each query's rows.
        discount: (depth+1,) by rank; depth is at least the largest rank.
        cutoffs: (c,) at least one; a cutoff at the depth of the discounts means no cutoff.

    Returns:
        (q, c) sums; 0 for a query without rows.
    """
    distinct = sorted({*cutoffs.tolist()})
    if len(distinct) > MANY_CUTOFFS:
        return _at_many_cutoffs(gains, rank_first, rank_last, offsets, discount, cutoffs)
    tied = None if rank_first is rank_last else rank_first < rank_last
    if tied is not None and np.count_nonzero(tied) > _MANY_TIED * gains.size:
        weights = _block_weights(rank_first, rank_last, offsets, discount)
    else:
        weights = discount[rank_first]
        if tied is not None:
            rows = tied.nonzero()[0]
            weights[rows] = mean_discount(discount, rank_first[rows], rank_last[rows])
    terms = np.multiply(gains, weights, out=weights)

    sums = np.empty((offsets.size - 1, len(distinct)))
    deepest = discount.size - 1
    for column, cutoff in enumerate(distinct):
        if cutoff >= deepest:
            sums[:, column] = _sum_rows(terms, offsets[:-1], offsets[1:])
            continue
        cut = terms
        straddling = _across(rank_first, rank_last, cutoff)
        if straddling.size:
            first, last = rank_first[straddling], rank_last[straddling]
            cut = terms.copy()
            cut[straddling] = gains[straddling] * mean_discount(discount, first, last, cutoff)
        # Ranks ascend, so the rows of a query that count end at its first deeper row.
        deeper = np.append((rank_first > cutoff).nonzero()[0], gains.size)
        ends = np.minimum(deeper[deeper.searchsorted(offsets[:-1])], offsets[1:])
        sums[:, column] = _sum_rows(cut, offsets[:-1], ends)
    if len(distinct) == cutoffs.size and distinct == cutoffs.tolist():
        return sums
    return sums[:, np.searchsorted(distinct, cutoffs)]


def _at_many_cutoffs(
    gains: Floats,
    rank_first: Ints,
    rank_last: Ints,
    offsets: Ints,
    discount: Floats,
    cutoffs: Ints,
) -> Floats:
    """Sum as `cumulated` does, from running sums, in the same time for any number of cutoffs.

    Every rank of a block gets the mean gain of its documents.
    """
    owner = owners(offsets)
    opens = np.ones(gains.size, np.bool_)
    opens[1:] = (rank_first[1:] != rank_first[:-1]) | (owner[1:] != owner[:-1])
    starts = np.flatnonzero(opens)
    totals = np.add.reduceat(gains, starts) if starts.size else np.empty(0)
    deepest = cutoffs.max()
    near = rank_first[starts] <= deepest
    starts, totals = starts[near], totals[near]
    first, last = rank_first[starts], rank_last[starts]
    means = totals / (last - first + 1)
    counted = np.minimum(last, deepest) - first + 1
    block = np.repeat(np.arange(starts.size), counted)
    rank = np.arange(block.size) + np.repeat(first - np.cumsum(counted) + counted, counted)
    terms = means[block] * discount[rank]
    return sums_down_to(terms, rank, owner[starts][block], offsets.size - 1, cutoffs, exact=True)


def _across(rank_first: Ints, rank_last: Ints, cutoff: int) -> Ints:
    """Return the rows whose blocks begin above a cutoff and end below it."""
    if rank_first is rank_last:
        return np.empty(0, np.int64)
    return ((rank_first <= cutoff) & (rank_last > cutoff)).nonzero()[0]


def absent(lengths: Ints, cutoffs: Ints, discount: Floats) -> Floats:
    """Sum the discounts of the ranks after the end of each list, up to each cutoff.

    Args:
        lengths: (q,) the length of each list.
        cutoffs: (c,) fixed sizes.
        discount: (depth+1,) by rank; depth is at least the largest cutoff.

    Returns:
        (q, c) sums; 0 if the list reaches the cutoff.
    """
    running = np.cumsum(discount)
    return running[cutoffs] - running[np.minimum(lengths[:, None], cutoffs)]


def divide_by_ideal(values: Floats, ideals: Floats) -> Floats:
    """Divide by the ideal; 0 if the ideal is 0, which the caller interprets.

    A perfect list and its ideal are the same sum, possibly added in different orders. A quotient
    that differs from 1 only by rounding is 1.
    """
    quotients = np.divide(values, ideals, out=np.zeros(values.shape), where=ideals > 0)
    quotients[np.abs(quotients - 1.0) <= _ROUNDING] = 1.0
    return quotients


def without_rounding(sums: Floats, sizes: Floats) -> Floats:
    """Return 0 for sums of terms of either sign that differ from 0 only by rounding.

    `sizes` are the sums of the absolute terms, of the same shape.
    """
    return np.where(np.abs(sums) <= _ROUNDING * sizes, 0.0, sums)


def _block_weights(rank_first: Ints, rank_last: Ints, offsets: Ints, discount: Floats) -> Floats:
    """Return the mean discount (n,) of each row's block, computed once per block.

    If there are many more rows than pairs of ranks, it is computed once per pair.
    """
    depth = discount.size
    if depth**2 <= rank_first.size:
        pair = rank_first * depth
        pair += rank_last
        pairs = np.arange(depth**2)
        if (
            depth**3 > 6 * rank_first.size
        ):  # summing every pair would take longer than finding those that occur
            occurs = np.zeros(pairs.size, np.bool_)
            occurs[pair] = True
            pairs = np.flatnonzero(occurs)
        first, last = pairs // depth, pairs % depth
        rising = first <= last
        table = np.empty(depth**2)
        table[pairs[rising]] = mean_discount(discount, first[rising], last[rising])
        weights: Floats = table[pair]
        return weights
    opens = np.empty(rank_first.size, np.bool_)
    np.not_equal(rank_first[1:], rank_first[:-1], out=opens[1:])
    opens[offsets[:-1][np.diff(offsets) > 0]] = True
    starts = np.flatnonzero(opens)
    means = mean_discount(discount, rank_first[starts], rank_last[starts])
    return np.repeat(means, np.diff(starts, append=opens.size))


def _sum_rows(terms: Floats, starts: Ints, ends: Ints) -> Floats:
    """Sum the rows starts[q]..ends[q] of each query; 0 for no rows."""
    sums = np.zeros(starts.size)
    filled = (ends > starts).nonzero()[0]
    if filled.size:
        bounds = np.empty(2 * filled.size, np.int64)
        bounds[::2], bounds[1::2] = starts[filled], ends[filled]
        if bounds[-1] == terms.size:
            bounds = bounds[:-1]  # the last sum extends to the end anyway
        sums[filled] = np.add.reduceat(terms, bounds)[::2]
    return sums


def mean_and_variance(
    gains: Floats, owner: Ints, lengths: Ints, discount: Floats
) -> tuple[Floats, Floats]:
    """Return mean and variance (q,) of Σ g·d if all orders of a list are equally likely.

    Args:
        gains: (n,) of the judged documents; the others have 0.
        owner: (n,) their query.
        lengths: (q,) the number of documents in each list.
        discount: (depth+1,) by rank, 0 beyond a cutoff.
    """
    queries = lengths.size
    upto, squares = np.cumsum(discount), np.cumsum(discount**2)
    weight, square = upto[lengths], squares[lengths]
    total, total_square = sums(gains, owner, queries), sums(gains**2, owner, queries)
    mean = ratio(total * weight, lengths)
    spread_gain = total_square - ratio(total**2, lengths)
    spread_discount = square - ratio(weight**2, lengths)
    variance = ratio(np.maximum(spread_gain, 0.0) * np.maximum(spread_discount, 0.0), lengths - 1)
    return mean, variance
