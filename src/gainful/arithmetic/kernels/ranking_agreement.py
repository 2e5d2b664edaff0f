"""Agreement of two rankings: rank-biased overlap, pairs in the same order, τ_AP.

Items are represented by their ranks or scores on both sides, without names.
"""

import math
from dataclasses import dataclass

import numpy as np

from gainful.array_types import Bools, Floats, Ints


def overlaps(met: Ints, longer: int) -> Ints:
    """Return X (longer,): the number of items in the first d ranks of both lists, d = 1, 2, ….

    Args:
        met: (m,) for each item of both lists the larger of its two ranks, from 1.
        longer: length of the longer list; beyond its end, the shorter list counts as a whole.

    >>> overlaps(np.array([3, 1, 3]), 4)
    array([1, 1, 3, 3])
    """
    counts: Ints = np.cumsum(np.bincount(met, minlength=longer + 1))[1:]
    return counts


def rbo_extrapolated(overlap: Ints, shorter: int, p: float) -> float:
    """Return RBO_EXT, equation 32 of Webber, Moffat and Zobel.

    With l the longer and s the shorter length, the unseen part of the shorter list is assumed to
    agree at the rate of its end, X_s/s, and the agreement A_l is assumed to continue beyond l:

        A_d = X_d/d for d ≤ s, (X_d + (d − s) · X_s/s)/d for s < d ≤ l
        RBO_EXT = (1 − p) Σ_{d=1..l} p^(d−1) A_d + p^l A_l = Σ_{d=1..l} p^(d−1) (A_d − A_{d−1})

    with A_0 = 0. The last form, by parts, gives exactly 1 for equal lists.

    Args:
        overlap: (l,) X by depth.
        shorter: s.
        p: between 0 and 1.

    >>> round(rbo_extrapolated(np.array([1, 1, 3]), 3, 0.9), 3)
    0.955
    """
    depth = np.arange(1, overlap.size + 1)
    unseen = np.maximum(depth - shorter, 0)
    agreement = (overlap * shorter + unseen * overlap[shorter - 1]) / (shorter * depth)
    steps = np.diff(agreement, prepend=0.0) * p ** (depth - 1)
    # The products are rounded, but rounding must not push the sum past 1.
    return min(math.fsum(steps.tolist()), 1.0)


def rbo_least(overlap: Ints, p: float) -> float:
    """Return RBO_MIN, equation 11: no unseen item is in both lists.

        RBO_MIN = (1 − p) (Σ_{d=1..l} p^(d−1) X_d/d + X_l Σ_{d>l} p^(d−1)/d)

    Args:
        overlap: (l,) X by depth.
        p: between 0 and 1.

    >>> round(rbo_least(np.array([1, 1, 3]), 0.9), 5)
    0.47753
    """
    depth = np.arange(1, overlap.size + 1)
    seen = math.fsum((overlap / depth * p ** (depth - 1)).tolist())
    return min((1 - p) * (seen + int(overlap[-1]) * _tail(overlap.size, p)), 1.0)


def rbo_residual(overlap: Ints, shorter: int, p: float) -> float:
    """Return RBO_RES, equation 30: how much RBO could exceed RBO_MIN.

    At best, each item after the end of a list is also in the other list. So the overlap grows by
    d − s after rank s and by another d − l after rank l, until at f = l + s − X_l both lists
    contain the same items, and A_d = 1 from there:

        RBO_RES = (1 − p) (Σ_{d=s+1..f} p^(d−1) ((d − s) + max(d − l, 0))/d
                           + Σ_{d>f} p^(d−1) (d − X_l)/d)

    Args:
        overlap: (l,) X by depth.
        shorter: s.
        p: between 0 and 1.

    >>> round(rbo_residual(np.array([1, 1, 3]), 3, 0.9), 5)
    0.47747
    """
    longer, common = overlap.size, int(overlap[-1])
    full = longer + shorter - common
    depth = np.arange(shorter + 1, full + 1)
    gained = (depth - shorter) + np.maximum(depth - longer, 0)
    rising = math.fsum((gained / depth * p ** (depth - 1)).tolist())
    return (1 - p) * rising + p**full - (1 - p) * common * _tail(full, p)


def _tail(depth: int, p: float) -> float:
    """Return Σ_{d>depth} p^(d−1)/d, which is −ln(1 − p)/p less the terms up to the depth.

    At large depths the difference is smaller than its rounding error, which a large overlap would
    multiply, so it is kept between the first term and the sum of p^(d−1)/(depth + 1).
    """
    ranks = np.arange(1, depth + 1)
    terms = p ** (ranks - 1) / ranks
    rest = math.fsum([-math.log1p(-p) / p, *(-terms).tolist()])
    first = p**depth / (depth + 1)
    return min(max(rest, first), first / (1 - p))


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


def tau_ap(places: Ints) -> float:
    """Return τ_AP = 2/(n − 1) · Σ_{i=2..n} C(i)/(i − 1) − 1.

    C(i) is the number of the i − 1 items above rank i that are also above it in the reference.

    Args:
        places: (n,) two or more: the place in the reference, from 0, of each item of the ranking
            in rank order.

    >>> tau_ap(np.array([0, 2, 1]))
    0.5
    """
    above = np.arange(1, places.size)
    shares = smaller_before(places)[1:] / above
    return 2 * math.fsum(shares.tolist()) / above.size - 1


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
