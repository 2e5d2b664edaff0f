"""The playground's JavaScript, in Node, on the conformance vectors."""

import json
from collections import Counter
from pathlib import Path

import pytest
from playground_states import DEFAULTS

VECTORS = Path(__file__).parents[2] / "vectors"

# The page shows one list of one query, in which each document stands once, and grades it by a formula.
LEFT_OUT = {
    "another measure": lambda case: case["measure"]["name"] not in ("CG", "DCG", "IDCG", "nDCG"),
    "a query without a list, or without judgments": lambda case: any(
        None in (query["run"], query["judged"]) for query in case["queries"]
    ),
    "a table of gains": lambda case: isinstance(case["measure"].get("gain"), list),
    "a table of discounts": lambda case: isinstance(case["measure"].get("discount"), list),
    "a document twice": lambda case: "duplicates" in case["choices"],
    "a rule for the query's own document": lambda case: "drop_self" in case["choices"],
    "scores that tie as float32": lambda case: case["choices"].get("precision") == "single",
    "a grade of what a short list lacks": lambda case: case["choices"].get("absent", "zero") != "zero",
    "a grade of what is unjudged, or its refusal": lambda case: (
        case["choices"].get("unjudged", "zero") not in ("zero", "condense")
    ),
    "negative grades refused, or no judgments": lambda case: (
        case["choices"].get("negative") in ("error", "unjudged")
    ),
    "an empty query left out, refused or undefined": lambda case: (
        case["choices"].get("empty", "zero") not in ("zero", "one")
    ),
}  # fmt: skip


def state_of(case, query):
    """Return a query of a case as a state: by score, equal ones tied, and the rest of what is judged."""
    measure, grades = case["measure"], dict(query["judged"])
    ranked = sorted(query["run"], key=lambda pair: -pair[1])
    listed = [
        {"id": doc, "grade": grades.get(doc), "tied": bool(place) and score == ranked[place - 1][1]}
        for place, (doc, score) in enumerate(ranked)
    ]
    returned = {doc for doc, _ in ranked}
    rest = [{"id": doc, "grade": grade} for doc, grade in grades.items() if doc not in returned]
    settings = {
        "k": "all" if measure["k"] is None else measure["k"],
        "gain": measure["gain"],
        "discount": measure.get("discount", "none"),
        "base": measure.get("base", 2),
    }
    if settings["discount"] == "power":
        settings["discount"] = f"power({measure['exponent']})"
    return DEFAULTS | case["choices"] | settings | {"list": listed, "rest": rest}


@pytest.fixture(scope="module")
def cases():
    files = sorted(VECTORS.glob("*.json"))
    assert files
    return [case for path in files for case in json.loads(path.read_text("utf-8"))["cases"]]


def reason(case):
    return next((name for name, holds in LEFT_OUT.items() if holds(case)), None)


def test_the_page_gives_their_values(ask, cases):
    told = [case for case in cases if reason(case) is None]
    states = [(case, query) for case in told for query in case["queries"]]
    found = iter(ask([["measured", state_of(*each)] for each in states]))
    for case in told:
        name = case["measure"]["name"].lower()
        values = {query["query"]: next(found)[name] for query in case["queries"]}
        assert values == pytest.approx(case["expect"]["queries"], rel=1e-12, abs=1e-12), case["id"]
        mean = sum(values.values()) / len(values)
        assert mean == pytest.approx(case["expect"]["value"], rel=1e-12, abs=1e-12), case["id"]


def test_what_is_left_out_is_what_the_page_cannot_show(cases):
    counts = Counter(reason(case) for case in cases)
    assert set(counts) == {None, *LEFT_OUT}
    assert counts[None] > 0.7 * len(cases)
