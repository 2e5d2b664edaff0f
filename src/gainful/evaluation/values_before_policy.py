"""`Measured`: the bare numbers of a run, before the policy gives them a meaning."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Measured:
    """The bare numbers of a run, before the policy gives them a meaning.

    Attributes:
        queries: (q,) ids.
        values: [query, measure] float64; 0 where a normalised measure is undefined.
        empty: [query, measure] bool, True where the query has no positive gain.
        missing: (q,) bool, True where the run has no such query.
        tied: (q,) int64, how many judged documents share their score with another.
        seen: (q,) int64, documents looked at: all, or those down to a depth.
        unjudged: (q,) float64, those of them without a judgment; where ties are averaged over, as
            many as there are on average.
    """

    queries: tuple[str, ...]
    values: NDArray[np.float64]
    empty: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    tied: NDArray[np.int64]
    seen: NDArray[np.int64]
    unjudged: NDArray[np.float64]
