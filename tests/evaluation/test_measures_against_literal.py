"""Every family of the catalogue equals its literal formula, on tens of thousands of random lists."""

import functools
import math
import random
from typing import NamedTuple

import pytest

import gainful as gf
import literal_measures
from gainful.measures.measure import family as look_up
from oracles import LITERAL, ORACLES, vouched
from random_measures import (
    GRADES,
    as_dicts,
    expected,
    per_query,
    random_cutoff,
    random_list,
    random_parameters,
)

approx = functools.partial(pytest.approx, rel=1e-10, abs=1e-12, nan_ok=True)
EMPTY = {"zero": 0.0, "one": 1.0, "nan": math.nan}

# Where a list holds negative gains, the definition leaves open whether they are cumulated.
WITHOUT_NEGATIVE_GAINS = {"Q"}

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")


def random_lists(rng, count):
    """Lists of queries that have a judgment, one of them without a relevant document."""
    lists = [random_list(rng) for _ in range(count - 1)] + [random_list(rng, (0, -1))]
    return [
        (listed, unseen) if unseen or set(listed) - {None} else (listed, [0])
        for listed, unseen in lists
    ]


def negative_for(name, turn):
    """What negative gains do; with `both`, measures other than IDCG and nDCG do as with `keep`."""
    return "zero" if name in WITHOUT_NEGATIVE_GAINS else ("keep", "zero", "both")[turn % 3]


def as_judged(listed, unjudged):
    """The list that a policy sees, and what an unjudged document of it was given."""
    if unjudged == "condense":
        return [grade for grade in listed if grade is not None]
    if unjudged == "zero":
        return listed
    return [unjudged if grade is None else grade for grade in listed]


class Turn(NamedTuple):
    """Lists and a policy, what was drawn for each family, and the values of all, evaluated at once."""

    lists: list
    choices: dict
    drawn: dict  # {family: {measure: its settings}}
    found: dict


@functools.cache
def turns():
    return [turn(number) for number in range(36)]


def turn(number):
    rng = random.Random(number)  # noqa: S311
    choices = {
        "empty": rng.choice(tuple(EMPTY)),
        "unjudged": rng.choice(("zero", "zero", "condense", 1, 0, -1)),
    }
    lists = random_lists(rng, 10)
    drawn = {
        name: {
            gf.Measure(name, cutoff=k, **parameters): {"k": k, **parameters}
            for k, parameters in (
                random_settings(rng, look_up(name), negative_for(name, number)) for _ in range(3)
            )
        }
        for name in vouched(LITERAL)
    }
    found = {}
    for negative in {negative_for(name, number) for name in drawn}:
        measures = [
            each
            for name, some in drawn.items()
            if negative_for(name, number) == negative
            for each in some
        ]
        for query, values in per_query(
            *as_dicts(lists), measures, negative=negative, **choices
        ).items():
            found.setdefault(query, {}).update(values)
    return Turn(lists, choices, drawn, found)


def random_settings(rng, family, negative):
    parameters, k = random_parameters(rng, family), random_cutoff(rng, family)
    if negative == "both" and "norm" in parameters:
        parameters["norm"] = "ideal"  # the other is refused
    return k, parameters


@pytest.mark.parametrize("name", vouched(LITERAL))
def test_random_lists_parameters_cutoffs_and_policies(name):
    seen = set()
    for number, (lists, choices, drawn, found) in enumerate(turns()):
        for place, (listed, unseen) in enumerate(lists):
            for measure, settings in drawn[name].items():
                value = expected(
                    name,
                    as_judged(listed, choices["unjudged"]),
                    unseen,
                    EMPTY[choices["empty"]],
                    negative=negative_for(name, number),
                    **settings,
                )
                ours = found[f"q{place}"][str(measure)]
                assert ours == approx(value), (str(measure), choices, listed, unseen)
                seen.add(round(ours, 6))
    # What is always the same shows little; one for every query is meant to be.
    assert len(seen) > 10 or name in ("NumQ", "Success")


