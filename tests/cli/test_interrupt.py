"""Ctrl-C and SIGTERM: one line, the exit code of shells, and no file left behind."""

import os
import signal
import subprocess
import sys
import time

import duckdb
import pytest

ROWS = 3_000_000


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A run so large that its evaluation takes seconds and spills to disk."""
    folder = tmp_path_factory.mktemp("large")
    with duckdb.connect() as engine:
        run, judgments = folder / "run.parquet", folder / "judgments.parquet"
        engine.sql(
            "SELECT 'q' || (i % 5000) AS query, 'document ' || i AS doc, "
            "(hash(i) % 1000003) / 7.0 AS score FROM range($rows) t(i)",
            params={"rows": ROWS},
        ).write_parquet(str(run))
        engine.sql(f"FROM '{run}' LIMIT {ROWS // 4}").write_parquet(str(folder / "part.parquet"))
        engine.sql(
            "SELECT 'q' || i AS query, 'document ' || i AS doc, 1.0 AS grade FROM range(5000) t(i)"
        ).write_parquet(str(judgments))
    return folder


SIGNALS = {
    signal.SIGINT: (130, "gainful: interrupted"),
    signal.SIGTERM: (143, "gainful: terminated"),
}


@pytest.fixture(autouse=True)
def _interruptible():
    """Let Ctrl-C reach the commands: what a shell starts in the background has it ignored, and hands that on."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def stopped(command, number, folder, at_work):
    """Call a command, send it a signal once it is at work, and return what it came to."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gainful", *command, "--memory", "200MB", "--threads", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    give_up = time.monotonic() + 60
    while not at_work():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.01)
    process.send_signal(number)
    printed, said = process.communicate(timeout=60)
    assert printed == ""
    return process.returncode, said.strip()


@pytest.mark.parametrize(
    ("measure", "number"), [("nDCG@10", signal.SIGINT), ("nDCG", signal.SIGTERM)]
)
def test_a_signal_leaves_nothing_behind(tables, tmp_path, measure, number):
    command = [
        "evaluate", tables / "judgments.parquet", tables / "run.parquet", "-m", measure,
        "--temp-dir", tmp_path, "--duplicates", "best",
    ]  # fmt: skip
    at_work = lambda: list(tmp_path.rglob("spilled/*"))  # noqa: E731
    assert stopped(command, number, tmp_path, at_work) == SIGNALS[number]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "number"), [("run.parquet", signal.SIGTERM), ("run.csv.gz", signal.SIGINT)]
)
def test_the_old_file_stays_where_a_signal_stops_the_new_one(tables, tmp_path, name, number):
    target, folder = tmp_path / name, tmp_path / "folder"
    target.write_text("old")
    folder.mkdir()
    command = ["convert", tables / "part.parquet", target, "--as", "run"]
    at_work = lambda: list(tmp_path.glob(".gainful-*"))  # noqa: E731
    assert stopped(command, number, folder, at_work) == SIGNALS[number]
    assert {path.name for path in tmp_path.rglob("*")} == {name, "folder"}
    assert target.read_text() == "old"
