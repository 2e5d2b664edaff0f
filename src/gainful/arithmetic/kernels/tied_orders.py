"""Orders of tied documents: the expectation over all orders, the best and the worst.

Expectations are for measures that are not plain sums. Rows are the relevant documents that were
retrieved, by query and rank: `first` and `last` (n,) bound the block of ranks shared by the
documents with the same score, and `owner` (n,) is the query. A block of t documents, r of them
relevant, begins after s documents, b of them relevant.

F. McSherry and M. Najork, Computing information retrieval performance measures efficiently in
the presence of tied scores, ECIR 2008.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.arithmetic.kernels.row_sums import sums_down_to
from gainful.array_types import Floats, Ints


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks that contain a relevant document; each field (m,)."""

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


class AtRanks(NamedTuple):
    """Expected values at the ranks of some blocks: each value, its rank and its block; each field (r,)."""

    expected: Floats
    rank: Ints
    block: Ints

    def sums(self, of: Blocks, queries: int, cutoffs: Ints) -> Floats:
        """Return the sums (q, c) down to each cutoff."""
        return sums_down_to(self.expected, self.rank, of.owner[self.block], queries, cutoffs)

    def shares(self, of: Blocks, cutoff: int | None) -> Floats:
        """Return each row's share (n,) of the sum of its block, which its relevant documents share equally."""
        within = self.rank <= (self.rank.max(initial=0) if cutoff is None else cutoff)
        totals = np.bincount(self.block, self.expected * within, of.size.size)
        return np.repeat(totals / of.relevant, of.relevant)


def precisions(of: Blocks) -> AtRanks:
    """Return the expectation, at each rank i, of P@i if the document there is relevant, else 0."""
    block = np.repeat(np.arange(of.size.size), of.size)
    step = np.arange(block.size) - np.repeat(np.cumsum(of.size) - of.size, of.size)  # from 0
    rank = of.before[block] + step + 1
    size, relevant = of.size[block], of.relevant[block]
    # A share (r−1)/(t−1) of the other documents in the block is relevant.
    above = of.relevant_before[block] + step * (relevant - 1) / np.maximum(size - 1, 1)
    return AtRanks(relevant / size * (above + 1.0) / rank, rank, block)


def first_relevant(of: Blocks) -> AtRanks:
    """Return the chance that each rank holds the first relevant document."""
    first = np.flatnonzero(of.relevant_before == 0)
    before, size, relevant = (array[first] for array in (of.before, of.size, of.relevant))
    lengths = size - relevant + 1  # the possible ranks of the first
    starts = np.cumsum(lengths) - lengths
    chances = np.empty(int(lengths.sum()))
    none_yet = np.ones(first.size)  # the probability of no relevant document so far
    for step in range(int(lengths.max(initial=0))):
        going = np.flatnonzero(step < lengths)
        chance = none_yet[going] * relevant[going] / (size[going] - step)
        chances[starts[going] + step] = chance
        none_yet[going] -= chance
    rank = np.arange(1, chances.size + 1) + np.repeat(before - starts, lengths)
    return AtRanks(chances, rank, np.repeat(first, lengths))


def extreme_order(
    gains: Floats, rank_first: Ints, rank_last: Ints, owner: Ints, *, best: bool
) -> tuple[Floats, Ints]:
    """Order the judged documents of every tie block so that the value is best, or worst.

    A block of ranks `rank_first..rank_last` contains judged documents and unjudged ones with gain
    0. Best: positive gains descending from the top of the block,
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
