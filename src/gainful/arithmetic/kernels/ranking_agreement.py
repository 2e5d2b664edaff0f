"""Agreement of two orders of the same items: pairs in the same order, τ_AP, τ_h.

Items are represented by their ranks or scores on both sides, without names, list after list.
"""

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gainful.array_types import AnyArray, Bools, Floats, Ints


def smaller_before(places: Ints) -> Ints:
    """Count for each number (n,) how many smaller ones precede it; n log n.

    The highest bit in which two numbers differ decides which is smaller. So the numbers are split
    bit by bit, from the highest. Among numbers that agree in all higher bits, each one with the bit
    set counts the preceding ones without it.

    Args:
        places: (n,) the numbers 0..n−1 in some order.

    >>> smaller_before(np.array([2, 0, 3, 1]))
    array([0, 0, 2, 1])
    """
    row, spots = places, np.arange(places.size)
    counts = np.zeros(places.size, np.int64)  # by place
    for bit in reversed(range(places.size.bit_length())):
        low = (row >> bit) & 1 == 0
        # Places that agree in the higher bits are adjacent, starting with the smallest.
        start = (row >> (bit + 1)) << (bit + 1)
        lows = np.cumsum(low) - low
        lows -= lows[start]
        high = ~low
        counts[row[high]] += lows[high]
        target = np.where(low, start + lows, spots - lows + (1 << bit))
        split = np.empty_like(row)
        split[target] = row
        row = split
    return counts[places]


@dataclass(frozen=True, slots=True)
class Order:
    """The order of items (n,) by score, within each of several lists; tied items are a group.

    Attributes:
        start: the number of items before the item's list, or in it with lower scores.
        lower: the items of its list with lower scores.
        tied: the items with the same score, itself included.
        higher: the items with higher scores.
    """

    start: Ints
    lower: Ints
    tied: Ints
    higher: Ints


def order_of(scores: Floats, offsets: Ints) -> Order:
    """Return the order of items by score; n log n.

    Args:
        scores: (n,) scores, list after list.
        offsets: (q+1,) where each list begins.

    >>> order_of(np.array([0.5, 0.9, 0.5, 7.0]), np.array([0, 3, 4])).higher.tolist()
    [1, 0, 1, 0]
    """
    sizes = np.diff(offsets)
    owner = np.repeat(np.arange(sizes.size), sizes)
    ascending = np.lexsort((scores, owner))
    starts, counts = _groups(owner, scores[ascending])
    start, tied = np.empty((2, scores.size), np.int64)
    start[ascending], tied[ascending] = starts, counts
    lower = start - offsets[owner]
    return Order(start, lower, tied, sizes[owner] - tied - lower)


def offsets_of(chosen: Bools, offsets: Ints) -> Ints:
    """Return where each list begins after only the chosen items are kept (q+1,).

    >>> offsets_of(np.array([True, False, True]), np.array([0, 2, 3]))
    array([0, 1, 2])
    """
    kept: Ints = np.concatenate(([0], np.cumsum(chosen)))[offsets]
    return kept


