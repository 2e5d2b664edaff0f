"""Intervals of grades from clicks: how certain each estimate of a click model is.

Given the parameters that all pairs share, such as the examination of each rank, the probability of a pair has
a beta distribution. The shared parameters are estimates as well. Their variance follows from the information
in the clicks, after the information that the pairs need for themselves, and adds to the variance of each pair.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gainful.arithmetic.kernels.click_models import (
    MODELS,
    Cells,
    Counts,
    FittedModel,
    Prior,
    ShownLists,
    contexts_of,
    last_clicks_above,
)
from gainful.arithmetic.statistics.distributions import beta_quantile
from gainful.array_types import Floats, Ints

_STEP = 1e-4  # of finite differences
_LEAST = 1e-9
_MIXING = np.uint64(0x9E3779B97F4A7C15)  # odd, without regular patterns of bits


def interval(lists: ShownLists, model: FittedModel, ends: Floats) -> tuple[Floats, Floats]:
    """Return the low and high ends (p,) of the interval of each pair's relevance.

    Args:
        lists: the lists that the model was fitted to.
        model: the model.
        ends: the shares of the distribution below the low and the high end.
    """
    scale = np.ones(lists.count)
    if model.name == "coec" or model.name in _FROM_SHARED:
        yes, no = model.beta
        if model.name == "coec":
            scale, yes, no = _as_rates(lists, model)
        else:
            yes, no = _widened(yes, no, _FROM_SHARED[model.name](lists, model))
        rows, places = _distinct(yes, no)
        yes, no = yes[rows], no[rows]
    else:  # few pairs have counts of their own
        rows, places = _distinct(*model.evidence)
        yes, no = model.of_pairs(rows).beta
    low, high = (beta_quantile(end, yes, no)[places] * scale for end in ends)
    return low, high


def _distinct(*columns: Floats) -> tuple[Ints, Ints]:
    """Return the rows of distinct values (d,) of columns (p,), and the place (p,) of each row's values among them.

    >>> rows, places = _distinct(np.array([1.0, 2.0, 1.0]), np.array([3.0, 3.0, 3.0]))
    >>> sorted(rows.tolist()), rows[places].tolist()
    ([1, 2], [2, 1, 2])
    """
    keys = np.zeros(len(columns[0]), np.uint64)
    for column in columns:  # sorting a hash is faster than sorting the columns one by one
        keys = (keys ^ column.view(np.uint64)) * _MIXING
        keys ^= keys >> np.uint64(32)
    ordered, is_first = np.sort(keys), np.ones(len(keys), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    places = np.searchsorted(ordered[is_first], keys)
    rows = np.empty(places.max(initial=-1) + 1, np.int64)
    rows[places] = np.arange(len(keys))
    if all(np.array_equal(column[rows][places], column) for column in columns):
        return rows, places
    every = np.arange(len(keys))  # different values have the same hash
    return every, every


def _as_rates(lists: ShownLists, model: FittedModel) -> tuple[Floats, Floats, Floats]:
    """Return COEC as click rates: its ratio (p,) to them, and their beta distributions."""
    rates, clicks = model.shared["rate"], model.attraction.successes + model.attraction.prior.yes
    shown, at_rank = lists.sums(), lists.by_rank()
    rate = model.attraction.trials / np.maximum(shown, _LEAST)
    trials = (model.attraction.trials + model.attraction.prior.yes) / np.maximum(rate, _LEAST)
    cells = Cells.of(lists, lists.ranks, len(rates))
    of_rank = rates * (1 - rates) / np.maximum(at_rank, 1.0)
    spread = np.bincount(cells.pairs, cells.shown**2 * of_rank[cells.contexts], lists.count)
    clicked = np.clip(clicks / np.maximum(trials, _LEAST), 0.0, 1.0)
    relative = spread / np.maximum(model.attraction.trials, _LEAST) ** 2
    widened = _widened(clicks, np.maximum(trials - clicks, _LEAST), clicked**2 * relative)
    return 1 / np.maximum(rate, _LEAST), *widened


def _widened(yes: Floats, no: Floats, extra: Floats) -> tuple[Floats, Floats]:
    """Return the beta distributions with the same means, and variances that are larger by `extra`."""
    total = np.maximum(yes + no, _LEAST)
    mean = yes / total
    spread = mean * (1 - mean)
    size = np.maximum(spread / np.maximum(spread / (total + 1) + extra, _LEAST**2) - 1, _LEAST)
    return mean * size, (1 - mean) * size


def _variances(counts: Counts) -> Floats:
    yes, no = counts.beta
    total = np.maximum(yes + no, _LEAST)
    variances: Floats = yes * no / (total**2 * (total + 1))
    return variances


def _from_contexts(lists: ShownLists, model: FittedModel) -> Floats:
    """Return the variance (p,) from the examination of ranks or contexts."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    examined, means = model.shared["examination"], model.attraction.means
    contexts, fixed = contexts_of(lists, model)
    cells = Cells.of(lists, contexts, len(examined))
    chance = np.clip(examined[cells.contexts] * means[cells.pairs], _LEAST, 1 - _LEAST)
    shape = (len(means), len(examined))
    both = csr_array((cells.shown / (1 - chance), (cells.pairs, cells.contexts)), shape=shape)
    own = np.bincount(cells.contexts, cells.shown * means[cells.pairs] ** 2 / (chance * (1 - chance)), len(examined))  # fmt: skip
    variances = _variances(model.attraction)
    free = np.flatnonzero((own > 0) & (np.arange(len(own)) != fixed))
    both = both[:, free]
    scaled = both.multiply(np.sqrt(variances)[:, None]).tocsr()
    information = np.diag(own[free]) - (scaled.T @ scaled).toarray()
    quadratic: Floats = np.asarray(both.multiply(both @ _inverse(information)).sum(axis=1)).ravel()
    return variances**2 * quadratic


