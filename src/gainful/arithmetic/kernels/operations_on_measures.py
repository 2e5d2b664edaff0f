"""Functions for formulas of measures, on values (q,) or numbers."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from gainful.array_types import Floats


def harmonic_mean(*values: Any) -> Floats:
    """Return n / Σ 1/v: 0 where a value is 0, NaN where one is negative.

    >>> harmonic_mean(np.array([1.0, 0.0]), 0.5).round(3).tolist()
    [0.667, 0.0]
    """
    stacked = np.stack(np.broadcast_arrays(*values)).astype(np.float64)
    with np.errstate(divide="ignore"):
        mean = len(values) / (1 / stacked).sum(axis=0)
    defined: Floats = np.where((stacked < 0).any(axis=0), np.nan, mean)
    return np.where((stacked == 0).any(axis=0), 0.0, defined)


OPERATIONS: dict[str, Callable[..., object]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "negative": np.negative,
    "min": lambda *values: reduce(np.minimum, values),
    "max": lambda *values: reduce(np.maximum, values),
    "hmean": harmonic_mean,
}
