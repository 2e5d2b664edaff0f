"""Which column is which: usual names, given names, numbers, and what is said of wrong ones."""

import re

import pandas as pd
import pytest

import gainful as gf
from gainful.rows.run_and_judgment_columns import ALIASES

JUDGMENTS, RUN = {"q": {"a": 1, "b": 2}}, {"q": {"a": 1.0, "b": 0.5}}
VALUE = gf.evaluate(JUDGMENTS, RUN, "nDCG").means


def frame(query="query", doc="doc", number="score"):
    return pd.DataFrame({query: ["q", "q"], doc: ["a", "b"], number: [1.0, 0.5]})


@pytest.mark.parametrize("role", ["query", "doc", "score"])
def test_every_alias_of_a_run(role, tmp_path):
    names = {*ALIASES[role], *(alias.upper().replace("_", "-") for alias in ALIASES[role])}
    part = "number" if role == "score" else role
    frames = {name: frame(**{part: name}) for name in sorted(names)}
    for name, found in gf.evaluate_runs(JUDGMENTS, frames, "nDCG").items():
        assert found.means == VALUE, name
    frames[name].to_csv(tmp_path / "run.csv", index=False)
    assert gf.evaluate(JUDGMENTS, tmp_path / "run.csv", "nDCG").means == VALUE


def test_every_alias_of_judgments():
    for alias in ALIASES["grade"]:
        given = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], alias: [1, 2]})
        assert gf.evaluate(given, RUN, "nDCG").means == VALUE, alias


def test_an_id_goes_before_a_text():
    given = (
        frame().rename(columns={"query": "query_id"}).assign(query="what was asked", rank=[2, 1])
    )
    assert gf.evaluate(JUDGMENTS, given, "nDCG").means == VALUE


def test_given_names_go_before_the_usual():
    given = frame().assign(other=[0.5, 1.0], query="x", who="q")
    columns = {"query": "who", "run.score": "other"}
    expected = gf.evaluate(JUDGMENTS, {"q": {"a": 0.5, "b": 1.0}}, "nDCG").means
    assert gf.evaluate(JUDGMENTS, given, "nDCG", columns=columns).means == expected


def test_names_of_one_side(tmp_path):
    judged = pd.DataFrame({"user": ["q", "q"], "thing": ["a", "b"], "stars": [1, 2], "item": "x"})
    columns = {"judgments.query": "user", "judgments.doc": "thing", "grade": "stars"}
    columns |= {"run.query": "Q", "run.doc": "D", "run.score": "S"}
    run = frame("Q", "D", "S")
    assert gf.evaluate(judged, run, "nDCG", columns=columns).means == VALUE
    judged.to_csv(tmp_path / "judged.csv", index=False)
    run.to_csv(tmp_path / "run.tsv", index=False, sep="\t")
    paths = tmp_path / "judged.csv", tmp_path / "run.tsv"
    assert gf.evaluate(*paths, "nDCG", columns=columns).means == VALUE


def test_names_on_the_command_line(cli, tmp_path):
    frame("Q", "D", "S").to_csv(tmp_path / "run.csv", index=False)
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 2\n")
    call = ["evaluate", tmp_path / "qrels", tmp_path / "run.csv", "-m", "nDCG", "-f", "csv"]
    done = cli(*call, "--columns", "run.query=Q", "--columns", "run.doc=D", "--columns", "score=S")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[1].split(",")[1]) == VALUE["nDCG"]
    done = cli(*call, "--columns", "run.query")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--columns expects ROLE=NAME" in done.stderr
    done = cli(*call, "--columns", "qeury=Q")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'query'" in done.stderr


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_columns_by_number_where_there_is_no_header(delimiter, tmp_path):
    path = tmp_path / ("run.tsv" if delimiter == "\t" else "run.csv")
    path.write_text(f"1.0{delimiter}a{delimiter}q\n0.5{delimiter}b{delimiter}q\n")
    for three, two, one in (("3", "2", "1"), (3, 2, 1)):
        columns = {"run.query": three, "run.doc": two, "run.score": one}
        assert gf.evaluate(JUDGMENTS, path, "nDCG", columns=columns).means == VALUE
    with pytest.raises(gf.errors.InputError, match="by their numbers from 1"):
        gf.evaluate(JUDGMENTS, path, "nDCG")
    with pytest.raises(gf.errors.InputError, match=r"run\.[ct]sv"):
        gf.evaluate(JUDGMENTS, path, "nDCG", columns={"query": 3, "doc": 2, "score": 4})


