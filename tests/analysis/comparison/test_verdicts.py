"""What is decided, and in which words."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from generated_runs import moved, normal, quick, scores, without_nan
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

import gainful as gf
import gainful.analysis.comparison.verdict
from gainful.analysis.comparison.verdict import Verdict, equivalence
from gainful.arithmetic.statistics.corrections import CORRECTIONS
from gainful.arithmetic.statistics.joint_tests import anova_tukey, max_t
from gainful.arithmetic.statistics.moments import moments
from gainful.arithmetic.statistics.paired_tests import TESTS
from gainful.output.plotting.specifications import VERDICTS

CASES = {
    "better": (normal(0.5), {}),
    "worse": (normal(-0.5), {}),
    "equivalent": (normal(0.01, sd=0.1), {"margin": 0.1}),
    "inconclusive": (normal(0.1), {}),
}


def test_every_word_has_a_case_and_is_drawn():
    assert {*CASES, "higher", "lower"} == set(VERDICTS)  # test_directions.py has these two


@pytest.mark.parametrize("word", CASES)
def test_every_word_is_reached(word):
    differences, options = CASES[word]
    found = without_nan(quick(moved(differences), **options))
    (one,) = found.differences
    assert one.verdict.word == word
    assert found.table().records()[0]["verdict"] == word
    assert one.to_dict()["verdict"] == word
    assert found.verdicts == (one.verdict.sentence,) == (str(one.verdict),)
    assert one.to_dict()["sentence"] == one.verdict.sentence


def test_where_test_and_interval_disagree_the_sentence_says_so():
    """The interval follows the skew; the test is t. Either may be the more cautious."""
    skewed = [-0.03, -0.05, -0.01, 0, -0.03, -0.07, -0.03, -0.01, 0.03, -0.06, -0.02, 0.03]
    found = gf.comparison.compare_scores(moved(skewed))
    (one,) = found.differences
    assert (one.verdict.word, one.interval.low < 0 < one.interval.high) == ("worse", True)
    assert one.verdict.sentence.endswith(
        "; the interval contains 0 although p < 0.05, so it is a close call (the two are computed differently)."
    )
    assert one.verdict.sentence in found.table().notes
    assert "a close call" in str(found).replace("\n  ", " ")
    (one,) = gf.comparison.compare_scores(moved(skewed), interval="t").differences
    assert "close call" not in one.verdict.sentence
    for name in ("t", "hall"):
        (one,) = gf.comparison.compare_scores(
            moved([-each for each in [0.4, 0.3, 0.3, 0.2, 0.01, 0.0, 0.0, 0.0, 0.0, -0.02]]),
            test="randomisation",
            interval=name,
        ).differences
        disagree = (one.p < 0.05) == (one.interval.low <= 0 <= one.interval.high)
        assert ("close call" in one.verdict.sentence) == disagree


def test_the_interval_that_leaves_0_out_of_what_is_not_decided():
    changes = [0.6, 0.5, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    (one,) = gf.comparison.compare_scores(moved(changes), interval="bca").differences
    assert (one.verdict.word, one.interval.low > 0) == ("inconclusive", True)
    remark = "; the interval excludes 0 although p is not below 0.05, so it is a close call ("
    assert remark in one.verdict.sentence


def test_the_notes_say_that_the_queries_needed_depend_on_the_number_of_comparisons():
    old, new = ({f"q{i}": value for i, value in enumerate(own)} for own in ([0] * 30, normal(0.1)))
    one = gf.comparison.compare_scores({"old": old, "new": new})
    runs = {"old": old, "new": new, "same": new}
    two = gf.comparison.compare_scores(runs)
    needed = [found.differences[0].verdict.queries_needed for found in (one, two)]
    assert needed[0] < needed[1]
    (note,) = (line for line in two.notes() if line.startswith("queries needed"))
    assert "p < 0.05/2, as p is corrected over 2 comparisons" in note
    others = (one, gf.comparison.compare_scores(runs, correction="none"))
    assert not any("queries needed" in line for found in others for line in found.notes())


def test_the_sentence_of_a_difference():
    (one,) = quick(moved(normal(0.5))).differences
    low, high = stats.t.interval(0.95, 29, 0.5, 1 / 30**0.5)
    p = stats.ttest_1samp(normal(0.5), 0).pvalue
    assert one.verdict.sentence == (
        f"value: new is better than old (+0.5000, 95% interval {low:+.4f} to {high:+.4f}, "
        f"p = {p:.4f}, 30 queries)."
    )
    (one,) = quick(moved(normal(-5)), level=0.99).differences
    low, high = stats.t.interval(0.99, 29, -5, 1 / 30**0.5)
    assert one.verdict.sentence == (
        f"value: new is worse than old (-5.0000, 99% interval {low:+.4f} to {high:+.4f}, "
        "p < 0.0001, 30 queries)."
    )


def test_the_sentence_of_equivalence_has_the_p_of_equivalence():
    (one,) = quick(moved(normal(0.01, sd=0.1)), margin=0.05).differences
    assert one.verdict.word == "equivalent"
    p = stats.t.sf(0.04 / (0.1 / 30**0.5), 29)
    assert one.verdict.sentence.startswith("value: new and old are equivalent within 0.05 (+0.0100")
    assert f"p of equivalence = {p:.4f}, 30 queries)." in one.verdict.sentence
    assert one.p > 0.5  # that of the difference says nothing


def test_the_sentence_without_a_decision_tells_how_many_queries_would_make_one():
    (one,) = quick(moved(normal(0.1))).differences
    needed = gf.power(sd=one.sd, difference=one.difference).queries
    assert needed > 30
    assert one.verdict.queries_needed == needed == one.to_dict()["queries_needed"]
    assert one.verdict.sentence.startswith(
        "value: the difference between new and old is inconclusive (+0.1000, "
    )
    assert one.verdict.sentence.endswith(
        f"; if the difference is as large as it looks, about {needed:,} queries like these would "
        "settle it."
    )


def test_with_a_margin_the_queries_are_those_that_would_show_it():
    (one,) = quick(moved(normal(0.1)), margin=0.3).differences
    needed = gf.power(sd=one.sd, difference=0.3).queries
    assert (one.verdict.word, one.verdict.queries_needed) == ("inconclusive", needed)
    assert one.verdict.sentence.endswith(
        f"; about {needed} queries like these would show a difference of 0.3."
    )


def test_what_there_are_enough_queries_for_needs_no_more():
    (one,) = quick(moved(normal(0.3)), margin=1).differences
    assert gf.power(sd=1, difference=1).queries < 30
    assert one.verdict.word == "equivalent"
    (one,) = quick(moved(normal(0.9, sd=2.5)), margin=1.5).differences
    assert gf.power(sd=2.5, difference=1.5).queries < 30
    assert (one.verdict.word, one.verdict.queries_needed) == ("inconclusive", None)
    assert one.verdict.sentence.endswith("30 queries).")


@pytest.mark.parametrize(
    "correction",
    ["holm", "bonferroni", "benjamini-hochberg", "tukey", "tukey-anova", "max-t", "none"],
)
def test_the_queries_needed_allow_for_the_number_of_comparisons(correction):
    base = dict.fromkeys(moved(normal(0))["old"], 0.5)
    runs = {f"r{at}": moved(normal(0.02 * at, seed=at))["new"] for at in range(1, 5)}
    found = quick({"base": base, **runs}, correction=correction)
    alpha = 0.05 if correction == "none" else 0.05 / 4
    for one in found.differences:
        wanted = gf.power(sd=one.sd, difference=abs(one.difference), alpha=alpha).queries
        assert one.verdict.queries_needed == wanted > 30


NAMES = {
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini–Hochberg",
    "tukey": "randomised Tukey HSD",
    "tukey-anova": "Tukey HSD",
    "max-t": "max-T",
    "max-t-single": "single-step max-T",
}


@pytest.mark.parametrize("correction", NAMES)
def test_the_sentence_names_the_correction(correction):
    tables = {"base": moved(normal(0))["old"]}
    tables |= {f"r{at}": moved(normal(at / 4, seed=at))["new"] for at in (1, 2, 3)}
    found = quick(tables, correction=correction)
    assert all(f", {NAMES[correction]} over 3 comparisons, " in text for text in found.verdicts)
    assert f"corrected over 3 comparisons ({correction})" in found.notes()[4]
    assert f"correction={correction} " in found.notes()[5]


def test_equivalence_beside_tukey_is_corrected_by_holm_and_says_so():
    tables = {"base": moved(normal(0))["old"]}
    tables |= {f"r{at}": moved(normal(0.01, seed=at))["new"] for at in (1, 2)}
    found = quick(tables, correction="tukey", margin=2)
    assert [one.verdict.word for one in found.differences] == ["equivalent"] * 2
    assert all("Holm over 2 comparisons" in text for text in found.verdicts)
    assert {one.test for one in found.differences} == {"tukey"}


@given(
    st.floats(-1, 1), st.floats(0.01, 3), st.integers(2, 60), st.floats(0.01, 2), st.integers(0, 9)
)
def test_equivalence_is_two_one_sided_t_tests(mean, sd, count, margin, seed):
    values = normal(mean, sd, count, seed)
    with np.errstate(over="ignore"):  # of scipy, which divides by means next to 0
        p, _, _ = ttost_paired(values, np.zeros(count), -margin, margin)
        below = stats.ttest_1samp(values, -margin, alternative="greater").pvalue
        above = stats.ttest_1samp(values, margin, alternative="less").pvalue
    assert equivalence(moments(values), margin) == pytest.approx(p, rel=1e-7, abs=1e-14)
    assert equivalence(moments(values), margin) == pytest.approx(
        max(below, above), rel=1e-7, abs=1e-14
    )


def test_equivalence_is_corrected_like_differences():
    tables = {"base": moved(normal(0))["old"]}
    tables |= {f"r{at}": moved(normal(at / 20, seed=at))["new"] for at in range(1, 5)}
    bare = [
        ttost_paired(np.array([*run.values()]), np.array([*tables["base"].values()]), -0.5, 0.5)[0]
        for run in list(tables.values())[1:]
    ]
    for correction, method in (("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        found = quick(tables, margin=0.5, correction=correction)
        wanted = multipletests(bare, method=method)[1].tolist()
        assert [one.p_equivalent for one in found.differences] == pytest.approx(wanted, rel=1e-6)
        words = ["equivalent" if p < 0.05 else "inconclusive" for p in wanted]
        assert [one.verdict.word for one in found.differences] == words
        assert len({*words}) == 2  # the example has both
    without = quick(tables)
    assert {one.p_equivalent for one in without.differences} == {None}


def test_a_difference_that_is_sure_and_too_small_to_matter_is_equivalence():
    (one,) = quick(moved(normal(0.01, sd=0.01)), margin=0.1).differences
    assert one.p < 0.001
    assert one.verdict.word == "equivalent"


@pytest.mark.parametrize("value", [0.0, 0.02, -0.02])
@pytest.mark.parametrize("count", [2, 4, 5, 20])
def test_without_spread_equivalence_needs_queries_too(count, value):
    """All n differences are on the same side of either bound: 2^−n by chance."""
    (one,) = without_nan(quick(moved([value] * count), margin=0.1)).differences
    assert one.p_equivalent == 0.5**count
    assert one.verdict.word == ("equivalent" if count >= 5 else "inconclusive")
    (one,) = quick(moved([value] * count), margin=0.01).differences
    assert one.p_equivalent == (0.5**count if value == 0 else 1)


def test_one_query_is_never_equivalent():
    (one,) = quick(moved([0.0]), margin=10).differences
    assert (one.p_equivalent, one.verdict.word) == (None, "inconclusive")


CONTRARY = [-0.01] * 18 + [5.0, 5.0]


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_a_test_that_leans_to_the_other_side_than_the_mean_decides_nothing(test):
    """Most queries are a little worse, two are far better: the mean is up, ranks and signs down."""
    found = without_nan(quick(moved(CONTRARY), test=test))
    (one,) = found.differences
    assert one.difference > 0
    assert one.p < 0.01
    assert (one.verdict.word, one.verdict.queries_needed) == ("inconclusive", None)
    assert one.verdict.sentence.endswith("; the test and the mean point in different directions.")
    (one,) = quick(moved(CONTRARY)).differences
    assert one.verdict.word == "inconclusive"
    assert "directions" not in one.verdict.sentence


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_test_that_leans_as_the_mean_does_decides(test, sign):
    apart = [sign * value for value in [0.1, 0.2, 0.3] * 6 + [-0.05, 0.0]]
    (one,) = quick(moved(apart), test=test).differences
    assert one.verdict.word == ("better" if sign > 0 else "worse")


def test_signs_without_a_mean_decide_nothing():
    apart = [-0.5] * 18 + [4.5] * 2
    (one,) = quick(moved(apart, base=0), test="sign").differences
    assert one.difference == 0
    assert one.p < 0.001
    assert one.verdict.word == "inconclusive"


def test_more_noise_asks_for_more_queries_and_a_larger_difference_for_fewer():
    def needed(mean, sd, **options):
        (one,) = quick(moved(normal(mean, sd)), **options).differences
        assert one.verdict.word == "inconclusive"
        return one.verdict.queries_needed

    by_noise = [needed(0.1, sd) for sd in (0.5, 1, 2, 4)]
    assert by_noise == sorted({*by_noise})
    by_difference = [needed(mean, 2) for mean in (0.5, 0.2, 0.1, 0.05)]
    assert by_difference == sorted({*by_difference})
    by_level = [needed(0.1, 1, level=level) for level in (0.5, 0.9, 0.95, 0.999)]
    assert by_level == sorted({*by_level})


@pytest.mark.parametrize(
    ("differences", "said"),
    [
        (normal(0.1, 2, count=9), "9 queries are too few to estimate how many you would need"),
        (
            normal(0.01, 2, count=40),
            "no realistic number of queries like these would show a difference that is as large as it looks",
        ),
        ([0.3, 0.2] + [0.0] * 18, "only 2 of 20 queries changed, too few to trust the interval"),
    ],
)
def test_what_so_few_queries_cannot_tell_is_said_in_every_form(differences, said):
    found = without_nan(quick(moved(differences)))
    (one,) = found.differences
    assert one.verdict.word == "inconclusive"
    assert said in one.verdict.sentence
    assert (one.verdict.queries_needed is None) == ("only" not in said)
    assert f"{said}" in one.to_dict()["sentence"]
    assert said in " ".join(str(found).split())
    assert said in found.to_json()
    assert said in found.to_html()


@pytest.mark.parametrize("count", range(1, 13))
@pytest.mark.parametrize("interval", ["hall", "t", "bca"])
def test_below_ten_queries_there_is_no_default_interval_but_one_that_is_asked_for(count, interval):
    scores = moved([0.1 + at % 3 / 10 for at in range(count)])
    tables = {name: {q: {"nDCG@10": x} for q, x in each.items()} for name, each in scores.items()}
    found = without_nan(quick(tables, interval=interval))
    (one,) = found.differences
    known = count >= (10 if interval == "hall" else 2)
    told = f"too few queries for an interval ({count}; at least 10 needed)"
    told = told if count > 1 else "one query, no interval"
    assert one.interval.known == known
    assert (told in one.verdict.sentence) != known
    assert one.to_dict()["intervals"][interval]["note"] == ("" if known else told)
    assert (found.table().records()[0]["95% low"] is None) != known
    assert one.p is None or 0 <= one.p <= 1
    assert "inf" not in str(found)
    if known:
        assert -1 <= one.interval.low <= one.interval.high <= 1
    for kind, condition, fails in (
        ("fail_if", "Δ nDCG@10 < 0.1", False),
        ("fail_unless", "Δ nDCG@10 > -2", not known),
        ("fail_if", "mean(nDCG@10) < -2", not known),
    ):
        gate = found.gate(**{kind: condition})
        assert gate.failed == fails
        assert gate.checked[0].inconclusive == (not known)
        assert gate.inconclusive == (not known and not fails)
        assert (told in gate.checked[0].found) != known
        assert gate.result in gate.table().title
        assert gate.to_dict()["result"] == gate.result
        assert ("<skipped" in gate.to_junit()) == gate.inconclusive


@pytest.mark.parametrize("interval", ["hall", "t", "bca"])
@pytest.mark.parametrize("count", [3, 10, 25])
def test_intervals_of_differences_lie_in_the_range_of_the_measure(interval, count):
    judgments = {f"q{at}": {"a": 1, "x": 0} for at in range(count)}
    runs = {
        "none": {query: {"x": 1} for query in judgments},
        "most": {q: {("x" if at == 0 else "a"): 1} for at, q in enumerate(judgments)},
    }
    measures = ["RR", "nDCG@10", "CG@5", "P@1"]
    found = gf.compare(judgments, runs, measures, interval=interval, level=0.9999)
    for one in found.differences:
        ends = (one.interval.low, one.interval.high)
        if one.measure == "CG@5" or not one.interval.known:
            # A gain can be any number, but a bootstrap knows of no other than those it has.
            assert interval == "bca" or not one.interval.known or ends[1] > 1
        else:
            assert -1 <= ends[0] < ends[1] <= 1
    gate = found.gate(fail_unless=["mean(RR) > 0", "Δ RR > 0"])
    for each in gate.checked:
        assert "inf" not in each.found
        assert " 1.0000" in each.found or "too few" in each.found or "+1.0000" in each.found


def test_p_falls_with_the_difference_and_with_the_queries():
    def p(mean, count=30, **options):
        (one,) = quick(moved(normal(mean, count=count)), **options).differences
        return one.p if "margin" not in options else one.p_equivalent

    by_difference = [p(mean) for mean in (0, 0.1, 0.3, 0.6, 1.0)]
    assert by_difference == sorted({*by_difference}, reverse=True)
    by_queries = [p(0.2, count) for count in (5, 20, 80, 320)]
    assert by_queries == sorted({*by_queries}, reverse=True)
    by_margin = [p(0.1, margin=margin) for margin in (0.05, 0.1, 0.2, 0.4)]
    assert by_margin == sorted({*by_margin}, reverse=True)


def test_a_difference_of_next_to_nothing_asks_for_no_number_of_queries():
    apart = normal(1e-8)
    (one,) = quick(moved(apart, base=0)).differences
    assert one.verdict.queries_needed is None
    assert one.verdict.sentence.endswith("30 queries).")


def test_numbers_too_small_for_four_decimals_are_not_shown_as_nothing():
    old, new = scores([0.0] * 30, normal(2e-6, sd=1e-6))
    (one,) = quick({"old": old, "new": new}).differences
    assert "(+2e-06, 95% interval +1.6e-06 to +2.4e-06, p < 0.0001" in one.verdict.sentence


def skewed(count):
    """One large loss among small gains."""
    return [-1.0, *(0.01 + at / 1000 for at in range(count - 1))]


CAUTIONS = {
    # Differences, whether they are called few, and what is said of their shape.
    "many and alike": (normal(0.1, count=60), False, None),
    "few": (normal(0.1, count=49), True, None),
    "skewed": (skewed(60), False, "60 of 60 queries changed, skewness -7.37"),
    "few and skewed": (skewed(20), True, "20 of 20 queries changed, skewness -4.1"),
    "nearly all unchanged": ([0.1, -0.1] * 4 + [0.0] * 92, False, "8 of 100 queries changed"),
    "all unchanged": ([0.0] * 100, False, None),
    "one query": ([0.1], False, None),
}


@pytest.mark.parametrize("case", CAUTIONS)
def test_differences_that_are_few_skewed_or_rare_are_told(case):
    differences, few, told = CAUTIONS[case]
    found = without_nan(quick(moved(differences)))
    (one,) = found.differences
    said = found.cautions()
    assert any("kinds of query" in line for line in said) == few
    assert (one.caution != "") == (told is not None)
    assert (told or "") in one.caution
    assert said[few:] == [one.caution] * (told is not None)
    gate = found.gate("Δ value < -5")
    for notes in (found.table().notes, gate.table().notes):
        assert set(said) <= set(notes)
    text = " ".join(str(gate).split())  # which is folded
    assert all(" ".join(line.split()) in text for line in said)
    assert one.to_dict()["changed"] == one.changed == one.wins + one.losses


@pytest.mark.parametrize("tie", [0.0, 0.1, 1.0])
def test_what_changed_is_counted_whatever_is_a_tie(tie):
    values = {"a": [0.5, 0.5, 0.5, 0.5], "b": [0.5, 0.55, 0.9, 0.1]}
    scores = {name: dict(zip("qrst", each, strict=True)) for name, each in values.items()}
    (one,) = gf.comparison.compare_scores(scores, tie=tie, resamples=100).differences
    assert one.changed == one.to_dict()["changed"] == 3
    assert one.ties == {0.0: 1, 0.1: 2, 1.0: 4}[tie]


def test_the_tail_says_on_which_side_the_truth_may_be():
    below, above = (quick(moved(np.array(skewed(30)) * sign)).differences[0] for sign in (1, -1))
    assert "may lie below the interval" in below.caution
    assert "may lie above the interval" in above.caution
    assert below.skewness == pytest.approx(stats.skew(skewed(30)))
    assert above.skewness == pytest.approx(-below.skewness)


def test_of_few_queries_the_share_that_none_may_show_is_told():
    # All of 10 queries miss what 30.85% of queries have in 0.6915^10 = 2.5% of cases.
    said = quick(moved(normal(0.1, count=10))).cautions()
    assert said[0].startswith("Only 10 queries: kinds of query that make up as much as 31%")


# Tests that hold at any time need more queries, and a range: tests/arithmetic/test_anytime.py.
@pytest.mark.parametrize("test", [name for name, test in TESTS.items() if not test.anytime])
def test_every_test_can_decide_and_has_a_title(test):
    found = without_nan(quick(moved(normal(0.6)), test=test))
    (one,) = found.differences
    assert (one.test, one.verdict.word) == (test, "better")
    assert one.p == one.tests[test].adjusted == one.tests[test].p
    assert f"p by {test};" in found.notes()[2]
    assert f"({TESTS[test].title}, p < 0.05)" in found.systems_table().caption


@pytest.mark.parametrize("correction", gf.comparison.comparison_choices()["correction"])
@pytest.mark.parametrize("pairs", ["baseline", "all"])
def test_every_correction_can_decide_and_has_a_title(correction, pairs):
    base = moved(normal(0))["old"]
    tables = {"base": base} | {
        f"r{at}": moved(normal(at, seed=at, count=30))["new"] for at in (0, 2, 3)
    }
    found = without_nan(quick(tables, correction=correction, pairs=pairs, resamples=999))
    words = {(one.baseline, one.run): one.verdict.word for one in found.differences}
    assert words["base", "r0"] == "inconclusive"
    assert words["base", "r2"] == words["base", "r3"] == "better"
    p = {(one.baseline, one.run): one.p for one in found.differences}
    assert p["base", "r3"] <= p["base", "r2"] < 0.05 < p["base", "r0"]
    title = "uncorrected" if correction == "none" else CORRECTIONS[correction].title
    assert title in found.systems_table().caption


def test_max_t_is_one_family_of_runs_and_measures():
    rng = np.random.default_rng(9)
    values = rng.random((12, 3, 2)) + np.array([[0.0], [0.1], [0.2]])
    tables = {
        f"s{at}": {f"q{q}": {"one": values[q, at, 0], "two": values[q, at, 1]} for q in range(12)}
        for at in range(3)
    }
    found = quick(tables, correction="max-t")
    apart = [values[:, run, m] - values[:, 0, m] for m in range(2) for run in (1, 2)]
    assert [one.p for one in found.differences] == max_t(np.stack(apart, axis=1)).tolist()


def test_tukey_after_an_anova_has_its_effect_size():
    rng = np.random.default_rng(10)
    values = rng.random((15, 3)) + np.array([0.0, 0.1, 0.2])
    tables = {f"s{at}": {f"q{q}": values[q, at] for q in range(15)} for at in range(3)}
    found = quick(tables, correction="tukey-anova", pairs="all")
    analysed = anova_tukey(values[:, :, None])
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert [one.effect_anova for one in found.differences] == [
        pytest.approx(analysed.effect[one, two, 0]) for one, two in pairs
    ]
    assert [one.p for one in found.differences] == [
        pytest.approx(analysed.p[one, two, 0]) for one, two in pairs
    ]
    assert quick(tables).differences[0].effect_anova is None


def test_a_margin_for_ties_counts_them_and_is_told():
    apart = [0.05, 0.05, -0.02, 0.2, 0.3, 0.0, 0.4, 0.25, 0.3, 0.2]
    found = quick(moved(apart), test="sign", tie=0.1)
    (one,) = found.differences
    assert (one.wins, one.ties, one.losses) == (6, 4, 0)
    assert one.p == pytest.approx(2 * 0.5**6)
    assert any("tie=0.1 " in note for note in found.notes())
    with pytest.raises(gf.errors.InputError, match="tie: expected a non-negative number"):
        quick(moved(apart), tie=-1)


def test_where_tukey_is_undefined_the_words_name_what_was_done_instead():
    # Every query differs by the same, so that no error is left for an analysis of variance.
    rng = np.random.default_rng(11)
    base = rng.integers(0, 8, 12) / 8
    tables = {f"s{at}": {f"q{q}": base[q] + at / 4 for q in range(12)} for at in range(3)}
    found = quick(tables, correction="tukey-anova")
    assert {one.test for one in found.differences} == {"randomisation"}
    assert all(", Holm over 2 comparisons, " in text for text in found.verdicts)
    assert "p by randomisation, corrected over 2 comparisons (holm);" in found.notes()[3]
    told = "(randomisation test with Holm correction over 2 comparisons, p < 0.05)"
    assert told in found.systems_table().caption


def test_where_tukey_is_undefined_for_one_measure_both_ways_are_named():
    rng = np.random.default_rng(12)
    base, noise = rng.integers(0, 8, 12) / 8, rng.random((12, 3))
    tables = {
        f"s{at}": {f"q{q}": {"same": base[q] + at / 4, "other": noise[q, at]} for q in range(12)}
        for at in range(3)
    }
    found = quick(tables, correction="tukey-anova")
    assert [one.test for one in found.differences] == [*["randomisation"] * 2, *["tukey-anova"] * 2]
    same, other = found.verdicts[0], found.verdicts[2]
    assert ", Holm over 4 comparisons, " in same
    assert ", Tukey HSD over 4 comparisons, " in other
    noted = (
        "p by randomisation and tukey-anova, corrected over 4 comparisons (holm and tukey-anova);"
    )
    assert any(noted in note for note in found.notes())
    told = "(Tukey HSD, and randomisation test with Holm correction over 4 comparisons, p < 0.05)"
    assert told in found.systems_table().caption


# --- when it is asked for


@pytest.fixture
def searches(monkeypatch):
    """How many queries would decide: a list of what was searched for."""
    asked = []
    search = gainful.analysis.comparison.verdict.queries_needed

    def counted(*given):
        asked.append(given)
        return search(*given)

    monkeypatch.setattr(gainful.analysis.comparison.verdict, "queries_needed", counted)
    return asked


def many():
    """Fifty-five comparisons of systems that hardly differ."""
    return {
        f"r{at}": moved(normal(0.002 * at, sd=0.1 + at / 100, seed=at))["new"] for at in range(11)
    }


def test_sentences_are_made_when_they_are_asked_for(searches):
    found = quick(many(), pairs="all")
    assert len(found.differences) == 55
    assert [each.verdict.word for each in found.differences] == ["inconclusive"] * 55
    found.gate("Δ value < -5")
    found.systems_table()
    assert not searches
    assert "… and 49 more verdicts" in str(found)
    assert len(searches) == 6  # as many as are shown
    assert "… and 35 more verdicts" in found.rendered()
    assert len(searches) == 20
    first = found.verdicts
    assert len(searches) == 55
    assert found.verdicts == first
    assert found.to_dict()["differences"][30]["sentence"] == first[30]
    assert len(searches) == 55  # each once


@pytest.mark.parametrize("word", CASES)
def test_a_verdict_is_the_same_before_and_after_it_is_asked(word):
    differences, options = CASES[word]

    def fresh():
        return quick(moved(differences), **options).differences[0].verdict

    asked = fresh()
    plain = Verdict(word, asked.sentence, asked.queries_needed)
    assert fresh() == plain == asked
    assert repr(fresh()) == repr(plain)
    assert str(fresh()) == str(plain)
    assert hash(fresh()) == hash(plain)
    assert fresh().to_dict() == plain.to_dict()
    assert dataclasses.asdict(fresh()) == dataclasses.asdict(plain)
    assert dataclasses.replace(fresh(), word="x") == dataclasses.replace(plain, word="x")
    assert fresh()._repr_html_() == plain._repr_html_()
    assert pickle.dumps(fresh()) == pickle.dumps(plain)
    back = pickle.loads(pickle.dumps(fresh()))  # noqa: S301
    for made in (back, copy.copy(fresh()), copy.deepcopy(fresh())):
        assert made == plain
        assert (made.sentence, made.queries_needed) == (plain.sentence, plain.queries_needed)
    with pytest.raises(AttributeError, match="because"):
        _ = fresh().because
    with pytest.raises(dataclasses.FrozenInstanceError):
        fresh().sentence = "none"


def test_a_verdict_does_not_keep_what_was_told_of_progress():
    told = []
    found = quick(many(), pairs="all", progress=lambda share, name: told.append((share, name)))
    before = len(told)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301
    assert len(told) == before
