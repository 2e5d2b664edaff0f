"""The interval of the mean of one run: by hand, by formula, and by what a user types."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import gainful as gf

JUDGMENTS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"a": 1}}
# Ranks 1, 2, 4, and nothing found: RR 1, 1/2, 1/4, 0.
RUN = {
    "q1": {"a": 9, "x": 8},
    "q2": {"x": 9, "a": 8},
    "q3": {"x": 9, "y": 8, "z": 7, "a": 6},
    "q4": {"x": 9},
}


def placed(ranks):
    """Judgments and a run in which the one relevant document of each query stands at a rank."""
    judgments = {f"q{i}": {"a": 1} for i in range(len(ranks))}
    run = {
        f"q{i}": {**{f"x{j}": -j for j in range(rank - 1)}, "a": -rank}
        for i, rank in enumerate(ranks)
    }
    return judgments, run


def test_by_hand():
    found = gf.evaluate(JUDGMENTS, RUN, "RR").interval("RR", method="t")
    # mean 7/16; squares about it sum to 70/128, over 3 is a variance of 0.182292; sd/√4 = 0.213478;
    # Student's t with 3 degrees of freedom is 3.182446 at 97.5%.
    # That is −0.242 to 1.117, and an RR lies from 0 to 1.
    assert (found.low, found.high) == (0, 1)
    assert (found.level, found.method, found.note) == (0.95, "t", "")
    found = gf.evaluate(JUDGMENTS, RUN, "RR").interval("RR", method="t", level=0.5)
    assert found.low == pytest.approx(7 / 16 - 0.764892 * 0.213478, abs=1e-5)
    assert found.high == pytest.approx(7 / 16 + 0.764892 * 0.213478, abs=1e-5)


@given(st.lists(st.integers(1, 12), min_size=2, max_size=30), st.floats(0.5, 0.999))
def test_it_is_that_of_student(ranks, level):
    scores = gf.evaluate(*placed(ranks), ["AP", "RR"])
    values = 1 / np.array(ranks)
    found = scores.interval("RR", method="t", level=level)
    if len(set(ranks)) == 1:
        assert found.low == found.high == pytest.approx(values[0])
        assert "all queries have the same value" in found.note
        return
    wanted = stats.t.interval(level, len(ranks) - 1, values.mean(), stats.sem(values))
    wanted = [min(max(end, 0), 1) for end in wanted]
    assert (found.low, found.high) == pytest.approx(wanted, rel=1e-9)
    # With Hall's correction an end is moved out, never in.
    hall = scores.interval("RR", level=level)
    assert hall.low <= found.low
    assert hall.high >= found.high
    assert hall.known == (len(ranks) >= 10)
    assert found.low < scores["RR"] < found.high
    assert found.low >= 0
    assert found.high <= 1


@pytest.mark.parametrize("method", ["hall", "t", "bca"])
def test_it_is_that_of_the_difference_from_a_run_that_finds_nothing(method):
    ranks = [1, 2, 1, 7, 3, 1, 10, 2, 4, 1, 1, 5]
    scores = gf.evaluate(*placed(ranks), "RR")
    nothing = dict.fromkeys(scores.queries, 0.0)
    own = {row["query"]: row["RR"] for row in scores.per_query}
    wanted = gf.comparison.compare_scores(
        {"none": nothing, "run": own}, interval=method, level=0.9, seed=3
    )
    found = scores.interval(method=method, level=0.9, seed=3)
    assert found == wanted.differences[0].interval


def test_resamples_and_seed_are_those_of_the_bootstrap():
    scores = gf.evaluate(*placed([1, 2, 3, 4, 5, 6, 1, 2, 9]), "RR")
    one = scores.interval("RR", method="bca", resamples=500, seed=1)
    assert one == scores.interval("RR", method="bca", resamples=500, seed=1)
    assert one != scores.interval("RR", method="bca", resamples=500, seed=2)
    assert one.resamples == 500


def test_only_queries_that_count_count():
    judgments = {**JUDGMENTS, "empty": {"a": 0}, "missing": {"a": 1}}
    run = {**RUN, "empty": {"a": 1}}
    policy = gf.Policy(missing="skip", empty="skip_all")
    found = gf.evaluate(judgments, run, ["RR", "nDCG@10"], policy=policy).interval("RR")
    assert found == gf.evaluate(JUDGMENTS, RUN, "RR").interval("RR")
    # Under the defaults both count as 0, in the mean as in its interval.
    scores = gf.evaluate(judgments, run, "RR")
    wanted = stats.t.interval(0.95, 5, 1.75 / 6, stats.sem([1, 0.5, 0.25, 0, 0, 0]))
    found = scores.interval("RR", method="t")
    assert (found.low, found.high) == pytest.approx((0, wanted[1]))  # an RR is not below 0


def test_the_interval_of_a_geometric_mean_is_that_of_the_logarithms():
    ranks = [1, 2, 4, 3, 8]
    scores = gf.evaluate(*placed(ranks), "GMAP")
    logs = np.log(1 / np.array(ranks))
    low, high = stats.t.interval(0.95, 4, logs.mean(), stats.sem(logs))
    found = scores.interval("GMAP", method="t")
    assert (found.low, found.high) == pytest.approx((math.exp(low), min(1, math.exp(high))))
    assert found.low < scores["GMAP"] < found.high
    one = gf.evaluate(*placed([3]), "GMAP").interval()
    assert (one.known, one.note) == (False, "one query, no interval")


def test_of_one_query_nothing_is_known():
    scores = gf.evaluate(*placed([2]), "RR")
    found = scores.interval()
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert "one query" in found.note
    assert gf.writing.render(scores, "csv", interval="hall").splitlines()[1] == "run,RR,0.5,,,1"
    assert "one query, no interval" in gf.writing.render(scores, interval="hall")
    plain = json.loads(gf.writing.render(scores, "json", interval="t"))["runs"][0]["intervals"][
        "RR"
    ]
    assert (plain["low"], plain["high"]) == (None, None)


def test_measures_are_found_in_any_spelling_and_the_first_if_none_is_named():
    scores = gf.evaluate(JUDGMENTS, RUN, ["nDCG@10", "RR"])
    assert scores.interval("ndcg_cut_10") == scores.interval() == scores.interval("nDCG@10")
    found = scores.interval(gf.measure("RR"), method="t", level=0.5)
    assert found == scores.interval("recip_rank", method="t", level=0.5)
    assert found != scores.interval(method="t", level=0.5)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"measure": "P@5"}, "a measure that was evaluated"),
        ({"measure": "NumRel"}, "one that is summed over them"),
        (
            {"method": "normal"},
            "method: expected hall or t or bca or betting or asymptotic, found 'normal'",
        ),
        ({"level": 95}, "level: expected a number above 0 and below 1, found 95"),
        ({"resamples": 0}, "resamples"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_told_is_refused(arguments, told):
    scores = gf.evaluate(JUDGMENTS, RUN, ["RR", "NumRel"])
    with pytest.raises(gf.errors.InputError, match=told):
        scores.interval(**arguments)


def test_undefined_values_are_refused_and_left_empty_in_a_table():
    judgments = {**JUDGMENTS, "empty": {"a": 0}}
    scores = gf.evaluate(judgments, RUN, "nDCG@10", policy=gf.Policy(empty="nan"))
    with pytest.raises(gf.errors.InputError, match=r"1 of 5 undefined.*empty=skip") as refused:
        scores.interval()
    assert refused.value.choice == "empty=nan"
    assert gf.writing.render(scores, "csv", interval="hall").endswith("nDCG@10,,,,5")


def test_values_that_are_too_large_are_refused_with_the_name_of_the_measure():
    judgments = {"q1": {"a": 1e308}, "q2": {"a": 1}}
    scores = gf.evaluate(judgments, {"q1": {"a": 1}, "q2": {"a": 1}}, "CG")
    with pytest.raises(gf.errors.InputError, match=r"^CG: expected numbers up to"):
        scores.interval(method="t")


def test_every_kind_of_scores_has_one():
    labels = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    arrays = gf.evaluate_arrays(labels=labels, scores=[[3, 2, 1]] * 4, measures="RR")
    wanted = stats.t.interval(0.95, 3, np.mean([1, 1 / 2, 1 / 3, 1 / 2]),
                              stats.sem([1, 1 / 2, 1 / 3, 1 / 2]))  # fmt: skip
    found = arrays.interval(method="t")
    assert (found.low, found.high) == pytest.approx((wanted[0], min(wanted[1], 1)))
    judged = {query: {"t1": {"a": 1}, "t2": {"x": 1}} for query in RUN}
    subtopics = gf.subtopics.evaluate_subtopics(judged, RUN, ["alpha_nDCG@5", "P_IA@2"])
    values = [row["P_IA@2"] for row in subtopics.per_query]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    found = subtopics.interval("P_IA@2", method="t")
    assert (found.low, found.high) == pytest.approx((max(low, 0), min(high, 1)))


def test_a_table_has_a_row_for_each_run_and_measure():
    runs = gf.evaluate_runs(JUDGMENTS, {"one": RUN, "two": {"q1": {"a": 1}}}, ["RR", "NumRel"])
    rows = gf.results.Scores.intervals_table(runs, level=0.9).records()
    assert [(row["run"], row["measure"]) for row in rows] == [
        ("one", "RR"), ("one", "NumRel"), ("two", "RR"), ("two", "NumRel"),
    ]  # fmt: skip
    interval = runs["one"].interval("RR", level=0.9)
    assert rows[0] == {
        "run": "one", "measure": "RR", "mean": 7 / 16,
        "90% low": None, "90% high": None, "queries": 4,
    }  # fmt: skip
    assert rows[1]["90% low"] is None
    shown = gf.writing.render(runs, interval="hall", level=0.9, digits=2)
    assert "90% interval of each mean on its own, by Student's t and Hall's correction" in shown
    assert shown.count("too few queries for an interval (4; at least 10 needed)") == 1
    assert "kinds of query" not in shown
    by_t = gf.writing.render(runs, interval="t", level=0.9, digits=2)
    assert "Only 4 queries" in by_t
    assert "RR, two: skewness +1.15; the true mean may lie above the interval" in by_t
    assert "policy: default" in shown
    assert "NumRel: the sum over the queries" in shown
    plain = json.loads(gf.writing.render(runs, "json", interval="hall", level=0.9))["runs"]
    assert plain[0]["intervals"]["RR"] == interval.to_dict()
    assert plain[1]["intervals"]["NumRel"] is None
    assert plain[0]["means"] == runs["one"].means


def test_a_table_says_no_more_of_many_than_people_read():
    run = {"q1": {"a": 1}}  # one query of twelve
    judgments = {f"q{i}": {"a": 1} for i in range(12)}
    runs = gf.evaluate_runs(judgments, {f"run {i}": run for i in range(8)}, "RR")
    notes = gf.results.Scores.intervals_table(runs, method="t").notes
    assert sum("RR, run" in note for note in notes) == 5
    assert notes[-1] == "… and 3 more means whose values are skewed or the same"


@pytest.mark.parametrize(
    ("result", "arguments", "told"),
    [
        ("scores", {"interval": "normal"}, "method: expected hall or t or bca"),
        ("scores", {"interval": "t", "level": 2}, "level"),
        ("scores", {"interval": "t", "per_query": True}, "per_query=True, whose rows have none"),
        ("catalogue", {"interval": "t"}, "scores, whose means have one"),
        ("others", {"interval": "t"}, "Scores"),
    ],
)
def test_what_has_no_intervals_is_refused(result, arguments, told):
    given = {
        "scores": gf.evaluate(JUDGMENTS, RUN, "RR"),
        "catalogue": gf.measures.families(),
        "others": {"one": gf.evaluate(JUDGMENTS, RUN, "RR"), "two": 3},
    }[result]
    with pytest.raises(gf.errors.InputError, match=told):
        gf.writing.render(given, **arguments)
