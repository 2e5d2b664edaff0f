"""A picture for each choice of a policy: one small case, and what each answer makes of it.

What the boxes hold is drawn by hand; every number is what gainful computes of the case.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

import gainful as gf

PICTURES = Path(__file__).parent / "pictures"
# A box is a text and how it is drawn: a plus is good, a minus bad; ? has no judgment, and · is no document.
STYLES = {
    "+": 'fill="#b7e1cd" stroke="#1b7a4b"',
    "0": 'fill="#eceff1" stroke="#78909c"',
    "-": 'fill="#f6c7c0" stroke="#b23c2b"',
    "?": 'fill="#ffffff" stroke="#78909c" stroke-dasharray="4 3"',
    "·": 'fill="none" stroke="#b0bec5" stroke-dasharray="1 3"',
}
DARK = """<style>
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e9ed } .card { fill: #1e2129; stroke: #3d444d }
    [fill="#b7e1cd"] { fill: #1d5138; stroke: #6fcf9c } [fill="#eceff1"] { fill: #343a44; stroke: #9aa3af }
    [fill="#f6c7c0"] { fill: #6b2a21; stroke: #f0958a } [fill="#ffffff"]:not(.card) { fill: #1e2129; stroke: #9aa3af }
  }
</style>"""
WIDTH, ROW, BOX, GAP, LEFT, TOP = 640, 44, 62, 8, 205, 46


@dataclass(frozen=True)
class Case:
    """One case: what it is in words, its data, and the boxes of each answer."""

    told: str
    judgments: dict[str, dict[str, float]]
    run: object
    boxes: dict[str, str]
    measure: str = "nDCG@3"
    chunks: str | None = None


ONE = {"q": {"a": 2, "b": 1}}
BAD = {"q": {"a": 2, "b": 1, "c": -1}}
TWO = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
CASES = {
    "ties": Case(
        "Three documents with equal scores, given as b, c, a. Their grades: a 2, b 1, c 0.",
        {"q": {"a": 2, "b": 1, "c": 0}},
        {"q": {"b": 0.5, "c": 0.5, "a": 0.5}},
        {
            "auto": "c 0|b +1|a +2",
            "doc": "c 0|b +1|a +2",
            "doc_ascending": "a +2|b +1|c 0",
            "average": "all six orders",
            "best": "a +2|b +1|c 0",
            "worst": "c 0|b +1|a +2",
            "order": "b +1|c 0|a +2",
        },
    ),
    "unjudged": Case(
        "The first document, x, has no judgment. Grades: a 2, b 1.",
        ONE,
        {"q": {"x": 3, "a": 2, "b": 1}},
        {"zero": "x ?|a +2|b +1", "condense": "a +2|b +1", "error": "", "1": "x +1|a +2|b +1"},
    ),
    "absent": Case(
        "The run has one document, and the cutoff is 3. Grades: a 2, b 1, c −1.",
        BAD,
        {"q": {"a": 1}},
        {"zero": "a +2|·|·", "lowest": "a +2|-1|-1", "1": "a +2|+1|+1"},
    ),
    "negative": Case(
        "A bad document, c, is at rank 1. Grades: a 2, b 1, c −1.",
        BAD,
        {"q": {"c": 3, "a": 2, "b": 1}},
        {
            "auto": "c -1|a +2|b +1",
            "keep": "c -1|a +2|b +1",
            "zero": "c 0|a +2|b +1",
            "both": "c -1|a +2|b +1",
            "unjudged": "c ?|a +2|b +1",
            "error": "",
        },
    ),
    "missing": Case(
        "Two queries are judged, and the second is missing from the run.",
        TWO,
        {"q1": {"b": 2, "a": 1}},
        {"zero": "q1 +|q2 0", "skip": "q1 +", "error": ""},
    ),
    "empty": Case(
        "The second query has no document with a positive gain.",
        {"q1": {"a": 2, "b": 1}, "q2": {"c": 0}},
        {"q1": {"b": 2, "a": 1}, "q2": {"c": 1}},
        {
            "zero": "q1 +|q2 0",
            "skip": "q1 +",
            "skip_all": "q1 +",
            "one": "q1 +|q2 +1",
            "abstain": "q1 +|q2 0",
            "error": "",
            "nan": "q1 +|q2 ?",
        },
    ),
    "duplicates": Case(
        "The run contains a twice, with scores 0.2 and 0.9; b has 0.5. Grades: a 2, b 1.",
        ONE,
        [("q", "a", 0.2), ("q", "b", 0.5), ("q", "a", 0.9)],
        {"error": "", "first": "b +1|a +2", "best": "a +2|b +1"},
    ),
    "extra": Case(
        "The run has a second query, which nobody judged.",
        {"q1": {"a": 2, "b": 1}},
        {"q1": {"b": 2, "a": 1}, "q2": {"c": 1}},
        {"ignore": "q1 +", "error": ""},
    ),
    "fold": Case(
        "Chunks of documents: a#1 0.2, b#1 0.5, a#2 0.9. Grades: a 2, b 1.",
        ONE,
        {"q": {"a#1": 0.2, "b#1": 0.5, "a#2": 0.9}},
        {
            "auto": "a +2|b +1",
            "none": "a#2 ?|b#1 ?|a#1 ?",
            "max": "a +2|b +1",
            "first": "b +1|a +2",
            "in_place": "a +2|b +1|a#1 ?",
        },
        chunks="#",
    ),
    "drop_self": Case(
        "The query b is in the collection, and retrieves itself first. Grades: a 2, b 1.",
        {"b": {"a": 2, "b": 1}},
        {"b": {"b": 3, "x": 2, "a": 1}},
        {"no": "b +1|x ?|a +2", "yes": "x ?|a +2", "run": "x ?|a +2"},
    ),
    "precision": Case(
        "Scores that differ in the tenth digit: a 0.5000000001, b 0.5. Grades: a 2, b 1.",
        ONE,
        {"q": {"a": 0.5000000001, "b": 0.5}},
        {"double": "a +2|b +1", "single": "b +1|a +2"},
    ),
}


def value(name: str, answer: str, case: Case) -> str:
    """Return what a case is worth under an answer, or that it is an error."""
    chunks = None if answer == "none" else case.chunks  # with which none is refused
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        try:
            scores = gf.evaluate(
                case.judgments, case.run, case.measure, policy={name: answer}, chunks=chunks
            )
        except gf.errors.InputError:
            return "error"
    found = scores[case.measure]
    return "not a number" if math.isnan(found) else f"{found:.4f}"


def rows_of(name: str) -> list[tuple[str, str, str]]:
    """Return the answers of a choice with their boxes and values."""
    case = CASES[name]
    return [
        (answer, boxes, value(name, answer, case))
        for answer, boxes in ((each, case.boxes[each]) for each in case.boxes)
    ]


def style_of(box: str) -> str:
    """Return how a box is drawn, by its last sign."""
    last = box.split()[-1]
    return STYLES[last[0] if last[0] in STYLES else "0"]


def picture(name: str) -> str:
    """Return the picture of a choice."""
    case, rows = CASES[name], rows_of(name)
    height = TOP + ROW * len(rows) + 12
    text = 'font-family="system-ui, sans-serif" font-size="15" fill="#263238"'
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(told(name))}">'
        ),
        # A ground of its own, so that it can be read on light and dark pages alike.
        DARK,
        f'<rect class="card" width="{WIDTH}" height="{height}" rx="10" fill="#ffffff" stroke="#cfd8dc"/>',
        f'<g {text}><text x="16" y="28" font-size="14">{escape(case.told)}</text>',
    ]
    for place, (answer, boxes, found) in enumerate(rows):
        y = TOP + ROW * place
        parts.append(f'<text x="16" y="{y + 22}" font-weight="600">{name}={answer}</text>')
        parts += drawn(boxes, y)
        shown = found if found in ("error", "not a number") else f"{case.measure} = {found}"
        parts.append(f'<text x="{WIDTH - 16}" y="{y + 22}" text-anchor="end">{shown}</text>')
    return "\n".join([*parts, "</g></svg>", ""])


def drawn(boxes: str, y: int) -> list[str]:
    """Return boxes as they are drawn in a row."""
    x, parts = LEFT, []
    if boxes and "|" not in boxes and boxes.split()[0] == "all":
        return [f'<text x="{x}" y="{y + 22}" font-style="italic">{boxes}</text>']
    for box in filter(None, boxes.split("|")):
        parts.append(f'<rect x="{x}" y="{y}" width="{BOX}" height="34" rx="6" {style_of(box)}/>')
        shown = box.replace("+", "").replace("-", "−").replace("·", "").strip()
        parts.append(f'<text x="{x + BOX // 2}" y="{y + 22}" text-anchor="middle">{shown}</text>')
        x += BOX + GAP
    return parts


def told(name: str) -> str:
    """Return the picture in words, for whoever does not see it."""
    rows = ", ".join(f"{answer} {found}" for answer, _, found in rows_of(name))
    return f"{CASES[name].told} {CASES[name].measure}: {rows}."


def sections() -> str:
    """Return a section for each choice: the question, the answers, the picture."""
    parts = []
    for choice in gf.measures.choices():
        answers = [f"- `{name}`: {meaning}" for name, meaning in choice.answers.items()]
        answers[0] += " (the default)"
        if choice.grade:
            answers.append(f"- a grade: {choice.grade}")
        parts += [
            f"### {choice.name}",
            choice.question,
            "\n".join(answers),
            f"![{told(choice.name)}](../pictures/policy_{choice.name}.svg)",
        ]
    return "\n\n".join(parts)


def pictures() -> dict[Path, str]:
    """Return the files of all pictures."""
    return {PICTURES / f"policy_{name}.svg": picture(name) for name in CASES}


PARTS: dict[str, Callable[[], str]] = {"policy_pictures": sections}
