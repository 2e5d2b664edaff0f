"""The mean over queries: which of them count under the policy, and what becomes of their values."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.evaluation.values_before_policy import Measured
from gainful.inputs.identifiers import examples
from gainful.measures.baseline_in_formulas import BaselineMeasure
from gainful.measures.combination import Combination
from gainful.measures.measure import Measure
from gainful.measures.measure_family import GEOMETRIC, SUM
from gainful.measures.policy import Policy

SKIPPED = ("skip", "skip_all")
"""The answers to `empty` that leave a query out."""

_EMPTY = {"zero": 0.0, "one": 1.0, "nan": np.nan}


def apply_policy(measured: Measured, measures: Sequence[Measure], policy: Policy) -> Bools:
    """Give the bare values their meaning, in place; return where [query, measure] they count."""
    values, missing = measured.values, measured.missing
    counted = np.ones(values.shape, np.bool_)
    for column, measure in enumerate(measures):
        if measure.family.needs_run:
            values[missing, column] = 0.0
        empty = measured.empty[:, column]
        if isinstance(measure, Combination | BaselineMeasure) and policy.empty != "nan":
            counted[:, column] = ~np.isnan(values[:, column])  # where all in it counts
        if not measure.family.normalised and policy.empty != "skip_all":
            continue
        if policy.empty in SKIPPED:
            counted[empty, column] = False
        elif policy.empty in _EMPTY:
            values[empty, column] = _EMPTY[policy.empty]
    if policy.missing == "skip":
        counted[missing] = False
    values[~counted] = np.nan
    return counted


def refuse_missing(count: int, queries: Iterable[str], policy: Policy) -> None:
    """Refuse queries that the run lacks, where the policy says so."""
    if policy.missing == "error" and count:
        raise InputError(
            "run",
            "every judged query",
            f"{count} missing: {examples(queries)}",
            choice="missing=error",
        )


def refuse_extra(count: int, queries: Iterable[str], policy: Policy) -> None:
    """Refuse queries without judgments, where the policy says so."""
    if policy.extra == "error" and count:
        raise InputError(
            "run",
            "judged queries only",
            f"{count} without judgments: {examples(queries)}",
            choice="extra=error",
        )


def refuse_empty(measure: Measure, count: int, queries: Iterable[str], policy: Policy) -> None:
    """Refuse queries without positive gain, where the policy says so."""
    if policy.empty == "error" and count and measure.family.normalised:
        raise InputError(
            str(measure),
            "a positive gain in every query, or a relevant document",
            f"{count} without: {examples(queries)}",
            choice="empty=error",
        )


def refuse_nothing_counted(measure: Measure, count: int, policy: Policy) -> None:
    """Refuse a mean over no queries."""
    if not count:
        choice = f"missing={policy.missing} empty={policy.empty}"
        raise InputError(
            str(measure),
            "at least one query to average over",
            f"none left by the policy {choice}",
            choice=choice,
        )


def means_of(measures: Sequence[Measure], values: Floats, counted: Bools) -> dict[str, float]:
    """Return the mean of every measure by its name, over the queries that count for it.

    Args:
        measures: (m,).
        values: [query, measure].
        counted: [query, measure].
    """
    columns = zip(measures, values.T, counted.T, strict=True)
    return {str(each): aggregate_of(each, column[at].tolist()) for each, column, at in columns}


def aggregate_of(measure: Measure, values: list[float]) -> float:
    """Return what a measure has over all queries, from the values of those that count.

    Sums are exact before the one rounding at the end.
    """
    try:
        return aggregate_of_sum(measure, math.fsum(summands(measure, values)), len(values))
    except OverflowError:
        if measure.family.aggregate == SUM:
            raise
        return math.fsum(value / len(values) for value in values)  # the mean may still be a number


def aggregate_of_sum(measure: Measure, total: float, count: int) -> float:
    """Return what a measure has over all queries, from the sum of its summands.

    >>> from gainful.measures.notation import parse
    >>> aggregate_of_sum(parse("RR"), 1.5, 3), aggregate_of_sum(parse("num_rel"), 6.0, 3)
    (0.5, 6.0)
    """
    if measure.family.aggregate == SUM:
        return total
    return math.exp(total / count) if measure.family.aggregate == GEOMETRIC else total / count


def summands(measure: Measure, values: list[float]) -> list[float]:
    """Return what is summed of a measure: its values, or their logarithms."""
    if measure.family.aggregate != GEOMETRIC:
        return values
    floor = measure.parameters["floor"]
    return [value if math.isnan(value) else math.log(max(value, floor)) for value in values]
