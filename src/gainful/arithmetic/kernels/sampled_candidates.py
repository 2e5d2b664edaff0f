"""Corrections for a relevant item that is ranked among a sample of the other items.

Krichene and Rendle 2020: the estimate f(r̃) from the sampled rank r̃ minimises, over ranks r with equal
weights, the squared bias (E[f | r] − M(r))² plus γ times the variance Var[f | r].
"""

import numpy as np

from gainful.array_types import Array, Floats, Ints

_CELLS = 1 << 22


def rank_chances(ranks: Ints, items: int, sampled: int, *, replacement: bool) -> Floats:
    """Return the probability [rank, sampled rank − 1] of each sampled rank, given the rank among all items.

    Args:
        ranks: (n,) from 1, among all items.
        items: the number of all items, with the relevant one.
        sampled: the number of other items in the sample.
        replacement: whether an item may be drawn several times.

    >>> rank_chances(np.array([1, 2, 3]), 3, 1, replacement=False).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    """
    # Imported here because few programs need it.
    from scipy import special  # type: ignore[import-untyped]

    above, drawn = (ranks - 1.0)[:, None], np.arange(sampled + 1, dtype=np.float64)

    def log_choose(total: Array, some: Array) -> Array:
        possible = (some >= 0) & (some <= total)
        total, some = np.where(possible, total, 0), np.where(possible, some, 0)
        logs = special.gammaln(total + 1) - special.gammaln(some + 1) - special.gammaln(total - some + 1)  # fmt: skip
        return np.where(possible, logs, -np.inf)

    if replacement:
        share = above / (items - 1)
        logs = log_choose(np.array(float(sampled)), drawn)
        chances = np.exp(logs) * share**drawn * (1 - share) ** (sampled - drawn)
    else:
        below = items - 1.0 - above
        logs = log_choose(above, drawn) + log_choose(below, sampled - drawn)
        chances = np.exp(logs - log_choose(np.array(items - 1.0), np.array(float(sampled))))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def corrected_values(
    values: Floats, sampled: int, trade: float, *, replacement: bool
) -> tuple[Floats, Floats]:
    """Return the estimate (sampled + 1,) for each sampled rank, and its bias (n,) at each rank.

    Args:
        values: (n,) the measure at each rank among all n items.
        sampled: the number of other items in the sample.
        trade: γ from 0, which counts only bias, to 1, which counts bias and variance alike.
        replacement: whether an item may be drawn several times.

    >>> estimates, bias = corrected_values(np.array([1.0, 0.5, 0.0]), 1, 0.0, replacement=False)
    >>> [round(abs(float(number)), 9) for number in (*estimates, *bias)]
    [1.0, 0.0, 0.0, 0.0, 0.0]
    """
    items, size = values.size, sampled + 1
    step = max(1, _CELLS // size)
    starts = range(0, items, step)

    def chances(start: int) -> Floats:
        ranks = np.arange(start + 1, min(items, start + step) + 1)
        return rank_chances(ranks, items, sampled, replacement=replacement)

    squares, products, totals = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for start in starts:
        part = chances(start)
        squares += part.T @ part
        products += part.T @ values[start : start + step]
        totals += part.sum(axis=0)
    system = (1 - trade) * squares + trade * np.diag(totals)
    estimates: Floats = np.linalg.lstsq(system, products, rcond=None)[0].astype(np.float64)
    means = np.concatenate([chances(start) @ estimates for start in starts])
    return estimates, means - values
