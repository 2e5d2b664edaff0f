"""The version is that of the tag, and names the commit in a development tree."""

import subprocess
from pathlib import Path

import pytest

import gainful as gf
from gainful.version import NEXT, _commit, _of_tree, version_to_build


def _git(tree: Path, *arguments: str) -> str:
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    command = ["git", "-C", str(tree), *author, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with the name of this project and one commit."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "pyproject.toml").write_text('[project]\nname = "gainful"\n')
    _git(tree, "init", "-q", "-b", "main")
    _git(tree, "add", ".")
    _git(tree, "commit", "-q", "-m", "Begin")
    return tree


def test_commit_of_a_development_tree(tree: Path) -> None:
    commit = _git(tree, "rev-parse", "HEAD")
    expected = f"{NEXT}.dev0+g{commit[:8]}"
    assert _of_tree(tree) == version_to_build(tree) == expected
    _git(tree, "pack-refs", "--all")
    assert _of_tree(tree) == expected
    _git(tree, "checkout", "-q", "--detach")
    assert _of_tree(tree) == expected


def test_commit_of_a_further_work_tree(tree: Path) -> None:
    other = tree.parent / "other"
    _git(tree, "worktree", "add", "-q", "-b", "change", str(other))
    _git(other, "commit", "-q", "--allow-empty", "-m", "Change")
    commit = _git(other, "rev-parse", "HEAD")
    assert _commit(other / ".git") == commit != _commit(tree / ".git")
    _git(other, "pack-refs", "--all")
    assert _commit(other / ".git") == commit


@pytest.mark.parametrize("annotated", [False, True])
def test_release_has_the_version_of_its_tag(tree: Path, *, annotated: bool) -> None:
    _git(tree, "tag", "nightly")
    assert version_to_build(tree) == _of_tree(tree)
    _git(tree, "tag", *(["-a", "-m", "Release"] if annotated else []), "v1.2.3rc1")
    assert version_to_build(tree) == "1.2.3rc1"
    _git(tree, "commit", "-q", "--allow-empty", "-m", "Go on")
    assert version_to_build(tree).startswith(f"{NEXT}.dev0+g")


def test_building_needs_no_git(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tree))
    assert version_to_build(tree) == _of_tree(tree) != ""


def test_no_commit(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('name = "gainful"')
    assert _of_tree(tmp_path) == ""
    (tmp_path / ".git").mkdir()
    assert _of_tree(tmp_path) == ""
    assert version_to_build(tmp_path) == f"{NEXT}.dev0"
    assert _of_tree(tmp_path / "missing") == ""


def test_other_project_around_an_installation(tree: Path) -> None:
    (tree / "pyproject.toml").write_text('name = "shop"')
    assert _of_tree(tree) == ""


def test_signatures_carry_the_version() -> None:
    scores = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}})
    assert f"gainful {gf.__version__}" in scores.signature("nDCG@10")
