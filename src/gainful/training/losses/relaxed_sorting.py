"""Losses that relax the permutation which sorts the scores."""

from collections.abc import Sequence
from typing import Unpack

from gainful.array_types import Array
from gainful.training.losses.array_operations import Operations
from gainful.training.losses.loss_decorator import loss_function
from gainful.training.losses.options import Common
from gainful.training.losses.training_lists import TrainingLists, reduced

_FEW = 4
"""The most vectors that are multiplied one by one, which is faster than all together."""

_HELD = 2**25
"""The most pairs of one list that are kept for all steps; a longer list recomputes them."""


@loss_function
def neural_ndcg(
    scores: Array,
    labels: object,
    mask: object = None,
    *,
    tau: float = 1.0,
    iterations: int = 30,
    **common: Unpack[Common],
) -> Array:
    """Return 1 − nDCG of gains sorted by a relaxed permutation, made doubly stochastic.

    Row i of the relaxation (NeuralSort) is softmax(((n + 1 − 2i)·s − A·1)/τ), A_ij = |s_i − s_j|.
    Sinkhorn steps scale columns and rows in turn, so that no item is counted twice. Only the scales
    are kept, n numbers for each step; the relaxation is computed in blocks.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        tau: τ above 0; the lower, the closer to a permutation.
        iterations: the number of Sinkhorn steps.
        **common: see `Common`.

    >>> import torch
    >>> neural_ndcg(torch.tensor([9.0, 0.0]), torch.tensor([0, 1]), tau=0.1).item()
    0.369...
    """
    return _sorted_loss(scores, labels, mask, common, tau, iterations)


@loss_function
def pirank_ndcg(
    scores: Array,
    labels: object,
    mask: object = None,
    *,
    tau: float = 1.0,
    **common: Unpack[Common],
) -> Array:
    """Return 1 − nDCG of gains sorted by the first k rows of a relaxed permutation.

    This is `neural_ndcg` without Sinkhorn steps: rows sum to 1 but columns need not, so the loss
    may fall below 0.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        tau: τ above 0; the lower, the closer to a permutation.
        **common: see `Common`.

    >>> import torch
    >>> pirank_ndcg(torch.tensor([9.0, 0.0]), torch.tensor([0, 1]), tau=0.1).item()
    0.369...
    """
    return _sorted_loss(scores, labels, mask, common, tau, 0)


def _sorted_loss(
    scores: Array, labels: object, mask: object, common: Common, tau: float, iterations: int
) -> object:
    def formula(lists: TrainingLists) -> Array:
        # Sinkhorn steps need all rows, the sorted gains only the rows up to the cutoff.
        deep = lists.width if lists.k is None or iterations else min(lists.k, lists.width)
        gains = sorted_gains(lists, tau, iterations, deep)
        return lists.missed((gains * lists.positions()[1][:deep]).sum(-1))

    return reduced(scores, labels, mask, common, formula)


