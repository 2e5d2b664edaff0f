"""Which grade an answer of a model gives: read strictly, and never guessed.

An answer about one document is one of these: the number of a grade and nothing else; JSON with one key
`grade`; or a text whose last line is `grade: 2`. Before that anything may stand but a line with another grade.
An answer about several has a line `1: 2` for each, the number of the document and its grade, or JSON,
`{"1": 2}` or `[{"document": 1, "grade": 2}]`. What a model thinks aloud between <think> and </think>, or before
</think> alone, does not count, nor do the marks of Markdown around a line.
"""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from gainful.assessors.prompts import Scale, written_grade
from gainful.message_texts import counted

_NUMBER = r"[-+]?[0-9]+(?:\.[0-9]+)?"
_BARE = re.compile(_NUMBER)
_LINE = re.compile(rf"(?:final |the )?grade\s*[:=]\s*({_NUMBER})\.?", re.IGNORECASE)
_NUMBERED = re.compile(
    rf"(?:document\s+)?\[?([0-9]{{1,9}})\]?\s*[:=]\s*(?:grade\s*[:=]?\s*)?({_NUMBER})\.?", re.I
)
_THINK, _THOUGHT = "<think>", "</think>"
_FENCE = re.compile(r"\A```[a-z]*\n(.*?)\n?```\Z", re.DOTALL | re.IGNORECASE)
_MARKS = " \t_`#>"
_LONGEST = 1_000_000  # characters of JSON that are looked into
_EMPTY = "an empty answer"
_NONE = "no grade at its end"


class Reading(NamedTuple):
    """What an answer says of a document: a grade, or why none can be read."""

    grade: float | None
    why: str = ""


def read_answer(answer: str, scale: Scale) -> Reading:
    r"""Read the grade of one document.

    >>> from gainful.assessors.prompts import DEFAULT_SCALE
    >>> for answer in ("2", '{"grade": 2}', "It helps.\ngrade: 2", "grade: 7", "2 or 3"):
    ...     print(tuple(read_answer(answer, DEFAULT_SCALE)))
    (2.0, '')
    (2.0, '')
    (2.0, '')
    (None, 'the grade 7, which is none of 0, 1, 2, 3')
    (None, 'no grade at its end')
    """
    text = _plain(answer)
    if not text:
        return Reading(None, _EMPTY)
    if _BARE.fullmatch(text):
        return _of([text], scale)
    value = _json(text)
    if isinstance(value, _Pairs):
        return _of([each for key, each in value if _is_grade(key)], scale)
    lines = [line for line in map(_unmarked, text.splitlines()) if line]
    last = _json(lines[-1]) if lines else None
    told = [found[1] for found in map(_LINE.fullmatch, lines) if found]
    if isinstance(last, _Pairs):
        return _of([*told, *(each for key, each in last if _is_grade(key))], scale)
    if not lines or not _LINE.fullmatch(lines[-1]):
        return Reading(None, _NONE)
    return _of(told, scale)


def read_answers(answer: str, count: int, scale: Scale) -> list[Reading]:
    r"""Read the grades of several documents, by their numbers.

    >>> from gainful.assessors.prompts import DEFAULT_SCALE
    >>> for reading in read_answers("1: 3\n2: 0\n2: 1", 3, DEFAULT_SCALE):
    ...     print(tuple(reading))
    (3.0, '')
    (None, 'different grades: 0, 1')
    (None, 'no grade for document 3')
    """
    text = _plain(answer)
    if not text:
        return [Reading(None, _EMPTY)] * count
    found: dict[int, list[Any]] = {}
    for number, grade in _numbered(text):
        found.setdefault(number, []).append(grade)
    beyond = [number for number in found if not 1 <= number <= count]
    if beyond:  # who counts in another way may mean other documents by every number
        why = f"a grade for document {beyond[0]}, of {counted(count, 'document')}"
        return [Reading(None, why)] * count
    return [
        _of(found[number], scale)
        if number in found
        else Reading(None, f"no grade for document {number}")
        for number in range(1, count + 1)
    ]


def _plain(answer: str) -> str:
    before, end, after = answer.partition(_THOUGHT)
    # Where <think> stands in the prompt already, an answer has its end alone.
    thought = before.lstrip().startswith(_THINK) or _THINK not in before
    text = (after if end and thought else answer).strip()
    fenced = _FENCE.match(text)
    return fenced[1].strip() if fenced else text


def _unmarked(line: str) -> str:
    """Return a line without the marks of Markdown."""
    return line.replace("*", "").strip(_MARKS)


class _Pairs(list[tuple[str, Any]]):
    """The keys and values of a JSON object, those that repeat among them."""


def _json(text: str) -> Any:
    if text[:1] not in ("{", "[") or len(text) > _LONGEST:
        return None
    try:
        return json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return None


def _is_grade(key: str) -> bool:
    return key.strip().casefold() == "grade"


def _numbered(text: str) -> Iterable[tuple[int, Any]]:
    value = _json(text)
    if isinstance(value, _Pairs):
        return [(int(key), grade) for key, grade in value if _is_place(key)]
    if isinstance(value, list):
        found = []
        for each in value:
            known: dict[str, Any] = dict(each) if isinstance(each, _Pairs) else {}
            if _is_place(known.get("document")):
                found.append((int(known["document"]), known.get("grade")))
        return found
    lines = map(_NUMBERED.fullmatch, map(_unmarked, text.splitlines()))
    return [(int(line[1]), line[2]) for line in lines if line]


def _is_place(value: object) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return True
    return isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10


def _of(told: Iterable[Any], scale: Scale) -> Reading:
    """Return the one grade of all that are told, if it is on the scale."""
    grades = [_number(each) for each in told]
    if not grades:
        return Reading(None, _NONE)
    if any(grade is None for grade in grades):
        return Reading(None, "a grade that is no number")
    different = sorted({grade for grade in grades if grade is not None})
    if len(different) > 1:
        return Reading(None, f"different grades: {', '.join(map(written_grade, different))}")
    if different[0] not in scale:
        why = f"the grade {written_grade(different[0])}, which is none of {scale}"
        return Reading(None, why)
    return Reading(different[0])


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return _finite(value.strip()) if _BARE.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _finite(value)


def _finite(value: str | int | float) -> float | None:
    try:
        number = float(value) + 0.0  # there is no −0
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
