"""`rbo`, `kendall_tau`, `tau_ap`, `tau_h` and `least_item_promoted`: how well two rankings agree."""

import math
import os
from collections.abc import Callable, Hashable, Mapping
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
    ListPairs,
    Settings,
    list_pairs,
    read_settings,
)
from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.matching.keyword_options import ReadingOptions, takes
from gainful.message_texts import shown, shown_with_type
from gainful.rows.identifiers import examples, overlap_hint
from gainful.rows.input_types import ArrowStream, DataFrame

_Run = Mapping[Any, Mapping[Any, float]] | str | os.PathLike[str] | ArrowStream | DataFrame
_VARIANTS = ("a", "b")
_OF_TAU_AP = ("error", "a", "b")
_FEWEST = 2  # items in a ranking with an order
_UNDEFINED = {"tau": "τ_b", "tau_ap": "τ_AP,b", "tau_h": "τ_h"}  # if all items are tied


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
    read = read_ordered if ties == "doc" else read_scores
    rankings = {"first": first, "second": second}
    return _compared(rankings, "rbo", settings, options, read)


@overload
def kendall_tau(  # type: ignore[overload-overlap]  # a path is a sequence of letters
    first: _Run, second: _Run, *, variant: str = "b", **options: Unpack[ReadingOptions]
) -> dict[str, float]: ...
@overload
def kendall_tau(
    first: Ranking, second: Ranking, *, variant: str = "b", **options: Unpack[ReadingOptions]
) -> float: ...
@takes(ReadingOptions)
def kendall_tau(
    first: Ranking | _Run,
    second: Ranking | _Run,
    *,
    variant: str = "b",
    **options: Unpack[ReadingOptions],
) -> float | dict[str, float]:
    """Return Kendall's τ, (C − D) / √((N − T₁)(N − T₂)).

    Of the N = n(n − 1)/2 pairs of items, C have the same order in both rankings and D have opposite
    orders; T₁ are tied in the first ranking and T₂ in the second. Without ties, τ is (C − D)/N.

    Args:
        first: a list of items in rank order, or {item: score} (higher is better), such as the means
            of runs under a measure; or a run, as in `rbo`.
        second: another ranking of the same items; a run if the first is a run.
        variant: `b` is the formula above; `a` always divides by N.
        **options: for runs; see `ReadingOptions`.

    Returns:
        A number from −1, the reverse order, to 1, the same order. For two runs, {query: value}: each
        value is about the documents that both runs contain, and queries for which it is undefined are
        left out.

    Raises:
        InputError: if an argument isn't a ranking, has fewer than two items, or lacks an item of the
            other. Also if all items of a ranking are tied, which leaves τ_b undefined.

    >>> round(kendall_tau(["a", "b", "c"], ["a", "c", "b"]), 4)
    0.3333
    >>> round(kendall_tau({"x": 0.4, "y": 0.3, "z": 0.3}, {"x": 0.9, "y": 0.8, "z": 0.7}), 4)
    0.8165
    """
    arguments.choice(variant, "variant", _VARIANTS, expected="a variant of τ")
    rankings = {"first": first, "second": second}
    return _compared(rankings, "tau", Settings(ties=variant), options)


