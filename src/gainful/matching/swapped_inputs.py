"""Whether judgments are probably a run: given in each other's place, or with no judgments at all.

Both are legal, and give numbers. Fractions may be grades, and whole numbers scores, so that only
several signs together tell. The first rows of both are looked at, which costs little beside reading.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gainful.array_types import Floats

FirstRows = Sequence[tuple[Any, Any]]
"""Query and number of the first rows of an input; none where the name of a column tells what they are."""


class Slip(NamedTuple):
    """What is odd about judgments and a run, and what to do about it."""

    odd: str
    remedy: str


_MANY = 10  # different grades, more than people give
_HIGHEST = (
    10  # of probabilities, rates and ratings with fractions, which may be grades in any order
)
_IN_A_TABLE = "Where they are grades, give them as a table with a column grade."
_ORDER = "Check that the judgments come first, and the run second."


def swapped_inputs(
    judgments: FirstRows, run: Callable[[], FirstRows], column: str = "", *, ranked: bool = False
) -> Slip | None:
    """Return what is odd about judgments that look like a run, and what to do; None where nothing is.

    The column is that of the grades, if there are columns: its name is a sign, too. So is a column of
    ranks beside it (`ranked`), since then whole numbers that fall are scores as well.

    >>> rows = [("q", 19.5 - place / 4) for place in range(20)]
    >>> swapped_inputs(rows, lambda: [("q", 1), ("q", 0)]).odd
    'the grades have fractions, and all scores are whole numbers from 0 to 1, as grades are'
    >>> swapped_inputs(rows, lambda: rows).odd.partition(":")[0]
    'the grades have fractions and fall along every list, as the scores of a run do'
    >>> swapped_inputs([("q", 1), ("q", 0)], lambda: rows) is None
    True
    """
    if len(judgments) < _MANY:
        return None
    try:
        grades = _numbers(judgments)
        different = np.unique(grades).size
        if different < _MANY:
            return None
        scores = _numbers(run())
    except (TypeError, ValueError, OverflowError):  # of a query that is not judged: nobody reads it
        return None
    soft = not column and grades.min() >= 0 and grades.max() <= _HIGHEST
    most = 2 * different > grades.size
    # Few grades may have fractions beside whole scores, but not so many; and means over assessors
    # stand again and again, as scores do not.
    if different > 2 * np.unique(scores).size and (most or not soft):
        # Imported here because few judgments come so far.
        from gainful.kernels.swapped_arguments import swapped_arguments

        oddity = swapped_arguments(grades, scores)
        if oddity is not None:
            return Slip(
                f"the grades {oddity}, and all scores are whole numbers from {scores.min():g} to "
                f"{scores.max():g}, as grades are",
                f"{_ORDER} {_silenced(column) or _IN_A_TABLE}",
            )
    fractions = all((each != np.floor(each)).any() for each in (grades, scores))
    if ((fractions and most and not soft) or ranked) and _fall(judgments, grades):
        kind = "have fractions" if fractions else "stand beside ranks"
        return Slip(
            f"the grades {kind} and fall along every list, as the scores of a run do: this "
            "looks like two runs, and no judgments",
            f"{_ORDER} {_silenced(column)}".strip(),
        )
    return None


def _silenced(column: str) -> str:
    return f"Where they are grades, say so: columns grade={column}." if column else ""


def _numbers(rows: FirstRows) -> Floats:
    return np.fromiter((number for _, number in rows), np.float64)


def _fall(rows: FirstRows, numbers: Floats) -> bool:
    """Return whether the numbers of each query, (n,), fall from row to row, in enough rows to tell.

    >>> _fall([("q", None)] * 20, np.full(20, 3.5)), _fall([("q", None)] * 20, -np.arange(20.0))
    (False, True)
    """
    last: dict[Any, float] = {}
    falls = 0
    for (query, _), number in zip(rows, numbers.tolist(), strict=True):
        before = last.get(query, number)
        if number > before:
            return False
        falls += number < before
        last[query] = number
    return falls >= _MANY
