"""Completion in a shell: what bash gets when somebody presses the tab key."""

import os
import shlex
import subprocess
import sys

import pytest

from gainful.cli.commands import commands


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """Return what bash completes after a command line, as its own completion function tells it."""
    folder = tmp_path_factory.mktemp("programs")
    program = folder / "gainful"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m gainful "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}

    def call(*lines):
        script = ['eval "$(gainful completion bash)"', "complete -p gainful"]
        for line in lines:
            words = line.split(" ")
            listed = " ".join(map(shlex.quote, words))
            script += [
                f"COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; COMPREPLY=()",
                "_gainful_completion gainful 2>&1",
                'echo "${COMPREPLY[*]}"',
            ]
        done = subprocess.run(
            ["bash", "--norc", "-c", "\n".join(script)],
            capture_output=True, text=True, env=environment, cwd=folder, check=True,
        )  # fmt: skip
        registered, *completed = done.stdout.splitlines()
        assert registered == "complete -o nosort -F _gainful_completion gainful"
        assert done.stderr == ""
        return [line.split() for line in completed]

    return call


def test_bash_completes_commands_options_and_values(complete):
    shown = complete(
        "gainful co",
        "gainful compare a b --te",
        "gainful compare a b --test wil",
        "gainful evaluate a b --ties av",
        "gainful evaluate a b -m ndc",
        "gainful evaluate a b --dialect pytrec",
        "gainful help po",
        "gainful completion z",
        "gainful measures 11p",
    )
    assert shown == [
        [name for name in commands.list_commands(None) if name.startswith("co")],
        ["--test", "--tests", "--temp-dir"],
        ["wilcoxon", "wilcoxon-continuity"],
        ["average"],
        ["nDCG", "nDCGrel"],
        ["pytrec_eval"],
        ["policy", "power", "pool"],
        ["zsh"],
        ["11pt"],
    ]


def test_bash_completes_files_itself(complete):
    for line in (
        "gainful evaluate ju",
        "gainful evaluate a b -o x",
        "gainful compare a --slices s",
    ):
        answer, _ = complete(line)
        assert "compopt:" in " ".join(
            answer
        )  # it calls `compopt -o default`, here outside a completion


def test_completion_neither_reads_settings_nor_runs_code(tmp_path, monkeypatch, process):
    (tmp_path / "own.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "gainful.toml").write_text("nonsense = [\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("_GAINFUL_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "gainful evaluate --define own:x --missing s")
    monkeypatch.setenv("COMP_CWORD", "5")
    done = process()
    assert (done.returncode, done.stdout, done.stderr) == (0, "plain,skip\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(cli, shell):
    done = cli("completion", shell)
    assert done.returncode == 0
    assert f"_GAINFUL_COMPLETE={shell}_complete" in done.stdout
    assert done.stderr == ""


def test_an_unknown_shell(cli):
    done = cli("completion", "bsh")
    assert (done.returncode, done.stdout) == (2, "")
    assert "found 'bsh'. Did you mean 'bash'? Choices: bash, zsh, fish." in done.stderr


def test_a_missing_shell_is_reported_with_all_shells():
    command = [sys.executable, "-m", "gainful", "completion"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    message = " ".join(done.stderr.split())
    assert message.endswith(
        "Choose from: bash, zsh, fish. See `python -m gainful completion --help`."
    )
