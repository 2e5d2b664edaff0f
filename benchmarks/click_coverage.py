"""How often the 95% intervals of grades from clicks contain the truth, and how close the estimates are.

Users are simulated as each model describes them. Run it with `tests` on the path, which contains the simulation:
`PYTHONPATH=tests python benchmarks/click_coverage.py`.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from gainful.arithmetic.kernels.click_intervals import interval
from gainful.arithmetic.kernels.click_models import MODELS, FittedModel, Fitting, ShownLists
from gainful.output.rendering.table_formats import Table, as_markdown
from simulated_clicks import Truth, simulated

QUERIES, DOCS, DEPTH = 5, 6, 4
SIZES = (300, 1_000, 3_000)
LARGE = (10_000, 100_000, 1_000_000)
ENDLESS = 40  # documents, of which nearly all users read fewer
ENDS = np.array([0.025, 0.975])


def one(
    model: str, lists: int, seed: int, queries: int = QUERIES, docs: int = DOCS, depth: int = DEPTH
) -> tuple[ShownLists, FittedModel, np.ndarray]:
    """Return a simulated log, the model that is fitted to it, and the true grades."""
    endless = model in ("dcm", "sdbn")  # as their closed forms assume
    if endless:
        docs = depth = ENDLESS
    truth = Truth.drawn(queries, docs, depth, seed=seed)
    shown = simulated(
        model, truth, lists=lists, queries=queries, docs=docs, depth=depth, seed=seed + 10**6, endless=endless
    )  # fmt: skip
    fitted = MODELS[model].fit(shown, Fitting(1000))
    true = truth.attraction * (truth.satisfaction if model in ("sdbn", "dbn") else 1)
    return shown, fitted, true / truth.attraction.mean() if model == "coec" else true


def error(case: tuple[str, int]) -> float:
    """Return the mean error of the grades of 600 documents in lists of 8."""
    model, lists = case
    queries = 600 // ENDLESS if model in ("dcm", "sdbn") else 50
    _, fitted, true = one(model, lists, 0, queries, 12, 8)
    return float(np.abs(fitted.relevance - true).mean())


def inside(case: tuple[str, int, int]) -> np.ndarray:
    """Return the shares of intervals below, around and above the truth, and the mean error."""
    model, lists, seed = case
    shown, fitted, true = one(model, lists, seed)
    low, high = interval(shown, fitted, ENDS)
    seen = shown.sums(np.ones(len(shown.pairs))) > 0
    below, above = (high < true)[seen].mean(), (low > true)[seen].mean()
    return np.array([below, 1 - below - above, above, np.abs(fitted.relevance - true)[seen].mean()])


def recovery(models: list[str]) -> Table:
    """Return the mean error of each model's grades in long logs."""
    table = Table(["model", *(f"{lists:,} lists" for lists in LARGE)], [])
    with ProcessPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        errors = list(pool.map(error, [(model, lists) for model in models for lists in LARGE]))
    for place, model in enumerate(models):
        own = errors[place * len(LARGE) : (place + 1) * len(LARGE)]
        table.rows.append([model, *(f"{value:.4f}" for value in own)])
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--models", nargs="+", default=[*MODELS])
    parser.add_argument("--recovery", action="store_true", help="errors of long logs instead")
    chosen = parser.parse_args()
    if chosen.recovery:
        print(as_markdown(recovery(chosen.models)))
        return
    columns = ["model", "lists", "95% intervals around the truth", "below", "above", "mean error"]
    table = Table(columns, [])
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for model in chosen.models:
            for lists in chosen.sizes:
                cases = [(model, lists, seed) for seed in range(chosen.simulations)]
                below, around, above, error = np.mean(
                    list(pool.map(inside, cases, chunksize=4)), axis=0
                )
                table.rows.append(
                    [model, lists, f"{around:.1%}", f"{below:.1%}", f"{above:.1%}", f"{error:.4f}"]
                )
                print(*table.rows[-1], flush=True)
    print(as_markdown(table))


if __name__ == "__main__":
    main()
