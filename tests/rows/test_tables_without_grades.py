"""Tables of clicks, purchases and other marks: rows without a grade have grade 1."""

import json

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands

CLICKS = {"user_id": ["u1", "u1", "u2"], "item_id": ["a", "b", "c"]}
JUDGMENTS = {"u1": {"a": 1, "b": 1}, "u2": {"c": 1}}
RUN = {"u1": {"x": 3, "a": 2}, "u2": {"c": 1}}
EXPECTED = gf.evaluate(JUDGMENTS, RUN, ["nDCG@10", "CG"])


def written(folder, name, columns=CLICKS):
    """Write the clicks to a file of the format that its name tells."""
    path = folder / name
    rows = [*zip(*columns.values(), strict=True)]
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pa.table(columns), path)
    elif path.suffix == ".jsonl":
        path.write_text(
            "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
        )
    elif path.suffix == ".json":
        path.write_text(json.dumps([dict(zip(columns, row, strict=True)) for row in rows]))
    else:
        mark = {".csv": ",", ".tsv": "\t"}[path.suffix]
        lines = [mark.join(columns), *(mark.join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    return path


def assert_same(found):
    assert found.means == EXPECTED.means
    assert found.signature("nDCG@10") == EXPECTED.signature("nDCG@10")


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "DuckDB": lambda columns: duckdb.from_arrow(pa.table(columns)),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_frames(frame):
    assert_same(gf.evaluate(FRAMES[frame](CLICKS), RUN, ["nDCG@10", "CG"]))
    when = {**CLICKS, "timestamp": [978300760, 978302109, 978301968]}
    assert_same(gf.evaluate(FRAMES[frame](when), RUN, ["nDCG@10", "CG"]))


@pytest.mark.parametrize("name", ["c.csv", "c.tsv", "c.jsonl", "c.json", "c.parquet"])
def test_files(tmp_path, name):
    path = written(tmp_path, name)
    assert_same(gf.evaluate(path, RUN, ["nDCG@10", "CG"]))
    asked = ["evaluate", str(path), str(written_run(tmp_path)), "-m", "CG", "-f", "tsv"]
    done = CliRunner().invoke(commands, asked, catch_exceptions=False)
    assert done.output.split("\n")[1].split("\t")[-1] == str(EXPECTED["CG"])
    assert gf.check(path, {"run": RUN}).counts["error"] == 0


def written_run(folder):
    path = folder / "run.txt"
    path.write_text(
        "".join(f"{q} Q0 {d} 1 {s} t\n" for q, docs in RUN.items() for d, s in docs.items())
    )
    return path


@pytest.mark.parametrize("name", ["c.csv", "c.jsonl", "c.json", "c.parquet"])
def test_a_column_that_may_be_the_grade_is_asked_about(tmp_path, name):
    """A number of another name is not passed over in silence."""
    bought = {**CLICKS, "bought": [1, 0, 2]}
    path = written(tmp_path, name, bought)
    with pytest.raises(
        gf.errors.InputError, match=r"a column for grade, found only .*'bought'.*grade= \(None"
    ):
        gf.evaluate(path, RUN)
    assert_same(gf.evaluate(path, RUN, ["nDCG@10", "CG"], columns={"grade": None}))
    assert_same(gf.evaluate(path, RUN, ["nDCG@10", "CG"], columns={"judgments.grade": None}))
    graded = {"u1": {"a": 1, "b": 0}, "u2": {"c": 2}}
    found = gf.evaluate(path, RUN, "CG", columns={"grade": "bought"})
    assert found["CG"] == gf.evaluate(graded, RUN, "CG")["CG"]
    asked = [
        "evaluate",
        str(path),
        str(written_run(tmp_path)),
        "--columns",
        "grade=",
        "-m",
        "CG",
        "-f",
        "tsv",
    ]
    done = CliRunner().invoke(commands, asked, catch_exceptions=False)
    assert done.output.split("\n")[1].split("\t")[-1] == str(EXPECTED["CG"])


def test_a_table_without_a_header(tmp_path):
    path = tmp_path / "clicks.csv"
    path.write_text("u1,a\nu1,b\nu2,c\n")
    columns = {"judgments.query": 1, "judgments.doc": 2, "judgments.grade": None}
    assert_same(gf.evaluate(path, RUN, ["nDCG@10", "CG"], columns=columns))


def test_rows_that_the_engine_does_not_read(tmp_path):
    """A quote in a field has the rows read one by one."""
    path = tmp_path / "clicks.csv"
    path.write_text('user_id,item_id\nu1,a\nu1,b\nu2,c\nu3,d"e\n')
    assert gf.evaluate(path, {**RUN, "u3": {'d"e': 1}}, "CG")["CG"] == pytest.approx(1.0)


def test_a_run_without_scores_is_told():
    with pytest.raises(gf.errors.InputError, match="a column for score"):
        gf.evaluate(JUDGMENTS, pd.DataFrame(CLICKS))


@pytest.mark.parametrize(
    ("ids", "texts"),
    [
        (pd.Series([1, 1, 2]), ["1", "1", "2"]),
        (pd.Series([1.0, 1.0, 2.0]), ["1", "1", "2"]),
        (pd.Series([1, 1, 2], dtype="Int64"), ["1", "1", "2"]),
        (pd.Categorical(["u1", "u1", "u2"]), ["u1", "u1", "u2"]),
        (pd.Categorical([1, 1, 2]), ["1", "1", "2"]),
        (pd.Series(["u1", "u1", "u2"], dtype="string"), ["u1", "u1", "u2"]),
    ],
    ids=["integers", "floats", "nullable", "categories", "categories of integers", "strings"],
)
def test_ids_of_every_type(ids, texts):
    judged = pd.DataFrame({"query": ids, "doc": ["a", "b", "c"], "grade": [1, 1, 1]})
    run = {texts[0]: {"x": 3, "a": 2}, texts[2]: {"c": 1}}
    found = gf.evaluate(judged, run, ["nDCG@10", "CG"])
    assert found.means == EXPECTED.means
    assert found.queries == (texts[0], texts[2])


def test_ids_that_are_fractions_are_refused():
    frame = pd.DataFrame({"query": [1.5], "doc": ["a"], "grade": [1]})
    with pytest.raises(gf.errors.InputError, match=r"the id 1\.5 in the column 'query'"):
        gf.evaluate(frame, {"1": {"a": 1}})
    large = pd.DataFrame({"query": [2.0**60], "doc": ["a"], "grade": [1]})
    with pytest.raises(gf.errors.InputError, match="ids are whole numbers"):
        gf.evaluate(large, {"1": {"a": 1}})
    missing = pd.DataFrame({"query": [1.0, None], "doc": ["a", "b"], "grade": [1, 1]})
    with pytest.raises(gf.errors.InputError, match="an id as query"):
        gf.evaluate(missing, {"1": {"a": 1}})


@pytest.mark.parametrize("form", ["e.csv", "e.jsonl", "e.json", "e.parquet", "pandas"])
def test_events_that_all_count_alike_are_told(form, tmp_path):
    events = {**CLICKS, "Event-Type": ["click", "purchase", "click"]}
    given = FRAMES[form](events) if form in FRAMES else written(tmp_path, form, events)
    told = r"each row counts as grade 1, and the column 'Event-Type' is ignored. .* grade= \(None"
    with pytest.warns(gf.errors.GainfulWarning, match=told) as seen:
        assert_same(gf.evaluate(given, RUN, ["nDCG@10", "CG"]))
    assert len(seen) == 1
    for said in ({"grade": None}, {"judgments.grade": None}):  # warnings are errors
        assert_same(gf.evaluate(given, RUN, ["nDCG@10", "CG"], columns=said))
    graded = gf.evaluate(pd.DataFrame({**events, "grade": [1, 2, 1]}), RUN, "CG")
    assert graded.means == {"CG": 1.0}


FORMS = ["e.csv", "e.jsonl", "e.json", "e.parquet", "pandas"]


@pytest.mark.parametrize(("form", "name"), [("e.csv", "action"), ("pandas", "event_name")])
def test_other_names_of_events_are_known(form, name, tmp_path):
    events = {**CLICKS, name: ["click", "purchase", "click"]}
    given = FRAMES[form](events) if form in FRAMES else written(tmp_path, form, events)
    with pytest.warns(gf.errors.GainfulWarning, match=f"the column '{name}' is ignored"):
        assert_same(gf.evaluate(given, RUN, ["nDCG@10", "CG"]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("values", [["click"] * 3, [7, 8, 9]])
def test_events_of_one_kind_and_numbers_are_not_told(form, values, tmp_path):
    events = {**CLICKS, "event": values}
    given = FRAMES[form](events) if form in FRAMES else written(tmp_path, form, events)
    assert_same(gf.evaluate(given, RUN, ["nDCG@10", "CG"]))  # warnings are errors


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["plays", "Count"])
def test_counts_beside_query_and_doc_are_told_what_to_write(form, name, tmp_path):
    counted = {**CLICKS, name: [3, 1, 2]}
    given = FRAMES[form](counted) if form in FRAMES else written(tmp_path, form, counted)
    told = r"found only .*; or name it: columns grade=…, or grade= \(None"
    with pytest.raises(gf.errors.InputError, match=told):
        gf.evaluate(given, RUN)
    assert gf.evaluate(given, RUN, "CG", columns={"grade": name})["CG"] > 1
    assert_same(gf.evaluate(given, RUN, ["nDCG@10", "CG"], columns={"grade": None}))


def test_a_column_that_stands_twice_is_told_of_the_input_that_has_it():
    twice = pd.DataFrame([["q1", "a", "a", 1]], columns=["query", "doc", "doc", "grade"])
    run = {"q1": {"a": 0.5}}
    said = "expected each column once, found 'doc' again. Rename one."
    for where, call in {
        "judgments": lambda: gf.evaluate(twice, run),
        "run": lambda: gf.evaluate(run, twice),
        "run 'b'": lambda: gf.compare({"q1": {"a": 1}}, {"a": run, "b": twice}),
    }.items():
        with pytest.raises(gf.errors.InputError) as caught:
            call()
        assert str(caught.value) == f"{where}: {said}"
