"""`weights` and `clusters` in comparisons, gates, slices and leaderboards."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import gainful as gf
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.errors import InputError

RNG = np.random.default_rng(5)
QUERIES = [f"user{i // 4}-{i}" for i in range(160)]
LEVEL = np.repeat(RNG.normal(scale=0.1, size=40), 4)
OLD = dict(zip(QUERIES, RNG.uniform(0.2, 0.6, 160).tolist(), strict=True))
NEW = {query: OLD[query] + 0.02 + LEVEL[i] - LEVEL.mean() for i, query in enumerate(QUERIES)}
WEIGHTS = dict(zip(QUERIES, RNG.exponential(size=160).tolist(), strict=True))
RUNS = {"old": OLD, "new": NEW}
compare_scores = gf.comparison.compare_scores


def test_the_difference_is_weighted_and_its_error_follows_the_clusters() -> None:
    (found,) = compare_scores(RUNS, weights=WEIGHTS, clusters="id:-").differences
    apart = np.array([NEW[q] - OLD[q] for q in QUERIES])
    weights = np.array([WEIGHTS[q] for q in QUERIES])
    mean = (weights * apart).sum() / weights.sum()
    sums = (weights * (apart - mean)).reshape(40, 4).sum(axis=1)
    error = np.sqrt((sums**2).sum() * 40 / 39) / weights.sum()
    assert found.difference == pytest.approx(mean)
    assert found.sd is not None
    assert found.sd / np.sqrt(40) == pytest.approx(error)
    assert (found.queries, found.clusters) == (160, 40)
    assert found.wins + found.losses + found.ties == 160
    assert "160 queries in 40 clusters" in found.verdict.sentence


def test_what_is_real_for_independent_queries_may_not_be_for_users() -> None:
    (alone,) = compare_scores(RUNS).differences
    (grouped,) = compare_scores(RUNS, clusters="id:-").differences
    assert alone.p is not None
    assert grouped.p is not None
    assert alone.p < 0.05 < grouped.p
    assert grouped.verdict.word == "inconclusive"
    assert "clusters like these would settle it" in grouped.verdict.sentence


@pytest.mark.parametrize(
    "correction", ["holm", "bonferroni", "tukey", "tukey-anova", "max-t", "max-t-single", "none"]
)
@pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap"])
def test_every_test_and_correction_agrees_about_one_difference(test: str, correction: str) -> None:
    (found,) = compare_scores(
        RUNS, test=test, correction=correction, weights=WEIGHTS, clusters="id:-", resamples=4000
    ).differences
    (t,) = compare_scores(RUNS, weights=WEIGHTS, clusters="id:-").differences
    assert found.p == pytest.approx(t.p, abs=0.03)


def test_equal_weights_give_the_same_comparison() -> None:
    plain, weighted = (
        compare_scores(RUNS, **options)  # type: ignore[arg-type]
        for options in ({}, {"weights": dict.fromkeys(QUERIES, 2.5)})
    )
    hinted = {"sample": []}  # without weights, the ids are pointed out
    assert plain.to_dict() | hinted == weighted.to_dict() | hinted


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "wilcoxon-continuity"])
def test_tests_that_count_every_query_once_are_rejected(test: str) -> None:
    with pytest.raises(
        InputError, match="bootstrap, betting or asymptotic, with weights or clusters"
    ):
        compare_scores(RUNS, test=test, clusters="id:-")


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "wilcoxon-continuity"])
@pytest.mark.parametrize("option", ["weights", "arrival"])
def test_equal_weights_and_times_exclude_no_test(test: str, option: str) -> None:
    same = dict.fromkeys(QUERIES, 1)
    (found,) = compare_scores(RUNS, test=test, **{option: same}).differences  # type: ignore[arg-type]
    (plain,) = compare_scores(RUNS, test=test).differences
    assert (found.p, found.interval) == (plain.p, plain.interval)
    assert "worth" not in found.verdict.sentence


@pytest.mark.parametrize("weights", ["different", "the same"])
def test_means_by_a_dialect_without_weights_of_empty_queries_agree_everywhere(weights: str) -> None:
    """Under LightGBM's dialect, a query without any gain is added to the sum as 1."""
    judgments = {f"q{i}": {"a": 0 if i % 5 == 0 else 1 + i % 2, "b": i % 5 % 2} for i in range(40)}
    runs = {
        name: {query: {"a": i * step % 7, "b": 3} for i, query in enumerate(judgments)}
        for name, step in (("one", 2), ("two", 3))
    }
    same = weights == "the same"
    of_queries = {query: 2.5 if same else 0.5 + i % 4 for i, query in enumerate(judgments)}
    options = {"weights": of_queries, "dialect": "lightgbm"}
    comparison = gf.compare(judgments, runs, "nDCG@1", **options)  # type: ignore[arg-type]
    board = gf.leaderboard(judgments, runs, "nDCG@1", **options)  # type: ignore[arg-type]
    (found,) = comparison.differences
    gate = comparison.gate("nDCG@1 < 0.2")
    for name, mean in (("one", found.baseline_mean), ("two", found.run_mean)):
        scores = gf.evaluate(judgments, runs[name], "nDCG@1", by="judged", **options)  # type: ignore[arg-type]
        values = dict(zip(scores.queries, scores.values[:, 0].tolist(), strict=True))
        empty = [query for query, grades in judgments.items() if not any(grades.values())]
        sums = sum(of_queries[q] * v for q, v in values.items() if q not in empty) + len(empty)
        assert scores["nDCG@1"] == pytest.approx(sums / sum(of_queries.values()), abs=1e-14)
        assert scores["nDCG@1"] == mean == scores.slices[0].mean == board[name].value
        interval = scores.interval()
        assert interval.low < mean < interval.high
        assert (interval.low + interval.high) / 2 == pytest.approx(mean, abs=0.02)
    assert f"{found.run_mean:.4f}" in gate.checked[0].found


