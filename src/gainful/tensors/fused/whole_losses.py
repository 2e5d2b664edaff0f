"""Whole losses on a GPU in one launch each, from scores and labels to the gradient.

Pieces of work, in the order of their tickets: each list is prepared; each block of documents is
paired with all others of its list; of ApproxNDCG, the gradient of each block.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
import triton
import triton.language as tl

from gainful.tensors.fused.approx_ndcg import LOG2_E, gradient_of, ranks_of, terms_of
from gainful.tensors.fused.kernel_launching import Launcher
from gainful.tensors.fused.lambda_loss import LambdaOptions, pairs_of
from gainful.tensors.fused.list_preparation_and_sums import (
    WIDEST,
    counters_in,
    documents_in,
    finish_block,
    lists_in,
    piece_of,
    prepare_list,
    room_of,
    slope_of,
    wait_for_blocks,
    wait_for_documents,
    wait_for_list,
)
from gainful.tensors.fused.prepared_call_key import CallForm
from gainful.tensors.fused.tickets_of_programs import next_ticket
from gainful.tensors.no_second_derivative import without_second_derivative

# Documents of a block, those they are paired with at once, and warps, for lists of so many
# documents: the fastest of those tried on an H200.
_APPROX = {128: (32, 32, 1), 512: (128, 16, 4), WIDEST: (256, 16, 4)}
_LAMBDA = {128: (16, 32, 2), WIDEST: (64, 32, 8)}
# Lists that are prepared before the first is paired. With all of them ahead, 256 lists of 1,000
# documents took 7 % longer on an H200.
_AHEAD = 64
# A count of 1 is no constant: it takes part in addresses.
_COUNTS = ["lists", "width", "blocks", "ahead", "depth"]


@triton.jit(do_not_specialize=_COUNTS)
def _approx_kernel(
    scores, labels, mask, weight, discounts, room, gradient, found,
    lists, width, blocks, ahead, depth, edge, scale, log2_base,
    gain: tl.constexpr, normalized: tl.constexpr, reduction: tl.constexpr,
    size: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr,
):  # fmt: skip
    """Do the next piece of ApproxNDCG."""
    counters = counters_in(room)
    ticket = next_ticket(counters)
    pieces = lists * (blocks + 1)
    at, block = piece_of(ticket, lists, blocks, ahead)
    if ticket >= pieces:
        at, block = (ticket - pieces) // blocks, (ticket - pieces) % blocks
    if block < 0:
        prepare_list(
            at, scores, labels, mask, weight, discounts, room, lists, width, blocks, depth,
            gain, normalized, 0, reduction, size,
        )  # fmt: skip
    else:
        per = scale * 0.6931471805599453
        listed, shares, slopes, _ = documents_in(room, lists, width, blocks, at)
        _, _, highs, lows, _, _, _ = lists_in(room, lists)
        here = block * rows + tl.arange(0, rows)
        inside = here < width
        if ticket < pieces:
            # Ranks need no gains: lists are sorted beside them.
            prepared = wait_for_documents(at, counters)
            high, low = tl.load(highs + at), tl.load(lows + at)
            own = tl.load(listed + here, mask=inside, other=-float("inf"))
            rank = ranks_of(listed, own, high, low, width, scale, rows, columns)
            if not prepared:
                wait_for_list(at, counters)
            share = tl.load(shares + here, mask=inside, other=0.0)
            term, slope = terms_of(share, rank, per, log2_base, edge)
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
    """Do the next piece of a lambda loss; all lists first, as every block needs the divisor."""
    counters = counters_in(room)
    ticket = next_ticket(counters)
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
        steep *= slope_of(at, room, lists, factor)
        # The gradient goes where the document was before it was ranked.
        place = tl.load(order + here, mask=inside, other=0)
        tl.store(gradient + at.to(tl.int64) * width + place, steep, mask=inside)
        total = tl.sum(losses, axis=0)
        finish_block(at, block, total, room, found, lists, blocks, 1.0, factor, reduction)


class Whole:
    """A loss of one form, launched for any number of tensors of that form.

    Args:
        kernel: one of those above.
        form: of the calls.
        sizes: documents of a block, those they are paired with at once, and warps.
        tables: what the kernel takes beside scores, labels, mask and weight, on the device.
        passes: how often each block is gone through.
        rest: other arguments of the kernel, by name.
    """

    def __init__(
        self,
        kernel: Any,
        form: CallForm,
        sizes: tuple[int, int, int],
        tables: tuple[torch.Tensor, ...],
        passes: int,
        **rest: Any,
    ) -> None:
        lists, width, (rows, columns, warps) = form.lists, form.width, sizes
        blocks = -(-width // rows)
        self._tables = tables
        self._room = room_of(lists, width, blocks, ranked=kernel is _lambda_kernel)
        self._shape = (lists, width)
        self._found = (lists,) if form.reduction == "none" else ()
        rest |= {
            "lists": lists,
            "width": width,
            "blocks": blocks,
            "depth": form.depth,
            "gain": form.gain,
            "normalized": form.normalized,
            "reduction": form.reduction,
            "size": triton.next_power_of_2(width),
            "rows": rows,
            "columns": columns,
        }
        programs = lists + passes * lists * blocks
        self._launch = Launcher(kernel, programs, form.device, rest, warps)

    def __call__(
        self,
        scores: torch.Tensor,
        labels: torch.Tensor,
        mask: torch.Tensor | None,
        weight: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the loss, reduced or of each list, and its gradient [list, document]."""
        like = self._tables[0]
        # Only the counters need to be 0; to allocate a second tensor takes longer than to fill all.
        room = like.new_zeros(self._room)
        gradient, found = like.new_empty(self._shape), like.new_empty(self._found)
        self._launch(scores, labels, mask, weight, *self._tables, room, gradient, found)
        return found, gradient


