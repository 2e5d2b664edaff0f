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


@pytest.mark.parametrize("field", ["ranks", "rank", "positions", "Position"])
@pytest.mark.parametrize(("ranks", "value"), [([2, 1], 1.0), ([1, 2], SECOND), ([0, 7], SECOND)])
def test_ranks_put_the_list_in_order(field, ranks, value):
    record = {"query": "q", "retrieved": ["b", "a"], field: ranks}
    for given in ([record], pd.DataFrame([record]), {"q": {"retrieved": ["b", "a"], field: ranks}}):
        assert ndcg(JUDGED, given) == pytest.approx(value)


def test_ranks_are_those_of_what_was_retrieved():
    rows = [{"query": "q", "relevant": ["a"], "retrieved": ["b", "a"], "ranks": [2]}]
    assert ndcg(rows, rows) == pytest.approx(SECOND)  # where the relevant document was found
    rows = [{"query": "q", "relevant": ["a"], "retrieved": ["b", "a"], "ranks": [2, 1]}]
    assert ndcg(rows, rows) == 1.0
    scored = [{"query": "q", "docs": ["b", "a", "c"], "ranks": [1, 2, 3], "scores": [0.1, 0.2, 0]}]
    assert ndcg(JUDGED, scored) == 1.0  # as in a table, scores count
    assert ndcg(JUDGED, scored, columns={"rank": "ranks"}) == pytest.approx(SECOND)
    hits = [{"id": "b", "score": 0.9}, {"id": "a", "score": 0.3}]
    assert ndcg(JUDGED, [{"query": "q", "docs": hits, "ranks": [0, 1]}]) == pytest.approx(SECOND)


@pytest.mark.parametrize("field", ["distances", "distance", "cosine_distances"])
def test_distances_rise_along_the_list(field):
    def given(*distances):
        return [{"query": "q", "retrieved": ["b", "a"], field: [*distances]}]

    assert ndcg(JUDGED, given(0.1, 0.4)) == pytest.approx(SECOND)
    averaged = gf.Policy(ties="average")
    assert ndcg(JUDGED, given(0.4, 0.4), policy=averaged) == pytest.approx((1 + SECOND) / 2)
    with pytest.raises(
        gf.errors.InputError, match=rf"rank={field} for the lowest, score={field} for the"
    ):
        ndcg(JUDGED, given(0.4, 0.1))
    assert ndcg(JUDGED, given(0.4, 0.1), columns={"rank": field}) == 1.0
    assert ndcg(JUDGED, given(0.4, 0.1), columns={"run.score": field}) == pytest.approx(SECOND)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([1], "one of 'ranks' for each of 2 documents, found 1"),
        ([1, 1], "a different rank in 'ranks' .* found 1 for 'b' and 'a'"),
        ([0.5, 1.5], "whole numbers from 1 .* found 0.5, 1.5. Say which is best"),
        ([1, None], "'ranks', item 2: expected a rank, found None"),
    ],
)
def test_what_are_no_ranks_is_refused(ranks, message):
    with pytest.raises(gf.errors.InputError, match=message):
        ndcg(JUDGED, [{"query": "q", "retrieved": ["b", "a"], "ranks": ranks}])
