"""W14: measures of evidence, for chunks with positions against passages."""

import gc
import time
from pathlib import Path

import numpy as np
import pandas as pd

import gainful as gf
from timing import Result

QUERIES, CHUNKS, SPANS = 10_000, 100, 5
DOCS, LENGTH, SIZE = 20_000, 20_000, 400
FOUND = 0.7  # the share of passages whose chunk is retrieved
MEASURES = [
    "evidence_recall@10",
    "evidence_precision@10",
    "evidence_IoU@10",
    "evidence_nDCG@10",
    "evidence_groups@10",
    "evidence_complete@10",
]
SECONDS = 3.0


def tables(queries: int = QUERIES) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return passages and the chunks of a run, which are cut every 400 characters."""
    rng = np.random.default_rng(0)
    docs = rng.integers(0, DOCS, (queries, SPANS))
    start = rng.integers(0, LENGTH - SIZE, (queries, SPANS))
    end = start + rng.integers(30, SIZE, (queries, SPANS))
    # A chunk is the place of its document and itself in one number; each occurs once for a query.
    each = LENGTH // SIZE
    chunks = rng.integers(0, DOCS * each, (queries, CHUNKS))
    found = rng.random((queries, SPANS)) < FOUND
    chunks[:, :SPANS] = np.where(found, docs * each + start // SIZE, chunks[:, :SPANS])
    chunks = rng.permuted(chunks, axis=1)
    names = [f"q{number:05d}" for number in range(queries)]
    passages = _table(names, docs, start, end)
    run = _table(names, chunks // each, chunks % each * SIZE, (chunks % each + 1) * SIZE)
    run["score"] = np.tile(np.arange(CHUNKS, 0, -1) / CHUNKS, queries)
    return passages, run.drop_duplicates(["query", "document", "start"])


def _table(names: list[str], docs, start, end) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "query": np.repeat(names, docs.shape[1]),
            "document": [f"d{doc:05d}" for doc in docs.ravel().tolist()],
            "start": start.ravel(),
            "end": end.ravel(),
        }
    )


def _lists(table: pd.DataFrame) -> dict[str, list[tuple[str, int, int]]]:
    by_query: dict[str, list[tuple[str, int, int]]] = {}
    columns = (table[name].tolist() for name in ("query", "document", "start", "end"))
    for query, *place in zip(*columns, strict=True):
        by_query.setdefault(query, []).append(tuple(place))
    return by_query


def inputs(folder: Path) -> dict[str, tuple[object, object]]:
    """Return the passages and the run in several forms."""
    both = tables()
    files = [str(folder / f"{name}.parquet") for name in ("evidence", "run")]
    texts = [str(folder / f"{name}.csv") for name in ("evidence", "run")]
    for table, file, text in zip(both, files, texts, strict=True):
        table.to_parquet(file)
        table.to_csv(text, index=False)
    return {
        "Parquet": tuple(files),
        "data frames": both,
        "dicts of lists": tuple(map(_lists, both)),
        "records": tuple(table.to_dict("records") for table in both),
        "CSV": tuple(texts),
    }


def measured(evidence: object, run: object) -> dict[str, float]:
    """Return the means of a run."""
    return gf.evaluate(evidence, run, MEASURES, offsets="characters").means


def results(folder: Path, turns: int) -> list[Result]:
    """Return the rows of W14: the best times on the clock, next to the goal."""
    rows, known = [], None
    for form, given in inputs(folder).items():
        seconds = processor = float("inf")
        for _ in range(turns):
            gc.collect()
            start, used = time.perf_counter(), time.process_time()
            means = measured(*given)
            seconds = min(seconds, time.perf_counter() - start)
            processor = min(processor, time.process_time() - used)
            known = known or means
            assert means == known
        work = (
            f"W14 {QUERIES:,} questions × {CHUNKS} chunks × {SPANS} passages, six measures of "
            f"evidence, {form} (processor time {processor:.1f} s)"
        )
        goal = "" if form == "CSV" else "≥ 1× (under 3 s)"
        rows.append(Result(work, "3 s", SECONDS, seconds, goal))
    return rows


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        for row in results(Path(place), 3):
            print(row, f"{row.ratio:.2f}")
