"""The types of arrays that all layers use."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Numbers: grades, gains, scores, values."""

Ints = NDArray[np.int64]
"""Whole numbers: ranks, counts, offsets, places."""

Bools = NDArray[np.bool_]
"""Which of something is meant."""

AnyArray = NDArray[Any]
"""Ids, or whatever a caller brings."""

Array: TypeAlias = Any
"""An array of NumPy, torch, JAX or another library: their types have nothing in common that a checker knows."""
