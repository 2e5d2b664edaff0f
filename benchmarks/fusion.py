"""Whole processes that fuse runs in TREC files, beside a bare scan of the same files."""

import subprocess
import sys
import tempfile
from pathlib import Path

from timing import Result, best_of

RUNS = 3
METHODS = ("rrf", "sum", "mnz", "med", "borda", "rbc")

SCAN = """
import sys
import duckdb
fields = dict.fromkeys(("query", "q0", "doc", "rank", "score", "tag"), "VARCHAR") | {"score": "DOUBLE"}
lines = duckdb.read_csv(sys.argv[1:], delimiter=" ", header=False, quotechar="", escapechar="", columns=fields, auto_detect=False)
print(*duckdb.sql("SELECT count(*), max(query), max(doc), sum(score) FROM lines").fetchall()[0])
"""

FUSE = """
import sys
import gainful as gf
print(gf.fuse(sys.argv[2:], sys.argv[1]).docs.size)
"""


def fused(rows: int, turns: int) -> list[Result]:
    """W11: several runs as one, read from TREC files, in memory and written to another."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        # In another process: what this one takes would count as the memory of those it starts.
        code = f"import data, pathlib; data.runs_to_fuse(pathlib.Path({folder!r}), {rows}, {RUNS})"
        subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, check=True)
        files = [str(path) for path in sorted(Path(folder).glob("*.run"))]
        target = f"{folder}/fused.trec"
        scan = [sys.executable, "-c", SCAN, *files]
        for method in METHODS:
            memory = [sys.executable, "-c", FUSE, method, *files]
            write = [sys.executable, "-m", "gainful", "fuse", *files, "--method", method]
            bare, kept, written = best_of((scan, memory, [*write, "-o", target]), turns)
            count = int(bare.output.split()[0])
            with Path(target).open("rb") as lines:
                assert sum(1 for _ in lines) == int(kept.output) < count
            for what, done in (
                (f"gf.fuse(…, {method!r})", kept),
                (f"gainful fuse --method {method} -o", written),
            ):
                work = (
                    f"W11 {RUNS} TREC files, {count:,} rows, {what}: {done.gigabytes:.1f} GB resident, "
                    f"{done.processor / bare.processor:.1f} times the processor time"
                )
                goal = "≥ 0.33× (≤ 3 times)"
                peer = "DuckDB, a bare scan"
                results.append(Result(work, peer, bare.seconds, done.seconds, goal))
    return results
