"""One column of a data frame, or a tensor, in the place of a run or of a list: the error says what to write."""

import pandas as pd
import polars as pl
import pytest
import torch

import gainful as gf

CLICKS = pd.DataFrame({"user_id": [1, 1, 2], "item_id": [10, 12, 11], "score": [0.4, 0.9, 0.5]})
LISTS = CLICKS.groupby("user_id")["item_id"].apply(list)
SCORES = CLICKS.set_index(["user_id", "item_id"])["score"]
JUDGED = {1: [10], 2: [11]}


def message(judgments, run):
    with pytest.raises(gf.errors.InputError) as told:
        gf.evaluate(judgments, run)
    return str(told.value)


def test_a_series_of_lists_is_to_be_a_dict():
    for told in (message(JUDGED, LISTS), message(LISTS, JUDGED)):
        assert (
            "found one column: Series of shape (2,). Pass a dict keyed by its index: to_dict()"
            in told
        )
    assert gf.evaluate(JUDGED, LISTS.to_dict(), "RR")["RR"] == 1.0


def test_a_series_of_scores_is_to_be_a_data_frame():
    assert "Turn its index into columns: reset_index()." in message(JUDGED, SCORES)
    assert gf.evaluate(JUDGED, SCORES.reset_index(), "RR")["RR"] == 0.75


def test_other_series():
    rows = [(1, 12, 0.9), (1, 10, 0.4), (2, 11, 0.5)]
    assert "Pass a list of its rows: tolist()." in message(JUDGED, pd.Series(rows))
    assert gf.evaluate(JUDGED, pd.Series(rows).tolist(), "RR")["RR"] == 0.75
    assert "Pass the data frame that contains it" in message(JUDGED, pl.Series([[10, 12], [11]]))
    for form in (pd.Series, pl.Series):  # records are rows
        assert gf.evaluate(JUDGED, form(CLICKS.to_dict("records")), "RR")["RR"] == 0.75


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (pd.Series([10, 12]), "Pass its values, .tolist(), or .to_dict() if its index"),
        (torch.tensor([10, 12]), "Pass a list: .tolist()."),
        (pl.Series([10, 12]), "Pass a list: .to_list()."),
    ],
)
def test_a_column_under_a_query_is_to_be_a_list(given, told):
    assert told in message({1: [10]}, {1: given})
    assert told in message({1: given}, {1: [10]})
    listed = given.tolist() if hasattr(given, "tolist") else given.to_list()
    assert gf.evaluate({1: [10]}, {1: listed}, "RR")["RR"] == 1.0


def test_a_data_frame_is_to_have_a_name_among_runs():
    frame = CLICKS.rename(columns={"user_id": "query", "item_id": "doc"})
    for measure in (gf.compare, gf.evaluate_runs):
        with pytest.raises(gf.errors.InputError) as told:
            measure(JUDGED, frame)
        assert "found DataFrame of shape (3, 3). Give it a name: {'mine': run}." in str(told.value)
        with pytest.raises(gf.errors.InputError, match=r"found DataFrame of shape .* in a list"):
            measure(JUDGED, [frame, frame])


@pytest.mark.parametrize(
    "documents", [{"a": [0.9], "b": 0.1}, {"b": 0.1, "a": [0.9]}, {"a": [0.9]}]
)
def test_a_list_in_the_place_of_a_score_is_named(documents):
    told = message({"q": {"a": 1}}, {"q": documents})
    assert (
        "run, query 'q', document 'a': expected a finite number as the score, found [0.9]" in told
    )
    runs = message({"q": {"a": 1}}, {"mine": {"q": ["a"]}})
    assert "found a dict of 1 run: 'mine'. evaluate_runs takes such a dict." in runs