def _groups(*keys: AnyArray) -> tuple[Ints, Ints]:
    """Return for each row the place of the first adjacent row with equal keys (n,), and their number.

    >>> _groups(np.array([5, 5, 7]))
    (array([0, 0, 2]), array([2, 2, 1]))
    """
    opens = np.ones(keys[0].size, np.bool_)
    opens[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    starts = np.flatnonzero(opens)
    counts = np.diff(starts, append=opens.size)
    return np.repeat(starts, counts), np.repeat(counts, counts)


@dataclass(frozen=True, slots=True)
class Pairs:
    """For each item (n,), the exact numbers of other items of its list, by their order in two rankings.

    Attributes:
        offsets: (q+1,) where each list begins.
        first: the order in the first ranking.
        second: the order in the second ranking.
        ranks: (2, n) the rank from 1 in each ranking, with ties in the order of the other one.
        above: the items with higher scores in both rankings.
        only_first: the items with a higher score in the first ranking and a lower one in the second.
        only_second: the items with a lower score in the first ranking and a higher one in the second.
        below: the items with lower scores in both rankings.
    """

    offsets: Ints
    first: Order
    second: Order
    ranks: Ints
    above: Ints
    only_first: Ints
    only_second: Ints
    below: Ints

    @property
    def surplus(self) -> Ints:
        """(n,) the items in the same order in both rankings minus those in opposite orders."""
        surplus: Ints = self.above + self.below - self.only_first - self.only_second
        return surplus

    @property
    def swapped(self) -> "Pairs":
        """The same with the second ranking first."""
        return replace(
            self, first=self.second, second=self.first, ranks=self.ranks[::-1],
            only_first=self.only_second, only_second=self.only_first,
        )  # fmt: skip

    def sums(self, *terms: Floats) -> Floats:
        """Return the sum of terms (n,) over the items of each list (q,), rounded once."""
        numbers = np.stack(terms, axis=1).ravel().tolist()
        bounds = pairwise((self.offsets * len(terms)).tolist())
        return np.array([math.fsum(numbers[low:high]) for low, high in bounds])

    def counts(self, numbers: Ints | Bools) -> Ints:
        """Return the sum of whole numbers (n,) over the items of each list (q,)."""
        totals = np.concatenate(([0], np.cumsum(numbers, dtype=np.int64)))
        counts: Ints = np.diff(totals[self.offsets])
        return counts


def count_pairs(first: Floats, second: Floats, offsets: Ints) -> Pairs:
    """Count the pairs of items that two sets of scores put in the same order, or not; n log n.

    Args:
        first: (n,) scores of the items, list after list.
        second: (n,) other scores of the same items.
        offsets: (q+1,) where each list begins.

    >>> three = count_pairs(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]), np.array([0, 3]))
    >>> three.surplus.tolist()
    [2, 0, 0]
    """
    one, other = order_of(first, offsets), order_of(second, offsets)
    sizes, places = np.diff(offsets), np.arange(first.size)
    begin, size = np.repeat(offsets[:-1], sizes), np.repeat(sizes, sizes)
    # The items by the first ranking, tied ones by the second. Groups that are tied in both are adjacent.
    by_first = np.argsort(one.start * first.size + other.start, kind="stable")
    by_second = np.argsort(other.start * first.size + one.start, kind="stable")
    starts, counts = _groups(one.start[by_first], other.start[by_first])
    below_tied, tied_both, tied_below, ranks_first, ranks_second = np.empty(
        (5, first.size), np.int64
    )
    below_tied[by_first], tied_both[by_first] = starts, counts
    tied_below[by_second] = _groups(other.start[by_second], one.start[by_second])[0]
    ranks_first[by_first] = ranks_second[by_second] = begin + size - places
    # Tied in one ranking, and lower in the other.
    below_tied, tied_below = below_tied - one.start, tied_below - other.start
    # Lower in both: smaller places that come before. Among items that tie in the first ranking, the higher
    # ones in the second come first; among those that tie in the second, later ones have smaller places.
    order = np.argsort(one.start * first.size - other.start, kind="stable")
    ascending = np.argsort(other.start[order] * first.size - places, kind="stable")
    smaller = np.empty(first.size, np.int64)
    smaller[ascending] = places
    below = np.empty(first.size, np.int64)
    below[order] = smaller_before(smaller) - begin
    only_second = one.lower - below - tied_below
    only_first = other.lower - below - below_tied
    above = one.higher - only_first - (other.tied - tied_both - tied_below)
    ranks = np.stack((ranks_first, ranks_second))
    return Pairs(offsets, one, other, ranks, above, only_first, only_second, below)


def tau_a(pairs: Pairs) -> Floats:
    """Return Kendall's τ_a of each list (q,), the surplus of pairs in the same order; NaN for one item.

    >>> tau_a(count_pairs(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]), np.array([0, 3])))
    array([0.33333333])
    """
    sizes = np.diff(pairs.offsets)
    return _ratios(pairs.counts(pairs.surplus), sizes * (sizes - 1))


def tau_b(pairs: Pairs) -> Floats:
    """Return Kendall's τ_b of each list (q,); NaN if all items are tied on a side.

    >>> tau_b(count_pairs(np.array([3.0, 2.0, 2.0]), np.array([3.0, 2.0, 1.0]), np.array([0, 3])))
    array([0.81649658])
    """
    untied = [pairs.counts(each.lower) for each in (pairs.first, pairs.second)]
    # Every pair counts for both of its items.
    return _ratios(pairs.counts(pairs.surplus) // 2, np.sqrt(1.0 * untied[0] * untied[1]))


def tau_ap_a(pairs: Pairs) -> Floats:
    """Return τ_AP = 2/(n − 1) · Σ_{i=2..n} C(i)/(i − 1) − 1 of each list (q,); NaN for one item.

    C(i) is the number of the i − 1 items above rank i of the second ranking that are also above it in the
    first one, the reference. With ties, the value is the mean over all orders of tied items. Pairs that are
    tied on either side agree in half of the orders, and an item of a group of t items from rank r on has each
    rank r + k, k < t, with k members of the group above it, in the same share of the orders.

    J. Urbano and M. Marrero, The treatment of ties in AP correlation, ICTIR 2017, define it for a
    reference without ties.

    >>> tau_ap_a(count_pairs(np.array([3.0, 2.0, 1.0]), np.array([1.0, 1.0, 0.0]), np.array([0, 3])))
    array([0.5])
    """
    above, tied = pairs.second.higher, pairs.second.tied
    likely = pairs.above + (above - pairs.above - pairs.only_second) / 2
    sizes = np.diff(pairs.offsets)
    inverses = np.cumsum(np.concatenate(([0.0], 1 / np.arange(1, sizes.max(initial=1)))))
    lower = np.maximum(above, 1)  # the first group, whose items have none above them, adds 0
    sums = inverses[lower + tied - 1 - (above == 0)] - inverses[lower - 1]
    harmonic = np.divide(tied, sums, out=np.ones(tied.size), where=sums > 0)
    divisors = np.where(tied > 1, harmonic, lower)
    ranks = pairs.ranks[1] - 1  # from 0, without the first
    inside = (ranks - above) / 2 / np.maximum(ranks, 1)
    total = pairs.sums(np.where(above > 0, likely / divisors, 0.0), inside)
    return _ratios(2 * total, sizes - 1.0) - 1


def tau_ap_b(pairs: Pairs) -> Floats:
    """Return τ_AP,b of each list (q,), the mean of both directions; NaN if all items tie on a side.

    In each direction, C(i)/(i − 1) is computed over the items above the group of item i, without the first
    group; an item that ties in the reference doesn't agree (Urbano and Marrero).

    >>> tau_ap_b(count_pairs(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 1.0]), np.array([0, 3])))
    array([0.75])
    """
    values = []
    for ranking in (pairs.first, pairs.second):
        total = pairs.sums(pairs.above / np.maximum(ranking.higher, 1))
        values.append(_ratios(2 * total, pairs.counts(ranking.higher > 0)) - 1)
    both: Floats = (values[0] + values[1]) / 2
    return both


def tau_h(pairs: Pairs) -> Floats:
    """Return τ_h of each list (q,): τ_b with the weight 1/rank + 1/rank' for each pair; NaN if a side is tied.

    The ranks are those of the first side, with ties in the order of the second; the value is the mean with
    the value for the ranks of the second side. S. Vigna, A weighted correlation index for rankings with
    ties, WWW 2015.

    >>> tau_h(count_pairs(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]), np.array([0, 3]))).round(4)
    array([0.5455])
    """
    surplus, values = pairs.surplus, []
    for ranks in pairs.ranks:
        norms = [
            pairs.sums((each.lower + each.higher) / ranks) for each in (pairs.first, pairs.second)
        ]
        values.append(_ratios(pairs.sums(surplus / ranks), np.sqrt(norms[0] * norms[1])))
    both: Floats = np.clip((values[0] + values[1]) / 2, -1.0, 1.0)
    return both


def _ratios(above: Floats | Ints, below: Floats | Ints) -> Floats:
    """Divide; NaN where the divisor is not positive."""
    ratios: Floats = np.divide(above, below, out=np.full(above.size, np.nan), where=below > 0)
    return ratios


def least_promoted(reference: Ints, ranking: Ints, offsets: Ints, depth: float) -> Ints:
    """Return the deepest rank in the reference of an item that the ranking promotes to the depth or above.

    An item that the reference lacks counts as the first one after its end. The result (q,) is 0 if no item is
    promoted.

    Args:
        reference: (n,) ranks from 1, list after list; 0 for items that it lacks.
        ranking: (n,) ranks from 1; 0 for items that it lacks.
        offsets: (q+1,) where each list begins; none is empty.
        depth: the last rank of the ranking that counts.

    >>> least_promoted(np.array([1, 2, 3, 4]), np.array([1, 3, 2, 4]), np.array([0, 4]), 4)
    array([3])
    """
    ends = np.maximum.reduceat(reference, offsets[:-1]) + 1
    before = np.where(reference > 0, reference, np.repeat(ends, np.diff(offsets)))
    promoted = (ranking > 0) & (ranking <= depth) & (ranking < before)
    deepest: Ints = np.maximum.reduceat(np.where(promoted, before, 0), offsets[:-1])
    return deepest


def kendall_tau_of_rows(first: Floats, second: Floats) -> Floats:
    """Return τ_b (b,) between rows of two (b, n) arrays of scores; NaN if a whole side is tied.

    This visits all pairs and is meant for many orders of few items.

    >>> kendall_tau_of_rows(np.array([[3.0, 2.0, 1.0]]), np.array([[3.0, 1.0, 2.0]])).round(4).tolist()
    [0.3333]
    """
    left, right = np.triu_indices(first.shape[1], 1)
    one = np.sign(first[:, left] - first[:, right])
    other = np.sign(second[:, left] - second[:, right])
    surplus = (one * other).sum(axis=1)
    untied = np.count_nonzero(one, axis=1) * np.count_nonzero(other, axis=1)
    none = np.full(len(first), np.nan)
    tau: Floats = np.divide(surplus, np.sqrt(untied), out=none, where=untied > 0)
    return tau


def tau_ap_of_rows(reference: Floats, ranking: Floats) -> Floats:
    """Return τ_AP (b,) between rows of scores (b, n), n ≥ 2, and the rows of a reference.

    Among equal scores, the first item ranks higher, on both sides. All pairs are visited.

    >>> tau_ap_of_rows(np.array([[3.0, 2.0, 1.0]]), np.array([[3.0, 1.0, 2.0]])).tolist()
    [0.5]
    """
    agreeing, above = _above(reference), _above(ranking)
    ranks = above.sum(axis=1)  # the number of items above each
    shares = (agreeing & above).sum(axis=1) / np.maximum(ranks, 1)
    tau: Floats = 2.0 * shares.sum(axis=1) / (ranking.shape[1] - 1) - 1.0
    return tau


def _above(scores: Floats) -> Bools:
    """Return (b, n, n): whether one item ranks above another."""
    count = scores.shape[1]
    earlier = np.triu(np.ones((count, count), np.bool_), 1)
    one, other = scores[:, :, None], scores[:, None, :]
    above: Bools = (one > other) | ((one == other) & earlier)
    return above
