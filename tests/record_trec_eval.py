"""Record what trec_eval itself prints for what docs/coming_from/trec_eval.md says: stand_ins/ has it.

Run it after a change of that page's tables or of the files, with both versions built from their sources:

    PYTHONPATH=src:tests python tests/record_trec_eval.py --nine ./trec_eval-9.0.8 --ten ./trec_eval-10.0

The sources of 9.0.8 say of themselves that they are 9.0.7.
"""

import argparse
import hashlib
import json
import re
import subprocess
import tempfile
from pathlib import Path

import coming_from

ROOT = Path(__file__).parents[1]
PLACE = Path(__file__).parent / "stand_ins" / "trec_eval.json"
COOKING = ("judgments.qrels", "hybrid.run", "keyword.run")
HYBRID, KEYWORD = "judgments.qrels hybrid.run", "judgments.qrels keyword.run"
# Small files for what the page says of single cases.
SMALL = {
    "negative.qrels": "q 0 a -1\nq 0 b 1\n",
    "fractional.qrels": "q 0 a 1.9\nq 0 b 1\n",
    "second.qrels": "q 0 b 1\n",
    "two.qrels": "q 0 a 1\nr 0 a 1\n",
    "a_b.run": "q Q0 a 1 2 t\nq Q0 b 2 1 t\n",
    "b_a.run": "q Q0 b 1 2 t\nq Q0 a 2 1 t\n",
    "twice.run": "q Q0 a 1 2 t\nq Q0 a 2 1 t\n",
    "tied.run": "q Q0 a 1 1 t\nq Q0 b 2 1 t\n",
}
# Beside those of the page: its options, and its single cases.
CALLS = (
    f"-m ndcg_cut.10 -m map {HYBRID}",
    f"-q -m map {HYBRID}",
    f"-l 2 -m P.5 {HYBRID}",
    f"-J -m map {HYBRID}",
    f"-M 5 -m map {HYBRID}",
    f"-m map {KEYWORD}",
    f"-c -m map {KEYWORD}",
    "-m ndcg negative.qrels a_b.run",
    "-m ndcg fractional.qrels b_a.run",
    "-m map second.qrels twice.run",
    "-m recip_rank second.qrels tied.run",
    "-m map two.qrels a_b.run",
    "-c -m map two.qrels a_b.run",
)


def named_on_the_page():
    """Return the options that stand in the page's table of measures."""
    text = (coming_from.PAGES / "trec_eval.md").read_text(encoding="utf-8")
    for head, *rows in coming_from.tables(text):
        if head == ["trec_eval", "gainful"]:
            return [coming_from.CODE.findall(row[0])[0] for row in rows]
    raise LookupError("no table of measures")


def put_files(folder):
    """Write the files of all calls into a folder, and return the beginning of the hash of each."""
    contents = {name: Path(ROOT, "examples", "cooking", name).read_bytes() for name in COOKING} | {
        name: text.encode() for name, text in SMALL.items()
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return {name: hashlib.sha256(each).hexdigest()[:16] for name, each in contents.items()}


def version_of(binary):
    done = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False)
    return re.search(r"[\d.]+\S*", done.stdout + done.stderr)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--nine", "--ten"):
        parser.add_argument(name, type=Path, required=True)
    options = parser.parse_args()
    binaries = {"9": options.nine.resolve(), "10": options.ten.resolve()}
    calls = [*(f"{option} {HYBRID}" for option in named_on_the_page()), *CALLS]
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        files = put_files(Path(folder))
        for version, binary in binaries.items():
            for call in calls:
                done = subprocess.run(
                    [binary, *call.split()], cwd=folder, capture_output=True, text=True, check=False
                )
                answers[f"{version}: {call}"] = {"code": done.returncode, "output": done.stdout}
    recorded = {
        "versions": {version: version_of(binary) for version, binary in binaries.items()},
        "files": files,
        "answers": answers,
    }
    PLACE.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
