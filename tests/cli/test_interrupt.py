"""Ctrl-C: one line, the exit code of shells, and no file left behind."""

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
        engine.sql(
            "SELECT 'q' || i AS query, 'document ' || i AS doc, 1.0 AS grade FROM range(5000) t(i)"
        ).write_parquet(str(judgments))
    return folder


def start(tables, spilled, measure):
    return subprocess.Popen(
        [
            sys.executable, "-m", "gainful", "evaluate", tables / "judgments.parquet",
            tables / "run.parquet", "-m", measure, "--memory", "200MB", "--threads", "2",
            "--temp-dir", spilled, "--duplicates", "best",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(spilled)},
    )  # fmt: skip


@pytest.mark.parametrize("measure", ["nDCG@10", "nDCG"])
def test_an_interrupt_leaves_nothing_behind(tables, tmp_path, measure):
    process = start(tables, tmp_path, measure)
    give_up = time.monotonic() + 60
    while not list(tmp_path.rglob("spilled/*")):  # it is at work, and has begun to write
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert (process.returncode, printed, said.strip()) == (130, "", "gainful: interrupted")
    assert list(tmp_path.iterdir()) == []
