"""Every measure of every query: how each family is computed (`COMPUTE`), batch by batch on all cores."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats
from gainful.errors import InputError, MeasureError
from gainful.evaluation.computing import (
    average_precision_and_kin,
    cumulated_gain,
    own_measures,
    precision_and_counts,
    user_models,
)
from gainful.evaluation.gains_ranks_and_ideals import (
    Compute,
    Worksheet,
    expected_hits,
    relevant_total,
)
from gainful.evaluation.means_over_queries import apply_policy
from gainful.evaluation.values_before_policy import Measured
from gainful.inputs.cores import cores, in_parallel, keep_memory
from gainful.kernels.operations_on_measures import OPERATIONS
from gainful.matching.matched import Matched
from gainful.measures.baseline_in_formulas import BaselineMeasure, refuse_without_baseline
from gainful.measures.combination import Combination
from gainful.measures.gain import Gain
from gainful.measures.ir_measures_definitions import DocumentMeasure
from gainful.measures.measure import Measure
from gainful.measures.measure_family import OPTIONAL
from gainful.measures.own_measures import OwnMeasure
from gainful.measures.policy import Policy

COMPUTE: Mapping[str, Compute] = {
    **cumulated_gain.COMPUTE,
    **precision_and_counts.COMPUTE,
    **average_precision_and_kin.COMPUTE,
    **user_models.COMPUTE,
}

_LINEAR = Gain("linear")
# Documents: fewer are not worth a thread; the arrays of more are handed back to the system after
# each use, and cost more to get anew than to compute with.
_WORTH_A_THREAD, _LARGEST = 50_000, 260_000
# Threads come one by one into Python. With less than a whole batch for each, more than these wait
# for one another: sixteen take three times as long for a million documents.
_FEW_THREADS = 4

Part = TypeVar("Part")


def compute(sheet: Worksheet, measures: Sequence[Measure]) -> Floats:
    """Return the value of each query and measure, [query, measure].

    Measures that differ in their cutoff alone are computed together.
    """
    values = np.empty((len(sheet.matched.queries), len(measures)))
    for first, columns, cutoffs in _by_cutoffs(measures):
        if isinstance(first, Combination):
            values[:, columns[0]] = _combined(sheet, first)
            continue
        if isinstance(first, BaselineMeasure):
            values[:, columns[0]] = _of_baseline(sheet, first)
            continue
        if isinstance(first, DocumentMeasure):
            for column in columns:
                values[:, column] = _of_documents(sheet, measures[column])
            continue
        sheet.measuring = first.at(None) if first.family.cutoff == OPTIONAL else first
        # A sum that is too large is refused below, with a name, instead of warned about here.
        with np.errstate(over="ignore", invalid="ignore"):
            values[:, columns] = _how(first)(sheet, first.parameters, cutoffs)
    _refuse_overflow(values, sheet, measures)
    return values


def _combined(sheet: Worksheet, measure: Combination) -> Floats:
    """Return the values (q,) of a formula of measures, each as the policy has it; NaN where one does not count."""
    parts = measure.formula.measures()
    matched, none = sheet.matched, np.zeros(len(sheet.matched.queries), np.int64)
    values = compute(sheet, parts)
    measured = Measured(
        matched.queries,
        values,
        empty_for(sheet, parts),
        matched.missing,
        none,
        none,
        none.astype(float),
    )
    apply_policy(measured, parts, sheet.policy)
    return formula_of(measure, values, matched.queries)


def formula_of(measure: Combination, values: Floats, queries: Sequence[str]) -> Floats:
    """Return a formula (q,) of the values [query, measure] of its measures; NaN where one has none."""
    parts = measure.formula.measures()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = measure.formula.value(lambda part: values[:, parts.index(part)], OPERATIONS)
    combined: Floats = np.broadcast_to(np.asarray(found, np.float64), len(queries))
    wrong = ~np.isfinite(combined) & np.isfinite(values).all(axis=1)
    if wrong.any():
        raise InputError(
            f"{measure} of query {queries[int(np.flatnonzero(wrong)[0])]!r}",
            "a finite value",
            "a division by 0, a harmonic mean with a negative value, or a number that is too large",
        )
    return combined


def _of_documents(sheet: Worksheet, measure: Measure) -> Floats:
    """Return what a function of documents said (q,) when the run was read; 0 where the run lacks the query."""
    known = measure.found if isinstance(measure, DocumentMeasure) else None
    if known is None:
        raise MeasureError(
            str(measure),
            "documents with ids and scores, which its function is given",
            "none",
            "gf.evaluate, gf.evaluate_runs and gf.compare read them.",
        )
    ties = getattr(measure, "ties", None)
    if ties != sheet.policy.ties:
        raise InputError(
            str(measure),
            f"the order of tied documents that its function was given, ties={ties}",
            f"ties={sheet.policy.ties}",
            "Evaluate it under that policy.",
        )
    return np.array([known.get(query, 0.0) for query in sheet.matched.queries], np.float64)


def _of_baseline(sheet: Worksheet, measure: BaselineMeasure) -> Floats:
    """Return what the baseline has (q,); NaN where a query does not count for it."""
    if measure.found is None:
        refuse_without_baseline([measure])
    known: Mapping[str, float] = measure.found or {}
    return np.array([known.get(query, math.nan) for query in sheet.matched.queries], np.float64)


def _how(measure: Measure) -> Compute:
    """Return how a measure is computed."""
    if isinstance(measure, OwnMeasure):
        return partial(own_measures.compute, measure.own)
    return COMPUTE[measure.name]


def _by_cutoffs(
    measures: Sequence[Measure],
) -> Iterator[tuple[Measure, list[int], list[int | None]]]:
    """Yield measures that differ in their cutoff alone: the first, all columns, and all cutoffs."""
    together: dict[tuple[object, ...], list[int]] = {}
    for column, measure in enumerate(measures):
        together.setdefault((measure.name, measure.settings), []).append(column)
    for columns in together.values():
        yield measures[columns[0]], columns, [measures[column].cutoff for column in columns]


def empty_for(sheet: Worksheet, measures: Sequence[Measure]) -> Bools:
    """Return where [query, measure] a query has nothing that a measure could find."""
    found = np.empty((len(sheet.matched.queries), len(measures)), np.bool_)
    for first, columns, cutoffs in _by_cutoffs(measures):
        parameters = first.parameters
        if isinstance(first, OwnMeasure | Combination | BaselineMeasure | DocumentMeasure):
            # Its parameters have a meaning of their own.
            nothing: Bools = sheet.empty(_LINEAR)[:, None]
        elif "rel" in parameters:
            nothing = (relevant_total(sheet, parameters["rel"]) == 0)[:, None]
        elif first.name in cumulated_gain.EMPTY:
            nothing = cumulated_gain.EMPTY[first.name](sheet, parameters, cutoffs)
        else:
            nothing = sheet.empty(parameters.get("gain", _LINEAR))[:, None]
        found[:, columns] = nothing
    return found


def _refuse_overflow(values: Floats, sheet: Worksheet, measures: Sequence[Measure]) -> None:
    apart = [
        isinstance(each, Combination | BaselineMeasure) for each in measures
    ]  # looked at before
    odd = ~np.isfinite(values) & ~np.array(apart)
    if not odd.any():
        return
    row, column = np.argwhere(odd)[0]
    raise InputError(
        f"{measures[column]} of query {sheet.matched.queries[row]!r}",
        "a sum that a float64 can hold",
        "one that is too large",
        "Scale the grades down, or choose other parameters.",
    )


def measure_batches(
    batches: Sequence[Matched],
    measures: Sequence[Measure],
    policy: Policy,
    depth: int | None = None,
) -> Measured:
    """Compute every measure of every query of what was matched, down to a depth."""
    if policy.absent == "lowest":
        policy = policy.knowing(min(batch.lowest_grade for batch in batches))
    return _joined(in_parallel(lambda each: _measure(each, measures, policy, depth), batches))


def match_and_measure(
    parts: Sequence[Part],
    match: Callable[[Part], Matched],
    measures: Sequence[Measure],
    policy: Policy,
) -> tuple[list[Matched], Measured]:
    """Match each part of the input and measure it at once, while it is at hand."""
    if len(parts) > 1:  # the arrays are large
        keep_memory()
    if policy.absent == "lowest":  # of all the judgments, so all are matched first
        matched = in_parallel(match, parts)
        return matched, measure_batches(matched, measures, policy)

    def work(part: Part) -> tuple[Matched, Measured]:
        matched = match(part)
        return matched, _measure(matched, measures, policy, None)

    batches, measured = zip(*in_parallel(work, parts), strict=True)
    return list(batches), _joined(measured)


def _joined(measured: Sequence[Measured]) -> Measured:
    return Measured(
        queries=tuple(chain.from_iterable(part.queries for part in measured)),
        values=np.concatenate([part.values for part in measured]),
        empty=np.concatenate([part.empty for part in measured]),
        missing=np.concatenate([part.missing for part in measured]),
        tied=np.concatenate([part.tied for part in measured]),
        seen=np.concatenate([part.seen for part in measured]),
        unjudged=np.concatenate([part.unjudged for part in measured]),
    )


def batches_for(documents: int) -> int:
    """Return in how many batches to take so many documents: as many for each thread."""
    if documents < 2 * _WORTH_A_THREAD:
        return 1
    count = min(cores(), max(_FEW_THREADS, documents // _LARGEST))
    return count * math.ceil(documents / count / _LARGEST)


def _measure(
    matched: Matched, measures: Sequence[Measure], policy: Policy, depth: int | None
) -> Measured:
    sheet = Worksheet(matched, policy)
    tied = np.zeros(len(matched.queries), np.int64)
    if not sheet.certain and matched.rank.size:
        rows = matched.rank_first < matched.rank_last
        starts, ends = matched.offsets[:-1], matched.offsets[1:]
        filled = starts < ends
        tied[filled] = np.add.reduceat(rows, starts[filled], dtype=np.int64)
    seen, unjudged = _looked_at(sheet, depth)
    return Measured(
        queries=matched.queries,
        values=compute(sheet, measures),
        empty=empty_for(sheet, measures),
        missing=matched.missing,
        tied=tied,
        seen=seen,
        unjudged=unjudged,
    )


def _looked_at(
    sheet: Worksheet, depth: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count the documents (q,) of each list down to a depth, and those without a judgment.

    The rule for ties says which of the documents that tie across the depth stand above it.
    """
    matched = sheet.matched
    if depth is None:
        return matched.seen, matched.unjudged.astype(np.float64)
    seen = np.minimum(matched.retrieved, depth)
    judged = np.diff(matched.offsets).astype(np.float64)
    if sheet.policy.ties in ("average", "best", "worst") and (matched.rank_last > depth).any():
        every = np.ones(matched.rank.size, np.bool_)
        judged = expected_hits(sheet, every, [depth])[:, 0]
    return seen, np.maximum(seen - judged, 0.0)
