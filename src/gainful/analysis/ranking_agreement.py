"""`rbo`, `kendall_tau` and `tau_ap`: how well two rankings agree."""

import math
from collections.abc import Collection, Hashable
from typing import overload

import numpy as np

from gainful import arguments
from gainful.analysis.rankings_to_compare import (
    Ranking,
    Run,
    is_run,
    read_order,
    read_queries,
    read_scores,
    read_untied,
)
from gainful.arithmetic.kernels import ranking_agreement as kernels
from gainful.errors import InputError
from gainful.rows.identifiers import examples, in_order, overlap_hint

_KINDS = ("extrapolated", "least", "residual")
_VARIANTS = ("a", "b")
_FEWEST = 2  # items in a ranking with an order


@overload
def rbo(
    first: Run,
    second: Run,
    *,
    p: float = 0.9,
    depth: int | None = None,
    kind: str = "extrapolated",
) -> dict[str, float]: ...
@overload
def rbo(
    first: Ranking,
    second: Ranking,
    *,
    p: float = 0.9,
    depth: int | None = None,
    kind: str = "extrapolated",
) -> float: ...
def rbo(
    first: Ranking | Run,
    second: Ranking | Run,
    *,
    p: float = 0.9,
    depth: int | None = None,
    kind: str = "extrapolated",
) -> float | dict[str, float]:
    """Return the rank-biased overlap, (1 − p) Σ_{d≥1} p^(d−1) · A_d.

    A_d, the agreement at depth d, is the share of the first d items that two lists have in common. The
    sum is infinite but lists end; `kind` selects an assumption about deeper ranks. The lists may have
    different items and different lengths. Their order doesn't matter.

    Args:
        first: a list of items in rank order, `{item: score}` (higher is better), or a run
            `{query: {doc: score}}`. Items with equal scores are ordered by id, descending, compared as
            bytes (as under the policy ties=doc).
        second: another ranking; a run if the first is a run.
        p: above 0 and below 1; the closer to 1, the more weight deep ranks have. With 0.9, the first
            10 ranks have 86% of the weight.
        depth: cut both lists at this rank; None to use whole lists.
        kind: `extrapolated` is a point estimate that assumes the same agreement at deeper ranks
            (RBO_EXT). `least` is the value without any agreement at deeper ranks (RBO_MIN), and
            `residual` is the largest amount by which the true value can exceed it (RBO_RES).

    Returns:
        A number from 0 to 1. For two runs, {query: value} for the queries that both contain; other
        queries are ignored.

    Raises:
        InputError: if an argument isn't a ranking, or if two runs have no query in common.

    >>> round(rbo(["a", "b", "c"], ["a", "c", "b"]), 3)
    0.955
    >>> rbo({"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}, {"q1": {"x": 2, "y": 1}})
    {'q1': 0.0}
    """
    weight = _persistence(p)
    cut = _depth(depth)
    arguments.choice(kind, "kind", _KINDS, expected="a kind of overlap")
    if not is_run(first) and not is_run(second):
        return _rbo(
            read_order(first, "first")[:cut], read_order(second, "second")[:cut], weight, kind
        )
    left, right = read_queries(first, "first"), read_queries(second, "second")
    common = in_order(left.keys() & right.keys())
    if not common:
        raise InputError(
            "first and second",
            "queries in common",
            f"none: first contains {examples(in_order(left))}; second contains {examples(in_order(right))}",
            overlap_hint(left, right),
        )
    values = {}
    for query in common:
        one = read_order(left[query], f"first, query {query!r}")
        other = read_order(right[query], f"second, query {query!r}")
        values[query] = _rbo(one[:cut], other[:cut], weight, kind)
    return values


