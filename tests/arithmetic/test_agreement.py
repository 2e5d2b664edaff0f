"""Rank-biased overlap, Kendall's τ and τ_AP: by hand, literally, as properties, and beside scipy."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import gainful as gf

# --- the literal, slow formulas; they share no code with the package


def agreement(first, second, depth):
    """The share of the first `depth` items that two lists have in common."""
    return len(set(first[:depth]) & set(second[:depth])) / depth


def infinite_rbo(first, second, p):
    """The defining sum, over lists so long that the rest is below 1e-13."""
    depth = min(len(first), len(second))
    assert p**depth < 1e-13
    return (1 - p) * sum(p ** (d - 1) * agreement(first, second, d) for d in range(1, depth + 1))


def at_worst(first, second, far):
    """Extend both lists by items that no other list has."""
    return [*first, *(("first", i) for i in range(far))], [
        *second,
        *(("second", i) for i in range(far)),
    ]


def at_best(first, second, far):
    """Extend each list by what only the other has, in its order, then both by the same."""
    same = [("both", i) for i in range(far)]
    return (
        [*first, *(item for item in second if item not in first), *same],
        [*second, *(item for item in first if item not in second), *same],
    )


def equation_32(first, second, p):
    """RBO_EXT as it is printed."""
    shorter, longer = sorted((first, second), key=len)
    s, l = len(shorter), len(longer)  # noqa: E741 - the letter of the paper
    x = {d: len(set(shorter[:d]) & set(longer[:d])) for d in range(1, l + 1)}
    head = sum(x[d] / d * p**d for d in range(1, l + 1))
    middle = sum(x[s] * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
    return (1 - p) / p * (head + middle) + ((x[l] - x[s]) / l + x[s] / s) * p**l


def sign(number):
    return (number > 0) - (number < 0)


def slow_tau(first, second, variant):
    pairs = list(itertools.combinations(first, 2))
    surplus = sum(sign(first[a] - first[b]) * sign(second[a] - second[b]) for a, b in pairs)
    if variant == "a":
        return Fraction(surplus, len(pairs))
    untied = [sum(side[a] != side[b] for a, b in pairs) for side in (first, second)]
    return surplus / math.sqrt(untied[0] * untied[1]) if all(untied) else None


def slow_tau_ap(reference, ranking):
    total = Fraction(0)
    for i in range(2, len(ranking) + 1):
        item = ranking[i - 1]
        right = [
            other for other in ranking[: i - 1] if reference.index(other) < reference.index(item)
        ]
        total += Fraction(len(right), i - 1)
    return 2 * total / (len(ranking) - 1) - 1


def two_lists(rng, items=12):
    """Two lists of different lengths with some items in common, or none, or all."""
    pool = [f"d{i}" for i in range(items)]
    other = rng.choice([pool, [f"d{i}" for i in range(items // 2, 2 * items)], list("xyzuvw")])
    return tuple(rng.sample(each, rng.randint(1, len(each))) for each in (pool, other))


# --- by hand


def test_rbo_of_three_items_by_hand():
    # The agreements are 1, 1/2 and 1: 0.1 · (1 + 0.9 · 1/2 + 0.81 · 1) + 0.729 · 1.
    first, second = ["a", "b", "c"], ["a", "c", "b"]
    assert gf.statistics.rbo(first, second) == pytest.approx(0.955, abs=1e-15)
    # From rank 4 on the overlap stays 3 at the least: Σ_{d>3} 0.9^(d−1)/d is
    # ln(10)/0.9 − (1 + 0.45 + 0.27), and 0.1 · (2.26 + 3 · that) = 0.4775283….
    rest = math.log(10) / 0.9 - 1.72
    assert gf.statistics.rbo(first, second, kind="least") == pytest.approx(
        0.226 + 0.3 * rest, abs=1e-15
    )
    assert gf.statistics.rbo(first, second, kind="least") == pytest.approx(0.4775283643, abs=1e-10)
    # All seen items agree, so at best all of the weight 0.9^3 is added beyond rank 3.
    assert gf.statistics.rbo(first, second, kind="residual") == pytest.approx(
        0.729 - 0.3 * rest, abs=1e-15
    )


def test_rbo_of_uneven_lists_by_hand():
    # s = 1, l = 2, X_1 = 0, X_2 = 1; A_1 = 0, A_2 = (1 + 1 · 0/1)/2: 0.1 · 0.9 · 1/2 + 0.81 · 1/2.
    assert gf.statistics.rbo(["b"], ["a", "b"]) == pytest.approx(0.45, abs=1e-15)
    # X_1 = X_2 = 1: the unseen second item is taken to agree, as the first does.
    assert gf.statistics.rbo(["a"], ["a", "b"]) == 1.0
    # p = 1/2: A_1 = 0, A_2 = 1/2, A_3 = (1 + 1 · 1/2)/3 = 1/2, with s = 2, l = 3, X = 0, 1, 1.
    assert gf.statistics.rbo(["a", "b"], ["b", "c", "d"], p=0.5) == 0.25


def test_kendall_tau_by_hand():
    assert gf.statistics.kendall_tau(["a", "b", "c"], ["a", "c", "b"]) == 1 / 3
    # 6 pairs; a–c and b–c and b–d and a–d in the same order, a–b and c–d not.
    assert gf.statistics.kendall_tau(list("abcd"), list("badc")) == 2 / 6
    # 3 pairs, one of them tied on the first side: (2 − 0)/√(2 · 3), and 2/3.
    tied, plain = {"x": 0.4, "y": 0.3, "z": 0.3}, {"x": 0.9, "y": 0.8, "z": 0.7}
    assert gf.statistics.kendall_tau(tied, plain) == 2 / math.sqrt(6)
    assert gf.statistics.kendall_tau(tied, plain, variant="a") == 2 / 3


def test_tau_ap_by_hand():
    # C(2) = 1 of 1, C(3) = 1 of 2: 2/2 · (1 + 1/2) − 1.
    assert gf.statistics.tau_ap(["a", "b", "c"], ["a", "c", "b"]) == 0.5
    # C(2) = 0 of 1, C(3) = 2 of 2: an exchange at the top costs more.
    assert gf.statistics.tau_ap(["a", "b", "c"], ["b", "a", "c"]) == 0.0
    # C = 1 of 1, 0 of 2, 3 of 3: 2/3 · 2 − 1.
    assert gf.statistics.tau_ap(list("abcd"), list("bcad")) == pytest.approx(1 / 3)
    # C = 0 of 1, 1 of 2, 3 of 3: 2/3 · 3/2 − 1.
    assert gf.statistics.tau_ap(list("bcad"), list("abcd")) == pytest.approx(0.0)
    both = gf.statistics.tau_ap(list("abcd"), list("bcad"), symmetric=True)
    assert both == pytest.approx((1 / 3 + 0.0) / 2)


def test_tau_ap_as_published():
    """The example in the documentation of the R package ircor, by J. Urbano and M. Marrero."""
    true = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
    found = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]
    value = gf.statistics.tau_ap(dict(enumerate(true)), dict(enumerate(found)))
    assert value == pytest.approx(0.3928571, abs=5e-8)


# --- the literal formulas


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8, 0.9])
def test_rbo_against_the_definition(p, deep):
    rng = random.Random(p)  # noqa: S311
    for _ in range(150 if deep else 75):
        first, second = two_lists(rng)
        far = math.ceil(math.log(1e-13) / math.log(p)) + 30
        least = infinite_rbo(*at_worst(first, second, far), p)
        most = infinite_rbo(*at_best(first, second, far), p)
        assert gf.statistics.rbo(first, second, p=p, kind="least") == pytest.approx(
            least, abs=1e-12
        )
        residual = gf.statistics.rbo(first, second, p=p, kind="residual")
        assert residual == pytest.approx(most - least, abs=1e-12)
        extrapolated = gf.statistics.rbo(first, second, p=p)
        assert extrapolated == pytest.approx(equation_32(first, second, p), abs=1e-12)


@pytest.mark.parametrize("kind", ["extrapolated", "least", "residual"])
def test_the_depth_cuts_both_lists(kind):
    rng = random.Random(kind)  # noqa: S311
    for _ in range(50):
        first, second = two_lists(rng)
        depth = rng.randint(1, 15)
        whole = gf.statistics.rbo(first[:depth], second[:depth], kind=kind)
        assert gf.statistics.rbo(first, second, kind=kind, depth=depth) == whole


@pytest.mark.parametrize("levels", [2, 5, 1000])
@pytest.mark.parametrize("variant", ["a", "b"])
def test_kendall_tau_against_all_pairs(levels, variant):
    rng = random.Random(levels)  # noqa: S311
    for _ in range(150):
        names = [f"s{i}" for i in range(rng.randint(2, 20))]
        first, second = ({name: rng.randrange(levels) / 8 for name in names} for _ in range(2))
        expected = slow_tau(first, second, variant)
        if expected is None:
            with pytest.raises(gf.errors.InputError, match="undefined"):
                gf.statistics.kendall_tau(first, second, variant=variant)
        else:
            assert gf.statistics.kendall_tau(first, second, variant=variant) == float(expected)


def test_tau_ap_against_the_definition():
    rng = random.Random(7)  # noqa: S311
    for _ in range(300):
        reference = [f"s{i}" for i in range(rng.randint(2, 25))]
        ranking = rng.sample(reference, len(reference))
        one, other = slow_tau_ap(reference, ranking), slow_tau_ap(ranking, reference)
        assert gf.statistics.tau_ap(reference, ranking) == pytest.approx(float(one), abs=1e-14)
        both = gf.statistics.tau_ap(reference, ranking, symmetric=True)
        assert both == pytest.approx(float(one + other) / 2, abs=1e-14)


# --- another tool


@pytest.mark.parametrize("items", [2, 3, 16, 17, 1000, 20_000])
def test_scipy_finds_the_same_tau(items):
    rng = np.random.default_rng(items)
    for levels in (3, items, 10**9):
        first, second = rng.integers(0, levels, (2, items))
        first[:2], second[:2] = (0, 1), (1, 0)  # not all tied
        ours = gf.statistics.kendall_tau(dict(enumerate(first)), dict(enumerate(second)))
        assert ours == pytest.approx(stats.kendalltau(first, second).statistic, abs=1e-12)


# --- properties

lists = st.lists(st.integers(0, 30), min_size=1, max_size=20, unique=True)
orders = st.permutations(range(8)).map(list)
persistence = st.floats(0.001, 0.999)
pairs_of_one_length = st.integers(1, 20).flatmap(
    lambda length: st.tuples(
        *2 * [st.lists(st.integers(0, 30), min_size=length, max_size=length, unique=True)]
    )
)
numbers = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-3, 3), min_size=2)


@given(lists, lists, persistence)
def test_rbo_is_symmetric_and_bounded(first, second, p):
    values = {}
    for kind in ("least", "extrapolated", "residual"):
        values[kind] = gf.statistics.rbo(first, second, p=p, kind=kind)
        assert values[kind] == gf.statistics.rbo(second, first, p=p, kind=kind)
        assert 0 <= values[kind] <= 1
    assert values["least"] <= values["extrapolated"] + 1e-12
    assert values["extrapolated"] <= values["least"] + values["residual"] + 1e-12
    if not set(first) & set(second):
        assert values["least"] == values["extrapolated"] == 0


@given(lists, persistence, st.integers(1, 20))
def test_rbo_of_a_list_with_itself_or_its_start_is_1(first, p, depth):
    assert gf.statistics.rbo(first, first, p=p) == 1
    assert gf.statistics.rbo(first, first[:depth], p=p) == 1


@given(pairs_of_one_length, persistence, st.integers(1, 20))
def test_what_is_seen_further_down_only_narrows_the_bounds(pair, p, depth):
    first, second = pair
    cut = {
        kind: gf.statistics.rbo(first, second, p=p, depth=depth, kind=kind)
        for kind in ("least", "residual")
    }
    whole = {
        kind: gf.statistics.rbo(first, second, p=p, kind=kind) for kind in ("least", "residual")
    }
    assert cut["least"] <= whole["least"] + 1e-12
    assert whole["residual"] <= cut["residual"] + 1e-12


@pytest.mark.parametrize("p", [5e-324, 1e-9, 0.5, 0.9, 0.999999, 1 - 2**-53])
@pytest.mark.parametrize("length", [1, 30, 3000])
def test_rbo_stays_exact_at_the_edges(p, length):
    same = list(range(length))
    least, residual = (
        gf.statistics.rbo(same, same, p=p, kind=kind) for kind in ("least", "residual")
    )
    assert gf.statistics.rbo(same, same, p=p) == 1
    assert 0 <= least <= 1
    assert 0 <= residual <= 1
    assert least + residual == pytest.approx(1, abs=1e-12)
    assert (
        gf.statistics.rbo(same, [-1], p=p) == gf.statistics.rbo(same, [-1], p=p, kind="least") == 0
    )


@given(orders, orders)
def test_tau_and_tau_ap_of_orders(first, second):
    assert gf.statistics.kendall_tau(first, first) == gf.statistics.tau_ap(first, first) == 1
    assert (
        gf.statistics.kendall_tau(first, first[::-1])
        == gf.statistics.tau_ap(first, first[::-1])
        == -1
    )
    assert gf.statistics.kendall_tau(first, second) == gf.statistics.kendall_tau(second, first)
    assert gf.statistics.kendall_tau(first, second) == pytest.approx(
        -gf.statistics.kendall_tau(first, second[::-1])
    )
    assert gf.statistics.kendall_tau(first, second) == gf.statistics.kendall_tau(
        first, second, variant="a"
    )
    assert -1 <= gf.statistics.tau_ap(first, second) <= 1
    both = gf.statistics.tau_ap(first, second, symmetric=True)
    assert both == pytest.approx(gf.statistics.tau_ap(second, first, symmetric=True))


@given(numbers)
def test_scores_that_grow_together_agree(scores):
    assume(len(set(scores.values())) > 1)
    assert (
        gf.statistics.kendall_tau(scores, {name: 3 * score + 1 for name, score in scores.items()})
        == 1
    )
    assert gf.statistics.kendall_tau(scores, {name: -score for name, score in scores.items()}) == -1


def test_tau_ap_weighs_the_top_and_tau_does_not():
    items = list(range(10))
    top, end = [1, 0, *items[2:]], [*items[:8], 9, 8]
    assert gf.statistics.kendall_tau(items, top) == gf.statistics.kendall_tau(items, end)
    assert gf.statistics.tau_ap(items, top) < gf.statistics.tau_ap(items, end)
