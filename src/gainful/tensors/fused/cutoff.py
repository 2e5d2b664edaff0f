"""CG, DCG and nDCG at a small cutoff in one kernel: a program takes one list and looks at it once.

The highest score is taken out as often as there are ranks to fill, together with all that equal
it, so that ties are averaged over without sorting anything; the ideal is found in the same way.
"""

import torch
import triton
import triton.language as tl

from gainful.tensors.fused.lists import GAINS, gains_of

__all__ = ["DEEPEST", "GAINS", "WIDEST", "cumulated"]

DEEPEST, WIDEST = 32, 8192  # beyond, sorting is faster, or a list does not fit

# A sum of n terms is off by some units in the last place; what differs from 1 by no more is 1.
_ROUNDING = tl.constexpr(32 * 1.1920928955078125e-07)
_NONE = tl.constexpr(-float("inf"))


@triton.jit
def _cumulated_kernel(
    scores, labels, mask, sums, values, width, cutoff,
    masked: tl.constexpr, gain: tl.constexpr, average: tl.constexpr, ideal: tl.constexpr,
    size: tl.constexpr,
):  # fmt: skip
    """Write the measure of a list; `sums` (cutoff + 1,) are the discounts of the first i ranks."""
    base = tl.program_id(0).to(tl.int64) * width
    places = tl.arange(0, size)
    there = places < width
    if masked:
        there = there & (tl.load(mask + base + places, mask=there, other=0) != 0)
    score = tl.load(scores + base + places, mask=there, other=0.0).to(tl.float32)
    grade = tl.load(labels + base + places, mask=there, other=0.0).to(tl.float32)
    unknown = tl.max(((score != score) | (grade != grade)).to(tl.int32), axis=0)
    worth = gains_of(grade, gain)
    # A document stands above what is none, even with a score of −∞.
    key = tl.where(there, tl.maximum(score, -3.4028234663852886e38), _NONE)
    total = tl.full((), 0.0, tl.float64)
    rank = tl.full((), 0, tl.int32)
    while rank < cutoff:
        top = tl.max(key, axis=0)
        block = key == top
        if average == 0:
            block = places == tl.min(tl.where(block, places, size), axis=0)
        block = block & (key > _NONE)
        count = tl.sum(block.to(tl.int32), axis=0)
        mean = tl.sum(tl.where(block, worth, 0.0), axis=0).to(tl.float64) / tl.maximum(count, 1)
        after = tl.minimum(tl.where(count > 0, rank + count, cutoff), cutoff)
        total += mean * (tl.load(sums + after) - tl.load(sums + rank))
        key = tl.where(block, _NONE, key)
        rank = after
    if ideal:
        best = tl.full((), 0.0, tl.float64)
        left = tl.where(there & (worth > 0), worth, _NONE)
        rank = tl.full((), 0, tl.int32)
        while rank < cutoff:
            top = tl.max(left, axis=0)
            block = (left == top) & (left > _NONE)
            count = tl.sum(block.to(tl.int32), axis=0)
            after = tl.minimum(tl.where(count > 0, rank + count, cutoff), cutoff)
            gained = tl.where(count > 0, top, 0.0).to(tl.float64)
            best += gained * (tl.load(sums + after) - tl.load(sums + rank))
            left = tl.where(block, _NONE, left)
            rank = after
        total = tl.where(best > 0, total / tl.where(best > 0, best, 1.0), 0.0)
        total = tl.where(tl.abs(total - 1.0) <= _ROUNDING, 1.0, total)
    found = tl.where(unknown > 0, float("nan"), total.to(tl.float32))
    tl.store(values + tl.program_id(0), found)


def cumulated(
    scores: torch.Tensor,
    labels: torch.Tensor,
    mask: torch.Tensor | None,
    sums: torch.Tensor,
    *,
    gain: str,
    average: bool,
    ideal: bool,
) -> torch.Tensor:
    """Return the measure [...] in float32.

    Args:
        scores: [..., list] on a GPU.
        labels: [..., list], the grades.
        mask: [..., list], True where there is a document; None where all are.
        sums: (cutoff + 1,) float64, the sums of the discounts of the first 0, 1, … ranks.
        gain: one of `GAINS`.
        average: over the orders of equal scores, or take them as they come.
        ideal: divide by the ideal.
    """
    *lead, width = scores.shape
    values = torch.empty(lead, dtype=torch.float32, device=scores.device)
    if values.numel():
        size = triton.next_power_of_2(width)
        _cumulated_kernel[(values.numel(),)](
            scores.contiguous(), labels.contiguous(), mask if mask is None else mask.contiguous(),
            sums, values, width, len(sums) - 1,
            masked=mask is not None, gain=GAINS[gain], average=average, ideal=ideal,
            size=size, num_warps=4 if size <= 2048 else 8,
        )  # fmt: skip
    return values
