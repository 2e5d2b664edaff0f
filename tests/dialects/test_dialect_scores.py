"""Scores in a dialect: found as they were asked for, and errors that say whose policy it is."""

import dataclasses

import pytest

import gainful as gf

RUN = {"q": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize("name", ["trec_eval", "ranx"])
def test_an_error_of_a_dialects_policy_says_whose_it_is(name):
    judgments = {"q": {"a": 1}, "lost": {"a": 1}}
    said = rf"\(policy missing=error, set by dialect {gf.measures.dialect(name)}\), found 1 missing"
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate(judgments, RUN, dialect=name)
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate_runs(judgments, {"one": RUN}, dialect=gf.measures.dialect(name))
    with pytest.raises(gf.errors.InputError, match=r"\(policy missing=error\), found"):
        gf.evaluate(judgments, RUN, policy=gf.measures.dialect(name).policy)


def test_an_error_of_a_dialects_policy_in_arrays():
    said = r"\(policy empty=error, set by dialect ntcir\)"
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate_arrays(labels=[[0, 0]], scores=[[2, 1]], dialect="ntcir")
    with pytest.raises(
        gf.errors.InputError, match=r"missing=skip empty=skip_all, set by dialect gdeval"
    ):
        gf.evaluate_arrays(labels=[[0, 0]], scores=[[2, 1]], dialect="gdeval")
    with pytest.raises(gf.errors.PolicyError, match=r"found negative=both, set by dialect rax"):
        gf.evaluate_arrays(
            labels=[[1, -1]],
            scores=[[2, 1]],
            measures=gf.Measure("nDCG", norm="minmax"),
            dialect=dataclasses.replace(gf.measures.dialect("rax"), settings={}),
        )


def test_scores_are_found_under_the_name_that_was_asked_for():
    judgments = {"q": {"a": 1, "b": 2, "x": 3}}
    scores = gf.evaluate(judgments, RUN, ["nDCG@10", "nDCG@1", "P@1"], dialect="lightgbm")
    full = "nDCG(gain=exp2, ideal=retrieved)@10"
    assert [*scores.means] == [full, full.replace("10", "1"), "P@1"]
    for name in ("nDCG@10", "ndcg@10", "ndcg_cut_10", gf.measure("nDCG@10"), full):
        assert scores[name] == scores.means[full]
    assert scores["P@1"] == 1.0
    assert scores.signature("nDCG@10").startswith(f"{full} | dialect=lightgbm")
    with pytest.raises(gf.errors.InputError, match=r"a measure that was evaluated, found 'nDCG@5'"):
        scores["nDCG@5"]
    with pytest.raises(gf.errors.MeasureError, match="Did you mean 'nDCG'"):
        scores["nDGC@10"]


def test_scores_are_found_under_the_names_of_the_tool():
    scores = gf.evaluate({"q": {"a": 1}}, RUN, "ndcg_score@5", dialect="sklearn")
    assert scores["ndcg_score@5"] == scores["nDCG@5"] == scores["nDCG(ideal=retrieved)@5"]
    whole = gf.evaluate({"q": {"a": 1}}, RUN, "nDCG", dialect="xgboost")
    assert whole["nDCG"] == whole["nDCG@32"]


def test_what_is_printed_goes_before_what_was_asked_for():
    judgments = {"q": {"a": 1, "b": 2, "x": 3}}
    scores = gf.evaluate(judgments, RUN, ["nDCG@2", "nDCG(ideal=judged)@2"], dialect="catboost")
    assert [*scores.means] == ["nDCG(ideal=retrieved)@2", "nDCG@2"]
    assert scores["nDCG@2"] == scores["ndcg@2"] == scores.means["nDCG@2"]
    assert scores["nDCG@2"] != scores["nDCG(ideal=retrieved)@2"]


def test_without_a_dialect_a_name_is_that_measure_alone():
    scores = gf.evaluate({"q": {"a": 1}}, RUN, gf.measures.dialect("lightgbm").measure("nDCG@10"))
    with pytest.raises(gf.errors.InputError, match="a measure that was evaluated"):
        scores["nDCG@10"]
