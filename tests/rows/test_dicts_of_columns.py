"""Dicts of columns are read as rows; lists in the field of a document are refused with what to write."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gainful as gf

JUDGED = {"query": ["q", "q"], "doc": ["a", "b"], "grade": [2, 1]}
RANKED = {"query": ["q", "q"], "doc": ["b", "a"], "score": [0.9, 0.8]}
RUN = {"q": ["b", "a"]}
EXPECTED = gf.evaluate({"q": {"a": 2, "b": 1}}, RUN, "nDCG")["nDCG"]
FORMS = {
    "lists": dict,
    "tuples": lambda columns: {name: tuple(values) for name, values in columns.items()},
    "arrays": lambda columns: {name: np.array(values) for name, values in columns.items()},
    "pandas": lambda columns: dict(pd.DataFrame(columns).items()),
    "polars": lambda columns: pl.DataFrame(columns).to_dict(),
    "to_dict": lambda columns: pd.DataFrame(columns).to_dict(),
}


@pytest.mark.parametrize("form", FORMS)
def test_dicts_of_columns_are_read(form):
    assert gf.evaluate(FORMS[form](JUDGED), FORMS[form](RANKED), "nDCG")["nDCG"] == EXPECTED
    assert gf.evaluate(pd.DataFrame(FORMS[form](JUDGED)), RUN, "nDCG")["nDCG"] == EXPECTED


def test_errors_name_the_row():
    with pytest.raises(
        gf.errors.InputError, match="judgments, record 2: expected a finite number as the grade"
    ):
        gf.evaluate({**JUDGED, "grade": [1, None]}, RUN)


@pytest.mark.parametrize("orient", ["list", "columns"])
def test_files_of_columns_are_read(orient, tmp_path):
    path = tmp_path / "judgments.json"
    path.write_text(json.dumps(JUDGED) if orient == "list" else pd.DataFrame(JUDGED).to_json())
    assert gf.evaluate(path, RUN, "nDCG")["nDCG"] == EXPECTED


def test_columns_without_numbers_are_recognised_by_names_that_are_no_words():
    clicks = {"user_id": ["u", "u"], "item_id": ["a", "b"]}
    assert gf.evaluate(clicks, {"u": ["x", "b", "a"]}, "AP")["AP"] == (1 / 2 + 2 / 3) / 2
    words = {"user": ["a", "b"], "product": ["c", "d"]}  # what people search for
    assert gf.evaluate(words, dict(words), "RR")["RR"] == 1.0
    names = {"query": {"a": 1}, "doc": {"b": 1}, "score": {"c": 1}}
    assert gf.evaluate(names, {**names, "x": {}}, "RR")["RR"] == 1.0


@pytest.mark.parametrize("form", ["records", "json", "jsonl", "one line"])
@pytest.mark.parametrize("numbers", [{}, {"grade": [1, 2], "score": [2, 1]}])
def test_lists_in_the_field_of_a_document_are_told(form, numbers, tmp_path):
    given = [
        {"query": "q", "doc": ["a", "b"], **numbers},
        {"query": "r", "doc": ["a", "b"], **numbers},
    ]
    run = {"q": ["b", "a"], "r": ["a"]}
    if form != "records":
        path = tmp_path / "judgments.json"
        rows = given[:1] if form == "one line" else given
        path.write_text(json.dumps(rows) if form == "json" else "\n".join(map(json.dumps, rows)))
        given = path
    told = r"column 'doc': expected one document in each row, found a list: \['a', 'b'\]\. Make a row .* columns {}\.doc=doc"
    with pytest.raises(gf.errors.InputError, match=told.format("judgments")):
        gf.evaluate(given, run)
    with pytest.raises(gf.errors.InputError, match=told.format("run")):
        gf.evaluate({"q": ["a"]}, given)
    named = gf.evaluate(given, run, "RR", columns={"judgments.doc": "doc"})
    assert named["RR"] == 1.0


def test_a_list_in_a_later_record_is_told():
    given = [{"query": "q", "doc": "c"}, {"query": "q", "doc": ["a", "b"]}]
    with pytest.raises(gf.errors.InputError, match="record 2, column 'doc': expected one document"):
        gf.evaluate(given, RUN)
