"""A column `relevant`, truth values as grades, and a run by ranks that is given as judgments."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gainful as gf

ROWS = {"query": ["q", "q"], "doc": ["b", "a"], "relevant": [False, True]}
RUN = {"q": ["b", "a"]}
SECOND = 1 / np.log2(3)  # by hand: the only relevant document is at rank 2
SAID = "Write 1 for true, and 0 for false"


def ndcg(judgments, run=RUN, **options):
    return gf.evaluate(judgments, run, "nDCG", **options)["nDCG"]


def written(rows, name, folder):
    path = folder / name
    frame = pd.DataFrame(rows)
    if name.endswith("csv"):
        frame.to_csv(path, index=False)
    elif name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=name.endswith("l"))
    return path


def test_truth_values_are_grades_where_they_have_a_type(tmp_path):
    for given in (
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS),
        written(ROWS, "j.parquet", tmp_path),
        {"q": {"b": False, "a": True}},
        {"q": [{"id": "b", "relevant": False}, {"id": "a", "relevant": True}]},
        {"q": [{"id": "b", "grade": np.False_}, {"id": "a", "grade": np.True_}]},
    ):
        assert ndcg(given) == pytest.approx(SECOND)


@pytest.mark.parametrize("name", ["j.csv", "j.jsonl", "j.json"])
def test_numbers_are_read_and_words_are_told(name, tmp_path):
    assert ndcg(written({**ROWS, "relevant": [0, 1]}, name, tmp_path)) == pytest.approx(SECOND)
    with pytest.raises(gf.errors.InputError, match=SAID):
        ndcg(written(ROWS, name, tmp_path))


def test_other_truth_values_are_told(tmp_path):
    path = tmp_path / "dict.json"
    path.write_text(json.dumps({"q": {"b": False, "a": True}}))
    for given in (path, {"q": [("b", False), ("a", True)]}):
        with pytest.raises(gf.errors.InputError, match=SAID):
            ndcg(given)


def test_relevant_comes_before_score():
    frame = pd.DataFrame({**ROWS, "score": [0.9, 0.8]})
    assert ndcg(frame, frame) == pytest.approx(SECOND)


def test_a_list_of_what_is_relevant_is_no_list_of_grades():
    record = {"query": "q", "found": ["a"], "relevant": ["x", "y"]}
    assert ndcg([record], columns={"judgments.doc": "found"}) == pytest.approx(SECOND)


def test_ranks_as_judgments_look_like_a_run(tmp_path):
    rows = {"query": ["q", "q"], "doc": ["b", "a"], "position": [1, 2]}
    frame = pd.DataFrame(rows)
    for given in (frame, frame.to_dict("records"), written(rows, "j.csv", tmp_path)):
        with pytest.raises(gf.errors.InputError, match="looks like a run, given as judgments"):
            ndcg(given)
    assert ndcg(frame, columns={"grade": None}) == 1  # clicks, and where they were
