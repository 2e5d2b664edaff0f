"""The discount: the weight of a rank.

`FORMS` has one entry per named discount; the notation, the measures, the losses, the explanations
and the help all use it. Tables by rank and functions of the rank are discounts too.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log
from typing import Any, Protocol

from gainful.errors import InputError, MeasureError
from gainful.measures.user_given_names import OwnName, OwnNames
from gainful.measures.written_numbers import read_number, write_number
from gainful.message_texts import did_you_mean, shortened, shown

DEFAULT_BASE = 2.0
_NO_RISE = "A deeper rank must not be worth more than one above it: the ideal and the bounds depend on that."

_ON = "..."  # at the end of a table: its last entry applies to all deeper ranks
_CALL = re.compile(r"(?P<form>\w+)\s*(?:\((?P<exponent>[^()]*)\))?")


class Arithmetic(Protocol):
    """The operations that formulas use besides operators, so that they work for arrays of any library."""

    @property
    def base(self) -> float:
        """The base b of the logarithm."""

    @property
    def exponent(self) -> float:
        """The p of a form with an exponent, else 0."""

    def inverse_log(self, numbers: object) -> Any:
        """Return 1/log_b of numbers above 1."""

    def where(self, condition: object, yes: object, no: object) -> Any:
        """Return `yes` where the condition is true, else `no`; each is an array or a number."""

    def entries(self, table: Sequence[float], deeper: float, rank: object) -> object:
        """Return the entry of each whole rank in a table that starts at rank 1, or `deeper` beyond its end."""

    def checked(self, worth: object, where: str) -> Any:
        """Return the weights from a table or a function; reject invalid ones if they can be inspected."""


Formula = Callable[[Any, Arithmetic], Any]
"""Maps ranks (real numbers from 1) to weights."""


@dataclass(frozen=True, slots=True)
class Form:
    """A named discount.

    Attributes:
        meaning: the definition at rank i, with base b and exponent p.
        formula: the definition for arrays. Losses also evaluate it at fractional ranks and
            differentiate it, so it must be finite and smooth for every rank from 1.
        has_base: whether the base matters.
        has_exponent: whether it takes a number above 0, as in `power(p)`.
    """

    meaning: str
    formula: Formula
    has_base: bool = False
    has_exponent: bool = False


def _jarvelin(rank: Any, arithmetic: Arithmetic) -> object:
    early = rank <= arithmetic.base
    # Only late ranks need a logarithm; that of rank 1 would cause a division by 0.
    late = arithmetic.where(early, arithmetic.base, rank)
    return arithmetic.where(early, 1.0, arithmetic.inverse_log(late))


FORMS: dict[str, Form] = {
    "log": Form(
        "1/log_b(i+1)",
        lambda rank, arithmetic: arithmetic.inverse_log(1 + rank),
        has_base=True,
    ),
    "jarvelin": Form("1 for i ≤ b (and i = 1 always), else 1/log_b(i)", _jarvelin, has_base=True),
    "reciprocal": Form("1/i", lambda rank, _: 1 / rank),
    "power": Form(
        "i^−p, written power(p) with p > 0",
        lambda rank, arithmetic: rank**-arithmetic.exponent,
        has_exponent=True,
    ),
    "none": Form("1", lambda rank, _: rank * 0 + 1),
    "ln": Form(
        "1/ln(i+1), the discount log with base e",
        # 1/ln(x) = 1/log_b(x) / ln(b)
        lambda rank, arithmetic: arithmetic.inverse_log(1 + rank) / log(arithmetic.base),
    ),
    "misprint": Form(
        "1/(log_b(i) + 1), a common misprint of 1/log_b(i+1)",
        # log_b(i) + 1 = log_b(b·i), whose argument is above 1 at rank 1, too.
        lambda rank, arithmetic: arithmetic.inverse_log(arithmetic.base * rank),
        has_base=True,
    ),
}
"""The discounts by name, the default first."""


@dataclass(frozen=True, slots=True)
class Discount:
    """A function of the rank, as a value; build one with `discount`.

    `form` is one of `FORMS`, or `table` or `function`; `exponent` is the p of `power(p)`, None for
    other forms. `table` has the weights of the ranks from 1, and `deeper` is the weight of all ranks
    beyond it. `own_name` is the name from `gainful.measures.define`.
    """

    form: str
    exponent: float | None = None
    table: tuple[float, ...] = ()
    deeper: float = 0.0
    function: Callable[[Any], Any] | None = None
    own_name: OwnName | None = None

    @property
    def formula(self) -> Formula:
        """The weight of each rank, for arrays."""
        if self.function is not None:
            return lambda rank, arithmetic: arithmetic.checked(
                self._asked(rank), f"discount {self}"
            )
        if self.table:
            return lambda rank, arithmetic: arithmetic.checked(
                arithmetic.entries(self.table, self.deeper, rank), f"discount {self}"
            )
        return FORMS[self.form].formula

    def _asked(self, rank: Any) -> Any:
        """Return the function's weights for ranks, as an array of the same shape."""
        function: Any = self.function
        try:
            worth = function(rank + 0)  # its own copy, which it may change
        except Exception as problem:
            # The error comes from the caller's function, so only a note on the call is added.
            problem.add_note(f"raised by discount {self}, called with an array of ranks")
            raise
        if tuple(getattr(worth, "shape", (None,))) != tuple(rank.shape):
            found = str(tuple(worth.shape)) if hasattr(worth, "shape") else shown(worth)
            raise InputError(
                f"discount {self}",
                f"an array of the shape of the ranks, {tuple(rank.shape)}",
                shortened(found),
                "A function of the rank is called once, with all ranks in one array.",
            )
        return worth

    @property
    def meaning(self) -> str:
        """The definition at rank i."""
        if self.function is not None:
            return "a function of the rank i"
        if self.table:
            table = "the table" if self.own_name is None else f"the table {self._written()}"
            return f"entry i of {table}, {write_number(self.deeper)} beyond its end"
        return FORMS[self.form].meaning

    @property
    def has_base(self) -> bool:
        """Whether the base of a logarithm matters."""
        return self.form in FORMS and FORMS[self.form].has_base

    def __str__(self) -> str:
        return self._written() if self.own_name is None else self.own_name.name

    def _written(self) -> str:
        if self.function is not None:
            name = str(getattr(self.function, "__name__", type(self.function).__name__))
            return f"<{name.strip('<>')}>"
        if self.table:
            last = [self.deeper] if self.deeper not in (0.0, self.table[-1]) else []
            listed = [*map(write_number, [*self.table, *last]), *[_ON] * bool(self.deeper)]
            return f"[{', '.join(listed)}]"
        if self.exponent is None:
            return self.form
        return f"{self.form}({write_number(self.exponent)})"


