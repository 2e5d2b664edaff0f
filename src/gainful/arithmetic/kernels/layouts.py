"""Results in rows: the row and the column of each rank."""

from collections.abc import Sequence

import numpy as np

from gainful.array_types import Floats, Ints


def rows_and_columns(lengths: Sequence[int], depth: int, *, goes_on: bool) -> tuple[Ints, Ints]:
    """Return the row and the column (depth+1,) of each rank, from 1; 0 below the end of the page, and for entry 0.

    Args:
        lengths: the number of results in each row.
        depth: the last rank.
        goes_on: whether all further rows are as long as the last one.

    >>> [array.tolist() for array in rows_and_columns([2, 3], 6, goes_on=False)]
    [[0, 1, 1, 2, 2, 2, 0], [0, 1, 2, 1, 2, 3, 0]]
    """
    ends, last = np.cumsum(lengths), lengths[-1]
    ranks = np.arange(1, depth + 1)
    row = np.searchsorted(ends, ranks) + 1
    below = np.maximum(ranks - ends[-1] - 1, 0) // last  # whole rows below the listed ones
    row = np.where(ranks > ends[-1], row + below, row)
    begins = np.concatenate(([0], ends))[np.minimum(row, ends.size) - 1]
    begins = np.where(ranks > ends[-1], ends[-1] + below * last, begins)
    shown = np.ones(depth, np.bool_) if goes_on else ranks <= ends[-1]
    rows, columns = np.zeros(depth + 1, np.int64), np.zeros(depth + 1, np.int64)
    rows[1:], columns[1:] = np.where(shown, row, 0), np.where(shown, ranks - begins, 0)
    return rows, columns


def weights_of_positions(rows: Ints, columns: Ints, by_row: Floats, by_column: Floats) -> Floats:
    """Return the product of two discounts for each rank (depth+1,); 0 outside the page.

    Args:
        rows: (depth+1,) from 1; 0 outside the page.
        columns: (depth+1,) of the same ranks.
        by_row: the discount of each row, whose entry 0 is 0.
        by_column: the discount of each column, whose entry 0 is 0.
    """
    return by_row[rows] * by_column[columns]


def by_attention(weights: Floats) -> Ints:
    """Return the ranks in the order of their weights (depth+1,), the highest first; equal weights by rank.

    >>> by_attention(np.array([0.0, 1.0, 0.3, 0.6])).tolist()
    [1, 3, 2]
    """
    ranks: Ints = np.argsort(-weights[1:], kind="stable") + 1
    return ranks
