"""Checks for arrays of any library: number types, unsupported kinds of array, and padding."""

from typing import Any

import numpy as np

from gainful.arguments import number
from gainful.array_types import Array
from gainful.errors import InputError, warn
from gainful.training.gpu_support import compiling
from gainful.training.imported_frameworks import imported

FLOATS = ("bfloat16", "float16", "float32", "float64")
"""Types allowed for scores."""

_NUMBERS = ("bfloat", "float", "int", "uint", "bool")


def type_of(array: Array) -> str:
    """Return the name of an array's dtype.

    >>> import numpy as np
    >>> type_of(np.zeros(3))
    'float64'
    """
    return str(array.dtype).rpartition(".")[-1].lower()  # torch writes torch.float32


def refuse_masked(name: str, array: object) -> None:
    """Reject NumPy masked arrays, whose mask would be lost."""
    if isinstance(array, np.ma.MaskedArray):
        remedy = "Pass array.data, and mask=~array.mask."
        raise InputError(name, "an array without a mask of its own", "a masked array", remedy)


def refuse_sparse(name: str, array: object) -> None:
    """Reject nested and sparse PyTorch tensors, which don't store a number at every place."""
    kind = _sparse_kind(array)
    if kind:
        remedy = "Pad lists of different lengths and pass a mask; losses also accept offsets."
        raise InputError(name, "a dense tensor", kind, remedy)


def _sparse_kind(array: object) -> str:
    """Describe a nested or sparse tensor; the empty string for any other."""
    # JAX arrays also have a layout, but theirs describes memory.
    library, _, layout = str(getattr(array, "layout", "")).rpartition(".")
    if getattr(array, "is_nested", False) is True:
        return "a nested one"
    return f"one of layout {layout}" if library == "torch" and layout != "strided" else ""


def holds_numbers(array: object) -> bool:
    """Return whether an array holds real numbers or booleans."""
    return type_of(array).startswith(_NUMBERS)


def is_at_hand(array: Array) -> bool:
    """Return whether an array's numbers can be read now: on the host and not being traced.

    >>> import numpy as np
    >>> is_at_hand(np.zeros(3))
    True
    """
    if isinstance(array, np.ndarray):
        return True
    torch = imported("torch")
    if torch is None or type(array) is not torch.Tensor or array.device.type != "cpu":
        return False
    if compiling() or torch.jit.is_tracing():
        return False
    transformed = torch._C._are_functorch_transforms_active()  # noqa: SLF001
    return not transformed and not torch._C._len_torch_dispatch_stack()  # noqa: SLF001


def mask_for(labels: Array, mask: Array, padding: float | None, *, rows: bool = True) -> Any:
    """Return a mask of real documents: True in `mask`, and with a label other than padding.

    If neither is given, warn when the labels seem to contain unmarked padding, provided that
    they can be read without waiting for a device.

    Args:
        labels: [..., list], an array of any library, or Python lists.
        mask: an array of the same shape, or None.
        padding: the label of places without a document; None if no label marks them.
        rows: whether the last axis is a list of documents.

    >>> mask_for(np.array([[3, 0, -1]]), None, -1)
    array([[ True,  True, False]])
    """
    if padding is None:
        if mask is None and rows:
            _warn_of_padding(labels)
        return mask
    label = number(padding, "padding", "the label of padding, such as -1", lambda _: True)
    refuse_masked("labels", labels)
    refuse_sparse("labels", labels)
    labels = labels if hasattr(labels, "dtype") else np.asarray(labels)
    if _cannot_be(labels, label):
        return mask
    there = labels != label
    if mask is None:
        return there
    return there & (mask if hasattr(mask, "dtype") else np.asarray(mask))


def _cannot_be(labels: object, label: float) -> bool:
    """Return whether a dtype cannot hold a number, which a library might silently convert."""
    return type_of(labels).startswith(("uint", "bool")) and not (label >= 0 and label.is_integer())


def _warn_of_padding(labels: Array) -> None:
    """Warn if −1 appears only at the ends of rows, as padding does."""
    labels = _at_hand(labels)
    if labels is None or not holds_numbers(labels) or _cannot_be(labels, -1.0):
        return
    if labels.ndim == 0 or labels.shape[-1] <= 1 or not bool((labels[..., -1] == -1).any()):
        return
    marks = labels == -1
    before_a_grade = marks[..., :-1] & ~marks[..., 1:]
    if bool(before_a_grade.any()) or bool((labels < -1).any()) or bool(marks.all()):
        return
    warn(
        "labels: −1 appears only at the ends of rows, and there is no mask, so each −1 counts as the "
        "grade of a harmful document. If −1 marks padding, pass padding=-1. If it is a grade, pass a "
        "mask that is True everywhere."
    )


def _at_hand(labels: object) -> object:
    """Return labels as an array if their numbers can be read now; None otherwise."""
    if compiling() or _sparse_kind(labels):
        return None
    if is_at_hand(labels):
        return labels
    jax = imported("jax")
    if jax is None or not isinstance(labels, jax.Array) or isinstance(labels, jax.core.Tracer):
        return None
    platforms = {device.platform for device in labels.devices()}
    return np.asarray(labels) if platforms == {"cpu"} else None
