"""Corrections for popularity and for sampled candidates: literal formulas, closed forms, enumeration, simulation."""

import math
from itertools import combinations, product

import numpy as np
import pytest

import gainful as gf
from gainful.evaluation.debiasing import values_by_rank

HISTORY = [{"user": f"u{n}", "item": item} for item, count in {"a": 16, "b": 4, "c": 1}.items() for n in range(count)]  # fmt: skip


def random_case(seed=0, users=25, items=12):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, items)
    history = [{"user": f"h{n}", "item": f"i{item}"} for item in range(items) for n in range(counts[item])]  # fmt: skip
    liked = {f"u{user}": {f"i{item}": int(rng.integers(1, 4)) for item in rng.choice(items, 3, replace=False)} for user in range(users)}  # fmt: skip
    runs = {name: {user: [f"i{item}" for item in rng.permutation(items)[:8]] for user in liked} for name in "xy"}  # fmt: skip
    del runs["y"]["u3"]
    return counts, history, liked, runs


def literal(counts, liked, run, name, k, gamma, clip, method):
    """The estimators as their definitions say."""

    def weight(item):
        chances = [max(count, 1) ** ((gamma + 1) / 2) for count in counts]
        return 1 / max(chances[int(item[1:])] / max(chances), clip)

    def dcg(gains):
        return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:k]))

    values, largest = [], []
    for user, own in liked.items():
        shown = run.get(user, [])[:k]
        if name == "R":
            values.append(sum(weight(item) for item in own if item in shown) / len(own))
            largest.append(sum(map(weight, own)) / len(own))
        else:
            ideal = dcg(sorted(own.values(), reverse=True))
            values.append(dcg([own.get(item, 0) * weight(item) for item in shown]) / ideal)
            largest.append(dcg(sorted((own[item] * weight(item) for item in own), reverse=True)) / ideal)  # fmt: skip
    return np.mean(values) / (np.mean(largest) if method == "snips" else 1)


@pytest.mark.parametrize("method", ["snips", "ips"])
@pytest.mark.parametrize(("gamma", "clip"), [(0, 0.01), (1, 0.2), (2.5, 0.001)])
@pytest.mark.parametrize("measure", ["R@3", "nDCG@5", "nDCG"])
def test_the_literal_formulas(measure, gamma, clip, method):
    counts, history, liked, runs = random_case()
    found = gf.recommending.debias(liked, runs, measure, history=history, gamma=gamma, clip=clip, method=method)  # fmt: skip
    name, _, k = measure.partition("@")
    values = [literal(counts, liked, run, name, int(k or 99), gamma, clip, method) for run in runs.values()]  # fmt: skip
    assert [row["value"] for row in found.rows] == pytest.approx(values)
    assert found.rows[0]["difference"] is None
    assert found.rows[1]["difference"] == pytest.approx(values[1] - values[0])
    plain = gf.evaluate_runs(liked, runs, measure)
    assert [row["plain"] for row in found.rows] == pytest.approx([plain[run][measure] for run in "xy"])  # fmt: skip


def test_two_items_in_closed_form():
    liked = {"u": ["a"], "v": ["b"]}
    found = gf.recommending.debias(liked, {"hits": {"u": ["a"], "v": ["a"]}, "all": {"u": ["a"], "v": ["b"]}}, "R@1", history=HISTORY)  # fmt: skip
    # γ = 1: propensities 1 and 4/16, weights 1 and 4.
    assert found.rows[0]["value"] == pytest.approx(1 / 5)
    assert found.rows[1]["value"] == pytest.approx(1)
    assert found.effective == pytest.approx(25 / 17)
    half = gf.recommending.debias(liked, {"hits": {"u": ["a"], "v": ["a"]}}, "R@1", history=HISTORY, gamma=0, clip=0.5)  # fmt: skip
    assert half.rows[0]["value"] == pytest.approx(1 / 3)  # the propensity √(4/16) is the clip
    assert half.clipped == 0.5


def test_equally_popular_items_need_no_correction():
    _, _, liked, runs = random_case()
    history = [{"user": f"h{n}", "item": f"i{item}"} for item in range(12) for n in range(3)]
    for method in ("snips", "ips"):
        found = gf.recommending.debias(liked, runs, ["R@3", "nDCG@3"], history=history, method=method)  # fmt: skip
        assert [row["value"] for row in found.rows] == pytest.approx([row["plain"] for row in found.rows])  # fmt: skip
        assert found.effective == pytest.approx(found.relevant)


def simulated(rng, users=300, items=40):
    """A log in which users observe popular items more often, and the top 5 of a run."""
    chances = np.linspace(1, 0.1, items)
    likes = rng.random((users, items)) < 0.3
    top = np.argsort(-rng.random((users, items)) - 0.5 * chances, axis=1)[:, :5]
    observed = likes & (rng.random((users, items)) < chances)
    rows = {f"u{user}": np.flatnonzero(row) for user, row in enumerate(observed) if row.any()}
    liked = {user: {f"i{item}": 1 for item in row} for user, row in rows.items()}
    run = {f"u{user}": [f"i{item}" for item in row] for user, row in enumerate(top.tolist())}
    history = [
        {"user": f"h{n}", "item": f"i{item}"}
        for item in range(items)
        for n in range(round(40 * chances[item]))
    ]
    return liked, run, history


