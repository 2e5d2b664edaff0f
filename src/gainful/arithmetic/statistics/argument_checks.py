"""Checks of arguments to statistics: arrays with queries along the first axis, and shares."""

from numpy.typing import ArrayLike

from gainful import arguments
from gainful.arithmetic.number_arrays import as_array, as_numbers
from gainful.array_types import Floats
from gainful.errors import InputError

_LARGEST = 2.0**1000  # below it, sums of squares over queries stay far from overflow


def read_values(values: ArrayLike, name: str, axes: tuple[str, ...]) -> Floats:
    """Return finite float64 values with one axis per name, none of them empty.

    Args:
        values: an array or nested lists of numbers.
        name: the argument's name in an error.
        axes: the meaning of each axis, such as ("queries", "columns").

    >>> read_values([[1, 2], [3, 4]], "scores", ("queries", "columns")).shape
    (2, 2)
    >>> read_values([0.5, float("nan")], "differences", ("queries",))
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: differences[1]: expected a finite number, found nan.
    """
    array = as_numbers(as_array(values, name), name)
    if array.ndim != len(axes):
        shape = f"an array ({', '.join(axes)})"
        raise InputError(name, shape, f"{array.ndim} dimensions, {array.shape}")
    for axis, size in zip(axes, array.shape, strict=True):
        if not size:
            raise InputError(name, f"{axis}, at least one", "none")
    largest = max(float(array.max()), -float(array.min()))
    if largest > _LARGEST:
        raise InputError(name, f"numbers up to {_LARGEST:.0e}", f"{largest:.3g}")
    return array


def read_positive(value: object, name: str) -> float:
    """Return a finite number above 0."""
    return arguments.number(value, name, "a number above 0", lambda number: number > 0)


def read_margin(value: object, name: str) -> float:
    """Return a finite, non-negative number."""
    return arguments.number(value, name, "a non-negative number", lambda number: number >= 0)


def read_share(value: object, name: str) -> float:
    """Return a number above 0 and below 1.

    >>> read_share(95, "level")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: level: expected a number above 0 and below 1, found 95.
    """
    expected = "a number above 0 and below 1"
    return arguments.number(value, name, expected, lambda number: 0 < number < 1)
