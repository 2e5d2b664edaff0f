"""Models of users who stop: rows are retrieved judged documents with values from 0 to 1."""

import numpy as np

from gainful.arithmetic.kernels.cumulated_gain import owners
from gainful.arithmetic.kernels.row_sums import running_sums, steps, sums, sums_down_to
from gainful.array_types import Floats, Ints

_DEEP = 1000  # ranks of an overlap, as in its authors' program
_ROUNDING = 1e-9  # of BPM: ten tenths add up to a little less than 1

_LARGE = 20  # from here, the series below is exact to the last digit


def geometric(
    worth: Floats, rank: Ints, owner: Ints, queries: int, p: float, cutoffs: Ints
) -> Floats:
    """Return (1−p) Σ w·p^(rank−1) (q, c): RBP."""
    terms = worth * p ** (rank - 1.0)
    return (1.0 - p) * sums_down_to(terms, rank, owner, queries, cutoffs)


def geometric_residual(rank: Ints, owner: Ints, retrieved: Ints, p: float, cutoffs: Ints) -> Floats:
    """Return the residual of RBP (q, c); the rows are the retrieved judged documents."""
    seen = np.minimum(retrieved[:, None], cutoffs)
    judged = geometric(np.ones(rank.size), rank, owner, retrieved.size, p, cutoffs)
    # The weight down to the last document seen, minus that of judged ones, plus all below.
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
    value: Floats = total + 1.0 / x + square / 2.0 + series * square / x
    return value


def adaptive_attention(
    worth: Floats, rank: Ints, offsets: Ints, target: float
) -> tuple[Floats, Floats]:
    """Return the attention (n,) that each row gets under INST, and that of all ranks of an infinite list (q,).

    Between two rows the missing gain does not change, and the attention paid to ranks falls with
    the square of i+a−1, with a = T + the missing gain. So sums over the gaps and over the infinite
    rest have a closed form.
    """
    queries = offsets.size - 1
    lacking = np.full(queries, target)
    last = np.zeros(queries)  # the rank down to which attention is summed
    weight = np.ones(queries)  # the attention that the next rank gets
    attention, at_rows = np.zeros(queries), np.empty(rank.size)

    def pass_over(at: Ints, ranks: Floats) -> None:
        """Sum the attention of the ranks from last+1 to just before `ranks`."""
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
        at_rows[rows] = weight[at]
        lacking[at] -= worth[rows]
        here = rank[rows] + target + lacking[at]
        weight[at] *= ((here - 1.0) / here) ** 2
        last[at] = rank[rows]
    # Ranks after the last row are worth 0, whether in the list or beyond it.
    rest = last + target + lacking
    attention += weight * rest**2 * squares(rest)
    return at_rows, attention


def stops(worth: Floats, rank: Ints, offsets: Ints, target: float, patience: int) -> Ints:
    """Return the rank (q,) where the user of BPM stops."""
    enough = (running_sums(worth, offsets) >= target - _ROUNDING) & (rank <= patience)
    stop = np.full(offsets.size - 1, patience, np.int64)
    np.minimum.at(stop, owners(offsets)[enough], rank[enough])
    return stop


def overlap_weights(p: float) -> Floats:
    """Return the weight (1001,) of a document shared from rank 1, 2, … on; 0 at the end."""
    ranks = np.arange(1, _DEEP + 1)
    weights = np.concatenate((p ** (ranks - 1.0) / ranks, [0.0]))
    # A document in both lists from rank m counts at every rank from there.
    tails: Floats = np.cumsum(weights[::-1])[::-1]
    return tails


def overlap_of_ideal(pool: Floats, pool_offsets: Ints, p: float) -> Floats:
    """Return RBO(ideal, ideal) (q,), where only positive gains count."""
    tails = overlap_weights(p)
    owner = owners(pool_offsets)
    place = np.arange(pool.size) - pool_offsets[owner] + 1
    best = tails[np.minimum(place, _DEEP + 1) - 1]
    return sums(np.where(pool > 0, best, 0.0), owner, pool_offsets.size - 1)


def overlaps(
    gains: Floats, rank: Ints, offsets: Ints, pool: Floats, pool_offsets: Ints, p: float
) -> tuple[Ints, Floats]:
    """Return the rows (k,) with a positive gain in the order of the ideal, and each one's part of RBO(list, ideal)."""
    tails = overlap_weights(p)
    rows = np.flatnonzero(gains > 0)
    # Among equal gains, the ideal has the documents in the order of the list, then the others.
    rows = rows[np.lexsort((rank[rows], -gains[rows], owners(offsets)[rows]))]
    owner, own = owners(offsets)[rows], gains[rows]
    above = _above(pool, pool_offsets, owner, own)
    opens = np.ones(own.size, np.bool_)
    opens[1:] = (owner[1:] != owner[:-1]) | (own[1:] != own[:-1])
    first = np.maximum.accumulate(np.where(opens, np.arange(own.size), 0))
    place = above + np.arange(own.size) - first + 1
    return rows, tails[np.minimum(np.maximum(place, rank[rows]), _DEEP + 1) - 1]


def _above(pool: Floats, pool_offsets: Ints, owner: Ints, gains: Floats) -> Ints:
    """Return the number (n,) of documents in a query's pool with a higher gain."""
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
    counts = np.empty(gains.size, np.int64)
    rows = both[~is_pool] - pool.size
    counts[rows] = so_far[~is_pool] - pool_offsets[owner[rows]]
    return counts
