"""Shared settings: the tests run in the environment that `make test` sets up."""

import io
import subprocess
import sys
import warnings
from typing import NamedTuple

import pytest
from hypothesis import settings

settings.register_profile("gainful", deadline=None, print_blob=True)
settings.load_profile("gainful")


class Done(NamedTuple):
    """What a call of the command line came to."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def cli(monkeypatch, capsys):
    """Call the command line in this process, which saves the start of another."""
    from gainful.cli.main import main

    def call(*arguments, stdin=""):
        given = io.BytesIO(stdin if isinstance(stdin, bytes) else stdin.encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(given))
        monkeypatch.setattr(sys, "argv", ["gainful", *map(str, arguments)])
        monkeypatch.setattr(
            sys.modules[main.__module__], "_hear_signals", lambda: None
        )  # they are the tests'
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # which main replaces
        capsys.readouterr()
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(done.value.code, out, err)

    return call


@pytest.fixture
def process():
    """Call the command line in a process of its own, as a user does."""

    def call(*arguments, stdin=None):
        return subprocess.run(
            [sys.executable, "-m", "gainful", *map(str, arguments)],
            capture_output=True,
            text=True,
            input=stdin,
            check=False,
            timeout=60,
        )

    return call


@pytest.fixture
def files(tmp_path):
    """Write files for a test, from text or bytes, and return their paths."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