def sorted_gains(lists: TrainingLists, tau: float, iterations: int, deep: int) -> Array:
    """Return the gains in relaxed order, [list, rank], for the first `deep` ranks."""
    ops, order = lists.ops, lists.order()
    # Sort by score, so that sums over a row don't depend on the order of the items.
    s, gains = ops.take(lists.scores, order), ops.take(lists.gains, order)
    counts = lists.counts[:, None]
    fused = ops.fused_sorting(s, gains, counts, tau=tau, iterations=iterations, deep=deep)
    if fused is not None:
        return fused
    small = _is_small(ops, len(s) * deep * lists.width)
    size = max(1, len(s) if small else ops.block // (deep * lists.width))

    def value(*inputs: Array) -> tuple[Array, ...]:
        def some(s: Array, gains: Array, counts: Array) -> tuple[Array, ...]:
            relaxation = _Relaxation(ops, s, counts, tau, deep)
            ordered, *scales = _forward(relaxation, gains, iterations)
            # The sorted gains are kept, too, since each sum over the items visits all pairs.
            kept = (ordered + 0, *scales)
            return (ordered, *kept, relaxation.whole) if small else (ordered, *kept)

        return ops.by_lists(some, size, *inputs)

    def pullback(*inputs: Array) -> Array:
        def some(slopes: Array, *others: Array) -> tuple[Array, ...]:
            ordered, *scales, s, gains, counts = others
            whole = scales.pop() if small else None
            relaxation = _Relaxation(ops, s, counts, tau, deep, whole)
            return (_backward(relaxation, gains, slopes, ordered, scales),)

        return ops.by_lists(some, size, *inputs)[0]

    return ops.with_kept_gradient(value, pullback, s, gains, counts)


def _is_small(ops: Operations, pairs: int) -> bool:
    """Return whether all pairs are computed at once and kept for the gradient."""
    return pairs <= min(ops.kept_pairs, _HELD)


class _Relaxation:
    """K_ij = e^(L_ij), the closeness of item j to rank i, and sums over its rows and columns.

    L_ij = ((n + 1 − 2i)·s_j − Σ_k |s_j − s_k|)/τ, minus the maximum of the row, at item i itself.
    Rows and columns of K sum to at least 1, so their inverses are finite.

    Args:
        ops: the framework.
        s: [list, item], from high to low.
        counts: [list, 1], the number of items.
        tau: τ.
        deep: the number of ranks.
        whole: K [list, rank, item], if already computed.
    """

    def __init__(
        self,
        ops: Operations,
        s: Array,
        counts: Array,
        tau: float,
        deep: int,
        whole: Array | None = None,
    ) -> None:
        self.ops, self.tau, self._s, self._counts = ops, tau, s, counts
        self.items = ops.counting(int(s.shape[1]), s)
        self.ranks = ops.counting(deep, s) + 0 * counts
        self.there = self.items <= counts
        lists, width = (int(size) for size in s.shape)
        small = _is_small(ops, lists * deep * width)
        self._size = max(1, deep if small else ops.block // max(1, lists * width))
        self.whole = whole
        if whole is None and deep * width <= _HELD:
            falls = ops.falls_by_rank(s, tau, deep) if small else None
            self.whole = (
                ops.by_rows(self._rows, self._size, self.ranks)
                if falls is None
                else self._powers(self.ranks, falls)
            )

    def _rows(self, ranks: Array) -> Array:
        """Return K, [list, rank, item]."""
        return self._powers(ranks, self._fall(ranks[:, :, None]) / self.tau)

    def _powers(self, ranks: Array, falls: Array) -> Array:
        """Return K from −L, both [list, rank, item]."""
        ops = self.ops
        valid = self.there[:, None, :] & (ranks <= self._counts)[:, :, None]
        falls = ops.where(valid, falls, 0.0)
        return ops.where(valid, ops.exp(-falls), 0.0)

    def _fall(self, ranks: Array) -> Array:
        """Return −τ·L, [list, rank i, item j].

        With items sorted by score, it is 0 for item i itself. Below i, it grows from item m to the
        next by (2m + 1 − 2i) times the difference of their scores, and likewise in the other
        direction. All terms are positive, so a distant item costs no digits.
        """
        ops, every, s = self.ops, self.items, self._s
        steps = ops.where(every < self._counts, s - ops.widen(s)[:, 1:], 0.0)
        below = every >= ranks
        slopes = 2 * every + 1 - 2 * ranks
        falls = steps[:, None, :] * ops.where(below, slopes, -slopes)
        down = ops.where(below, falls, 0.0).cumsum(-1)
        up = ops.flip(ops.flip(ops.where(below, 0.0, falls)).cumsum(-1))
        return ops.shifted(down) + up

    def over_items(self, x: Array) -> Array:
        """Return Σ_j K_ij·x_j, [list, rank]."""
        if self.whole is not None:
            return self.ops.product(self.whole, x)

        def rows(ranks: Array) -> Array:
            return self.ops.product(self._rows(ranks), x)

        return self.ops.by_rows(rows, self._size, self.ranks)

    def over_ranks(self, ys: Array) -> Array:
        """Return Σ_i K_ij·y_i, [y, list, item], of several y [y, list, rank]."""
        ops = self.ops
        if self.whole is not None:
            return self._turned(self.whole, ys)

        def add(sums: Array, block: Array) -> Array:
            return sums + self._turned(self._rows(block[0]), block[1:])

        start = 0 * ops.stacked([self._s] * len(ys))
        return ops.fold(add, start, ops.in_blocks(ops.join([self.ranks[None], ys]), self._size))

    def _turned(self, rows: Array, ys: Array) -> Array:
        """Return Σ_i K_ij·y_i over some ranks, of several y."""
        turned = rows.swapaxes(-1, -2)
        if len(ys) > _FEW:
            return self.ops.products(turned, ys)
        return self.ops.stacked([self.ops.product(turned, y) for y in ys])

    def inverse(self, sums: Array) -> Array:
        """Return 1/x; 0 for an empty sum."""
        ops = self.ops
        return ops.where(sums > 0, 1 / ops.where(sums > 0, sums, 1.0), 0.0)


def _forward(relaxation: _Relaxation, gains: Array, iterations: int) -> tuple[Array, ...]:
    """Return the sorted gains [list, rank] and the scales: a first, then each step's a and b.

    P_ij = a_i·K_ij·b_j after the scales a of the rows [list, step, rank] and b of the columns
    [list, step, item].
    """
    ops = relaxation.ops
    b = ops.floats(relaxation.there, gains)
    first = relaxation.inverse(relaxation.over_items(b))
    if not iterations:
        return first * relaxation.over_items(b * gains), first

    def step(state: tuple[Array, Array], _: Array) -> tuple[tuple[Array, Array], tuple[Array, ...]]:
        b = relaxation.inverse(relaxation.over_ranks(state[0][None])[0])
        a = relaxation.inverse(relaxation.over_items(b))
        return (a, b), (a, b)

    (a, b), kept = ops.walk(step, (first, b), ops.counting(iterations, gains))
    return a * relaxation.over_items(b * gains), first, *(one.swapaxes(0, 1) for one in kept)


def _backward(
    relaxation: _Relaxation,
    gains: Array,
    slopes: Array,
    sorted_gains: Array,
    scales: Sequence[Array],
) -> Array:
    """Return the gradient by scores [list, item] from that by the sorted gains [list, rank].

    Only two sums over ranks of the gradient by L are needed, plain and weighted by (j − i), because
    L_ij = ((n + 1 − 2i)·s_j − Σ_k |s_j − s_k|)/τ up to terms that are constant in a row, and rows
    are scaled. A scaled column has sums of 0, so only the softmax of the first rows remains.
    """
    ops, ranks, items = relaxation.ops, relaxation.ranks, relaxation.items
    first, *steps = scales
    ones = ops.floats(relaxation.there, gains)
    a, b = (steps[0][:, -1], steps[1][:, -1]) if steps else (first, ones)
    y, z = slopes * a * sorted_gains, slopes * a
    # Σ_i x_ij and Σ_i (j − i)·x_ij, [list, item], of x_ij = (y_i − z_i·G_j)·K_ij·b_j.
    weighted = relaxation.over_ranks(ops.stacked([y, ranks * y, z, ranks * z])) * b
    total = weighted[0] - gains * weighted[2]
    moved = gains * (items * weighted[2] - weighted[3]) - (items * weighted[0] - weighted[1])
    if steps:
        later, scale = (one.swapaxes(0, 1) for one in steps)
        earlier, before = ops.join([first[None], later[:-1]]), ops.join([ones[None], scale[:-1]])
        means = scale * relaxation.over_ranks(ranks * earlier)  # the mean ranks of the columns

        def step(total: Array, *at: Array) -> tuple[Array, tuple[Array, Array]]:
            a, before, b = at
            y = a * a * relaxation.over_items(total * b)
            return relaxation.over_ranks(y[None])[0] * before, (total, y)

        back = ops.integers(range(len(scale))[::-1], gains)
        earlier, before, scale, means = (one[back] for one in (earlier, before, scale, means))
        total, (totals, ys) = ops.walk(step, total, earlier, before, scale)
        # Sums that no later step needs are computed for all steps at once.
        nexts = ops.join([totals[1:], total[None]])
        apart = items * nexts - relaxation.over_ranks(ranks * ys) * before
        moved = moved + (totals * (items - means) - apart).sum(0)
    running = total.cumsum(-1)
    # By places instead of the signs of differences, which are 0 for equal scores.
    spread = 2 * running - total - running[:, -1:]
    return ops.where(relaxation.there, (2 * moved - spread) / relaxation.tau, 0.0)
