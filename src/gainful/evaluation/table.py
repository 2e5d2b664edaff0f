"""The table from family to kernel: every measure of the catalogue, and how it is computed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError
from gainful.evaluation.worksheet import Worksheet
from gainful.kernels.cumulation import absent, cumulated, normalised
from gainful.measures.discount import Discount
from gainful.measures.spec import Measure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Cutoffs = Sequence[int | None]
Compute = Callable[[Worksheet, Mapping[str, Any], Cutoffs], Floats]

_UNDISCOUNTED = Discount("none")
_LARGEST_FIXED_SIZE = 10_000_000


def compute(sheet: Worksheet, measures: Sequence[Measure]) -> Floats:
    """Return the value of each query and measure, [query, measure].

    Measures that differ in their cutoff alone are computed together.
    """
    together: dict[tuple[object, ...], list[int]] = {}
    for column, measure in enumerate(measures):
        together.setdefault((measure.name, measure.settings), []).append(column)
    values = np.empty((len(sheet.matched.queries), len(measures)))
    for columns in together.values():
        first = measures[columns[0]]
        cutoffs = [measures[column].cutoff for column in columns]
        # A sum that is too large is refused below, with a name, instead of warned about here.
        with np.errstate(over="ignore", invalid="ignore"):
            values[:, columns] = KERNELS[first.name](sheet, first.parameters, cutoffs)
    _refuse_overflow(values, sheet, measures)
    return values


def _cumulated_gain(sheet: Worksheet, parameters: Mapping[str, Any], cutoffs: Cutoffs) -> Floats:
    undiscounted = {**parameters, "discount": _UNDISCOUNTED, "base": 2.0}
    return _discounted(sheet, undiscounted, cutoffs)


def _discounted(sheet: Worksheet, parameters: Mapping[str, Any], cutoffs: Cutoffs) -> Floats:
    gains, first, last = sheet.listed(parameters["gain"])
    sums = cumulated(
        gains,
        first,
        last,
        sheet.matched.offsets,
        _discounts(sheet, parameters, sheet.depth),
        _depths(cutoffs, sheet),
    )
    absent_gain = sheet.absent_gain(parameters["gain"])
    return sums + _beyond(sheet, parameters, cutoffs, sheet.matched.retrieved, absent_gain)


def _ideal(sheet: Worksheet, parameters: Mapping[str, Any], cutoffs: Cutoffs) -> Floats:
    floor = max(0.0, sheet.absent_gain(parameters["gain"]))
    sums = np.empty((len(sheet.matched.queries), len(cutoffs)))
    # At a fixed size an absent document stands before any that is worth less.
    for fixed in (False, True):
        columns = [place for place, cutoff in enumerate(cutoffs) if (cutoff is not None) == fixed]
        if not columns:
            continue
        gains = sheet.ideal(parameters["gain"])
        sums[:, columns] = cumulated(
            np.maximum(gains, floor) if fixed and floor else gains,
            sheet.pool_rank,
            sheet.pool_rank,
            sheet.matched.pool_offsets,
            _discounts(sheet, parameters, sheet.depth),
            _depths([cutoffs[place] for place in columns], sheet),
        )
    judged = np.diff(sheet.matched.pool_offsets)
    return sums + _beyond(sheet, parameters, cutoffs, judged, floor)


def _normalised(sheet: Worksheet, parameters: Mapping[str, Any], cutoffs: Cutoffs) -> Floats:
    return normalised(_discounted(sheet, parameters, cutoffs), _ideal(sheet, parameters, cutoffs))


KERNELS: Mapping[str, Compute] = {
    "CG": _cumulated_gain,
    "DCG": _discounted,
    "IDCG": _ideal,
    "nDCG": _normalised,
}


def _discounts(sheet: Worksheet, parameters: Mapping[str, Any], depth: int) -> Floats:
    return sheet.discounts(parameters["discount"], parameters["base"], depth)


def _depths(cutoffs: Cutoffs, sheet: Worksheet) -> Ints:
    """No cutoff is one at the deepest rank."""
    depths = [sheet.depth if cutoff is None else min(cutoff, sheet.depth) for cutoff in cutoffs]
    return np.array(depths, np.int64)


def _beyond(
    sheet: Worksheet,
    parameters: Mapping[str, Any],
    cutoffs: Cutoffs,
    lengths: Ints,
    gain: float,
) -> Floats | float:
    """Sum what stands at the ranks that lists of these lengths leave open (policy `absent`)."""
    sizes = [0 if cutoff is None else cutoff for cutoff in cutoffs]  # without one, nothing is open
    if gain == 0 or not any(sizes):
        return 0.0
    if max(sizes) > _LARGEST_FIXED_SIZE:
        raise InputError(
            "cutoff",
            f"at most {_LARGEST_FIXED_SIZE:,} where absent documents have a gain",
            f"{max(sizes):,}",
            "Lower the cutoff, or leave the policy absent at zero.",
        )
    table = _discounts(sheet, parameters, max(sizes))
    return gain * absent(lengths, np.array(sizes, np.int64), table)


def _refuse_overflow(values: Floats, sheet: Worksheet, measures: Sequence[Measure]) -> None:
    if np.isfinite(values).all():
        return
    row, column = np.argwhere(~np.isfinite(values))[0]
    raise InputError(
        f"{measures[column]} of query {sheet.matched.queries[row]!r}",
        "a sum that a float64 can hold",
        "one that is too large",
        "Scale the grades down.",
    )
