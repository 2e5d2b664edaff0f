"""The types of arrays that all layers use."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Numbers: grades, gains, scores, values."""

Ints = NDArray[np.int64]
"""Whole numbers: ranks, counts, offsets, places."""

Bools = NDArray[np.bool_]
"""Which of something is meant."""