def approx(
    form: CallForm, discounts: torch.Tensor, temperature: float, log2_base: float, *, sloped: bool
) -> Whole:
    """Return ApproxNDCG of a form, with the discount 1/log_b(1 + rank).

    Args:
        form: of the calls.
        discounts: (document + 1,) float32, those of the ranks from 1 on.
        temperature: T.
        log2_base: log2 b.
        sloped: compute the gradient, too.
    """
    return Whole(
        _approx_kernel,
        form,
        _sizes(_APPROX, form),
        (discounts,),
        2 if sloped else 1,
        ahead=min(form.lists, _AHEAD),
        edge=None if form.cutoff is None else math.log2(form.cutoff + 0.5),
        scale=LOG2_E / temperature,
        log2_base=log2_base,
    )


def pairs(
    form: CallForm,
    discounts: torch.Tensor,
    steps: torch.Tensor,
    options: LambdaOptions,
    factor: float,
) -> Whole:
    """Return a lambda loss of a form.

    Args:
        form: of the calls.
        discounts: (document + 1,) float32, those of the ranks from 1 on.
        steps: of the distances of two ranks.
        options: of the loss.
        factor: that the loss is multiplied by.
    """
    return Whole(
        _lambda_kernel,
        form,
        _sizes(_LAMBDA, form),
        (discounts, steps),
        1,
        cutoff=options.cutoff,
        scale=options.sigma * LOG2_E,
        mu=options.mu,
        factor=factor,
        scheme=options.scheme,
        truncation=options.truncation,
    )


def _sizes(choices: Mapping[int, tuple[int, int, int]], form: CallForm) -> tuple[int, int, int]:
    return next(sizes for widest, sizes in choices.items() if form.width <= widest)


Others = tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]


class WholeLoss(torch.autograd.Function):
    """A loss with the gradient computed on the way; the others are labels, mask and weight."""

    @staticmethod
    def forward(ctx: Any, scores: torch.Tensor, whole: Whole, others: Others) -> Any:
        """Compute the loss and its gradient."""
        found, gradient = whole(scores, *others)
        ctx.save_for_backward(gradient, scores)
        return found

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> Any:
        """Scale the gradient."""
        gradient, scores = ctx.saved_tensors

        def scaled(factor: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            slope: torch.Tensor = gradient * (factor[:, None] if factor.ndim else factor)
            return slope.to(scores.dtype)

        return without_second_derivative(scaled, upstream[0], scores), None, None
