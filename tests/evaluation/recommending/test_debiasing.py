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


# What each measure adds for a relevant item with some grade at some rank.
ADDED = {
    "CG@4": lambda grade, rank: grade,
    "DCG(gain=exp2)@4": lambda grade, rank: (2**grade - 1) / math.log2(rank + 1),
    "DCG(discount=[1, 0.7, 0.2])@4": lambda grade, rank: grade * [1, 0.7, 0.2, 0][rank - 1],
    "P(rel=2)@4": lambda grade, rank: (grade >= 2) / 4,
    "RBP(p=0.6, max=3)@4": lambda grade, rank: 0.4 * 0.6 ** (rank - 1) * grade / 3,
}


@pytest.mark.parametrize("measure", ADDED)
def test_sums_that_are_not_normalised(measure):
    """IPS weighs each term; SNIPS divides by the weighted ideals, and multiplies by the plain ones."""
    counts, history, liked, runs = random_case()
    added = ADDED[measure]
    weights = {f"i{item}": max(counts) / max(count, 1) for item, count in enumerate(counts.tolist())}  # fmt: skip

    def value(listed, own, weigh):
        terms = enumerate((own.get(item, 0), weights[item] if weigh else 1) for item in listed[:4])
        return sum(added(grade, place + 1) * weight for place, (grade, weight) in terms if grade)

    def best(own, weigh):
        def key(item):
            return -added(own[item], 1) * (weights[item] if weigh else 1)

        return value(sorted(own, key=key), own, weigh)

    users = [user for user, own in liked.items() if not measure.startswith("P") or max(own.values()) > 1]  # fmt: skip
    ips, scale, ideal = (
        [of(liked[user], runs["x"][user]) for user in users]
        for of in (
            lambda own, listed: value(listed, own, True),
            lambda own, _: best(own, True),
            lambda own, _: best(own, False),
        )
    )
    for method, expected in (("ips", np.mean(ips)), ("snips", np.mean(ips) * np.mean(ideal) / np.mean(scale))):  # fmt: skip
        found = gf.recommending.debias(liked, runs, measure, history=history, method=method, clip=1e-6)  # fmt: skip
        assert found.rows[0]["value"] == pytest.approx(expected)
    plain = gf.evaluate({user: liked[user] for user in users}, runs["x"], measure)[measure]
    assert found.rows[0]["plain"] == pytest.approx(plain)


def test_average_precision_without_bias():
    """Over all sets of observed items, the mean of the IPS sums is the sum that complete data give."""
    shown, chances = ["a", "x", "b", "c"], {"a": 1.0, "b": 4 / 16, "c": 1 / 16}
    complete = gf.evaluate({"u": list(chances)}, {"u": shown}, "AP")["AP"] * 3
    mean = 0.0
    for count in (1, 2, 3):
        for observed in combinations(chances, count):
            chance = math.prod(chances[item] if item in observed else 1 - chances[item] for item in chances)  # fmt: skip
            row = gf.recommending.debias({"u": list(observed)}, {"r": {"u": shown}}, "AP", history=HISTORY, method="ips").rows[0]  # fmt: skip
            mean += chance * row["value"] * count
    assert mean == pytest.approx(complete)


def test_one_relevant_item_each():
    liked = {"u": ["a"], "v": ["b"]}
    runs = {"r": {"u": ["a", "b"], "v": ["a", "b"]}}
    rows = gf.recommending.debias(liked, runs, ["RR", "Success@1", "R@1"], history=HISTORY).rows
    # Weights 1 and 4.
    assert [row["value"] for row in rows] == pytest.approx([(1 + 4 / 2) / 5, 1 / 5, 1 / 5])


def test_users_without_relevant_items_are_left_out_and_counted():
    liked = {"u": {"a": 5}, "v": {"b": 2}, "w": {"c": 0}}
    runs = {"r": {"u": ["a"], "v": ["b"], "w": ["c"]}}
    found = gf.recommending.debias(liked, runs, ["R(rel=4)@1", "CG@1"], history=HISTORY)
    assert [(row["plain"], row["without"]) for row in found.rows] == [(1, 2), (3.5, 1)]
    assert found.sentences()[2:] == [
        "R(rel=4)@1: 2 users have no relevant item and are left out.",
        "CG@1: 1 user has no relevant item and is left out.",
    ]
    options = {"measures": "R(rel=4)@1", "policy": {"empty": "skip"}}
    assert gf.evaluate(liked, runs["r"], **options)["R(rel=4)@1"] == found.rows[0]["plain"]


