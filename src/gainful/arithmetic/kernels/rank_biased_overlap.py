"""Rank-biased overlap of two lists, which may differ in length and items, and may contain ties.

W. Webber, A. Moffat and J. Zobel, A similarity measure for indefinite rankings, ACM Transactions on
Information Systems 28(4), 2010; M. Corsi and J. Urbano, The treatment of ties in rank-biased overlap,
SIGIR 2024. Items are represented by their ranks in both lists, without names, pair of lists after pair.
"""

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gainful.arithmetic.kernels.ranking_agreement import offsets_of, order_of
from gainful.array_types import Bools, Floats, Ints


class Ranks(NamedTuple):
    """The ranks of items in a list, from 1; 0 for items that the list lacks.

    Attributes:
        top: (n,) the first rank of the group of items with the same score.
        bottom: (n,) the last rank of the group; equal to `top` without ties.
    """

    top: Ints
    bottom: Ints

    def where(self, chosen: Bools) -> "Ranks":
        """Return the ranks of some items, 0 for the others."""
        return Ranks(np.where(chosen, self.top, 0), np.where(chosen, self.bottom, 0))


def tied_ranks(scores: Floats, offsets: Ints) -> Ranks:
    """Return the ranks of items by score (n,), which is NaN for items that their list lacks.

    Args:
        scores: (n,) scores, list after list.
        offsets: (q+1,) where each list begins.

    >>> tied_ranks(np.array([0.5, np.nan, 0.9, 0.5]), np.array([0, 4]))
    Ranks(top=array([2, 0, 1, 2]), bottom=array([3, 0, 1, 3]))
    """
    present = ~np.isnan(scores)
    order = order_of(scores[present], offsets_of(present, offsets))
    top, bottom = np.zeros((2, scores.size), np.int64)
    top[present] = order.higher + 1
    bottom[present] = order.higher + order.tied
    return Ranks(top, bottom)


class Agreement(NamedTuple):
    """The agreement A_d of two lists at the depths d = 1, …, l.

    Attributes:
        shorter: s, the length of the shorter list.
        common: X_l, the number of items that both lists contain.
        seen: (l,) the agreement if the unseen items of the shorter list aren't in the longer one.
        gained: (l,) how much more is possible.
        extrapolated: (l,) the agreement if the unseen items agree as often as those down to depth s.
    """

    shorter: int
    common: int
    seen: Floats
    gained: Floats
    extrapolated: Floats


class _Depths(NamedTuple):
    """The depths of the longer of two lists, from 1 to its length, pair after pair.

    Attributes:
        offsets: (q+1,) where the depths of each pair begin.
        pair: (l,) the pair of each depth.
        depth: (l,) the depths.
    """

    offsets: Ints
    pair: Ints
    depth: Ints

    def since(self, start: Ints, owner: Ints) -> Ints:
        """Count the items that are in some state from these depths on (l,)."""
        places = self.offsets[owner] + start - 1
        inside = places[places < self.offsets[owner + 1]]
        counts = np.bincount(inside, minlength=self.depth.size).cumsum()
        before = np.concatenate(([0], counts))[self.offsets[:-1]]
        since: Ints = counts - before[self.pair]
        return since

    def between(self, start: Ints, stop: Ints, owner: Ints) -> Ints | int:
        """Count the items that are in some state from one depth to before another (l,)."""
        kept = start < stop
        if not kept.any():
            return 0
        return self.since(start[kept], owner[kept]) - self.since(stop[kept], owner[kept])


