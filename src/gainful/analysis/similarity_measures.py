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
from gainful.array_types import Floats, Ints

DEFAULT_P = 0.9
"""The default persistence of RBO, which gives the first 10 ranks 86% of the weight."""
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


class ListPairs(NamedTuple):
    """The two lists that two runs return for each of several queries.

    Attributes:
        offsets: (q+1,) where the items of each query begin.
        whole: the ranks (n,) in both lists; none of the lists is empty.
        cut: the ranks down to the depth. A group of tied items at the depth is kept.
        shared: the pairs of items that both lists contain down to the depth, counted.
        settings: the settings.
    """

    offsets: Ints
    whole: tuple[overlap.Ranks, overlap.Ranks]
    cut: tuple[overlap.Ranks, overlap.Ranks]
    shared: order.Pairs
    settings: Settings

    @property
    def swapped(self) -> "ListPairs":
        """The same with the second lists first."""
        (one, other), (cut_one, cut_other) = self.whole, self.cut
        return self._replace(
            whole=(other, one), cut=(cut_other, cut_one), shared=self.shared.swapped
        )


def list_pairs(first: Floats, second: Floats, offsets: Ints, settings: Settings) -> ListPairs:
    """Return two lists for each of several queries, ready for the measures.

    Args:
        first: (n,) scores of the items, query after query.
        second: (n,) other scores of these items.
        offsets: (q+1,) where the items of each query begin.
        settings: the settings.
    """
    one, other = (overlap.tied_ranks(scores, offsets) for scores in (first, second))
    whole = cut = (one, other)
    if settings.depth is not None:
        cut = one.where(one.top <= settings.depth), other.where(other.top <= settings.depth)
    both = (cut[0].top > 0) & (cut[1].top > 0)
    shared = order.count_pairs(first[both], second[both], order.offsets_of(both, offsets))
    return ListPairs(offsets, whole, cut, shared, settings)


def _rbo(lists: ListPairs) -> Floats:
    ties, kind = lists.settings.ties, _KINDS[lists.settings.kind]
    agreements = overlap.agreements(*lists.cut, lists.offsets, "a" if ties == "doc" else ties)
    return np.array([kind(agreed, lists.settings.p) for agreed in agreements])


def _tau(lists: ListPairs) -> Floats:
    return (order.tau_a if lists.settings.ties == "a" else order.tau_b)(lists.shared)


def _tau_ap(lists: ListPairs) -> Floats:
    in_order = lists.settings.ties in ("doc", "a")  # without ties, τ_AP,a is τ_AP
    return (order.tau_ap_a if in_order else order.tau_ap_b)(lists.shared)


def _tau_h(lists: ListPairs) -> Floats:
    return order.tau_h(lists.shared)


def _promoted(lists: ListPairs) -> Floats:
    ranks = [each.top for each in lists.whole]  # the depth doesn't cut the reference
    depth = math.inf if lists.settings.depth is None else lists.settings.depth
    return order.least_promoted(ranks[0], ranks[1], lists.offsets, depth).astype(np.float64)


class SimilarityMeasure(NamedTuple):
    """A measure of how similar two rankings are.

    Attributes:
        title: its name for people.
        meaning: what it says.
        values: returns the value of each query (q,); NaN if it is undefined.
        least: the lowest possible value.
        most: the highest possible value.
        symmetric: whether the order of the two rankings doesn't matter.
    """

    title: str
    meaning: str
    values: Callable[[ListPairs], Floats]
    least: float = -1.0
    most: float = 1.0
    symmetric: bool = True

    def value(self, first: Floats, second: Floats, settings: Settings) -> float:
        """Return the value for the scores (n,) of two lists; NaN if it is undefined.

        >>> MEASURES["rbo"].value(np.array([2.0, 1.0, np.nan]), np.array([2.0, np.nan, 1.0]), Settings(p=0.5))
        0.75
        """
        return self.values(list_pairs(first, second, np.array([0, first.size]), settings)).item()


MEASURES = {
    "rbo": SimilarityMeasure("RBO", "the rank-biased overlap of the lists", _rbo, least=0.0),
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
        _promoted,
        least=0.0,
        most=math.inf,
        symmetric=False,
    ),
}
"""The measures by name."""
