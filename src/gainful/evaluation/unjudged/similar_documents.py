"""Grades of unjudged documents as of judged documents at similar ranks, and of the same query.

Among the judged documents of all queries at similar ranks of the same runs, a share p(g) has grade g. Of the judged
documents of the query, n(g) have it, where e(g) would be expected from their ranks. The odds of grade
g are then p(g)·(n(g) + 5·p̄(g))/(e(g) + 5·p̄(g)), with p̄(g) the share of grade g at all ranks: the more often a query has a
grade than others, the more likely it is.

After M. Fröbe, L. Gienapp, M. Potthast and M. Hagen, Bootstrapped nDCG estimation in the presence of unjudged documents,
ECIR 2023, who draw from the judged documents of the query or of the run.
"""

from dataclasses import dataclass

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.unjudged.partly_judged import PartlyJudged

_LAST_RANKS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 300)  # of groups of similar ranks
_BORROWED = 5.0  # judged documents like those of all queries, in addition to the query's own


@dataclass(frozen=True, slots=True)
class SimilarDocuments:
    """The grades of judged documents, by query and by similar documents.

    Attributes:
        levels: (l,) the grades that occur, ascending.
        owner: (j,) the query of each judged document.
        group: (j,) its group: documents in the same runs at similar ranks.
        level: (j,) the place of its grade in `levels`.
        unknown_owner: (u,) the query of each unjudged document.
        unknown_group: (u,) its group.
        queries: the number of queries.
    """

    levels: Floats
    owner: Ints
    group: Ints
    level: Ints
    unknown_owner: Ints
    unknown_group: Ints
    queries: int

    def drawn(self, rng: np.random.Generator, *, queries_too: bool) -> Floats:
        """Draw the grades (u,) of the unjudged documents.

        Args:
            rng: the source of random numbers.
            queries_too: whether the judged queries are drawn again as well, so that the draws include
                how uncertain the odds are.
        """
        weight = rng.standard_exponential(self.queries) if queries_too else np.ones(self.queries)
        cumulated = self._odds(weight).cumsum(axis=1)
        above = rng.random((len(cumulated), 1)) * cumulated[:, -1:] >= cumulated
        grades: Floats = self.levels[np.minimum(above.sum(axis=1), self.levels.size - 1)]
        return grades

    def _odds(self, weight: Floats) -> Floats:
        """Return the odds [u, l] of each grade, from weighted queries (q,)."""
        groups = max(self.group.max(), self.unknown_group.max()) + 1
        by_group = np.zeros((groups, self.levels.size))
        np.add.at(by_group, (self.group, self.level), weight[self.owner])
        overall = by_group.sum(axis=0) / by_group.sum()
        by_group += overall  # so that a group without judged documents is like all
        by_group /= by_group.sum(axis=1, keepdims=True)
        own, expected = np.tile(_BORROWED * overall, (2, self.queries, 1))
        np.add.at(own, (self.owner, self.level), 1.0)
        np.add.at(expected, self.owner, by_group[self.group])
        more_often = np.divide(own, expected, out=np.ones_like(own), where=expected > 0)
        odds: Floats = by_group[self.unknown_group] * more_often[self.unknown_owner]
        return odds


def similar_documents(documents: PartlyJudged) -> SimilarDocuments:
    """Return the grades of judged documents in the lists, by query and by similar documents."""
    judged = np.flatnonzero(~np.isnan(documents.grade))
    if not judged.size:
        raise InputError(
            "estimate",
            f"judged documents in the lists down to the cutoff of {documents.measure}",
            "none",
            "Judge some of them, or pass the grades of a model.",
        )
    levels, level = np.unique(documents.grade[judged], return_inverse=True)
    runs = np.zeros(documents.grade.size, np.int64)  # the runs that contain a document, as bits
    for bit, side in enumerate(documents.sides):
        runs[side.rows] |= 1 << bit
    group = runs * (len(_LAST_RANKS) + 1) + np.searchsorted(_LAST_RANKS, documents.rank)
    unknown = documents.unknown
    return SimilarDocuments(
        levels,
        documents.owner[judged],
        group[judged],
        level,
        documents.owner[unknown],
        group[unknown],
        len(documents.queries),
    )
