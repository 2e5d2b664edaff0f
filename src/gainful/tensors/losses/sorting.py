"""Losses that relax the permutation which sorts the scores."""

from typing import Any, Unpack

from gainful.tensors.losses.checks import Common
from gainful.tensors.losses.function import loss_function
from gainful.tensors.losses.lists import Lists, reduced
from gainful.tensors.losses.operations import Array


@loss_function
def neural_ndcg(
    scores: Array,
    labels: Any,
    mask: Any = None,
    *,
    tau: float = 1.0,
    iterations: int = 30,
    **common: Unpack[Common],
) -> Any:
    """Return 1 − nDCG of gains sorted by a relaxed permutation, made doubly stochastic.

    Row i of the relaxation (NeuralSort) is softmax(((n + 1 − 2i)·s − A·1)/τ), A_ij = |s_i − s_j|;
    Sinkhorn's steps scale columns and rows by turns, so that no item is counted twice.
    It holds n² values for each step.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        tau: τ above 0; the lower, the closer to a permutation.
        iterations: how many of Sinkhorn's steps.
        **common: see `Common`.

    >>> import torch
    >>> neural_ndcg(torch.tensor([9.0, 0.0]), torch.tensor([0, 1]), tau=0.1).item()
    0.369...
    """
    return _sorted_loss(scores, labels, mask, common, tau, iterations)


@loss_function
def pirank_ndcg(
    scores: Array, labels: Any, mask: Any = None, *, tau: float = 1.0, **common: Unpack[Common]
) -> Any:
    """Return 1 − nDCG of gains sorted by a relaxed permutation, of which only k rows are made.

    As `neural_ndcg` without Sinkhorn's steps: rows sum to 1, columns need not, so the loss may
    fall below 0.

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
    scores: Array, labels: Any, mask: Any, common: Common, tau: float, iterations: int
) -> Any:
    def formula(lists: Lists) -> Array:
        # Sinkhorn's steps need all rows, the sorted gains only those before the cutoff.
        deep = lists.width if lists.k is None or iterations else min(lists.k, lists.width)
        gains = sorted_gains(lists, tau, iterations, deep)
        return lists.missed((gains * lists.positions()[1][:deep]).sum(-1))

    return reduced(scores, labels, mask, common, formula)


def sorted_gains(lists: Lists, tau: float, iterations: int, deep: int) -> Array:
    """Return the gains in relaxed order, [list, rank], for the first `deep` ranks."""
    ops, s, mask = lists.ops, lists.scores, lists.mask
    counts = lists.counts[:, None]
    # The relaxation does not see a shift of all scores; small numbers cancel less.
    s = ops.where(
        mask, s - ops.constant(s.sum(-1)[:, None] / ops.where(counts > 0, counts, 1.0)), 0.0
    )
    spread = _distances(lists, s, counts)
    places = ops.counting(deep, s)
    scale = (counts + 1 - 2 * places)[:, :, None]
    logs = (scale * s[:, None, :] - spread[:, None, :]) / tau
    valid = mask[:, None, :] & (places <= counts)[:, :, None]
    logs = ops.where(valid, logs, 0.0)
    logs = logs - lists.logsumexp(logs, valid)

    def balanced(held: Array, _: Array) -> Array:
        held = held - lists.logsumexp(held, valid, axis=-2)
        return held - lists.logsumexp(held, valid)

    # Folded, so that JAX compiles one step and not all of them.
    logs = ops.fold(balanced, logs, ops.counting(iterations, s))
    chances = ops.where(valid, ops.exp(ops.where(valid, logs, 0.0)), 0.0)
    return (chances * lists.gains[:, None, :]).sum(-1)


def _distances(lists: Lists, s: Array, counts: Array) -> Array:
    """Return Σ_j |s_i − s_j| of each item: sort, cumulate, and go back to the order given."""
    ops = lists.ops
    order = lists.order()
    high = ops.take(s, order)
    places = ops.counting(lists.width, s)
    until = high.cumsum(-1)
    total = high.sum(-1)[:, None]
    # Of the items above, i is below by Σ s_j − (i−1)·s_i; of those below, above likewise.
    found = (until - places * high) + ((counts - places) * high - (total - until))
    return ops.where(lists.mask, ops.take(found, ops.descending(-order)), 0.0)
