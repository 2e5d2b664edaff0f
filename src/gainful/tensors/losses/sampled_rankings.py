"""Losses over rankings that are sampled from the scores, with the gradient of the expectation."""

import math
from typing import Any, Unpack

from gainful.errors import InputError
from gainful.tensors.losses.array_operations import Array, running_highest, running_sums
from gainful.tensors.losses.loss_decorator import loss_function
from gainful.tensors.losses.options import Common
from gainful.tensors.losses.training_lists import (
    Arranged,
    TrainingLists,
    around_middle,
    below_highest,
    numbers,
)
from gainful.tensors.losses.ways_to_compute import listwise


@loss_function
def pl_rank(
    scores: Array,
    labels: Any,
    mask: Any = None,
    *,
    samples: int = 8,
    generator: Any = None,
    noise: Any = None,
    **common: Unpack[Common],
) -> Any:
    """Return 1 − the mean nDCG of rankings drawn from the Plackett–Luce model of the scores.

    That model fills the ranks one after the other, with item i by e^(s_i)/Z_k, Z_k = Σ e^(s_j)
    over the items not placed before rank k. The gradient is not that of the mean over the draws,
    which is constant between swaps. It is an unbiased estimate of that of the expectation
    (PL-Rank-3). G is the gain over the ideal DCG, D the discount with its cutoff, r_i the rank of
    item i in a draw. F_k = Σ_{m≥k} G·D is the sum over the ranks from k on. The gradient of nDCG by
    s_i is the mean over the draws of

        F_(r_i + 1) + Σ_{k ≤ r_i} e^(s_i)/Z_k · (G_i·D(k) − F_k)

    It sums to 0 over the items in expectation only.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        samples: how many rankings to draw; more make the gradient less noisy.
        generator: a torch.Generator or a key of JAX, which needs one.
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
    # Only differences count, and next to 0 the noise is not lost in the digits of a score.
    keys = around_middle(ops, lists.scores, lists.mask) + ops.where(lists.mask, drawn, 0.0)
    order = ops.descending(ops.where(lists.mask, keys, -math.inf))
    # A NaN has no place in an order, but must stay visible.
    known = ops.where(keys == keys, 1.0, math.nan)
    gains = ops.take(ops.where(order >= 0, lists.gains, 0.0) * known, order)

    def value(_: Array, gained: Array, placed: Array, __: Array) -> Array:
        return (gained * lists.positions()[1]).sum(-1).sum(0) / placed.shape[0]

    def pullback(slope: Array, s: Array, gained: Array, placed: Array, mask: Array) -> Array:
        """Return the estimate, computed in the order of ranks and brought back to the items."""
        places, worth = lists.positions()
        valid = places <= ops.floats(mask, s).sum(-1)[:, None]
        levels = ops.where(placed >= 0, below_highest(ops, s, mask), 0.0)
        levels = ops.where(valid, ops.take(levels, placed), ops.lowest(s))
        # Z_k = V_k·e^M_k, M_k the highest score from rank k on: V is from 1 to n, and the only
        # powers are of differences from 0 down, so that neither overflows nor loses digits.
        highest = ops.flip(running_highest(ops, ops.flip(levels)))
        shares = ops.where(valid, ops.exp(levels - highest), 0.0)
        (left,) = running_sums(ops, -ops.flip(highest), ops.flip(shares))
        left = ops.where(valid, ops.flip(left), 1.0)
        ahead = ops.flip(ops.flip(gained * worth).cumsum(-1))
        direct, risk = running_sums(ops, highest, worth / left, ahead / left)
        found = ops.widen(ahead)[..., 1:] + shares * (gained * direct - risk)
        found = ops.put(ops.where(valid, found, 0.0), placed)
        return slope[:, None] * found.sum(0) / placed.shape[0]

    return ops.with_traceable_gradient(value, pullback, lists.scores, gains, order, lists.mask)


def gumbel_noise(
    lists: Arranged, shape: tuple[int, ...], samples: int, generator: Any, noise: Any
) -> Array:
    """Return [sample, list, item]; `noise`, if given, is [sample, …] before the shape of scores."""
    ops = lists.ops
    if noise is None:
        drawn = ops.uniform((samples, *lists.scores.shape), lists.scores, generator)
        return ops.gumbel(drawn)
    given = numbers(ops, "noise", noise, lists.scores)
    if tuple(given.shape[1:]) != shape or given.ndim != len(shape) + 1 or not given.shape[0]:
        expected = f"[sample, …] with the shape of the scores, {shape}, and at least 1 sample"
        raise InputError("noise", expected, str(tuple(given.shape)))
    return lists.arrange(given)
