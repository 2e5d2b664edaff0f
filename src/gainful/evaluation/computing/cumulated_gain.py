"""CG, DCG, IDCG, nDCG, and the measures that average or scale them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, PolicyError
from gainful.evaluation.gains_ranks_and_ideals import (
    Compute,
    Cutoffs,
    Ideal,
    Worksheet,
    depths,
    repeated,
    worth_of,
)
from gainful.kernels.cumulated_gain import (
    absent,
    cumulated,
    divide_by_ideal,
    owners,
    without_rounding,
)
from gainful.kernels.err_and_graded_precision import (
    mean_at_changes,
    mean_at_relevant,
    normalised_gain,
)
from gainful.measures.discount import Discount

Parameters = Mapping[str, Any]

_UNDISCOUNTED, _LOG = Discount("none"), Discount("log")
_LARGEST_FIXED_SIZE = 10_000_000


def _cg(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    undiscounted = {**parameters, "discount": _UNDISCOUNTED, "base": 2.0}
    return _dcg(sheet, undiscounted, cutoffs)


def _dcg(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    gains, first, last = sheet.listed(parameters["gain"])
    sums = cumulated(
        gains,
        first,
        last,
        sheet.matched.offsets,
        sheet.discounts(parameters["discount"], parameters["base"], sheet.longest),
        depths(cutoffs, sheet),
    )
    absent_gain = sheet.absent_gain(parameters["gain"])
    return sums + _absent_sum(sheet, parameters, cutoffs, sheet.matched.retrieved, absent_gain)


def _idcg(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    ideal = ideal_for(sheet, parameters)
    sums = _ideal_sums(sheet, parameters, cutoffs, ideal)
    if sheet.policy.negative != "both":
        return sums
    sizes = _ideal_sums(sheet, parameters, cutoffs, ideal._replace(gains=np.abs(ideal.gains)))
    return without_rounding(sums, sizes)


def ideal_for(sheet: Worksheet, parameters: Parameters) -> Ideal:
    """Return the ideal of a measure, not yet cut at its cutoff; gains below its own depth are 0."""
    ideal = sheet.ideal_of(parameters["gain"], parameters["ideal"])
    if parameters["depth"] != "retrieved":
        return ideal
    within = ideal.rank <= sheet.matched.retrieved[owners(ideal.offsets)]
    return ideal._replace(gains=np.where(within, ideal.gains, 0.0))


def _ideal_sums(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs, ideal: Ideal) -> Floats:
    if parameters["depth"] == "all":
        return np.repeat(_sum_in_order(sheet, parameters, [None], ideal, 0.0), len(cutoffs), axis=1)
    return _sum_in_order(sheet, parameters, cutoffs, ideal, floor_of(sheet, parameters))


def floor_of(sheet: Worksheet, parameters: Parameters) -> float:
    """Return the gain of the absent documents in an ideal; 0 where it has none.

    They belong to no list, and to no rank below the end of one.
    """
    if not _usual(parameters):
        return 0.0
    return max(0.0, sheet.absent_gain(parameters["gain"]))


def _usual(parameters: Parameters) -> bool:
    """Return whether the ideal is of all judged documents, cut at the cutoff."""
    return bool(parameters["ideal"] == "judged" and parameters["depth"] == "cutoff")


def without_ideal(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Bools:
    """Return where (q, c) an nDCG has nothing to divide by: its ideal is not above 0, or the worst.

    Of the documents of a run that lacks the query nothing is known: that it is missing says more.
    """
    minmax = parameters["norm"] == "minmax"
    if _usual(parameters) and sheet.policy.negative != "both" and not minmax:
        return without_gain(sheet, parameters, cutoffs)
    with np.errstate(over="ignore", invalid="ignore"):
        worst = _worst(sheet, parameters, cutoffs) if minmax else 0.0
        nothing: Bools = _idcg(sheet, parameters, cutoffs) <= worst
    if "retrieved" in (parameters["ideal"], parameters["depth"]):
        return nothing & ~sheet.matched.missing[:, None]
    return nothing


def without_gain(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Bools:
    """Return where (q, c) no document has a positive gain, neither a judged nor an absent one.

    Absent documents belong to the measures with a cutoff.
    """
    gain = parameters["gain"]
    judged_alone = [cutoff is None or sheet.absent_gain(gain) <= 0 for cutoff in cutoffs]
    return sheet.empty(gain)[:, None] & judged_alone


def _worst(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    """Return the lowest DCG of any list: the ideal of the losses."""
    floor = max(0.0, -sheet.absent_gain(parameters["gain"]))
    losses = Ideal(sheet.losses(parameters["gain"]), sheet.pool_rank, sheet.matched.pool_offsets)
    return -_sum_in_order(sheet, parameters, cutoffs, losses, floor)


def _sum_in_order(
    sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs, ideal: Ideal, floor: float
) -> Floats:
    """Return the DCG of documents by gain descending, with absent ones of the gain `floor`."""
    gains, rank, offsets = ideal
    sums = np.empty((len(sheet.matched.queries), len(cutoffs)))
    # At a fixed size an absent document stands before any that is worth less.
    for fixed in (False, True):
        columns = [place for place, cutoff in enumerate(cutoffs) if (cutoff is not None) == fixed]
        if not columns:
            continue
        sums[:, columns] = cumulated(
            np.maximum(gains, floor) if fixed and floor else gains,
            rank,
            rank,
            offsets,
            sheet.discounts(parameters["discount"], parameters["base"], sheet.longest),
            depths([cutoffs[place] for place in columns], sheet),
        )
    return sums + _absent_sum(sheet, parameters, cutoffs, np.diff(offsets), floor)


def _ndcg(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    found, best = _dcg(sheet, parameters, cutoffs), _idcg(sheet, parameters, cutoffs)
    if parameters["norm"] == "ideal":
        return divide_by_ideal(found, best)
    if sheet.policy.negative == "both":
        raise PolicyError(
            str(sheet.measuring),
            "the policy negative=keep, zero or error",
            "negative=both",
            "The best list of norm=minmax leaves negative gains out.",
            choice="negative=both",
        )
    worst = _worst(sheet, parameters, cutoffs)
    return divide_by_ideal(found - worst, best - worst)


def _terms(sheet: Worksheet, parameters: Parameters) -> tuple[Floats, Floats, Ints, Floats, Floats]:
    """Return gains (n,), their terms (n,) and ranks (n,); gains (m,) and terms (m,) of the ideal."""
    gains, rank = sheet.certain_order(parameters["gain"])
    pool = sheet.ideal(parameters["gain"])
    discount = sheet.discounts(_LOG, 2.0, sheet.longest)
    return gains, gains * discount[rank], rank, pool, pool * discount[sheet.pool_rank]


def _at_relevant(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    gains, terms, rank, pool, ideal = _terms(sheet, parameters)
    matched = sheet.matched
    values = mean_at_relevant(
        terms, gains, rank, matched.offsets, ideal, pool, matched.pool_offsets
    )
    return repeated(values, cutoffs)


def _at_changes(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    _, terms, rank, pool, ideal = _terms(sheet, parameters)
    matched = sheet.matched
    values = mean_at_changes(
        terms, rank, matched.offsets, matched.retrieved, ideal, pool, matched.pool_offsets
    )
    return repeated(values, cutoffs)


def _gain(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    gains, rank = sheet.certain_order(parameters["gain"])
    pool = sheet.ideal(parameters["gain"])
    matched = sheet.matched
    values = normalised_gain(gains, rank, matched.offsets, pool, matched.pool_offsets)
    return repeated(values, cutoffs)


def _scaled(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    worth, first, last = worth_of(sheet, parameters)
    discount = sheet.discounts(_LOG, 2.0, sheet.longest)
    sizes = np.array([cutoff for cutoff in cutoffs if cutoff is not None], np.int64)
    _refuse_too_deep(int(sizes.max()), "in a sum of discounts")
    found = cumulated(worth, first, last, sheet.matched.offsets, discount, depths(cutoffs, sheet))
    whole = np.cumsum(sheet.discounts(_LOG, 2.0, int(sizes.max())))
    return found / whole[sizes]


COMPUTE: Mapping[str, Compute] = {
    "CG": _cg,
    "DCG": _dcg,
    "IDCG": _idcg,
    "nDCG": _ndcg,
    "nDCGrel": _at_relevant,
    "RnDCG": _at_changes,
    "G": _gain,
    "SDCG": _scaled,
}


EMPTY: Mapping[str, Callable[[Worksheet, Parameters, Cutoffs], Bools]] = {
    "CG": without_gain,
    "DCG": without_gain,
    "IDCG": without_gain,
    "nDCG": without_ideal,
}
"""Where (q, c) a query has nothing that a measure could find, of those that count absent documents."""


def _absent_sum(
    sheet: Worksheet,
    parameters: Parameters,
    cutoffs: Cutoffs,
    lengths: Ints,
    gain: float,
) -> Floats | float:
    """Sum what stands at the ranks that lists of these lengths leave open (policy `absent`)."""
    sizes = [0 if cutoff is None else cutoff for cutoff in cutoffs]  # without one, nothing is open
    if gain == 0 or not any(sizes):
        return 0.0
    _refuse_too_deep(max(sizes), "where absent documents have a gain")
    table = sheet.discounts(parameters["discount"], parameters["base"], max(sizes))
    return gain * absent(lengths, np.array(sizes, np.int64), table)


def _refuse_too_deep(cutoff: int, where: str) -> None:
    """Refuse a cutoff whose table of discounts would fill the memory."""
    if cutoff > _LARGEST_FIXED_SIZE:
        raise InputError(
            "cutoff",
            f"at most {_LARGEST_FIXED_SIZE:,} {where}",
            f"{cutoff:,}",
            "Lower the cutoff, or leave the policy absent at zero.",
        )
