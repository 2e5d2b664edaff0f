"""Prediction-powered means: worked by hand, by the formula, beside ppi-python, and their coverage by simulation."""

import json
import math
import statistics
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import gainful as gf
from gainful.analysis.power import queries_needed
from gainful.arithmetic.statistics.intervals import intervals_of_means
from gainful.arithmetic.statistics.prediction_powered import (
    Estimate,
    Stratum,
    powered_means,
    units_for_sign,
    units_for_width,
)

RECORDED = json.loads(
    (Path(__file__).parents[1] / "stand_ins" / "prediction_powered.json").read_text()
)


def columns(*data):
    return Stratum(*(np.asarray(each, float).reshape(-1, 1) for each in data))


def literal(known, predicted, further, weight):
    """The definition, value by value."""
    n, more = len(known), len(further)
    if weight is None:
        middle = statistics.fmean(known), statistics.fmean(predicted)
        together = (
            sum((m - middle[0]) * (f - middle[1]) for m, f in zip(known, predicted, strict=True))
            / n
        )
        weight = together / ((1 + n / more) * statistics.variance([*predicted, *further]))
        weight = min(max(weight, 0.0), 1.0)
    rest = [m - weight * f for m, f in zip(known, predicted, strict=True)]
    value = weight * statistics.fmean(further) + statistics.fmean(rest)
    variance = weight**2 * statistics.variance(further) / more + statistics.variance(rest) / n
    return value, variance, weight, statistics.variance(known) / variance


def test_worked_by_hand():
    # M 1, 2, 3 and F 1, 3, 2: Cov = 1/3, and Var F of 1, 3, 2, 4, 5, 3 is 2; 3/3 further: λ = (1/3)/(2·2) = 1/12.
    found = powered_means([columns([1, 2, 3], [1, 3, 2], [4, 5, 3])])
    assert found.weight[0] == pytest.approx(1 / 12)
    # mean_N F = 4, mean M = mean F = 2: 4/12 + 2 − 2/12.
    assert found.value[0] == pytest.approx(2 + 2 / 12)
    # M − F/12 = 11/12, 21/12, 34/12, of variance (Σx² − 3·22²)/2/144 = (1718 − 1452)/288 = 133/144; Var_N F = 1.
    assert found.variance[0] == pytest.approx(1 / 144 / 3 + 133 / 144 / 3)
    assert found.worth[0] == pytest.approx(1 / (134 / 432))
    assert found.freedom[0] == pytest.approx(2)
    # κ₃ of F is 0 here; of M − F/12 about its mean 22/12, in twelfths −11, −1, 12: (−1331 − 1 + 1728)/3 = 132.
    second = 2 / 3 / 144 / 3 + 2 / 3 * 133 / 144 / 3
    assert found.tilt[0] == pytest.approx(132 / 12**3 / 9 / second**1.5)
    ends = found.estimate(0, 0.95)
    assert (ends.low, ends.high) == (-math.inf, math.inf)  # of 3 units


def test_without_predictions_the_interval_is_that_of_a_mean():
    rng = np.random.default_rng(4)
    for count in (2, 9, 10, 11, 40):
        values = np.where(rng.random(count) < 0.7, 0.0, rng.beta(1, 2, count))
        (wanted,) = intervals_of_means("hall", values[:, None], None, 0.9, [(0.0, 1.0)])
        for further in (values[:0], values[:5]):
            found = powered_means([columns(values, values, further)], 0.0)
            known = found.estimate(0, 0.9, (0.0, 1.0))
            assert (known.low, known.high) == pytest.approx((wanted.low, wanted.high), rel=1e-9)


@pytest.mark.parametrize("weight", [None, 1.0, 0.0, 0.4])
def test_the_formula_value_by_value(weight):
    rng = np.random.default_rng(3)
    for _ in range(30):
        n, more = rng.integers(2, 9), rng.integers(2, 9)
        data = [rng.normal(size=size).round(2) for size in (n, n, more)]
        found = powered_means([columns(*data)], weight)
        expected = literal(*(each.tolist() for each in data), weight)
        assert [
            found.value[0],
            found.variance[0],
            found.weight[0],
            found.worth[0],
        ] == pytest.approx(expected)


