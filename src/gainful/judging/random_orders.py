"""`random_order`: what a measure would be if the order of the list were left to chance."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Floats
from gainful.errors import InputError, PolicyError
from gainful.evaluation.coverage import Coverage, notes_of
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.evaluation.measuring import compute
from gainful.evaluation.request import read_one
from gainful.evaluation.scores import measure_matched
from gainful.kernels.binary_relevance import ratio
from gainful.kernels.cumulated_gain import mean_and_variance
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy
from gainful.rendering.table_formats import Cell, Table, as_text
from gainful.writing.result_base import Result

SUMS = ("CG", "DCG", "nDCG")
"""The families whose expectation over all orders is known in closed form."""


@dataclass(frozen=True, eq=False, repr=False)
class Chance(Result):
    """A measure beside its expectation over all orders of each list.

    Attributes:
        measure: the measure.
        queries: (q,) ids.
        value: (q,) of the run.
        expected: (q,) over all orders of the documents of the list, each as likely.
        variance: (q,) over the same.
        policy: the choices made.
        coverage: what was there and what was missing.
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

        0 is what chance gives and 1 the best; 0 where chance gives the best already. For nDCG,
        whose best is 1.
        """
        if self.measure.name != "nDCG":
            raise InputError("chance", "nDCG, whose best value is 1", f"'{self.measure}'")
        return np.where(
            self.expected < 1, ratio(self.value - self.expected, 1 - self.expected), 0.0
        )

    @property
    def means(self) -> dict[str, float]:
        """The means over the queries of value, expectation and, for nDCG, corrected value."""
        found = {"value": _mean(self.value), "expected": _mean(self.expected)}
        if self.measure.name == "nDCG":
            found["corrected"] = _mean(self.corrected)
        return found

    def table(self) -> Table:
        """Return the means for rendering."""
        means = self.means
        cells: list[Cell] = [str(self.measure), *means.values()]
        return Table(["measure", *means], [cells], notes=notes_of(self.policy, self.coverage))

    def __str__(self) -> str:
        return as_text(self.table())


@takes(MeasuringOptions)
def random_order(
    judgments: object,
    run: object,
    measure: GivenMeasure = "nDCG@10",
    **options: Unpack[MeasuringOptions],
) -> Chance:
    """Return a measure beside its mean and variance over all orders of each list.

    The list has n documents of gains g, the ranks have discounts d, 0 beyond the cutoff, and the
    ideal is I. The mean of nDCG is ḡ·Σd / I, and its variance Σ(d−d̄)²·Σ(g−ḡ)² / ((n−1)·I²).

    Args:
        judgments: of any kind that `evaluate` takes.
        run: of any kind that `evaluate` takes; documents without a judgment have gain 0.
        measure: CG, DCG or nDCG with any gain, discount and cutoff.
        **options: see `MeasuringOptions`.

    >>> grades = {"a": 3, "b": 2, "c": 2, "d": 1, "e": 0, "f": 0, "g": 0}
    >>> found = random_order({"q": grades}, {"q": dict.fromkeys(grades, 1)}, "nDCG@4")
    >>> round(float(found.expected[0]), 7), round(float(found.variance[0]), 7)
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
    # In units of a power of two for each query, which is exact: squares of all gains fit.
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
        found: Floats = np.ldexp(values, unit)
    if not np.isfinite(found).all():
        raise InputError(
            "random_order",
            "gains whose squares a float64 holds, up to about 1e+150",
            "larger ones",
            "Measure nDCG, or use smaller gains.",
        )
    return found


def _without(parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in parameters.items() if key != name}


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / values.size
