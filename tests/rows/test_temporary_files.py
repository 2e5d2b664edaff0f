"""What is written on the way: its process's own while that lives, and removed after a crash."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import gainful as gf
from gainful.output.writing.output_files import replacing
from gainful.rows import temporary_files
from gainful.rows.duckdb_engine import Engine, Session
from gainful.rows.temporary_files import folder_beside, temporary_folder

# Makes two folders, says so, and waits to be killed.
MAKE = """
import sys
from pathlib import Path
from gainful.rows.temporary_files import folder_beside, temporary_folder
folder = temporary_folder(sys.argv[1])
(folder.path / "spilled").write_text("much")
beside = folder_beside(Path(sys.argv[1], "target"))
print(folder.path.name, beside.path.name, flush=True)
sys.stdin.read()
"""


def names_in(folder):
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def made(tmp_path):
    """Two processes that made two folders each; one of them was killed."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    alive, dead = (process.stdout.readline().decode().split() for process in processes)
    processes[1].send_signal(signal.SIGKILL)
    processes[1].wait()
    assert names_in(tmp_path) == {*alive, *dead}
    yield alive, dead
    for process in processes:
        process.communicate()


@pytest.fixture(autouse=True)
def _looked_nowhere_yet():
    temporary_files._remove_leftovers.cache_clear()


def begin_a_session(folder):
    with Session(Engine(folder=folder)) as session:
        assert session.folder.parent == folder


def begin_a_file(folder):
    with replacing(folder / "target") as file:
        assert file.parent.parent == folder


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_stays(made, tmp_path):
    alive, _ = made
    begin_a_session(tmp_path)
    assert names_in(tmp_path) == set(alive)


def left(folder, prefix="gainful-", machine=None, name="0123456789abcdef"):
    path = folder / f"{prefix}{machine or temporary_files._machine()}-{name}"
    path.mkdir()
    (path / "file").write_text("content")
    return path


def test_what_may_be_anothers_stays(tmp_path, monkeypatch):
    elsewhere = left(
        tmp_path, machine="00000000" if temporary_files._machine() != "00000000" else "1" * 8
    )
    kept = [
        elsewhere,
        left(tmp_path, name="of mine"),
        left(tmp_path, prefix="other-"),
        left(tmp_path, prefix="gainful-x"),
    ]
    link = tmp_path / f"gainful-{temporary_files._machine()}-00000000000000ff"
    link.symlink_to(elsewhere)
    removed = left(tmp_path)
    begin_a_file(tmp_path)
    kept.append(tmp_path / "target")
    assert set(tmp_path.iterdir()) == {*kept, link}
    assert (elsewhere / "file").exists()
    assert not removed.exists()
    temporary_files._remove_leftovers.cache_clear()
    anothers = left(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    begin_a_session(tmp_path)
    assert set(tmp_path.iterdir()) == {*kept, link, anothers}


def test_a_folder_is_looked_through_once_and_not_for_long(tmp_path, monkeypatch):
    begin_a_session(tmp_path)
    one = left(tmp_path)
    begin_a_session(tmp_path)
    assert one.exists()
    temporary_files._remove_leftovers.cache_clear()
    monkeypatch.setattr(temporary_files, "_MOST_LOOKED_AT", 0)
    begin_a_session(tmp_path)
    assert one.exists()


def test_what_is_taken_for_a_leftover_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock, taken = temporary_files._locked, []

    def late(path):
        if len(taken) < 2:  # another process comes between: it has the lock, or is done
            taken.append(path)
            if len(taken) == 1:
                raise BlockingIOError
            path.rmdir()
            return None
        return lock(path)

    for make in (lambda: temporary_folder(tmp_path), lambda: folder_beside(tmp_path / "x")):
        taken.clear()
        monkeypatch.setattr(temporary_files, "_locked", late)
        mine = make()
        assert mine.path.exists()
        assert mine.path not in taken
        mine.remove()


@pytest.mark.parametrize(
    "new_folder", [temporary_folder, lambda parent: folder_beside(parent / "target")]
)
def test_a_signal_between_a_folder_and_its_owner_leaves_no_folder(
    tmp_path, monkeypatch, new_folder
):
    def interrupted(path):
        assert path.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(temporary_files, "_locked", interrupted)
    with pytest.raises(KeyboardInterrupt):
        new_folder(tmp_path)
    assert names_in(tmp_path) == set()


def test_a_signal_during_the_removal_leaves_no_folder(tmp_path, monkeypatch):
    remove, calls = shutil.rmtree, []

    def interrupted(path, **options):
        calls.append(path)
        if len(calls) == 1:
            raise KeyboardInterrupt
        remove(path, **options)

    folder = temporary_folder(tmp_path)
    (folder.path / "spilled").write_text("much")
    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        folder.remove()
    assert names_in(tmp_path) == set()
    folder.remove()
    assert len(calls) == 2


def test_without_locks_nothing_is_removed_and_all_works(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary_files, "_locked", lambda _: None)
    one = left(tmp_path)
    begin_a_session(tmp_path)
    begin_a_file(tmp_path)
    assert set(tmp_path.iterdir()) == {one, tmp_path / "target"}


RUN = {"q": {f"d{doc}": doc / 3 for doc in range(20_000)}}


def test_a_full_temporary_folder_is_to_blame_and_not_what_is_read_or_written(tmp_path):
    """A limit on the size of files is as near as a test can come to a full disk."""
    run = tmp_path / "run.txt.gz"
    gf.write_run(RUN, run)
    code = f"""
import io, os, resource, signal, sys
import gainful as gf
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
ragged = "".join("q  Q0 d%d 1 %d t\\n" % (doc, doc) for doc in range(20_000)).encode()
class Input:
    buffer = io.BytesIO(ragged)
def pipe():
    os.mkfifo("pipe")
    if not os.fork():
        with open("pipe", "wb") as file:
            file.write(ragged)
        os._exit(0)
    return "pipe"
sys.stdin = Input
for given in ({str(run)!r}, "-", pipe()):
    try:
        gf.evaluate({{"q": {{"d1": 1}}}}, given)
    except gf.errors.InputError as problem:
        print(problem.where, problem.found, sep=": ")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["temporary directory: File too large"] * 3


def test_the_engine_says_the_same_of_what_it_spills(tmp_path):
    code = """
import resource, signal, sys
from gainful.errors import InputError
from gainful.rows.duckdb_engine import Engine, Session
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
with Session(Engine(memory="60MB", threads=1, folder=sys.argv[1])) as session:
    try:
        session.execute("CREATE TEMP TABLE t AS SELECT 'document ' || i || hash(i) AS d "
                        "FROM range(3_000_000) t(i) ORDER BY hash(i)")
    except InputError as problem:
        print(problem.where, problem.found, sep=": ")
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "temporary directory: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_folder_whose_name_is_no_text(tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    folder.mkdir()
    with pytest.raises(
        gf.errors.InputError, match="temporary directory: expected a path in UTF-8"
    ) as said:
        gf.write_run(RUN, tmp_path / "x.run", engine=Engine(folder=folder))
    assert str(said.value).encode()  # it can be printed
    assert list(folder.iterdir()) == []
