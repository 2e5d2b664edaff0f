"""Record what other tools answer of recommendations: stand_ins/recommenders.json has it.

RecTools needs NumPy 1 and old versions of others, so it cannot stand beside what the tests need; RecBole
needs a whole training library. So their answers are recorded, with what they were asked:

    python -m venv other && other/bin/pip install rectools scikit-learn
    other/bin/pip install --no-deps recbole recommenders recmetrics
    other/bin/python tests/record_recommenders.py
"""

import importlib.metadata
import importlib.util
import json
import random
import sys
import types
import warnings
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
from rectools.metrics import (
    AvgRecPopularity,
    CatalogCoverage,
    IntraListDiversity,
    MeanInvUserFreq,
    Serendipity,
)
from rectools.metrics.distances import PairwiseHammingDistanceCalculator

TARGET = Path(__file__).parent / "stand_ins" / "recommenders.json"
CUTOFFS = (1, 3, 5)
USERS, ITEMS, LONGEST = 8, 15, 5


def module(package, path, **replaced):
    """Load one file of a package, with stand-ins for what its arithmetic does not use."""
    place = Path(importlib.util.find_spec(package).submodule_search_locations[0]) / path
    before = {name: sys.modules.get(name) for name in replaced}
    sys.modules.update(replaced)
    try:
        spec = importlib.util.spec_from_file_location(place.stem, place)
        found = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    finally:
        for name, known in before.items():
            if known is None:
                del sys.modules[name]
            else:
                sys.modules[name] = known
    return found


class Metric:
    """What metrics of RecBole are made from."""


base = types.ModuleType("base_metric")
base.AbstractMetric = base.TopkMetric = base.LossMetric = Metric
recbole = module(
    "recbole",
    "evaluator/metrics.py",
    **{
        "recbole": MagicMock(),
        "recbole.evaluator": MagicMock(),
        "recbole.evaluator.utils": MagicMock(),
        "recbole.evaluator.base_metric": base,
        "recbole.utils": MagicMock(),
    },
)
recmetrics = module(
    "recmetrics", "metrics.py", **{"matplotlib": MagicMock(), "matplotlib.pyplot": MagicMock()}
)
recommenders = importlib.import_module("recommenders.evaluation.python_evaluation")


def random_case(seed):
    """Lists of the same length, a history in which every pair stands once, and the rest."""
    rng = random.Random(seed)  # noqa: S311
    run = {u: rng.sample(range(ITEMS), LONGEST) for u in range(USERS)}
    # Nobody is shown what they had, which one of the tools asks for; the last items are cold.
    others = {u: [i for i in range(ITEMS - 2) if i not in run[u]] for u in range(USERS)}
    return {
        "run": run,
        "history": {u: sorted(rng.sample(others[u], rng.randint(1, 6))) for u in range(USERS)},
        "judgments": {u: sorted(rng.sample(range(ITEMS), rng.randint(1, 5))) for u in range(USERS)},
        "items": {i: rng.choice("xyz") for i in range(ITEMS)},
        "vectors": {i: [rng.choice([-1, 0, 1, 2]) for _ in range(4)] + [1] for i in range(ITEMS)},
    }


def frame(lists):
    rows = [(u, i, rank) for u, items in lists.items() for rank, i in enumerate(items, 1)]
    return pd.DataFrame(rows, columns=["user_id", "item_id", "rank"])


def answers(case, k):
    reco, past, liked = (frame(case[name]) for name in ("run", "history", "judgments"))
    categories = pd.DataFrame({"category": [ord(each) for each in case["items"].values()]})
    matrix = np.array([case["run"][u][:k] for u in range(USERS)])
    counts = past["item_id"].value_counts().to_dict()
    cut = {"col_user": "user_id", "col_item": "item_id"}
    shown = reco[reco["rank"] <= k][["user_id", "item_id"]]
    known = shown[shown["item_id"].isin(past["item_id"])]  # it leaves others out
    train = past[["user_id", "item_id"]]
    popular = np.array([[counts.get(i, 0) for i in row] for row in matrix])
    found = {
        "RecTools": {
            "Coverage": CatalogCoverage(k, normalize=True).calc(reco, range(ITEMS)),
            "Novelty": MeanInvUserFreq(k).calc_per_user(reco, past).tolist(),
            "Popularity": AvgRecPopularity(k).calc_per_user(reco, past).tolist(),
            "Serendipity(unexpected=rank)": Serendipity(k)
            .calc_per_user(reco, liked, past, range(ITEMS))
            .tolist(),
        },
        "RecBole": {
            "Gini": recbole.GiniIndex.get_gini(None, matrix, ITEMS),
            # It divides by the number of items shown, and its logarithm is the natural one.
            "Entropy, nats per item shown": recbole.ShannonEntropy.get_entropy(None, matrix),
            "Popularity": recbole.AveragePopularity.metric_info(None, popular)[:, -1].tolist(),
        },
        "recommenders": {
            "Entropy": recommenders.distributional_coverage(train, shown, **cut),
            "Novelty(count=all), of all items known to the history": recommenders.novelty(
                train, known, **cut
            ),
        },
        "recmetrics": {"Personalisation": recmetrics.personalization(matrix.tolist())},
    }
    if k > 1:
        calculator = PairwiseHammingDistanceCalculator(categories)
        found["RecTools"]["ILD(by=category)"] = (
            IntraListDiversity(k, distance_calculator=calculator).calc_per_user(reco).tolist()
        )
        features = pd.DataFrame([case["vectors"][i] for i in range(ITEMS)])
        found["recmetrics"]["intra-list similarity"] = recmetrics.intra_list_similarity(
            matrix.tolist(), features
        )
    return found


def main():
    warnings.simplefilter("ignore")
    cases = [random_case(seed) for seed in range(6)]
    recorded = {
        "versions": {
            name: importlib.metadata.version(name)
            for name in ("rectools", "recbole", "recommenders", "recmetrics")
        },
        "cases": [
            {"given": case, "answers": {k: answers(case, k) for k in CUTOFFS}} for case in cases
        ],
    }
    TARGET.write_text(json.dumps(recorded, default=float) + "\n")


if __name__ == "__main__":
    main()
