"""How often the 95% intervals of estimates between the bounds contain the truth, by method, bias and number of queries.

Run it with `tests` on the path, which contains the simulation:
`PYTHONPATH=tests python benchmarks/unjudged_coverage.py`.
"""

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from gainful.output.rendering.table_formats import Table, as_markdown
from simulated_unjudged import BIASES, estimated, simulated, true_values

QUERIES = (20, 50, 200)
COMPLETE = {20: 8, 50: 20, 200: 50}  # queries that people judge completely
SINGLE = 60  # documents that people judge
METHODS = ("bootstrap", "conformal", "prediction-powered")


def inside(case: tuple[str, str, int, bool, int]) -> np.ndarray:
    """Return, for the new run and the difference, whether the interval contains the truth, its width and the bounds'."""
    method, bias, queries, chosen, seed = case
    warnings.simplefilter("ignore")
    world = simulated(queries, bias, seed)
    rng = np.random.default_rng(seed + 10**6)
    found = estimated(world, method, rng, complete=COMPLETE[queries], single=SINGLE, chosen=chosen)
    rows = []
    truth = true_values(world)
    for name in ("new", "new − old"):
        bound = found[name]
        inside, true = bound.estimate, truth[name]
        contained = inside.low - 1e-9 <= true <= inside.high + 1e-9
        rows.append([contained, inside.value - true, inside.high - inside.low, bound.width])
    return np.array(rows, np.float64)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    given = parser.parse_args()
    samples = given.samples
    rows = []
    with ProcessPoolExecutor(int(os.environ.get("CORES", "2"))) as pool:
        for method in given.methods:
            for chosen in (False, True)[: 1 if method == "bootstrap" else 2]:
                for bias in BIASES:
                    for queries in QUERIES:
                        cases = [(method, bias, queries, chosen, seed) for seed in range(samples)]
                        mean = np.mean(list(pool.map(inside, cases, chunksize=8)), axis=0)
                        how = "chosen" if chosen else "at random" if method != "bootstrap" else ""
                        cells = [f"{100 * mean[0, 0]:.0f}", f"{100 * mean[1, 0]:.0f}"]
                        cells += [f"{mean[0, 1]:+.3f}", f"{mean[0, 2]:.3f}", f"{mean[0, 3]:.3f}"]
                        rows.append([method, how, bias, queries, *cells])
                        print(*rows[-1], sep="\t", flush=True)
    columns = ["method", "sample", "judged documents", "queries", "run", "difference", "error"]
    print(as_markdown(Table([*columns, "width", "bounds"], rows)))


if __name__ == "__main__":
    main()
