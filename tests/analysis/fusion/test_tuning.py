"""`gf.fusion.tune`: held-out values beside a literal leave-one-out, and what it refuses."""

import math
import random

import numpy as np
import pytest

import gainful as gf

WEIGHTS = [[1, 1], [1, 2], [2, 1], [0, 1], [1, 0], [3, 1]]


def data(seed, queries=12):
    """Judgments, and two runs that are better for different queries."""
    chance = random.Random(seed)  # noqa: S311 - nothing is secret
    docs = [f"d{doc}" for doc in range(20)]
    judgments = {
        f"q{query}": {doc: chance.choice([0, 0, 1, 2]) for doc in docs} for query in range(queries)
    }
    runs = {}
    for name in ("one", "two"):
        runs[name] = {
            query: {
                doc: grades[doc] + chance.gauss(0, chance.choice([0.5, 4]))
                for doc in chance.sample(docs, 14)
            }
            for query, grades in judgments.items()
        }
    return judgments, runs


def values_of(judgments, runs, measure, **given):
    """Query → value of the fused run."""
    scores = gf.evaluate(judgments, gf.fuse(runs, **given), measure)
    return dict(zip(scores.queries, scores.values[:, 0].tolist(), strict=True))


def literal(judgments, runs, measure, settings, parts):
    """The held-out value of each query: with the first of the best settings of the other parts."""
    values = [values_of(judgments, runs, measure, **given) for given in settings]
    held_out = {}
    for part in parts:
        others = [query for query in values[0] if query not in part]
        means = [math.fsum(each[query] for query in others) for each in values]
        best = values[means.index(max(means))]
        held_out |= {query: best[query] for query in part}
    return held_out


@pytest.mark.parametrize("seed", range(4))
def test_leave_one_out_is_the_literal_one(seed):
    judgments, runs = data(seed)
    found = gf.fusion.tune(judgments, runs, "nDCG@5", method="sum", weights=WEIGHTS)
    settings = [{"method": "sum", "weights": weights} for weights in WEIGHTS]
    parts = [[query] for query in judgments]
    expected = literal(judgments, runs, "nDCG@5", settings, parts)
    assert dict(zip(found.queries, found.values.tolist(), strict=True)) == expected
    assert found.held_out == pytest.approx(math.fsum(expected.values()) / len(expected), rel=1e-15)
    means = [gf.evaluate(judgments, gf.fuse(runs, **each), "nDCG@5")["nDCG@5"] for each in settings]
    assert found.optimistic == max(means)
    assert [each.mean for each in found.tried] == means
    assert found.optimistic >= found.held_out
    assert found.arguments["weights"] == tuple(WEIGHTS[means.index(max(means))])
    assert sum(each.chosen for each in found.tried) == found.folds == len(judgments)
    fused = gf.fuse(runs, **found.arguments)
    assert gf.evaluate(judgments, fused, "nDCG@5")["nDCG@5"] == found.optimistic


@pytest.mark.parametrize("folds", [2, 5, 12])
def test_folds_are_the_literal_ones(folds):
    judgments, runs = data(9)
    ks = [60, 1, 10, 200]
    found = gf.fusion.tune(judgments, runs, "AP", k=ks, folds=folds, seed=3)
    queries = np.array(found.queries)
    drawn = np.random.default_rng(3).permutation(len(queries))
    parts = [queries[drawn[part::folds]].tolist() for part in range(folds)]
    assert sorted(query for part in parts for query in part) == sorted(judgments)
    expected = literal(judgments, runs, "AP", [{"k": k} for k in ks], parts)
    assert dict(zip(found.queries, found.values.tolist(), strict=True)) == expected
    again = gf.fusion.tune(judgments, runs, "AP", k=ks, folds=folds, seed=3)
    assert again == found


def test_the_interval_is_that_of_the_held_out_values():
    judgments, runs = data(1)
    found = gf.fusion.tune(judgments, runs, "nDCG@5", level=0.9)
    from gainful.arithmetic.statistics.intervals import hall_interval

    assert found.interval == hall_interval(found.values, level=0.9)
    assert found.interval.low < found.held_out < found.interval.high


def test_what_is_tried_where_nothing_is_asked_for():
    judgments, runs = data(2)
    three = {**runs, "three": runs["one"]}
    tried = {
        method: gf.fusion.tune(judgments, three, method=method).tried
        for method in ("rrf", "rbc", "sum", "max")
    }
    assert {each.settings.k for each in tried["rrf"]} >= {60, 10, 100}
    assert {each.settings.p for each in tried["rbc"]} >= {0.8, 0.5}
    assert len(tried["sum"]) == 67
    assert tried["sum"][0].settings.weights == (1.0, 1.0, 1.0)
    assert [each.settings.normalise for each in tried["max"]] == [
        each.name for each in gf.fusion.normalisations()
    ]
    both = gf.fusion.tune(judgments, runs, k=[10, 60], weights="grid").tried
    assert len(both) == 22
    one = gf.fusion.tune(judgments, runs, method="sum", normalise=["zscore", "sum"]).tried
    assert [each.settings.normalise for each in one] == ["zscore", "sum"]


def test_equal_settings_choose_the_first():
    judgments, runs = data(3)
    found = gf.fusion.tune(judgments, runs, method="sum", weights=[[2, 2], [1, 1], [4, 4]])
    assert [each.chosen for each in found.tried] == [12, 0, 0]
    assert found.optimistic == found.held_out


def test_the_same_from_files(tmp_path):
    judgments, runs = data(4)
    expected = gf.fusion.tune(judgments, runs, method="sum", folds=3)
    gf.write_judgments(judgments, tmp_path / "judgments.qrels")
    for name, run in runs.items():
        gf.write_run(run, tmp_path / f"{name}.run")
    files = [tmp_path / "one.run", tmp_path / "two.run"]
    found = gf.fusion.tune(tmp_path / "judgments.qrels", files, method="sum", folds=3)
    assert found == expected


def test_queries_that_do_not_count_are_left_out():
    judgments, runs = data(5)
    judgments["empty"] = {"d1": 0}
    found = gf.fusion.tune(judgments, runs, policy={"empty": "skip", "missing": "skip"})
    assert "empty" not in found.queries
    assert len(found.queries) == 12


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "rff"}, "Did you mean 'rrf'?"),
        ({"folds": 1}, "an integer of 2 or more, or 'loo'"),
        ({"folds": "all"}, "an integer of 2 or more, or 'loo'"),
        ({"folds": 13}, "at most the 12 queries"),
        ({"seed": -1}, "seed"),
        ({"k": [60, -1]}, "k: expected a non-negative number"),
        ({"k": []}, "at least one value to try"),
        ({"weights": [[1, 2], [1]]}, "one for each run"),
        ({"weights": "all"}, "one for each run"),
        ({"method": "max", "weights": [[1, 2]]}, "none with method='max'"),
        ({"measure": "GMAP"}, "a mean over the queries"),
        ({"measure": "num_ret"}, "a mean over the queries"),
        ({"level": 2}, "level"),
    ],
)
def test_what_is_refused(given, message):
    judgments, runs = data(6)
    with pytest.raises(gf.errors.GainfulError) as found:
        gf.fusion.tune(judgments, runs, **given)
    assert message in str(found.value)


def test_one_query_cannot_be_held_out():
    with pytest.raises(gf.errors.InputError, match="at least 2 queries"):
        gf.fusion.tune({"q": {"a": 1}}, [{"q": {"a": 1}}, {"q": {"a": 2}}])
