"""Whole processes on files: start, read, match, measure, print."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import data
from gainful.output.rendering.table_formats import Table
from timing import Process, Result, best_of

MEASURES = ("-m", "nDCG@10", "-m", "nDCG")

PYTREC_EVAL = """
import statistics, sys
import pytrec_eval
with open(sys.argv[1]) as file:
    judgments = pytrec_eval.parse_qrel(file)
with open(sys.argv[2]) as file:
    run = pytrec_eval.parse_run(file)
found = pytrec_eval.RelevanceEvaluator(judgments, {"ndcg", "ndcg_cut.10"}).evaluate(run)
for name in ("ndcg_cut_10", "ndcg"):
    print(statistics.fmean(values[name] for values in found.values()))
"""

RANX = """
import sys, warnings
warnings.simplefilter("ignore")
import ranx
judgments = ranx.Qrels.from_file(sys.argv[1], kind="trec")
run = ranx.Run.from_file(sys.argv[2], kind="trec")
found = ranx.evaluate(judgments, run, ["ndcg@10", "ndcg"])
print(found["ndcg@10"], found["ndcg"], sep="\\n")
"""

SCAN = """
import sys
import duckdb
fields = dict.fromkeys(("query", "q0", "doc", "rank", "score", "tag"), "VARCHAR") | {"score": "DOUBLE"}
lines = duckdb.read_csv(sys.argv[1], delimiter=" ", header=False, quotechar="", escapechar="", columns=fields, auto_detect=False)
print(duckdb.sql("SELECT max(query), max(doc), max(score) FROM lines").fetchall())
"""

TOP = """
import sys
import duckdb
duckdb.execute("SET memory_limit = '4GB'")
found = duckdb.sql(f'''
    SELECT query_id, rank, relevance FROM (
        SELECT query_id, unnest(docs) AS doc_id, unnest(range(1, len(docs) + 1)) AS rank FROM (
            SELECT query_id, max_by(doc_id, score, 10) AS docs FROM '{sys.argv[2]}' GROUP BY query_id
        )
    ) JOIN '{sys.argv[1]}' USING (query_id, doc_id)
''')
print(len(found.fetchnumpy()["rank"]))
"""

WINDOW = """
import sys
import duckdb
duckdb.execute("SET memory_limit = '4GB'")
found = duckdb.sql(f'''
    SELECT r.query_id, rank, relevance FROM (
        SELECT query_id, doc_id, rank() OVER (PARTITION BY query_id ORDER BY score DESC) AS rank
        FROM '{sys.argv[2]}'
    ) r JOIN '{sys.argv[1]}' USING (query_id, doc_id)
''')
print(len(found.fetchnumpy()["rank"]))
"""


# The later ones of some evaluations in one process.
AGAIN = """
import sys, time
import gainful as gf
times = []
for _ in range(3):
    start = time.perf_counter()
    found = gf.evaluate(sys.argv[1], sys.argv[2], ["nDCG@10", "nDCG"])
    times.append(time.perf_counter() - start)
