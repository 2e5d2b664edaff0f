"""`RankingObjective`: losses for trainers of trees, with first and second derivatives."""

from typing import Any

import numpy as np

import gainful as gf
from gainful import arguments
from gainful.arithmetic.kernels.cumulated_gain import discount_table
from gainful.arithmetic.kernels.loss_derivatives import (
    cross_entropy_derivatives,
    lambda_derivatives,
)
from gainful.arithmetic.number_arrays import as_array, as_numbers
from gainful.array_types import Floats, Ints
from gainful.errors import InputError, MeasureError, warn
from gainful.measures.notation import GivenMeasure
from gainful.rows.arrays import read_lists

METHODS = ("lambda", "xe", "softmax", "listnet")
_OF_PAIRS = {"scheme": "lambdarank", "sigma": 1.0, "mu": 10.0, "truncation": "either"}
_OPTIONS = {"lambda": tuple(_OF_PAIRS), "xe": ("gamma",)}
_LARGEST = 1e100  # of a weight
_LEAST = 1e-16  # a trainer divides by second derivatives


class RankingObjective:
    """The derivatives of a loss, multiplied by the mean number of documents per list.

    The factor is the same for all lists. It scales second derivatives to the size of a squared error's,
    which the usual settings of trainers assume: `min_child_weight`, `min_sum_hessian_in_leaf`, `lambda`.
    """

    def __init__(self, measure: GivenMeasure, *, method: str, seed: int, **options: Any) -> None:
        arguments.choice(method, "method", METHODS, error=MeasureError)
        unknown = {*options} - {*_OF_PAIRS, "gamma"}
        if unknown:
            expected = f"one of {', '.join([*_OF_PAIRS, 'gamma'])}"
            raise MeasureError("objective", expected, sorted(unknown)[0])
        other = {*options} - {*_OPTIONS.get(method, ())}
        if other:
            permitted = ", ".join(_OPTIONS.get(method, ())) or "none"
            raise MeasureError("objective", f"options of {method} ({permitted})", sorted(other)[0])
        self._loss = gf.losses.loss(measure, method=method, **options)  # checks all arguments
        if options.get("gamma") is not None:
            expected = "a number from 0 to 1"
            gamma = arguments.number(options["gamma"], "gamma", expected, lambda x: 0 <= x <= 1)
            options = {**options, "gamma": gamma}
        self.measure, self.method, self.options = self._loss.measure, method, options
        self._seed = arguments.whole(seed, "seed", least=0, most=arguments.LARGEST_SEED)
        self._rng = np.random.default_rng(self._seed)

    def derivatives(
        self, labels: Any, scores: Any, *, group: Any, weight: object = None
    ) -> tuple[Floats, Floats]:
        """Return the first and second derivatives (n,) of the loss with respect to the scores.

        Args:
            labels: (n,) grades.
            scores: (n,) raw predictions.
            group: the sizes of the lists, in order.
            weight: a weight for each document, or for each list; 1 if None or empty.
        """
        lists = read_lists(labels, scores, group=group)
        offsets = np.concatenate(([0], np.cumsum(lists.lengths)))
        if lists.scores.min() == lists.scores.max():  # a training begins, so draws start over
            self._rng = np.random.default_rng(self._seed)
        first, second = self._of_loss(
            lists.labels.astype(np.float64), lists.scores.astype(np.float64), offsets
        )
        factor = self._factor(offsets, weight)
        return first * factor, np.maximum(second * factor, _LEAST)

    def _of_loss(self, labels: Floats, scores: Floats, offsets: Ints) -> tuple[Floats, Floats]:
        gains = self._gains(labels)
        if self.method in ("xe", "softmax") and gains.min() < 0:
            self._tell_of_losses(float(gains.min()))
        if self.method != "lambda":
            return cross_entropy_derivatives(scores, self._mass(labels, gains, offsets), offsets)
        discount = self.measure.parameters["discount"]
        discounts = discount_table(
            discount.formula,
            int(np.diff(offsets).max(initial=0)) + 1,
            base=self.measure.parameters["base"],
            exponent=discount.exponent,
        )
        return lambda_derivatives(
            scores,
            labels,
            gains,
            offsets,
            discounts,
            cutoff=self.measure.cutoff,
            normalized=self.measure.name == "nDCG",
            **{**_OF_PAIRS, **self.options},
        )

    def _tell_of_losses(self, least: float) -> None:
        """Reject or warn about gains below 0, which can't be weights of a cross entropy."""
        remedy = "Use a gain of at least 0, such as gain={-1: 0, 0: 0, 1: 1}, or method=lambda."
        if self.method == "xe" and self.options.get("gamma") is None:
            # The sums of gains and draws are divisors, and can be close to 0.
            raise InputError("label", "non-negative gains with method=xe", f"{least:g}", remedy)
        warn(
            f"label: with gains below 0 ({least:g}) the loss {self.method} has no minimum. {remedy}"
        )

    def _mass(self, labels: Floats, gains: Floats, offsets: Ints) -> Floats:
        """Return the weights (n,) of the cross entropy."""
        if self.method == "softmax":
            return gains
        lengths = np.diff(offsets)
        owner = np.repeat(np.arange(lengths.size), lengths)
        if self.method == "listnet":
            highest = np.full(lengths.size, -np.inf)
            np.maximum.at(highest, owner, labels)
            mass = np.exp(labels - highest[owner])
        else:
            gamma = self.options.get("gamma")
            drawn = self._rng.random(labels.size) if gamma is None else float(gamma)
            mass = gains + 1.0 - drawn
        total = np.bincount(owner, mass, lengths.size)[owner]
        return np.where(total > 0, mass / np.where(total > 0, total, 1.0), 0.0)

    def _gains(self, labels: Floats) -> Floats:
        if self.method == "listnet":
            return labels
        different, place = np.unique(labels, return_inverse=True)
        by_label = gf.cg(different[:, None], gain=self.measure.parameters["gain"])
        gains: Floats = np.asarray(by_label, np.float64)[place]
        return gains

    @staticmethod
    def _factor(offsets: Ints, weight: Any) -> Floats | float:
        lists = int(np.count_nonzero(np.diff(offsets)))
        mean = int(offsets[-1]) / max(lists, 1)
        weights = (
            np.zeros(0) if weight is None else as_numbers(as_array(weight, "weight"), "weight")
        )
        if not weights.size:
            return mean
        if weights.min() < 0 or weights.max() > _LARGEST:
            raise InputError(
                "weight", "non-negative numbers", f"{weights.min():g} to {weights.max():g}"
            )
        if weights.size == offsets.size - 1:
            weights = np.repeat(weights, np.diff(offsets))
        if weights.shape != (int(offsets[-1]),):
            expected = f"one for each of {offsets[-1]} documents, or of {offsets.size - 1} lists"
            raise InputError("weight", expected, str(weights.size))
        return mean * weights

    def written(self) -> str:
        """Return the settings as arguments, for a repr."""
        settings = {"method": self.method, **self.options}
        options = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return f"{str(self.measure)!r}, {options}"
