"""Rankings: items in rank order, or items with scores; one of them, or one for each query."""

import math
import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError, warn
from gainful.inputs.arrays import LARGEST_EXACT
from gainful.inputs.identifiers import id_text
from gainful.inputs.values_as_numbers import INEXACT
from gainful.message_texts import shown, shown_with_type

Ranking = Sequence[Hashable] | NDArray[Any] | Mapping[Any, float]
Run = Mapping[Any, Mapping[Any, float]]


def read_scores(given: object, where: str) -> dict[Hashable, float]:
    """Return item → score, higher is better; a list gives its items falling scores.

    Integers are ids, and become strings; other items stay what they are.

    >>> read_scores({"a": 1, 7: 0.5}, "first"), read_scores(["a", "b"], "first")
    ({'a': 1.0, '7': 0.5}, {'a': 0.0, 'b': -1.0})
    """
    if isinstance(given, Mapping):
        items = _items(given, where)
        scores = [_score(number, item, where) for item, number in given.items()]
        return dict(zip(items, scores, strict=True))
    return {item: float(-place) for place, item in enumerate(_listed(given, where))}


def read_order(given: object, where: str) -> list[Hashable]:
    """Return the items best first; equal scores by id descending, compared as bytes.

    >>> read_order({"a": 1, "b": 2, "c": 1}, "first")
    ['b', 'c', 'a']
    """
    if not isinstance(given, Mapping):
        return _listed(given, where)
    scores = read_scores(given, where)
    if all(isinstance(item, str) for item in scores):
        # Code points order strings as their UTF-8 bytes do.
        return sorted(scores, key=lambda item: (scores[item], item), reverse=True)
    return _untied(scores, where, "strings or integers as ids where scores tie")


def read_untied(given: object, where: str) -> list[Hashable]:
    """Return the items best first; refuse equal scores.

    >>> read_untied({"a": 1, "b": 2}, "ranking")
    ['b', 'a']
    """
    if not isinstance(given, Mapping):
        return _listed(given, where)
    return _untied(read_scores(given, where), where, "a different score for each item")


def is_run(given: object) -> bool:
    """Tell whether there is a ranking for each query, not one alone.

    >>> is_run({"q": {"a": 1.0}}), is_run({"a": 1.0})
    (True, False)
    """
    return isinstance(given, Mapping) and any(isinstance(each, Mapping) for each in given.values())


def read_queries(given: object, where: str) -> dict[str, Mapping[object, object]]:
    """Return query → its documents with scores, as they are.

    >>> read_queries({7: {"a": 1.0}}, "first")
    {'7': {'a': 1.0}}
    """
    if not isinstance(given, Mapping):
        raise InputError(where, "a run {query: {doc: score}}, as the other", _shown(given))
    queries: dict[str, Mapping[object, object]] = {}
    for query, documents in given.items():
        name = id_text(query, where=f"{where}, query ids")
        if name in queries:
            raise InputError(where, "each query once", f"{name!r} as a string and as an integer")
        if not isinstance(documents, Mapping):
            raise InputError(f"{where}, query {name!r}", "{doc: score}", _shown(documents))
        queries[name] = documents
    return queries


def _listed(given: object, where: str) -> list[Hashable]:
    if isinstance(given, np.ndarray) and given.ndim == 1:
        return _items(_once(given.tolist(), where), where)
    if isinstance(given, Sequence) and not isinstance(given, str | bytes | bytearray | memoryview):
        return _items(_once(given, where), where)
    raise InputError(
        where,
        "a list of items in rank order, or {item: score}",
        _shown(given),
        "Give a list of its items, or a dict of their scores.",
    )


def _once(given: Sequence[Any], where: str) -> Sequence[Any]:
    """Return a list in which each text stands once: the first of several counts.

    Numbers that stand again are left, to be refused: they are rather scores than ids.
    """
    try:
        "".join(given)  # refuses all but strings, faster than a look at each type
    except TypeError:
        return given
    first: dict[str, int] = {}
    for place, item in enumerate(given, 1):
        first.setdefault(item, place)
    again = [place for place, item in enumerate(given, 1) if first[item] != place]
    if again:
        others = f", and {len(again) - 1} more" if len(again) > 1 else ""
        item = shown(given[again[0] - 1])
        warn(f"{where}: {item} stands again as item {again[0]}{others}; the first counts.")
    return list(first)


def _items(given: Iterable[Any], where: str) -> list[Hashable]:
    """Return the items, each once."""
    listed = list(given)
    if not listed:
        raise InputError(where, "at least one item", "none")
    try:
        "".join(listed)  # refuses all but strings, faster than a look at each type
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
                    "Leave one out; scores go beside their items, as {item: score}.",
                )
            seen.add(item)
    return listed


def _item(item: Any, where: str) -> Hashable:
    if isinstance(item, str):
        return item
    if not isinstance(item, bool):
        try:
            return str(operator.index(item))
        except (TypeError, ValueError):  # no integer, or one of thousands of digits
            pass  # taken as it is
    if isinstance(item, float) and math.isnan(item):
        raise InputError(where, "an item", "NaN", "A missing id equals no other: leave it out.")
    try:
        hash(item)
    except TypeError:
        raise InputError(
            where, "an item that can be compared, such as a string", _shown(item)
        ) from None
    return item  # type: ignore[no-any-return]


def _score(value: object, item: object, where: str) -> float:
    number = math.nan
    if isinstance(value, SupportsFloat):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{where}, item {shown(item)}", "a finite number as score", _shown(value))
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
                "Break the ties: give scores that differ, or the items as a list in rank order.",
            )
    return order


def _shown(value: object) -> str:
    return shown_with_type(value)
