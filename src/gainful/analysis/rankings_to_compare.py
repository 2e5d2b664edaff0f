"""Reading rankings: items in rank order, or items with scores."""

import math
import operator
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, SupportsFloat

import numpy as np

from gainful.arithmetic.number_arrays import LARGEST_EXACT
from gainful.array_types import AnyArray, Floats
from gainful.errors import InputError, warn
from gainful.message_texts import shown, shown_with_type
from gainful.rows.values_as_numbers import INEXACT

Ranking = Sequence[Hashable] | AnyArray | Mapping[Any, float]


def read_scores(ranking: object, where: str) -> dict[Hashable, float]:
    """Return the scores of items, higher is better; items of a list get descending scores.

    Integers are ids and become strings; other items are unchanged.

    >>> read_scores({"a": 1, 7: 0.5}, "first"), read_scores(["a", "b"], "first")
    ({'a': 1.0, '7': 0.5}, {'a': 0.0, 'b': -1.0})
    """
    if isinstance(ranking, Mapping):
        items = _items(ranking, where)
        scores = [_score(number, item, where) for item, number in ranking.items()]
        return dict(zip(items, scores, strict=True))
    return {item: float(-place) for place, item in enumerate(_listed(ranking, where))}


def _order(ranking: object, where: str) -> list[Hashable]:
    """Return the items, the best first, and equal scores by id descending, compared as bytes."""
    if not isinstance(ranking, Mapping):
        return _listed(ranking, where)
    scores = read_scores(ranking, where)
    if all(isinstance(item, str) for item in scores):
        # Strings sort by code points in the same order as by UTF-8 bytes.
        return sorted(scores, key=lambda item: (scores[item], item), reverse=True)
    return _untied(scores, where, "strings or integers as ids if scores tie")


def read_untied(ranking: object, where: str) -> dict[Hashable, float]:
    """Return the scores of items; reject equal scores.

    >>> read_untied({"a": 1, "b": 2}, "ranking")
    {'a': 1.0, 'b': 2.0}
    """
    scores = read_scores(ranking, where)
    if isinstance(ranking, Mapping):
        _untied(scores, where, "a different score for each item")
    return scores


def read_ordered(ranking: object, where: str) -> dict[Hashable, float]:
    """Return the items with descending scores, and equal scores by id descending, compared as bytes.

    >>> read_ordered({"a": 1, "b": 2, "c": 1}, "first")
    {'b': 0.0, 'c': -1.0, 'a': -2.0}
    """
    return {item: float(-place) for place, item in enumerate(_order(ranking, where))}


def scores_of_both(
    first: Mapping[Hashable, float], second: Mapping[Hashable, float]
) -> tuple[Floats, Floats]:
    """Return the scores of all items of two rankings (n,), NaN for items that a ranking lacks.

    >>> scores_of_both({"a": 2.0, "b": 1.0}, {"b": 5.0})
    (array([2., 1.]), array([nan,  5.]))
    """
    items = list(dict.fromkeys((*first, *second)))
    lacking = math.nan
    return (
        np.array([first.get(item, lacking) for item in items]),
        np.array([second.get(item, lacking) for item in items]),
    )


def is_run(value: object) -> bool:
    """Return whether a value is a run, with one ranking for each query.

    >>> is_run({"q": {"a": 1.0}}), is_run({"q": ["a"]}), is_run({"a": 1.0}), is_run("bm25.run")
    (True, True, False, True)
    """
    if isinstance(value, Mapping):
        inner = value.values()
        return any(isinstance(docs, Mapping) for docs in inner) or (
            bool(value) and all(isinstance(docs, list | tuple) for docs in inner)
        )
    if isinstance(value, list | tuple):
        return bool(value) and isinstance(value[0], Mapping)
    return isinstance(value, str | os.PathLike) or any(
        hasattr(value, name) for name in ("columns", "__arrow_c_stream__")
    )


def _listed(items: object, where: str) -> list[Hashable]:
    if isinstance(items, np.ndarray) and items.ndim == 1:
        return _items(_once(items.tolist(), where), where)
    if isinstance(items, Sequence) and not isinstance(items, str | bytes | bytearray | memoryview):
        return _items(_once(items, where), where)
    raise InputError(
        where,
        "a list of items in rank order, or {item: score}",
        _shown(items),
        "Pass a list of items, or a dict of their scores.",
    )


def _once(items: Sequence[Any], where: str) -> Sequence[Any]:
    """Return a list without repeated strings: the first occurrence counts.

    Repeated numbers are kept and rejected later, because they are probably scores.
    """
    try:
        "".join(items)  # raises for anything but strings, and is faster than checking each type
    except TypeError:
        return items
    first: dict[str, int] = {}
    for place, item in enumerate(items, 1):
        first.setdefault(item, place)
    again = [place for place, item in enumerate(items, 1) if first[item] != place]
    if again:
        others = f", and {len(again) - 1} more" if len(again) > 1 else ""
        item = shown(items[again[0] - 1])
        warn(
            f"{where}: {item} occurs again as item {again[0]}{others}; the first occurrence counts."
        )
    return list(first)


def _items(items: Iterable[Any], where: str) -> list[Hashable]:
    """Return the items; reject repeated ones."""
    listed = list(items)
    if not listed:
        raise InputError(where, "at least one item", "none")
    try:
        "".join(listed)  # raises for anything but strings, and is faster than checking each type
    except TypeError:
        listed = [_item(item, f"{where}, item {place}") for place, item in enumerate(listed, 1)]
    if len(set(listed)) < len(listed):
        seen: set[Hashable] = set()
        for place, item in enumerate(listed, 1):
            if item in seen:
                raise InputError(
                    where,
                    "each item once",
                    f"{shown(item)} again as item {place}",
                    "Leave one out, or pass scores as {item: score}.",
                )
            seen.add(item)
    return listed


def _item(item: Any, where: str) -> Hashable:
    if isinstance(item, str):
        return item
    if not isinstance(item, bool):
        try:
            return str(operator.index(item))
        except (TypeError, ValueError):  # not an integer, or thousands of digits
            pass  # used unchanged
    if isinstance(item, float) and math.isnan(item):
        raise InputError(where, "an item", "NaN", "A missing id matches nothing: leave it out.")
    try:
        hash(item)
    except TypeError:
        raise InputError(where, "a hashable item, such as a string", _shown(item)) from None
    return item  # type: ignore[no-any-return]


def _score(value: object, item: object, where: str) -> float:
    number = math.nan
    if isinstance(value, float | int | SupportsFloat):  # the protocol is slow
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
    if not math.isfinite(number):
        raise InputError(
            f"{where}, item {shown(item)}", "a finite number as the score", _shown(value)
        )
    if isinstance(value, int) and abs(value) > LARGEST_EXACT and int(number) != value:
        raise InputError(
            f"{where}, item {shown(item)}",
            "a score that a float64 holds exactly",
            shown(value),
            INEXACT,
        )
    return number


def _untied(scores: dict[Hashable, float], where: str, expected: str) -> list[Hashable]:
    order = sorted(scores, key=scores.__getitem__, reverse=True)
    for above, below in pairwise(order):
        if scores[above] == scores[below]:
            raise InputError(
                where,
                expected,
                f"{shown(above)} and {shown(below)} with {scores[above]!r}",
                "Break the ties: pass different scores, or a list of the items in rank order.",
            )
    return order


def _shown(value: object) -> str:
    return shown_with_type(value)
