"""Differences between C and Python that affect output: numbers, sorting and exit codes."""

import math
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

ZERO_BY_ZERO = -float("nan")  # the sign is printed

_LONG = 1 << 63
_WHOLE = re.compile(rb"[ \t-\r]*([+-]?)0*(\d*)")
_LONG_DIGITS = 20
_DECIMAL = re.compile(
    rb"[ \t-\r]*([+-]?)(?:"
    rb"(0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?)"
    rb"|((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
    rb"|(inf|nan))",
    re.IGNORECASE,
)


def whole(text: bytes) -> int:
    """Return the whole number at the start of a text; 0 if there is no number.

    Numbers beyond 64 bits are clipped.

    >>> whole(b"2.9"), whole(b"1e3"), whole(b"x"), whole(b"9" * 30) == 2**63 - 1
    (2, 1, 0, True)
    """
    match = _WHOLE.match(text)
    assert match is not None  # noqa: S101 - what it looks for may be empty
    value = int(b"0" + match[2][:_LONG_DIGITS])
    return max(-value, -_LONG) if match[1] == b"-" else min(value, _LONG - 1)


def decimal(text: bytes) -> float:
    """Return the number at the start of a text; 0 if there is no number.

    >>> decimal(b"1.5x"), decimal(b"-inf"), decimal(b"0x10"), decimal(b"none")
    (1.5, -inf, 16.0, 0.0)
    """
    match = _DECIMAL.match(text)
    if match is None:
        return 0.0
    sign, hexadecimal, digits, name = match.groups()
    if hexadecimal is not None:
        try:
            value = float.fromhex(hexadecimal.decode())
        except OverflowError:
            value = float("inf")
    else:
        value = float(digits if name is None else name)
    return -value if sign == b"-" else value


def truncated(value: float, bits: int) -> int:
    """Return a number without its decimals; the lowest integer if it does not fit.

    >>> truncated(-1.9, 32), truncated(float("nan"), 32)
    (-1, -2147483648)
    """
    beyond = 1 << bits - 1
    return int(value) if abs(value) < beyond else -beyond


def written(value: float) -> str:
    """Return a number with four digits after the point, as `printf` writes it.

    >>> written(0.5), written(ZERO_BY_ZERO), written(float("inf"))
    ('0.5000', '  -nan', '   inf')
    """
    if math.isnan(value):
        return "  -nan" if math.copysign(1.0, value) < 0 else "   nan"
    return f"{value:6.4f}"


def merge_sorted(items: Sequence[Item], compare: Callable[[Item, Item], float]) -> list[Item]:
    """Sort by merging halves, as `qsort` does.

    With a consistent comparison, the result equals `sorted`. With an inconsistent one, such as of
    NaN, it depends on which items are compared.

    >>> merge_sorted([3, 1, 2], lambda one, other: one - other)
    [1, 2, 3]
    """
    if len(items) <= 1:
        return list(items)
    middle = len(items) // 2
    left = merge_sorted(items[:middle], compare)
    right = merge_sorted(items[middle:], compare)
    merged: list[Item] = []
    one = other = 0
    while one < len(left) and other < len(right):
        if compare(left[one], right[other]) <= 0:
            merged.append(left[one])
            one += 1
        else:
            merged.append(right[other])
            other += 1
    return [*merged, *left[one:], *right[other:]]


# Exit codes: bad options, a bad file or parameter, a bad query, no query evaluated.
USAGE, BAD_INPUT, BAD_QUERY, NO_QUERIES = 1, 2, 4, 7


class StoppedError(Exception):
    """An error that stops trec_eval: its message and its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
