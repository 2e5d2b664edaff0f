"""Intervals and tests that hold at any time: literal formulas, and error rates over many looks."""

import itertools
import math

import numpy as np
import pytest

import gainful as gf
from gainful.arithmetic.statistics.anytime import (
    asymptotic_p,
    asymptotic_reach,
    betting_capital,
    betting_ends,
    combine_e_values,
)
from gainful.arithmetic.statistics.intervals import intervals_of_means
from gainful.arithmetic.statistics.moments import moments
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.errors import InputError

STREAMS = {
    "normal": lambda rng, shape: np.clip(rng.normal(0, 0.2, shape), -1, 1),
    "mostly zero": lambda rng, shape: rng.choice([-0.5, 0, 0.5], shape, p=[0.025, 0.95, 0.025]),
    "skewed": lambda rng, shape: rng.choice([-0.05, 0.45], shape, p=[0.9, 0.1]),
    "rare": lambda rng, shape: rng.choice([-0.02, 0.98], shape, p=[0.98, 0.02]),
}  # each has the mean 0


def literal_capital(values: list[float], mean: float) -> list[float]:
    """Return the capital after each value from −1 to 1, one bet at a time."""
    up = down = 1.0
    shares = [(value + 1) / 2 for value in values]
    inside = (mean + 1) / 2
    capital, total, squares, spread = [], 0.5, 0.25, 0.25
    for count, share in enumerate(shares, 1):
        stake = math.sqrt(2 * math.log(2 / 0.05) / (spread * count * math.log(count + 1)))
        up *= 1 + min(stake, 0.5 / inside) * (share - inside)
        down *= 1 - min(stake, 0.5 / (1 - inside)) * (share - inside)
        capital.append((up + down) / 2)
        total += share
        squares += (share - total / (count + 1)) ** 2
        spread = squares / (count + 1)
    return capital


@pytest.mark.parametrize("mean", [0.0, 0.1, -0.3])
def test_the_capital_is_that_of_one_bet_after_the_other(mean: float) -> None:
    values = np.random.default_rng(1).uniform(-0.6, 0.8, 50)
    expected = literal_capital(values.tolist(), mean)
    assert betting_capital(values, mean) == pytest.approx(expected, rel=1e-9)


# confseq 0.0.11, betting_mart with convex_comb and lambda_predmix_eb at alpha/2, untruncated, trunc_scale 0.5: the
# capital after 1, 10, 40 and 80 values.
CONFSEQ = {
    0.0: [1.0, 0.7170365446649581, 1.8036289739961056, 0.7757050627937426],
    0.1: [1.025613368477081, 0.7783441790511003, 0.39146089140770046, 0.3643828284715141],
    -0.2: [0.9784224275160207, 1.355584198298109, 184.76360626852735, 1831.8704973825038],
}


@pytest.mark.parametrize("mean", CONFSEQ)
def test_the_capital_equals_that_of_confseq(mean: float) -> None:
    values = np.random.default_rng(11).uniform(-0.6, 0.9, 80)
    capital = betting_capital(values, mean)[[0, 9, 39, 79]]
    assert capital == pytest.approx(CONFSEQ[mean], rel=1e-9)


@pytest.mark.parametrize("kind", STREAMS)
def test_a_true_mean_is_rarely_excluded_at_any_time(kind: str) -> None:
    """Of 500 streams of 400 queries, looked at after each one; a t test fails in 20 to 60 of 100."""
    rng = np.random.default_rng(7)
    values = STREAMS[kind](rng, (500, 400))
    excluded = sum(betting_capital(stream).max() >= 20 for stream in values)
    assert excluded / 500 <= 0.05
    counts = np.arange(30, 400, 20)
    looks = [np.abs(values[:, :n].mean(1)) > 1.96 * values[:, :n].std(1) / n**0.5 for n in counts]
    assert np.logical_or.reduce(looks).mean() > 0.15


def test_the_true_mean_of_clusters_is_rarely_excluded() -> None:
    rng, excluded = np.random.default_rng(9), 0
    for _ in range(300):
        labels = np.repeat(np.arange(80), rng.integers(1, 6, 80))
        shared = rng.choice([-0.3, 0.3], 80)
        values = np.clip(shared[labels] + rng.normal(0, 0.1, labels.size), -1, 1)
        means, weights = Sampling(clusters=labels).stream(values[:, None])
        excluded += betting_capital(means[:, 0], weights=weights).max() >= 20
    assert excluded / 300 <= 0.05


