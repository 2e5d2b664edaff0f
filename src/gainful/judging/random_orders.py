"""`random_order`: the expected value of a measure if lists were ordered at random."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.arithmetic.kernels.cumulated_gain import mean_and_variance
from gainful.array_types import Floats
from gainful.errors import InputError, PolicyError
from gainful.evaluation.coverage import Coverage, notes_of
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.evaluation.measuring import compute
from gainful.evaluation.request import read_one
from gainful.evaluation.scores import measure_matched
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy
from gainful.output.rendering.table_formats import Cell, Table
from gainful.output.writing.result_base import Printed
from gainful.rows.input_types import Judgments, Run

SUMS = ("CG", "DCG", "nDCG")
"""The families whose expectation over all orders has a closed form."""


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Printed):
    """A measure and its expectation over all orders of each list.

    Attributes:
        measure: the measure.
        queries: (q,) ids.
        value: (q,) the run's values.
        expected: (q,) the mean over all orders of the list's documents, all equally likely.
        variance: (q,) the variance over the same orders.
        policy: the choices made.
        coverage: counts of queries and documents, and of missing ones.
    """

    measure: Measure
    queries: tuple[str, ...]
    value: Floats
    expected: Floats
    variance: Floats
    policy: Policy
    coverage: Coverage

    @property
    def corrected(self) -> Floats:
        """(q,) the value corrected for chance: (value − expected) / (1 − expected).

        0 is chance level and 1 the best value; 0 if chance already gives the best. Only for nDCG,
        whose best value is 1.
        """
        if self.measure.name != "nDCG":
            raise InputError("chance", "nDCG, whose best value is 1", f"'{self.measure}'")
        return np.where(
            self.expected < 1, ratio(self.value - self.expected, 1 - self.expected), 0.0
        )

    @property
    def means(self) -> dict[str, float]:
        """The means over queries of value, expectation and, for nDCG, corrected value."""
        means = {"value": _mean(self.value), "expected": _mean(self.expected)}
        if self.measure.name == "nDCG":
            means["corrected"] = _mean(self.corrected)
        return means

    def table(self) -> Table:
        """Return the means for display."""
        means = self.means
        cells: list[Cell] = [str(self.measure), *means.values()]
        return Table(["measure", *means], [cells], notes=notes_of(self.policy, self.coverage))


@takes(MeasuringOptions)
def random_order(
    judgments: Judgments,
    run: Run,
    measure: GivenMeasure = "nDCG@10",
    **options: Unpack[MeasuringOptions],
) -> Chance:
    """Return a measure with its mean and variance over all orders of each list.

    The list has n documents with gains g, the ranks have discounts d, 0 beyond the cutoff, and the
    ideal is I. The mean of nDCG is ḡ·Σd / I, and its variance Σ(d−d̄)²·Σ(g−ḡ)² / ((n−1)·I²).

    Args:
        judgments: judgments of any kind that `evaluate` accepts.
        run: a run of any kind that `evaluate` accepts; unjudged documents have gain 0.
        measure: CG, DCG or nDCG with any gain, discount and cutoff.
        **options: see `MeasuringOptions`.

    >>> grades = {"a": 3, "b": 2, "c": 2, "d": 1, "e": 0, "f": 0, "g": 0}
    >>> orders = random_order({"q": grades}, {"q": dict.fromkeys(grades, 1)}, "nDCG@4")
    >>> round(float(orders.expected[0]), 7), round(float(orders.variance[0]), 7)
    (0.5142787, 0.0408237)
    """
    request = read_one(measure, options)
    asked, chosen = request.measure, request.policy
    if asked.name not in SUMS or asked.changes("norm"):
        expected_one = f"one of {', '.join(SUMS)}, nDCG with norm=ideal"
        raise InputError("random_order", expected_one, f"'{asked}'")
    for name in ("absent", "empty"):
        if getattr(chosen, name) != "zero":
            raise PolicyError(
                "random_order", f"the policy {name}=zero", f"{name}={getattr(chosen, name)}"
            )
    with request.reader_of(judgments, options) as reader:
        matched, decided = reader.match(run)
        request.refuse_grades(matched.grade, matched.pool_grades)
        request.warn_of_marks(reader)
        scores = measure_matched([matched], (asked,), decided)
    value = scores.values[:, 0]
    sheet = Worksheet(matched, decided)
    parameters = asked.parameters
    gains, _, _ = sheet.listed(parameters["gain"])
    discount = (
        np.concatenate(([0.0], np.ones(sheet.longest)))
        if asked.name == "CG"
        else sheet.discounts(parameters["discount"], parameters["base"], sheet.longest)
    ).copy()
    if asked.cutoff is not None:
        discount[asked.cutoff + 1 :] = 0.0
    # In units of a power of two for each query, which is exact, so that squares of gains don't
    # overflow.
    largest = np.zeros(matched.retrieved.size)
    np.maximum.at(largest, sheet.owner, np.abs(gains))
    unit = np.frexp(largest)[1]
    gains = np.ldexp(gains, -unit[sheet.owner])
    expected, variance = mean_and_variance(gains, sheet.owner, matched.retrieved, discount)
    if asked.name == "nDCG":
        ideal = Measure("IDCG", cutoff=asked.cutoff, **_without(parameters, "norm"))
        best = np.ldexp(compute(sheet, (ideal,))[:, 0], -unit)
        expected, variance = ratio(expected, best), ratio(variance, best**2)
    else:
        expected, variance = _in_full(expected, unit), _in_full(variance, 2 * unit)
    kept = ~matched.missing if decided.missing == "skip" else np.ones_like(matched.missing)
    return Chance(
        asked,
        scores.queries,
        value,
        expected[kept],
        variance[kept],
        scores.policy,
        scores.coverage,
    )


def _in_full(values: Floats, unit: NDArray[np.intc]) -> Floats:
    with np.errstate(over="ignore"):
        scaled: Floats = np.ldexp(values, unit)
    if not np.isfinite(scaled).all():
        raise InputError(
            "random_order",
            "gains whose squares fit in a float64, up to about 1e+150",
            "larger ones",
            "Use nDCG, or smaller gains.",
        )
    return scaled


def _without(parameters: Mapping[str, object], name: str) -> dict[str, Any]:
    return {key: value for key, value in parameters.items() if key != name}


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / values.size
