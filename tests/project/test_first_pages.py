"""The README, the first page and the start: short, and true of gainful and of its peers."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import sklearn.metrics

import gainful as gf

ROOT = Path(__file__).parents[2]
README, HOME, START, COMPARED = (
    ROOT / name
    for name in ("README.md", "docs/index.md", "docs/start.md", "docs/how_it_compares.md")
)


def test_the_readme_is_a_screen_and_a_half():
    assert len(README.read_text().splitlines()) <= 75


@pytest.mark.parametrize("page", [README, COMPARED], ids=lambda page: page.name)
def test_figures_of_speed_are_those_of_the_benchmarks(page):
    measured = (ROOT / "docs" / "develop" / "benchmarks.md").read_text()
    figures = re.findall(r"\d+(?:\.\d+)?×(?: to \d+×)?", page.read_text())
    assert len(figures) >= 6
    assert [figure for figure in figures if figure not in measured] == []


def test_counts_are_those_of_the_package():
    assert f"{len(gf.measures.families())} families" in COMPARED.read_text()
    for page in (README, COMPARED):
        assert re.search(rf"\b{len(gf.measures.dialects())} (?:dialects|tools)", page.read_text())


def test_files_as_the_start_shows_them(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```csv\n(.*?)^```", START.read_text(), re.DOTALL | re.MULTILINE)
    for name, block in zip(("judgments.csv", "run.csv"), blocks, strict=True):
        (tmp_path / name).write_text(block)
    done = cli("evaluate", "judgments.csv", "run.csv", "-m", "nDCG@10", "--format", "csv")
    # (3 + 1/2) / (3 + 1/log2 3), and 1/log2 3 of the second query.
    second = 0.6309297535714575
    worked = (3.5 / (3 + second) + second) / 2
    assert float(done.stdout.split(",")[-1]) == pytest.approx(worked, abs=1e-12)


def test_lists_and_columns_as_the_start_shows_them(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```json\n(.*?)^```", START.read_text(), re.DOTALL | re.MULTILINE)
    Path("good.json").write_text(block)
    Path("run.csv").write_text("qid,product_id,position\nblue hat,p88,2\nblue hat,p9,1\n")
    assert "`qid`, `product_id`, `relevance` and `position`" in START.read_text()
    done = cli("evaluate", "good.json", "run.csv", "-m", "RR R@1", "--format", "csv")
    assert done.stdout.split()[-1] == "run,0.25,0.0"  # second of one query, and one query missing
    done = cli("evaluate", "good.json", "good.json", "-m", "nDCG@10", "--format", "csv")
    assert float(done.stdout.split(",")[-1]) == 1


def test_the_ideals_that_the_table_tells_of():
    # Judged a=1 b=2 c=0 x=3, and a list a, b, c: of x, tools of lists do not know.
    assert sklearn.metrics.ndcg_score([[1, 2, 0]], [[3, 2, 1]]) == pytest.approx(0.85971870)
    judgments, run = {"q": {"a": 1, "b": 2, "c": 0, "x": 3}}, {"q": ["a", "b", "c"]}
    told = dict(zip(*row_of(COMPARED, "", "nDCG's ideal is computed from"), strict=True))
    for name in ("pytrec_eval", "ir_measures", "ranx", "scikit-learn", "torchmetrics"):
        (value,) = gf.evaluate(judgments, run, "nDCG", dialect=name).means.values()
        wanted = {"all judged": 0.47499501, "the list": 0.85971870}[told[name]]
        assert value == pytest.approx(wanted)


def row_of(page, *names):
    """Return the rows of a page's table that begin with these names, the first time that they do."""
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in page.read_text().splitlines()
    ]
    return [
        next(row[1:] for row in rows if row and row[0] == name and len(row) > 3) for name in names
    ]


def test_the_tests_of_ranx_are_those_that_the_table_names():
    folder = Path(importlib.util.find_spec("ranx").origin).parent / "statistical_tests"
    tests = {path.stem for path in folder.glob("*_test.py")}
    assert tests == {"fisher_randomization_test", "paired_student_t_test", "tukey_hsd_test"}
    (told,) = row_of(COMPARED, "significance tests")
    assert told[4] == "t, randomisation, Tukey"


@pytest.mark.parametrize("page", [README, START], ids=lambda page: page.name)
def test_questions_with_sources_and_chunks_as_the_pages_show_them(page, tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    (row,) = [line for line in page.read_text().splitlines() if '"sources"' in line]
    shown = re.findall(r"`(.+?)`", row)
    for name, record in zip(("expected.jsonl", "chunks.jsonl"), shown, strict=False):
        (tmp_path / name).write_text(f"{record}\n")
    done = cli(*shlex.split(shown[2])[1:], "--format", "csv")
    assert done.stdout.splitlines()[1].startswith("chunks,1.0")
