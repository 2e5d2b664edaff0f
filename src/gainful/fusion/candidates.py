"""`Candidates`: the documents that any of some runs has, query by query, with their scores and ranks.

Rows stand by query, and within a query by id, descending. So a stable sort by score leaves tied
documents by id, and the same runs give the same rows whatever they were read from.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.inputs.cores import in_parallel


@dataclass(frozen=True)
class Candidates:
    """The documents of some runs.

    Attributes:
        queries: (q,) ids, in order.
        owner: (n,) the place of each row's query, ascending.
        scores: (m, n) of each run; NaN where it does not have the document.
        ties: what rank documents with equal scores have, a key of `TIES`.
    """

    queries: tuple[str, ...]
    owner: Ints
    scores: Floats
    ties: str = "doc"

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
        rows = np.flatnonzero(self.present[run])
        if self.ties == "doc_ascending":
            rows = rows[::-1]
        found = np.full(self.owner.size, np.nan)
        rows = rows[by_score(self.owner[rows], self.scores[run][rows])]
        starts = np.cumsum(self.sizes[run]) - self.sizes[run]
        owner = self.owner[rows]
        ranks = np.arange(1, rows.size + 1, dtype=np.float64) - starts[owner]
        if self.ties == "average":
            ranks = _shared(owner, self.scores[run][rows], ranks)
        found[rows] = ranks
        return found

    def order(self, fused: Floats) -> Ints:
        """Return the rows by query, then by fused score, the best first, then by id, descending."""
        return by_score(self.owner, fused)

    def cut(self, depth: int) -> "tuple[Candidates, Ints]":
        """Leave out what stands below a rank in a run; also return the rows that are left.

        At the edge, tied documents stand by id, descending, or ascending where ties are ranked so.
        """
        settled = replace(self, ties="doc") if self.ties == "average" else self
        near = settled.ranks <= depth  # NaN is not
        rows = np.flatnonzero(near.any(axis=0))
        scores = np.where(near, self.scores, np.nan)[:, rows]
        return replace(self, owner=self.owner[rows], scores=scores), rows


def by_score(owner: Ints, scores: Floats) -> Ints:
    """Return rows by owner, then by score, descending; those with equal scores stay as they stand.

    >>> by_score(np.array([0, 0, 0, 1]), np.array([1.0, 2.0, 2.0, 5.0])).tolist()
    [1, 2, 0, 3]
    """
    return np.lexsort((-scores, owner))


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
