"""Strict parsing of grades in a model's answers, without guessing.

An answer about one document is a grade's number and nothing else, JSON with one key `grade`, or a
text whose last line is `grade: 2`. Earlier lines may contain anything except another grade.
An answer about several documents has a line `1: 2` for each, with the number of the document and
    its grade, or JSON,
`{"1": 2}` or `[{"document": 1, "grade": 2}]`. Text between <think> and </think>, or before a lone
</think>, is ignored, as is Markdown markup around a line.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gainful.judging.assessors.prompts import Scale, written_grade
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
_LONGEST = 1_000_000  # characters; longer JSON is not parsed
_EMPTY = "an empty answer"
_NONE = "no grade at its end"


class Reading(NamedTuple):
    """A document's grade in an answer, or the reason why it can't be read."""

    grade: float | None
    why: str = ""


def read_answer(answer: str, scale: Scale) -> Reading:
    r"""Read the grade of one document.

    >>> from gainful.judging.assessors.prompts import DEFAULT_SCALE
    >>> for answer in ("2", '{"grade": 2}', "It helps.\ngrade: 2", "grade: 7", "2 or 3"):
    ...     print(tuple(read_answer(answer, DEFAULT_SCALE)))
    (2.0, '')
    (2.0, '')
    (2.0, '')
    (None, 'the grade 7, which is none of 0, 1, 2, 3')
    (None, 'no grade at its end')
    """
    text = _in_numbers(_plain(answer), scale)
    if not text:
        return Reading(None, _EMPTY)
    if _BARE.fullmatch(text):
        return _one_grade([text], scale)
    value = _json(text)
    if isinstance(value, _Pairs):
        return _one_grade([grade for key, grade in value if _is_grade(key)], scale)
    lines = [line for line in map(_unmarked, text.splitlines()) if line]
    last = _json(lines[-1]) if lines else None
    stated = [match[1] for match in map(_LINE.fullmatch, lines) if match]
    if isinstance(last, _Pairs):
        return _one_grade([*stated, *(grade for key, grade in last if _is_grade(key))], scale)
    if not lines or not _LINE.fullmatch(lines[-1]):
        return Reading(None, _NONE)
    return _one_grade(stated, scale)


def read_answers(answer: str, count: int, scale: Scale) -> list[Reading]:
    r"""Read the grades of several documents, by their numbers.

    >>> from gainful.judging.assessors.prompts import DEFAULT_SCALE
    >>> for reading in read_answers("1: 3\n2: 0\n2: 1", 3, DEFAULT_SCALE):
    ...     print(tuple(reading))
    (3.0, '')
    (None, 'different grades: 0, 1')
    (None, 'no grade for document 3')
    """
    text = _in_numbers(_plain(answer), scale)
    if not text:
        return [Reading(None, _EMPTY)] * count
    grades: dict[int, list[object]] = {}
    for number, grade in _numbered(text):
        grades.setdefault(number, []).append(grade)
    beyond = [number for number in grades if not 1 <= number <= count]
    if beyond:  # with other numbers, every number may mean another document
        why = f"a grade for document {beyond[0]}, of {counted(count, 'document')}"
        return [Reading(None, why)] * count
    return [
        _one_grade(grades[number], scale)
        if number in grades
        else Reading(None, f"no grade for document {number}")
        for number in range(1, count + 1)
    ]


class Listed(NamedTuple):
    """The texts that an answer lists, each with the word before it, or the reason why it can't be read."""

    items: list[tuple[str, str]] | None
    why: str = ""


def read_listed(answer: str, words: Sequence[str]) -> Listed:
    r"""Read the texts that an answer lists: lines `word: text`, or JSON with such keys; `none` lists none.

    A text may have several lines. What precedes the first line with a word is ignored.

    >>> for answer in ("It helps.\npassage: one\npassage: two", '{"passages": []}', "passage: none", "No."):
    ...     print(tuple(read_listed(answer, ["passage"])))
    ([('passage', 'one'), ('passage', 'two')], '')
    ([], '')
    ([], '')
    (None, "no line with 'passage:'")
    """
    text = _plain(answer)
    if not text:
        return Listed(None, _EMPTY)
    items = _listed_in_json(text, words)
    if items is None:
        items = _listed_in_lines(text, words)
    if not items and items is not None:
        return Listed([])
    if items is None:
        return Listed(None, f"no line with {' or '.join(repr(f'{word}:') for word in words)}")
    texts = [(word, one) for word, one in items if not _is_none(one)]
    if any(not isinstance(one, str) or not one.strip() for _, one in texts):
        return Listed(None, f"an empty {words[0]}" if len(words) == 1 else "an empty text")
    if texts and len(texts) < len(items):
        return Listed(None, "both texts and none")
    return Listed(texts)


def _is_none(text: object) -> bool:
    return isinstance(text, str) and text.casefold().strip(" .\"'`*_") == "none"


