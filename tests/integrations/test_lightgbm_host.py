"""The adapter for LightGBM, inside LightGBM."""

import pickle
import warnings

import lightgbm as lgb
import numpy as np
import pytest
from sklearn.base import clone

import gainful as gf
from trained_rankings import exported, query_ids, rankings, value_of

QUIET = {
    "verbose": -1,
    "num_threads": 1,
    "seed": 1,
    "deterministic": True,
    "num_leaves": 7,
    "min_data_in_leaf": 5,
}
X, Y, SIZES = rankings(0)
V, VY, VSIZES = rankings(1)
ours = gf.integrations.lightgbm


def sets():
    train = lgb.Dataset(X, Y, group=SIZES, params={"verbose": -1})
    return train, lgb.Dataset(V, VY, group=VSIZES, reference=train, params={"verbose": -1})


def trained(objective="lambdarank", rounds=8, measures=("nDCG@5", "AP"), stop=None, **asked):
    """Train, and return the booster and what it has recorded of the validation set."""
    train, valid = sets()
    found = {}
    stopping = [] if stop is None else [lgb.early_stopping(stop, verbose=False)]
    params = {**QUIET, "objective": objective, "metric": asked.pop("own", "None"), "eval_at": [5]}
    booster = lgb.train(
        params,
        train,
        rounds,
        valid_sets=[valid],
        valid_names=["v"],
        feval=ours.metric(*measures, **asked),
        callbacks=[lgb.record_evaluation(found), *stopping],
    )
    return booster, found["v"]


def evaluated(predictions, measures, **asked):
    return gf.evaluate_arrays(
        labels=VY, scores=predictions, group=VSIZES, measures=measures, **asked
    )


def test_feval_has_the_numbers_of_evaluate():
    booster, found = trained()
    assert list(found) == ["nDCG@5", "AP"]
    for at in (1, 4, 8):
        scores = evaluated(booster.predict(V, num_iteration=at), ["nDCG@5", "AP"])
        assert [values[at - 1] for values in found.values()] == [*scores.means.values()]


@pytest.mark.parametrize("asked", [{"policy": {"empty": "skip"}}, {"dialect": "lightgbm"}])
def test_policy_and_dialect_are_passed_on(asked):
    booster, found = trained(rounds=3, measures=("nDCG@5",), **asked)
    expected = evaluated(booster.predict(V), "nDCG@5", **asked)
    assert found == {"nDCG@5": pytest.approx(found["nDCG@5"])}
    assert found["nDCG@5"][-1] == next(iter(expected.means.values()))
    assert found["nDCG@5"][-1] != evaluated(booster.predict(V), "nDCG@5")["nDCG@5"]


# Which 4.3 does not have in another form.
@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_one_object_serves_both_signatures():
    own = ours.metric("nDCG@5", "AP")
    _, native = trained()
    ranker = lgb.LGBMRanker(n_estimators=8, **{**QUIET, "verbosity": -1})
    ranker.fit(X, Y, group=SIZES, eval_set=[(V, VY)], eval_group=[VSIZES], eval_metric=own)
    found = ranker.evals_result_["valid_0"]
    assert {name: found[name] for name in native} == native


def test_cross_validation_has_it_too():
    train, _ = sets()
    found = lgb.cv(
        {**QUIET, "objective": "lambdarank", "metric": "None"},
        train,
        2,
        nfold=2,
        feval=ours.metric("AP"),
    )
    assert all(0 < value < 1 for value in found["valid AP-mean"])


def test_early_stopping_goes_by_any_measure():
    booster, found = trained(rounds=60, measures=("RBP(p=0.8)",), stop=5)
    (values,) = found.values()
    assert booster.best_iteration == int(np.argmax(values)) + 1
    assert len(values) == booster.best_iteration + 5 < 60
    assert booster.best_score["v"]["RBP"] == max(values)
    booster, found = trained(rounds=60, measures=("nDCG",), stop=5, better="lower")
    assert booster.best_iteration == int(np.argmin(found["nDCG"])) + 1


def test_the_dialect_holds(tmp_path, cli):
    """What LightGBM prints, the command on exported predictions, and the adapter are one number."""
    booster, found = trained(measures=("nDCG@5",), dialect="lightgbm", own="ndcg")
    printed = found["ndcg@5"]
    assert found["nDCG@5"] == pytest.approx(printed, rel=1e-15)
    files = map(str, exported(tmp_path, VY, booster.predict(V), VSIZES))
    done = cli("evaluate", *files, "--dialect", "lightgbm", "-m", "nDCG@5", "--format", "json")
    assert value_of(done) == found["nDCG@5"][-1]


