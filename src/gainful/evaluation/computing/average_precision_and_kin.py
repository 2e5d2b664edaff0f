"""Average precision and related measures."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gainful.arithmetic.kernels import binary_relevance, tied_orders
from gainful.arithmetic.kernels.cumulated_gain import owners
from gainful.arithmetic.kernels.row_sums import counts, running_counts
from gainful.array_types import Bools, Floats, Ints
from gainful.evaluation.computing.precision_and_counts import (
    relevant_count,
    relevant_rows,
    tied_blocks,
    totals,
)
from gainful.evaluation.gains_ranks_and_ideals import (
    Arithmetic,
    Cutoffs,
    Parameters,
    Relevant,
    Terms,
    Working,
    Worksheet,
    deepest,
    relevant,
    sum_of_terms,
)

_ELEVEN = tuple(tenth / 10 for tenth in range(11))
# Rounds tenths up, as trec_eval does; float64 makes 0.7 · 3 + 0.9 a little less than 3.
_UP = 0.9


def _at_chosen(chosen: Bools, weights: Floats) -> Terms:
    """Return the terms of all rows from the weights of the chosen rows; the others have none."""
    weight = np.zeros(chosen.size)
    weight[chosen] = weights
    return Terms(chosen.astype(np.float64), weight)


def _precision_terms(sheet: Worksheet, parameters: Parameters, cutoff: int | None) -> Terms:
    chosen = relevant_rows(sheet, parameters)
    if sheet.ties_matter:
        of = tied_blocks(sheet, parameters)
        return _at_chosen(chosen, tied_orders.precisions(of).shares(of, cutoff))
    _, rank, _ = sheet.graded()
    precision = running_counts(chosen, sheet.matched.offsets) / rank
    return Terms(chosen.astype(np.float64), precision)


def _precision_sums(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    rel, queries, deep = parameters["rel"], len(sheet.matched.queries), deepest(cutoffs, sheet)
    if sheet.ties_matter:
        of = tied_blocks(sheet, parameters)
        return tied_orders.precisions(of).sums(of, queries, deep)
    rows = relevant(sheet, rel)
    return binary_relevance.precision_sums(rows.rank, rows.owner, rows.place, queries, deep)


def _denominator(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Ints:
    total = totals(sheet, parameters)
    if parameters["denominator"] == "min":
        return np.minimum(total, deepest(cutoffs, sheet))
    if parameters["denominator"] == "found":
        return _found(sheet, parameters, cutoffs)
    return total


def _found(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Ints:
    """Return how many relevant documents (q, c) the lists have down to each cutoff."""
    queries = len(sheet.matched.queries)
    if all(cutoff is None for cutoff in cutoffs):  # whatever the order is
        return counts(relevant_rows(sheet, parameters), sheet.owner, queries)[:, None]
    rows = relevant(sheet, parameters["rel"])
    return binary_relevance.hits(rows.rank, rows.owner, queries, deepest(cutoffs, sheet))


def _reciprocal_rank(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    queries, deep = len(sheet.matched.queries), deepest(cutoffs, sheet)
    if sheet.ties_matter:
        of = tied_blocks(sheet, parameters)
        return _first_reciprocals(of).sums(of, queries, deep)
    rows = relevant(sheet, parameters["rel"])
    return binary_relevance.reciprocal_rank(rows.rank, rows.owner, rows.place, queries, deep)


def _first_terms(sheet: Worksheet, parameters: Parameters, cutoff: int | None) -> Terms:
    of = tied_blocks(sheet, parameters)
    return _at_chosen(relevant_rows(sheet, parameters), _first_reciprocals(of).shares(of, cutoff))


def _first_reciprocals(of: tied_orders.Blocks) -> tied_orders.AtRanks:
    chances = tied_orders.first_relevant(of)
    return chances._replace(expected=chances.expected / chances.rank)


def _sum_over_relevant(
    weight: str,
    weigh: Callable[[Worksheet, Parameters, Relevant], Floats],
    *,
    lowest: float = -math.inf,
) -> Arithmetic:
    """Return a family that weighs (n,) the relevant documents retrieved, and divides by R.

    No grade below `lowest` is relevant.
    """

    def rows_of(sheet: Worksheet, parameters: Parameters) -> Relevant:
        return relevant(sheet, max(parameters["rel"], lowest))

    def terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
        rows, (grades, *_ranks) = rows_of(sheet, parameters), sheet.graded()
        return _at_chosen(grades >= rows.rel, weigh(sheet, parameters, rows))

    def count(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Ints:
        return rows_of(sheet, parameters).total[:, None]

    return sum_of_terms("relevant", weight, terms, None, count, "R")


def _r_size(sheet: Worksheet, parameters: Parameters, _: Cutoffs = ()) -> Ints:
    size: Ints = np.floor(totals(sheet, parameters) * parameters["mult"] + _UP).astype(np.int64)
    return size


def _among_first(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    _grades, rank = sheet.certain_grades()
    within = rank <= _r_size(sheet, parameters)[sheet.owner, 0]
    chosen = relevant_rows(sheet, parameters)
    return Terms(chosen.astype(np.float64), within.astype(np.float64))


def interpolated(sheet: Worksheet, rel: float, needed: Ints) -> Floats:
    """Return the interpolated precision from the needed-th (q, c) relevant document on."""
    rows = relevant(sheet, rel)
    return binary_relevance.interpolated(rows.rank, rows.owner, rows.place, rows.total.size, needed)


def _needed_for(sheet: Worksheet, parameters: Parameters, recalls: Sequence[float]) -> Ints:
    """Return how many relevant documents (q, r) it takes to reach each recall."""
    needed: Ints = np.floor(totals(sheet, parameters) * np.array(recalls) + _UP).astype(np.int64)
    return needed


def _at_recall(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    needed = _needed_for(sheet, parameters, (parameters["recall"],))
    return interpolated(sheet, parameters["rel"], needed)


def _recall_working(sheet: Worksheet, parameters: Parameters, _: int | None, __: float) -> Working:
    count = relevant_count(sheet, parameters)
    needed = max(int(_needed_for(sheet, parameters, [parameters["recall"]])[0, 0]), 1)
    found = int(relevant_rows(sheet, parameters).sum())
    if found < needed:
        return Working(
            remark=f"{needed} of {count} relevant documents are needed, {found} are retrieved"
        )
    return Working(remark=f"the highest precision from relevant document {needed} of {count} on")


def _eleven_points(sheet: Worksheet, parameters: Parameters) -> Floats:
    """Return the interpolated precisions (q, 11) at the recalls 0, 0.1, …, 1."""
    needed = _needed_for(sheet, parameters, _ELEVEN)
    return interpolated(sheet, parameters["rel"], needed)


def _mean_of_eleven(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    mean: Floats = _eleven_points(sheet, parameters).sum(axis=1, keepdims=True) / len(_ELEVEN)
    return mean


def _eleven_working(sheet: Worksheet, parameters: Parameters, _: int | None, __: float) -> Working:
    points = _eleven_points(sheet, parameters)[0].tolist()
    numbers = f"({' + '.join(['{}'] * len(points))}) / 11"
    return Working("Σ iprec(recall=0, 0.1, …, 1) / 11", numbers, tuple(points))


def _above(sheet: Worksheet, rel: float) -> tuple[Ints, Ints]:
    """Return how many documents above each relevant one are judged not relevant, and how many only pooled."""
    grades, _ = sheet.certain_grades()
    chosen = grades >= rel
    others = (grades >= 0) & (grades < rel)
    offsets = sheet.matched.offsets
    return running_counts(others, offsets)[chosen], running_counts(grades < 0, offsets)[chosen]


def _preferred(sheet: Worksheet, _: Parameters, rows: Relevant) -> Floats:
    pool, owner = sheet.matched.pool_grades, owners(sheet.matched.pool_offsets)
    others = counts((pool >= 0) & (pool < rows.rel), owner, rows.total.size)
    above, _unjudged = _above(sheet, rows.rel)
    return binary_relevance.preference_terms(rows.owner, above, rows.total, others)


def _inferred(sheet: Worksheet, _: Parameters, rows: Relevant) -> Floats:
    above, unjudged = _above(sheet, rows.rel)
    return binary_relevance.inferred_terms(rows.rank, rows.place, above, unjudged)


def _binary_gain(_: Worksheet, __: Parameters, rows: Relevant) -> Floats:
    weights: Floats = 1.0 / np.log2(2.0 + (rows.rank - rows.place))
    return weights


def _smoothed(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    rows = relevant(sheet, parameters["rel"])
    found = binary_relevance.precision_sums(
        rows.rank, rows.owner, rows.place, rows.total.size, deepest([None], sheet)
    )
    return binary_relevance.smoothed(found[:, 0], rows.total)[:, None]


def _smoothed_working(
    sheet: Worksheet, parameters: Parameters, _: int | None, total: float
) -> Working:
    numbers = f"ln((1 + {{}}) / (1 + {relevant_count(sheet, parameters)} − {{}}))"
    return Working("ln((1 + sum) / (1 + R − sum))", numbers, (total, total))


_PRECISIONS = "relevant", "precision", _precision_terms
_BPREF = _sum_over_relevant("1 − others above", _preferred, lowest=0.0)

COMPUTE: Mapping[str, Arithmetic] = {
    "AP": sum_of_terms(*_PRECISIONS, _precision_sums, _denominator, "R"),
    "GMAP": sum_of_terms(*_PRECISIONS, _precision_sums, totals, "R"),
    "RR": sum_of_terms("relevant", "1/i of the first", _first_terms, _reciprocal_rank),
    "Rprec": sum_of_terms("relevant", "among the first R", _among_first, None, _r_size, "R"),
    "iprec": Arithmetic(*_PRECISIONS, _at_recall, _recall_working, adds=False),
    "11pt": Arithmetic(*_PRECISIONS, _mean_of_eleven, _eleven_working, adds=False),
    "bpref": _BPREF,
    "GMbpref": _BPREF,
    "infAP": _sum_over_relevant("expected precision", _inferred, lowest=0.0),
    "yaap": Arithmetic(*_PRECISIONS, _smoothed, _smoothed_working),
    "binG": _sum_over_relevant("1/log2(2 + n)", _binary_gain),
}
