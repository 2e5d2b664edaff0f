"""Records that hold a query, what is relevant to it, and what was retrieved: each input takes its own."""

import json

import numpy as np
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


@pytest.mark.parametrize("odd", ["x", None, {"x": 1}])
def test_judgments_never_take_what_was_retrieved_where_what_is_relevant_is_no_list(odd):
    rows = [ROWS[0], {**ROWS[1], "relevant": odd}]
    with pytest.raises(
        gf.errors.InputError, match="a list of documents in the field 'relevant', found"
    ):
        gf.evaluate(rows, ROWS, "RR")


def test_a_record_without_the_field_that_is_named_is_told():
    rows = [*renamed(retrieved="contexts")[:1], ROWS[1]]
    with pytest.raises(
        gf.errors.InputError, match="record 2: expected a list in the field 'contexts'"
    ):
        gf.evaluate(ROWS, rows, "RR", columns={"run.doc": "contexts"})


def test_one_list_is_taken_as_before():
    judged = [{"question": row["question"], "docs": row["relevant"]} for row in ROWS]
    run = [{"question": row["question"], "relevant": row["retrieved"]} for row in ROWS]
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
    said = r"columns run\.doc=contexts; known are .*retrieved, .*docs, .*results"
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate(ROWS, run, "RR")
    said = r"columns judgments\.doc=contexts; known are relevant, .*docs, .*results"
    with pytest.raises(gf.errors.InputError, match=said):
        gf.evaluate(judgments, ROWS, "RR")
