"""A copy of the package whose policy has one more choice, added as the architecture page says: `capitals`."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import gainful as gf

TESTS = Path(__file__).parent
FIELD = """\
    capitals: str = _choice(
        "Do documents in capitals count?",
        {"yes": "as all others do", "no": "not at all: they are removed"},
    )

"""
STEP = '''\
def _without_capitals(rows: PackedRows, _: Policy, __: Chunks | None) -> PackedRows:
    """Remove documents in capitals."""
    return rows.at(np.flatnonzero([not doc.isupper() for doc in rows.texts()]))


_CAPITALS = Step(lambda policy: policy.capitals == "no", _without_capitals)
'''
# Where each text of a file is inserted: before a line that is found once after another line.
ADDITIONS = {
    "measures/policy.py": [(FIELD, "class Policy:", "    def __post_init__(")],
    "matching/match.py": [
        (STEP, "_ONCE = ", "STEPS_OF_JUDGMENTS: "),
        ("    _CAPITALS,\n", "STEPS_OF_JUDGMENTS: ", ")\n"),
        ("    _CAPITALS,\n", "STEPS_OF_RUN: ", ")\n"),
    ],
}
JUDGMENTS = [
    ("q1", "a", 2.0),
    ("q1", "XB", 3.0),
    ("q1", "b", 1.0),
    ("q2", "a", 1.0),
    ("q2", "c", 2.0),
]
RUN = [
    ("q1", "XB", 0.9),
    ("q1", "X", 0.8),
    ("q1", "c", 0.5),
    ("q1", "a", 0.25),
    ("q2", "X1", 1.0),
    ("q2", "a", 0.5),
]
POLICY = {"capitals": "no", "ties": "doc"}
PREAMBLE = """
import json, sys
from pathlib import Path
import gainful as gf
from added_choice import JUDGMENTS, POLICY, RUN
from input_forms import FORMS, as_dicts

folder = Path(sys.argv[1])
"""


def added_to(folder):
    """Copy the package into a folder, with the choice added, and return the folder."""
    shutil.copytree(
        Path(gf.__file__).parent,
        folder / "gainful",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for name, additions in ADDITIONS.items():
        path = folder / "gainful" / name
        text = path.read_text()
        for addition, after, before in additions:
            at = text.index(f"\n{before}", text.index(f"\n{after}")) + 1
            text = text[:at] + addition + text[at:]
        path.write_text(text)
    return folder


def environment(folder):
    """Return the environment of a process that imports the copy."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(TESTS)])}


def printed_by(program, folder):
    """Run a program that prints JSON with the copy, in a folder, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + program, str(folder)],
        capture_output=True,
        text=True,
        env=environment(folder),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_small_letters(rows):
    """Return the rows that are left."""
    return [row for row in rows if not row[1].isupper()]
