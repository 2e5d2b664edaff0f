"""Gains in the order of a relaxed permutation: Sinkhorn steps and their gradient, in blocks.

With items sorted by descending score, L_ij measures the distance of item j from rank i, and P_ij =
e^(L_ij + u_i + v_j) after the steps, which update u and v in turn. Only u and v are kept for each
step; every launch recomputes the pairs that it sums over, with one block of ranks or items per
program.

L_ij falls from 0 at j = i by (2m + 1 − 2i)·d_m from item m to the next, with d_m the difference of
their scores. With σ_j = Σ_{m<j} d_m and Q_j = Σ_{m<j} (2m + 1)·d_m this is L_ij = Q_i − Q_j −
2i·(σ_i − σ_j), which is computed in float64 because of cancellation. All logarithms have base 2.
"""

import functools
from typing import Any

import torch
import triton
import triton.language as tl

from gainful.training.fused.approx_ndcg import LOG2_E
from gainful.training.fused.kernel_launching import Launcher
from gainful.training.no_second_derivative import without_second_derivative

# The fastest of those tried on an H200, over all kernels.
_OWN, _OTHERS, _WARPS = 16, 32, 1
_UNDERFLOW = tl.constexpr(150.0)  # 2^−150 is 0 in float32: more distant pairs are left out
# Larger differences leave no weight between the items on either side and would only cost the other
# items digits.
_LONGEST_STEP = 1024.0 * LOG2_E
# Never specialised for 1, because it is used in addresses.
_COUNTS = ["width", "deep", "blocks"]


@triton.jit
def _place(counts, deep, blocks, own: tl.constexpr):
    """Return a program's list, its own places (own,), and the numbers of items and ranks."""
    program = tl.program_id(0)
    at = program // blocks
    count = tl.load(counts + at)
    here = (program % blocks) * own + tl.arange(0, own)
    return at.to(tl.int64), here, count, tl.minimum(count, deep)


@triton.jit
def _fall(q, sigma, rank, item):
    """Return −L for ranks and items, both counted from 0."""
    q_i, s_i = tl.load(q + rank), tl.load(sigma + rank)
    q_j, s_j = tl.load(q + item), tl.load(sigma + item)
    return q_j - q_i + 2.0 * (rank + 1).to(tl.float64) * (s_i - s_j)


@triton.jit(do_not_specialize=_COUNTS)
def _ranges_kernel(
    q, sigma, counts, ranges, width, deep, blocks,
    by_rank: tl.constexpr, own: tl.constexpr, others: tl.constexpr,
):  # fmt: skip
    """Write the range (first, one after the last) of places near a block's own places."""
    at, here, count, depth = _place(counts, deep, blocks, own)
    q, sigma = q + at * width, sigma + at * width
    mine, theirs = depth, count
    if not by_rank:
        mine, theirs = count, depth
    first = tl.min(here, axis=0)
    last = tl.minimum(first + own, mine) - 1
    low = tl.full((others,), 2147483647, tl.int32)
    high = tl.zeros((others,), tl.int32)
    for start in range(0, theirs, others):
        there = start + tl.arange(0, others)
        inside = (there < theirs) & (first < mine)
        other = tl.where(inside, there, 0)
        # The nearest of the block's own places. Anything further away on the same side falls
        # further.
        nearest = tl.where(inside, tl.minimum(tl.maximum(other, first), last), 0)
        rank, item = nearest, other
        if not by_rank:
            rank, item = other, nearest
        fall = _fall(q, sigma, rank, item)
        near = inside & (fall < _UNDERFLOW)
        low = tl.where(near, tl.minimum(low, other), low)
        high = tl.where(near, tl.maximum(high, other + 1), high)
    at_block = ranges + 2 * tl.program_id(0)
    tl.store(at_block, tl.min(low, axis=0))
    tl.store(at_block + 1, tl.max(high, axis=0))


@triton.jit
def _rank_terms(q, sigma, u, here, inside):
    """Return 2i and Q_i − 2i·σ_i + u_i; −∞ beyond the last rank."""
    twice = 2.0 * (here + 1).to(tl.float64)
    term = tl.load(q + here, mask=inside, other=-float("inf"))
    term -= twice * tl.load(sigma + here, mask=inside, other=0.0)
    if u is not None:
        term += tl.load(u + here, mask=inside, other=0.0).to(tl.float64)
    return twice, term


@triton.jit
def _item_terms(q, sigma, v, here, inside):
    """Return σ_j and v_j − Q_j; −∞ beyond the last item."""
    term = -tl.load(q + here, mask=inside, other=float("inf"))
    if v is not None:
        term += tl.load(v + here, mask=inside, other=0.0).to(tl.float64)
    return tl.load(sigma + here, mask=inside, other=0.0), term


