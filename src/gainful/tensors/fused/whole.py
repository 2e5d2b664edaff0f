"""Whole losses on a GPU in a handful of kernels, from scores and labels to the gradient."""

import math
from collections.abc import Callable
from typing import Any

import torch

from gainful.tensors.fused.approx import approx_gradient, approx_terms
from gainful.tensors.fused.lists import Prepared
from gainful.tensors.fused.pairs import Options, lambda_terms

Terms = Callable[[Prepared, bool], tuple[torch.Tensor, torch.Tensor | None]]


class WholeLoss(torch.autograd.Function):
    """A loss, reduced or of each list, with the gradient computed on the way."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: torch.Tensor,
        prepared: Callable[[torch.Tensor], Prepared],
        terms: Terms,
        sign: float,
        factor: float,
        reduction: str,
    ) -> Any:
        """Compute the loss, and its gradient if one will be asked for."""
        lists = prepared(scores)
        found, gradient = terms(lists, ctx.needs_input_grad[0])
        values = lists.totals(found, sign)
        if reduction == "none":
            parts = (sign * factor) * lists.weights
            result = values * (factor * lists.weights)
        else:
            result, parts = lists.reduced(values, factor, sign, mean=reduction == "mean")
        ctx.save_for_backward(gradient, parts)
        ctx.dtype = scores.dtype
        return result

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *upstream: torch.Tensor) -> Any:
        """Scale the gradient."""
        gradient, parts = ctx.saved_tensors
        slope = gradient * (parts * upstream[0])[:, None]
        return slope.to(ctx.dtype), None, None, None, None, None


def approx(temperature: float, cutoff: int | None, base: float) -> Terms:
    """Return the terms of ApproxNDCG with the discount 1/log_b(1 + rank)."""
    log2_base = math.log2(base)

    def terms(lists: Prepared, sloped: bool) -> tuple[torch.Tensor, torch.Tensor | None]:  # noqa: FBT001
        found, slopes = approx_terms(lists.scores, lists.shares, temperature, cutoff, log2_base)
        return found, approx_gradient(lists.scores, slopes, temperature) if sloped else None

    return terms


def pairs(tables: tuple[torch.Tensor, torch.Tensor], options: Options) -> Terms:
    """Return the terms of a lambda loss."""

    def terms(lists: Prepared, _: bool) -> tuple[torch.Tensor, torch.Tensor | None]:  # noqa: FBT001
        assert lists.labels is not None  # noqa: S101  # prepared in the order of ranks
        return lambda_terms(lists.scores, lists.labels, lists.shares, tables, options, lists.order)

    return terms
