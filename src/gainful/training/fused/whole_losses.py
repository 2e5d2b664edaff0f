"""Whole losses on a GPU in one launch each, from scores and labels to the gradient.

Work in the order of tickets: prepare each list; pair each block of documents with the rest of its
list; for ApproxNDCG, compute the gradient of each block.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
import triton
import triton.language as tl

from gainful.training.fused.approx_ndcg import LOG2_E, gradient_of, ranks_of, terms_of
from gainful.training.fused.kernel_launching import Launcher
from gainful.training.fused.lambda_loss import LambdaOptions, pairs_of
from gainful.training.fused.list_preparation_and_sums import (
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
from gainful.training.fused.prepared_call_key import CallForm
from gainful.training.fused.tickets_of_programs import next_ticket
from gainful.training.no_second_derivative import without_second_derivative

# Documents per block, documents paired with them at once, and warps, by the length of lists: the
# fastest of those tried on an H200.
_APPROX = {128: (32, 32, 1), 512: (128, 16, 4), WIDEST: (256, 16, 4)}
_LAMBDA = {128: (16, 32, 2), WIDEST: (64, 32, 8)}
# Lists prepared before the first is paired. Preparing all of them first took 7 % longer for 256
# lists of 1,000 documents on an H200.
_AHEAD = 64
# Never specialised for 1, because it is used in addresses.
_COUNTS = ["lists", "width", "blocks", "ahead", "depth"]


@triton.jit(do_not_specialize=_COUNTS)
def _approx_kernel(
    scores, labels, mask, weight, discounts, room, gradient, loss,
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
            # Ranks need no gains, so lists are sorted meanwhile.
            prepared = wait_for_documents(at, counters)
            high, low = tl.load(highs + at), tl.load(lows + at)
            own = tl.load(listed + here, mask=inside, other=-float("inf"))
            rank = ranks_of(listed, own, high, low, width, scale, rows, columns)
            if not prepared:
                wait_for_list(at, counters)
            share = tl.load(shares + here, mask=inside, other=0.0)
            term, slope = terms_of(share, rank, per, log2_base, edge)
            there = own > -float("inf")
            tl.store(slopes + here, tl.where(there, slope, 0.0), mask=inside)
            total = tl.sum(tl.where(there, term, 0.0), axis=0)
            finish_block(at, block, total, room, loss, lists, blocks, -1.0, 1.0, reduction)
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
    scores, labels, mask, weight, discounts, steps, room, gradient, loss,
    lists, width, blocks, depth, cutoff, scale, mu, factor,
    gain: tl.constexpr, normalized: tl.constexpr, reduction: tl.constexpr,
    scheme: tl.constexpr, truncation: tl.constexpr,
    size: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr,
):  # fmt: skip
    """Do the next piece of a lambda loss: all lists first, since every block needs the divisor."""
    counters = counters_in(room)
    ticket = next_ticket(counters)
    if ticket < lists:
        prepare_list(
            ticket, scores, labels, mask, weight, discounts, room, lists, width, blocks, depth,
            gain, normalized, 1, reduction, size,
        )  # fmt: skip
    else:
        at, block = (ticket - lists) // blocks, (ticket - lists) % blocks
        listed, shares, grades, order = documents_in(room, lists, width, blocks, at)
        _, _, highs, lows, _, _, _ = lists_in(room, lists)
        here = block * rows + tl.arange(0, rows)
        inside = here < width
        wait_for_list(at, counters)
        high, low = tl.load(highs + at), tl.load(lows + at)
        losses, steep = pairs_of(
            listed, grades, shares, here, discounts, steps, high, low, width,
            cutoff, scale, mu, scheme, truncation, rows, columns,
        )  # fmt: skip
        steep *= slope_of(at, room, lists, factor)
        # The gradient is stored at the document's place before ranking.
        place = tl.load(order + here, mask=inside, other=0)
        tl.store(gradient + at.to(tl.int64) * width + place, steep, mask=inside)
        total = tl.sum(losses, axis=0)
        finish_block(at, block, total, room, loss, lists, blocks, 1.0, factor, reduction)


class Whole:
    """A loss for calls of one form, prepared once for any number of such calls.

    Args:
        kernel: one of the kernels above.
        form: the form of the calls.
        sizes: documents per block, documents paired with them at once, and warps.
        tables: the kernel's further tensors on the device, besides scores, labels, mask and weight.
        passes: the number of passes over each block.
        rest: other arguments of the kernel, by name.
    """

    def __init__(
        self,
        kernel: object,
        form: CallForm,
        sizes: tuple[int, int, int],
        tables: tuple[torch.Tensor, ...],
        passes: int,
        **rest: object,
    ) -> None:
        lists, width, (rows, columns, warps) = form.lists, form.width, sizes
        blocks = -(-width // rows)
        self._tables = tables
        self._room = room_of(lists, width, blocks, ranked=kernel is _lambda_kernel)
        self._shape = (lists, width)
        self._loss_shape = (lists,) if form.reduction == "none" else ()
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
        """Return the loss, reduced or per list, and its gradient [list, document]."""
        like = self._tables[0]
        # Only the counters need to be 0, but allocating a second tensor takes longer than filling
        # all.
        room = like.new_zeros(self._room)
        gradient, loss = like.new_empty(self._shape), like.new_empty(self._loss_shape)
        self._launch(scores, labels, mask, weight, *self._tables, room, gradient, loss)
        return loss, gradient


def approx(
    form: CallForm, discounts: torch.Tensor, temperature: float, log2_base: float, *, sloped: bool
) -> Whole:
    """Return ApproxNDCG for a form of calls, with the discount 1/log_b(1 + rank).

    Args:
        form: the form of the calls.
        discounts: (document + 1,) float32, from rank 1.
        temperature: T.
        log2_base: log2 b.
        sloped: whether to compute the gradient, too.
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
    """Return a lambda loss for a form of calls.

    Args:
        form: the form of the calls.
        discounts: (document + 1,) float32, from rank 1.
        steps: the discount differences, by the distance between two ranks.
        options: the options of the loss.
        factor: the factor that multiplies the loss.
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
    """A loss with its gradient computed in the same pass; `others` are labels, mask and weight."""

    @staticmethod
    def forward(ctx: Any, scores: torch.Tensor, whole: Whole, others: Others) -> Any:
        """Compute the loss and its gradient."""
        loss, gradient = whole(scores, *others)
        ctx.save_for_backward(gradient, scores)
        return loss

    @staticmethod
    def backward(ctx: Any, *upstream: torch.Tensor) -> Any:
        """Scale the gradient."""
        gradient, scores = ctx.saved_tensors

        def scaled(factor: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            slope: torch.Tensor = gradient * (factor[:, None] if factor.ndim else factor)
            return slope.to(scores.dtype)

        return without_second_derivative(scaled, upstream[0], scores), None, None
