"""How long a report takes after the evaluation itself, and how large it is.

python benchmarks/report.py [QUERIES [RUNS [DOCUMENTS]]]
"""

import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import gainful as gf

MEASURES = ["nDCG@10", "P@10", "AP"]
JUDGED, CORPUS = 60, 100_000


def files(folder: Path, queries: int, runs: int, documents: int):
    """Write judgments and runs as TREC files: 60 judged documents a query, most of them retrieved."""
    rng = random.Random(7)  # noqa: S311 - the same data each time
    judgments, lists = {}, {f"run{number}": {} for number in range(runs)}
    for number in range(queries):
        pool = rng.sample(range(CORPUS), JUDGED + 2 * documents)
        grades = rng.choices([0, 0, 0, 1, 1, 2, 3], k=JUDGED)
        judgments[f"q{number}"] = {f"doc-{d:06d}": g for d, g in zip(pool, grades, strict=False)}
        for run in lists.values():
            known = rng.sample(pool[:JUDGED], min(JUDGED, documents) * 2 // 3)
            others = rng.sample(pool[JUDGED:], documents - len(known))
            scores = {doc: rng.gauss(1.2, 1) for doc in known} | {
                doc: rng.gauss(0, 1) for doc in others
            }
            run[f"q{number}"] = {f"doc-{doc:06d}": score for doc, score in scores.items()}
    gf.write_judgments(judgments, folder / "judgments.qrels")
    for name, run in lists.items():
        gf.write_run(run, folder / f"{name}.run")
    return folder / "judgments.qrels", {name: folder / f"{name}.run" for name in lists}


class Watch:
    """The seconds on the clock and of the processor, from one moment to the next."""

    def __init__(self):
        self._before = self._now()

    @staticmethod
    def _now():
        used = resource.getrusage(resource.RUSAGE_SELF)
        return time.perf_counter(), used.ru_utime + used.ru_stime

    def lap(self, what: str) -> None:
        """Print what took place since the last time."""
        before, self._before = self._before, self._now()
        clock, processor = (now - then for now, then in zip(self._before, before, strict=True))
        print(f"{what:<26} {clock:6.2f} s  ({processor:.2f} s of processor)")


def main() -> None:
    """Time a report by its parts: the comparison that it begins with, its data, the writing."""
    queries, runs, documents = [*map(int, sys.argv[1:]), *(1_000, 10, 100)[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as folder:
        judgments, lists = files(Path(folder), queries, runs, documents)
        print(f"{runs} runs × {queries:,} queries × {documents} documents, {', '.join(MEASURES)}")
        print(
            f"load {', '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} cores"
        )
        watch, seen = Watch(), set()

        def progress(_: float, name: str) -> None:
            if name == "coverage" and name not in seen:  # what follows the comparison
                watch.lap("evaluation and comparison")
            seen.add(name)

        report = gf.report(judgments, lists, MEASURES, progress=progress)
        watch.lap("data of the report")
        target = Path(folder) / "report.html"
        report.write(target)
        watch.lap("writing")
        print(f"{target.stat().st_size / 1e6:.2f} MB, {report!r}")


if __name__ == "__main__":
    main()
