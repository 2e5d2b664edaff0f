"""Small tables are matched in Python, and come to the same bits as on the engine."""

import random
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gainful as gf
from gainful.matching.input import TableInput
from gainful.matching.reader import reading
from gainful.measures.policy import Policy
from gainful.rows import table_source
from input_forms import FORMS
from same_matched import assert_same

FORM = {form.name: form for form in FORMS}
POLICIES = {
    "default": Policy(),
    "order": Policy(ties="order"),
    "ascending": Policy(ties="doc_ascending"),
    "average": Policy(ties="average"),
    "condense": Policy(unjudged="condense"),
    "grade for unjudged": Policy(unjudged=0.5, ties="worst"),
    "unjudged marks": Policy(negative="unjudged"),
    "drop self": Policy(drop_self="yes"),
    "single": Policy(precision="single"),
    "first": Policy(duplicates="first"),
    "best": Policy(duplicates="best"),
}
pytestmark = pytest.mark.filterwarnings("ignore:document ids")


def random_rows(seed):
    """Judgments and a run, shuffled, with ties, unjudged documents, and queries that one of them lacks."""
    rng = random.Random(seed)  # noqa: S311
    docs = [f"d{number}" for number in range(9)] + ["q1", "é", "10", "9"]
    judged = [
        (f"q{query}", doc, float(rng.choice((-2, 0, 1, 2, 3))))
        for query in range(1, 5)
        for doc in rng.sample(docs, rng.randrange(1, 7))
    ]
    returned = [
        (f"q{query}", doc, rng.choice((0.1, 0.2, 0.3, -0.0, 1e-9, 7.0)))
        for query in range(2, 6)
        for doc in rng.sample(docs, rng.randrange(1, 13))
    ]
    rng.shuffle(judged)
    rng.shuffle(returned)
    return judged, returned


def matched(judgments, run, policy, depth, **options):
    """Match, and return also whether the engine was started."""
    with reading(judgments, policy, options) as reader:
        found, _ = reader.match(run, depth)
        return found, reader.session._connection is not None


def assert_the_same_in_python(judgments, run, policy, monkeypatch):
    # Where unjudged documents are left out or graded, nobody asks for a depth.
    for depth in (None, 3) if policy.unjudged == "zero" else (None,):
        small, started = matched(judgments, run, policy, depth)
        assert not started
        with monkeypatch.context() as patch:
            patch.setattr(table_source, "MOST_ROWS", 0)
            patch.setattr(TableInput, "_clean_file", None)
            on_engine, started = matched(judgments, run, policy, depth)
        assert started
        assert_same(small, on_engine)


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_the_same_bits_as_on_the_engine(policy, tmp_path, monkeypatch):
    judged, returned = random_rows(1)
    make = FORM["pandas"].make
    judgments, run = make(judged, "judgments", tmp_path), make(returned, "run", tmp_path)
    kept = judgments.copy(), run.copy()
    assert_the_same_in_python(judgments, run, policy, monkeypatch)
    for frame, copy in zip((judgments, run), kept, strict=True):
        pd.testing.assert_frame_equal(frame, copy)


@pytest.mark.parametrize("form", ["JSON records", "pandas of objects", "polars"])
def test_in_other_forms(form, tmp_path, monkeypatch):
    judged, returned = random_rows(2)
    judgments = FORM[form].make(judged, "judgments", tmp_path)
    run = FORM[form].make(returned, "run", tmp_path)
    assert_the_same_in_python(judgments, run, Policy(), monkeypatch)


@pytest.mark.parametrize("policy", ["condense", "drop self"])
@pytest.mark.parametrize("form", ["TREC", "CSV", "JSON lines.gz"])
def test_clean_texts_under_any_policy(form, policy, tmp_path, monkeypatch):
    """Those have the rows of a query together, no −0, and JSON lines that are written alike."""
    judged, returned = (
        sorted(
            ((query, doc, number + 0.0) for query, doc, number in rows if doc.isascii()),
            key=lambda row: row[0],
        )
        for rows in random_rows(7)
    )
    judgments = FORM[form].make(judged, "judgments", tmp_path)
    run = FORM[form].make(returned, "run", tmp_path)
    assert_the_same_in_python(judgments, run, POLICIES[policy], monkeypatch)


def test_dicts_beside_frames_and_files(tmp_path, monkeypatch):
    judged, returned = random_rows(3)
    judgments = FORM["dicts"].make(judged, "judgments", tmp_path)
    run = FORM["polars"].make(returned, "run", tmp_path)
    assert_the_same_in_python(judgments, run, Policy(), monkeypatch)
    frame = FORM["pandas"].make(judged, "judgments", tmp_path)
    run = FORM["dicts"].make(returned, "run", tmp_path)
    small, started = matched(frame, run, Policy(), None)
    assert not started
    assert_same(small, matched(judgments, run, Policy(), None)[0])


@pytest.mark.parametrize(
    "ids", [[7, 12, -3], np.array([7, 12, 200], np.uint8), ["7", "12", " x y"]], ids=str
)
@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_integers_and_texts_as_ids(library, ids, monkeypatch):
    judgments = library.DataFrame({"query": ids, "doc": ids, "grade": [2, 0, 1]})
    run = library.DataFrame({"score": np.float32([0.1, 0.3, 0.2]), "query": ids, "doc": ids})
    assert_the_same_in_python(judgments, run, Policy(), monkeypatch)


