"""`weights` and `clusters` in comparisons, gates, slices and leaderboards."""

import pickle

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
