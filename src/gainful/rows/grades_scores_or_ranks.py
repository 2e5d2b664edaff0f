"""`Kind`: judgments, runs by score or by rank, and histories of interactions; and how to read their numbers."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gainful.arguments import is_truth
from gainful.errors import InputError
from gainful.message_texts import shown
from gainful.rows.grade_words import WORD, advice_on_words
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
        return WORD if is_word and not known else "rows.not-finite"

    def no_number(
        self, where: str, value: object, found: str = "", *, finite: bool = True
    ) -> InputError:
        """Return the error for a value that isn't a number, or isn't finite."""
        expected = f"a {'finite number as ' * finite}{self.number}"
        found, advice, code = found or shown(value), self.advice(value), self.code(value)
        code = code if finite or code == WORD else ""
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
