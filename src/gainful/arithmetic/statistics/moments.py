"""The mean, the standard deviation, the effect size and the skewness of a column of numbers."""

import math
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from gainful.arithmetic.statistics.argument_checks import read_values
from gainful.arithmetic.statistics.exact_sums import on_grid
from gainful.array_types import Floats

_MOST_CACHED = 5_000
_CACHE: "dict[bytes, Moments]" = {}  # by a digest of the column


@dataclass(frozen=True, slots=True)
class Moments:
    """The moments of a column of n numbers.

    Attributes:
        count: n.
        mean: the mean, summed without rounding error.
        sd: the standard deviation, √(Σ(x − mean)² / (n − 1)); 0 if all are the same except for
            rounding; None for one number.
        effect: the effect size d_z = mean/sd; None if sd is None or 0.
        skewness: m₃/m₂^1.5, mⱼ the mean of (x − mean)ʲ: 0 for symmetric numbers, positive if the
            long tail is above the mean; None without an effect.
    """

    count: int
    mean: float
    sd: float | None
    effect: float | None
    skewness: float | None = None


def moments(values: ArrayLike) -> Moments:
    """Return the moments of (n,) numbers; their order does not matter.

    >>> moments([1.0, 2.0, 3.0])
    Moments(count=3, mean=2.0, sd=1.0, effect=2.0, skewness=0.0)
    >>> moments([0.25, 0.25])
    Moments(count=2, mean=0.25, sd=0.0, effect=None, skewness=None)
    """
    return _cached(np.ascontiguousarray(read_values(values, "values", ("queries",))))


def moments_of_columns(values: ArrayLike) -> tuple[Moments, ...]:
    """Return the moments of each column of (n, c) numbers.

    >>> [column.mean for column in moments_of_columns([[1.0, 0.0], [3.0, 0.5]])]
    [2.0, 0.25]
    """
    table = read_values(values, "values", ("queries", "columns"))
    return tuple(_cached(column) for column in np.ascontiguousarray(table.T))


def _cached(column: Floats) -> Moments:
    # The test, the interval and the effect size of a comparison use the same column.
    key = blake2b(column, digest_size=16).digest()
    if key not in _CACHE:
        if len(_CACHE) >= _MOST_CACHED:
            _CACHE.clear()
        _CACHE[key] = _moments(column)
    return _CACHE[key]


def _moments(column: Floats) -> Moments:
    count = column.size
    scaled, exponent = _near_one(column)
    mean = math.fsum(scaled.tolist()) / count
    if count == 1:
        return Moments(count, math.ldexp(mean, exponent), None, None)
    if on_grid(column[:, None]).constant[0]:
        return Moments(count, math.ldexp(mean, exponent), 0.0, None)
    apart = scaled - mean
    squares = math.fsum(np.square(apart).tolist())
    sd = math.sqrt(squares / (count - 1))
    skewness = math.fsum((apart**3).tolist()) * math.sqrt(count) / squares**1.5
    return Moments(count, math.ldexp(mean, exponent), math.ldexp(sd, exponent), mean / sd, skewness)


def exact_mean(values: ArrayLike) -> float:
    """Return only the mean of (n,) numbers, the same as in their moments.

    >>> exact_mean([1.0, 2.0, 3.0])
    2.0
    """
    column = read_values(values, "values", ("queries",))
    scaled, exponent = _near_one(column)
    return math.ldexp(math.fsum(scaled.tolist()) / column.size, exponent)


def _near_one(column: Floats) -> tuple[Floats, int]:
    """Scale a column so that squares neither overflow nor vanish; also return the power of two.

    Powers of two do not change any digits.
    """
    exponent = int(np.frexp(np.abs(column).max())[1])
    return np.ldexp(column, -exponent), exponent
