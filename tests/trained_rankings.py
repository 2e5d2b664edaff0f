"""Small data that a trainer of rankings can learn from, with groups of every odd kind."""

import json

import numpy as np

SIZES = (1, 2, 9, 14, 6, 1, 20, 12, 8, 11)


def rankings(seed, queries=40):
    """Return features, labels and sizes: some queries have one document, some no gain."""
    rng = np.random.default_rng(seed)
    sizes = np.array([SIZES[number % len(SIZES)] for number in range(queries)])
    n = int(sizes.sum())
    features = rng.normal(size=(n, 5))
    worth = features[:, 0] + np.sin(2 * features[:, 1]) + rng.normal(size=n) * 0.5
    labels = np.digitize(worth, [0.3, 1.2, 2.0]).astype(float)
    ends = np.cumsum(sizes)
    for query in (4, 7):  # without any gain
        labels[ends[query] - sizes[query] : ends[query]] = 0
    return features, labels, sizes


def query_ids(sizes):
    """Return the number of the query of each document."""
    return np.repeat(np.arange(len(sizes)), sizes)


def exported(folder, labels, predictions, sizes):
    """Write labels with query ids and predictions, as people hand them to the command line."""
    lines = [
        f"{label:g} qid:{query} 1:0" for label, query in zip(labels, query_ids(sizes), strict=True)
    ]
    (folder / "labels.svm").write_text("\n".join(lines) + "\n")
    (folder / "predictions.txt").write_text("\n".join(map(repr, predictions.tolist())) + "\n")
    return folder / "labels.svm", folder / "predictions.txt"


def value_of(done):
    """Return the one mean that the command has printed as JSON, with all its digits."""
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    (value,) = run["means"].values()
    return value
