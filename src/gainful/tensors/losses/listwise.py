"""Losses from the probability of a choice or of an order."""

import math
from typing import Any, Unpack

import numpy as np

from gainful.errors import InputError
from gainful.tensors.losses.array_operations import Array, running_highest, running_sums
from gainful.tensors.losses.loss_decorator import loss_function
from gainful.tensors.losses.options import Common, refuse_wrong_number, without_gain
from gainful.tensors.losses.training_lists import (
    Arranged,
    TrainingLists,
    below_highest,
    numbers,
)
from gainful.tensors.losses.ways_to_compute import listwise


@loss_function
def xe_ndcg(
    scores: Array,
    labels: Any,
    mask: Any = None,
    *,
    gamma: Any = None,
    generator: Any = None,
    **common: Unpack[Common],
) -> Any:
    """Return −Σ φ_i·ln softmax(s)_i with φ_i = (g_i + 1 − γ_i)/Σ_j (g_j + 1 − γ_j).

    With the gain 2^y − 1 that is φ_i ∝ 2^(y_i) − γ_i. With γ = 1 the loss bounds −ln nDCG, and
    so 1 − nDCG, from above. The cutoff and the discount have no part in it.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        gamma: a number from 0 to 1, a tensor of the shape of the scores, or None: drawn from (0, 1).
        generator: a torch.Generator or a key of JAX, which needs one, for gamma=None.
        **common: see `Common`.

    >>> import torch
    >>> xe_ndcg(torch.tensor([0.0, 0.0]), torch.tensor([1, 0]), gamma=1.0).item()
    0.693...
    """

    def draw(lists: Arranged) -> Array:
        return _drawn(lists, tuple(scores.shape), gamma, generator)

    def formula(lists: TrainingLists, drawn: Array | None) -> Array:
        ops = lists.ops
        mass = ops.where(lists.mask, lists.gains + 1 - drawn, 0.0)
        total = mass.sum(-1)[:, None]
        # Compared this way round, a NaN is divided by, and stays visible.
        none = total <= 0
        # Every share of a sum that the type cannot hold would be 0.
        total = ops.where(total == math.inf, math.nan, total)
        return _cross_entropy(lists, ops.where(none, 0.0, mass / ops.where(none, 1.0, total)))

    return listwise("xe_ndcg", formula, scores, labels, mask, common, draw=draw, drawn_before=gamma)


@loss_function
def softmax(scores: Array, labels: Any, mask: Any = None, **common: Unpack[Common]) -> Any:
    """Return −Σ g_i·ln p_i with p the softmax of the scores and g the gains as they are.

    The cutoff and the discount have no part in it.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        **common: see `Common`.

    >>> import torch
    >>> softmax(torch.tensor([2.0, 1.0, 3.0]), torch.tensor([1, 0, 0])).item()
    1.4076...
    """

    def formula(lists: TrainingLists, _: Array | None) -> Array:
        return _cross_entropy(lists, lists.gains)

    return listwise("softmax", formula, scores, labels, mask, common)


@loss_function
def listnet(scores: Array, labels: Any, mask: Any = None, **common: Unpack[Common]) -> Any:
    """Return −Σ softmax(y)_i·ln softmax(s)_i, the cross entropy of the items to come first.

    Gain, cutoff and discount have no part in it.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        **common: see `Common`.

    >>> import torch
    >>> listnet(torch.tensor([0.0, 0.0]), torch.tensor([1, 0])).item()
    0.693...
    """

    def formula(lists: TrainingLists, _: Array | None) -> Array:
        ops = lists.ops
        labels = below_highest(ops, lists.labels, lists.mask)
        powers = ops.where(lists.mask, ops.exp(ops.where(lists.mask, labels, 0.0)), 0.0)
        total = powers.sum(-1)[:, None]
        return _cross_entropy(lists, powers / ops.where(total > 0, total, 1.0))

    return listwise("listnet", formula, scores, labels, mask, without_gain(common))


