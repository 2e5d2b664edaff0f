"""The conditions under which a command fails: --fail-if and --fail-unless, or those of a project's file."""

from collections.abc import Callable, Sequence
from typing import Any

import gainful as gf
from gainful.cli.option_origins import current_project, is_set, is_typed, set_aside
from gainful.cli.standard_streams import tell

Rules = tuple[Sequence[str], Sequence[str]]
_NAMES = ("fail_if", "fail_unless")


def gate_rules(
    options: dict[str, Any],
    measures: list[str],
    *,
    dialect: str | None,
    compared: bool,
    check: Callable[..., None] | None = None,
) -> Rules:
    """Return the conditions that a command checks, and refuse those that it could not.

    Of the project's file, a command that compares nothing takes what needs no comparison. Where other
    measures are asked for on the command line than the file has, its conditions on the others are
    left out, and that is said. `check` refuses what cannot be checked; of a gate on scores if None.
    """
    found = [_applying(options, name, measures, dialect, compared=compared) for name in _NAMES]
    refuse = gf.results.Gate.check_conditions if check is None else check
    refuse(measures, found[0], found[1], dialect=dialect, compared=compared)
    return found[0], found[1]


def json_with_gate(text: str, gate: "gf.results.Gate | None") -> str:
    """Return the JSON of a result with what a gate decided about it; as it is without a gate, or if it is a list of rows."""
    if gate is None:
        return text
    import json  # here, as most calls load no JSON

    found = json.loads(text)
    if not isinstance(found, dict):
        return text
    found["gate"] = {"failed": gate.failed, "checked": gate.table().records()}
    return json.dumps(found, indent=2, ensure_ascii=False)


def leave_out_gate(options: dict[str, Any], why: str) -> None:
    """Leave out the conditions of the project's file, and say so."""
    if any(is_set(name) for name in _NAMES):
        tell(f"{current_project()}: the gate is not checked {why}.")
    set_aside(options, _NAMES)


def _applying(
    options: dict[str, Any],
    name: str,
    measures: list[str],
    dialect: str | None,
    *,
    compared: bool,
) -> list[str]:
    given = list(options[name])
    if not is_set(name):
        return given
    if not compared:
        given = gf.results.Gate.without_baseline(given)
    if is_typed("measures"):
        given = [each for each in given if _is_measured(each, measures, dialect)]
    if not given:
        set_aside(options, [name])
    return given


def _is_measured(condition: str, measures: list[str], dialect: str | None) -> bool:
    """Return whether a condition of the file can be checked; what is wrong with it is said later."""
    project = current_project()
    own, tool = ([], None) if project is None else (project.measures, project.values.get("dialect"))
    try:
        gf.results.Gate.check_conditions(measures, condition, dialect=dialect)
    except gf.errors.InputError as problem:
        try:
            gf.results.Gate.check_conditions(own, condition, dialect=tool)
        except gf.errors.GainfulError:
            raise problem from None
        tell(f"{project}: {condition} is not checked: it is about none of the measures asked for.")
        return False
    return True
