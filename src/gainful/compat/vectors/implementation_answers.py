"""Answers of implementations to conformance cases: from functions, JSON and commands."""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gainful import arguments
from gainful.compat.vectors.case_files import Case
from gainful.compat.vectors.command_process import run_command
from gainful.errors import InputError
from gainful.message_texts import printable, shortened, shown

_KINDS = ("value", "error", "skip")
_EXPECTED = 'a line such as {"id": "golden", "value": 0.475}, or with "error" or "skip" for "value"'
_LONGEST_MESSAGE = 200  # characters of a message


@dataclass(frozen=True, slots=True)
class Answer:
    """An implementation's answer to a case.

    Attributes:
        kind: `value`, `error` if it rejects the case, `skip` if it does not support it, `failure`
            if it crashes.
        value: the number; NaN if undefined.
        said: the implementation's own reason for an error or a skip.
    """

    kind: str
    value: float = math.nan
    said: str = ""

    def __str__(self) -> str:
        if self.kind == "value":
            return "undefined" if math.isnan(self.value) else repr(self.value)
        return f"{self.kind}: {self.said}" if self.said else self.kind


def answer_of_function(function: Callable[[dict[str, object]], object], case: Case) -> Answer:
    """Ask a function: its result is the value; an exception is an error or, by its type, a skip."""
    try:
        value = function(case.asked())
    except NotImplementedError as reason:
        return Answer("skip", said=_words(reason))
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is the implementation's answer
        return Answer("error", said=f"{type(problem).__name__}: {_words(problem)}")
    if value is NotImplemented:
        return Answer("skip")
    return _of_value(value, f"case {case.id}")


def _words(problem: object) -> str:
    return shortened(printable(str(problem)), _LONGEST_MESSAGE)


def _of_value(value: object, where: str) -> Answer:
    if value is None:
        return Answer("value")
    number = arguments.as_float(value)
    if math.isnan(number) and not isinstance(value, float) and not hasattr(value, "dtype"):
        raise InputError(where, "a number, or none if it is undefined", shown(value))
    return Answer("value", number)


def answers_of_command(
    command: Sequence[str], cases: Sequence[Case], *, timeout: float
) -> list[Answer]:
    """Ask a command for all cases at once: one line each, in any order."""
    done = run_command(command, as_lines(cases), timeout=timeout)
    answers = _read_lines(done.printed, cases, broken=bool(done.ended))
    open_cases = [case.id for case in cases if case.id not in answers]
    if done.ended or open_cases:
        first = f"; the first case without one is {open_cases[0]!r}" if open_cases else ""
        what = f"the command {done.ended}" if done.ended else "the command ended"
        raise InputError(
            "conformance",
            f"an answer to each of {len(cases)} cases",
            f"{len(answers)}{first}: {what}",
            'Answer {"id": …, "skip": "reason"} to unsupported cases; --one-by-one starts the command '
            "for each case and counts a crash as a failure.",
        )
    return [answers[case.id] for case in cases]


def answer_of_command_for(command: Sequence[str], case: Case, *, timeout: float) -> Answer:
    """Ask a command for one case; a crash is an answer, too."""
    done = run_command(command, as_lines([case]), timeout=timeout)
    if done.ended:
        return Answer("failure", said=done.ended)
    answers = _read_lines(done.printed, [case], broken=False)
    return answers.get(case.id) or Answer("failure", said="printed nothing")


def as_lines(cases: Iterable[Case]) -> str:
    """Return cases as sent: JSON, one per line."""
    return "".join(f"{json.dumps(case.asked(), ensure_ascii=False)}\n" for case in cases)


def _read_lines(printed: str, cases: Sequence[Case], *, broken: bool) -> dict[str, Answer]:
    ids = {case.id for case in cases}
    answers: dict[str, Answer] = {}
    lines = printed.split("\n")
    if broken:
        lines = lines[:-1]  # the last line may be incomplete
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"the command, line {number}"
        case, answer = _read_line(line, where)
        if case not in ids or case in answers:
            surplus = "a second one" if case in answers else "one"
            raise InputError(
                where, "one answer to each case of the input", f"{surplus} to {shown(case)}"
            )
        answers[case] = answer
    return answers


def _read_line(line: str, where: str) -> tuple[str, Answer]:
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
        raise InputError(
            where,
            _EXPECTED,
            shown(shortened(line.strip(), _LONGEST_MESSAGE)),
            "Print only answers to standard output, and anything else to standard error.",
        )
    kinds = [kind for kind in _KINDS if kind in answer]
    if len(kinds) != 1:
        named = " and ".join(kinds) or "none of them"
        raise InputError(where, "exactly one of value, error or skip", named)
    (kind,) = kinds
    if kind == "value":
        return answer["id"], _of_value(answer["value"], where)
    return answer["id"], Answer(kind, said=_words(answer[kind] if answer[kind] is not None else ""))
