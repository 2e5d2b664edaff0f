"""The table from family to kernel: every measure of the catalogue, and how it is computed."""

from collections.abc import Mapping, Sequence

import numpy as np

from gainful.array_types import Bools, Floats
from gainful.errors import InputError
from gainful.evaluation.computing import cumulated, ranks, sets, users
from gainful.evaluation.computing.shared import Compute, relevant_total
from gainful.evaluation.worksheet import Worksheet
from gainful.measures.family import OPTIONAL
from gainful.measures.gain import Gain
from gainful.measures.spec import Measure

KERNELS: Mapping[str, Compute] = {
    **cumulated.KERNELS,
    **sets.KERNELS,
    **ranks.KERNELS,
    **users.KERNELS,
}

_LINEAR = Gain("linear")


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
        sheet.measuring = first.at(None) if first.family.cutoff == OPTIONAL else first
        # A sum that is too large is refused below, with a name, instead of warned about here.
        with np.errstate(over="ignore", invalid="ignore"):
            values[:, columns] = KERNELS[first.name](sheet, first.parameters, cutoffs)
    _refuse_overflow(values, sheet, measures)
    return values


def empty_for(sheet: Worksheet, measure: Measure) -> Bools:
    """Return where (q,) a query has nothing that a measure could find."""
    parameters = measure.parameters
    if "rel" in parameters:
        nothing: Bools = relevant_total(sheet, parameters["rel"]) == 0
        return nothing
    if measure.name == "nDCG":
        return cumulated.without_ideal(sheet, parameters, measure.cutoff)
    if measure.name in ("CG", "DCG", "IDCG"):  # in which absent documents have a gain
        return cumulated.without_gain(sheet, parameters["gain"], measure.cutoff)
    return sheet.empty(parameters.get("gain", _LINEAR))


def _refuse_overflow(values: Floats, sheet: Worksheet, measures: Sequence[Measure]) -> None:
    if np.isfinite(values).all():
        return
    row, column = np.argwhere(~np.isfinite(values))[0]
    raise InputError(
        f"{measures[column]} of query {sheet.matched.queries[row]!r}",
        "a sum that a float64 can hold",
        "one that is too large",
        "Scale the grades down, or choose other parameters.",
    )
