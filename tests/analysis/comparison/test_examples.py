"""The examples that compare and train."""

import os
import runpy
import subprocess
import sys

import gainful as gf
from example_programs import EXAMPLES, run_here

MEASURE = "nDCG(gain=exp2)@10"
LEAST = {"lightgbm": 0.96, "lambda": 0.98, "approx": 0.98}  # 0.983, 0.998 and 0.994 when written


def run(example, *arguments):
    """Run a program as a user does."""
    return subprocess.run(
        [sys.executable, EXAMPLES / example, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | {"OMP_NUM_THREADS": "1"},  # so small a model trains faster alone
    )


def test_rankers_trained_with_losses_beside_lightgbm(tmp_path):
    done = run("compare_lightgbm.py", "--lists", "60", "--folder", tmp_path / "files")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stdout.replace("\n  ", " ").splitlines()  # what is long is folded
    sentences = [line for line in lines if line.startswith(f"{MEASURE}:")]
    assert [("lambda" in line, "approx" in line) for line in sentences] == [
        (True, False),
        (False, True),
    ]
    assert all("lightgbm" in line and "60 queries" in line for line in sentences)
    # The table: run, mean, and more.
    rows = [line.split() for line in lines if line.split()[:1] and line.split()[0] in LEAST]
    means = {name: float(mean) for name, mean, *_ in rows}
    assert means.keys() == LEAST.keys()
    assert all(means[name] >= least for name, least in LEAST.items()), means
    written = {path.name for path in (tmp_path / "files").iterdir()}
    assert written == {"judgments.qrels", "lightgbm.run", "lambda.run", "approx.run"}


def test_what_every_loss_is_stated_to_reach_is_not_reached_without_training():
    stated = runpy.run_path(str(EXAMPLES / "stated.py"))["STATED"]
    assert stated.keys() == gf.losses.METHODS.keys()
    code, out = run_here("train_torch.py", "--steps", "0")
    assert code == 1
    assert out.count("falls short") == len(stated)
