"""Whole losses from one GPU kernel each; calls of the same form are prepared once.

Reading the arguments of a call takes longer than the kernel. `torch.compile` does not trace this
code: the kernels are already compiled, and launching them isn't a tensor operation.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import torch

from gainful.measures.discount import DEFAULT_BASE, FORMS, Discount
from gainful.measures.discount import base as read_base
from gainful.measures.discount import discount as read_discount
from gainful.measures.gain import gain as read_gain
from gainful.measures.measure import read_cutoff
from gainful.training.fused.lambda_loss import LambdaOptions, steps_of
from gainful.training.fused.list_preparation_and_sums import GAINS, WIDEST
from gainful.training.fused.listwise_losses import Listwise
from gainful.training.fused.prepared_call_key import CallForm
from gainful.training.fused.whole_losses import Whole, WholeLoss, approx, pairs
from gainful.training.losses.gains_and_discounts import discounts_of
from gainful.training.losses.listwise_with_gradient import (
    DIFFERENTIABLE_ONCE,
    Computed,
    Formula,
    with_its_gradient,
)
from gainful.training.losses.options import Common
from gainful.training.losses.torch_operations import TORCH
from gainful.training.losses.training_lists import Arranged

Tensor = torch.Tensor


@torch.compiler.disable  # type: ignore[untyped-decorator]
def approx_loss(
    scores: Tensor, labels: Tensor, mask: Tensor | None, common: Common, temperature: float
) -> Tensor | None:
    """Return ApproxNDCG of tensors on a GPU; None if no kernel supports it."""
    form = _form(scores, labels, mask, common)
    if form is None or form.discount.form != "log":
        return None
    whole = _approx(form, float(temperature), _sloped(scores))
    return _launched(whole, scores, labels, mask, common)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def lambda_loss(
    scores: Tensor, labels: Tensor, mask: Tensor | None, common: Common, options: dict[str, Any]
) -> Tensor | None:
    """Return a lambda loss of tensors on a GPU; None if no kernel supports it."""
    form = _form(scores, labels, mask, common)
    if form is None:
        return None
    return _launched(_pairs(form, **options), scores, labels, mask, common)


def listwise_loss(
    name: str,
    formula: Formula,
    scores: Tensor,
    labels: Tensor,
    mask: Tensor | None,
    common: Common,
    draw: Callable[[Arranged], Any] | None,
) -> Tensor | None:
    """Return a listwise loss of tensors on a GPU; None if no kernel supports it.

    `formula` computes the same, traced, for a second derivative; `draw` makes the loss's random
    draws.
    """
    form = _form(scores, labels, mask, common)
    if form is None:
        return None
    *lead, width = scores.shape
    listed, grades = _listed(scores, width), _listed(labels, width)
    marks = None if mask is None else _listed(mask, width)
    weight = common.get("weight")
    weight = None if weight is None else weight.reshape(-1).contiguous()

    def arrange(values: Tensor) -> Tensor:
        return values.reshape(*values.shape[: values.ndim - scores.ndim], -1, width).contiguous()

    sloped = _sloped(scores)
    with torch.no_grad():
        drawn = None if draw is None else draw(Arranged(TORCH, TORCH.accumulating(listed), arrange))
        number = isinstance(drawn, float)
        if isinstance(drawn, Tensor) and not drawn.ndim:
            drawn = drawn.expand(listed.shape).contiguous()
        samples = int(drawn.shape[0]) if isinstance(drawn, Tensor) and drawn.ndim == 3 else 1
        kernel = _listwise(name, form, samples, drawn if number else 0.0, sloped)
        computed = Computed(*kernel(listed, grades, marks, weight, None if number else drawn))
    value = computed.value
    if sloped:

        def traced(own: Tensor) -> Tensor:
            flat: Common = {**common, "weight": weight}
            return formula(own, grades, marks, flat, drawn)

        value = with_its_gradient(listed, computed, None if name in DIFFERENTIABLE_ONCE else traced)
    return value.reshape(lead) if value.ndim and len(lead) != 1 else value


def _form(scores: Tensor, labels: Tensor, mask: Tensor | None, common: Common) -> CallForm | None:
    """Return the form of a call; None if no kernel supports it."""
    shape, gain, weight = scores.shape, _gain(common), common.get("weight")
    if not (shape and 0 < shape[-1] <= WIDEST and scores.numel()):
        return None
    if (
        labels.shape != shape
        or labels.is_complex()
        or common.get("offsets") is not None
        or gain not in GAINS
    ):
        return None
    if mask is not None and (mask.shape != shape or mask.dtype != torch.bool):
        return None
    if weight is not None and (weight.shape != shape[:-1] or weight.requires_grad):
        return None
    k = common.get("k")
    return CallForm(
        lists=scores.numel() // shape[-1],
        width=shape[-1],
        device=scores.device,
        kinds=tuple([None if one is None else one.dtype for one in (scores, labels, mask, weight)]),
        gain=gain,
        cutoff=None if k is None else read_cutoff(k),
        discount=_discount(common),
        base=_base(common.get("base", DEFAULT_BASE)),
        normalized=bool(common.get("normalized", True)),
        reduction=common.get("reduction", "mean"),
    )


def _gain(common: Common) -> str:
    gain = common.get("gain", "exp2")
    return gain if isinstance(gain, str) else read_gain(gain).form


def _discount(common: Common) -> Discount:
    discount: object = common.get("discount", "log")
    # Only gainful's own names always mean the same.
    named = isinstance(discount, str) and discount.partition("(")[0] in FORMS
    return _named_discount(discount) if named else read_discount(discount)


_prepared = functools.lru_cache(maxsize=256)
_named_discount = _prepared(read_discount)
_base = _prepared(read_base)


@_prepared
def _approx(form: CallForm, temperature: float, sloped: bool) -> Whole:  # noqa: FBT001
    return approx(form, _discounts(form), temperature, math.log2(form.base), sloped=sloped)


@_prepared
def _pairs(form: CallForm, **options: Any) -> Whole:
    if form.cutoff is None:
        options["truncation"] = "none"
    # The kernel uses binary logarithms, RankNet natural ones.
    factor = math.log(2) if options["scheme"] == "ranknet" else 1.0
    discounts = _discounts(form)
    chosen = LambdaOptions(cutoff=form.cutoff or 0, **options)
    return pairs(form, discounts, steps_of(discounts), chosen, factor)


@_prepared
def _listwise(name: str, form: CallForm, samples: int, gamma: float, sloped: bool) -> Listwise:  # noqa: FBT001
    discounts = _discounts(form)
    return Listwise(name, form, discounts, samples=samples, gamma=gamma, sloped=sloped)


def _discounts(form: CallForm) -> Tensor:
    """Return the discounts (width + 1,) from rank 1, on the device."""
    ranks = torch.arange(1, form.width + 2, dtype=torch.float64, device=form.device)
    worth: Tensor = discounts_of(TORCH, ranks, form.discount, form.base)
    return worth.to(torch.float32)


def _sloped(scores: Tensor) -> bool:
    return scores.requires_grad and torch.is_grad_enabled()


def _launched(
    whole: Whole, scores: Tensor, labels: Tensor, mask: Tensor | None, common: Common
) -> Tensor:
    *lead, width = scores.shape
    weight = common.get("weight")
    others = (
        _listed(labels, width),
        None if mask is None else _listed(mask, width),
        None if weight is None else weight.reshape(-1).contiguous(),
    )
    listed = _listed(scores, width)
    if _sloped(scores):
        loss: Tensor = WholeLoss.apply(listed, whole, others)  # type: ignore[no-untyped-call]
    else:
        loss, _ = whole(listed, *others)
    return loss.reshape(lead) if loss.ndim and len(lead) != 1 else loss


def _listed(values: Tensor, width: int) -> Tensor:
    """Return a tensor as [list, document], at no cost if it already is."""
    if values.ndim == 2 and values.is_contiguous():
        return values
    return values.reshape(-1, width).contiguous()
