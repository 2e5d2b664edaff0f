"""Average precision and its kin."""

from collections.abc import Mapping

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.evaluation.gains_ranks_and_ideals import (
    Compute,
    Cutoffs,
    Parameters,
    Worksheet,
    deepest,
    relevant,
    relevant_total,
    repeated,
)
from gainful.kernels import binary_relevance, tied_orders
from gainful.kernels.cumulated_gain import owners
from gainful.kernels.row_sums import counts, running_counts

ELEVEN = tuple(tenth / 10 for tenth in range(11))
"""The recalls of 11pt."""

UP = 0.9
"""Rounds tenths up, as trec_eval does; float64 makes 0.7 · 3 + 0.9 a little less than 3."""


def _blocks(sheet: Worksheet, rel: float) -> tied_orders.Blocks:
    grades, first, last = sheet.graded()
    chosen = grades >= rel
    return tied_orders.blocks(first[chosen], last[chosen], sheet.owner[chosen])


def _precision_sums(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    rel, queries = parameters["rel"], len(sheet.matched.queries)
    if sheet.ties_matter:
        return tied_orders.precision_sums(_blocks(sheet, rel), queries, deepest(cutoffs, sheet))
    rows = relevant(sheet, rel)
    return binary_relevance.precision_sums(
        rows.rank, rows.owner, rows.place, queries, deepest(cutoffs, sheet)
    )


def _average_precision(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    total: Ints = relevant_total(sheet, parameters["rel"])[:, None]
    if parameters["denominator"] == "min":
        total = np.minimum(total, deepest(cutoffs, sheet))
    elif parameters["denominator"] == "found":
        total = _found(sheet, parameters["rel"], cutoffs)
    return binary_relevance.ratio(_precision_sums(sheet, parameters, cutoffs), total)


def _found(sheet: Worksheet, rel: float, cutoffs: Cutoffs) -> Ints:
    """Return how many relevant documents (q, c) the lists have down to each cutoff."""
    queries = len(sheet.matched.queries)
    if all(cutoff is None for cutoff in cutoffs):  # whatever the order is
        grades, _, _ = sheet.graded()
        return counts(grades >= rel, sheet.owner, queries)[:, None]
    rows = relevant(sheet, rel)
    return binary_relevance.hits(rows.rank, rows.owner, queries, deepest(cutoffs, sheet))


def _logarithmic(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    return _average_precision(sheet, {**parameters, "denominator": "R"}, cutoffs)


def _reciprocal_rank(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    queries, deep = len(sheet.matched.queries), deepest(cutoffs, sheet)
    if sheet.ties_matter:
        return tied_orders.first_relevant(_blocks(sheet, parameters["rel"]), queries, deep)[0]
    rows = relevant(sheet, parameters["rel"])
    return binary_relevance.reciprocal_rank(rows.rank, rows.owner, rows.place, queries, deep)


def _r_precision(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    rows = relevant(sheet, parameters["rel"])
    size = np.floor(rows.total * parameters["mult"] + UP).astype(np.int64)
    found = counts(rows.rank <= size[rows.owner], rows.owner, rows.total.size)
    return repeated(binary_relevance.ratio(found, size), cutoffs)


def interpolated(sheet: Worksheet, rel: float, needed: Ints) -> Floats:
    """Return the interpolated precision from the needed-th (q, c) relevant document on."""
    rows = relevant(sheet, rel)
    return binary_relevance.interpolated(rows.rank, rows.owner, rows.place, rows.total.size, needed)


def _needed(sheet: Worksheet, rel: float, recalls: tuple[float, ...]) -> Ints:
    total = relevant_total(sheet, rel)[:, None]
    needed: Ints = np.floor(total * np.array(recalls) + UP).astype(np.int64)
    return needed


def _at_recall(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    rel = parameters["rel"]
    found = interpolated(sheet, rel, _needed(sheet, rel, (parameters["recall"],)))
    return repeated(found[:, 0], cutoffs)


def _eleven_points(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    rel = parameters["rel"]
    found = interpolated(sheet, rel, _needed(sheet, rel, ELEVEN))
    return repeated(found.sum(axis=1) / len(ELEVEN), cutoffs)


def _above(sheet: Worksheet, rel: float) -> tuple[Ints, Ints]:
    """Return what stands above each relevant document.

    How many judged not relevant, and how many in the pool without a judgment.
    """
    grades, _ = sheet.certain_grades()
    chosen = grades >= rel
    others = (grades >= 0) & (grades < rel)
    offsets = sheet.matched.offsets
    return running_counts(others, offsets)[chosen], running_counts(grades < 0, offsets)[chosen]


def _preference(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    rel, pool = max(parameters["rel"], 0.0), sheet.matched.pool_grades  # others are not judged
    rows = relevant(sheet, rel)
    others = counts((pool >= 0) & (pool < rel), owners(sheet.matched.pool_offsets), rows.total.size)
    above, _ = _above(sheet, rel)
    return repeated(binary_relevance.preference(rows.owner, above, rows.total, others), cutoffs)


def _inferred(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    rel = max(parameters["rel"], 0.0)  # others are not judged
    rows = relevant(sheet, rel)
    above, unjudged = _above(sheet, rel)
    values = binary_relevance.inferred(
        rows.rank, rows.owner, rows.place, above, unjudged, rows.total
    )
    return repeated(values, cutoffs)


def _smoothed(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    rows = relevant(sheet, parameters["rel"])
    found = binary_relevance.precision_sums(
        rows.rank, rows.owner, rows.place, rows.total.size, deepest([None], sheet)
    )
    return repeated(binary_relevance.smoothed(found[:, 0], rows.total), cutoffs)


def _binary_gain(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    rows = relevant(sheet, parameters["rel"])
    values = binary_relevance.binary_gain(rows.rank, rows.owner, rows.place, rows.total)
    return repeated(values, cutoffs)


COMPUTE: Mapping[str, Compute] = {
    "AP": _average_precision,
    "GMAP": _logarithmic,
    "RR": _reciprocal_rank,
    "Rprec": _r_precision,
    "iprec": _at_recall,
    "11pt": _eleven_points,
    "bpref": _preference,
    "GMbpref": _preference,
    "infAP": _inferred,
    "yaap": _smoothed,
    "binG": _binary_gain,
}