@pytest.mark.parametrize(
    ("method", "options"), [("lambda", {}), ("lambda", {"scheme": "ndcg2"}), ("xe", {})]
)
def test_objectives_train(method, options):
    """On queries that training has not seen, near to LightGBM's own lambdarank."""
    measure = "nDCG(gain=exp2)@10"
    features, labels, sizes = rankings(2, queries=150)

    def reached(objective):
        train = lgb.Dataset(features, labels, group=sizes, params={"verbose": -1})
        model = lgb.train({**QUIET, "objective": objective}, train, 40)
        return evaluated(model.predict(V), measure)[measure]

    start = evaluated(np.zeros(len(VY)), measure)[measure]
    theirs = reached("lambdarank")
    assert theirs > start + 0.2
    assert reached(ours.objective(measure, method=method, **options)) > theirs - 0.02


def test_an_objective_serves_both_signatures():
    own, _ = trained(ours.objective("nDCG", method="lambda"), rounds=3)
    ranker = lgb.LGBMRanker(
        n_estimators=3, objective=ours.objective("nDCG"), **{**QUIET, "verbosity": -1}
    )
    ranker = clone(ranker).fit(X, Y, group=SIZES)
    assert ranker.booster_.predict(V) == pytest.approx(own.predict(V), abs=1e-12)


def test_weights_weigh_objectives_and_measures():
    weight = np.repeat(np.where(np.arange(len(SIZES)) % 2, 3.0, 1.0), SIZES)
    train = lgb.Dataset(X, Y, group=SIZES, weight=weight, params={"verbose": -1})
    own = ours.objective("nDCG")
    train.construct()
    zeros = np.zeros(len(Y))
    assert own(zeros, train)[0] == pytest.approx(own(Y, zeros, None, SIZES)[0] * weight)
    found = ours.metric("AP")(X[:, 0], train)
    assert found == ours.metric("AP")(Y, X[:, 0], weight, SIZES)
    values = gf.evaluate_arrays(labels=Y, scores=X[:, 0], group=SIZES, measures="AP").values[:, 0]
    of_queries = np.where(np.arange(len(SIZES)) % 2, 3.0, 1.0)
    assert found == [("AP", pytest.approx(np.average(values, weights=of_queries)), True)]
    with pytest.raises(gf.errors.InputError, match="weight: expected one for each of"):
        ours.metric("AP")(Y, X[:, 0], weight[1:], SIZES)


