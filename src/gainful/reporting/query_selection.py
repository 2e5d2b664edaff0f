"""The queries that a report shows if it cannot show all: the most important, as many as fit."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from gainful.array_types import Floats

PAYLOAD = 3_800_000
"""The maximum size of a report's data in bytes: the page as a whole stays below 5 MB."""

TABLE = 2_600_000
"""The maximum share of it for the scores of all queries."""

LEAST_DETAIL = 600_000
"""The bytes reserved for the details of queries, however large the rest is."""

_ESCAPED = 5  # additional bytes for a character that a script element must not contain
_NUMBER = 20  # bytes of a float64 with its comma


def size_of(value: object) -> int:
    """Return the maximum number of bytes that a plain value takes inside a page.

    >>> size_of({"id": "<b>"})
    22
    """
    text = json.dumps(value, separators=(",", ":"))
    return len(text) + _ESCAPED * sum(map(text.count, "<>&"))


def by_importance(
    values: Floats, base: int | None, first: Collection[int] = ()
) -> tuple[list[int], str]:
    """Return the queries by importance, and the criterion in words.

    With a baseline, importance is the largest difference of any run from it. With one run, the queries
    in `first` are followed by the lowest and the highest scores, alternating.

    Args:
        values: [query, run] of one measure, NaN without a value.
        base: the column of the baseline; None with one run.
        first: with one run, the positions of queries that matter whatever their value is.

    >>> by_importance(np.array([[0.5, 0.4], [0.1, 0.9], [0.2, 0.2]]), 0)[0]
    [1, 0, 2]
    >>> by_importance(np.array([[0.5], [0.1], [0.9], [0.2]]), None)[0]
    [1, 2, 3, 0]
    """
    if base is not None:
        # If a run has no value, there is no difference to show.
        apart = np.nan_to_num(np.abs(values - values[:, base : base + 1]), nan=0.0)
        order = np.argsort(-apart.max(axis=1), kind="stable")
        return order.tolist(), "the largest differences from the baseline"
    ascending = np.argsort(np.nan_to_num(values[:, 0], nan=-np.inf), kind="stable").tolist()
    turns = [place for pair in zip(ascending, reversed(ascending), strict=True) for place in pair]
    order_of_one = list(dict.fromkeys([*sorted(first), *turns]))
    return (
        order_of_one,
        "queries without an answer or without relevant documents, and the lowest and highest scores",
    )


def that_fit(order: Sequence[int], sizes: Iterable[int], budget: int) -> list[int]:
    """Return the first positions of an order that together stay within a budget.

    >>> that_fit([4, 2, 7], [10, 10, 10], 25)
    [4, 2]
    """
    kept, taken = [], 0
    for place, size in zip(order, sizes, strict=False):
        taken += size
        if taken > budget:
            break
        kept.append(place)
    return kept


def row_sizes(order: Sequence[int], queries: Sequence[object], cells: int) -> Iterator[int]:
    """Yield the maximum number of bytes of each query's row: the query itself and its scores."""
    for place in order:
        yield size_of(queries[place]) + 1 + _NUMBER * cells