class WeightArray(Protocol):
    """An array of the weights of the ranks from 1."""

    def tolist(self) -> Any:
        """Return the weights as a list."""


GivenDiscount = str | Sequence[Any] | WeightArray | Callable[..., Any] | Discount
"""A discount as people write it: its name, a table by rank, or a function of the ranks."""
DISCOUNTS = OwnNames("discount", Discount, FORMS)
"""The named discounts: built-in and user-defined."""


def discount(value: object) -> Discount:
    """Make a discount from its text or name, a table by rank, or a function of an array of ranks.

    Ranks beyond the end of a table have weight 0; if it ends in `...`, they have that of its last entry.

    >>> str(discount("log")), str(discount("power(0.50)"))
    ('log', 'power(0.5)')
    >>> str(discount([1, 0.5, 0.25])), str(discount("[1, .5, ...]"))
    ('[1, 0.5, 0.25]', '[1, 0.5, ...]')
    """
    if isinstance(value, Discount):
        return value
    if isinstance(value, str):
        return _of_text(value.strip())
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return _of_table(value)
    if callable(getattr(value, "tolist", None)):  # an array
        return _of_table(value.tolist())  # type: ignore[attr-defined]
    if callable(value):
        return Discount("function", function=value)
    raise MeasureError("discount", _expected(), shown(value))


