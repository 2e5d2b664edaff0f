"""Every measure of every query: how each family is computed (`COMPUTE`), batch by batch on all cores."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful.arithmetic.cores import cores, in_parallel, keep_memory
from gainful.arithmetic.kernels.operations_on_measures import OPERATIONS
from gainful.array_types import Bools, Floats
from gainful.errors import InputError, MeasureError
from gainful.evaluation.computing import (
    average_precision_and_kin,
    cumulated_gain,
    own_measures,
    precision_and_counts,
    user_models,
)
from gainful.evaluation.coverage import QueryCounts, joined_counts
from gainful.evaluation.gains_ranks_and_ideals import (
    Arithmetic,
    Worksheet,
    expected_hits,
    relevant_total,
)
from gainful.matching.matched import Matched
from gainful.measures.formulas import BaselineMeasure, Combination
from gainful.measures.gain import Gain
from gainful.measures.measure import CATALOGUE, Measure, refuse_without_baseline
from gainful.measures.measure_family import GEOMETRIC, GRADES, MEAN, OPTIONAL, RUN, SUM, Family
from gainful.measures.notation import DocumentMeasure
from gainful.measures.own_measures import OwnMeasure
from gainful.measures.policy import Policy
from gainful.message_texts import shown
from gainful.output.rendering.table_formats import Cell
from gainful.rows.identifiers import examples

if TYPE_CHECKING:
    from gainful.arithmetic.statistics.query_sampling import Sampling


@dataclass(frozen=True, slots=True)
class Measured:
    """The plain values of a run, before the policy is applied.

    Attributes:
        values: [query, measure] float64; 0 where a normalised measure is undefined.
        empty: [query, measure] bool, True if the query has no positive gain.
        counts: what the values rest on, query by query.
    """

    values: Floats
    empty: Bools
    counts: QueryCounts

    def all_judged(self) -> "Measured":
        """Return the same values, if documents without a grade are known to be not relevant."""
        nothing = np.zeros(len(self.counts.queries))
        return replace(self, counts=replace(self.counts, unjudged=nothing))


class Rows:
    """The values of queries under the policy: a row for each query, a column for each measure.

    Attributes:
        queries: (q,) ids of the queries that count for at least one measure.
        values: [query, measure], read-only; NaN where not counted.
        counted: [query, measure], read-only.
    """

    queries: tuple[str, ...]
    values: Floats
    counted: Bools

    def __init__(self, queries: tuple[str, ...], values: Floats, counted: Bools) -> None:
        values.flags.writeable = counted.flags.writeable = False
        self.queries, self.values, self.counted = queries, values, counted

    def __len__(self) -> int:
        return len(self.queries)


def registered(
    families: Iterable[Family], *tables: Mapping[str, Arithmetic]
) -> dict[str, Arithmetic]:
    """Return the arithmetic of families by name; refuse a family that `explain` could not work out."""
    arithmetic = {name: entry for table in tables for name, entry in table.items()}
    for family in families:
        entry = arithmetic.get(family.name)
        if family.needs == GRADES and not isinstance(entry, Arithmetic):
            raise MeasureError(
                f"the family {family.name}",
                "an `Arithmetic` in a table COMPUTE of evaluation/computing/: its values, and its terms for `explain`",
                "none" if entry is None else shown(entry),
                "docs/develop/additions.md has the recipe for a new measure.",
            )
    return arithmetic


COMPUTE: Mapping[str, Arithmetic] = registered(
    CATALOGUE,
    cumulated_gain.COMPUTE,
    precision_and_counts.COMPUTE,
    average_precision_and_kin.COMPUTE,
    user_models.COMPUTE,
)

_LINEAR = Gain("linear")
# Documents: fewer are not worth a thread; the arrays of more are handed back to the system after
# each use, and cost more to get anew than to compute with.
_WORTH_A_THREAD, _LARGEST = 50_000, 260_000
# Threads come one by one into Python. With less than a whole batch for each, more than these wait
# for one another: sixteen take three times as long for a million documents.
_FEW_THREADS = 4

Part = TypeVar("Part")
Array = TypeVar("Array", bound=np.ndarray)


def compute(sheet: Worksheet, measures: Sequence[Measure]) -> Floats:
    """Return the value of each query and measure, [query, measure].

    Measures that differ in their cutoff alone are computed together.
    """
    values = np.empty((len(sheet.matched.queries), len(measures)))
    for first, columns, cutoffs in _by_cutoffs(measures):
        of_grades = first.family.needs == GRADES
        if alone := _APART.get(type(first), None if of_grades else _of_tables):
            for column in columns:
                values[:, column] = alone(sheet, measures[column])
            continue
        family = (
            partial(own_measures.compute, first.own)
            if isinstance(first, OwnMeasure)
            else COMPUTE[first.name].values
        )
        sheet.measuring = first.at(None) if first.family.cutoff == OPTIONAL else first
        # A sum that is too large is refused below, with a name, instead of warned about here.
        with np.errstate(over="ignore", invalid="ignore"):
            values[:, columns] = family(sheet, first.parameters, cutoffs)
    _refuse_overflow(values, sheet, measures)
    return values


def _looked_up(sheet: Worksheet, by_query: Mapping[str, float], otherwise: float) -> Floats:
    """Return the values (q,) of the queries of a sheet, from a mapping that may lack some."""
    found = [by_query.get(query, otherwise) for query in sheet.matched.queries]
    return np.array(found, np.float64)


def _combined(sheet: Worksheet, measure: Combination) -> Floats:
    """Return the values (q,) of a formula of measures, each as the policy has it; NaN where one does not count."""
    parts, matched = measure.formula.measures(), sheet.matched
    values = compute(sheet, parts)
    apply_policy(values, empty_for(sheet, parts), matched, parts, sheet.policy)
    return formula_of(measure, values, matched.queries)


def formula_of(measure: Combination, values: Floats, queries: Sequence[str]) -> Floats:
    """Return a formula (q,) of the values [query, measure] of its measures; NaN where one has none."""
    parts = measure.formula.measures()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = measure.formula.value(lambda part: values[:, parts.index(part)], OPERATIONS)
    combined: Floats = np.broadcast_to(np.asarray(value, np.float64), len(queries))
    wrong = ~np.isfinite(combined) & np.isfinite(values).all(axis=1)
    if wrong.any():
        raise InputError(
            f"{measure} of query {queries[int(np.flatnonzero(wrong)[0])]!r}",
            "a finite value",
            "a division by 0, a harmonic mean with a negative value, or a number that is too large",
        )
    return combined


def _of_documents(sheet: Worksheet, measure: DocumentMeasure) -> Floats:
    """Return what a function of documents said (q,) when the run was read; 0 where the run lacks the query."""
    if measure.by_query is None:
        raise MeasureError(
            str(measure),
            "documents with ids and scores, which its function is given",
            "none",
            "gf.evaluate, gf.evaluate_runs and gf.compare read them.",
        )
    if measure.ties != sheet.policy.ties:
        raise InputError(
            str(measure),
            f"the order of tied documents that its function was given, ties={measure.ties}",
            f"ties={sheet.policy.ties}",
            "Evaluate it under that policy.",
        )
    return _looked_up(sheet, measure.by_query, 0.0)


def _of_baseline(sheet: Worksheet, measure: BaselineMeasure) -> Floats:
    """Return what the baseline has (q,); NaN where a query does not count for it."""
    if measure.by_query is None:
        refuse_without_baseline([measure])
    return _looked_up(sheet, measure.by_query or {}, math.nan)


def _of_tables(sheet: Worksheet, measure: Measure) -> Floats:
    """Return the values (q,) of a measure that needs more than grades.

    They are NaN for queries without a value, and 0 for queries without relevant documents.
    """
    if measure.of_run is None:
        raise MeasureError(
            str(measure),
            f"{measure.family.needs} in addition to judgments and run",
            "only ranks and grades",
            "gf.evaluate, gf.evaluate_runs, gf.compare, gf.report and gf.explain compute it.",
        )
    return np.array([0.0 if value is None else value for value in _in_run(sheet, measure)])


def _in_run(sheet: Worksheet, measure: Measure) -> list[float | None]:
    """Return the values (q,) of a run; None for a query without relevant documents, NaN for one without a value."""
    values = {} if measure.of_run is None else measure.of_run.values
    by_query = {} if isinstance(values, float) else values
    return [by_query.get(query, math.nan) for query in sheet.matched.queries]


_APART: Mapping[type[Measure], Callable[[Worksheet, Any], Floats]] = {
    Combination: _combined,
    BaselineMeasure: _of_baseline,
    DocumentMeasure: _of_documents,
}
"""The functions (q,) of measures that are computed from other values than grades and ranks."""


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
    empty = np.empty((len(sheet.matched.queries), len(measures)), np.bool_)
    for first, columns, cutoffs in _by_cutoffs(measures):
        parameters = first.parameters
        if isinstance(first, OwnMeasure | Combination | BaselineMeasure | DocumentMeasure):
            # Its parameters have a meaning of their own.
            nothing: Bools = sheet.empty(_LINEAR)[:, None]
        elif first.of_run is not None:
            in_run = (_in_run(sheet, measures[column]) for column in columns)
            nothing = np.column_stack([[value is None for value in values] for values in in_run])
        elif "rel" in parameters:
            nothing = (relevant_total(sheet, parameters["rel"]) == 0)[:, None]
        elif first.name in cumulated_gain.EMPTY:
            nothing = cumulated_gain.EMPTY[first.name](sheet, parameters, cutoffs)
        else:
            nothing = sheet.empty(parameters.get("gain", _LINEAR))[:, None]
        empty[:, columns] = nothing
    return empty


def _refuse_overflow(values: Floats, sheet: Worksheet, measures: Sequence[Measure]) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    apart = [
        isinstance(measure, Combination | BaselineMeasure) or measure.of_run is not None
        for measure in measures
    ]  # looked at before
    odd = ~finite & ~np.array(apart)
    if not odd.any():
        return
    row, column = np.argwhere(odd)[0]
    raise InputError(
        f"{measures[column]} of query {sheet.matched.queries[row]!r}",
        "a sum that fits in a float64",
        "a larger sum",
        "Scale the grades down, or choose other parameters.",
    )


def measure_batches(
    batches: Sequence[Matched],
    measures: Sequence[Measure],
    policy: Policy,
    depth: int | None = None,
) -> Measured:
    """Compute every measure for every query of matched batches, down to a depth."""
    if policy.absent == "lowest":
        policy = policy.knowing(min(batch.lowest_grade for batch in batches))
    return _joined(in_parallel(lambda each: _measure(each, measures, policy, depth), batches))


def match_and_measure(
    parts: Sequence[Part],
    match: Callable[[Part], Matched],
    measures: Sequence[Measure],
    policy: Policy,
    depth: int | None = None,
) -> tuple[list[Matched], Measured]:
    """Match each part of the input and measure it immediately, while it is in the cache."""
    if len(parts) > 1:  # the arrays are large
        keep_memory()
    if (
        policy.absent == "lowest"
    ):  # the lowest grade of all judgments requires matching all parts first
        matched = in_parallel(match, parts)
        return matched, measure_batches(matched, measures, policy, depth)

    def work(part: Part) -> tuple[Matched, Measured]:
        matched = match(part)
        return matched, _measure(matched, measures, policy, depth)

    batches, measured = zip(*in_parallel(work, parts), strict=True)
    return list(batches), _joined(measured)


def _joined(measured: Sequence[Measured]) -> Measured:
    if len(measured) == 1:
        return measured[0]
    values, empty = (
        np.concatenate([getattr(part, name) for part in measured]) for name in ("values", "empty")
    )
    return Measured(values, empty, joined_counts([part.counts for part in measured]))


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
    judged = matched.pool_offsets[1:] - matched.pool_offsets[:-1]
    if isinstance(policy.unjudged, float):  # the others have that grade in the pool
        judged = judged - matched.unjudged
    seen, unjudged = _looked_at(sheet, depth)
    values, empty = compute(sheet, measures), empty_for(sheet, measures)
    counts = QueryCounts(
        queries=matched.queries,
        judged=judged,
        missing=matched.missing,
        empty=np.logical_or.reduce(empty, axis=1),
        retrieved=matched.retrieved,
        seen=seen,
        unjudged=unjudged,
        tied=tied,
        extra=matched.extra,
    )
    return Measured(values, empty, counts)


def _looked_at(
    sheet: Worksheet, depth: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Count the documents (q,) of each list down to a depth, and how many of them are unjudged.

    If documents tie across the depth, the rule for ties decides which of them are above it.
    """
    matched = sheet.matched
    if depth is None:
        return matched.seen, matched.unjudged.astype(np.float64)
    seen = np.minimum(matched.retrieved, depth)
    judged = (matched.offsets[1:] - matched.offsets[:-1]).astype(np.float64)
    if sheet.policy.ties in ("average", "best", "worst") and (matched.rank_last > depth).any():
        every = np.ones(matched.rank.size, np.bool_)
        judged = expected_hits(sheet, every, [depth])[:, 0]
    return seen, np.maximum(seen - judged, 0.0)


