"""Whether a whole loss can be had from one kernel on a GPU, and having it."""

from typing import Any

from gainful.tensors.fusible import fusible
from gainful.tensors.losses.checks import Common


def fused_approx(
    scores: Any, labels: Any, mask: Any, common: Common, temperature: float
) -> Any | None:
    """Return ApproxNDCG; None where no kernel does it, and plain code must."""
    if not fusible(scores, labels, mask, common.get("weight")):
        return None
    from gainful.tensors.losses.prepared import approx_loss

    return approx_loss(scores, labels, mask, common, temperature)


def fused_lambda(scores: Any, labels: Any, mask: Any, common: Common, **options: Any) -> Any | None:
    """Return a lambda loss; None where no kernel does it, and plain code must."""
    if not fusible(scores, labels, mask, common.get("weight")):
        return None
    from gainful.tensors.losses.prepared import lambda_loss

    return lambda_loss(scores, labels, mask, common, options)
