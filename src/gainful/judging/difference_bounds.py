"""The bounds of the difference of two runs, document by document."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.judging.grades_for_unjudged import Scale, possible_gains
from gainful.judging.measure_bounds import linear, relevance_ends
from gainful.judging.ndcg_bounds import PartlyJudgedLists, bounds_of
from gainful.matching.dict_matching import judged_of, queries_of
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure

COMPARED = ("nDCG", "DCG", "CG", "P")
"""The families whose difference has exact bounds."""


GradesByQuery = Mapping[str, Mapping[str, float]]
DocsByQuery = Mapping[str, Sequence[str]]


def judged_by(reader: Reader) -> dict[str, Mapping[str, float]]:
    """Return the judged documents of each query that count."""
    return {
        query: judged_of(docs, query, reader.policy)
        for query, docs in queries_of(reader.judgments.documents, "judgments").items()
    }


def depth_of(measures: Iterable[Measure], judged: GradesByQuery) -> int | None:
    """Return how deep lists must be known for the differences of measures; None for all of them.

    That is deep enough to know as many unjudged documents as an ideal can hold.
    """
    pool = max(map(len, judged.values()), default=0)
    depths = [None if each.cutoff is None else 2 * each.cutoff + pool for each in measures]
    known = [depth for depth in depths if depth is not None]
    return max(known) if known and len(known) == len(depths) else None


def difference_of(
    judged: GradesByQuery,
    lists: tuple[DocsByQuery, DocsByQuery],
    sheet: Worksheet,
    measure: Measure,
    scale: Scale,
    unseen: float,
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest difference (q,) of two runs.

    A document at rank i of one and rank j of the other counts with d_i − d_j, so its grade moves
    both values at once: bounds of the two apart would be too wide.

    Args:
        judged: query → document → grade.
        lists: of the two runs, query → documents in rank order, at least as deep as `depth_of`.
        sheet: of the first run.
        measure: of those that are compared.
        scale: the grades that a document without a judgment may have.
        unseen: how many more documents without a judgment there may be.
    """
    if measure.name not in COMPARED:
        raise InputError("bounds of a difference", f"one of {', '.join(COMPARED)}", f"'{measure}'")
    depth = depth_of([measure], judged)
    ranked = [{query: docs[:depth] for query, docs in each.items()} for each in lists]
    gains = _Gains(sheet, measure)
    rows, constants, free = [], [], []
    for query in sheet.matched.queries:
        known = {doc: float(grade) for doc, grade in judged[query].items()}
        coefficients: dict[str, float] = {}
        for sign, side in zip((1.0, -1.0), ranked, strict=True):
            for rank, doc in enumerate(side.get(query, []), 1):
                weight = gains.weight(rank)
                coefficients[doc] = coefficients.get(doc, 0.0) + sign * weight
        constants.append(
            sum(c * gains.of(known[doc]) for doc, c in coefficients.items() if doc in known)
        )
        unknown = [c for doc, c in coefficients.items() if doc not in known]
        rows.append([c for c in unknown if c != 0])
        free.append(unseen + sum(c == 0 for c in unknown))
    width = max(map(len, rows), default=0)
    padded = np.full((len(rows), width), np.nan)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    lists_of = PartlyJudgedLists(np.array(constants), padded, np.array(free, np.float64))
    if measure.name == "nDCG":
        return bounds_of(lists_of, sheet, measure, scale)
    low, high = gains.ends(scale)
    return linear(lists_of, low, high)


class _Gains:
    """Gains and weights of a measure that is a sum over the ranks."""

    def __init__(self, sheet: Worksheet, measure: Measure) -> None:
        self.sheet, self.measure = sheet, measure
        self.known: dict[float, float] = {}
        self.gain = measure.parameters.get("gain")
        depth = sheet.longest if measure.cutoff is None else min(measure.cutoff, sheet.longest)
        self.weights = self._table(depth)

    def _table(self, depth: int) -> Floats:
        """Return what the ranks down to a depth count, by rank."""
        parameters, cutoff = self.measure.parameters, self.measure.cutoff
        if self.measure.name == "P":
            if cutoff is None:
                raise InputError("bounds of a difference", "P with a cutoff", "P", "Write P@10.")
            return np.full(depth + 1, 1.0 / cutoff)
        if self.measure.name == "CG":
            return np.ones(depth + 1)
        return self.sheet.discounts(parameters["discount"], parameters["base"], depth)

    def weight(self, rank: int) -> float:
        """Return what a rank counts."""
        if self.measure.cutoff is not None and rank > self.measure.cutoff:
            return 0.0
        if rank >= self.weights.size:  # of a second run that is longer
            self.weights = self._table(2 * rank)
        return float(self.weights[rank])

    def of(self, grade: float) -> float:
        """Return the gain of a grade."""
        if grade not in self.known:
            self.known[grade] = (
                float(grade >= self.measure.parameters["rel"])
                if self.gain is None
                else self.sheet.gain_of(self.gain, grade)
            )
        return self.known[grade]

    def ends(self, scale: Scale) -> tuple[float, float]:
        """Return the lowest and the highest gain of a document without a judgment."""
        if self.gain is None:
            low, high = relevance_ends(scale, self.measure.parameters["rel"])
            return float(low), float(high)
        possible = possible_gains(scale, self.gain, self.sheet)
        return float(possible[0]), float(possible[-1])
