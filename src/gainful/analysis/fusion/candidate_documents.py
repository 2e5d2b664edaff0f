"""`Candidates`: the documents that any of some runs has, query by query, with their scores and ranks.

Rows stand by query, and within a query by id, descending. So a stable sort by score leaves tied
documents by id, and the same runs give the same rows whatever they were read from.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gainful.arithmetic.cores import cached_property, in_parallel
from gainful.array_types import Bools, Floats, Ints
from gainful.matching.ranking import rows_by_score

_PART = 1 << 16  # rows: arrays of a part stay in a core's cache


@dataclass(frozen=True)
class Candidates:
    """The documents of some runs.

    Attributes:
        queries: (q,) ids, in order.
        owner: (n,) the place of each row's query, ascending.
        scores: (m, n) of each run; NaN where it does not have the document.
        ties: what rank documents with equal scores have, a key of `TIES`.
        places: (m, n) where each document stands in the list of a run whose tied documents are in
            the order that was shown, and 0 of other runs; None where no run is such a one.
    """

    queries: tuple[str, ...]
    owner: Ints
    scores: Floats
    ties: str = "auto"
    places: Floats | None = None

    @cached_property
    def offsets(self) -> Ints:
        """(q+1,) where the rows of each query begin."""
        sizes = np.bincount(self.owner, minlength=len(self.queries))
        return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)

    @cached_property
    def present(self) -> Bools:
        """(m, n) whether a run has the document."""
        return ~np.isnan(self.scores)

    @cached_property
    def hits(self) -> Ints:
        """(n,) how many runs have the document."""
        counts: Ints = self.present.sum(axis=0, dtype=np.int64)
        return counts

    @cached_property
    def sizes(self) -> Ints:
        """(m, q) how many documents each run has for each query."""
        return np.stack(
            [np.bincount(self.owner[has], minlength=len(self.queries)) for has in self.present]
        ).astype(np.int64)

    @cached_property
    def ranks(self) -> Floats:
        """(m, n) from 1, as the rule for ties has them; NaN where a run does not have the document."""
        return np.stack(in_parallel(self._ranks_of, range(len(self.scores))))

    def _ranks_of(self, run: int) -> Floats:
        rows, sizes = np.flatnonzero(self.present[run]), self.sizes[run]
        if self.ties == "doc_ascending":
            rows, sizes = rows[::-1], sizes[::-1]
        all_ranks = np.full(self.owner.size, np.nan)
        scores = self.scores[run][rows]
        if self.places is None or self.ties != "auto":
            rows = rows[rows_by_score(scores, sizes)]
        else:
            rows = rows[np.lexsort((self.places[run][rows], -scores, self.owner[rows]))]
        ranks = np.arange(1.0, rows.size + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        if self.ties == "average":
            ranks = _shared(self.owner[rows], self.scores[run][rows], ranks)
        all_ranks[rows] = ranks
        return all_ranks

    def order(self, fused: Floats) -> Ints:
        """Return the rows by query, then by fused score, the best first, then by id, descending."""
        return rows_by_score(fused, np.diff(self.offsets))

    def parts(self) -> "list[tuple[int, Candidates]]":
        """Return queries that follow one another, and the row where they begin, in parts of some rows."""
        parts = []
        for queries in parts_of(np.diff(self.offsets)):
            rows = slice(int(self.offsets[queries.start]), int(self.offsets[queries.stop]))
            owner = self.owner[rows] - queries.start
            places = None if self.places is None else self.places[:, rows]
            scores = self.scores[:, rows]
            part = Candidates(self.queries[queries], owner, scores, self.ties, places)
            parts.append((rows.start, part))
        return parts

    def cut(self, depth: int) -> "tuple[Candidates, Ints]":
        """Leave out what stands below a rank in a run; also return the rows that are left.

        At the edge, tied documents stand by id, descending, or ascending where ties are ranked so.
        """
        settled = replace(self, ties="doc") if self.ties == "average" else self
        near = settled.ranks <= depth  # NaN is not
        rows = np.flatnonzero(near.any(axis=0))
        scores = np.where(near, self.scores, np.nan)[:, rows]
        places = None if self.places is None else self.places[:, rows]
        return replace(self, owner=self.owner[rows], scores=scores, places=places), rows


def parts_of(sizes: Ints | Sequence[int]) -> list[slice]:
    """Return queries that follow one another, in parts of about as many rows.

    >>> parts_of([60_000, 5_000, 1_000, 60_000, 4, 100_000, 3])
    [slice(0, 2, None), slice(2, 5, None), slice(5, 7, None)]
    """
    ends = np.cumsum(sizes)
    bounds = np.flatnonzero(np.diff((ends - 1) // _PART)) + 1
    return [slice(low, high) for low, high in pairwise([0, *bounds.tolist(), len(ends)])]


def _shared(owner: Ints, scores: Floats, ranks: Floats) -> Floats:
    """Give rows that follow one another with equal scores the mean of their ranks."""
    if not ranks.size:
        return ranks
    opens = np.ones(ranks.size, np.bool_)
    opens[1:] = (owner[1:] != owner[:-1]) | (scores[1:] != scores[:-1])
    first = np.flatnonzero(opens)
    lengths = np.diff(np.append(first, ranks.size))
    shared: Floats = np.repeat(ranks[first] + (lengths - 1) / 2, lengths)
    return shared
