"""A run of nothing but empty lists answers every query with nothing: 0, and a warning."""

import json

import pandas as pd
import pytest

import gainful as gf

JUDGED = {"q1": {"a": 1}, "q2": {"b": 2}}
RUNS = {
    "dicts": {"q1": {}, "q2": {}},
    "lists": {"q1": [], "q2": []},
    "records": [{"query": "q1", "retrieved": []}, {"query": "q2", "retrieved": []}],
    "frame": pd.DataFrame({"query": ["q1", "q2"], "retrieved": [[], []]}),
}
SAID = "lists: all lists of the run are empty, so every query counts as answered with nothing"


@pytest.mark.parametrize("form", RUNS)
@pytest.mark.parametrize("judgments", ["dict", "file"])
def test_it_counts_as_answered_with_nothing(form, judgments, tmp_path):
    given = JUDGED
    if judgments == "file":
        given = tmp_path / "judged.csv"
        given.write_text("query,doc,grade\nq1,a,1\nq2,b,2\n")
    policy = gf.Policy(missing="skip")
    with pytest.warns(gf.errors.GainfulWarning, match=SAID):
        scores = gf.evaluate(given, RUNS[form], ["nDCG@10", "P@5"], policy=policy)
    assert dict(scores) == {"nDCG@10": 0, "P@5": 0}
    assert scores.queries == ("q1", "q2")
    assert scores.coverage.missing == ()


def test_one_of_several_runs_is_named_and_compared(tmp_path):
    path = tmp_path / "empty.json"
    path.write_text(json.dumps(RUNS["dicts"]))
    runs = {"old": {"q1": ["a"], "q2": ["x", "b"]}, "new": path}
    with pytest.warns(gf.errors.GainfulWarning, match=f"^run 'new', {SAID}"):
        compared = gf.compare(JUDGED, runs, "RR")
    assert compared["new", "RR"].difference == -0.75


def test_a_check_finds_the_empty_lists():
    found = {each.rule: each for each in gf.check(JUDGED, {"new": RUNS["lists"]})}
    assert found["empty-list"].count == 2
    assert "no-shared-documents" not in found


def test_no_queries_and_other_queries_are_refused():
    for run, said in (
        ({}, "at least one retrieved document"),
        ([], "at least one retrieved document"),
        ({"other": []}, "none in common"),
    ):
        with pytest.raises(gf.errors.InputError, match=said):
            gf.evaluate(JUDGED, run, "RR")
