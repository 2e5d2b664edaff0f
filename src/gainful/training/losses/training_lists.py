"""`TrainingLists`: scores, labels and masks of any layout, in the same form for every loss."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gainful.array_types import AnyArray, Array
from gainful.errors import InputError
from gainful.measures.discount import DEFAULT_BASE, Discount
from gainful.measures.discount import base as read_base
from gainful.measures.discount import discount as read_discount
from gainful.measures.gain import gain as read_gain
from gainful.measures.measure import read_cutoff
from gainful.training.array_checks import (
    FLOATS,
    holds_numbers,
    refuse_masked,
    refuse_sparse,
    type_of,
)
from gainful.training.losses.array_operations import Operations, operations_for
from gainful.training.losses.gains_and_discounts import discounts_of, gains_of
from gainful.training.losses.options import Common


def numbers(ops: Operations, name: str, values: Array, like: Array) -> Array:
    """Return numbers in the floating dtype of `like`; reject anything else."""
    kept = _array(name, "numbers", values)
    if not holds_numbers(kept):
        raise InputError(name, "numbers", _kind(kept, values))
    refuse_sparse(name, kept)
    return ops.floats(kept, like)


def truths(ops: Operations, name: str, values: Array, like: Array) -> Array:
    """Return booleans of the shape of `like`; reject numbers."""
    expected = f"booleans of the shape of the scores, {tuple(like.shape)}"
    kept = _array(name, expected, values)
    refuse_sparse(name, kept)
    if type_of(kept) != "bool" or tuple(kept.shape) != tuple(like.shape):
        raise InputError(name, expected, f"{type_of(kept)} of {tuple(kept.shape)}")
    return ops.booleans(kept, like)


def _kind(kept: Array, values: Array) -> str:
    if type_of(kept) == "object":
        return type(values).__name__
    return "text" if type_of(kept).lstrip("<>|").startswith("u") else f"type {type_of(kept)}"


def _array(name: str, expected: str, values: Array) -> Array:
    refuse_masked(name, values)
    try:
        # An object with a dtype is already a tensor or an array, and may be traced.
        kept = values if hasattr(values, "dtype") else np.asarray(values)
        return _own(kept) if isinstance(kept, np.ndarray) else kept
    except (TypeError, ValueError, RuntimeError):
        raise InputError(name, expected, f"a ragged {type(values).__name__}") from None


def _own(array: AnyArray) -> AnyArray:
    """Return an array with a dtype and memory layout that frameworks support."""
    if array.dtype.kind == "f" and array.dtype.itemsize > np.dtype(np.float64).itemsize:
        array = array.astype(np.float64)
    if array.dtype.kind in "fiu":
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    # PyTorch has no negative strides, and warns of read-only arrays.
    plain = array.flags.c_contiguous and array.flags.writeable
    return array if plain else array.copy()


class Arranged(NamedTuple):
    """The scores of lists in one batch, [list, item], and how to batch other tensors."""

    ops: Operations
    scores: Array
    arrange: Callable[[Any], Array]


@dataclass(frozen=True, slots=True)
class TrainingLists:
    """Lists in one padded batch: arrays are [list, item]; masked items have score and gain 0.

    `ideal` is the DCG of the best order, or 1 if it is not positive; `gainful` marks lists where it
    is. `unknown` marks lists where a score is NaN or infinite, a label or a gain is NaN, or the
    ideal overflows. A loss that does not use the ideal has 1 there, which needs no sorting.
    `arrange` converts another tensor from the caller's layout to this one.
    """

    ops: Operations
    scores: Array
    labels: Array
    mask: Array
    gains: Array
    ideal: Array
    gainful: Array
    unknown: Array
    k: int | None
    discount: Discount
    base: float
    normalized: bool
    arrange: Callable[[Any], Array]

    @property
    def arranged(self) -> Arranged:
        """The inputs needed to make random draws for the lists."""
        return Arranged(self.ops, self.scores, self.arrange)

    @property
    def width(self) -> int:
        """The number of items of a list, padding included."""
        return int(self.scores.shape[1])

    @property
    def counts(self) -> Array:
        """The number of items of each list, [list], padding left out."""
        return self.ops.floats(self.mask, self.scores).sum(-1)

    @property
    def shares(self) -> Array:
        """The gains, divided by the ideal DCG if normalised; 0 in lists without gain."""
        if not self.normalized:
            return self.gains
        return self.ops.where(self.gainful[:, None], self.gains / self.ideal[:, None], 0.0)

    def worth(self, ranks: Array) -> Array:
        """Return the discounts at real ranks, ignoring the cutoff."""
        return discounts_of(self.ops, ranks, self.discount, self.base)

    def positions(self) -> tuple[Array, Array]:
        """Return 1, …, width, and their discounts, which are 0 after the cutoff."""
        places = self.ops.counting(self.width, self.scores)
        worth = self.worth(places)
        return places, worth if self.k is None else self.ops.where(places <= self.k, worth, 0.0)

    def order(self) -> Array:
        """Return the items from high to low scores, padding last."""
        return self.ops.descending(self.ops.where(self.mask, self.scores, -math.inf))

    def ranks(self) -> Array:
        """Return the rank of each item, from 1; equal scores keep their order."""
        places = self.ops.counting(self.width, self.scores)
        return self.ops.put(self.ops.everywhere(self.scores) * places, self.order())

    def missed(self, dcg: Array) -> Array:
        """Return 1 − DCG/ideal if normalised (0 for lists without gain), otherwise −DCG."""
        if not self.normalized:
            return -dcg
        return self.ops.where(self.gainful, 1 - dcg / self.ideal, 0.0)

    def log_of_sum(self, below: Array) -> Array:
        """Return ln Σ e^x [list, 1] of numbers `below_highest`; 0 for lists without items."""
        ops = self.ops
        # Mask before the exponential, so that masked values cannot overflow.
        terms = ops.where(self.mask, ops.exp(ops.where(self.mask, below, 0.0)), 0.0)
        total = terms.sum(-1)[:, None]
        return ops.log(ops.where(total > 0, total, 1.0))


def reduced(
    scores: Array,
    labels: Array,
    mask: Array,
    common: Common,
    formula: Callable[[TrainingLists], Array],
    *,
    ideal: bool = True,
) -> Array:
    """Return the reduced loss of lists by a formula, which may use the ideal DCG."""
    ops = operations_for(scores)
    with ops.exactly(scores):
        lists, shape = read_lists(scores, labels, mask, common, ideal=ideal)
        occupied = lists.counts > 0
        # A formula may skip numbers, and a comparison may drop a NaN; this keeps it visible.
        visible = ops.where(lists.unknown, math.nan, ops.floats(occupied, lists.scores))
        values = ops.where(occupied, formula(lists), 0.0) * visible
        reduction = common.get("reduction", "mean")
        return combined(ops, values, occupied, common.get("weight"), reduction, shape)


def combined(
    ops: Operations,
    values: Array,
    occupied: Array,
    weight: Array,
    reduction: str,
    shape: tuple[int, ...],
) -> Array:
    """Return the losses [list] of lists, weighted and reduced."""
    weights = weights_of(ops, values, occupied, weight, shape)
    values = values * weights
    if reduction == "none":
        return values.reshape(shape)
    if reduction == "sum":
        return values.sum()
    total = weights.sum()
    return values.sum() / ops.where(total > 0, total, 1.0)


def weights_of(
    ops: Operations, values: Array, occupied: Array, weight: Array, shape: tuple[int, ...]
) -> Array:
    """Return the weight of each list, [list]: 1 by default, and 0 without items."""
    if weight is None:
        return ops.floats(occupied, values)
    weights = numbers(ops, "weight", weight, values)
    if tuple(weights.shape) != shape:
        raise InputError("weight", f"one number for each list, {shape}", str(tuple(weights.shape)))
    return ops.where(occupied, weights.reshape(-1), 0.0)


def rows_of_pairs(ops: Operations, scores: Array) -> int:
    """Return how many rows of pairs of scores [list, item] are held at a time."""
    pairs, width = int(max(1, math.prod(scores.shape))), max(1, int(scores.shape[1]))
    blocks = -(-width // max(1, ops.block // pairs))
    return -(-width // blocks)  # blocks of similar size, so that none is mostly empty


def pairs_are_kept(ops: Operations, scores: Array) -> bool:
    """Return whether all pairs of scores [list, item] are kept for the gradient."""
    lists, width = (int(size) for size in scores.shape)
    return lists * width * width <= ops.kept_pairs


def below_highest(ops: Operations, values: Array, mask: Array) -> Array:
    """Return the distance of values below the highest of their list, as finite numbers.

    Only differences matter in a softmax, and close to 0 they keep their digits.
    """
    below = values - ops.highest(ops.where(mask, values, ops.lowest(values)), -1)
    return ops.at_least(below, ops.lowest(values))


def around_middle(ops: Operations, values: Array, mask: Array) -> Array:
    """Return the distance of values from the median of their list, as finite numbers.

    Only differences between items matter, and close to 0 they keep their digits, even if all scores
    are shifted or one item is far from the others.
    """
    middle = ops.median(ops.where(mask, values, math.nan))
    apart = values - ops.where(middle == middle, middle, 0.0)
    lowest = ops.lowest(values)
    return ops.where(apart < lowest, lowest, ops.where(apart > -lowest, -lowest, apart))


def read_lists(
    scores: Array, labels: Array, mask: Array, common: Common, *, ideal: bool = True
) -> tuple[TrainingLists, tuple[int, ...]]:
    """Return the lists of tensors in one batch, and the original shape of the lists."""
    ops = operations_for(scores)
    checked = read_scores(ops, scores)
    grades, marks = read_labels(ops, labels, checked), read_mask(ops, mask, checked)
    shape, arrange = tuple(checked.shape[:-1]), _arranging(ops, checked)
    mask = arrange(marks)
    # Masked values may be NaN, so they are replaced before any computation.
    clean = ops.where(mask, arrange(checked), 0.0)
    grades = ops.where(mask, arrange(grades), 0.0)
    gain = read_gain(common.get("gain", "exp2"))
    gains = ops.where(mask, gains_of(ops, grades, gain), 0.0)
    k = common.get("k")
    k = None if k is None else read_cutoff(k)
    discount = read_discount(common.get("discount", "log"))
    base = read_base(common.get("base", DEFAULT_BASE))
    unknown = (clean - clean).sum(-1) != 0  # ∞ − ∞ is NaN
    # A gain by formula is NaN for a label of NaN; other gains may return a number.
    for values in (gains,) if gain.form in ("exp2", "linear") else (grades, gains):
        top = ops.highest(values, -1)[:, 0]  # NaN if any is
        unknown = unknown | (top != top)
    best, positive = ops.floats(unknown, clean) * 0 + 1, unknown | ~unknown
    if ideal:
        best, positive = ideal_of(ops, gains, mask, (discount, base, k))
        # A sum that overflows the type would make every quotient 0.
        unknown = unknown | (best == math.inf)
    lists = TrainingLists(
        ops=ops,
        scores=clean,
        labels=grades,
        mask=mask,
        gains=gains,
        ideal=best,
        gainful=positive,
        unknown=unknown,
        k=k,
        discount=discount,
        base=base,
        normalized=common.get("normalized", True),
        arrange=arrange,
    )
    return lists, shape


def ideal_of(
    ops: Operations, gains: Array, mask: Array, rule: tuple[Discount, float, int | None]
) -> tuple[Array, Array]:
    """Return the DCG of the best order [list], 1 unless positive, and where it is positive."""
    discount, base, k = rule
    best = ops.from_high_to_low(ops.where(mask, gains, -math.inf))
    places = ops.counting(int(gains.shape[1]), gains)
    worth = discounts_of(ops, places, discount, base)
    worth = worth if k is None else ops.where(places <= k, worth, 0.0)
    ideal = (ops.where(best > 0, best, 0.0) * worth).sum(-1)
    positive = ideal > 0
    return ops.where(positive, ideal, 1.0), positive


def read_scores(ops: Operations, scores: Array) -> Array:
    """Return scores in the computation dtype."""
    refuse_sparse("scores", scores)
    if type_of(scores) not in FLOATS:
        raise InputError(
            "scores",
            f"{', '.join(FLOATS[:-1])} or {FLOATS[-1]}",
            type_of(scores),
            "Pass scores first, then labels.",
        )
    if not scores.ndim:
        raise InputError("scores", "at least one axis, the items of a list", "a single number")
    return ops.accumulating(scores)


def read_labels(ops: Operations, labels: Array, scores: Array) -> Array:
    """Return labels as constants of the type and shape of the scores."""
    grades = ops.constant(numbers(ops, "labels", labels, scores))
    if tuple(grades.shape) != tuple(scores.shape):
        expected = f"the shape of the scores, {tuple(scores.shape)}"
        raise InputError("labels", expected, str(tuple(grades.shape)))
    return grades


def read_mask(ops: Operations, mask: Array, scores: Array) -> Array:
    """Return a mask of items with the shape of the scores; all True without a mask."""
    return ops.everywhere(scores) if mask is None else truths(ops, "mask", mask, scores)


def _arranging(ops: Operations, scores: Array) -> Callable[[Array], Array]:
    """Return a function that converts a tensor with the shape of the scores to one batch."""
    *before, width = scores.shape
    lists = math.prod(before)

    def arrange(values: Array) -> Array:
        lead = tuple(values.shape[: values.ndim - scores.ndim])
        # An empty list becomes one masked item, so that every maximum exists.
        values = values if width else ops.widen(values)
        return values.reshape(*lead, lists, max(width, 1))

    return arrange
