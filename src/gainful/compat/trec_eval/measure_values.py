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

LOWEST_MEAN = 1e-5  # what a value of 0 counts as in a geometric mean
_CHARACTERS = {NOT_POOLED: "-", NOT_JUDGED: "."}
_POLICY = Policy(ties="doc", negative="zero")


def columns(
    matched: Matched, asked: Sequence[AskedMeasure], settings: Settings, version: int
) -> dict[str, Floats]:
    """Return the values (q,) of every name, but for those that are texts."""
    sheet = Worksheet(matched, _POLICY, marks=True)
    catalogued = {
        name: (each, measure)
        for each in asked
        for name, measure in zip(each.names, each.measures(settings), strict=False)
    }
    measures = list(dict.fromkeys(measure for _, measure in catalogued.values()))
    found = compute(sheet, measures) if measures else np.empty((len(matched.queries), 0))
    values = {}
    for name, (each, measure) in catalogued.items():
        column = found[:, measures.index(measure)]
        if measure.family.normalised:  # 0 where there is nothing to find
            column = np.where(_empty(sheet, measure, settings), 0.0, column)
        if name == "Rndcg":  # relevant documents without a gain, where 0 is the level
            column = np.where(_no_gain(sheet, settings), ZERO_BY_ZERO, column)
        values[name] = np.log(np.maximum(column, LOWEST_MEAN)) if each.entry.logarithm else column
    for each in asked:
        values |= _others(sheet, each, settings, version)
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
            found = _interpolated(sheet, asked.numbers, settings, version)
            return dict(zip(asked.names, found.T, strict=True))
        case "Rprec_mult":
            return dict(zip(asked.names, _at_multiples(sheet, asked, settings), strict=True))
        case _:
            value = _other(sheet, asked, settings, version)
            return {} if value is None else {asked.names[0]: value}


def _other(
    sheet: Worksheet, asked: AskedMeasure, settings: Settings, version: int
) -> Floats | None:
    """Return a measure with one value; None where the catalogue has it."""
    match asked.entry.name:
        case "num_q":
            return np.ones(len(sheet.matched.queries))
        case "11pt_avg":
            found = _interpolated(sheet, asked.numbers, settings, version)
            mean: Floats = np.add.accumulate(found, axis=1)[:, -1] / len(asked.numbers)
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
    """Count the documents that a recall needs as either version does: 0.9 up, or to the nearest."""
    wanted = relevant_total(sheet, settings.rel)[:, None] * np.array(recalls)
    nearest = np.copysign(np.floor(np.abs(wanted) + 0.5), wanted)
    needed = (np.floor(wanted + 0.9) if version < 10 else nearest).astype(np.int64)
    found = interpolated(sheet, settings.rel, needed)
    # An empty list has 0/0 as its precision, which trec_eval reports where nothing is needed.
    none_retrieved = sheet.matched.retrieved == 0
    found[none_retrieved[:, None] & (needed <= 0)] = ZERO_BY_ZERO
    return found


def _hits(sheet: Worksheet, settings: Settings, within: Floats | None = None) -> Ints:
    """Return how many relevant documents (q,) were retrieved, down to a rank for each query."""
    grades, rank = sheet.certain_grades()
    relevant = grades >= settings.rel
    if within is not None:
        relevant &= rank <= within[sheet.owner]
    return np.bincount(sheet.owner[relevant], minlength=len(sheet.matched.queries))


def _at_multiples(sheet: Worksheet, asked: AskedMeasure, settings: Settings) -> list[Floats]:
    """Return precision at multiples of how many documents are relevant, rounded up from a tenth."""
    total, found = relevant_total(sheet, settings.rel), []
    for multiple in asked.numbers:
        cutoff = np.floor(total * multiple + 0.9)
        cutoff = np.where(np.isfinite(cutoff), cutoff, 0.0)
        hits = _hits(sheet, settings, cutoff)
        found.append(np.where(cutoff > 0, hits / np.maximum(cutoff, 1.0), 0.0))
    return found


def _utility(sheet: Worksheet, worth: Sequence[float], settings: Settings) -> Floats:
    """Weight the documents that were retrieved or not, and are relevant or not."""
    hits, retrieved = _hits(sheet, settings), sheet.matched.retrieved
    total = relevant_total(sheet, settings.rel)
    others = settings.docs + hits - retrieved - total
    found: Floats = (
        worth[0] * hits
        + worth[1] * (retrieved - hits)
        + worth[2] * (total - hits)
        + worth[3] * others
    )
    return found


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
    found = np.zeros(len(matched.queries))
    for query in range(found.size):
        pool = matched.pool_grades[matched.pool_offsets[query] : matched.pool_offsets[query + 1]]
        if asked.entry.name == "Rndcg" and not (pool >= settings.rel).any():
            continue
        grades = grades_in_order(matched, query)
        found[query] = measured(asked.entry.name, grades, pool, asked.pairs, version)
    return found


def _rank_biased(sheet: Worksheet, asked: AskedMeasure) -> Floats:
    """Scale the grades of a query to at most 1 by the highest that a judged document has."""
    grades, rank = sheet.certain_grades()
    matched, p = sheet.matched, persistence(asked.pairs)
    highest = np.ones(len(matched.queries))
    judged = np.flatnonzero(np.diff(matched.pool_offsets))
    highest[judged] = np.maximum(matched.pool_grades[matched.pool_offsets[judged]], 1.0)
    worth = np.maximum(grades, 0.0) / highest[sheet.owner]
    terms = worth * weights(p, sheet.longest)[rank - 1]
    found = np.zeros(highest.size)
    np.add.at(found, sheet.owner, terms)  # one after the other
    return (1.0 - p) * found


def _residual(sheet: Worksheet, asked: AskedMeasure) -> Floats:
    """Leave the rest of the list out where every document retrieved is judged, as trec_eval does."""
    matched, p = sheet.matched, persistence(asked.pairs)
    weight = weights(p, sheet.longest + 1)
    found = np.zeros(len(matched.queries))
    for query in range(found.size):
        unjudged = np.flatnonzero(grades_in_order(matched, query) < 0)
        if unjudged.size:
            seen = np.add.accumulate(weight[unjudged])[-1]
            found[query] = weight[matched.retrieved[query]] + (1.0 - p) * seen
    return found


def strings(matched: Matched, length: int) -> list[str]:
    """Return the grades of the first documents of each query, a character for each."""
    return [
        "".join(
            _CHARACTERS.get(grade) or (">" if grade > 9 else str(int(grade))) for grade in shown
        )
        for shown in (
            grades_in_order(matched, query)[: max(length, 0)].tolist()
            for query in range(len(matched.queries))
        )
    ]
