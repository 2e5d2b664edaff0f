"""LambdaLoss by blocks: the loss of each document's pairs, and its gradient.

Weights are constants, recomputed for each pair from ranks and gains, so the loss and its gradient
by the scores come from one pass: grad_k = −(σ/ln 2) Σ_j W·sgn(y_k − y_j)·σ(−sgn·(s_k − s_j)·σ).
Documents come in the order of their ranks, so that the discounts of a block lie side by side.
"""

from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

from gainful.tensors.fused.approx_ndcg import LOG2_E
from gainful.tensors.fused.arithmetic import SPAN, ends, inverse, logarithm
from gainful.tensors.no_second_derivative import without_second_derivative

_ROWS, _COLUMNS, _WARPS = 16, 32, 2  # the fastest of those tried on an H200, by little
_MARGIN = tl.constexpr(64)  # as many places as a block of documents has at most


@triton.jit
def _swaps(here, there, gain, beside, weight, their_weight, steps, width, mu, scheme: tl.constexpr):
    """Return what the order of each pair is worth; equal labels have equal gains and weigh 0."""
    change = tl.abs(weight[:, None] - their_weight[None, :])
    if scheme != "lambdarank":
        step = tl.load(steps + (_MARGIN + width + there[None, :] - here[:, None]))
        if scheme == "ndcg2":
            change = step
        else:
            change += mu * step
    return tl.abs(gain[:, None] - beside[None, :]) * change


@triton.jit
def _truncated(here, there, cutoff, worth, truncation: tl.constexpr):
    """Return the worth of the pairs that count with the cutoff."""
    if truncation == "either":
        worth = tl.where((here[:, None] < cutoff) | (there[None, :] < cutoff), worth, 0.0)
    if truncation == "both":
        worth = tl.where((here[:, None] < cutoff) & (there[None, :] < cutoff), worth, 0.0)
    return worth


@triton.jit
def pairs_of(
    scores, labels, gains, here, discounts, steps, high, low, width, cutoff, scale, mu,
    scheme: tl.constexpr, truncation: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr,
):  # fmt: skip
    """Return the loss of the pairs where each document of a block is the better, and the gradient."""
    own = tl.load(scores + here, mask=here < width, other=-float("inf"))
    label = tl.load(labels + here, mask=here < width, other=float("nan"))
    gain = tl.load(gains + here, mask=here < width, other=0.0)
    weight = tl.load(discounts + here, mask=here < width, other=0.0)
    near = (high - low) * scale < SPAN
    centre = tl.where(near, 0.5 * (high + low), 0.0)
    # e^(s_j − s_i) = E_j·(1/E_i): no pair takes an exponential where the scores are near enough.
    fall = tl.exp2((centre - own) * scale)
    loss = tl.zeros((rows, columns), tl.float32)
    slope = tl.zeros((rows, columns), tl.float32)
    for start in range(0, width, columns):
        there = start + tl.arange(0, columns)
        inside = there < width
        other = tl.load(scores + there, mask=inside, other=-float("inf"))
        their_label = tl.load(labels + there, mask=inside, other=float("nan"))
        beside = tl.load(gains + there, mask=inside, other=0.0)
        their_weight = tl.load(discounts + there, mask=inside, other=0.0)
        # What each pair weighs with this document, and with the other one, as the better. A label
        # that compares with none, NaN, is that of no document.
        above = label[:, None] > their_label[None, :]
        below = label[:, None] < their_label[None, :]
        if scheme == "ndcg1":
            apart = (here[:, None] != there[None, :]) & (their_label == their_label)[None, :]
            mine = tl.where(apart, (gain * weight)[:, None], 0.0)
            theirs = tl.where(apart, (beside * their_weight)[None, :], 0.0)
            mine = _truncated(here, there, cutoff, mine, truncation)
            theirs = _truncated(here, there, cutoff, theirs, truncation)
        else:
            worth = tl.full((rows, columns), 1.0, tl.float32)
            if scheme != "ranknet":
                worth = _swaps(
                    here, there, gain, beside, weight, their_weight, steps, width, mu, scheme
                )
            worth = _truncated(here, there, cutoff, worth, truncation)
            mine = tl.where(above, worth, 0.0)
            theirs = tl.where(below, worth, 0.0)
        if near:
            odds = tl.exp2((other - centre) * scale)[None, :] * fall[:, None]
            loss += mine * logarithm(1.0 + odds)
            slope += (mine * odds - theirs) * inverse(1.0 + odds)
        else:
            paired = (mine != 0.0) | (theirs != 0.0)
            margin = tl.where(paired, (own[:, None] - other[None, :]) * scale, 0.0)
            # log2(1 + 2^−x), stable on both sides.
            small = tl.exp2(-tl.abs(margin))
            loss += mine * (logarithm(1.0 + small) + tl.maximum(-margin, 0.0))
            ahead, behind = tl.where(margin >= 0, small, 1.0), tl.where(margin >= 0, 1.0, small)
            slope += (mine * ahead - theirs * behind) * inverse(1.0 + small)
    real = own > -float("inf")
    total = tl.where(real, tl.sum(loss, axis=1), 0.0)
    return total, tl.where(real, -scale * tl.sum(slope, axis=1), 0.0)


