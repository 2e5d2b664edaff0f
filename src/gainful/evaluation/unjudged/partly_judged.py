"""`PartlyJudged`: the documents of a run, or of two runs, some without a grade, and their values under any grades."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.evaluation.measuring import apply_policy, measure_batches
from gainful.evaluation.unjudged.difference_bounds import DocsByQuery, GradesByQuery
from gainful.matching.matched import Matched, offsets_of
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy

_MOST_DOCUMENTS = 2_000_000  # measured at a time


@dataclass(frozen=True, slots=True)
class Side:
    """The lists of a run.

    Attributes:
        sign: 1 for the run, −1 for the one that it is compared with.
        rows: (n,) the place of each listed document among all documents, by query and rank.
        offsets: (q+1,) of the rows.
        retrieved: (q,) the whole length of each list.
        missing: (q,) whether the run lacks the query.
        policy: the policy with a definite rule for ties.
    """

    sign: float
    rows: Ints
    offsets: Ints
    retrieved: Ints
    missing: Bools
    policy: Policy


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
            rank = np.arange(1, here.size + 1) - offsets[:-1].repeat(lengths)
            matched = Matched(
                queries=("",) * chosen.size,
                offsets=offsets,
                rank_first=rank,
                rank_last=rank,
                rank=rank,
                grade=grades[here],
                retrieved=side.retrieved[chosen],
                seen=side.retrieved[chosen],
                pool_offsets=pool_offsets,
                pool_grades=pool[order],
                unjudged=np.zeros(chosen.size, np.int64),
                missing=side.missing[chosen],
                lowest_grade=float(pool.min(initial=np.inf)),
            )
            measured = measure_batches([matched], (self.measure,), side.policy)
            values = measured.values.copy()
            apply_policy(values, measured.empty, matched, (self.measure,), side.policy)
            total += side.sign * values[:, 0]
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
    measure: Measure,
    judged: GradesByQuery,
    lists: Sequence[tuple[float, DocsByQuery, Matched, Policy]],
) -> PartlyJudged:
    """Collect the documents of runs down to a measure's cutoff.

    Args:
        measure: the measure.
        judged: query → document → grade.
        lists: for each run, its sign, its documents in rank order by query, the run matched with its
            judgments, and the policy with a definite rule for ties.
    """
    queries = lists[0][2].queries
    docs: list[str] = []
    grade: list[float] = []
    ranks: list[int] = []
    others: list[float] = []
    counts, other_counts = [], []
    rows: list[list[int]] = [[] for _ in lists]
    lengths: list[list[int]] = [[] for _ in lists]
    for query in queries:
        grades, places = judged.get(query, {}), dict[str, int]()
        first = len(docs)
        for side, (_, by_query, _, _) in enumerate(lists):
            listed = by_query.get(query, [])[: measure.cutoff]
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
        counts.append(len(docs) - first)
        left = [float(value) for doc, value in grades.items() if doc not in places]
        others += left
        other_counts.append(len(left))
    offsets = offsets_of(np.array(counts, np.int64))
    sides = tuple(
        Side(
            sign,
            np.array(own, np.int64),
            offsets_of(np.array(length, np.int64)),
            matched.retrieved,
            matched.missing,
            policy,
        )
        for (sign, _, matched, policy), own, length in zip(lists, rows, lengths, strict=True)
    )
    return PartlyJudged(
        measure,
        queries,
        tuple(docs),
        np.arange(len(queries)).repeat(counts),
        offsets,
        np.array(ranks, np.int64),
        np.array(grade, np.float64),
        np.array(others, np.float64),
        offsets_of(np.array(other_counts, np.int64)),
        sides,
    )
