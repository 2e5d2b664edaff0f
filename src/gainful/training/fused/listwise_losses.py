"""Listwise losses on a GPU in one launch each: one program per list, from scores to gradient.

The last program to finish sums the lists, so that the order of the sum never changes.
"""

from collections.abc import Mapping
from typing import Any

import torch
import triton
import triton.language as tl

from gainful.training.fused.kernel_launching import Launcher
from gainful.training.fused.list_preparation_and_sums import WIDEST, gains_of, keys_of, sum_of
from gainful.training.fused.prepared_call_key import CallForm
from gainful.training.fused.tickets_of_programs import is_last

# Warps per program, by the number of items in a list.
_WARPS = {128: 1, 512: 2, 1024: 4, 2048: 8, WIDEST: 16}
_LOWEST = tl.constexpr(-3.4028234663852886e38)
_COUNTS = ["lists", "width", "depth", "samples"]


@triton.jit
def _listed(at, scores, labels, mask, width, size: tl.constexpr):
    """Return the items of a list (size,): places, validity, scores and grades."""
    base = at.to(tl.int64) * width
    places = tl.arange(0, size)
    there = places < width
    if mask is not None:
        there &= tl.load(mask + base + places, mask=there, other=0) != 0
    score = tl.load(scores + base + places, mask=there, other=-float("inf")).to(tl.float32)
    grade = tl.load(labels + base + places, mask=there, other=0.0).to(tl.float32)
    return base, places, there, score, grade


@triton.jit
def _part(at, weight, there):
    """Return the weight of a list: 1 by default, and 0 without items."""
    some = tl.max(there.to(tl.int32), axis=0) > 0
    part = 1.0
    if weight is not None:
        part = tl.load(weight + at).to(tl.float32)
    return tl.where(some, part, 0.0)


@triton.jit
def _unknown(there, score, worth):
    """Return NaN if a score is NaN or infinite, or a gain is NaN; otherwise 0."""
    odd = there & ((score - score != 0) | (worth != worth))
    return tl.where(tl.max(odd.to(tl.int32), axis=0) > 0, float("nan"), 0.0)


@triton.jit
def _finish(at, value, part, room, loss, lists, reduction: tl.constexpr):
    """Store the value of a list; the last program sums them and stores the divisor of a mean.

    `room` holds a counter, a value and a part of each list, and 1 over the sum of the parts.
    """
    value *= part
    if reduction == "none":
        tl.store(loss + at, value)
    else:
        values = room + 1
        tl.store(values + at, value)
        tl.store(values + lists + at, part)
        if is_last(room.to(tl.pointer_type(tl.int32), bitcast=True), lists):
            scale = 1.0
            if reduction == "mean":
                total = sum_of(values + lists, lists)
                scale = 1.0 / tl.where(total > 0, total, 1.0)
            tl.store(values + 2 * lists, scale)
            tl.store(loss, sum_of(values, lists) * scale)


@triton.jit(do_not_specialize=_COUNTS)
def _cross_entropy_kernel(
    scores, labels, mask, weight, drawn, room, gradient, loss,
    lists, width, gamma,
    shares: tl.constexpr, gain: tl.constexpr, reduction: tl.constexpr, size: tl.constexpr,
):  # fmt: skip
    """−Σ φ_i·ln softmax(s)_i, φ the gains, the softmax of the labels, or ∝ gain + 1 − γ."""
    at = tl.program_id(0)
    base, places, there, score, grade = _listed(at, scores, labels, mask, width, size)
    part = _part(at, weight, there)
    below = tl.where(there, score - tl.max(score, axis=0), 0.0)
    power = tl.where(there, tl.exp(below), 0.0)
    total = tl.sum(power, axis=0)
    total = tl.where(total > 0, total, 1.0)
    if shares == "labels":
        worth = grade
        high = tl.max(tl.where(there, grade, -float("inf")), axis=0)
        share = tl.where(there, tl.exp(tl.where(there, grade - high, 0.0)), 0.0)
        all_of = tl.sum(share, axis=0)
        share = share / tl.where(all_of > 0, all_of, 1.0)
    else:
        worth = gains_of(grade, gain)
        share = tl.where(there, worth, 0.0)
        if shares == "mass":
            if drawn is not None:
                gamma = tl.load(drawn + base + places, mask=there, other=0.0)
            mass = tl.where(there, worth + 1.0 - gamma, 0.0)
            all_of = tl.sum(mass, axis=0)
            # A sum that overflows the type would make every share 0.
            all_of = tl.where(all_of == float("inf"), float("nan"), all_of)
            share = tl.where(all_of <= 0, 0.0, mass / tl.where(all_of <= 0, 1.0, all_of))
    unknown = _unknown(there, score, worth)
    terms = tl.where(there, share * (below - tl.log(total)), 0.0)
    value = -tl.sum(terms, axis=0) + unknown
    value += tl.where(value - value == 0, 0.0, float("nan"))  # NaN if it overflows the type
    if gradient is not None:
        steep = power / total * tl.sum(share, axis=0) - share
        steep = tl.where(there, part * (steep + (value - value)), 0.0)
        tl.store(gradient + base + places, steep, mask=places < width)
    _finish(at, value, part, room, loss, lists, reduction)


