"""Matched runs in batches of queries, measured side by side.

NumPy lets go of Python's lock while it works, so a batch for each core makes large inputs
faster. The split changes no result: no arithmetic crosses a query.
"""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful.evaluation.table import compute, empty_for
from gainful.evaluation.worksheet import Worksheet
from gainful.inputs.parallel import in_parallel
from gainful.matching.matched import Matched
from gainful.measures.policy import Policy
from gainful.measures.spec import Measure

# Documents: fewer are not worth a thread; the arrays of more are handed back to the system after
# each use, and cost more to get anew than to compute with.
_WORTH_A_THREAD, _LARGEST = 50_000, 260_000

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class Measured:
    """The bare numbers of a run, before the policy gives them a meaning.

    Attributes:
        queries: (q,) ids.
        values: [query, measure] float64; 0 where a normalised measure is undefined.
        empty: [query, measure] bool, True where the query has no positive gain.
        missing: (q,) bool, True where the run has no such query.
        tied: (q,) int64, how many judged documents share their score with another.
    """

    queries: tuple[str, ...]
    values: NDArray[np.float64]
    empty: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    tied: NDArray[np.int64]


def measure_batches(
    parts: Sequence[Part],
    match: Callable[[Part], Matched],
    measures: Sequence[Measure],
    policy: Policy,
) -> tuple[list[Matched], Measured]:
    """Match each part of the input and compute every measure of every query."""
    if policy.absent == "lowest":  # of all the judgments, so all are matched first
        matched = in_parallel(match, parts)
        lowest = min(batch.lowest_grade for batch in matched)
        return measure_batches(matched, _as_is, measures, replace(policy, absent=lowest))

    def work(part: Part) -> tuple[Matched, Measured]:
        matched = match(part)
        return matched, _measure(matched, measures, policy)

    batches, measured = zip(*in_parallel(work, parts), strict=True)
    return list(batches), Measured(
        queries=tuple(chain.from_iterable(part.queries for part in measured)),
        values=np.concatenate([part.values for part in measured]),
        empty=np.concatenate([part.empty for part in measured]),
        missing=np.concatenate([part.missing for part in measured]),
        tied=np.concatenate([part.tied for part in measured]),
    )


def _as_is(matched: Matched) -> Matched:
    return matched


def batches_for(documents: int) -> int:
    """Return in how many batches to take so many documents: as many for each core."""
    if documents < 2 * _WORTH_A_THREAD:
        return 1
    cores = os.cpu_count() or 1
    return cores * math.ceil(documents / cores / _LARGEST)


def _measure(matched: Matched, measures: Sequence[Measure], policy: Policy) -> Measured:
    sheet = Worksheet(matched, policy)
    if sheet.certain:
        tied = np.zeros(len(matched.queries), np.int64)
    else:
        rows = np.flatnonzero(matched.rank_first < matched.rank_last)
        tied = np.diff(np.searchsorted(rows, matched.offsets))
    return Measured(
        queries=matched.queries,
        values=compute(sheet, measures),
        empty=np.stack([empty_for(sheet, measure) for measure in measures], axis=1),
        missing=matched.missing,
        tied=tied,
    )
