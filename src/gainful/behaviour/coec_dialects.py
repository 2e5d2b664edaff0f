"""Clicks over expected clicks (COEC) as other tools compute it."""

from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal

import numpy as np

from gainful.arithmetic.kernels.click_models import ShownLists
from gainful.arithmetic.statistics.distributions import beta_quantile
from gainful.array_types import Floats

_THOUSANDTH = Decimal("0.001")
_JEFFREYS = 0.5


def of_workbench(lists: ShownLists, ends: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the grades (p,) of OpenSearch's search relevance workbench, and the ends of their intervals.

    All impressions and clicks of a document count as if they had been at the best rank at which it was ever
    shown: its grade is its clicks / (its impressions × the click rate of that rank), without a prior, and 0 if
    nothing was ever clicked at that rank. It is rounded to three decimals, halves away from zero.

    Args:
        lists: the lists that were shown.
        ends: the shares of the distribution below the low and the high end.
    """
    shown, clicks = lists.sums(), lists.sums(lists.clicks)
    at_rank, clicked = lists.by_rank(), lists.by_rank(lists.clicks)
    best = np.full(lists.count, len(at_rank) - 1)
    seen = slice(None) if lists.weights is None else lists.weights > 0
    np.minimum.at(best, lists.pairs[seen], lists.ranks[seen])
    rate = np.divide(clicked, at_rank, out=np.zeros(len(at_rank)), where=at_rank > 0)[best]
    expected = rate * shown
    grades = _rounded(np.divide(clicks, expected, out=np.zeros(len(shown)), where=expected > 0))
    yes, no = clicks + _JEFFREYS, shown - clicks + _JEFFREYS
    low, high = (
        np.divide(
            beta_quantile(end, yes, no), rate, out=np.full(len(rate), missing), where=rate > 0
        )
        for end, missing in zip(ends, (0.0, np.inf), strict=True)
    )
    return grades, np.minimum(low, grades) * (clicks > 0), np.maximum(high, grades)


def _rounded(values: Floats) -> Floats:
    """Return values with three decimals, as Java formats them: from their shortest decimals, halves up."""
    distinct, places = np.unique(values, return_inverse=True)
    rounded = [
        float(Decimal(repr(value)).quantize(_THOUSANDTH, ROUND_HALF_UP))
        for value in distinct.tolist()
    ]
    return np.array(rounded)[places]


DIALECTS: Mapping[str, Callable[[ShownLists, Floats], tuple[Floats, Floats, Floats]]] = {
    "opensearch-workbench": of_workbench,
}
"""The tools whose COEC can be reproduced: each returns the grades and the ends of their intervals."""
