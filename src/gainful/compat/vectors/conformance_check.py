"""`conformance`: check an implementation of nDCG against the conformance vectors."""

from collections.abc import Callable, Iterable, Sequence

from gainful import arguments
from gainful.compat.vectors.case_files import Case, cases
from gainful.compat.vectors.causes_of_wrong_values import is_near, likely_conventions
from gainful.compat.vectors.conformance_result import FAILED, PASSED, SKIPPED, Checked, Conformance
from gainful.compat.vectors.implementation_answers import (
    Answer,
    answer_of_command_for,
    answer_of_function,
    answers_of_command,
)
from gainful.errors import InputError
from gainful.message_texts import shown

_LONGEST = 86400.0  # seconds


def conformance(
    implementation: Callable[[dict[str, object]], object],
    *,
    topics: str | Iterable[str] | None = None,
    dialect: str | None = None,
    tolerance: float = 1e-9,
) -> Conformance:
    """Run a Python function on the conformance vectors.

    Args:
        implementation: a function of a case, as returned by `Case.asked`. It returns the value, or
            None if undefined, and raises `NotImplementedError` for unsupported cases. Any other
            error means that it rejects the case.
        topics: the files to use, such as `ties`; all if None.
        dialect: only the cases of this tool.
        tolerance: the largest error of a value, relative if the value is above 1.

    >>> import math
    >>> def my_dcg(case):  # with one mistake
    ...     if case["measure"]["name"] != "DCG" or case["choices"]:
    ...         raise NotImplementedError
    ...     total = 0.0
    ...     for query in case["queries"]:
    ...         grades = dict(query["judged"])
    ...         ranked = sorted(query["run"], key=lambda pair: -pair[1])[: case["measure"]["k"]]
    ...         gains = [grades[doc] for doc, _ in ranked]
    ...         total += sum(gain / (math.log2(rank) + 1) for rank, gain in enumerate(gains, 1))
    ...     return total / len(case["queries"])
    >>> result = conformance(my_dcg, topics="definition")
    >>> result.conforms, result.summary
    (False, '1 passed, 5 failed, 30 skipped')
    >>> print(result.conventions[0][0])
    discount=misprint (1/(log_b(i) + 1), a common misprint of 1/log_b(i+1))
    """
    _refuse_no_function(implementation)
    chosen = _chosen(topics, dialect)
    room = _read_tolerance(tolerance)
    answers = [answer_of_function(implementation, case) for case in chosen]
    return _judged(chosen, answers, room)


def conformance_of_command(
    command: Sequence[str],
    *,
    topics: str | Iterable[str] | None = None,
    dialect: str | None = None,
    tolerance: float = 1e-9,
    timeout: float = 60.0,
    one_by_one: bool = False,
) -> Conformance:
    """Run a command of any language on the conformance vectors.

    It reads a case as JSON from each line of standard input and writes a line of JSON for each:
    `{"id": …, "value": …}`, or with `error` or `skip` instead of `value`. See `vectors/README.md`.

    Args:
        command: the program and its arguments.
        topics: the files to use, such as `ties`; all if None.
        dialect: only the cases of this tool.
        tolerance: the largest error of a value, relative if the value is above 1.
        timeout: seconds after which the command is stopped.
        one_by_one: whether to start the command once for each case; a crash or a timeout then
            counts as a failure of that case.
    """
    words = _read_command(command)
    chosen = _chosen(topics, dialect)
    room = _read_tolerance(tolerance)
    expected = "seconds, above 0"
    seconds = arguments.number(timeout, "timeout", expected, lambda value: 0 < value <= _LONGEST)
    if arguments.truth(one_by_one, "one_by_one"):
        answers = [answer_of_command_for(words, case, timeout=seconds) for case in chosen]
    else:
        answers = answers_of_command(words, chosen, timeout=seconds)
    return _judged(chosen, answers, room)


def _refuse_no_function(implementation: object) -> None:
    if not callable(implementation):
        expected = "a function of a case"
        raise InputError("implementation", expected, shown(implementation))


def _read_command(command: object) -> list[str]:
    expected = "a program and its arguments, as a list of strings"
    if isinstance(command, str | bytes) or not isinstance(command, Sequence) or not command:
        raise InputError("command", expected, shown(command), 'Example: ["node", "my_ndcg.js"].')
    return [arguments.text(word, "command", expected) for word in command]


def _chosen(topics: str | Iterable[str] | None, dialect: str | None) -> tuple[Case, ...]:
    chosen = cases(topics=topics, dialect=dialect)
    if not chosen:
        nothing = f"no cases of {shown(dialect)}, which are in the topic dialects"
        raise InputError("topics", "topics that have cases", nothing)
    return chosen


def _read_tolerance(tolerance: object) -> float:
    expected = "a non-negative number below 1"
    return arguments.number(tolerance, "tolerance", expected, lambda value: 0 <= value < 1)


def _judged(chosen: Sequence[Case], answers: Sequence[Answer], tolerance: float) -> Conformance:
    checked = [_one(*both, tolerance) for both in zip(chosen, answers, strict=True)]
    return Conformance(tuple(checked), tolerance)


def _one(case: Case, answer: Answer, tolerance: float) -> Checked:
    if answer.kind == "skip":
        return Checked(case, answer, SKIPPED)
    if answer.kind != "value":
        refused = answer.kind == "error" and "error" in case.expect
        return Checked(case, answer, PASSED if refused else FAILED)
    if "error" not in case.expect and is_near(answer.value, case.expect["value"], tolerance):
        return Checked(case, answer, PASSED)
    return Checked(case, answer, FAILED, likely_conventions(case, answer.value, tolerance))
