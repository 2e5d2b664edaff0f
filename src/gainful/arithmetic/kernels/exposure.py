"""Exposure of items and groups of items: how much attention users pay to the ranks where they are shown.

Lists are compressed rows, as in `recommendations`: `owner` (n,) is the place of each row's list.
"""

import numpy as np

from gainful.array_types import Floats, Ints


def shares_of_groups(owner: Ints, groups: Ints, weights: Floats, lists: int, count: int) -> Floats:
    """Return the share [list, group] of weights (n,) that belong to each group; NaN for lists without any.

    >>> shares_of_groups(np.array([0, 0]), np.array([0, 1]), np.array([3.0, 1.0]), 2, 2).tolist()
    [[0.75, 0.25], [nan, nan]]
    """
    sums = np.bincount(owner * count + groups, weights, lists * count).reshape(lists, count)
    totals = sums.sum(axis=1, keepdims=True)
    shares: Floats = np.full(sums.shape, np.nan)
    np.divide(sums, totals, out=shares, where=totals > 0)
    return shares


def likeness(shares: Floats, target: Floats) -> Floats:
    """Return 1 − the Jensen-Shannon divergence (u,), with log2, of rows of shares [list, group].

    >>> likeness(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [0.5, 0.5]])).tolist()
    [0.0, 1.0]
    """
    middle = (shares + target) / 2
    entropies = [_entropy(each) for each in (middle, shares, target)]
    values: Floats = np.clip(1 - (entropies[0] - (entropies[1] + entropies[2]) / 2), 0.0, 1.0)
    return values


def _entropy(shares: Floats) -> Floats:
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy: Floats = -(shares * logs).sum(axis=1)  # NaN stays
    return entropy


def expected_exposure(
    query: Ints, exposures: Floats, targets: Floats, queries: int
) -> tuple[Floats, Floats, Floats]:
    """Return Σ ε², Σ ε·ε* and Σ (ε − ε*)² (q,) over the items of each query.

    Args:
        query: (n,) the query of each item, each item once.
        exposures: (n,) ε, the item's expected exposure.
        targets: (n,) ε*, the exposure that it should have.
        queries: q.

    >>> [sums.tolist() for sums in expected_exposure(np.array([0, 0]), np.array([1.0, 0.5]), np.array([0.75, 0.75]), 1)]
    [[1.25], [1.125], [0.125]]
    """
    disparity, relevance, loss = (
        np.bincount(query, terms, queries).astype(np.float64)
        for terms in (exposures * exposures, exposures * targets, (exposures - targets) ** 2)
    )
    return disparity, relevance, loss
