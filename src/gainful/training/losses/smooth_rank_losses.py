"""Losses that replace the rank by a smooth or an expected rank."""

import math
from dataclasses import dataclass
from typing import Any, Unpack

from gainful.array_types import Array
from gainful.training.gpu_support import fusible
from gainful.training.losses.array_operations import Operations
from gainful.training.losses.loss_decorator import loss_function
from gainful.training.losses.options import Common
from gainful.training.losses.rank_distributions import expected_worth
from gainful.training.losses.sampled_rankings import gumbel_noise
from gainful.training.losses.training_lists import (
    Arranged,
    TrainingLists,
    around_middle,
    pairs_are_kept,
    reduced,
    rows_of_pairs,
)
from gainful.training.losses.ways_to_compute import pairwise


@loss_function
def approx_ndcg(
    scores: Array,
    labels: object,
    mask: object = None,
    *,
    temperature: float = 1.0,
    **common: Unpack[Common],
) -> Array:
    """Return 1 − nDCG with approximate ranks r̂_i = 1 + Σ_{j≠i} σ((s_j − s_i)/T).

    With a cutoff, an item has the weight 1/(1 + (r̂_i/(k + ½))^(1/T)), which tends to 1 above and 0
    below the cutoff as T → 0. The loss then tends to 1 − nDCG@k if no scores are equal. Pairs are
    computed in
    blocks and never stored.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        temperature: T above 0; a lower one is closer to nDCG, and less smooth.
        **common: see `Common`.

    >>> import torch
    >>> approx_ndcg(torch.tensor([2.0, 1.0, 0.0]), torch.tensor([0, 0, 1])).item()
    0.46...
    """
    fused = _fused(scores, labels, mask, common, temperature)
    if fused is not None:
        return fused

    def formula(lists: TrainingLists, _: Array | None) -> Array:
        return _approx(lists, lists.scores, temperature)

    return pairwise(
        "approx_ndcg", formula, scores, labels, mask, common, temperature=float(temperature)
    )


@loss_function
def gumbel_approx_ndcg(
    scores: Array,
    labels: object,
    mask: object = None,
    *,
    temperature: float = 1.0,
    samples: int = 8,
    beta: float = 1.0,
    generator: object = None,
    noise: object = None,
    **common: Unpack[Common],
) -> Array:
    """Return the mean of `approx_ndcg` over scores with Gumbel noise, s + β·G.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        temperature: the temperature of the approximate ranks.
        samples: the number of noise draws.
        beta: the scale of the noise; 0 gives `approx_ndcg`.
        generator: a torch.Generator, or a JAX key (required in JAX).
        noise: [sample, ..., list], used in place of draws.
        **common: see `Common`.

    >>> import torch
    >>> scores, labels = torch.tensor([2.0, 1.0, 0.0]), torch.tensor([1, 0, 0])
    >>> gumbel_approx_ndcg(scores, labels, beta=0) == approx_ndcg(scores, labels)
    tensor(True)
    """

    def draw(lists: Arranged) -> Array:
        return gumbel_noise(lists, tuple(scores.shape), samples, generator, noise)

    def formula(lists: TrainingLists, drawn: Array) -> Array:
        ops, valid = lists.ops, lists.mask
        # Only differences matter; close to 0, the noise is not lost in the digits of a score.
        near = around_middle(ops, lists.scores, valid) + ops.where(valid, beta * drawn, 0.0)
        return _approx(lists, ops.where(valid, near, 0.0), temperature).sum(0) / drawn.shape[0]

    return pairwise(
        "gumbel_approx_ndcg",
        formula,
        scores,
        labels,
        mask,
        common,
        draw=draw,
        drawn_before=noise,
        temperature=float(temperature),
        beta=float(beta),
    )


@loss_function
def soft_ndcg(
    scores: Array,
    labels: object,
    mask: object = None,
    *,
    sigma: float = 1.0,
    **common: Unpack[Common],
) -> Array:
    """Return 1 − the expected nDCG under independent normal noise on each score (SoftNDCG).

    Item v ranks above j with p = Φ((s_v − s_j)/(√2·σ)); the distribution of the rank of j is built
    item by item, P_j(r) ← P_j(r−1)·p + P_j(r)·(1 − p). This takes O(n³) time, or O(n²·k) with a
    cutoff, so it suits lists of tens of items, or the top of lists of hundreds. A warning
    precedes a call that will take long.

    Args:
        scores: [..., list], higher is better.
        labels: [..., list], grades.
        mask: [..., list], True for items, False for padding.
        sigma: the standard deviation of a score, above 0.
        **common: see `Common`.

    >>> import torch
    >>> soft_ndcg(torch.tensor([0.0, 0.0]), torch.tensor([1.0, 0.0])).item()  # either order
    0.184...
    """

    def formula(lists: TrainingLists) -> Array:
        # Ranks below the cutoff are worth nothing, and never lead back above it.
        deep = lists.width if lists.k is None else min(lists.k, lists.width)
        worth = lists.positions()[1][:deep]
        expected = expected_worth(lists.ops, lists.scores, lists.mask, worth, sigma)
        return lists.missed((lists.gains * expected).sum(-1))

    return reduced(scores, labels, mask, common, formula)


