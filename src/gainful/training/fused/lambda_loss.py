"""LambdaLoss in blocks: the loss of each document's pairs, and its gradient.

Weights are constants, recomputed for each pair from ranks and gains, so one pass yields the loss
and its gradient: grad_k = −(σ/ln 2) Σ_j W·sgn(y_k − y_j)·σ(−sgn·(s_k − s_j)·σ).
Documents are in rank order, so that the discounts of a block are adjacent in memory.
"""

from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

from gainful.training.fused.approx_ndcg import LOG2_E
from gainful.training.fused.arithmetic import SPAN, ends, inverse, logarithm
from gainful.training.no_second_derivative import without_second_derivative

_ROWS, _COLUMNS, _WARPS = 16, 32, 2  # slightly the fastest of those tried on an H200
_MARGIN = tl.constexpr(64)  # the largest possible block of documents


@triton.jit
def _swaps(here, there, gain, beside, weight, their_weight, steps, width, mu, scheme: tl.constexpr):
    """Return the weight of each pair's order; equal labels have equal gains, hence weight 0."""
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
    """Return the weights of the pairs that count under the cutoff."""
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
    """Return the loss of pairs in which a block's document is the better one, and the gradient."""
    own = tl.load(scores + here, mask=here < width, other=-float("inf"))
    label = tl.load(labels + here, mask=here < width, other=float("nan"))
    gain = tl.load(gains + here, mask=here < width, other=0.0)
    weight = tl.load(discounts + here, mask=here < width, other=0.0)
    near = (high - low) * scale < SPAN
    centre = tl.where(near, 0.5 * (high + low), 0.0)
    # e^(s_j − s_i) = E_j·(1/E_i): no pair needs an exponential if the scores are close enough.
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
        # The weight of each pair with this document as the better one, and with the other. Padding
        # has the label NaN, which compares with nothing.
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
    """Write the loss of the pairs in which each document is the better one, and the gradient."""
    batch, block = tl.program_id(1), tl.program_id(0)
    here = block * rows + tl.arange(0, rows)
    base = batch.to(tl.int64) * width
    high, low = ends(scores + base, width, columns)
    total, steep = pairs_of(
        scores + base, labels + base, gains + base, here, discounts, steps, high, low, width,
        cutoff, scale, mu, scheme, truncation, rows, columns,
    )  # fmt: skip
    tl.store(losses + base + here, total, mask=here < width)
    tl.store(gradient + base + here, steep, mask=here < width)


@dataclass(frozen=True, slots=True)
class LambdaOptions:
    """The options of a lambda loss: its weights, the pairs that count, and its steepness."""

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
        scores: [list, rank] float32 on a GPU, from high to low; −∞ for padding.
        labels: [list, rank] float32, the grades; NaN for padding.
        gains: [list, rank] float32, divided by the ideal.
        discounts: (ranks + 1,) float32, from rank 1 on.
        options: the options of the loss.
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
    """Return differences of discounts (ranks + 1,) by the distance of two ranks, from −ranks.

    Distance 0 is a document and itself, which is not a pair. Zeros surround the differences, since
    the last block of a list also reads distances of places beyond its end.
    """
    apart = discounts[:-1] - discounts[1:]
    margin = apart.new_zeros(_MARGIN.value)
    return torch.cat((margin, apart.flip(0), apart.new_zeros(1), apart, margin))


class _LambdaLoss(torch.autograd.Function):
    """The loss (list,) of all pairs, with the gradient computed in the same pass."""

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
        options: the options of the loss.
    """
    listed, grades = torch.where(mask, scores, -torch.inf), torch.where(mask, labels, torch.nan)
    total: torch.Tensor = _LambdaLoss.apply(listed, grades, gains.contiguous(), discounts, options)
    return total
