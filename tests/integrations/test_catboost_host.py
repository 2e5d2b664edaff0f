"""Learning curves of CatBoost's models."""

import catboost
import numpy as np
import pytest

import gainful as gf
from trained_rankings import exported, query_ids, rankings, value_of

X, Y, SIZES = rankings(0)
V, VY, VSIZES = rankings(1)
IDS = query_ids(VSIZES)
ours = gf.integrations.catboost


def pool(features, labels, sizes):
    return catboost.Pool(features, labels, group_id=query_ids(sizes))


@pytest.fixture(scope="module")
def model():
    settings = {"iterations": 7, "depth": 3, "verbose": 0, "thread_count": 1, "random_seed": 1}
    found = catboost.CatBoostRanker(loss_function="YetiRank", allow_writing_files=False, **settings)
    return found.fit(pool(X, Y, SIZES))


def evaluated(predictions, measures, **asked):
    return gf.evaluate_arrays(
        labels=VY, scores=predictions, group=VSIZES, measures=measures, **asked
    )


def test_a_learning_curve_is_that_of_the_predictions(model):
    curve = ours.learning_curve(model, pool(V, VY, VSIZES), measures=["nDCG@5", "AP"], every=3)
    assert curve.iterations == (3, 6, 7)
    for row, at in enumerate(curve.iterations):
        scores = evaluated(model.predict(V, ntree_end=at), ["nDCG@5", "AP"])
        assert (curve.values[row] == scores.values).all()
        assert curve.interval(at, "AP") == scores.interval("AP")


def test_features_labels_and_ids_in_any_order_give_the_same(model):
    order = np.random.default_rng(0).permutation(len(VY))
    one = ours.learning_curve(model, V[order], VY[order], "AP", group_id=IDS[order])
    assert one.iterations == tuple(range(1, 8))
    assert one.means() == ours.learning_curve(model, pool(V, VY, VSIZES), measures="AP").means()


def test_the_best_iteration_by_any_measure_can_be_kept(model):
    curve = ours.learning_curve(model, pool(V, VY, VSIZES), measures="RBP")
    best = curve.best("RBP")
    assert curve.means("RBP")[best - 1] == max(curve.means("RBP"))
    kept = model.copy()
    kept.shrink(best)
    assert kept.tree_count_ == best
    assert evaluated(kept.predict(V), "RBP")["RBP"] == max(curve.means("RBP"))


def test_the_dialect_holds(model, tmp_path, cli, monkeypatch):
    """What CatBoost says, the command on exported predictions, and the adapter are one number."""
    monkeypatch.chdir(tmp_path)  # where CatBoost writes files when it is asked for metrics
    data = pool(V, VY, VSIZES)
    said = model.eval_metrics(data, ["NDCG:top=5;type=Base"], thread_count=1)
    (values,) = said.values()
    curve = ours.learning_curve(model, data, measures="nDCG@5", dialect="catboost")
    assert curve.means() == pytest.approx(values, rel=1e-15)
    files = exported(tmp_path, VY, model.predict(V), VSIZES)
    done = cli("evaluate", *files, "--dialect", "catboost", "-m", "nDCG@5", "--format", "json")
    assert value_of(done) == curve.means()[-1]


def test_the_dialect_holds_with_group_weights(model, tmp_path, monkeypatch):
    """CatBoost's NDCG counts queries by group_weight, those without any gain as well."""
    monkeypatch.chdir(tmp_path)
    labels = np.where(IDS % 5 == 0, 0, VY)
    weight = np.random.default_rng(4).uniform(0.2, 4, len(VSIZES))[IDS]
    data = catboost.Pool(V, labels, group_id=IDS, group_weight=weight)
    (said,) = model.eval_metrics(data, ["NDCG:top=5;type=Base"], thread_count=1).values()
    asked = {"measures": "nDCG@5", "dialect": "catboost"}
    curve = ours.learning_curve(model, data, group_weight=weight, **asked)
    assert curve.means() == pytest.approx(said, rel=1e-14)
    plain = ours.learning_curve(model, data, **asked)
    assert curve.means() != plain.means()
    order = np.random.default_rng(0).permutation(len(VY))
    shuffled = ours.learning_curve(
        model, V[order], labels[order], group_id=IDS[order], group_weight=weight[order], **asked
    )
    assert shuffled.means() == pytest.approx(said, rel=1e-14)
    with pytest.raises(gf.errors.InputError, match="group_weight: expected one for each of"):
        ours.learning_curve(model, data, group_weight=weight[1:], **asked)


def test_weights_of_documents_do_not_count_as_in_catboost(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    weighted = catboost.Pool(V, VY, group_id=IDS, weight=1.0 + IDS % 2)
    (said,) = model.eval_metrics(weighted, ["NDCG:top=5;type=Base"], thread_count=1).values()
    curve = ours.learning_curve(model, weighted, measures="nDCG@5", dialect="catboost")
    assert curve.means() == pytest.approx(said, rel=1e-14)


def test_what_is_wrong_is_said(model):
    with pytest.raises(gf.errors.InputError, match="model: expected a model of CatBoost"):
        ours.learning_curve(object(), V, VY, group_id=IDS)
    with pytest.raises(gf.errors.InputError, match="group_id: expected one for each document"):
        ours.learning_curve(model, V, VY)
    with pytest.raises(gf.errors.InputError, match="data: expected a Pool with group ids"):
        ours.learning_curve(model, catboost.Pool(V, VY))
    with pytest.raises(gf.errors.InputError, match=r"group_id: expected .* ids, one for each"):
        ours.learning_curve(model, V, VY, group_id=IDS[:-1])
    with pytest.raises(gf.errors.InputError, match="every: expected"):
        ours.learning_curve(model, pool(V, VY, VSIZES), every=0)
