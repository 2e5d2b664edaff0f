"""Formulas in printed numbers, with enough digits that a reader who computes them gets the printed value."""

import ast
import math
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from gainful.arithmetic.kernels.operations_on_measures import OPERATIONS
from gainful.evaluation.gains_ranks_and_ideals import DIGITS, Working

_MOST_DIGITS = 9
_HALFWAY = 1e-9  # of the last digit; closer to half of it, a reader may round either way
_SIGNS = str.maketrans({"·": "*", "−": "-", "^": "**"})
_SYMBOLS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"ln": math.log, "exp": math.exp} | OPERATIONS


def written_value(value: float) -> str:
    """Write a value with three decimals: with four if it is halfway, with three digits if it is small.

    >>> written_value(0.8333), written_value(1 / 16), written_value(1 / 7500)
    ('0.833', '0.0625', '0.000133')
    """
    if 0 < abs(value) < 10.0**-DIGITS:
        return f"{value:.{DIGITS}g}"
    written = f"{value:.{DIGITS}f}"
    return written if _rounds_to(value, written) else f"{value:.{DIGITS + 1}f}"


def written_working(working: Working, value: float) -> str:
    """Write the formula of a value, in symbols and in numbers of at least three decimals.

    >>> written_working(Working("sum / R", "{} / {}", (1 / 6, 2)), 1 / 12)  # 0.167 / 2 would be 0.084
    'sum / R = 0.1667 / 2'
    """
    if not working.numbers:
        return ""
    written = written_value(value)
    with_digits = (working.in_numbers(digits) for digits in range(DIGITS, _MOST_DIGITS + 1))
    gives_value = (numbers for numbers in with_digits if _rounds_to(_computed(numbers), written))
    numbers = next(gives_value, working.in_numbers(DIGITS))
    return f"{working.symbols} = {numbers}" if working.symbols else numbers


def _rounds_to(number: float | None, written: str) -> bool:
    """Return whether a number is closer to a written one than half of its last digit; true if either is undefined."""
    if number is None or not math.isfinite(float(written)):
        return True
    unit = 10.0 ** int(Decimal(written).as_tuple().exponent)
    return abs(number - float(written)) < (0.5 - _HALFWAY) * unit


def _computed(numbers: str) -> float | None:
    """Return what a reader computes from printed numbers; None where that is a division by 0."""
    try:
        result: float = _value(ast.parse(numbers.translate(_SIGNS), mode="eval").body)
    except ZeroDivisionError:
        return None
    return result


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=float() | int() as number):
            return number
        case ast.UnaryOp(operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=operation, right=right):
            return _SYMBOLS[type(operation)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=parts):
            return _FUNCTIONS[name](*map(_value, parts))
    raise AssertionError(ast.dump(node))
