"""Grades and scores in records, pairs and dicts: numbers of every type, and what is none."""

import csv
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gainful as gf

EXPECTED = gf.evaluate({"q": {"b": 1, "a": 2}}, {"q": ["b", "a"]}, "nDCG")["nDCG"]


class Stars(IntEnum):
    TWO = 2


class Own(float):
    pass


class Text(str):
    __slots__ = ()


TWOS = [
    np.int64(2), np.uint8(2), np.float16(2), np.float32(2), np.float64(2), Stars.TWO, Own(2), Decimal(2),
    Decimal("2.0"), Fraction(2),
]  # fmt: skip


def forms(number, name="grade"):
    """What has a number for a document of a query, in each form of Python."""
    records = [
        {"query": "q", "doc": "b", name: 1},
        {"query": Text("q"), "doc": np.str_("a"), name: number},
    ]
    return {
        "records": records,
        "tuples": [tuple(record.values()) for record in records],
        "pairs": {"q": [("a", number), ("b", 1)]},
        "dicts": {"q": {"b": 1, "a": number}},
    }


FORMS = [*forms(1)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", TWOS, ids=lambda number: type(number).__name__)
def test_numbers_of_every_type_are_read(form, number):
    judged = gf.evaluate(forms(number)[form], {"q": ["b", "a"]}, "nDCG")
    assert judged["nDCG"] == EXPECTED
    ranked = gf.evaluate({"q": {"a": 1}}, forms(number, "score")[form], "RR")
    assert ranked["RR"] == 1.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", [2**53 + 1, np.int64(2**53 + 1), Decimal(2**53 + 1), 10**400])
def test_integers_that_are_not_held_exactly_are_told(form, number):
    with pytest.raises(gf.errors.InputError, match=r"holds exactly|a finite number as the grade"):
        gf.evaluate(forms(number)[form], {"q": ["b", "a"]})


@pytest.mark.parametrize("number", [2**53 + 1, Decimal(2**53 + 1), Decimal(10**30 + 1)])
def test_integers_in_a_column_of_objects_are_told(number):
    frame = pd.DataFrame(forms(number)["records"])
    frame["grade"] = pd.Series([1, number], dtype=object)
    with pytest.raises(gf.errors.InputError, match="holds exactly"):
        gf.evaluate(frame, {"q": ["b", "a"]})


@pytest.mark.parametrize("form", [*FORMS, "objects"])
@pytest.mark.parametrize("text", ["1e23", "1.2e150", "9007199254740993.0"])
def test_decimals_with_a_point_or_an_exponent_are_rounded(form, text):
    number = Decimal(text)
    given = forms(number, "score") | {"objects": pd.DataFrame(forms(number, "score")["records"])}
    assert gf.evaluate({"q": {"a": 1}}, given[form], "RR")["RR"] == 1.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "number", [np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), Decimal("inf")]
)
def test_numbers_that_are_not_finite_are_told(form, number):
    with pytest.raises(gf.errors.InputError, match="finite number as the grade"):
        gf.evaluate(forms(number)[form], {"q": ["b", "a"]})


@pytest.mark.parametrize("form", ["records", "pairs", "dicts"])
@pytest.mark.parametrize("text", ["3", " 2.5", Text("3"), np.str_("3")])
def test_texts_are_told(form, text):
    told = rf'as a number: {text.strip()} without quotes in JSON, float\(row\["grade"\]\) in Python'
    with pytest.raises(gf.errors.InputError, match=told):
        gf.evaluate(forms(text)[form], {"q": ["b", "a"]})


GAPS = [
    pd.DataFrame(forms(np.nan)["records"]),
    pl.DataFrame({"query": ["q", "q"], "doc": ["b", "a"], "grade": [1.0, np.nan]}),
    pa.table({"query": ["q", "q"], "doc": ["b", "a"], "grade": [1.0, np.nan]}),
    *(forms(nan)[form] for form in FORMS for nan in (np.nan, np.float32("nan"), Decimal("nan"))),
]


@pytest.mark.parametrize("given", GAPS)
def test_a_grade_that_is_nan_is_told_with_what_to_do(given):
    with pytest.raises(gf.errors.InputError, match="Give the document a grade, or remove the row"):
        gf.evaluate(given, {"q": ["b", "a"]})


def test_a_score_that_is_nan_is_not_told_of_grades():
    with pytest.raises(gf.errors.InputError, match="as the score, found nan") as problem:
        gf.evaluate({"q": {"a": 1}}, {"q": {"a": np.nan}})
    assert not problem.value.remedy


ODD = {
    "2\N{NO-BREAK SPACE}": r"U\+00A0 \(no-break space\): write 2\.",
    "\N{FULLWIDTH DIGIT TWO}": r"U\+FF12 \(fullwidth digit two\): write 2\.",
    "\N{MINUS SIGN}1": r"U\+2212 \(minus sign\): write -1\.",
    "\N{ZERO WIDTH SPACE}2.5": r"U\+200B \(zero width space\): write 2\.5\.",
    "\N{ARABIC-INDIC DIGIT TWO}": r"U\+0662 \(arabic-indic digit two\): write 2\.",
}