def _inverse(information: Floats) -> Floats:
    """Return the inverse of an information matrix, without directions of which nothing is known."""
    return np.linalg.pinv(information, rcond=1e-6, hermitian=True).astype(np.float64)


def _from_chain(lists: ShownLists, model: FittedModel) -> Floats:
    """Return the variance (p,) from the probabilities of reading on."""
    ((name, shared),) = model.shared.items()
    means, satisfaction = model.attraction.means, model.satisfaction
    drawn = means[lists.pairs]
    examined = MODELS[model.name].examined(lists, model)
    chance = np.clip(examined * drawn, _LEAST, 1 - _LEAST)
    weights = lists.weighted(1 / (chance * (1 - chance)))

    def slope(start: FittedModel, end: FittedModel, step: float) -> Floats:
        """Return how fast the probability (n,) of a click changes from one model to another."""
        before, after = (MODELS[model.name].examined(lists, each) for each in (start, end))
        return (after - before) * drawn / step

    slopes = []
    for place, value in enumerate(shared):
        step = -_STEP if value > 0.5 else _STEP
        moved = shared + step * (np.arange(len(shared)) == place)
        slopes.append(slope(model, replace(model, shared={name: moved}), step))

    def with_shared(values: Floats, pairs: Ints) -> Floats:
        """Return the information (p, k) that a parameter of each pair shares with the shared ones."""
        columns = [np.bincount(pairs, weights * values * each, lists.count) for each in slopes]
        return np.stack(columns, axis=1)

    information: Floats = np.array([[weights @ (a * b) for a in slopes] for b in slopes])
    variances = _variances(model.attraction)[:, None]
    both = with_shared(examined, lists.pairs)
    information -= both.T @ (both * variances)
    gradient = -variances * both
    if satisfaction is not None:
        content = np.clip(satisfaction.means, _STEP, 1 - _STEP)
        start, end = (
            replace(model, satisfaction=Counts(values, np.ones(lists.count), Prior()))
            for values in (content, content + _STEP)
        )
        above = last_clicks_above(lists)
        own = np.where(above >= 0, slope(start, end, _STEP), 0.0)
        both = with_shared(own, lists.pairs[np.maximum(above, 0)])
        variances = _variances(satisfaction)[:, None]
        information -= both.T @ (both * variances)
        gradient = gradient * content[:, None] - means[:, None] * variances * both
    quadratic: Floats = ((gradient @ _inverse(information)) * gradient).sum(axis=1)
    return quadratic


_FROM_SHARED: Mapping[str, Callable[[ShownLists, FittedModel], Floats]] = {
    "pbm": _from_contexts, "ubm": _from_contexts, "dbn": _from_chain, "ccm": _from_chain,
}  # fmt: skip
"""The variance (p,) from the shared parameters, by model; other models have none that are estimated from all pairs."""
