"""Distances as the numbers of a run: the lowest is the best, and a score is no distance."""

import warnings

import pandas as pd
import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1}}


def run(form, name, folder):
    rows = [{"query": "q1", "doc": doc, name: number} for doc, number in (("a", 0.1), ("b", 0.9))]
    frame = pd.DataFrame(rows)
    if form == "csv":
        frame.to_csv(folder / "run.csv", index=False)
        return folder / "run.csv"
    if form == "jsonl":
        frame.to_json(folder / "run.jsonl", orient="records", lines=True)
        return folder / "run.jsonl"
    return frame if form == "frame" else rows


@pytest.mark.parametrize("form", ["records", "frame", "csv", "jsonl"])
@pytest.mark.parametrize("name", ["distance", "Dist"])
def test_distances_are_told(form, name, tmp_path):
    given = run(form, name, tmp_path)
    with pytest.raises(gf.errors.InputError, match=f"columns rank={name}; where two"):
        gf.evaluate(JUDGMENTS, given, "RR")
    assert gf.evaluate(JUDGMENTS, given, "RR", columns={"rank": name})["RR"] == 1.0
    with pytest.warns(
        gf.errors.GainfulWarning, match=f"the lowest is: columns rank={name}"
    ) as told:
        scores = gf.evaluate(JUDGMENTS, given, "RR", columns={"score": name})
    assert (scores["RR"], len(told)) == (0.5, 1)


def test_scores_beside_distances_count_without_a_word(tmp_path):
    rows = [{"query": "q1", "doc": "a", "distance": 0.1, "score": 2.0}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gf.evaluate(JUDGMENTS, rows, "RR")["RR"] == 1.0
