"""The values of trec_eval's measures, column by column."""

from collections.abc import Sequence

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.compat.trec_eval.c_numbers_and_sorting import ZERO_BY_ZERO
from gainful.compat.trec_eval.measure_names import AskedMeasure, Settings
from gainful.compat.trec_eval.measures_of_named_gains import measured, persistence, weights
from gainful.compat.trec_eval.ranked_lists import NOT_JUDGED, NOT_POOLED, grades_in_order
from gainful.evaluation.computing.average_precision_and_kin import interpolated
from gainful.evaluation.gains_ranks_and_ideals import Worksheet, relevant_total
from gainful.evaluation.measuring import compute
from gainful.matching.matched import Matched
from gainful.measures.gain import gain
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy

LOWEST_MEAN = 1e-5  # the replacement for values of 0 in a geometric mean
_CHARACTERS = {NOT_POOLED: "-", NOT_JUDGED: "."}
_POLICY = Policy(ties="doc", negative="zero")


def columns(
    matched: Matched, asked: Sequence[AskedMeasure], settings: Settings, version: int
) -> dict[str, Floats]:
    """Return the values (q,) of every name, except text values."""
    sheet = Worksheet(matched, _POLICY, marks=True)
    catalogued = {
        name: (m, measure)
        for m in asked
        for name, measure in zip(m.names, m.measures(settings), strict=False)
    }
    measures = list(dict.fromkeys(measure for _, measure in catalogued.values()))
    computed = compute(sheet, measures) if measures else np.empty((len(matched.queries), 0))
    values = {}
    for name, (m, measure) in catalogued.items():
        column = computed[:, measures.index(measure)]
        if measure.family.normalised:  # 0 without relevant documents
            column = np.where(_empty(sheet, measure, settings), 0.0, column)
        if name == "Rndcg":  # relevant documents without a gain if the level is 0
            column = np.where(_no_gain(sheet, settings), ZERO_BY_ZERO, column)
        values[name] = np.log(np.maximum(column, LOWEST_MEAN)) if m.entry.logarithm else column
    for m in asked:
        values |= _others(sheet, m, settings, version)
    return values


def _empty(sheet: Worksheet, measure: Measure, settings: Settings) -> Bools:
    if "rel" in measure.parameters:
        nothing: Bools = relevant_total(sheet, settings.rel) == 0
        return nothing
    return sheet.empty(measure.parameters["gain"])


def _no_gain(sheet: Worksheet, settings: Settings) -> Bools:
    return (relevant_total(sheet, settings.rel) > 0) & sheet.empty(gain("linear"))


def _others(
    sheet: Worksheet, asked: AskedMeasure, settings: Settings, version: int
) -> dict[str, Floats]:
    """Return the values that trec_eval computes in its own way."""
    match asked.entry.name:
        case "iprec_at_recall":
            precisions = _interpolated(sheet, asked.numbers, settings, version)
            return dict(zip(asked.names, precisions.T, strict=True))
        case "Rprec_mult":
            return dict(zip(asked.names, _at_multiples(sheet, asked, settings), strict=True))
        case _:
            value = _other(sheet, asked, settings, version)
            return {} if value is None else {asked.names[0]: value}


def _other(
    sheet: Worksheet, asked: AskedMeasure, settings: Settings, version: int
) -> Floats | None:
    """Return a measure with one value; None if the catalogue has it."""
    match asked.entry.name:
        case "num_q":
            return np.ones(len(sheet.matched.queries))
        case "11pt_avg":
            precisions = _interpolated(sheet, asked.numbers, settings, version)
            mean: Floats = np.add.accumulate(precisions, axis=1)[:, -1] / len(asked.numbers)
            return mean
        case "utility":
            return _utility(sheet, asked.numbers, settings)
        case "set_F":
            return _weighted_mean(sheet, asked.numbers[0], settings)
        case "rbp" if all(name == "p" for name, _ in asked.pairs):
            return _rank_biased(sheet, asked)
        case "rbp_resid":
            return _residual(sheet, asked)
        case "dcg" | "ideal_dcg" | "rbp":
            return _gained(sheet, asked, settings, version)
    return _gained(sheet, asked, settings, version) if asked.pairs else None


def _interpolated(
    sheet: Worksheet, recalls: Sequence[float], settings: Settings, version: int
) -> Floats:
    """Count the documents that a recall needs, rounded up from 0.9 or to nearest, by version."""
    wanted = relevant_total(sheet, settings.rel)[:, None] * np.array(recalls)
    nearest = np.copysign(np.floor(np.abs(wanted) + 0.5), wanted)
    needed = (np.floor(wanted + 0.9) if version < 10 else nearest).astype(np.int64)
    precisions = interpolated(sheet, settings.rel, needed)
    # The precision of an empty list is 0/0, which trec_eval reports if nothing is needed.
    none_retrieved = sheet.matched.retrieved == 0
    precisions[none_retrieved[:, None] & (needed <= 0)] = ZERO_BY_ZERO
    return precisions