@triton.jit(do_not_specialize=_COUNTS)
def _scale_rows_kernel(
    q, sigma, counts, ranges, u, v, gains, scaled, sorted_gains, width, deep, blocks,
    own: tl.constexpr, others: tl.constexpr,
):  # fmt: skip
    """Write the u for which rows sum to 1 and, given gains, the sorted gains."""
    at, here, count, depth = _place(counts, deep, blocks, own)
    base = at * width
    inside = here < depth
    before = None if u is None else u + base
    after = None if v is None else v + base
    twice, term = _rank_terms(q + base, sigma + base, before, here, inside)
    low, high = tl.load(ranges + 2 * tl.program_id(0)), tl.load(ranges + 2 * tl.program_id(0) + 1)
    total = tl.zeros((own, others), tl.float32)
    weighed = tl.zeros((own, others), tl.float32)
    for start in range(low, high, others):
        there = start + tl.arange(0, others)
        item = there < count
        distance, other = _item_terms(q + base, sigma + base, after, there, item)
        power = term[:, None] + other[None, :] + twice[:, None] * distance[None, :]
        share = tl.exp2(power.to(tl.float32))
        total += share
        if gains is not None:
            weighed += share * tl.load(gains + base + there, mask=item, other=0.0)[None, :]
    sums = tl.where(inside, tl.sum(total, axis=1), 1.0)
    scale = -tl.log2(sums)
    if u is not None:
        scale += tl.load(u + base + here, mask=inside, other=0.0)
    tl.store(scaled + base + here, scale, mask=inside)
    if gains is not None:
        tl.store(sorted_gains + at * deep + here, tl.sum(weighed, axis=1) / sums, mask=here < deep)


@triton.jit(do_not_specialize=_COUNTS)
def _scale_columns_kernel(
    q, sigma, counts, ranges, u, v, scaled, shifts, width, deep, blocks,
    own: tl.constexpr, others: tl.constexpr,
):  # fmt: skip
    """Write the v for which columns sum to 1, and the distance of items from their mean rank."""
    at, here, count, depth = _place(counts, deep, blocks, own)
    base = at * width
    inside = here < count
    before = None if v is None else v + base
    distance, term = _item_terms(q + base, sigma + base, before, here, inside)
    low, high = tl.load(ranges + 2 * tl.program_id(0)), tl.load(ranges + 2 * tl.program_id(0) + 1)
    total = tl.zeros((own, others), tl.float32)
    weighed = tl.zeros((own, others), tl.float32)
    for start in range(low, high, others):
        there = start + tl.arange(0, others)
        twice, other = _rank_terms(q + base, sigma + base, u + base, there, there < depth)
        power = term[:, None] + other[None, :] + distance[:, None] * twice[None, :]
        share = tl.exp2(power.to(tl.float32))
        total += share
        weighed += share * (here[:, None] - there[None, :]).to(tl.float32)
    sums = tl.where(inside, tl.sum(total, axis=1), 1.0)
    scale = -tl.log2(sums)
    if v is not None:
        scale += tl.load(v + base + here, mask=inside, other=0.0)
    tl.store(scaled + base + here, scale, mask=inside)
    tl.store(shifts + base + here, tl.sum(weighed, axis=1) / sums, mask=inside)


@triton.jit(do_not_specialize=_COUNTS)
def _slope_columns_kernel(
    q, sigma, counts, ranges, u, v, slopes, sorted_gains, gains, shifts, totals, moved,
    width, deep, blocks, own: tl.constexpr, others: tl.constexpr,
):  # fmt: skip
    """Write Σ_i x_ij with x_ij = w_ij·P_ij, and subtract Σ_i (j − i)·x_ij from the moments.

    With sorted gains h, at the start of the gradient, w_ij = slope_i·(h_i − g_j); otherwise w_ij =
    slope_i. With shifts, columns were scaled, and their scales contribute to the moments, too.
    """
    at, here, count, depth = _place(counts, deep, blocks, own)
    base = at * width
    inside = here < count
    scales = None if v is None else v + base
    distance, term = _item_terms(q + base, sigma + base, scales, here, inside)
    low, high = tl.load(ranges + 2 * tl.program_id(0)), tl.load(ranges + 2 * tl.program_id(0) + 1)
    total = tl.zeros((own, others), tl.float32)
    apart = tl.zeros((own, others), tl.float32)
    gain = tl.zeros((own,), tl.float32)
    rows = at * deep
    if sorted_gains is not None:
        gain = tl.load(gains + base + here, mask=inside, other=0.0)
    else:
        rows = base
    for start in range(low, high, others):
        there = start + tl.arange(0, others)
        rank = there < depth
        twice, other = _rank_terms(q + base, sigma + base, u + base, there, rank)
        power = term[:, None] + other[None, :] + distance[:, None] * twice[None, :]
        slope = tl.load(slopes + rows + there, mask=rank, other=0.0)[None, :]
        if sorted_gains is not None:
            mean = tl.load(sorted_gains + rows + there, mask=rank, other=0.0)
            slope = slope * (mean[None, :] - gain[:, None])
        part = slope * tl.exp2(power.to(tl.float32))
        total += part
        apart += part * (here[:, None] - there[None, :]).to(tl.float32)
    sums = tl.sum(total, axis=1)
    change = -tl.sum(apart, axis=1)
    if sorted_gains is None:
        change += tl.load(moved + base + here, mask=inside, other=0.0)
    if shifts is not None:
        change += sums * tl.load(shifts + base + here, mask=inside, other=0.0)
    there_is = here < width
    tl.store(totals + base + here, tl.where(inside, sums, 0.0), mask=there_is)
    tl.store(moved + base + here, tl.where(inside, change, 0.0), mask=there_is)