def _listed_in_json(text: str, words: Sequence[str]) -> list[tuple[str, Any]] | None:
    """Return the texts in JSON that is the whole answer or its last line; None without any."""
    value = _json(text)
    if value is None:
        value = _json(text.splitlines()[-1].strip())
    if isinstance(value, list) and not isinstance(value, _Pairs):
        return [(words[0], one) for one in value] if len(words) == 1 else None
    if not isinstance(value, _Pairs):
        return None
    items, known = [], False
    for key, listed in value:
        word = key.strip().casefold()
        word = word if word in words else word.removesuffix("s")
        if word in words:
            known = True
            items += [(word, one) for one in (listed if isinstance(listed, list) else [listed])]
    return items if known else None


def _listed_in_lines(text: str, words: Sequence[str]) -> list[tuple[str, str]] | None:
    """Return the texts after `word:` at the beginning of a line; None without any."""
    named = "|".join(map(re.escape, words))
    begin = re.compile(
        rf"^[ \t>#*_`-]*(?:[0-9]+[.)][ \t]*)?[*_`]*({named})(?:[ \t]*[0-9]+)?[*_`]*[ \t]*[:=][*_`]*",
        re.IGNORECASE | re.MULTILINE,
    )
    found = [*begin.finditer(text)]
    ends = [match.start() for match in found[1:]] + [len(text)] * bool(found)
    items = zip(found, ends, strict=True)
    return [(one[1].casefold(), text[one.end() : end].strip()) for one, end in items] or None


def forms_of(text: str) -> list[str]:
    """Return what a text may be: as written, without Markdown markup, and without quotation marks around it.

    >>> forms_of('**"a"**'), forms_of('"a" and "b"')
    (['**"a"**', '"a"', 'a'], ['"a" and "b"', '"a" and "b"', 'a" and "b'])
    """
    plain = text.strip(" \t*_`")
    is_quoted = len(plain) > 1 and plain[0] + plain[-1] in _QUOTES
    return [text, plain, *([plain[1:-1].strip()] if is_quoted else [])]


_QUOTES = ('""', "“”", "''", "‘’", "«»", "„“")


def _plain(answer: str) -> str:
    before, end, after = answer.partition(_THOUGHT)
    # If <think> is already in the prompt, the answer contains only its end.
    thought = before.lstrip().startswith(_THINK) or _THINK not in before
    text = (after if end and thought else answer).strip()
    fenced = _FENCE.match(text)
    return fenced[1].strip() if fenced else text


def _in_numbers(text: str, scale: Scale) -> str:
    r"""Return an answer with numbers in place of the words of a scale, where a grade may be written.

    >>> from gainful.judging.assessors.prompts import SUPPORT_SCALE
    >>> _in_numbers("No support: see below.\n**grade: Partial support**", SUPPORT_SCALE)
    'No support: see below.\n**grade: 0.5**'
    """
    if not scale.words:
        return text
    named = "|".join(word.replace("_", "[_ ]") for word in scale.words)
    written = re.compile(rf"(^|[:=])([\s\"*_`]*)({named})(?=[\s\"*_`.}}]*$)", re.I | re.M)

    def number(match: re.Match[str]) -> str:
        grade = scale.words[match[3].casefold().replace(" ", "_")]
        return f"{match[1]}{match[2]}{written_grade(grade)}"

    return written.sub(number, text)


def _unmarked(line: str) -> str:
    """Return a line without Markdown markup."""
    return line.replace("*", "").strip(_MARKS)


class _Pairs(list[tuple[str, Any]]):
    """The keys and values of a JSON object, including repeated keys."""


def _json(text: str) -> object:
    if text[:1] not in ("{", "[") or len(text) > _LONGEST:
        return None
    try:
        return json.loads(text, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return None


def _is_grade(key: str) -> bool:
    return key.strip().casefold() == "grade"


def _numbered(text: str) -> Iterable[tuple[int, object]]:
    value = _json(text)
    if isinstance(value, _Pairs):
        return [(int(key), grade) for key, grade in value if _is_place(key)]
    if isinstance(value, list):
        numbered = []
        for entry in value:
            fields: dict[str, Any] = dict(entry) if isinstance(entry, _Pairs) else {}
            if _is_place(fields.get("document")):
                numbered.append((int(fields["document"]), fields.get("grade")))
        return numbered
    lines = map(_NUMBERED.fullmatch, map(_unmarked, text.splitlines()))
    return [(int(line[1]), line[2]) for line in lines if line]


def _is_place(value: object) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return True
    return isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10


def _one_grade(stated: Iterable[object], scale: Scale) -> Reading:
    """Return the grade that all statements agree on, if it is on the scale."""
    grades = [_number(grade) for grade in stated]
    if not grades:
        return Reading(None, _NONE)
    if any(grade is None for grade in grades):
        return Reading(None, "a grade that isn't a number")
    different = sorted({grade for grade in grades if grade is not None})
    if len(different) > 1:
        return Reading(None, f"different grades: {', '.join(map(written_grade, different))}")
    if different[0] not in scale:
        why = f"the grade {written_grade(different[0])}, which is none of {scale}"
        return Reading(None, why)
    return Reading(different[0])


def _number(value: object) -> float | None:
    if isinstance(value, str):
        return _finite(value.strip()) if _BARE.fullmatch(value.strip()) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _finite(value)


def _finite(value: str | int | float) -> float | None:
    try:
        number = float(value) + 0.0  # avoid −0
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
