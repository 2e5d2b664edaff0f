"""Logs of clicks that each model would produce, with the parameters that it should give back."""

from dataclasses import dataclass

import numpy as np

from gainful.arithmetic.kernels.click_models import ShownLists
from gainful.array_types import Floats


@dataclass(frozen=True)
class Truth:
    """The parameters of a simulated log.

    Attributes:
        attraction: (p,) of each pair of query and document.
        satisfaction: (p,) how often a click satisfies.
        examination: (k,) of each rank.
        perseverance: the probability of going on, where a model has only one.
        continuation: the probabilities of going on after no click, a bad and a good one (CCM).
    """

    attraction: Floats
    satisfaction: Floats
    examination: Floats
    perseverance: float = 0.8
    continuation: tuple[float, float, float] = (0.9, 0.7, 0.4)

    @classmethod
    def drawn(cls, queries: int, docs: int, depth: int, seed: int = 0) -> "Truth":
        """Draw attractive and satisfying documents; examination falls as 1 / rank^0.7."""
        rng = np.random.default_rng(seed)
        pairs = queries * docs
        examination = 1 / np.arange(1, depth + 1) ** 0.7
        return cls(rng.beta(1.2, 3, pairs), rng.beta(2, 2, pairs), examination)


def simulated(
    model: str,
    truth: Truth,
    *,
    lists: int,
    queries: int,
    docs: int,
    depth: int,
    seed: int = 1,
    endless: bool = False,
) -> ShownLists:
    """Show random orders of a random query's documents to simulated users, and record their clicks.

    An endless list is read until the user stops at a click, and the log contains it down to this click: the
    closed forms of DCM and SDBN assume that nobody stops elsewhere.
    """
    rng = np.random.default_rng(seed)
    query = rng.integers(0, queries, lists)
    order = rng.random((lists, docs)).argsort(axis=1)[:, :depth]
    pairs = query[:, None] * docs + order
    drawn = rng.random((lists, depth)) < truth.attraction[pairs]
    clicks = np.zeros((lists, depth), bool)
    looked = np.ones((lists, depth), bool)
    reading, last = np.ones(lists, bool), np.zeros(lists, int)
    for step in range(depth):
        if model in ("ctr", "coec"):
            looks = np.ones(lists, bool)
        elif model == "pbm":
            looks = rng.random(lists) < truth.examination[step]
        elif model == "ubm":
            looks = rng.random(lists) < truth.examination[step - last if step else 0]
        else:
            looks = reading
        looked[:, step] = looks
        clicks[:, step] = looks & drawn[:, step]
        last = np.where(clicks[:, step], step + 1, last)
        if model == "cascade":
            reading = reading & ~clicks[:, step]
        elif model == "dcm":
            reading = reading & (~clicks[:, step] | (rng.random(lists) < truth.examination[step]))
        elif model in ("sdbn", "dbn"):
            content = clicks[:, step] & (rng.random(lists) < truth.satisfaction[pairs[:, step]])
            reading = reading & ~content
            if model == "dbn":
                reading = reading & (rng.random(lists) < truth.perseverance)
        elif model == "ccm":
            none, bad, good = truth.continuation
            relevant = rng.random(lists) < truth.attraction[pairs[:, step]]
            onward = np.where(clicks[:, step], np.where(relevant, good, bad), none)
            reading = reading & (rng.random(lists) < onward)
    starts = np.arange(lists + 1) * depth
    ranks = np.tile(np.arange(1, depth + 1), lists)
    shown = ShownLists(pairs.ravel(), ranks, clicks.ravel(), starts, queries * docs)
    return shown.part_of_rows((looked & ~reading[:, None]).ravel()) if endless else shown
