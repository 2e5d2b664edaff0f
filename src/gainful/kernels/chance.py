"""Sums of gain times discount over all orders of a list."""

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.kernels.relevance import ratio
from gainful.kernels.segments import sums


def mean_and_variance(
    gains: Floats, owner: Ints, lengths: Ints, discount: Floats
) -> tuple[Floats, Floats]:
    """Return mean and variance (q,) of Σ g·d when every order of a list is as likely.

    Args:
        gains: (n,) of the documents with a judgment; the others have 0.
        owner: (n,) their query.
        lengths: (q,) how many documents each list has.
        discount: (depth+1,) by rank, 0 beyond a cutoff.
    """
    queries = lengths.size
    upto, squares = np.cumsum(discount), np.cumsum(discount**2)
    weight, square = upto[lengths], squares[lengths]
    total, total_square = sums(gains, owner, queries), sums(gains**2, owner, queries)
    mean = ratio(total * weight, lengths)
    spread_gain = total_square - ratio(total**2, lengths)
    spread_discount = square - ratio(weight**2, lengths)
    variance = ratio(np.maximum(spread_gain, 0.0) * np.maximum(spread_discount, 0.0), lengths - 1)
    return mean, variance
