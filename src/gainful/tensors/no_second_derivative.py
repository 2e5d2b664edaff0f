"""Gradients that cannot be differentiated again: to try is an error, since 0 would be wrong."""

from collections.abc import Callable
from typing import Any

import torch


class FirstDerivativeOnly(torch.autograd.Function):
    """A function of tensors whose result cannot be differentiated.

    All tensors that the result depends on must be given, used or not: their history tells whether
    there is anything to refuse.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(function: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> torch.Tensor:
        """Return the result of the function."""
        return function(*tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        """Keep nothing."""

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        """Refuse the second derivative."""
        message = "this loss has no second derivative"
        raise NotImplementedError(message)


def without_second_derivative(
    function: Callable[..., torch.Tensor], *tensors: torch.Tensor
) -> torch.Tensor:
    """Return the result of a function of tensors, which cannot be differentiated again."""
    if not torch.is_grad_enabled():
        return function(*tensors)
    found: torch.Tensor = FirstDerivativeOnly.apply(function, *tensors)  # type: ignore[no-untyped-call]
    return found
