"""Gates on slices: `change(M[column=value])` and `M[column=value]`."""

import numpy as np
import pytest

import gainful as gf
from gainful.analysis.comparison.gate import read_conditions
from gainful.errors import InputError

RNG = np.random.default_rng(2)
QUERIES = [f"q{i}" for i in range(120)]
KIND = {query: {"kind": "Toys" if i % 3 else "Books & more"} for i, query in enumerate(QUERIES)}
OLD = dict(zip(QUERIES, RNG.uniform(0.3, 0.6, 120).tolist(), strict=True))
NEW = {
    query: OLD[query] + (0.1 if i % 3 else -0.1) + RNG.normal(0, 0.02)
    for i, query in enumerate(QUERIES)
}
COMPARISON = gf.comparison.compare_scores({"old": OLD, "new": NEW}, slices=KIND)


def test_a_condition_names_its_slice() -> None:
    (condition,) = read_conditions(
        "change(nDCG@10[category=Toys, games]) > -0.02", ["nDCG@10"], unless=True
    )
    assert (condition.about, condition.name) == ("change", "nDCG@10")
    assert condition.part == ("category", "Toys, games")


def test_a_slice_that_loses_fails_though_the_whole_gains() -> None:
    whole = COMPARISON.gate("Δ value < -0.02")
    assert not whole.failed
    sliced = COMPARISON.gate("Δ value[kind=Books & more] < -0.02")
    assert sliced.failed
    assert not COMPARISON.gate("change(value[kind=Toys]) < -0.02").failed
    apart = np.array([NEW[q] - OLD[q] for q in QUERIES if KIND[q]["kind"] != "Toys"])
    assert f"{apart.mean():+.4f}" in sliced.checked[0].found


def test_the_mean_of_a_slice_has_a_floor() -> None:
    gate = COMPARISON.gate(["mean(value[kind=Toys]) < 0.5", "mean(value[kind=Books & more]) < 0.5"])
    assert [check.failed for check in gate.checked] == [False, True]
    assert len(COMPARISON.gate(["value[kind=Toys] < 0.5", "value < 0.5"]).checked) == 2


def test_the_level_is_shared_by_all_claims() -> None:
    one = COMPARISON.gate("Δ value[kind=Toys] < 0")
    two = COMPARISON.gate(["Δ value[kind=Toys] < 0", "Δ value[kind=Books & more] < 0"])
    assert "95% interval" in one.checked[0].found
    assert "97.5% interval" in two.checked[0].found


def test_scores_of_one_run_have_floors_for_slices() -> None:
    judgments = {query: {"a": 1} for query in QUERIES}
    run = {query: {"a": 1.0, "b": 2.0 - 2 * (i % 3 > 0)} for i, query in enumerate(QUERIES)}
    scores = gf.evaluate(judgments, run, "RR", slices=KIND)
    gate = gf.results.Gate.of_scores(scores, ["RR[kind=Toys] < 0.9", "RR[kind=Books & more] < 0.9"])
    assert [check.failed for check in gate.checked] == [False, True]


def test_unknown_slices_are_named() -> None:
    with pytest.raises(InputError, match=r"\[kind=Toy\]\. Did you mean '\[kind=Toys\]'\?"):
        COMPARISON.gate("Δ value[kind=Toy] < 0")
    plain = gf.comparison.compare_scores({"old": OLD, "new": NEW})
    with pytest.raises(InputError, match="found no slices"):
        plain.gate("Δ value[kind=Toys] < 0")
    with pytest.raises(InputError, match="missing is a fact about the whole run"):
        COMPARISON.gate("missing[kind=Toys] > 0")
