"""The line of pandas in an error about an unsupported shape reshapes that very table."""

import re

import pandas as pd
import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1}, "q2": {"e": 1}}
LISTS = [
    pd.DataFrame({"query": ["q1", "q2"], "doc1": ["a", "d"], "doc2": ["b", "e"]}),
    pd.DataFrame({"query": ["q1", "q2"], "docs": ["a b", "d e"]}),
]


def advised(error):
    """Return the Python code in the remedy of an error."""
    return re.search(r"pass (.*?), or ", str(error.value))[1]


@pytest.mark.parametrize("frame", LISTS, ids=["wide", "joined"])
@pytest.mark.parametrize("form", ["frame", "records", "file"])
def test_ranked_lists_in_one_row(frame, form, files):
    run = {
        "frame": frame,
        "records": frame.to_dict("records"),
        "file": files("run.csv", frame.to_csv(index=False)),
    }[form]
    with pytest.raises(gf.errors.InputError) as error:
        gf.evaluate(JUDGMENTS, run, "RR")
    reshaped = eval(advised(error), {"frame": frame})  # noqa: S307 - our own advice
    assert reshaped == {"q1": ["a", "b"], "q2": ["d", "e"]}
    assert gf.evaluate(JUDGMENTS, reshaped, "RR")["RR"] == 0.75


@pytest.mark.parametrize("mark", [",", " "])
def test_lists_as_text_in_a_dict(mark):
    lists = {"q1": f"a{mark}b", "q2": f"d{mark}e"}
    with pytest.raises(gf.errors.InputError, match="Split the texts") as error:
        gf.evaluate(JUDGMENTS, lists, "RR")
    code = re.search(r"texts: (.*)\.$", str(error.value))[1]
    assert gf.evaluate(JUDGMENTS, eval(code, {"lists": lists}), "RR")["RR"] == 0.75  # noqa: S307


def test_scores_of_several_runs_in_columns():
    frame = pd.DataFrame(
        {"query": ["q1", "q1"], "doc": ["a", "b"], "score_a": [0.1, 0.7], "score_b": [0.7, 0.1]}
    )
    with pytest.raises(gf.errors.InputError, match="columns score=score_a") as error:
        gf.evaluate({"q1": {"a": 1}}, frame, "RR")
    runs = eval(advised(error), {"frame": frame})  # noqa: S307
    assert [own["RR"] for own in gf.evaluate_runs({"q1": {"a": 1}}, runs, "RR").values()] == [
        0.5,
        1,
    ]


def test_runs_named_in_a_column(files):
    frame = pd.DataFrame(
        {"system": ["A", "A", "B", "B"], "query": "q1", "doc": [*"abab"], "score": [2, 1, 0.5, 0.7]}
    )
    with pytest.raises(gf.errors.InputError, match="'system' names several runs") as error:
        gf.evaluate({"q1": {"a": 1}}, files("run.csv", frame.to_csv(index=False)), "RR")
    runs = eval(re.search(r"as (.*?), or ", str(error.value))[1], {"frame": frame})  # noqa: S307
    found = gf.evaluate_runs({"q1": {"a": 1}}, runs, "RR")
    assert {name: own["RR"] for name, own in found.items()} == {"A": 1, "B": 0.5}
