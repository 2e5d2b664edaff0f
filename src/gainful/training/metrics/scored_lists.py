"""Arrays of scores and labels `[..., list]` of any array library, checked by shape and dtype.

Values are inspected for NumPy arrays only, which are on the host: reading others would wait for a
device, and a compiler has no values yet.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from gainful.arguments import SWAPPED
from gainful.arithmetic.kernels.swapped_arguments import swapped_arguments
from gainful.array_types import AnyArray, Array, Bools
from gainful.errors import InputError, warn
from gainful.training.array_checks import (
    FLOATS,
    holds_numbers,
    is_at_hand,
    mask_for,
    refuse_sparse,
    type_of,
)
from gainful.training.metrics.array_libraries import (
    device_of,
    is_jax,
    is_torch,
    namespace_of,
)


@dataclass(frozen=True, slots=True)
class ScoredLists:
    """Documents `[..., list]`, with scores and grades in the computation dtype.

    `scores` and `grades` are 0 where `valid` is False, in padding; `padded` is whether there may be
    padding, and `at_hand` whether the numbers can be read without waiting. `unknown` `[..., 1]`
    marks lists where a score or grade is NaN; `xp` is the namespace of the arrays and `dtype` the
    dtype of the result.
    """

    xp: ModuleType
    scores: Array
    grades: Array
    valid: Array
    unknown: Array
    dtype: Any
    padded: bool
    at_hand: bool

    @property
    def width(self) -> int:
        """The number of places in a list, including padding."""
        return int(self.scores.shape[-1])

    def depth(self, cutoff: int | None) -> int:
        """Return the number of ranks down to the cutoff."""
        return self.width if cutoff is None else min(cutoff, self.width)

    def constant(self, table: Array) -> Array:
        """Return a table from the host as an array on the device of the scores."""
        dtype = self.scores.dtype
        if is_jax(self.xp):  # JAX places constants itself, even while tracing
            return self.xp.asarray(table, dtype=dtype)
        return self.xp.asarray(table, dtype=dtype, device=device_of(self.scores))

    def places(self) -> Array:
        """Return the places (list,) from 0 as integers."""
        if is_jax(self.xp):
            return self.xp.arange(self.width)
        return self.xp.arange(self.width, device=device_of(self.scores))

    def numbers(self, truths: Array) -> Array:
        """Return booleans or other numbers in the computation dtype."""
        return self.xp.astype(truths, self.scores.dtype)

    def total(self, values: Array) -> Array:
        """Sum over each list, `[..., 1]`."""
        return self.xp.sum(values, axis=-1, keepdims=True)

    def ratio(self, values: Array, totals: Array) -> Array:
        """Divide; 0 if the total is not positive."""
        positive = totals > 0
        return self.xp.where(positive, values / self.xp.where(positive, totals, 1), 0)

    def result(self, values: Array, unknown: Array = None) -> Array:
        """Return values `[..., 1]` as `[...]`, with NaN for unknown inputs."""
        lacking = self.unknown if unknown is None else self.unknown | unknown
        return self.xp.astype(self.xp.where(lacking, float("nan"), values), self.dtype)[..., 0]


def read_lists(
    scores: Array, labels: Array, mask: Array = None, padding: float | None = None
) -> ScoredLists:
    """Check that arrays share a library and shape, and set padding to 0.

    >>> import numpy as np
    >>> scores, mask = np.array([[0.5, np.nan]]), np.array([[True, False]])
    >>> read_lists(scores, np.array([[2, -1]]), mask).grades
    array([[2., 0.]])
    """
    xp = namespace_of(scores=scores, labels=labels, mask=mask)
    mask = mask_for(labels, mask, padding)
    refuse_wrong_lists(scores, labels, mask)
    if isinstance(scores, np.ndarray):  # NumPy arrays are on the host and never traced
        _warn_if_swapped(scores, labels, mask)
    dtype = xp.float64 if type_of(scores) == "float64" else xp.float32
    # A measure is constant wherever it has a gradient by scores, and labels are not learned.
    numbers, grades = (
        xp.astype(_constant(xp, array), dtype, copy=False) for array in (scores, labels)
    )
    if mask is not None:
        numbers, grades = (xp.where(mask, array, 0) for array in (numbers, grades))
    return ScoredLists(
        xp=xp,
        scores=numbers,
        grades=grades,
        valid=xp.ones_like(scores, dtype=xp.bool) if mask is None else mask,
        unknown=xp.any(xp.isnan(numbers) | xp.isnan(grades), axis=-1, keepdims=True),
        dtype=scores.dtype,
        padded=mask is not None,
        at_hand=is_at_hand(scores),
    )


def _warn_if_swapped(scores: AnyArray, labels: AnyArray, mask: Bools | None) -> None:
    arrays = (labels, scores) if mask is None else (labels[mask], scores[mask])
    oddity = swapped_arguments(*arrays)
    if oddity is not None:
        warn(SWAPPED.format(oddity=oddity))


def _constant(xp: ModuleType, array: Array) -> Array:
    """Return an array without its history."""
    if is_torch(xp):
        return array.detach()
    if is_jax(xp):
        from jax import lax

        return lax.stop_gradient(array)
    return array


def refuse_wrong_lists(scores: Array, labels: Array, mask: Array) -> None:
    """Reject shapes and dtypes that are not lists of documents."""
    refuse_sparse("scores", scores)
    refuse_sparse("labels", labels)
    shape = tuple(scores.shape)
    if not shape:
        raise InputError("scores", "[..., list]", "no dimension")
    if type_of(scores) not in FLOATS:
        raise InputError(
            "scores",
            f"{', '.join(FLOATS[:-1])} or {FLOATS[-1]}",
            type_of(scores),
            "Pass scores first, then labels. The result has the dtype of the scores, so convert "
            "whole numbers to floats first.",
        )
    if tuple(labels.shape) != shape:
        raise InputError("labels", f"the shape of scores, {shape}", f"{tuple(labels.shape)}")
    if not holds_numbers(labels):
        raise InputError("labels", "numbers", f"an array of {type_of(labels)}")
    if mask is not None and (type_of(mask) != "bool" or tuple(mask.shape) != shape):
        actual = f"{type_of(mask)} of {tuple(mask.shape)}"
        raise InputError("mask", f"booleans of the shape of scores, {shape}", actual)
