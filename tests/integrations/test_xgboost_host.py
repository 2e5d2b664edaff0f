"""The adapter for XGBoost, inside XGBoost, and what its own way with queries is."""

import pickle

import numpy as np
import pytest
import xgboost as xgb
from sklearn.base import clone

import gainful as gf
from trained_rankings import exported, query_ids, rankings, value_of

X, Y, SIZES = rankings(0)
V, VY, VSIZES = rankings(1)
PARAMS = {
    "objective": "rank:ndcg",
    "nthread": 1,
    "seed": 1,
    "max_depth": 3,
    "disable_default_eval_metric": 1,
}
ours = gf.integrations.xgboost


def matrices():
    return (
        xgb.DMatrix(X, label=Y, qid=query_ids(SIZES), nthread=1),
        xgb.DMatrix(V, label=VY, qid=query_ids(VSIZES), nthread=1),
    )


def trained(rounds=6, *measures, params=None, **options):
    train, valid = matrices()
    found = {}
    booster = xgb.train(
        {**PARAMS, **(params or {})},
        train,
        rounds,
        evals=[(valid, "v")],
        evals_result=found,
        verbose_eval=False,
        custom_metric=ours.metric(*measures) if measures else None,
        maximize=True if measures else None,
        **options,
    )
    return booster, found.get("v", {}), valid


def evaluated(predictions, measures, **asked):
    return gf.evaluate_arrays(
        labels=VY, scores=predictions, group=VSIZES, measures=measures, **asked
    )


def test_the_custom_metric_has_the_numbers_of_evaluate():
    """Of which XGBoost keeps six digits."""
    booster, found, valid = trained(6, "nDCG@5", "nDCG(gain={1: 2, 2: 3, 3: 9}, base=e)@3")
    assert list(found) == ["nDCG@5", "nDCG(gain={1=2,2=3,3=9},base=e)@3"]
    for at in (1, 6):
        predictions = booster.predict(valid, iteration_range=(0, at), output_margin=True)
        scores = evaluated(predictions, ["nDCG@5", "nDCG(gain={1: 2, 2: 3, 3: 9}, base=e)@3"])
        kept = [values[at - 1] for values in found.values()]
        assert kept == [float(f"{mean:f}") for mean in scores.means.values()]
        exact = ours.metric("nDCG@5")(predictions, valid)
        assert exact == [("nDCG@5", scores["nDCG@5"])]


def test_early_stopping_goes_by_any_measure():
    booster, found, _ = trained(80, "RBP", early_stopping_rounds=5)
    assert booster.best_iteration == int(np.argmax(found["RBP"]))
    assert len(found["RBP"]) == booster.best_iteration + 6 < 80


@pytest.mark.parametrize(
    ("method", "options"), [("lambda", {}), ("lambda", {"scheme": "ndcg2"}), ("xe", {})]
)
def test_objectives_train(method, options):
    """With the limits that XGBoost has by default, near to its own rank:ndcg."""
    measure = "nDCG(gain=exp2)@10"
    features, labels, sizes = rankings(2, queries=150)
    train = xgb.DMatrix(features, label=labels, qid=query_ids(sizes), nthread=1)

    def reached(**own):
        model = xgb.train({**PARAMS, "eta": 0.2}, train, 25, **own)
        predictions = model.predict(matrices()[1], output_margin=True)
        return evaluated(predictions, measure)[measure]

    start = evaluated(np.zeros(len(VY)), measure)[measure]
    theirs = reached()
    assert theirs > start + 0.2
    assert reached(obj=ours.objective(measure, method=method, **options)) > theirs - 0.02


def test_weights_of_queries_weigh_the_objective_and_measures():
    train, _ = matrices()
    own, zeros = ours.objective("nDCG"), np.zeros(len(Y), np.float32)
    plain, _ = own(zeros, train)
    weight = 1.0 + np.arange(len(SIZES)) % 2
    train.set_weight(weight)
    assert own(zeros, train)[0] == pytest.approx(plain * np.repeat(weight, SIZES))
    values = gf.evaluate_arrays(labels=Y, scores=X[:, 0], group=SIZES, measures="AP").values[:, 0]
    assert ours.metric("AP")(X[:, 0], train) == [
        ("AP", pytest.approx(np.average(values, weights=weight)))
    ]


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("empty", [False, True])
def test_the_dialect_holds_with_weights(empty, alike):
    """XGBoost counts a query without any gain as 1, whatever its weight."""
    train, _ = matrices()
    qid = query_ids(VSIZES)
    labels = np.where(empty & (qid % 5 == 0), 0, VY)
    valid = xgb.DMatrix(V, label=labels, qid=qid, nthread=1)
    weights = np.random.default_rng(4).uniform(0.2, 4, len(VSIZES))
    valid.set_weight(np.full(len(VSIZES), 2.5) if alike else weights)
    monitor = ours.RankingMonitor("nDCG@5", data=valid, dialect="xgboost")
    found = {}
    params = {**PARAMS, "disable_default_eval_metric": 0, "eval_metric": "ndcg@5"}
    xgb.train(
        params, train, 4, evals=[(valid, "v")], evals_result=found, verbose_eval=False,
        custom_metric=ours.metric("nDCG@5", dialect="xgboost"), callbacks=[monitor],
    )  # fmt: skip
    assert found["v"]["nDCG@5"] == pytest.approx(found["v"]["ndcg@5"], abs=2e-6)
    assert monitor.curve.means() == pytest.approx(found["v"]["ndcg@5"], abs=2e-6)
    unweighted = gf.evaluate_arrays(
        labels=labels, query=qid, scores=np.zeros(len(VY)), measures="nDCG@5", dialect="xgboost"
    )
    assert list(unweighted.means.values()) != found["v"]["ndcg@5"][:1]


