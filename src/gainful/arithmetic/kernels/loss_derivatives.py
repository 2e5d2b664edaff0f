"""First and second derivatives of ranking losses by the scores, for training trees.

Lists are consecutive in scores (n,); list q is `offsets[q]` to `offsets[q + 1]`. The second
derivatives are the diagonal of the Hessian. All rows of these Hessians sum to 0, since a loss does
not change if all scores of a list are shifted, and no entry off the diagonal is above 0. So twice
the diagonal bounds the whole Hessian.
"""

import math
from collections.abc import Iterator

import numpy as np

from gainful.arithmetic.kernels.row_sums import sums
from gainful.array_types import Bools, Floats, Ints

_PAIRS = 1 << 19  # pairs that are held at a time


def cross_entropy_derivatives(
    scores: Floats, shares: Floats, offsets: Ints
) -> tuple[Floats, Floats]:
    """Return both derivatives (n,) of −Σ w_i·ln softmax(s)_i.

    With W = Σ w and p the softmax of the scores of a list, they are W·p_i − w_i and W·p_i·(1 − p_i).

    >>> derivatives = cross_entropy_derivatives(np.zeros(2), np.array([1.0, 0.0]), np.array([0, 2]))
    >>> [column.tolist() for column in derivatives]
    [[-0.5, 0.5], [0.25, 0.25]]
    """
    lengths = np.diff(offsets)
    owner = np.repeat(np.arange(lengths.size), lengths)
    highest = np.full(lengths.size, -np.inf)
    np.maximum.at(highest, owner, scores)
    powers = np.exp(scores - highest[owner])
    chance = powers / sums(powers, owner, lengths.size)[owner]
    total = sums(shares, owner, lengths.size)[owner]
    return total * chance - shares, total * chance * (1.0 - chance)