@triton.jit
def _lambda_kernel(
    scores, labels, gains, discounts, steps, losses, gradient, width, cutoff, scale, mu,
    scheme: tl.constexpr, truncation: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr,
):  # fmt: skip
    """Write the loss of the pairs where each document is the better, and the gradient."""
    batch, block = tl.program_id(1), tl.program_id(0)
    here = block * rows + tl.arange(0, rows)
    base = batch.to(tl.int64) * width
    high, low = ends(scores + base, width, columns)
    total, found = pairs_of(
        scores + base, labels + base, gains + base, here, discounts, steps, high, low, width,
        cutoff, scale, mu, scheme, truncation, rows, columns,
    )  # fmt: skip
    tl.store(losses + base + here, total, mask=here < width)
    tl.store(gradient + base + here, found, mask=here < width)


@dataclass(frozen=True, slots=True)
class LambdaOptions:
    """What a lambda loss is: its weights, which pairs count, and how steep it is."""

    scheme: str
    truncation: str = "none"
    cutoff: int = 0
    sigma: float = 1.0
    mu: float = 10.0


def _lambda_terms(
    scores: torch.Tensor,
    labels: torch.Tensor,
    gains: torch.Tensor,
    discounts: torch.Tensor,
    options: LambdaOptions,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return Σ_j W·log2(1 + e^{−σ(s_i − s_j)}) over the pairs with y_i > y_j, and the gradient.

    Args:
        scores: [list, rank] float32 on a GPU, from high to low, −∞ where there is no document.
        labels: [list, rank] float32, the grades, NaN where there is no document.
        gains: [list, rank] float32, divided by the ideal.
        discounts: (ranks + 1,) float32, from rank 1 on.
        options: the loss.
    """
    lists, width = scores.shape
    losses, gradient = torch.empty_like(scores), torch.empty_like(scores)
    _lambda_kernel[triton.cdiv(width, _ROWS), lists](
        scores, labels, gains, discounts, steps_of(discounts), losses, gradient, width,
        options.cutoff, options.sigma * LOG2_E, options.mu,
        scheme=options.scheme, truncation=options.truncation,
        rows=_ROWS, columns=_COLUMNS, num_warps=_WARPS,
    )  # fmt: skip
    return losses, gradient


def steps_of(discounts: torch.Tensor) -> torch.Tensor:
    """Return the steps of discounts (ranks + 1,) by the distance of two ranks, from −ranks on.

    A document is at 0 from itself, and no pair. Zeros stand around them: the last block of a list
    has places beyond its end, whose distances are read, too.
    """
    apart = discounts[:-1] - discounts[1:]
    margin = apart.new_zeros(_MARGIN.value)
    return torch.cat((margin, apart.flip(0), apart.new_zeros(1), apart, margin))


class _LambdaLoss(torch.autograd.Function):
    """The loss (list,) of all pairs, with the gradient computed on the way."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: torch.Tensor,
        labels: torch.Tensor,
        gains: torch.Tensor,
        discounts: torch.Tensor,
        options: LambdaOptions,
    ) -> Any:
        losses, gradient = _lambda_terms(scores, labels, gains, discounts, options)
        ctx.save_for_backward(gradient, scores)
        return losses.sum(dim=1)

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> Any:
        gradient, scores = ctx.saved_tensors
        slope = without_second_derivative(
            lambda factor, _: gradient * factor[:, None], upstream[0], scores
        )
        return slope, None, None, None, None


@torch.compiler.disable  # its kernels are compiled already
def lambda_sums(
    scores: torch.Tensor,
    labels: torch.Tensor,
    gains: torch.Tensor,
    mask: torch.Tensor,
    discounts: torch.Tensor,
    options: LambdaOptions,
) -> torch.Tensor:
    """Return Σ W·log2(1 + e^{−σ(s_i − s_j)}) (list,) over the pairs with y_i > y_j.

    Args:
        scores: [list, rank] float32 on a GPU, from high to low.
        labels: [list, rank] float32, the grades.
        gains: [list, rank] float32, divided by the ideal.
        mask: [list, rank], True where there is a document.
        discounts: (ranks + 1,) float32, from rank 1 on.
        options: the loss.
    """
    listed, known = torch.where(mask, scores, -torch.inf), torch.where(mask, labels, torch.nan)
    total: torch.Tensor = _LambdaLoss.apply(listed, known, gains.contiguous(), discounts, options)
    return total