SKIPPED = ("skip", "skip_all")
"""The answers to `empty` that leave a query out."""

_EMPTY = {"zero": 0.0, "one": 1.0, "nan": np.nan}


def apply_policy(
    values: Floats,
    every_empty: Bools,
    counts: Matched | QueryCounts,
    measures: Sequence[Measure],
    policy: Policy,
) -> Bools:
    """Apply the policy to the values [query, measure], in place; return where they count.

    Args:
        values: of every query.
        every_empty: [query, measure], as `empty_for` has it.
        counts: which queries the run lacks, and how many documents it has for each.
        measures: the measures of the values.
        policy: the policy.
    """
    counted, missing = np.ones(values.shape, np.bool_), counts.missing
    for column, measure in enumerate(measures):
        if measure.of_run is not None:  # its tables determine which queries have values
            counted[:, column] = ~np.isnan(values[:, column])
        elif measure.family.needs_run:
            values[missing, column] = 0.0
        empty = every_empty[:, column]
        if isinstance(measure, Combination | BaselineMeasure) and policy.empty != "nan":
            counted[:, column] = ~np.isnan(values[:, column])  # if all its parts count
        if not measure.family.normalised and policy.empty != "skip_all":
            continue
        if policy.empty in SKIPPED:
            counted[empty, column] = False
        elif policy.empty == "abstain":
            values[empty, column] = (missing | (counts.retrieved == 0))[empty]
        elif policy.empty in _EMPTY:
            values[empty, column] = _EMPTY[policy.empty]
    if policy.missing == "skip":
        counted[missing] = False
    values[~counted] = np.nan
    return counted


