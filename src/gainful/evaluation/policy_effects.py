"""What a value means under the policy, and which queries count."""

from collections.abc import Iterable, Sequence

import numpy as np

from gainful.array_types import Bools
from gainful.errors import InputError
from gainful.evaluation.measuring import Measured
from gainful.inputs.identifiers import examples
from gainful.measures.measure import Measure
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
