"""`PartlyJudged`: the documents of a run, or of two runs, some without a grade, and their values under any grades."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.measuring import apply_policy, measure_batches
from gainful.evaluation.unjudged.bounds_by_family import DocsByQuery, GradesByQuery
from gainful.matching.matched import Matched, matched_lists, offsets_of, places_of
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy

_MOST_DOCUMENTS = 2_000_000  # measured at a time
_LAST_RANKS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 300)  # of groups of similar ranks
_BORROWED = 5.0  # judged documents like those of all queries, in addition to the query's own


class ListedRun(NamedTuple):
    """A run that has been read.

    Attributes:
        matched: the run matched with its judgments.
        lists: query → documents in rank order, as deep as needed.
        decided: the policy with a definite rule for ties.
    """

    matched: Matched
    lists: DocsByQuery
    decided: Policy

    @property
    def kept(self) -> Bools:
        """Which queries (q,) count."""
        skipped = self.decided.missing == "skip"
        return ~self.matched.missing if skipped else np.ones(self.matched.missing.size, np.bool_)


class Side(NamedTuple):
    """The lists of a run.

    Attributes:
        sign: 1 for the run, −1 for the one that it is compared with.
        run: the run.
        rows: (n,) the place of each listed document among all documents, by query and rank.
        offsets: (q+1,) of the rows.
    """

    sign: float
    run: ListedRun
    rows: Ints
    offsets: Ints


@dataclass(frozen=True, slots=True)
class PartlyJudged:
    """The documents of one run or of two down to a measure's cutoff, by query; some are unjudged.

    Attributes:
        measure: the measure.
        queries: (q,) ids.
        docs: (d,) ids of the documents.
        owner: (d,) the place of each document's query.
        offsets: (q+1,) of the documents.
        rank: (d,) the best rank in any list.
        grade: (d,) the grade; NaN for an unjudged document.
        others: (o,) the grades of judged documents that are in no list, by query.
        other_offsets: (q+1,) of these.
        sides: the lists.
    """

    measure: Measure
    queries: tuple[str, ...]
    docs: tuple[str, ...]
    owner: Ints
    offsets: Ints
    rank: Ints
    grade: Floats
    others: Floats
    other_offsets: Ints
    sides: tuple[Side, ...]

    @property
    def unknown(self) -> Ints:
        """(u,) the places of the unjudged documents."""
        return np.flatnonzero(np.isnan(self.grade))

    def grades_of(self, grades: GradesByQuery) -> Floats:
        """Return the grades (d,) of the documents in other judgments; NaN for those that lack them."""
        none: Mapping[str, float] = {}
        by_query = [grades.get(query, none) for query in self.queries]
        pairs = zip(self.owner.tolist(), self.docs, strict=True)
        return np.array([by_query[at].get(doc, np.nan) for at, doc in pairs], np.float64)

    def filled(self, unknown: Floats) -> Floats:
        """Return the grades [draw, d] of all documents from those of the unjudged ones [draw, u]."""
        grades = np.broadcast_to(self.grade, (len(unknown), self.grade.size)).copy()
        grades[:, self.unknown] = unknown
        return grades

    def values(self, grades: Floats) -> Floats:
        """Return the values [draw, query] under grades [draw, d]; NaN if a query doesn't count."""
        every = np.arange(len(self.queries))
        step = max(1, _MOST_DOCUMENTS // max(self.grade.size + self.others.size, 1))
        parts = [
            self.values_of(np.tile(every, len(some)), some.ravel()).reshape(len(some), -1)
            for start in range(0, len(grades), step)
            for some in [grades[start : start + step]]
        ]
        return np.concatenate(parts)

    def values_of(self, chosen: Ints, grades: Floats) -> Floats:
        """Return the values (c,) of queries, any of which may occur several times.

        Args:
            chosen: (c,) their places.
            grades: the grades of the documents of each of them, one after the other.
        """
        total = np.zeros(chosen.size)
        starts = offsets_of(np.diff(self.offsets)[chosen])[:-1]
        owners, pool = self._pool(chosen, grades)
        order = np.lexsort((-pool, owners))
        pool_offsets = offsets_of(np.bincount(owners, minlength=chosen.size))
        for side in self.sides:
            at, offsets = _repeated(side.offsets, chosen)
            lengths = np.diff(offsets)
            here = side.rows[at] + (starts - self.offsets[chosen]).repeat(lengths)
            rank, whole = places_of(offsets), side.run.matched
            retrieved, policy = whole.retrieved[chosen], side.run.decided
            none, ranks = ("",) * chosen.size, (rank, rank, rank)
            listed = matched_lists(none, offsets, ranks, grades[here], pool[order], pool_offsets)
            missing = whole.missing[chosen]
            matched = replace(listed, retrieved=retrieved, seen=retrieved, missing=missing)
            measured = measure_batches([matched], (self.measure,), policy)
            apply_policy(measured.values, measured.empty, matched, (self.measure,), policy)
            total += side.sign * measured.values[:, 0]
        return total

    def _pool(self, chosen: Ints, grades: Floats) -> tuple[Ints, Floats]:
        """Return the judged grades of queries, with the place of each query among the chosen ones."""
        at, offsets = _repeated(self.other_offsets, chosen)
        places = np.arange(chosen.size)
        counts = np.diff(self.offsets)[chosen]
        owners = np.concatenate([places.repeat(counts), places.repeat(np.diff(offsets))])
        return owners, np.concatenate([grades, self.others[at]])


def _repeated(offsets: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """Return the places of the rows of queries that may occur several times, and their offsets."""
    repeated = offsets_of(np.diff(offsets)[chosen])
    shift = (offsets[chosen] - repeated[:-1]).repeat(np.diff(repeated))
    return np.arange(repeated[-1]) + shift, repeated


def partly_judged(
    measure: Measure, judged: GradesByQuery, runs: Sequence[tuple[float, ListedRun]]
) -> PartlyJudged:
    """Collect the documents of runs down to a measure's cutoff.

    Args:
        measure: the measure.
        judged: query → document → grade.
        runs: the sign of each run, and the run.
    """
    queries = runs[0][1].matched.queries
    docs: list[str] = []
    grade: list[float] = []
    ranks: list[int] = []
    others: list[float] = []
    counts, other_counts = [], []
    rows: list[list[int]] = [[] for _ in runs]
    lengths: list[list[int]] = [[] for _ in runs]
    for query in queries:
        grades, places = judged.get(query, {}), dict[str, int]()
        for side, (_, run) in enumerate(runs):
            listed = run.lists.get(query, [])[: measure.cutoff]
            lengths[side].append(len(listed))
            for rank, doc in enumerate(listed, 1):
                if doc not in places:
                    places[doc] = len(docs)
                    docs.append(doc)
                    grade.append(float(grades.get(doc, np.nan)))
                    ranks.append(rank)
                at = places[doc]
                ranks[at] = min(ranks[at], rank)
                rows[side].append(at)
        left = [float(value) for doc, value in grades.items() if doc not in places]
        others += left
        counts.append(len(places))
        other_counts.append(len(left))
    sides = zip(runs, rows, lengths, strict=True)
    return PartlyJudged(
        measure,
        queries,
        tuple(docs),
        np.arange(len(queries)).repeat(counts),
        offsets_of(np.array(counts, np.int64)),
        np.array(ranks, np.int64),
        np.array(grade, np.float64),
        np.array(others, np.float64),
        offsets_of(np.array(other_counts, np.int64)),
        tuple(
            Side(sign, run, np.array(own, np.int64), offsets_of(np.array(length, np.int64)))
            for (sign, run), own, length in sides
        ),
    )


@dataclass(frozen=True, slots=True)
class SimilarDocuments:
    """Grades of unjudged documents as of judged documents at similar ranks, and of the same query.

    Among the judged documents of all queries at similar ranks of the same runs, a share p(g) has grade g. Of the judged
    documents of the query, n(g) have it, where e(g) would be expected from their ranks. The odds of grade
    g are then p(g)·(n(g) + 5·p̄(g))/(e(g) + 5·p̄(g)), with p̄(g) the share of grade g at all ranks: the more often a query has a
    grade than others, the more likely it is.

    After M. Fröbe, L. Gienapp, M. Potthast and M. Hagen, Bootstrapped nDCG estimation in the presence of unjudged documents,
    ECIR 2023, who draw from the judged documents of the query or of the run.

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
