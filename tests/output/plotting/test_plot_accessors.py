"""`comparison.plot`, `scores.plot` and `curve.plot`: the numbers in the charts are those of the results."""

import math
import pickle

import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1, "b": 1}}
OLD = {"q1": {"x": 2, "a": 1}, "q2": {"a": 2, "x": 1}, "q3": {"a": 3, "x": 2, "b": 1}}
NEW = {"q1": {"a": 2, "x": 1}, "q2": {"x": 2, "a": 1}, "q3": {"a": 3, "x": 2, "b": 1}}
NONE = {"q1": {"x": 1}, "q2": {"y": 1}, "q3": {"z": 3, "y": 2, "b": 1}}
SECOND = 1 / math.log2(3)  # the nDCG of one good document in second place


@pytest.fixture(scope="module")
def found():
    runs = {"old": OLD, "new": NEW, "none": NONE}
    return gf.compare(JUDGMENTS, runs, ["nDCG@10", "P@2"], interval="t", resamples=200)


def rows(chart):
    return chart.to_dict()["data"]["values"]


def test_differences_by_hand(found):
    shown = rows(found.plot.differences())
    assert [row["query"] for row in shown] == ["q2", "q3", "q1"]
    assert [row["place"] for row in shown] == [0, 1, 2]
    assert [row["difference"] for row in shown] == pytest.approx([SECOND - 1, 0, 1 - SECOND])
    assert [(row["base"], row["run"]) for row in shown][::2] == [(1.0, SECOND), (SECOND, 1.0)]
    assert [row["outcome"] for row in shown] == ["worse", "same", "better"]


def test_differences_of_another_run_measure_and_base(found):
    shown = rows(found.plot.differences("none", "P@2", base="new"))
    assert {row["query"]: row["difference"] for row in shown} == {
        "q1": -0.5,
        "q2": -0.5,
        "q3": -0.5,
    }
    assert rows(found.plot.differences(run="none", measure=gf.measure("P@2"), base="new")) == shown
    back = rows(found.plot.differences("new", "P_2", base="none"))  # trec_eval's spelling
    assert [row["difference"] for row in back] == [0.5] * 3


def test_a_scatter_has_the_same_queries(found):
    assert rows(found.plot.scatter("new", "nDCG@10")) == rows(found.plot.differences("new"))


def test_intervals_are_those_of_the_comparison(found):
    shown = rows(found.plot.intervals())
    assert len(shown) == 4
    for row in shown:
        difference = found[row["run"], row["measure"]]
        assert (row["difference"], row["verdict"]) == (
            difference.difference,
            difference.verdict.word,
        )
        assert (row["low"], row["high"]) == (difference.interval.low, difference.interval.high)


def test_one_query_has_no_interval():
    found = gf.comparison.compare_scores({"a": {"q": 0.5}, "b": {"q": 0.7}})
    (row,) = rows(found.plot.intervals())
    assert (row["low"], row["high"], row["verdict"]) == (None, None, "inconclusive")


def test_all_pairs_name_their_bases():
    found = gf.compare(JUDGMENTS, {"old": OLD, "new": NEW, "none": NONE}, pairs="all")
    spec = found.plot.intervals().to_dict()
    assert "datum.base" in spec["transform"][0]["calculate"]
    assert len(spec["data"]["values"]) == 3


def test_distributions_have_a_score_for_each_query(found):
    shown = rows(found.plot.distribution())
    assert [row["run"] for row in shown] == ["old"] * 3 + ["new"] * 3 + ["none"] * 3
    assert sum(row["score"] for row in shown[:3]) / 3 == found["new", "nDCG@10"].baseline_mean
    scores = gf.evaluate(JUDGMENTS, OLD, ["P@2", "nDCG@10"])
    assert rows(scores.plot.distribution("ndcg_cut_10", name="old")) == shown[:3]
    assert [row["score"] for row in rows(scores.plot.distribution())] == [0.5, 0.5, 0.5]