@triton.jit
def _add_from_highest(high, low, other_high, other_low):
    """Add two sums v·e^m, kept as m and v."""
    top = tl.maximum(high, other_high)
    return top, low * tl.exp(high - top) + other_low * tl.exp(other_high - top)


@triton.jit
def _add_at_level(level, first, second, to, other_first, other_second):
    """Rescale two sums to the level of the later ones, and add those."""
    scale = tl.exp(to - level)
    return to, first * scale + other_first, second * scale + other_second


@triton.jit
def _what_is_left(score, real):
    """Return m and v of Σ_{j≥i} e^(s_j) = v·e^m at each place, with v from 1 to n.

    All exponents are differences of 0 or less, so a distant item costs the others no digits.
    """
    level = tl.where(real, score, _LOWEST)
    one = tl.where(real, 1.0, 0.0)
    high, left = tl.associative_scan((level, one), 0, _add_from_highest, reverse=True)
    return high, tl.where(real, left, 1.0)


@triton.jit(do_not_specialize=_COUNTS)
def _likelihood_kernel(
    scores, labels, mask, weight, _drawn, room, gradient, loss,
    lists, width, depth,
    weighted: tl.constexpr, reduction: tl.constexpr, size: tl.constexpr,
):  # fmt: skip
    """Σ_i w_i·(ln Σ_{j≥i} e^(s_j) − s_i) over the items by label, then by score."""
    at = tl.program_id(0)
    base, places, there, score, grade = _listed(at, scores, labels, mask, width, size)
    part = _part(at, weight, there)
    unknown = _unknown(there, score, grade)
    count = tl.sum(there.to(tl.int32), axis=0)
    real = places < count
    # Sorted by score, then by label with the place in that order; the places occupy the memory that
    # the gradient overwrites later.
    keys = tl.sort(keys_of(score, there, places, size), descending=True)
    by_score = (size - 1 - (keys & 0xFFFFFFFF)).to(tl.int32)
    grade = tl.load(labels + base + by_score, mask=real, other=0.0).to(tl.float32)
    row = (gradient + base).to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(row + places, by_score, mask=real)
    keys = tl.sort(keys_of(grade, real, places, size), descending=True)
    tl.debug_barrier()
    place = tl.load(row + (size - 1 - (keys & 0xFFFFFFFF)).to(tl.int32), mask=real, other=0)
    s = tl.load(scores + base + place, mask=real, other=0.0).to(tl.float32)
    high, left = _what_is_left(s, real)
    counted = real & (places < depth)
    step = tl.where(counted, 1.0, 0.0)
    if weighted:
        # 2^(n−i) − 1 over its sum, both divided by 2^n.
        last = tl.exp2(-count.to(tl.float32))
        whole = 1.0 - (count + 1) * last
        exponential = tl.exp2(-(places + 1).to(tl.float32)) - last
        per = tl.where(whole > 0, 1.0 / tl.where(whole > 0, whole, 1.0), 0.0)
        step = tl.where(counted, exponential * per, 0.0)
    terms = tl.where(counted, step * (tl.log(left) + (high - s)), 0.0)
    value = tl.sum(terms, axis=0) + unknown
    share = tl.where(real, step / left, 0.0)
    _, risk, _ = tl.associative_scan((high, share, share), 0, _add_at_level)
    steep = tl.exp(s - high) * risk - step
    steep = tl.where(real, part * (steep + (value - value)), 0.0)
    tl.debug_barrier()
    if mask is not None:
        tl.store(gradient + base + places, 0.0, mask=places < width)
        tl.debug_barrier()
    tl.store(gradient + base + place, steep, mask=real)
    _finish(at, value, part, room, loss, lists, reduction)


