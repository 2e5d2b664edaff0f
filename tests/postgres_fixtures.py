"""The fixtures of a real PostgreSQL server, for the folders of tests that need one."""

import itertools
import os
import shutil

import pytest

from postgres_server import call, find_program, new_schema, running_postgres

ADVICE = (
    "These tests need a PostgreSQL server: install Debian's postgresql, or put initdb on the PATH"
)


def install_server():
    """Install Debian's server where there is none and that is allowed."""
    if find_program("initdb"):
        return
    if not shutil.which("apt-get"):
        pytest.fail(f"{ADVICE}; there is no apt-get here.", pytrace=False)
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    install = [*rights, "apt-get", "install", "-y", "postgresql"]
    done = call(*install)
    if done.returncode:
        call(*rights, "apt-get", "update")
        done = call(*install)
    if not find_program("initdb"):
        pytest.fail(f"{ADVICE}; `{' '.join(install)}` said: {done.stderr[-500:]}", pytrace=False)


@pytest.fixture(scope="session")
def postgres_server():
    """Start a server, and return the address of its database."""
    install_server()
    with running_postgres() as address:
        yield address


_numbers = itertools.count(1)


@pytest.fixture
def postgres_address(postgres_server):
    """Return the address of an empty place in the database."""
    return new_schema(postgres_server, f"place{next(_numbers)}")
