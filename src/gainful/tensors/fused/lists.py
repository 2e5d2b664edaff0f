"""Lists in one kernel each way: gains, ideal and order before a loss, its sums after it.

Plain code takes dozens of small kernels for this, whose launching takes longer than all pairs.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

GAINS = {"linear": 0, "exp2": 1, "binary": 2}
WIDEST = 4096  # documents of a list that one program sorts


@triton.jit
def gains_of(grade, gain: tl.constexpr):
    """Return the gain of each grade."""
    worth = grade
    if gain == 1:
        # 2^g is exact for whole grades, and 2^g − 1 loses digits for small ones.
        whole = grade == tl.floor(grade)
        worth = tl.where(whole, tl.exp2(grade) - 1.0, libdevice.expm1(grade * 0.6931471805599453))
    if gain == 2:
        worth = (grade > 0).to(tl.float32)
    return worth


@triton.jit
def _order_of(score, there, places, size: tl.constexpr):
    """Return the places from high to low scores; equal ones keep their order."""
    # The bits of a float rise with it, but for those of the negative ones.
    bits = tl.where(score == 0, 0.0, score).to(tl.int32, bitcast=True)
    rising = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
    rising = tl.where(there, rising, -0x80000000)
    keys = tl.sort(rising * 0x100000000 + (size - 1 - places), descending=True)
    return (size - 1 - (keys & 0xFFFFFFFF)).to(tl.int32)


@triton.jit
def _prepare_kernel(
    scores, labels, mask, weight, discounts, listed, known, shares, order, starts, weights,
    width, cutoff, gain: tl.constexpr, normalized: tl.constexpr, masked: tl.constexpr,
    weighted: tl.constexpr, ranked: tl.constexpr, size: tl.constexpr,
):  # fmt: skip
    """Write what a loss needs of a list, in the order of ranks if it is to be ranked."""
    at = tl.program_id(0)
    base = at.to(tl.int64) * width
    places = tl.arange(0, size)
    inside = places < width
    there = inside
    if masked:
        there = inside & (tl.load(mask + base + places, mask=inside, other=0) != 0)
    score = tl.load(scores + base + places, mask=there, other=-float("inf")).to(tl.float32)
    grade = tl.load(labels + base + places, mask=there, other=0.0).to(tl.float32)
    worth = tl.where(there, gains_of(grade, gain), 0.0)
    best = tl.sort(tl.maximum(worth, 0.0), descending=True)
    discount = tl.load(discounts + places, mask=inside & (places < cutoff), other=0.0)
    ideal = tl.sum(best * discount, axis=0)
    count = tl.sum(there.to(tl.int32), axis=0)
    scale = 1.0
    if normalized:
        scale = tl.where(ideal > 0, 1.0 / tl.where(ideal > 0, ideal, 1.0), 0.0)
    # 1 − nDCG starts from 1, −DCG and a sum over pairs from 0.
    tl.store(starts + at, tl.where((ideal > 0) & normalized & (not ranked), 1.0, 0.0))
    part = tl.where(count > 0, 1.0, 0.0)
    if weighted:
        part = tl.where(count > 0, tl.load(weight + at).to(tl.float32), 0.0)
    unknown = tl.max(((score != score) | (grade != grade)).to(tl.int32), axis=0)
    tl.store(weights + at, tl.where(unknown > 0, float("nan"), part))
    if ranked:
        place = _order_of(score, there, places, size)
        real = places < count
        tl.store(order + base + places, place, mask=inside)
        score = tl.load(scores + base + place, mask=real, other=-float("inf")).to(tl.float32)
        grade = tl.load(labels + base + place, mask=real, other=float("nan")).to(tl.float32)
        worth = tl.where(real, gains_of(grade, gain), 0.0)
        tl.store(known + base + places, grade, mask=inside)
    tl.store(shares + base + places, worth * scale, mask=inside)
    tl.store(listed + base + places, score, mask=inside)


@triton.jit
def _sums_kernel(terms, starts, values, width, sign, columns: tl.constexpr):
    """Write start + sign·Σ terms of a list."""
    at = tl.program_id(0)
    base = at.to(tl.int64) * width
    total = tl.zeros((columns,), tl.float32)
    for start in range(0, width, columns):
        there = start + tl.arange(0, columns)
        total += tl.load(terms + base + there, mask=there < width, other=0.0)
    tl.store(values + at, tl.load(starts + at) + sign * tl.sum(total, axis=0))


@triton.jit
def _reduce_kernel(
    values, weights, found, parts, lists, factor, sign, mean: tl.constexpr, size: tl.constexpr
):
    """Write the weighted sum or mean of the lists, and what each list's gradient counts in it."""
    total = tl.zeros((size,), tl.float32)
    whole = tl.zeros((size,), tl.float32)
    for start in range(0, lists, size):
        at = start + tl.arange(0, size)
        weight = tl.load(weights + at, mask=at < lists, other=0.0)
        total += weight * tl.load(values + at, mask=at < lists, other=0.0)
        whole += weight
    over = 1.0
    if mean:
        over = tl.sum(whole, axis=0)
        over = tl.where(over > 0, over, 1.0)
    tl.store(found, factor * tl.sum(total, axis=0) / over)
    for start in range(0, lists, size):
        at = start + tl.arange(0, size)
        weight = tl.load(weights + at, mask=at < lists, other=0.0)
        tl.store(parts + at, sign * factor * weight / over, mask=at < lists)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Lists ready for a kernel: scores −∞ and labels NaN where there is no document.

    `starts` (list,) is what the terms are added to, or taken from; `weights` (list,) is what each
    list counts. `labels` and `order` are there where lists are ranked.
    """

    scores: torch.Tensor
    shares: torch.Tensor
    starts: torch.Tensor
    weights: torch.Tensor
    labels: torch.Tensor | None
    order: torch.Tensor | None

    def totals(self, terms: torch.Tensor, sign: float) -> torch.Tensor:
        """Return the value of each list (list,) from its terms [list, document]."""
        lists, width = terms.shape
        values = torch.empty_like(self.starts)
        _sums_kernel[(lists,)](terms, self.starts, values, width, sign, columns=1024, num_warps=4)
        return values

    def reduced(
        self, values: torch.Tensor, factor: float, sign: float, *, mean: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the sum or mean over the lists, and what each counts (list,)."""
        found, parts = values.new_empty(()), torch.empty_like(values)
        lists = len(values)
        _reduce_kernel[(1,)](
            values,
            self.weights,
            found,
            parts,
            lists,
            factor,
            sign,
            mean=mean,
            size=1024,
            num_warps=4,
        )
        return found, parts


def prepare(
    scores: torch.Tensor,
    labels: torch.Tensor,
    mask: torch.Tensor | None,
    weight: torch.Tensor | None,
    discounts: torch.Tensor,
    *,
    cutoff: int | None,
    gain: str,
    normalized: bool,
    ranked: bool,
) -> Prepared:
    """Read lists [list, document] on a GPU; `discounts` are those of the ranks from 1 on."""
    lists, width = scores.shape
    listed, shares = (
        torch.empty(scores.shape, dtype=torch.float32, device=scores.device) for _ in range(2)
    )
    known = torch.empty_like(listed) if ranked else None
    order = torch.empty_like(listed, dtype=torch.int32) if ranked else None
    starts, weights = listed.new_empty(lists), listed.new_empty(lists)
    size = triton.next_power_of_2(width)
    _prepare_kernel[(lists,)](
        scores, labels, mask, weight, discounts, listed, known, shares, order, starts, weights,
        width, width if cutoff is None else cutoff, gain=GAINS[gain], normalized=normalized,
        masked=mask is not None, weighted=weight is not None, ranked=ranked, size=size,
        num_warps=4 if size <= 1024 else 8,
    )  # fmt: skip
    return Prepared(listed, shares, starts, weights, known, order)
