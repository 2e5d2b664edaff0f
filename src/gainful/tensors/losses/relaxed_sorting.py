"""Losses that relax the permutation which sorts the scores."""

from typing import Any, Unpack

from gainful.tensors.losses.array_operations import Array
from gainful.tensors.losses.loss_function import loss_function
from gainful.tensors.losses.options import Common
from gainful.tensors.losses.training_lists import TrainingLists, reduced


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
    def formula(lists: TrainingLists) -> Array:
        # Sinkhorn's steps need all rows, the sorted gains only those before the cutoff.
        deep = lists.width if lists.k is None or iterations else min(lists.k, lists.width)
        gains = sorted_gains(lists, tau, iterations, deep)
        return lists.missed((gains * lists.positions()[1][:deep]).sum(-1))

    return reduced(scores, labels, mask, common, formula)


def sorted_gains(lists: TrainingLists, tau: float, iterations: int, deep: int) -> Array:
    """Return the gains in relaxed order, [list, rank], for the first `deep` ranks."""
    ops, order = lists.ops, lists.order()
    # In the order of the scores, in which the sums over a row do not see the items.
    s, gains = ops.take(lists.scores, order), ops.take(lists.gains, order)
    counts = lists.counts[:, None]
    every, places = ops.counting(lists.width, s), ops.counting(deep, s)
    valid = (every <= counts)[:, None, :] & (places <= counts)[:, :, None]
    logs = ops.where(valid, -_fall(lists, s, places) / tau, 0.0)
    logs = logs - lists.logsumexp(logs, valid)

    def balanced(held: Array, _: Array) -> Array:
        held = held - lists.logsumexp(held, valid, axis=-2)
        return held - lists.logsumexp(held, valid)

    # Folded, so that JAX compiles one step and not all of them.
    logs = ops.fold(balanced, logs, ops.counting(iterations, s))
    chances = ops.where(valid, ops.exp(ops.where(valid, logs, 0.0)), 0.0)
    return (chances * gains[:, None, :]).sum(-1)


def _fall(lists: TrainingLists, s: Array, places: Array) -> Array:
    """Return how far (n + 1 − 2i)·s_j − Σ_k |s_j − s_k| is below its highest, [list, rank i, item j].

    Of items in the order of their scores, the highest is item i itself. From item m to the next it
    falls by (2m + 1 − 2i) times the step between their scores, if they stand below, and in the
    other direction likewise. All terms are positive: no digits are lost to an item far away.
    """
    ops = lists.ops
    every = ops.counting(lists.width, s)
    steps = ops.where(every < lists.counts[:, None], s - ops.widen(s)[:, 1:], 0.0)
    below = every >= places[:, None]
    slopes = 2 * every + 1 - 2 * places[:, None]
    falls = steps[:, None, :] * ops.where(below, slopes, -slopes)
    down = ops.where(below, falls, 0.0).cumsum(-1)
    up = ops.flip(ops.flip(ops.where(below, 0.0, falls)).cumsum(-1))
    return ops.flip(ops.widen(ops.flip(down)))[..., :-1] + up
