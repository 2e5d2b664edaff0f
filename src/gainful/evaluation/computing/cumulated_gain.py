"""CG, DCG, IDCG, nDCG, and the measures that average or scale them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gainful.arithmetic.kernels import err_and_graded_precision as graded
from gainful.arithmetic.kernels import layouts
from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.arithmetic.kernels.cumulated_gain import (
    absent,
    cumulated,
    divide_by_ideal,
    owners,
    without_rounding,
)
from gainful.arithmetic.kernels.row_sums import counts, sums
from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError, PolicyError
from gainful.evaluation.gains_ranks_and_ideals import (
    Arithmetic,
    Cutoffs,
    Ideal,
    Parameters,
    Positions,
    Terms,
    Working,
    Worksheet,
    depths,
    discounted,
    discounts_of,
    said,
    shared,
    sum_of_terms,
    summed,
    worth_of,
)
from gainful.measures.discount import DEFAULT_BASE, Discount

_UNDISCOUNTED, _LOG = Discount("none"), Discount("log")
_LARGEST_FIXED_SIZE = 10_000_000


def _cg(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    undiscounted = {**parameters, "discount": _UNDISCOUNTED, "base": 2.0}
    return _dcg(sheet, undiscounted, cutoffs)


def _dcg(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    sums = _discounted_sums(
        sheet, parameters, cutoffs, sheet.listed(parameters["gain"]), sheet.matched.offsets
    )
    absent_gain = sheet.absent_gain(parameters["gain"])
    return sums + _absent_sum(sheet, parameters, cutoffs, sheet.matched.retrieved, absent_gain)


def _discounted_sums(
    sheet: Worksheet,
    parameters: Parameters,
    cutoffs: Cutoffs,
    listed: tuple[Floats, Ints, Ints],
    offsets: Ints,
) -> Floats:
    """Return the discounted sums (q, c) of gains, from their first and last ranks (n,)."""
    table = sheet.discounts(parameters["discount"], parameters["base"], sheet.longest)
    return cumulated(*listed, offsets, table, depths(cutoffs, sheet))


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
        return _sum_in_order(sheet, parameters, [None], ideal, 0.0).repeat(len(cutoffs), axis=1)
    return _sum_in_order(sheet, parameters, cutoffs, ideal, floor_of(sheet, parameters))


def floor_of(sheet: Worksheet, parameters: Parameters) -> float:
    """Return the gain of the absent documents in an ideal; 0 without them.

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
        worth = np.maximum(gains, floor) if fixed and floor else gains
        some = [cutoffs[place] for place in columns]
        sums[:, columns] = _discounted_sums(sheet, parameters, some, (worth, rank, rank), offsets)
    return sums + _absent_sum(sheet, parameters, cutoffs, offsets[1:] - offsets[:-1], floor)


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


def _gain_terms(sheet: Worksheet, parameters: Parameters, cutoff: int | None) -> Terms:
    gains, _, _ = sheet.listed(parameters["gain"])
    discount = parameters.get("discount", _UNDISCOUNTED)
    table = sheet.discounts(discount, parameters.get("base", 2.0), sheet.longest)
    return discounted(sheet, gains, table, cutoff)


class LogTerms(NamedTuple):
    """Gains (n,), ranks (n,) and terms (n,), and the gains (m,) and terms (m,) of the ideal, with discount log."""

    gains: Floats
    rank: Ints
    terms: Floats
    pool: Floats
    ideal: Floats


@shared
def _log_terms(sheet: Worksheet, parameters: Parameters) -> LogTerms:
    gains, rank = sheet.certain_order(parameters["gain"])
    pool = sheet.ideal(parameters["gain"])
    discount = sheet.discounts(_LOG, 2.0, sheet.longest)
    return LogTerms(gains, rank, gains * discount[rank], pool, pool * discount[sheet.pool_rank])


def _so_far(sheet: Worksheet, parameters: Parameters) -> Floats:
    """Return the nDCG (n,) down to each row."""
    at, matched = _log_terms(sheet, parameters), sheet.matched
    return graded.ndcg_so_far(at.terms, at.rank, matched.offsets, at.ideal, matched.pool_offsets)


def _at_relevant_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    gains, _rank = sheet.certain_order(parameters["gain"])
    return Terms((gains > 0).astype(np.float64), _so_far(sheet, parameters))


def _ndcg_in_the_end(sheet: Worksheet, parameters: Parameters) -> Floats:
    """Return the nDCG (q,) of whole lists."""
    at, matched = _log_terms(sheet, parameters), sheet.matched
    return graded.ndcg_at_the_end(at.terms, matched.offsets, at.ideal, matched.pool_offsets)


