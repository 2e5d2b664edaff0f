"""Queries with subtopics: gains that fall with every repetition, greedy ideals, coverage.

All functions handle one query. Documents are the rows of a matrix, subtopics its columns.
"""

import numpy as np

from gainful.array_types import Bools, Floats, Ints


def novelty_gains(relevant: Bools, weights: Floats, alpha: float) -> Floats:
    """Return the gain (n,) of each document of a list, Σ_s w_s·(1 − α)^(times s was seen before).

    Args:
        relevant: [rank, subtopic] whether the document at a rank is relevant to a subtopic.
        weights: (s,) of the subtopics.
        alpha: the loss of value of a subtopic that was already seen.

    >>> novelty_gains(np.array([[True, True], [False, True]]), np.ones(2), 0.5)
    array([2. , 0.5])
    """
    before: Ints = np.cumsum(relevant, axis=0) - relevant
    return _added(np.where(relevant, weights * (1 - alpha) ** before, 0.0))


def greedy_order(relevant: Bools, weights: Floats, alpha: float, depth: int) -> Ints:
    """Return the rows in the order that takes the document with the highest gain at every rank.

    Finding the best order is hard, so the ideal is the greedy one by convention. Among documents
    with the same gain, the first row comes first.

    Args:
        relevant: [document, subtopic].
        weights: (s,) of the subtopics.
        alpha: the loss of value of a subtopic that was already seen.
        depth: the most documents to take.

    >>> relevant = np.array([[True, False], [True, False], [False, True]])
    >>> greedy_order(relevant, np.ones(2), 0.5, 3)
    array([0, 2, 1])
    """
    if not relevant.shape[0]:
        return np.zeros(0, np.int64)
    # Documents with the same subtopics differ only in their place, so few kinds represent all.
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


def average_precisions(relevant: Bools, counts: Ints) -> Floats:
    """Return the average precision (s,) of a list for each subtopic.

    Args:
        relevant: [rank, subtopic].
        counts: (s,) the number of relevant documents of each subtopic, at least 1.

    >>> average_precisions(np.array([[True, False], [False, True]]), np.array([1, 2]))
    array([1.  , 0.25])
    """
    rank = np.arange(1, relevant.shape[0] + 1)[:, None]
    precision = np.cumsum(relevant, axis=0) / rank
    total: Floats = np.where(relevant, precision, 0.0).sum(axis=0) / counts
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