def test_a_query_that_does_not_count_is_not_drawn():
    scores = gf.evaluate(JUDGMENTS, {"q1": OLD["q1"]}, policy=gf.Policy(missing="skip"))
    assert rows(scores.plot.distribution()) == [{"run": "run", "score": SECOND}]


def test_a_curve_is_the_measure_at_each_cutoff(found):
    shown = {(row["run"], row["k"]): row["value"] for row in rows(found.plot.curve(upto=12))}
    assert len(shown) == 3 * 12
    for name, run in (("old", OLD), ("new", NEW), ("none", NONE)):
        curve = gf.curve(JUDGMENTS, run, "nDCG", upto=12)
        assert [shown[name, k] for k in range(1, 13)] == curve.means
        alone = gf.evaluate(JUDGMENTS, run, "nDCG@3").plot.curve(upto=12, name=name)
        assert rows(alone) == [{"run": name, "k": k, "value": shown[name, k]} for k in range(1, 13)]
        assert rows(gf.curve(JUDGMENTS, run, upto=12).plot(name=name)) == rows(alone)
    assert shown["old", 10] == found["new", "nDCG@10"].baseline_mean
    assert shown["old", 1] == pytest.approx(2 / 3)


def test_a_curve_of_another_measure_and_some_runs(found):
    chart = found.plot.curve("P@7", runs=["new"], upto=2)
    assert [(row["run"], row["k"], row["value"]) for row in rows(chart)] == [
        ("new", 1, pytest.approx(2 / 3)),
        ("new", 2, 0.5),
    ]
    assert "mean P@k" in str(chart.to_dict())


def test_a_curve_deeper_than_what_was_matched_reads_the_lists_again():
    deep = {"q": {f"x{at}": 100 - at for at in range(40)} | {"a": 1}}
    judgments = {"q": {"a": 1}}
    scores = gf.evaluate(judgments, deep, "nDCG@5")
    values = [row["value"] for row in rows(scores.plot.curve(upto=41))]
    assert values[:40] == [0.0] * 40
    assert values[40] == pytest.approx(1 / math.log2(42))


def test_a_curve_ends_with_the_longest_list_or_pool():
    names = [f"d{at}" for at in range(130)]
    judgments = {"q": dict.fromkeys(names[:110], 1), "p": {"d0": 1}}
    run = {"q": {name: 200 - at for at, name in enumerate(names[:30])}, "p": {"x": 1}}
    deep = {"q": run["q"], "p": {name: 200 - at for at, name in enumerate(names)}}
    short = {"q": {"d0": 1}, "p": {"x": 1}}
    for each, last in ((run, 110), (deep, 130)):  # the pool of q, the list of p
        scores = gf.evaluate(judgments, each, "P@5")
        assert [row["k"] for row in rows(scores.plot.curve(upto=10**9))] == [*range(1, last + 1)]
        assert len(rows(scores.plot.curve(upto=105))) == 105
    found = gf.compare(judgments, {"run": run, "deep": deep}, "nDCG@10", resamples=50)
    shown = rows(found.plot.curve("P", upto=10**9))
    assert [row["k"] for row in shown] == [*range(1, 131)] * 2
    assert shown[129]["value"] == pytest.approx(30 / 130 / 2)  # at 130, over both queries
    alone = gf.evaluate({"q": {"d0": 1}, "p": {"x": 1}}, short, "nDCG@10").plot
    assert [row["value"] for row in rows(alone.curve(upto=10**9))] == [1.0] * 100


