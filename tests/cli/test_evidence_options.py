"""Evidence, documents and tables of chunks on the command line."""

import json

import pytest
from click.testing import CliRunner

from gainful.cli.commands import commands

TEXT = "Staff have 25 days of leave. Unused days expire in March."
GOLDEN = json.dumps({"question": "q", "evidence": ["25 days of leave"]})
SMALL = "id,document,start,end\nc1,leave.md,0,20\nc2,leave.md,20,40\n"
LARGE = "id,document,start,end\nc1,leave.md,0,57\n"


@pytest.fixture
def run(files, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "leave.md").write_text(TEXT)
    given = {
        "golden": files("golden.jsonl", GOLDEN),
        "small": files("small.run", "q Q0 c1 1 2 t\n"),
        "large": files("large.run", "q Q0 c1 1 2 t\n"),
        "small_table": files("small.csv", SMALL),
        "large_table": files("large.csv", LARGE),
        "docs": folder,
    }

    def invoke(command):
        return CliRunner().invoke(commands, command.format(**given).split())

    return invoke


def test_each_run_has_a_table_of_its_own(run):
    done = run(
        "evaluate {golden} {small} {large} --documents {docs} --offsets characters -f csv "
        "--chunk-table small={small_table} --chunk-table large={large_table} -m evidence_recall@1"
    )
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[1:] == ["small,0.5625", "large,1.0"]


def test_one_table_for_all_runs_and_an_explanation(run):
    done = run(
        "explain {golden} {small} --documents {docs} --offsets characters --query q "
        "--chunk-table {small_table} -m evidence_recall@1"
    )
    assert done.exit_code == 0, done.output
    assert "found / evidence = 9 / 16 = 0.562" in " ".join(done.stdout.split())


def test_wrong_tables_and_missing_units(run):
    wrong = run(
        "evaluate {golden} {small} --chunk-table a={small_table} --chunk-table b -m evidence_recall"
    )
    assert wrong.exit_code == 2
    assert "--chunk-table expects FILE, or RUN=FILE for each run, not 'b'" in wrong.output
    for tables in ("small={small_table} --chunk-table b={large_table}", "b={small_table}"):
        other = run(
            "evaluate {golden} {small} {large} --documents {docs} --offsets characters "
            f"--chunk-table {tables} -m evidence_recall"
        )
        assert "expected names of runs: 'small', 'large', found 'b'" in str(other.exception)
    unnamed = run(
        "evaluate {golden} {small} --documents {docs} --chunk-table {small_table} -m evidence_recall"
    )
    assert isinstance(unnamed.exception, Exception)
    assert "the unit that start and end count" in str(unnamed.exception)
