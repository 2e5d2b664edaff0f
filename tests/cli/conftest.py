"""The command line without a process of its own, for tables of many calls."""

import sys
import warnings
from typing import NamedTuple

import pytest

from gainful.cli.main import main


class Done(NamedTuple):
    """What a call came to."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def inside(monkeypatch, capsys):
    """Call the command line in this process."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["gainful", *map(str, arguments)])
        monkeypatch.setattr(
            sys.modules[main.__module__], "_hear_signals", lambda: None
        )  # they are the tests'
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # which main replaces
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return Done(done.value.code, out, err)

    return call
