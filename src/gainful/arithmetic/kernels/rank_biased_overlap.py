"""Rank-biased overlap of two lists, which may differ in length and items, and may contain ties.

W. Webber, A. Moffat and J. Zobel, A similarity measure for indefinite rankings, ACM Transactions on
Information Systems 28(4), 2010; M. Corsi and J. Urbano, The treatment of ties in rank-biased overlap,
SIGIR 2024. Items are represented by their ranks in both lists, without names.
"""

import math
from typing import NamedTuple

import numpy as np

from gainful.array_types import Floats, Ints


class Ranks(NamedTuple):
    """The ranks of items in a list, from 1; 0 for items that the list lacks.

    Attributes:
        top: (n,) the first rank of the group of items with the same score.
        bottom: (n,) the last rank of the group; equal to `top` without ties.
    """

    top: Ints
    bottom: Ints


def tied_ranks(scores: Floats) -> Ranks:
    """Return the ranks of items by score (n,), which is NaN for items that the list lacks.

    >>> tied_ranks(np.array([0.5, np.nan, 0.9, 0.5]))
    Ranks(top=array([2, 0, 1, 2]), bottom=array([3, 0, 1, 3]))
    """
    present = ~np.isnan(scores)
    ascending = np.sort(scores[present])
    top, bottom = np.zeros((2, scores.size), np.int64)
    top[present] = ascending.size + 1 - np.searchsorted(ascending, scores[present], "right")
    bottom[present] = ascending.size - np.searchsorted(ascending, scores[present], "left")
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


def agreement(first: Ranks, second: Ranks, ties: str = "a") -> Agreement:
    """Return the agreement of two lists at every depth of the longer one.

    At depth d, an item contributes c_d to a list: 0 above the ranks of its group, 1 from the last of them
    on, and in between the share of the group's ranks down to d. With X_d = Σ c_d · c'_d over all items:

        a: A_d = X_d/d, the mean over all orders of the ties
        b: A_d = X_d/√(Σ c_d² · Σ c'_d²), which is 1 for equal lists with ties
        w: A_d = 2 X_d/(Σ c_d + Σ c'_d), where whole groups count from their first rank on

    Args:
        first: the ranks of all items in a list of at least one item.
        second: their ranks in another such list.
        ties: a, b or w.

    >>> both = Ranks(np.array([1, 1]), np.array([2, 2]))
    >>> [agreement(both, both, ties).seen.tolist() for ties in "abw"]
    [[0.5, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """
    shorter, longer = sorted((first, second), key=lambda ranks: np.count_nonzero(ranks.top))
    sizes = _sizes(shorter, longer, ties)
    if ties == "w":
        shorter, longer = (Ranks(ranks.top, ranks.top) for ranks in (shorter, longer))
    short, length = int(np.count_nonzero(shorter.top)), sizes.size
    depth = np.arange(1, length + 1)
    of_shorter, of_longer = _parts(shorter, length), _parts(longer, length)

    def since(start: Ints) -> Ints:
        """Count the items that are in some state from these depths on."""
        counts: Ints = np.bincount(start, minlength=length + 1)[: length + 1].cumsum()[1:]
        return counts

    def between(start: Ints, stop: Ints) -> Ints | int:
        """Count the items that are in some state from one depth to before another."""
        kept = start < stop
        return since(start[kept]) - since(stop[kept]) if kept.any() else 0

    both = (shorter.top > 0) & (longer.top > 0)
    top, bottom = shorter.top[both], shorter.bottom[both]
    other_top, other_bottom = longer.top[both], longer.bottom[both]
    overlap = (
        since(np.maximum(bottom, other_bottom))
        + of_shorter * between(np.maximum(top, other_bottom), bottom)
        + of_longer * between(np.maximum(other_top, bottom), other_bottom)
        + of_shorter * of_longer
        * between(np.maximum(top, other_top), np.minimum(bottom, other_bottom))
    )  # fmt: skip
    # The items that only the longer list contains, in its order. At best, they continue the shorter list.
    lone = (shorter.top == 0) & (longer.top > 0)
    top, bottom = np.sort(longer.top[lone]), np.sort(longer.bottom[lone])
    rank = short + np.arange(1, top.size + 1)
    gained = since(np.maximum(bottom, rank)) + of_longer * between(np.maximum(top, rank), bottom)
    # Extrapolated items contribute to the longer list as much as the average of its lone items.
    whole, partly = since(bottom), between(top, bottom)
    mean = (whole + of_longer * partly) / np.maximum(whole + partly, 1)
    unseen = np.maximum(depth - short, 0) * (overlap[short - 1] / sizes[short - 1]) * mean
    common = int(np.count_nonzero(both))
    return Agreement(short, common, overlap / sizes, gained / sizes, (overlap + unseen) / sizes)


def _parts(ranks: Ranks, length: int) -> Floats:
    """Return the share of its group's ranks down to each depth; 1 without ties and beyond the end."""
    parts = np.ones(length)
    if np.array_equal(ranks.top, ranks.bottom):
        return parts
    top, bottom = _by_depth(ranks)
    parts[: top.size] = (np.arange(1, top.size + 1) - top + 1) / (bottom - top + 1)
    return parts


def _by_depth(ranks: Ranks) -> Ranks:
    """Return the group of ranks that contains each depth of a list."""
    present = ranks.top > 0
    return Ranks(np.sort(ranks.top[present]), np.sort(ranks.bottom[present]))


def _sizes(shorter: Ranks, longer: Ranks, ties: str) -> Floats:
    """Return the denominator of the agreement at each depth of the longer list."""
    length = np.count_nonzero(longer.top)
    depth = np.arange(1.0, length + 1)
    if ties == "a":
        return depth
    sizes = []
    for ranks in (shorter, longer):
        size = depth.copy()  # the items after the end of a list have ranks of their own
        top, bottom = _by_depth(ranks)
        if ties == "w":
            size[: top.size] = bottom
        else:
            parts = _parts(ranks, top.size)
            size[: top.size] = top - 1 + parts * parts * (bottom - top + 1)
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
    >>> round(rbo_extrapolated(agreement(three, other), 0.9), 3)
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
    >>> round(rbo_least(agreement(three, other), 0.9), 5)
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
    >>> round(rbo_residual(agreement(three, other), 0.9), 5)
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
    >>> rbo_most(agreement(one, one), 0.9)
    1.0
    """
    return min(rbo_least(agreed, p) + rbo_residual(agreed, p), 1.0)


def _weights(agreed: Agreement, p: float) -> Floats:
    """Return the weight p^(d−1) of each depth."""
    weights: Floats = np.power(p, np.arange(agreed.seen.size))
    return weights


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
