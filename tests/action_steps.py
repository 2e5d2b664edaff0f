"""The action for GitHub, run as its runner does it: the shell steps of action.yml, with their variables and files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
SECRET = "planted-4711"  # noqa: S105 - that nothing may show


@pytest.fixture
def environment(tmp_path):
    """What a runner sets, with gainful and Python on the path."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, started in {"gainful": "-m gainful", "python": ""}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {started} "$@"\n')
        (programs / name).chmod(0o755)
    (tmp_path / "temp").mkdir()
    return os.environ | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "OMP_NUM_THREADS": "1",
        "SEARCH_TOKEN": SECRET,
    }


class Runner:
    """Runs steps of the action, with a file for the outputs and the summary of each."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, environment
        self.at = ROOT  # where the steps run: a checkout
        self.outputs, self.summary, self.log = {}, "", ""

    def value(self, text, inputs):
        """Return what an expression stands for."""

        def found(match):
            place, *names = re.split(r"\.", match[1].strip(), maxsplit=1)
            if place == "inputs":
                return inputs[names[0]]
            if place == "runner":
                return str(self.folder / "temp")
            step, _, name = names[0].partition(".outputs.")
            return self.outputs[step][name]

        return re.sub(r"\$\{\{(.*?)\}\}", found, text)

    def step(self, name, inputs, **more):
        """Run a step as `shell: bash` does, and return its exit code."""
        step = STEPS[name]
        files = {key: self.folder / key for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("")
        script = self.folder / "step.sh"
        script.write_text(step["run"])
        given = {key: self.value(text, inputs) for key, text in step.get("env", {}).items()}
        assert step["shell"] == "bash"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            env=self.environment | {key: str(path) for key, path in files.items()} | given | more,
            cwd=self.at,
            capture_output=True,
            text=True,
        )
        lines = files["GITHUB_OUTPUT"].read_text().splitlines()
        self.outputs[step.get("id", name)] = dict(line.split("=", 1) for line in lines)
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text()
        self.log += done.stdout + done.stderr
        return done.returncode

    def action(self, **given):
        """Run the whole action, and return the exit code of its verdict."""
        assert given.keys() <= ACTION["inputs"].keys()
        inputs = {name: each.get("default") for name, each in ACTION["inputs"].items()} | given
        assert None not in inputs.values()
        assert self.step("Compare", inputs) == 0, self.log
        self.outputs["upload"] = {"artifact-url": "https://example.org/artifacts/1"}
        assert self.step("Summary", inputs) == 0, self.log
        return self.step("Verdict", inputs)


@pytest.fixture
def runner(tmp_path, environment):
    return Runner(tmp_path, environment)
