"""Discounts as tables by rank: entry i is the discount of rank i, entry 0 is 0 and unused."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def by_form(form: str, depth: int, *, base: float, exponent: float | None) -> Floats:
    """Return the table of a discount by the name of its form.

    >>> by_form("reciprocal", 3, base=2.0, exponent=None).round(3).tolist()
    [0.0, 1.0, 0.5, 0.333]
    """
    match form:
        case "log":
            return log(depth, base)
        case "jarvelin":
            return jarvelin(depth, base)
        case "reciprocal":
            return reciprocal(depth)
        case "power":
            return power(depth, exponent or 0.0)
        case _:
            return none(depth)


def log(depth: int, base: float) -> Floats:
    """Return 1/log_b(i+1) for i = 1..depth."""
    return _table(1.0 / _logarithm(_ranks(depth) + 1.0, base))


def jarvelin(depth: int, base: float) -> Floats:
    """Return 1 for i ≤ b and for i = 1, else 1/log_b(i)."""
    # log_b(i) ≤ 1 exactly where i ≤ b; there it would raise the gain instead of discounting it.
    return _table(1.0 / np.maximum(_logarithm(_ranks(depth), base), 1.0))


def reciprocal(depth: int) -> Floats:
    """Return 1/i."""
    return _table(1.0 / _ranks(depth))


def power(depth: int, exponent: float) -> Floats:
    """Return i^−p."""
    return _table(_ranks(depth) ** -exponent)


def none(depth: int) -> Floats:
    """Return 1."""
    return _table(np.ones(depth))


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