def test_columns_do_not_touch_each_other():
    rng = np.random.default_rng(4)
    known, predicted, further = (rng.normal(size=(size, 5)) for size in (7, 7, 11))
    whole = powered_means([Stratum(known, predicted, further)])
    for column in range(5):
        alone = powered_means([columns(known[:, column], predicted[:, column], further[:, column])])
        assert alone.value[0] == pytest.approx(whole.value[column], rel=1e-14)
        assert alone.variance[0] == pytest.approx(whole.variance[column], rel=1e-14)


@pytest.mark.parametrize("case", RECORDED["cases"])
def test_ppi_python_finds_the_same(case):
    stratum = columns(*case["data"])
    n, more = stratum.count, len(stratum.further)
    z = stats.norm.ppf(1 - RECORDED["alpha"] / 2)
    assert powered_means([stratum]).weight[0] == pytest.approx(case["best"], rel=1e-12)
    for name, weight in (("best_weight", None), ("one", 1.0), ("zero", 0.0)):
        found = powered_means([stratum], weight)
        value, low, high = case[name]
        assert found.value[0] == pytest.approx(value, rel=1e-12)
        # It divides variances by n, not by n − 1, and takes quantiles of the normal.
        ahead = found.weight[0] ** 2 * stratum.further.var(ddof=1) / more
        error = ahead * (more - 1) / more + (found.variance[0] - ahead) * (n - 1) / n
        assert (low, high) == (
            pytest.approx(value - z * error**0.5, rel=1e-12),
            pytest.approx(value + z * error**0.5, rel=1e-12),
        )


def test_strata_count_by_their_share():
    rng = np.random.default_rng(5)
    strata = [
        columns(*(rng.normal(size=size) for size in sizes)) for sizes in ((4, 4, 16), (6, 6, 4))
    ]
    found, each = powered_means(strata), [powered_means([one]) for one in strata]
    shares = [20 / 30, 10 / 30]
    parts = [share**2 * one.variance[0] for share, one in zip(shares, each, strict=True)]
    assert found.value[0] == pytest.approx(
        sum(s * one.value[0] for s, one in zip(shares, each, strict=True))
    )
    assert found.variance[0] == pytest.approx(sum(parts))
    # Welch and Satterthwaite: (Σv)² / Σ v²/(n − 1).
    assert found.freedom[0] == pytest.approx(
        sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 5)
    )
    alone = sum(
        s**2 * one.known_spread[0] / one.count for s, one in zip(shares, strata, strict=True)
    )
    assert found.worth[0] == pytest.approx(10 * alone / found.variance[0])


def test_predictions_without_use_have_no_weight():
    constant = powered_means([columns([1, 2, 4], [3, 3, 3], [3, 3])])
    contrary = powered_means([columns([1, 2, 4], [4, 2, 1], [3, 1, 2])])
    for found in (constant, contrary):
        assert found.weight[0] == 0
        assert found.value[0] == pytest.approx(7 / 3)
        assert found.worth[0] == pytest.approx(3)
    nothing = powered_means([columns([1, 2, 4], [1, 2, 4], [])], 1.0)
    assert nothing.weight[0] == 0
    assert nothing.value[0] == pytest.approx(7 / 3)


def test_values_without_spread():
    found = powered_means([columns([0.3] * 5, [0.1] * 5, [0.1] * 9)])
    assert found.variance[0] == 0
    assert np.isnan(found.worth[0])
    assert found.p(0, 5) == 2 / 32
    assert found.estimate(0, 0.95) == Estimate(0.3, -math.inf, math.inf)
    enough = powered_means([columns([0.3] * 10, [0.1] * 10, [0.1] * 9)])
    assert enough.estimate(0, 0.95).low == pytest.approx(0.3)
    assert enough.estimate(0, 0.95).high == pytest.approx(0.3)
    still = powered_means([columns([0.0] * 5, [0.1] * 5, [0.1] * 9)])
    assert still.p(0, 5) == 1
    assert still.p_within(0, 0.1, 5) == 1 / 32


def test_p_and_equivalence_are_those_of_a_t_test_without_predictions():
    values = np.random.default_rng(6).normal(0.1, 0.3, 25)
    found = powered_means([columns(values, values, values)], 0.0)
    assert found.p(0, 25) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    tests = [
        stats.ttest_1samp(values, -0.2, alternative="greater"),
        stats.ttest_1samp(values, 0.2, alternative="less"),
    ]
    assert found.p_within(0, 0.2, 25) == pytest.approx(max(each.pvalue for each in tests))


