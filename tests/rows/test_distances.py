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
    with pytest.raises(gf.errors.InputError, match=f"columns rank={name}. Equal distances tie"):
        gf.evaluate(JUDGMENTS, given, "RR")
    assert gf.evaluate(JUDGMENTS, given, "RR", columns={"rank": name})["RR"] == 1.0
    with pytest.warns(
        gf.errors.GainfulWarning, match=f"lower is better, set columns rank={name}"
    ) as told:
        scores = gf.evaluate(JUDGMENTS, given, "RR", columns={"score": name})
    assert (scores["RR"], len(told)) == (0.5, 1)


def test_scores_beside_distances_count_without_a_word(tmp_path):
    rows = [{"query": "q1", "doc": "a", "distance": 0.1, "score": 2.0}]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gf.evaluate(JUDGMENTS, rows, "RR")["RR"] == 1.0


# Best first b, then a, c and d, which tie, then e.
DISTANCES = {"a": 0.5, "b": 0.0, "c": 0.5, "d": 0.5, "e": 0.75}
JUDGED = {"q1": {"a": 1, "c": 2, "e": 1}}


@pytest.mark.parametrize(
    ("ties", "name"),
    [
        ("doc", "distance"),
        ("doc_ascending", "_distance"),
        ("order", "Cosine Distance"),
        ("average", "dist"),
        ("best", "distance"),
        ("worst", "distance"),
    ],
)
def test_distances_tie_as_scores_do(ties, name):
    rows = [{"query": "q1", "doc": doc, name: number} for doc, number in DISTANCES.items()]
    scores = {"q1": {doc: -number for doc, number in DISTANCES.items()}}
    policy, measures = {"ties": ties}, ["RR", "nDCG@2", "nDCG"]
    for given in (rows, pd.DataFrame(rows)):
        found = gf.evaluate(JUDGED, given, measures, policy=policy, columns={"rank": name})
        assert found.means == gf.evaluate(JUDGED, scores, measures, policy=policy).means


def test_tied_distances_stand_by_id_descending(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query,doc,distance\nq1,a,0.5\nq1,b,0.5\nq1,c,0.1\n")
    for doc, rank in {"c": 1, "b": 2, "a": 3}.items():
        found = gf.evaluate({"q1": {doc: 1}}, path, "RR", columns={"rank": "distance"})
        assert found["RR"] == 1 / rank
    check = gf.check({"q1": {"a": 1}}, [path], cutoff=2, columns={"rank": "distance"})
    told = {each.rule: each.message for each in check}
    assert told["tie-at-cutoff"] == "distances tie across rank 2 in 1 query"
    assert "unusable-rank" not in told


def test_ranks_that_are_no_distances_do_not_tie():
    rows = pd.DataFrame({"query": ["q1", "q1"], "doc": ["a", "b"], "place": [1, 1]})
    with pytest.raises(gf.errors.InputError, match=r"a different rank .* column named distance"):
        gf.evaluate(JUDGMENTS, rows, "RR", columns={"rank": "place"})
