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


@pytest.fixture
def files(tmp_path):
    """Write files for a test, from text or bytes, and return their paths."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
