"""Judgments from clicks: everywhere judgments go, intervals that cover, resamples of sessions."""

import numpy as np
import pandas as pd
import pytest

import gainful as gf
from gainful.arithmetic.kernels import click_intervals
from gainful.arithmetic.kernels.click_intervals import interval
from gainful.arithmetic.kernels.click_models import MODELS, Fitting
from simulated_clicks import Truth, simulated


def table_of(lists, docs=6):
    owners = lists.owners
    return pd.DataFrame({
        "session": owners, "query": [f"q{pair // docs}" for pair in lists.pairs],
        "doc": [f"d{pair % docs}" for pair in lists.pairs], "position": lists.ranks, "clicked": lists.clicks,
    })  # fmt: skip


TRUTH = Truth.drawn(5, 6, 4)
LISTS = simulated("pbm", TRUTH, lists=2000, queries=5, docs=6, depth=4)
TABLE = table_of(LISTS)


def test_they_are_judgments(tmp_path):
    judgments = gf.behaviour.click_judgments(TABLE, "pbm")
    run = {query: [f"d{place}" for place in range(6)] for query in judgments}
    expected = gf.evaluate({query: dict(docs) for query, docs in judgments.items()}, run, "nDCG@3")
    assert gf.evaluate(judgments, run, "nDCG@3")["nDCG@3"] == expected["nDCG@3"]
    for name in ("clicks.qrels", "clicks.csv", "clicks.parquet"):
        gf.write_judgments(judgments, tmp_path / name)
        again = gf.evaluate(tmp_path / name, run, "nDCG@3")
        assert again["nDCG@3"] == pytest.approx(expected["nDCG@3"], abs=1e-6)


@pytest.mark.parametrize("model", [*MODELS])
@pytest.mark.filterwarnings("ignore:.*still changing")
def test_each_grade_lies_in_its_interval(model):
    judgments = gf.behaviour.click_judgments(TABLE, model, rounds=200)
    assert np.all((judgments.low <= judgments.grades) & (judgments.grades <= judgments.high))
    assert [row.impressions for row in judgments.rows] == TABLE.groupby(
        ["query", "doc"]
    ).size().tolist()
    assert [row.clicks for row in judgments.rows] == TABLE.groupby(["query", "doc"])[
        "clicked"
    ].sum().tolist()


def test_thresholds_make_grades():
    plain = gf.behaviour.click_judgments(TABLE, "ctr")
    graded = gf.behaviour.click_judgments(TABLE, "ctr", thresholds=(0.1, 0.2))
    assert graded.grades.tolist() == [int(g >= 0.1) + int(g >= 0.2) for g in plain.grades]
    with pytest.raises(gf.errors.InputError, match="ascending"):
        gf.behaviour.click_judgments(TABLE, "ctr", thresholds=(0.2, 0.1))


def share_inside(model, simulations, lists=1000):
    """Return how often 95% intervals contain the truth if users behave as the model says."""
    endless = model in ("dcm", "sdbn")  # as their closed forms assume
    docs, depth = (40, 40) if endless else (6, 4)
    inside = []
    for seed in range(simulations):
        truth = Truth.drawn(5, docs, depth, seed=seed)
        shown = simulated(model, truth, lists=lists, queries=5, docs=docs, depth=depth, seed=seed + 10**6, endless=endless)  # fmt: skip
        low, high = interval(
            shown, MODELS[model].fit(shown, Fitting(1000)), np.array([0.025, 0.975])
        )
        true = truth.attraction * (truth.satisfaction if model in ("sdbn", "dbn") else 1)
        if model == "coec":
            true = true / truth.attraction.mean()
        inside.append(((low <= true) & (true <= high)).mean())
    return np.mean(inside)


@pytest.mark.parametrize("model", [*MODELS])
def test_intervals_cover(model):
    assert share_inside(model, 40) == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("model", [*MODELS])
def test_intervals_cover_in_a_thousand_simulations(model):
    assert share_inside(model, 1000) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("model", ["coec", "sdbn", "pbm"])
def test_intervals_do_not_depend_on_hashes(model, monkeypatch):
    usual = gf.behaviour.click_judgments(TABLE, model, rounds=500)
    monkeypatch.setattr(click_intervals, "_MIXING", np.uint64(0))  # all have the same hash
    other = gf.behaviour.click_judgments(TABLE, model, rounds=500)
    assert np.array_equal(usual.low, other.low)
    assert np.array_equal(usual.high, other.high)
    assert len(np.unique(usual.low)) > 10


def test_the_result_says_what_its_intervals_assume():
    assert "stop reading at their last click, as sdbn does" in str(
        gf.behaviour.click_judgments(TABLE, "sdbn")
    )
    assert "last click" not in str(gf.behaviour.click_judgments(TABLE, "dbn", rounds=500))


def test_resamples_spread_as_the_intervals():
    judgments = gf.behaviour.click_judgments(TABLE, "ctr")
    drawn = judgments.resampled(300, seed=1)
    width = np.quantile(drawn, 0.975, axis=0) - np.quantile(drawn, 0.025, axis=0)
    assert np.median(width / (judgments.high - judgments.low)) == pytest.approx(1, abs=0.1)
    assert np.array_equal(drawn, judgments.resampled(300, seed=1))
    assert drawn.mean(axis=0) == pytest.approx(judgments.grades, abs=0.02)