@overload
def tau_ap(  # type: ignore[overload-overlap]
    reference: _Run,
    ranking: _Run,
    *,
    symmetric: bool = False,
    ties: str = "error",
    **options: Unpack[ReadingOptions],
) -> dict[str, float]: ...
@overload
def tau_ap(
    reference: Ranking,
    ranking: Ranking,
    *,
    symmetric: bool = False,
    ties: str = "error",
    **options: Unpack[ReadingOptions],
) -> float: ...
@takes(ReadingOptions)
def tau_ap(
    reference: Ranking | _Run,
    ranking: Ranking | _Run,
    *,
    symmetric: bool = False,
    ties: str = "error",
    **options: Unpack[ReadingOptions],
) -> float | dict[str, float]:
    """Return the AP correlation, τ_AP = 2/(n − 1) · Σ_{i=2..n} C(i)/(i − 1) − 1.

    C(i) is the number of items above rank i of the ranking that are also above the item at rank i in the
    reference. Swapping items near the top of the ranking costs more than near the end.

    Args:
        reference: a list of items in rank order, {item: score} (higher is better), or a run, as in `rbo`.
        ranking: another ranking of the same items, to compare with the reference; a run if the reference
            is a run.
        symmetric: return the mean of both directions, for two rankings with equal standing.
        ties: `error` rejects equal scores. `a` is the mean over all orders of the ties (τ_AP,a), which
            says how accurate the ranking is. `b` is about the agreement of two rankings with ties
            (τ_AP,b), and is always symmetric.
        **options: for runs; see `ReadingOptions`.

    Returns:
        A number from −1, the reverse order, to 1, the same order; for two runs, {query: value}, as in
        `kendall_tau`.

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
    read, settings = read_scores, Settings(ties=ties)
    if ties == "error":
        read, settings = read_untied, Settings(ties="a")
    rankings = {"reference": reference, "ranking": ranking}
    both_ways = symmetric and ties != "b"
    return _compared(rankings, "tau_ap", settings, options, read, symmetric=both_ways)


@overload
def tau_h(  # type: ignore[overload-overlap]
    first: _Run, second: _Run, **options: Unpack[ReadingOptions]
) -> dict[str, float]: ...
@overload
def tau_h(first: Ranking, second: Ranking, **options: Unpack[ReadingOptions]) -> float: ...
@takes(ReadingOptions)
def tau_h(
    first: Ranking | _Run, second: Ranking | _Run, **options: Unpack[ReadingOptions]
) -> float | dict[str, float]:
    """Return τ_h, which is τ_b with a weight for each pair of items: the sum of both items' 1/rank.

    Pairs with an item near the top count most. The ranks are those of one ranking, with ties in the order
    of the other; τ_h is the mean of both ways (Vigna 2015).

    Args:
        first: a list of items in rank order, {item: score} (higher is better), or a run, as in `rbo`.
        second: another ranking of the same items; a run if the first is a run.
        **options: for runs; see `ReadingOptions`.

    Returns:
        A number from −1, the reverse order, to 1, the same order; for two runs, {query: value}, as in
        `kendall_tau`.

    Raises:
        InputError: if an argument isn't a ranking, has fewer than two items, or lacks an item of the
            other. Also if all items of a ranking are tied, which leaves τ_h undefined.

    >>> round(tau_h(["a", "b", "c"], ["a", "c", "b"]), 4)
    0.5455
    >>> round(tau_h(["a", "b", "c"], ["b", "a", "c"]), 4)
    0.1818
    """
    return _compared({"first": first, "second": second}, "tau_h", Settings(ties="b"), options)


@overload
def least_item_promoted(  # type: ignore[overload-overlap]
    reference: _Run,
    ranking: _Run,
    *,
    depth: int | None = None,
    **options: Unpack[ReadingOptions],
) -> dict[str, int]: ...
@overload
def least_item_promoted(
    reference: Ranking,
    ranking: Ranking,
    *,
    depth: int | None = None,
    **options: Unpack[ReadingOptions],
) -> int: ...
@takes(ReadingOptions)
def least_item_promoted(
    reference: Ranking | _Run,
    ranking: Ranking | _Run,
    *,
    depth: int | None = None,
    **options: Unpack[ReadingOptions],
) -> int | dict[str, int]:
    """Return how deep in the reference the ranking reached for the items that it promotes.

    An item is promoted if its rank in the ranking is better than its rank in the reference. The result is
    the deepest rank in the reference among promoted items. For a reranker, it is the number of candidates
    that it needs.

    Args:
        reference: a list of items in rank order, {item: score} (higher is better), or a run, as in `rbo`.
            Tied items have the first rank of their group.
        ranking: another ranking; it may contain other items. An item that the reference lacks counts as
            the first one after its end. A run if the reference is a run.
        depth: consider only items that the ranking promotes to this rank or above.
        **options: for runs; see `ReadingOptions`.

    Returns:
        A rank, or 0 if no item is promoted. For two runs, {query: rank} for the queries that both contain.

    Raises:
        InputError: if an argument isn't a ranking, or if two runs have no query in common.

    >>> least_item_promoted(["a", "b", "c", "d"], ["a", "c", "b", "d"])
    3
    >>> least_item_promoted(["a", "b", "c", "d"], ["a", "c", "b", "d"], depth=1)
    0
    """
    last = None if depth is None else arguments.whole(depth, "depth", least=1)
    rankings = {"reference": reference, "ranking": ranking}
    deepest = _compared(rankings, "promoted", Settings(depth=last, ties="a"), options)
    if isinstance(deepest, dict):
        return {query: int(rank) for query, rank in deepest.items()}
    return int(deepest)


_Scores = Mapping[Hashable, float]


def _compared(
    rankings: Mapping[str, Any],
    by: str,
    settings: Settings,
    options: Mapping[str, Any],
    read: Callable[[object, str], _Scores] = read_scores,
    *,
    symmetric: bool = False,
) -> float | dict[str, float]:
    """Return how similar two rankings are, or {query: value} for two runs.

    Args:
        rankings: the two, by the names of the arguments.
        by: a key of `MEASURES`.
        settings: its settings.
        options: `ReadingOptions`.
        read: reads a ranking.
        symmetric: return the mean of both directions.
    """

    def values(lists: ListPairs) -> Floats:
        measure = MEASURES[by].values
        return (measure(lists) + measure(lists.swapped)) / 2 if symmetric else measure(lists)

    (one, first), (two, second) = rankings.items()
    if (is_run(first) and is_run(second)) or options.get("queries") is not None:
        return _by_query(rankings, by, values, settings, options, read)
    for name, given, other in ((one, first, second), (two, second, first)):
        if is_run(other) and not isinstance(other, str):
            expected = "a run, such as {query: {doc: score}}, like the other argument"
            raise InputError(name, expected, shown_with_type(given))
    scores = read(first, one), read(second, two)
    if by in _UNDEFINED:
        _refuse_different_items(scores, (one, two))
    rows = scores_of_both(*scores)
    value: float = values(list_pairs(*rows, np.array([0, rows[0].size]), settings)).item()
    if math.isnan(value):
        name = next(name for name, row in zip(rankings, rows, strict=True) if (row == row[0]).all())
        raise InputError(
            name,
            "at least two different scores",
            "all items tied",
            f"{_UNDEFINED[by]} is undefined if all items are tied. Pass scores that aren't rounded.",
        )
    return value


def _by_query(
    runs: Mapping[str, Any],
    by: str,
    values: Callable[[ListPairs], Floats],
    settings: Settings,
    options: Mapping[str, Any],
    read: Callable[[object, str], _Scores],
) -> dict[str, float]:
    found = side_by_side(runs, settings.ties, options)
    (one, left), (two, right) = (
        (name, [found.queries[at] for at in np.flatnonzero(returned)])
        for name, returned in zip(runs, found.returned, strict=True)
    )
    common, lists = found.pairs(0, 1, settings)
    if not common.size:
        raise InputError(
            f"{one} and {two}",
            "queries in common",
            f"none: {one} contains {examples(left)}; {two} contains {examples(right)}",
            overlap_hint(left, right),
        )
    if read is read_untied:
        for name, order in ((one, lists.shared.first), (two, lists.shared.second)):
            tied = np.flatnonzero(lists.shared.counts(order.tied > 1))
            if tied.size:
                raise InputError(
                    f"{name}, query {shown(found.queries[common[tied[0]]])}",
                    "a different score for each document",
                    "documents with equal scores",
                    "Pass ties='a' or ties='b', or use gf.statistics.similar, which orders them by id.",
                )
    rows = zip(common.tolist(), values(lists).tolist(), strict=True)
    by_query = {found.queries[at]: value for at, value in rows if not math.isnan(value)}
    if not by_query:
        raise InputError(
            f"{one} and {two}",
            "a query with at least two documents in common and different scores",
            "none",
            f"{MEASURES[by].title} compares the documents that both runs contain. gf.statistics.rbo "
            "compares lists with different documents.",
        )
    return by_query


def _refuse_different_items(scores: tuple[_Scores, _Scores], names: tuple[str, str]) -> None:
    """Reject rankings of different items, or of fewer than two."""
    first, second = scores
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
