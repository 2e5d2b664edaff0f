"""gainful on Spark beside Spark's own MLlib, and a large file through Spark and through DuckDB.

    python benchmarks/spark.py                        # 10 M rows beside MLlib
    python benchmarks/spark.py --large 100000000      # one file, both engines, 4 GB each
    python benchmarks/spark.py --skew 10000000        # one query with so many documents
    python benchmarks/spark.py --cores 16             # any of them with so many cores

It prints a Markdown table. MLlib measures lists, so what it is given is grouped first, from
the same rows; its numbers are those of binary grades. The time on the cores is that of Java and
all Python together, in the turn that took least of it; other work on the machine changes it little.
"""

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

import data
import gainful as gf
from timing import Result, run_process, take_turns

DEPTH = 10


def session(memory: str, cores: int):
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", memory)
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def binary_files(folder: Path, rows: int) -> tuple[str, str]:
    """Write 1,000 documents a query, and relevant ones, half of them retrieved; ids are whole numbers."""
    run, judgments = folder / "run.parquet", folder / "judgments.parquet"
    duckdb.execute(
        "COPY (SELECT i // 1000 AS query_id, i % 1000 AS doc_id, "
        "CAST((hash(i * 31 + 7) % 1000000007) / 1000003.0 AS DOUBLE) AS score "
        f"FROM range({rows}) t(i)) TO '{run}' (FORMAT parquet)"
    )
    duckdb.execute(
        "COPY (SELECT i // 1000 AS query_id, i % 1000 + 1000 * (i % 2) AS doc_id, 1 AS relevance "
        f"FROM range(0, {rows}, 33) t(i)) TO '{judgments}' (FORMAT parquet)"
    )
    return str(judgments), str(run)


def beside_mllib(rows: int, turns: int, only: str, cores: int) -> list["Turns"]:
    """Measure nDCG@10 from the same rows; the numbers must be the same."""
    from pyspark.ml.evaluation import RankingEvaluator
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions as sql

    spark = session("4g", cores)
    with tempfile.TemporaryDirectory() as folder:
        judgments, run = map(spark.read.parquet, binary_files(Path(folder), rows))

        def lists(kind: str):
            by_score = sql.sort_array(sql.collect_list(sql.struct("score", "doc_id")), asc=False)
            found = run.groupBy("query_id").agg(by_score["doc_id"].alias("found"))
            known = judgments.groupBy("query_id").agg(sql.collect_list("doc_id").alias("known"))
            both = known.join(found, "query_id")
            return both.select(
                *(sql.col(name).cast(f"array<{kind}>") for name in ("found", "known"))
            )

        def metrics():
            pairs = lists("bigint").rdd.map(lambda row: (row[0], row[1]))
            return RankingMetrics(pairs).ndcgAt(DEPTH)

        def evaluator():
            measuring = RankingEvaluator(
                predictionCol="found", labelCol="known", metricName="ndcgAtK", k=DEPTH
            )
            return measuring.evaluate(lists("double"))

        def ours():
            return gf.evaluate(judgments, run, f"nDCG@{DEPTH}")[f"nDCG@{DEPTH}"]

        results = []
        peers = (
            ("mllib RankingMetrics.ndcgAt", metrics, "≥ 2×"),
            ("ml RankingEvaluator, which takes no ids but numbers", evaluator, "≥ 1.5×"),
        )
        for name, theirs, goal in peers:
            if only not in name:
                continue
            found = theirs(), ours()
            assert abs(found[0] - found[1]) < 1e-9, found
            on_the_cores = Processor(theirs), Processor(ours)
            times = take_turns(*on_the_cores, turns=turns, ours_each=1)
            work = f"Spark local[{cores}], {rows:,} rows in Parquet, nDCG@{DEPTH}"
            result = Result(work, f"Spark {name}", *times, goal=goal)
            results.append(Turns(result, *(each.least for each in on_the_cores)))
    spark.stop()
    return results