def _approx(lists: TrainingLists, scores: Array, temperature: float) -> Array:
    """Return the loss [..., list] of lists with their scores replaced, [..., list, item]."""
    ops = lists.ops
    valid = lists.mask & ops.everywhere(scores)
    flat, marks = (one.reshape(-1, lists.width) for one in (scores, valid))
    ranks = approximate_ranks(ops, flat, marks, temperature).reshape(*scores.shape)
    worth = lists.worth(ranks)
    if lists.k is not None:
        # The ratio of ranks, since their difference would leave no gradient to items a few
        # temperatures below the cutoff, which are nearly all items of a long list.
        edge = math.log(lists.k + 0.5)
        worth = worth * ops.sigmoid((edge - ops.log(ranks)) / temperature)
    return lists.missed((lists.gains * worth).sum(-1))


def approximate_ranks(ops: Operations, scores: Array, mask: Array, temperature: float) -> Array:
    """Return 1 + Σ_{j≠i} σ((s_j − s_i)/T), [list, item], differentiable, in blocks of rows."""
    fused = ops.fused_ranks(scores, mask, temperature)
    if fused is not None:
        return fused
    pairs = _Pairs(ops, temperature, rows_of_pairs(ops, scores))
    if pairs_are_kept(ops, scores):
        return ops.with_kept_gradient(pairs.ranks_and_chances, pairs.pullback_kept, scores, mask)
    return ops.with_gradient(pairs.ranks, pairs.pullback, scores, mask)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The probabilities that items rank above others, all at once or `size` rows at a time."""

    ops: Operations
    temperature: float
    size: int

    def ranks(self, s: Array, valid: Array) -> Array:
        """Return approximate ranks [list, item]."""
        every = self._levels(s, valid)

        def rows(own: Array) -> Array:
            return self._chances(every, own).sum(-1)

        return self._from_sums(self.ops.by_rows(rows, self.size, every), valid)

    def pullback(self, slopes: Array, s: Array, valid: Array) -> Array:
        """Return the gradient by the scores from the gradient by the ranks."""
        every = self._levels(s, valid)

        def rows(own: Array, slope: Array) -> Array:
            return self._slopes(self._chances(every, own), slopes, slope)

        return self.ops.where(valid, self.ops.by_rows(rows, self.size, every, slopes), 0.0)

    def ranks_and_chances(self, s: Array, valid: Array) -> tuple[Array, Array]:
        """Return the ranks, and all probabilities [list, item, item] for the gradient."""
        every = self._levels(s, valid)
        above = self._chances(every, every)
        return self._from_sums(above.sum(-1), valid), above

    def pullback_kept(self, slopes: Array, above: Array, _: Array, valid: Array) -> Array:
        """Return the gradient by the scores from those by ranks and probabilities."""
        return self.ops.where(valid, self._slopes(above, slopes, slopes), 0.0)

    def _levels(self, s: Array, valid: Array) -> Array:
        # Divide once instead of for each pair. Only differences matter, and close to 0 they keep
        # their digits; padding is so low that it ranks above nothing.
        ops = self.ops
        return ops.where(valid, around_middle(ops, s, valid) / self.temperature, ops.lowest(s))

    def _chances(self, every: Array, own: Array) -> Array:
        return self.ops.sigmoid(every[:, None, :] - own[:, :, None])

    def _from_sums(self, sums: Array, valid: Array) -> Array:
        # An item counts itself as ½, so another ½ makes the 1.
        return self.ops.where(valid, sums + 0.5, 1.0)

    def _slopes(self, above: Array, slopes: Array, slope: Array) -> Array:
        # grad_i = (1/T) Σ_j σ'((s_j − s_i)/T)·(c_j − c_i), c the derivative by the rank.
        spread = slopes[:, None, :] - slope[:, :, None]
        return (above * (1 - above) * spread).sum(-1) / self.temperature


def _fused(
    scores: object, labels: object, mask: object, common: Common, temperature: float
) -> Any | None:
    """Return ApproxNDCG by one kernel on a GPU; None if plain code must compute it."""
    if not fusible(scores, labels, mask, common.get("weight")):
        return None
    from gainful.training.losses.fused_losses import approx_loss

    return approx_loss(scores, labels, mask, common, temperature)
