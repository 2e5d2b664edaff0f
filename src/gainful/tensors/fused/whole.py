"""Whole losses on a GPU in one launch each, from scores and labels to the gradient.

Pieces of work, in the order of their tickets: each list is prepared; each block of documents is
paired with all others of its list; of ApproxNDCG, the gradient of each block.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl

from gainful.tensors.fused.approx import LOG2_E, gradient_of, ranks_of, terms_of
from gainful.tensors.fused.lists import (
    GAINS,
    REDUCTIONS,
    counters_in,
    documents_in,
    finish_block,
    lists_in,
    prepare_list,
    room_of,
    slope_of,
    wait_for_blocks,
    wait_for_divisor,
    wait_for_list,
)
from gainful.tensors.fused.pairs import SCHEMES, TRUNCATIONS, Options, pairs_of

# Documents of a block, those they are paired with at once, and warps: the fastest of those tried
# on an H200.
_APPROX, _APPROX_SHORT = (128, 32, 4), (32, 32, 1)
_LAMBDA, _LAMBDA_SHORT = (64, 32, 8), (16, 32, 2)
_SHORT = 128  # documents of a list that larger blocks would be wasted on
_COUNTS = ["lists", "width", "blocks"]  # a count of 1 is no constant: it takes part in addresses


@triton.jit(do_not_specialize=_COUNTS)
def _approx_kernel(
    scores, labels, mask, weight, discounts, room, gradient, found,
    lists, width, blocks, depth, cutoff, scale, log2_base,
    gain: tl.constexpr, normalized: tl.constexpr, reduction: tl.constexpr,
    size: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr,
):  # fmt: skip
    """Do the next piece of ApproxNDCG."""
    counters = counters_in(room)
    ticket = tl.atomic_add(counters, 1)
    if ticket < lists:
        prepare_list(
            ticket, scores, labels, mask, weight, discounts, room, lists, width, blocks, depth,
            gain, normalized, 0, reduction, size,
        )  # fmt: skip
    else:
        piece = (ticket - lists) % (lists * blocks)
        at, block = piece // blocks, piece % blocks
        per = scale * 0.6931471805599453
        listed, shares, slopes, _ = documents_in(room, lists, width, blocks, at)
        _, _, highs, lows, _, _, _ = lists_in(room, lists)
        here = block * rows + tl.arange(0, rows)
        inside = here < width
        if ticket < lists + lists * blocks:
            wait_for_list(at, counters)
            high, low = tl.load(highs + at), tl.load(lows + at)
            own = tl.load(listed + here, mask=inside, other=-float("inf"))
            rank = ranks_of(listed, own, high, low, width, scale, rows, columns)
            share = tl.load(shares + here, mask=inside, other=0.0)
            term, slope = terms_of(share, rank, scale, per, log2_base, cutoff)
            known = own > -float("inf")
            tl.store(slopes + here, tl.where(known, slope, 0.0), mask=inside)
            total = tl.sum(tl.where(known, term, 0.0), axis=0)
            finish_block(at, block, total, room, found, lists, blocks, -1.0, 1.0, reduction)
        else:
            wait_for_blocks(at, counters, blocks)
            high, low = tl.load(highs + at), tl.load(lows + at)
            own = tl.load(listed + here, mask=inside, other=-float("inf"))
            slope = tl.load(slopes + here, mask=inside, other=0.0)
            steep = gradient_of(listed, slopes, own, slope, high, low, width, scale, rows, columns)
            counts = slope_of(at, room, lists, -per)
            steep = tl.where(own > -float("inf"), counts * steep, 0.0)
            tl.store(gradient + at.to(tl.int64) * width + here, steep, mask=inside)


@triton.jit(do_not_specialize=_COUNTS)
def _lambda_kernel(
    scores, labels, mask, weight, discounts, steps, room, gradient, found,
    lists, width, blocks, depth, cutoff, scale, mu, factor,
    gain: tl.constexpr, normalized: tl.constexpr, reduction: tl.constexpr,
    scheme: tl.constexpr, truncation: tl.constexpr,
    size: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr,
):  # fmt: skip
    """Do the next piece of a lambda loss."""
    counters = counters_in(room)
    ticket = tl.atomic_add(counters, 1)
    if ticket < lists:
        prepare_list(
            ticket, scores, labels, mask, weight, discounts, room, lists, width, blocks, depth,
            gain, normalized, 1, reduction, size,
        )  # fmt: skip
    else:
        at, block = (ticket - lists) // blocks, (ticket - lists) % blocks
        listed, shares, known, order = documents_in(room, lists, width, blocks, at)
        _, _, highs, lows, _, _, _ = lists_in(room, lists)
        here = block * rows + tl.arange(0, rows)
        inside = here < width
        wait_for_list(at, counters)
        high, low = tl.load(highs + at), tl.load(lows + at)
        losses, steep = pairs_of(
            listed, known, shares, here, discounts, steps, high, low, width,
            cutoff, scale, mu, scheme, truncation, rows, columns,
        )  # fmt: skip
        wait_for_divisor(counters)
        steep *= slope_of(at, room, lists, factor)
        # The gradient goes where the document was before it was ranked.
        place = tl.load(order + here, mask=inside, other=0)
        tl.store(gradient + at.to(tl.int64) * width + place, steep, mask=inside)
        total = tl.sum(losses, axis=0)
        finish_block(at, block, total, room, found, lists, blocks, 1.0, factor, reduction)


@dataclass(frozen=True, slots=True)
class Given:
    """What a loss is of, besides the scores.

    Attributes:
        labels: [list, document].
        mask: [list, document] or None.
        weight: (list,) or None.
        discounts: (document + 1,) float32, those of the ranks from 1 on.
        depth: ranks that the ideal has.
        gain: one of `GAINS`.
        normalized: divide by the ideal.
        reduction: mean, sum or none.
    """

    labels: torch.Tensor
    mask: torch.Tensor | None
    weight: torch.Tensor | None
    discounts: torch.Tensor
    depth: int
    gain: str
    normalized: bool
    reduction: str

    def constants(self, width: int) -> dict[str, Any]:
        """Return what a kernel is compiled for."""
        return {
            "gain": GAINS[self.gain],
            "normalized": self.normalized,
            "reduction": REDUCTIONS[self.reduction],
            "size": triton.next_power_of_2(width),
        }


Launch = Callable[[torch.Tensor, bool], tuple[torch.Tensor, torch.Tensor]]


class WholeLoss(torch.autograd.Function):
    """A loss, reduced or of each list, with the gradient computed on the way."""

    @staticmethod
    def forward(ctx: Any, scores: torch.Tensor, launch: Launch) -> Any:
        """Compute the loss, and its gradient if one will be asked for."""
        found, gradient = launch(scores, ctx.needs_input_grad[0])
        ctx.save_for_backward(gradient)
        ctx.dtype = scores.dtype
        return found

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *upstream: torch.Tensor) -> Any:
        """Scale the gradient."""
        (gradient,) = ctx.saved_tensors
        factor = upstream[0]
        slope = gradient * (factor[:, None] if factor.ndim else factor)
        return slope.to(ctx.dtype), None


def approx(given: Given, temperature: float, cutoff: int | None, log2_base: float) -> Launch:
    """Return what launches ApproxNDCG with the discount 1/log_b(1 + rank)."""

    def launch(scores: torch.Tensor, sloped: bool) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: FBT001
        lists, width = scores.shape
        rows, columns, warps = _APPROX_SHORT if width <= _SHORT else _APPROX
        blocks = -(-width // rows)
        room, gradient, found = _space(scores, blocks, given.reduction, ranked=False)
        _approx_kernel[(lists + (1 + sloped) * lists * blocks,)](
            scores, given.labels, given.mask, given.weight, given.discounts,
            room, gradient, found, lists, width, blocks, given.depth, cutoff,
            LOG2_E / temperature, log2_base, **given.constants(width),
            rows=rows, columns=columns, num_warps=warps,
        )  # fmt: skip
        return found, gradient

    return launch


def pairs(given: Given, steps: torch.Tensor, options: Options, factor: float) -> Launch:
    """Return what launches a lambda loss; `steps` are of the distances of two ranks."""

    def launch(scores: torch.Tensor, _: bool) -> tuple[torch.Tensor, torch.Tensor]:  # noqa: FBT001
        lists, width = scores.shape
        rows, columns, warps = _LAMBDA_SHORT if width <= _SHORT else _LAMBDA
        blocks = -(-width // rows)
        room, gradient, found = _space(scores, blocks, given.reduction, ranked=True)
        _lambda_kernel[(lists + lists * blocks,)](
            scores, given.labels, given.mask, given.weight, given.discounts, steps,
            room, gradient, found, lists, width, blocks, given.depth, options.cutoff,
            options.sigma * LOG2_E, options.mu, factor,
            **given.constants(width), scheme=SCHEMES[options.scheme],
            truncation=TRUNCATIONS[options.truncation],
            rows=rows, columns=columns, num_warps=warps,
        )  # fmt: skip
        return found, gradient

    return launch


def _space(
    scores: torch.Tensor, blocks: int, reduction: str, *, ranked: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the room between the pieces, and where gradient and loss will be."""
    (lists, width), device = scores.shape, scores.device
    # Only the counters need to be 0; a second tensor would take longer than to fill all of it.
    size = room_of(lists, width, blocks, ranked=ranked)
    room = torch.zeros(size, dtype=torch.float32, device=device)
    gradient = torch.empty((lists, width), dtype=torch.float32, device=device)
    shape = (lists,) if reduction == "none" else ()
    return room, gradient, torch.empty(shape, dtype=torch.float32, device=device)
