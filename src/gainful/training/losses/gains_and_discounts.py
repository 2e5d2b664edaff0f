"""Gains of labels and discounts of whole or fractional ranks, on tensors."""

import math
from collections.abc import Sequence
from itertools import pairwise

from gainful.array_types import Array
from gainful.measures.discount import Discount
from gainful.measures.gain import FORMS, Gain, gains_by_function
from gainful.training.losses.array_operations import Operations


def gains_of(ops: Operations, labels: Array, gain: Gain) -> Array:
    """Return the gain of each label; NaN where a table lacks it, since tensors raise no errors."""
    if gain.function is not None:
        return ops.floats(gains_by_function(gain, labels), labels)
    if gain.form in FORMS:
        return FORMS[gain.form].formula(labels, _LabelArithmetic(ops, labels))
    gains = labels if gain.own else ops.where(labels == 0, labels, math.nan)
    for grade, value in gain.table:
        gains = ops.where(labels == grade, value, gains)
    return gains


class _LabelArithmetic:
    """The functions that the formula of a gain may use besides operators."""

    def __init__(self, ops: Operations, labels: Array) -> None:
        self._ops, self._labels = ops, labels
        self.exp2m1 = ops.exp2m1

    def numbers(self, truths: Array) -> Array:
        """Return 1 where a condition is true, else 0, in the type of the labels."""
        return self._ops.floats(truths, self._labels)


class _TensorArithmetic:
    """The functions that a discount formula may use besides operators."""

    def __init__(self, ops: Operations, base: float, exponent: float) -> None:
        self.ops, self.base, self.exponent = ops, base, exponent

    def inverse_log(self, numbers: Array) -> Array:
        return math.log(self.base) / self.ops.log(numbers)

    def where(self, condition: Array, yes: Array, no: Array) -> Array:
        return self.ops.where(condition, yes, no)

    def entries(self, table: Sequence[float], deeper: float, rank: Array) -> Array:
        """Return the entry of each rank, interpolated linearly between whole ranks."""
        values = rank * 0 + deeper
        for place, (entry, after) in enumerate(pairwise((*table, deeper)), 1):
            between = entry + (after - entry) * (rank - place)
            values = self.ops.where((rank >= place) & (rank < place + 1), between, values)
        return values

    def checked(self, worth: Array, where: str) -> Array:
        """Return discounts unchecked: reading them would wait for the device."""
        del where
        return self.ops.floats(worth, worth)


def discounts_of(ops: Operations, ranks: Array, discount: Discount, base: float) -> Array:
    """Return the discount of each rank, a decreasing function of real ranks from 1.

    These are the measures' discounts, extended to fractional ranks, which makes approximate ranks
    differentiable.
    """
    return discount.formula(ranks, _TensorArithmetic(ops, base, discount.exponent or 0.0))
