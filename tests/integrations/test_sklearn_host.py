"""Scorers inside scikit-learn's searches, and functions that are called as its own are."""

import numpy as np
import pytest
import sklearn
import sklearn.metrics
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

import gainful as gf
from trained_rankings import exported, query_ids, rankings, value_of

X, Y, SIZES = rankings(0)
IDS = query_ids(SIZES)
ours = gf.integrations.sklearn


@pytest.fixture
def routed():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def by_hand(model, measure, **asked):
    """The value in each fold, by hand."""
    found = []
    for train, test in GroupKFold(3).split(X, Y, IDS):
        predictions = model.fit(X[train], Y[train]).predict(X[test])
        scores = gf.evaluate_arrays(
            labels=Y[test], scores=predictions, query=IDS[test], measures=measure, **asked
        )
        found.append(scores[measure])
    return found


@pytest.mark.usefixtures("routed")
def test_cross_validation_knows_the_queries():
    asked = {"n": ours.scorer("nDCG@5"), "a": ours.scorer("AP", policy={"empty": "skip"})}
    params = {"qid": IDS, "groups": IDS}
    found = cross_validate(Ridge(), X, Y, cv=GroupKFold(3), scoring=asked, params=params)
    assert found["test_n"].tolist() == by_hand(Ridge(), "nDCG@5")
    assert found["test_a"].tolist() == by_hand(Ridge(), "AP", policy={"empty": "skip"})


