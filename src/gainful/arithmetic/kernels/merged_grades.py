"""Several grades of an item as one: mean, median, majority, the highest, the lowest.

`grades` (n, a) has a row for each item and a column for each assessor, with NaN for missing grades;
every row has a grade. `weights` (a,) are above 0. Ties (two grades in the middle, or equally
frequent ones) are resolved by one of `TIES`.
"""

import math
from collections.abc import Mapping

import numpy as np

from gainful.array_types import Bools, Floats

_ROUNDED = 1e-9  # of all weights: sums that differ by less differ only by rounding
_EXACT = 2.0**53  # whole numbers up to here are exact
_LARGE = 1e300  # beyond, a sum may be infinite

TIES: Mapping[str, str] = {
    "lowest": "the lowest of them",
    "highest": "the highest of them",
    "mean": "their mean",
    "first": "the grade of the first assessor (in the order of assessors) who gave one of them",
}
"""The rules for tied grades, by name."""


def mean(grades: Floats, weights: Floats) -> Floats:
    """Return the weighted mean (n,) of each row; sums are exact before the division.

    >>> mean(np.array([[2.0, 1.0, np.nan], [0.0, 1.0, 1.0]]), np.array([1.0, 3.0, 1.0])).tolist()
    [1.25, 0.8]
    """
    shrink = _shrinking(grades)
    there = ~np.isnan(grades)
    products = np.where(there, grades * shrink * weights, 0.0)
    return _sums(products) / _sums(np.where(there, weights, 0.0)) / shrink


def _sums(terms: Floats) -> Floats:
    """Return the sum (n,) of each row, rounded once."""
    if (np.abs(terms) < _EXACT / terms.shape[1]).all() and (terms == np.rint(terms)).all():
        whole: Floats = terms.sum(axis=1)  # of whole numbers, and so exact
        return whole
    return np.array([math.fsum(row) for row in terms.tolist()], np.float64)


def median(grades: Floats, weights: Floats, ties: str) -> Floats:
    """Return the grade (n,) with half of the weight at or below it, and half at or above.

    If two grades qualify, `ties` decides.

    >>> median(np.array([[2.0, 1.0, 5.0], [0.0, 1.0, np.nan]]), np.ones(3), "mean").tolist()
    [2.0, 0.5]
    """
    order = np.argsort(grades, axis=1, kind="stable")  # NaN last
    ascending = np.take_along_axis(grades, order, axis=1)
    there = ~np.isnan(ascending)
    below = np.cumsum(np.where(there, weights[order], 0.0), axis=1)
    total = below[:, -1:]
    slack = _ROUNDED * total
    low = np.argmax(below >= total / 2 - slack, axis=1)
    high = np.argmax(below > total / 2 + slack, axis=1)
    rows = np.arange(len(grades))
    ends = np.stack((ascending[rows, low], ascending[rows, high]), axis=1)
    return settled(ends, np.ones(ends.shape, np.bool_), grades, ties)


def majority(grades: Floats, weights: Floats, ties: str) -> Floats:
    """Return the grade (n,) that has the most weight; `ties` decides among several.

    >>> majority(np.array([[2.0, 1.0, 1.0], [0.0, 3.0, np.nan]]), np.ones(3), "highest").tolist()
    [1.0, 3.0]
    """
    votes = np.zeros(grades.shape)
    for place, weight in enumerate(weights.tolist()):
        votes += weight * (grades == grades[:, place : place + 1])  # NaN equals nothing
    most = votes.max(axis=1, keepdims=True)
    tied = votes >= most - _ROUNDED * float(weights.sum())
    tied &= ~np.isnan(grades)
    return settled(grades, tied, grades, ties)


def highest(grades: Floats) -> Floats:
    """Return the highest grade (n,) of each row."""
    grade: Floats = np.nanmax(grades, axis=1)
    return grade


def lowest(grades: Floats) -> Floats:
    """Return the lowest grade (n,) of each row."""
    grade: Floats = np.nanmin(grades, axis=1)
    return grade


def settled(values: Floats, tied: Bools, grades: Floats, ties: str) -> Floats:
    """Return one of the tied values in each row (n, k), chosen by `ties`.

    Args:
        values: (n, k).
        tied: (n, k) marks the tied values, at least one in each row.
        grades: (n, a) that assessors gave, for the rule `first`.
        ties: one of `TIES`.
    """
    low: Floats = np.where(tied, values, np.inf).min(axis=1)
    high: Floats = np.where(tied, values, -np.inf).max(axis=1)
    if ties == "lowest":
        return low
    if ties == "highest":
        return high
    chosen: Floats = low.copy()
    choose = _mean_of if ties == "mean" else _first_of
    for row in np.flatnonzero(low != high).tolist():
        chosen[row] = choose(values[row, tied[row]], grades[row])
    return chosen


def _mean_of(tied: Floats, _: Floats) -> float:
    shrink = _shrinking(tied)
    different = {grade * shrink for grade in tied.tolist()}
    return math.fsum(different) / len(different) / shrink


def _first_of(tied: Floats, row: Floats) -> float:
    among = {*tied.tolist()}
    # A probable grade may be one that no assessor gave.
    first: float = next((grade for grade in row.tolist() if grade in among), min(among))
    return first


def _shrinking(grades: Floats) -> float:
    """Return a power of two that scales grades so that sums don't overflow; usually 1."""
    largest = float(np.nanmax(np.abs(grades), initial=0.0))
    return 1.0 if largest < _LARGE else 2.0**-64
