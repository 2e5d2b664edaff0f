"""Which library arrays are of, found out in a way that `torch.compile` can follow.

array-api-compat remembers what it knows of types in caches, and PyTorch's compiler warns of each of
them: so its own tensors are recognised without.
"""

import sys
from typing import Any

from array_api_compat import array_namespace, is_jax_namespace
from array_api_compat import device as device_of_array

from gainful.errors import InputError
from gainful.tensors.number_types import refuse_masked


def namespace_of(**given: Any) -> Any:
    """Return the functions of the one library that arrays are of; a mask may be None.

    >>> import numpy as np
    >>> namespace_of(scores=np.zeros(3), mask=None).__name__
    'array_api_compat.numpy'
    """
    arrays = {name: one for name, one in given.items() if name != "mask" or one is not None}
    if all(_is_tensor(array) for array in arrays.values()):
        import array_api_compat.torch

        return array_api_compat.torch
    for name, array in arrays.items():
        _check_array(name, array)
    try:
        return array_namespace(*arrays.values())
    except TypeError:
        raise InputError(
            ", ".join(arrays),
            "arrays of one library",
            ", ".join(f"{type(a).__module__}.{type(a).__name__}" for a in arrays.values()),
        ) from None


def is_torch(xp: Any) -> bool:
    """Return whether functions are PyTorch's."""
    return bool(xp.__name__ == "array_api_compat.torch")


def is_jax(xp: Any) -> bool:
    """Return whether functions are JAX's."""
    return not is_torch(xp) and bool(is_jax_namespace(xp))


def device_of(array: Any) -> Any:
    """Return where an array is."""
    return array.device if _is_tensor(array) else device_of_array(array)


def _is_tensor(array: Any) -> bool:
    torch = sys.modules.get("torch")  # whoever has a tensor has imported it
    return torch is not None and isinstance(array, torch.Tensor)


def _check_array(name: str, array: Any) -> None:
    refuse_masked(name, array)
    try:
        array_namespace(array)
    except TypeError:
        raise InputError(
            name,
            "an array of NumPy, PyTorch, JAX or CuPy",
            type(array).__name__,
            "For lists and data frames there is evaluate_arrays.",
        ) from None
