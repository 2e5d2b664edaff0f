"""Precision, recall and counts."""

from collections.abc import Callable, Mapping

import numpy as np

from gainful.arithmetic.kernels.binary_relevance import ratio
from gainful.arithmetic.kernels.tied_orders import Blocks, blocks, first_relevant
from gainful.array_types import Bools, Floats, Ints
from gainful.evaluation.gains_ranks_and_ideals import (
    Arithmetic,
    Cutoffs,
    Parameters,
    Terms,
    Working,
    Worksheet,
    are_judged,
    deepest,
    discounted,
    expected_hits,
    relevant_total,
    said,
    shared,
    sum_of_terms,
    summed,
)


def relevant_rows(sheet: Worksheet, parameters: Parameters) -> Bools:
    """Return which rows (n,) are relevant."""
    grades, _, _ = sheet.graded()
    relevant: Bools = grades >= parameters["rel"]
    return relevant


def tied_blocks(sheet: Worksheet, parameters: Parameters) -> Blocks:
    """Return the blocks of tied documents that have a relevant one."""
    _, first, last = sheet.graded()
    chosen = relevant_rows(sheet, parameters)
    return blocks(first[chosen], last[chosen], sheet.owner[chosen])


def hits(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    """Return the number of relevant documents down to each cutoff."""
    return _hits(sheet, parameters["rel"], tuple(cutoffs))


@shared
def _hits(sheet: Worksheet, rel: float, cutoffs: Cutoffs) -> Floats:
    grades, _, _ = sheet.graded()
    return expected_hits(sheet, grades >= rel, cutoffs)


def counted(
    chosen: Callable[[Worksheet, Parameters], Bools],
) -> Callable[[Worksheet, Parameters, int | None], Terms]:
    """Return the terms of rows that are counted; where the order is open, by their chance to be above the cutoff."""

    def terms(sheet: Worksheet, parameters: Parameters, cutoff: int | None) -> Terms:
        rows = chosen(sheet, parameters).astype(np.float64)
        return discounted(sheet, rows, np.ones(sheet.longest + 1), cutoff)

    return terms


def sizes(sheet: Worksheet, _: Parameters, cutoffs: Cutoffs) -> Ints:
    """Return the requested number (q, c) of documents: the cutoff, or the whole list."""
    retrieved = sheet.matched.retrieved
    return np.stack(
        [retrieved if cutoff is None else np.full(retrieved.size, cutoff) for cutoff in cutoffs],
        axis=1,
    )


def totals(sheet: Worksheet, parameters: Parameters, _: Cutoffs = ()) -> Ints:
    """Return R (q, 1): how many documents are relevant, retrieved or not."""
    return relevant_total(sheet, parameters["rel"])[:, None]


def relevant_count(sheet: Worksheet, parameters: Parameters) -> int:
    """Return R of a sheet of one query."""
    return int(totals(sheet, parameters)[0, 0])


def _precision_and_recall(
    sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs
) -> tuple[Floats, Floats]:
    """Return both (q, c)."""
    found = hits(sheet, parameters, cutoffs)
    return ratio(found, sizes(sheet, parameters, cutoffs)), ratio(found, totals(sheet, parameters))


def _f_measure(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    precision, recall = _precision_and_recall(sheet, parameters, cutoffs)
    square = parameters["beta"] ** 2
    return ratio((square + 1.0) * precision * recall, recall + square * precision)


def _f_working(
    sheet: Worksheet, parameters: Parameters, cutoff: int | None, total: float
) -> Working:
    square, size = parameters["beta"] ** 2, sizes(sheet, parameters, [cutoff])[0, 0]
    shares = _precision_and_recall(sheet, parameters, [cutoff])
    precision, recall = (float(share[0, 0]) for share in shares)
    remark = f"P = {said(total)} / {size}, R = {said(total)} / {relevant_count(sheet, parameters)}"
    if square == 1:
        both = (precision, recall, precision, recall)
        return Working("2·P·R / (P + R)", "2·{}·{} / ({} + {})", both, remark)
    values = (1 + square, precision, recall, square, precision, recall)
    return Working("(1+β²)·P·R / (β²·P + R)", "{}·{}·{} / ({}·{} + {})", values, remark)


def _most(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Ints:
    return np.minimum(sizes(sheet, parameters, cutoffs), totals(sheet, parameters))


def _unranked(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    found = hits(sheet, parameters, cutoffs)
    return ratio(found * found, sizes(sheet, parameters, cutoffs) * totals(sheet, parameters))


def _unranked_working(
    sheet: Worksheet, parameters: Parameters, _: int | None, total: float
) -> Working:
    retrieved, count = sheet.matched.retrieved[0], relevant_count(sheet, parameters)
    return Working("P · R", "{} / {} · {} / {}", (total, retrieved, total, count))


def _success(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    if sheet.ties_matter:
        of, deep = tied_blocks(sheet, parameters), deepest(cutoffs, sheet)
        return np.minimum(first_relevant(of).sums(of, len(sheet.matched.queries), deep), 1.0)
    return (hits(sheet, parameters, cutoffs) > 0).astype(np.float64)


def _success_working(
    sheet: Worksheet, parameters: Parameters, cutoff: int | None, _: float
) -> Working:
    chance = _success(sheet, parameters, [cutoff])[0, 0]
    if chance in (0, 1):
        return Working(remark=f"{'a' if chance else 'no'} relevant document is among them")
    return Working(remark="the chance that a relevant document is among them")


def _utility_counts(sheet: Worksheet, parameters: Parameters) -> dict[str, Floats]:
    """Return how many documents (q, 1) each parameter of Utility is multiplied by."""
    found, total = hits(sheet, parameters, [None]), totals(sheet, parameters)
    retrieved = sheet.matched.retrieved[:, None]
    elsewhere = parameters["docs"] + found - retrieved - total
    return {"a": found, "b": retrieved - found, "c": total - found, "d": elsewhere}


def _utility(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    a, b, c, d = (
        parameters[name] * count for name, count in _utility_counts(sheet, parameters).items()
    )
    value: Floats = a + b + c + d
    return value


def _utility_working(sheet: Worksheet, parameters: Parameters, _: int | None, __: float) -> Working:
    counted = _utility_counts(sheet, parameters).items()
    values = [value for name, count in counted for value in (parameters[name], count[0, 0])]
    symbols = "a·sum + b·(others) + c·(relevant, not retrieved) + d·(others, not retrieved)"
    return Working(symbols, " + ".join(["{:()}·{:()}"] * len(counted)), tuple(values))


def _relevant_working(
    sheet: Worksheet, parameters: Parameters, _: int | None, __: float
) -> Working:
    return Working(remark=f"R = {relevant_count(sheet, parameters)}, retrieved or not")


def _seen(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Ints:
    return np.minimum(sizes(sheet, parameters, cutoffs), sheet.matched.retrieved[:, None])


def _judged_hits(sheet: Worksheet, _: Parameters, cutoffs: Cutoffs) -> Floats:
    return expected_hits(sheet, are_judged(sheet), cutoffs)


def _unjudged(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    return _seen(sheet, parameters, cutoffs) - _judged_hits(sheet, parameters, cutoffs)


def _table(sheet: Worksheet, parameters: Parameters) -> Floats:
    return sheet.discounts(parameters["discount"], parameters["base"], sheet.longest)


def _mass(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    whole: Floats = np.cumsum(_table(sheet, parameters))[_seen(sheet, parameters, cutoffs)]
    return whole


def _unjudged_mass(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    judged = are_judged(sheet).astype(np.float64)
    found = summed(sheet, judged, _table(sheet, parameters), cutoffs)
    return _mass(sheet, parameters, cutoffs) - found


def _unjudged_mass_terms(sheet: Worksheet, parameters: Parameters, cutoff: int | None) -> Terms:
    unjudged = (~are_judged(sheet)).astype(np.float64)
    return discounted(sheet, unjudged, _table(sheet, parameters), cutoff)


def _share(values: Floats, totals: Floats) -> Floats:
    return np.clip(ratio(values, totals), 0.0, 1.0)


def _no_terms(sheet: Worksheet, _: Parameters, __: int | None) -> Terms:
    rows = sheet.matched.grade.size
    return Terms(np.zeros(rows), np.ones(rows))


def _queries(sheet: Worksheet, _: Parameters, cutoffs: Cutoffs) -> Floats:
    return np.ones((len(sheet.matched.queries), len(cutoffs)))


def _one_for_each(_: Worksheet, __: Parameters, ___: int | None, ____: float) -> Working:
    return Working(remark="1 for every query")


def _other_rows(sheet: Worksheet, parameters: Parameters) -> Bools:
    grades, _, _ = sheet.graded()
    others: Bools = (grades >= 0) & (grades < parameters["rel"])
    return others


def _others(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    return expected_hits(sheet, _other_rows(sheet, parameters), cutoffs)


_HITS = "relevant", "", counted(relevant_rows)
_JUDGED = "judged", "", counted(lambda sheet, _: are_judged(sheet)), _judged_hits
_MASS = "unjudged", "discount", _unjudged_mass_terms, _unjudged_mass
_UNJUDGED = "unjudged", "", counted(lambda sheet, _: ~are_judged(sheet))
_RETRIEVED = "retrieved", "", counted(lambda sheet, _: np.ones(sheet.matched.grade.size, np.bool_))

COMPUTE: Mapping[str, Arithmetic] = {
    "P": sum_of_terms(*_HITS, hits, sizes, "k"),
    "R": sum_of_terms(*_HITS, hits, totals, "R"),
    "F": Arithmetic(*_HITS, _f_measure, _f_working),
    "RelP": sum_of_terms(*_HITS, hits, _most, "min(k, R)"),
    "SetAP": Arithmetic(*_HITS, _unranked, _unranked_working),
    "Success": Arithmetic(*_HITS, _success, _success_working),
    "Utility": Arithmetic(*_HITS, _utility, _utility_working),
    "Judged": sum_of_terms(*_JUDGED, _seen, "documents seen"),
    "Unjudged": sum_of_terms(*_UNJUDGED, _unjudged, sizes, "k"),
    "UnjudgedMass": sum_of_terms(*_MASS, _mass, "Σ d", divide=_share),
    "NumQ": Arithmetic("", "", _no_terms, _queries, _one_for_each, adds=False),
    "NumRet": sum_of_terms(*_RETRIEVED, _seen),
    "NumRel": Arithmetic(*_HITS, totals, _relevant_working),
    "NumRelRet": sum_of_terms(*_HITS, hits),
    "NumNonrelRet": sum_of_terms("not relevant", "", counted(_other_rows), _others),
}
