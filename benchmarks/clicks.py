"""W13: logs of clicks, next to a bare GROUP BY of the same file."""

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import duckdb
import numpy as np

import gainful as gf
from timing import Result, take_turns

SESSIONS, DEPTH = 1_000_000, 10
QUERIES, DOCS = 20_000, 30  # documents of each query


def write_log(folder: Path, sessions: int = SESSIONS) -> Path:
    """Write a log of shown documents, clicked as the position-based model says, as Parquet."""
    path = folder / f"clicks_{sessions}.parquet"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    popularity = 1 / np.arange(1, QUERIES + 1) ** 0.8
    queries = rng.choice(QUERIES, sessions, p=popularity / popularity.sum())
    order = rng.random((sessions, DOCS)).argsort(axis=1)[:, :DEPTH].astype(np.int32)
    pairs = queries[:, None] * DOCS + order
    attraction = rng.beta(1.2, 3, QUERIES * DOCS)[pairs]
    clicked = rng.random((sessions, DEPTH)) < attraction / np.arange(1, DEPTH + 1) ** 0.7
    columns = {
        "s": np.repeat(np.arange(sessions), DEPTH), "q": np.repeat(queries, DEPTH), "d": pairs.ravel(),
        "position": np.tile(np.arange(1, DEPTH + 1, dtype=np.int32), sessions), "clicked": clicked.ravel().astype(np.int8),
    }  # fmt: skip
    with duckdb.connect() as engine:
        engine.register("columns", columns)
        engine.execute(
            "COPY (SELECT printf('s%08d', s) AS session, 'query number ' || q AS query, printf('doc%09d', d) AS doc, "
            f"position, clicked FROM columns) TO '{path}' (FORMAT parquet)"
        )
    return path


def bare(path: Path) -> None:
    with duckdb.connect(config={"threads": 2}) as engine:
        engine.execute(
            f"SELECT query, doc, count(*), sum(clicked) FROM '{path}' GROUP BY query, doc"
        ).fetchnumpy()


def read_and_sdbn(path: Path) -> None:
    gf.behaviour.click_judgments(path, "sdbn", engine=gf.Engine(threads=2))


def _pbm(path: Path) -> tuple[float, float]:
    log = gf.behaviour.read_log(path)
    begin = time.perf_counter()
    gf.behaviour.click_judgments(log, "pbm", rounds=20)
    seconds = time.perf_counter() - begin
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def results(folder: Path, turns: int) -> list[Result]:
    """Return the rows of W13."""
    path = write_log(folder)
    theirs, ours = take_turns(
        lambda: bare(path), lambda: read_and_sdbn(path), turns=turns, ours_each=1
    )
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pbm, memory = pool.submit(_pbm, path).result()
    work = f"W13 clicks, {SESSIONS * DEPTH:,} shown documents"
    return [
        Result(f"{work}, read and sdbn", "DuckDB, a bare GROUP BY", theirs, ours, goal="≥ 0.5× (≤ 2 times)"),
        Result(f"{work}, pbm, 20 rounds ({memory:.1f} GB with reading)", "15 s", 15.0, pbm, goal="≥ 1× (under 15 s)"),
    ]  # fmt: skip


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        for row in results(Path(place), 3):
            print(row, f"{row.ratio:.2f}")
