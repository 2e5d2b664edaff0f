"""Precision, recall and counts."""

from collections.abc import Mapping

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.evaluation.gains_ranks_and_ideals import (
    Compute,
    Cutoffs,
    Parameters,
    Worksheet,
    are_judged,
    deepest,
    depths,
    expected_hits,
    relevant_total,
    repeated,
)
from gainful.kernels.binary_relevance import ratio
from gainful.kernels.cumulated_gain import cumulated
from gainful.kernels.tied_orders import blocks, first_relevant


def hits(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    """Return the number of relevant documents down to each cutoff."""
    grades, _, _ = sheet.graded()
    key = "hits", parameters["rel"], tuple(cutoffs)
    if key not in sheet.kept:
        sheet.kept[key] = expected_hits(sheet, grades >= parameters["rel"], cutoffs)
    found: Floats = sheet.kept[key]
    return found


def _sizes(sheet: Worksheet, cutoffs: Cutoffs) -> Ints:
    """Return how many documents (q, c) are asked for: the cutoff, or the whole list."""
    retrieved = sheet.matched.retrieved
    return np.stack(
        [retrieved if cutoff is None else np.full(retrieved.size, cutoff) for cutoff in cutoffs],
        axis=1,
    )


def _totals(sheet: Worksheet, parameters: Parameters) -> Ints:
    return relevant_total(sheet, parameters["rel"])[:, None]


def _precision(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    return ratio(hits(sheet, parameters, cutoffs), _sizes(sheet, cutoffs))


def _recall(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    return ratio(hits(sheet, parameters, cutoffs), _totals(sheet, parameters))


def _f_measure(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    precision = _precision(sheet, parameters, cutoffs)
    recall = _recall(sheet, parameters, cutoffs)
    square = parameters["beta"] ** 2
    return ratio((square + 1.0) * precision * recall, recall + square * precision)


def _relative(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    most = np.minimum(_sizes(sheet, cutoffs), _totals(sheet, parameters))
    return ratio(hits(sheet, parameters, cutoffs), most)


def _unranked(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    found = hits(sheet, parameters, cutoffs)
    return ratio(found * found, _sizes(sheet, cutoffs) * _totals(sheet, parameters))


def _success(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    if sheet.ties_matter:
        grades, first, last = sheet.graded()
        chosen = grades >= parameters["rel"]
        found = blocks(first[chosen], last[chosen], sheet.owner[chosen])
        deep = deepest(cutoffs, sheet)
        return first_relevant(found, len(sheet.matched.queries), deep)[1]
    return (hits(sheet, parameters, cutoffs) > 0).astype(np.float64)


def _utility(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    found = hits(sheet, parameters, [None])[:, 0]
    total, retrieved = _totals(sheet, parameters)[:, 0], sheet.matched.retrieved
    elsewhere = parameters["docs"] + found - retrieved - total
    value = (
        parameters["a"] * found
        + parameters["b"] * (retrieved - found)
        + parameters["c"] * (total - found)
        + parameters["d"] * elsewhere
    )
    return repeated(value, cutoffs)


def _judged_hits(sheet: Worksheet, cutoffs: Cutoffs) -> Floats:
    return expected_hits(sheet, are_judged(sheet), cutoffs)


def _seen(sheet: Worksheet, cutoffs: Cutoffs) -> Ints:
    return np.minimum(_sizes(sheet, cutoffs), sheet.matched.retrieved[:, None])


def _judged(sheet: Worksheet, _: Parameters, cutoffs: Cutoffs) -> Floats:
    return ratio(_judged_hits(sheet, cutoffs), _seen(sheet, cutoffs))


def _unjudged(sheet: Worksheet, _: Parameters, cutoffs: Cutoffs) -> Floats:
    lacking = _seen(sheet, cutoffs) - _judged_hits(sheet, cutoffs)
    return ratio(lacking, _sizes(sheet, cutoffs))


def _unjudged_mass(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    _, first, last = sheet.graded()
    discount = sheet.discounts(parameters["discount"], parameters["base"], sheet.longest)
    known = cumulated(
        are_judged(sheet).astype(np.float64),
        first,
        last,
        sheet.matched.offsets,
        discount,
        depths(cutoffs, sheet),
    )
    whole = np.cumsum(discount)[_seen(sheet, cutoffs)]
    return np.clip(ratio(whole - known, whole), 0.0, 1.0)


def _queries(sheet: Worksheet, _: Parameters, cutoffs: Cutoffs) -> Floats:
    return np.ones((len(sheet.matched.queries), len(cutoffs)))


def _retrieved(sheet: Worksheet, _: Parameters, cutoffs: Cutoffs) -> Floats:
    return _seen(sheet, cutoffs).astype(np.float64)


def _relevant(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    return repeated(_totals(sheet, parameters)[:, 0], cutoffs)


def _others(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    grades, _, _ = sheet.graded()
    chosen: Bools = (grades >= 0) & (grades < parameters["rel"])
    return expected_hits(sheet, chosen, cutoffs)


COMPUTE: Mapping[str, Compute] = {
    "P": _precision,
    "R": _recall,
    "F": _f_measure,
    "RelP": _relative,
    "SetAP": _unranked,
    "Success": _success,
    "Utility": _utility,
    "Judged": _judged,
    "Unjudged": _unjudged,
    "UnjudgedMass": _unjudged_mass,
    "NumQ": _queries,
    "NumRet": _retrieved,
    "NumRel": _relevant,
    "NumRelRet": hits,
    "NumNonrelRet": _others,
}