def test_a_mean_that_is_no_number_is_not_drawn_and_said():
    judgments = {**JUDGMENTS, "empty": {"a": 0}}
    policy = gf.Policy(empty="nan")
    runs = {name: {**run, "empty": {"a": 1}} for name, run in (("old", OLD), ("new", NEW))}
    scores = gf.evaluate(judgments, runs["old"], "nDCG@10", policy=policy)
    curve = gf.curve(judgments, runs["old"], upto=5, policy=policy)
    for draw in (lambda: scores.plot.curve(upto=5, name="old"), lambda: curve.plot(name="old")):
        with pytest.warns(gf.errors.GainfulWarning, match="'old' has no value at 5 cutoffs"):
            chart = draw()
        assert rows(chart) == []


def test_a_curve_is_over_the_queries_that_are_compared():
    policy = gf.Policy(missing="skip")
    found = gf.compare(JUDGMENTS, {"old": OLD, "part": {"q2": OLD["q2"]}}, policy=policy)
    assert {row["run"]: row["value"] for row in rows(found.plot.curve(upto=1))} == {
        "old": 1.0,
        "part": 1.0,
    }


def test_the_measure_of_a_curve_where_none_has_a_cutoff():
    scores = gf.evaluate(JUDGMENTS, OLD, "RBP")
    assert "mean nDCG@k" in str(scores.plot.curve(upto=2).to_dict())


def test_arrays_have_curves_too():
    scores = gf.evaluate_arrays(labels=[[0, 1]], scores=[[2, 1]], measures="nDCG@1")
    assert [row["value"] for row in rows(scores.plot.curve(upto=2))] == [0.0, SECOND]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda plot: plot.differences("nwe"), r"run: .*Did you mean 'new'\?"),
        (lambda plot: plot.differences(base="odl"), r"base: .*Did you mean 'old'\?"),
        (
            lambda plot: plot.scatter(measure="P@1"),
            r"a measure that was compared.*Choices: nDCG@10, P@2",
        ),
        (lambda plot: plot.distribution("AP"), r"a measure that was compared, found 'AP'"),
        (lambda plot: plot.curve(runs=["nwe"]), r"Did you mean 'new'\?"),
        (lambda plot: plot.curve(runs=[]), "at least one run"),
        (lambda plot: plot.curve("bpref"), "a measure with a cutoff"),
        (lambda plot: plot.curve(upto=0), "a positive integer"),
        (lambda plot: plot.intervals(theme="drak"), "Did you mean 'dark'"),
    ],
)
def test_what_is_not_there_is_named(found, call, message):
    with pytest.raises(gf.errors.GainfulError, match=message):
        call(found.plot)


def test_scores_without_rankings_have_no_curve():
    found = gf.comparison.compare_scores({"a": {"q": 0.5}, "b": {"q": 0.7}})
    with pytest.raises(gf.errors.InputError, match=r"without rankings.*gf\.curve"):
        found.plot.curve()
    measures = ["alpha_nDCG@5"]
    subtopics = gf.subtopics.evaluate_subtopics({"q": {"t": {"a": 1}}}, {"q": {"a": 1}}, measures)
    assert rows(subtopics.plot.distribution()) == [{"run": "run", "score": 1.0}]
    with pytest.raises(gf.errors.MeasureError, match="subtopics in addition to judgments and run"):
        subtopics.plot.curve()


def test_a_saved_baseline_has_no_curve(tmp_path):
    gf.comparison.save_baseline(gf.evaluate(JUDGMENTS, OLD), tmp_path / "old.json")
    found = gf.compare(JUDGMENTS, {"old": tmp_path / "old.json", "new": NEW})
    with pytest.raises(gf.errors.InputError, match=r"'old', a saved baseline.*runs=\['new'\]"):
        found.plot.curve()
    assert {row["run"] for row in rows(found.plot.curve(runs=["new"]))} == {"new"}


def test_a_pickled_comparison_has_its_charts_but_no_rankings(found):
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert rows(again.plot.differences()) == rows(found.plot.differences())
    with pytest.raises(gf.errors.InputError, match="without rankings"):
        again.plot.curve()


def test_the_charts_are_made_once(found):
    assert found.plot is found.plot
