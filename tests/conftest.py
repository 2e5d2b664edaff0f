"""Shared settings: the tests run in the environment that `make test` sets up."""

import subprocess
import sys

import pytest
from hypothesis import settings

settings.register_profile("gainful", deadline=None, print_blob=True)
settings.load_profile("gainful")


@pytest.fixture
def cli():
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
