"""Sums of queries drawn with replacement, as many as there are."""

import numpy as np

from gainful.array_types import Floats
from gainful.statistics.draws import Draws, Purpose, draw_places
from gainful.statistics.products import PIECE, in_pieces, weighted_sums

_CELLS = 1 << 18  # counts of a block: two megabytes
_DRAWN = 1 << 15  # draws at once: larger arrays are handed back to the system after each use


def resampled_sums(units: Floats, draws: Draws) -> Floats:
    """Return (r, c), the sums of each resample, all columns from the same queries.

    A resample is how often each query was drawn, and its sums are weighted with that.

    Args:
        units: (n, c) on a grid, so that the sums are exact.
        draws: how many resamples, and their seed.

    >>> sums = resampled_sums(np.array([[0.0, 1.0], [2.0, 1.0]]), Draws(resamples=100))
    >>> sums.shape, np.unique(sums[:, 0]).tolist(), np.unique(sums[:, 1]).tolist()
    ((100, 2), [0.0, 2.0, 4.0], [2.0])
    """
    queries = len(units)
    pieces = in_pieces(units)
    step = max(_DRAWN // queries, 1)

    def work(generator: np.random.Generator, count: int) -> Floats:
        counts = np.zeros((count, len(pieces) * PIECE))
        for start in range(0, count, step):
            rows = counts[start : start + step, :queries]
            drawn = draw_places(generator, queries, rows.shape)
            for row, places in zip(rows, drawn, strict=True):
                row[:] = np.bincount(places, minlength=queries)
        return weighted_sums(counts, pieces)

    size = min(max(_CELLS // queries, 1), PIECE)
    return np.concatenate(draws.in_blocks(Purpose.BOOTSTRAP, size, work))
