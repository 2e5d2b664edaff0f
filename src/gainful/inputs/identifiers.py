"""Ids of queries and documents: strings, always; integers are accepted and written as such."""

import math
import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import NoReturn

from gainful.arguments import HALF, is_truth, is_writable
from gainful.errors import DisjointError, InputError
from gainful.inputs.values_as_numbers import number_of
from gainful.message_texts import shown

_EXAMPLES = 3

Sides = Sequence[tuple[Collection[str], Collection[str]]]
"""The ids of judgments and of a run, query by query."""

# Ways in which two tools write the same id differently, with the words for a hint.
_FOLDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("without surrounding blanks", str.strip),
    ("in lower case", str.casefold),
    ("without leading zeros", lambda text: text.lstrip("0") or "0"),
    (
        "without what stands before their digits",
        lambda text: text.lstrip(" _-:/#.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ),
    ("without the ending .0", lambda text: text.removesuffix(".0")),
)
ELSEWHERE = "Check that both come from the same collection."
"""What to do about ids that meet under no reading."""


def id_text(value: object, *, where: str) -> str:
    """Return an id as a string; integers are written in decimal, anything else is refused.

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
        except Exception:  # noqa: BLE001, S110 - no integer, one of thousands of digits, or worse
            pass  # said below
    expected = "a string (or an integer) as id"
    raise InputError(where, expected, shown(value), id_advice(value))


def empty_id(where: str) -> InputError:
    """Return the error of an id without a character."""
    return InputError(where, "an id", "an empty one", "Give it an id, or remove it.")


def id_advice(value: object) -> str:
    """Say what to do about a value that is no id.

    >>> id_advice(1.0), id_advice(1.5)
    ('Make the id an integer first: int(id).', 'Make the id a string first.')
    >>> id_advice(None)
    'Give the row an id, or remove it.'
    """
    number = number_of(value)
    # What pandas writes for nothing is NaN, or of a type of its own.
    lacking = value is None or type(value).__name__ in ("NAType", "NaTType")
    if lacking or (number is not None and math.isnan(number)):
        return "Give the row an id, or remove it."
    # The string of a whole float ends in .0, and meets no integer.
    whole = number is not None and number.is_integer()
    return "Make the id an integer first: int(id)." if whole else "Make the id a string first."


def refuse_halves(ids: Iterable[str], *, where: str) -> None:
    """Refuse ids of which one holds a lone surrogate: no file, frame or screen can hold it.

    They are looked at as one text, which takes a fraction of the time.
    """
    listed = list(ids)
    if not is_writable("".join(listed)):
        raise half_an_id(where, next(text for text in listed if not is_writable(text)))


def half_an_id(where: str, text: str) -> InputError:
    """Return the error of an id that holds a lone surrogate."""
    return InputError(where, "ids of whole characters", shown(text), HALF)


def in_order(ids: Iterable[str]) -> list[str]:
    """Sort ids: shorter ones first, those of one length by their bytes; so numbers stand by value.

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
    """Say under which reading two sets of ids that never meet would meet.

    >>> overlap_hint(["q01", "q02"], ["Q01"])
    'They meet when read in lower case.'
    """
    return reading_in_common([(left, right)]) or ELSEWHERE


def reading_in_common(sides: Sides) -> str:
    """Say how ids would meet, each with those of its own query; nothing where none would.

    >>> reading_in_common([(["a"], ["b"]), (["b"], ["a"])]), reading_in_common([(["a"], [" a"])])
    ('', 'They meet when read without surrounding blanks.')
    """
    for words, fold in _FOLDS:
        for left, right in sides:
            folded = {fold(text) for text in left}
            folded.discard("")
            if any(fold(text) in folded for text in right):
                return f"They meet when read {words}."
    return ""


def refuse_disjoint_queries(judged: Collection[str], returned: Collection[str]) -> NoReturn:
    """Refuse a run that has none of the judged queries."""
    raise DisjointError(
        "query ids",
        "judgments and run to share some",
        f"none in common: judgments have {examples(in_order(judged))}; "
        f"the run has {examples(in_order(returned))}",
        overlap_hint(judged, returned),
    )
