"""`which`: the ways that give a number."""

import json

import pytest

import gainful as gf
from random_runs import random_case

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

NAMES = [each.name for each in gf.measures.dialects()]
JUDGMENTS = {"q": {"a": 1, "b": 2, "c": 0, "x": 3}, "e": {"a": 0}}
RUN = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "u": 1.0}, "e": {"a": 1.0}}


def test_a_base_that_other_discounts_would_refuse():
    other = gf.evaluate(JUDGMENTS, RUN, "nDCG(discount=reciprocal)@4").means.values()
    found = gf.explanation.which(
        JUDGMENTS, RUN, "nDCG(discount=jarvelin, base=3)@4", got=next(iter(other))
    ).found
    assert (found[0].way.name, found[0].change) == ("gainful", "discount=reciprocal")
    assert str(found[0].way.measure) == "nDCG(discount=reciprocal)@4"


def means(judgments, run, measure):
    for name in NAMES:
        try:
            (value,) = gf.evaluate(judgments, run, measure, dialect=name).means.values()
        except gf.errors.GainfulError:
            continue
        yield name, value


@pytest.mark.parametrize(
    ("seed", "grades", "measure"), [(5, (1, 2, 3), "nDCG"), (8, (-1, 0, 0.5, 1, 2), "nDCG@3")]
)
def test_every_dialect_is_found_by_its_number(seed, grades, measure, deep):
    judgments, run = random_case(seed, grades=grades, queries=9, documents=8)
    if seed == 5:  # no query is missing or empty, so that no tool refuses
        judgments = {query: judgments[query] for query in judgments if query in run}
    by_number = {}
    for name, value in means(judgments, run, measure):
        by_number.setdefault(f"{value:.4f}", set()).add(name)
    if seed == 5:
        assert set.union(*by_number.values()) == set(NAMES)
    assert len(by_number) > 3
    if seed == 8 and not deep:  # every tool is among the others
        by_number = dict(list(by_number.items())[::3])
    for got, names in by_number.items():
        found = gf.explanation.which(judgments, run, measure, got=got)
        names = names - {"ragas"}  # which has none, and is not named
        assert names == {each.way.name for each in found.found if not each.change} - {"gainful"}
        assert all(f"{each.value:.4f}" == got for each in found.found)
        assert found.nearest == ()
        assert not found.percent


def test_a_tool_with_one_choice_changed():
    """LightGBM with 0 for queries without positive gain, as nobody has it by itself at this cutoff."""
    tool = gf.measures.dialect("lightgbm")
    policy = gf.Policy(ties="order", missing="skip", empty="skip")
    (value,) = gf.evaluate(JUDGMENTS, RUN, tool.measure("nDCG@4"), policy=policy).means.values()
    found = gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=f"{value:.6f}")
    assert ("lightgbm", "empty=skip") in {(each.way.name, each.change) for each in found.found}


def test_a_change_is_told_only_of_tools_that_do_not_give_the_number_unchanged():
    value = gf.evaluate(JUDGMENTS, RUN, "nDCG@4")["nDCG@4"]
    found = gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=f"{value:.4f}")
    plain = {each.way.name for each in found.found if not each.change}
    assert {"gainful", "pytrec_eval", "ranx"} <= plain
    assert not any(each.change and each.way.name in plain for each in found.found)


@pytest.mark.parametrize(
    ("got", "percent"),
    [("23.75", True), ("0.2375", False), ("24", True), ("23.75%", True), (" 23.7 % ", True)],
)
def test_percentages(got, percent):
    """0.475 and an empty query: 0.2375, or 23.75 %; a query that is 1 or no number does not matter."""
    found = gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=got)
    assert found.percent == percent
    assert "trec_eval-9" in {each.way.name for each in found.found}
    assert all(abs(each.value - 0.2375) < 0.006 for each in found.found)
    silent = not percent or "%" in got  # as it is written
    assert (
        f"{got} is read as a percentage, because no value here is above 1." in str(found)
    ) != silent
    assert found.to_dict()["percent"] == percent


