"""Records that hold a query, what is relevant to it, and what was retrieved: each input takes its own."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gainful as gf

# By hand: RR (1/2 + 1/3) / 2, R@3 (1/2 + 1) / 2.
ROWS = [
    {"question": "a", "relevant": ["x", "y"], "retrieved": ["q", "x"]},
    {"question": "b", "relevant": ["z"], "retrieved": ["w", "v", "z"]},
]
VALUES = {"RR": (1 / 2 + 1 / 3) / 2, "R@3": 0.75}
FORMS = ["memory", "rows.jsonl", "rows.json"]


def renamed(**names):
    return [{names.get(key, key): value for key, value in row.items()} for row in ROWS]


def both(rows, form, folder):
    """Return the rows twice: that two inputs are one file would be told."""
    if form == "memory":
        return rows, rows
    text = json.dumps(rows) if form == "rows.json" else "\n".join(map(json.dumps, rows)) + "\n"
    paths = folder / f"judged {form}", folder / form
    for path in paths:
        path.write_text(text)
    return paths


def measured(judgments, run, **options):
    scores = gf.evaluate(judgments, run, ["RR", "R@3"], **options)
    assert scores.queries == ("a", "b")
    return dict(scores)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("relevant", "retrieved"),
    [
        ("relevant", "retrieved"),
        ("relevant", "documents"),
        ("relevant_ids", "retrieved_ids"),
        ("gold", "hits"),
        ("docs", "retrieved"),
    ],
)
def test_each_input_takes_its_own_list(form, relevant, retrieved, tmp_path):
    given = both(renamed(relevant=relevant, retrieved=retrieved), form, tmp_path)
    assert measured(*given) == pytest.approx(VALUES)


@pytest.mark.parametrize("form", FORMS)
def test_numbers_may_stand_beside_the_lists(form, tmp_path):
    rows = [{**row, "score": 0.5, "grade": 2} for row in ROWS]
    assert measured(*both(rows, form, tmp_path)) == pytest.approx(VALUES)


def test_the_order_of_the_fields_does_not_matter():
    rows = [dict(reversed(row.items())) for row in ROWS]
    assert measured(rows, rows) == pytest.approx(VALUES)


@pytest.mark.parametrize("listed", [set, frozenset, tuple, np.array])
def test_what_is_relevant_may_be_a_set_or_an_array(listed):
    rows = [{**row, "relevant": listed(row["relevant"])} for row in ROWS]
    assert measured(rows, rows) == pytest.approx(VALUES)
    assert ROWS[0]["relevant"] == ["x", "y"]


def test_what_was_retrieved_has_an_order():
    rows = [{**row, "retrieved": {*row["retrieved"]}} for row in ROWS]
    with pytest.raises(gf.errors.InputError, match="a set, which has no order"):
        gf.evaluate(ROWS, rows, "RR")


def test_lists_may_be_empty():
    rows = [*ROWS, {"question": "c", "relevant": ["k"], "retrieved": []}]
    assert gf.evaluate(rows, rows, "RR")["RR"] == pytest.approx((1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize("form", FORMS)
def test_a_run_never_takes_what_is_relevant_where_another_list_is(form, tmp_path):
    judgments, run = both(renamed(retrieved="contexts"), form, tmp_path)
    with pytest.raises(gf.errors.InputError, match=r"Name its field: columns run\.doc=contexts\.$"):
        gf.evaluate(judgments, run, "RR")


@pytest.mark.parametrize("form", FORMS)
def test_judgments_never_take_what_was_retrieved_where_another_list_is(form, tmp_path):
    judgments, run = both(renamed(relevant="answers"), form, tmp_path)
    with pytest.raises(
        gf.errors.InputError, match=r"Name its field: columns judgments\.doc=answers\.$"
    ):
        gf.evaluate(judgments, run, "RR")


@pytest.mark.parametrize("odd", ["x", None, {"x": "y"}])
def test_judgments_never_take_what_was_retrieved_where_what_is_relevant_is_no_list(odd):
    rows = [ROWS[0], {**ROWS[1], "relevant": odd}]
    with pytest.raises(gf.errors.InputError, match="expected a list in 'relevant', found"):
        gf.evaluate(rows, ROWS, "RR")


def test_a_record_without_the_field_that_is_named_is_told():
    rows = [*renamed(retrieved="contexts")[:1], ROWS[1]]
    with pytest.raises(
        gf.errors.InputError, match="query 'b': expected a list in the field 'contexts'"
    ):
        gf.evaluate(ROWS, rows, "RR", columns={"run.doc": "contexts"})


def test_one_list_is_taken_as_before():
    judged = [{"question": row["question"], "docs": row["relevant"]} for row in ROWS]
    run = [{"question": row["question"], "docs": row["retrieved"]} for row in ROWS]
    assert dict(gf.evaluate(judged, run, ["RR", "R@3"])) == pytest.approx(VALUES)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("more", [{}, {"score": 1.0}, {"metadata": {"k": 1}}])
def test_a_list_that_is_named_is_taken(form, more, tmp_path):
    rows = [{**row, **more} for row in renamed(relevant="answers", retrieved="contexts")]
    columns = {"judgments.doc": "answers", "run.doc": "contexts"}
    assert measured(*both(rows, form, tmp_path), columns=columns) == pytest.approx(VALUES)


@pytest.mark.parametrize("form", FORMS)
def test_a_list_of_an_unknown_name_is_told(form, tmp_path):
    rows = [{"question": row["question"], "contexts": row["retrieved"]} for row in ROWS]
    judgments, run = both(rows, form, tmp_path)
    said = r"columns run\.doc=contexts\. Usual names are .*retrieved, .*docs, .*results"
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate(ROWS, run, "RR")
    said = r"columns judgments\.doc=contexts\. Usual names are relevant, .*docs, .*results"
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate(judgments, ROWS, "RR")


@pytest.mark.parametrize("form", ["rows.jsonl", "rows.json"])
def test_one_file_with_both_lists_is_two_inputs(form, tmp_path):
    path, _ = both(ROWS, form, tmp_path)
    assert measured(path, path) == pytest.approx(VALUES)  # warnings are errors


def test_one_file_with_a_grade_and_a_score_is_two_inputs(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text("query,doc,grade,score\nq,a,0,0.5\nq,b,1,0.25\n")
    assert gf.evaluate(path, path, "RR")["RR"] == 0.5
    for columns in ({"judgments.grade": "score"}, {"run.score": "grade"}):
        with pytest.warns(gf.errors.GainfulWarning, match="are the same file"):
            gf.evaluate(path, path, "RR", columns=columns)


def test_one_file_with_one_list_is_told(tmp_path):
    rows = [{"question": row["question"], "docs": row["relevant"]} for row in ROWS]
    path, _ = both(rows, "rows.jsonl", tmp_path)
    with pytest.warns(gf.errors.GainfulWarning, match="are the same file"):
        gf.evaluate(path, path, "RR")


def test_one_file_of_what_is_relevant_is_no_run(tmp_path):
    rows = [{"question": row["question"], "relevant": row["relevant"]} for row in ROWS]
    path, _ = both(rows, "rows.jsonl", tmp_path)
    with pytest.raises(gf.errors.InputError, match="retrieved documents, found only 'relevant'"):
        gf.evaluate(path, path, "RR")


def test_numbers_beside_a_list_are_no_other_list():
    for more in ({"grades": [2]}, {"scores": [0.5]}, {}):
        with pytest.raises(
            gf.errors.InputError, match="retrieved documents, found only 'relevant'"
        ):
            gf.evaluate({"a": ["x"]}, [{"question": "a", "relevant": ["x"], **more}], "RR")
        with pytest.raises(
            gf.errors.InputError, match="relevant documents, found only 'retrieved'"
        ):
            gf.evaluate([{"question": "a", "retrieved": ["x"], **more}], {"a": ["x"]}, "RR")


@pytest.mark.parametrize("form", ["memory", "lists.json"])
def test_lists_under_their_query(form, tmp_path):
    given = {row["question"]: {key: row[key] for key in ("relevant", "retrieved")} for row in ROWS}
    if form != "memory":
        (tmp_path / form).write_text(json.dumps(given))
        given = tmp_path / form
    assert measured(given, given) == pytest.approx(VALUES)
    other = {"a": {"relevant": ["x"]}, "b": {"relevant": ["z"]}}
    with pytest.raises(
        gf.errors.InputError, match="a list of retrieved documents, found only 'rel"
    ):
        gf.evaluate({"a": ["x"]}, other, "RR")


FRAMES = {
    "pandas": pd.DataFrame,
    "arrays in pandas": lambda rows: pd.DataFrame(
        [{key: np.array(value) if isinstance(value, list) else value for key, value in row.items()} for row in rows]
    ),
    "polars": pl.DataFrame,
    "Arrow": pa.Table.from_pylist,
}  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES)
def test_lists_in_the_cells_of_frames(frame):
    given = FRAMES[frame](ROWS)
    assert measured(given, given) == pytest.approx(VALUES)
    others = FRAMES[frame](renamed(relevant="facts", retrieved="contexts"))
    columns = {"judgments.doc": "facts", "run.doc": "contexts"}
    assert measured(others, others, columns=columns) == pytest.approx(VALUES)
    with pytest.raises(
        gf.errors.InputError, match=r"Name the field of the list: columns run\.doc="
    ):
        gf.evaluate(given, others, "RR")


@pytest.mark.parametrize("frame", FRAMES)
def test_lists_of_documents_in_a_column_of_documents_are_refused(frame):
    rows = [{"query": "a", "doc": ["x", "y"], "score": [2.0, 1.0]}]
    told = r"run, column 'doc': expected one document .* explode\(\['doc', 'score'\]\)"
    with pytest.raises(gf.errors.InputError, match=told):
        gf.evaluate({"a": ["y"]}, FRAMES[frame](rows), "RR")


@pytest.mark.parametrize("frame", ["pandas", "polars", "Arrow"])
def test_lists_beside_documents_are_no_documents(frame):
    rows = [{"query": "a", "doc": doc, "score": score, "vector": [0.5, score]} for doc, score in (("x", 2.0), ("y", 1.0))]  # fmt: skip
    assert gf.evaluate({"a": ["y"]}, FRAMES[frame](rows), "RR")["RR"] == 0.5


@pytest.mark.parametrize("error", ["timeout", {"message": "timeout"}], ids=["text", "object"])
@pytest.mark.parametrize("others", [{}, {"b": {"x": 1.0}}, {"b": ["x"]}], ids=["none", "dict", "list"])  # fmt: skip
def test_an_error_in_the_place_of_documents(error, others, tmp_path):
    run = {**others, "a": {"error": error}}
    (tmp_path / "run.json").write_text(json.dumps(run))
    for given in (run, tmp_path / "run.json"):
        with pytest.raises(gf.errors.InputError, match=r"query 'a': expected documents, found an error: .*timeout.* Search again"):  # fmt: skip
            gf.evaluate({"a": ["x"], "b": ["x"]}, given, "RR")
    assert gf.evaluate({"a": ["error"]}, {"a": {"error": 1.5}}, "RR")["RR"] == 1.0  # an id


@pytest.mark.parametrize("name", ["retrieved", "retrieved_ids", "ranking"])
def test_records_that_name_themselves_a_run_are_no_judgments(name, tmp_path):
    rows = [{"question": "a", name: ["x"]}]
    run = {"a": ["x"]}
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    for given in (rows, pd.DataFrame(rows), path):
        with pytest.raises(gf.errors.InputError, match=f"relevant documents, found only '{name}'"):
            gf.evaluate(given, run, "RR")
    assert gf.evaluate(rows, run, "RR", columns={"judgments.doc": name})["RR"] == 1.0


@pytest.mark.parametrize("name", ["relevant", "gold_ids", "positives"])
def test_records_that_name_themselves_judgments_are_no_run(name, tmp_path):
    rows = [{"question": "a", name: ["x"]}]
    judgments = {"a": ["x"]}
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    for given in (rows, pd.DataFrame(rows), path):
        with pytest.raises(gf.errors.InputError, match=f"retrieved documents, found only '{name}'"):
            gf.evaluate(judgments, given, "RR")
    assert gf.evaluate(judgments, rows, "RR", columns={"run.doc": name})["RR"] == 1.0


def test_one_record_with_a_list_of_an_unknown_name_is_told_to_name_it(tmp_path):
    """As several are, of which the first alone would be taken for lists of queries."""
    record = {"question": "q1", "contexts": ["d2", "d1"], "ground_truth": ["d1"]}
    line = tmp_path / "run.jsonl"
    line.write_text(json.dumps(record) + "\n")
    for given in (record, line, [record]):
        with pytest.raises(gf.errors.InputError, match=r"Name the field .*: columns run\.doc=cont"):
            gf.evaluate({"q1": ["d1"]}, given)
        names = {"run.doc": "contexts"}
        assert gf.evaluate({"q1": ["d1"]}, given, "RR", columns=names)["RR"] == 0.5
    with pytest.raises(gf.errors.InputError, match=r"columns judgments\.doc=contexts"):
        gf.evaluate(record, {"q1": ["d1"]})
