"""The expected discount of each item's rank if every score has normal noise.

The distribution of an item's rank is built by adding the other items one by one, each ranked above
it with probability p: P(r) ← P(r−1)·p + P(r)·(1 − p). Backwards, the worth of a rank after an item
is added yields its worth before: w(r) ← w(r+1)·p + w(r)·(1 − p). The derivative by p combines both,
Σ_r P(r)·(w(r+1) − w(r)) with P before the item and w after it.
"""

import math

from gainful.array_types import Array
from gainful.errors import warn
from gainful.training.losses.array_operations import Operations

_LONG = 10**10
"""The number of steps from which a call warns that it will take long."""


def expected_worth(
    ops: Operations, scores: Array, mask: Array, worth: Array, sigma: float
) -> Array:
    """Return the expected worth of each item's rank, [list, item], differentiable.

    Args:
        ops: the framework.
        scores: [list, item].
        mask: [list, item].
        worth: (rank,), from rank 1; later ranks are worth nothing.
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
    """Return the same for few items, taking each step once forwards and once backwards."""

    def value(s: Array, valid: Array, worth: Array) -> tuple[Array, Array]:
        every = _RankDistributions(ops, s, worth, sigma)
        ranks, before = every.grown(every.chances(s, valid)[0])
        return (ranks * worth).sum(-1), before

    def pullback(slopes: Array, before: Array, s: Array, valid: Array, worth: Array) -> Array:
        every = _RankDistributions(ops, s, worth, sigma)
        above, steep = every.chances(s, valid)
        slope = every.slopes_after(above, before) * steep * slopes[:, :, None]
        return ops.where(valid, slope.sum(1) - slope.sum(-1), 0.0)

    return ops.with_kept_gradient(value, pullback, scores, mask, worth)


class _RankDistributions:
    """The rank distributions of items, computed for some items at a time.

    The other items are added in about √n groups of √n. For the gradient, the distributions before
    each group are kept, and those within one group are recomputed from them.

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
        # Per item: probabilities for all others, and distributions, each with its derived values.
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
        """Return the gradient by the scores from the gradient by the worth, both [list, item]."""
        ops = self.ops

        def some(slopes: Array, s: Array, valid: Array) -> tuple[Array]:
            def block(
                total: Array, slope: Array, own: Array, marks: Array, at: Array
            ) -> tuple[Array, tuple[Array]]:
                above, steep = self._chances(s, valid, own, marks > 0, at)
                steepness = self._slopes(above) * steep * slope[:, :, None]
                return total + steepness.sum(1), (steepness.sum(-1),)

            inputs = slopes, s, ops.floats(valid, s), self.places + 0 * s
            cut = [ops.in_blocks(one, self._rows(s)) for one in inputs]
            total, (own,) = ops.walk(block, 0 * s, *cut)
            own = own.swapaxes(0, 1).reshape(len(s), len(own) * self._rows(s))[:, : self.width]
            return (ops.where(valid, total - own, 0.0),)

        return ops.by_lists(some, self.items, slopes, s, valid)[0]

    def chances(self, s: Array, valid: Array) -> tuple[Array, Array]:
        """Return p that each item ranks above each other, [list, item, other], and dp/ds."""
        return self._chances(s, valid, s, valid, self.places + 0 * s)

    def grown(self, above: Array) -> tuple[Array, Array]:
        """Return the distributions of all items, also before each of the others was added."""
        return self.ops.mixtures(self._start(above), self.ops.in_blocks(above, 1))

    def slopes_after(self, above: Array, before: Array) -> Array:
        """Return the derivatives of the worth by p, [list, item, other]."""
        start = self.worth + 0 * self._start(above)
        _, after = self.ops.mixtures(start, self.ops.in_blocks(above, 1), back=True)
        slopes = _by_chances(before, after)
        return slopes.swapaxes(0, 1).swapaxes(1, 2)

    def _rows(self, s: Array) -> int:
        """Return how many items of each list are computed at a time."""
        return max(1, min(self.width, self.items // max(1, len(s))))

    def _chances(
        self, s: Array, valid: Array, own: Array, marks: Array, at: Array
    ) -> tuple[Array, Array]:
        """Return p that each item ranks above a block's items, [list, own, item], and dp/ds."""
        ops, sigma = self.ops, self.sigma
        apart = (s[:, None, :] - own[:, :, None]) / (2 * sigma)
        both = valid[:, None, :] & marks[:, :, None] & (self.places != at[:, :, None])
        above = ops.where(both, 0.5 * (1 + ops.erf(apart)), 0.0)
        steep = ops.where(both, ops.exp(-apart * apart) / (2 * math.sqrt(math.pi) * sigma), 0.0)
        return above, steep

    def _start(self, above: Array) -> Array:
        """Return the distributions before any other item is added, [list, own, rank]."""
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
        _, (slopes,) = ops.walk(through, self.worth + 0 * start, starts[back], runs[back])
        items = len(runs) * self.length
        slopes = slopes[back].reshape(items, *above.shape[:2])[: self.width]
        return slopes.swapaxes(0, 1).swapaxes(1, 2)


def _by_chances(before: Array, after: Array) -> Array:
    """Return Σ_r P(r)·(w(r+1) − w(r)) with P before and w after an item, from `mixtures`."""
    return ((before[..., :-1] - before[..., 1:]) * after[..., :-1]).sum(-1)


def _warn_of_a_long_wait(lists: int, width: int, deep: int) -> None:
    """Warn before a call that will take minutes on a CPU."""
    pairs = lists * width * width
    if pairs * deep < _LONG:
        return
    warn(
        f"soft_ndcg: {pairs * deep:,} steps for {lists:,} lists of {width:,} items take minutes on a "
        f"CPU and seconds on a GPU, in every call. A cutoff k takes {pairs:,}·k of them, "
        f"approx_ndcg {pairs:,}."
    )
