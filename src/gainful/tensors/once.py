"""Gradients that can be had once: a second derivative is an error, where zero would be wrong."""

from collections.abc import Callable
from typing import Any

import torch


class Once(torch.autograd.Function):
    """What a function makes of tensors, not to be differentiated.

    The tensors that it depends on must be among them, used or not: whether there is anything to
    refuse is seen by their history.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(function: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> torch.Tensor:
        """Return what the function makes."""
        return function(*tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        """Keep nothing."""

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        """Refuse."""
        message = "this loss has no second derivative"
        raise NotImplementedError(message)


def once(function: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> torch.Tensor:
    """Return what a function makes of tensors; where a graph is kept, as `Once`."""
    if not torch.is_grad_enabled():
        return function(*tensors)
    found: torch.Tensor = Once.apply(function, *tensors)  # type: ignore[no-untyped-call]
    return found
