"""Records of which some have a grade and others none: no row counts as grade 1 for want of one in the first."""

import json
from itertools import count

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import gainful as gf
from gainful.matching.input import TableInput

RUN = {"q1": {"a": 2.0, "b": 1.0}}
BARE, GRADED = {"query": "q1", "doc": "a"}, {"query": "q1", "doc": "b", "grade": 3}
FORMS = ["records", "j.json", "j.jsonl"]
TOLD = r"expected a grade in every row, or in none as in (record 1|the first line), found {}\. .*columns grade= "


def given_as(form, records, folder):
    if form == "records":
        return records
    path = folder / form
    lines = "".join(json.dumps(record) + "\n" for record in records)
    path.write_text(json.dumps(records) if path.suffix == ".json" else lines)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_a_grade_after_a_record_without_one_is_told(form, tmp_path):
    given = given_as(form, [BARE, GRADED], tmp_path)
    with pytest.raises(gf.errors.InputError, match=TOLD.format("'grade'")) as told:
        gf.evaluate(given, RUN)
    assert told.value.where.endswith((", record 2", ":2"))
    said = gf.evaluate(given, RUN, "nDCG", columns={"grade": None})  # every row is of grade 1
    assert said["nDCG"] == gf.evaluate({"q1": {"a": 1, "b": 1}}, RUN, "nDCG")["nDCG"]


@pytest.mark.parametrize("form", FORMS)
def test_a_field_that_may_be_a_grade_is_told(form, tmp_path):
    """A frame of the same records has the column, and is refused."""
    given = given_as(form, [BARE, {"query": "q1", "doc": "b", "gain": 3}], tmp_path)
    with pytest.raises(gf.errors.InputError, match=TOLD.format("'gain', which may be one")):
        gf.evaluate(given, RUN)


@pytest.mark.parametrize("form", FORMS)
def test_a_record_without_a_grade_after_one_with_it_is_told(form, tmp_path):
    given = given_as(form, [GRADED, BARE], tmp_path)
    with pytest.raises(gf.errors.InputError, match=r"(record |:)2: expected the keys query, doc"):
        gf.evaluate(given, RUN)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("spelled", ['"Rel ": 3', '"re\\u006c": 3', '"rel" : null', '"rel": "3"'])
def test_lines_in_many_ways(clean, spelled, tmp_path, monkeypatch):
    """Neither the arrays of clean lines nor the engine pass over a grade that only some lines have."""
    if not clean:
        monkeypatch.setattr(TableInput, "_clean_file", None)
    path = tmp_path / "judgments.jsonl"
    lines = [f'{{"query": "q{n}", "doc": "a", "time": {n}}}' for n in range(1, 3000)]
    lines[2000] = f'{{"query": "q2001", "doc": "a", {spelled}}}'
    path.write_text("\n".join(lines) + "\n")
    run = {f"q{n}": {"a": 1.0} for n in range(1, 3000)}
    with pytest.raises(gf.errors.InputError, match=r":2001: expected a grade in every row, or in"):
        gf.evaluate(path, run)
    found = gf.check(path, {"run": run})
    assert found.counts["error"] == 1


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize(
    "extra", ["", ', "time": 7', ', "event": "click"', ', "title": "x: \\"y\\""']
)
def test_lines_without_grades_are_read_as_they_were(clean, extra, tmp_path, monkeypatch):
    if not clean:
        monkeypatch.setattr(TableInput, "_clean_file", None)
    path = tmp_path / "judgments.jsonl"
    number = count()
    lines = [
        f'{{"query": "q{next(number) // 3}", "doc": "{doc}"{extra if doc != "c" else ""}}}'
        for _ in range(40)
        for doc in "abc"
    ]
    path.write_text("\n".join(lines) + "\n")
    run_file = tmp_path / "run.txt"
    run_file.write_text(
        "".join(f"q{n} Q0 {d} 1 {s} t\n" for n in range(40) for d, s in (("x", 3), ("b", 2)))
    )
    expected = gf.evaluate(
        {f"q{n}": dict.fromkeys("abc", 1) for n in range(40)}, run_file, ["nDCG", "CG@1"]
    )
    assert gf.evaluate(path, run_file, ["nDCG", "CG@1"]).means == expected.means


def test_a_history_with_counts_in_some_records_is_told():
    past = [{"user": "u", "item": "a"}, {"user": "u", "item": "b", "count": 9}]
    with pytest.raises(
        gf.errors.InputError, match="a count in every row, or in none as in record 1"
    ):
        gf.recommending.evaluate_recommendations({"u": ["a"]}, "Novelty@2", history=past)