Queries = tuple[int, Callable[[], Iterable[str]]]
"""A number of queries, and a function that returns the ids of some of them."""

_REFUSED = {
    "missing": ("every judged query", "missing"),
    "extra": ("judged queries only", "without judgments"),
    "empty": ("a positive gain in every query, or a relevant document", "without"),
}


def refuse_by_policy(
    measures: Sequence[Measure],
    policy: Policy,
    *,
    missing: Queries,
    extra: Queries,
    empty: Iterable[Queries],
) -> None:
    """Reject missing, extra or empty queries if the policy treats them as errors.

    Args:
        measures: (m,) measures.
        policy: the policy.
        missing: queries that the run lacks.
        extra: queries without judgments.
        empty: (m,) queries without positive gain, for each measure.
    """
    refused = [("missing", "run", missing), ("extra", "run", extra)]
    if policy.empty == "error":
        pairs = zip(measures, empty, strict=True)
        refused += [
            ("empty", str(measure), queries)
            for measure, queries in pairs
            if measure.family.normalised
        ]
    for choice, where, (count, ids) in refused:
        if count and getattr(policy, choice) == "error":
            expected, found = _REFUSED[choice]
            found = f"{count} {found}: {examples(ids())}"
            raise InputError(where, expected, found, choice=f"{choice}=error")