@pytest.mark.parametrize("form", ["records", "pairs", "dicts", "csv"])
@pytest.mark.parametrize("text", ODD)
def test_a_character_that_is_none_of_a_number_is_named(form, text, tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text(f"query,doc,grade\nq,b,1\nq,a,{text}\n", encoding="utf-8")
    given = forms(text) | {"csv": path}
    with pytest.raises(gf.errors.InputError, match=ODD[text]):
        gf.evaluate(given[form], {"q": ["b", "a"]})


def test_rows_of_a_csv_reader_are_told_what_to_write():
    rows = [*csv.DictReader(["query,doc,score", "q,a,0.5"])]
    with pytest.raises(gf.errors.InputError, match=r'float\(row\["score"\]\) in Python') as problem:
        gf.evaluate({"q": {"a": 1}}, rows)
    assert "record 1" in problem.value.where
    for row in rows:
        row["score"] = float(row["score"])
    assert gf.evaluate({"q": {"a": 1}}, rows, "RR")["RR"] == 1.0


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("truth", [True, np.True_])
def test_truth_in_a_tuple_is_a_grade_and_no_score(first, truth):
    rows = [("q", "a", truth), ("q", "b", 1)][:: 1 if first else -1]
    place = 1 if first else 2
    assert gf.evaluate(rows, {"q": ["a", "b"]}, "nDCG")["nDCG"] == 1.0
    with pytest.raises(
        gf.errors.InputError, match=f"run, record {place}: .*Write the score as a numb"
    ):
        gf.evaluate({"q": ["a"]}, rows)


@pytest.mark.parametrize("row", [("q", "a"), ("q", "0", "a", 1), ("q", "a", "3")])
def test_tuples_of_another_length_are_told(row):
    write = r"Write every row as a tuple \(query, doc, score\)"
    with pytest.raises(gf.errors.InputError, match=f"run, row 1: .* {len(row)} values: .*{write}"):
        gf.evaluate({"q": ["a"]}, [row, row])
    if len(row) == 3:
        return
    with pytest.raises(gf.errors.InputError, match=f"run, row 2: .* {len(row)} values: .*{write}"):
        gf.evaluate({"q": ["a"]}, [("q", "b", 2), row])


def test_lists_in_the_place_of_tuples_are_told():
    with pytest.raises(gf.errors.InputError, match=r"run, row 2: .* found a list of 3 values"):
        gf.evaluate({"q": ["a"]}, [("q", "b", 2), ["q", "a", 1]])
    with pytest.raises(
        gf.errors.InputError, match=r"If each is a row, write it as a tuple \(query"
    ):
        gf.evaluate({"q": ["a"]}, [["q", "b", 2], ["q", "a", 1]])


@pytest.mark.parametrize("truths", [[True, False], [np.True_, 1], [1, True]])
def test_truth_in_a_column_of_objects_is_a_grade_and_no_score(truths):
    rows = {"query": ["q", "q"], "doc": ["a", "b"], "grade": pd.Series(truths, dtype=object)}
    frame = pd.DataFrame(rows)
    assert gf.evaluate(frame, {"q": ["a", "b"]}, "RR")["RR"] == 1.0
    assert frame["grade"].dtype == object
    told = (
        r"row [12], column 'score': expected a score, found .*True_?\. Write the score as a number"
    )
    with pytest.raises(gf.errors.InputError, match=told):
        gf.evaluate({"q": ["a"]}, frame.rename(columns={"grade": "score"}))


def test_nothing_beside_truth_is_no_grade():
    rows = {"query": ["q", "q"], "doc": ["a", "b"], "grade": pd.Series([True, None], dtype=object)}
    with pytest.raises(gf.errors.InputError, match="Give the document a grade, or remove the row"):
        gf.evaluate(pd.DataFrame(rows), {"q": ["a", "b"]})


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"grade": ["good"]},
            "numbers as grades, found 'good' as grade of query q, document a. Say which grade each word stands for",
        ),
        (
            {"grade": [2**53 + 1]},
            "holds exactly, found 9007199254740993 as grade of query q, document a. Int",
        ),
        (
            {"query": [1.5]},
            "as ids, found the id 1.5 in the column 'query' .* Make the ids strings first",
        ),
        (
            {"doc": [1e20]},
            "as ids, found the id 1.* in the column 'doc' .* Make the ids strings first",
        ),
    ],
)
def test_values_of_frames_that_cannot_be_read_are_told(frame, changed, told):
    rows = {"query": ["q"], "doc": ["a"], "grade": [1], **changed}
    with pytest.raises(gf.errors.InputError, match=told):
        gf.evaluate(frame(rows), {"q": {"a": 1}})
