"""What messages say to write in the place of a value that is no id, in every form."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import gainful as gf

INTEGER = r"Make the id an integer first: int\(id\)\."
NAMELESS = r"Give the row an id, or remove it\."
STRING = r"Make the id a string first\."


def forms(value):
    """A run with a value in the place of the id of a document, or of a query."""
    record = {"query": "q", "doc": value, "score": 1}
    return {
        "dict": {"q": {value: 1}},
        "query of a dict": {value: {"1": 1}},
        "list": {"q": [value]},
        "query of a list": {value: ["1"]},
        "pairs": {"q": [(value, 1)]},
        "hits": {"q": [{"doc": value, "score": 1}]},
        "records": [record],
        "query of records": [record | {"query": value, "doc": "1"}],
        "tuples": [("q", value, 1)],
    }


@pytest.mark.parametrize("form", [*forms(1)])
@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (1.0, INTEGER),
        (np.float32(1), INTEGER),
        (Decimal("1.0"), INTEGER),
        (1.5, STRING),
        (None, NAMELESS),
        (float("nan"), NAMELESS),
    ],
    ids=repr,
)
def test_what_is_no_id_is_told_with_what_to_write(form, value, advice):
    with pytest.raises(gf.errors.InputError, match=advice):
        gf.evaluate({"q": {"1": 1}}, forms(value)[form])


@pytest.mark.parametrize("name", ["run.json", "run.jsonl"])
@pytest.mark.parametrize(("value", "advice"), [("1.0", INTEGER), ("null", NAMELESS)])
def test_files_of_json_say_the_same(name, value, advice, tmp_path):
    row = f'{{"query": "q", "doc": {value}, "score": 1}}'
    (tmp_path / name).write_text(f"[{row}]" if name == "run.json" else f"{row}\n")
    with pytest.raises(gf.errors.InputError, match=advice):
        gf.evaluate({"q": {"1": 1}}, tmp_path / name)


def test_a_column_of_objects_says_the_same():
    frame = pd.DataFrame({"query": ["q"], "doc": pd.Series([1.0], dtype=object), "score": [1]})
    with pytest.raises(gf.errors.InputError, match=INTEGER):
        gf.evaluate({"q": {"1": 1}}, frame)


def test_the_advice_leads_to_the_value():
    assert gf.evaluate({"q": {"1": 1}}, {"q": [int(1.0)]}, "RR")["RR"] == 1.0