@loss_function
def list_mle(scores: Array, labels: Any, mask: Any = None, **common: Unpack[Common]) -> Any:
    """Return −ln of the probability of the order by labels under Plackett and Luce.

    That is Σ_i (ln Σ_{j≥i} e^(s_j) − s_i) over the items from high to low labels, up to the
    cutoff. Items with the same label stand in the order of their scores, the likeliest. Gain and
    discount have no part in it.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        **common: see `Common`.

    >>> import torch
    >>> list_mle(torch.tensor([0.5, 0.3]), torch.tensor([1, 0])).item()
    0.5981...
    """

    def formula(lists: TrainingLists, _: Array | None) -> Array:
        return _likelihood(lists, 0 * lists.counts[:, None] + 1)

    return listwise("list_mle", formula, scores, labels, mask, without_gain(common))


@loss_function
def p_list_mle(scores: Array, labels: Any, mask: Any = None, **common: Unpack[Common]) -> Any:
    """Return `list_mle` with the step at rank i weighted by 2^(n−i) − 1, normalised.

    The weights sum to 1 over the list, and earlier mistakes cost more. A list of one item has
    loss 0. Gain and discount have no part in it.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        **common: see `Common`.

    >>> import torch
    >>> p_list_mle(torch.tensor([0.5, 0.3]), torch.tensor([1, 0])).item()
    0.5981...
    """

    def formula(lists: TrainingLists, _: Array | None) -> Array:
        ops = lists.ops
        counts = lists.counts[:, None]
        places = ops.counting(lists.width, lists.scores)
        # Both sides are divided by 2^n, which would overflow in lists of a hundred items.
        last = 2.0**-counts
        total = 1 - (counts + 1) * last
        some = total > 0
        return _likelihood(
            lists, ops.where(some, (2.0**-places - last) / ops.where(some, total, 1.0), 0.0)
        )

    return listwise("p_list_mle", formula, scores, labels, mask, without_gain(common))


def _drawn(lists: Arranged, shape: tuple[int, ...], gamma: Any, generator: Any) -> Array:
    """Return γ, [list, item] or a number: as given, or from (0, 1)."""
    ops = lists.ops
    if gamma is None:
        return ops.uniform(tuple(lists.scores.shape), lists.scores, generator)
    if isinstance(gamma, np.generic) or not (
        hasattr(gamma, "shape") or isinstance(gamma, list | tuple)
    ):
        refuse_wrong_number(
            "gamma", gamma, "a number from 0 to 1, or a tensor", lambda x: 0 <= x <= 1
        )
        return float(gamma)
    given = numbers(ops, "gamma", gamma, lists.scores)
    if tuple(given.shape) not in ((), shape):
        expected = f"a number, or the shape of the scores, {shape}"
        raise InputError("gamma", expected, str(tuple(given.shape)))
    return lists.arrange(given) if given.ndim else given


def _cross_entropy(lists: TrainingLists, shares: Array) -> Array:
    ops = lists.ops
    scores = below_highest(ops, lists.scores, lists.mask)
    # Σ φ_i·(L − s_i), in two sums of one sign: that takes fewer passes, forward and backward.
    found = shares.sum(-1) * lists.log_of_sum(scores)[:, 0] - (shares * scores).sum(-1)
    # Beyond the type, it is not known.
    return found * ops.where(found - found == 0, 1.0, math.nan)


def _likelihood(lists: TrainingLists, weights: Array) -> Array:
    """Return the weighted sum of −ln of the chances of each choice in turn."""
    ops = lists.ops
    levels = (ops.where(lists.mask, one, -math.inf) for one in (lists.labels, lists.scores))
    order = ops.descending(*levels)
    places = ops.counting(lists.width, lists.scores)
    valid = places <= lists.counts[:, None]
    s = ops.where(valid, ops.take(lists.scores, order), ops.lowest(lists.scores))
    # Σ_{j≥i} e^(s_j) = V_i·e^M_i, M_i the highest from i on: V is from 1 to n, and the only powers
    # are of differences from 0 down. So an item far from the others takes no digits from them.
    highest = ops.flip(running_highest(ops, ops.flip(ops.constant(s))))
    shares = ops.where(valid, ops.exp(ops.where(valid, s - highest, 0.0)), 0.0)
    (left,) = running_sums(ops, -ops.flip(highest), ops.flip(shares))
    rest = ops.log(ops.where(valid, ops.flip(left), 1.0))
    counted = valid if lists.k is None else valid & (places <= lists.k)
    return (weights * ops.where(counted, rest + (highest - s), 0.0)).sum(-1)
