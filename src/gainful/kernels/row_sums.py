"""Sums and running sums of compressed rows, added up row by row.

The order of the additions is that of the list, so a value does not depend on how many queries
are computed together.
"""

from collections.abc import Iterator

import numpy as np

from gainful.array_types import Bools, Floats, Ints


def sums(values: Floats, owner: Ints, queries: int) -> Floats:
    """Return the sum (q,) of the values (n,) of each query, 0 where there are none."""
    found: Floats = np.bincount(owner, values, queries).astype(np.float64, copy=False)
    return found


def counts(chosen: Bools, owner: Ints, queries: int) -> Ints:
    """Return how many rows (q,) of each query are chosen."""
    return np.bincount(owner[chosen], minlength=queries)


def running_counts(chosen: Bools, offsets: Ints) -> Ints:
    """Return how many rows (n,) of the query are chosen down to each row."""
    total = np.cumsum(chosen)
    before = np.concatenate(([0], total))[offsets[:-1]]
    running: Ints = total - np.repeat(before, np.diff(offsets))
    return running


def steps(offsets: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield, for the first row of every query, then the second, …: the queries and their rows."""
    lengths = np.diff(offsets)
    longest_first = np.argsort(-lengths, kind="stable")
    starts, ascending = offsets[:-1][longest_first], lengths[longest_first][::-1]
    for step in range(int(lengths.max(initial=0))):
        longer = lengths.size - int(np.searchsorted(ascending, step, "right"))
        yield longest_first[:longer], starts[:longer] + step


def running_sums(values: Floats, offsets: Ints) -> Floats:
    """Return the sum (n,) of the values of a query down to each row."""
    if not values.size:
        return np.zeros(0)
    if (values == np.rint(values)).all() and np.abs(values).sum() < 2**53:
        total = np.concatenate(([0.0], np.cumsum(values)))  # whole numbers add up exactly
        whole: Floats = total[1:] - np.repeat(total[offsets[:-1]], np.diff(offsets))
        return whole
    running = np.empty(values.size)
    so_far = np.zeros(offsets.size - 1)
    for queries, rows in steps(offsets):
        so_far[queries] += values[rows]
        running[rows] = so_far[queries]
    return running


def at_rank(running: Floats, offsets: Ints, owner: Ints, rank: Ints) -> Floats:
    """Return a running sum at some ranks (m,) of the queries `owner` (m,).

    Beyond its last row a running sum stays as it is; without rows, or at rank 0, it is 0.
    """
    lengths = np.diff(offsets)[owner]
    place = np.minimum(rank, lengths)
    found = np.zeros(rank.size)
    some = place > 0
    found[some] = running[offsets[:-1][owner[some]] + place[some] - 1]
    return found
