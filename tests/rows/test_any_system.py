"""What not every system has is not needed: as on Windows, a process does without it."""

import subprocess
import sys

import pytest

# What is left to take away when the libraries, which have a build for each system, are loaded.
WITHOUT = """
import fcntl, os, signal, sys
import click, duckdb, numpy, rich.console, scipy.stats
for name in ("preadv", "pread", "pwrite", "pwritev", "fork", "geteuid", "getuid", "uname", "mkfifo",
             "fchmod", "fchown", "chown", "O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK"):
    delattr(os, name)
for name in ("SIGHUP", "SIGPIPE", "SIGALRM", "SIGUSR1"):
    delattr(signal, name)
for name in ("fcntl", "pwd", "grp", "resource", "termios"):
    sys.modules[name] = None
def refused(*_, **__):
    raise OSError(1314, "A required privilege is not held by the client")
os.symlink = refused
sys.platform = "win32"
"""
QRELS = "q1 0 a 3\nq1 0 b 1\nq2 0 c 1\n"
RUN = "q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.7 t\nq2 Q0 c 1 2 t\n"
RAGGED = RUN.replace(" ", "  ")
TABLE = "query,doc,score\nq1,a,0.5\nq1,b,0.7\nq2,c,2\n"


@pytest.fixture
def files(tmp_path):
    for name, text in (("qrels", QRELS), ("run", RUN), ("ragged", RAGGED), ("run.csv", TABLE)):
        (tmp_path / name).write_text(text)
    (tmp_path / "[run].csv").write_text(TABLE)  # a pattern to the engine, which is handed a link
    return tmp_path


def run_without(code, folder):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT + code],
        capture_output=True, text=True, cwd=folder, timeout=120, check=False,
    )  # fmt: skip


def test_files_are_read_and_written(files):
    code = """
import gainful as gf
for run in ("run", "ragged", "run.csv", "[run].csv"):
    for measures in (["nDCG@10"], ["AP"]):
        scores = gf.evaluate("qrels", run, measures)
        print(run, scores)
gf.write_run("run", "out.csv")
gf.write_run("run", "out.run.gz")
gf.write_run("run", "out.csv")
assert gf.evaluate("qrels", "out.csv")["nDCG@10"] == gf.evaluate("qrels", "run")["nDCG@10"]
assert gf.evaluate("qrels", "out.run.gz")["nDCG@10"] == gf.evaluate("qrels", "run")["nDCG@10"]
gf.writing.write_text("text", "out.txt")
print(len(gf.check("qrels", {"run": "run"})))
"""
    done = run_without(code, files)
    assert done.returncode == 0, done.stderr
    assert (files / "out.txt").read_text() == "text"
    assert not [*files.glob(".gainful-*")]


COMMANDS = [
    ["evaluate", "qrels", "run", "run.csv", "-f", "csv", "-o", "table.csv"],
    ["convert", "--as", "run", "run", "converted.jsonl"],
    ["trec_eval", "qrels", "run"],
]


def test_commands_run(files):
    code = f"""
import runpy
for words in {COMMANDS!r}:
    sys.argv = ["gainful", *words]
    try:
        runpy.run_module("gainful", run_name="__main__")
    except SystemExit as done:
        assert not done.code, (words, done.code)
    else:
        raise AssertionError(words)
"""
    done = run_without(code, files)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert (files / "table.csv").read_text().count("\n") == 3
    assert (files / "converted.jsonl").read_text().count("\n") == 3
    assert "ndcg" in done.stdout or "map" in done.stdout


def test_the_test_takes_calls_away(files):
    done = run_without("os.preadv", files)
    assert "has no attribute 'preadv'" in done.stderr
