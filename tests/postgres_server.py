"""A real PostgreSQL server, started in a folder of its own."""

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path


def call(*command, **options):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=400, check=False, **options
    )


def find_program(name):
    """Return the path of a program of the server, or None."""
    found = shutil.which(name) or max(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), default=None
    )
    return found and str(found)


@contextmanager
def running_postgres(*, waits_for_disk=False):
    """Start a server, and give the address of its database.

    Args:
        waits_for_disk: whether it keeps its word after a loss of power; tests do not need that.
    """
    initdb, postgres = find_program("initdb"), find_program("postgres")
    # The server refuses to run as root.
    owner = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    data = folder / "data"
    if owner:
        shutil.chown(folder, **owner)
    options = {**owner, "cwd": folder}
    made = call(
        initdb, "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", **options
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    # No network: a socket in the folder.
    command = [postgres, "-D", data, "-k", folder, "-c", "listen_addresses="]
    if not waits_for_disk:
        command += ["-c", "fsync=off"]
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


def new_schema(address, name):
    """Make an empty place in the database, and return its address."""
    import psycopg

    until = time.monotonic() + 60
    while True:
        try:
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {name}")
            break
        except psycopg.OperationalError:  # it is still starting
            assert time.monotonic() < until
            time.sleep(0.05)
    return f"{address}&options=-csearch_path%3D{name}"
