"""Rankings: items in rank order, or items with scores; one of them, or one for each query."""

import math
import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, SupportsFloat

import numpy as np

from gainful.arithmetic.number_arrays import LARGEST_EXACT
from gainful.array_types import AnyArray
from gainful.errors import InputError, warn
from gainful.message_texts import shown, shown_with_type
from gainful.rows.identifiers import id_text
from gainful.rows.values_as_numbers import INEXACT

Ranking = Sequence[Hashable] | AnyArray | Mapping[Any, float]
Run = Mapping[Any, Mapping[Any, float]]


def read_scores(ranking: object, where: str) -> dict[Hashable, float]:
    """Return item → score, higher is better; a list gives its items falling scores.

    Integers are ids, and become strings; other items stay what they are.

    >>> read_scores({"a": 1, 7: 0.5}, "first"), read_scores(["a", "b"], "first")
    ({'a': 1.0, '7': 0.5}, {'a': 0.0, 'b': -1.0})
    """
    if isinstance(ranking, Mapping):
        items = _items(ranking, where)
        scores = [_score(number, item, where) for item, number in ranking.items()]
        return dict(zip(items, scores, strict=True))
    return {item: float(-place) for place, item in enumerate(_listed(ranking, where))}


def read_order(ranking: object, where: str) -> list[Hashable]:
    """Return the items best first; equal scores by id descending, compared as bytes.

    >>> read_order({"a": 1, "b": 2, "c": 1}, "first")
    ['b', 'c', 'a']
    """
    if not isinstance(ranking, Mapping):
        return _listed(ranking, where)
    scores = read_scores(ranking, where)
    if all(isinstance(item, str) for item in scores):
        # Code points order strings as their UTF-8 bytes do.
        return sorted(scores, key=lambda item: (scores[item], item), reverse=True)
    return _untied(scores, where, "strings or integers as ids where scores tie")


def read_untied(ranking: object, where: str) -> list[Hashable]:
    """Return the items best first; refuse equal scores.

    >>> read_untied({"a": 1, "b": 2}, "ranking")
    ['b', 'a']
    """
    if not isinstance(ranking, Mapping):
        return _listed(ranking, where)
    return _untied(read_scores(ranking, where), where, "a different score for each item")


def is_run(value: object) -> bool:
    """Tell whether there is a ranking for each query, not one alone.

    >>> is_run({"q": {"a": 1.0}}), is_run({"a": 1.0})
    (True, False)
    """
    return isinstance(value, Mapping) and any(isinstance(docs, Mapping) for docs in value.values())


def read_queries(run: object, where: str) -> dict[str, Mapping[object, object]]:
    """Return query → its documents with scores, as they are.

    >>> read_queries({7: {"a": 1.0}}, "first")
    {'7': {'a': 1.0}}
    """
    if not isinstance(run, Mapping):
        raise InputError(where, "a run {query: {doc: score}}, as the other", _shown(run))
    queries: dict[str, Mapping[object, object]] = {}
    for query, documents in run.items():
        name = id_text(query, where=f"{where}, query ids")
        if name in queries:
            raise InputError(where, "each query once", f"{name!r} as a string and as an integer")
        if not isinstance(documents, Mapping):
            raise InputError(f"{where}, query {name!r}", "{doc: score}", _shown(documents))
        queries[name] = documents
    return queries


def _listed(items: object, where: str) -> list[Hashable]:
    if isinstance(items, np.ndarray) and items.ndim == 1:
        return _items(_once(items.tolist(), where), where)
    if isinstance(items, Sequence) and not isinstance(items, str | bytes | bytearray | memoryview):
        return _items(_once(items, where), where)
    raise InputError(
        where,
        "a list of items in rank order, or {item: score}",
        _shown(items),
        "Give a list of its items, or a dict of their scores.",
    )


def _once(items: Sequence[Any], where: str) -> Sequence[Any]:
    """Return a list in which each text stands once: the first of several counts.

    Numbers that stand again are left, to be refused: they are rather scores than ids.
    """
    try:
        "".join(items)  # refuses all but strings, faster than a look at each type
    except TypeError:
        return items
    first: dict[str, int] = {}
    for place, item in enumerate(items, 1):
        first.setdefault(item, place)
    again = [place for place, item in enumerate(items, 1) if first[item] != place]
    if again:
        others = f", and {len(again) - 1} more" if len(again) > 1 else ""
        item = shown(items[again[0] - 1])
        warn(f"{where}: {item} stands again as item {again[0]}{others}; the first counts.")
    return list(first)


def _items(items: Iterable[Any], where: str) -> list[Hashable]:
    """Return the items, each once."""
    listed = list(items)
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
