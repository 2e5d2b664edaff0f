"""Callers' numbers as NumPy arrays; numbers that a float64 cannot represent are rejected."""

from collections.abc import Sequence
from numbers import Number

import numpy as np
from numpy.typing import ArrayLike

from gainful.array_types import AnyArray, Bools, Floats
from gainful.errors import InputError
from gainful.message_texts import shown

Numbers = AnyArray  # floats, integers or booleans

LARGEST_EXACT = 2**53
_EXACT = "integers that a float64 represents exactly, up to 2^53"
_FLAT = "Flatten lists of different lengths, and pass their sizes as group= or ids as query=."


def as_array(value: ArrayLike, name: str) -> AnyArray:
    """Return the argument as a NumPy array, or explain why it cannot be one."""
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(
            name,
            "a plain array",
            "a masked array",
            "Pass array.data, and mask=~array.mask.",
        )
    if getattr(value, "requires_grad", False):  # a tensor in training; measures need no gradient
        value = value.detach()  # type: ignore[union-attr]
    try:
        array: AnyArray = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as problem:
        # NumPy and tensor libraries explain in their own words why they cannot convert it.
        reason = str(problem).splitlines()[0].rstrip(".")
        raise InputError(
            name,
            "an array of numbers",
            f"{type(value).__name__} ({reason})",
            _FLAT if isinstance(value, Sequence) else "",
        ) from None
    return array


def as_numbers(array: AnyArray, name: str) -> Floats:
    """Return finite float64."""
    return checked_numbers(array, name).astype(np.float64, copy=False)


def checked_numbers(array: AnyArray, name: str, valid: Bools | None = None) -> Numbers:
    """Reject numbers that a float64 cannot represent; NaN is allowed only in padding.

    The numbers keep their dtype: large arrays are converted later, in parts.
    """
    if array.dtype.kind not in "fiub":
        raise _no_numbers(array, name)
    if array.dtype.kind == "f":
        _refuse_infinite(array, name, valid)
    elif array.dtype.kind in "iu" and array.size:
        largest = max(-int(array.min()), int(array.max()))
        if largest > LARGEST_EXACT:
            raise InputError(name, _EXACT, str(largest))
    return array


def _no_numbers(array: AnyArray, name: str) -> InputError:
    """Return an error for an array that does not contain numbers, with an example."""
    items = array.ravel().tolist()
    odd = [item for item in items if not isinstance(item, Number)]
    # NumPy turns integers that don't fit its own types into objects.
    large = [item for item in items if isinstance(item, int) and abs(item) > LARGEST_EXACT]
    if large and not odd:
        return InputError(name, _EXACT, shown(large[0]))
    example = f", such as {shown((odd or items)[0])}" if items else ""
    remedy = "Convert them to numbers first." if odd else "Convert the array with astype(float)."
    return InputError(name, "numbers", f"an array of {array.dtype}{example}", remedy)


def _refuse_infinite(array: AnyArray, name: str, valid: Bools | None) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):  # any value that is not finite makes the sum so
            return
    finite = np.isfinite(array)
    if valid is not None:
        finite |= ~valid
    if not finite.all():
        place = tuple(int(index) for index in np.argwhere(~finite)[0])
        where = ", ".join(map(str, place))
        raise InputError(f"{name}[{where}]", "a finite number", str(array[place]))