def size_of(labels, scores):
    """A metric that returns the size of its query."""
    return float(len(labels))


def ranker(**options):
    return xgb.XGBRanker(n_estimators=4, n_jobs=1, max_depth=3, random_state=1, **options)


def fitted(model):
    given = {"eval_set": [(V, VY)], "eval_qid": [query_ids(VSIZES)], "verbose": False}
    return model.fit(X, Y, qid=query_ids(SIZES), **given)


def test_why_there_is_a_callback():
    """XGBRanker calls a metric for each query, counts those of one as 1, and weighs by size."""
    model = fitted(ranker(eval_metric=size_of))
    found = model.evals_result()["validation_0"]["size_of"][0]
    sizes = np.where(VSIZES == 1, 1.0, VSIZES)
    assert found == pytest.approx(np.average(sizes, weights=VSIZES), abs=1e-4)
    assert found != pytest.approx(sizes.mean(), abs=1)
    with pytest.raises(gf.errors.InputError, match=r"callbacks=\[RankingMonitor"):
        fitted(ranker(eval_metric=ours.metric("AP")))


def test_the_callback_has_the_numbers_of_evaluate():
    monitor = ours.RankingMonitor("nDCG@5", "AP", data=V, label=VY, qid=query_ids(VSIZES))
    model = fitted(ranker(callbacks=[monitor]))
    log = model.evals_result()["validation"]
    for at in range(1, 5):
        predictions = model.predict(V, iteration_range=(0, at), output_margin=True)
        scores = evaluated(predictions, ["nDCG@5", "AP"])
        assert [log[name][at - 1] for name in ("nDCG@5", "AP")] == [*scores.means.values()]
        assert monitor.curve.interval(at, "AP") == scores.interval("AP")
    assert monitor.curve.iterations == (1, 2, 3, 4)
    fitted(ranker(callbacks=[monitor]))  # anew
    assert monitor.curve.iterations == (1, 2, 3, 4)


def test_the_callback_takes_queries_in_any_order_and_a_matrix():
    order = np.random.default_rng(0).permutation(len(VY))
    mixed = ours.RankingMonitor("AP", data=V[order], label=VY[order], qid=query_ids(VSIZES)[order])
    matrix = ours.RankingMonitor("AP", data=matrices()[1], name="other")
    model = fitted(ranker(callbacks=[mixed, matrix]))
    log = model.evals_result()
    assert log["validation"]["AP"] == log["other"]["AP"]
    assert len(log["other"]["AP"]) == 4


def test_an_estimator_with_the_callback_can_be_copied():
    monitor = ours.RankingMonitor("AP", data=V, label=VY, qid=query_ids(VSIZES))
    model = fitted(ranker(callbacks=[monitor]))
    again = fitted(clone(model))
    (other,) = again.get_params()["callbacks"]
    assert other is not monitor
    assert other.curve == monitor.curve == pickle.loads(pickle.dumps(monitor)).curve  # noqa: S301


def test_copies_of_the_callback_share_its_matrix():
    """Which cannot be copied."""
    monitor = ours.RankingMonitor("AP", data=matrices()[1])
    model = fitted(clone(ranker(callbacks=[monitor])))
    (other,) = model.get_params()["callbacks"]
    assert other is not monitor
    fitted(ranker(callbacks=[monitor]))
    assert other.curve == monitor.curve


def test_an_objective_with_draws_trains_the_same_again():
    train, valid = matrices()
    own = ours.objective("nDCG", method="xe", seed=4)
    first, again, fresh = (
        xgb.train(PARAMS, train, 3, obj=each).predict(valid)
        for each in (own, own, ours.objective("nDCG", method="xe", seed=4))
    )
    assert (first == again).all()
    assert (first == fresh).all()


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_the_callback_stops_early_by_any_measure(better):
    """And XGBRanker predicts with the best iteration."""
    monitor = ours.RankingMonitor(
        "RBP", "AP", data=V, label=VY, qid=query_ids(VSIZES), early_stopping_rounds=5, better=better
    )
    model = xgb.XGBRanker(
        n_estimators=80, n_jobs=1, max_depth=3, random_state=1, callbacks=[monitor]
    )
    for _ in range(2):  # the second anew
        model.fit(X, Y, qid=query_ids(SIZES))
        means = monitor.curve.means("RBP")
        best = int(np.argmax(means) if better == "higher" else np.argmin(means))
        assert monitor.curve.best(better=better) == model.best_iteration + 1 == best + 1
        assert model.best_score == means[best]
        assert len(means) == best + 6 < 80
        assert evaluated(model.predict(V), "RBP")["RBP"] == means[best]


