"""Time small inputs, as loops, callbacks and tests evaluate them: many calls in one process, the best of them."""

import tempfile
import timeit
import warnings
from pathlib import Path

import pandas as pd

import gainful as gf
from gainful.output.rendering.table_formats import Table

_CALLS = 20  # in a turn
JUDGMENTS = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}}
RUN = {"q1": {"a": 0.9, "x": 0.5, "b": 0.3}, "q2": {"c": 1.0, "a": 0.4}}
OTHER = {"q1": {"b": 0.5, "a": 0.1}, "q2": {"a": 1.0}}
ROWS = {
    "grade": [("q1", "a", 2), ("q1", "b", 1), ("q2", "a", 1)],
    "score": [("q1", "a", 0.9), ("q1", "x", 0.5), ("q2", "a", 0.3)],
}


def small_inputs(turns: int) -> Table:
    """Time an evaluation of dicts of two queries, of tables of three rows, and a comparison."""
    frames = [pd.DataFrame(rows, columns=["query", "doc", name]) for name, rows in ROWS.items()]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = [Path(folder) / f"{name}.parquet" for name in ROWS]
        for frame, file in zip(frames, files, strict=True):
            frame.to_parquet(file)
        runs = {"one": RUN, "other": OTHER}
        works = {
            "evaluate, dicts of two queries": (
                lambda: gf.evaluate(JUDGMENTS, RUN, ["nDCG@10"]),
                "≤ 0.6 ms",
            ),
            "evaluate, data frames of three rows": (
                lambda: gf.evaluate(*frames, ["nDCG@10"]),
                "≤ 2 ms",
            ),
            "evaluate, the same in Parquet": (
                lambda: gf.evaluate(*files, ["nDCG@10"]),
                "≤ 10 ms",
            ),
            "compare, dicts of two queries": (
                lambda: gf.compare(JUDGMENTS, runs, ["nDCG@10"], baseline="one"),
                "≤ 3 ms",
            ),
        }
        rows = []
        for name, (work, goal) in works.items():
            work()
            best = min(timeit.repeat(work, number=_CALLS, repeat=turns)) / _CALLS
            rows.append([name, f"{1000 * best:.2f} ms", goal])
    return Table(["W12 small inputs", "a call", "goal"], rows, notes=[f"Best of {turns} turns."])