def judged_runs() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, int]]]]:
    judgments = {query: {"a": 1} for query in QUERIES}
    runs = {
        name: {query: {"a": i % step, "b": 1} for i, query in enumerate(QUERIES)}
        for name, step in (("old", 3), ("new", 4))
    }
    return judgments, runs


SAMPLES: dict[str, dict[str, object]] = {
    "weights": {"weights": WEIGHTS},
    "clusters": {"clusters": "id:-"},
    "strata": {
        "strata": {query: "ab"[i > 99] for i, query in enumerate(QUERIES)},
        "population": {"a": 10, "b": 90},
    },
    "arrival": {"arrival": {query: -i for i, query in enumerate(QUERIES)}, "anytime": True},
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_saved_baseline_keeps_its_weights_and_clusters(kind: str, tmp_path: Path) -> None:
    """A comparison with it needs no weights again, and is the same as one of both runs."""
    judgments, runs = judged_runs()
    how = dict(SAMPLES[kind])
    anytime = bool(how.pop("anytime", False))
    scores = gf.evaluate(judgments, runs["old"], "RR", **how)  # type: ignore[arg-type]
    path = str(tmp_path / "old.json")
    gf.comparison.save_baseline(scores, path)
    both = gf.compare(judgments, runs, "RR", anytime=anytime, **how)  # type: ignore[arg-type]
    saved = {"old": path, "new": runs["new"]}
    again = gf.compare(judgments, saved, "RR", anytime=anytime)  # type: ignore[arg-type]
    assert again.differences == both.differences
    assert again.sample == both.sample
    assert again.scores["new"]["RR"] == both.scores["new"]["RR"]
    board = gf.leaderboard(judgments, saved, "RR")  # type: ignore[arg-type]
    assert board["old"].value == both.differences[0].baseline_mean
    kept = gf.comparison.read_baseline(path)
    assert gf.comparison.compare_scores({"old": kept, "new": scores}).sample == both.sample


def test_scores_with_different_weights_need_weights_to_be_compared() -> None:
    judgments, runs = judged_runs()
    weighted, other = (
        gf.evaluate(judgments, runs["old"], "RR", weights=weights)
        for weights in (WEIGHTS, {query: i + 1 for i, query in enumerate(QUERIES)})
    )
    plain = gf.evaluate(judgments, runs["new"], "RR")
    compared = compare_scores({"old": weighted, "new": plain})
    (found,) = compared.differences
    assert found.baseline_mean == weighted["RR"]
    message = "weights: expected scores with the same weights and clusters, found different ones in 'old' and 'new'"
    with pytest.raises(InputError, match=message):
        compare_scores({"old": weighted, "new": other})
    with pytest.raises(InputError, match=message):
        gf.comparison.leaderboard_of_scores({"old": weighted, "new": other}, "RR")
    (found,) = compare_scores({"old": weighted, "new": other}, weights=WEIGHTS).differences
    assert found.difference == 0


def test_wrong_weights_in_a_saved_baseline_are_rejected(tmp_path: Path) -> None:
    judgments, runs = judged_runs()
    path = tmp_path / "old.json"
    scores = gf.evaluate(
        judgments, runs["old"], "RR", weights=dict.fromkeys(QUERIES, 1) | {QUERIES[0]: 2}
    )
    gf.comparison.save_baseline(scores, path)
    text = path.read_text()
    for wrong in ("[-2.0, 1.0", "[1.0, 1.0, 1.0", '["much", 1.0'):
        path.write_text(text.replace("[2.0, 1.0", wrong, 1))
        with pytest.raises(
            InputError, match="weights: expected a non-negative number for each query"
        ):
            gf.comparison.read_baseline(path)


def test_a_cluster_lies_in_one_stratum() -> None:
    strata = {query: "ab"[i % 2] for i, query in enumerate(QUERIES)}
    message = (
        "strata: expected one stratum for all queries of a cluster, found 'a' for query 'user0-0'"
    )
    with pytest.raises(InputError, match=message):
        compare_scores(RUNS, strata=strata, clusters="id:-")


def test_a_gate_uses_the_weighted_mean_and_its_interval() -> None:
    comparison = compare_scores(RUNS, weights=WEIGHTS, clusters="id:-")
    gate = comparison.gate(["Δ value < -0.5", "value < 0.1"])
    (found,) = comparison.differences
    assert f"{found.difference:+.4f}" in gate.checked[0].found
    assert f"{found.run_mean:.4f}" in gate.checked[1].found
    assert f"{found.interval.low:+.4f}" not in gate.checked[0].found  # two claims share the level


def test_slices_keep_the_weights_and_clusters_of_their_queries() -> None:
    table = {query: {"kind": "ab"[i % 2], "w": WEIGHTS[query]} for i, query in enumerate(QUERIES)}
    comparison = compare_scores(RUNS, slices=table, weights="w", clusters="id:-")
    assert [part.column for part in comparison.slices] == ["kind", "kind"]
    for part in comparison.slices:
        chosen = [i for i in range(160) if "ab"[i % 2] == part.value]
        apart = np.array([NEW[QUERIES[i]] - OLD[QUERIES[i]] for i in chosen])
        weights = np.array([WEIGHTS[QUERIES[i]] for i in chosen])
        assert part.difference.difference == pytest.approx(np.average(apart, weights=weights))
        assert part.difference.clusters == 40


def test_a_leaderboard_ranks_by_the_weighted_mean() -> None:
    heavy = {query: 1000.0 if i < 40 else 1.0 for i, query in enumerate(QUERIES)}
    first = {query: OLD[query] + (0.2 if i < 40 else -0.2) for i, query in enumerate(QUERIES)}
    plain = gf.comparison.leaderboard_of_scores({"old": OLD, "first": first})
    weighted = gf.comparison.leaderboard_of_scores({"old": OLD, "first": first}, weights=heavy)
    assert plain.runs == ("old", "first")
    assert weighted.runs == ("first", "old")
    assert weighted.p[0, 1] < 0.05
    for correction in ("holm", "tukey", "max-t"):
        board = gf.comparison.leaderboard_of_scores(
            {"old": OLD, "first": first}, weights=heavy, correction=correction
        )
        assert board.p[0, 1] < 0.05
    assert any("effective number" in note for note in weighted.notes())


def test_clustered_leaderboards_are_less_sure() -> None:
    plain = gf.comparison.leaderboard_of_scores(RUNS)
    clustered = gf.comparison.leaderboard_of_scores(RUNS, clusters="id:-")
    assert plain.p[0, 1] < clustered.p[0, 1]


def test_the_comparison_of_runs_evaluates_with_the_weights() -> None:
    judgments = {query: {"a": 1} for query in QUERIES}
    old = {query: {"a": i % 3, "b": 1} for i, query in enumerate(QUERIES)}
    new = {query: {"a": i % 4, "b": 1} for i, query in enumerate(QUERIES)}
    result = gf.compare(judgments, {"old": old, "new": new}, "RR", weights=WEIGHTS, clusters="id:-")
    scores = gf.evaluate(judgments, new, "RR", weights=WEIGHTS)
    assert result["new", "RR"].run_mean == scores["RR"]
    assert result.scores["new"]["RR"] == scores["RR"]
    again = pickle.loads(pickle.dumps(result))  # noqa: S301 - made here
    assert again.notes() == result.notes()


def test_the_error_rate_holds_for_clusters_without_a_difference() -> None:
    """Of 400 comparisons of runs that are the same for users, about 5% find a difference."""
    rng = np.random.default_rng(8)
    labels = np.repeat(np.arange(40), 4)
    sampling, plain, grouped = Sampling(None, labels), 0, 0
    from gainful.arithmetic.statistics.paired_tests import TESTS

    for _ in range(400):
        apart = (rng.normal(size=40)[labels] + rng.normal(size=160))[:, None]
        plain += (TESTS["t"](apart)[0].p or 0) < 0.05
        grouped += (TESTS["t"](apart, None, 0.0, sampling)[0].p or 0) < 0.05
    assert plain / 400 > 0.15
    assert grouped / 400 < 0.08


def test_ids_and_columns_that_look_like_clusters_are_pointed_out() -> None:
    hints = compare_scores(RUNS).sample
    assert len(hints) == 1
    assert "40 groups of queries ('user0' …)" in hints[0]
    assert "clusters='id:-'" in hints[0]
    users = {
        query: {"user_id": f"u{i // 8}", "kind": "ab"[i % 2]} for i, query in enumerate(QUERIES)
    }
    (hint,) = compare_scores(RUNS, slices=users, by="kind").sample
    assert hint.startswith("The column user_id has 20 values.")
    numbered = [{f"q{i}": value for i, value in enumerate(run.values())} for run in (OLD, NEW)]
    assert compare_scores(dict(zip("ab", numbered, strict=True))).sample == ()
