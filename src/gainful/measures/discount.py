"""The discount: what a rank is worth.

`FORMS` has one entry for each. The notation, the measures, the losses, the explanations and the help
come from it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from gainful.errors import MeasureError
from gainful.measures.written_numbers import read_number, write_number
from gainful.message_texts import did_you_mean, shown

DEFAULT_BASE = 2.0

_CALL = re.compile(r"(?P<form>\w+)\s*(?:\((?P<exponent>[^()]*)\))?")


class Arithmetic(Protocol):
    """What a formula may use besides operators, so that it holds for arrays of any library."""

    @property
    def base(self) -> float:
        """The base b of the logarithm."""

    @property
    def exponent(self) -> float:
        """The p of a form that has one, else 0."""

    def inverse_log(self, numbers: Any) -> Any:
        """Return 1/log_b of numbers above 1."""

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        """Return `yes` where the condition holds, else `no`; each an array or a number."""


Formula = Callable[[Any, Arithmetic], Any]
"""Takes ranks, real numbers from 1, and returns what each is worth."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to discount: all that the library knows of it.

    Attributes:
        meaning: the definition at rank i, with base b and exponent p.
        formula: the same, for arrays. Losses read it at fractions of ranks, too, and take its slope,
            so it must be finite and smooth for every rank from 1.
        has_base: whether the base matters.
        has_exponent: whether it is written with a number above 0, as `power(p)`.
    """

    meaning: str
    formula: Formula
    has_base: bool = False
    has_exponent: bool = False


def _jarvelin(rank: Any, arithmetic: Arithmetic) -> Any:
    early = rank <= arithmetic.base
    # Logarithms are taken of late ranks alone: that of rank 1 would be divided by.
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
}
"""The discounts by name, the default first."""


@dataclass(frozen=True, slots=True)
class Discount:
    """A function of the rank, as a value; build one with `discount`.

    `form` is one of `FORMS`; `exponent` is the p of `power(p)`, None for the others.
    """

    form: str
    exponent: float | None = None

    @property
    def formula(self) -> Formula:
        """What each rank is worth, for arrays."""
        return FORMS[self.form].formula

    @property
    def meaning(self) -> str:
        """The definition at rank i."""
        return FORMS[self.form].meaning

    @property
    def has_base(self) -> bool:
        """Whether the base of a logarithm matters."""
        return FORMS[self.form].has_base

    def __str__(self) -> str:
        if self.exponent is None:
            return self.form
        return f"{self.form}({write_number(self.exponent)})"


def discount(value: object) -> Discount:
    """Make a discount from its text.

    >>> str(discount("log")), str(discount("power(0.50)"))
    ('log', 'power(0.5)')
    """
    if isinstance(value, Discount):
        return value
    if not isinstance(value, str):
        raise MeasureError("discount", _expected(), shown(value))
    found = _CALL.fullmatch(value.strip())
    if found is None or found["form"] not in FORMS:
        name = found["form"] if found else value
        raise MeasureError("discount", _expected(), shown(value), did_you_mean(name, FORMS))
    form, exponent = found["form"], found["exponent"]
    if not FORMS[form].has_exponent:
        if exponent is not None:
            raise MeasureError("discount", f"{form} without an argument", shown(value))
        return Discount(form)
    where, expected = "discount", _written(form)
    if exponent is None:
        raise MeasureError(where, expected, shown(value), f"Write the exponent, e.g. {form}(0.5).")
    number = read_number(exponent, where=where, expected=expected)
    if number <= 0:
        raise MeasureError(where, expected, shown(value))
    return Discount(form, number)


def _written(form: str) -> str:
    return f"{form}(p) with p > 0" if FORMS[form].has_exponent else form


def _expected() -> str:
    *others, last = map(_written, FORMS)
    return f"{', '.join(others)}, or {last}"


def forms_with_base() -> str:
    """Return the names of the discounts that have a base, for a sentence.

    >>> forms_with_base()
    'log and jarvelin'
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
    """Refuse a base beside a discount that has none: it would be ignored in silence."""
    if not beside.has_base and given != DEFAULT_BASE:
        raise MeasureError(
            "base",
            f"no base beside discount={beside}",
            write_number(given),
            f"Only the discounts {forms_with_base()} have a base.",
        )
