"""Programs in examples/, run in this process, which has imported already what they import."""

import contextlib
import io
import runpy
import sys
from pathlib import Path
from unittest import mock

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_here(example, *arguments):
    """Return the code that a program ends with, and what it prints."""
    out = io.StringIO()
    with (
        mock.patch.object(sys, "argv", [example, *arguments]),
        mock.patch.object(
            sys, "path", [str((EXAMPLES / example).parent), *sys.path]
        ),  # Python looks there first
        contextlib.redirect_stdout(out),
    ):
        try:
            runpy.run_path(str(EXAMPLES / example), run_name="__main__")
        except SystemExit as done:
            return done.code, out.getvalue()
    return 0, out.getvalue()
