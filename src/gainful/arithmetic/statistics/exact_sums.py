"""Values as multiples of a small unit, so that all their sums are exact.

A float64 represents whole numbers up to 2^53 exactly. Values rounded to multiples of a suitable
unit can be summed in any order and in any blocks without rounding errors, so results do not depend
on the machine. Also, differences that are equal except for the rounding of their scores, such as
0.3 − 0.2 and 0.8 − 0.7, become equal, which ranks and ties require.
"""

from dataclasses import dataclass

import numpy as np

from gainful.array_types import Bools, Floats, Ints

_FINEST = 40  # bits of the largest value: fewer than a score has, so its rounding error goes
_EXACT = 52  # bits of the largest sum; the difference of two sums needs one more


@dataclass(frozen=True, slots=True)
class Grid:
    """Values in units of 2^exponent.

    Attributes:
        units: (n, ..., c) whole numbers.
        exponent: (c,) the exponent of two for each column.
    """

    units: Floats
    exponent: Ints

    @property
    def slack(self) -> float:
        """The largest distance, in units, of two sums that were equal before rounding.

        Each of the n values is off by at most half a unit, so each sum by at most n/2.
        """
        return float(len(self.units))

    @property
    def constant(self) -> Bools:
        """(c,) whether all values of a column are the same except for rounding."""
        axes = tuple(range(self.units.ndim - 1))
        same: Bools = np.ptp(self.units, axis=axes) <= 1
        return same

    def back(self, units: Floats) -> Floats:
        """Return (..., c) in units as plain numbers."""
        numbers: Floats = np.ldexp(units, self.exponent)
        return numbers


def on_grid(values: Floats) -> Grid:
    """Round values (n, ..., c) to a grid for each column, the last axis.

    The unit is 2^−40 of the largest value, or coarser, so that n of the largest stay within 2^52.

    >>> grid = on_grid(np.array([[0.3 - 0.2], [0.8 - 0.7], [-0.5]]))
    >>> bool(grid.units[0, 0] == grid.units[1, 0]), grid.units.sum(axis=0).tolist()
    (True, [-329853488332.0])
    """
    axes = tuple(range(values.ndim - 1))
    bits = min(_FINEST, _EXACT - (len(values) - 1).bit_length())
    exponent = np.frexp(np.abs(values).max(axis=axes))[1].astype(np.int64) - bits
    return Grid(np.rint(np.ldexp(values, -exponent)), exponent)
