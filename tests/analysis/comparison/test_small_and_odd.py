"""Comparisons of very few queries, of runs that are alike, and of odd numbers; what is refused."""

import json
import math
import re

import pandas as pd
import pytest
from generated_runs import collection, moved, quick, scores, without_nan
from scipy import stats

import gainful as gf
from gainful.errors import DisjointError
from gainful.judging.desk.results_so_far import stand

EVERY = ("t", "randomisation", "wilcoxon", "sign")


@pytest.mark.parametrize("test", EVERY)
@pytest.mark.parametrize("interval", ["t", "bca"])
def test_one_query_decides_nothing(test, interval):
    found = without_nan(
        quick({"old": {"q": 0.2}, "new": {"q": 0.9}}, test=test, interval=interval, margin=0.9)
    )
    (one,) = found.differences
    assert one.difference == pytest.approx(0.7)
    assert (one.sd, one.effect, one.p_equivalent) == (None, None, None)
    assert (one.interval.low, one.interval.high) == (-math.inf, math.inf)
    assert one.to_dict()["intervals"][interval]["low"] is None
    assert found.table().records()[0]["95% low"] is None
    assert one.p == (None if test == "t" else 1.0)
    assert one.verdict.word == "inconclusive"
    assert "one query cannot decide" in one.verdict.sentence
    assert one.verdict.queries_needed is None
    assert (one.wins, one.ties, one.losses) == (1, 0, 0)


@pytest.mark.parametrize("correction", ["holm", "tukey", "none"])
@pytest.mark.parametrize("count", [1, 2, 30])
def test_the_same_run_twice_is_no_difference(count, correction):
    judgments, runs = collection(queries=count)
    twice = {"one": runs["old"], "two": runs["old"]}
    found = without_nan(gf.compare(judgments, twice, "nDCG@5", correction=correction))
    (one,) = found.differences
    assert (one.difference, one.p, one.effect) == (0, 1, None)
    assert (one.wins, one.ties, one.losses, one.moved) == (0, count, 0, ())
    assert one.verdict.word == "inconclusive"
    assert {tested.p for tested in one.tests.values()} == {1}
    if count > 1:
        assert (one.sd, one.interval.known) == (0, count >= 10)
        assert (one.intervals["t"].low, one.intervals["t"].high) == (0, 0)
        assert "both have the same score on every query" in one.verdict.sentence
    assert "Queries that moved the most" not in found.rendered()


def test_scores_that_differ_by_rounding_alone_are_the_same():
    """0.1 + 0.2 is not 0.3 in binary."""
    old, new = scores([0.1 + 0.2] * 6, [0.3] * 6)
    assert old["q0"] != new["q0"]
    found = without_nan(quick({"old": old, "new": new}))
    (one,) = found.differences
    assert (one.difference, one.p, one.wins, one.ties, one.losses) == (0, 1, 0, 6, 0)
    assert one.moved == ()
    assert not found.gate(["Δ value < 0", "Δ value > 0"]).failed


@pytest.mark.parametrize("count", [2, 3, 5, 6, 12])
def test_where_all_differences_are_the_same_the_flips_decide(count):
    found = without_nan(quick(moved([0.25] * count), interval="t"))
    (one,) = found.differences
    assert (one.sd, one.effect, one.interval.low, one.interval.high) == (0, None, 0.25, 0.25)
    assert one.tests["t"].p is None
    assert one.tests["t"].outcome.why.startswith("all differences are the same")
    assert (one.test, one.p) == ("randomisation", 0.5 ** (count - 1))
    assert one.verdict.word == ("better" if count >= 6 else "inconclusive")
    assert "p by randomisation" in "\n".join(found.notes())


def test_two_queries_are_by_the_table_of_t_with_one_degree_of_freedom():
    (one,) = without_nan(quick(moved([0.1, 0.3]))).differences
    assert one.p == pytest.approx(stats.ttest_1samp([0.1, 0.3], 0).pvalue)
    assert one.verdict.word == "inconclusive"


