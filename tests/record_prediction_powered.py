"""Record what ppi-python answers of means: stand_ins/prediction_powered.json has it.

It needs numba and other libraries that nothing else here does, so its answers are recorded, with what it was asked:

    python -m venv other && other/bin/pip install ppi-python
    other/bin/python tests/record_prediction_powered.py
"""

import importlib.metadata
import json
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from ppi_py.ppi import _calc_lam_glm

TARGET = Path(__file__).parent / "stand_ins" / "prediction_powered.json"
ALPHA = 0.1


def answers(known, predicted, further):
    """Return λ, the estimate and the interval of PPI++, and of PPI, and of the known alone."""
    column = known[:, None], predicted[:, None], further[:, None]
    best = float(_calc_lam_glm(*column, np.eye(1), clip=True))
    found = {"best": best}
    for name, weight in (("best_weight", None), ("one", 1), ("zero", 0)):
        low, high = ppi_mean_ci(known, predicted, further, alpha=ALPHA, lam=weight)
        value = ppi_mean_pointestimate(known, predicted, further, lam=weight)
        found[name] = [float(np.squeeze(each)) for each in (value, low, high)]
    return found


def main():
    rng = np.random.default_rng(7)
    cases = []
    for n, further, noise in (
        (2, 3, 0.1),
        (5, 4, 0.3),
        (30, 50, 0.1),
        (12, 40, 3.0),
        (20, 9, -0.2),
    ):
        truth = rng.uniform(size=n + further)
        predicted = (
            truth * (1 if noise > 0 else -1) + 0.2 + abs(noise) * rng.normal(size=n + further)
        )
        data = [each.round(3) for each in (truth[:n], predicted[:n], predicted[n:])]
        cases.append({"data": [each.tolist() for each in data], **answers(*data)})
    version = importlib.metadata.version("ppi-python")
    recorded = {"ppi-python": version, "alpha": ALPHA, "cases": cases}
    TARGET.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
