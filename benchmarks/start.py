"""Time the start of the command line beside the bare import of NumPy and DuckDB.

Whole processes take turns, and the medians are compared: of processor time, which other work on
the machine disturbs least, and of time on the clock.
"""

import csv
import statistics
import sys
import tempfile
from pathlib import Path

import data
from gainful.output.rendering.table_formats import Table
from timing import Process, run_process

_BARE = "import numpy, duckdb"
_GOAL = "≤ 1.3 times"
_HEADERS = {".qrels": ("query_id", "doc_id", "grade"), ".run": ("query_id", "doc_id", "score")}
_FIELDS = {".qrels": (0, 2, 3), ".run": (0, 2, 4)}  # of these columns in a TREC file


def start_up(turns: int) -> Table:
    """Time help and an evaluation of 1,000 rows, from TREC files and from CSV."""
    with tempfile.TemporaryDirectory() as folder:
        trec = data.trec_files(Path(folder), 10, 100)
        tables = [_as_csv(path) for path in trec]
        program = [sys.executable, "-m", "gainful"]
        commands = {
            f"python -c '{_BARE}'": ([sys.executable, "-c", _BARE], ""),
            "gainful --help": ([*program, "--help"], _GOAL),
            "gainful evaluate --help": ([*program, "evaluate", "--help"], _GOAL),
            "gainful evaluate, 1,000 rows, TREC": ([*program, "evaluate", *map(str, trec)], _GOAL),
            "gainful evaluate, 1,000 rows, CSV": ([*program, "evaluate", *map(str, tables)], _GOAL),
        }
        runs: dict[str, list[Process]] = {name: [] for name in commands}
        for _ in range(turns):
            for name, (command, _) in commands.items():
                runs[name].append(run_process(command))
    bare, *_ = (_medians(each) for each in runs.values())
    rows = []
    for name, (_, goal) in commands.items():
        processor, clock = _medians(runs[name])
        times = [f"{processor / bare[0]:.2f}×", f"{clock / bare[1]:.2f}×"]
        rows.append([name, f"{processor:.3f} s", times[0], f"{clock:.3f} s", times[1], goal])
    columns = ["W9 process", "processor", "of the import", "clock", "of the import", "goal"]
    return Table(columns, rows, notes=[f"Medians of {turns} turns."])


def _medians(processes: list[Process]) -> tuple[float, float]:
    return (
        statistics.median(each.processor for each in processes),
        statistics.median(each.seconds for each in processes),
    )


def _as_csv(trec: Path) -> Path:
    """Write a TREC file as CSV beside it, and return its path."""
    target = trec.with_name(f"{trec.stem}.csv")
    with target.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(_HEADERS[trec.suffix])
        for line in trec.read_text().splitlines():
            fields = line.split()
            table.writerow([fields[place] for place in _FIELDS[trec.suffix]])
    return target