OUTPUTS = {
    "terminal": str,
    "JSON": lambda found: found.to_json(),
    "Markdown": lambda found: found.to_markdown(),
    "HTML": lambda found: found.to_html(),
    "gate": lambda found: str(found.gate("Δ nDCG@5 < -0.9")),
    "pull request": lambda found: found.gate("Δ nDCG@5 < -0.9").to_markdown(),
    "JUnit": lambda found: found.gate("Δ nDCG@5 < -0.9").to_junit(),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_says_that_queries_are_too_few_for_an_interval(output):
    judgments, runs = collection(queries=7)
    text = " ".join(OUTPUTS[output](gf.compare(judgments, runs, "nDCG@5")).split())
    assert "too few queries for an interval (7; at least 10 needed)" in text
    assert not re.search(r"\binf\b|Infinity|queries like these would", text)


def test_the_report_and_the_desk_say_it_too():
    judgments, runs = collection(queries=7)
    told = "too few queries for an interval (7; at least 10 needed)"
    payload = json.dumps(gf.report(judgments, runs, "nDCG@5").payload(), allow_nan=False)
    assert told in payload
    standing = stand(judgments, runs, ["nDCG@5"], (0, 3), 7, baseline=None, depth=5)
    assert standing.pairs
    for pair in standing.pairs:
        assert told in pair.sentence
        assert pair.queries_needed is None
    scores = gf.evaluate(judgments, runs["old"], "nDCG@5")
    for form in ("table", "json", "html"):
        assert told in " ".join(gf.writing.render(scores, form, interval="hall").split())


TINY = [1e-300 * (at % 7 + 1) for at in range(20)]


@pytest.mark.parametrize("margin", [None, 1e-301, 0.1])
@pytest.mark.parametrize("size", [1, 1e-20])
def test_differences_of_1e_300_are_differences_like_others(size, margin):
    old, new = scores([0.0] * 20, [size * value for value in TINY])
    found = without_nan(quick({"old": old, "new": new}, margin=margin))
    (one,) = found.differences
    wanted = stats.ttest_1samp([value * 1e300 for value in TINY], 0).pvalue
    assert one.p == pytest.approx(wanted, rel=1e-3)  # 1e-320 has no more digits
    assert one.wins == 20
    within = margin is not None and margin > one.interval.high
    assert one.verdict.word == ("equivalent" if within else "better")
    assert "(+0.0000" not in one.verdict.sentence


def test_the_smallest_numbers_there_are():
    old, new = scores([0.0] * 9, [5e-324 * (at % 2) for at in range(9)])
    without_nan(quick({"old": old, "new": new}, margin=0.1))


def test_a_small_difference_is_no_rounding():
    (one,) = quick(moved([1e-10, 2e-10, 3e-10] * 4)).differences
    assert one.difference == pytest.approx(2e-10, rel=1e-5)
    assert (one.wins, one.verdict.word) == (12, "better")


def test_what_is_nothing_beside_the_other_differences_is_a_tie():
    """To the ranks and signs, too: they round to 2^−40 of the largest difference."""
    (one,) = quick(moved([0.5] * 5 + [2e-14], base=0)).differences
    assert (one.wins, one.ties, one.losses) == (5, 1, 0)
    assert one.tests["sign"].p == 2 * 0.5**5


def test_1e_300_beside_1_is_nothing():
    (one,) = quick(moved([1e-300] * 8)).differences
    assert (one.difference, one.ties) == (0, 8)


@pytest.mark.parametrize("size", [1e15, 1e100, 1e299])
def test_huge_grades(size):
    judgments, runs = collection(queries=20)
    plain = gf.compare(judgments, runs, ["DCG@5", "nDCG@5"])
    huge = {q: {d: grade * size for d, grade in docs.items()} for q, docs in judgments.items()}
    found = without_nan(gf.compare(huge, runs, ["DCG@5", "nDCG@5"]))
    for one in plain.differences:
        other = found[one.run, one.measure]
        scale = size if one.measure == "DCG@5" else 1
        assert other.difference == pytest.approx(one.difference * scale, rel=1e-9)
        assert other.p == pytest.approx(one.p, rel=1e-9)
        assert len(other.verdict.sentence) < 250


def test_negative_grades():
    judgments, runs = collection(queries=20)
    below = {q: {d: grade - 2 for d, grade in docs.items()} for q, docs in judgments.items()}
    found = without_nan(gf.compare(below, runs, ["DCG@5", "CG@5"]))
    for one in found.differences:
        old, new = (
            gf.evaluate(below, runs[name], one.measure).per_query[one.measure]
            for name in (one.baseline, one.run)
        )
        wanted = stats.ttest_rel(new, old).pvalue
        assert one.tests["t"].p == pytest.approx(wanted, rel=1e-9)
        assert one.baseline_mean == gf.evaluate(below, runs["old"], one.measure)[one.measure]


@pytest.mark.parametrize("value", [1e301, -1.7e308])
def test_scores_beyond_arithmetic_are_refused(value):
    tables = {"old": {"q1": 1e300, "q2": 1.0}, "new": {"q1": 0.5, "q2": value}}
    with pytest.raises(
        gf.errors.InputError, match=r"new, query 'q2': expected a number up to 5e\+300 as value"
    ):
        quick(tables)


@pytest.mark.parametrize("value", [math.inf, -math.inf, "n/a"])
def test_scores_that_are_no_finite_numbers_are_refused(value):
    tables = {"old": {"q1": 1.0, "q2": 1.0}, "new": {"q1": 0.5, "q2": value}}
    with pytest.raises(gf.errors.InputError, match=r"new, query 'q2': expected a finite number"):
        quick(tables)


def test_nan_has_no_value_and_that_is_said():
    tables = {"old": {"q1": 1.0, "q2": 0.2, "q3": 0.1}, "new": {"q1": 0.5, "q2": math.nan, "q3": 1}}
    found = without_nan(quick(tables))
    assert found.paired.left_out() == {"value": ("q2",)}
    assert found.differences[0].queries == 2
    assert "value: 1 query left out, because some run has no value" in found.notes()


@pytest.mark.parametrize("level", [0.001, 0.1, 0.2, 0.95, 1 - 1e-13])
def test_a_level_that_is_lax_or_strict(level):
    apart = [0.3, -0.29, 0.1, -0.1, 0.01]
    (one,) = without_nan(quick(moved(apart), level=level, interval="t")).differences
    wanted = stats.ttest_1samp(apart, 0).confidence_interval(level)
    assert (one.interval.low, one.interval.high) == pytest.approx(tuple(wanted), rel=1e-3)
    assert one.verdict.word == ("better" if level < 0.1 else "inconclusive")


@pytest.mark.parametrize(
    ("level", "alpha"), [(0.95, 0.05), (0.99, 0.01), (0.9, 0.1), (0.999, 0.001), (0.8, 0.2)]
)
def test_alpha_is_what_the_level_leaves(level, alpha):
    assert quick(moved([0.1, 0.2]), level=level).settings.alpha == alpha


def test_a_run_without_a_judged_query():
    judgments, runs = collection(queries=5)
    elsewhere = {f"other-{query}": docs for query, docs in runs["new"].items()}
    with pytest.raises(DisjointError, match="other-q"):
        gf.compare(judgments, {"old": runs["old"], "new": elsewhere})


def test_scores_without_a_query_in_common():
    tables = {"old": {"q1": 1.0, "q2": 0.5}, "new": {"q3": 1.0}}
    with pytest.raises(gf.errors.InputError, match=r"old has 2: 'q1', 'q2'; new has 1: 'q3'"):
        quick(tables)
    tables = {"old": {"q1": 1.0}, "new": {"q1": 0.5, "q2": 1.0}, "last": {"q2": 1.0}}
    with pytest.raises(
        gf.errors.InputError, match="at least one query with a value of value in all"
    ):
        quick(tables)


JUDGED, RUNS = collection(queries=5)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"baseline": "odl"}, "Did you mean 'old'"),
        ({"baseline": ["old"]}, "one of the runs"),
        ({"runs": {"old": RUNS["old"]}}, "at least 2 runs to compare, found 1: old"),
        ({"runs": {}}, r"a dict \{name: run\}"),
        ({"runs": [RUNS["old"], RUNS["new"]]}, r"a dict \{name: run\}"),
        ({"runs": {1: RUNS["old"], 2: RUNS["new"]}}, "a string as the name of each, found 1"),
        ({"measures": "GMAP"}, "whose mean is arithmetic"),
        ({"measures": ["nDCG", "gm_map"]}, "whose mean is arithmetic"),
        ({"measures": []}, "at least one measure"),
        ({"measures": "nDGC@10"}, "Did you mean 'nDCG'"),
        ({"test": "t-test"}, "test: expected one of its choices"),
        ({"test": ["t"]}, "test: expected one of its choices"),
        ({"test": None}, "test: expected one of its choices"),
        ({"correction": "bonferoni"}, "Did you mean 'bonferroni'"),
        ({"interval": "bootstrap"}, "Choices: hall, t, bca"),
        ({"pairs": "every"}, "Choices: baseline, all"),
        ({"level": 95}, "level: expected a number above 0 and below 1, found 95"),
        ({"level": math.nan}, "level: expected"),
        ({"level": "0.9"}, "level: expected"),
        ({"margin": 0}, "margin: expected a number above 0"),
        ({"margin": -0.1}, "margin: expected"),
        ({"margin": math.inf}, "margin: expected"),
        ({"margin": True}, "margin: expected"),
        ({"resamples": 0}, "resamples: expected a whole number from 1"),
        ({"resamples": 10.5}, "resamples: expected"),
        ({"seed": -1}, "seed: expected a whole number from 0"),
        ({"by": "locale"}, "judged and baseline alone need no table"),
        ({"slices": 5, "by": "locale"}, "slices: expected"),
        ({"policy": "skip"}, "policy"),
    ],
)
def test_what_does_not_fit_is_said(options, told):
    given = {"runs": RUNS, "measures": "nDCG@5"} | options
    with pytest.raises(gf.errors.GainfulError, match=told):
        gf.compare(JUDGED, given.pop("runs"), given.pop("measures"), **given)


