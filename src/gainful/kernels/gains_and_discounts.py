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
    """Return 2^g − 1; infinite where a float64 cannot hold it, for the caller to refuse."""
    with np.errstate(over="ignore"):
        exact = np.exp2(grades) - 1.0  # for whole grades
        if (grades == np.rint(grades)).all():
            return exact
        return np.where(grades == np.rint(grades), exact, np.expm1(grades * math.log(2)))


def binary_gains(grades: Floats) -> Floats:
    """Return 1 where the grade is above 0, else 0."""
    return (grades > 0).astype(np.float64)


def mapped_gains(grades: Floats, known: Floats, values: Floats) -> Floats:
    """Return `values` at the place of each grade in `known`, which is sorted and holds them all."""
    return values[np.searchsorted(known, grades)]


@dataclass(frozen=True, slots=True)
class NumpyArithmetic:
    """What a formula of a discount may use besides operators."""

    base: float
    exponent: float

    def inverse_log(self, numbers: Floats) -> Floats:
        """Return 1/log_b of numbers above 1."""
        inverse: Floats = 1.0 / _logarithm(numbers, self.base)
        return inverse

    def where(self, condition: Bools, yes: float, no: Floats | float) -> Floats:
        """Return `yes` where the condition holds, else `no`."""
        return np.where(condition, yes, no)

    def entries(self, table: Sequence[float], deeper: float, rank: Floats) -> Floats:
        """Return the entry of each whole rank in a table that begins at rank 1, or what is deeper."""
        known = np.array([*table, deeper])
        found: Floats = known[np.minimum(rank.astype(np.int64), known.size) - 1]
        return found

    def checked(self, worth: Any, where: str) -> Floats:
        """Return what ranks are worth, or refuse what is negative, endless or rises with the rank."""
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
                "A deeper rank is worth no more than one above it: the ideal and the bounds rest on that.",
            )
        return numbers


def discount_table(
    formula: Callable[[Any, Any], Any], depth: int, *, base: float, exponent: float | None
) -> Floats:
    """Return the table of a discount.

    Args:
        formula: takes ranks (depth,) from 1 and a `NumpyArithmetic`, returns what each is worth.
        depth: the last rank.
        base: of the logarithm.
        exponent: of a discount that has one.

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