def test_the_best_orders_keep_their_value():
    """SNIPS divides by the best order of the weighted gains, in which rare items are first."""
    counts, history, liked, _ = random_case()
    weights = {f"i{item}": max(counts) / max(count, 1) for item, count in enumerate(counts.tolist())}  # fmt: skip
    best = {
        graded: {"best": {user: sorted(own, key=lambda item: -weights[item] * (own[item] if graded else 1)) for user, own in liked.items()}}
        for graded in (True, False)
    }  # fmt: skip
    for measure in ("nDCG", "R", "AP", "P@3"):
        runs = best[measure == "nDCG"]
        row = gf.recommending.debias(liked, runs, measure, history=history, clip=1e-6).rows[0]
        assert row["value"] == pytest.approx(1)


def rows_of(counts):
    return [{"user": f"h{n}", "item": f"i{item}"} for item, count in enumerate(counts) for n in range(int(count))]  # fmt: skip


def test_exponents_of_two_items_in_closed_form():
    found = gf.recommending.estimate_gamma(rows_of([16, 4]), exposures=rows_of([24, 3]))
    assert found.gamma == pytest.approx(math.log(24 / 3) / math.log(16 / 4))
    assert math.isnan(found.low)
    found = gf.recommending.estimate_gamma(rows_of([16, 4]), random=rows_of([6, 3]))
    # Relevant in proportion to n / n^((γ + 1) / 2), here √n.
    assert found.gamma == pytest.approx(0)


def test_exponents_of_simulated_items():
    rng, inside = np.random.default_rng(3), 0
    popularity = np.ceil(300 * (1 + np.arange(120)) ** -0.8)
    history = rows_of(popularity)
    for _ in range(100):
        shown = rng.poisson(0.4 * popularity**1.3 * rng.gamma(4, 1 / 4, 120))
        exposures = {"s": {f"i{item}": count for item, count in enumerate(shown.tolist())}}
        found = gf.recommending.estimate_gamma(history, exposures=exposures)
        inside += found.low <= 1.3 <= found.high
        assert abs(found.gamma - 1.3) < 0.5
    assert 0.85 <= inside / 100 <= 0.99


def test_exposures_determine_the_weights():
    _, history, liked, runs = random_case()
    found = gf.recommending.debias(liked, runs, "R@3", history=history, exposures=history)
    assert found.gamma == found.exponent.gamma == pytest.approx(1)
    known = gf.recommending.debias(liked, runs, "R@3", history=history, gamma=1)
    assert found.rows[0]["value"] == pytest.approx(known.rows[0]["value"])
    assert "γ = 1.00" in found.sentences()[1]


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
        (lambda: gf.recommending.correct_sampled([1, 2], ["AP", "RR"], items=9, sampled=3), "expected one measure, found 2"),
        (lambda: gf.recommending.correct_sampled([1.5, 1], items=9, sampled=3), "whole numbers"),
        (lambda: gf.recommending.correct_sampled([1, 2], items=3, sampled=3), "at most the 2"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "ILD@3", history=HISTORY), "ILD"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "ERR", history=HISTORY), "a sum over relevant items"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "HitRate@3", history=HISTORY), "use Success@3"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "AP(denominator=min)", history=HISTORY), "no parameters except rel"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "P", history=HISTORY), "P with a cutoff"),
        (lambda: gf.recommending.debias({"u": ["a", "b"]}, {"r": {"u": ["a"]}}, "RR", history=HISTORY), "one relevant item for each user"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "R", history=HISTORY, gamma=1, exposures=HISTORY), "one of them"),
        (lambda: gf.recommending.estimate_gamma(HISTORY), "exposures, random"),
        (lambda: gf.recommending.estimate_gamma(HISTORY, exposures=[{"user": "u", "item": "z"}]), "items of the history"),
        (lambda: gf.recommending.estimate_gamma(HISTORY, exposures=HISTORY[-1:]), "items of different popularity"),
        (lambda: gf.recommending.estimate_gamma(HISTORY[:16], exposures=HISTORY), "differ in popularity"),
        (lambda: gf.recommending.debias({"u": ["a"]}, {"r": {"u": ["a"]}}, "R", history=HISTORY, clip=0), "clip"),
    ],
)  # fmt: skip
def test_what_cannot_be_corrected(call, message):
    with pytest.raises(gf.errors.InputError, match=message):
        call()