def test_the_callback_counts_the_iterations_of_the_model_that_it_goes_on_from():
    train, valid = matrices()
    base = xgb.train(PARAMS, train, 5)
    monitor = ours.RankingMonitor("RBP", data=valid, early_stopping_rounds=5)
    for _ in range(2):
        booster = xgb.train(PARAMS, train, 80, xgb_model=base, callbacks=[monitor])
        means = monitor.curve.means("RBP")
        best = int(np.argmax(means))
        assert monitor.curve.iterations == tuple(range(6, 6 + len(means)))
        assert monitor.curve.best("RBP") == booster.best_iteration + 1 == best + 6
        assert len(means) == best + 6 < 80
        kept = booster.predict(
            valid, iteration_range=(0, booster.best_iteration + 1), output_margin=True
        )
        assert evaluated(kept, "RBP")["RBP"] == means[best] == float(booster.attr("best_score"))


def test_the_dialect_holds(tmp_path, cli):
    """XGBoost computes in single precision and prints six digits or so."""
    train, valid = matrices()
    own = ours.metric("nDCG@5", dialect="xgboost")
    found = {}
    params = {**PARAMS, "disable_default_eval_metric": 0, "eval_metric": "ndcg@5"}
    booster = xgb.train(
        params,
        train,
        4,
        evals=[(valid, "v")],
        evals_result=found,
        custom_metric=own,
        verbose_eval=False,
    )
    printed, ours_found = found["v"]["ndcg@5"], found["v"]["nDCG@5"]
    assert ours_found == pytest.approx(printed, abs=2e-6)
    predictions = booster.predict(valid, output_margin=True)
    ((_, exact),) = own(predictions, valid)
    files = exported(tmp_path, VY, predictions.astype(float), VSIZES)
    done = cli("evaluate", *files, "--dialect", "xgboost", "-m", "nDCG@5", "--format", "json")
    assert value_of(done) == exact == pytest.approx(printed[-1], abs=2e-6)


def test_what_is_wrong_is_said():
    plain = xgb.DMatrix(X, label=Y)
    for own in (
        ours.metric("AP"),
        ours.objective("nDCG"),
        lambda _, data: ours.RankingMonitor(data=data),
    ):
        with pytest.raises(gf.errors.InputError, match="group: expected data with its queries"):
            own(np.zeros(len(Y)), plain)
    with pytest.raises(gf.errors.InputError, match="qid: expected one for each document"):
        ours.RankingMonitor("AP", data=V, label=VY)
    valid = matrices()[1]
    for name, value in (("label", VY), ("qid", query_ids(VSIZES))):
        with pytest.raises(gf.errors.InputError, match=f"{name}: expected none with a DMatrix"):
            ours.RankingMonitor("AP", data=valid, **{name: value})
    for other in (ours.RankingMonitor("AP", data=valid, name="v"), ours.RankingMonitor(data=valid)):
        twice = [other, ours.RankingMonitor("AP", "nDCG@10", data=valid, name=other.name)]
        with pytest.raises(
            gf.errors.InputError, match=f"name: .* aren't in the log yet, found '{other.name}'"
        ):
            xgb.train(PARAMS, matrices()[0], 2, callbacks=twice)
    with pytest.raises(gf.errors.InputError, match="data: expected predictions, then"):
        ours.objective("nDCG")(valid, np.zeros(len(VY)))
    few = {"n_estimators": 1, "n_jobs": 1}
    with pytest.raises(gf.errors.InputError, match=r"found ndarray\. Estimators call objectives"):
        xgb.XGBRegressor(objective=ours.objective("nDCG"), **few).fit(V, VY)
    with pytest.raises(gf.errors.InputError, match="data: expected the DMatrix of native"):
        xgb.XGBRegressor(eval_metric=ours.metric("AP"), **few).fit(V, VY, eval_set=[(V, VY)])
    with pytest.raises(
        gf.errors.InputError, match=r"scores\[0\]: expected a finite number, found nan"
    ):
        ours.metric("AP")(np.full(len(VY), np.nan), valid)
    monitor = ours.RankingMonitor("AP", data=valid)
    with pytest.raises(gf.errors.InputError, match=r"xgboost\.cv, which has a custom_metric"):
        xgb.cv(PARAMS, matrices()[0], 1, nfold=2, callbacks=[monitor])
    assert (
        repr(ours.metric("AP", policy={"empty": "skip"}))
        == "metric('AP', policy={'empty': 'skip'})"
    )
    assert repr(ours.objective("nDCG")) == "objective('nDCG', method='lambda')"
