"""LambdaLoss in one kernel: the loss of each document's pairs, and its gradient.

Weights are constants, recomputed for each pair from ranks and gains, so the loss and its gradient
by the scores come from one pass: grad_k = −(σ/ln 2) Σ_j W·sgn(y_k − y_j)·σ(−sgn·(s_k − s_j)·σ).
"""

from typing import Any

import torch
import triton
import triton.language as tl

SCHEMES = {"ndcg2": 2, "lambdarank": 3, "ndcg2pp": 4}
TRUNCATIONS = {"none": 0, "either": 1, "both": 2}
_ROWS, _COLUMNS, _WARPS = 16, 64, 2  # the fastest of those tried on an H200, by little


@triton.jit  # type: ignore[untyped-decorator]
def _lambda_kernel(  # type: ignore[no-untyped-def]
    scores, labels, gains, ranks, discounts, losses, gradient,
    width, cutoff, scale, mu, scheme: tl.constexpr, truncation: tl.constexpr,
    rows: tl.constexpr, columns: tl.constexpr,
):  # fmt: skip
    """Write half of the loss of all pairs of each document, and the gradient by its score."""
    batch, block = tl.program_id(1), tl.program_id(0)
    here = block * rows + tl.arange(0, rows)
    base = batch.to(tl.int64) * width
    real = here < width
    own = tl.load(scores + base + here, mask=real, other=0.0)
    label = tl.load(labels + base + here, mask=real, other=0.0)
    gain = tl.load(gains + base + here, mask=real, other=0.0)
    rank = tl.load(ranks + base + here, mask=real, other=1)
    weight = tl.load(discounts + rank)
    loss = tl.zeros((rows, columns), tl.float32)
    slope = tl.zeros((rows, columns), tl.float32)
    for start in range(0, width, columns):
        there = start + tl.arange(0, columns)
        inside = there < width
        other = tl.load(scores + base + there, mask=inside, other=0.0)
        beside = tl.load(labels + base + there, mask=inside, other=0.0)
        their_gain = tl.load(gains + base + there, mask=inside, other=0.0)
        their_rank = tl.load(ranks + base + there, mask=inside, other=1)
        their_weight = tl.load(discounts + their_rank)
        above = label[:, None] > beside[None, :]
        below = label[:, None] < beside[None, :]
        paired = (above | below) & real[:, None] & inside[None, :]
        if truncation == 1:
            paired = paired & ((rank[:, None] <= cutoff) | (their_rank[None, :] <= cutoff))
        if truncation == 2:
            paired = paired & (rank[:, None] <= cutoff) & (their_rank[None, :] <= cutoff)
        spread = tl.abs(gain[:, None] - their_gain[None, :])
        worth = tl.zeros((rows, columns), tl.float32)
        if scheme != 2:
            worth += spread * tl.abs(weight[:, None] - their_weight[None, :])
        if scheme != 3:
            apart = tl.abs(rank[:, None] - their_rank[None, :])
            share = spread * tl.abs(tl.load(discounts + apart) - tl.load(discounts + apart + 1))
            if scheme == 2:
                worth += share
            else:
                worth += mu * share
        worth = tl.where(paired, worth, 0.0)
        sign = tl.where(above, 1.0, -1.0)
        # log2(1 + e^−x), stable on both sides.
        margin = sign * (own[:, None] - other[None, :]) * scale * 1.4426950408889634
        small = tl.exp2(-tl.abs(margin))
        loss += worth * (tl.log2(1.0 + small) + tl.maximum(-margin, 0.0))
        going = tl.where(margin >= 0, small, 1.0) / (1.0 + small)
        slope += worth * sign * going
    total = 0.5 * tl.sum(loss, axis=1)
    tl.store(losses + base + here, total, mask=real)
    tl.store(gradient + base + here, -scale * 1.4426950408889634 * tl.sum(slope, axis=1), mask=real)


class _LambdaLoss(torch.autograd.Function):
    """The loss (list,) of all pairs, with the gradient computed on the way."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: torch.Tensor,
        labels: torch.Tensor,
        gains: torch.Tensor,
        ranks: torch.Tensor,
        discounts: torch.Tensor,
        options: tuple[int, int, int, float, float],
    ) -> Any:
        scheme, truncation, cutoff, scale, mu = options
        batch, width = scores.shape
        losses, gradient = torch.zeros_like(scores), torch.zeros_like(scores)
        grid = (triton.cdiv(width, _ROWS), batch)
        _lambda_kernel[grid](
            scores, labels, gains, ranks, discounts, losses, gradient,
            width, cutoff, scale, mu, scheme=scheme, truncation=truncation,
            rows=_ROWS, columns=_COLUMNS, num_warps=_WARPS,
        )  # fmt: skip
        ctx.save_for_backward(gradient)
        return losses.sum(dim=1)

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> Any:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[0][:, None], None, None, None, None, None


def lambda_sums(
    scores: torch.Tensor,
    labels: torch.Tensor,
    gains: torch.Tensor,
    ranks: torch.Tensor,
    discounts: torch.Tensor,
    mask: torch.Tensor,
    *,
    scheme: str,
    truncation: str = "none",
    cutoff: int = 0,
    sigma: float = 1.0,
    mu: float = 10.0,
) -> torch.Tensor:
    """Return Σ W·log2(1 + e^{−σ(s_i − s_j)}) (list,) over the pairs with y_i > y_j.

    Args:
        scores: [list, document] float32 on a GPU.
        labels: [list, document] float32, the grades.
        gains: [list, document] float32, divided by the ideal.
        ranks: [list, document] int32, from 1, by score.
        discounts: (documents + 2,) float32 by rank; the entry of rank 0 is 0.
        mask: [list, document], True where there is a document.
        scheme: one of `SCHEMES`.
        truncation: one of `TRUNCATIONS`, at the cutoff.
        cutoff: ranks down to it count.
        sigma: the slope σ.
        mu: the share of ndcg2 in ndcg2pp.
    """
    options = SCHEMES[scheme], TRUNCATIONS[truncation], cutoff, sigma, mu
    # A label that compares with none makes no pairs.
    known = torch.where(mask, labels, torch.nan)
    total: torch.Tensor = _LambdaLoss.apply(  # type: ignore[no-untyped-call]
        torch.where(mask, scores, 0.0).contiguous(), known.contiguous(), gains.contiguous(),
        ranks.contiguous(), discounts, options,
    )  # fmt: skip
    return total
