"""The kinds of input: judgments, runs by score or by rank, and histories of interactions."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from gainful.arguments import is_truth
from gainful.inputs.values_as_numbers import is_array, number_of
from gainful.message_texts import shortened

UNGRADED = "?"
"""What a pool has in the place of a grade that nobody has given yet."""

_GIVE = "Give the document a grade, or remove the row: without one it is not judged."
_REMOVE = "Give the document a {}, or remove the row."
_COMMA = re.compile(r"\s*[-+]?\d[\d.]*(,\d+)+(\.\d*)?\s*", re.ASCII)
_PERCENT = re.compile(r"\s*[-+]?\d[\d.,]*\s*%\s*", re.ASCII)
# What spreadsheets and databases write for nothing, and for a formula that failed.
_NOTHING = frozenset(
    [
        "#n/a",
        "n/a",
        "#na",
        "na",
        "null",
        "none",
        "nil",
        "-",
        "--",
        "#value!",
        "#ref!",
        "#div/0!",
        "#name?",
        "#num!",
        "#null!",
        "\\n",
    ]
)
_DIGITS = re.compile(
    r"\s*-?\d{1,15}(\.\d{1,15})?\s*", re.ASCII
)  # of a number in the place of which its text stands
_TRUTH = ("true", "false")
_BEGIN_NUMBERS = frozenset("+-.0123456789$")
_NO_NUMBERS = frozenset(["nan", "inf", "infinity"])
_POINT = "Write decimals with a point, as in 2.5, and thousands without a comma."
_CONTENTS = {
    "judgments": "judgments of grades",
    "run": "a run of scores",
    "history": "interactions of users with items",
}
_LEAST = {
    "judgments": "at least one judged document",
    "run": "at least one retrieved document",
    "history": "at least one interaction",
}


def _odd_character(text: str) -> str:
    r"""Say which character keeps a text from being a number; nothing where it is none without, either.

    >>> _odd_character("2\N{NO-BREAK SPACE}"), _odd_character("zwei\N{NO-BREAK SPACE}")
    ('It has the character U+00A0 (no-break space): write 2.', '')
    """
    # Imported here because few inputs have such a text.
    import unicodedata

    odd = next(character for character in text if not character.isascii())
    plain = "".join(
        str(unicodedata.decimal(character, character))
        for character in unicodedata.normalize("NFKC", text).replace("\N{MINUS SIGN}", "-")
        if not character.isspace() and unicodedata.category(character) != "Cf"  # seen as nothing
    )
    if not _DIGITS.fullmatch(plain):
        return ""
    name = unicodedata.name(odd, "no name").lower()
    return f"It has the character U+{ord(odd):04X} ({name}): write {plain}."


def _map_words(word: str) -> str:
    """Show how words become grades; nothing for a number that is written in another way, such as 1e999 or 0x1p3."""
    if word.strip()[:1] in _BEGIN_NUMBERS or word.strip().casefold() in _NO_NUMBERS:
        return ""
    quoted = '"' + shortened(word.strip()).replace('"', "'") + '"'
    return (
        f'Map each word to a number first: frame.replace({{"grade": {{{quoted}: "1"}}}}), where "grade" is '
        'the column. For a file, frame = pandas.read_csv("FILE", dtype=str), and to_csv("NEW.csv", index=False) '
        "writes the result."
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file or table holds.

    Attributes:
        name: how messages call it.
        number: what its numbers are.
        fields: those of a line of a TREC file.
        ascending: whether the lowest number is the best.
        whole: whether its numbers must be whole, from 0, since no more than the name of their
            column tells what they are.
        implied: the number of every row, where rows have none of their own.
        assumed: whether the caller did not say that rows have none: a row that has one, below a first row
            without, is then an error.
        ignored: the column of events, such as clicks and purchases, that are all worth the implied
            number; empty where there is none, or the caller says that rows have no number.
        tied: whether documents of a query may have the same number, which the tie rule settles.
    """

    name: str
    number: str
    fields: tuple[str, ...]
    ascending: bool = False
    whole: bool = False
    implied: float | None = None
    assumed: bool = False
    tied: bool = True
    ignored: str = ""

    @property
    def contents(self) -> str:
        """What it is, in a message."""
        return _CONTENTS[self.name]

    @property
    def least(self) -> str:
        """What it must have, in a message."""
        return _LEAST[self.name]

    def advice(self, value: object) -> str:
        """Say what to do about a number that is missing, a text, a truth value or an array; else nothing.

        >>> JUDGMENTS.advice("3")
        'Write the grade as a number: 3 without quotes in JSON, float(row["grade"]) in Python.'
        >>> RUN.advice("2,5")
        'Write decimals with a point, as in 2.5, and thousands without a comma.'
        >>> JUDGMENTS.advice(True), RUN.advice(True)
        ('Write 1 for true, and 0 for false.', 'Write the score as a number.')
        """
        truth = isinstance(value, str) or is_truth(value)
        truth = truth and str(value).casefold() in _TRUTH
        if truth:
            judged = self.number == "grade"
            return (
                "Write 1 for true, and 0 for false."
                if judged
                else f"Write the {self.number} as a number."
            )
        if is_array(value):
            return "Give the number in it, value.item(). For a whole array, values.tolist() makes numbers."
        if isinstance(value, str) and _COMMA.fullmatch(value):
            return _POINT
        if isinstance(value, str) and _PERCENT.fullmatch(value):
            plain = value.replace("%", "").strip()
            return f"Write percentages without the sign in every row, {plain} for {value.strip()}."
        if isinstance(value, str) and value.strip().casefold() in _NOTHING:
            return _GIVE if self.number == "grade" else _REMOVE.format(self.number)
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            return (
                f"Write the {self.number} as a number: {value.strip()} without quotes in JSON, "
                f'float(row["{self.number}"]) in Python.'
            )
        mapped = ""
        if isinstance(value, str) and self.number == "grade" and any(map(str.isalpha, value)):
            mapped = _map_words(value)
        if isinstance(value, str) and not value.isascii():
            return _odd_character(value) or mapped
        lacking = value is None or (isinstance(value, str) and value in ("", UNGRADED))
        number = number_of(value)
        lacking = lacking or (number is not None and math.isnan(number))
        return (_GIVE if lacking and self.number == "grade" else "") or ("" if lacking else mapped)

    def number_of_truth(self, value: object) -> float | None:
        """Return a truth value as the grade that it is, 1 or 0; None of anything else, and of a run.

        >>> JUDGMENTS.number_of_truth(True), JUDGMENTS.number_of_truth(1), RUN.number_of_truth(True)
        (1.0, None, None)
        """
        return float(bool(value)) if self.name == JUDGMENTS.name and is_truth(value) else None

    @property
    def places(self) -> tuple[int, int, int]:
        """Where query, doc and number stand in a line of a TREC file, from 0."""
        return self.fields.index("query"), self.fields.index("doc"), self.fields.index(self.number)

    def turned(self, number: float) -> float:
        """Return a number with the sign by which the highest is the best; or back, as it was.

        >>> RANKS.turned(3.0), RUN.turned(3.0)
        (-3.0, 3.0)
        """
        return -number if self.ascending else number


