"""DCG and nDCG that put two runs in opposite orders, and the queries that explain it."""

import json
import pickle
import random

import numpy as np
import pytest

import gainful as gf


def _data(seed=1, narrow=60, broad=40):
    """Queries with one good document, on which the new run is better, and broad ones, on which the old run is."""
    draw = random.Random(seed)  # noqa: S311
    judgments, old, new = {}, {}, {}
    others = [f"n{at}" for at in range(10)]
    good = [f"g{at}" for at in range(10)]
    for at in range(narrow):
        query = f"narrow{at}"
        judgments[query] = {"a": 1, **dict.fromkeys(others, 0)}
        new[query] = ["a", *others]
        old[query] = [*others[:3], "a"] if draw.random() < 0.5 else new[query]
    for at in range(broad):
        query = f"broad{at}"
        judgments[query] = {**dict.fromkeys(good, 3), **dict.fromkeys(others, 0)}
        found = draw.randint(6, 10)
        old[query] = good
        new[query] = draw.sample([*good[:found], *others[found:]], 10)
    return judgments, {"old": old, "new": new}


def _parts(judgments, runs, ideal, shares):
    """Return the difference and the part of the small ideals, in nDCG and in DCG, by definition."""
    apart = {}
    for name in ("nDCG@10", "DCG@10"):
        one, two = (gf.evaluate(judgments, runs[run], name).per_query.to_dict() for run in runs)
        apart[name] = {query: two[query][name] - one[query][name] for query in judgments}
    small = [q for q in judgments if gf.idcg([*judgments[q].values()], k=10) <= ideal + 1e-9]
    return small, {
        name: [sum(shares[q] * values[q] for q in queries) for queries in (judgments, small)]
        for name, values in apart.items()
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measures", [["nDCG@10"], ["DCG@10", "nDCG@10"]])
def test_a_reversal_names_the_queries_that_decide_each_order(weighted, measures):
    judgments, runs = _data()
    weights = {query: 1 + at % 3 for at, query in enumerate(judgments)} if weighted else None
    comparison = gf.compare(judgments, runs, measures, weights=weights)
    (found,) = comparison.reversals
    weights = weights or dict.fromkeys(judgments, 1)
    shares = {query: weight / sum(weights.values()) for query, weight in weights.items()}
    small, parts = _parts(judgments, runs, found.ideal, shares)
    assert (found.measure, found.dcg, found.baseline, found.run) == (
        "nDCG@10", "DCG@10", "old", "new",
    )  # fmt: skip
    assert small == [query for query in judgments if query.startswith("narrow")]
    assert found.share == pytest.approx(0.6)
    assert [found.difference, found.small] == pytest.approx(parts["nDCG@10"])
    assert [found.dcg_difference, found.dcg_small] == pytest.approx(parts["DCG@10"])
    assert found.difference > 0 > found.dcg_difference
    assert found.small > found.difference
    assert found.dcg_small > 0


def test_a_reversal_is_in_every_output_and_survives_pickling():
    comparison = gf.compare(*_data(), "nDCG@10")
    (note,) = map(str, comparison.reversals)
    assert note.startswith("new is ahead of old by nDCG@10, but behind by DCG@10")
    assert "the 60% of queries with an ideal up to 1 contribute" in note
    assert note in comparison.notes()
    assert note in comparison.narrow_tables()[0].notes
    assert note in comparison.cautions("old")
    assert note not in comparison.cautions("new")
    assert json.loads(json.dumps(comparison.to_dict()))["reversals"][0]["dcg"] == "DCG@10"
    assert note in gf.report(*_data(), "nDCG@10").payload()["notes"]
    copied = pickle.loads(pickle.dumps(comparison))  # noqa: S301
    assert copied.reversals == comparison.reversals
    assert not copied.scores


@pytest.mark.parametrize(
    "measure", ["DCG@10", "nDCG(ideal=retrieved)@10", "nDCG(norm=minmax)@10", "AP"]
)
def test_other_measures_have_no_reversal(measure):
    assert not gf.compare(*_data(), measure).reversals


def test_scores_without_rankings_and_equal_runs_have_no_reversal():
    judgments, runs = _data()
    assert not gf.compare(judgments, {"old": runs["old"], "same": runs["old"]}).reversals
    scores = {name: gf.evaluate(judgments, run) for name, run in runs.items()}
    assert not gf.comparison.compare_scores(scores).reversals
    few = {query: judgments[query] for query in [*judgments][:1]}
    assert not gf.compare(few, runs).reversals


def test_choices_of_the_ndcg_are_those_of_its_dcg():
    judgments, runs = _data()
    written = "nDCG(gain=exp2, discount=reciprocal, depth=all)@5"
    (found,) = gf.compare(judgments, runs, written).reversals
    assert found.dcg == "DCG(gain=exp2, discount=reciprocal)@5"
    means = gf.evaluate_runs(judgments, runs, found.dcg)
    apart = means["new"][found.dcg] - means["old"][found.dcg]
    assert found.dcg_difference == pytest.approx(apart)


def test_a_split_always_explains_opposite_signs():
    random_numbers = np.random.default_rng(3)
    seen = 0
    for _ in range(40):
        judgments = {}
        for at in range(20):
            best = random_numbers.integers(1, 7)
            grades = random_numbers.integers(0, best + 1, random_numbers.integers(3, 12)).tolist()
            judgments[f"q{at}"] = {f"d{doc}": grade for doc, grade in enumerate(grades)}
        runs = {
            name: {q: random_numbers.permutation([*docs]).tolist() for q, docs in judgments.items()}
            for name in ("one", "two")
        }
        for found in gf.compare(judgments, runs, "nDCG(gain=exp2)@3").reversals:
            seen += 1
            sign = np.sign(found.difference)
            assert found.small * sign >= found.difference * sign > 0
            assert (found.dcg_difference - found.dcg_small) * sign < 0
            assert 0 < found.share < 1
    assert seen
