"""Losses over rankings sampled from the scores, with the gradient of the expectation."""

import math
from typing import Unpack

from gainful.array_types import Array
from gainful.errors import InputError
from gainful.training.losses.array_operations import running_highest, running_sums
from gainful.training.losses.loss_decorator import loss_function
from gainful.training.losses.options import Common
from gainful.training.losses.training_lists import (
    Arranged,
    TrainingLists,
    around_middle,
    below_highest,
    numbers,
)
from gainful.training.losses.ways_to_compute import listwise


@loss_function
def pl_rank(
    scores: Array,
    labels: object,
    mask: object = None,
    *,
    samples: int = 8,
    generator: object = None,
    noise: object = None,
    **common: Unpack[Common],
) -> Array:
    """Return 1 − the mean nDCG of rankings drawn from the Plackett–Luce model of the scores.

    The model fills the ranks one after another, choosing item i with probability e^(s_i)/Z_k, where
    Z_k = Σ e^(s_j) over the items not placed before rank k. The mean over the draws is constant
    between swaps, so the gradient is an unbiased estimate of the gradient of the expectation
    (PL-Rank-3). G is the gain over the ideal DCG, D the discount with its cutoff, r_i the rank of
    item i in a draw. F_k = Σ_{m≥k} G·D is the sum over the ranks from k. The gradient of nDCG by
    s_i is the mean over the draws of

        F_(r_i + 1) + Σ_{k ≤ r_i} e^(s_i)/Z_k · (G_i·D(k) − F_k)

    Its sum over the items is 0 only in expectation.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        samples: the number of rankings to draw; more make the gradient less noisy.
        generator: a torch.Generator, or a JAX key (required in JAX).
        noise: [sample, ..., list], Gumbel noise used in place of draws.
        **common: see `Common`.

    >>> import torch
    >>> scores, labels = torch.tensor([0.0, 0.0], requires_grad=True), torch.tensor([1, 0])
    >>> generator = torch.Generator().manual_seed(1)
    >>> loss = pl_rank(scores, labels, samples=10_000, generator=generator)
    >>> loss.backward()
    >>> round(loss.item(), 1), [round(slope, 1) for slope in scores.grad.tolist()]
    (0.2, [-0.1, 0.1])
    """

    def draw(lists: Arranged) -> Array:
        return gumbel_noise(lists, tuple(scores.shape), samples, generator, noise)

    def formula(lists: TrainingLists, drawn: Array | None) -> Array:
        return lists.missed(_expected_dcg(lists, drawn))

    return listwise(
        "pl_rank",
        formula,
        scores,
        labels,
        mask,
        common,
        draw=draw,
        drawn_before=noise,
        ideal=True,
    )


def _expected_dcg(lists: TrainingLists, drawn: Array) -> Array:
    """Return the mean DCG [list] of the rankings by scores and noise, with PL-Rank's gradient."""
    ops = lists.ops
    # Only differences matter; close to 0, the noise is not lost in the digits of a score.
    keys = around_middle(ops, lists.scores, lists.mask) + ops.where(lists.mask, drawn, 0.0)
    order = ops.descending(ops.where(lists.mask, keys, -math.inf))
    # A NaN has no rank, but must stay visible.
    visible = ops.where(keys == keys, 1.0, math.nan)
    gains = ops.take(ops.where(order >= 0, lists.gains, 0.0) * visible, order)

    def value(_: Array, gained: Array, placed: Array, __: Array) -> Array:
        return (gained * lists.positions()[1]).sum(-1).sum(0) / placed.shape[0]

    def pullback(slope: Array, s: Array, gained: Array, placed: Array, mask: Array) -> Array:
        """Return the estimate, computed in rank order and mapped back to the items."""
        places, worth = lists.positions()
        valid = places <= ops.floats(mask, s).sum(-1)[:, None]
        levels = ops.where(placed >= 0, below_highest(ops, s, mask), 0.0)
        levels = ops.where(valid, ops.take(levels, placed), ops.lowest(s))
        # Z_k = V_k·e^M_k, M_k the highest score from rank k: V is between 1 and n, and all
        # exponents are differences of 0 or less, so nothing overflows or loses digits.
        highest = ops.flip(running_highest(ops, ops.flip(levels)))
        shares = ops.where(valid, ops.exp(levels - highest), 0.0)
        (left,) = running_sums(ops, -ops.flip(highest), ops.flip(shares))
        left = ops.where(valid, ops.flip(left), 1.0)
        ahead = ops.flip(ops.flip(gained * worth).cumsum(-1))
        direct, risk = running_sums(ops, highest, worth / left, ahead / left)
        slopes = ops.widen(ahead)[..., 1:] + shares * (gained * direct - risk)
        slopes = ops.put(ops.where(valid, slopes, 0.0), placed)
        return slope[:, None] * slopes.sum(0) / placed.shape[0]

    return ops.with_traceable_gradient(value, pullback, lists.scores, gains, order, lists.mask)


def gumbel_noise(
    lists: Arranged, shape: tuple[int, ...], samples: int, generator: object, noise: object
) -> Array:
    """Return noise [sample, list, item]; the caller's `noise` has the shape [sample, *scores]."""
    ops = lists.ops
    if noise is None:
        drawn = ops.uniform((samples, *lists.scores.shape), lists.scores, generator)
        return ops.gumbel(drawn)
    values = numbers(ops, "noise", noise, lists.scores)
    if tuple(values.shape[1:]) != shape or values.ndim != len(shape) + 1 or not values.shape[0]:
        expected = f"[sample, …] with the shape of the scores, {shape}, and at least 1 sample"
        raise InputError("noise", expected, str(tuple(values.shape)))
    return lists.arrange(values)
