"""Queries with subtopics: gains that fall as a subtopic is seen again, greedy ideals, coverage.

All is of one query. Documents are the rows of a matrix, subtopics its columns.
"""

import numpy as np

from gainful.array_types import Bools, Floats, Ints


def novelty_gains(relevant: Bools, weights: Floats, alpha: float) -> Floats:
    """Return the gain (n,) of each document of a list, Σ_s w_s·(1 − α)^(times s was seen before).

    Args:
        relevant: [rank, subtopic] whether the document at a rank is relevant to a subtopic.
        weights: (s,) of the subtopics.
        alpha: how much a subtopic that was seen is worth less.

    >>> novelty_gains(np.array([[True, True], [False, True]]), np.ones(2), 0.5)
    array([2. , 0.5])
    """
    before: Ints = np.cumsum(relevant, axis=0) - relevant
    return _added(np.where(relevant, weights * (1 - alpha) ** before, 0.0))


def greedy_order(relevant: Bools, weights: Floats, alpha: float, depth: int) -> Ints:
    """Return the rows in an order that takes the document with the highest gain at every rank.

    To find the best order is hard; the greedy one is what the ideal is by convention. Of
    documents with the same gain the first row goes first.

    Args:
        relevant: [document, subtopic].
        weights: (s,) of the subtopics.
        alpha: how much a subtopic that was seen is worth less.
        depth: how many documents to take at most.

    >>> relevant = np.array([[True, False], [True, False], [False, True]])
    >>> greedy_order(relevant, np.ones(2), 0.5, 3)
    array([0, 2, 1])
    """
    if not relevant.shape[0]:
        return np.zeros(0, np.int64)
    # Documents with the same subtopics differ in their place alone: few kinds stand for all.
    kinds, kind = np.unique(relevant, axis=0, return_inverse=True)
    queues = [np.flatnonzero(kind.ravel() == number).tolist()[::-1] for number in range(len(kinds))]
    seen = np.zeros(relevant.shape[1], np.int64)
    order: list[int] = []
    while len(order) < min(depth, relevant.shape[0]):
        worth = np.where(kinds, weights * (1 - alpha) ** seen, 0.0)
        gains = _added(worth)
        gains[[not queue for queue in queues]] = -1.0
        best = min(np.flatnonzero(gains == gains.max()).tolist(), key=lambda at: queues[at][-1])
        order.append(queues[best].pop())
        seen += kinds[best]
    return np.array(order, np.int64)


def _added(worth: Floats) -> Floats:
    """Add up each row, smallest terms first: rows with the same terms have the same sum."""
    total: Floats = np.sort(worth, axis=1).sum(axis=1)
    return total


def precision(relevant: Bools, weights: Floats, cutoff: int) -> float:
    """Return Σ_s w_s·(documents down to the cutoff that are relevant to s) / (s·k).

    Args:
        relevant: [rank, subtopic].
        weights: (s,) of the subtopics, 1 on average.
        cutoff: k.

    >>> precision(np.array([[True, True], [False, True]]), np.ones(2), 5)
    0.3
    """
    hits = relevant[:cutoff].sum(axis=0)
    return float((weights * hits).sum() / (weights.size * cutoff))


def average_precisions(relevant: Bools, known: Ints) -> Floats:
    """Return the average precision (s,) of a list for each subtopic.

    Args:
        relevant: [rank, subtopic].
        known: (s,) how many relevant documents each subtopic has, 1 or more.

    >>> average_precisions(np.array([[True, False], [False, True]]), np.array([1, 2]))
    array([1.  , 0.25])
    """
    rank = np.arange(1, relevant.shape[0] + 1)[:, None]
    precision = np.cumsum(relevant, axis=0) / rank
    total: Floats = np.where(relevant, precision, 0.0).sum(axis=0) / known
    return total


def coverage(relevant: Bools) -> float:
    """Return the share of the subtopics for which a list has a relevant document.

    >>> coverage(np.array([[True, False, False], [True, True, False], [False, False, False]]))
    0.6666666666666666
    """
    return float(relevant.any(axis=0).sum() / relevant.shape[1])


def discounted(gains: Floats, discounts: Floats) -> float:
    """Return Σ g_i·d_i over a list that is no longer than the discounts.

    >>> discounted(np.array([2.0, 0.5]), np.array([1.0, 0.5, 0.25]))
    2.25
    """
    return float((gains * discounts[: gains.size]).sum())
