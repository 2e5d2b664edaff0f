"""Actions that pages send as JSON, and their recording in a study.

Every action has its own key, created on the page, so an action sent twice counts once. Actions are
recorded one by one, so an action that is rejected doesn't affect the others.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.judging.desk.assessor_and_lead import WHY, Assessor
from gainful.judging.desk.study import Study
from gainful.judging.desk.study_records import Confirmed
from gainful.message_texts import shown

KINDS = ("grade", "cannot", "later", "undo")
MOST = 200
"""The maximum number of actions in one request."""
# in characters, except for the last, which is a number of texts
_KEY, _NOTE, _TAG, _TAGS = 100, 4000, 100, 20
_LONGEST_TIME = 7 * 24 * 3600 * 1000  # milliseconds
_MOST_DIGITS = 30  # digits of a whole number: Python rejects texts with several thousand digits


def read_json(text: str | bytes) -> object:
    """Read JSON that may contain huge whole numbers: they become floats, usually infinite, instead of making the text unreadable.

    >>> read_json('[12, 1' + '0' * 5000 + ']')
    [12, inf]
    """
    return json.loads(text, parse_int=_whole)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def take(study: Study, assessor: str, acts: Sequence[Any]) -> dict[str, list[dict[str, Any]]]:
    """Record actions of an assessor in order.

    Returns:
        The `confirmed` actions, each with its key and event, and the `refused` ones, each with its key and why.
    """
    confirmed: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    for act in acts:
        key = act.get("key") if isinstance(act, Mapping) else None
        if not _is_key(key):
            refused.append({"key": None, "why": "An action needs its own key."})
            continue
        try:
            done = _take_one(study.assessor(assessor), act)
        except (gf.errors.InputError, gf.errors.LeaseLostError) as problem:
            refused.append({"key": key, "why": in_words(problem)})
            continue
        answer = {"key": key, "event": done.event, "item": done.item, "grade": done.grade}
        if done.feedback is not None:
            answer["feedback"] = asdict(done.feedback)
        confirmed.append(answer)
    return {"confirmed": confirmed, "refused": refused}


def in_words(problem: gf.errors.GainfulError) -> str:
    """Describe a problem without its location in the code or the file."""
    text = f"Expected {problem.expected}, found {problem.found}."
    return f"{text} {problem.remedy}" if problem.remedy else text


def adjudicate(study: Study, lead: str, act: Mapping[str, object]) -> Confirmed:
    """Record the grade that settles a disagreement."""
    key = _key(act)
    item, grade = _item(act.get("item")), _grade(act.get("grade"))
    return study.lead(lead).adjudicate(item, grade, key=key, guideline=_guideline(act))


def unsettle(study: Study, lead: str, act: Mapping[str, object]) -> Confirmed:
    """Undo the settlement of a document."""
    key = _key(act)
    return study.lead(lead).unsettle(_item(act.get("item")), key=key, guideline=_guideline(act))


def _take_one(assessor: Assessor, act: Mapping[str, Any]) -> Confirmed:
    kind = _one_of(act.get("kind"), KINDS, "kind")
    if kind == "undo":
        return _undo(assessor, act)
    item = _item(act.get("item"))
    more = {
        "key": act["key"],
        "milliseconds": _number(act, "ms", _LONGEST_TIME),
        "position": _number(act, "position", 10**9),
        "note": _note(act.get("note")),
        "guideline": _guideline(act),
    }
    tags = _tags(act.get("tags"))
    calls: dict[str, Callable[[], Confirmed]] = {
        "grade": lambda: assessor.grade(item, _grade(act.get("grade")), tags=tags, **more),
        "cannot": lambda: assessor.cannot(
            item, _one_of(act.get("why"), WHY, "why"), tags=tags, **more
        ),
        "later": lambda: assessor.later(item, **more),
    }
    return calls[kind]()


def _undo(assessor: Assessor, act: Mapping[str, Any]) -> Confirmed:
    """Undo the action with the key that the page sends: the page may not know the event yet, and the action may have been rejected."""
    of, event = act.get("of"), act.get("event")
    if of is not None and not _is_key(of):
        raise _wrong("of", "the key of an action", of)
    if event is not None and (isinstance(event, bool) or not isinstance(event, int)):
        raise _wrong("event", "the number of an action", event)
    named: dict[str, Any] = {"event": event} if of is None else {"of": of}
    item = None if act.get("item") is None else _item(act["item"])
    return assessor.undo(key=act["key"], item=item, guideline=_guideline(act), **named)


def _is_key(value: object) -> bool:
    """Return whether this is a valid key, which a response can refer to."""
    return isinstance(value, str) and 0 < len(value) <= _KEY and arguments.is_writable(value)


def _key(act: Mapping[str, object]) -> str:
    key = act.get("key")
    if not _is_key(key):
        raise _wrong("key", "a string", key)
    return str(key)


def _wrong(where: str, expected: str, actual: object) -> gf.errors.InputError:
    return gf.errors.InputError(where, expected, shown(actual))


def _item(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong("item", "the number of a document", value)
    return value


def _one_of(value: object, choices: tuple[str, ...], where: str) -> str:
    if not isinstance(value, str) or value not in choices:
        raise _wrong(where, f"one of {', '.join(choices)}", value)
    return value


def _grade(value: object) -> float:
    grade = arguments.as_float(value)
    if not math.isfinite(grade):
        raise _wrong("grade", "a number", value)
    return grade


def _guideline(act: Mapping[str, object]) -> int | None:
    """Return the version that the page showed; None if the page doesn't send one."""
    value = act.get("guideline")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _wrong("guideline", "a version of the guideline", value)
    return value


def _number(act: Mapping[str, object], name: str, most: int) -> int | None:
    """Return a number that is only recorded, or None if it can't be right."""
    value = act.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        return None
    return int(value)


def _tags(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if (
        not isinstance(value, list)
        or len(value) > _TAGS
        or not all(isinstance(tag, str) and 0 < len(tag) <= _TAG for tag in value)
    ):
        raise _wrong("tags", f"at most {_TAGS} short texts", value)
    return tuple(value)


def _note(value: object) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > _NOTE:
        raise _wrong("note", f"a string of at most {_NOTE:,} characters", value)
    return value