@pytest.mark.parametrize(
    "first",
    ['q,"a\nb",2,x', 'q,a,2,"x\ny"', 'q,a,2,"x\n,,\n"', '"q",a,2,"\r\n"'],
)
def test_a_first_row_over_several_lines_where_columns_have_numbers(first, tmp_path):
    """The number of columns is that of the row, not of its first line."""
    path = tmp_path / "run.csv"
    path.write_bytes(f"{first}\nq,c,1,x\n".encode())
    judgments = {"q": {"a": 1, "a\nb": 1, "c": 3}}
    columns = {"run.query": "1", "run.doc": "2", "run.score": "3"}
    scores = gf.evaluate(judgments, path, "CG@1", columns=columns)
    assert (scores["CG@1"], scores.coverage.retrieved) == (1.0, 2)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"qeury": "x"}, "columns: expected a key, found 'qeury'. Did you mean 'query'?"),
        ({"run.scores": "x"}, "Did you mean 'run.score'?"),
        ({"run.grade": "x"}, "columns: expected a key, found 'run.grade'"),
        ({"score": "scroe"}, "the column 'scroe' for score"),
        ({"score": "scroe"}, "Did you mean 'score'?"),
        ({"query": "doc"}, "three columns"),
        ({"query": None}, "columns, query: expected the name of a column"),
        ({"query": True}, "columns, query: expected the name of a column"),
        (["query"], "columns: expected a dict"),
        ("query=user", "columns: expected a dict"),
    ],
)
def test_wrong_names(columns, said):
    with pytest.raises(gf.errors.InputError, match=re.escape(said)):
        gf.evaluate(JUDGMENTS, frame(), columns=columns)


@pytest.mark.parametrize("role", ["query", "doc", "number"])
def test_a_column_that_is_not_there(role, tmp_path):
    given = frame(**{role: "unheard"})
    given.to_parquet(tmp_path / "run.parquet")
    given.to_json(tmp_path / "run.jsonl", orient="records", lines=True)
    given.to_json(tmp_path / "run.json", orient="records")
    given.to_csv(tmp_path / "run.csv", index=False)
    said = f"a column for {'score' if role == 'number' else role}, found only"
    for run in (given, *(tmp_path / f"run.{end}" for end in ("parquet", "jsonl", "json", "csv"))):
        with pytest.raises(gf.errors.InputError, match=said) as caught:
            gf.evaluate(JUDGMENTS, run)
        assert "unheard" in str(caught.value)


def test_names_that_differ_in_case_only():
    """Never the wrong one: the one asked for, or an error."""
    given = frame(number="Score").assign(score=[0.5, 1.0])
    for name, scores in (("Score", {"a": 1.0, "b": 0.5}), ("score", {"a": 0.5, "b": 1.0})):
        expected = gf.evaluate(JUDGMENTS, {"q": scores}, "nDCG").means
        try:
            found = gf.evaluate(JUDGMENTS, given, "nDCG", columns={"run.score": name}).means
        except gf.errors.InputError:
            continue
        assert found == expected, name


def test_a_name_twice_is_no_guess(tmp_path):
    given = pd.DataFrame([["q", "a", 1.0, 0.5], ["q", "b", 0.5, 1.0]], columns=["query", "doc", "score", "score"])  # fmt: skip
    with pytest.raises(gf.errors.InputError, match="score"):
        gf.evaluate(JUDGMENTS, given, "nDCG")
    given.to_csv(tmp_path / "run.csv", index=False)
    with pytest.raises(gf.errors.InputError, match="score"):
        gf.evaluate(JUDGMENTS, tmp_path / "run.csv", "nDCG")


@pytest.mark.parametrize("cell", ["1_000", "+-1", "high", "", "0x1"])
def test_text_that_is_no_number_in_a_frame(cell, tmp_path):
    given = frame().assign(score=["1.5", cell])
    given.to_parquet(tmp_path / "run.parquet")
    told = re.escape(f"found '{cell}' as score of query q, document b")
    for run in (given, tmp_path / "run.parquet"):
        with pytest.raises(gf.errors.InputError, match=told):
            gf.evaluate(JUDGMENTS, run)


def test_text_that_is_a_number_in_a_frame():
    for cells in (["1.5", " 5e-1 "], ["+2", "-1"]):
        assert gf.evaluate(JUDGMENTS, frame().assign(score=cells), "nDCG").means == VALUE


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("query doc score\n", "run.csv:1: expected column names.*Write commas or tabs between the column names"),
        ("# exported today\nquery,doc,score\n", "names are in line 2: remove line 1"),
        ("Export, by me\r\nquery;doc;score\r\n", "names are in line 2: remove line 1"),
        ("<!DOCTYPE html>\n<html>\n", "This is a web page.*: download the file itself"),
    ],
)  # fmt: skip
def test_names_that_are_not_where_they_should_be(files, head, told):
    run = files("run.csv", head + "q,d,1\n")
    with pytest.raises(gf.errors.InputError, match=told):
        gf.evaluate({"q": {"d": 1}}, str(run))
