"""`gainful leaderboard`, as a user calls it."""

import csv
import io
import json
from pathlib import Path

import pytest

import gainful as gf

COOKING = Path(__file__).parents[2] / "examples" / "cooking"
JUDGMENTS = str(COOKING / "judgments.qrels")
RUNS = {name: str(COOKING / f"{name}.run") for name in ("keyword", "semantic", "hybrid")}
FEW = ("--resamples", "200")


def test_the_table_is_that_of_python(cli):
    done = cli("leaderboard", JUDGMENTS, *RUNS.values(), *FEW)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = gf.leaderboard(JUDGMENTS, RUNS, resamples=200)
    assert done.stdout == f"{gf.writing.render(wanted, width=80)}\n"
    assert "hybrid" in done.stdout.splitlines()[2]


@pytest.mark.parametrize("format_", ["json", "csv", "markdown", "latex", "html", "tsv", "jsonl"])
def test_formats(cli, format_):
    done = cli("leaderboard", JUDGMENTS, *RUNS.values(), "-m", "AP", *FEW, "-f", format_)
    assert done.returncode == 0
    wanted = gf.leaderboard(JUDGMENTS, RUNS, "AP", resamples=200)
    assert done.stdout == f"{gf.writing.render(wanted, format_)}\n"
    # What has no room for notes tells them beside it.
    assert ("share a letter" in done.stderr) == (format_ in ("csv", "tsv", "jsonl"))


def test_json_has_all_of_it(cli):
    done = cli("leaderboard", JUDGMENTS, *RUNS.values(), *FEW, "-f", "json", "--level", "0.9",
               "--correction", "holm", "--seed", "4", "--dialect", "trec_eval-9")  # fmt: skip
    document = json.loads(done.stdout)
    assert document["level"] == 0.9
    assert document["correction"] == "holm"
    assert document["seed"] == 4
    assert document["dialect"] == "trec_eval-9"
    assert len(document["p"]) == 3


@pytest.mark.parametrize("asked", [("-m", "nDCG@5,10 AP"), ("-m", "nDCG@5,10", "-m", "AP")])
def test_several_measures_have_a_leaderboard_each(cli, asked):
    names = ["nDCG@5", "nDCG@10", "AP"]
    boards = [gf.leaderboard(JUDGMENTS, RUNS, name, resamples=200) for name in names]
    words = ("leaderboard", JUDGMENTS, *RUNS.values(), *asked, *FEW)
    done = cli(*words)
    assert (done.returncode, done.stderr) == (0, "")
    tables = [gf.writing.render(board, width=80) for board in boards]
    assert done.stdout == "\n\n".join(tables) + "\n"
    assert json.loads(cli(*words, "-f", "json").stdout) == [board.to_dict() for board in boards]
    rows = [*csv.DictReader(io.StringIO(cli(*words, "-f", "csv").stdout))]
    assert [(row["measure"], row["run"], float(row["value"])) for row in rows] == [
        (board.measure, place.run, place.value) for board in boards for place in board.places
    ]
    formula = cli("leaderboard", JUDGMENTS, *RUNS.values(), "-m", "0.5*nDCG@10 + 0.5*RR", *FEW)
    assert formula.stdout.count("best rank") == 1


def test_a_table_of_tasks(cli, tmp_path):
    board = tmp_path / "board.csv"
    rows = [f"t{n},{n / 10},{n / 10 + 0.2},{n / 10 + 0.2 + (n % 2) / 50}" for n in range(9)]
    board.write_text("task,small,large,larger\n" + "\n".join(rows) + "\n")
    output = tmp_path / "out.csv"
    done = cli("leaderboard", "--scores", board, "-m", "nDCG@10", "-o", output)
    assert done.returncode == 0, done.stderr
    found = list(csv.DictReader(io.StringIO(output.read_text())))
    assert [(row["run"], row["letters"]) for row in found] == [
        ("larger", "a"), ("large", "a"), ("small", "b"),
    ]  # fmt: skip
    assert "nDCG@10" in found[0]


def test_tables_of_runs(cli, tmp_path):
    for name, more in (("one", 0.0), ("two", 0.3)):
        rows = "".join(f"q{n},{n / 10 + more},1\n" for n in range(7))
        (tmp_path / f"{name}.csv").write_text(f"query,AP,clicks\n{rows}")
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    done = cli("leaderboard", "--scores", *files, "-m", "AP", "-f", "csv")
    assert [line.split(",")[1] for line in done.stdout.splitlines()] == ["run", "two", "one"]
    done = cli("leaderboard", "--scores", *files)
    assert done.returncode == 2
    assert "measure: expected one measure to rank by, found AP, clicks" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([JUDGMENTS, RUNS["hybrid"]], "Expected JUDGMENTS RUN RUN"),
        ([RUNS["hybrid"], "--judgments", JUDGMENTS], "Expected RUN RUN"),
        ([JUDGMENTS, RUNS["hybrid"], "-", "-m", "AP P@1"], "cannot be read from standard input"),
        (["--scores", JUDGMENTS, "--ties", "best"], "--ties cannot be combined with --scores"),
        ([JUDGMENTS, *RUNS.values(), "-m", "nDCGG"], "Did you mean"),
        ([JUDGMENTS, *RUNS.values(), "-o", JUDGMENTS], "judgments.qrels"),
    ],
)
def test_refusals(cli, arguments, told):
    done = cli("leaderboard", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
