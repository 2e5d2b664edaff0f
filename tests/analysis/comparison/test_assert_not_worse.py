"""`assert_not_worse`: a gate for a test suite."""

import math
import warnings

import pytest
from generated_runs import collection
from scipy import stats

import gainful as gf

QUERIES = 40


@pytest.fixture(scope="module")
def runs():
    """`worse` puts the relevant document second in every other query: RR falls by 0.25."""
    judgments = {f"q{at}": {"a": 1} for at in range(QUERIES)}
    good = {query: {"a": 2, "b": 1} for query in judgments}
    worse = {query: {"a": 2, "b": 1 + 2 * (at % 2)} for at, query in enumerate(judgments)}
    return judgments, good, worse


def ends(level=0.95):
    """The interval of 20 differences of 0 and 20 of −½."""
    spread = math.sqrt(QUERIES * 0.25**2 / (QUERIES - 1))
    return stats.t.interval(level, QUERIES - 1, -0.25, spread / math.sqrt(QUERIES))


def test_a_run_that_is_not_worse_passes_and_returns_the_comparison(runs):
    judgments, good, worse = runs
    found = gf.assert_not_worse(judgments, worse, good, "RR")
    assert (found.baseline, found.runs, found.measures) == ("base", ("base", "run"), ("RR",))
    assert found.differences[0].difference == 0.25
    same = gf.assert_not_worse(judgments, good, good, ["RR", "nDCG@10"])
    assert [one.difference for one in same.differences] == [0, 0]


def test_a_run_that_is_worse_fails_with_the_interval(runs):
    judgments, good, worse = runs
    low, high = ends()
    with pytest.raises(AssertionError) as problem:
        gf.assert_not_worse(judgments, good, worse, "RR")
    assert str(problem.value) == (
        "RR of run is below that of base by more than 0: "
        f"-0.2500, 95% interval {low:+.4f} to {high:+.4f}"
    )


@pytest.mark.parametrize(("within", "passes"), [(-0.001, True), (0.001, False)])
def test_the_tolerance_is_met_by_the_end_of_the_interval(runs, within, passes):
    judgments, good, worse = runs
    _, high = ends()
    tolerance = -high - within
    if passes:
        gf.assert_not_worse(judgments, good, worse, "RR", tolerance=tolerance)
    else:
        with pytest.raises(AssertionError, match=f"by more than {tolerance:g}: "):
            gf.assert_not_worse(judgments, good, worse, "RR", tolerance=tolerance)


@pytest.mark.parametrize("count", [5, 12])
def test_what_cannot_be_decided_passes(count):
    judgments, runs = collection(queries=count)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = gf.assert_not_worse(judgments, runs["old"], runs["new"])
    said = "too few queries for an interval (5; at least 10 needed). The assertion did not run: add queries."
    assert [said in str(each.message) for each in told] == [True] * (count < 10)
    assert found.differences[0].verdict.word == "inconclusive"


def test_every_measure_that_fails_is_named_and_they_share_the_level(runs):
    judgments, good, worse = runs
    low, high = ends(0.975)
    with pytest.raises(AssertionError) as problem:
        gf.assert_not_worse(judgments, good, worse, ["RR", "P@1"])
    assert f"RR of run is below that of base by more than 0: -0.2500, 97.5% interval {low:+.4f} to {high:+.4f}; P@1 of run is below" in str(problem.value)  # fmt: skip
    with pytest.raises(AssertionError) as problem:
        gf.assert_not_worse(judgments, good, worse, ["CG@2", "RR"])
    assert "CG" not in str(problem.value)


def test_measures_from_anything_that_can_be_gone_through_once(runs):
    judgments, good, _ = runs
    found = gf.assert_not_worse(judgments, good, good, (name for name in ["RR", "ndcg_cut_10"]))
    assert found.measures == ("RR", "nDCG@10")


def test_a_saved_baseline_is_a_base(runs, tmp_path):
    judgments, good, worse = runs
    scores = gf.evaluate(judgments, good, "RR")
    gf.comparison.save_baseline(scores, tmp_path / "main.json")
    for base in (
        tmp_path / "main.json",
        str(tmp_path / "main.json"),
        gf.results.Baseline.of(scores),
    ):
        assert gf.assert_not_worse(judgments, base, good, "RR").changed == ()
        with pytest.raises(AssertionError, match="RR of run"):
            gf.assert_not_worse(judgments, base, worse, "RR")


def test_options_are_those_of_compare(runs):
    judgments, good, worse = runs
    _, high = ends()
    with pytest.raises(AssertionError, match=r"99\.99% interval"):
        gf.assert_not_worse(judgments, good, worse, "RR", level=0.9999)
    gf.assert_not_worse(judgments, good, worse, "RR", level=0.9999, tolerance=-high)
    found = gf.assert_not_worse(judgments, good, good, by="judged", policy=gf.Policy(ties="best"))
    assert found.slices
    assert "ties=best" in found.policy


@pytest.mark.parametrize("tolerance", [-0.01, math.nan, math.inf, True, "0.01", None])
def test_a_tolerance_that_is_none(runs, tolerance):
    judgments, good, _ = runs
    with pytest.raises(
        gf.errors.InputError, match="tolerance: expected a non-negative number, found"
    ):
        gf.assert_not_worse(judgments, good, good, tolerance=tolerance)


def test_bad_input_is_an_error_and_no_failure_of_the_run(runs):
    judgments, good, _ = runs
    with pytest.raises(gf.errors.MeasureError, match="Did you mean 'nDCG'"):
        gf.assert_not_worse(judgments, good, good, "nDGC")
    with pytest.raises(gf.errors.GainfulError, match=r"none\.run"):
        gf.assert_not_worse(judgments, good, "none.run")
    with pytest.raises(TypeError, match="baseline"):
        gf.assert_not_worse(judgments, good, good, baseline="run")
