"""Losses over pairs of items with different labels, weighted by what their order is worth."""

import math
from collections.abc import Callable
from typing import Any, Unpack

from gainful.tensors.losses.checks import Common, check_choice
from gainful.tensors.losses.function import loss_function
from gainful.tensors.losses.fusing import fused_lambda
from gainful.tensors.losses.lists import Lists, reduced
from gainful.tensors.losses.operations import Array

SCHEMES = ("ranknet", "lambdarank", "ndcg1", "ndcg2", "ndcg2pp")
TRUNCATIONS = ("either", "both", "none")


@loss_function
def lambda_loss(
    scores: Array,
    labels: Any,
    mask: Any = None,
    *,
    scheme: str = "lambdarank",
    sigma: float = 1.0,
    mu: float = 10.0,
    truncation: str = "either",
    **common: Unpack[Common],
) -> Any:
    """Return Σ W_ij·log2(1 + e^(−σ(s_i − s_j))) over pairs with y_i > y_j.

    The weights W are constants of the current order, with G the gains over the ideal DCG and
    D the discount at a rank:

    - `ranknet`: 1, with the natural logarithm
    - `lambdarank`: |G_i − G_j|·|D(r_i) − D(r_j)|
    - `ndcg1`: G_i·D(r_i), over all j ≠ i whatever their labels
    - `ndcg2`: |G_i − G_j|·(D(m) − D(m + 1)), m = |r_i − r_j|
    - `ndcg2pp`: lambdarank + μ·ndcg2

    With a cutoff, pairs count that have `either` item, or `both`, in the first k, or all of them
    (`none`); the ideal DCG is that at k. Pairs are computed in blocks and never stored.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        scheme: the weights.
        sigma: the steepness, above 0.
        mu: from 0; of ndcg2pp alone.
        truncation: either, both or none.
        **common: see `Common`.

    >>> import torch
    >>> lambda_loss(torch.tensor([0.0, 0.0]), torch.tensor([1, 0]), scheme="ranknet").item()
    0.693...
    """
    check_choice("scheme", scheme, SCHEMES)
    check_choice("truncation", truncation, TRUNCATIONS)
    options: dict[str, Any] = {"scheme": scheme, "truncation": truncation, "sigma": sigma, "mu": mu}
    fused = fused_lambda(scores, labels, mask, common, **options)
    if fused is not None:
        return fused

    def formula(lists: Lists) -> Array:
        weigh = _weights(lists, scheme, mu)
        return _pairs(lists, weigh, sigma, scheme, truncation, mu)

    return reduced(scores, labels, mask, common, formula)


Weigh = Callable[[Array, Array, Array, Array, Array, Array], Array]


def _weights(lists: Lists, scheme: str, mu: float) -> Weigh:
    """Return the weight of pairs from gains, discounts and ranks of both, the better one first."""
    ops, worth = lists.ops, lists.worth

    def weigh(g: Array, h: Array, d: Array, e: Array, r: Array, q: Array) -> Array:
        if scheme == "ranknet":
            return 0 * (g - h) + 1
        if scheme == "ndcg1":
            return g * d + 0 * h
        swap = abs(d - e) if scheme != "ndcg2" else 0.0
        if scheme != "lambdarank":
            apart = abs(r - q)
            apart = ops.where(apart > 0, apart, 1.0)
            swap = swap + (mu if scheme == "ndcg2pp" else 1.0) * (worth(apart) - worth(apart + 1))
        return abs(g - h) * swap

    return weigh


def _pairs(
    lists: Lists, weigh: Weigh, sigma: float, scheme: str, truncation: str, mu: float
) -> Array:
    ops, k, size = lists.ops, lists.k, lists.rows
    unit = 1.0 if scheme == "ranknet" else math.log(2)

    def weights(*row: Array) -> Callable[..., tuple[Array, Array]]:
        """Return the weights of rows of pairs with either item as the better one."""
        _, y, g, d, r, valid = row

        def both(_: Array, a: Array, b: Array, c: Array, p: Array, ok: Array) -> tuple[Any, Any]:
            own = [x[:, :, None] for x in (a, b, c, p, ok)]
            other = [x[:, None, :] for x in (y, g, d, r, valid)]
            counted = own[4] & other[4] & (own[3] != other[3])
            if k is not None and truncation == "either":
                counted = counted & ((own[3] <= k) | (other[3] <= k))
            if k is not None and truncation == "both":
                counted = counted & (own[3] <= k) & (other[3] <= k)
            better = counted if scheme == "ndcg1" else counted & (own[0] > other[0])
            worse = counted if scheme == "ndcg1" else counted & (own[0] < other[0])
            ahead = weigh(own[1], other[1], own[2], other[2], own[3], other[3])
            behind = weigh(other[1], own[1], other[2], own[2], other[3], own[3])
            return ops.where(better, ahead, 0.0), ops.where(worse, behind, 0.0)

        return both

    def value(*row: Array) -> Array:
        both = weights(*row)

        def rows(*own: Array) -> Array:
            margin = sigma * (own[0][:, :, None] - row[0][:, None, :])
            return (both(*own)[0] * ops.softplus(-margin)).sum(-1)

        return ops.by_rows(rows, size, *row).sum(-1) / unit

    def pullback(slope: Array, *row: Array) -> Array:
        both = weights(*row)

        def rows(*own: Array) -> Array:
            margin = sigma * (own[0][:, :, None] - row[0][:, None, :])
            ahead, behind = both(*own)
            return (behind * ops.sigmoid(margin) - ahead * ops.sigmoid(-margin)).sum(-1)

        return slope[:, None] * ops.by_rows(rows, size, *row) * (sigma / unit)

    # In the order of ranks, the place of an item is its rank.
    order = lists.order()
    scores, labels, shares = (
        ops.take(each, order) for each in (lists.scores, lists.labels, lists.shares)
    )
    places = ops.counting(lists.width, lists.scores)
    valid = places <= lists.counts[:, None]
    fused = ops.fused_pairs(
        (scores, labels, shares, valid),
        lists.worth(ops.counting(lists.width + 1, lists.scores)),
        scheme=scheme,
        truncation="none" if k is None else truncation,
        cutoff=k or 0,
        sigma=sigma,
        mu=mu,
    )
    if fused is not None:
        return fused * (math.log(2) / unit)
    ranks = places + 0 * labels
    row = (labels, shares, lists.worth(ranks), ranks, valid)
    return ops.with_gradient(value, pullback, scores, *row)