def coverage(repeats):
    """How often the interval contains the recall of users who observe every item, and the plain value."""
    rng = np.random.default_rng(11)
    truth = 5 / 40  # users like all items equally often
    inside = plain = 0
    for _ in range(repeats):
        liked, run, history = simulated(rng)
        row = gf.recommending.debias(liked, {"run": run}, "R@5", history=history).rows[0]
        inside += row["low"] <= truth <= row["high"]
        plain += row["low"] <= row["plain"] <= row["high"]
    return inside / repeats, plain / repeats


def test_simulated_intervals_contain_the_truth_that_the_plain_value_misses():
    inside, plain = coverage(20)
    assert inside >= 0.75
    assert plain <= 0.5


def test_intervals_cover_as_often_as_their_level_says():
    inside, _ = coverage(300)
    assert 0.92 <= inside <= 0.99


# --- sampled candidates


def expected_by_enumeration(estimates, rank, items, sampled, replacement):
    """The mean of the estimate over all samples of the other items, of which rank − 1 are above."""
    others = range(1, items)
    draws = product(others, repeat=sampled) if replacement else combinations(others, sampled)
    return np.mean([estimates[sum(other < rank for other in draw)] for draw in draws])


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("trade", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("measure", ["AP", "nDCG@2", "R@2"])
def test_the_bias_is_what_enumeration_finds(measure, trade, replacement):
    items, sampled = 7, 3
    found = gf.recommending.correct_sampled([1, 2], measure, items=items, sampled=sampled, trade=trade, replacement=replacement)  # fmt: skip
    values = {"AP": lambda r: 1 / r, "nDCG@2": lambda r: (r <= 2) / math.log2(r + 1), "R@2": lambda r: float(r <= 2)}[measure]  # fmt: skip
    for rank in range(1, items + 1):
        mean = expected_by_enumeration(found.estimates, rank, items, sampled, replacement)
        assert mean - values(rank) == pytest.approx(found.bias[rank - 1], abs=1e-9)
    assert found.largest_bias == pytest.approx(max(map(abs, found.bias)))


def loss(estimates, measure, items, sampled, trade):
    """Squared bias plus γ times the variance, over all ranks and samples."""
    total = 0.0
    for rank in range(1, items + 1):
        own = [estimates[sum(other < rank for other in draw)] for draw in combinations(range(1, items), sampled)]  # fmt: skip
        total += (np.mean(own) - measure[rank - 1]) ** 2 + trade * np.var(own)
    return total


@pytest.mark.parametrize("trade", [0.05, 0.5, 1.0])
def test_no_other_estimate_has_less_bias_and_variance(trade):
    items, sampled, rng = 6, 2, np.random.default_rng(5)
    found = gf.recommending.correct_sampled([1, 2], "nDCG@3", items=items, sampled=sampled, trade=trade)  # fmt: skip
    values = values_by_rank(gf.measure("nDCG@3"), items)
    best = loss(found.estimates, values, items, sampled, trade)
    for scale in (0.01, 0.1, 1.0):
        other = np.array(found.estimates) + scale * rng.normal(size=sampled + 1)
        assert loss(other, values, items, sampled, trade) > best


def test_all_items_need_no_correction():
    found = gf.recommending.correct_sampled([1, 3, 4], "nDCG@3", items=5, sampled=4, trade=0)
    assert found.value == pytest.approx(found.sampled_value)
    assert found.largest_bias < 1e-9


def test_the_order_of_two_models():
    """The sampled measure prefers the model that is worse at the top; the correction does not."""
    rng = np.random.default_rng(2)
    ranks = {"sharp": np.where(np.arange(4000) % 5 == 0, 1, 5000), "flat": np.full(4000, 300)}
    values = {}
    for name, true in ranks.items():
        seen = 1 + rng.hypergeometric(true - 1, 10_000 - true, 100)
        values[name] = gf.recommending.correct_sampled(seen, "nDCG@10", items=10_000, sampled=100)
    assert values["flat"].sampled_value > values["sharp"].sampled_value
    assert values["sharp"].value > values["flat"].value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gf.recommending.correct_sampled([0, 1], items=9, sampled=3), "ranks from 1 to 4"),
        (lambda: gf.recommending.correct_sampled([1.5, 1], items=9, sampled=3), "whole numbers"),
        (lambda: gf.recommending.correct_sampled([1, 2], items=3, sampled=3), "at most the 2"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "AP", history=HISTORY), "nDCG or R"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "nDCG(gain=exp2)", history=HISTORY), "nDCG or R"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "R", history=HISTORY, clip=0), "clip"),
    ],
)  # fmt: skip
def test_what_cannot_be_corrected(call, message):
    with pytest.raises(gf.errors.InputError, match=message):
        call()
