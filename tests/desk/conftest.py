"""A real PostgreSQL server for the tests of studies, started in a folder of its own."""

import itertools
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

ADVICE = "The tests of the desk need a PostgreSQL server: install Debian's postgresql, or put initdb on the PATH"


def call(*command, **options):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=400, check=False, **options
    )


def find_program(name):
    found = shutil.which(name) or max(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), default=None
    )
    return found and str(found)


def installed_program(name):
    """Return a program of the server; install Debian's where that is allowed."""
    if found := find_program(name):
        return found
    if not shutil.which("apt-get"):
        pytest.fail(f"{ADVICE}; there is no apt-get here.", pytrace=False)
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    install = [*rights, "apt-get", "install", "-y", "postgresql"]
    done = call(*install)
    if done.returncode:
        call(*rights, "apt-get", "update")
        done = call(*install)
    found = find_program(name)
    if not found:
        pytest.fail(f"{ADVICE}; `{' '.join(install)}` said: {done.stderr[-500:]}", pytrace=False)
    return found


@pytest.fixture(scope="session")
def postgres_server():
    """Start a server, and return the address of its database."""
    initdb, postgres = installed_program("initdb"), installed_program("postgres")
    # The server refuses to run as root.
    owner = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    data = folder / "data"
    if owner:
        shutil.chown(folder, **owner)
    options = {**owner, "cwd": folder}
    made = call(
        initdb,
        "-D",
        str(data),
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-sync",
        **options,
    )
    assert made.returncode == 0, made.stderr
    # No network: a socket in the folder. Nothing outlives the tests, so nothing waits for the disk.
    command = [postgres, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options
    )
    try:
        until = time.monotonic() + 60
        while not (folder / ".s.PGSQL.5432").exists():
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.02)
        yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        server.send_signal(2)  # at once, without waiting for clients
        server.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


_numbers = itertools.count(1)


@pytest.fixture
def postgres_address(postgres_server):
    """Return the address of an empty place in the database."""
    import psycopg

    name = f"study{next(_numbers)}"
    until = time.monotonic() + 60
    while True:
        try:
            with psycopg.connect(postgres_server, autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {name}")
            break
        except psycopg.OperationalError:  # it is still starting
            assert time.monotonic() < until
            time.sleep(0.05)
    return f"{postgres_server}&options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """Return where a study can be made, in each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("postgres_address")
