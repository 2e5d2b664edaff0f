"""The examples that compare, run as a user runs them."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "compare_lightgbm.py"


def test_rankers_trained_with_losses_beside_lightgbm(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLE, "--lists", "60", "--folder", tmp_path / "files"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"OMP_NUM_THREADS": "1"},  # so small a model trains faster alone
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    sentences = [
        line for line in done.stdout.splitlines() if line.startswith("nDCG(gain=exp2)@10:")
    ]
    assert [("lambda" in line, "approx" in line) for line in sentences] == [
        (True, False),
        (False, True),
    ]
    assert all("lightgbm (" in line and "60 queries" in line for line in sentences)
    written = {path.name for path in (tmp_path / "files").iterdir()}
    assert written == {"judgments.qrels", "lightgbm.run", "lambda.run", "approx.run"}
