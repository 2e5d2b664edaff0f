"""`cg`, `dcg`, `idcg`, `ndcg`, `precision`, `recall`, `ap` and `rr` of grades in rank order."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gainful.arithmetic.number_arrays import as_array, as_numbers
from gainful.array_types import Floats, Ints
from gainful.errors import InputError
from gainful.evaluation.gains_ranks_and_ideals import gains_of
from gainful.evaluation.scores import measure_matched
from gainful.matching.array_matching import match_ranked
from gainful.matching.keyword_options import naming_keywords
from gainful.matching.matched import Matched, offsets_of
from gainful.measures.discount import GivenDiscount
from gainful.measures.gain import Gain, GivenGain
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.measures.written_numbers import write_number

Grades = ArrayLike | Sequence[ArrayLike]
Value = float | Floats


@naming_keywords
def cg(grades: "Grades", *, k: int | None = None, gain: GivenGain = "linear") -> "Value":
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
    return _value(Measure("CG", k=k, gain=gain), grades, None)


@naming_keywords
def dcg(
    grades: "Grades",
    *,
    k: int | None = None,
    gain: GivenGain = "linear",
    discount: GivenDiscount = "log",
    base: float | str = 2,
) -> "Value":
    """Return the discounted cumulated gain, Σ g_i · d_i over the first k ranks.

    Args:
        grades: in rank order: one list, or [batch, list] (lists may differ in length).
        k: cutoff; None for the whole list.
        gain: `linear`, `exp2`, `binary`, a table {grade: gain}, or a function of the grade.
        discount: `log`, `jarvelin`, `reciprocal`, `power(p)`, `none`, `ln` or `misprint`; a table
            by rank, `[1, 0.5, 0.25]`; or a function of an array of ranks.
        base: the base of the logarithm, for log and jarvelin.

    Returns:
        A float for one list, an array (batch,) for several.

    >>> round(dcg([3, 2, 3, 0, 1, 2]), 3)
    6.861
    """
    measure = Measure("DCG", k=k, gain=gain, discount=discount, base=base)
    return _value(measure, grades, None)


@naming_keywords
def idcg(
    grades: "Grades",
    *,
    k: int | None = None,
    judged: "Grades | None" = None,
    gain: GivenGain = "linear",
    discount: GivenDiscount = "log",
    base: float | str = 2,
) -> "Value":
    """Return the ideal discounted cumulated gain, the DCG@k of all known grades in their best order.

    Args:
        grades: in any order: one list, or [batch, list] (lists may differ in length).
        k: cutoff; None for the whole list.
        judged: all known grades, including the list's (except for documents without a
            gain), in any order; None if the list contains them all.
        gain: `linear`, `exp2`, `binary`, a table {grade: gain}, or a function of the grade.
        discount: `log`, `jarvelin`, `reciprocal`, `power(p)`, `none`, `ln` or `misprint`; a table
            by rank, `[1, 0.5, 0.25]`; or a function of an array of ranks.
        base: the base of the logarithm, for log and jarvelin.

    Returns:
        A float for one list, an array (batch,) for several.

    >>> round(idcg([3, 2, 3, 0, 1, 2], k=6), 3)
    7.141
    >>> round(idcg([3, 2, 3, 0, 1, 2], k=6, judged=[3, 2, 3, 0, 1, 2, 3, 2]), 3)
    8.74
    """
    measure = Measure("IDCG", k=k, gain=gain, discount=discount, base=base)
    return _value(measure, grades, judged)


@naming_keywords
def ndcg(
    grades: "Grades",
    *,
    k: int | None = None,
    judged: "Grades | None" = None,
    gain: GivenGain = "linear",
    discount: GivenDiscount = "log",
    base: float | str = 2,
    norm: str = "ideal",
) -> "Value":
    """Return the normalised discounted cumulated gain, DCG@k / IDCG@k; 0 if IDCG@k is 0.

    Args:
        grades: in rank order: one list, or [batch, list] (lists may differ in length).
        k: cutoff; None for the whole list.
        judged: all known grades, including the list's (except for documents without a gain), in
            any order, for the ideal. None if the list contains them all.
        gain: `linear`, `exp2`, `binary`, a table {grade: gain}, or a function of the grade.
        discount: `log`, `jarvelin`, `reciprocal`, `power(p)`, `none`, `ln` or `misprint`; a table
            by rank, `[1, 0.5, 0.25]`; or a function of an array of ranks.
        base: the base of the logarithm, for log and jarvelin.
        norm: `ideal`, or `minmax` to rescale from the worst possible list (0) to the best (1).

    Returns:
        A float for one list, an array (batch,) for several.

    >>> round(ndcg([3, 2, 3, 0, 1, 2], k=6), 3)
    0.961
    >>> round(ndcg([3, 2, 3, 0, 1, 2], k=6, judged=[3, 2, 3, 0, 1, 2, 3, 2]), 3)
    0.785
    """
    measure = Measure("nDCG", k=k, gain=gain, discount=discount, base=base, norm=norm)
    return _value(measure, grades, judged)


@naming_keywords
def precision(grades: "Grades", *, k: int | None = None, rel: float = 1) -> "Value":
    """Return the precision, the number of relevant documents among the first k, divided by k.

    Args:
        grades: in rank order: one list, or [batch, list] (lists may differ in length).
        k: cutoff, even if the list is shorter; None for the length of the list.
        rel: documents with this grade or a higher one are relevant.

    Returns:
        A float for one list, an array (batch,) for several.

    >>> precision([3, 0, 1, 0]), precision([3, 0, 1, 0], k=5), precision([3, 0, 1, 0], rel=2)
    (0.5, 0.4, 0.25)
    """
    return _value(Measure("P", k=k, rel=rel), grades, None)


@naming_keywords
def recall(
    grades: "Grades",
    *,
    k: int | None = None,
    judged: "Grades | None" = None,
    rel: float = 1,
) -> "Value":
    """Return the recall, the share of all relevant documents that are among the first k.

    It is 0 if no document is relevant.

    Args:
        grades: in rank order: one list, or [batch, list] (lists may differ in length).
        k: cutoff; None for the whole list.
        judged: all known grades, including the list's (except for documents that are not
            relevant), in any order. None if the list contains them all.
        rel: documents with this grade or a higher one are relevant.

    Returns:
        A float for one list, an array (batch,) for several.

    >>> recall([1, 0, 1], k=2), recall([1, 0, 1], k=2, judged=[1, 0, 1, 1, 1])
    (0.5, 0.25)
    """
    return _value(Measure("R", k=k, rel=rel), grades, judged)


@naming_keywords
def ap(
    grades: "Grades",
    *,
    k: int | None = None,
    judged: "Grades | None" = None,
    rel: float = 1,
) -> "Value":
    """Return the average precision, (1/R) Σ P@i over the ranks i ≤ k of the relevant documents.

    R is the number of all relevant documents; without any, it is 0.

    Args:
        grades: in rank order: one list, or [batch, list] (lists may differ in length).
        k: cutoff; None for the whole list.
        judged: all known grades, including the list's (except for documents that are not
            relevant), in any order. None if the list contains them all.
        rel: documents with this grade or a higher one are relevant.

    Returns:
        A float for one list, an array (batch,) for several.

    >>> round(ap([1, 0, 1]), 4), round(ap([1, 0, 1], judged=[1, 0, 1, 1]), 4)
    (0.8333, 0.5556)
    """
    return _value(Measure("AP", k=k, rel=rel), grades, judged)


@naming_keywords
def rr(grades: "Grades", *, k: int | None = None, rel: float = 1) -> "Value":
    """Return the reciprocal rank, 1 / the rank of the first relevant document; 0 if none is in the first k.

    Args:
        grades: in rank order: one list, or [batch, list] (lists may differ in length).
        k: cutoff; None for the whole list.
        rel: documents with this grade or a higher one are relevant.

    Returns:
        A float for one list, an array (batch,) for several.

    >>> rr([0, 0, 1, 1, 3]), rr([0, 0, 1, 1, 3], k=2), rr([0, 0, 1, 1, 3], rel=2)
    (0.3333333333333333, 0.0, 0.2)
    """
    return _value(Measure("RR", k=k, rel=rel), grades, None)


def match_grades(grades: Grades, judged: Grades | None, measure: Measure) -> tuple[Matched, bool]:
    """Match lists of grades in rank order; also say whether it is one list."""
    flat, offsets, single = _read(grades, "grades")
    if judged is None:
        return match_ranked(flat, offsets, flat, offsets), single
    pool, pool_offsets, single_pool = _read(judged, "judged")
    if single_pool != single or pool_offsets.size != offsets.size:
        raise InputError("judged", "a list for each list of grades", "another number of lists")
    matched = match_ranked(flat, offsets, pool, pool_offsets)
    _refuse_unknown_grades(matched, measure)
    return matched, single


def _value(measure: Measure, grades: Grades, judged: Grades | None) -> Value:
    matched, single = match_grades(grades, judged, measure)
    if not matched.queries:
        return np.empty(0)
    values = measure_matched([matched], (measure,), Policy(ties="order")).values[:, 0]
    return float(values[0]) if single else values


def _read(grades: Grades, name: str) -> tuple[Floats, Ints, bool]:
    """Return the grades (n,), the offsets (q+1,) of the lists, and whether it is one list."""
    nested = (list, tuple, np.ndarray)
    if isinstance(grades, list | tuple) and any(isinstance(item, nested) for item in grades):
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


def _refuse_unknown_grades(matched: Matched, measure: Measure) -> None:
    """Reject `judged` if it lacks a document of the list, because the value could exceed 1.

    Grades without a gain, or that are not relevant, need not be listed: an unjudged document is often
    written as 0.
    """
    grades = np.unique(np.concatenate((matched.grade, matched.pool_grades)))
    gain, rel = measure.parameters.get("gain"), measure.parameters.get("rel")
    if isinstance(gain, Gain):  # a parameter of one's own may have this name
        counting = gains_of(gain, grades, grades) > 0
    else:
        counting = grades >= rel if isinstance(rel, float) else grades > 0
    needed = {*grades[counting].tolist()}
    for place in range(len(matched.queries)):
        rows = slice(*matched.offsets[place : place + 2])
        pool = slice(*matched.pool_offsets[place : place + 2])
        listed = Counter(matched.grade[rows].tolist())
        known = Counter(matched.pool_grades[pool].tolist())
        for grade in sorted((listed - known).keys() & needed):
            raise InputError(
                "judged",
                "all known grades, including the list's",
                f"grade {write_number(grade)}: {known[grade]} in judged, {listed[grade]} in the list",
            )