def skewed(rows: int, cores: int) -> list[Result]:
    """One query with very many documents, whole and cut, on Spark and in DuckDB."""
    spark = session("4g", cores)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.parquet")
        duckdb.execute(
            "COPY (SELECT 'q' AS query, 'doc ' || i AS doc, "
            f"CAST(hash(i) % 1000000007 AS DOUBLE) AS score FROM range({rows}) t(i)) TO '{path}'"
        )
        judgments = {"q": {f"doc {number}": number % 4 for number in range(0, rows, rows // 1000)}}
        results = []
        for measure in (f"nDCG@{DEPTH}", "nDCG"):
            means, times = [], []
            for run in (path, spark.read.parquet(str(path))):
                start = time.perf_counter()
                means.append(gf.evaluate(judgments, run, measure)[measure])
                times.append(time.perf_counter() - start)
            assert abs(means[0] - means[1]) < 1e-12, means
            work = f"one query, {rows:,} documents, {measure}"
            results.append(Result(work, "gainful on DuckDB", *times, goal="finishes"))
    spark.stop()
    return results


def large(rows: int, measures: list[str], engines: list[str], cores: int) -> None:
    """Evaluate one large file through the engines, each a process within 4 GB."""
    print(
        "| work | engine | cores | seconds | on the cores | most memory, all processes |\n"
        "|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        judgments, run = data.parquet_files(Path(folder), rows)
        for measure in measures:
            means = []
            for engine in engines:
                command = [
                    sys.executable, "-m", "gainful", "evaluate", str(judgments), str(run), "-m", measure,
                    "--format", "json", "--memory", "4GB", "--threads", str(cores), "--engine", engine,
                ]  # fmt: skip
                with Resident() as resident:
                    done = run_process(command)
                means.append(json.loads(done.output)["runs"][0]["means"][measure])
                print(
                    f"| {rows:,} rows, {measure} | {engine} | {cores} | {done.seconds:.1f} "
                    f"| {resident.processor:.1f} | {resident.most / 1e9:.1f} GB |",
                    flush=True,
                )
            assert max(means) - min(means) < 1e-12, means


@dataclass(frozen=True)
class Turns:
    """A result, with the seconds of all cores together that each took in a turn."""

    result: Result
    theirs: float
    ours: float


class Processor:
    """Call a function, and keep the least time that this process and its descendants took for it."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self.least = float("inf")

    def __call__(self) -> object:
        before = self._seconds()
        found = self._call()
        after = self._seconds()
        # A process that has ended has taken nothing more.
        taken = sum(max(0.0, after[each] - before.get(each, 0.0)) for each in after)
        self.least = min(self.least, taken)
        return found

    def _seconds(self) -> dict[int, float]:
        mine = (os.getpid(), *_descendants(os.getpid()))
        return {each: _on_the_cores(each, ended=False) for each in mine}


class Resident:
    """The most memory that all descendants of this process have had together, seen ten times a second.

    So is the time that they have taken on all cores together, `processor`, in seconds.
    """

    def __enter__(self):
        self.most = 0
        self.processor = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()

    def _look(self):
        while not self._done.wait(0.1):
            found = _descendants(os.getpid())
            self.most = max(self.most, sum(map(_resident, found)))
            self.processor = max(self.processor, sum(map(_on_the_cores, found)))


def _descendants(parent: int) -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            parents[int(entry.name)] = int(stat[1])
    found, front = [], [parent]
    while front:
        front = [child for child, of in parents.items() if of in front]
        found += front
    return found


def _resident(process: int) -> int:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _on_the_cores(process: int, *, ended: bool = True) -> float:
    """Return the seconds that a process took on all cores, with its children that have ended or without."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, stat[11 : 15 if ended else 13])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="beside MLlib")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--peer", default="", help="only the one whose name has this in it")
    parser.add_argument("--skew", type=int, help="documents of the one query")
    parser.add_argument("--large", type=int, help="rows of a file for the engines")
    parser.add_argument("--measures", nargs="+", default=[f"nDCG@{DEPTH}", "nDCG"])
    parser.add_argument("--engines", nargs="+", default=["duckdb", "spark"])
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    if options.large:
        large(options.large, options.measures, options.engines, options.cores)
        return
    if options.skew:
        print("| work | peer | peer's time | gainful on Spark | goal |\n|---|---|---|---|---|")
        for each in skewed(options.skew, options.cores):
            print(
                f"| {each.work} | {each.peer} | {each.theirs:.2f} s | {each.ours:.2f} s | {each.goal} |"
            )
        return
    print(
        "| work | peer | peer's time | gainful on Spark | ratio | on the cores | ratio | goal |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for turn in beside_mllib(options.rows, options.turns, options.peer, options.cores):
        each = turn.result
        print(
            f"| {each.work} | {each.peer} | {each.theirs:.2f} s | {each.ours:.2f} s | {each.ratio:.1f}× "
            f"| {turn.theirs:.1f} and {turn.ours:.1f} s | {turn.theirs / turn.ours:.1f}× | {each.goal} |"
        )


if __name__ == "__main__":
    main()
