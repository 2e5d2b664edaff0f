"""Ids are strings: no form takes a leading zero from them, or makes numbers of them."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf
from input_forms import FORMS, as_dicts

pytestmark = pytest.mark.usefixtures("on_engine")

ALIKE = ("7", "07", "007", "7.0", "7e0", "+7", " 7", "0x7", "７")


@pytest.mark.parametrize("form", [form for form in FORMS if "." not in form.name], ids=str)
def test_ids_that_are_the_same_number(form, tmp_path):
    docs = [doc for doc in ALIKE if form.ids != "words" or doc.strip() == doc]
    rows = [(query, doc, float(place)) for query in docs for place, doc in enumerate(docs)]
    found = gf.evaluate(
        form.make(rows, "judgments", tmp_path), form.make(rows[::-1], "run", tmp_path), "CG@2"
    )
    expected = gf.evaluate(as_dicts(rows), as_dicts(rows[::-1]), "CG@2")
    assert sorted(found.queries) == sorted(docs)
    assert found.values.tobytes() == expected.values.tobytes()


def integers(kind):
    table = pa.table(
        {
            "query": pa.array([7, 7, 8], kind),
            "doc": pa.array([1, 100, 1], kind),
            "score": [1.0, 2.0, 3.0],
        }
    )
    return table, {"7": {"1": 1, "100": 2}, "8": {"1": 1, "001": 5}}


KINDS = [pa.int8(), pa.int32(), pa.int64(), pa.uint16(), pa.uint64()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_integers_are_written_in_decimal(kind, tmp_path):
    table, judgments = integers(kind)
    pq.write_table(table, tmp_path / "run.parquet")
    frames = (table, table.to_pandas(), pl.from_arrow(table), tmp_path / "run.parquet")
    for run in frames:
        scores = gf.evaluate(judgments, run, "CG")
        assert scores.per_query.to_dict() == {"7": {"CG": 3.0}, "8": {"CG": 1.0}}


def test_large_and_negative_integers():
    table = pa.table({"query": [-5, 2**63 - 1], "doc": [-(2**63), 0], "score": [1, 1]})
    judgments = {"-5": {str(-(2**63)): 1}, str(2**63 - 1): {"0": 1}}
    assert gf.evaluate(judgments, table, "CG").per_query["CG"] == [1.0, 1.0]
    huge = pl.DataFrame({"query": ["q"], "doc": [2**64 - 1], "score": [1]}, schema_overrides={"doc": pl.UInt64})  # fmt: skip
    assert gf.evaluate({"q": {str(2**64 - 1): 1}}, huge, "CG")["CG"] == 1.0


@pytest.mark.parametrize("role", ["query", "doc"])
@pytest.mark.parametrize(
    "values",
    [[1.5], [float("nan")], [True], [b"a"], [["a"]], [{"a": 1}], [pd.Timestamp("2020-01-01")]],
    ids=str,
)  # fmt: skip
def test_other_types_are_no_ids(role, values, tmp_path):
    columns = {"query": ["q"], "doc": ["d"], "score": [1.0], role: values}
    for run in (pa.table(columns), pd.DataFrame(columns)):
        with pytest.raises(
            gf.errors.InputError,
            match=r"strings \(or integers\) as ids|id, found|the id 1\.5|an id as|document in each row",
        ):
            gf.evaluate({"q": {"d": 1}}, run)


@pytest.mark.parametrize("lost", [None, float("nan"), pd.NA])
def test_missing_ids_are_errors(lost):
    for role in ("query", "doc"):
        columns = {"query": ["q", "q"], "doc": ["d", "e"], "score": [1.0, 2.0]}
        columns[role] = pd.Series([columns[role][0], lost], dtype=object)
        for measure in ("nDCG", "nDCG@1"):
            with pytest.raises(gf.errors.InputError, match=f"row 2: expected an id as {role}"):
                gf.evaluate({"q": {"d": 1}}, pd.DataFrame(columns), measure)


@pytest.mark.parametrize("place", [0, 1, 1500, 4321, 4999])
@pytest.mark.parametrize("common", ["integers", "strings"])
def test_a_frame_with_ids_of_two_types(place, common):
    """pandas allows both in a column of objects: as in dicts, each is written as it is."""
    docs = [number if common == "integers" else f"d{number}" for number in range(10, 5010)]
    docs[place] = "007" if common == "integers" else 7
    frame = pd.DataFrame(
        {
            "query": "q",
            "doc": pd.Series(docs, dtype=object),
            "score": [float(-number) for number in range(5000)],
        }
    )
    for doc in ("007", "7"):
        with pytest.warns(gf.errors.GainfulWarning) if doc != str(docs[place]) else nothing():
            scores = gf.evaluate({"q": {doc: 1}}, frame, "CG")
        assert scores["CG"] == float(doc == str(docs[place]))


class nothing:  # noqa: N801
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def parts(folder, *tables):
    folder.mkdir()
    for number, table in enumerate(tables):
        pq.write_table(pa.table(table), folder / f"{number}.parquet")
    return folder


def test_parts_whose_columns_have_other_types(tmp_path):
    """The type of the first part is not forced on the others."""
    numbers = {"query": ["q"], "doc": [7], "score": [1]}
    strings = {"query": ["q"], "doc": ["007"], "score": [1.4]}
    judgments = {"q": {"7": 1, "007": 2}}
    expected = gf.evaluate(judgments, {"q": {"7": 1.0, "007": 1.4}}, "nDCG")
    for name, both in (("a", (numbers, strings)), ("b", (strings, numbers))):
        try:
            found = gf.evaluate(judgments, parts(tmp_path / name, *both), "nDCG")
        except gf.errors.InputError as problem:
            assert "type" in str(problem)  # noqa: PT017 - to refuse is as good
        else:
            assert found.values.tobytes() == expected.values.tobytes()


def test_parts_whose_columns_stand_in_another_order(tmp_path):
    one = {"query": ["q"], "doc": ["a"], "score": [1.5]}
    other = {"score": [2.0], "doc": ["b"], "query": ["q"]}
    judgments, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 1.5, "b": 2.0}}
    expected = gf.evaluate(judgments, run, "nDCG")
    assert gf.evaluate(judgments, parts(tmp_path / "x", one, other), "nDCG").means == expected.means


@pytest.mark.parametrize("name", ["score=5", "query=5", "doc=x", "f0=1", "rank=2"])
def test_names_of_folders_are_no_columns(name, tmp_path):
    """Folders such as score=5 are a way to partition tables; ours say what they hold inside."""
    folder = tmp_path / name
    folder.mkdir()
    run = {"q": {"a": 1.0, "b": 2.0, "c": 0.5}}
    rows = {"query": ["q"] * 3, "doc": ["a", "b", "c"], "score": [1.0, 2.0, 0.5]}
    pq.write_table(pa.table(rows), folder / "run.parquet")
    (folder / "run.txt").write_text("q Q0 a 1 1.0 t\nq Q0 b 2 2.0 t\nq Q0 c 3 0.5 t\n")
    (folder / "run.csv").write_text("query,doc,score\nq,a,1\nq,b,2\nq,c,0.5\n")
    lines = [json.dumps({"query": "q", "doc": doc, "score": score}) for doc, score in run["q"].items()]  # fmt: skip
    (folder / "run.jsonl").write_text("\n".join(lines))
    judgments = {"q": {"a": 1, "b": 2, "c": 3}}
    expected = gf.evaluate(judgments, run, "nDCG").means
    given = (folder / "run.parquet", tmp_path, folder / "run.txt", folder / "run.csv", folder / "run.jsonl")  # fmt: skip
    for path in given:
        assert gf.evaluate(judgments, path, "nDCG").means == expected, path


HALF = "d\ud800"  # a lone surrogate: half of a character
GOOD = {"judgments": {"q": {"d": 1}}, "run": {"q": {"d": 2.0, "e": 1.0}}}
NUMBER = {"judgments": "grade", "run": "score"}


def with_half(side, role):
    """Return judgments or a run of which one id is no text that can be written."""
    given = GOOD[side]
    return {**given, HALF: {"d": 1}} if role == "query" else {"q": {**given["q"], HALF: 1}}


def as_dict(given, number, folder):
    return given


def as_frame(given, number, folder):
    rows = [(query, doc, value) for query, docs in given.items() for doc, value in docs.items()]
    frame = pd.DataFrame(rows, columns=["query", "doc", number], dtype=object)
    return frame.astype({number: float})


def as_mixed_frame(given, number, folder):
    return as_frame({**given, 7: {8: 1.0}}, number, folder)


def as_json(given, number, folder):
    path = folder / "nested.json"
    path.write_text(json.dumps(given))  # writes \ud800
    return path


def records_of(given, number):
    return [
        {"query": query, "doc": doc, number: value}
        for query, docs in given.items()
        for doc, value in docs.items()
    ]


def as_records(given, number, folder):
    path = folder / "records.json"
    path.write_text(json.dumps(records_of(given, number)))
    return path


def as_lines(given, number, folder):
    path = folder / "lines.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records_of(given, number)))
    return path


FORMS_OF_HALVES = (as_dict, as_frame, as_mixed_frame, as_json, as_records, as_lines)


@pytest.mark.parametrize("form", FORMS_OF_HALVES)
@pytest.mark.parametrize("role", ["query", "doc"])
@pytest.mark.parametrize("side", ["judgments", "run"])
def test_half_a_character_is_refused_in_every_form(side, role, form, tmp_path):
    given = dict(GOOD)
    given[side] = form(with_half(side, role), NUMBER[side], tmp_path)
    with pytest.raises(gf.errors.InputError, match=r"ids of whole characters.*ud800"):
        gf.explain(**given, query="q")
    sound = dict(GOOD)
    sound[side] = form(GOOD[side], NUMBER[side], tmp_path)
    if form is not as_mixed_frame:
        assert gf.explain(**sound, query="q").value == 1.0


def test_half_a_character_is_refused_wherever_ids_are_given():
    arrays = {"labels": [1, 0], "scores": [2.0, 1.0]}
    judgments, run = GOOD["judgments"], GOOD["run"]
    odd_run = with_half("run", "doc")
    for call in (
        lambda: gf.evaluate_arrays(**arrays, query=[HALF, HALF]),
        lambda: gf.evaluate_arrays(**arrays, query=np.array([HALF, HALF])),
        lambda: gf.evaluate_arrays(**arrays, query=np.array([HALF, HALF], object)),
        lambda: gf.comparison.compare_scores(
            {"a": {HALF: 1.0, "q": 2.0}, "b": {HALF: 1.0, "q": 1.0}}
        ),
        lambda: gf.subtopics.evaluate_subtopics({"q": {HALF: {"d": 1}}}, run),
        lambda: gf.evaluate(judgments, run, policy=gf.Policy(fold="max"), chunks={"d": HALF}),
        lambda: gf.judging.inferred_ndcg({HALF: {"d": (1, 1)}}, run),
        lambda: gf.pool([odd_run]),
        lambda: gf.write_run(odd_run, "never.run"),
        lambda: gf.write_judgments(with_half("judgments", "doc"), "never.qrels"),
        lambda: gf.explain(judgments, run, query=HALF),
    ):
        with pytest.raises(gf.errors.InputError, match="ids of whole characters"):
            call()


def test_characters_beyond_ascii_are_ids():
    judgments = {"é": {"日本": 1, "😀": 0}}
    assert gf.evaluate(judgments, {"é": {"日本": 2.0, "😀": 1.0}}, "nDCG@2")["nDCG@2"] == 1.0
