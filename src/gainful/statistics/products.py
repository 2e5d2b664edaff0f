"""Weighted sums of queries over many columns: a product of matrices, in pieces.

A BLAS computes a small product on the thread that asks. A large one it would share among threads
of its own, which wait for each other and for ours; so the product is cut into small ones.
"""

import numpy as np

from gainful.array_types import Floats

PIECE = 64
"""Resamples, queries and columns of a piece, at most."""


def in_pieces(units: Floats) -> Floats:
    """Return the rows of (n, c) as (p, 64, c), filled up with zeros.

    >>> in_pieces(np.ones((65, 2))).shape
    (2, 64, 2)
    """
    queries, columns = units.shape
    pieces = -(-queries // PIECE)
    filled = np.zeros((pieces * PIECE, columns))
    filled[:queries] = units
    return filled.reshape(pieces, PIECE, columns)


def weighted_sums(weights: Floats, pieces: Floats) -> Floats:
    """Return weights (r, p·64) × units (p·64, c) as (r, c).

    Where weights and units are whole numbers and no sum of their sizes is beyond 2^53, the sums
    are exact, in whatever order a machine adds.

    Args:
        weights: (r, p·64), r up to 64.
        pieces: (p, 64, c), as `in_pieces` gives them.

    >>> weighted_sums(np.ones((1, 64)), in_pieces(np.array([[1.0], [2.0]]))).tolist()
    [[3.0]]
    """
    rows, columns = len(weights), pieces.shape[-1]
    outer = weights.reshape(rows, -1, PIECE).swapaxes(0, 1)
    sums = np.empty((rows, columns))
    for start in range(0, columns, PIECE):
        some = slice(start, start + PIECE)
        np.sum(outer @ pieces[:, :, some], axis=0, out=sums[:, some])
    return sums
