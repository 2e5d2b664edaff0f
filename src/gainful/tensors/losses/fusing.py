"""When a whole loss can be had from a handful of kernels on a GPU, and having it."""

import functools
import math
from typing import Any

from gainful.measures.discount import Discount
from gainful.measures.discount import base as read_base
from gainful.measures.discount import discount as read_discount
from gainful.measures.gain import gain as read_gain
from gainful.measures.spec import read_cutoff
from gainful.tensors.fusible import fusible
from gainful.tensors.losses.checks import Common
from gainful.tensors.losses.worth import discounts_of


def fused_approx(
    scores: Any, labels: Any, mask: Any, common: Common, temperature: float
) -> Any | None:
    """Return ApproxNDCG; None where no kernel does it, and plain code must."""
    if not _fusible(scores, labels, mask, common):
        return None
    if _discount(common.get("discount", "log")).form != "log":
        return None
    from gainful.tensors.fused.whole import approx

    base = _base(common.get("base", 2))
    launch = approx(
        _given(scores, labels, mask, common), temperature, _cutoff(common), math.log2(base)
    )
    return _whole(scores, launch)


def fused_lambda(scores: Any, labels: Any, mask: Any, common: Common, **options: Any) -> Any | None:
    """Return a lambda loss; None where no kernel does it, and plain code must."""
    if not _fusible(scores, labels, mask, common):
        return None
    from gainful.tensors.fused.pairs import Options
    from gainful.tensors.fused.whole import pairs

    cutoff = _cutoff(common)
    if cutoff is None:
        options["truncation"] = "none"
    # The kernel takes binary logarithms; those of RankNet are natural.
    factor = math.log(2) if options["scheme"] == "ranknet" else 1.0
    steps = _steps(*_discounting(scores, common))
    chosen = Options(cutoff=cutoff or 0, **options)
    launch = pairs(_given(scores, labels, mask, common), steps, chosen, factor)
    return _whole(scores, launch)


def _fusible(scores: Any, labels: Any, mask: Any, common: Common) -> bool:
    weight = common.get("weight")
    if not fusible(scores, labels, mask, weight):
        return False
    from gainful.tensors.fused.lists import GAINS, WIDEST

    return (
        scores.ndim > 0
        and 0 < scores.shape[-1] <= WIDEST
        and scores.numel() > 0
        and all(one.shape == scores.shape for one in (labels, mask) if one is not None)
        and (mask is None or str(mask.dtype) == "torch.bool")
        and (weight is None or weight.shape == scores.shape[:-1])
        and (weight is None or not weight.requires_grad)
        and common.get("offsets") is None
        and _gain(common) in GAINS
    )


def _cutoff(common: Common) -> int | None:
    k = common.get("k")
    return None if k is None else read_cutoff(k)


_discount = functools.lru_cache(maxsize=64)(read_discount)  # reading is slower than a kernel
_base = functools.lru_cache(maxsize=64)(read_base)


def _gain(common: Common) -> str:
    gain = common.get("gain", "exp2")
    return gain if isinstance(gain, str) else read_gain(gain).form


def _discounting(scores: Any, common: Common) -> tuple[Discount, float, int, Any]:
    discount = _discount(common.get("discount", "log"))
    return discount, _base(common.get("base", 2)), int(scores.shape[-1]), scores.device


@functools.lru_cache(maxsize=64)
def _discounts(discount: Discount, base: float, width: int, device: Any) -> Any:
    """Return the discounts (width + 1,) of the ranks from 1 on, kept on the device."""
    import torch

    from gainful.tensors.losses.torch_operations import TORCH

    ranks = torch.arange(1, width + 2, dtype=torch.float64, device=device)
    return discounts_of(TORCH, ranks, discount, base).to(torch.float32)


@functools.lru_cache(maxsize=64)
def _steps(discount: Discount, base: float, width: int, device: Any) -> Any:
    from gainful.tensors.fused.pairs import steps_of

    return steps_of(_discounts(discount, base, width, device))


def _given(scores: Any, labels: Any, mask: Any, common: Common) -> Any:
    from gainful.tensors.fused.whole import Given

    width, cutoff, weight = scores.shape[-1], _cutoff(common), common.get("weight")
    return Given(
        labels=_listed(labels, width),
        mask=None if mask is None else _listed(mask, width),
        weight=None if weight is None else weight.reshape(-1).contiguous(),
        discounts=_discounts(*_discounting(scores, common)),
        depth=width if cutoff is None else cutoff,
        gain=_gain(common),
        normalized=common.get("normalized", True),
        reduction=common.get("reduction", "mean"),
    )


def _listed(values: Any, width: int) -> Any:
    """Return a tensor as [list, document]; what is so already costs no operation."""
    if values.ndim == 2 and values.is_contiguous():
        return values
    return values.reshape(-1, width).contiguous()


def _whole(scores: Any, launch: Any) -> Any:
    from gainful.tensors.fused.whole import WholeLoss

    *lead, width = scores.shape
    found = WholeLoss.apply(_listed(scores, width), launch)  # type: ignore[no-untyped-call]
    return found.reshape(lead) if found.ndim and len(lead) != 1 else found
