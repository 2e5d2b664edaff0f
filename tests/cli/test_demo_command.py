"""`gainful demo`: its files are clean, every tool's dialect can read them, and what it suggests to type works."""

import itertools
import re
import runpy
import shlex
from pathlib import Path

import pytest

import gainful as gf

ROOT = Path(__file__).parents[2]
FILES = ROOT / "src" / "gainful" / "cli" / "demo_files"
JUDGMENTS = str(FILES / "judgments.csv")
RUNS = {name: str(FILES / f"{name}.csv") for name in ("keyword", "semantic", "hybrid")}
# The one tool that takes no graded judgments: whatever is in its file counts as relevant.
UNGRADED = {"recommenders"}
DIALECTS = [each.name for each in gf.measures.dialects() if each.name not in UNGRADED]


def measure_of(name):
    return "nDCG@10" if gf.measures.dialect(name).has_ndcg else "AP"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "gainful-demo"


def test_the_files_are_what_the_script_makes(tmp_path):
    runpy.run_path(str(ROOT / "examples" / "demo" / "make.py"))["write"](tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in FILES.iterdir()}


def test_the_files_are_clean():
    found = gf.check(JUDGMENTS, RUNS)
    assert [each.rule for each in found if each.severity != "note"] == []
    for scores in gf.evaluate_runs(JUDGMENTS, RUNS, "nDCG@10").values():
        coverage = scores.coverage
        assert not any((coverage.missing, coverage.empty, coverage.extra))
        assert (coverage.unjudged, coverage.tied) == (0, 0)


def test_one_run_is_better_and_one_is_inconclusive():
    found = gf.compare(JUDGMENTS, RUNS, "nDCG@10", baseline="keyword")
    semantic, hybrid = found.verdicts
    assert "inconclusive" in semantic
    assert "hybrid is better than keyword" in hybrid


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_reads_the_files(name):
    for run in RUNS.values():
        (value,) = gf.evaluate(JUDGMENTS, run, measure_of(name), dialect=name).means.values()
        assert 0 < value < 1


def test_why_explains_the_difference_between_any_two_tools():
    # Each with the next one, and all with gainful; all pairs would take long and say no more.
    neighbours = [*itertools.pairwise(DIALECTS), (DIALECTS[-1], DIALECTS[0])]
    for pair in [*neighbours, *(("gainful", name) for name in DIALECTS)]:
        measure = "AP" if "ragas" in pair else "nDCG@10"
        gf.why(JUDGMENTS, RUNS["hybrid"], measure, dialects=pair)


def test_it_evaluates_compares_and_suggests_commands_that_work(cli, folder, monkeypatch):
    done = cli("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in folder.iterdir()} == {path.name for path in FILES.iterdir()}
    called = re.findall(r"^\$ gainful (.+)$", done.stdout, re.MULTILINE)
    assert [line.split()[0] for line in called] == ["evaluate", "compare"]
    monkeypatch.chdir(folder)
    for line in called:
        assert cli(*shlex.split(line)).stdout in done.stdout
    suggested = re.findall(r"^  gainful (.+)$", done.stdout, re.MULTILINE)
    assert [line.split()[0] for line in suggested] == ["explain", "report", "why"]
    for line in suggested:
        assert cli(*shlex.split(line)).returncode == 0
    assert Path("report.html").stat().st_size > 0


def test_it_can_be_repeated_and_overwrites_nothing(cli, folder):
    assert cli("demo").returncode == 0
    (folder / "notes.txt").write_text("mine")
    assert cli("demo").returncode == 0
    (folder / "keyword.csv").write_text("mine")
    done = cli("demo")
    assert done.returncode == 2
    assert "keyword.csv" in done.stderr
    assert (folder / "keyword.csv").read_text() == "mine"
    assert cli("demo", "my folder").returncode == 0
    assert "cd 'my folder'" in cli("demo", "my folder").stdout


def test_a_refused_folder_is_left_as_it_is(cli, folder):
    folder.mkdir()
    (folder / "semantic.csv").write_text("mine")
    assert cli("demo").returncode == 2
    assert [path.name for path in folder.iterdir()] == ["semantic.csv"]


def test_settings_of_a_project_do_not_change_it(cli, folder, tmp_path):
    (tmp_path / "gainful.toml").write_text('judgments = "none.csv"\nmeasures = ["AP"]\n')
    done = cli("demo")
    assert done.returncode == 0
    assert "nDCG@10" in done.stdout
