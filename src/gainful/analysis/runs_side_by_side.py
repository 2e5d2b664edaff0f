"""`side_by_side`: the scores that several runs gave to the same documents, query by query."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.analysis.fusion.candidate_documents import Candidates
from gainful.analysis.fusion.reading_runs import gather
from gainful.analysis.similarity_measures import ListPairs, Settings, list_pairs
from gainful.arithmetic.kernels.ranking_agreement import offsets_of
from gainful.array_types import Bools, Floats, Ints
from gainful.matching.reader import reading
from gainful.measures.policy import Policy


@dataclass(frozen=True)
class RunsSideBySide:
    """Several runs, query by query.

    Attributes:
        queries: the queries of any run, in order.
        offsets: (q+1,) where the documents of each query begin.
        scores: (m, n) the scores of all documents; NaN if a run didn't return the document.
        returned: (m, q) whether a run returned anything for a query.
        tied: (m,) the number of queries of each run whose tied documents were ordered by id.
    """

    queries: tuple[str, ...]
    offsets: Ints
    scores: Floats
    returned: Bools
    tied: list[int]

    def pairs(self, first: int, second: int, settings: Settings) -> tuple[Ints, ListPairs]:
        """Return the lists of two runs, and the places of the queries for which both returned one."""
        common = self.returned[first] & self.returned[second]
        rows = np.repeat(common, np.diff(self.offsets))
        offsets = offsets_of(rows, self.offsets)[:-1][common]
        one, other = self.scores[[first, second]][:, rows]
        lists = list_pairs(one, other, np.append(offsets, one.size), settings)
        return np.flatnonzero(common), lists


def side_by_side(runs: Mapping[str, Any], ties: str, options: Mapping[str, Any]) -> RunsSideBySide:
    """Read several runs.

    Args:
        runs: the runs by name.
        ties: with `doc`, the scores are the ranks, descending, with tied documents ordered by id.
        options: `ReadingOptions`.
    """
    with reading(None, Policy(), options) as reader:
        candidates = gather(reader, runs, "auto").candidates
    in_order = ties == "doc"
    return RunsSideBySide(
        candidates.queries,
        candidates.offsets,
        -candidates.ranks if in_order else candidates.scores,
        candidates.sizes > 0,
        [_tied_queries(candidates, run) if in_order else 0 for run in range(len(runs))],
    )


def _tied_queries(candidates: Candidates, run: int) -> int:
    """Count the queries of a run with equal scores that are ordered by id rather than as shown to users."""
    if candidates.places is not None and candidates.places[run].any():
        return 0
    rows, sizes = np.flatnonzero(candidates.present[run]), candidates.sizes[run]
    owner = candidates.owner[rows]
    places = (np.cumsum(sizes) - sizes)[owner] + candidates.ranks[run][rows].astype(np.int64) - 1
    in_order = np.empty(rows.size)
    in_order[places] = candidates.scores[run][rows]
    equal = (in_order[1:] == in_order[:-1]) & (owner[1:] == owner[:-1])
    return int(np.unique(owner[1:][equal]).size)