def test_a_sign_is_taken_at_its_word():
    """0.2375 % is 0.002375, and 2375 % is 23.75."""
    for got in ("0.2375%", "2375%"):
        found = gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=got)
        assert (found.percent, found.found) == (True, ())
        assert f"No way gives {got}" in str(found)


@pytest.mark.parametrize("got", ["2375", "100.01", "1e9"])
def test_what_is_above_a_hundred_is_no_percentage(got):
    found = gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=got)
    assert (found.percent, found.found) == (False, ())
    assert f"No way gives {got}" in str(found)
    assert f"{got} is above 100, so it is not read as a percentage." in str(found)


def test_a_percentage_that_no_way_gives():
    found = gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got="99.99")
    assert (found.percent, found.found) == (True, ())
    assert "99.99 is read as a percentage" in str(found)
    assert all(each.value <= 1 for each in found.nearest)


def test_a_number_above_one_of_a_measure_that_has_them():
    value = gf.evaluate(JUDGMENTS, RUN, "DCG@4")["DCG@4"]
    assert value > 1
    found = gf.explanation.which(JUDGMENTS, RUN, "DCG@4", got=f"{value:.3f}")
    assert not found.percent
    assert "gainful" in {each.way.name for each in found.found}


def test_the_digits_that_are_known():
    """0.5 is anything from 0.45 to 0.55, 0.50 much less."""
    wide, narrow = (
        {
            (each.way.name, each.change)
            for each in gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=got).found
        }
        for got in ("0.2", "0.24")
    )
    assert ("trec_eval-9", "") in narrow
    assert len(wide) > len(narrow)
    assert (
        gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=0.24).found
        == gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=" 0.24 ").found
    )


def test_no_way_gives_it():
    found = gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got="0.111111")
    assert found.found == ()
    assert len(found.nearest) == 5
    distances = [abs(each.value - 0.111111) for each in found.nearest]
    assert distances == sorted(distances)
    assert found.tried > 300
    text = str(found)
    assert "No way gives 0.111111" in text
    assert "No way gives the number; these are the nearest" in text


def test_gainful_under_a_policy():
    policy = gf.Policy(ties="worst", unjudged=2)
    value = gf.evaluate(JUDGMENTS, RUN, "nDCG@4", policy=policy)["nDCG@4"]
    found = gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=f"{value:.6f}", policy=policy)
    assert (found.found[0].way.name, found.found[0].change) == ("gainful", "")
    assert "gainful" not in {
        each.way.name
        for each in gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got=f"{value:.6f}").found
    }


@pytest.mark.parametrize(
    "got", ["", "abc", "nan", "inf", "0,42", "1e999", "0.4.2", "%", "4%2", "42%%", True]
)
def test_what_is_no_number(got):
    with pytest.raises(
        gf.errors.InputError, match=r"got: expected a number such as 0\.4231 or 42\.31%"
    ):
        gf.explanation.which(JUDGMENTS, RUN, got=got)


def test_what_cannot_be_measured_at_all_is_an_error():
    with pytest.raises(gf.errors.InputError, match=r"none\.qrels"):
        gf.explanation.which("none.qrels", RUN, got="0.5")
    with pytest.raises(gf.errors.MeasureError, match="catalogue"):
        gf.explanation.which(JUDGMENTS, RUN, "nope", got="0.5")
    with pytest.raises(gf.errors.InputError, match="query"):
        gf.explanation.which({"other": {"a": 1}}, RUN, got="0.5")


def test_as_plain_values():
    found = gf.explanation.which(JUDGMENTS, RUN, "nDCG@4", got="0.2375")
    plain = json.loads(found.to_json())
    assert plain == found.to_dict()
    assert plain["found"][0]["tool"] == "gainful"
    assert plain["found"][0]["policy"]["ties"] == "doc"
    assert plain["tried"] == found.tried
    assert "<table" in found._repr_html_()
    for name in gf.writing.formats():
        assert "gainful" in gf.writing.render(found, name)