JUDGMENTS = Kind("judgments", "grade", ("query", "iteration", "doc", "grade"))
# Judgments whose rows have no grade, such as clicks and purchases: each has grade 1.
UNGRADED_ROWS = replace(JUDGMENTS, implied=1.0, assumed=True)
RUN = Kind("run", "score", ("query", "Q0", "doc", "rank", "score", "tag"))
# A run whose rows have ranks: what reads them turns their signs, and they are scores.
RANKS = Kind("run", "rank", RUN.fields, ascending=True, tied=False)
FOUND_RANKS = replace(RANKS, whole=True)
# Distances, which a caller names as ranks: the lowest is the best, and two may be equal, as scores may.
DISTANCES = replace(RANKS, tied=True)
# What users did before: rows of a user (query), an item (doc) and how often; without it, once each.
HISTORY = Kind("history", "count", ("query", "iteration", "doc", "count"))
UNCOUNTED_ROWS = replace(HISTORY, implied=1.0, assumed=True)


class RunInOrder(dict[str, Mapping[str, float]]):
    """A run {query: {doc: score}} whose documents with equal scores are in the order that was shown.

    Such are the responses of search services: under the default policy, this order is kept.
    """


def mistaken(found: Kind, given: Kind) -> str:
    """Say what a file looks like, and as what it was given; true of every call that takes files.

    >>> mistaken(RUN, given=JUDGMENTS)
    'This looks like a run, given as judgments: give each file as what it is.'
    """
    one, other = ("a run" if kind.name == RUN.name else kind.name for kind in (found, given))
    return f"This looks like {one}, given as {other}: give each file as what it is."
