"""`Kind`: judgments, runs by score or by rank, and histories of interactions; how to read their numbers.

`GradeWords` are the grades of words, such as Exact or Fair, given by the caller or by a preset.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from gainful.arguments import is_truth
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shortened, shown
from gainful.rows.decimal_parsing import number_in_text
from gainful.rows.values_as_numbers import INEXACT, is_array, is_held, number_of, written_integer

UNGRADED = "?"
"""The placeholder in a pool for a grade that has not been given yet."""

_GIVE = "Give the document a grade, or remove the row: without one it is not judged."
_REMOVE = "Give the document a {}, or remove the row."
_COMMA = re.compile(r"\s*[-+]?\d[\d.]*(,\d+)+(\.\d*)?\s*", re.ASCII)
_PERCENT = re.compile(r"\s*[-+]?\d[\d.,]*\s*%\s*", re.ASCII)
# How spreadsheets and databases write missing values and failed formulas.
_NOTHING = frozenset(
    [
        "#n/a", "n/a", "#na", "na", "null", "none", "nil", "-", "--", "\\n",
        "#value!", "#ref!", "#div/0!", "#name?", "#num!", "#null!",
    ]
)  # fmt: skip
_DIGITS = re.compile(r"\s*-?\d{1,15}(\.\d{1,15})?\s*", re.ASCII)  # a number written as text
_TRUTH = ("true", "false")
_BEGIN_NUMBERS = frozenset("+-.0123456789$")
_NO_NUMBERS = frozenset(["nan", "inf", "infinity"])
_SMALL = 2**53  # a float64 represents every smaller integer exactly


def _odd_character(text: str) -> str:
    r"""Name the character that keeps a text from being a number; empty if removing it wouldn't help.

    >>> _odd_character("2\N{NO-BREAK SPACE}"), _odd_character("zwei\N{NO-BREAK SPACE}")
    ('It contains the character U+00A0 (no-break space): write 2.', '')
    """
    # Imported here because it is rarely needed.
    import unicodedata

    odd = next(character for character in text if not character.isascii())
    plain = "".join(
        str(unicodedata.decimal(character, character))
        for character in unicodedata.normalize("NFKC", text).replace("\N{MINUS SIGN}", "-")
        if not character.isspace() and unicodedata.category(character) != "Cf"  # invisible
    )
    if not _DIGITS.fullmatch(plain):
        return ""
    name = unicodedata.name(odd, "no name").lower()
    return f"It contains the character U+{ord(odd):04X} ({name}): write {plain}."


def _is_word(text: str) -> bool:
    """Return whether a text is a word, rather than an unusual number such as 1e999 or 0x1p3."""
    unusual = text[:1] in _BEGIN_NUMBERS or text.casefold() in _NO_NUMBERS
    return not unusual and any(map(str.isalpha, text))


@dataclass(frozen=True, slots=True)
class Kind:
    """The contents of a file or table.

    Attributes:
        name: the name in messages.
        number: the role of its numbers, such as grade or score.
        fields: the fields of a line in a TREC file.
        contents: the contents, as named in messages.
        least: the minimum contents, as named in messages.
        ascending: whether the lowest number is the best.
        whole: whether its numbers must be integers from 0, because only the name of their column
            suggests that they are ranks.
        implied: the number of every row, if rows have no number of their own.
        assumed: whether the missing number was inferred rather than stated by the caller. A later row
            with a number is then an error.
        ignored: the column of events, such as clicks and purchases, that all get the implied number;
            empty without such a column, or if the caller states that rows have no number.
        tied: whether documents of a query may have equal numbers, which the tie rule then orders.
    """

    name: str
    number: str
    fields: tuple[str, ...]
    contents: str
    least: str
    ascending: bool = False
    whole: bool = False
    implied: float | None = None
    assumed: bool = False
    tied: bool = True
    ignored: str = ""

    def advice(self, value: object) -> str:
        """Return advice for a number that is missing, text, a boolean or an array; else empty.

        >>> JUDGMENTS.advice("3")
        'Write the grade as a number: 3 without quotes in JSON, float(row["grade"]) in Python.'
        >>> RUN.advice("2,5")
        'Write decimals with a point, as in 2.5, and thousands without a comma.'
        >>> JUDGMENTS.advice(True), RUN.advice(True)
        ('Write 1 for true, and 0 for false.', 'Write the score as a number.')
        """
        number, graded = self.number, self.number == JUDGMENTS.number
        if is_truth(value) or (isinstance(value, str) and value.casefold() in _TRUTH):
            truth = "Write 1 for true, and 0 for false."
            return truth if graded else f"Write the {number} as a number."
        if is_array(value):
            return "Pass the number in it, value.item(). For a whole array, values.tolist() makes numbers."
        if isinstance(value, str):
            text = value.strip()
            if _COMMA.fullmatch(value):
                return "Write decimals with a point, as in 2.5, and thousands without a comma."
            if _PERCENT.fullmatch(value):
                plain = text.rstrip("%").strip()
                return f"Write percentages without the sign in every row, {plain} for {text}."
            if text.casefold() in _NOTHING:
                return _GIVE if graded else _REMOVE.format(number)
            if _DIGITS.fullmatch(value):
                return f'Write the {number} as a number: {text} without quotes in JSON, float(row["{number}"]) in Python.'
            if value not in ("", UNGRADED):
                odd = "" if value.isascii() else _odd_character(value)
                return odd or (advice_on_words([text]) if graded and _is_word(text) else "")
        elif value is not None and not math.isnan(number_of(value) or 0.0):
            return ""
        return _GIVE if graded else ""

    def code(self, value: object) -> str:
        """Return the code of the error for a value that isn't a number.

        >>> JUDGMENTS.code("Exact"), JUDGMENTS.code("1,5")
        ('rows.grade-word', 'rows.not-finite')
        """
        text = value.strip() if isinstance(value, str) else ""
        is_word = self.number == JUDGMENTS.number and _is_word(text)
        known = text.casefold() in (*_TRUTH, *_NOTHING)
        return "rows.grade-word" if is_word and not known else "rows.not-finite"

    def no_number(
        self, where: str, value: object, found: str = "", *, finite: bool = True
    ) -> InputError:
        """Return the error for a value that isn't a number, or isn't finite."""
        expected = f"a {'finite number as the ' * finite}{self.number}"
        found, advice, code = found or shown(value), self.advice(value), self.code(value)
        code = code if finite or code == "rows.grade-word" else ""
        return InputError(where, expected, found, advice, code=code, subject=value)

    def inexact(self, where: str, found: str) -> InputError:
        """Return the error for an integer that would be rounded."""
        return InputError(where, f"a {self.number} that a float64 holds exactly", found, INEXACT)

    @property
    def places(self) -> tuple[int, int, int]:
        """The positions of query, doc and number in a line of a TREC file, from 0."""
        return self.fields.index("query"), self.fields.index("doc"), self.fields.index(self.number)

    def turned(self, number: float) -> float:
        """Negate a number of an ascending kind, so that the highest is the best; also undoes this.

        >>> RANKS.turned(3.0), RUN.turned(3.0)
        (-3.0, 3.0)
        """
        return -number if self.ascending else number


JUDGMENTS = Kind(
    "judgments",
    "grade",
    ("query", "iteration", "doc", "grade"),
    contents="judgments of grades",
    least="at least one judged document",
)
# Judgments whose rows have no grade, such as clicks and purchases: each has grade 1.
UNGRADED_ROWS = replace(JUDGMENTS, implied=1.0, assumed=True)
RUN = Kind(
    "run",
    "score",
    ("query", "Q0", "doc", "rank", "score", "tag"),
    contents="a run of scores",
    least="at least one retrieved document",
)
# A run whose rows have ranks; readers negate them to get scores.
RANKS = replace(RUN, number="rank", ascending=True, tied=False)
FOUND_RANKS = replace(RANKS, whole=True)
# Distances, which callers name as ranks: the lowest is the best, and distances may tie.
DISTANCES = replace(RANKS, tied=True)
# Past interactions: rows of a user (query), an item (doc) and a count, or 1 without a count.
HISTORY = Kind(
    "history",
    "count",
    ("query", "iteration", "doc", "count"),
    contents="interactions of users with items",
    least="at least one interaction",
)
UNCOUNTED_ROWS = replace(HISTORY, implied=1.0, assumed=True)


def number_in(value: Any, kind: Kind, where: str, *, finite: bool = False) -> float:
    """Return a grade or score; raise if it isn't a number, isn't exact in a float64, or must be finite.

    >>> number_in(True, JUDGMENTS, "judgments"), number_in(3, RUN, "run")
    (1.0, 3.0)
    """
    if type(value) is float and (not finite or math.isfinite(value)):  # the usual case
        return value
    if type(value) is int and -_SMALL < value < _SMALL:
        return float(value)
    truth = kind.name == JUDGMENTS.name and is_truth(value)
    number = float(value) if truth else number_of(value)
    if number is None or (finite and not math.isfinite(number)):
        raise kind.no_number(where, value, finite=finite)
    if not is_held(value) and (math.isfinite(number) or isinstance(value, int)):
        raise kind.inexact(where, written_integer(int(value)))
    return number


class RunInOrder(dict[str, Mapping[str, float]]):
    """A run {query: {doc: score}} whose documents with equal scores are in the order shown to users.

    Responses of search services are such runs; the default policy keeps their order.
    """


def mistaken(found: Kind, given: Kind) -> str:
    """Return a hint that one kind of file was passed as another; valid for every call with files.

    >>> mistaken(RUN, given=JUDGMENTS)
    'This looks like a run, but it was passed as judgments. Check the order of the arguments.'
    """
    one, other = ("a run" if kind.name == RUN.name else kind.name for kind in (found, given))
    it = "they were" if found.name == JUDGMENTS.name else "it was"
    return f"This looks like {one}, but {it} passed as {other}. Check the order of the arguments."


def other_kind(count: int, kind: Kind) -> str:
    """Return a hint if the number of fields in a line is that of the other kind; else empty."""
    others = (other for other in (JUDGMENTS, RUN) if other.name != kind.name)
    return next((mistaken(other, given=kind) for other in others if count == len(other.fields)), "")


# --- words as grades

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
_LONGEST_WORD = 40  # characters of a word in a message


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
        number = number_in_text(text) if grade is None else grade
        return None if number is None or not math.isfinite(number) else number + 0.0

    def refuse(self, word: str | None, where: str, unknown: Iterable[str]) -> InputError:
        """Return the error for a word without a grade; `unknown` has all words without one."""
        others = [other for other in dict.fromkeys(unknown) if other != word]
        more = f" Other words without a grade: {_listed(others)}." if others else ""
        return InputError(
            where,
            f"a finite number, or one of the words {_listed(self.words)}, as the grade",
            "nothing" if word is None else shown(word),
            f"{did_you_mean(word, self.words)}{more}",
            code="rows.grade-word",
            subject=word,
        )


def read_grade_words(value: object) -> GradeWords:
    """Read the grades of words: a dict, a string such as 'Exact=3,Irrelevant=0', or the name of a preset.

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
            number = number_in_text(grade)
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
    found = [
        *dict.fromkeys(shortened(word.strip(), _LONGEST_WORD).replace("'", "’") for word in words)
    ]
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
    some = [shortened(word, _LONGEST_WORD) for word in each[:_EXAMPLES]]
    return ", ".join(some) + (", …" if len(each) > _EXAMPLES else "")


def _plain(word: str) -> str:
    return word.strip().casefold()
