"""Orders of tied documents that depend on their gain."""

import numpy as np

from gainful.array_types import Floats, Ints


def extreme_order(
    gains: Floats, rank_first: Ints, rank_last: Ints, owner: Ints, *, best: bool
) -> tuple[Floats, Ints]:
    """Order the judged documents of every tie block so that the value is best, or worst.

    A block of ranks `rank_first..rank_last` holds its judged documents and, besides them,
    unjudged ones of gain 0. Best: positive gains descending from the top of the block,
    negative ones at its bottom. Worst: the reverse.

    Args:
        gains: (n,) gain of each judged document, rows by query and block.
        rank_first: (n,) first rank of its block.
        rank_last: (n,) last rank of its block.
        owner: (n,) its query.
        best: the highest value, or the lowest.

    Returns:
        gains (n,) reordered within blocks, and the rank (n,) of each.
    """
    tied = np.flatnonzero(rank_first < rank_last)
    if not tied.size:
        return gains, rank_first
    worth = gains[tied] if best else -gains[tied]
    first, last, query = rank_first[tied], rank_last[tied], owner[tied]
    order = np.lexsort((-worth, first, query))  # rows of a block are adjacent already
    worth = worth[order]

    starts = np.flatnonzero(np.r_[True, (first[1:] != first[:-1]) | (query[1:] != query[:-1])])
    sizes = np.diff(np.r_[starts, tied.size])
    position = np.arange(tied.size) - np.repeat(starts, sizes)
    remaining = np.repeat(sizes, sizes) - 1 - position

    ranks, ordered = rank_first.copy(), gains.copy()
    ranks[tied] = np.where(worth >= 0, first + position, last - remaining)
    ordered[tied] = gains[tied][order]
    return ordered, ranks
