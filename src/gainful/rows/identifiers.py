"""Ids of queries and documents: check them, convert them to text, and suggest why two sets don't match."""

import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from string import ascii_letters
from typing import NoReturn

import numpy as np

from gainful.arguments import HALF, is_truth, is_writable
from gainful.errors import DisjointError, InputError
from gainful.message_texts import shown
from gainful.rows.values_as_numbers import number_of

_EXAMPLES = 3

Sides = Sequence[tuple[Collection[str], Collection[str]]]
"""The ids of judgments and of a run, query by query."""

# How two tools may write the same id differently, with the words for a hint.
_FOLDS: Mapping[str, Callable[[str], str]] = {
    "without surrounding whitespace": str.strip,
    "if compared case-insensitively": str.casefold,
    "without leading zeros": lambda text: text.lstrip("0") or "0",
    "without the prefix before their digits": lambda text: text.lstrip(f" _-:/#.{ascii_letters}"),
    "without the ending .0": lambda text: text.removesuffix(".0"),
}
# A list with quoted items or several integers, which cannot be an id.
_LIST = re.compile(r"""\s*\[\s*(?:(['"]).*\1|-?\d+(?:\s*,\s*-?\d+)+)\s*\]\s*""", re.DOTALL)
ROWS_OR_JSON = (
    "Write a row for each document, or write lists as JSON lines: "
    '{"query": "q1", "retrieved": ["d1", "d2"]}.'
)
"""Advice for lists in a file format that cannot contain them."""
ELSEWHERE = "Check that both come from the same collection."
"""Advice for ids that would not match under any folding."""


def id_text(value: object, *, where: str) -> str:
    """Return an id as a string; integers become decimal, and other types are an error.

    >>> id_text("007", where="run"), id_text(7, where="run")
    ('007', '7')
    """
    if isinstance(value, str):
        if not value:
            raise empty_id(where)
        if value.isascii() or is_writable(value):
            return str(value)
        raise half_an_id(where, value)
    if not is_truth(value):
        try:
            return str(operator.index(value))  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001, S110 - not an integer, or one with thousands of digits
            pass  # reported below
    raise InputError(where, "a string (or an integer) as id", shown(value), id_advice(value))


def is_id(value: object) -> bool:
    """Return whether a value can be an id: text or an integer."""
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)


def is_odd_id(value: object) -> bool:
    """Return whether a value given as an id is missing, or a number that isn't an integer."""
    return value is None or (number_of(value) is not None and not is_id(value))


def empty_id(where: str) -> InputError:
    """Return the error for an empty id."""
    return InputError(where, "an id", "an empty one", "Give it an id, or remove it.")


def id_advice(value: object) -> str:
    """Return advice for a value that isn't an id.

    >>> id_advice(1.0), id_advice(1.5)
    ('Make the id an integer first: int(id).', 'Make the id a string first.')
    >>> id_advice(None)
    'Give the row an id, or remove it.'
    """
    number = number_of(value)
    # pandas marks missing values with NaN, or with types of its own.
    lacking = value is None or type(value).__name__ in ("NAType", "NaTType")
    if lacking or (number is not None and math.isnan(number)):
        return "Give the row an id, or remove it."
    # The text of a whole float ends in .0, and would not match an integer.
    whole = number is not None and number.is_integer()
    return "Make the id an integer first: int(id)." if whole else "Make the id a string first."


def refuse_halves(ids: Iterable[str], *, where: str) -> None:
    """Reject ids that contain a lone surrogate, which no file, frame or screen can represent."""
    listed = list(ids)  # checked as one text first, in a fraction of the time
    if not is_writable("".join(listed)):
        raise half_an_id(where, next(text for text in listed if not is_writable(text)))


def half_an_id(where: str, text: str) -> InputError:
    """Return the error for an id that contains a lone surrogate."""
    return InputError(where, "ids of whole characters", shown(text), HALF)


def in_order(ids: Iterable[str]) -> list[str]:
    """Sort ids by length, then by bytes, so that numbers are in numeric order.

    >>> in_order(["q10", "q2", "q1"])
    ['q1', 'q2', 'q10']
    """
    return sorted(sorted(ids), key=len)  # code points order strings as their UTF-8 bytes do


def examples(ids: Iterable[object]) -> str:
    """Quote a few ids for a message.

    >>> examples(["q1", "q2", "q3", "q4"])
    "'q1', 'q2', 'q3', …"
    """
    quoted = [shown(text) for text in islice(ids, _EXAMPLES + 1)]
    return ", ".join(quoted[:_EXAMPLES] + ["…"] * (len(quoted) > _EXAMPLES))


def overlap_hint(left: Collection[str], right: Collection[str]) -> str:
    """Return a hint on how two disjoint sets of ids would match, or general advice.

    >>> overlap_hint(["q01", "q02"], ["Q01"])
    'They would match if compared case-insensitively.'
    """
    return reading_in_common([(left, right)]) or ELSEWHERE


def reading_in_common(sides: Sides) -> str:
    """Return a hint on how ids would match within their query; empty if no folding helps.

    >>> reading_in_common([(["a"], ["b"]), (["b"], ["a"])]), reading_in_common([(["a"], [" a"])])
    ('', 'They would match without surrounding whitespace.')
    """
    for words, fold in _FOLDS.items():
        for left, right in sides:
            folded = {fold(text) for text in left}
            folded.discard("")
            if any(fold(text) in folded for text in right):
                return f"They would match {words}."
    return ""


def refuse_disjoint_queries(judged: Collection[str], returned: Collection[str]) -> NoReturn:
    """Reject a run that contains none of the judged queries."""
    raise DisjointError(
        "query ids",
        "judgments and run to share some",
        f"none in common: judgments have {examples(in_order(judged))}; "
        f"the run has {examples(in_order(returned))}",
        overlap_hint(judged, returned),
    )


def is_list_as_text(value: object) -> bool:
    """Return whether a cell holds a list written as text.

    >>> is_list_as_text("['d1', 'd2']"), is_list_as_text('["d1"]'), is_list_as_text("[7, 8]")
    (True, True, True)
    >>> is_list_as_text("[7]"), is_list_as_text("d1"), is_list_as_text(["d1"])
    (False, False, False)
    """
    return isinstance(value, str) and _LIST.fullmatch(value) is not None
