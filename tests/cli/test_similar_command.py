"""`gainful similar`, as a user calls it."""

import csv
import io
import json
from pathlib import Path

import pytest

import gainful as gf

COOKING = Path(__file__).parents[2] / "examples" / "cooking"
JUDGMENTS, *RUNS = (
    str(COOKING / name) for name in ("judgments.qrels", "keyword.run", "hybrid.run", "semantic.run")
)


def test_two_runs_are_a_table_and_more_are_matrices(cli):
    done = cli("similar", *RUNS[:2], "--by", "rbo,tau-ap", "--p", "0.8", "--depth", 10)
    found = gf.statistics.similar(RUNS[:2], ["rbo", "tau_ap"], p=0.8, depth=10)
    assert (done.returncode, done.stdout) == (0, f"{found}\n")
    done = cli("similar", *RUNS)
    assert (done.returncode, done.stdout) == (0, f"{gf.statistics.similar(RUNS)}\n")


def test_all_options_reach_the_function(cli):
    options = ("--tied", "w", "--kind", "most", "--level", "0.9", "--by", "rbo,promoted")
    done = cli("similar", f"old={RUNS[0]}", f"new={RUNS[1]}", *options, "-f", "csv")
    rows = [*csv.DictReader(io.StringIO(done.stdout))]
    found = gf.statistics.similar(
        {"old": RUNS[0], "new": RUNS[1]}, ["rbo", "promoted"], ties="w", kind="most", level=0.9
    )
    assert [(row["by"], row["first"], float(row["value"]), float(row["low"])) for row in rows] == [
        (pair.by, pair.first, pair.value, pair.low) for pair in found.pairs
    ]


def test_measures_are_compared_with_judgments(cli, tmp_path):
    target = tmp_path / "measures.json"
    done = cli(
        "similar", *RUNS, "--judgments", JUDGMENTS, "-m", "nDCG@10 AP", "-m", "P@5", "-o", target,
        "--missing", "skip",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = gf.statistics.similar_measures(
        JUDGMENTS, RUNS, ["nDCG@10", "AP", "P@5"], policy={"missing": "skip"}
    )
    assert json.loads(target.read_text())["pairs"] == found.to_dict()["pairs"]


def test_a_project_changes_nothing_between_runs(cli, tmp_path, monkeypatch):
    settings = f'judgments = "{JUDGMENTS}"\nmeasures = ["nDCG@10"]\n[policy]\nmissing = "skip"\n'
    (tmp_path / "gainful.toml").write_text(settings)
    expected = cli("similar", *RUNS)
    monkeypatch.chdir(tmp_path)
    done = cli("similar", *RUNS)
    assert (done.returncode, done.stdout) == (0, expected.stdout)
    assert cli("similar", *RUNS, "--missing", "zero").returncode == 2
    assert cli("similar", *RUNS, "-m", "AP RR").returncode == 0  # with the project's judgments


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((RUNS[0],), "Expected at least two RUNs"),
        ((*RUNS, "--by", "tua"), "tau"),
        ((*RUNS, "-m", "AP RR"), "--measure requires --judgments"),
        ((*RUNS, "--judgments", JUDGMENTS), "--judgments requires --measure"),
        ((*RUNS, "--missing", "skip"), "requires --measure"),
        ((*RUNS, "--judgments", JUDGMENTS, "-m", "AP RR", "--p", "0.5"), "cannot be combined"),
        ((*RUNS, "--tied", "c"), "--tied"),
    ],
)
def test_bad_calls(cli, arguments, said):
    done = cli("similar", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
