"""What holds of arrays of any library: the types of their numbers, arrays that are refused, and what is padding."""

from typing import Any

import numpy as np

from gainful.arguments import number
from gainful.errors import InputError, warn
from gainful.tensors.gpu_support import compiling
from gainful.tensors.imported_frameworks import imported

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
    found = _sparse_kind(array)
    if found:
        remedy = "Lists of several lengths are padded, with a mask; losses take offsets, too."
        raise InputError(name, "a dense tensor", found, remedy)


def _sparse_kind(array: Any) -> str:
    """Return what a tensor is that is nested or sparse; empty for others."""
    # Arrays of JAX have a layout, too, which is about memory.
    library, _, layout = str(getattr(array, "layout", "")).rpartition(".")
    if getattr(array, "is_nested", False) is True:
        return "a nested one"
    return f"one of layout {layout}" if library == "torch" and layout != "strided" else ""


def holds_numbers(array: Any) -> bool:
    """Return whether an array holds real numbers, or truths."""
    return type_of(array).startswith(_NUMBERS)


def is_at_hand(array: Any) -> bool:
    """Return whether the numbers of an array can be looked at: on the host, and of no tracer.

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


def mask_for(labels: Any, mask: Any, padding: float | None, *, rows: bool = True) -> Any:
    """Return where there are documents: where the mask says so, and the label is not the one of padding.

    Without both, labels whose padding looks unmarked are warned of, where they can be looked at
    without waiting for a device.

    Args:
        labels: [..., list] of any library, or lists.
        mask: of the same shape, or None.
        padding: the label of places without a document; None where no label marks them.
        rows: the last axis is that of lists.

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


def _cannot_be(labels: Any, label: float) -> bool:
    """Return whether a type of labels has no such number, where a library may take it for another."""
    return type_of(labels).startswith(("uint", "bool")) and not (label >= 0 and label.is_integer())


def _warn_of_padding(labels: Any) -> None:
    """Warn of −1 that stands at the ends of rows alone, as padding does."""
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


def _at_hand(labels: Any) -> Any:
    """Return labels whose numbers can be looked at; None for others."""
    if compiling() or _sparse_kind(labels):
        return None
    if is_at_hand(labels):
        return labels
    jax = imported("jax")
    if jax is None or not isinstance(labels, jax.Array) or isinstance(labels, jax.core.Tracer):
        return None
    return np.asarray(labels) if {each.platform for each in labels.devices()} == {"cpu"} else None