def _of_text(text: str) -> Discount:
    if text.startswith("[") and text.endswith("]"):
        return _of_table([item.strip() for item in text[1:-1].split(",")])
    found = _CALL.fullmatch(text)
    if found is None or found["form"] not in FORMS:
        own = DISCOUNTS.find(text)
        if own is not None:
            return own
        name = found["form"] if found else text
        hint = did_you_mean(name, DISCOUNTS.known())
        raise MeasureError("discount", _expected(), shown(text), hint)
    form, exponent = found["form"], found["exponent"]
    if not FORMS[form].has_exponent:
        if exponent is not None:
            raise MeasureError("discount", f"{form} without an argument", shown(text))
        return Discount(form)
    where, expected = "discount", _written(form)
    if exponent is None:
        raise MeasureError(where, expected, shown(text), f"Write the exponent, e.g. {form}(0.5).")
    number = read_number(exponent, where=where, expected=expected)
    if number <= 0:
        raise MeasureError(where, expected, shown(text))
    return Discount(form, number)


def _of_table(entries: object) -> Discount:
    """Make a discount from the weights of the ranks from 1."""
    where, expected = (
        "discount table",
        "a non-negative number for each rank, none above the one before",
    )
    if not isinstance(entries, Sequence):
        raise MeasureError(where, expected, shown(entries))
    goes_on = bool(entries) and entries[-1] in (_ON, ...)
    given = entries[: len(entries) - goes_on]
    table = tuple(read_number(entry, where=where, expected=expected) for entry in given)
    if not table:
        raise MeasureError(where, expected, "an empty table")
    for rank, (before, entry) in enumerate(pairwise((inf, *table)), 1):
        if not 0 <= entry <= before:
            raise MeasureError(where, expected, f"{write_number(entry)} at rank {rank}", _NO_RISE)
    if not table[0]:
        raise MeasureError(where, "a number above 0 for rank 1", "0")
    deeper = table[-1] if goes_on else 0.0
    while len(table) > 1 and table[-1] == deeper:
        table = table[:-1]  # drop entries equal to `deeper`, so that equal discounts compare equal
    return Discount("table", table=table, deeper=deeper)


def _written(form: str) -> str:
    return f"{form}(p) with p > 0" if FORMS[form].has_exponent else form


def _expected() -> str:
    *others, last = map(_written, FORMS)
    own = "a table by rank such as [1, 0.5, 0.25], or, in Python, a function of an array of ranks"
    return f"{', '.join(others)}, or {last}; {own}"


def forms_with_base() -> str:
    """Return the names of the discounts that have a base, joined for a sentence.

    >>> forms_with_base()
    'log, jarvelin and misprint'
    """
    *others, last = [name for name, form in FORMS.items() if form.has_base]
    return f"{', '.join(others)} and {last}"


def base(value: object) -> float:
    """Read the base of a logarithm: a number above 1, or `e`.

    >>> base("e"), base(10)
    (2.718281828459045, 10.0)
    """
    number = read_number(value, where="base", expected="a number above 1, or e")
    if number <= 1:
        raise MeasureError("base", "a number above 1, or e", shown(value))
    return number


def refuse_idle_base(beside: Discount, given: float) -> None:
    """Reject a base for a discount without one, because it would be silently ignored."""
    if not beside.has_base and given != DEFAULT_BASE:
        raise MeasureError(
            "base",
            f"no base beside discount={beside}",
            write_number(given),
            f"Only the discounts {forms_with_base()} have a base.",
        )
