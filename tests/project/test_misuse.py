"""Wrong values for every parameter of every public call: a result or an error of gainful's comes out.

One value, or a few where calls are quick, are tried for each parameter, the same in every run, and
those that led to a fault before. All of them, which takes minutes, are with GAINFUL_MISUSE=all.
"""

import inspect
import os
import random
import types
import warnings

import pytest

import gainful as gf
from heavy_hosts import HEAVY
from misused_calls import (
    ELSEWHERE,
    FAULTS_OF_BEFORE,
    RAISED,
    RECORDS,
    RESULTS,
    Call,
    calls,
    fault_of,
    misuses,
    parameters_of,
)
from public_names import APART, public_names

ALL = os.environ.get("GAINFUL_MISUSE") == "all"


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    """Every public call in a valid form, in a folder of its own: some values are names of files."""
    before = os.getcwd()  # noqa: PTH109
    os.chdir(tmp_path_factory.mktemp("misuse"))
    yield calls()
    os.chdir(before)


def chosen(name, call, parameter):
    every = list(misuses(name, call, parameter))
    some = random.Random(f"{name} {parameter}")  # noqa: S311
    if ALL:
        return every
    before = [misuse for misuse in every if misuse[0] in FAULTS_OF_BEFORE]
    return [*before, some.choice(every)]


def test_every_public_name_is_called(valid):
    called = {name for name in valid if "." not in name}
    assert called | RESULTS | RAISED | RECORDS == set(public_names())
    assert not called & (RESULTS | RAISED | RECORDS)


def test_every_method_of_a_result_is_called(valid):
    public = public_names()
    for name in RESULTS:
        for method in vars(public[name]):
            known = inspect.getattr_static(public[name], method)
            if not method.startswith("_") and isinstance(known, types.FunctionType | classmethod):
                assert f"{name}.{method}" in {*valid, *ELSEWHERE}


def test_every_name_of_the_packages_is_called(valid):
    for package in APART:
        public = getattr(gf, package)
        for name in public.__all__:
            if name in HEAVY:  # which are not installed here
                continue
            known = getattr(public, name)
            if inspect.isroutine(known) and name != "loss":
                assert f"{package}.{name}" in valid


def test_the_valid_calls_are_valid(valid):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        for call in valid.values():
            call()


def test_wrong_values_come_to_results_or_errors_of_gainful(valid, capsys):
    tried, found = set(), {}
    for name, call in valid.items():
        for parameter in parameters_of(call):
            for what, misuse in chosen(name, call, parameter):
                tried.add(what)
                fault = fault_of(misuse)
                if fault is not None:
                    found[what] = fault
    assert not found, "\n".join(f"{what}: {fault}" for what, fault in found.items())
    assert set(FAULTS_OF_BEFORE) <= tried


def bad(number, *, kind="a", known=()):
    """Return what a careless function does."""
    text = {"a": "one", "b": "two"}[kind]
    return f"{text} {number + 1} {known or '-'}"


def test_a_careless_function_is_found():
    call = Call(bad, {"number": 1})
    assert fault_of(call) is None
    for parameter in parameters_of(call):
        faults = [fault_of(misuse) for _, misuse in misuses("bad", call, parameter)]
        assert any(faults), parameter
        assert parameter == "kind" or not all(faults)


def test_parts_of_a_valid_value_are_spoiled_too():
    call = Call(bad, {"number": {"q": {"d": [1, 2]}}})
    what = {name.partition("=")[0] for name, _ in misuses("bad", call, "number")}
    places = ("", "['q']", "['q']['d']", "['q']['d'][0]", "['q'] as key", " as key")
    assert what == {f"bad(number{place}" for place in places}
