"""Orders of tied documents: expectations over all of them, and the best and the worst.

Expectations are for measures that are not plain sums. Rows are the relevant documents that were retrieved, by query and rank: `first` and `last` (n,)
bound the block of ranks that each shares with the documents of its score, `owner` (n,) is the
query. A block of t documents, r of them relevant, begins after s documents, b of them relevant.

F. McSherry and M. Najork, Computing information retrieval performance measures efficiently in
the presence of tied scores, ECIR 2008.
"""

from dataclasses import dataclass

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.kernels.row_sums import sums_down_to


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks that hold a relevant document; each field (m,)."""

    owner: Ints
    before: Ints  # s, documents above the block
    size: Ints  # t
    relevant: Ints  # r
    relevant_before: Ints  # b


def blocks(first: Ints, last: Ints, owner: Ints) -> Blocks:
    """Group the rows by block."""
    opens = np.ones(first.size, np.bool_)
    opens[1:] = (first[1:] != first[:-1]) | (owner[1:] != owner[:-1])
    starts = np.flatnonzero(opens)
    query = owner[starts]
    rows_before = np.searchsorted(owner, query)
    return Blocks(
        query,
        first[starts] - 1,
        last[starts] - first[starts] + 1,
        np.diff(starts, append=first.size),
        starts - rows_before,
    )


def precision_sums(of: Blocks, queries: int, cutoffs: Ints) -> Floats:
    """Return the expectation (q, c) of Σ P@i over the ranks i of the relevant documents."""
    block = np.repeat(np.arange(of.size.size), of.size)
    step = np.arange(block.size) - np.repeat(np.cumsum(of.size) - of.size, of.size)  # from 0
    rank = of.before[block] + step + 1
    size, relevant = of.size[block], of.relevant[block]
    # Of the others in the block, a share (r−1)/(t−1) is relevant.
    above = of.relevant_before[block] + step * (relevant - 1) / np.maximum(size - 1, 1)
    terms = relevant / size * (above + 1.0) / rank
    return sums_down_to(terms, rank, of.owner[block], queries, cutoffs)


def first_relevant(of: Blocks, queries: int, cutoffs: Ints) -> tuple[Floats, Floats]:
    """Return the expectations (q, c) of 1/rank of the first relevant document, and of success."""
    first = of.relevant_before == 0
    owner, before, size, relevant = (
        array[first] for array in (of.owner, of.before, of.size, of.relevant)
    )
    lengths = size - relevant + 1  # the ranks at which the first may stand
    starts = np.cumsum(lengths) - lengths
    chances = np.empty(int(lengths.sum()))
    none_yet = np.ones(owner.size)  # the chance that no relevant document stands so far
    for step in range(int(lengths.max(initial=0))):
        going = np.flatnonzero(step < lengths)
        chance = none_yet[going] * relevant[going] / (size[going] - step)
        chances[starts[going] + step] = chance
        none_yet[going] -= chance
    rank = np.arange(1, chances.size + 1) + np.repeat(before - starts, lengths)
    query = np.repeat(owner, lengths)
    reciprocal = sums_down_to(chances / rank, rank, query, queries, cutoffs)
    success = sums_down_to(chances, rank, query, queries, cutoffs)
    return reciprocal, np.minimum(success, 1.0)


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
