"""Build the wheel and the source distribution, and try each in an empty environment on every Python there is.

Trying means: install, run `gainful demo` and its first commands, and pass the conformance vectors.

    python packaging/build_and_try.py [--python PYTHON]...
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
_NEWEST_MINOR, _OLDEST_MINOR = 20, 11


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command, and return what it printed; show its output if it fails."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(  # noqa: S603
        [*map(str, command)], cwd=cwd, env=clean, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(folder: Path, python: str) -> Path:
    """Make an empty environment, and return its folder of programs."""
    run(python, "-m", "venv", folder)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def build(folder: Path) -> list[Path]:
    """Build both packages into `dist/`."""
    shutil.rmtree(DIST, ignore_errors=True)
    programs = environment(folder, sys.executable)
    run(programs / "python", "-m", "pip", "install", "--quiet", "build")
    run(programs / "python", "-m", "build", "--outdir", DIST, ROOT)
    return sorted(DIST.iterdir())


def try_out(package: Path, python: str, folder: Path) -> None:
    """Install a package, run the demo and the commands that it suggests, and pass the vectors."""
    programs = environment(folder / "environment", python)
    run(programs / "python", "-m", "pip", "install", "--quiet", package)
    gainful, demo = programs / "gainful", folder / "gainful-demo"
    run(gainful, "demo", cwd=folder)
    table = run(gainful, "evaluate", "judgments.csv", "hybrid.csv", "-m", "nDCG@10", cwd=demo)
    run(gainful, "compare", "judgments.csv", "keyword.csv", "hybrid.csv", cwd=demo)
    if "0.8722" not in table:
        sys.exit(f"{package.name}: expected nDCG@10 0.8722 in the demo, found:\n{table}")
    run(programs / "python", "-c", VECTORS, cwd=folder)
    version = run(programs / "python", "--version").strip()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    print(f"{package.name}, {version}: demo and vectors pass; the environment has {size:.0f} MB")


VECTORS = """
import math, warnings, gainful as gf
from gainful.compat.vectors.case_as_inputs import judgments_of, measure_of, policy_of, run_of
warnings.simplefilter("ignore", gf.errors.GainfulWarning)
passed = 0
for case in gf.vectors.cases():
    if "error" in case.expect:
        continue
    scores = gf.evaluate(judgments_of(case), run_of(case), measure_of(case), policy=policy_of(case.choices))
    (value,), expected = scores.means.values(), case.expect["value"]
    assert math.isnan(value) if expected is None else math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12), case.id
    passed += 1
assert passed > 400, passed
"""
"""A program that computes every conformance vector with gainful."""


def pythons(named: list[str]) -> list[str]:
    """Return the Pythons to try: those named, or every one on the path that gainful supports."""
    minors = range(_OLDEST_MINOR, _NEWEST_MINOR)
    paths = [path for minor in minors if (path := shutil.which(f"python3.{minor}"))]
    return named or [path for path in paths if starts(path)] or [sys.executable]


def starts(python: str) -> bool:
    """Whether a program on the path is a Python: pyenv also puts versions there that aren't selected."""
    return not subprocess.run([python, "--version"], capture_output=True, check=False).returncode  # noqa: S603


def main() -> None:
    """Build both packages and try them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], help="try this Python alone")
    named = parser.parse_args().python
    with tempfile.TemporaryDirectory() as folder:
        packages = build(Path(folder) / "build")
        for place, (package, python) in enumerate((p, q) for q in pythons(named) for p in packages):
            try_out(package, python, Path(folder) / str(place))


if __name__ == "__main__":
    main()
