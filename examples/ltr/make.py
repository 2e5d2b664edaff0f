"""Write the files of the guide for learning to rank: labels with features, and two models' predictions.

    python examples/ltr/make.py

All of it is drawn with a seed. `test.svm` has a document a line, as LightGBM, XGBoost and RankLib read it;
`pointwise.txt` and `lambdarank.txt` have one prediction a line, in the same order, as their predict writes it.
The second model has seen more of what makes a document good.
"""

from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
QUERIES, SEED = 60, 7


def files() -> dict[str, str]:
    """Return what each file holds."""
    rng = np.random.default_rng(SEED)
    rows: list[str] = []
    predictions: dict[str, list[str]] = {"pointwise.txt": [], "lambdarank.txt": []}
    for query in range(1, QUERIES + 1):
        features = rng.normal(size=(int(rng.integers(6, 13)), 3))
        noise = rng.normal(size=(len(features), 3))
        quality = features @ [1.0, 0.7, 0.4] + 0.5 * noise[:, 0]
        labels = np.clip(np.floor(quality + 1), 0, 4).astype(int)
        models = {
            "pointwise.txt": features @ [1.0, 0.2, 0.0] + 0.3 * noise[:, 1],
            "lambdarank.txt": features @ [1.0, 0.6, 0.3] + 0.3 * noise[:, 2],
        }
        for label, each in zip(labels, features, strict=True):
            values = " ".join(f"{at}:{value:.3f}" for at, value in enumerate(each, start=1))
            rows.append(f"{label} qid:{query} {values}")
        for name, scores in models.items():
            predictions[name] += [f"{score:.4f}" for score in scores]
    found = {"test.svm": rows, **predictions}
    return {name: "\n".join(lines) + "\n" for name, lines in found.items()}


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")
