"""Sums and running sums of compressed rows, added up row by row.

The order of the additions is that of the list, so a value does not depend on how many queries
are computed together.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from gainful.array_types import Bools, Floats, Ints

MANY_CUTOFFS = 100
"""With more cutoffs than this, sums are read from the running sums of each query."""


def sums(values: Floats, owner: Ints, queries: int) -> Floats:
    """Return the sum (q,) of the values (n,) of each query; 0 for no values."""
    totals: Floats = np.bincount(owner, values, queries).astype(np.float64, copy=False)
    return totals


def counts(chosen: Bools, owner: Ints, queries: int) -> Ints:
    """Return the number of chosen rows (q,) of each query."""
    return np.bincount(owner[chosen], minlength=queries)


def running_counts(chosen: Bools, offsets: Ints) -> Ints:
    """Return the number of chosen rows (n,) of the query down to each row."""
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


def sums_down_to(
    values: Floats, rank: Ints, owner: Ints, queries: int, cutoffs: Ints, *, exact: bool = False
) -> Floats:
    """Return the sum (q, c) of the values (n,) of each query down to each cutoff.

    Args:
        values: (n,) by query and rank.
        rank: (n,) of each, ascending within a query.
        owner: (n,) its query, ascending.
        queries: the number of queries.
        cutoffs: (c,) in any order.
        exact: whether to round only once, at the end.
    """
    if cutoffs.size <= MANY_CUTOFFS and not exact:
        columns = (sums(np.where(rank <= k, values, 0.0), owner, queries) for k in cutoffs.tolist())
        return np.stack([*columns], axis=1)
    totals = np.empty((queries, cutoffs.size))
    bounds = np.searchsorted(owner, np.arange(queries + 1)).tolist()
    for query, (start, end) in enumerate(pairwise(bounds)):
        running = np.zeros(end - start + 1)
        np.cumsum(values[start:end], out=running[1:])
        if exact:
            running[1:] += np.cumsum(rounding_of(running, values[start:end]))
        totals[query] = running[np.searchsorted(rank[start:end], cutoffs, "right")]
    return totals


def rounding_of(running: Floats, values: Floats) -> Floats:
    """Return the rounding error (n,) of each addition to the running sums (n+1,).

    D. E. Knuth, The Art of Computer Programming, volume 2, section 4.2.2: the error of a sum of two
    floating-point numbers can be computed exactly in five more operations.

    >>> values = np.array([1.0, 2.0**-53, 2.0**-53])
    >>> running = np.concatenate(([0.0], np.cumsum(values)))
    >>> float(running[-1]), float(rounding_of(running, values).sum())
    (1.0, 2.220446049250313e-16)
    """
    before, after = running[:-1], running[1:]
    added = after - before
    lost: Floats = (before - (after - added)) + (values - added)
    return lost


def at_rank(running: Floats, offsets: Ints, owner: Ints, rank: Ints) -> Floats:
    """Return a running sum at some ranks (m,) of the queries `owner` (m,).

    After its last row a running sum stays constant; without rows, or at rank 0, it is 0.
    """
    lengths = np.diff(offsets)[owner]
    place = np.minimum(rank, lengths)
    values = np.zeros(rank.size)
    some = place > 0
    values[some] = running[offsets[:-1][owner[some]] + place[some] - 1]
    return values
