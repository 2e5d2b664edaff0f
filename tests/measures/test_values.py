"""Measures and policies are values that cannot be built wrong."""

import copy
import dataclasses
import pickle
import re

import numpy as np
import pytest

import gainful as gf
from gainful.measures.policy import CHOICES


@pytest.mark.parametrize("cutoff", [0, -1, 2.5, 10.0, True, "ten", [10]])
def test_cutoffs_that_are_none(cutoff):
    with pytest.raises(gf.errors.MeasureError, match="a whole number from 1"):
        gf.Measure("nDCG", cutoff=cutoff)


@pytest.mark.parametrize("base", [1, 0, -2, float("nan"), float("inf"), "two", None, True])
def test_bases_that_are_none(base):
    with pytest.raises(gf.errors.MeasureError, match="a number above 1"):
        gf.Measure("nDCG", base=base)


@pytest.mark.parametrize("gain", ["exp", 3, None, {}, {"a": 1}, {1: float("nan")}])
def test_gains_that_are_none(gain):
    with pytest.raises(gf.errors.MeasureError, match="gain"):
        gf.Measure("nDCG", gain=gain)


def test_numpy_numbers_are_numbers():
    measure = gf.Measure("nDCG", cutoff=np.int64(10), base=np.float32(3))
    assert str(measure) == "nDCG(base=3)@10"


def test_measures_are_frozen_hashable_and_survive_copying():
    measure = gf.measure("nDCG(gain={1: 2})@10")
    with pytest.raises(dataclasses.FrozenInstanceError):
        measure.cutoff = 5
    assert {measure: 1}[gf.measure("nDCG(gain={1: 2})@10")] == 1
    assert pickle.loads(pickle.dumps(measure)) == measure  # noqa: S301
    assert copy.deepcopy(measure) == measure
    assert measure.at(5) == gf.measure("nDCG(gain={1: 2})@5")


def test_errors_survive_pickling():
    with pytest.raises(gf.errors.MeasureError) as caught:
        gf.measure("nDGC")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301
    assert str(again) == str(caught.value)
    assert again.remedy.startswith("Did you mean 'nDCG'")


def test_the_defaults_of_the_policy():
    assert {choice.name: choice.default for choice in CHOICES} == {
        "ties": "auto",
        "unjudged": "zero",
        "absent": "zero",
        "negative": "auto",
        "missing": "zero",
        "empty": "zero",
        "duplicates": "error",
        "extra": "ignore",
        "fold": "auto",
        "drop_self": "no",
        "precision": "double",
    }
    assert repr(gf.Policy()) == "Policy()"


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.name)
def test_every_answer_of_the_table_is_taken_and_no_other(choice):
    for answer in choice.answers:
        assert getattr(gf.Policy(**{choice.name: answer}), choice.name) == answer
    with pytest.raises(gf.errors.PolicyError, match=f"policy {choice.name}: expected"):
        gf.Policy(**{choice.name: "nonsense"})
    if choice.grade is None:
        with pytest.raises(gf.errors.PolicyError):
            gf.Policy(**{choice.name: 1.0})
    else:
        assert getattr(gf.Policy(**{choice.name: "-1"}), choice.name) == -1.0
        with pytest.raises(gf.errors.PolicyError):
            gf.Policy(**{choice.name: float("nan")})


def test_a_policy_suggests_what_was_meant():
    with pytest.raises(gf.errors.PolicyError, match="Did you mean 'average'"):
        gf.Policy(ties="averaged")


def test_every_family_says_what_it_is():
    for family in gf.measures.families():
        for fact in (
            family.title,
            family.definition,
            family.range,
            family.citation,
            str(family.example),
        ):
            assert fact
        for parameter in family.parameters:
            assert parameter.read(parameter.write(parameter.default)) == parameter.default
        assert family.cutoff in ("optional", "never", "always")
        assert family.aggregate in ("mean", "geometric mean", "sum", "run")
    names = [family.name for family in gf.measures.families()]
    assert len(names) == len(set(names))


def test_the_ends_of_a_family_are_those_that_its_range_names():
    for family in gf.measures.families(needs="grades"):
        low, high = family.ends
        assert low < high
        assert (low == 0) == (re.match("0 |from the floor|.*0 or more", family.range) is not None)
        assert (high == 1) == (re.search("(to|or|at most) 1( |,|$)", family.range) is not None)
        if family.example is not None and family.aggregate == "mean":
            assert low <= float(family.example.value) <= high


def test_a_cutoff_stands_where_the_family_has_one():
    for family in gf.measures.families():
        if family.cutoff == "never":
            if family.name not in ("IA", "nAUC"):  # whose measure has one
                with pytest.raises(gf.errors.MeasureError, match="no cutoff"):
                    gf.Measure(family.name, cutoff=5)
        else:
            assert gf.Measure(family.name, cutoff=5).cutoff == 5
        if family.cutoff == "always":
            with pytest.raises(gf.errors.MeasureError, match=f"such as {family.name}@10"):
                gf.Measure(family.name)
        else:
            assert gf.Measure(family.name).cutoff is None


def test_every_parameter_refuses_what_is_no_value_of_it():
    for family in gf.measures.families(needs="grades"):
        for parameter in family.parameters:
            for value in ("nonsense", float("nan"), None, True, ["x"]):
                with pytest.raises(gf.errors.MeasureError, match=parameter.name):
                    parameter.read(value)
