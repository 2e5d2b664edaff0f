"""Bounds of nDCG, for a run or for the difference of two runs."""

from dataclasses import dataclass

import numpy as np

from gainful.arguments import MOST_RANKS
from gainful.arithmetic.kernels.cumulated_gain import owners
from gainful.arithmetic.kernels.ratio_bounds import Unknown, highest
from gainful.arithmetic.kernels.row_sums import sums
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.evaluation.unjudged.grades_for_unjudged import Scale, possible_gains
from gainful.measures.measure import Measure

_ELEMENTS = 1 << 20  # of a matrix [query, rank] processed at a time


@dataclass(frozen=True, slots=True)
class PartlyJudgedLists:
    """Lists with unjudged documents, or the difference of two: constants and coefficients.

    Attributes:
        constant: (q,) the contribution of the judged documents.
        coefficients: [query, unknown] of the unjudged documents, in any order; NaN if a query has
            fewer.
        free: (q,) the number of unjudged documents that only the ideal can contain.
    """

    constant: Floats
    coefficients: Floats
    free: Floats


def single_list(sheet: Worksheet, measure: Measure, unseen: float) -> PartlyJudgedLists:
    """Return the unknown part of a run: ranks down to the cutoff without a judged document."""
    gains, rank = sheet.certain_order(measure.parameters["gain"])
    matched, cutoff = sheet.matched, measure.cutoff
    queries = len(matched.queries)
    depth = sheet.longest if cutoff is None else min(cutoff, sheet.longest)
    discount = sheet.discounts(
        measure.parameters["discount"], measure.parameters["base"], sheet.longest
    )
    near = rank <= depth
    constant = sums((gains * discount[rank])[near], sheet.owner[near], queries)
    coefficients = np.broadcast_to(discount[1 : depth + 1], (queries, depth)).copy()
    beyond = np.arange(1, depth + 1) > matched.retrieved[:, None]
    coefficients[beyond] = np.nan
    coefficients[sheet.owner[near], rank[near] - 1] = np.nan
    judged = np.diff(matched.offsets)
    deeper = matched.retrieved - judged - (~np.isnan(coefficients)).sum(axis=1)
    return PartlyJudgedLists(constant, coefficients, deeper + unseen)


def bounds_of(
    lists: PartlyJudgedLists, sheet: Worksheet, measure: Measure, scale: Scale
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value (q,)."""
    gain = measure.parameters["gain"]
    possible = possible_gains(scale, gain, sheet)
    pool = sheet.ideal(gain)
    positive = pool[pool > 0]
    within = positive if scale.between else positive[:0]
    within = within[(within > possible[0]) & (within < possible[-1])]
    middle = [0.0] if scale.between and possible[0] < 0 < possible[-1] else []
    allowed = np.unique(np.concatenate((possible, within, middle)))
    levels = np.unique(np.concatenate((allowed, positive)))[::-1]
    matched = sheet.matched
    queries = len(matched.queries)
    counts = np.zeros((queries, levels.size), np.int64)
    owner = owners(matched.pool_offsets)[pool > 0]
    np.add.at(counts, (owner, levels.size - 1 - np.searchsorted(levels[::-1], positive)), 1)
    cumulated = _cumulated(lists, sheet, measure, counts)
    low, high = np.empty(queries), np.empty(queries)
    step = max(1, _ELEMENTS // max(lists.coefficients.shape[1], 1))
    for start in range(0, queries, step):
        rows = slice(start, start + step)
        for values, sign in ((high, 1.0), (low, -1.0)):
            unknown = _unknown(lists, rows, sign, counts, levels, allowed, cumulated)
            values[rows] = sign * highest(unknown)
    if scale.between and possible[0] <= 0 < possible[-1]:
        _unbounded(low, high, lists, counts, float(possible[0]))
    return low, high


def _cumulated(
    lists: PartlyJudgedLists, sheet: Worksheet, measure: Measure, counts: Ints
) -> Floats:
    """Return the sums of the discounts down to each rank that the ideal can have."""
    cutoff = measure.cutoff
    if cutoff is None and np.isinf(lists.free).any():
        raise InputError(
            str(measure),
            "a cutoff, since any number of documents may be unseen",
            "none",
            f"Use {measure.name}@10, or pass the number of unseen documents.",
        )
    some = (~np.isnan(lists.coefficients)).sum(axis=1)
    deepest = float((counts.sum(axis=1) + some + lists.free).max(initial=1))
    depth = int(deepest if cutoff is None else min(cutoff, deepest))
    if depth > MOST_RANKS:
        raise InputError(
            f"bounds of {measure}",
            f"an ideal of at most {MOST_RANKS:,} documents",
            f"an ideal of up to {depth:,}",
            "Lower the cutoff, or the number of unseen documents.",
        )
    parameters = measure.parameters
    table: Floats = np.cumsum(sheet.discounts(parameters["discount"], parameters["base"], depth))
    return table[: depth + 1]


def _unknown(
    lists: PartlyJudgedLists,
    rows: slice,
    sign: float,
    counts: Ints,
    levels: Floats,
    allowed: Floats,
    cumulated: Floats,
) -> Unknown:
    coefficients = sign * lists.coefficients[rows]
    some = ~np.isnan(coefficients) & (coefficients != 0)
    # Documents whose grade changes only the ideal count as not retrieved.
    idle = (coefficients == 0).sum(axis=1)
    order = np.argsort(np.where(some, -coefficients, np.inf), axis=1, kind="stable")
    ordered = np.take_along_axis(np.where(some, coefficients, 0.0), order, axis=1)
    sizes = some.sum(axis=1)
    deepest = cumulated.size - 1
    return Unknown(
        sign * lists.constant[rows],
        ordered[:, : int(sizes.max(initial=0))],
        sizes,
        np.minimum(lists.free[rows] + idle, deepest).astype(np.int64),
        counts[rows],
        levels,
        np.isin(levels, allowed),
        cumulated,
    )


def _unbounded(
    low: Floats, high: Floats, lists: PartlyJudgedLists, counts: Ints, lowest: float
) -> None:
    """Set bounds to infinity if no document is known to be good.

    The ideal may then be arbitrarily close to 0, and bad documents cost any multiple of it.
    """
    coefficients = lists.coefficients
    worst = lists.constant + lowest * np.nansum(np.maximum(coefficients, 0.0), axis=1)
    best = lists.constant + lowest * np.nansum(np.minimum(coefficients, 0.0), axis=1)
    open_ = (~np.isnan(coefficients)).any(axis=1) | (lists.free > 0)
    open_ &= counts.sum(axis=1) == 0
    low[open_ & (worst < 0)] = -np.inf
    high[open_ & (best > 0)] = np.inf
