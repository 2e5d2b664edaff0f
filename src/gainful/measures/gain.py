"""The gain: the worth of a document with a given grade.

`FORMS` has one entry per named gain; the notation, the measures, the losses, the explanations and the
help all use it. Tables by grade and functions of the grade are gains too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gainful.errors import InputError, MeasureError
from gainful.measures.user_given_names import OwnName, OwnNames
from gainful.measures.written_numbers import read_number, write_number
from gainful.message_texts import did_you_mean, shortened, shown


class Arithmetic(Protocol):
    """The operations that formulas use besides operators, so that they work for arrays of any library."""

    def exp2m1(self, grades: Any) -> Any:
        """Return 2^g − 1."""

    def numbers(self, truths: Any) -> Any:
        """Return 1 where a condition is true, else 0."""


@dataclass(frozen=True, slots=True)
class Form:
    """A named gain.

    Attributes:
        meaning: the definition for grade g.
        formula: the definition for arrays of any finite grades. Losses evaluate it on tensors too.
        rises: whether it never falls as the grade rises.
    """

    meaning: str
    formula: Callable[[Any, Arithmetic], Any]
    rises: bool = True


FORMS: dict[str, Form] = {
    "linear": Form("g, the grade itself", lambda grade, _: grade),
    "exp2": Form("2^g − 1", lambda grade, arithmetic: arithmetic.exp2m1(grade)),
    "binary": Form(
        "1 if the grade is above 0, else 0", lambda grade, arithmetic: arithmetic.numbers(grade > 0)
    ),
}
"""The gains by name, the default first."""

_ELSE = "else"


def _expected() -> str:
    return f"{', '.join(FORMS)}, a table {{grade: gain}} or, in Python, a function of the grade"


@dataclass(frozen=True, slots=True)
class Gain:
    """A function of the grade, as a value.

    `form` is one of `FORMS`, or `table` or `function`. A table lists the gain of each
    grade; grade 0 has gain 0 unless listed. Any other grade in the data raises an error, or
    is its own gain if the table ends in `else: linear` (`own`).
    `own_name` is the name from `gainful.measures.define`. Build one with `gain`.
    """

    form: str
    table: tuple[tuple[float, float], ...] = ()
    function: Callable[[float], float] | None = None
    own: bool = False
    own_name: OwnName | None = None

    @property
    def rises(self) -> bool:
        """Whether it is a named gain that never falls as the grade rises."""
        return self.form in FORMS and FORMS[self.form].rises

    def __str__(self) -> str:
        if self.own_name is not None:
            return self.own_name.name
        if self.function is not None:
            name = str(getattr(self.function, "__name__", type(self.function).__name__))
            return f"<{name.strip('<>')}>"
        if self.form == "table":
            pairs = [f"{write_number(grade)}: {write_number(gain)}" for grade, gain in self.table]
            pairs += [f"{_ELSE}: linear"] if self.own else []
            return "{" + ", ".join(pairs) + "}"
        return self.form


GivenGain = str | Mapping[Any, Any] | Callable[..., Any] | Gain
"""A gain as people write it: its name, a table, the text of a table, or a function of the grades."""
_LINEAR = Gain("linear")

GAINS = OwnNames("gain", Gain, FORMS)
"""The named gains: built-in and user-defined."""


def gain(value: object) -> Gain:
    """Make a gain from its name, a table, the text of a table, or a function.

    >>> str(gain("exp2")), str(gain({2: 3, 1: 1.5})), str(gain("{1:1, 2:10}"))
    ('exp2', '{1: 1.5, 2: 3}', '{1: 1, 2: 10}')
    >>> str(gain("{1: 1, 2: 3, else: linear}"))  # grade 1 is its own gain, as all others are
    '{2: 3, else: linear}'
    """
    if isinstance(value, Gain):
        return value
    if isinstance(value, Mapping):
        return _table(value.items())
    if callable(value):
        return Gain("function", function=value)
    if not isinstance(value, str):
        raise MeasureError("gain", _expected(), shown(value), _as_table(value))
    text = value.strip()
    if text.startswith("{") and text.endswith("}"):
        return _table(_read_pairs(text))
    if text in FORMS:
        return Gain(text)
    own = GAINS.find(text)
    if own is None:
        raise MeasureError("gain", _expected(), shown(value), did_you_mean(text, GAINS.known()))
    return own


def _as_table(value: object) -> str:
    """Return the table for a list of gains that is indexed by grade."""
    if not isinstance(value, list | tuple) or not value:
        return ""
    return f"Write a table that maps grades to gains: {shown(dict(enumerate(value)))}."


def _read_pairs(text: str) -> list[tuple[str, str]]:
    pairs = []
    for item in text[1:-1].split(","):
        grade, colon, value = item.partition(":")
        if not colon:
            raise MeasureError("gain", "a table such as {1: 1, 2: 3}", shown(text))
        pairs.append((grade, value))
    return pairs


def _table(pairs: object) -> Gain:
    table: dict[float, float] = {}
    own = False
    for grade, value in pairs:  # type: ignore[attr-defined]
        if isinstance(grade, str) and grade.strip() == _ELSE:
            if own or str(value).strip() != "linear":
                raise MeasureError("gain table", f"{_ELSE}: linear, once", shown(value))
            own = True
            continue
        key = read_number(grade, where="gain table", expected="a finite number as the grade")
        if key in table:
            raise MeasureError("gain table", "each grade once", f"grade {write_number(key)} twice")
        table[key] = read_number(value, where="gain table", expected="a finite number as the gain")
    if own:
        table = {key: worth for key, worth in table.items() if key != worth}
        return Gain("table", table=tuple(sorted(table.items())), own=True) if table else _LINEAR
    if not table:
        raise MeasureError("gain", "a table with at least one grade", "an empty table")
    return Gain("table", table=tuple(sorted(table.items())))


def gains_by_function(gain: Gain, grades: Any) -> object:
    """Return the gains from a gain's function for an array of grades, in the same shape."""
    function: Any = gain.function
    shape = tuple(grades.shape)
    try:
        worth = function(grades + 0)  # its own copy, which it may change
    except (TypeError, ValueError, RuntimeError) as problem:
        worth, found = None, f"an error: {problem}"
    else:
        found = str(tuple(worth.shape)) if hasattr(worth, "shape") else type(worth).__name__
    if worth is None or tuple(getattr(worth, "shape", (None,))) != shape:
        raise InputError(
            f"gain {gain}",
            f"an array of gains of the shape of the grades, {shape}",
            shortened(found.splitlines()[0].rstrip(".")),
            "A function of the grade is called once, with all grades in one array.",
        )
    return worth