@pytest.mark.parametrize("key", ["nDCG@5", "new", ("new",), ("a", "b", "c", "d"), 3])
def test_a_key_that_is_none(key):
    found = gf.compare(JUDGED, RUNS, "nDCG@5")
    with pytest.raises(
        gf.errors.InputError, match=r"\(run, measure\) or \(baseline, run, measure\)"
    ):
        found[key]


@pytest.mark.parametrize("key", [("nwe", "nDCG@5"), ("new", "nDCG@50"), ("new", "old", "nDCG@5")])
def test_a_key_that_was_not_compared(key):
    found = gf.compare(JUDGED, RUNS, "nDCG@5")
    with pytest.raises(gf.errors.InputError, match="Did you mean 'old, new, nDCG@5'"):
        found[key]


def test_runs_beside_each_other_are_told_to_go_in_one_dict(tmp_path):
    judgments, runs = collection(queries=3)
    file = tmp_path / "new.run"
    file.write_text("q0 Q0 a 1 2.5 new\n")
    frame = pd.DataFrame({"query": ["q0"], "doc": ["a"], "score": [2.5]})
    told = (
        r"runs: expected all of them in one dict, \{'old': old, 'new': new\}, found one of them in"
    )
    for new in (runs["new"], file, str(file), frame):
        for call in (gf.compare, gf.report):
            with pytest.raises(gf.errors.InputError, match=told):
                call(judgments, runs["old"], new)


@pytest.mark.parametrize("measures", [{"mine": "nDCG@10"}, "nosuch.run", {}, "a\0b"])
def test_what_is_no_run_is_still_told_to_be_no_measure(measures):
    judgments, runs = collection(queries=3)
    with pytest.raises(gf.errors.MeasureError):
        gf.compare(judgments, runs, measures)
