"""What the ranks of items are worth in expectation, where each score has normal noise.

The distribution of the rank of an item grows with each other item, which stands above it with
chance p: P(r) ← P(r−1)·p + P(r)·(1 − p). Backwards, what a rank is worth in the end becomes what it
is worth before an item is added: w(r) ← w(r+1)·p + w(r)·(1 − p). The slope by p is what both give
together, Σ_r P(r)·(w(r+1) − w(r)) of P before the item and w after it.
"""

import math

from gainful.errors import warn
from gainful.tensors.losses.array_operations import Array, Operations

_LONG = 10**10
"""From how many steps on a call says how long it will take."""


def expected_worth(
    ops: Operations, scores: Array, mask: Array, worth: Array, sigma: float
) -> Array:
    """Return what the rank of each item is worth in expectation, [list, item], differentiable.

    Args:
        ops: the framework.
        scores: [list, item].
        mask: [list, item].
        worth: (rank,), of the ranks from 1 on; those after it are worth nothing.
        sigma: the standard deviation of a score.
    """
    lists, width = (int(size) for size in scores.shape)
    _warn_of_a_long_wait(lists, width, len(worth))

    if lists * width * width * (len(worth) + 1) <= ops.kept_ranks:
        return _expected_at_once(ops, scores, mask, worth, sigma)

    def value(s: Array, valid: Array, worth: Array) -> Array:
        return _RankDistributions(ops, s, worth, sigma).value(s, valid)

    def pullback(slopes: Array, s: Array, valid: Array, worth: Array) -> Array:
        return _RankDistributions(ops, s, worth, sigma).pullback(slopes, s, valid)

    return ops.with_gradient(value, pullback, scores, mask, worth)


def _expected_at_once(
    ops: Operations, scores: Array, mask: Array, worth: Array, sigma: float
) -> Array:
    """Return the same for few items: each step is taken once, forwards and backwards."""

    def value(s: Array, valid: Array, worth: Array) -> tuple[Array, Array]:
        every = _RankDistributions(ops, s, worth, sigma)
        ranks, before = every.grown(every.chances(s, valid)[0])
        return (ranks * worth).sum(-1), before

    def pullback(slopes: Array, before: Array, s: Array, valid: Array, worth: Array) -> Array:
        every = _RankDistributions(ops, s, worth, sigma)
        above, steep = every.chances(s, valid)
        found = every.slopes_after(above, before) * steep * slopes[:, :, None]
        return ops.where(valid, found.sum(1) - found.sum(-1), 0.0)

    return ops.with_kept_gradient(value, pullback, scores, mask, worth)