def agreements(first: Ranks, second: Ranks, offsets: Ints, ties: str = "a") -> list[Agreement]:
    """Return the agreement of pairs of lists at every depth of the longer one.

    At depth d, an item contributes c_d to a list: 0 above the ranks of its group, 1 from the last of them
    on, and in between the share of the group's ranks down to d. With X_d = Σ c_d · c'_d over all items:

        a: A_d = X_d/d, the mean over all orders of the ties
        b: A_d = X_d/√(Σ c_d² · Σ c'_d²), which is 1 for equal lists with ties
        w: A_d = 2 X_d/(Σ c_d + Σ c'_d), where whole groups count from their first rank on

    Args:
        first: the ranks (n,) of all items in lists of at least one item, list after list.
        second: their ranks in other such lists.
        offsets: (q+1,) where the items of each pair of lists begin.
        ties: a, b or w.

    >>> both = Ranks(np.array([1, 1]), np.array([2, 2]))
    >>> [agreements(both, both, np.array([0, 2]), ties)[0].seen.tolist() for ties in "abw"]
    [[0.5, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """
    pairs = offsets.size - 1
    owner = np.repeat(np.arange(pairs), np.diff(offsets))
    lengths = [np.bincount(owner[ranks.top > 0], minlength=pairs) for ranks in (first, second)]
    swapped = lengths[0] > lengths[1]
    of_items = swapped[owner]
    shorter, longer = (
        Ranks(*(np.where(of_items, other, each) for each, other in zip(one, two, strict=True)))
        for one, two in ((first, second), (second, first))
    )
    short, length = np.minimum(*lengths), np.maximum(*lengths)
    ends = np.concatenate(([0], np.cumsum(length)))
    pair = np.repeat(np.arange(pairs), length)
    depths = _Depths(ends, pair, np.arange(1, pair.size + 1) - ends[pair])
    sizes = _sizes(shorter, longer, owner, depths, ties)
    if ties == "w":
        shorter, longer = (Ranks(ranks.top, ranks.top) for ranks in (shorter, longer))
    of_shorter, of_longer = (_parts(ranks, owner, depths) for ranks in (shorter, longer))

    both = (shorter.top > 0) & (longer.top > 0)
    top, bottom, of_both = shorter.top[both], shorter.bottom[both], owner[both]
    other_top, other_bottom = longer.top[both], longer.bottom[both]
    overlap = (
        depths.since(np.maximum(bottom, other_bottom), of_both)
        + of_shorter * depths.between(np.maximum(top, other_bottom), bottom, of_both)
        + of_longer * depths.between(np.maximum(other_top, bottom), other_bottom, of_both)
        + of_shorter * of_longer
        * depths.between(np.maximum(top, other_top), np.minimum(bottom, other_bottom), of_both)
    )  # fmt: skip
    # The items that only the longer list contains, in its order. At best, they continue the shorter list.
    lone = np.flatnonzero((shorter.top == 0) & (longer.top > 0))
    lone = lone[np.lexsort((longer.top[lone], owner[lone]))]
    top, bottom, of_lone = longer.top[lone], longer.bottom[lone], owner[lone]
    many = np.bincount(of_lone, minlength=pairs)
    rank = short[of_lone] + np.arange(1, lone.size + 1) - (np.cumsum(many) - many)[of_lone]
    gained = depths.since(np.maximum(bottom, rank), of_lone) + of_longer * depths.between(
        np.maximum(top, rank), bottom, of_lone
    )
    # Extrapolated items contribute to the longer list as much as the average of its lone items.
    whole, partly = depths.since(bottom, of_lone), depths.between(top, bottom, of_lone)
    mean = (whole + of_longer * partly) / np.maximum(whole + partly, 1)
    at_end = ends[:-1] + short - 1
    unseen = (
        np.maximum(depths.depth - short[pair], 0) * (overlap[at_end] / sizes[at_end])[pair] * mean
    )
    common = np.bincount(of_both, minlength=pairs)
    rows = (overlap / sizes, gained / sizes, (overlap + unseen) / sizes)
    return [
        Agreement(s, x, *(row[low:high] for row in rows))
        for s, x, (low, high) in zip(
            short.tolist(), common.tolist(), pairwise(ends.tolist()), strict=True
        )
    ]


def _parts(ranks: Ranks, owner: Ints, depths: _Depths) -> Floats:
    """Return the share of its group's ranks down to each depth; 1 without ties and beyond the end."""
    parts = np.ones(depths.depth.size)
    if np.array_equal(ranks.top, ranks.bottom):
        return parts
    places, top, bottom = _by_depth(ranks, owner, depths)
    parts[places] = (depths.depth[places] - top + 1) / (bottom - top + 1)
    return parts


def _by_depth(ranks: Ranks, owner: Ints, depths: _Depths) -> tuple[Ints, Ints, Ints]:
    """Return the places of the depths that a list has, and the first and last rank of the group at each."""
    rows = np.flatnonzero(ranks.top > 0)
    rows = rows[np.lexsort((ranks.top[rows], owner[rows]))]
    of_rows = owner[rows]
    sizes = np.bincount(of_rows, minlength=depths.offsets.size - 1)
    places = depths.offsets[of_rows] + np.arange(rows.size) - (np.cumsum(sizes) - sizes)[of_rows]
    return places, ranks.top[rows], ranks.bottom[rows]


