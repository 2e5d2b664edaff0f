"""The npm package: its own tests, which include the conformance vectors, and its examples."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from node_program import program

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "packaging" / "npm"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package and of what it shares with the repository."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copytree(PACKAGE, root / "packaging" / "npm")
    shutil.copytree(ROOT / "vectors", root / "vectors")
    (root / "docs" / "playground").mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "playground" / "ndcg.js", root / "docs" / "playground")
    shutil.copy(ROOT / "LICENSE", root)
    _node(root / "packaging" / "npm", "copy.js")
    return root / "packaging" / "npm"


def _node(folder: Path, *arguments: str) -> str:
    command = [program(), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_vectors_and_own_tests(package: Path) -> None:
    assert "pass" in _node(package, "test.js")


def test_files_of_the_package_exist(package: Path) -> None:
    described = json.loads((package / "package.json").read_text())
    assert all((package / name).exists() for name in described["files"])
    assert described["exports"]["."] == {"types": "./index.d.ts", "default": "./index.js"}


def test_everything_exported_has_a_type(package: Path) -> None:
    exported = re.findall(
        r"^export (?:const|function) (\w+)", (package / "index.js").read_text(), re.M
    )
    typed = re.findall(r"^export function (\w+)", (package / "index.d.ts").read_text(), re.M)
    assert sorted(exported) == sorted(typed)


def test_values_in_the_readme(package: Path) -> None:
    text = (package / "README.md").read_text()
    examples = re.findall(r"^(n?dcg\(.*\)); *// ([\d.]+)$", text, re.M)
    assert len(examples) == 3
    calls = ", ".join(call for call, _ in examples)
    script = f'import {{ dcg, ndcg }} from "./index.js"; console.log(JSON.stringify([{calls}]))'
    (package / "examples.js").write_text(script)
    values = json.loads(_node(package, "examples.js"))
    assert [f"{value:.3f}" for value in values] == [value for _, value in examples]
