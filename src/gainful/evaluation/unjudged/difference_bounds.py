"""Bounds of the difference of two runs, document by document."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.evaluation.unjudged.grades_for_unjudged import Scale, possible_gains
from gainful.evaluation.unjudged.measure_bounds import linear, relevance_ends
from gainful.evaluation.unjudged.ndcg_bounds import PartlyJudgedLists, bounds_of
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
    """Return the depth to which lists must be read for differences; None for whole lists.

    It suffices to know as many unjudged documents as fit in an ideal.
    """
    pool = max(map(len, judged.values()), default=0)
    depths = [None if measure.cutoff is None else 2 * measure.cutoff + pool for measure in measures]
    limited = [depth for depth in depths if depth is not None]
    return max(limited) if limited and len(limited) == len(depths) else None


def difference_of(
    judged: GradesByQuery,
    lists: tuple[DocsByQuery, DocsByQuery],
    sheet: Worksheet,
    measure: Measure,
    scale: Scale,
    unseen: float,
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest difference (q,) of two runs.

    A document at rank i of one run and rank j of the other counts with d_i − d_j, so its grade
    changes both values at once. Separate bounds of the two runs would be too wide.

    Args:
        judged: query → document → grade.
        lists: for both runs, query → documents in rank order, at least as deep as `depth_of`.
        sheet: the sheet of the first run.
        measure: a measure with bounds of differences.
        scale: the grades that an unjudged document may have.
        unseen: the number of further unjudged documents.
    """
    if measure.name not in COMPARED:
        raise InputError("bounds of a difference", f"one of {', '.join(COMPARED)}", f"'{measure}'")
    depth = depth_of([measure], judged)
    ranked = [{query: docs[:depth] for query, docs in documents.items()} for documents in lists]
    gains = _Gains(sheet, measure)
    rows, constants, free = [], [], []
    for query in sheet.matched.queries:
        grades = {doc: float(grade) for doc, grade in judged[query].items()}
        coefficients: dict[str, float] = {}
        for sign, side in zip((1.0, -1.0), ranked, strict=True):
            for rank, doc in enumerate(side.get(query, []), 1):
                weight = gains.weight(rank)
                coefficients[doc] = coefficients.get(doc, 0.0) + sign * weight
        constants.append(
            sum(c * gains.of(grades[doc]) for doc, c in coefficients.items() if doc in grades)
        )
        unknown = [c for doc, c in coefficients.items() if doc not in grades]
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
        """Return the weights of the ranks down to a depth."""
        parameters, cutoff = self.measure.parameters, self.measure.cutoff
        if self.measure.name == "P":
            if cutoff is None:
                raise InputError("bounds of a difference", "P with a cutoff", "P", "Write P@10.")
            return np.full(depth + 1, 1.0 / cutoff)
        if self.measure.name == "CG":
            return np.ones(depth + 1)
        return self.sheet.discounts(parameters["discount"], parameters["base"], depth)

    def weight(self, rank: int) -> float:
        """Return the weight of a rank."""
        if self.measure.cutoff is not None and rank > self.measure.cutoff:
            return 0.0
        if rank >= self.weights.size:  # the second run may be longer
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
        """Return the lowest and the highest gain of an unjudged document."""
        if self.gain is None:
            low, high = relevance_ends(scale, self.measure.parameters["rel"])
            return float(low), float(high)
        possible = possible_gains(scale, self.gain, self.sheet)
        return float(possible[0]), float(possible[-1])
