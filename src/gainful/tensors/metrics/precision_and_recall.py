"""Precision, recall, average precision and reciprocal rank.

A block of t documents with equal scores, r of them relevant, begins after b relevant documents; the
means over all its orders are those of `kernels/tied_orders.py`, at every rank of every list at once.
"""

import math
from typing import Any

import numpy as np

from gainful.measures.measure import Measure
from gainful.tensors.metrics.gains_and_discounts import reciprocals, weights
from gainful.tensors.metrics.ranks_by_score import (
    Ranking,
    product_above,
    rank,
    rank_for_sum,
    read_ties,
)
from gainful.tensors.metrics.scored_lists import ScoredLists, read_lists


def precision(
    scores: Any,
    labels: Any,
    mask: Any = None,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: str = "average",
    padding: float | None = None,
) -> Any:
    """Return the relevant documents among the first k divided by k, or by the length without k.

    Args:
        scores: [..., list] floating, higher is better.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; all are if None.
        k: cutoff; None for the whole list. A list that is shorter is divided by k all the same.
        rel: documents of this grade or a higher one are relevant.
        ties: `average` for the mean over all orders of equal scores, `order` to take them as they come.
        padding: the label of places without a document, such as -1; they are masked, too.

    Returns:
        [...] in the type of the scores.

    >>> precision(np.array([[0.9, 0.1, 0.5]]), np.array([[3, 2, 0]]), k=2)
    array([0.5])
    """
    measure = Measure("P", cutoff=k, rel=rel)
    lists = read_lists(scores, labels, mask, padding)
    hits = _hits(lists, measure, ties)
    lengths = lists.total(lists.numbers(lists.valid))
    asked = lengths if k is None else lists.constant([float(measure.cutoff or 0)])
    return lists.result(lists.ratio(hits, asked))


def recall(
    scores: Any,
    labels: Any,
    mask: Any = None,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: str = "average",
    padding: float | None = None,
) -> Any:
    """Return the relevant documents among the first k divided by all that are relevant; 0 if none is.

    Args:
        scores: [..., list] floating, higher is better.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; all are if None.
        k: cutoff; None for the whole list.
        rel: documents of this grade or a higher one are relevant.
        ties: `average` for the mean over all orders of equal scores, `order` to take them as they come.
        padding: the label of places without a document, such as -1; they are masked, too.

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
    scores: Any,
    labels: Any,
    mask: Any = None,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: str = "average",
    padding: float | None = None,
) -> Any:
    """Return (1/R) Σ P@i over the ranks i ≤ k of the R relevant documents; 0 if there is none.

    Args:
        scores: [..., list] floating, higher is better.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; all are if None.
        k: cutoff; None for the whole list. R counts the relevant documents below it, too.
        rel: documents of this grade or a higher one are relevant.
        ties: `average` for the mean over all orders of equal scores, `order` to take them as they come.
        padding: the label of places without a document, such as -1; they are masked, too.

    Returns:
        [...] in the type of the scores.

    >>> average_precision(np.array([[0.9, 0.1, 0.5]]), np.array([[3, 2, 0]])).round(4)
    array([0.8333])
    """
    measure = Measure("AP", cutoff=k, rel=rel)
    lists = read_lists(scores, labels, mask, padding)
    relevant = _relevant(lists, measure)
    ranking = rank(lists, measure.cutoff, read_ties(ties))
    found = ranking.ranked(relevant)
    above, inside = ranking.blocks(found)
    size, step = _block_sizes(lists, ranking)
    # Of the others in a block, a share (r−1)/(t−1) is relevant; a single document has no others.
    others = lists.xp.where(size > 1, size - 1, 1)
    earlier = above + step * (inside - 1) / others
    terms = inside / size * (earlier + 1) * reciprocals(lists, ranking, measure.cutoff)
    return lists.result(lists.ratio(lists.total(terms), lists.total(relevant)))


def reciprocal_rank(
    scores: Any,
    labels: Any,
    mask: Any = None,
    *,
    k: int | None = None,
    rel: float = 1,
    ties: str = "average",
    padding: float | None = None,
) -> Any:
    """Return 1 / the rank of the first relevant document; 0 if there is none down to k.

    Args:
        scores: [..., list] floating, higher is better.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; all are if None.
        k: cutoff; None for the whole list.
        rel: documents of this grade or a higher one are relevant.
        ties: `average` for the mean over all orders of equal scores, `order` to take them as they come.
        padding: the label of places without a document, such as -1; they are masked, too.

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
    # In the first block with relevant documents, the chance that the next one is relevant when none
    # was yet is r over what is left of the block. Once it is 1, no further step is reached.
    left = size - step
    share = lists.xp.where((above == 0) & (inside > 0) & (inside <= left), inside / left, 0)
    chances = share * product_above(lists.xp, 1 - share)
    terms = chances * reciprocals(lists, ranking, measure.cutoff)
    return lists.result(lists.total(terms))


def _hits(lists: ScoredLists, measure: Measure, ties: str) -> Any:
    ranking = rank_for_sum(lists, measure.cutoff, read_ties(ties))
    table = np.ones(lists.depth(measure.cutoff))
    found = ranking.ranked(_relevant(lists, measure))
    return lists.total(found * weights(lists, ranking, table))


def _relevant(lists: ScoredLists, measure: Measure) -> Any:
    rel = measure.parameters["rel"]
    if abs(rel) > float(
        lists.xp.finfo(lists.grades.dtype).max
    ):  # no grade of this type is as large
        rel = math.copysign(math.inf, rel)
    return lists.numbers(lists.valid & (lists.grades >= rel))


def _block_sizes(lists: ScoredLists, ranking: Ranking) -> tuple[Any, Any]:
    """Return the size of each rank's block, and how far into it the rank is, from 0."""
    if ranking.first is None:
        ones = lists.constant(np.ones(ranking.depth))
        return ones, ones - 1
    size = lists.numbers(ranking.last - ranking.first + 1)
    return size, lists.numbers(lists.places() - ranking.first)
