"""Records and cells that hold something else where a list is expected: told, or read where it is clear."""

import json

import numpy as np
import pandas as pd
import pytest

import gainful as gf

JUDGED = {"p": {"a": 1}, "q": {"a": 1}}
FULL = {"query": "p", "retrieved": ["a"]}
# By hand: grade 1 before grade 3, where the other order is ideal.
SWAPPED = (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3))


def ndcg(judgments, run, **options):
    return gf.evaluate(judgments, run, "nDCG", **options)["nDCG"]


@pytest.mark.parametrize("value", [None, "d4", {"a": "x"}])
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_no_list_is_told(value, place, tmp_path):
    rows = [FULL]
    rows.insert(place, {"query": "q", "retrieved": value})
    path = tmp_path / "run.json"
    path.write_text(json.dumps(rows))
    under = {"p": {"retrieved": ["a"]}, "q": {"retrieved": value}}
    for run in (rows, path, under, pd.DataFrame(rows)):
        with pytest.raises(
            gf.errors.InputError, match="query 'q': expected a list in 'retrieved', found"
        ):
            gf.evaluate(JUDGED, run, "RR")


def test_each_kind_says_what_to_write():
    with pytest.raises(gf.errors.InputError, match=r"Write \[\] if nothing was retrieved"):
        gf.evaluate(JUDGED, [FULL, {"query": "q", "retrieved": float("nan")}], "RR")
    with pytest.raises(gf.errors.InputError, match=r"Write it as a list, \['d4'\]"):
        gf.evaluate(JUDGED, [FULL, {"query": "q", "retrieved": "d4"}], "RR")
    judged = [{"query": "p", "relevant": ["a"]}, {"query": "q", "relevant": None}]
    with pytest.raises(gf.errors.InputError, match=r"Write \[\] if nothing is relevant"):
        gf.evaluate(judged, JUDGED, "RR")
    with pytest.raises(gf.errors.InputError, match="a list of documents, found only 'query'"):
        gf.evaluate(JUDGED, [FULL, {"query": "q"}], "RR")
    both = {"query": "q", "relevant": ["a"], "retrieved": None}
    with pytest.raises(gf.errors.InputError, match="a list in 'retrieved', found None"):
        gf.evaluate(JUDGED, [FULL, both], "RR")


def test_rows_of_such_names_are_rows():
    rows = [{"query": "p", "doc": "a", "score": 1, "retrieved": "today"}]
    assert gf.evaluate({"p": ["a"]}, rows, "RR")["RR"] == 1.0
    hits = [{"query": "p", "retrieved": {"count": 1}, "hits": [{"id": "a"}], "ranking": "bm25"}]
    assert gf.evaluate({"p": ["a"]}, hits, "RR")["RR"] == 1.0


def test_documents_with_grades_are_read(tmp_path):
    record = {"query": "q", "relevant": {"a": 3, "b": 1}}
    path, lines = tmp_path / "judged.json", tmp_path / "judged.jsonl"
    path.write_text(json.dumps([record]))
    lines.write_text(json.dumps(record) + "\n")
    under = {"q": {"relevant": record["relevant"]}}
    beside = {"q": {"retrieved": ["x"], "relevant": record["relevant"]}}
    for given in ([record], path, lines, under, beside, pd.DataFrame([record])):
        assert ndcg(given, {"q": ["b", "a"]}) == pytest.approx(SWAPPED)
    assert record == {"query": "q", "relevant": {"a": 3, "b": 1}}


def test_documents_with_scores_are_read():
    rows = [{"query": "q", "relevant": {"a": 3, "b": 1}, "retrieved": {"a": 0.1, "b": 0.2}}]
    assert ndcg(rows, rows) == pytest.approx(SWAPPED)
    assert gf.evaluate({"q": ["a"]}, [{"query": "q", "retrieved": {"a": 1}}], "RR")["RR"] == 1.0


def test_a_split_may_have_such_a_name():
    run = {"default": {"relevant": {"q": {"b": 0.2, "a": 0.1}}}}
    assert ndcg({"q": {"a": 3, "b": 1}}, run) == pytest.approx(SWAPPED)