def _hits(sheet: Worksheet, settings: Settings, within: Floats | None = None) -> Ints:
    """Return the number of retrieved relevant documents (q,), down to a rank for each query."""
    grades, rank = sheet.certain_grades()
    relevant = grades >= settings.rel
    if within is not None:
        relevant &= rank <= within[sheet.owner]
    return np.bincount(sheet.owner[relevant], minlength=len(sheet.matched.queries))


def _at_multiples(sheet: Worksheet, asked: AskedMeasure, settings: Settings) -> list[Floats]:
    """Return precision at multiples of the number of relevant documents, rounded from a tenth."""
    total, precisions = relevant_total(sheet, settings.rel), []
    for multiple in asked.numbers:
        cutoff = np.floor(total * multiple + 0.9)
        cutoff = np.where(np.isfinite(cutoff), cutoff, 0.0)
        hits = _hits(sheet, settings, cutoff)
        precisions.append(np.where(cutoff > 0, hits / np.maximum(cutoff, 1.0), 0.0))
    return precisions


def _utility(sheet: Worksheet, worth: Sequence[float], settings: Settings) -> Floats:
    """Weight documents by whether they were retrieved and are relevant."""
    hits, retrieved = _hits(sheet, settings), sheet.matched.retrieved
    total = relevant_total(sheet, settings.rel)
    others = settings.docs + hits - retrieved - total
    utility: Floats = (
        worth[0] * hits
        + worth[1] * (retrieved - hits)
        + worth[2] * (total - hits)
        + worth[3] * others
    )
    return utility


def _weighted_mean(sheet: Worksheet, weight: float, settings: Settings) -> Floats:
    """Return the weighted harmonic mean of precision and recall: F."""
    hits = _hits(sheet, settings)
    with np.errstate(all="ignore"):
        precision = hits / sheet.matched.retrieved
        recall = hits / relevant_total(sheet, settings.rel)
        mean: Floats = (weight + 1.0) * precision * recall / (weight * precision + recall)
    return np.where(hits > 0, mean, 0.0)


def _gained(sheet: Worksheet, asked: AskedMeasure, settings: Settings, version: int) -> Floats:
    """Return a measure of named gains, query by query."""
    matched = sheet.matched
    values = np.zeros(len(matched.queries))
    for query in range(values.size):
        pool = matched.pool_grades[matched.pool_offsets[query] : matched.pool_offsets[query + 1]]
        if asked.entry.name == "Rndcg" and not (pool >= settings.rel).any():
            continue
        grades = grades_in_order(matched, query)
        values[query] = measured(asked.entry.name, grades, pool, asked.pairs, version)
    return values


def _rank_biased(sheet: Worksheet, asked: AskedMeasure) -> Floats:
    """Scale the grades of a query to at most 1 by the highest that a judged document has."""
    grades, rank = sheet.certain_grades()
    matched, p = sheet.matched, persistence(asked.pairs)
    highest = np.ones(len(matched.queries))
    judged = np.flatnonzero(np.diff(matched.pool_offsets))
    highest[judged] = np.maximum(matched.pool_grades[matched.pool_offsets[judged]], 1.0)
    worth = np.maximum(grades, 0.0) / highest[sheet.owner]
    terms = worth * weights(p, sheet.longest)[rank - 1]
    totals = np.zeros(highest.size)
    np.add.at(totals, sheet.owner, terms)  # in sequence
    return (1.0 - p) * totals


def _residual(sheet: Worksheet, asked: AskedMeasure) -> Floats:
    """Ignore the rest of the list if every retrieved document is judged, as trec_eval does."""
    matched, p = sheet.matched, persistence(asked.pairs)
    weight = weights(p, sheet.longest + 1)
    residuals = np.zeros(len(matched.queries))
    for query in range(residuals.size):
        unjudged = np.flatnonzero(grades_in_order(matched, query) < 0)
        if unjudged.size:
            seen = np.add.accumulate(weight[unjudged])[-1]
            residuals[query] = weight[matched.retrieved[query]] + (1.0 - p) * seen
    return residuals


def strings(matched: Matched, length: int) -> list[str]:
    """Return the grades of the first documents of each query, one character each."""
    return [
        "".join(
            _CHARACTERS.get(grade) or (">" if grade > 9 else str(int(grade))) for grade in shown
        )
        for shown in (
            grades_in_order(matched, query)[: max(length, 0)].tolist()
            for query in range(len(matched.queries))
        )
    ]