@triton.jit(do_not_specialize=_COUNTS)
def _slope_rows_kernel(
    q, sigma, counts, ranges, u, v, totals, slopes, width, deep, blocks,
    own: tl.constexpr, others: tl.constexpr,
):  # fmt: skip
    """Write Σ_j totals_j·P_ij, with columns scaled last."""
    at, here, count, depth = _place(counts, deep, blocks, own)
    base = at * width
    inside = here < depth
    twice, term = _rank_terms(q + base, sigma + base, u + base, here, inside)
    low, high = tl.load(ranges + 2 * tl.program_id(0)), tl.load(ranges + 2 * tl.program_id(0) + 1)
    total = tl.zeros((own, others), tl.float32)
    for start in range(low, high, others):
        there = start + tl.arange(0, others)
        item = there < count
        distance, other = _item_terms(q + base, sigma + base, v + base, there, item)
        power = term[:, None] + other[None, :] + twice[:, None] * distance[None, :]
        part = tl.load(totals + base + there, mask=item, other=0.0)
        total += part[None, :] * tl.exp2(power.to(tl.float32))
    tl.store(slopes + base + here, tl.sum(total, axis=1), mask=inside)


class _Launches:
    """The kernels for lists of one shape, each prepared once for all calls.

    Args:
        lists: the number of lists.
        width: the number of items in a list.
        deep: the number of ranks in a list.
        device: the device of the tensors.
    """

    def __init__(self, lists: int, width: int, deep: int, device: torch.device) -> None:
        self.lists, self.width, self.deep, self.device = lists, width, deep, device
        self.blocks_of_ranks, self.blocks_of_items = -(-deep // _OWN), -(-width // _OWN)
        self._launchers: dict[Any, Launcher] = {}

    def _run(
        self, kernel: object, blocks: int, *tensors: torch.Tensor | None, **rest: object
    ) -> None:
        key = kernel, *[one is None for one in tensors], *rest.values()
        if key not in self._launchers:
            rest |= {"width": self.width, "deep": self.deep, "blocks": blocks}
            rest |= {"own": _OWN, "others": _OTHERS}
            programs = self.lists * blocks
            self._launchers[key] = Launcher(kernel, programs, self.device, rest, _WARPS)
        self._launchers[key](*tensors)

    def over_items(self, kernel: object, *tensors: torch.Tensor | None, **rest: object) -> None:
        """Launch a kernel that owns ranks and sums over items."""
        self._run(kernel, self.blocks_of_ranks, *tensors, **rest)

    def over_ranks(self, kernel: object, *tensors: torch.Tensor | None, **rest: object) -> None:
        """Launch a kernel that owns items and sums over ranks."""
        self._run(kernel, self.blocks_of_items, *tensors, **rest)


_launches = functools.lru_cache(maxsize=64)(_Launches)


class _Pairs:
    """The inputs of the logarithms L of pairs, and the range of nearby pairs.

    Args:
        scores: [list, item] float32 on a GPU, from high to low.
        counts: (list,) int32, the number of items per list.
        tau: τ.
        deep: the number of ranks.
    """

    def __init__(self, scores: torch.Tensor, counts: torch.Tensor, tau: float, deep: int) -> None:
        lists, width = scores.shape
        self.launches = _launches(lists, width, deep, scores.device)
        steps = (scores[:, :-1] - scores[:, 1:]).double() * (LOG2_E / tau)
        steps = torch.where(steps < _LONGEST_STEP, steps, _LONGEST_STEP)
        odd = torch.arange(3, 2 * width + 1, 2, dtype=torch.float64, device=scores.device)
        sums = torch.stack((odd * steps, steps)).cumsum(-1)
        q, sigma = torch.nn.functional.pad(sums, (1, 0)).unbind()
        blocks = self.launches.blocks_of_ranks, self.launches.blocks_of_items
        near = [counts.new_empty(lists * one * 2) for one in blocks]
        self.near_ranks = q, sigma, counts, near[0]
        self.near_items = q, sigma, counts, near[1]
        self.launches.over_items(_ranges_kernel, *self.near_ranks, by_rank=True)
        self.launches.over_ranks(_ranges_kernel, *self.near_items, by_rank=False)

    def over_items(self, kernel: object, *tensors: torch.Tensor | None) -> None:
        """Launch a kernel that owns ranks and sums over items."""
        self.launches.over_items(kernel, *self.near_ranks, *tensors)

    def over_ranks(self, kernel: object, *tensors: torch.Tensor | None) -> None:
        """Launch a kernel that owns items and sums over ranks."""
        self.launches.over_ranks(kernel, *self.near_items, *tensors)


def _room(like: torch.Tensor, planes: int) -> tuple[torch.Tensor, ...]:
    """Return empty tensors of the size of `like`, all aligned for the kernels."""
    size = -(-like.numel() // 4) * 4
    return like.new_empty(planes, size).unbind()


class _SortedGains(torch.autograd.Function):
    """The sorted gains [list, rank], with the scales of every step kept for the gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: torch.Tensor,
        gains: torch.Tensor,
        counts: torch.Tensor,
        tau: float,
        iterations: int,
        deep: int,
    ) -> Any:
        pairs = _Pairs(scores, counts, tau, deep)
        sorted_gains = scores.new_empty(len(scores), deep)
        room = _room(scores, 3 * iterations + 1)
        rows, columns = room[: iterations + 1], room[iterations + 1 : 2 * iterations + 1]
        shifts = room[2 * iterations + 1 :]
        last = gains if not iterations else None
        pairs.over_items(
            _scale_rows_kernel,
            None,
            None,
            last,
            rows[0],
            sorted_gains if last is not None else None,
        )
        v = None
        for t in range(iterations):
            pairs.over_ranks(_scale_columns_kernel, rows[t], v, columns[t], shifts[t])
            v = columns[t]
            ends = t == iterations - 1
            weighed = (gains, rows[t + 1], sorted_gains) if ends else (None, rows[t + 1], None)
            pairs.over_items(_scale_rows_kernel, rows[t], v, *weighed)
        ctx.save_for_backward(scores, gains, counts, sorted_gains, *room)
        ctx.options = tau, iterations, deep
        return sorted_gains

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        inputs, gains, counts, sorted_gains, *room = ctx.saved_tensors
        tau, iterations, deep = ctx.options

        def gradient(upstream: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            pairs = _Pairs(scores, counts, tau, deep)
            rows, columns = room[: iterations + 1], room[iterations + 1 : 2 * iterations + 1]
            shifts = room[2 * iterations + 1 :]
            totals, moved, steep = _room(scores, 3)
            start: Any = upstream.contiguous(), sorted_gains, gains
            for t in range(iterations, -1, -1):
                v, shift = (columns[t - 1], shifts[t - 1]) if t else (None, None)
                pairs.over_ranks(_slope_columns_kernel, rows[t], v, *start, shift, totals, moved)
                if t:
                    pairs.over_items(_slope_rows_kernel, rows[t - 1], v, totals, steep)
                    start = steep, None, None
            total, apart = (one[: scores.numel()].view_as(scores) for one in (totals, moved))
            running = total.cumsum(-1)
            spread = 2 * running - total - running[:, -1:]
            there = torch.arange(scores.shape[1], device=scores.device) < counts[:, None]
            return torch.where(there, (2 * apart - spread) / tau, 0.0)

        return without_second_derivative(gradient, slopes[0], inputs), *[None] * 5


@torch.compiler.disable  # its kernels are already compiled
def sorted_gains(
    scores: torch.Tensor,
    gains: torch.Tensor,
    counts: torch.Tensor,
    *,
    tau: float,
    iterations: int,
    deep: int,
) -> torch.Tensor:
    """Return the gains in relaxed order, [list, rank].

    Args:
        scores: [list, item] float32 on a GPU, from high to low.
        gains: [list, item] float32.
        counts: [list, 1], the number of items per list.
        tau: τ.
        iterations: the number of Sinkhorn steps.
        deep: the number of ranks; all of them if there are steps.
    """
    number = counts[:, 0].int()
    relaxed: torch.Tensor = _SortedGains.apply(
        scores.contiguous(), gains.contiguous(), number, tau, iterations, deep
    )
    return relaxed
