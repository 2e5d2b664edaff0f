"""Compare rankers trained with gainful's losses with LightGBM's lambdarank, by `gainful compare`.

All learn from the same generated lists, whose labels are a rounded linear function of the features. The
judgments and what each ranker makes of lists that none has seen are written as files, which
`gainful compare` reads.

    pip install lightgbm torch
    python examples/compare_lightgbm.py [--lists N] [--folder FOLDER]
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import lightgbm
import numpy as np
import torch

import gainful as gf

ITEMS, STEPS = 12, 150
WEIGHTS = np.array([1.0, -2.0, 0.5, 0.0, 1.5, -0.5])


def lists(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features [list, item, feature] and labels [list, item] from 0 to 4."""
    features = np.random.default_rng(seed).normal(size=(count, ITEMS, len(WEIGHTS)))
    return features, (features @ WEIGHTS / 1.5 + 1).round().clip(0, 4)


def trees(features: np.ndarray, labels: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Train LightGBM's lambdarank; return the scores of new lists."""
    data = lightgbm.Dataset(
        features.reshape(-1, len(WEIGHTS)), labels.ravel(), group=[ITEMS] * len(labels)
    )
    options = {"objective": "lambdarank", "verbose": -1, "seed": 1, "num_threads": 1}
    model = lightgbm.train(options, data, num_boost_round=100)
    return np.asarray(model.predict(new.reshape(-1, len(WEIGHTS)))).reshape(new.shape[:2])


def linear(method: str, features: np.ndarray, labels: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Train a linear ranker with a loss; return the scores of new lists."""
    loss = gf.losses.loss("nDCG(gain=exp2)@10", method=method)
    weights = torch.zeros(len(WEIGHTS), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([weights], lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss(torch.from_numpy(features) @ weights, torch.from_numpy(labels)).backward()
        optimizer.step()
    return (torch.from_numpy(new) @ weights).detach().numpy()


def by_ids(values: np.ndarray) -> dict[str, dict[str, float]]:
    """Return {query: {doc: value}}."""
    return {
        f"q{at}": {f"d{place}": float(value) for place, value in enumerate(row)}
        for at, row in enumerate(values)
    }


def main() -> int:
    """Train, write, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lists", type=int, default=300, help="to train on, and as many to test")
    parser.add_argument("--folder", help="where to leave the files; nowhere if not given")
    options = parser.parse_args()
    features, labels = lists(options.lists, 1)
    new, truth = lists(options.lists, 2)
    runs = {
        "lightgbm": trees(features, labels, new),
        "lambda": linear("lambda", features, labels, new),
        "approx": linear("approx", features, labels, new),
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(exist_ok=True)
        gf.write_judgments(by_ids(truth), folder / "judgments.qrels")
        for name, scores in runs.items():
            gf.write_run(by_ids(scores), folder / f"{name}.run")
        files = ["judgments.qrels", *(f"{name}.run" for name in runs)]
        command = [sys.executable, "-m", "gainful", "compare", *files, "-m", "nDCG(gain=exp2)@10"]
        return subprocess.run(command, cwd=folder, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
