"""The files that hosts of repositories, packages and containers read agree with the project."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MAKEFILE = (ROOT / "Makefile").read_text()
WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github/workflows").iterdir()
}
PYTHONS = {
    text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)
}


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_run_targets_that_exist(name):
    commands = [step["run"] for step in steps(WORKFLOWS[name]) if "run" in step]
    targets = {
        target for command in commands for target in re.findall(r"\bmake ([a-z-]+)", command)
    }
    assert targets <= {*re.findall(r"^([a-z-]+):.*##", MAKEFILE, re.MULTILINE)}
    assert WORKFLOWS[name]["permissions"] == {"contents": "read"}


def test_every_python_that_is_promised_is_tested():
    tested = set()
    for job in WORKFLOWS["test"]["jobs"].values():
        tested |= {*job.get("strategy", {}).get("matrix", {}).get("python", [])}
    assert tested == PYTHONS
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert min(PYTHONS, key=lambda version: int(version.partition(".")[2])) == oldest


def test_every_system_is_tested():
    systems = set()
    for job in WORKFLOWS["test"]["jobs"].values():
        systems |= {*job.get("strategy", {}).get("matrix", {}).get("os", [])}
    assert {name.partition("-")[0] for name in systems} == {"ubuntu", "macos", "windows"}
    assert any(name.endswith("-arm") for name in systems)


def test_only_releases_publish_and_store_no_token():
    for name, workflow in WORKFLOWS.items():
        text = json.dumps(workflow)
        assert "secrets." not in text
        assert ("pypi-publish" in text) == ("npm publish" in text) == (name == "release")


def test_the_conda_recipe_asks_for_the_packages_of_the_project():
    text = re.sub(r"\$\{\{.*?\}\}", "x", (ROOT / "packaging/conda/recipe.yaml").read_text())
    listed = yaml.safe_load(text)["requirements"]["run"]
    recipe = {
        name.replace("python-duckdb", "duckdb"): bound for name, bound in map(str.split, listed)
    }
    assert recipe.pop("python") == PROJECT["requires-python"]
    bounds = (re.match(r"([\w.-]+)(>=[\d.]+)", text).groups() for text in PROJECT["dependencies"])
    assert recipe == dict(bounds)


def test_the_container_runs_as_a_user_without_rights():
    lines = (ROOT / "packaging/Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER gainful"]
    assert 'ENTRYPOINT ["gainful"]' in lines


def test_addresses_are_of_one_repository():
    assert PROJECT["urls"]["Homepage"] in (ROOT / "CITATION.cff").read_text()
    package = json.loads((ROOT / "packaging/npm/package.json").read_text())
    assert PROJECT["urls"]["Homepage"] in package["repository"]["url"]
