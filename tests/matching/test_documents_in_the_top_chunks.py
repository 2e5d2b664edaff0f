"""`fold=in_place`: a cutoff counts chunks, each document stands at its best chunk, and the others add nothing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gainful as gf

JUDGMENTS = {"q": {"a": 2, "b": 1, "c": 1}}
RUN = {"q": {"a#1": 5.0, "a#2": 4.0, "x#1": 3.0, "b#1": 2.0, "c#9": 1.0}}
IN_PLACE = {"fold": "in_place"}


def test_by_hand():
    scores = gf.evaluate(
        JUDGMENTS, RUN, ["R@2", "R@4", "DCG@4", "P@4"], policy=IN_PLACE, chunks="#"
    )
    assert scores["R@2"] == 1 / 3  # two chunks, of one document
    assert scores["R@4"] == 2 / 3
    assert scores["DCG@4"] == pytest.approx(2 + 1 / math.log2(5), abs=1e-12)
    assert scores["P@4"] == 0.5
    assert scores.coverage.unjudged == 1  # x; the second chunk of a is no document


@given(
    st.lists(st.tuples(st.sampled_from("abcdx"), st.integers(0, 9)), unique=True, max_size=12),
    st.dictionaries(st.sampled_from("abcdy"), st.integers(0, 3), min_size=1),
    st.integers(1, 12),
)
def test_the_literal_definition(chunks, grades, cutoff):
    run = {f"{doc}#{number}": float(-place) for place, (doc, number) in enumerate(chunks)}
    seen, dcg = set(), 0.0
    for rank, (doc, _) in enumerate(chunks[:cutoff], 1):
        if doc not in seen:
            dcg += grades.get(doc, 0) / math.log2(rank + 1)
        seen.add(doc)
    relevant = {doc for doc, grade in grades.items() if grade >= 1}
    recall = len(seen & relevant) / len(relevant) if relevant else 0.0
    run = {"q": run or {"none#1": 1.0}}
    with gf.errors.without_warnings():
        scores = gf.evaluate(
            {"q": grades}, run, [f"DCG@{cutoff}", f"R@{cutoff}"], policy=IN_PLACE, chunks="#"
        )
    assert scores[f"DCG@{cutoff}"] == pytest.approx(dcg, abs=1e-12)
    assert scores[f"R@{cutoff}"] == pytest.approx(recall, abs=1e-12)


def test_a_chunk_may_have_the_id_of_a_document():
    run = {"q": {"b#1": 3.0, "b": 2.0, "a": 1.0}}
    scores = gf.evaluate(JUDGMENTS, run, ["R@1", "R@3", "DCG@3"], policy=IN_PLACE, chunks="#")
    assert (scores["R@1"], scores["R@3"]) == (1 / 3, 2 / 3)
    assert scores["DCG@3"] == 1 + 2 / 2


def test_the_chunks_of_an_unjudged_document_are_unjudged():
    run = {"q": {"x#1": 3.0, "x#2": 2.0, "a#1": 1.0}}
    policy = {**IN_PLACE, "unjudged": "condense"}
    assert gf.evaluate(JUDGMENTS, run, "RR", policy=policy, chunks="#")["RR"] == 1
    scores = gf.evaluate(JUDGMENTS, run, "Judged@3", policy=IN_PLACE, chunks="#")
    assert (scores["Judged@3"], scores.coverage.unjudged) == (1 / 3, 2)


@pytest.mark.parametrize("unjudged", ["condense", -1])
def test_further_chunks_are_not_unjudged(unjudged):
    policy = {**IN_PLACE, "unjudged": unjudged}
    scores = gf.evaluate(JUDGMENTS, RUN, ["R@4", "num_ret", "num_rel"], policy=policy, chunks="#")
    assert scores["num_ret"] == (4 if unjudged == "condense" else 5)
    assert scores["num_rel"] == 3


def test_the_explanation_has_the_value_and_the_place_of_each_chunk():
    explained = gf.explain(JUDGMENTS, RUN, "DCG@4", query="q", policy=IN_PLACE, chunks="#")
    assert "a#2 (further chunk)" in str(explained)
    assert "DCG@4 = 2.431" in explained.conclusion


def test_a_pool_has_whole_documents():
    with pytest.raises(gf.errors.PolicyError, match="fold: expected none, max or first here"):
        gf.pool({"run": RUN}, policy=IN_PLACE, chunks="#")


def test_bounds_know_that_further_chunks_add_nothing():
    bounds = gf.bounds(
        JUDGMENTS, RUN, ["DCG@2", "DCG@3"], grades=(0, 2), policy=IN_PLACE, chunks="#"
    )
    assert (bounds["DCG@2"].low, bounds["DCG@2"].high) == (2.0, 2.0)
    assert (bounds["DCG@3"].low, bounds["DCG@3"].high) == (2.0, 3.0)  # x may have grade 2