ODD = {
    "nothing as score": {"score": [0.5, None, 0.25]},
    "NaN": {"score": [0.5, float("nan"), 0.25]},
    "infinity": {"score": [0.5, float("inf"), 0.25]},
    "a large integer": {"score": [1, 2**53 + 1, 3]},
    "texts as scores": {"score": ["0.5", "x", "1"]},
    "truths as scores": {"score": [True, False, True]},
    "no id": {"doc": ["a", None, "c"]},
    "an empty id": {"doc": ["a", "", "c"]},
    "a control character": {"doc": ["a", "b\x00", "c"]},
    "a line": {"doc": ["a", "b\nc", "c"]},
    "fractions as ids": {"doc": [1.0, 2.5, 3.0]},
    "a document twice": {"doc": ["a", "a", "c"]},
    "other queries": {"query": ["r", "r", "r"]},
    "other documents": {"doc": ["x", "y", "z"]},
    "lists": {"doc": [["a"], ["b"], ["c"]]},
    "no rows": {"query": [], "doc": [], "score": []},
}


def told(judgments, run):
    """What an evaluation comes to: its value, or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found = gf.evaluate(judgments, run, "nDCG").means["nDCG"]
        except gf.errors.GainfulError as problem:
            found = f"{type(problem).__name__}: {problem}"
    return found, [str(each.message) for each in warned]


@pytest.mark.filterwarnings("default:document ids")
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_what_is_odd_is_told_as_by_the_engine(library, odd, monkeypatch):
    plain = {"query": ["q", "q", "q"], "doc": ["a", "b", "c"], "score": [0.5, 0.75, 0.25]}
    judgments, run = {"q": {"a": 1, "b": 0}}, library.DataFrame(plain | odd)
    small = told(judgments, run)
    monkeypatch.setattr(table_source, "MOST_ROWS", 0)
    assert small == told(judgments, run)


@pytest.mark.parametrize(("zero", "sign"), [("-0.0", -1), ("-0", -1), ("0.00", 1)])
def test_a_zero_keeps_its_sign(tmp_path, zero, sign):
    run = tmp_path / "run.csv"
    run.write_text(f"query,doc,score\nq,a-0,1e-09\nq,b,{zero}\nq,c,-0.5\n")
    with reading({"q": {"b": 1}}, Policy()) as reader:
        documents = reader.run(str(run)).documents(Policy())
        assert np.copysign(1, documents["q"]["b"]) == sign


def test_many_rows_are_for_the_engine(monkeypatch):
    monkeypatch.setattr(table_source, "MOST_ROWS", 3)
    judgments = {"q": {"a": 1, "b": 0}}
    run = pd.DataFrame({"query": ["q"] * 4, "doc": [*"abcd"], "score": [0.4, 0.3, 0.2, 0.1]})
    assert matched(judgments, run.head(3), Policy(), None)[1] is False
    assert matched(judgments, run, Policy(), None)[1] is True


@pytest.mark.parametrize(
    ("index", "role"), [(["query"], "query"), (["doc"], "doc"), (["query", "doc"], "query")]
)
def test_ids_in_the_index_are_told(index, role):
    run = pd.DataFrame({"query": ["q"], "doc": ["a"], "score": [0.5]}).set_index(index)
    with pytest.raises(
        gf.errors.InputError, match=f"a column for {role}, found it in the index.*reset_index"
    ):
        gf.evaluate({"q": {"a": 1}}, run)
    assert gf.evaluate({"q": {"a": 1}}, run.reset_index()).means["nDCG@10"] == 1


@pytest.mark.parametrize(
    "nothing",
    [pd.DataFrame(), pl.DataFrame(), pl.DataFrame({"query": [], "doc": [], "score": []})],
    ids=["pandas", "polars", "no types"],
)
def test_nothing_at_all_is_no_run(nothing):
    with pytest.raises(gf.errors.InputError, match="at least one retrieved document, found none"):
        gf.evaluate({"q": {"a": 1}}, nothing)


def test_objects_of_polars_are_for_the_engine():
    judgments = pl.DataFrame(
        {"query": ["q"], "doc": ["a"], "grade": [1]}, schema_overrides={"query": pl.Object}
    )
    with pytest.raises(gf.errors.InputError, match="strings"):
        gf.evaluate(judgments, {"q": {"a": 1.0}})


@pytest.mark.parametrize("type_", [object, "str"])
def test_frames_that_are_views_backwards(type_, monkeypatch):
    """The engine takes no such view, and had said so in words of its own."""
    monkeypatch.setattr(table_source, "MOST_ROWS", 0)
    judgments = pd.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "grade": [2, 1]})
    run = pd.DataFrame({"query": ["q", "q"], "doc": ["b", "a"], "score": [0.9, 0.1]})
    kinds = {"query": type_, "doc": type_}
    judgments, run = judgments.astype(kinds), run.astype(kinds)
    expected = gf.evaluate(judgments, run, "nDCG")["nDCG"]
    assert gf.evaluate(judgments[::-1], run[::-1], "nDCG")["nDCG"] == expected
    assert gf.evaluate(judgments[::-2], run[::-2], "RR")["RR"] == 0
