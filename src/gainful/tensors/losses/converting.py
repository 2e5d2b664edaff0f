"""What callers pass beside the scores, as tensors of the framework of the scores."""

from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.tensors.losses.operations import Array, Operations
from gainful.tensors.types import check_dense, check_unmasked, holds_numbers, type_of


def numbers(ops: Operations, name: str, values: Any, like: Array) -> Array:
    """Return numbers in the floating type of `like`; anything but numbers is refused."""
    kept = _array(name, "numbers", values)
    if not holds_numbers(kept):
        raise InputError(name, "numbers", _kind(kept, values))
    check_dense(name, kept)
    return ops.floats(kept, like)


def truths(ops: Operations, name: str, values: Any, like: Array) -> Array:
    """Return booleans of the shape of `like`; numbers in their place are refused."""
    expected = f"booleans of the shape of the scores, {tuple(like.shape)}"
    kept = _array(name, expected, values)
    check_dense(name, kept)
    if type_of(kept) != "bool" or tuple(kept.shape) != tuple(like.shape):
        raise InputError(name, expected, f"{type_of(kept)} of {tuple(kept.shape)}")
    return ops.booleans(kept, like)


def _kind(kept: Any, values: Any) -> str:
    if type_of(kept) == "object":
        return type(values).__name__
    return "text" if type_of(kept).lstrip("<>|").startswith("u") else f"type {type_of(kept)}"


def _array(name: str, expected: str, values: Any) -> Any:
    check_unmasked(name, values)
    try:
        # Whatever has a type is a tensor or an array already, and may be traced.
        kept = values if hasattr(values, "dtype") else np.asarray(values)
        return _own(kept) if isinstance(kept, np.ndarray) else kept
    except (TypeError, ValueError, RuntimeError):
        raise InputError(name, expected, f"a ragged {type(values).__name__}") from None


def _own(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array as frameworks take it: of a type that they have, and in the usual layout."""
    if array.dtype.kind == "f" and array.dtype.itemsize > np.dtype(np.float64).itemsize:
        array = array.astype(np.float64)
    if array.dtype.kind in "fiu":
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    # PyTorch has no negative strides, and warns of what may not be written to.
    plain = array.flags.c_contiguous and array.flags.writeable
    return array if plain else array.copy()