@functools.cache
def long_lists():
    """Three lists, what was drawn for each family, and the values of all, evaluated at once."""
    found = []
    for depth in (None, 500, 5000):
        rng = random.Random(f"long {depth}")  # noqa: S311
        listed = [None if rng.random() < 0.6 else rng.choice(GRADES) for _ in range(1000)]
        unseen = [rng.choice(GRADES) for _ in range(300)]
        drawn = {}
        for name in vouched(LITERAL):
            family = look_up(name)
            k = {"never": None, "always": depth or 1000, "optional": depth}[family.cutoff]
            parameters = random_parameters(rng, family)
            drawn[name] = gf.Measure(name, cutoff=k, **parameters), {"k": k, **parameters}
        run = {"q": {f"d{rank}": -rank for rank in range(1000)}}
        grades = {f"d{rank}": grade for rank, grade in enumerate(listed) if grade is not None}
        judgments = {"q": grades | {f"u{place}": grade for place, grade in enumerate(unseen)}}
        measures = [measure for measure, _ in drawn.values()]
        values = per_query(judgments, run, measures, negative="zero")["q"]
        found.append((listed, unseen, drawn, values))
    return found


@pytest.mark.parametrize("name", vouched(LITERAL))
def test_long_lists(name):
    """A thousand documents: sums are long, and ranks have four digits."""
    for listed, unseen, drawn, values in long_lists():
        measure, settings = drawn[name]
        value = expected(name, listed, unseen, negative="zero", **settings)
        assert values[str(measure)] == approx(value), str(measure)


@pytest.mark.parametrize("name", ORACLES)
def test_a_query_that_the_run_lacks_counts_as_zero(name):
    family = look_up(name)
    measure = gf.Measure(name, cutoff=3 if family.cutoff == "always" else None)
    judgments = {"q": {"a": 1, "b": 0, "c": 2}, "lacking": {"a": 1, "b": 2}}
    found = per_query(judgments, {"q": {"a": 2, "x": 1}}, measure)["lacking"][str(measure)]
    defaults = {parameter.name: parameter.default for parameter in family.parameters}
    for key, text in (("gain", "linear"), ("discount", "log")):
        if key in defaults:
            defaults[key] = text
    if family.needs_run:
        assert found == 0.0
    else:
        assert found == pytest.approx(literal_measures.value(name, [], [1, 2], **defaults))


@pytest.mark.parametrize("name", ["ERR", "nERR", "RBP", "SDCG", "INST", "INSQ", "BPM", "ETG"])
def test_a_grade_above_the_scale_is_refused(name):
    cutoff = 5 if look_up(name).cutoff == "always" else None
    measure = gf.Measure(name, cutoff=cutoff, max=2)
    assert per_query({"q": {"a": 2}}, {"q": {"a": 1}}, measure)["q"][str(measure)] > 0
    for judgments in ({"q": {"a": 3}}, {"q": {"a": 1, "not retrieved": 2.5}}):
        with pytest.raises(gf.errors.InputError, match=r"grades up to 2 .*max="):
            gf.evaluate(judgments, {"q": {"a": 1}}, measure)


def test_what_is_gained_is_added_without_rounding_before_it_is_compared():
    """Thirds, tenths: the user of BPM stops where the worth is T, whatever a float makes of it."""
    tenths = {f"d{rank}": 1 for rank in range(10)}
    run = {"q": {doc: -rank for rank, doc in enumerate(tenths)} | {f"x{n}": -90 for n in range(3)}}
    measure = gf.measure("BPM(K=20, max=10)")
    assert per_query({"q": tenths}, run, measure)["q"][str(measure)] == pytest.approx(0.1)
    thirds = {"a": 2, "b": 3, "c": 2, "d": 0.5}
    run = {"q": {"a": 9, "b": 8, "c": 7, "d": 6}}
    measure = gf.measure("BPM(T=2.5, max=query)")
    assert per_query({"q": thirds}, run, measure)["q"][str(measure)] == pytest.approx(2.5 / 4)