def test_how_many_more_units_are_the_fewest():
    rng = np.random.default_rng(8)
    truth = rng.normal(size=600)
    stratum = columns(
        truth[:40], truth[:40] + 0.4 * rng.normal(size=40), truth[40:] + 0.4 * rng.normal(size=560)
    )

    def width(count):
        variance = stratum.planned_variance(count)[0]
        return 2 * special.stdtrit(count - 1, 0.975) * variance**0.5

    wanted = 0.85 * width(40)
    found = units_for_width([stratum], 0, wanted, 0.95)
    assert width(found) <= wanted < width(found - 1)
    widths = [width(count) for count in range(40, 601)]
    assert widths == sorted(widths, reverse=True)
    # As many as there are: nearly the interval there is. All: nearly that of the mean of all.
    now = powered_means([stratum]).estimate(0, 0.95)
    assert width(40) == pytest.approx(now.high - now.low, rel=0.2)
    assert width(600) == pytest.approx(2 * 1.964 * truth.std() / 600**0.5, rel=0.15)
    assert units_for_width([stratum], 0, 0.99 * width(600), 0.95) is None
    assert units_for_sign([stratum], 0, 1e-4, 0.8, 0.05) is None
    halves = [
        columns(*(each[half::2, 0] for each in (stratum.known, stratum.predicted, stratum.further)))
        for half in (0, 1)
    ]
    assert abs(units_for_width(halves, 0, wanted, 0.95) - found) < 25


def test_so_many_units_show_the_sign_as_often_as_asked_for():
    rng = np.random.default_rng(9)
    total, n, mean = 500, 30, 0.07
    truth = rng.normal(mean, 0.4, size=(total, 3000))
    predicted = truth + rng.normal(0.3, 0.2, size=truth.shape)
    known = [Stratum(truth[:n], predicted[:n], predicted[n:])]
    needed = int(np.median([units_for_sign(known, at, mean, 0.8, 0.05) for at in range(60)]))
    assert n < needed < queries_needed(0.4, mean)
    found = powered_means([Stratum(truth[:needed], predicted[:needed], predicted[needed:])])
    t = found.value / np.sqrt(found.variance)
    share = (t > special.stdtrit(needed - 1, 0.975)).mean()
    assert 0.77 < share < 0.83


@pytest.fixture(scope="module")
def population():
    """nDCG@10 of queries with 30 documents, under people's grades and those of a model that overrates."""
    rng = np.random.default_rng(0)
    shape = 30_000, 30
    relevance = rng.normal(-0.8, 1, shape)
    grades = np.clip(np.floor(relevance + 1), 0, 3)
    overrated = np.clip(np.floor(relevance + 1.6 + rng.normal(0, 0.7, shape)), 0, 3)
    scores = relevance + rng.normal(0, 1, shape) * np.exp(rng.normal(0, 0.6, (shape[0], 1)))
    return [
        gf.evaluate_arrays(labels=labels, scores=scores, measures="nDCG@10").values[:, 0]
        for labels in (grades, overrated)
    ]


@pytest.mark.parametrize("n", [30, 60, 200])
def test_intervals_cover_as_often_as_their_level_says(population, n):
    known, predicted = population
    truth, further = known.mean(), 1000
    rng = np.random.default_rng(n)
    drawn = rng.integers(0, known.size, (n + further, 3000))
    stratum = Stratum(known[drawn[:n]], predicted[drawn[:n]], predicted[drawn[n:]])

    def covered(found):
        reach = -special.stdtrit(found.freedom, 0.025) * np.sqrt(found.variance)
        return (np.abs(found.value - truth) <= reach).mean(), reach.mean()

    (people, wide), (ppi, _), (tuned, narrow) = (
        covered(powered_means([stratum], weight)) for weight in (0.0, 1.0, None)
    )
    assert 0.93 <= people <= 0.97
    assert 0.93 <= ppi <= 0.97
    assert 0.93 <= tuned <= 0.97
    assert narrow < 0.8 * wide
    model = Stratum(predicted[drawn], predicted[drawn], predicted[drawn[:0]])
    assert covered(powered_means([model]))[0] < 0.01
