"""Answers to conformance cases: what an implementation says, as a value, as JSON and by a command."""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gainful import arguments
from gainful.errors import InputError
from gainful.message_texts import printable, shortened, shown
from gainful.vectors.case_files import Case
from gainful.vectors.command_process import run_command

_KINDS = ("value", "error", "skip")
_EXPECTED = 'a line such as {"id": "golden", "value": 0.475}, or with "error" or "skip" for "value"'
_TOLD = 200  # characters of a message


@dataclass(frozen=True, slots=True)
class Answer:
    """What an implementation says of a case.

    Attributes:
        kind: `value`, `error` where it refuses the case, `skip` where it does not do such, `failure`
            where it breaks off.
        value: the number; NaN where it says that it is undefined.
        said: in its own words, why it refuses or leaves it out.
    """

    kind: str
    value: float = math.nan
    said: str = ""

    def __str__(self) -> str:
        if self.kind == "value":
            return "undefined" if math.isnan(self.value) else repr(self.value)
        return f"{self.kind}: {self.said}" if self.said else self.kind


def answer_of_function(function: Callable[[dict[str, Any]], object], case: Case) -> Answer:
    """Ask a function: what it returns is the value, what it raises an error or, by its type, a skip."""
    try:
        found = function(case.asked())
    except NotImplementedError as reason:
        return Answer("skip", said=_words(reason))
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is the implementation's answer
        return Answer("error", said=f"{type(problem).__name__}: {_words(problem)}")
    if found is NotImplemented:
        return Answer("skip")
    return _of_value(found, f"case {case.id}")


def _words(problem: object) -> str:
    return shortened(printable(str(problem)), _TOLD)


def _of_value(found: object, where: str) -> Answer:
    if found is None:
        return Answer("value")
    number = arguments.as_float(found)
    if math.isnan(number) and not isinstance(found, float) and not hasattr(found, "dtype"):
        raise InputError(where, "a number, or none where it is undefined", shown(found))
    return Answer("value", number)


def answers_of_command(
    command: Sequence[str], cases: Sequence[Case], *, timeout: float
) -> list[Answer]:
    """Ask a command for all cases at once: a line for each, in any order."""
    done = run_command(command, as_lines(cases), timeout=timeout)
    found = _read_lines(done.printed, cases, broken=bool(done.ended))
    open_cases = [case.id for case in cases if case.id not in found]
    if done.ended or open_cases:
        first = f", the first without one is {open_cases[0]!r}" if open_cases else ""
        what = f"the command {done.ended}" if done.ended else "the command ended"
        raise InputError(
            "conformance",
            f"an answer to each of {len(cases)} cases",
            f"{len(found)}{first}: {what}",
            'Answer {"id": …, "skip": "reason"} to what you do not have; --one-by-one starts the command '
            "for each case, and counts what breaks off as a failure.",
        )
    return [found[case.id] for case in cases]


def answer_of_command_for(command: Sequence[str], case: Case, *, timeout: float) -> Answer:
    """Ask a command for one case; that it breaks off is an answer, too."""
    done = run_command(command, as_lines([case]), timeout=timeout)
    if done.ended:
        return Answer("failure", said=done.ended)
    found = _read_lines(done.printed, [case], broken=False)
    return found.get(case.id) or Answer("failure", said="printed nothing")


def as_lines(cases: Iterable[Case]) -> str:
    """Return cases as they are sent: JSON, one a line."""
    return "".join(f"{json.dumps(case.asked(), ensure_ascii=False)}\n" for case in cases)


def _read_lines(printed: str, cases: Sequence[Case], *, broken: bool) -> dict[str, Answer]:
    known = {case.id for case in cases}
    found: dict[str, Answer] = {}
    lines = printed.split("\n")
    if broken:
        lines = lines[:-1]  # the last may be half of one
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"the command, line {number}"
        case, answer = _read_line(line, where)
        if case not in known or case in found:
            told = "a second one" if case in found else "one"
            raise InputError(
                where, "one answer to each case that was asked", f"{told} to {shown(case)}"
            )
        found[case] = answer
    return found


def _read_line(line: str, where: str) -> tuple[str, Answer]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or not isinstance(said.get("id"), str):
        raise InputError(
            where,
            _EXPECTED,
            shown(shortened(line.strip(), _TOLD)),
            "Standard output is for answers; print anything else to standard error.",
        )
    kinds = [kind for kind in _KINDS if kind in said]
    if len(kinds) != 1:
        told = " and ".join(kinds) or "none of them"
        raise InputError(where, "value, error or skip, one of them", told)
    (kind,) = kinds
    if kind == "value":
        return said["id"], _of_value(said["value"], where)
    return said["id"], Answer(kind, said=_words(said[kind] if said[kind] is not None else ""))
