"""How often intervals, tests and claims of equivalence are wrong when the judgments are estimated from clicks.

Users are simulated as the click model describes them. Run it with `tests` on the path, which contains the
simulation: `PYTHONPATH=tests python benchmarks/click_differences.py`.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import duckdb
import numpy as np

import gainful as gf
from gainful.output.rendering.table_formats import Table, as_markdown
from simulated_clicks import Truth, simulated

QUERIES, DOCS, DEPTH = 30, 6, 4
MANY = 4000  # queries that stand for all queries
CASES = (
    ("ctr", "DCG@3", 600), ("ctr", "DCG@3", 1500), ("pbm", "DCG@3", 1500),
    ("ctr", "nDCG@3", 1500), ("ctr", "nDCG@3", 6000),
)  # fmt: skip
Run = dict[str, dict[str, float]]


def by_query(table: np.ndarray) -> Run:
    return {
        f"q{q}": {f"d{d}": float(value) for d, value in enumerate(row)}
        for q, row in enumerate(table)
    }


def runs_of(truth: Truth, seed: int, queries: int, gain: float) -> dict[str, Run]:
    """Return two runs, of which the second ranks attractive documents higher, more so the larger the gain."""
    rng, table = np.random.default_rng(seed), truth.attraction.reshape(queries, DOCS)
    noise = rng.random((2, queries, DOCS))
    return {
        "old": by_query(noise[0] + table),
        "new": by_query(noise[1] + (1 + gain) * table),
    }


@cache
def expected(measure: str, gain: float) -> float:
    """Return the mean difference over all queries by their true grades; 0 if the runs are drawn alike."""
    if not gain:
        return 0.0
    truth = Truth.drawn(MANY, DOCS, DEPTH, seed=12345)
    grades = by_query(truth.attraction.reshape(MANY, DOCS))
    scores = gf.evaluate_runs(grades, runs_of(truth, 99, MANY, gain), measure)
    return scores["new"][measure] - scores["old"][measure]


def judgments_of(truth: Truth, model: str, lists: int, seed: int) -> gf.results.ClickJudgments:
    shown = simulated(model, truth, lists=lists, queries=QUERIES, docs=DOCS, depth=DEPTH, seed=seed)
    columns = {
        "session": shown.owners, "query": shown.pairs // DOCS, "doc": shown.pairs % DOCS, "position": shown.ranks,
        "clicked": shown.clicks.astype(np.int8),
    }  # fmt: skip
    with duckdb.connect() as engine:
        engine.register("columns", columns)
        select = "SELECT * REPLACE ('q' || query AS query, 'd' || doc AS doc) FROM columns"
        return gf.behaviour.click_judgments(engine.sql(select), model)


def one(case: tuple[str, str, int, int]) -> np.ndarray:
    """Return what went wrong, with the clicks and without: misses, false differences, false equivalence."""
    model, measure, lists, seed = case
    truth = Truth.drawn(QUERIES, DOCS, DEPTH, seed=seed)
    clicks = judgments_of(truth, model, lists, 10**6 + seed)
    wrong = []
    for judgments in (clicks, {query: dict(docs) for query, docs in clicks.items()}):
        apart = expected(measure, 1.0)
        compared = {
            gain: gf.compare(
                judgments, runs_of(truth, seed, QUERIES, gain), measure, margin=abs(apart)
            )["new", measure]
            for gain in (0.0, 1.0)
        }
        interval = compared[1.0].interval
        tests = (compared[0.0].tests[name].p for name in ("t", "randomisation", "wilcoxon"))
        wrong += [
            not interval.low <= apart <= interval.high,
            *(p is not None and p < 0.05 for p in tests),
            compared[1.0].p_equivalent < 0.05,  # the true difference is the margin
        ]
    return np.array(wrong, float)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=400)
    chosen = parser.parse_args()
    columns = ["model", "measure", "lists", "grades", "misses", "t", "randomisation", "wilcoxon", "equivalent"]  # fmt: skip
    table = Table(columns, [])
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for model, measure, lists in CASES:
            cases = [(model, measure, lists, seed) for seed in range(chosen.simulations)]
            shares = np.mean(list(pool.map(one, cases, chunksize=4)), axis=0).reshape(2, -1)
            for name, row in zip(("from clicks", "taken as certain"), shares, strict=True):
                table.rows.append([model, measure, lists, name, *(f"{share:.1%}" for share in row)])
                print(*table.rows[-1], flush=True)
    print(as_markdown(table))


if __name__ == "__main__":
    main()
