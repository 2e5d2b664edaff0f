"""Record what other tools answer about exposure: stand_ins/fair_exposure.json has it.

The programs of the TREC fair ranking tracks are no packages, and LensKit needs newer libraries than some hosts allow. So
their answers are recorded, with what they were asked:

    git clone https://github.com/fair-trec/fair-trec-tools
    git clone https://github.com/fair-trec/trec2022-fair-public
    python -m venv other && other/bin/pip install lenskit xarray
    other/bin/python tests/record_fair_exposure.py fair-trec-tools trec2022-fair-public
"""

import importlib.metadata
import json
import random
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from lenskit.data import ItemList
from lenskit.metrics.ranking import ListGini

TARGET = Path(__file__).parent / "stand_ins" / "fair_exposure.json"
PATIENCE = (0.5, 0.8)
ITEMS, GROUPS, QUERIES, LENGTH = 12, "xyz", 5, 6


def random_case(seed):
    """Sampled lists of each query, its relevant items, and items that belong to groups in unequal parts."""
    rng = random.Random(seed)  # noqa: S311
    items = [f"i{item}" for item in range(ITEMS)]
    memberships = {}
    for item in items:
        parts = [rng.choice([0, 0, 1, 2, 5]) for _ in GROUPS]
        parts[rng.randrange(len(GROUPS))] += 1
        memberships[item] = {
            group: part / sum(parts) for group, part in zip(GROUPS, parts, strict=True) if part
        }
    queries = [f"q{query}" for query in range(QUERIES)]
    return {
        "lists": {
            query: [rng.sample(items, LENGTH) for _ in range(rng.randint(1, 4))]
            for query in queries
        },
        "relevant": {query: sorted(rng.sample(items, rng.randint(1, 5))) for query in queries},
        "items": memberships,
    }


def expected_exposure(exposure, permutation, case, patience):
    """Return disparity, relevance and difference by query, from expeval of fair-trec-tools."""
    found = {}
    for query, lists in case["lists"].items():
        judged = dict.fromkeys(case["relevant"][query], 1)
        _, *metrics = exposure.target(judged, "rbp", patience, 0.5, False)
        samples = {}
        for number, docs in enumerate(lists):
            samples[number] = permutation.Permutation()
            for rank, doc in enumerate(docs, 1):
                samples[number].add(rank, doc)
        shown = exposure.expected(samples, judged, "rbp", patience, 0.5)
        for metric in metrics:
            metric.compute(shown)
        found[query] = {metric.name: metric.float() for metric in metrics}
    return found


def rank_fairness(wptrec, dimension, case):
    """Return AWRF of the first list of each query, by the program of the track of 2022."""
    frame = pd.DataFrame(case["items"]).T.fillna(0.0)[list(GROUPS)]
    frame.index.name, frame.name = "page", "group"
    array = xr.DataArray(frame.to_numpy(), dims=("page", "group"), coords={"page": frame.index, "group": list(GROUPS)})  # fmt: skip
    dim = dimension.FairDim(frame, array)
    found = {}
    for query, lists in case["lists"].items():
        target = array.loc[case["relevant"][query]].mean("page")
        metric = wptrec.AWRFMetric(None, [dim], None)
        found[query] = float(metric.qr_awrf(np.array(lists[0]), target))
    return found


def gini(case):
    """Return LensKit's Gini index of the first lists."""
    metric = ListGini(k=LENGTH, items=ITEMS)
    parts = [metric.compute_list_data(ItemList(lists[0], ordered=True), None) for lists in case["lists"].values()]  # fmt: skip
    return float(metric.global_aggregate(parts))


def main(tools, track):
    sys.path[:0] = [str(Path(tools) / "eval"), track]
    import exposure
    import permutation
    from wptrec import dimension, metrics

    cases = [random_case(seed) for seed in range(6)]
    recorded = {
        "versions": {"lenskit": importlib.metadata.version("lenskit")},
        "cases": [
            {
                "given": case,
                "expeval": {p: expected_exposure(exposure, permutation, case, p) for p in PATIENCE},
                "AWRF": rank_fairness(metrics, dimension, case),
                "ListGini": gini(case),
            }
            for case in cases
        ],
    }
    TARGET.write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