def test_the_ends_are_where_the_capital_reaches_the_limit() -> None:
    values = np.random.default_rng(2).normal(0.1, 0.2, 200).clip(-1, 1)
    low, high = betting_ends(values)
    assert low < values.mean() < high
    for end, inward in ((low, 1e-4), (high, -1e-4)):
        assert betting_capital(values, end - inward).max() >= 20
        assert betting_capital(values, end + inward).max() < 20


def test_more_values_never_widen_the_interval() -> None:
    values = np.random.default_rng(3).uniform(-0.2, 0.5, 300)
    ends = [betting_ends(values[:n]) for n in (1, 5, 20, 50, 100, 200, 300)]
    lows, highs = zip(*ends, strict=True)
    assert all(a <= b + 1e-6 for a, b in itertools.pairwise(lows))
    assert all(a >= b - 1e-6 for a, b in itertools.pairwise(highs))


def test_a_difference_is_found_with_about_twice_the_queries_of_a_t_test() -> None:
    """A t test with 80% power at d = 0.25 needs 128 queries; betting has found it by 320."""
    rng = np.random.default_rng(4)
    found = [
        betting_capital(rng.normal(0.05, 0.2, 320).clip(-1, 1)).max() >= 20 for _ in range(200)
    ]
    assert np.mean(found) > 0.8


def test_the_asymptotic_interval_follows_its_formula() -> None:
    spread = moments(np.random.default_rng(5).normal(0.1, 0.3, 120))
    assert spread.sd is not None
    rho2 = (-2 * math.log(0.05) + math.log(1 - 2 * math.log(0.05))) / 300
    n = 120
    reach = spread.sd * math.sqrt(
        2 * (n * rho2 + 1) / (n**2 * rho2) * math.log(math.sqrt(n * rho2 + 1) / 0.05)
    )
    assert asymptotic_reach(spread, 0.95) == pytest.approx(reach)
    p = asymptotic_p(spread)
    assert p is not None
    scaled = moments((np.random.default_rng(5).normal(0.1, 0.3, 120) - spread.mean) + reach)
    assert asymptotic_p(scaled) == pytest.approx(0.05, rel=1e-6)


def test_bets_take_queries_in_the_order_of_their_arrival() -> None:
    values = np.random.default_rng(6).uniform(-0.5, 0.6, (40, 1))
    arrival = np.random.default_rng(7).permutation(40).astype(float)
    ordered = values[np.argsort(arrival)]
    (one,) = intervals_of_means("betting", values, None, 0.95, [(-1, 1)], Sampling(arrival=arrival))
    (other,) = intervals_of_means("betting", ordered, None, 0.95, [(-1, 1)])
    assert (one.low, one.high) == (other.low, other.high)


QUERIES = [f"q{i}" for i in range(200)]
OLD = {query: {"a": 1.0, "b": 2.0} for query in QUERIES}
NEW = {query: {"a": 1.0 + 2 * (i % 4 > 0), "b": 2.0} for i, query in enumerate(QUERIES)}
JUDGMENTS = {query: {"a": 1} for query in QUERIES}


def test_a_comparison_at_any_time_says_so_and_its_gate_uses_it() -> None:
    comparison = gf.compare(JUDGMENTS, {"old": OLD, "new": NEW}, "RR", anytime=True)
    (found,) = comparison.differences
    assert (found.interval.method, found.test, found.verdict.word) == (
        "betting",
        "betting",
        "better",
    )
    assert "p by betting;" in comparison.notes()[2]
    assert "(betting test, p < 0.05)" in comparison.systems_table().caption
    gate = comparison.gate("Δ RR < 0.5")
    assert f"{found.interval.low:+.4f} to {found.interval.high:+.4f}" in gate.checked[0].found
    few = gf.compare(
        dict(list(JUDGMENTS.items())[:12]), {"old": OLD, "new": NEW}, "RR", anytime=True,
        policy={"extra": "ignore"},
    )  # fmt: skip
    assert "add queries and look again as often as you like" in few.verdicts[0]


def test_a_measure_without_a_range_is_left_undecided() -> None:
    (found,) = gf.compare(JUDGMENTS, {"old": OLD, "new": NEW}, "DCG", anytime=True).differences
    assert found.p is None
    assert "betting needs a measure with a range" in found.verdict.sentence
    (other,) = gf.compare(
        JUDGMENTS, {"old": OLD, "new": NEW}, "DCG", test="asymptotic", interval="asymptotic"
    ).differences
    assert other.verdict.word == "better"


