"""Models of users who stop: rows are judged documents retrieved, with a worth from 0 to 1."""

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.kernels.binary_relevance import ratio
from gainful.kernels.cumulated_gain import owners
from gainful.kernels.row_sums import running_sums, steps, sums, sums_down_to

_DEEP = 1000  # ranks of an overlap, as its authors' program has
ROUNDING = 1e-9
"""Of BPM: ten tenths add up to a little less than 1."""

_LARGE = 20  # from there on, the series below is exact to the last digit


def geometric(
    worth: Floats, rank: Ints, owner: Ints, queries: int, p: float, cutoffs: Ints
) -> Floats:
    """Return (1−p) Σ w·p^(rank−1) (q, c): RBP."""
    terms = worth * p ** (rank - 1.0)
    return (1.0 - p) * sums_down_to(terms, rank, owner, queries, cutoffs)


def geometric_residual(rank: Ints, owner: Ints, retrieved: Ints, p: float, cutoffs: Ints) -> Floats:
    """Return what RBP leaves open (q, c); the rows are the judged documents retrieved."""
    seen = np.minimum(retrieved[:, None], cutoffs)
    judged = geometric(np.ones(rank.size), rank, owner, retrieved.size, p, cutoffs)
    # All the weight down to the last document seen, less that of the judged; and all below.
    left: Floats = np.maximum((1.0 - p**seen) - judged, 0.0) + p**seen
    return left


def squares(first: Floats) -> Floats:
    """Return Σ 1/(i+x)² for i = 0, 1, …: the trigamma function at x > 0."""
    total = np.zeros(first.shape)
    x = first.astype(np.float64)
    while (near := x < _LARGE).any():
        total[near] += 1.0 / x[near] ** 2
        x = np.where(near, x + 1.0, x)
    # The rest by the Euler–Maclaurin series.
    square = 1.0 / (x * x)
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    found: Floats = total + 1.0 / x + square / 2.0 + series * square / x
    return found


def adaptive(worth: Floats, rank: Ints, offsets: Ints, target: float) -> Floats:
    """Return INST (q,).

    Between two rows what is lacking does not change, and the attention that ranks get falls as
    the square of i+a−1, a = T + what is lacking: the sums over the gaps and over the endless
    rest have a closed form.
    """
    queries = offsets.size - 1
    lacking = np.full(queries, target)
    last = np.zeros(queries)  # the rank down to which attention is summed
    weight = np.ones(queries)  # the attention that the next rank gets
    attention, gained = np.zeros(queries), np.zeros(queries)

    def pass_over(at: Ints, ranks: Floats) -> None:
        """Sum the attention of the ranks from last+1 on, up to before `ranks`."""
        start, shift = last[at] + 1.0, target + lacking[at] - 1.0
        scale = weight[at] * (start + shift) ** 2
        attention[at] += scale * (squares(start + shift) - squares(ranks + shift))
        weight[at] = scale / (ranks + shift) ** 2
        last[at] = ranks - 1.0

    for at, rows in steps(offsets):
        gap = rank[rows] > last[at] + 1.0
        if gap.any():
            pass_over(at[gap], rank[rows[gap]].astype(np.float64))
        attention[at] += weight[at]
        gained[at] += weight[at] * worth[rows]
        lacking[at] -= worth[rows]
        here = rank[rows] + target + lacking[at]
        weight[at] *= ((here - 1.0) / here) ** 2
        last[at] = rank[rows]
    # Ranks after the last row are worth 0, in the list or beyond it.
    rest = last + target + lacking
    attention += weight * rest**2 * squares(rest)
    return ratio(gained, attention)


def squared(worth: Floats, rank: Ints, owner: Ints, queries: int, target: float) -> Floats:
    """Return INSQ (q,)."""
    weights = 1.0 / (rank + 2.0 * target - 1.0) ** 2
    total = float(squares(np.array([2.0 * target]))[0])
    return sums(worth * weights, owner, queries) / total


def player(worth: Floats, rank: Ints, offsets: Ints, target: float, patience: int) -> Floats:
    """Return BPM (q,)."""
    queries = offsets.size - 1
    running = running_sums(worth, offsets)
    enough = np.flatnonzero((running >= target - ROUNDING) & (rank <= patience))
    stop = np.full(queries, patience, np.int64)
    owner = owners(offsets)
    np.minimum.at(stop, owner[enough], rank[enough])
    within = rank <= stop[owner]
    return sums(np.where(within, worth, 0.0), owner, queries) / stop


def overlap_weights(p: float) -> Floats:
    """Return what a document counts (1001,) that two lists share from rank 1, 2, … on; 0 at the end."""
    ranks = np.arange(1, _DEEP + 1)
    weights = np.concatenate((p ** (ranks - 1.0) / ranks, [0.0]))
    # A document in both lists from rank m on counts at every rank from there.
    tails: Floats = np.cumsum(weights[::-1])[::-1]
    return tails


def compatible(
    gains: Floats, rank: Ints, offsets: Ints, pool: Floats, pool_offsets: Ints, p: float
) -> Floats:
    """Return Compat (q,): rows and pool hold gains, and only positive ones count."""
    queries = offsets.size - 1
    tails = overlap_weights(p)
    pool_owner = owners(pool_offsets)
    ideal_place = np.arange(pool.size) - pool_offsets[pool_owner] + 1
    best = tails[np.minimum(ideal_place, _DEEP + 1) - 1]
    positive = gains > 0
    owner, own, at = owners(offsets)[positive], gains[positive], rank[positive]
    # Within a gain, the ideal has the documents in the order of the list, the others after them.
    order = np.lexsort((at, -own, owner))
    owner, own, at = owner[order], own[order], at[order]
    above = _above(pool, pool_offsets, owner, own)
    opens = np.ones(own.size, np.bool_)
    opens[1:] = (owner[1:] != owner[:-1]) | (own[1:] != own[:-1])
    first = np.maximum.accumulate(np.where(opens, np.arange(own.size), 0))
    place = above + np.arange(own.size) - first + 1
    met = tails[np.minimum(np.maximum(place, at), _DEEP + 1) - 1]
    total = sums(np.where(pool > 0, best, 0.0), pool_owner, queries)
    return ratio(sums(met, owner, queries), total)


def _above(pool: Floats, pool_offsets: Ints, owner: Ints, gains: Floats) -> Ints:
    """Return how many documents (n,) of the pool of a query have a higher gain."""
    pool_owner = owners(pool_offsets)
    both = np.lexsort(
        (
            np.concatenate((np.zeros(pool.size), np.full(gains.size, -1.0))),
            np.concatenate((-pool, -gains)),
            np.concatenate((pool_owner, owner)),
        )
    )
    is_pool = both < pool.size
    so_far = np.cumsum(is_pool)
    found = np.empty(gains.size, np.int64)
    asked = both[~is_pool] - pool.size
    found[asked] = so_far[~is_pool] - pool_offsets[owner[asked]]
    return found