def test_parts_of_which_a_later_one_has_grades_are_told(tmp_path):
    for name, record in (("1.parquet", BARE), ("2.parquet", GRADED)):
        pyarrow.parquet.write_table(pa.Table.from_pylist([record]), tmp_path / name)
    with pytest.raises(
        gf.errors.InputError, match="or in none as in the first part, found 'grade'"
    ):
        gf.evaluate(tmp_path, RUN)


LISTED = {"question": "q1", "relevant": ["a"]}
LISTED_GRADED = {"question": "q2", "relevant": ["a", "b"], "grades": [3, 1]}
LISTED_RUN = {"q1": ["a"], "q2": ["b", "a"]}


@pytest.mark.parametrize("form", [*FORMS, "frame", "j.parquet"])
@pytest.mark.parametrize(
    "records",
    [
        [LISTED, LISTED_GRADED],
        [LISTED_GRADED, LISTED],
        [LISTED_GRADED, LISTED | {"grades": None}],
    ],
)
def test_lists_of_which_some_have_grades_are_told(form, records, tmp_path):
    if form == "frame":
        given = pd.DataFrame(records)
    elif form == "j.parquet":
        given = tmp_path / form
        pa.parquet.write_table(pa.Table.from_pandas(pd.DataFrame(records)), given)
    else:
        given = given_as(form, records, tmp_path)
    told = "found one for 'a' of query 'q2', none for 'a' of query 'q1'"
    with pytest.raises(gf.errors.InputError, match=told):
        gf.evaluate(given, LISTED_RUN)


def test_documents_of_which_some_have_grades_are_told_in_other_forms_of_records():
    some = [{"id": "a", "grade": 3}, {"id": "b"}]
    for given in (
        [{"query": "q2", "relevant": some}],
        {"q1": {"relevant": ["a"]}, "q2": {"relevant": ["a", "b"], "grades": [3, 1]}},
        [{"query": "q1", "relevant": ["a"]}, {"query": "q2", "relevant": {"a": 3}}],
    ):
        with pytest.raises(
            gf.errors.InputError, match="for every document of records, or for none"
        ):
            gf.evaluate(given, LISTED_RUN)
    named = [{"query": "q1", "mine": ["a"]}, {"query": "q2", "mine": ["a"], "grades": [3]}]
    with pytest.raises(gf.errors.InputError, match="for every document of records, or for none"):
        gf.evaluate(named, LISTED_RUN, columns={"judgments.doc": "mine"})


@pytest.mark.parametrize("more", [{}, {"grades": None}, {"grades": []}])
def test_an_empty_list_needs_no_grades(more):
    records = [{"question": "q1", "relevant": []} | more, LISTED_GRADED]
    expected = gf.evaluate({"q1": {}, "q2": {"a": 3, "b": 1}}, LISTED_RUN, "nDCG")["nDCG"]
    assert gf.evaluate(records, LISTED_RUN, "nDCG")["nDCG"] == expected


@pytest.mark.parametrize("grade", ["0", "good", np.array([0.0])], ids=["digit", "word", "array"])
def test_a_grade_that_is_no_number_is_not_passed_over(grade):
    judgments = {"q": [{"doc": "a", "grade": grade}, {"doc": "b", "grade": grade}]}
    with pytest.raises(gf.errors.InputError, match=r"query 'q', item 1: expected a grade"):
        gf.evaluate(judgments, {"q": ["a", "b"]}, "nDCG")


def test_a_score_that_is_missing_leaves_the_order():
    run = {"q": [{"_id": "b", "_score": None}, {"_id": "a", "_score": None}]}
    assert gf.evaluate({"q": {"a": 1}}, run, "RR")["RR"] == 0.5


@pytest.mark.parametrize("graded", [[("d1", 3)], {"d1": 3}, [{"doc": "d1", "grade": 3}]])
def test_a_list_without_grades_beside_one_with_them_is_told(graded, tmp_path):
    bare = ["d1"]
    run = {"q1": ["d1"], "q2": ["d1"]}
    for judgments in ({"q1": bare, "q2": graded}, {"q1": graded, "q2": bare}):
        path = tmp_path / "judgments.json"
        path.write_text(json.dumps(judgments))
        for given in (judgments, path):
            with pytest.warns(
                gf.errors.GainfulWarning,
                match=r"lists without grades count as grade 1: .*'d1'.*Give every list",
            ):
                assert gf.evaluate(given, run, "CG")["CG"] == 2.0
    for judgments in ({"q1": bare, "q2": bare}, {"q1": graded, "q2": graded}):
        gf.evaluate(judgments, run, "CG")
