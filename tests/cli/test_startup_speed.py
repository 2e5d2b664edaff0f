"""What a process that measures does to start and to end sooner changes nothing that is seen."""

import gc
import os
import subprocess
import sys

import pytest

from gainful.cli import main as process
from gainful.cli.commands import import_quickly


@pytest.fixture
def files(tmp_path):
    (tmp_path / "q.qrels").write_text("q1 0 d1 1\nq1 0 d2 2\n")
    (tmp_path / "r.run").write_text("q1 Q0 d1 1 2.5 s\nq1 Q0 d2 2 0.5 s\n")
    return tmp_path


def started(files, *words, **variables):
    given = {name: text for name, text in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{words[0]}\nfrom gainful.cli.main import main\nmain()",
            *words[1:],
        ],
        cwd=files,
        env={**given, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


SAYS = """
import atexit, gc, os
atexit.register(lambda: print(os.environ.get("OPENBLAS_NUM_THREADS"), gc.isenabled(), gc.get_freeze_count() > 0))
"""


def test_evaluate_starts_quickly_and_keeps_what_the_user_set(files):
    command = ["evaluate", "q.qrels", "r.run", "-m", "nDCG@10", "-f", "csv"]
    assert started(files, SAYS, *command).stdout.split()[-3:] == ["1", "True", "True"]
    own = started(files, SAYS, *command, OPENBLAS_NUM_THREADS="2")
    assert own.stdout.split()[-3:] == ["2", "True", "True"]


def test_other_commands_keep_their_threads(files):
    done = started(files, SAYS, "compare", "q.qrels", "r.run", "r.run", "-f", "csv")
    assert done.stdout.split()[-3:] == ["None", "True", "False"]


def test_a_file_that_nobody_closes_is_written(files):
    code = """
import sys
sys.modules["own"] = own = type(sys)("own")
own.log = open("log.txt", "w")
own.log.write("seen")
"""
    assert started(files, code, "evaluate", "q.qrels", "r.run", "-m", "nDCG@10").returncode == 0
    assert (files / "log.txt").read_text() == "seen"


def test_garbage_is_looked_for_after_the_imports(monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    frozen = gc.get_freeze_count()
    try:
        import_quickly()
        assert not gc.isenabled()
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
        process.keep_imports()
        assert gc.isenabled()
        assert gc.get_freeze_count() > frozen
    finally:
        gc.enable()
        gc.unfreeze()
