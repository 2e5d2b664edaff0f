"""Losses over pairs of items with different labels, weighted by the effect of their order."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Unpack

from gainful.array_types import Array
from gainful.errors import InputError
from gainful.measures.discount import discount as read_discount
from gainful.training.gpu_support import fusible
from gainful.training.losses.loss_decorator import loss_function
from gainful.training.losses.options import Common, without_gain
from gainful.training.losses.training_lists import TrainingLists, rows_of_pairs
from gainful.training.losses.ways_to_compute import pairwise

DEFAULT_SCHEME = "lambdarank"


@loss_function
def lambda_loss(
    scores: Array,
    labels: object,
    mask: object = None,
    *,
    scheme: str = DEFAULT_SCHEME,
    sigma: float = 1.0,
    mu: float = 10.0,
    truncation: str = "either",
    **common: Unpack[Common],
) -> Array:
    """Return Σ W_ij·log2(1 + e^(−σ(s_i − s_j))) over pairs with y_i > y_j.

    The weights W are constants of the current order, with G the gains over the ideal DCG and
    D the discount at a rank:

    - `ranknet`: 1, with the natural logarithm
    - `lambdarank`: |G_i − G_j|·|D(r_i) − D(r_j)|
    - `ndcg1`: G_i·D(r_i), over all j ≠ i whatever their labels
    - `ndcg2`: |G_i − G_j|·(D(m) − D(m + 1)), m = |r_i − r_j|
    - `ndcg2pp`: lambdarank + μ·ndcg2

    With a cutoff, pairs count if `either` item, or `both`, are in the first k, or always (`none`).
    The ideal DCG is at k, and D continues below k. Pairs are computed in blocks and never stored.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        scheme: the weights.
        sigma: the steepness, above 0.
        mu: μ, 0 or more; for ndcg2pp only.
        truncation: either, both or none.
        **common: see `Common`.

    >>> import torch
    >>> lambda_loss(torch.tensor([0.0, 0.0]), torch.tensor([1, 0]), scheme="ranknet").item()
    0.693...
    """
    refuse_idle_discount(scheme, common.get("discount", "log"))
    if scheme == "ranknet":
        common = without_gain(common)
    options: dict[str, object] = {
        "scheme": scheme,
        "truncation": truncation,
        "sigma": float(sigma),
        "mu": float(mu),
    }
    fused = _fused(scores, labels, mask, common, **options)
    if fused is not None:
        return fused

    def formula(lists: TrainingLists, _: Array | None) -> Array:
        return _pairs(lists, options)

    return pairwise("lambda_loss", formula, scores, labels, mask, common, options=options)


def refuse_idle_discount(scheme: str, value: object) -> None:
    """Reject a constant discount if its differences are the weights of pairs."""
    if scheme in ("ranknet", "ndcg1") or (isinstance(value, str) and value == "log"):
        return
    discount = read_discount(value)
    level = discount.deeper == discount.table[0] if discount.table else discount.form == "none"
    if not level:
        return
    expected = f"one that falls with the rank, since {scheme} weighs pairs by its differences"
    raise InputError(
        "discount", expected, str(discount), "The schemes ranknet and ndcg1 don't need that."
    )


class Items(NamedTuple):
    """The items of lists in rank order, [list, item] or with an extra axis to form pairs."""

    scores: Array
    labels: Array
    shares: Array
    worth: Array
    ranks: Array
    valid: Array

    def as_rows(self) -> "Items":
        """Return them as the first items of pairs, [list, item, 1]."""
        return Items(*(one[:, :, None] for one in self))

    def as_columns(self) -> "Items":
        """Return them as the second items of pairs, [list, 1, item]."""
        return Items(*(one[:, None, :] for one in self))


class _Weights:
    """The weights of pairs; 0 for pairs that do not count."""

    def __init__(self, lists: TrainingLists, scheme: str, truncation: str, mu: float) -> None:
        self._lists, self._scheme, self._truncation, self._mu = lists, scheme, truncation, mu
        self.of_first = scheme == "ndcg1"  # the weight belongs to the first item, not to the pair

    def __call__(self, a: Items, b: Items, counted: Array) -> Array:
        """Return the weights of the selected pairs, the better item first."""
        ops, k = self._lists.ops, self._lists.k
        counted = counted & a.valid & b.valid
        if k is not None and self._truncation == "either":
            counted = counted & ((a.ranks <= k) | (b.ranks <= k))
        if k is not None and self._truncation == "both":
            counted = counted & (a.ranks <= k) & (b.ranks <= k)
        return ops.where(counted, self._weight(a, b), 0.0)

    def _weight(self, a: Items, b: Items) -> Array:
        ops, worth = self._lists.ops, self._lists.worth
        if self._scheme == "ranknet":
            return 1.0
        if self._scheme == "ndcg1":
            return a.shares * a.worth
        spread = a.shares - b.shares
        if self._scheme == "lambdarank":
            return abs(spread * (a.worth - b.worth))
        apart = abs(a.ranks - b.ranks)
        apart = ops.where(apart > 0, apart, 1.0)
        step = worth(apart) - worth(apart + 1)
        if self._scheme == "ndcg2pp":
            step = abs(a.worth - b.worth) + self._mu * step
        return abs(spread * step)


def _pairs(lists: TrainingLists, options: Mapping[str, Any]) -> Array:
    """Return the loss [list], differentiable, computing some rows of pairs at a time."""
    ops, size, sigma = lists.ops, rows_of_pairs(lists.ops, lists.scores), options["sigma"]
    scheme, truncation = options["scheme"], options["truncation"]
    unit = 1.0 if scheme == "ranknet" else math.log(2)
    items, fused = _ranked(lists, options)
    if fused is not None:
        return fused * (math.log(2) / unit)
    weights = _Weights(lists, scheme, truncation, options["mu"])

    def margins(a: Items, b: Items) -> Array:
        apart = a.scores - b.scores
        return apart if sigma == 1 else sigma * apart

    def value(*row: Array) -> Array:
        b = Items(*row).as_columns()

        def rows(*own: Array) -> Array:
            a = Items(*own).as_rows()
            better = a.ranks != b.ranks if weights.of_first else a.labels > b.labels
            return (weights(a, b, better) * ops.softplus(margins(b, a))).sum(-1)

        return ops.by_rows(rows, size, *row).sum(-1) / unit

    def pullback(slope: Array, *row: Array) -> Array:
        b = Items(*row).as_columns()

        def rows(*own: Array) -> Array:
            a = Items(*own).as_rows()
            margin = margins(a, b)
            if weights.of_first:
                other = a.ranks != b.ranks
                ahead, behind = weights(a, b, other), weights(b, a, other)
                return (behind * ops.sigmoid(margin) - ahead * ops.sigmoid(-margin)).sum(-1)
            # An item is either the better or the worse one of a pair, so one logistic is enough.
            worse = a.labels < b.labels
            steep = ops.sigmoid(ops.where(worse, margin, -margin))
            steep = ops.where(worse, steep, -steep)
            return (weights(a, b, a.labels != b.labels) * steep).sum(-1)

        return slope[:, None] * ops.by_rows(rows, size, *row) * (sigma / unit)

    return ops.with_gradient(value, pullback, *items)


def _ranked(lists: TrainingLists, options: Mapping[str, object]) -> tuple[Items, Array | None]:
    """Return the items, by rank if that matters, and a fused kernel's sums over pairs, if any."""
    ops = lists.ops
    places = ops.counting(lists.width, lists.scores)
    ranks = places[None, :]
    if options["scheme"] == "ranknet" and lists.k is None:
        # Neither ranks nor gains matter here, and sorting would take a third of the time.
        scores, labels, shares, valid = lists.scores, lists.labels, lists.labels, lists.mask
    else:
        order, valid = lists.order(), places <= lists.counts[:, None]
        scores, labels, shares = (
            ops.take(values, order) for values in (lists.scores, lists.labels, lists.shares)
        )
    fused = ops.fused_pairs(
        (scores, labels, shares, valid),
        lists.worth(ops.counting(lists.width + 1, lists.scores)),
        cutoff=lists.k or 0,
        **{**options, "truncation": "none" if lists.k is None else options["truncation"]},
    )
    return Items(scores, labels, shares, lists.worth(ranks), ranks, valid), fused


def _fused(
    scores: object, labels: object, mask: object, common: Common, **options: object
) -> Any | None:
    """Return a lambda loss by one kernel on a GPU; None if plain code must compute it."""
    if not fusible(scores, labels, mask, common.get("weight")):
        return None
    from gainful.training.losses.fused_losses import lambda_loss

    return lambda_loss(scores, labels, mask, common, options)