@pytest.mark.usefixtures("routed")
def test_cross_validation_weighs_the_queries():
    weight = np.random.default_rng(3).uniform(0.2, 4, len(SIZES))[IDS]
    own = ours.scorer("nDCG@5").set_score_request(qid=True, sample_weight=True)
    params = {"qid": IDS, "groups": IDS, "sample_weight": weight}
    model = Ridge().set_fit_request(sample_weight=False)
    found = cross_validate(model, X, Y, cv=GroupKFold(3), scoring=own, params=params)
    for fold, (train, test) in enumerate(GroupKFold(3).split(X, Y, IDS)):
        predictions = Ridge().fit(X[train], Y[train]).predict(X[test])
        ids, first = np.unique(IDS[test], return_index=True)
        lists = [np.flatnonzero(IDS[test] == query) for query in ids]
        values = [gf.ndcg(Y[test][at][np.argsort(-predictions[at])], k=5) for at in lists]
        expected = np.average(values, weights=weight[test][first])
        assert found["test_score"][fold] == pytest.approx(expected)
    labels, scores = Y[: 8 * (len(Y) // 8)].reshape(-1, 8), X[: 8 * (len(Y) // 8), 0].reshape(-1, 8)
    weights = weight[: len(labels)]
    mean = gf.evaluate_arrays(
        labels=labels, scores=scores, measures="nDCG@5", weights=weights, dialect="scikit-learn"
    )
    theirs = sklearn.metrics.ndcg_score(labels, scores, k=5, sample_weight=weights)
    assert next(iter(mean.means.values())) == pytest.approx(theirs, rel=1e-12)


@pytest.mark.usefixtures("routed")
def test_a_grid_search_knows_the_queries():
    grid = {"alpha": [0.1, 1e4, 1e6]}
    search = GridSearchCV(Ridge(), grid, scoring=ours.scorer("nDCG@5"), cv=GroupKFold(3))
    search.fit(X, Y, qid=IDS, groups=IDS)
    expected = [np.mean(by_hand(Ridge(alpha=alpha), "nDCG@5")) for alpha in grid["alpha"]]
    assert search.cv_results_["mean_test_score"].tolist() == expected


@pytest.mark.usefixtures("routed")
def test_lower_and_other_responses():
    model = RandomForestClassifier(5, random_state=1).fit(X, Y > 0)
    own = ours.scorer("AP", better="lower", response_method="predict_proba")
    chances = model.predict_proba(X)[:, 1]
    expected = gf.evaluate_arrays(labels=Y > 0, scores=chances, query=IDS, measures="AP")["AP"]
    assert own(model, X, Y > 0, qid=IDS) == -expected


def test_queries_that_nobody_routed_are_asked_for():
    model = Ridge().fit(X, Y)
    with pytest.raises(gf.errors.InputError, match="enable_metadata_routing=True"):
        ours.scorer("AP")(model, X, Y)
    with pytest.raises(gf.errors.InputError, match="measure: expected one measure"):
        ours.scorer("nDCG@5,10")


def lists(seed, *, tied, shape=(30, 7)):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, shape).astype(float)
    labels[3] = 0
    scores = rng.integers(0, 4, shape) / 2 if tied else rng.normal(size=shape)
    return labels, scores


@pytest.mark.parametrize(
    ("tied", "ignore_ties"), [(True, False), (False, False), (False, True)]
)  # with tied scores and ignore_ties=True, scikit-learn's own value depends on the CPU
@pytest.mark.parametrize("k", [None, 3])
def test_the_functions_give_what_scikit_learn_does(tied, ignore_ties, k):
    for seed in range(3):
        labels, scores = lists(seed, tied=tied)
        weight = np.random.default_rng(seed).random(len(labels))
        for name, own in (("ndcg_score", {}), ("dcg_score", {}), ("dcg_score", {"log_base": 10})):
            for given in ({}, {"sample_weight": weight}):
                options = {"k": k, "ignore_ties": ignore_ties, **own, **given}
                theirs = getattr(sklearn.metrics, name)(labels, scores, **options)
                assert getattr(ours, name)(labels, scores, **options) == pytest.approx(
                    theirs, rel=1e-14
                )


def test_ignored_ties_are_taken_from_the_last_document_to_the_first():
    """By hand: grades 2, 1 and 3 of score 2, from the last to the first, then 2 and 3."""
    labels, scores = [[3, 3, 1, 2, 2]], [[0, 2, 2, 2, 1]]
    second, fourth, fifth = (1 / np.log2(rank + 1) for rank in (2, 4, 5))
    dcg = 2 + 1 * second + 3 / 2
    ideal = 3 + 3 * second + 2 / 2
    assert ours.dcg_score(labels, scores, k=3, ignore_ties=True) == pytest.approx(dcg)
    assert ours.ndcg_score(labels, scores, k=3, ignore_ties=True) == pytest.approx(dcg / ideal)
    assert dcg / ideal == pytest.approx(0.70101, abs=1e-5)
    dcg, ideal = dcg + 2 * fourth + 3 * fifth, ideal + 2 * fourth + 1 * fifth
    assert ours.dcg_score(labels, scores, ignore_ties=True) == pytest.approx(dcg)
    assert ours.ndcg_score(labels, scores, ignore_ties=True) == pytest.approx(dcg / ideal)


@pytest.mark.parametrize("width", [2, 17, 300])  # up to 16, NumPy's sorts keep the order of ties
@pytest.mark.parametrize("levels", [1, 2, 5])
def test_ignored_ties_are_those_of_the_turned_list_in_order(width, levels):
    rng = np.random.default_rng(width)
    labels, scores = rng.integers(0, 4, (9, width)), rng.integers(0, levels, (9, width))
    for own in (ours.dcg_score, ours.ndcg_score):
        turned = own(labels[:, ::-1], scores[:, ::-1], k=10, ties="order")
        assert own(labels, scores, k=10, ignore_ties=True) == turned
    best = np.argsort(-scores[:, ::-1], axis=1, kind="stable")[:, :10]
    gains = np.take_along_axis(labels[:, ::-1], best, 1)
    dcg = (gains / np.log2(np.arange(2, 2 + best.shape[1]))).sum(1).mean()
    assert ours.dcg_score(labels, scores, k=10, ignore_ties=True) == pytest.approx(dcg)


def test_gain_discount_and_ties():
    """By hand: gains 7, 3 and 0, the last two of the same score."""
    labels, scores = [[3, 2, 0]], [[0.1, 0.5, 0.5]]
    third, second = 0.5, 1 / np.log2(3)
    ideal = 7 + 3 * second
    best, worst = 3 + 7 * third, 3 * second + 7 * third
    expected = {"best": best, "worst": worst, "average": (best + worst) / 2, "order": best}
    for ties, value in expected.items():
        found = ours.ndcg_score(labels, scores, gain="exp2", ties=ties)
        assert found == pytest.approx(value / ideal, rel=1e-15)
    assert ours.ndcg_score(labels, scores, gain="exp2", ignore_ties=True) == pytest.approx(
        worst / ideal
    )
    value = ours.dcg_score(labels, scores, discount="reciprocal", ties="order")
    assert value == pytest.approx(2 / 1 + 0 + 3 / 3)
    assert ours.ndcg_score([[2]], [[0.3]]) == 1.0  # an error in scikit-learn


def test_the_dialect_holds(tmp_path, cli):
    labels, scores = lists(1, tied=True)
    theirs = sklearn.metrics.ndcg_score(labels, scores, k=5)
    files = exported(tmp_path, labels.ravel(), scores.ravel(), [labels.shape[1]] * len(labels))
    done = cli("evaluate", *files, "--dialect", "sklearn", "-m", "nDCG@5", "--format", "json")
    assert (
        value_of(done) == ours.ndcg_score(labels, scores, k=5) == pytest.approx(theirs, rel=1e-15)
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_true": [1, 0]}, r"y_true: expected \[list, document\], found 1 dimensions"),
        ({"y_score": [[0.1]]}, "y_score: expected the shape of y_true"),
        ({"ties": "best", "ignore_ties": True}, "ties: expected no rule together with ignore_ties"),
        ({"ties": "doc"}, "ties: expected average or best"),
        ({"sample_weight": [1, 2]}, "sample_weight: expected 1 non-negative numbers"),
        ({"sample_weight": [-1]}, "sample_weight: expected 1 non-negative numbers"),
        ({"y_score": [[np.nan, 1]]}, r"y_score\[0, 0\]: expected a finite number"),
    ],
)
def test_what_is_wrong_is_said(given, message):
    given = {"y_true": [[1, 0]], "y_score": [[0.2, 0.1]], **given}
    with pytest.raises(gf.errors.InputError, match=message):
        ours.ndcg_score(given.pop("y_true"), given.pop("y_score"), **given)
