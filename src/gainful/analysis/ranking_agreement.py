"""`rbo`, `kendall_tau`, `tau_ap`, `tau_h` and `least_item_promoted`: how well two rankings agree."""

import os
from collections.abc import Collection, Hashable, Mapping
from typing import Any, Unpack, overload

import numpy as np

from gainful import arguments
from gainful.analysis.rankings_to_compare import (
    Ranking,
    is_run,
    read_ordered,
    read_scores,
    read_untied,
    scores_of_both,
)
from gainful.analysis.runs_side_by_side import side_by_side
from gainful.analysis.similarity_measures import (
    DEFAULT_P,
    MEASURES,
    Settings,
    read_settings,
    tau_of_scores,
)
from gainful.arithmetic.kernels import ranking_agreement as kernels
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.message_texts import shown_with_type
from gainful.rows.identifiers import examples, overlap_hint
from gainful.rows.input_types import ArrowStream, DataFrame

_Run = Mapping[Any, Mapping[Any, float]] | str | os.PathLike[str] | ArrowStream | DataFrame
_VARIANTS = ("a", "b")
_OF_TAU_AP = ("error", "a", "b")
_FEWEST = 2  # items in a ranking with an order
_BOTH = ("first", "second")


@overload
def rbo(  # type: ignore[overload-overlap]  # a path is a sequence of letters
    first: _Run,
    second: _Run,
    *,
    p: float = DEFAULT_P,
    depth: int | None = None,
    kind: str = "extrapolated",
    ties: str = "doc",
    **options: Unpack[ReadingOptions],
) -> dict[str, float]: ...
@overload
def rbo(
    first: Ranking,
    second: Ranking,
    *,
    p: float = DEFAULT_P,
    depth: int | None = None,
    kind: str = "extrapolated",
    ties: str = "doc",
    **options: Unpack[ReadingOptions],
) -> float: ...
@takes(ReadingOptions)
def rbo(
    first: Ranking | _Run,
    second: Ranking | _Run,
    *,
    p: float = DEFAULT_P,
    depth: int | None = None,
    kind: str = "extrapolated",
    ties: str = "doc",
    **options: Unpack[ReadingOptions],
) -> float | dict[str, float]:
    """Return the rank-biased overlap, (1 − p) Σ_{d≥1} p^(d−1) · A_d.

    A_d, the agreement at depth d, is the share of the first d items that two lists have in common. The
    sum is infinite but lists end; `kind` selects an assumption about deeper ranks. The lists may have
    different items and different lengths. Their order doesn't matter.

    Args:
        first: a list of items in rank order, `{item: score}` (higher is better), or a run: the path of
            a file, a data frame, `{query: {doc: score}}`, or anything else that `evaluate` accepts.
        second: another ranking; a run if the first is a run.
        p: above 0 and below 1; the closer to 1, the more weight deep ranks have. With 0.9, the first
            10 ranks have 86% of the weight.
        depth: cut both lists at this rank; None to use whole lists.
        kind: `extrapolated` is a point estimate that assumes the same agreement at deeper ranks
            (RBO_EXT). `least` is the value without any agreement at deeper ranks (RBO_MIN), `most` is
            the value with as much as possible (RBO_MAX), and `residual` is their difference (RBO_RES).
        ties: `doc` orders items with equal scores by id, descending, compared as bytes (as under the
            policy ties=doc). `a` is the mean of RBO over all orders of the ties. `b` divides by the
            agreement of each list with itself, so a list with ties agrees fully with itself. `w` gives
            tied items the same rank, for ties that mean equality, as in sports. Under these three, a
            group of ties at the depth is kept.
        **options: for runs; see `ReadingOptions`.

    Returns:
        A number from 0 to 1. For two runs, {query: value} for the queries that both contain; other
        queries are ignored.

    Raises:
        InputError: if an argument isn't a ranking, or if two runs have no query in common.

    >>> round(rbo(["a", "b", "c"], ["a", "c", "b"]), 3)
    0.955
    >>> rbo({"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}, {"q1": {"x": 2, "y": 1}})
    {'q1': 0.0}
    >>> round(rbo({"a": 2, "b": 1, "c": 1}, {"a": 2, "b": 1, "c": 1}, ties="a"), 4)
    0.9775
    """
    settings = read_settings(p, depth, kind, ties)
    if (is_run(first) and is_run(second)) or options.get("queries") is not None:
        return _rbo_by_query({"first": first, "second": second}, settings, options)
    for name, given, other in (("first", first, second), ("second", second, first)):
        if is_run(other) and not isinstance(other, str):
            expected = "a run, such as {query: {doc: score}}, like the other argument"
            raise InputError(name, expected, shown_with_type(given))
    read = read_ordered if ties == "doc" else read_scores
    rows = scores_of_both(read(first, "first"), read(second, "second"))
    return MEASURES["rbo"].value(rows[0], rows[1], settings)


def _rbo_by_query(
    runs: Mapping[str, Any], settings: Settings, options: Mapping[str, Any]
) -> dict[str, float]:
    found = side_by_side(runs, settings.ties, options)
    by_query = dict(zip(found.queries, found.scores, strict=True))
    left, right = (
        [query for query, rows in by_query.items() if not np.isnan(rows[run]).all()]
        for run in range(2)
    )
    common = set(left).intersection(right)
    if not common:
        raise InputError(
            "first and second",
            "queries in common",
            f"none: first contains {examples(left)}; second contains {examples(right)}",
            overlap_hint(left, right),
        )
    return {
        query: MEASURES["rbo"].value(rows[0], rows[1], settings)
        for query, rows in by_query.items()
        if query in common
    }


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
    rows = _same_items(left, right, _BOTH)
    if variant == "b":
        _refuse_all_tied("τ_b", rows, _BOTH)
    return tau_of_scores(rows[0], rows[1], variant)


