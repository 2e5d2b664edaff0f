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


def forms(low, high, folder):
    """Grades of two documents in every form that has truth values; `relevant` is a column of grades."""
    rows = {**ROWS, "relevant": [low, high]}
    frame = pd.DataFrame(rows)
    records = frame.to_dict("records")
    nested = folder / "dict.json"
    nested.write_text(json.dumps({"q": {"b": low, "a": high}}))
    pairs = folder / "pairs.json"
    pairs.write_text(json.dumps({"q": [["b", low], ["a", high]]}))
    found = [
        {"q": {"b": low, "a": high}},
        {"q": [("b", low), ("a", high)]},
        {"q": [{"id": "b", "relevant": low}, {"id": "a", "relevant": high}]},
        [("q", "b", low), ("q", "a", high)],
        [{"query": "q", "relevant": ["b", "a"], "grades": [low, high]}],
        records,
        nested,
        pairs,
        *(written(rows, name, folder) for name in ("j.jsonl", "j.json")),
        frame.astype({"relevant": object}),
    ]
    if type(low) is type(high):  # a column has one type
        found += [
            frame,
            pl.DataFrame(rows),
            frame.convert_dtypes(),
            written(rows, "j.parquet", folder),
        ]
    return found


@pytest.mark.parametrize(("low", "high"), [(False, True), (0, True), (False, 1)])
def test_truth_values_are_1_and_0_in_every_form(low, high, tmp_path):
    for given in forms(low, high, tmp_path):
        assert ndcg(given) == pytest.approx(SECOND)
        assert gf.check(given, {"run": RUN}).counts["error"] == 0


def test_truth_values_of_numpy():
    low, high = np.False_, np.True_
    for given in (
        {"q": [{"id": "b", "grade": low}, {"id": "a", "grade": high}]},
        {"q": [("b", low), ("a", high)]},
        [("q", "b", low), ("q", "a", high)],
        pd.DataFrame(ROWS).astype({"relevant": object}),
    ):
        assert ndcg(given) == pytest.approx(SECOND)


def test_words_in_text_are_told(tmp_path):
    assert ndcg(written({**ROWS, "relevant": [0, 1]}, "n.csv", tmp_path)) == pytest.approx(SECOND)
    text = {**ROWS, "relevant": ["false", "true"]}
    for name in ("j.csv", "j.jsonl", "j.json"):
        with pytest.raises(gf.errors.InputError, match=SAID):
            ndcg(written(text, name, tmp_path))


def test_truth_values_are_no_scores(tmp_path):
    rows = {"query": ["q", "q"], "doc": ["b", "a"], "score": [False, True]}
    records = pd.DataFrame(rows).to_dict("records")
    for run in (records, written(rows, "r.jsonl", tmp_path), {"q": [("b", False), ("a", True)]}):
        with pytest.raises(gf.errors.InputError, match="score"):
            ndcg({"q": ["a"]}, run)


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
        with pytest.raises(
            gf.errors.InputError, match="looks like a run, but it was passed as judgments"
        ):
            ndcg(given)
    assert ndcg(frame, columns={"grade": None}) == 1  # clicks, and where they were
