"""The commands about assessors: what they write over, which table they write, and what a project's file sets."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands
from gainful.cli.main import main

ANN = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 0, "b": 1}}
BOB = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 0, "b": 1}}
OLD = {"q1": {"c": 3, "b": 2, "a": 1}, "q2": {"a": 2, "b": 1}}
NEW = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"b": 2, "a": 1}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gf.write_judgments(ANN, "ann.qrels")
    gf.write_judgments(BOB, "bob.qrels")
    gf.write_run(OLD, "old.run")
    gf.write_run(NEW, "new.run")
    return tmp_path


def called(*words, code=0):
    done = CliRunner().invoke(commands, list(words))
    assert done.exit_code == code, done.output
    return done


def test_no_input_is_written_over_where_a_pattern_names_it(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for words in (
        ["agreement", "*.qrels", "-o", "ann.qrels", "-f", "json"],
        ["merge", "*.qrels", "-o", "bob.qrels"],
        ["sample", "*.run", "--documents", "--size", "3", "-o", "old.run", "-f", "json"],
    ):
        assert "is one of the inputs" in called(*words, code=2).output
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    called("merge", "*.qrels", "-o", "merged.qrels")
    assert "is one of the inputs" in called("merge", "*.qrels", "-o", "merged.qrels", code=2).output


def test_a_design_is_not_written_over(folder):
    model = {f"q{i}": {"a": i % 3, "b": 1} for i in range(40)}
    gf.write_judgments(model, "model.qrels")
    gf.write_run({query: {"b": 2, "a": 1} for query in model}, "run.run")
    design = gf.sample_queries(model, 20)
    design.write("design.json")
    gf.write_judgments({query: model[query] for query in design.queries}, "people.qrels")
    kept = (folder / "design.json").read_bytes()
    words = ["calibrate", "people.qrels", "model.qrels", "run.run", "--design", "design.json"]
    assert "is one of the inputs" in called(*words, "-o", "design.json", code=2).output
    assert (folder / "design.json").read_bytes() == kept
    told = called(*words, "--width", "1e-9", "-f", "csv").stdout
    assert "more" in next(csv.reader(io.StringIO(told)))  # whether or not a row can reach the width
    found = gf.calibrate("people.qrels", "model.qrels", {"run": "run.run"}, design=design)
    assert any("are they really of people?" in remark for remark in found.remarks)


def test_a_cache_has_a_file_of_its_own(folder):
    (folder / "model.py").write_text("def grade(prompt):\n    return 'grade: 1'\n")
    (folder / "queries.tsv").write_text("q1\tone\nq2\ttwo\n")
    (folder / "docs.tsv").write_text("a\tx\nb\ty\nc\tz\n")
    asked = [
        "collect",
        "ann.qrels",
        "--queries",
        "queries.tsv",
        "--docs",
        "docs.tsv",
        "--call",
        "model:grade",
    ]
    for cache, output in (("z.csv", "z.csv"), ("./z.csv", "z.csv"), ("ann.qrels", "z.csv")):
        done = called(*asked, "--cache", cache, "-o", output, code=2)
        assert "needs a file of its own" in done.output
    assert not (folder / "z.csv").exists()
    (folder / "mute.py").write_text("def grade(prompt):\n    return 'hm'\n")
    asked[-1] = "mute:grade"
    assert "0 of 5 documents graded" in called(*asked, "-o", "none.csv", code=1).output


def test_each_table_can_be_written_alone(folder):
    asked = ["agreement", "ann.qrels", "bob.qrels", "--run", "old.run", "--run", "new.run"]
    found = gf.agreement(["ann.qrels", "bob.qrels"], runs={"old": "old.run", "new": "new.run"})
    for name, table in found.named_tables().items():
        rows = list(csv.reader(io.StringIO(called(*asked, "--table", name, "-f", "csv").stdout)))
        assert rows[0] == list(table.columns)
        assert len(rows) == 1 + len(table.rows)
    whole = called(*asked, "-f", "csv")
    assert "json all" in whole.stderr
    assert "verdicts" in json.loads(called(*asked, "-f", "json").stdout)["conclusions"]
    assert (
        "goes with --run"
        in called("agreement", "ann.qrels", "bob.qrels", "--table", "means", code=2).output
    )


def test_the_rule_of_a_project_is_for_others(folder, monkeypatch, capfd):
    (folder / "gainful.toml").write_text('assessors = "mean"\n')
    for words in (["agreement", "ann.qrels", "bob.qrels"], ["merge", "ann.qrels", "bob.qrels"]):
        monkeypatch.setattr("sys.argv", ["gainful", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, capfd.readouterr().err


def test_a_file_without_assessors_says_so(folder):
    done = CliRunner().invoke(commands, ["evaluate", "ann.qrels", "old.run", "--assessors", "mean"])
    assert "without assessors" in str(done.exception or done.output)


def test_an_answer_that_cannot_be_read_is_asked_again_as_often_as_said(folder):
    asked = []

    def mute(prompt):
        asked.append(prompt)
        return "hm"

    for again, calls in ((0, 1), (1, 1), (2, 2), (0, 0)):
        asked.clear()
        gf.collect_grades(
            {"q": ["a"]},
            mute,
            queries={"q": "one"},
            docs={"a": "text"},
            cache="c.jsonl",
            name="mute",
            ask_again=again,
        )
        assert len(asked) == calls, again
    asked.clear()
    gf.collect_grades({"q": ["a"]}, mute, queries={"q": "one"}, docs={"a": "text"}, ask_again=2)
    assert len(asked) == 3
