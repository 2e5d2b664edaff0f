"""Sums under flipped signs: all of them where there are few queries, else a random sample.

Under the null hypothesis of a paired comparison, each difference is as likely to have the other
sign. One random byte holds the signs of eight queries.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.statistics.draws import Draws, Purpose
from gainful.statistics.grid import Grid
from gainful.statistics.products import PIECE, in_pieces, weighted_sums

Reduced = TypeVar("Reduced")

_BLOCK = 8 * PIECE  # resamples
_AT_ONCE = 32  # pieces of queries, whose signs take a megabyte

# (256, 8): the signs that the bits of each byte stand for.
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)


def count_all(units: Floats, slack: float) -> int:
    """Return how many of the 2^m ways to flip (m,) have a sum as far from 0 as it is unflipped.

    Args:
        units: (m,) on a grid, none of them 0.
        slack: how far apart sums count as equal.

    >>> count_all(np.array([1.0, 2.0, 3.0]), 0.0)
    2
    """
    sums = units[:1]
    for unit in units[1:]:
        sums = np.concatenate((sums + unit, sums - unit))
    # The first keeps its sign: flipping all of them changes no distance.
    return 2 * int(np.count_nonzero(np.abs(sums) >= np.abs(units.sum()) - slack))


def count_random(grid: Grid, draws: Draws) -> Ints:
    """Return (c,) how many random flips have a sum as far from 0 as it is unflipped.

    All columns are flipped alike, and a column's flips do not depend on the others.

    Args:
        grid: of (n, c) differences.
        draws: how many flips, and their seed.

    >>> from gainful.statistics.grid import on_grid
    >>> grid = on_grid(np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.0], [1.0, 0.0]]))
    >>> (count_random(grid, Draws(resamples=8000)) / 8000).round(1).tolist()
    [0.1, 1.0]
    """
    least = np.abs(grid.units.sum(axis=0)) - grid.slack

    def reached(sums: Floats) -> Ints:
        counts: Ints = np.count_nonzero(np.abs(sums) >= least, axis=0)
        return counts

    total: Ints = np.sum(in_random_flips(grid.units, draws, reached), axis=0)
    return total


def all_signs(count: int) -> Floats:
    """Return (2^m, m), every way to give m numbers a sign.

    >>> all_signs(2).tolist()
    [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]
    """
    bits = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
    return 1.0 - 2.0 * bits.astype(np.float64)


def in_random_flips(
    units: Floats, draws: Draws, reduce: Callable[[Floats], Reduced]
) -> list[Reduced]:
    """Return what is made of the sums (r, c) under random flips of (n, c), block by block.

    Args:
        units: (n, c) on a grid, so that the sums are exact.
        draws: how many flips, and their seed.
        reduce: takes the sums of a block; may run on another thread.
    """
    pieces = in_pieces(units)
    columns = units.shape[1]

    def work(generator: np.random.Generator, count: int) -> Reduced:
        sums = np.zeros((count, columns))
        # One array for all signs: to get it anew from the system would take longer than to fill it.
        spare = np.empty(PIECE * _AT_ONCE * PIECE)
        for first in range(0, count, PIECE):
            some = sums[first : first + PIECE]
            for start in range(0, len(pieces), _AT_ONCE):
                inner = pieces[start : start + _AT_ONCE]
                # 64 bits for the 64 queries of each piece.
                bits = generator.integers(0, 1 << 64, (len(some), len(inner)), np.uint64)
                signs = spare[: bits.size * PIECE].reshape(len(some), -1, _SIGNS.shape[1])
                # A mode other than "raise" writes to `out` without a copy between.
                np.take(_SIGNS, bits.view(np.uint8), axis=0, out=signs, mode="clip")
                some += weighted_sums(signs.reshape(len(some), -1), inner)
        return reduce(sums)

    return draws.in_blocks(Purpose.FLIPS, _BLOCK, work)