def kendall_tau(first: Ranking, second: Ranking, *, variant: str = "b") -> float:
    """Return Kendall's τ, (C − D) / √((N − T₁)(N − T₂)).

    Of the N = n(n − 1)/2 pairs of items, C have the same order in both rankings and D have opposite
    orders; T₁ are tied in the first ranking and T₂ in the second. Without ties, τ is (C − D)/N.

    Args:
        first: a list of items in rank order, or {item: score} (higher is better), such as the means
            of runs under a measure.
        second: another ranking of the same items.
        variant: `b` is the formula above; `a` always divides by N.

    Returns:
        A number from −1, the reverse order, to 1, the same order.

    Raises:
        InputError: if an argument isn't a ranking, has fewer than two items, or lacks an item of the
            other. Also if all items of a ranking are tied, which leaves τ_b undefined.

    >>> round(kendall_tau(["a", "b", "c"], ["a", "c", "b"]), 4)
    0.3333
    >>> round(kendall_tau({"x": 0.4, "y": 0.3, "z": 0.3}, {"x": 0.9, "y": 0.8, "z": 0.7}), 4)
    0.8165
    """
    arguments.choice(variant, "variant", _VARIANTS, expected="a variant of τ")
    left, right = read_scores(first, "first"), read_scores(second, "second")
    _refuse_different(left, right, ("first", "second"))
    pairs = kernels.count_pairs(
        np.array(list(left.values())), np.array([right[item] for item in left])
    )
    if variant == "a":
        return pairs.surplus / pairs.total
    for name, tied in (("first", pairs.tied_first), ("second", pairs.tied_second)):
        if tied == pairs.total:
            raise InputError(
                name,
                "at least two different scores",
                "all items tied",
                "τ_b is undefined if all items are tied. Pass scores that aren't rounded.",
            )
    return pairs.surplus / math.sqrt(
        (pairs.total - pairs.tied_first) * (pairs.total - pairs.tied_second)
    )


def tau_ap(reference: Ranking, ranking: Ranking, *, symmetric: bool = False) -> float:
    """Return the AP correlation, τ_AP = 2/(n − 1) · Σ_{i=2..n} C(i)/(i − 1) − 1.

    C(i) is the number of items above rank i of the ranking that are also above the item at rank i in the
    reference. Swapping items near the top of the ranking costs more than near the end.

    Args:
        reference: a list of items in rank order, or {item: score} (higher is better) without ties.
        ranking: another ranking of the same items, to compare with the reference.
        symmetric: return the mean of both directions, for two rankings with equal standing.

    Returns:
        A number from −1, the reverse order, to 1, the same order.

    Raises:
        InputError: if an argument isn't a ranking, contains ties, has fewer than two items, or lacks
            an item of the other.

    >>> tau_ap(["a", "b", "c"], ["a", "c", "b"])
    0.5
    >>> tau_ap(["a", "b", "c"], ["b", "a", "c"])
    0.0
    """
    arguments.truth(symmetric, "symmetric")
    expected = read_untied(reference, "reference")
    items = read_untied(ranking, "ranking")
    _refuse_different(expected, items, ("reference", "ranking"))
    place_of = {item: place for place, item in enumerate(expected)}
    places = np.array([place_of[item] for item in items], np.int64)
    value = kernels.tau_ap(places)
    if not symmetric:
        return value
    # The inverse permutation: positions in the ranking by position in the reference.
    return (value + kernels.tau_ap(np.argsort(places))) / 2


def _rbo(first: list[Hashable], second: list[Hashable], p: float, kind: str) -> float:
    ranks = {item: rank for rank, item in enumerate(second, 1)}
    met = [max(rank, ranks[item]) for rank, item in enumerate(first, 1) if item in ranks]
    shorter, longer = sorted((len(first), len(second)))
    overlap = kernels.overlaps(np.array(met, np.int64), longer)
    if kind == "extrapolated":
        return kernels.rbo_extrapolated(overlap, shorter, p)
    if kind == "least":
        return kernels.rbo_least(overlap, p)
    return kernels.rbo_residual(overlap, shorter, p)


def _persistence(p: object) -> float:
    expected = "a number above 0 and below 1"
    return arguments.number(p, "p", expected, lambda number: 0 < number < 1)


def _depth(depth: object) -> int | None:
    if depth is None:
        return None
    return arguments.whole(depth, "depth", least=1)


def _refuse_different(
    first: Collection[Hashable], second: Collection[Hashable], names: tuple[str, str]
) -> None:
    """Reject rankings of different items, and rankings with fewer than two items."""
    left, right = dict.fromkeys(first), dict.fromkeys(second)
    lone = (
        (names[0], [item for item in left if item not in right]),
        (names[1], [item for item in right if item not in left]),
    )
    where = " and ".join(names)
    if any(items for _, items in lone):
        lacking = "; ".join(
            f"{len(items)} only in {name}: {examples(items)}" for name, items in lone if items
        )
        raise InputError(
            where,
            "the same items in both rankings",
            lacking,
            "Leave out these items, or compare with gf.statistics.rbo. Pass scores as {item: score}.",
        )
    if len(left) < _FEWEST:
        raise InputError(where, "at least two items", str(len(left)))