def lambda_derivatives(
    scores: Floats,
    labels: Floats,
    gains: Floats,
    offsets: Ints,
    discounts: Floats,
    *,
    scheme: str,
    cutoff: int | None,
    truncation: str,
    sigma: float,
    mu: float,
    normalized: bool,
) -> tuple[Floats, Floats]:
    """Return both derivatives (n,) of Σ W_ij·log2(1 + e^(−σ(s_i − s_j))) over pairs with y_i > y_j.

    With ρ = 1/(1 + e^(σ(s_i − s_j))), a pair adds −W·σ·ρ/ln 2 to the first derivative of i, its
    negative to that of j, and W·σ²·ρ·(1 − ρ)/ln 2 to the second derivative of both. The weights W
    are constants.

    Args:
        scores: (n,), higher is better; equal ones keep the order of the list.
        labels: (n,).
        gains: (n,).
        offsets: (q + 1,).
        discounts: table by rank, one longer than the longest list, its entry 0 unused.
        scheme: ranknet, lambdarank, ndcg1, ndcg2 or ndcg2pp.
        cutoff: the cutoff of the ideal DCG and of the pairs that count.
        truncation: the pairs that count with a cutoff: either, both or none.
        sigma: the steepness.
        mu: the μ of ndcg2pp.
        normalized: whether gains are divided by the ideal DCG.
    """
    first, second = np.zeros(scores.size), np.zeros(scores.size)
    unit = 1.0 if scheme == "ranknet" else 1.0 / math.log(2)
    top = cutoff if truncation != "none" else None
    for places, there in _blocks(offsets, top):
        order = np.argsort(np.where(there, -scores[places], np.inf), axis=1, kind="stable")
        places = np.take_along_axis(places, order, axis=1)
        width = places.shape[1]
        rows = width if top is None else min(top, width)
        columns = rows if truncation == "both" else width
        s, y = scores[places], labels[places]
        shares = np.where(there, gains[places], 0.0)
        if normalized:
            shares = _over_ideal(shares, discounts, cutoff)
        along, down = np.zeros((2, *places.shape)), np.zeros((2, *places.shape))
        # Long lists are computed some rows at a time: all pairs would exhaust the memory.
        step = max(1, _PAIRS // (len(places) * columns))
        for start in range(0, rows, step):
            stop = min(start + step, rows)
            # The row's item ranks above the column's, so each pair occurs once.
            pairs = np.arange(start, stop)[:, None] < np.arange(columns)[None, :]
            pairs = pairs & there[:, None, :columns]
            a, b = (slice(None), slice(start, stop), None), (slice(None), None, slice(columns))
            if scheme == "ndcg1":
                worth = shares * discounts[1 : width + 1]
                forth, back = np.where(pairs, worth[a], 0.0), np.where(pairs, worth[b], 0.0)
            else:
                weights = _weights(shares, discounts, (start, stop), columns, scheme, mu)
                forth = np.where(pairs & (y[a] > y[b]), weights, 0.0)
                back = np.where(pairs & (y[a] < y[b]), weights, 0.0)
            with np.errstate(over="ignore"):  # differences that overflow have a power of 0
                small = np.exp(-sigma * np.where(pairs, s[a] - s[b], 0.0))
            wrong = small / (1.0 + small)
            right = 1.0 / (1.0 + small)
            slope = sigma * unit * (back * right - forth * wrong)
            bend = sigma * sigma * unit * (forth + back) * wrong * right
            for which, of_pairs in enumerate((slope, bend)):
                along[which, :, start:stop] = of_pairs.sum(2)
                down[which, :, :columns] = _added(down[which, :, :columns], of_pairs, start)
        for which, (total, sign) in enumerate(((first, -1.0), (second, 1.0))):
            derivative = along[which] + sign * down[which]
            total[places[there]] = derivative[there]
    return first, second


def _added(before: Floats, of_pairs: Floats, start: int) -> Floats:
    """Return sums [list, column] over the rows up to a row, in the order of all rows at once."""
    every = np.concatenate((before[:, None], of_pairs), axis=1) if start else of_pairs
    totals: Floats = every.sum(1)
    return totals


def _weights(
    shares: Floats,
    discounts: Floats,
    rows: tuple[int, int],
    columns: int,
    scheme: str,
    mu: float,
) -> Floats | float:
    """Return the weights [list, row, column] of pairs of items in rank order, for some rows."""
    if scheme == "ranknet":
        return 1.0
    start, stop = rows
    own, other = np.arange(start + 1, stop + 1)[:, None], np.arange(1, columns + 1)[None, :]
    swap = np.abs(discounts[own] - discounts[other])
    apart = np.maximum(np.abs(own - other), 1)
    step = discounts[apart] - discounts[apart + 1]
    value = {"lambdarank": swap, "ndcg2": step, "ndcg2pp": swap + mu * step}[scheme]
    weights: Floats = np.abs(shares[:, start:stop, None] - shares[:, None, :columns]) * value
    return weights


def _over_ideal(gains: Floats, discounts: Floats, cutoff: int | None) -> Floats:
    """Return gains [list, item] divided by the DCG of their best order; 0 if that is 0."""
    best = np.maximum(-np.sort(-gains, axis=1), 0.0)[:, :cutoff]
    ideal = (best * discounts[1 : best.shape[1] + 1]).sum(1)[:, None]
    return np.where(ideal > 0, gains / np.where(ideal > 0, ideal, 1.0), 0.0)


def _blocks(offsets: Ints, top: int | None) -> Iterator[tuple[Ints, Bools]]:
    """Yield lists of similar length: the places [list, item] of items, and which are real.

    Padding has the place of an item of the same list, and comes after it.
    """
    lengths = np.diff(offsets)
    order = np.argsort(lengths, kind="stable")[::-1]
    order = order[lengths[order] > 0]
    at = 0
    while at < order.size:
        width = int(lengths[order[at]])
        pairs = width * (width if top is None else min(top, width))
        lists = order[at : at + max(1, _PAIRS // pairs)]
        within = np.arange(width)[None, :]
        there = within < lengths[lists][:, None]
        yield offsets[:-1][lists][:, None] + np.where(there, within, 0), there
        at += lists.size
