"""Every public value, and every result, can be pickled and copied: what comes back is the same."""

import copy
import pickle

import pytest

import gainful as gf
from every_case import assert_every_case
from misused_calls import RESULTS, results

WAYS = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
FAMILIES = (
    *gf.measures.families(),
    *gf.subtopics.subtopic_catalogue(),
    *gf.recommending.recommendation_catalogue(),
)
VALUES = {
    **{f"family {one.name}": one for one in FAMILIES},
    **{f"dialect {one.name}": one for one in gf.measures.dialects()},
    **{f"choice {one.name}": one for one in gf.measures.choices()},
    "measure": gf.measure("nDCG(gain=exp2)@10"),
    "policy": gf.Policy(ties="average", unjudged=1),
    "engine": gf.Engine(memory="1GB"),
    "loss": gf.losses.loss("nDCG@10", temperature=0.5),
}


@pytest.mark.parametrize("way", WAYS)
def test_values_are_equal_after_a_round_trip(way):
    def check(name):
        value = VALUES[name]
        again = WAYS[way](value)
        assert again == value
        assert repr(again) == repr(value)

    assert_every_case(check, VALUES)


def test_a_family_still_reads_after_a_round_trip():
    for family in FAMILIES:
        again = WAYS["pickle"](family)
        for parameter in family.parameters:
            default = parameter.write(parameter.default)
            assert again.parameter(parameter.name).read(default) == parameter.default
            with pytest.raises(gf.errors.MeasureError):
                again.parameter(parameter.name).read(object())


def test_a_dialect_still_measures_after_a_round_trip():
    judgments, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    for dialect in gf.measures.dialects():
        again = WAYS["pickle"](dialect)
        expected, found = (
            gf.evaluate(judgments, run, "nDCG@10", dialect=one).means for one in (dialect, again)
        )
        assert expected == found


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("results"))
        return results()


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_results_print_the_same_after_a_round_trip(made, name):
    result = made[name]
    again = WAYS["pickle"](result)
    assert type(again) is type(result)
    assert str(again) == str(result)
    if hasattr(result, "table"):
        assert gf.writing.render(again) == gf.writing.render(result)
        assert gf.writing.render(again, "csv") == gf.writing.render(result, "csv")
