"""`cg`, `dcg` and `ndcg` of grades that stand in rank order."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.scores import measure_matched
from gainful.evaluation.worksheet import gains_of
from gainful.inputs.arrays import as_array, as_numbers
from gainful.matching.label_and_score_matching import match_ranked
from gainful.matching.matched import Matched, offsets_of
from gainful.measures.gain import Gain
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.measures.written_numbers import write_number

Grades = ArrayLike | Sequence[ArrayLike]
Value = float | Floats


def cg(grades: Grades, *, k: int | None = None, gain: object = "linear") -> Value:
    """Return the cumulated gain, Σ g_i over the first k ranks.

    Args:
        grades: in rank order: one list, or [batch, list] (lists may differ in length).
        k: cutoff; None for the whole list.
        gain: `linear`, `exp2`, `binary`, a table {grade: gain}, or a function of the grade.

    Returns:
        A float for one list, an array (batch,) for several.

    >>> cg([3, 2, 3, 0, 1, 2])
    11.0
    """
    return _value(Measure("CG", cutoff=k, gain=gain), grades, None)


def dcg(
    grades: Grades,
    *,
    k: int | None = None,
    gain: object = "linear",
    discount: str = "log",
    base: float | str = 2,
) -> Value:
    """Return the discounted cumulated gain, Σ g_i · d_i over the first k ranks.

    Args:
        grades: in rank order: one list, or [batch, list] (lists may differ in length).
        k: cutoff; None for the whole list.
        gain: `linear`, `exp2`, `binary`, a table {grade: gain}, or a function of the grade.
        discount: `log`, `jarvelin`, `reciprocal`, `power(p)` or `none`.
        base: of the logarithm, for log and jarvelin.

    Returns:
        A float for one list, an array (batch,) for several.

    >>> round(dcg([3, 2, 3, 0, 1, 2]), 3)
    6.861
    """
    measure = Measure("DCG", cutoff=k, gain=gain, discount=discount, base=base)
    return _value(measure, grades, None)


def ndcg(
    grades: Grades,
    *,
    k: int | None = None,
    judged: Grades | None = None,
    gain: object = "linear",
    discount: str = "log",
    base: float | str = 2,
    norm: str = "ideal",
) -> Value:
    """Return the normalised discounted cumulated gain, DCG@k / IDCG@k; 0 where IDCG@k is 0.

    Args:
        grades: in rank order: one list, or [batch, list] (lists may differ in length).
        k: cutoff; None for the whole list.
        judged: all known grades, those of the list included (but for documents without a
            gain), in any order, for the ideal; None if the list holds them all.
        gain: `linear`, `exp2`, `binary`, a table {grade: gain}, or a function of the grade.
        discount: `log`, `jarvelin`, `reciprocal`, `power(p)` or `none`.
        base: of the logarithm, for log and jarvelin.
        norm: `ideal`, or `minmax` to scale between the worst and the best of negative grades.

    Returns:
        A float for one list, an array (batch,) for several.

    >>> round(ndcg([3, 2, 3, 0, 1, 2], k=6), 3)
    0.961
    >>> round(ndcg([3, 2, 3, 0, 1, 2], k=6, judged=[3, 2, 3, 0, 1, 2, 3, 2]), 3)
    0.785
    """
    measure = Measure("nDCG", cutoff=k, gain=gain, discount=discount, base=base, norm=norm)
    return _value(measure, grades, judged)


def match_grades(grades: Grades, judged: Grades | None, gain: Gain) -> tuple[Matched, bool]:
    """Match lists of grades in rank order; also say whether it is one list."""
    flat, offsets, single = _read(grades, "grades")
    if judged is None:
        return match_ranked(flat, offsets, flat, offsets), single
    pool, pool_offsets, single_pool = _read(judged, "judged")
    if single_pool != single or pool_offsets.size != offsets.size:
        raise InputError("judged", "a list for each list of grades", "another number of lists")
    matched = match_ranked(flat, offsets, pool, pool_offsets)
    _refuse_unknown_grades(matched, gain)
    return matched, single


def _value(measure: Measure, grades: Grades, judged: Grades | None) -> Value:
    matched, single = match_grades(grades, judged, measure.parameters["gain"])
    if not matched.queries:
        return np.empty(0)
    values = measure_matched([matched], (measure,), Policy(ties="order")).values[:, 0]
    return float(values[0]) if single else values


def _read(grades: Grades, name: str) -> tuple[Floats, Ints, bool]:
    """Return the grades (n,), the offsets (q+1,) of the lists, and whether it is one list."""
    if isinstance(grades, list | tuple) and any(_is_list(item) for item in grades):
        rows = [
            as_numbers(as_array(row, name), f"{name}[{place}]") for place, row in enumerate(grades)
        ]
        if any(row.ndim != 1 for row in rows):
            raise InputError(name, "a list of grades, or a list of such lists", "another nesting")
        lengths = np.array([row.size for row in rows], np.int64)
        return np.concatenate(rows), offsets_of(lengths), False
    array = as_array(grades, name)  # type: ignore[arg-type]
    if array.ndim not in (1, 2):
        found = f"{array.ndim} dimensions" if array.ndim else type(grades).__name__
        raise InputError(name, "a list of grades, or [batch, list]", found)
    numbers = as_numbers(array, name) if array.size else np.empty(array.shape)
    single = numbers.ndim == 1
    lengths = np.full(1 if single else numbers.shape[0], numbers.shape[-1], np.int64)
    return numbers.ravel(), offsets_of(lengths), single


def _is_list(item: object) -> bool:
    return isinstance(item, list | tuple | np.ndarray)


def _refuse_unknown_grades(matched: Matched, gain: Gain) -> None:
    """Refuse a `judged` that lacks a document of the list: the value could exceed 1.

    Grades without a gain need not be there: an unjudged document is often written as 0.
    """
    known_grades = np.unique(np.concatenate((matched.grade, matched.pool_grades)))
    gains = dict(zip(known_grades, gains_of(gain, known_grades, known_grades), strict=True))
    for place in range(len(matched.queries)):
        rows = slice(matched.offsets[place], matched.offsets[place + 1])
        pool = slice(matched.pool_offsets[place], matched.pool_offsets[place + 1])
        listed, counts = np.unique(matched.grade[rows], return_counts=True)
        known, known_counts = np.unique(matched.pool_grades[pool], return_counts=True)
        available = dict(zip(known.tolist(), known_counts.tolist(), strict=True))
        for grade, count in zip(listed.tolist(), counts.tolist(), strict=True):
            if gains[grade] > 0 and available.get(grade, 0) < count:
                raise InputError(
                    "judged",
                    "all known grades, those of the list included",
                    f"grade {write_number(grade)}: {available.get(grade, 0)} in judged, "
                    f"{count} in the list",
                )
