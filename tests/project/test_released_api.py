"""What the last release promised still works: names, parameters, members, commands and options.

`released_api.json` is recorded when a release is tagged. A name that was moved keeps working for one
release, with a warning; only then may its entry be removed, with the release.
"""

import functools
import inspect
import json
import warnings
from collections.abc import Callable

import pytest

import gainful as gf
from record_released_api import FILE, command_line, members_of, parameters_of

RELEASED = json.loads(FILE.read_text())
_OPEN = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def _current(name: str) -> object:
    """Return the object of a public name, which may be a former one that warns."""
    _, *steps = name.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        return functools.reduce(getattr, steps, gf)


def lost_parameters(value: Callable[..., object], released: list[str]) -> list[str]:
    """Return the released parameters that a callable no longer accepts by the same name."""
    signature = inspect.signature(value)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if kinds & {*_OPEN}:
        return []
    return [name for name in released if name not in signature.parameters]


@pytest.mark.parametrize("name", RELEASED["python"])
def test_name_still_works(name: str) -> None:
    value, released = _current(name), RELEASED["python"][name]
    if released["parameters"] is not None:
        assert callable(value)
        assert lost_parameters(value, released["parameters"]) == []
    assert {*released.get("members", ())} <= {*members_of(value)}


def test_parameters_by_place_keep_their_order() -> None:
    for name, released in RELEASED["python"].items():
        value = _current(name)
        if inspect.isfunction(value) and released["parameters"]:
            parameters = inspect.signature(value).parameters.values()
            by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
            known = [p for p in by_place if p in released["parameters"]]
            assert by_place[: len(known)] == known, name
            assert known == [p for p in released["parameters"] if p in known], name


def test_commands_and_options_still_work() -> None:
    current = command_line()
    for name, options in RELEASED["commands"].items():
        assert {*options} <= {*current[name]}, name


def test_lost_parameter_is_noticed() -> None:
    def shorter(judgments: object) -> object:
        return judgments

    assert lost_parameters(shorter, ["judgments", "run"]) == ["run"]
    assert parameters_of(shorter) == ["judgments"]
