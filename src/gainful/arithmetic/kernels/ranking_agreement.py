"""Agreement of two orders of the same items: pairs in the same order, τ_AP, τ_h.

Items are represented by their ranks or scores on both sides, without names.
"""

import math
from dataclasses import dataclass

import numpy as np

from gainful.array_types import Bools, Floats, Ints


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
class Pairs:
    """The exact numbers of pairs of items, by kind.

    Attributes:
        total: all pairs, n(n − 1)/2.
        tied_first: pairs tied on the first side, and perhaps on the second.
        tied_second: pairs tied on the second side, and perhaps on the first.
        surplus: pairs in the same order on both sides minus pairs in opposite order.
    """

    total: int
    tied_first: int
    tied_second: int
    surplus: int


def count_pairs(first: Floats, second: Floats) -> Pairs:
    """Count the pairs of items that two sets of scores put in the same order, or not; n log n.

    Args:
        first: (n,) scores of the items.
        second: (n,) other scores of the same items.

    >>> count_pairs(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0]))
    Pairs(total=3, tied_first=0, tied_second=0, surplus=1)
    """
    order = np.lexsort((second, first))
    left, right = first[order], second[order]
    differ = left[1:] != left[:-1]
    tied_first = _tied(differ)
    tied_both = _tied(differ | (right[1:] != right[:-1]))
    # Equal scores keep their order, so they don't count as pairs in opposite order.
    by_second = np.argsort(right, kind="stable")
    ascending = right[by_second]
    tied_second = _tied(ascending[1:] != ascending[:-1])
    places = np.empty(first.size, np.int64)
    places[by_second] = np.arange(first.size)
    total = first.size * (first.size - 1) // 2
    opposite = total - int(smaller_before(places).sum())
    surplus = total - tied_first - tied_second + tied_both - 2 * opposite
    return Pairs(total, tied_first, tied_second, surplus)


def _tied(differ: Bools) -> int:
    """Count the pairs within runs of equal values, from where neighbours (n−1,) differ."""
    bounds = np.flatnonzero(np.concatenate(([True], differ, [True])))
    sizes = np.diff(bounds)
    return int((sizes * (sizes - 1) // 2).sum())


def dominated(first: Floats, second: Floats) -> Ints:
    """Count for each item how many items have smaller scores on both sides (n,); n log n.

    >>> dominated(np.array([1.0, 2.0, 2.0, 3.0]), np.array([1.0, 5.0, 2.0, 2.0]))
    array([0, 1, 1, 1])
    """
    order = np.lexsort((-second, first))
    # Among equal scores on the second side, later items get the smaller places, so that none counts.
    places = np.empty(first.size, np.int64)
    backwards = np.argsort(second[order][::-1], kind="stable")
    places[first.size - 1 - backwards] = np.arange(first.size)
    counts = np.empty(first.size, np.int64)
    counts[order] = smaller_before(places)
    return counts


def tau_ap_a(reference: Floats, ranking: Floats) -> float:
    """Return τ_AP = 2/(n − 1) · Σ_{i=2..n} C(i)/(i − 1) − 1 of scores (n,), n ≥ 2.

    C(i) is the number of the i − 1 items above rank i that are also above it in the reference. With ties,
    the value is the mean over all orders of tied items. Pairs that are tied on either side agree in half of
    the orders, and an item of a group of t items from rank r on has each rank r + k, k < t, with k members of
    the group above it, in the same share of the orders.

    J. Urbano and M. Marrero, The treatment of ties in AP correlation, ICTIR 2017, define it for a
    reference without ties.

    >>> tau_ap_a(np.array([3.0, 2.0, 1.0]), np.array([1.0, 1.0, 0.0]))
    0.5
    """
    above, tied = _above_and_tied(ranking)
    agreeing, opposite = dominated(-reference, -ranking), dominated(reference, -ranking)
    likely = agreeing + (above - agreeing - opposite) / 2
    lower = above > 0
    inverses = np.cumsum(np.concatenate(([0.0], 1 / np.arange(1, ranking.size))))
    sums = inverses[(above + tied)[lower] - 1] - inverses[above[lower] - 1]
    divisors = np.where(tied[lower] > 1, tied[lower] / sums, above[lower])  # harmonic means
    ranks = np.arange(1, ranking.size)  # from 0, without the first
    inside = (ranks - np.sort(above)[1:]) / 2 / ranks
    total = math.fsum([*(likely[lower] / divisors).tolist(), *inside.tolist()])
    return 2 * total / (ranking.size - 1) - 1


def tau_ap_b(first: Floats, second: Floats) -> float:
    """Return τ_AP,b of scores (n,), the mean of both directions; NaN if all items tie on a side.

    In each direction, C(i)/(i − 1) is computed over the items above the group of item i, without the first
    group; an item that ties in the reference doesn't agree (Urbano and Marrero).

    >>> tau_ap_b(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 1.0]))
    0.75
    """
    agreeing = dominated(-first, -second)
    values = []
    for scores in (first, second):
        above, _ = _above_and_tied(scores)
        lower = above > 0
        if not lower.any():
            return math.nan
        shares = agreeing[lower] / above[lower]
        values.append(2 * math.fsum(shares.tolist()) / shares.size - 1)
    return (values[0] + values[1]) / 2


def tau_h(first: Floats, second: Floats) -> float:
    """Return τ_h of scores (n,): τ_b with the weight 1/rank + 1/rank' for each pair; NaN if a side is tied.

    The ranks are those of the first side, with ties in the order of the second; the value is the mean with
    the value for the ranks of the second side. S. Vigna, A weighted correlation index for rankings with
    ties, WWW 2015.

    >>> round(tau_h(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])), 4)
    0.5455
    """
    surplus = (
        dominated(first, second) + dominated(-first, -second)
        - dominated(first, -second) - dominated(-first, second)
    )  # fmt: skip
    untied = [scores.size - _above_and_tied(scores)[1] for scores in (first, second)]
    values = []
    for leading, other in ((first, second), (second, first)):
        weights = np.empty(leading.size)
        weights[np.lexsort((other, leading))[::-1]] = 1 / np.arange(1, leading.size + 1)
        norms = [math.fsum((weights * count).tolist()) for count in untied]
        if not all(norms):
            return math.nan
        values.append(math.fsum((weights * surplus).tolist()) / math.sqrt(norms[0] * norms[1]))
    return min(max((values[0] + values[1]) / 2, -1.0), 1.0)


def _above_and_tied(scores: Floats) -> tuple[Ints, Ints]:
    """Return for each item how many items have a higher score, and how many the same, itself included."""
    ascending = np.sort(scores)
    above = scores.size - np.searchsorted(ascending, scores, "right")
    return above, scores.size - np.searchsorted(ascending, scores, "left") - above


def least_promoted(reference: Ints, ranking: Ints, depth: int) -> int:
    """Return the deepest rank in the reference of an item that the ranking promotes to the depth or above.

    An item that the reference lacks counts as the first one after its end. The result is 0 if no item is
    promoted.

    Args:
        reference: (n,) ranks from 1; 0 for items that it lacks.
        ranking: (n,) ranks from 1; 0 for items that it lacks.
        depth: the last rank of the ranking that counts.

    >>> least_promoted(np.array([1, 2, 3, 4]), np.array([1, 3, 2, 4]), 4)
    3
    """
    before = np.where(reference > 0, reference, reference.max(initial=0) + 1)
    promoted = (ranking > 0) & (ranking <= depth) & (ranking < before)
    return int(before[promoted].max(initial=0))


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
