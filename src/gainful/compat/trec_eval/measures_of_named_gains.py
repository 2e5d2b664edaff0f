"""Measures with gains named by the caller: `-m ndcg.1=1,2=3`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gainful.array_types import Floats, Ints
from gainful.compat.trec_eval.c_numbers_and_sorting import (
    ZERO_BY_ZERO,
    merge_sorted,
    truncated,
    whole,
)
from gainful.compat.trec_eval.files import bytes_of

Pairs = Sequence[tuple[str, float]]

_MOST_LEVELS = 10_000  # beyond this, only grades that occur are levels
_PERSISTENCE = 0.9
_FIRST_TO_SKIP_NAMES = 10  # the version


@dataclass(frozen=True, slots=True)
class Level:
    """A grade, its gain, and its number of judged documents in a query."""

    grade: float
    gain: float
    documents: int


def levels_of(pool: Floats, pairs: Pairs, version: int) -> list[Level]:
    """Return the levels of a query by gain, ascending.

    Like trec_eval, this compares gains as whole numbers: two that differ by less than 1 count as
    equal and keep their order.

    Args:
        pool: (m,) grades of the judged documents.
        pairs: grades and their gains, as written.
        version: the version of trec_eval; before 10, an invalid grade means 0.
    """
    kept = pool[pool >= 0]
    grades, counts = np.unique(kept, return_counts=True)
    documents = dict(zip(grades.tolist(), counts.tolist(), strict=True))
    named = [
        (float(whole(bytes_of(grade))), gain)
        for grade, gain in pairs
        if version < _FIRST_TO_SKIP_NAMES or _is_whole(grade)
    ]
    highest = kept.max(initial=-1.0)
    others = grades.tolist()
    if highest <= _MOST_LEVELS and (grades % 1 == 0).all():
        others = [float(grade) for grade in range(int(highest) + 1)]
    levels = []
    for grade, gain in named:  # if a grade is named twice, the first one gets the documents
        levels.append(Level(grade, gain, documents.pop(grade, 0)))
    names = {grade for grade, _ in named}
    levels += [
        Level(grade, grade, documents.get(grade, 0)) for grade in others if grade not in names
    ]
    return merge_sorted(levels, lambda one, other: truncated(one.gain - other.gain, 32))


def _is_whole(text: str) -> bool:
    digits = text[1:] if text[:1] in ("+", "-") else text
    return digits.isascii() and digits.isdigit()


def gains_in(grades: Floats, levels: Sequence[Level]) -> Floats:
    """Return the gains of documents (n,) by their grades; 0 for a grade without a level."""
    by_grade: dict[float, float] = {}
    for level in levels:
        by_grade.setdefault(level.grade, level.gain)
    return np.array([by_grade.get(grade, 0.0) for grade in grades.tolist()])


def ideal_of(levels: Sequence[Level]) -> Floats:
    """Return the gains of the best order: the highest first, until one is not positive."""
    if not levels or not levels[-1].gain > 0:
        return np.empty(0)
    gains = np.array([level.gain for level in reversed(levels)])
    best = np.repeat(gains, [level.documents for level in reversed(levels)])
    stops = np.flatnonzero(~(best > 0))
    return best[: stops[0]] if stops.size else best


def persistence(pairs: Pairs) -> float:
    """Return the probability that a user continues to the next document: the last `p` pair."""
    return dict(pairs).get("p", _PERSISTENCE)


def weights(p: float, count: int) -> Floats:
    """Return 1, p, p², … (n,), each the previous one times p, rounded as in trec_eval."""
    factors = np.full(count, p)
    factors[:1] = 1.0
    return np.multiply.accumulate(factors)


def measured(name: str, grades: Floats, pool: Floats, pairs: Pairs, version: int) -> float:
    """Return a measure of a list.

    Args:
        name: the name of the measure.
        grades: (n,) of the documents in the order of rank.
        pool: (m,) grades of the judged documents.
        pairs: grades and their gains, as written.
        version: the version of trec_eval.
    """
    levels = levels_of(pool, pairs, version)
    if name == "rbp":
        return _rank_biased(grades, levels, persistence(pairs))
    gains, ideal = gains_in(grades, levels), ideal_of(levels)
    with np.errstate(all="ignore"):  # division by 0 as in C
        match name:
            case "G":
                return _with_cost(gains, ideal)
            case "dcg":
                return _last(_cumulated(gains))
            case "ideal_dcg":
                return _last(_cumulated(ideal))
            case "ndcg":
                best = _last(_cumulated(ideal))
                return _last(_cumulated(gains)) / best if best > 0 else 0.0
            case "ndcg_rel":
                return _at_relevant(gains, ideal)
            case _:
                return _at_changes(gains, ideal)


def _rank_biased(grades: Floats, levels: Sequence[Level], p: float) -> float:
    """Weight gains by p^(rank−1), scaling all gains if one is not between 0 and 1."""
    gains = [level.gain for level in levels]
    low, high = min([0.0, *gains]), max([0.0, *gains])
    if low < 0 or high > 1:
        levels = [replace(level, gain=(level.gain - low) / (high - low)) for level in levels]
    terms = gains_in(grades, levels) * weights(p, grades.size)
    return (1.0 - p) * _last(np.add.accumulate(terms))


def _cumulated(gains: Floats) -> Floats:
    return np.add.accumulate(gains / np.log2(np.arange(gains.size) + 2.0))


def _last(values: Floats) -> float:
    return float(values[-1]) if values.size else 0.0


def _reached(cumulated: Floats, counts: Ints) -> Floats:
    """Return the cumulated gain after each number of documents."""
    return np.concatenate(([0.0], cumulated))[np.minimum(counts, cumulated.size)]


def _at_relevant(gains: Floats, ideal: Floats) -> float:
    """Average nDCG over the ranks of documents with a gain; the last value for missing ones."""
    cumulated, best = _cumulated(gains), _cumulated(ideal)
    relevant = np.flatnonzero(gains > 0)
    at = _reached(cumulated, relevant + 1) / _reached(best, relevant + 1)
    lost = np.float64(ideal.size - relevant.size) * _last(cumulated) / np.float64(_last(best))
    total = _last(np.add.accumulate(at)) + lost
    return float(total / np.float64(ideal.size)) if total > 0 else 0.0


def _at_changes(gains: Floats, ideal: Floats) -> float:
    """Average nDCG over the ranks where the ideal gain changes, and the end of the list.

    The end counts if the list is longer than the ideal by more than one document.
    """
    changes = np.append(np.flatnonzero(np.diff(ideal)) + 1, ideal.size)
    if not ideal.size:
        return ZERO_BY_ZERO
    cumulated, best = _cumulated(gains), _cumulated(ideal)
    at = _reached(cumulated, changes) / _reached(best, changes)
    if gains.size > ideal.size + 1:
        at = np.append(at, _last(cumulated) / _last(best))
    return _last(np.add.accumulate(at)) / at.size


def _with_cost(gains: Floats, ideal: Floats) -> float:
    """Discount each gain by the logarithm of the cost that was not recovered so far."""
    if not ideal.size:
        return 0.0
    cost = np.ones(gains.size)
    shared = min(gains.size, ideal.size)
    cost[:shared] = np.maximum(ideal[:shared], 1.0)
    paid = 2 + np.add.accumulate(cost) - np.add.accumulate(gains)
    terms = np.where(gains == 0, 0.0, gains / np.log2(paid))
    return _last(np.add.accumulate(terms)) / _last(np.add.accumulate(ideal))
