"""`calibrate` with single documents that people judged, drawn at random from the model's."""

from itertools import combinations

import numpy as np
import pytest

import gainful as gf

TRUTH = {"q1": {"a": 3, "b": 0, "c": 2}, "q2": {"a": 0, "b": 1, "c": 3}}
MODEL = {"q1": {"a": 2, "b": 3, "c": 3}, "q2": {"a": 2, "b": 2, "c": 1}}
RUNS = {"one": {query: {"a": 3, "b": 2, "c": 1} for query in TRUTH}}
PAIRS = [(query, doc) for query, docs in TRUTH.items() for doc in docs]


def people_of(pairs):
    people = {}
    for query, doc in pairs:
        people.setdefault(query, {})[doc] = TRUTH[query][doc]
    return people


@pytest.mark.parametrize("measure", ["DCG@3", "CG@2", "DCG(gain=exp2)@2"])
def test_sums_are_right_on_average_over_all_samples(measure):
    values = []
    for pairs in combinations(PAIRS, 3):
        found = gf.judging.calibrate(people_of(pairs), MODEL, RUNS, measure, drawn="documents")
        values.append(found["one", measure].estimate.value)
    assert np.mean(values) == pytest.approx(gf.evaluate(TRUTH, RUNS["one"], measure)[measure])


def test_ndcg_is_corrected_by_the_effect_of_each_grade():
    sample = [("q1", "b"), ("q2", "c")]
    found = gf.judging.calibrate(people_of(sample), MODEL, RUNS, "nDCG@2", drawn="documents")

    def ndcg(model):
        return gf.evaluate(model, RUNS["one"], "nDCG@2")["nDCG@2"]

    effects = [
        ndcg({**MODEL, query: {**MODEL[query], doc: TRUTH[query][doc]}}) - ndcg(MODEL)
        for query, doc in sample
    ]
    assert found["one", "nDCG@2"].model.value == pytest.approx(ndcg(MODEL))
    assert found["one", "nDCG@2"].estimate.value == pytest.approx(
        ndcg(MODEL) + 6 / 2 * sum(effects)
    )
    assert "as stated by the caller" in found.drawn
    assert (found.judged, found.further) == (2, 4)


def test_grades_of_all_documents_give_the_truth_for_sums():
    found = gf.judging.calibrate(TRUTH, MODEL, RUNS, "DCG@3", drawn="documents")
    assert found["one", "DCG@3"].estimate.value == pytest.approx(
        gf.evaluate(TRUTH, RUNS["one"], "DCG@3")["DCG@3"]
    )


def test_documents_that_the_model_did_not_judge_are_errors():
    with pytest.raises(gf.errors.InputError, match="documents that the model judged"):
        gf.judging.calibrate({"q1": {"z": 1}}, MODEL, RUNS, "DCG@3", drawn="documents")
    with pytest.raises(gf.errors.MeasureError, match="DCG or CG"):
        gf.judging.calibrate(TRUTH, MODEL, RUNS, "AP", drawn="documents")
