"""The values of trec_eval's measures, column by column."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gainful.compat.trec_eval.entries import CUTOFFS, SHARES, Entry, Settings
from gainful.evaluation.computing.ranks import interpolated
from gainful.evaluation.computing.shared import relevant_total
from gainful.evaluation.table import compute
from gainful.evaluation.worksheet import Worksheet
from gainful.kernels.users import geometric, geometric_residual
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

Floats = NDArray[np.float64]

LOWEST_MEAN = 1e-5  # what a value of 0 counts as in a geometric mean
_PERSISTENCE = 0.9
_POLICY = Policy(ties="doc", negative="zero")


@dataclass(frozen=True, slots=True)
class Asked:
    """A measure with what the caller wrote after its name."""

    entry: Entry
    numbers: tuple[float, ...] = ()
    pairs: dict[str, float] = field(default_factory=dict)
    written: str | None = None

    @property
    def names(self) -> list[str]:
        """What its values are called."""
        name = self.entry.name
        if self.entry.takes == CUTOFFS:
            return [f"{name}_{int(cutoff)}" for cutoff in self.numbers]
        if self.entry.takes == SHARES:
            return [f"{name}_{share:3.2f}" for share in self.numbers]
        return [name if self.written is None else f"{name}_{self.written}"]

    def measures(self, settings: Settings) -> list[Measure]:
        """Return the measures of the catalogue that give its values, if any do."""
        if self.entry.measure is None:
            return []
        if self.entry.takes in (CUTOFFS, SHARES):
            return [self.entry.measure(settings, [each], {}) for each in self.numbers]
        return [self.entry.measure(settings, self.numbers, self.pairs)]


def columns(
    matched: Matched, asked: Sequence[Asked], settings: Settings, version: int
) -> dict[str, Floats]:
    """Return the values (q,) of every name; texts are none of them."""
    sheet = Worksheet(matched, _POLICY)
    catalogued = {
        name: (each, measure)
        for each in asked
        for name, measure in zip(each.names, each.measures(settings), strict=False)
    }
    measures = list(dict.fromkeys(measure for _, measure in catalogued.values()))
    found = compute(sheet, measures) if measures else np.empty((len(matched.queries), 0))
    values = {}
    for name, (each, measure) in catalogued.items():
        column = found[:, measures.index(measure)]
        if measure.family.normalised:  # 0 where there is nothing to find
            column = np.where(_empty(sheet, measure, settings), 0.0, column)
        values[name] = np.log(np.maximum(column, LOWEST_MEAN)) if each.entry.logarithm else column
    for each in asked:
        values |= _others(sheet, each, settings, version)
    return values


def _empty(sheet: Worksheet, measure: Measure, settings: Settings) -> NDArray[np.bool_]:
    if "rel" in measure.parameters:
        nothing: NDArray[np.bool_] = relevant_total(sheet, settings.rel) == 0
        return nothing
    return sheet.empty(measure.parameters["gain"])


def _others(sheet: Worksheet, asked: Asked, settings: Settings, version: int) -> dict[str, Floats]:
    """Return what trec_eval computes in its own way."""
    match asked.entry.name:
        case "num_q":
            return {"num_q": np.ones(len(sheet.matched.queries))}
        case "iprec_at_recall":
            found = _interpolated(sheet, asked.numbers, settings, version)
            return dict(zip(asked.names, found.T, strict=True))
        case "11pt_avg":
            found = _interpolated(sheet, asked.numbers, settings, version)
            return {asked.names[0]: np.add.accumulate(found, axis=1)[:, -1] / len(asked.numbers)}
        case "rbp":
            return {asked.names[0]: _rank_biased(sheet, asked)}
        case "rbp_resid":
            return {asked.names[0]: _residual(sheet, asked)}
        case _:
            return {}


def _interpolated(
    sheet: Worksheet, recalls: Sequence[float], settings: Settings, version: int
) -> Floats:
    """Count the documents that a recall needs as either version does: 0.9 up, or to the nearest."""
    wanted = relevant_total(sheet, settings.rel)[:, None] * np.array(recalls)
    nearest = np.copysign(np.floor(np.abs(wanted) + 0.5), wanted)
    needed = (np.floor(wanted + 0.9) if version < 10 else nearest).astype(np.int64)
    found = interpolated(sheet, settings.rel, needed)
    # An empty list has 0/0 as its precision, which trec_eval reports where nothing is needed.
    none_retrieved = sheet.matched.retrieved == 0
    found[none_retrieved[:, None] & (needed <= 0)] = np.nan
    return found


def _rank_biased(sheet: Worksheet, asked: Asked) -> Floats:
    """Scale the gains of a query to at most 1 by its highest grade, judged or named."""
    grades, rank = sheet.certain_grades()
    named = {int(key): worth for key, worth in asked.pairs.items() if key.lstrip("+-").isdecimal()}
    starts, ends = sheet.matched.pool_offsets[:-1], sheet.matched.pool_offsets[1:]
    worth = np.maximum(grades, 0.0)
    for grade, gained in named.items():
        worth[grades == grade] = gained
    lowest, highest = np.zeros(starts.size), np.zeros(starts.size)
    for query in np.flatnonzero(ends > starts).tolist():
        levels = range(int(max(sheet.matched.pool_grades[starts[query]], -1)) + 1)
        gains = [*named.values(), *(float(level) for level in levels if level not in named)]
        lowest[query], highest[query] = min([0.0, *gains]), max([0.0, *gains])
    scaled = (lowest < 0) | (highest > 1)
    low, high = lowest[sheet.owner], highest[sheet.owner]
    worth = np.where(
        scaled[sheet.owner] & (grades >= 0), (worth - low) / np.maximum(high - low, 1e-300), worth
    )
    p = asked.pairs.get("p", _PERSISTENCE)
    deepest = np.array([sheet.depth])
    return geometric(worth, rank, sheet.owner, starts.size, p, deepest)[:, 0]


def _residual(sheet: Worksheet, asked: Asked) -> Floats:
    """Leave the rest of the list out where every document retrieved is judged, as trec_eval does."""
    grades, rank = sheet.certain_grades()
    judged = grades >= 0
    matched, p = sheet.matched, asked.pairs.get("p", _PERSISTENCE)
    owner = sheet.owner[judged]
    found = geometric_residual(rank[judged], owner, matched.retrieved, p, np.array([sheet.depth]))
    complete = np.bincount(owner, minlength=len(matched.queries)) == matched.retrieved
    return np.where(complete, 0.0, found[:, 0])


def strings(matched: Matched, length: int) -> list[str]:
    """Return the grades of the first documents of each query, a character for each."""
    found = []
    for query in range(len(matched.queries)):
        rows = slice(matched.offsets[query], matched.offsets[query + 1])
        shown = ["-"] * min(max(length, 0), int(matched.retrieved[query]))
        for rank, grade in zip(
            matched.rank[rows].tolist(), matched.grade[rows].tolist(), strict=True
        ):
            if rank <= len(shown):
                shown[rank - 1] = "." if grade < 0 else ">" if grade > 9 else str(int(grade))
        found.append("".join(shown))
    return found
