"""Weights and clusters of lists in arrays, and of users."""

import numpy as np
import pytest

import gainful as gf

RANDOM = np.random.default_rng(5)
SIZES = RANDOM.integers(1, 9, 40)
OWNERS = np.repeat(np.arange(40), SIZES)
LABELS = RANDOM.integers(0, 3, SIZES.sum())
SCORES = RANDOM.normal(size=SIZES.sum())
WEIGHTS = RANDOM.uniform(0, 4, 40)
CLUSTERS = np.arange(40) // 4
IDS = np.array([f"q{at:02}" for at in range(40)])


def evaluated(**options):
    if "query" not in options:
        options["group"] = SIZES
    return gf.evaluate_arrays(labels=LABELS, scores=SCORES, measures="nDCG@5 num_rel", **options)


def test_weights_of_lists_weigh_means_and_clusters_widen_intervals():
    plain, scores = evaluated(), evaluated(weights=WEIGHTS, clusters=CLUSTERS)
    assert (scores.values == plain.values).all()
    assert scores["nDCG@5"] == pytest.approx(np.average(plain.values[:, 0], weights=WEIGHTS))
    assert scores["num_rel"] == plain["num_rel"]
    judgments = {
        query: {f"d{at}": LABELS[at] for at in np.flatnonzero(row == OWNERS)}
        for row, query in enumerate(IDS)
    }
    run = {q: {doc: SCORES[int(doc[1:])] for doc in docs} for q, docs in judgments.items()}
    sample = {
        "weights": dict(zip(IDS, WEIGHTS, strict=True)),
        "clusters": dict(zip(IDS, CLUSTERS, strict=True)),
    }
    same = gf.evaluate(judgments, run, "nDCG@5", **sample)
    assert scores["nDCG@5"] == pytest.approx(same["nDCG@5"])
    found, expected = scores.interval("nDCG@5", method="t"), same.interval("nDCG@5", method="t")
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high])


@pytest.mark.parametrize(
    "sample",
    [
        {"weights": WEIGHTS[OWNERS], "clusters": CLUSTERS[OWNERS]},
        {"weights": WEIGHTS.tolist(), "clusters": [f"user{at}" for at in CLUSTERS]},
        {"weights": {str(at): WEIGHTS[at] for at in range(40)}, "clusters": lambda q: int(q) // 4},
    ],
)
def test_weights_and_clusters_of_documents_lists_and_ids_are_the_same(sample):
    found, expected = evaluated(**sample), evaluated(weights=WEIGHTS, clusters=CLUSTERS)
    assert found.means == pytest.approx(expected.means)
    assert found.interval().low == pytest.approx(expected.interval().low)


def test_queries_in_any_order_keep_their_weights():
    order = RANDOM.permutation(len(LABELS))
    expected = evaluated(weights=WEIGHTS)["nDCG@5"]
    for weights in (WEIGHTS[OWNERS][order], dict(zip(IDS, WEIGHTS, strict=True))):
        found = gf.evaluate_arrays(
            labels=LABELS[order], scores=SCORES[order], query=IDS[OWNERS][order],
            measures="nDCG@5", weights=weights,
        )  # fmt: skip
        assert found["nDCG@5"] == pytest.approx(expected)


def test_a_query_counts_with_the_mean_of_its_documents_weights():
    of_documents = RANDOM.uniform(0, 2, len(LABELS))
    means = np.bincount(OWNERS, of_documents) / SIZES
    assert evaluated(weights=of_documents).means == evaluated(weights=means).means


def test_lists_of_a_batch():
    labels, scores = RANDOM.integers(0, 3, (6, 4)), RANDOM.normal(size=(6, 4))
    for query in (None, [f"q{at}" for at in (5, 3, 1, 0, 2, 4)]):
        lists = {"labels": labels, "scores": scores, "measures": "nDCG", "query": query}
        plain = gf.evaluate_arrays(**{**lists, "query": None})
        found = gf.evaluate_arrays(**lists, weights=WEIGHTS[:6])
        assert found["nDCG"] == pytest.approx(np.average(plain.values[:, 0], weights=WEIGHTS[:6]))


def test_equal_weights_change_no_bit():
    assert evaluated(weights=np.full(40, 3.0)).means == evaluated().means


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"weights": [1, 2]}, "weights: expected one for each of the 40 lists, or for each of the"),
        ({"weights": -WEIGHTS}, "weights: expected non-negative numbers"),
        ({"weights": [float("nan")] * 40}, "weights.0.: expected a finite number"),
        ({"weights": [0] * 40}, "weights: expected a weight above 0"),
        ({"weights": {"0": 1}}, "weights: expected a weight for every query"),
        ({"clusters": ["a"]}, "clusters: expected one for each of the 40 lists"),
        ({"clusters": np.arange(len(LABELS))}, "clusters: expected one cluster for all documents"),
    ],
)
def test_invalid_samples_are_rejected(sample, message):
    with pytest.raises(gf.errors.InputError, match=message):
        evaluated(**sample)


def test_users_have_weights_and_clusters():
    run = {f"u{at}": ["a", "b"] if at % 3 else ["a", "c"] for at in range(30)}
    items = {"a": "jazz", "b": "jazz", "c": "rock", "d": "folk"}
    weights = {user: at for at, user in enumerate(run)}
    recommending = gf.recommending.evaluate_recommendations
    plain = recommending(run, ["ILD@2", "Coverage@2"], items=items)
    found = recommending(
        run, ["ILD@2", "Coverage@2"], items=items, weights=weights, clusters=lambda u: u[-1]
    )
    values = plain.per_query.to_dict()
    expected = sum(values[u]["ILD@2"] * weights[u] for u in run) / sum(weights.values())
    assert found["ILD@2"] == pytest.approx(expected)
    assert found["ILD@2"] != pytest.approx(plain["ILD@2"])
    assert found["Coverage@2"] == plain["Coverage@2"]
    assert "in 10 clusters" in found.table().notes[1]
    with pytest.raises(gf.errors.InputError, match="weights: expected a weight for every query"):
        recommending(run, "ILD@2", items=items, weights={"u1": 1})


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_some_tools_count_queries_without_any_gain_whatever_their_weight(name):
    labels = [[0, 0], [1, 0], [0, 2]]
    options = {"labels": labels, "scores": [[2, 1]] * 3, "measures": "nDCG@2 P@1"}
    found = gf.evaluate_arrays(**options, weights=[4, 1, 3], dialect=name)
    ndcg, precision = found.means.values()
    assert ndcg == pytest.approx((1 + 1 * 1 + 3 / np.log2(3)) / 8)
    assert precision == pytest.approx(1 / 8)
    weighted = gf.evaluate_arrays(**options, weights=[4, 1, 3], dialect="catboost")
    assert next(iter(weighted.means.values())) == pytest.approx((4 + 1 + 3 / np.log2(3)) / 8)
