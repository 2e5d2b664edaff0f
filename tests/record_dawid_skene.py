"""Record what crowd-kit answers of Dawid and Skene's model: stand_ins/dawid_skene.json has it.

crowd-kit needs a library of language models, so it does not stand beside what the tests need. Its answers
are recorded, with what it was asked:

    python -m venv other && other/bin/pip install --no-deps crowd-kit
    other/bin/pip install pandas attrs tqdm scikit-learn pyarrow
    other/bin/python tests/record_dawid_skene.py
"""

import importlib.metadata
import json
import random
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pandas as pd

for name in ("nltk", "nltk.translate", "nltk.translate.gleu_score", "transformers"):
    sys.modules[name] = MagicMock()  # its models of texts are not asked

from crowdkit.aggregation import DawidSkene  # noqa: E402

TARGET = Path(__file__).parent / "stand_ins" / "dawid_skene.json"
NAMES = ("ann", "bob", "cid", "dot", "eve")


def table(seed):
    """Rows of item, assessor and grade: some follow the truth, one leans, and some grades are missing."""
    rng = random.Random(seed)  # noqa: S311
    scale = rng.choice([(0, 1), (0, 1, 2), (0, 1, 2, 3)])
    people = rng.randint(3, 5)
    rows = []
    for at in range(rng.randint(30, 60)):
        true = rng.choice(scale)
        for place, name in enumerate(NAMES[:people]):
            given = true if rng.random() < 0.8 - 0.1 * place else rng.choice(scale)
            if rng.random() < 0.8:
                rows.append((f"d{at:02}", name, given))
    return rows


def answer(rows):
    found = DawidSkene(n_iter=3000, tol=1e-15).fit(
        pd.DataFrame(rows, columns=["task", "worker", "label"])
    )
    return {
        "probabilities": {
            str(task): {str(grade): float(share) for grade, share in row.items()}
            for task, row in found.probas_.iterrows()
        },
        "shares": {str(grade): float(share) for grade, share in found.priors_.items()},
        "confusion": [
            [str(worker), int(given), str(true), float(share)]
            for (worker, given), row in found.errors_.iterrows()
            for true, share in row.items()
        ],
    }


if __name__ == "__main__":
    cases = [{"rows": table(seed), **answer(table(seed))} for seed in range(8)]
    told = {"crowd-kit": importlib.metadata.version("crowd-kit"), "cases": cases}
    TARGET.write_text(json.dumps(told) + "\n")