class _RankDistributions:
    """The distributions of the ranks of items, some of them at a time.

    For the gradient, the distributions before all items of one run are held, and those before each
    run, from which they are made anew: about √n runs of √n items.

    Args:
        ops: the framework.
        like: scores [list, item].
        worth: (rank,).
        sigma: the standard deviation of a score.
    """

    def __init__(self, ops: Operations, like: Array, worth: Array, sigma: float) -> None:
        self.ops, self.worth, self.sigma = ops, worth, sigma
        self.width = int(like.shape[1])
        deep = len(worth)
        self.places = ops.counting(self.width, like)
        self.first = ops.floats(self.places[:deep] == 1, like)
        self.length = math.isqrt(self.width - 1) + 1
        # Of each item: chances of all others, and distributions, both with what comes of them.
        self.items = max(1, ops.room(like) // (8 * self.width + 4 * self.length * deep))

    def value(self, s: Array, valid: Array) -> Array:
        """Return the worth of items with scores, [list, item]."""
        ops = self.ops

        def some(s: Array, valid: Array) -> tuple[Array]:
            def rows(own: Array, marks: Array, at: Array) -> Array:
                above, _ = self._chances(s, valid, own, marks, at)
                ranks = ops.mixed(self._start(above), ops.in_blocks(above, 1))
                return (ranks * self.worth).sum(-1)

            return (ops.by_rows(rows, self._rows(s), s, valid, self.places + 0 * s),)

        return ops.by_lists(some, self.items, s, valid)[0]

    def pullback(self, slopes: Array, s: Array, valid: Array) -> Array:
        """Return the gradient by the scores from that by the worth, both [list, item]."""
        ops = self.ops

        def some(slopes: Array, s: Array, valid: Array) -> tuple[Array]:
            def block(
                total: Array, slope: Array, own: Array, marks: Array, at: Array
            ) -> tuple[Array, tuple[Array]]:
                above, steep = self._chances(s, valid, own, marks > 0, at)
                found = self._slopes(above) * steep * slope[:, :, None]
                return total + found.sum(1), (found.sum(-1),)

            given = slopes, s, ops.floats(valid, s), self.places + 0 * s
            cut = [ops.in_blocks(one, self._rows(s)) for one in given]
            total, (own,) = ops.walk(block, 0 * s, *cut)
            own = own.swapaxes(0, 1).reshape(len(s), len(own) * self._rows(s))[:, : self.width]
            return (ops.where(valid, total - own, 0.0),)

        return ops.by_lists(some, self.items, slopes, s, valid)[0]

    def chances(self, s: Array, valid: Array) -> tuple[Array, Array]:
        """Return p that each item stands above each other, [list, item, other], and dp/ds."""
        return self._chances(s, valid, s, valid, self.places + 0 * s)

    def grown(self, above: Array) -> tuple[Array, Array]:
        """Return the distributions of all items, and those before each other one was added."""
        return self.ops.mixtures(self._start(above), self.ops.in_blocks(above, 1))

    def slopes_after(self, above: Array, before: Array) -> Array:
        """Return the derivatives of the worth by p, [list, item, other]."""
        start = self.worth + 0 * self._start(above)
        _, after = self.ops.mixtures(start, self.ops.in_blocks(above, 1), back=True)
        found = _by_chances(before, after)
        return found.swapaxes(0, 1).swapaxes(1, 2)

    def _rows(self, s: Array) -> int:
        """Return how many items of each list are computed at a time."""
        return max(1, min(self.width, self.items // max(1, len(s))))

    def _chances(
        self, s: Array, valid: Array, own: Array, marks: Array, at: Array
    ) -> tuple[Array, Array]:
        """Return p that each item stands above those of a block, [list, own, item], and dp/ds."""
        ops, sigma = self.ops, self.sigma
        apart = (s[:, None, :] - own[:, :, None]) / (2 * sigma)
        both = valid[:, None, :] & marks[:, :, None] & (self.places != at[:, :, None])
        above = ops.where(both, 0.5 * (1 + ops.erf(apart)), 0.0)
        steep = ops.where(both, ops.exp(-apart * apart) / (2 * math.sqrt(math.pi) * sigma), 0.0)
        return above, steep

    def _start(self, above: Array) -> Array:
        """Return the distributions of items that are alone, [list, own, rank]."""
        return self.first + 0 * above[:, :, :1]

    def _slopes(self, above: Array) -> Array:
        """Return the derivatives of the worth of the items of a block by p, [list, own, item]."""
        ops = self.ops
        runs = ops.in_blocks(above, self.length)
        back = ops.integers(range(len(runs))[::-1], above)

        def skip(ranks: Array, run: Array) -> tuple[Array, tuple[Array]]:
            return ops.mixed(ranks, ops.in_blocks(run, 1)), (ranks,)

        def through(later: Array, ranks: Array, run: Array) -> tuple[Array, tuple[Array]]:
            items = ops.in_blocks(run, 1)
            _, before = ops.mixtures(ranks, items)
            later, after = ops.mixtures(later, items, back=True)
            return later, (_by_chances(before, after),)

        start = self._start(above)
        _, (starts,) = ops.walk(skip, start, runs)
        _, (found,) = ops.walk(through, self.worth + 0 * start, starts[back], runs[back])
        items = len(runs) * self.length
        found = found[back].reshape(items, *above.shape[:2])[: self.width]
        return found.swapaxes(0, 1).swapaxes(1, 2)


def _by_chances(before: Array, after: Array) -> Array:
    """Return Σ_r P(r)·(w(r+1) − w(r)) of P before an item and w after it, both as `mixtures` has them."""
    return ((before[..., :-1] - before[..., 1:]) * after[..., :-1]).sum(-1)


def _warn_of_a_long_wait(lists: int, width: int, deep: int) -> None:
    """Say beforehand what a call will cost that takes minutes on a CPU."""
    pairs = lists * width * width
    if pairs * deep < _LONG:
        return
    warn(
        f"soft_ndcg: {pairs * deep:,} steps for {lists:,} lists of {width:,} items take minutes on a "
        f"CPU and seconds on a GPU, in every call. A cutoff k takes {pairs:,}·k of them, "
        f"approx_ndcg {pairs:,}."
    )