def refuse_nothing_counted(measure: Measure, count: int, policy: Policy) -> None:
    """Reject a mean over no queries."""
    if not count and measure.family.aggregate != RUN:
        choice = f"missing={policy.missing} empty={policy.empty}"
        raise InputError(
            str(measure),
            "at least one query to average over",
            f"none under the policy {choice}",
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
    return {str(one): aggregate_of(one, column[at].tolist()) for one, column, at in columns}


def aggregate_of(
    measure: Measure, values: list[float], sampling: "Sampling | None" = None
) -> float:
    """Return the mean, or other aggregate, of a measure from the values of queries that count.

    Sums are exact and rounded once at the end. They don't depend on weights, unlike means.
    """
    if sampling is not None and measure.family.aggregate in (MEAN, GEOMETRIC):
        mean = sampling.mean(np.array(summands(measure, values)))
        return math.exp(mean) if measure.family.aggregate == GEOMETRIC else mean
    if measure.of_run is not None and isinstance(measure.of_run.values, float):
        return measure.of_run.values
    try:
        return aggregate_of_sum(measure, math.fsum(summands(measure, values)), len(values))
    except OverflowError:
        if measure.family.aggregate == SUM:
            raise
        return math.fsum(value / len(values) for value in values)  # the mean may still be a number


def aggregate_of_sum(measure: Measure, total: float, count: int) -> float:
    """Return the mean, or other aggregate, of a measure from the sum of its summands.

    >>> from gainful.measures.notation import parse
    >>> aggregate_of_sum(parse("RR"), 1.5, 3), aggregate_of_sum(parse("num_rel"), 6.0, 3)
    (0.5, 6.0)
    """
    if measure.family.aggregate == SUM:
        return total
    return math.exp(total / count) if measure.family.aggregate == GEOMETRIC else total / count


def summands(measure: Measure, values: list[float]) -> list[float]:
    """Return the summands of a measure: its values, or their logarithms."""
    if measure.family.aggregate != GEOMETRIC:
        return values
    floor = measure.parameters["floor"]
    return [value if math.isnan(value) else math.log(max(value, floor)) for value in values]


def cell_of(measure: Measure, mean: float | None) -> Cell:
    """Return the mean of a measure for a table; whole sums are integers."""
    if measure.family.aggregate == SUM and mean is not None and mean.is_integer():
        return int(mean)
    return mean
