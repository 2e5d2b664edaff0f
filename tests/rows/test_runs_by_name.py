"""Several runs, each by its name: a dict, a list of paths, a folder, a pattern."""

import polars as pl
import pytest

import gainful as gf

JUDGMENTS = "q1 0 a 2\nq1 0 b 1\nq2 0 c 1\nq2 0 d 0\n"
RUNS = {
    "bm25": "q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\nq2 Q0 d 1 7 t\nq2 Q0 c 2 6 t\n",
    "dense": "q1 Q0 b 1 0.9 t\nq1 Q0 a 2 0.8 t\nq2 Q0 c 1 0.7 t\nq2 Q0 d 2 0.6 t\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two runs and, beside it, their judgments; the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(JUDGMENTS)
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, text in RUNS.items():
        (runs / f"{name}.run").write_text(text)
    return runs


def parquet(path, text):
    path.parent.mkdir(exist_ok=True)
    rows = [line.split() for line in text.splitlines()]
    columns = {"query": [r[0] for r in rows], "doc": [r[2] for r in rows]}
    pl.DataFrame({**columns, "score": [float(r[4]) for r in rows]}).write_parquet(path)


NAMED = {"bm25": "runs/bm25.run", "dense": "runs/dense.run"}
FORMS = {
    "dict": lambda folder: NAMED,
    "folder": lambda folder: "runs",
    "folder with a slash": lambda folder: "runs/",
    "path of a folder": lambda folder: folder,
    "pattern": lambda folder: "runs/*.run",
    "list": lambda folder: ["runs/bm25.run", folder / "dense.run"],
    "tuple": lambda folder: ("runs/bm25.run", "runs/dense.run"),
    "generator": lambda folder: iter(sorted(folder.glob("*.run"))),
    "list of folders and patterns": lambda folder: ["runs/b*", "runs"],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_runs_under_the_same_names(form, folder):
    expected = {"bm25": 0.5, "dense": 0.0}  # grade 2 first in one of two queries, and in none
    found = gf.evaluate_runs("qrels.txt", FORMS[form](folder), "P(rel=2)@1")
    assert {name: scores["P(rel=2)@1"] for name, scores in found.items()} == expected


CALLS = {
    "evaluate_runs": lambda runs: list(gf.evaluate_runs("qrels.txt", runs)),
    "compare": lambda runs: list(gf.compare("qrels.txt", runs).paired.systems),
    "report": lambda runs: list(gf.report("qrels.txt", runs).comparison.paired.systems),
    "bounds_of_runs": lambda runs: list(
        gf.judging.bounds_of_runs("qrels.txt", runs, grades=(0, 2)).runs
    ),
    "pool": lambda runs: list(gf.pool(runs).names),
    "next_to_judge": lambda runs: list(gf.judging.next_to_judge("qrels.txt", runs).names),
    "pool_bias": lambda runs: sorted(row.run for row in gf.judging.pool_bias("qrels.txt", runs)),
    "check": lambda runs: list(gf.check("qrels.txt", runs).inputs)[1:],
}


@pytest.mark.parametrize("call", CALLS)
def test_every_function_takes_them(call, folder):
    for runs in ("runs", "runs/*.run", ["runs/bm25.run", "runs/dense.run"]):
        assert CALLS[call](runs) == ["bm25", "dense"]


def test_tables_of_scores_are_named_alike(folder, tmp_path):
    (tmp_path / "old.csv").write_text("query,nDCG@10\nq1,0.5\nq2,0.25\nq3,0.5\n")
    (tmp_path / "new.csv").write_text("query,nDCG@10\nq1,0.75\nq2,0.5\nq3,0.5\n")
    found = gf.comparison.compare_scores(["old.csv", "new.csv"])
    assert found.baseline == "old"
    assert found["new", "nDCG@10"].difference == pytest.approx(0.5 / 3)


def test_equal_stems_take_more_of_the_path(folder, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "bm25.run").write_text(RUNS["dense"])
    (folder / "bm25.txt").write_text(RUNS["dense"])
    assert list(gf.inputs.find_runs("runs")) == ["bm25.run", "bm25.txt", "dense.run"]
    both = gf.inputs.find_runs(["runs/bm25.run", "other/bm25.run"])
    assert list(both) == ["runs/bm25.run", "other/bm25.run"]


def test_what_is_hidden_and_the_judgments_are_no_runs(folder, tmp_path):
    for name in ("_SUCCESS", ".bm25.run.crc", "_old.run"):
        (folder / name).write_text("no run\n")
    (folder / "qrels.txt").write_text(JUDGMENTS)
    (folder / "older").mkdir()
    assert gf.inputs.find_runs("runs", judgments="runs/qrels.txt") == NAMED
    assert gf.inputs.find_runs("runs/*un") == NAMED
    assert list(gf.inputs.find_runs("runs/_*.run")) == ["_old"]  # which is asked for


def test_a_file_that_is_named_comes_first_and_once(folder):
    assert list(gf.inputs.find_runs(["runs/dense.run", "runs"])) == ["dense", "bm25"]
    assert gf.compare("qrels.txt", ["runs/dense.run", "runs"]).baseline == "dense"


def test_parquet_parts_are_one_run(folder, tmp_path):
    whole = RUNS["bm25"].splitlines(keepends=True)
    parquet(tmp_path / "parts" / "0.parquet", "".join(whole[:2]))
    parquet(tmp_path / "parts" / "1.parquet", "".join(whole[2:]))
    for runs in ("parts", "parts/*.parquet", ["parts"]):
        (scores,) = gf.evaluate_runs("qrels.txt", runs, "P(rel=2)@1").values()
        assert scores["P(rel=2)@1"] == 0.5
    assert list(gf.inputs.find_runs(["parts", "runs/dense.run"])) == ["parts", "dense"]
    (tmp_path / "parts" / "notes.txt").write_text("who made it\n")
    with pytest.warns(
        gf.errors.GainfulWarning, match=r"one run in Parquet files, without notes\.txt"
    ):
        assert list(gf.inputs.find_runs("parts")) == ["parts"]


def test_parts_in_folders_of_their_own_are_one_run(folder, tmp_path):
    (tmp_path / "table").mkdir()
    parquet(tmp_path / "table" / "day=1" / "0.parquet", RUNS["bm25"])
    assert gf.inputs.find_runs("table") == {"table": "table"}


def test_a_pattern_of_folders_is_a_run_for_each(folder, tmp_path):
    (tmp_path / "out").mkdir()
    for name, text in RUNS.items():
        parquet(tmp_path / "out" / name / "0.parquet", text)
    found = gf.evaluate_runs("qrels.txt", "out/*", "P(rel=2)@1")
    assert {name: each["P(rel=2)@1"] for name, each in found.items()} == {"bm25": 0.5, "dense": 0.0}


def test_spark_has_every_folder_as_one_run(folder):
    assert gf.inputs.find_runs("runs", engine=gf.Spark()) == {"runs": "runs"}


def test_a_file_whose_name_looks_like_a_pattern(folder):
    (folder / "a[1].run").write_text(RUNS["bm25"])
    assert gf.inputs.find_runs("runs/a[1].run") == {"a[1]": "runs/a[1].run"}


def test_a_saved_baseline_among_the_files(folder, tmp_path):
    gf.comparison.save_baseline(gf.evaluate("qrels.txt", "runs/bm25.run"), folder / "base.json")
    found = gf.compare("qrels.txt", "runs")
    assert (found.baseline, found.paired.systems) == ("base", ("base", "bm25", "dense"))
    assert found["bm25", "nDCG@10"].difference == 0


REFUSED = {
    "an empty folder": (
        "empty",
        "empty: expected a folder with runs, found a folder without files",
    ),
    "no match": ("runs/*.txt", "expected files that match the pattern, found none"),
    "no file": ("runs/bm52.run", "bm52.run: expected a file, found none of that name"),
    "lists of one run": (
        {"q1": ["a", "b"], "q2": []},
        "found one run {query: [doc, …]}. Give it a name: {'mine': run}.",
    ),
    "dicts": (
        [{"q1": {"a": 1}}],
        "Only files have names of their own: pass a dict, {'one': run, 'two': run}.",
    ),
    "a frame": (pl.DataFrame({"query": ["q1"]}), "expected a dict {name: run}, or the paths"),
    "a set": ({"runs/bm25.run"}, "expected a dict {name: run}, or the paths"),
    "none": ([], "at least 1 run, found 0"),
    "no name": ({}, "at least 1 run, found 0"),
    "twice": (["runs/bm25.run", "runs/bm25.run"], "each run once, found 'runs/bm25.run' twice"),
    "one run": ({"q1": {"a": 1.0}}, "Give it a name: {'mine': run}."),
    "a number": (3, "expected a dict {name: run}, or the paths"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "_SUCCESS").touch()
    given, told = REFUSED[case]
    with pytest.raises(gf.errors.InputError) as refused:
        gf.evaluate_runs("qrels.txt", given)
    assert told in str(refused.value)


def test_a_folder_of_judgments_alone(folder, tmp_path):
    (tmp_path / "judged").mkdir()
    (tmp_path / "judged" / "q.txt").write_text(JUDGMENTS)
    with pytest.raises(gf.errors.InputError, match="expected runs, found only the judgments"):
        gf.evaluate_runs("judged/q.txt", "judged")


def test_runs_in_memory_are_numbered_where_they_are_pooled():
    runs = [{"q1": {"a": 2, "b": 1}}, {"q1": {"c": 1}}]
    assert gf.pool(runs).names == ("1", "2")


@pytest.mark.parametrize("given", [["runs"], ["runs/"], ["runs/*.run"], ["runs/bm25.run", "runs"]])
def test_the_command_line_takes_them(given, folder, cli):
    plain = cli("evaluate", "qrels.txt", *NAMED.values())
    assert plain.returncode == 0
    done = cli("evaluate", "qrels.txt", *given)
    assert done.stdout == plain.stdout
    for command in ("compare", "check"):
        named = cli(command, "qrels.txt", *NAMED.values())
        assert cli(command, "qrels.txt", *given).stdout == named.stdout
    assert cli("pool", *given).stdout == cli("pool", *NAMED.values()).stdout


def test_the_command_line_looks_before_the_work(folder, cli):
    done = cli("evaluate", "qrels.txt", "runs", "-o", "runs/bm25.run")
    assert (done.returncode, "is one of the inputs" in done.stderr) == (2, True)
    done = cli("evaluate", "qrels.txt", "runs", "--save-baseline", "base.json")
    assert "saves the scores of exactly one RUN" in done.stderr
    done = cli("compare", "qrels.txt", "none/*.run")
    assert (done.returncode, "files that match the pattern" in done.stderr) == (2, True)
