"""Graded measures and models of users."""

from collections.abc import Mapping

import numpy as np

from gainful.arithmetic.kernels import err_and_graded_precision, user_models
from gainful.arithmetic.kernels.cumulated_gain import divide_by_ideal
from gainful.arithmetic.kernels.row_sums import sums
from gainful.array_types import Floats, Ints
from gainful.evaluation.computing.cumulated_gain import (
    sum_of_gains,
    with_gain,
)
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
    refuse_above,
    said,
    shared,
    sum_of_terms,
    summed,
    worth_of,
)
from gainful.measures.written_numbers import write_number


def _chances(grades: Floats, parameters: Parameters) -> Floats:
    """Return the chances (n,) that documents of these grades satisfy; 0 without a grade."""
    chances: Floats = (np.exp2(np.fmax(grades, 0.0)) - 1.0) / 2.0 ** parameters["max"]
    return chances


def _cascade(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    refuse_above(sheet, parameters["max"])
    grades, rank = sheet.certain_grades()
    chances = _chances(grades, parameters)
    return err_and_graded_precision.cascade(
        chances, rank, sheet.matched.offsets, deepest(cutoffs, sheet)
    )


def _cascade_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    grades, rank = sheet.certain_grades()
    chances = _chances(grades, parameters)
    reached = err_and_graded_precision.reached(chances, sheet.matched.offsets)
    return Terms(chances, reached / rank)


def _best_cascade(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    matched = sheet.matched
    chances = _chances(matched.pool_grades, parameters)
    return err_and_graded_precision.cascade(
        chances, sheet.pool_rank, matched.pool_offsets, deepest(cutoffs, sheet)
    )


def _powers(sheet: Worksheet, parameters: Parameters) -> Floats:
    """Return p^(i−1) by rank (depth+1,); entry 0 is unused."""
    powers: Floats = parameters["p"] ** (np.arange(sheet.longest + 1) - 1.0)
    return powers


def _rank_biased(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    worth, p = worth_of(sheet, parameters), parameters["p"]
    if sheet.ties_matter:
        sums: Floats = (1.0 - p) * summed(sheet, worth, _powers(sheet, parameters), cutoffs)
        return sums
    _, rank, _ = sheet.graded()
    queries = len(sheet.matched.queries)
    return user_models.geometric(worth, rank, sheet.owner, queries, p, deepest(cutoffs, sheet))


def _rank_biased_terms(sheet: Worksheet, parameters: Parameters, cutoff: int | None) -> Terms:
    weights = (1.0 - parameters["p"]) * _powers(sheet, parameters)
    return discounted(sheet, worth_of(sheet, parameters), weights, cutoff)


def _residual(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    _, rank = sheet.certain_grades()
    judged = are_judged(sheet)
    return user_models.geometric_residual(
        rank[judged],
        sheet.owner[judged],
        sheet.matched.retrieved,
        parameters["p"],
        deepest(cutoffs, sheet),
    )


def _residual_terms(sheet: Worksheet, parameters: Parameters, cutoff: int | None) -> Terms:
    unjudged = (~are_judged(sheet)).astype(np.float64)
    return discounted(sheet, unjudged, (1.0 - parameters["p"]) * _powers(sheet, parameters), cutoff)


def _residual_working(
    sheet: Worksheet, parameters: Parameters, cutoff: int | None, total: float
) -> Working:
    p, retrieved = parameters["p"], sheet.matched.retrieved[0]
    seen = retrieved if cutoff is None else min(cutoff, retrieved)
    remark = f"{said(p**seen)} for all that follows"
    return Working("sum + p^n", f"{{}} + {write_number(p)}^{seen}", (total,), remark)


def _blended_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    gains, rank = sheet.certain_order(parameters["gain"])
    pool, matched = sheet.ideal(parameters["gain"]), sheet.matched
    ratios = err_and_graded_precision.blended_ratios(
        gains, rank, matched.offsets, pool, matched.pool_offsets, parameters["beta"]
    )
    return Terms((gains > 0).astype(np.float64), ratios)


def _denominator(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Ints:
    total = with_gain(sheet, parameters)[0][:, None]
    if parameters["denominator"] == "min":
        return np.minimum(total, deepest(cutoffs, sheet))
    return total


def _graded_precision(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    gains, rank = sheet.certain_order(parameters["gain"])
    found = err_and_graded_precision.graded_precision_sums(gains, rank, sheet.matched.offsets)
    return found[:, None]


def _graded_precision_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    gains, rank = sheet.certain_order(parameters["gain"])
    minima = err_and_graded_precision.sums_of_minima(gains, sheet.matched.offsets)
    return Terms(minima, 1.0 / rank)


@shared
def _attention(sheet: Worksheet, parameters: Parameters) -> tuple[Terms, Floats]:
    """Return what a row is worth and how much attention it gets (n,), and the attention of all ranks (q, 1)."""
    worth, rank = _certain_worth(sheet, parameters)
    weights, attention = user_models.adaptive_attention(
        worth, rank, sheet.matched.offsets, parameters["T"]
    )
    return Terms(worth, weights), attention[:, None]


def _adaptive_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    return _attention(sheet, parameters)[0]


def _all_attention(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    return _attention(sheet, parameters)[1]


def _squared_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    worth, rank = _certain_worth(sheet, parameters)
    return Terms(worth, 1.0 / (rank + 2.0 * parameters["T"] - 1.0) ** 2)


def _all_squared(_: Worksheet, parameters: Parameters, __: Cutoffs) -> Floats:
    return user_models.squares(np.array([[2.0 * parameters["T"]]]))


@shared
def _read(sheet: Worksheet, parameters: Parameters) -> tuple[Terms, Ints]:
    """Return what a row is worth and whether it is read (n,), and the user's last rank (q, 1)."""
    worth, rank = _certain_worth(sheet, parameters)
    patience = int(parameters["K"])
    stops = user_models.stops(worth, rank, sheet.matched.offsets, parameters["T"], patience)
    return Terms(worth, (rank <= stops[sheet.owner]).astype(np.float64)), stops[:, None]


def _read_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    return _read(sheet, parameters)[0]


def _stops(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Ints:
    return _read(sheet, parameters)[1]


@shared
def _views(sheet: Worksheet, parameters: Parameters) -> tuple[Terms, Floats]:
    """Return what a row is worth and how likely the user looks at it (n,), and the expected depth (q, 1)."""
    worth, rank = _certain_worth(sheet, parameters)
    p, target, patience = parameters["p"], parameters["T"], int(parameters["K"])
    everyone = np.ones((len(sheet.matched.queries), 1))
    match parameters["user"]:
        case "INST":
            return _attention(sheet, parameters)
        case "BPM":
            read, stops = _read(sheet, parameters)
            return read, stops.astype(np.float64)
        case "INSQ":
            views = (2.0 * target / (rank + 2.0 * target - 1.0)) ** 2
            depth = (2.0 * target) ** 2 * _all_squared(sheet, parameters, [None])
        case "SDCG":
            discounts = sheet.discounts(parameters["discount"], parameters["base"], patience)
            shares = discounts / discounts[1]
            views = np.where(rank <= patience, shares[np.minimum(rank, patience)], 0.0)
            depth = np.array([[shares[1:].sum()]])
        case "P":
            views, depth = (rank <= patience).astype(np.float64), np.array([[float(patience)]])
        case _:
            views, depth = p ** (rank - 1.0), np.array([[1.0 / (1.0 - p)]])
    return Terms(worth, views), depth * everyone


def _view_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    return _views(sheet, parameters)[0]


def _expected_depth(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    return _views(sheet, parameters)[1]


def _depth_working(sheet: Worksheet, parameters: Parameters, _: int | None, __: float) -> Working:
    return Working("1 / W(1)", "1 / {}", (float(1.0 / _views(sheet, parameters)[1][0, 0]),))


def _certain_worth(sheet: Worksheet, parameters: Parameters) -> tuple[Floats, Ints]:
    _, rank = sheet.certain_grades()
    return worth_of(sheet, parameters), rank


def _overlaps(sheet: Worksheet, parameters: Parameters) -> tuple[Ints, Floats]:
    grades, rank = sheet.certain_grades()
    matched = sheet.matched
    return user_models.overlaps(
        grades, rank, matched.offsets, matched.pool_grades, matched.pool_offsets, parameters["p"]
    )


def _overlap(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    rows, weights = _overlaps(sheet, parameters)
    return sums(weights, sheet.owner[rows], len(sheet.matched.queries))[:, None]


def _overlap_terms(sheet: Worksheet, parameters: Parameters, _: int | None) -> Terms:
    rows, weights = _overlaps(sheet, parameters)
    grades, _rank = sheet.certain_grades()
    weight = np.zeros(grades.size)
    weight[rows] = weights
    return Terms((grades > 0).astype(np.float64), weight)


def _overlap_of_ideal(sheet: Worksheet, parameters: Parameters, _: Cutoffs) -> Floats:
    pool, offsets = sheet.matched.pool_grades, sheet.matched.pool_offsets
    return user_models.overlap_of_ideal(pool, offsets, parameters["p"])[:, None]


_CASCADE = "satisfies", "read / i", _cascade_terms, _cascade
_GRADED = "Σ min of gains", "1/i", _graded_precision_terms, _graded_precision
_ATTENDED = "worth", "attention"
_OVERLAP = "grade above 0", "overlap", _overlap_terms, _overlap

COMPUTE: Mapping[str, Arithmetic] = {
    "ERR": sum_of_terms(*_CASCADE),
    "nERR": sum_of_terms(*_CASCADE, _best_cascade, "ideal", has_ideal=True, divide=divide_by_ideal),
    "RBP": sum_of_terms("worth", "(1−p)·p^(i−1)", _rank_biased_terms, _rank_biased),
    "RBPres": Arithmetic(
        "unjudged", "(1−p)·p^(i−1)", _residual_terms, _residual, _residual_working
    ),
    "Q": sum_of_terms("gain above 0", "blended ratio", _blended_terms, None, _denominator, "R"),
    "GAP": sum_of_terms(*_GRADED, sum_of_gains, "Σ g"),
    "INST": sum_of_terms(*_ATTENDED, _adaptive_terms, None, _all_attention, "all attention"),
    "INSQ": sum_of_terms(*_ATTENDED, _squared_terms, None, _all_squared, "all attention"),
    "BPM": sum_of_terms("worth", "read", _read_terms, None, _stops, "documents read"),
    "ETG": sum_of_terms("worth", "views", _view_terms),
    "ED": Arithmetic("worth", "views", _view_terms, _expected_depth, _depth_working, adds=False),
    "Compat": sum_of_terms(*_OVERLAP, _overlap_of_ideal, "ideal", has_ideal=True),
}
