"""How long a long history takes: the first entry, one more entry, reading, and the page.

python benchmarks/history.py [ENTRIES [QUERIES [STORE]]]

STORE is the ending of the history's file (history, duckdb or sqlite), or the URL of a PostgreSQL server.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import gainful as gf

DEFAULTS = "1000", "10000", "history"
DOCUMENTS = 10
CHANGED = 0.3  # share of the queries that a release changes


def releases(queries: int):
    """Yield the scores of one release after another; each changes the order of some queries."""
    draw = np.random.default_rng(7)
    labels = draw.integers(0, 4, (queries, DOCUMENTS)).astype(float)
    predictions = draw.random((queries, DOCUMENTS))
    names = [f"query-{number:06d}" for number in range(queries)]
    while True:
        some = draw.random(queries) < CHANGED
        predictions[some] = draw.random((int(some.sum()), DOCUMENTS))
        judged = {
            name: dict(zip("abcdefghij", row, strict=True))
            for name, row in zip(names, labels.tolist(), strict=True)
        }
        run = {
            name: dict(zip("abcdefghij", row, strict=True))
            for name, row in zip(names, predictions.tolist(), strict=True)
        }
        yield gf.evaluate(judged, run, "nDCG@10")


def timed(what: str, function, *arguments, **options):
    """Call a function, print how long it took, and return its result."""
    begin = time.perf_counter()
    result = function(*arguments, **options)
    print(f"{what:<24} {time.perf_counter() - begin:6.2f} s")
    return result


def main() -> None:
    """Fill a history, and time what people wait for."""
    entries, queries, store = (*sys.argv[1:], *DEFAULTS[len(sys.argv) - 1 :])
    entries, queries = int(entries), int(queries)
    with tempfile.TemporaryDirectory() as folder:
        place = store if "://" in store else str(Path(folder, f"search.{store}"))
        made = releases(queries)
        known = [next(made) for _ in range(20)]
        timed("first entry", gf.history.add, place, known[0], label="0")
        begin = time.perf_counter()
        for number in range(1, entries):
            gf.history.add(place, known[number % len(known)], label=str(number))
        print(f"{'each of the others':<24} {(time.perf_counter() - begin) / (entries - 1):6.3f} s")
        timed("one more", gf.history.add, place, next(made), label="last")
        history = timed("read", gf.history.read, place)
        timed("page of what was read", gf.history.page, history)
        page = timed("read and page", gf.history.page, place)
        size = Path(place).stat().st_size / 1e6 if "://" not in store else float("nan")
        print(f"{len(history)} entries, {size:.0f} MB; the page has {len(page) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
