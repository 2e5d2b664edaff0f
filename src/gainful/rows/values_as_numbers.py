"""Recognise numbers of Python, NumPy and other libraries, and check that a float64 can represent them."""

import math
from numbers import Complex, Integral, Number, Real
from typing import Any

import numpy as np

from gainful.arguments import is_truth
from gainful.array_types import Floats
from gainful.errors import InputError

INEXACT = "Integers above 2^53 may become indistinguishable: scale them down."
_HUGE = 10**60


def is_exact(number: int) -> bool:
    """Return whether a float64 represents an integer exactly.

    >>> is_exact(2**53), is_exact(2**53 + 1), is_exact(10**400)
    (True, False, False)
    """
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def number_of(value: Any) -> float | None:
    """Return a number as a float64, infinite if it is too large; None if the value isn't a number.

    Booleans aren't numbers. A zero-dimensional array or tensor counts as the number in it.

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
    except (ArithmeticError, ValueError):  # a signalling NaN of Decimal
        return math.nan


def plain_number(value: Any) -> object:
    """Return the value in a zero-dimensional array or tensor; return anything else unchanged.

    `item()` also works for tensors that require gradients or whose type NumPy lacks.

    >>> plain_number(np.array(3)), plain_number("3")
    (3, '3')
    """
    if _dimensions(value) != 0:
        return value
    try:
        found = value.item()
    except Exception:  # noqa: BLE001 - tensors without data raise errors of their library
        return value
    # Guards against endless recursion if an item is again such an array.
    return value if _dimensions(found) == 0 else found


def is_array(value: object) -> bool:
    """Return whether a value is an array or tensor with dimensions, and so isn't a number.

    >>> is_array(np.array([0.5])), is_array(np.array(0.5)), is_array(0.5)
    (True, False, False)
    """
    return (_dimensions(value) or 0) > 0


def _dimensions(value: object) -> int | None:
    """Return a value's number of dimensions; None if it is neither an array nor a tensor."""
    count = getattr(value, "ndim", None)
    return count if isinstance(count, int) and not isinstance(value, np.generic) else None


def is_held(value: Any) -> bool:
    """Return whether a float64 can hold a finite number; fractions may be rounded, integers may not.

    A `Decimal` is an integer if it has neither a point nor an exponent.

    >>> is_held(np.int64(2**53 + 1)), is_held(2**53), is_held(0.1)
    (False, True, True)
    >>> from decimal import Decimal
    >>> is_held(Decimal(2**53 + 1)), is_held(Decimal("1e23"))
    (False, True)
    """
    value = plain_number(value)
    whole = isinstance(value, Integral) or (
        _is_decimal(value) and value.as_tuple().exponent == 0  # the exponent is text if not finite
    )
    return not whole or is_exact(int(value))


def _is_decimal(value: object) -> bool:
    # Decimal is a Number but not Complex; importing it for isinstance would take time.
    return isinstance(value, Number) and not isinstance(value, Complex)


def written_integer(number: int) -> str:
    """Return an integer of any size as text for a message."""
    return str(number) if abs(number) < _HUGE else "a huge integer"


BEYOND_SINGLE = 2.0**128 - 2.0**103  # from here on, float32 rounds to infinity

# SQL that rounds the column `number` to float32, infinite if it is too large. DuckDB would push a
# plain cast into the reader, which would then round the text itself instead of its float64.
IN_SINGLE = "coalesce(CAST(TRY_CAST(number AS FLOAT) AS DOUBLE), number * CAST('inf' AS DOUBLE))"


def in_single(numbers: Floats) -> Floats:
    """Return numbers (n,) rounded to float32; infinite if they are too large.

    >>> in_single(np.array([0.5, 0.500000001, 1e39])).tolist()
    [0.5, 0.5, inf]
    """
    with np.errstate(over="ignore", under="ignore"):
        return numbers.astype(np.float32).astype(np.float64)


def beyond_single(where: str, score: float) -> InputError:
    """Return the error for a score that a float32 cannot hold."""
    return InputError(
        where,
        "a score that a float32 can hold",
        repr(float(score)),
        "Scale the scores down, or set the policy precision to double.",
        choice="precision=single",
    )
