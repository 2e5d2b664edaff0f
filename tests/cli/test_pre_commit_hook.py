"""The hook for pre-commit: its entry, called with the arguments of a user's file."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
(CONFIG,) = [
    yaml.safe_load(block)
    for block in re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs" / "guides" / "ci.md").read_text(), re.DOTALL | re.MULTILINE)
    if block.startswith("repos:")
]  # fmt: skip
JUDGMENTS = "q1 0 a 1\nq2 0 a 1\n"


@pytest.fixture
def hook(cli):
    """Call the entry as pre-commit does: its words, then `args`, and no names of files."""
    assert not HOOK["pass_filenames"]
    program, *words = shlex.split(HOOK["entry"])
    assert program == "gainful"
    return lambda *args: cli(*words, *args)


def test_the_example_on_the_page(hook, monkeypatch):
    ((asked,),) = [repo["hooks"] for repo in CONFIG["repos"]]
    assert asked["id"] == HOOK["id"]
    monkeypatch.chdir(ROOT)
    done = hook(*asked["args"])
    assert done.returncode == 0
    assert "0 errors, 3 warnings" in done.stdout
    assert hook(*asked["args"], "--strict").returncode == 1


def test_what_is_wrong_stops_a_commit(hook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("judgments.qrels").write_text(JUDGMENTS)
    Path("bm25.run").write_text("q1 Q0 a 1 0.5 tag\nq1 Q0 a 2 0.4 tag\n")
    done = hook("judgments.qrels", "bm25.run")
    assert done.returncode == 1
    assert "error:" in done.stdout
    assert hook("judgments.qrels", "gone.run").returncode == 2
    assert hook().returncode == 2


def test_a_project_names_the_judgments(hook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("judgments.qrels").write_text(JUDGMENTS)
    Path("bm25.run").write_text("q1 Q0 a 1 0.5 tag\nq2 Q0 a 1 0.4 tag\n")
    Path("gainful.toml").write_text('judgments = "judgments.qrels"\n')
    assert hook("bm25.run").returncode == 0


def test_it_runs_when_judgments_or_runs_are_committed():
    taken = ("judgments.qrels", "runs/bm25.run", "a.run.gz", "b.qrels.zst")
    assert all(re.search(HOOK["files"], name) for name in taken)
    assert not any(re.search(HOOK["files"], name) for name in ("a.py", "run", "x.running", "qrels"))