@pytest.mark.parametrize(("of_documents", "alike"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("empty", [False, True])
def test_the_dialect_holds_with_weights(of_documents, alike, empty):
    """LightGBM counts a query without any gain as 1, whatever its weight."""
    random = np.random.default_rng(4)
    weight = np.repeat(random.uniform(0.2, 4, len(VSIZES)), VSIZES)
    weight *= random.uniform(0.5, 2, len(VY)) if of_documents else 1
    weight = np.full(len(VY), 2.5) if alike else weight
    owner = np.repeat(np.arange(len(VSIZES)), VSIZES)
    labels = np.where(empty & (owner % 5 == 0), 0, VY)
    labels[owner == 1] += not empty
    train = lgb.Dataset(X, Y, group=SIZES, params={"verbose": -1})
    valid = lgb.Dataset(V, labels, group=VSIZES, weight=weight, reference=train)
    found = {}
    own = ours.metric("nDCG@5", dialect="lightgbm")
    params = {**QUIET, "objective": "lambdarank", "metric": "ndcg", "eval_at": [5]}
    recording = [lgb.record_evaluation(found)]
    booster = lgb.train(params, train, 4, valid_sets=[valid], feval=own, callbacks=recording)
    ((theirs, measured),) = [[each["ndcg@5"], each["nDCG@5"]] for each in found.values()]
    assert measured == pytest.approx(theirs, rel=1e-14)
    lists = {"group": VSIZES, "dialect": "lightgbm"}
    curve = ours.learning_curve(booster, V, labels, "nDCG@5", weight=weight, **lists)
    assert curve.means() == pytest.approx(theirs, rel=1e-14)
    interval = curve.interval(4)
    assert interval.low < curve.means()[-1] < interval.high
    plain = ours.learning_curve(booster, V, labels, "nDCG@5", **lists)
    without = any(not labels[owner == query].any() for query in range(len(VSIZES)))
    assert (curve.means() == plain.means()) == (alike and not without)
    assert (interval == plain.interval(4)) == (alike and not without)


@pytest.mark.parametrize("boosting", ["gbdt", "rf", "dart"])
def test_a_learning_curve_is_that_of_the_predictions(boosting):
    train, _ = sets()
    params = {
        **QUIET,
        "objective": "lambdarank",
        "boosting": boosting,
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
    }
    booster = lgb.train(params, train, 7)
    curve = ours.learning_curve(booster, V, VY, ["nDCG@5", "AP"], group=VSIZES, every=3)
    assert curve.iterations == (3, 6, 7)
    for row, at in enumerate(curve.iterations):
        scores = evaluated(booster.predict(V, num_iteration=at), ["nDCG@5", "AP"])
        assert (curve.values[row] == scores.values).all()
        assert curve.interval(at, "AP") == scores.interval("AP")
        assert curve.means("AP")[row] == scores["AP"]
    assert curve.best("AP") == curve.iterations[int(np.argmax(curve.means("AP")))]


def test_a_learning_curve_of_an_estimator_by_query_ids():
    ranker = lgb.LGBMRanker(n_estimators=4, **{**QUIET, "verbosity": -1}).fit(X, Y, group=SIZES)
    one = ours.learning_curve(ranker, V, VY, "AP", query=query_ids(VSIZES))
    other = ours.learning_curve(ranker.booster_, V, VY, "AP", group=VSIZES)
    assert one.means() == other.means()
    frame = one.to_pandas()
    assert list(frame) == ["iteration", "measure", "mean", "low", "high"]
    assert ((frame["low"] < frame["mean"]) & (frame["mean"] < frame["high"])).all()


def test_nothing_given_is_changed_and_no_warning_comes():
    labels, preds, sizes = VY.copy(), V[:, 0].copy(), VSIZES.copy()
    for each in (labels, preds, sizes):
        each.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours.metric("nDCG@5", "AP")(labels, preds, None, sizes)
        ours.objective("nDCG")(labels, preds, None, sizes)
    assert (labels == VY).all()
    assert (preds == V[:, 0]).all()


def test_groups_of_one_empty_groups_and_no_gain_go_by_the_policy():
    """By hand: the values are 1, 1/log2(3), nothing retrieved, and no gain."""
    labels, preds, sizes = [1, 0, 1, 0, 0], [0.5, 0.9, 0.1, 0.3, 0.2], [1, 2, 0, 2]
    second = 1 / np.log2(3)

    def value(**policy):
        ((_, found, _),) = ours.metric("nDCG@10", policy=policy or None)(labels, preds, None, sizes)
        return found

    assert value() == pytest.approx((1 + second) / 4)
    assert value(empty="skip") == pytest.approx((1 + second) / 2)
    assert value(empty="one") == pytest.approx((1 + second + 2) / 4)
    with pytest.raises(gf.errors.InputError, match="empty=error"):
        value(empty="error")


def test_names_that_a_dialect_makes_one_have_its_value():
    own = ours.metric("nDCG@10", "nDCG(gain=exp2)@10", dialect="lightgbm")
    (first, value, _), (second, same, _) = own([1, 0, 2], [0.3, 0.2, 0.1], None, [3])
    assert (first, second) == ("nDCG@10", "nDCG(gain=exp2)@10")
    ((_, alone, _),) = ours.metric("nDCG@10", dialect="lightgbm")([1, 0, 2], [3, 2, 1], None, [3])
    assert value == same == alone


def test_copies_do_the_same():
    for own in (ours.metric("AP"), ours.objective("nDCG", method="xe", seed=3)):
        same = pickle.loads(pickle.dumps(own))  # noqa: S301
        found, expected = (each(VY, V[:, 0], None, VSIZES) for each in (same, own))
        assert np.array_equal(found, expected)


def test_what_is_wrong_is_said():
    train = lgb.Dataset(X, Y, params={"verbose": -1}).construct()
    for own in (ours.metric("AP"), ours.objective("nDCG")):
        with pytest.raises(gf.errors.InputError, match="group: expected data with the sizes"):
            own(np.zeros(len(Y)), train)
    with pytest.raises(
        gf.errors.InputError, match=r"scores\[1\]: expected a finite number, found nan"
    ):
        ours.metric("AP")([1, 0], [0.5, np.nan], None, [2])
    with pytest.raises(gf.errors.MeasureError):
        ours.metric("nDCG@ten")
    with pytest.raises(gf.errors.InputError, match="group: expected the sizes of the lists"):
        ours.learning_curve(trained(rounds=1)[0], V, VY)
    with pytest.raises(gf.errors.InputError, match="model: expected a Booster"):
        ours.learning_curve(object(), V, VY, group=VSIZES)
    assert repr(ours.metric("AP", dialect="lightgbm")) == "metric('AP', dialect='lightgbm')"
    assert repr(ours.objective("nDCG", method="xe")) == "objective('nDCG', method='xe')"


def test_metrics_of_one_name_stay_apart_under_names_of_their_own():
    """LightGBM keeps the values of a set by the names of the metrics."""
    train, valid = sets()
    asked = [ours.metric("nDCG@5"), ours.metric("nDCG@5", "AP", name=["strict", "all"])]
    for feval, names in ((asked, {"nDCG@5", "strict", "all"}), (asked[1], {"strict", "all"})):
        found = {}
        record = [lgb.record_evaluation(found)]
        params = {**QUIET, "objective": "lambdarank", "metric": "None"}
        lgb.train(params, train, 3, valid_sets=[valid], feval=feval, callbacks=record)
        assert {name: len(values) for name, values in found["valid_0"].items()} == dict.fromkeys(
            names, 3
        )
        train, valid = sets()
    with pytest.raises(gf.errors.InputError, match="name: expected a name for each of 1 measures"):
        ours.metric("AP", name=["a", "b"])
    with pytest.raises(gf.errors.InputError, match="name: expected different names"):
        ours.metric("AP", "RR", name=["a", "a"])
