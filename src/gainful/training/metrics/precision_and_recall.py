"""Precision, recall, average precision and reciprocal rank.

A block of t documents with equal scores, r of them relevant, begins after b relevant documents; the
means over its orders are computed as in `arithmetic/kernels/tied_orders.py`, for every rank of
every list at once.
"""

import math

import numpy as np

from gainful.array_types import Array
from gainful.measures.measure import Measure
from gainful.training.metrics.gains_and_discounts import reciprocals, weights
from gainful.training.metrics.ranks_by_score import (
    Ranking,
    product_above,
    rank,
    rank_for_sum,
    read_ties,
)
from gainful.training.metrics.scored_lists import ScoredLists, read_lists


def precision(
    scores: Array,
    labels: Array,
    mask: Array = None,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: str = "average",
    padding: float | None = None,
) -> Array:
    """Return the share of relevant documents in the first k, or in the whole list without k.

    Args:
        scores: [..., list] floating, higher is better; −∞ is the lowest score.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; everywhere if None.
        k: cutoff; None for the whole list. A shorter list is still divided by k.
        rel: the lowest grade of a relevant document.
        ties: `average` for the mean over all orders of equal scores, `order` to keep the given
            order.
        padding: the label that marks padding, such as -1; padding is masked.

    Returns:
        [...] in the type of the scores.

    >>> precision(np.array([[0.9, 0.1, 0.5]]), np.array([[3, 2, 0]]), k=2)
    array([0.5])
    """
    measure = Measure("P", cutoff=k, rel=rel)
    lists = read_lists(scores, labels, mask, padding)
    hits = _hits(lists, measure, ties)
    lengths = lists.total(lists.numbers(lists.valid))
    depth = lengths if k is None else lists.constant([float(measure.cutoff or 0)])
    return lists.result(lists.ratio(hits, depth))


def recall(
    scores: Array,
    labels: Array,
    mask: Array = None,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: str = "average",
    padding: float | None = None,
) -> Array:
    """Return the relevant documents among the first k divided by all relevant ones; 0 without any.

    Args:
        scores: [..., list] floating, higher is better; −∞ is the lowest score.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; everywhere if None.
        k: cutoff; None for the whole list.
        rel: the lowest grade of a relevant document.
        ties: `average` for the mean over all orders of equal scores, `order` to keep the given
            order.
        padding: the label that marks padding, such as -1; padding is masked.

    Returns:
        [...] in the type of the scores.

    >>> recall(np.array([[0.9, 0.1, 0.5]]), np.array([[3, 2, 0]]), k=2)
    array([0.5])
    """
    measure = Measure("R", cutoff=k, rel=rel)
    lists = read_lists(scores, labels, mask, padding)
    hits = _hits(lists, measure, ties)
    return lists.result(lists.ratio(hits, lists.total(_relevant(lists, measure))))


def average_precision(
    scores: Array,
    labels: Array,
    mask: Array = None,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: str = "average",
    padding: float | None = None,
) -> Array:
    """Return (1/R) Σ P@i over the ranks i ≤ k of the R relevant documents; 0 without any.

    Args:
        scores: [..., list] floating, higher is better; −∞ is the lowest score.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; everywhere if None.
        k: cutoff; None for the whole list. R includes relevant documents below it.
        rel: the lowest grade of a relevant document.
        ties: `average` for the mean over all orders of equal scores, `order` to keep the given
            order.
        padding: the label that marks padding, such as -1; padding is masked.

    Returns:
        [...] in the type of the scores.

    >>> average_precision(np.array([[0.9, 0.1, 0.5]]), np.array([[3, 2, 0]])).round(4)
    array([0.8333])
    """
    measure = Measure("AP", cutoff=k, rel=rel)
    lists = read_lists(scores, labels, mask, padding)
    relevant = _relevant(lists, measure)
    ranking = rank(lists, measure.cutoff, read_ties(ties))
    hits = ranking.ranked(relevant)
    above, inside = ranking.blocks(hits)
    size, step = _block_sizes(lists, ranking)
    # Of the other documents in a block, a share (r−1)/(t−1) is relevant; a block of one has none.
    others = lists.xp.where(size > 1, size - 1, 1)
    earlier = above + step * (inside - 1) / others
    terms = inside / size * (earlier + 1) * reciprocals(lists, ranking, measure.cutoff)
    return lists.result(lists.ratio(lists.total(terms), lists.total(relevant)))


def reciprocal_rank(
    scores: Array,
    labels: Array,
    mask: Array = None,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: str = "average",
    padding: float | None = None,
) -> Array:
    """Return 1 / the rank of the first relevant document; 0 if none is within k.

    Args:
        scores: [..., list] floating, higher is better; −∞ is the lowest score.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; everywhere if None.
        k: cutoff; None for the whole list.
        rel: the lowest grade of a relevant document.
        ties: `average` for the mean over all orders of equal scores, `order` to keep the given
            order.
        padding: the label that marks padding, such as -1; padding is masked.

    Returns:
        [...] in the type of the scores.

    >>> reciprocal_rank(np.array([[0.9, 0.1, 0.5]]), np.array([[0, 2, 1]]))
    array([0.5])
    """
    measure = Measure("RR", cutoff=k, rel=rel)
    lists = read_lists(scores, labels, mask, padding)
    ranking = rank(lists, measure.cutoff, read_ties(ties))
    above, inside = ranking.blocks(ranking.ranked(_relevant(lists, measure)))
    size, step = _block_sizes(lists, ranking)
    # In the first block with relevant documents, the probability that the next one is relevant, if
    # none was so far, is r over the rest of the block. Once it is 1, no further step is reached.
    left = size - step
    share = lists.xp.where((above == 0) & (inside > 0) & (inside <= left), inside / left, 0)
    chances = share * product_above(lists.xp, 1 - share)
    terms = chances * reciprocals(lists, ranking, measure.cutoff)
    return lists.result(lists.total(terms))


def _hits(lists: ScoredLists, measure: Measure, ties: str) -> Array:
    ranking = rank_for_sum(lists, measure.cutoff, read_ties(ties))
    table = np.ones(lists.depth(measure.cutoff))
    hits = ranking.ranked(_relevant(lists, measure))
    return lists.total(hits * weights(lists, ranking, table))


def _relevant(lists: ScoredLists, measure: Measure) -> Array:
    rel = measure.parameters["rel"]
    if abs(rel) > float(
        lists.xp.finfo(lists.grades.dtype).max
    ):  # no grade of this dtype is as large
        rel = math.copysign(math.inf, rel)
    return lists.numbers(lists.valid & (lists.grades >= rel))


def _block_sizes(lists: ScoredLists, ranking: Ranking) -> tuple[Array, Array]:
    """Return the size of each rank's block, and the rank's place in it, from 0."""
    if ranking.first is None:
        ones = lists.constant(np.ones(ranking.depth))
        return ones, ones - 1
    size = lists.numbers(ranking.last - ranking.first + 1)
    return size, lists.numbers(lists.places() - ranking.first)
