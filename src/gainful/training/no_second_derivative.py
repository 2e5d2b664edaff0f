"""Gradients that cannot be differentiated again: trying raises an error, since 0 would be wrong."""

from collections.abc import Callable
from typing import Any

import torch


class FirstDerivativeOnly(torch.autograd.Function):
    """A function of tensors whose result cannot be differentiated.

    All tensors that the result depends on must be passed, used or not, because their history
    decides whether a second derivative must be rejected.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(function: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> torch.Tensor:
        """Return the result of the function."""
        return function(*tensors)

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[object, ...], output: torch.Tensor) -> None:
        """Keep nothing."""

    @staticmethod
    def backward(ctx: object, *slopes: torch.Tensor) -> Any:
        """Reject the second derivative."""
        message = "this loss has no second derivative"
        raise NotImplementedError(message)


def without_second_derivative(
    function: Callable[..., torch.Tensor], *tensors: torch.Tensor
) -> torch.Tensor:
    """Return the result of a function of tensors, which cannot be differentiated again."""
    if not torch.is_grad_enabled():
        return function(*tensors)
    result: torch.Tensor = FirstDerivativeOnly.apply(function, *tensors)  # type: ignore[no-untyped-call]
    return result
