"""Gains from grades, elementwise: grades (n,) float64 → gains (n,) float64."""

import math

import numpy as np

from gainful.array_types import Floats


def exp2(grades: Floats) -> Floats:
    """Return 2^g − 1; infinite where a float64 cannot hold it, for the caller to refuse."""
    with np.errstate(over="ignore"):
        exact = np.exp2(grades) - 1.0  # for whole grades
        if (grades == np.rint(grades)).all():
            return exact
        return np.where(grades == np.rint(grades), exact, np.expm1(grades * math.log(2)))


def binary(grades: Floats) -> Floats:
    """Return 1 where the grade is above 0, else 0."""
    return (grades > 0).astype(np.float64)


def mapped(grades: Floats, known: Floats, values: Floats) -> Floats:
    """Return `values` at the place of each grade in `known`, which is sorted and holds them all."""
    return values[np.searchsorted(known, grades)]
