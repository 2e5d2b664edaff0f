"""Ids are strings: no form takes a leading zero from them, or makes numbers of them."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf
from input_forms import FORMS, as_dicts

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
    [[1.0], [1.5], [float("nan")], [True], [b"a"], [["a"]], [{"a": 1}], [pd.Timestamp("2020-01-01")]],
    ids=str,
)  # fmt: skip
def test_other_types_are_no_ids(role, values, tmp_path):
    columns = {"query": ["q"], "doc": ["d"], "score": [1.0], role: values}
    for run in (pa.table(columns), pd.DataFrame(columns)):
        with pytest.raises(gf.InputError, match=r"strings \(or integers\) as ids|id, found"):
            gf.evaluate({"q": {"d": 1}}, run)


@pytest.mark.parametrize("lost", [None, float("nan"), pd.NA])
def test_missing_ids_are_errors(lost):
    for role in ("query", "doc"):
        columns = {"query": ["q", "q"], "doc": ["d", "e"], "score": [1.0, 2.0]}
        columns[role] = pd.Series([columns[role][0], lost], dtype=object)
        for measure in ("nDCG", "nDCG@1"):
            with pytest.raises(gf.InputError, match=f"row 2: expected an id as {role}"):
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
        with pytest.warns(gf.GainfulWarning) if doc != str(docs[place]) else nothing():
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
        except gf.InputError as problem:
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