@triton.jit(do_not_specialize=_COUNTS)
def _pl_rank_kernel(
    scores, labels, mask, weight, drawn, discounts, room, gradient, loss,
    lists, width, depth, samples,
    gain: tl.constexpr, normalized: tl.constexpr, reduction: tl.constexpr, size: tl.constexpr,
):  # fmt: skip
    """1 − the mean nDCG of rankings by scores and noise, with PL-Rank's estimate of its gradient."""
    at = tl.program_id(0)
    base, places, there, score, grade = _listed(at, scores, labels, mask, width, size)
    part = _part(at, weight, there)
    worth = tl.where(there, gains_of(grade, gain), 0.0)
    unknown = _unknown(there, score, worth)
    count = tl.sum(there.to(tl.int32), axis=0)
    real = places < count
    discount = tl.load(discounts + places, mask=(places < width) & (places < depth), other=0.0)
    best = tl.sort(tl.maximum(worth, 0.0), descending=True)
    ideal = tl.sum(best * discount, axis=0)
    unknown += tl.where(ideal == float("inf"), float("nan"), 0.0)
    scale = 1.0
    if normalized:
        scale = tl.where(ideal > 0, 1.0 / tl.where(ideal > 0, ideal, 1.0), 0.0)
    # Only differences matter; close to 0, the noise is not lost in the digits of a score.
    ordered = tl.sort(score, descending=True)
    middle = count - 1 - (count - 1) // 2
    middle = tl.sum(tl.where(real & (places == middle), ordered, 0.0), axis=0)
    apart = tl.minimum(tl.maximum(score - middle, _LOWEST), -_LOWEST)
    sum_of_gains = 0.0
    area = lists.to(tl.int64) * width
    if gradient is not None:
        tl.store(gradient + base + places, 0.0, mask=places < width)
    for sample in range(samples):
        noise = tl.load(drawn + sample * area + base + places, mask=there, other=0.0)
        key = apart + noise.to(tl.float32)
        unknown += tl.where(
            tl.max((there & (key != key)).to(tl.int32), axis=0) > 0, float("nan"), 0.0
        )
        keys = tl.sort(keys_of(key, there, places, size), descending=True)
        place = (size - 1 - (keys & 0xFFFFFFFF)).to(tl.int32)
        s = tl.load(scores + base + place, mask=real, other=0.0).to(tl.float32)
        gained = gains_of(tl.load(labels + base + place, mask=real, other=0.0).to(tl.float32), gain)
        term = tl.where(real, gained * discount, 0.0)
        sum_of_gains += tl.sum(term, axis=0)
        if gradient is not None:
            ahead = tl.cumsum(term, axis=0, reverse=True)
            high, left = _what_is_left(s, real)
            direct = tl.where(real, discount / left, 0.0)
            risk = tl.where(real, ahead / left, 0.0)
            _, direct, risk = tl.associative_scan((high, direct, risk), 0, _add_at_level)
            steep = ahead - term + tl.exp(s - high) * (gained * direct - risk)
            tl.debug_barrier()
            before = tl.load(gradient + base + place, mask=real, other=0.0)
            tl.store(gradient + base + place, before + steep, mask=real)
    dcg = sum_of_gains / samples
    value = -dcg + unknown
    if normalized:
        value = tl.where(ideal > 0, 1.0 - dcg * scale, 0.0) + unknown
    if gradient is not None:
        tl.debug_barrier()
        steep = tl.load(gradient + base + places, mask=there, other=0.0)
        steep = steep * (-scale / samples) * part + (value - value)
        tl.store(gradient + base + places, tl.where(there, steep, 0.0), mask=places < width)
    _finish(at, value, part, room, loss, lists, reduction)


_KERNELS: Mapping[str, tuple[Any, Mapping[str, Any]]] = {
    "softmax": (_cross_entropy_kernel, {"shares": "gains"}),
    "listnet": (_cross_entropy_kernel, {"shares": "labels"}),
    "xe_ndcg": (_cross_entropy_kernel, {"shares": "mass"}),
    "list_mle": (_likelihood_kernel, {"weighted": False}),
    "p_list_mle": (_likelihood_kernel, {"weighted": True}),
    "pl_rank": (_pl_rank_kernel, {}),
}


class Listwise:
    """A listwise loss for calls of one form, prepared once for any number of such calls.

    Args:
        name: the name of the loss.
        form: the form of the calls.
        discounts: (width + 1,) float32, from rank 1; their device is also that of the tensors.
        samples: the number of rankings drawn for each list.
        gamma: the γ of XE-NDCG if it is a number.
        sloped: whether to compute the gradient, too.
    """

    def __init__(
        self,
        name: str,
        form: CallForm,
        discounts: torch.Tensor,
        *,
        samples: int,
        gamma: float,
        sloped: bool,
    ) -> None:
        kernel, own = _KERNELS[name]
        self._discounts = discounts
        self._tables = (discounts,) if kernel is _pl_rank_kernel else ()
        self._lists, self._shape = form.lists, (form.lists, form.width)
        # The likelihood keeps its order in the memory of the gradient.
        self._keeps = sloped or kernel is _likelihood_kernel
        self._loss_shape = (form.lists,) if form.reduction == "none" else ()
        self._mean = form.reduction == "mean"
        rest = {
            "lists": form.lists,
            "width": form.width,
            "depth": form.depth,
            "samples": samples,
            "gamma": gamma,
            "gain": form.gain,
            "normalized": form.normalized,
            "reduction": form.reduction,
            "size": triton.next_power_of_2(form.width),
            **own,
        }
        warps = next(warps for widest, warps in _WARPS.items() if form.width <= widest)
        self._launch = Launcher(kernel, form.lists, form.device, rest, warps)

    def __call__(
        self,
        scores: torch.Tensor,
        labels: torch.Tensor,
        mask: torch.Tensor | None,
        weight: torch.Tensor | None,
        drawn: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        """Return the loss, its gradient [list, item] up to a factor, and the factor, if any."""
        like = self._discounts
        room = like.new_zeros(2 + 2 * self._lists)
        gradient = like.new_empty(self._shape) if self._keeps else None
        loss = like.new_empty(self._loss_shape)
        self._launch(scores, labels, mask, weight, drawn, *self._tables, room, gradient, loss)
        return loss, gradient, room[-1] if self._mean else None
