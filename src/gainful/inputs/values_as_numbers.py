"""Which values of Python and other libraries are numbers, and whether a float64 holds them."""

import math
from numbers import Complex, Integral, Number, Real
from typing import Any

import numpy as np

from gainful.arguments import is_truth

INEXACT = "Integers above 2^53 may not be told apart: scale them down."
_HUGE = 10**60


def is_exact(number: int) -> bool:
    """Return whether a float64 holds an integer exactly.

    >>> is_exact(2**53), is_exact(2**53 + 1), is_exact(10**400)
    (True, False, False)
    """
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def number_of(value: Any) -> float | None:
    """Return a number of Python, of NumPy or a `Decimal` as a float64; None where the value is none of them.

    It is infinite where a float64 holds none so large. True and False are no numbers; an array or a
    tensor without dimensions is the number in it.

    >>> number_of(np.float32(0.5)), number_of(10**400), number_of("3"), number_of(True)
    (0.5, inf, None, None)
    >>> number_of(np.array(0.5)), number_of(np.array([0.5]))
    (0.5, None)
    """
    if is_truth(value) or not (isinstance(value, Real) or _is_decimal(value)):
        plain = plain_number(value)
        return None if plain is value else number_of(plain)
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (ArithmeticError, ValueError):  # a Decimal that is a signal
        return math.nan


def plain_number(value: Any) -> Any:
    """Return what an array or a tensor without dimensions holds; anything else as it is.

    A tensor in training, or of a type that NumPy lacks, has no other way to a number.

    >>> plain_number(np.array(3)), plain_number("3")
    (3, '3')
    """
    if _dimensions(value) != 0:
        return value
    try:
        found = value.item()
    except Exception:  # noqa: BLE001 - one without data, or whatever else a library says
        return value
    # What holds itself would be asked again and again.
    return value if _dimensions(found) == 0 else found


def is_array(value: Any) -> bool:
    """Return whether a value has dimensions, as an array or a tensor has, and so is no number.

    >>> is_array(np.array([0.5])), is_array(np.array(0.5)), is_array(0.5)
    (True, False, False)
    """
    return (_dimensions(value) or 0) > 0


def _dimensions(value: Any) -> int | None:
    """Return how many dimensions a value has; None where it is neither an array nor a tensor."""
    count = getattr(value, "ndim", None)
    return count if isinstance(count, int) and not isinstance(value, np.generic) else None


def is_held(value: Any) -> bool:
    """Return whether a float64 holds a finite number: a fraction is rounded, and an integer must be exact.

    A `Decimal` is an integer where it has neither a point nor an exponent.

    >>> is_held(np.int64(2**53 + 1)), is_held(2**53), is_held(0.1)
    (False, True, True)
    >>> from decimal import Decimal
    >>> is_held(Decimal(2**53 + 1)), is_held(Decimal("1e23"))
    (False, True)
    """
    value = plain_number(value)
    whole = isinstance(value, Integral) or (
        _is_decimal(value) and value.as_tuple().exponent == 0  # a word where it is not finite
    )
    return not whole or is_exact(int(value))


def _is_decimal(value: Any) -> bool:
    # A Decimal is a number, and neither real nor complex; to import its type takes time.
    return isinstance(value, Number) and not isinstance(value, Complex)


def written_integer(number: int) -> str:
    """Write an integer of any size for a message."""
    return str(number) if abs(number) < _HUGE else "a huge integer"