def test_the_true_model_predicts_best():
    models = gf.behaviour.click_models(TABLE)
    assert models[0].model in ("pbm", "ubm")  # UBM contains PBM
    assert {row.model for row in models} == {*MODELS}
    assert "predicts the clicks in 400 unseen lists best" in str(models)


def test_errors():
    with pytest.raises(gf.errors.InputError, match="model: expected ctr or coec"):
        gf.behaviour.click_judgments(TABLE, "pmb")
    with pytest.raises(gf.errors.InputError, match="at least 3 sessions"):
        gf.behaviour.click_models(
            TABLE[TABLE["session"].isin(TABLE[TABLE["clicked"]]["session"].unique()[:2])]
        )
    with pytest.warns(gf.errors.GainfulWarning, match="still changing after 1 rounds"):
        gf.behaviour.click_judgments(TABLE, "pbm", rounds=1)


def test_a_comparison_says_what_comes_from_the_clicks():
    truth = Truth.drawn(30, 6, 4, seed=1)
    rng = np.random.default_rng(0)
    runs = {
        name: {f"q{q}": {f"d{d}": float(rng.random() + lift * truth.attraction[q * 6 + d]) for d in range(6)} for q in range(30)}
        for name, lift in (("old", 0.0), ("new", 2.0))
    }  # fmt: skip
    shares = []
    for lists in (1500, 60_000):
        log = table_of(simulated("ctr", truth, lists=lists, queries=30, docs=6, depth=4))
        judgments = gf.behaviour.click_judgments(log, "ctr")
        comparison = gf.compare(judgments, runs, "DCG@3", resamples=50)
        (part,) = comparison.grade_variances
        drawn = np.array([
            gf.evaluate(grades, runs["new"], "DCG@3").values[:, 0]
            - gf.evaluate(grades, runs["old"], "DCG@3").values[:, 0]
            for grades in judgments.redrawn(40)
        ])  # fmt: skip
        old, new = (gf.evaluate(judgments, runs[name], "DCG@3").values[:, 0] for name in runs)
        # Each draw is from half of the sessions, and so is biased twice as much.
        unbiased = 2 * (new - old) - drawn.mean(axis=0)
        drawn = (drawn - drawn.mean(axis=0)) * max(unbiased.std() / drawn.mean(axis=0).std(), 1)
        means, own = drawn.mean(axis=1), drawn.var(axis=0, ddof=1).sum() / 30**2
        whole = unbiased.var(ddof=1) / 30 + max(means.var(ddof=1) - own, 0)
        assert part.share == pytest.approx(means.var(ddof=1) / whole)
        assert (part.low + part.high) / 2 == pytest.approx(unbiased.mean())
        assert (part.high - part.low) / 2 == pytest.approx(2.0227 * means.std(ddof=1), rel=1e-4)
        assert "of the variance comes from the clicks" in str(comparison)
        shares.append(part.share)
    # With 40 times the sessions, a fortieth of the variance of the grades is left.
    assert shares[1] < shares[0] / 10


def test_grades_by_people_have_no_such_part():
    assert (
        gf.compare(
            {"q": {"a": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "a"]}}
        ).grade_variances
        == ()
    )


@pytest.mark.parametrize("model", ["coec", "sdbn", "dbn", "pbm", "ccm"])
@pytest.mark.filterwarnings("ignore:.*still changing")
def test_resamples_are_around_the_grades(model):
    """Each kind of probability keeps a prior of its own, of which a shared one would move the grades."""
    truth = Truth.drawn(5, 6, 4)
    lists = simulated(
        "dbn" if model in ("sdbn", "dbn") else "pbm", truth, lists=1500, queries=5, docs=6, depth=4
    )
    judgments = gf.behaviour.click_judgments(table_of(lists), model, rounds=200)
    drawn = judgments.resampled(60)
    spread = drawn.std(axis=0)
    assert np.median(np.abs(drawn.mean(axis=0) - judgments.grades) / spread) < 0.5


@pytest.mark.parametrize("model", ["ctr", "coec"])
def test_resamples_of_counts_spread_as_those_of_their_lists(model):
    judgments = gf.behaviour.click_judgments(TABLE, model)
    counts = (
        TABLE.groupby(["query", "doc", "position"])["clicked"].agg(["size", "sum"]).reset_index()
    )
    counts = counts.rename(columns={"size": "impressions", "sum": "clicks"})
    of_counts = gf.behaviour.click_judgments(counts, model)
    assert of_counts.grades == pytest.approx(judgments.grades)
    spreads = [each.resampled(200).std(axis=0) for each in (judgments, of_counts)]
    assert np.median(spreads[1] / spreads[0]) == pytest.approx(1, abs=0.15)


def test_a_run_that_is_read_only_once_is_compared_without_them():
    import pyarrow as pa

    judgments = gf.behaviour.click_judgments(TABLE, "ctr")
    rows = [{"query": q, "doc": f"d{d}", "score": float(d)} for q in judgments for d in range(6)]
    stream = pa.Table.from_pylist(rows).to_reader()
    other = {query: {f"d{d}": -d for d in range(6)} for query in judgments}
    comparison = gf.compare(judgments, {"old": other, "new": stream}, "DCG@3", resamples=50)
    assert comparison.grade_variances == ()
    assert comparison["new", "DCG@3"].queries == 5
