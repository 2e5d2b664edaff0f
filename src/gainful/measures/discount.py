"""The discount: what a rank is worth."""

import re
from dataclasses import dataclass

from gainful.errors import MeasureError, did_you_mean, shown
from gainful.measures.number import read_number, write_number

FORMS = {
    "log": "1/log_b(i+1)",
    "jarvelin": "1 for i ≤ b (and i = 1 always), else 1/log_b(i)",
    "reciprocal": "1/i",
    "power": "i^−p, written power(p) with p > 0",
    "none": "1",
}
"""The discounts, the default first, with their definitions at rank i and base b."""

WITH_BASE = frozenset({"log", "jarvelin"})
"""The discounts that have a base."""

DEFAULT_BASE = 2.0

_EXPECTED = "log, jarvelin, reciprocal, power(p) with p > 0, or none"
_CALL = re.compile(r"(?P<form>\w+)\s*(?:\((?P<exponent>[^()]*)\))?")


@dataclass(frozen=True, slots=True)
class Discount:
    """A function of the rank, as a value; build one with `discount`.

    `form` is one of `FORMS`; `exponent` is the p of `power(p)`, None for the others.
    """

    form: str
    exponent: float | None = None

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
        raise MeasureError("discount", _EXPECTED, shown(value))
    found = _CALL.fullmatch(value.strip())
    if found is None or found["form"] not in FORMS:
        name = found["form"] if found else value
        raise MeasureError("discount", _EXPECTED, shown(value), did_you_mean(name, FORMS))
    form, exponent = found["form"], found["exponent"]
    if form != "power":
        if exponent is not None:
            raise MeasureError("discount", f"{form} without an argument", shown(value))
        return Discount(form)
    where, expected = "discount", "power(p) with p > 0"
    if exponent is None:
        raise MeasureError(where, expected, shown(value), "Write the exponent, e.g. power(0.5).")
    number = read_number(exponent, where=where, expected=expected)
    if number <= 0:
        raise MeasureError(where, expected, shown(value))
    return Discount(form, number)


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
    if beside.form not in WITH_BASE and given != DEFAULT_BASE:
        raise MeasureError(
            "base",
            f"no base beside discount={beside}",
            write_number(given),
            "Only the discounts log and jarvelin have a base.",
        )
