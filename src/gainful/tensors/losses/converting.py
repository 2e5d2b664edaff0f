"""What callers pass beside the scores, as tensors of the framework of the scores."""

from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.tensors.losses.operations import Array, Operations

_NUMBERS = ("bfloat", "float", "int", "uint", "bool")


def numbers(ops: Operations, name: str, values: Any, like: Array) -> Array:
    """Return numbers in the floating type of `like`; anything but numbers is refused."""
    kept, kind = _array(name, "numbers", values)
    if not kind.startswith(_NUMBERS):
        raise InputError(name, "numbers", f"values of type {kind}")
    return ops.floats(kept, like)


def truths(ops: Operations, name: str, values: Any, like: Array) -> Array:
    """Return booleans of the shape of `like`; numbers in their place are refused."""
    expected = f"booleans of the shape of the scores, {tuple(like.shape)}"
    kept, kind = _array(name, expected, values)
    if kind != "bool" or tuple(kept.shape) != tuple(like.shape):
        raise InputError(name, expected, f"{kind} of {tuple(kept.shape)}")
    return ops.booleans(kept, like)


def _array(name: str, expected: str, values: Any) -> tuple[Any, str]:
    """Return an array, and the name of its type."""
    try:
        # Whatever has a type is a tensor or an array already, and may be traced.
        kept = values if hasattr(values, "dtype") else np.asarray(values)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(name, expected, f"a ragged {type(values).__name__}") from None
    return kept, str(kept.dtype).rpartition(".")[-1].lower()  # torch writes torch.float32
