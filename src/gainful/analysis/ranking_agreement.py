"""`rbo`, `kendall_tau` and `tau_ap`: how far two rankings agree."""

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
_FEWEST = 2  # items that can be in one order or the other


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

    A_d, the agreement at depth d, is the share of the first d items of one list that the first d
    of the other have. Lists end, the sum does not; `kind` says what is taken beyond. The lists may
    have different items and different lengths; the order of the two does not matter.

    Args:
        first: a list of items in rank order, or a run {query: {doc: score}}. Or {item: score},
            higher is better, equal scores by id descending, compared as bytes (as under the policy
            ties=doc).
        second: another of them; a run where the first is one.
        p: above 0 and below 1; the nearer to 1, the deeper ranks count. The first 10 ranks have
            86% of the weight with 0.9.
        depth: cut both lists here; None to take them whole.
        kind: `extrapolated`, a point estimate (RBO_EXT), as if the agreement at the end lasted.
            `least`, the value if nothing beyond the end agrees (RBO_MIN). `residual`, how much
            more it could be at most (RBO_RES).

    Returns:
        A number from 0 to 1. Of two runs, {query: value} for the queries that both have; those
        that only one of them has do not count.

    Raises:
        InputError: for what is no ranking, and for runs without a query in common.

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
            f"none: first has {examples(in_order(left))}; second has {examples(in_order(right))}",
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

    Of the N = n(n − 1)/2 pairs of items, C are in the same order on both sides and D in opposite
    order. T₁ are tied on the first side and T₂ on the second. Without ties this is (C − D)/N.

    Args:
        first: a list of items in rank order; or {item: score}, higher is better, such as the means
            of systems under a measure.
        second: another of them, with the same items.
        variant: `b` as above; `a` divides by N, ties or not.

    Returns:
        A number from −1, the reverse order, to 1, the same order.

    Raises:
        InputError: for what is no ranking, for fewer than two items, and for an item that one side
            lacks. For τ_b where all items of a side are tied, which leaves it undefined.

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
                "τ_b is undefined then: give scores with all their digits.",
            )
    return pairs.surplus / math.sqrt(
        (pairs.total - pairs.tied_first) * (pairs.total - pairs.tied_second)
    )


def tau_ap(reference: Ranking, ranking: Ranking, *, symmetric: bool = False) -> float:
    """Return the AP correlation, τ_AP = 2/(n − 1) · Σ_{i=2..n} C(i)/(i − 1) − 1.

    C(i) is how many of the items above rank i of the ranking are above that item in the
    reference too. An exchange near the top of the ranking costs more than one near its end.

    Args:
        reference: a list of items in rank order; or {item: score}, higher is better, no two equal.
        ranking: another of them, with the same items, to be compared with the reference.
        symmetric: the mean of both directions, where neither side is the reference.

    Returns:
        A number from −1, the reverse order, to 1, the same order.

    Raises:
        InputError: for what is no ranking, for ties, for fewer than two items, and for an item
            that one side lacks.

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
    # Places in the ranking by place in the reference: the same order, seen from the other side.
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
    """Refuse items that one side lacks, and what is too short to have an order."""
    left, right = dict.fromkeys(first), dict.fromkeys(second)
    lone = (
        (names[0], [item for item in left if item not in right]),
        (names[1], [item for item in right if item not in left]),
    )
    where = " and ".join(names)
    if any(items for _, items in lone):
        lacking = "; ".join(
            f"{len(items)} in {name} only: {examples(items)}" for name, items in lone if items
        )
        raise InputError(
            where,
            "the same items on both sides",
            lacking,
            "Leave out what one side lacks, or compare by gf.statistics.rbo; scores go as {item: score}.",
        )
    if len(left) < _FEWEST:
        raise InputError(where, "two items or more", str(len(left)))
