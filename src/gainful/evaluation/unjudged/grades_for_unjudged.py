"""The possible grades of an unjudged document."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from gainful import arguments
from gainful.array_types import Floats
from gainful.errors import InputError, MeasureError
from gainful.evaluation.gains_ranks_and_ideals import Worksheet
from gainful.measures.gain import Gain
from gainful.measures.written_numbers import read_number
from gainful.message_texts import shown
from gainful.rows.grades_scores_or_ranks import read_grade_words

_ENDS = 2
PossibleGrades = Iterable[float] | str
"""The grades that an unjudged document may have: the two ends of a range, all of them, or the grades of words."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The possible grades, ascending: only these, or all numbers from the first to the last."""

    grades: tuple[float, ...]
    between: bool

    @property
    def lowest(self) -> float:
        """The lowest grade."""
        return self.grades[0]

    @property
    def highest(self) -> float:
        """The highest grade."""
        return self.grades[-1]


def read_scale(grades: object) -> Scale:
    """Read the possible grades: two numbers are a range; more numbers, a set, or the grades of words are all grades.

    >>> read_scale((0, 3)), read_scale([0, 1, 3])
    (Scale(grades=(0.0, 3.0), between=True), Scale(grades=(0.0, 1.0, 3.0), between=False))
    >>> read_scale("excellent-fair-bad").grades
    (-1.0, 0.0, 1.0)
    """
    expected = "two ends such as (0, 3), or all grades such as (0, 1, 2, 3)"
    if isinstance(grades, str | Mapping):
        try:
            grades = {*read_grade_words(grades).grades.values()}
        except InputError as problem:
            raise InputError("grades", f"{expected}, or words", problem.found) from None
    if not isinstance(grades, Iterable):
        raise InputError("grades", expected, shown(grades))
    listed_grades = arguments.listed(grades, "grades", expected)
    try:
        numbers = sorted({read_number(grade, where="grades") for grade in listed_grades})
    except MeasureError as problem:
        raise InputError("grades", expected, problem.found) from None
    if not numbers:
        raise InputError("grades", expected, "none")
    listed = isinstance(grades, set | frozenset) or len(numbers) != _ENDS
    return Scale(tuple(numbers), between=not listed)


def possible_gains(scale: Scale, gain: Gain, sheet: Worksheet) -> Floats:
    """Return the gains of the possible grades, ascending; for a range, of its ends."""
    if scale.between and not gain.rises:
        raise InputError(
            "grades",
            f"all possible grades, for gain {gain}",
            f"the ends {scale.lowest:g} and {scale.highest:g}",
            "Such a gain need not rise with the grade, so list the grades, e.g. {0, 1, 3}.",
        )
    return np.sort([sheet.gain_of(gain, grade) for grade in scale.grades])
