"""From the values of `measures` to the arrays of `kernels`: gains and discounts."""

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError
from gainful.kernels import discounts, gains
from gainful.measures.discount import Discount
from gainful.measures.gain import Gain
from gainful.measures.number import read_number, write_number

_FORMULAS = {"exp2": gains.exp2, "binary": gains.binary}

RISING = frozenset({"linear", *_FORMULAS})
"""The gains that never fall as the grade rises."""


def gains_of(gain: Gain, grades: Floats, known: Floats) -> Floats:
    """Return the gain (n,) of each grade (n,).

    `known` holds the grades that may occur, ascending: a table or a function is asked once
    for each of them.
    """
    if gain.form == "linear":
        return grades  # finite already
    if gain.form in _FORMULAS:
        worth = _FORMULAS[gain.form](grades)
    else:
        asked = np.array([_ask(gain, grade) for grade in known.tolist()], np.float64)
        worth = gains.mapped(grades, known, asked)
    if not np.isfinite(worth).all():
        grade = grades[~np.isfinite(worth)][0]
        raise InputError(
            f"gain {gain}",
            "a finite gain for every grade",
            f"none for grade {write_number(float(grade))}",
            "Scale the grades down, or choose another gain.",
        )
    return worth


def _ask(gain: Gain, grade: float) -> float:
    if gain.function is not None:
        found = gain.function(grade)
        return read_number(found, where=f"gain {gain} of grade {write_number(grade)}")
    table = dict(gain.table)
    if grade not in table and grade != 0:
        raise InputError(
            f"gain {gain}",
            "a gain for every grade that occurs",
            f"none for grade {write_number(grade)}",
            "Add it to the table.",
        )
    return table.get(grade, 0.0)


def discounts_of(discount: Discount, base: float, depth: int) -> Floats:
    """Return the discounts (depth+1,) by rank; entry 0 is unused."""
    return discounts.discount_table(discount.formula, depth, base=base, exponent=discount.exponent)
