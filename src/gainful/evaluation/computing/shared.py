"""What the computations of several families have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.worksheet import Worksheet
from gainful.kernels.cumulation import cumulated, owners
from gainful.kernels.segments import counts, running_counts
from gainful.measures.number import write_number

Cutoffs = Sequence[int | None]
Parameters = Mapping[str, Any]
Compute = Callable[[Worksheet, Parameters, Cutoffs], Floats]


def depths(cutoffs: Cutoffs, sheet: Worksheet) -> Ints:
    """Return the cutoffs (c,), none being one at the deepest rank."""
    return np.array(
        [sheet.depth if cutoff is None else min(cutoff, sheet.depth) for cutoff in cutoffs],
        np.int64,
    )


def deepest(cutoffs: Cutoffs, sheet: Worksheet) -> Ints:
    """Return the cutoffs (c,) as they are, none being one at the deepest rank."""
    return np.array([sheet.depth if k is None else k for k in cutoffs], np.int64)


def repeated(values: NDArray[np.generic], cutoffs: Cutoffs) -> Floats:
    """Return the values (q,) of a family without cutoffs as [query, cutoff]."""
    return np.repeat(values.astype(np.float64)[:, None], len(cutoffs), axis=1)


@dataclass(frozen=True, slots=True)
class Relevant:
    """The relevant documents that were retrieved, in one certain order.

    `rank`, `owner` and `place` (n,) are of those documents: rank, query, the how manieth of
    its query from 1; `total` (q,) counts the relevant documents, retrieved or not.
    """

    rank: Ints
    owner: Ints
    place: Ints
    total: Ints


def relevant(sheet: Worksheet, rel: float) -> Relevant:
    """Return the relevant documents of a sheet whose order is certain."""
    key = "relevant", rel
    if key not in sheet.kept:
        grades, rank = sheet.certain_grades()
        chosen = grades >= rel
        place = running_counts(chosen, sheet.matched.offsets)
        sheet.kept[key] = Relevant(
            rank[chosen], sheet.owner[chosen], place[chosen], relevant_total(sheet, rel)
        )
    found: Relevant = sheet.kept[key]
    return found


def relevant_total(sheet: Worksheet, rel: float) -> Ints:
    """Return how many relevant documents (q,) there are, retrieved or not."""
    key = "total", rel
    if key not in sheet.kept:
        matched = sheet.matched
        owner = owners(matched.pool_offsets)
        sheet.kept[key] = counts(matched.pool_grades >= rel, owner, len(matched.queries))
    found: Ints = sheet.kept[key]
    return found


def are_judged(sheet: Worksheet) -> Bools:
    """Return which (n,) rows are judgments, as `sheet.graded` has them.

    All are, but for those that only mark a document, where there are such.
    """
    grades, _, _ = sheet.graded()
    return grades >= 0 if sheet.marks else np.ones(grades.size, np.bool_)


def expected_hits(sheet: Worksheet, chosen: Bools, cutoffs: Cutoffs) -> Floats:
    """Return how many (q, c) of some rows stand down to each cutoff, ties averaged over.

    `chosen` (n,) is of the rows as `sheet.graded` has them.
    """
    _, first, last = sheet.graded()
    undiscounted = np.ones(sheet.depth + 1)
    return cumulated(
        chosen.astype(np.float64),
        first,
        last,
        sheet.matched.offsets,
        undiscounted,
        depths(cutoffs, sheet),
    )


def worth_of(sheet: Worksheet, parameters: Parameters) -> tuple[Floats, Ints, Ints]:
    """Return what the judged documents retrieved are worth (n,), from 0 to 1, and their ranks."""
    grades, first, last = sheet.graded()
    scale = parameters["max"]
    if scale == "none":
        return (grades >= parameters["rel"]).astype(np.float64), first, last
    if scale == "query":
        pool, starts = sheet.matched.pool_grades, sheet.matched.pool_offsets[:-1]
        highest = np.ones(starts.size)
        some = starts < sheet.matched.pool_offsets[1:]
        highest[some] = np.maximum(pool[starts[some]], 1.0)
        return np.maximum(grades, 0.0) / highest[sheet.owner], first, last
    refuse_above(sheet, scale)
    return np.maximum(grades, 0.0) / scale, first, last


def refuse_above(sheet: Worksheet, highest: float) -> None:
    """Refuse grades above the highest of the scale: a document cannot be worth more than 1."""
    grades = sheet.matched.pool_grades
    if grades.size and grades.max() > highest:
        raise InputError(
            f"judgments for {sheet.measuring}",
            f"grades up to {write_number(highest)} (parameter max)",
            f"a grade of {write_number(float(grades.max()))}",
            f"Set the scale of the grades, e.g. max={write_number(float(grades.max()))}.",
        )
