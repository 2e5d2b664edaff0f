"""Lists that stand as text in cells, as data frames of lists are written to CSV: told, with what to write."""

import pandas as pd
import polars as pl
import pytest

import gainful as gf

JUDGED = {"q1": {"a": 1}}


def message(judgments, run, **options):
    with pytest.raises(gf.errors.InputError) as caught:
        gf.evaluate(judgments, run, "RR", **options)
    return str(caught.value)


@pytest.mark.parametrize(
    "header", ["query,retrieved", "query,docs", "query,doc,score", "qid,contexts"]
)
@pytest.mark.parametrize("cell", ["\"['a', 'b']\"", '"[""a""]"', '"[1, 2]"'])
@pytest.mark.parametrize("mark", [",", ";"])
def test_in_a_table_they_are_told(header, cell, mark, tmp_path):
    path = tmp_path / "lists.csv"
    row = ["q1", cell, '"[0.5, 0.4]"'][: header.count(",") + 1]
    path.write_text(f"{header.replace(',', mark)}\n{mark.join(row)}\n")
    said = message(JUDGED, path)
    told = f"{path}:2: expected one document in each row, found a list as text in the column"
    assert said.startswith(told)
    assert "Write a row for each document, or write lists as JSON lines" in said


def test_in_judgments_and_named_columns(tmp_path):
    path = tmp_path / "lists.csv"
    path.write_text("query,relevant,retrieved\nq1,\"['a']\",\"['b', 'a']\"\n")
    assert "a list as text in the column 'relevant'" in message(path, path)
    assert "a list as text" in message(JUDGED, path, columns={"run.doc": "retrieved", "score": "x"})
    path.write_text("query,retrieved\nq1,a b c\n")
    assert "Write a row for each document" in message(JUDGED, path)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_in_a_data_frame_they_are_told(frame):
    given = frame({"query": ["q1"], "retrieved": ["['a', 'b']"]})
    assert "Parse the texts first: frame['retrieved'].map" in message(JUDGED, given)
    given = frame({"query": ["q1"], "doc": ["['a', 'b']"], "score": [0.5]})
    assert "column 'doc': expected one document in each row, found a list as text" in message(
        JUDGED, given
    )


def test_other_brackets_are_ids(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query,doc,score,tags\nq1,[7],1.5,\"['x']\"\nq1,[a],0.5,\"['y']\"\n")
    assert gf.evaluate({"q1": {"[a]": 1}}, path, "RR")["RR"] == 1 / 2
    named = {"query": ["q1"], "doc": ["[7]"], "score": [1.0]}
    assert gf.evaluate({"q1": {"[7]": 1}}, pd.DataFrame(named), "RR")["RR"] == 1