print(min(times[1:]))
"""


def evaluator(files: list[str]) -> tuple[str, list[str]]:
    """Return what evaluates TREC files besides gainful, with its command."""
    binary = shutil.which("trec_eval")
    if binary:
        return "trec_eval", [binary, "-m", "ndcg_cut.10", "-m", "ndcg", *files]
    return "pytrec_eval with its parsing", [sys.executable, "-c", PYTREC_EVAL, *files]


def by_cores(queries: int, turns: int) -> Table:
    """W1 on one core, on two, on four and so on, as many as there are."""
    every = sorted(os.sched_getaffinity(0))
    counts = [1 << power for power in range(len(every).bit_length()) if 1 << power < len(every)]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        # In another process: what this one takes would count as the memory of those it starts.
        code = f"import data, pathlib; data.write_every_format(pathlib.Path({folder!r}), {queries})"
        subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, check=True)
        judgments = f"{folder}/judgments.qrels"
        peer, command = evaluator([judgments, f"{folder}/{data.FORMATS['TREC']}"])
        (theirs,) = best_of((command,), max(turns - 1, 1))
        for count in (*counts, len(every)):
            os.sched_setaffinity(0, every[:count])
            for name, file in data.FORMATS.items():
                both = [judgments, f"{folder}/{file}"]
                whole = [sys.executable, "-m", "gainful", "evaluate", *both, "-f", "csv", *MEASURES]
                again = [sys.executable, "-c", AGAIN, *both]
                cold, warm = best_of((whole, again), turns)
                check(cold, theirs)
                rows.append(
                    [
                        name,
                        str(count),
                        f"{cold.seconds:.2f} s",
                        f"{theirs.seconds / cold.seconds:.1f}×",
                        f"{float(warm.output):.2f} s",
                        f"{cold.resident / 1e6:.0f} MB",
                    ]
                )
        os.sched_setaffinity(0, every)
    columns = ["W1 file", "cores", "whole process", "ratio", "again", "memory"]
    said = f"{queries:,} queries × 1,000 documents, nDCG@10 and nDCG"
    beside = f"ratio: to {peer}, {theirs.seconds:.2f} s; again: in the same process, read anew"
    return Table(columns, rows, notes=[said, beside])


def trec(queries: int, turns: int) -> list[Result]:
    """W1: TREC files."""
    with tempfile.TemporaryDirectory() as folder:
        files = [str(path) for path in data.trec_files(Path(folder), queries, 1000)]
        ours = [sys.executable, "-m", "gainful", "evaluate", *files, "-f", "csv"]
        peer, command = evaluator(files)
        scan = [sys.executable, "-c", SCAN, files[1]]
        theirs, bare = best_of((command, scan), turns)
        # Ours differ by less than the machine's noise, so they take more turns.
        every = [sys.executable, "-m", "gainful", "trec_eval", "-c", "-m", "all_trec", *files]
        bounded = [*ours, "-m", "nDCG", "--bounds", "--grades", "0,1,2,3"]
        full, top, one, all_measures, ends = best_of(
            (
                [*ours, *MEASURES],
                [*ours, "-m", "nDCG@10"],
                [*ours, "-m", "nDCG"],
                every,
                bounded,
            ),
            3 * turns,
        )
        check(full, theirs)
        work = f"W1 TREC files, {queries:,} queries × 1,000 documents, nDCG@10 and nDCG"
        results = [
            Result(work, peer, theirs.seconds, full.seconds, "≥ 6×"),
            Result(work, "DuckDB, a bare scan", bare.seconds, full.seconds, "≥ 0.5× (≤ 2 times)"),
            Result(
                "W1 the same, nDCG@10 alone", "gainful, both", full.seconds, top.seconds, "≥ 1.5×"
            ),
            Result(
                "W1 the same, gainful trec_eval -m all_trec",
                "gainful, nDCG",
                one.seconds,
                all_measures.seconds,
                "≥ 0.33× (≤ 3 times)",
            ),
            Result(
                "W1 the same, nDCG with its bounds over grades 0 to 3",
                "gainful, nDCG",
                one.seconds,
                ends.seconds,
                "≥ 0.2× (≤ 5 times)",
            ),
        ]
        if importlib.util.find_spec("ranx"):
            results += against_ranx(files, full, work)
    return results


def against_ranx(files: list[str], full: Process, work: str) -> list[Result]:
    """ranx compiles itself at its first call, and keeps what it compiled in a folder."""
    ranx = [sys.executable, "-c", RANX, *files]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache
        (first,), (second,) = best_of((ranx,), 1), best_of((ranx,), 1)
    check(full, first)
    return [
        Result(work, "ranx, its first call", first.seconds, full.seconds, "≥ 25×"),
        Result(work, "ranx, compiled before", second.seconds, full.seconds, ""),
    ]


def check(ours: Process, theirs: Process) -> None:
    """Refuse to compare the times of tools that do not agree."""
    found = [float(value) for value in ours.output.splitlines()[1].split(",")[1:]]
    rows = [line.split() for line in theirs.output.splitlines()]
    if len(rows[0]) == 3:  # trec_eval prints names, in an order of its own, and four digits
        values = {name: float(value) for name, _, value in rows}
        expected, digits = [values["ndcg_cut_10"], values["ndcg"]], 4
    else:
        expected, digits = [float(value) for (value,) in rows], 9
    assert all(abs(a - b) < 10**-digits for a, b in zip(found, expected, strict=True)), (
        found,
        expected,
    )


def parquet(rows: int, turns: int) -> list[Result]:
    """W5: Parquet within 4 GB of memory."""
    with tempfile.TemporaryDirectory() as folder:
        files = [str(path) for path in data.parquet_files(Path(folder), rows)]
        ours = [sys.executable, "-m", "gainful", "evaluate", *files, "-f", "csv", "--memory", "4GB"]
        results = []
        for measure, what, query in (
            ("nDCG@10", "a bare top 10", TOP),
            ("nDCG", "a bare window", WINDOW),
        ):
            bare, mine = best_of(
                ([sys.executable, "-c", query, *files], [*ours, "-m", measure]), turns
            )
            work = (
                f"W5 Parquet, {rows:,} rows, 4 GB, {measure}: at most {mine.gigabytes:.1f} GB "
                f"resident, the peer {bare.gigabytes:.1f} GB"
            )
            goal = "≥ 0.77× (≤ 1.3 times)"
            results.append(Result(work, f"DuckDB, {what}", bare.seconds, mine.seconds, goal))
    return results