def tau_ap(
    reference: Ranking, ranking: Ranking, *, symmetric: bool = False, ties: str = "error"
) -> float:
    """Return the AP correlation, τ_AP = 2/(n − 1) · Σ_{i=2..n} C(i)/(i − 1) − 1.

    C(i) is the number of items above rank i of the ranking that are also above the item at rank i in the
    reference. Swapping items near the top of the ranking costs more than near the end.

    Args:
        reference: a list of items in rank order, or {item: score} (higher is better).
        ranking: another ranking of the same items, to compare with the reference.
        symmetric: return the mean of both directions, for two rankings with equal standing.
        ties: `error` rejects equal scores. `a` is the mean over all orders of the ties (τ_AP,a), which
            says how accurate the ranking is. `b` is about the agreement of two rankings with ties
            (τ_AP,b), and is always symmetric.

    Returns:
        A number from −1, the reverse order, to 1, the same order.

    Raises:
        InputError: if an argument isn't a ranking, contains ties that aren't allowed, has fewer than
            two items, or lacks an item of the other. Also if all items of a ranking are tied, which
            leaves τ_AP,b undefined.

    >>> tau_ap(["a", "b", "c"], ["a", "c", "b"])
    0.5
    >>> tau_ap(["a", "b", "c"], ["b", "a", "c"])
    0.0
    >>> tau_ap(["a", "b", "c"], {"a": 2, "b": 2, "c": 1}, ties="a")
    0.5
    """
    arguments.truth(symmetric, "symmetric")
    arguments.choice(ties, "ties", _OF_TAU_AP)
    names = ("reference", "ranking")
    read = read_untied if ties == "error" else read_scores
    rows = _same_items(read(reference, names[0]), read(ranking, names[1]), names)
    if ties == "b":
        _refuse_all_tied("τ_AP,b", rows, names)
        return kernels.tau_ap_b(*rows)
    value = kernels.tau_ap_a(*rows)
    return (value + kernels.tau_ap_a(*rows[::-1])) / 2 if symmetric else value


def tau_h(first: Ranking, second: Ranking) -> float:
    """Return τ_h, which is τ_b with a weight for each pair of items: the sum of both items' 1/rank.

    Pairs with an item near the top count most. The ranks are those of one ranking, with ties in the order
    of the other; τ_h is the mean of both ways (Vigna 2015).

    Args:
        first: a list of items in rank order, or {item: score} (higher is better).
        second: another ranking of the same items.

    Returns:
        A number from −1, the reverse order, to 1, the same order.

    Raises:
        InputError: if an argument isn't a ranking, has fewer than two items, or lacks an item of the
            other. Also if all items of a ranking are tied, which leaves τ_h undefined.

    >>> round(tau_h(["a", "b", "c"], ["a", "c", "b"]), 4)
    0.5455
    >>> round(tau_h(["a", "b", "c"], ["b", "a", "c"]), 4)
    0.1818
    """
    rows = _same_items(read_scores(first, "first"), read_scores(second, "second"), _BOTH)
    _refuse_all_tied("τ_h", rows, _BOTH)
    return kernels.tau_h(*rows)


def least_item_promoted(reference: Ranking, ranking: Ranking, *, depth: int | None = None) -> int:
    """Return how deep in the reference the ranking reached for the items that it promotes.

    An item is promoted if its rank in the ranking is better than its rank in the reference. The result is
    the deepest rank in the reference among promoted items. For a reranker, it is the number of candidates
    that it needs.

    Args:
        reference: a list of items in rank order, or {item: score} (higher is better). Tied items have
            the first rank of their group.
        ranking: another ranking; it may contain other items. An item that the reference lacks counts as
            the first one after its end.
        depth: consider only items that the ranking promotes to this rank or above.

    Returns:
        A rank, or 0 if no item is promoted.

    Raises:
        InputError: if an argument isn't a ranking.

    >>> least_item_promoted(["a", "b", "c", "d"], ["a", "c", "b", "d"])
    3
    >>> least_item_promoted(["a", "b", "c", "d"], ["a", "c", "b", "d"], depth=1)
    0
    """
    last = None if depth is None else arguments.whole(depth, "depth", least=1)
    rows = scores_of_both(read_scores(reference, "reference"), read_scores(ranking, "ranking"))
    return int(MEASURES["promoted"].value(*rows, Settings(depth=last)))


def _same_items(
    first: Mapping[Hashable, float], second: Mapping[Hashable, float], names: tuple[str, str]
) -> tuple[Floats, Floats]:
    """Return the scores of the items; reject rankings of different items, or of fewer than two."""
    lone = (
        (names[0], [item for item in first if item not in second]),
        (names[1], [item for item in second if item not in first]),
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
    if len(first) < _FEWEST:
        raise InputError(where, "at least two items", str(len(first)))
    return scores_of_both(first, second)


def _refuse_all_tied(what: str, rows: Collection[Floats], names: tuple[str, str]) -> None:
    for name, scores in zip(names, rows, strict=True):
        if (scores == scores[0]).all():
            raise InputError(
                name,
                "at least two different scores",
                "all items tied",
                f"{what} is undefined if all items are tied. Pass scores that aren't rounded.",
            )
