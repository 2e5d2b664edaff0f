"""The library that arrays belong to, determined in a way that `torch.compile` can trace.

array-api-compat caches its knowledge of types, and PyTorch's compiler warns of each cache, so
PyTorch tensors are recognised without it.
"""

from types import ModuleType

from array_api_compat import array_namespace, is_jax_namespace
from array_api_compat import device as device_of_array

from gainful.array_types import Array
from gainful.errors import InputError
from gainful.training.array_checks import refuse_masked
from gainful.training.imported_frameworks import imported


def namespace_of(**named: object) -> ModuleType:
    """Return the namespace of the library that all arrays belong to; a mask may be None.

    >>> import numpy as np
    >>> namespace_of(scores=np.zeros(3), mask=None).__name__
    'array_api_compat.numpy'
    """
    arrays = {name: one for name, one in named.items() if name != "mask" or one is not None}
    if all(_is_tensor(array) for array in arrays.values()):
        import array_api_compat.torch

        return array_api_compat.torch
    for name, array in arrays.items():
        _refuse_other_objects(name, array)
    try:
        return array_namespace(*arrays.values())
    except TypeError:
        raise InputError(
            ", ".join(arrays),
            "arrays of one library",
            ", ".join(f"{type(a).__module__}.{type(a).__name__}" for a in arrays.values()),
        ) from None


def is_torch(xp: ModuleType) -> bool:
    """Return whether a namespace is PyTorch's."""
    return bool(xp.__name__ == "array_api_compat.torch")


def is_jax(xp: ModuleType) -> bool:
    """Return whether a namespace is JAX's."""
    return not is_torch(xp) and bool(is_jax_namespace(xp))


def device_of(array: Array) -> object:
    """Return the device of an array."""
    return array.device if _is_tensor(array) else device_of_array(array)


def _is_tensor(array: object) -> bool:
    torch = imported("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _refuse_other_objects(name: str, array: object) -> None:
    refuse_masked(name, array)
    try:
        array_namespace(array)
    except TypeError:
        raise InputError(
            name,
            "an array of NumPy, PyTorch, JAX or CuPy",
            type(array).__name__,
            "For lists and data frames, use evaluate_arrays.",
        ) from None
