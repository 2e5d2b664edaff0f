"""Gains and discounts.

Gains are elementwise: grades (n,) float64 → gains (n,) float64. Discounts are tables by rank: entry i
is the discount of rank i, entry 0 is 0 and unused.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.array_types import Bools, Floats
from gainful.errors import InputError


def exp2_gains(grades: Floats) -> Floats:
    """Return 2^g − 1; infinite if it overflows a float64, for the caller to reject."""
    with np.errstate(over="ignore"):
        exact = np.exp2(grades) - 1.0  # for whole grades
        if (grades == np.rint(grades)).all():
            return exact
        return np.where(grades == np.rint(grades), exact, np.expm1(grades * math.log(2)))


def binary_gains(grades: Floats) -> Floats:
    """Return 1 if the grade is above 0, otherwise 0."""
    return (grades > 0).astype(np.float64)


def mapped_gains(grades: Floats, levels: Floats, values: Floats) -> Floats:
    """Return `values` at the place of each grade in `levels`, which is sorted and holds them all."""
    return values[np.searchsorted(levels, grades)]


@dataclass(frozen=True, slots=True)
class NumpyArithmetic:
    """The functions that a discount formula may use besides operators."""

    base: float
    exponent: float

    def inverse_log(self, numbers: Floats) -> Floats:
        """Return 1/log_b of numbers above 1."""
        inverse: Floats = 1.0 / _logarithm(numbers, self.base)
        return inverse

    def where(self, condition: Bools, yes: float, no: Floats | float) -> Floats:
        """Return `yes` where the condition holds, otherwise `no`."""
        return np.where(condition, yes, no)

    def entries(self, table: Sequence[float], deeper: float, rank: Floats) -> Floats:
        """Return the table entry of each whole rank, from rank 1, or the value for deeper ranks."""
        worths = np.array([*table, deeper])
        values: Floats = worths[np.minimum(rank.astype(np.int64), worths.size) - 1]
        return values

    def checked(self, worth: Any, where: str) -> Floats:
        """Return discounts; reject them if negative, infinite or rising with the rank."""
        numbers = np.asarray(worth, np.float64)
        wrong = ~(np.isfinite(numbers) & (numbers >= 0))
        wrong[1:] |= numbers[1:] > numbers[:-1]
        if wrong.any():
            rank = int(np.flatnonzero(wrong)[0])
            raise InputError(
                where,
                "finite numbers from 0 that never rise with the rank",
                f"{numbers[rank]:g} at rank {rank + 1}"
                + (f", after {numbers[rank - 1]:g}" if rank else ""),
                "A deeper rank must not be worth more than one above it: the ideal and the bounds "
                "depend on that.",
            )
        return numbers


def discount_table(
    formula: Callable[[Any, Any], Any], depth: int, *, base: float, exponent: float | None
) -> Floats:
    """Return the table of a discount.

    Args:
        formula: a function of ranks (depth,) from 1 and a `NumpyArithmetic` that returns discounts.
        depth: the last rank.
        base: the base of the logarithm.
        exponent: the exponent of a discount that has one.

    >>> discount_table(lambda rank, _: 1 / rank, 3, base=2.0, exponent=None).round(3).tolist()
    [0.0, 1.0, 0.5, 0.333]
    """
    return _table(formula(_ranks(depth), NumpyArithmetic(base, exponent or 0.0)))


def log_discounts(depth: int, base: float) -> Floats:
    """Return 1/log_b(i+1) for i = 1..depth."""
    return _table(1.0 / _logarithm(_ranks(depth) + 1.0, base))


def reciprocal_discounts(depth: int) -> Floats:
    """Return 1/i."""
    return _table(1.0 / _ranks(depth))


def _ranks(depth: int) -> Floats:
    return np.arange(1, depth + 1, dtype=np.float64)


def _logarithm(values: Floats, base: float) -> Floats:
    # The dedicated functions are exact at powers of their base.
    if base == 2:
        return np.log2(values)
    if base == 10:
        return np.log10(values)
    return np.log(values) / math.log(base)


def _table(discounts: Floats) -> Floats:
    return np.concatenate(([0.0], discounts))