def test_anytime_chooses_test_and_interval_itself() -> None:
    with pytest.raises(InputError, match="no test, which anytime chooses, found 'sign'"):
        gf.compare(JUDGMENTS, {"old": OLD, "new": NEW}, "RR", anytime=True, test="sign")


def test_wrong_ranges_are_rejected() -> None:
    with pytest.raises(InputError, match=r"numbers from 0 to 1, found 1\.5"):
        betting_ends([0.5, 1.5], ends=(0, 1))
    with pytest.raises(InputError, match="the lowest and the highest possible value"):
        betting_ends([0.5], ends=(-math.inf, 1))
    with pytest.raises(InputError, match="a number between the ends"):
        betting_capital([0.5], 2.0)


def test_few_changed_queries_raise_no_doubt_about_an_interval_that_always_holds() -> None:
    new = {**OLD, "q0": {"a": 3.0, "b": 2.0}, "q1": {"a": 3.0, "b": 2.0}}
    usual, anytime = (
        gf.compare(JUDGMENTS, {"old": OLD, "new": new}, "RR", anytime=chosen)
        for chosen in (False, True)
    )
    assert "too few to trust the interval" in usual.verdicts[0]
    assert "too few to trust the interval" in usual.gate("Δ RR < -0.5").checked[0].found
    assert "too few to trust" not in anytime.verdicts[0]
    assert "too few to trust" not in anytime.gate("Δ RR < -0.5").checked[0].found


@pytest.mark.parametrize("name", STREAMS)
def test_the_evidence_of_several_days_rarely_grows_without_a_difference(name: str) -> None:
    """Of 400 streams of ten days with 30 new queries each, at most 5% ever have an evidence of 20."""
    values = STREAMS[name](np.random.default_rng(9), (400, 10, 30))
    wrong = 0
    mean = 0.0
    for stream in values:
        e_values = [betting_capital(day)[-1] for day in stream]
        evidence = combine_e_values(e_values)
        assert evidence[-1] == pytest.approx(math.prod(e_values))
        wrong += evidence.max() >= 20
        mean += combine_e_values(e_values, same_queries=True)[-1] / 400
    assert wrong / 400 <= 0.05
    assert mean == pytest.approx(1, abs=0.1)  # the expectation of an e-value is at most 1


def test_a_difference_is_found_over_several_days_with_weights_and_clusters() -> None:
    rng = np.random.default_rng(10)
    e_values = []
    for day in range(12):
        queries = [f"day{day}user{user}_{number}" for user in range(40) for number in range(2)]
        old = {
            query: {"nDCG@10": value}
            for query, value in zip(queries, rng.uniform(0, 0.8, 80), strict=True)
        }
        new = {
            query: {"nDCG@10": float(np.clip(one["nDCG@10"] + rng.normal(0.08, 0.1), 0, 1))}
            for query, one in old.items()
        }
        weights = {query: 1 + at % 3 for at, query in enumerate(queries)}
        (found,) = gf.comparison.compare_scores(
            {"old": old, "new": new}, anytime=True, weights=weights, clusters="id:_"
        ).differences
        units = np.array([weights[query] for query in queries]).reshape(40, 2)
        apart = np.array([new[q]["nDCG@10"] - old[q]["nDCG@10"] for q in queries]).reshape(40, 2)
        order = np.argsort([f"day{day}user{user}_" for user in range(40)])
        means = (units * apart).sum(axis=1) / units.sum(axis=1)
        capital = betting_capital(means[order], weights=units.sum(axis=1)[order])
        assert found.e_value == pytest.approx(capital[-1], rel=1e-9)
        assert found.to_dict()["tests"]["betting"]["e_value"] == found.e_value
        e_values.append(found.e_value)
    evidence = combine_e_values(e_values)
    assert max(e_values) < evidence[-1]
    assert evidence[-1] > 20


def test_other_tests_have_no_e_value() -> None:
    (found,) = gf.compare(JUDGMENTS, {"old": OLD, "new": NEW}, "RR").differences
    assert found.e_value is None
    (joint,) = gf.compare(JUDGMENTS, {"old": OLD, "new": NEW}, "RR", correction="max-t").differences
    assert joint.e_value is None


def test_e_values_are_numbers_from_0() -> None:
    with pytest.raises(InputError, match="e_values: expected non-negative numbers, found -1"):
        combine_e_values([2.0, -1.0])
    assert combine_e_values([1e300, 1e300, 0.5])[-1] == math.inf
    assert combine_e_values([2.0, 0.0, 5.0]).tolist() == [2.0, 0.0, 0.0]