@shared
def with_gain(sheet: Worksheet, parameters: Parameters) -> tuple[Ints, Ints]:
    """Return how many documents (q,) have a positive gain, and how many of them (q,) are not retrieved."""
    pool, queries = sheet.ideal(parameters["gain"]), len(sheet.matched.queries)
    gains, _, _ = sheet.listed(parameters["gain"])
    count = counts(pool > 0, owners(sheet.matched.pool_offsets), queries)
    return count, count - counts(gains > 0, sheet.owner, queries)


def _at_relevant(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    worth, so_far = _at_relevant_terms(sheet, parameters, None)
    relevant, lacking = with_gain(sheet, parameters)
    found = sums(np.where(worth > 0, so_far, 0.0), sheet.owner, relevant.size)
    return ratio(found + lacking * _ndcg_in_the_end(sheet, parameters), relevant)[:, None]


def _at_relevant_working(
    sheet: Worksheet, parameters: Parameters, _: int | None, total: float
) -> Working:
    (relevant,), (lacking,) = with_gain(sheet, parameters)
    if not lacking:
        return Working("sum / R", "{} / {}", (total, relevant))
    final = _ndcg_in_the_end(sheet, parameters)[0]
    return Working(
        "(sum + lacking·nDCG) / R",
        f"({{}} + {lacking}·{{}}) / {relevant}",
        (total, final),
        f"nDCG = {said(final)} counts for each relevant document that is not retrieved",
    )


def _changes_of_ideal(sheet: Worksheet, parameters: Parameters) -> tuple[graded.Changes, Bools]:
    """Return the nDCG where the gain of the ideal falls, and which lists (q,) go on: their end is a point, too."""
    at, matched = _log_terms(sheet, parameters), sheet.matched
    changes = graded.ndcg_at_changes(
        at.terms, at.rank, matched.offsets, at.ideal, at.pool, matched.pool_offsets
    )
    count, _ = with_gain(sheet, parameters)
    return changes, (count > 0) & (matched.retrieved > count + 1)


def _at_changes(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    changes, deeper = _changes_of_ideal(sheet, parameters)
    total = sums(changes.ndcg, changes.query, deeper.size)
    points = np.bincount(changes.query, minlength=deeper.size)
    final = np.where(deeper, _ndcg_in_the_end(sheet, parameters), 0.0)
    return ratio(total + final, points + deeper)[:, None]


def _at_changes_working(
    sheet: Worksheet, parameters: Parameters, _: int | None, __: float
) -> Working:
    changes, deeper = _changes_of_ideal(sheet, parameters)
    points = changes.ndcg.tolist()
    names = [f"rank {rank}" for rank in changes.rank.tolist()]
    if deeper[0]:
        points.append(_ndcg_in_the_end(sheet, parameters)[0])
        names.append("the end")
    if not points:
        return Working()
    numbers = f"({' + '.join(['{}'] * len(points))}) / {len(points)}"
    return Working("Σ nDCG / points", numbers, tuple(points), f"nDCG at {', '.join(names)}")


def _at_changes_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    changes, _deeper = _changes_of_ideal(sheet, parameters)
    _gains, rank = sheet.certain_order(parameters["gain"])
    falls = {*zip(changes.query.tolist(), changes.rank.tolist(), strict=True)}
    rows = zip(sheet.owner.tolist(), rank.tolist(), strict=True)
    return Terms(np.array([row in falls for row in rows], float), _so_far(sheet, parameters))


def _costs(sheet: Worksheet, parameters: Parameters) -> tuple[Floats, Floats]:
    """Return gains (n,), and the logarithms (n,) that they are divided by."""
    gains, rank = sheet.certain_order(parameters["gain"])
    matched, pool = sheet.matched, sheet.ideal(parameters["gain"])
    return gains, graded.logarithms_of_costs(
        gains, rank, matched.offsets, pool, matched.pool_offsets
    )


def _gain(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    gains, logarithms = _costs(sheet, parameters)
    return sums(gains / logarithms, sheet.owner, len(sheet.matched.queries))[:, None]


def _cost_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    gains, logarithms = _costs(sheet, parameters)
    return Terms(gains, 1.0 / logarithms)


def sum_of_gains(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    """Return the gain (q, 1) of all judged documents, negative ones left out."""
    matched, pool = sheet.matched, sheet.ideal(parameters["gain"])
    return sums(pool, owners(matched.pool_offsets), len(matched.queries))[:, None]


def _scaled(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    discounts = sheet.discounts(parameters["discount"], parameters["base"], sheet.longest)
    return summed(sheet, worth_of(sheet, parameters), discounts, cutoffs)


def _scaled_terms(sheet: Worksheet, parameters: Parameters, cutoff: int | None) -> Terms:
    discounts = sheet.discounts(parameters["discount"], parameters["base"], sheet.longest)
    return discounted(sheet, worth_of(sheet, parameters), discounts, cutoff)


def _positions(parameters: Parameters, depth: int) -> Positions:
    layout = parameters["columns"]
    rows, columns = layouts.rows_and_columns(layout.columns, depth, goes_on=layout.goes_on)
    by_row, by_column = (
        discounts_of(parameters[name], DEFAULT_BASE, int(at.max(initial=1)))
        for name, at in (("row", rows), ("column", columns))
    )
    weights = layouts.weights_of_positions(rows, columns, by_row, by_column)
    return Positions(rows, columns, weights)


def _on_page(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    gains, _, _ = sheet.listed(parameters["gain"])
    return summed(sheet, gains, _positions(parameters, sheet.longest).weight, cutoffs)


def _on_page_terms(sheet: Worksheet, parameters: Parameters, cutoff: int | None) -> Terms:
    gains, _, _ = sheet.listed(parameters["gain"])
    return discounted(sheet, gains, _positions(parameters, sheet.longest).weight, cutoff)


def _best_page(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    """Return the sums (q, c) of the best documents at the positions of a page that get the most attention."""
    gains, offsets = sheet.ideal(parameters["gain"]), sheet.matched.pool_offsets
    ideals = np.empty((len(sheet.matched.queries), len(cutoffs)))
    for place, cutoff in enumerate(cutoffs):
        size = sheet.longest if cutoff is None else cutoff
        _refuse_too_deep(size, "in a page")
        weights = _positions(parameters, size).weight
        best = np.zeros(max(size, sheet.longest) + 1)
        best[1 : size + 1] = weights[layouts.by_attention(weights)]
        rank, depth = sheet.pool_rank, np.array([best.size - 1])
        ideals[:, place] = cumulated(gains, rank, rank, offsets, best, depth)[:, 0]
    return ideals


def _sum_of_discounts(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    sizes = np.array([cutoff for cutoff in cutoffs if cutoff is not None], np.int64)
    _refuse_too_deep(int(sizes.max()), "in a sum of discounts")
    table = sheet.discounts(parameters["discount"], parameters["base"], int(sizes.max()))
    return np.cumsum(table)[None, sizes]


_DISCOUNTED = "gain", "discount", _gain_terms
_AT_RELEVANT = "gain above 0", "nDCG so far", _at_relevant_terms, _at_relevant
_AT_CHANGES = "ideal changes", "nDCG so far", _at_changes_terms, _at_changes
_COST = "gain", "1/log2(2 + cost)", _cost_terms, _gain
_SCALED = "worth", "discount", _scaled_terms, _scaled
_ON_PAGE = "gain", "row · column", _on_page_terms, _on_page

COMPUTE: Mapping[str, Arithmetic] = {
    "CG": sum_of_terms(*_DISCOUNTED, _cg),
    "DCG": sum_of_terms(*_DISCOUNTED, _dcg),
    "IDCG": Arithmetic(*_DISCOUNTED, _idcg),
    "nDCG": Arithmetic(*_DISCOUNTED, _ndcg, None, _idcg, "IDCG", has_ideal=True),
    "nDCGrel": Arithmetic(*_AT_RELEVANT, _at_relevant_working),
    "RnDCG": Arithmetic(*_AT_CHANGES, _at_changes_working, adds=False),
    "G": sum_of_terms(*_COST, sum_of_gains, "Σ g"),
    "SDCG": sum_of_terms(*_SCALED, _sum_of_discounts, "Σ d"),
    "grid_DCG": replace(sum_of_terms(*_ON_PAGE), positions=_positions),
    "grid_nDCG": replace(
        sum_of_terms(*_ON_PAGE, _best_page, "ideal", has_ideal=True, divide=divide_by_ideal),
        positions=_positions,
    ),
}


EMPTY: Mapping[str, Callable[[Worksheet, Parameters, Cutoffs], Bools]] = {
    "CG": without_gain,
    "DCG": without_gain,
    "IDCG": without_gain,
    "nDCG": without_ideal,
}
"""Where (q, c) a query has nothing to find, for the measures that count absent documents."""


def _absent_sum(
    sheet: Worksheet,
    parameters: Parameters,
    cutoffs: Cutoffs,
    lengths: Ints,
    gain: float,
) -> Floats | float:
    """Sum the gains of absent documents at the ranks that lists of these lengths leave open (policy `absent`)."""
    sizes = [0 if cutoff is None else cutoff for cutoff in cutoffs]  # without one, nothing is open
    if gain == 0 or not any(sizes):
        return 0.0
    _refuse_too_deep(max(sizes), "where absent documents have a gain")
    table = sheet.discounts(parameters["discount"], parameters["base"], max(sizes))
    return gain * absent(lengths, np.array(sizes, np.int64), table)


def _refuse_too_deep(cutoff: int, where: str) -> None:
    """Refuse a cutoff whose table of discounts would fill the memory."""
    if cutoff > _LARGEST_FIXED_SIZE:
        expected = f"at most {_LARGEST_FIXED_SIZE:,} {where}"
        remedy = "Lower the cutoff, or leave the policy absent at zero."
        raise InputError("cutoff", expected, f"{cutoff:,}", remedy)
