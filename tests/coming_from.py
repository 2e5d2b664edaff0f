"""The pages in docs/coming_from/: their code is run, and so is what stands in their tables.

Three kinds of tables are known by their heads:

- `| TOOL | gainful |`: names of measures. The page, or the test, has `left` and `right`, which return the
  value that the tool and gainful give a name; they must be the same.
- `| before | with gainful |`: calls. Each is evaluated; where both sides are numbers, they must be
  the same.
- `| … | to get the old behaviour |`: choices of a policy. The dialect of the tool must have them.
"""

import ast
import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path

import pytest

import gainful as gf

PAGES = Path(__file__).parents[1] / "docs" / "coming_from"
DIALECTS = {
    "trec_eval": ("trec_eval",),
    "pytrec_eval": ("pytrec_eval",),
    "ir_measures": ("ir_measures",),
    "ranx": ("ranx",),
    "scikit_learn": ("scikit-learn",),
    "torchmetrics": ("torchmetrics",),
    "mllib": ("spark-mllib",),
    "mteb": ("mteb", "beir"),  # of tasks with ignore_identical_ids
}
CODE = re.compile(r"`([^`]+)`")


def tables(text):
    """Return the tables of a page as rows of cells, the head first."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    split = [[re.split(r"(?<!\\)\|", line[1:-1]) for line in table.splitlines()] for table in found]
    return [[[cell.strip() for cell in row] for row in [rows[0], *rows[2:]]] for rows in split]


def check(page, cli, **given):
    """Run a page and its tables; return how many rows were held to something, by kind."""
    path = PAGES / f"{page}.md"
    text = path.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, dict(given), path.name, str(path), 0)
    runner, printed = doctest.DocTestRunner(), io.StringIO()
    runner.run(test, out=printed.write, clear_globs=False)
    assert runner.failures == 0, printed.getvalue()
    held = {"names": 0, "calls": 0, "choices": 0}
    for head, *rows in tables(text):
        if head[1:] == ["gainful"]:
            held["names"] += len(rows)
            same_values(rows, test.globs)
        elif head == ["before", "with gainful"]:
            held["calls"] += len(rows)
            same_calls(rows, test.globs, cli)
        elif head[-1] == "to get the old behaviour":
            held["choices"] += sum(same_choice(row[-1], page) for row in rows)
    return held


def same_values(rows, globs):
    for theirs, ours in rows:
        (name,), (other,) = CODE.findall(theirs), CODE.findall(ours)
        value = globs["left"](name)
        assert globs["right"](other) == pytest.approx(float(value), abs=1e-6), name


def same_calls(rows, globs, cli):
    for theirs, ours in rows:
        sides = [
            [ran(code, globs, cli) for code in CODE.findall(cell) if runs(code)]
            for cell in (theirs, ours)
        ]
        assert any(sides), f"nothing to run: {theirs}"
        numbers = [side[0] for side in sides if len(side) == 1 and is_number(side[0])]
        if len(numbers) == 2:
            assert numbers[1] == pytest.approx(float(numbers[0]), abs=1e-6), theirs


def is_number(value):
    with contextlib.suppress(TypeError, ValueError):
        return isinstance(float(value), float)
    return False


def runs(code):
    """Whether a piece of code is an expression with a call in it, or a command of gainful."""
    if code.startswith("gainful "):
        return True
    try:
        parsed = ast.parse(code, mode="eval")
    except SyntaxError:  # a command of another tool, or a part of a call
        return False
    return any(isinstance(node, ast.Call) for node in ast.walk(parsed))


def ran(code, globs, cli):
    if not code.startswith("gainful "):
        return eval(code, globs)  # noqa: S307 - it is our own page
    done = cli(*shlex.split(code)[1:])
    assert done.returncode == 0, done.stderr
    return done.stdout


def same_choice(cell, page):
    """Whether a cell has a choice of a policy, which the tool's dialect must have."""
    found = re.search(r"`policy=({.*})`", cell)
    if found is None:
        return False
    ((name, value),) = ast.literal_eval(found[1]).items()
    assert getattr(gf.Policy(**{name: value}), name) == value
    assert any(getattr(gf.measures.dialect(one).policy, name) == value for one in DIALECTS[page]), (
        cell
    )
    return True
