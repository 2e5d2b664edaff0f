"""Grades as words, such as Exact or Fair: the grade of each word, given by the caller or by a preset."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from gainful.arguments import is_truth
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shortened, shown
from gainful.rows.values_as_numbers import number_of

WORD = "rows.grade-word"
"""The code of errors about words as grades."""
PRESETS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "esci": {"Exact": 3.0, "Substitute": 2.0, "Complement": 1.0, "Irrelevant": 0.0},
        "excellent-fair-bad": {"Excellent": 1.0, "Fair": 0.0, "Bad": -1.0},
    }
)
"""Scales by name: the grade of each word."""
_LETTERS = {"esci": {"E": 3.0, "S": 2.0, "C": 1.0, "I": 0.0}}
"""Other spellings of the words of a preset, as in the data of Amazon's ESCI."""
_EXPECTED = f"{{word: grade}}, 'WORD=GRADE,WORD=GRADE', or one of {', '.join(PRESETS)}"
_EXAMPLES = 8
_LONGEST = 40  # characters of a word in a message


@dataclass(frozen=True, slots=True)
class GradeWords:
    """The grades of words.

    Attributes:
        words: the words as the caller wrote them.
        grades: the grade of each word, in lower case without surrounding spaces.
    """

    words: tuple[str, ...]
    grades: Mapping[str, float]

    def grade(self, text: str) -> float | None:
        """Return the grade of a word, or the number that a text contains; None for other texts.

        >>> words = read_grade_words({"Exact": 3, "Irrelevant": 0})
        >>> words.grade(" exact"), words.grade("2"), words.grade("exakt")
        (3.0, 2.0, None)
        """
        grade = self.grades.get(_plain(text))
        if grade is None:
            grade = _number(text)
        return grade

    def refuse(self, word: str | None, where: str, unknown: Iterable[str]) -> InputError:
        """Return the error for a word without a grade; `unknown` has all words without one."""
        others = [other for other in dict.fromkeys(unknown) if other != word]
        more = f" Other words without a grade: {_listed(others)}." if others else ""
        return InputError(
            where,
            f"a finite number, or one of the words {_listed(self.words)}, as grade",
            "nothing" if word is None else shown(word),
            f"{did_you_mean(word, self.words)}{more}",
            code="rows.grade-word",
            subject=word,
        )


def read_grade_words(value: object) -> GradeWords:
    """Read the grades of words: a dict, a text such as 'Exact=3,Irrelevant=0', or the name of a preset.

    >>> dict(read_grade_words("Good=1, Bad=-1").grades)
    {'good': 1.0, 'bad': -1.0}
    >>> read_grade_words("esci").grade("S")
    2.0
    """
    also: Mapping[str, float] = {}
    if isinstance(value, str):
        preset = value.strip().casefold()
        given: Mapping[Any, Any] = PRESETS.get(preset) or _pairs(value)
        also = _LETTERS.get(preset, {})
    elif isinstance(value, Mapping):
        given = value
    else:
        raise InputError("grade_words", _EXPECTED, shown(value))
    grades: dict[str, float] = {}
    for word, grade in given.items():
        number = None if is_truth(grade) else number_of(grade)
        if isinstance(grade, str):
            number = _number(grade)
        plain = _plain(word) if isinstance(word, str) else ""
        if not plain or number is None or not math.isfinite(number):
            raise InputError("grade_words", "a finite number for each word", f"{word!r}: {grade!r}")
        if grades.setdefault(plain, number) != number:
            expected = "one grade for each word, in upper or lower case"
            raise InputError("grade_words", expected, f"two for {word!r}")
    if not grades:
        raise InputError("grade_words", _EXPECTED, "none")
    return GradeWords(tuple(map(str, given)), grades | {_plain(w): g for w, g in also.items()})


def _pairs(text: str) -> dict[object, object]:
    """Return the words and the grades of a text."""
    pairs = [pair.rpartition("=") for pair in text.split(",")]
    if not all(word.strip() for word, _, _ in pairs):
        raise InputError("grade_words", _EXPECTED, shown(text), did_you_mean(text, PRESETS))
    found: dict[object, object] = {}
    for word, _, grade in pairs:
        if found.setdefault(word.strip(), grade) != grade:
            raise InputError("grade_words", "one grade for each word", f"two for {word.strip()!r}")
    return found


def advice_on_words(words: Iterable[str]) -> str:
    """Return the option to type for judgments whose grades are these words.

    >>> advice_on_words(["Irrelevant", "Exact"])
    "Say which grade each word stands for: --grade-words esci (in Python, grade_words='esci'), which is Exact=3, Substitute=2, Complement=1, Irrelevant=0."
    >>> advice_on_words(["good", "bad"])
    "Say which grade each word stands for: --grade-words 'good=…,bad=…' (in Python, grade_words={'good': …, 'bad': …})."
    """
    # A quote would end the option's text.
    found = [*dict.fromkeys(shortened(word.strip(), _LONGEST).replace("'", "’") for word in words)]
    start = "Say which grade each word stands for: --grade-words"
    plain = {_plain(word) for word in found}
    for name, preset in PRESETS.items():
        if plain <= {*map(_plain, preset)} or plain <= {*map(_plain, _LETTERS.get(name, ()))}:
            meaning = ", ".join(f"{word}={grade:g}" for word, grade in preset.items())
            return f"{start} {name} (in Python, grade_words={name!r}), which is {meaning}."
    some, more = found[:_EXAMPLES], "" if len(found) <= _EXAMPLES else ", and so on"
    typed = ",".join(f"{word}=…" for word in some)
    python = ", ".join(f"{word!r}: …" for word in some)
    return f"{start} '{typed}'{more} (in Python, grade_words={{{python}}})."


def _listed(words: Iterable[str]) -> str:
    each = [*words]
    some = [shortened(word, _LONGEST) for word in each[:_EXAMPLES]]
    return ", ".join(some) + (", …" if len(each) > _EXAMPLES else "")


def _plain(word: str) -> str:
    return word.strip().casefold()


def _number(text: str) -> float | None:
    """Return the finite number that a text contains; None for other texts."""
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return number + 0.0 if math.isfinite(number) else None