def _sizes(shorter: Ranks, longer: Ranks, owner: Ints, depths: _Depths, ties: str) -> Floats:
    """Return the denominator of the agreement at each depth of the longer list."""
    depth = depths.depth.astype(np.float64)
    if ties == "a":
        return depth
    sizes = []
    for ranks in (shorter, longer):
        size = depth.copy()  # the items after the end of a list have ranks of their own
        places, top, bottom = _by_depth(ranks, owner, depths)
        if ties == "w":
            size[places] = bottom
        else:
            parts = (depth[places] - top + 1) / (bottom - top + 1)
            size[places] = top - 1 + parts * parts * (bottom - top + 1)
        sizes.append(size)
    if ties == "w":
        return (sizes[0] + sizes[1]) / 2
    roots: Floats = np.sqrt(sizes[0] * sizes[1])
    return roots


def rbo_extrapolated(agreed: Agreement, p: float) -> float:
    """Return RBO_EXT, equation 32 of Webber, Moffat and Zobel.

    The agreement A_l at the end of the longer list is assumed to continue. By parts, with A_0 = 0:

        RBO_EXT = (1 − p) Σ_{d=1..l} p^(d−1) A_d + p^l A_l = Σ_{d=1..l} p^(d−1) (A_d − A_{d−1})

    The last form gives exactly 1 for equal lists.

    >>> three = Ranks(*np.array([[1, 2, 3], [1, 2, 3]]))
    >>> other = Ranks(*np.array([[1, 3, 2], [1, 3, 2]]))
    >>> round(rbo_extrapolated(agreements(three, other, np.array([0, 3]))[0], 0.9), 3)
    0.955
    """
    steps = np.diff(agreed.extrapolated, prepend=0.0) * _weights(agreed, p)
    # The products are rounded, but rounding must not push the sum out of its range.
    return min(max(math.fsum(steps.tolist()), 0.0), 1.0)


def rbo_least(agreed: Agreement, p: float) -> float:
    """Return RBO_MIN, equation 11: no unseen item is in both lists.

        RBO_MIN = (1 − p) (Σ_{d=1..l} p^(d−1) A_d + X_l Σ_{d>l} p^(d−1)/d)

    >>> three = Ranks(*np.array([[1, 2, 3], [1, 2, 3]]))
    >>> other = Ranks(*np.array([[1, 3, 2], [1, 3, 2]]))
    >>> round(rbo_least(agreements(three, other, np.array([0, 3]))[0], 0.9), 5)
    0.47753
    """
    seen = math.fsum((agreed.seen * _weights(agreed, p)).tolist())
    return min((1 - p) * (seen + agreed.common * _tail(agreed.seen.size, p)), 1.0)


def rbo_residual(agreed: Agreement, p: float) -> float:
    """Return RBO_RES, equation 30: how much RBO could exceed RBO_MIN.

    At best, each item after the end of a list is also in the other list. After rank l, the overlap grows
    by 2 items per rank, until at f = l + s − X_l both lists contain the same items, and A_d = 1 from
    there. With G_d for what is gained down to rank l:

        RBO_RES = (1 − p) (Σ_{d=s+1..l} p^(d−1) G_d + Σ_{d=l+1..f} p^(d−1) (2d − l − s)/d
                           + Σ_{d>f} p^(d−1) (d − X_l)/d)

    >>> three = Ranks(*np.array([[1, 2, 3], [1, 2, 3]]))
    >>> other = Ranks(*np.array([[1, 3, 2], [1, 3, 2]]))
    >>> round(rbo_residual(agreements(three, other, np.array([0, 3]))[0], 0.9), 5)
    0.47747
    """
    longer, shorter, common = agreed.seen.size, agreed.shorter, agreed.common
    full = longer + shorter - common
    deeper = np.arange(longer + 1, full + 1)
    gained = np.concatenate((agreed.gained[shorter:], (2 * deeper - longer - shorter) / deeper))
    rising = math.fsum((gained * p ** np.arange(shorter, full)).tolist())
    return (1 - p) * rising + p**full - (1 - p) * common * _tail(full, p)


def rbo_most(agreed: Agreement, p: float) -> float:
    """Return RBO_MAX, the sum of RBO_MIN and RBO_RES.

    >>> one = Ranks(np.array([1]), np.array([1]))
    >>> rbo_most(agreements(one, one, np.array([0, 1]))[0], 0.9)
    1.0
    """
    return min(rbo_least(agreed, p) + rbo_residual(agreed, p), 1.0)


def _weights(agreed: Agreement, p: float) -> Floats:
    """Return the weight p^(d−1) of each depth."""
    weights: Floats = np.power(p, np.arange(agreed.seen.size))
    return weights


@lru_cache(maxsize=256)
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
