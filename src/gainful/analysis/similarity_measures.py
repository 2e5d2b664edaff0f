"""`MEASURES`: what makes two rankings similar, computed from the scores of their items.

The scores (n,) of a ranking are NaN for items that it lacks, and higher is better.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from gainful import arguments
from gainful.arithmetic.kernels import rank_biased_overlap as overlap
from gainful.arithmetic.kernels import ranking_agreement as order
from gainful.array_types import Floats

DEFAULT_P = 0.9
"""The default persistence of RBO, which gives the first 10 ranks 86% of the weight."""
_FEWEST = 2  # items in a ranking with an order
_KINDS: Mapping[str, Callable[[overlap.Agreement, float], float]] = {
    "extrapolated": overlap.rbo_extrapolated,
    "least": overlap.rbo_least,
    "residual": overlap.rbo_residual,
    "most": overlap.rbo_most,
}
TIES = {
    "doc": "by id, descending",
    "a": "the mean over all orders of tied documents",
    "b": "corrected, so that a ranking with ties agrees fully with itself",
    "w": "tied documents share a rank",
}
"""How tied items are treated, by name, the default first."""


class Settings(NamedTuple):
    """The settings of all measures.

    Attributes:
        p: the persistence of RBO.
        depth: the last rank that counts; None for all.
        kind: extrapolated, least, residual or most, for RBO.
        ties: a key of `TIES`.
    """

    p: float = DEFAULT_P
    depth: int | None = None
    kind: str = "extrapolated"
    ties: str = "doc"


def read_settings(p: object, depth: object, kind: object, ties: object) -> Settings:
    """Return valid settings."""
    return Settings(
        arguments.number(p, "p", "a number above 0 and below 1", lambda number: 0 < number < 1),
        None if depth is None else arguments.whole(depth, "depth", least=1),
        arguments.choice(kind, "kind", _KINDS, expected="a kind of overlap"),
        arguments.choice(ties, "ties", TIES),
    )


def rbo_of_scores(first: Floats, second: Floats, settings: Settings) -> float:
    """Return the rank-biased overlap of two lists, each with at least one item.

    >>> rbo_of_scores(np.array([2.0, 1.0, np.nan]), np.array([2.0, np.nan, 1.0]), Settings(p=0.5))
    0.75
    """
    ties = "a" if settings.ties == "doc" else settings.ties
    agreed = overlap.agreement(overlap.tied_ranks(first), overlap.tied_ranks(second), ties)
    return _KINDS[settings.kind](agreed, settings.p)


def tau_of_scores(first: Floats, second: Floats, ties: str = "b") -> float:
    """Return Kendall's τ, by default τ_b; NaN if all items are tied on a side.

    >>> round(tau_of_scores(np.array([3.0, 2.0, 2.0]), np.array([3.0, 2.0, 1.0])), 4)
    0.8165
    """
    pairs = order.count_pairs(first, second)
    if ties == "a":
        return pairs.surplus / pairs.total
    untied = (pairs.total - pairs.tied_first) * (pairs.total - pairs.tied_second)
    return pairs.surplus / math.sqrt(untied) if untied else math.nan


def _tau(first: Floats, second: Floats, settings: Settings) -> float:
    return tau_of_scores(first, second, settings.ties)


def _tau_ap(first: Floats, second: Floats, settings: Settings) -> float:
    in_order = settings.ties in ("doc", "a")  # without ties, τ_AP,a is τ_AP
    return (order.tau_ap_a if in_order else order.tau_ap_b)(first, second)


def _tau_h(first: Floats, second: Floats, _: Settings) -> float:
    return order.tau_h(first, second)


def promoted_of_scores(first: Floats, second: Floats, settings: Settings) -> float:
    """Return the least item promoted; tied items have the first rank of their group.

    >>> promoted_of_scores(np.array([3.0, 2.0, 1.0]), np.array([3.0, np.nan, 2.0]), Settings())
    3
    """
    ranks = [overlap.tied_ranks(scores).top for scores in (first, second)]
    return order.least_promoted(ranks[0], ranks[1], settings.depth or first.size)


def cut(scores: Floats, depth: int | None) -> Floats:
    """Leave out the items below a rank; a group of tied items at the cut is kept.

    >>> cut(np.array([3.0, 1.0, 1.0, 0.0]), 2)
    array([ 3.,  1.,  1., nan])
    """
    if depth is None:
        return scores
    return np.where(overlap.tied_ranks(scores).top <= depth, scores, np.nan)


class SimilarityMeasure(NamedTuple):
    """A measure of how similar two rankings are.

    Attributes:
        title: its name for people.
        meaning: what it says.
        compute: returns the value from two rows of scores; NaN if it is undefined.
        least: the lowest possible value.
        most: the highest possible value.
        symmetric: whether the order of the two rankings doesn't matter.
        shared: whether it is about the items that both rankings contain, at least two.
    """

    title: str
    meaning: str
    compute: Callable[[Floats, Floats, Settings], float]
    least: float = -1.0
    most: float = 1.0
    symmetric: bool = True
    shared: bool = True

    def value(self, first: Floats, second: Floats, settings: Settings) -> float:
        """Return the value for two rows of scores, not cut; NaN if it is undefined."""
        if self.compute is not promoted_of_scores:  # which needs the whole reference
            first, second = cut(first, settings.depth), cut(second, settings.depth)
        if self.shared:
            both = ~(np.isnan(first) | np.isnan(second))
            if np.count_nonzero(both) < _FEWEST:
                return math.nan
            first, second = first[both], second[both]
        return self.compute(first, second, settings)


MEASURES = {
    "rbo": SimilarityMeasure(
        "RBO", "the rank-biased overlap of the lists", rbo_of_scores, least=0.0, shared=False
    ),
    "tau": SimilarityMeasure("τ", "Kendall's τ of the documents that both lists contain", _tau),
    "tau_ap": SimilarityMeasure(
        "τ_AP",
        "the AP correlation of the documents that both lists contain; rows are the references",
        _tau_ap,
        symmetric=False,
    ),
    "tau_h": SimilarityMeasure(
        "τ_h", "τ of the documents that both lists contain, weighted by rank", _tau_h
    ),
    "promoted": SimilarityMeasure(
        "least item promoted",
        "the deepest rank in the reference of a document that the other list promotes; rows are the references",
        promoted_of_scores,
        least=0.0,
        most=math.inf,
        symmetric=False,
        shared=False,
    ),
}
"""The measures by name."""
