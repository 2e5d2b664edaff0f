"""CG, DCG and nDCG at a small cutoff in one kernel: each program reads one list, once.

The highest score, with all documents that share it, is removed until every rank is filled. Ties are
thus averaged without sorting, and the ideal is computed in the same way. Each step waits for the
highest score only; ranks and discounts are computed together at the end.
"""

import torch
import triton
import triton.language as tl

from gainful.training.fused.kernel_launching import Launcher
from gainful.training.fused.list_preparation_and_sums import GAINS, gains_of, keys_of

__all__ = ["DEEPEST", "GAINS", "WIDEST", "Cumulated"]

DEEPEST, WIDEST = 32, 8192  # beyond these, sorting is faster, or a list does not fit

# A sum of n terms may be off by a few units in the last place; a value that close to 1 is 1.
_ROUNDING = tl.constexpr(32 * 1.1920928955078125e-07)
_NONE = tl.constexpr(-float("inf"))
_NO_KEY = tl.constexpr(-0x7FFFFFFFFFFFFFFF)


@triton.jit
def _blocks_of(key, worth, lowest, cutoff, depth: tl.constexpr):
    """Return the highest distinct keys (depth,), and the total gain and document count of each.

    The lowest key means that no document is left.
    """
    slots = tl.arange(0, depth)
    keys = tl.full((depth,), lowest, key.dtype)
    sums = tl.zeros((depth,), tl.float32)
    counts = tl.zeros((depth,), tl.int32)
    for slot in range(cutoff):
        top = tl.max(key, axis=0)
        block = (key == top) & (key > lowest)
        keys = tl.where(slots == slot, top, keys)
        sums = tl.where(slots == slot, tl.sum(tl.where(block, worth, 0.0), axis=0), sums)
        counts = tl.where(slots == slot, tl.sum(block.to(tl.int32), axis=0), counts)
        key = tl.where(block, lowest, key)
    return keys, sums, counts


@triton.jit
def _weights_of(counts, sums, cutoff):
    """Return the summed discounts (depth,) of the ranks that each block fills."""
    after = tl.cumsum(counts, axis=0)
    first, last = tl.minimum(after - counts, cutoff), tl.minimum(after, cutoff)
    return tl.load(sums + last) - tl.load(sums + first)


@triton.jit
def _cumulated_kernel(
    scores, labels, mask, sums, values, width, cutoff,
    masked: tl.constexpr, gain: tl.constexpr, average: tl.constexpr, ideal: tl.constexpr,
    size: tl.constexpr, depth: tl.constexpr,
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
    if average:
        # A document ranks above padding, even with a score of −∞.
        key = tl.where(there, tl.maximum(score, -3.4028234663852886e38), _NONE)
        _, gained, counts = _blocks_of(key, worth, _NONE, cutoff, depth)
    else:
        key = tl.where(there, keys_of(score, there, places, size), _NO_KEY)
        _, gained, counts = _blocks_of(key, worth, _NO_KEY, cutoff, depth)
    means = gained.to(tl.float64) / tl.maximum(counts, 1)
    total = tl.sum(means * _weights_of(counts, sums, cutoff), axis=0)
    if ideal:
        left = tl.where(there & (worth > 0), worth, _NONE)
        best, _, counts = _blocks_of(left, worth, _NONE, cutoff, depth)
        best = tl.where(counts > 0, best, 0.0).to(tl.float64)
        highest = tl.sum(best * _weights_of(counts, sums, cutoff), axis=0)
        total = tl.where(highest > 0, total / tl.where(highest > 0, highest, 1.0), 0.0)
        total = tl.where(tl.abs(total - 1.0) <= _ROUNDING, 1.0, total)
        # Beyond float32 every quotient would be 0, as it is without a kernel.
        total = tl.where(highest < 3.4028234663852886e38, total, float("nan"))
    value = tl.where(unknown > 0, float("nan"), total.to(tl.float32))
    tl.store(values + tl.program_id(0), value)


class Cumulated:
    """CG, DCG or nDCG of lists of one shape and type, prepared once for any number of calls.

    Args:
        lists: the number of lists.
        width: the number of documents in a list.
        sums: (cutoff + 1,) float64, the sums of the discounts of the first 0, 1, … ranks.
        masked: whether there is a mask.
        gain: one of `GAINS`.
        average: whether to average over the orders of equal scores instead of keeping the given
            one.
        ideal: whether to divide by the ideal.
    """

    def __init__(
        self,
        lists: int,
        width: int,
        sums: torch.Tensor,
        *,
        masked: bool,
        gain: str,
        average: bool,
        ideal: bool,
    ) -> None:
        self._sums, cutoff, size = sums, len(sums) - 1, triton.next_power_of_2(width)
        rest = {
            "width": width,
            "cutoff": cutoff,
            "masked": masked,
            "gain": gain,
            "average": average,
            "ideal": ideal,
            "size": size,
            "depth": triton.next_power_of_2(cutoff),
        }
        warps = 4 if size <= 2048 else 8
        self._launch = Launcher(_cumulated_kernel, lists, sums.device, rest, warps)

    def __call__(
        self, scores: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Return the measure [...] of tensors [..., list] in float32."""
        values = torch.empty(scores.shape[:-1], dtype=torch.float32, device=scores.device)
        self._launch(
            scores.contiguous(),
            labels.contiguous(),
            None if mask is None else mask.contiguous(),
            self._sums,
            values,
        )
        return values
