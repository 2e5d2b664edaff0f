"""W13: click models on 100,000 sessions, next to PyClick (https://github.com/markovi/PyClick).

Run it with the folder of a checkout of PyClick: `python benchmarks/click_models.py PyClick`. gainful and each of
PyClick's models run in processes of their own, with imports before the clock starts. Times are processor times, of
all cores. EM takes PyClick minutes, so one of its rounds is timed, and 50 count.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import duckdb

from clicks import write_log

SESSIONS, ROUNDS, TIMED = 100_000, 50, 1
CLOSED = {"ctr": ("CTR", "DCTR"), "cascade": ("CM", "CM"), "dcm": ("DCM", "DCM"), "sdbn": ("SDBN", "SDBN")}  # fmt: skip
EM = {name: (name.upper(), name.upper()) for name in ("dbn", "pbm", "ubm", "ccm")}


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def of_pyclick(folder: str, path: Path, name: str) -> tuple[float, float]:
    """Return the seconds of making PyClick's sessions from columns in memory, and of fitting a model to them."""
    sys.path.insert(0, folder)
    from importlib import import_module

    from pyclick.click_models.Inference import EMInference
    from pyclick.search_session.SearchResult import SearchResult
    from pyclick.search_session.SearchSession import SearchSession

    with duckdb.connect() as engine:
        rows = engine.execute(f"SELECT session, query, doc, clicked FROM '{path}'").fetchall()
    sessions: list[SearchSession] = []

    def make() -> None:
        last = None
        for session, query, doc, clicked in rows:
            if session != last:
                sessions.append(SearchSession(query))
                last = session
            sessions[-1].web_results.append(SearchResult(doc, clicked))

    made = seconds(make)
    module, kind = (CLOSED | EM)[name]
    model = getattr(import_module(f"pyclick.click_models.{module}"), kind)()
    factor = 1.0
    if name in EM:
        model._inference = EMInference(TIMED)  # noqa: SLF001 - PyClick has no other way
        factor = ROUNDS / TIMED
    return made, factor * seconds(partial(model.train, sessions))


def of_gainful(path: Path, turns: int) -> dict[str, float]:
    """Return the seconds of reading the log, and of the grades with intervals by each model; the best of some turns."""
    import scipy.special  # noqa: F401

    import gainful as gf
    from gainful.arithmetic.kernels.click_models import MODELS, Fitting

    def best(work: Callable[[], object]) -> float:
        return min(seconds(work) for _ in range(turns))

    taken = {"read": best(lambda: gf.behaviour.read_log(path))}
    log = gf.behaviour.read_log(path)
    for name in CLOSED | EM:
        how = Fitting(ROUNDS)
        taken[f"{name} parameters"] = best(partial(MODELS[name].fit, log.shown, how))
        grades = partial(gf.behaviour.click_judgments, path, name, rounds=ROUNDS)
        taken[f"{name} grades"] = best(grades)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pyclick", help="the folder of a checkout of PyClick")
    parser.add_argument("--turns", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = write_log(Path(folder), SESSIONS)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            ours = pool.submit(of_gainful, path, chosen.turns).result()
        print(f"gainful reads Parquet in {ours['read']:.3f} s\n")
        print("| model | PyClick, parameters | gainful, parameters | ratio | PyClick, with its sessions | gainful, Parquet to grades with intervals | ratio |")  # fmt: skip
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
        half = max((os.cpu_count() or 1) // 2, 1)
        with ProcessPoolExecutor(half, mp_context=get_context("spawn")) as pool:
            theirs = {name: pool.submit(of_pyclick, chosen.pyclick, path, name) for name in CLOSED | EM}  # fmt: skip
            for name, running in theirs.items():
                made, fit = running.result()
                own, grades = ours[f"{name} parameters"], ours[f"{name} grades"]
                print(f"| {name} | {fit:.2f} s | {own:.3f} s | {fit / own:.0f}× | {made + fit:.2f} s | {grades:.3f} s | {(made + fit) / grades:.0f}× |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
