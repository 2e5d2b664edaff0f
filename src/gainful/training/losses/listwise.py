"""Losses based on the probability of a choice or of an order."""

import math
from typing import Any, Unpack

import numpy as np

from gainful.array_types import Array
from gainful.errors import InputError
from gainful.training.losses.array_operations import running_highest, running_sums
from gainful.training.losses.loss_decorator import loss_function
from gainful.training.losses.options import Common, refuse_wrong_number, without_gain
from gainful.training.losses.training_lists import (
    Arranged,
    TrainingLists,
    below_highest,
    numbers,
)
from gainful.training.losses.ways_to_compute import listwise


@loss_function
def xe_ndcg(
    scores: Array,
    labels: object,
    mask: object = None,
    *,
    gamma: object = None,
    generator: object = None,
    **common: Unpack[Common],
) -> Array:
    """Return −Σ φ_i·ln softmax(s)_i with φ_i = (g_i + 1 − γ_i)/Σ_j (g_j + 1 − γ_j).

    With the gain 2^y − 1 this is φ_i ∝ 2^(y_i) − γ_i. With γ = 1 the loss bounds −ln nDCG, and
    so 1 − nDCG, from above. Cutoff and discount are not used.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        gamma: a number from 0 to 1, a tensor with the shape of the scores, or None to draw from (0,
            1).
        generator: a torch.Generator, or a JAX key (required in JAX), for gamma=None.
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
        # With the comparison in this direction, a NaN becomes the divisor and stays visible.
        none = total <= 0
        # If the sum overflowed the type, every share would be 0.
        total = ops.where(total == math.inf, math.nan, total)
        return _cross_entropy(lists, ops.where(none, 0.0, mass / ops.where(none, 1.0, total)))

    return listwise("xe_ndcg", formula, scores, labels, mask, common, draw=draw, drawn_before=gamma)


@loss_function
def softmax(scores: Array, labels: object, mask: object = None, **common: Unpack[Common]) -> Array:
    """Return −Σ g_i·ln p_i with p the softmax of the scores and g the unnormalised gains.

    Cutoff and discount are not used.

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
def listnet(scores: Array, labels: object, mask: object = None, **common: Unpack[Common]) -> Array:
    """Return −Σ softmax(y)_i·ln softmax(s)_i, the cross entropy of top-one probabilities.

    Gain, cutoff and discount are not used.

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
def list_mle(scores: Array, labels: object, mask: object = None, **common: Unpack[Common]) -> Array:
    """Return −ln of the Plackett–Luce probability of the order by labels.

    It is Σ_i (ln Σ_{j≥i} e^(s_j) − s_i) over the items from high to low labels, up to the cutoff.
    Items with the same label are ordered by score, the most probable order. Gain and discount are
    not used.

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
def p_list_mle(
    scores: Array, labels: object, mask: object = None, **common: Unpack[Common]
) -> Array:
    """Return `list_mle` with the step at rank i weighted by 2^(n−i) − 1, normalised.

    The weights sum to 1 over the list, so mistakes at the top cost more. A list of one item has
    loss 0. Gain and discount are not used.

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
        # Numerator and denominator are divided by 2^n, which would overflow in long lists.
        last = 2.0**-counts
        total = 1 - (counts + 1) * last
        some = total > 0
        return _likelihood(
            lists, ops.where(some, (2.0**-places - last) / ops.where(some, total, 1.0), 0.0)
        )

    return listwise("p_list_mle", formula, scores, labels, mask, without_gain(common))


def _drawn(lists: Arranged, shape: tuple[int, ...], gamma: Any, generator: object) -> Array:
    """Return γ, [list, item] or a number, from the caller or drawn from (0, 1)."""
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
    values = numbers(ops, "gamma", gamma, lists.scores)
    if tuple(values.shape) not in ((), shape):
        expected = f"a number, or an array with the shape of the scores, {shape}"
        raise InputError("gamma", expected, str(tuple(values.shape)))
    return lists.arrange(values) if values.ndim else values


def _cross_entropy(lists: TrainingLists, shares: Array) -> Array:
    ops = lists.ops
    scores = below_highest(ops, lists.scores, lists.mask)
    # Σ φ_i·(L − s_i) as two sums, which takes fewer passes forward and backward.
    losses = shares.sum(-1) * lists.log_of_sum(scores)[:, 0] - (shares * scores).sum(-1)
    # A sum that overflows the type becomes NaN.
    return losses * ops.where(losses - losses == 0, 1.0, math.nan)


def _likelihood(lists: TrainingLists, weights: Array) -> Array:
    """Return the weighted sum of −ln of the probability of each successive choice."""
    ops = lists.ops
    levels = (ops.where(lists.mask, one, -math.inf) for one in (lists.labels, lists.scores))
    order = ops.descending(*levels)
    places = ops.counting(lists.width, lists.scores)
    valid = places <= lists.counts[:, None]
    s = ops.where(valid, ops.take(lists.scores, order), ops.lowest(lists.scores))
    # Σ_{j≥i} e^(s_j) = V_i·e^M_i, M_i the highest score from i on: V is between 1 and n, and all
    # exponents are differences of 0 or less, so a distant item costs the others no digits.
    highest = ops.flip(running_highest(ops, ops.flip(ops.constant(s))))
    shares = ops.where(valid, ops.exp(ops.where(valid, s - highest, 0.0)), 0.0)
    (left,) = running_sums(ops, -ops.flip(highest), ops.flip(shares))
    rest = ops.log(ops.where(valid, ops.flip(left), 1.0))
    counted = valid if lists.k is None else valid & (places <= lists.k)
    return (weights * ops.where(counted, rest + (highest - s), 0.0)).sum(-1)
