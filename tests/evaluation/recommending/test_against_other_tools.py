"""The answers of RecTools, RecBole, recommenders and recmetrics, as `record_recommenders.py` recorded them."""

import json
import math
from pathlib import Path

import pytest

import gainful as gf

RECORDED = json.loads(
    (Path(__file__).parents[2] / "stand_ins" / "recommenders.json").read_text(encoding="utf-8")
)
CASES = [
    pytest.param(case["given"], int(k), found, id=f"case {number} at {k}")
    for number, case in enumerate(RECORDED["cases"])
    for k, found in case["answers"].items()
]
evaluate = gf.recommending.evaluate_recommendations


def test_the_tools_are_these():
    assert {*RECORDED["versions"]} == {"rectools", "recbole", "recommenders", "recmetrics"}
    assert len(CASES) == 18


@pytest.mark.parametrize(("given", "k", "answers"), CASES)
def test_the_same_numbers(given, k, answers):
    others = {name: each for name, each in given.items() if name != "run"}
    for tool in ("RecTools", "RecBole"):
        for name, value in answers[tool].items():
            if "," in name:
                continue
            found = evaluate(given["run"], f"{name}@{k}", **others)
            ours = (
                found.per_query[f"{name}@{k}"] if isinstance(value, list) else found[f"{name}@{k}"]
            )
            assert ours == pytest.approx(value, abs=1e-12), (tool, name)
    found = evaluate(given["run"], [f"Entropy@{k}", f"Personalisation@{k}"], items=given["items"])
    expected = answers["recommenders"]["Entropy"]
    assert found[f"Entropy@{k}"] == pytest.approx(expected, abs=1e-12)
    nats = answers["RecBole"]["Entropy, nats per item shown"] * found.coverage.shown
    assert found[f"Entropy@{k}"] == pytest.approx(nats / math.log(2), abs=1e-12)
    personal = answers["recmetrics"]["Personalisation"]
    assert found[f"Personalisation@{k}"] == pytest.approx(personal, abs=1e-12)


@pytest.mark.parametrize(("given", "k", "answers"), CASES)
def test_novelty_by_interactions(given, k, answers):
    """recommenders leaves out items that the history lacks, and has one mean over all places."""
    known = {item for items in given["history"].values() for item in items}
    lists = {user: [i for i in items[:k] if i in known] for user, items in given["run"].items()}
    lists = {user: items for user, items in lists.items() if items}
    found = evaluate(lists, "Novelty(count=all)", history=given["history"])
    total = sum(
        value * len(lists[user])
        for user, value in zip(found.queries, found.per_query["Novelty(count=all)"], strict=True)
    )
    count = sum(map(len, lists.values()))
    expected = answers["recommenders"]["Novelty(count=all), of all items known to the history"]
    assert total / count == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("given", "k", "answers"), CASES)
def test_vectors(given, k, answers):
    """An intra-list similarity is 1 − the diversity."""
    if k > 1:
        found = evaluate(given["run"], f"ILD@{k}", vectors=given["vectors"])
        similar = answers["recmetrics"]["intra-list similarity"]
        assert found[f"ILD@{k}"] == pytest.approx(1 - similar, abs=1e-12)
