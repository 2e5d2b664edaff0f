"""Graded measures and models of users."""

from collections.abc import Mapping

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.evaluation.gains_ranks_and_ideals import (
    Compute,
    Cutoffs,
    Parameters,
    Worksheet,
    are_judged,
    deepest,
    refuse_above,
    repeated,
    worth_of,
)
from gainful.kernels import err_and_graded_precision, user_models
from gainful.kernels.binary_relevance import ratio
from gainful.kernels.cumulated_gain import cumulated, divide_by_ideal, owners
from gainful.kernels.row_sums import counts


def chances_of(grades: Floats, highest: float) -> Floats:
    """Return the chances (n,) that documents of these grades satisfy."""
    chances: Floats = (np.exp2(np.maximum(grades, 0.0)) - 1.0) / 2.0**highest
    return chances


def _cascade(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    refuse_above(sheet, parameters["max"])
    grades, rank = sheet.certain_grades()
    chances = chances_of(grades, parameters["max"])
    return err_and_graded_precision.cascade(
        chances, rank, sheet.matched.offsets, deepest(cutoffs, sheet)
    )


def _normalised_cascade(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    matched = sheet.matched
    chances = chances_of(matched.pool_grades, parameters["max"])
    found = _cascade(sheet, parameters, cutoffs)
    ideal = err_and_graded_precision.cascade(
        chances, sheet.pool_rank, matched.pool_offsets, deepest(cutoffs, sheet)
    )
    return divide_by_ideal(found, ideal)


def _rank_biased(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    worth, first, last = worth_of(sheet, parameters)
    matched, p = sheet.matched, parameters["p"]
    if not sheet.ties_matter:
        return user_models.geometric(
            worth, first, sheet.owner, len(matched.queries), p, deepest(cutoffs, sheet)
        )
    discount = p ** (np.arange(sheet.longest + 1) - 1.0)
    deep = np.minimum(deepest(cutoffs, sheet), sheet.longest)
    found: Floats = (1.0 - p) * cumulated(worth, first, last, matched.offsets, discount, deep)
    return found


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


def _blended(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    gains, rank = sheet.certain_order(parameters["gain"])
    pool, matched = sheet.ideal(parameters["gain"]), sheet.matched
    deep = deepest(cutoffs, sheet)
    found = err_and_graded_precision.blended(
        gains, rank, matched.offsets, pool, matched.pool_offsets, parameters["beta"], deep
    )
    total = counts(pool > 0, owners(matched.pool_offsets), len(matched.queries))[:, None]
    if parameters["denominator"] == "min":
        total = np.minimum(total, deep)
    return ratio(found, total)


def _graded_precision(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    gains, rank = sheet.certain_order(parameters["gain"])
    pool, matched = sheet.ideal(parameters["gain"]), sheet.matched
    values = err_and_graded_precision.graded_precision(
        gains, rank, matched.offsets, pool, matched.pool_offsets
    )
    return repeated(values, cutoffs)


def _certain_worth(sheet: Worksheet, parameters: Parameters) -> tuple[Floats, Ints]:
    _, rank = sheet.certain_grades()
    return worth_of(sheet, parameters)[0], rank


def _adaptive(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    worth, rank = _certain_worth(sheet, parameters)
    values = user_models.adaptive(worth, rank, sheet.matched.offsets, parameters["T"])
    return repeated(values, cutoffs)


def _squared(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    worth, rank = _certain_worth(sheet, parameters)
    queries = len(sheet.matched.queries)
    return repeated(
        user_models.squared(worth, rank, sheet.owner, queries, parameters["T"]), cutoffs
    )


def _player(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    worth, rank = _certain_worth(sheet, parameters)
    values = user_models.player(
        worth, rank, sheet.matched.offsets, parameters["T"], int(parameters["K"])
    )
    return repeated(values, cutoffs)


def _compatible(sheet: Worksheet, parameters: Parameters, cutoffs: Cutoffs) -> Floats:
    grades, rank = sheet.certain_grades()
    matched = sheet.matched
    values = user_models.compatible(
        grades, rank, matched.offsets, matched.pool_grades, matched.pool_offsets, parameters["p"]
    )
    return repeated(values, cutoffs)


COMPUTE: Mapping[str, Compute] = {
    "ERR": _cascade,
    "nERR": _normalised_cascade,
    "RBP": _rank_biased,
    "RBPres": _residual,
    "Q": _blended,
    "GAP": _graded_precision,
    "INST": _adaptive,
    "INSQ": _squared,
    "BPM": _player,
    "Compat": _compatible,
}
