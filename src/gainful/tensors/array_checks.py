"""The types of numbers in arrays, by the names that all libraries share, and arrays that are refused."""

from typing import Any

import numpy as np

from gainful.errors import InputError

FLOATS = ("bfloat16", "float16", "float32", "float64")
"""Types that scores may have."""

_NUMBERS = ("bfloat", "float", "int", "uint", "bool")


def type_of(array: Any) -> str:
    """Return the name of the type of an array.

    >>> import numpy as np
    >>> type_of(np.zeros(3))
    'float64'
    """
    return str(array.dtype).rpartition(".")[-1].lower()  # torch writes torch.float32


def refuse_masked(name: str, array: Any) -> None:
    """Refuse masked arrays of NumPy, whose mask would be lost."""
    if isinstance(array, np.ma.MaskedArray):
        remedy = "Give its data, and mask=~array.mask."
        raise InputError(name, "an array without a mask of its own", "a masked array", remedy)


def refuse_sparse(name: str, array: Any) -> None:
    """Refuse tensors of PyTorch that are nested or sparse: they do not have a number everywhere."""
    # Arrays of JAX have a layout, too, which is about memory.
    library, _, layout = str(getattr(array, "layout", "")).rpartition(".")
    nested = getattr(array, "is_nested", False) is True
    if nested or (library == "torch" and layout != "strided"):
        found = "a nested one" if nested else f"one of layout {layout}"
        remedy = "Lists of several lengths are padded, with a mask; losses take offsets, too."
        raise InputError(name, "a dense tensor", found, remedy)


def holds_numbers(array: Any) -> bool:
    """Return whether an array holds real numbers, or truths."""
    return type_of(array).startswith(_NUMBERS)
