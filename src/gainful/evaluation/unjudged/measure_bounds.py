"""Bounds of every measure except nDCG, none of which has an ideal of unknown gains."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.arithmetic.kernels.row_sums import sums
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.gains_ranks_and_ideals import Worksheet, relevant_total
from gainful.evaluation.unjudged.grades_for_unjudged import Scale, possible_gains
from gainful.evaluation.unjudged.ndcg_bounds import PartlyJudgedLists, single_list
from gainful.measures.measure import Measure

Ends = tuple[Floats, Floats]


def linear(lists: PartlyJudgedLists, low: float, high: float) -> Ends:
    """Return the lowest and highest (q,) constant + Σ c·x with each x between two numbers."""
    positive = np.nansum(np.maximum(lists.coefficients, 0.0), axis=1)
    negative = np.nansum(np.minimum(lists.coefficients, 0.0), axis=1)
    return (
        lists.constant + low * positive + high * negative,
        lists.constant + high * positive + low * negative,
    )


def _discounted(sheet: Worksheet, measure: Measure, scale: Scale, unseen: float) -> Ends:
    possible = possible_gains(scale, measure.parameters["gain"], sheet)
    lists = single_list(sheet, measure, unseen)
    return linear(lists, float(possible[0]), float(possible[-1]))


def _cumulated(sheet: Worksheet, measure: Measure, scale: Scale, unseen: float) -> Ends:
    gain = measure.parameters["gain"]
    undiscounted = Measure("DCG", cutoff=measure.cutoff, gain=gain, discount="none")
    return _discounted(sheet, undiscounted, scale, unseen)


def relevance_ends(scale: Scale, rel: float) -> tuple[int, int]:
    """Return whether an unjudged document must be relevant, and whether it may be."""
    return int(scale.lowest >= rel), int(scale.highest >= rel)


def open_ranks(sheet: Worksheet, cutoff: int | None) -> tuple[Bools, Ints]:
    """Return which ranks [query, rank−1] have no judged document, and how many (q,) are deeper."""
    _, rank = sheet.certain_grades()
    matched = sheet.matched
    depth = sheet.longest if cutoff is None else min(cutoff, sheet.longest)
    free = np.arange(1, depth + 1) <= matched.retrieved[:, None]
    near = rank <= depth
    free[sheet.owner[near], rank[near] - 1] = False
    deeper: Ints = matched.retrieved - np.diff(matched.offsets) - free.sum(axis=1)
    return free, deeper


def _hits(sheet: Worksheet, measure: Measure, depth: int) -> Floats:
    grades, rank = sheet.certain_grades()
    chosen = (grades >= measure.parameters["rel"]) & (rank <= depth)
    hits: Floats = np.bincount(sheet.owner[chosen], minlength=len(sheet.matched.queries)).astype(
        np.float64
    )
    return hits


def _precision(sheet: Worksheet, measure: Measure, scale: Scale, _: float) -> Ends:
    must, may = relevance_ends(scale, measure.parameters["rel"])
    free, _deeper = open_ranks(sheet, measure.cutoff)
    some = free.sum(axis=1)
    hits = _hits(sheet, measure, measure.cutoff or sheet.longest)
    retrieved = sheet.matched.retrieved
    size = retrieved if measure.cutoff is None else np.full(retrieved.size, measure.cutoff)
    return ratio(hits + must * some, size), ratio(hits + may * some, size)


def _recall(sheet: Worksheet, measure: Measure, scale: Scale, unseen: float) -> Ends:
    must, may = relevance_ends(scale, measure.parameters["rel"])
    free, deeper = open_ranks(sheet, measure.cutoff)
    some, others = free.sum(axis=1), deeper + unseen
    hits = _hits(sheet, measure, measure.cutoff or sheet.longest)
    total = relevant_total(sheet, measure.parameters["rel"])

    def value(relevant: int, elsewhere: int) -> Floats:
        extra = np.where(others > 0, elsewhere * np.maximum(others, 1), 0) if elsewhere else 0.0
        return ratio(hits + relevant * some, total + relevant * some + extra)

    return value(must, may), value(may, must)


def _rank_biased(sheet: Worksheet, measure: Measure, scale: Scale, _: float) -> Ends:
    parameters = measure.parameters
    if parameters["max"] == "query":
        raise InputError(
            str(measure), "a scale that unknown grades do not change", "max=query", "Pass a number."
        )
    if not isinstance(parameters["max"], str) and scale.highest > parameters["max"]:
        raise InputError("grades", f"grades up to max={parameters['max']:g}", f"{scale.highest:g}")
    low, high = (
        _worth(grade, parameters["rel"], parameters["max"])
        for grade in (scale.lowest, scale.highest)
    )
    grades, rank = sheet.certain_grades()
    queries, p = len(sheet.matched.queries), parameters["p"]
    depth = sheet.longest if measure.cutoff is None else min(measure.cutoff, sheet.longest)
    weights = (1.0 - p) * p ** np.arange(depth)
    near = rank <= depth
    worth = np.array(
        [_worth(grade, parameters["rel"], parameters["max"]) for grade in grades.tolist()]
    )
    constant = sums(worth[near] * weights[rank[near] - 1], sheet.owner[near], queries)
    free, _deeper = open_ranks(sheet, measure.cutoff)
    coefficients = np.where(free, weights, np.nan)
    return linear(PartlyJudgedLists(constant, coefficients, np.zeros(queries)), low, high)


def _worth(grade: float, rel: float, scale: str | float) -> float:
    if isinstance(scale, str):
        return float(grade >= rel)
    return min(max(grade, 0.0) / scale, 1.0)


def _cascade(sheet: Worksheet, measure: Measure, scale: Scale, _: float) -> Ends:
    """Return the bounds of ERR, which rises with the grade of every document."""
    highest = measure.parameters["max"]
    if scale.highest > highest:
        raise InputError("grades", f"grades up to max={highest:g}", f"{scale.highest:g}")
    grades, rank = sheet.certain_grades()
    depth = sheet.longest if measure.cutoff is None else min(measure.cutoff, sheet.longest)
    queries, near = len(sheet.matched.queries), rank <= depth
    free, _deeper = open_ranks(sheet, measure.cutoff)

    def value(grade: float) -> Floats:
        listed = np.where(free, grade, 0.0)
        listed[sheet.owner[near], rank[near] - 1] = grades[near]
        chances = (np.exp2(np.maximum(listed, 0.0)) - 1.0) / 2.0**highest
        going_on = np.cumprod(1.0 - chances, axis=1)
        before = np.concatenate((np.ones((queries, 1)), going_on[:, :-1]), axis=1)
        values: Floats = (before * chances / np.arange(1, depth + 1)).sum(axis=1)
        return values

    return value(scale.lowest), value(scale.highest)


def _average_precision(sheet: Worksheet, measure: Measure, scale: Scale, unseen: float) -> Ends:
    """Return the bounds of AP: relevant documents at the deepest open ranks, or at the first."""
    parameters = measure.parameters
    must, may = relevance_ends(scale, parameters["rel"])
    free, deeper = open_ranks(sheet, measure.cutoff)
    grades, rank = sheet.certain_grades()
    depth = free.shape[1]
    chosen = (grades >= parameters["rel"]) & (rank <= depth)
    relevant = np.zeros(free.shape)
    relevant[sheet.owner[chosen], rank[chosen] - 1] = 1.0
    total = relevant_total(sheet, parameters["rel"])
    low, high = np.empty(total.size), np.empty(total.size)
    for query in range(total.size):
        others = float(deeper[query] + unseen)
        low[query], high[query] = _precision_ends(
            relevant[query],
            np.flatnonzero(free[query]),
            float(total[query]),
            others,
            (must, may),
            measure,
        )
    return low, high


def _precision_ends(
    relevant: Floats,
    places: Ints,
    total: float,
    others: float,
    ends: tuple[int, int],
    measure: Measure,
) -> tuple[float, float]:
    """Return the bounds for one list: `places` are the ranks, from 0, of unjudged documents."""
    must, may = ends
    reciprocal = 1.0 / np.arange(1, relevant.size + 1)
    start = float((np.cumsum(relevant) * relevant * reciprocal).sum())

    def denominator(count: NDArray[np.generic] | float, elsewhere: int) -> Floats:
        every = total + np.asarray(count, np.float64) + (others if elsewhere else 0.0)
        if measure.parameters["denominator"] == "min" and measure.cutoff is not None:
            every = np.minimum(every, measure.cutoff)
        return every

    above = (np.cumsum(relevant) - relevant)[places]
    below = (np.cumsum((relevant * reciprocal)[::-1])[::-1] - relevant * reciprocal)[places]
    own = reciprocal[places]
    # From the first rank, those added before are above; from the last, below.
    first_on = (1.0 + above + np.arange(places.size)) * own + below
    last_on = (1.0 + above) * own + below + (np.cumsum(own[::-1])[::-1] - own)

    def values(added: Floats, elsewhere: int) -> Floats:
        """Return the value after each further relevant document."""
        sums = start + np.concatenate(([0.0], np.cumsum(added)))
        return ratio(sums, denominator(np.arange(sums.size), elsewhere))[-1 if must else 0 :]

    none = np.empty(0)
    lowest = values(last_on[::-1] if may else none, may)
    best = values(first_on if may else none, must)
    return float(lowest.min()), float(best.max())


SIMPLE: Mapping[str, Callable[[Worksheet, Measure, Scale, float], Ends]] = {
    "CG": _cumulated,
    "DCG": _discounted,
    "P": _precision,
    "R": _recall,
    "AP": _average_precision,
    "RBP": _rank_biased,
    "ERR": _cascade,
}
