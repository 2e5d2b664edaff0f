"""Scores in single precision: rounded to float32, and held as float64 again."""

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError

BEYOND_SINGLE = 2.0**128 - 2.0**103  # from here on, a number is rounded to infinity

# SQL of the column `number` rounded, infinite where a float32 cannot hold it. A bare cast would
# become one of the reader, which then rounds the text itself, not its float64.
IN_SINGLE = "coalesce(CAST(TRY_CAST(number AS FLOAT) AS DOUBLE), number * CAST('inf' AS DOUBLE))"


def in_single(numbers: Floats) -> Floats:
    """Return numbers (n,) rounded to float32; infinite where it cannot hold them.

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
