"""Records whose list of documents has grades or scores in a list of its own: the two are read together."""

import json

import numpy as np
import pandas as pd
import pytest

import gainful as gf

# By hand: the grade 3 is at rank 2, so nDCG is (3 / log2(3)) / 3.
SECOND = 1 / np.log2(3)
RUN = {"q": ["b", "a"]}
JUDGED = {"q": {"a": 3, "b": 0}}


def ndcg(judgments, run, **options):
    return gf.evaluate(judgments, run, "nDCG", **options)["nDCG"]


@pytest.mark.parametrize("documents", ["relevant", "docs", "gold_ids"])
@pytest.mark.parametrize(
    "field", ["grade", "grades", "relevance", "Relevances", "labels", "ratings", "scores"]
)
def test_grades_stand_beside_the_list(documents, field):
    record = {"query": "q", documents: ["b", "a"], field: [0, 3]}
    for given in ([record], pd.DataFrame([record])):
        assert ndcg(given, RUN) == pytest.approx(SECOND)


@pytest.mark.parametrize("documents", ["retrieved", "docs", "hits"])
@pytest.mark.parametrize("field", ["score", "scores", "similarities", "preds"])
def test_scores_stand_beside_the_list(documents, field):
    record = {"query": "q", documents: ["b", "a", "c"], field: [0.3, 0.9, 0.1]}
    for given in ([record], pd.DataFrame([record])):
        assert ndcg(JUDGED, given) == 1.0


def test_under_the_query_and_in_files(tmp_path):
    (tmp_path / "judged.json").write_text(
        json.dumps([{"query": "q", "relevant": ["b", "a"], "grades": [0, 3]}])
    )
    assert ndcg(tmp_path / "judged.json", RUN) == pytest.approx(SECOND)
    assert ndcg({"q": {"relevant": ["b", "a"], "grades": [0, 3]}}, RUN) == pytest.approx(SECOND)
    assert (
        ndcg(JUDGED, {"q": {"retrieved": ["b", "a", "c"], "scores": np.array([0.3, 0.9, 0.1])}})
        == 1.0
    )


def test_a_field_may_be_named():
    judged = [{"query": "q", "found": ["b", "a"], "worth": [0, 3]}]
    columns = {"judgments.doc": "found", "grade": "worth"}
    assert ndcg(judged, RUN, columns=columns) == pytest.approx(SECOND)


@pytest.mark.parametrize("names", [("relevant", "retrieved"), ("docs", "retrieved")])
def test_each_list_takes_its_own_numbers(names):
    relevant, retrieved = names
    rows = [{"query": "q", relevant: ["a"], retrieved: ["b", "a", "c"], "scores": [0.3, 0.9, 0.1]}]
    assert ndcg(rows, rows) == 1.0  # scores, of which there are three, are no grades
    rows = [{"query": "q", relevant: ["b", "a"], retrieved: ["b", "c"], "ratings": [0, 3]}]
    assert ndcg(rows, rows) == 0.0  # c is not judged


def test_tags_and_objects_are_no_numbers():
    record = {"query": "q", "relevant": ["b"], "labels": ["easy", "short"], "scores": [{"x": 1}]}
    assert ndcg([record], RUN) == 1.0


def test_equal_numbers_of_objects_are_no_fault():
    hits = [{"id": "b", "score": 0.9}, {"id": "a", "score": 0.3}]
    assert ndcg(JUDGED, [{"query": "q", "hits": hits, "scores": [0.9, 0.3]}]) == pytest.approx(
        SECOND
    )
    with pytest.raises(gf.errors.InputError, match=r"found 0\.3, and 0\.4 in 'scores'"):
        ndcg(JUDGED, [{"query": "q", "hits": hits, "scores": [0.9, 0.4]}])


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"relevant": ["b", "a"], "grades": [3]}, "one of 'grades' for each of 2 documents"),
        ({"relevant": ["b", "a"], "grades": [3, None]}, "'grades', item 2: expected a grade"),
        ({"relevant": ["b"], "relevance": ["high"]}, "'relevance', item 1: expected a grade"),
        ({"relevant": {"b", "a"}, "grades": [3, 1]}, "a set, which has no order"),
    ],
)
def test_lists_that_do_not_fit_are_refused(record, message):
    with pytest.raises(gf.errors.InputError, match=message):
        ndcg([{"query": "q", **record}], RUN)
