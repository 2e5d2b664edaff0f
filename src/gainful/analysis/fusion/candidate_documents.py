"""`Candidates`: the documents of several runs, query by query, with their scores and ranks.

Rows are sorted by query, and within a query by id, descending. A stable sort by score therefore leaves
tied documents in order of id, and the same runs give the same rows from any source.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gainful.arithmetic.cores import cached_property, in_parallel
from gainful.array_types import Bools, Floats, Ints
from gainful.matching.ranking import rows_by_score

_PART = 1 << 16  # rows, so that the arrays of a part stay in a core's cache


@dataclass(frozen=True)
class Candidates:
    """The documents of several runs.

    Attributes:
        queries: (q,) ids, in order.
        owner: (n,) the position of each row's query, ascending.
        scores: (m, n) scores in each run; NaN if the run didn't return the document.
        ties: the rule for documents with equal scores, a key of `TIES`.
        places: (m, n) the position of each document in runs that keep the order of tied documents, such
            as responses of search services, and 0 in other runs; None if no run keeps it.
    """

    queries: tuple[str, ...]
    owner: Ints
    scores: Floats
    ties: str = "auto"
    places: Floats | None = None

    @cached_property
    def offsets(self) -> Ints:
        """(q+1,) the first row of each query."""
        sizes = np.bincount(self.owner, minlength=len(self.queries))
        return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)

    @cached_property
    def present(self) -> Bools:
        """(m, n) whether a run returned the document."""
        return ~np.isnan(self.scores)

    @cached_property
    def hits(self) -> Ints:
        """(n,) how many runs returned the document."""
        counts: Ints = self.present.sum(axis=0, dtype=np.int64)
        return counts

    @cached_property
    def sizes(self) -> Ints:
        """(m, q) how many documents each run returned for each query."""
        return np.stack(
            [np.bincount(self.owner[rows], minlength=len(self.queries)) for rows in self.present]
        ).astype(np.int64)

    @cached_property
    def ranks(self) -> Floats:
        """(m, n) ranks from 1, under the rule for ties; NaN if a run didn't return the document."""
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
        """Return the rows sorted by query, fused score (best first) and id (descending)."""
        return rows_by_score(fused, np.diff(self.offsets))

    def parts(self) -> "list[tuple[int, Candidates]]":
        """Return consecutive queries in parts of limited size, each with its first row."""
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
        """Leave out documents below a rank in each run; also return the remaining rows.

        At the cut, tied documents are ordered by id, descending unless the rule for ties is ascending.
        """
        settled = replace(self, ties="doc") if self.ties == "average" else self
        near = settled.ranks <= depth  # False for NaN
        rows = np.flatnonzero(near.any(axis=0))
        scores = np.where(near, self.scores, np.nan)[:, rows]
        places = None if self.places is None else self.places[:, rows]
        return replace(self, owner=self.owner[rows], scores=scores, places=places), rows


def parts_of(sizes: Ints | Sequence[int]) -> list[slice]:
    """Return consecutive queries, in parts with about the same number of rows.

    >>> parts_of([60_000, 5_000, 1_000, 60_000, 4, 100_000, 3])
    [slice(0, 2, None), slice(2, 5, None), slice(5, 7, None)]
    """
    ends = np.cumsum(sizes)
    bounds = np.flatnonzero(np.diff((ends - 1) // _PART)) + 1
    return [slice(low, high) for low, high in pairwise([0, *bounds.tolist(), len(ends)])]


def _shared(owner: Ints, scores: Floats, ranks: Floats) -> Floats:
    """Replace the ranks of consecutive rows with equal scores by their mean."""
    if not ranks.size:
        return ranks
    opens = np.ones(ranks.size, np.bool_)
    opens[1:] = (owner[1:] != owner[:-1]) | (scores[1:] != scores[:-1])
    first = np.flatnonzero(opens)
    lengths = np.diff(np.append(first, ranks.size))
    shared: Floats = np.repeat(ranks[first] + (lengths - 1) / 2, lengths)
    return shared
