"""Arrays of scores and labels `[..., list]` of any array library, checked by shape and type alone.

Only the numbers of NumPy are looked at, which are on the host: to look at others would make a device
wait, and a compiler has none yet.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.arguments import SWAPPED
from gainful.array_types import Bools
from gainful.errors import InputError, warn
from gainful.kernels.swapped_arguments import swapped_arguments
from gainful.tensors.array_checks import (
    FLOATS,
    holds_numbers,
    is_at_hand,
    mask_for,
    refuse_sparse,
    type_of,
)
from gainful.tensors.metrics.array_libraries import (
    device_of,
    is_jax,
    is_torch,
    namespace_of,
)


@dataclass(frozen=True, slots=True)
class ScoredLists:
    """Documents `[..., list]`, scores and grades in the type that is computed in.

    `scores` and `grades` are 0 where `valid` is False, that is, where there is no document;
    `padded` says whether there may be such places, and `at_hand` whether the numbers can be looked
    at without waiting for them; `unknown` `[..., 1]` is True where the score or the grade of some document is NaN; `xp` is
    the namespace of the arrays and `dtype` the type of the result.
    """

    xp: Any
    scores: Any
    grades: Any
    valid: Any
    unknown: Any
    dtype: Any
    padded: bool
    at_hand: bool

    @property
    def width(self) -> int:
        """How many places a list has, those without a document included."""
        return int(self.scores.shape[-1])

    def depth(self, cutoff: int | None) -> int:
        """Return how many ranks there are down to the cutoff."""
        return self.width if cutoff is None else min(cutoff, self.width)

    def constant(self, table: Any) -> Any:
        """Return a table from the host as an array beside the scores."""
        dtype = self.scores.dtype
        if is_jax(self.xp):  # places constants itself, also while it traces
            return self.xp.asarray(table, dtype=dtype)
        return self.xp.asarray(table, dtype=dtype, device=device_of(self.scores))

    def places(self) -> Any:
        """Return the places (list,) from 0 as integers."""
        if is_jax(self.xp):
            return self.xp.arange(self.width)
        return self.xp.arange(self.width, device=device_of(self.scores))

    def numbers(self, truths: Any) -> Any:
        """Return truths, or other numbers, in the type that is computed in."""
        return self.xp.astype(truths, self.scores.dtype)

    def total(self, values: Any) -> Any:
        """Sum over each list, `[..., 1]`."""
        return self.xp.sum(values, axis=-1, keepdims=True)

    def ratio(self, values: Any, totals: Any) -> Any:
        """Divide, 0 where the total is not positive."""
        positive = totals > 0
        return self.xp.where(positive, values / self.xp.where(positive, totals, 1), 0)

    def result(self, values: Any, unknown: Any = None) -> Any:
        """Return values `[..., 1]` as `[...]`, NaN where an input was unknown."""
        lacking = self.unknown if unknown is None else self.unknown | unknown
        return self.xp.astype(self.xp.where(lacking, float("nan"), values), self.dtype)[..., 0]


def read_lists(
    scores: Any, labels: Any, mask: Any = None, padding: float | None = None
) -> ScoredLists:
    """Check arrays of one library and shape, and blank what is no document.

    >>> import numpy as np
    >>> scores, mask = np.array([[0.5, np.nan]]), np.array([[True, False]])
    >>> read_lists(scores, np.array([[2, -1]]), mask).grades
    array([[2., 0.]])
    """
    xp = namespace_of(scores=scores, labels=labels, mask=mask)
    mask = mask_for(labels, mask, padding)
    refuse_wrong_lists(scores, labels, mask)
    if isinstance(scores, np.ndarray):  # which are on the host, and are never traced
        _warn_if_swapped(scores, labels, mask)
    dtype = xp.float64 if type_of(scores) == "float64" else xp.float32
    # A measure is flat wherever it has a gradient by scores, and labels are not learned.
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


def _warn_if_swapped(scores: NDArray[Any], labels: NDArray[Any], mask: Bools | None) -> None:
    given = (labels, scores) if mask is None else (labels[mask], scores[mask])
    oddity = swapped_arguments(*given)
    if oddity is not None:
        warn(SWAPPED.format(oddity=oddity))


def _constant(xp: Any, array: Any) -> Any:
    """Return an array without its history."""
    if is_torch(xp):
        return array.detach()
    if is_jax(xp):
        from jax import lax

        return lax.stop_gradient(array)
    return array


def refuse_wrong_lists(scores: Any, labels: Any, mask: Any) -> None:
    """Refuse shapes and types that are no lists of documents."""
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
            "Scores come first, then labels. The values have the type of the scores: where they are "
            "whole numbers, convert them first.",
        )
    if tuple(labels.shape) != shape:
        raise InputError("labels", f"the shape of scores, {shape}", f"{tuple(labels.shape)}")
    if not holds_numbers(labels):
        raise InputError("labels", "numbers", f"an array of {type_of(labels)}")
    if mask is not None and (type_of(mask) != "bool" or tuple(mask.shape) != shape):
        found = f"{type_of(mask)} of {tuple(mask.shape)}"
        raise InputError("mask", f"booleans of the shape of scores, {shape}", found)
