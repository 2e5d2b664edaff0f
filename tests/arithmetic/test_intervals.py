"""Intervals of a mean: beside scipy, by their definition, and at their limits."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import gainful as gf
from gainful.arithmetic.statistics.exact_sums import on_grid
from gainful.arithmetic.statistics.intervals import (
    INTERVALS,
    _bca,
    bca_interval,
    ends_of_difference,
    hall_interval,
    intervals_of_means,
    possible_ends,
    t_interval,
)
from gainful.arithmetic.statistics.resampling import Draws, resampled_sums


@given(
    st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=60),
    st.floats(0.01, 0.999),
)
def test_t_is_scipys(values, level):
    assume(max(values) - min(values) > 1e-5)
    expected = stats.ttest_1samp(values, 0).confidence_interval(level)
    found = t_interval(values, level=level)
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-9, abs=1e-12)
    assert (found.level, found.method, found.note) == (level, "t", "")


def literal_hall(values, level):
    """The ends where Hall's g(t) is at the quantiles of t, found by search, and those of t.

    The skewness is cut to 0.95 of the way to where the solution is vertical.
    """
    count, mean, error = len(values), np.mean(values), stats.sem(values)
    tilt = stats.skew(values) / math.sqrt(count)
    reach = stats.t.isf((1 - level) / 2, count - 1)
    most = optimize.brentq(lambda tilt: tilt * (reach + tilt / 6) - 0.95, 0, 3, xtol=1e-14)
    tilt = min(max(tilt, -most), most)

    def end(side):
        def apart(t):
            return t + tilt * t**2 / 3 + tilt**2 * t**3 / 27 + tilt / 6 - side * reach

        return mean - optimize.brentq(apart, -1e6, 1e6, xtol=1e-13) * error

    return min(end(1), mean - reach * error), max(end(-1), mean + reach * error)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=3, max_size=40),
    st.sampled_from([0.2, 0.8, 0.95, 0.999]),
)
def test_hall_is_its_definition(values, level):
    assume(max(values) - min(values) > 0.01)
    found = hall_interval(values, level=level)
    assert (found.low, found.high) == pytest.approx(literal_hall(values, level), rel=1e-6, abs=1e-9)
    plain = t_interval(values, level=level)
    assert found.low <= plain.low < plain.high <= found.high
    mirrored = hall_interval([-value for value in values], level=level)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low), rel=1e-9)


def test_hall_of_values_that_are_alike_on_both_sides_is_t():
    values = [-0.3, -0.1, 0.0, 0.1, 0.3]
    found, plain = hall_interval(values), t_interval(values)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), rel=1e-12)
    # And next to it where the skewness is next to nothing.
    found = hall_interval([*values, 1e-9])
    plain = t_interval([*values, 1e-9])
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), rel=1e-6)


def test_a_single_outlier_does_not_make_the_interval_jump():
    """BCa gives −0.105 to 0.067; without the cut Hall's lower end is −0.295."""
    values = [-0.9] + [-0.05, 0.15] * 14
    found, plain = hall_interval(values), t_interval(values)
    assert (round(plain.low, 3), round(plain.high, 3)) == (-0.060, 0.094)
    assert (round(found.low, 3), round(found.high, 3)) == (-0.142, 0.094)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("count", [10, 29, 200])
def test_no_outlier_takes_an_end_farther_than_about_twice_that_of_t(count, level):
    lows = []
    for size in (0, 0.1, 0.2, 0.5, 1, 2, 5, 20, 1e6):
        values = [-size, *np.linspace(-1, 1, count - 1)]
        found, plain = hall_interval(values, level=level), t_interval(values, level=level)
        mean = np.mean(values)
        lows.append((mean - found.low) / (mean - plain.low))
        assert found.high == pytest.approx(plain.high) or size < 2
    assert max(lows) < 2.2
    outside = lows[4:]  # the farther out, the longer
    assert sorted(outside) == pytest.approx(outside, abs=1e-9)


# Those that hold at any time need a range, or more queries: test_anytime.py.
USUAL = {name: method for name, method in INTERVALS.items() if not method.on_request}


def test_too_few_queries_have_no_default_interval():
    rng = np.random.default_rng(0)
    for count in range(2, 13):
        values = rng.random((count, 2))
        for name in USUAL:
            for found in intervals_of_means(name, values, Draws(100), 0.95):
                assert found.known == (count >= 10 or name != "hall")
                told = f"too few queries for an interval ({count}; at least 10 needed)"
                assert found.note == ("" if found.known else told)
                assert (found.to_dict()["low"] is None) == (not found.known)


@pytest.mark.parametrize("method", INTERVALS)
def test_no_interval_leaves_the_range_of_what_it_is_of(method):
    rng = np.random.default_rng(1)
    for count in (3, 10, 30):
        near = np.where(rng.random((count, 40)) < 0.8, 1.0, rng.random((count, 40)))
        ends = possible_ends((0.0, 1.0), near)
        for found in intervals_of_means(method, near, Draws(100), 0.999, [ends] * 40):
            assert not found.known or 0 <= found.low <= found.high <= 1
        ends = ends_of_difference(ends)
        for found in intervals_of_means(method, near - 1, Draws(100), 0.999, [ends] * 40):
            assert not found.known or -1 <= found.low <= found.high <= 1


def test_a_value_beyond_an_end_says_that_it_is_none():
    values = np.array([0.5, -0.1, 1.0])
    assert possible_ends((0.0, 1.0), values) == (-math.inf, 1.0)
    assert possible_ends((0.0, 1.0), np.array([1.0 + 1e-15])) == (0.0, 1.0)
    assert possible_ends((0.0, 1.0), np.array([0.5]), np.array([55.0])) == (0.0, math.inf)
    assert ends_of_difference((-math.inf, 1.0)) == (-math.inf, math.inf)
    assert t_interval([0.1, 0.9]).within((-math.inf, 1.0)).high == 1.0


def few_large_losses(rng, shape):
    """90% of queries a little better, 10% much worse; the mean is −0.015."""
    large = rng.random(shape) < 0.1
    return np.where(large, -rng.uniform(0.2, 1, shape), rng.normal(0.05, 0.05, shape))


def mostly_gains(rng, shape):
    """70% of queries unchanged, of the others 85% better; the mean is 0.07."""
    sign = np.where(rng.random(shape) < 0.85, 1, -1)
    return np.where(rng.random(shape) < 0.7, 0.0, rng.beta(1, 2, shape) * sign)


@pytest.mark.parametrize(
    ("drawn", "mean", "side"), [(few_large_losses, -0.015, 0), (mostly_gains, 0.07, 1)]
)
def test_of_skewed_differences_the_default_misses_less_often_than_t(drawn, mean, side):
    columns = drawn(np.random.default_rng(5), (50, 2_000))

    def missed(name):
        found = INTERVALS[name].build(columns, None, 0.95)
        sides = [sum(each.low > mean for each in found), sum(each.high < mean for each in found)]
        return [count / 2_000 for count in sides]

    ours, plain = missed(next(iter(INTERVALS))), missed("t")
    assert plain[side] > 0.04  # the level is 0.025
    assert ours[side] < 0.8 * plain[side]
    assert max(ours) < 0.04
    assert min(ours) <= plain[1 - side]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("kind", ["normal", "skewed", "tenths"])
def test_bca_of_the_same_resamples_is_scipys(kind, level):
    rng = np.random.default_rng(7)
    column = {
        "normal": rng.normal(0.01, 0.2, 80),
        "skewed": rng.exponential(0.1, 80) ** 2,
        # Whole numbers, so that scipy sees the ties with the observed mean too.
        "tenths": rng.integers(-3, 5, 80).astype(float),
    }[kind]
    grid = on_grid(column[:, None])
    sums = resampled_sums(grid.units, Draws(resamples=2_000, seed=1))
    found = _bca(grid, sums, level)[0]
    means = grid.back(sums)[:, 0] / 80
    expected = stats.bootstrap(
        (column,),
        np.mean,
        n_resamples=0,
        method="BCa",
        confidence_level=level,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=means),
    ).confidence_interval
    assert found.tolist() == pytest.approx(tuple(expected), rel=1e-8)


def test_bca_beside_scipy_with_its_own_resamples():
    rng = np.random.default_rng(8)
    columns = np.stack((rng.normal(0.02, 0.2, 300), rng.exponential(0.1, 300)), axis=1)
    for column, found in zip(columns.T, bca_interval(columns), strict=True):
        expected = stats.bootstrap((column,), np.mean, n_resamples=9_999, batch=500, rng=2)
        error = column.std() / math.sqrt(300) * 0.12
        assert (found.low, found.high) == pytest.approx(
            tuple(expected.confidence_interval), abs=error
        )
        assert (found.method, found.resamples, found.note) == ("bca", 10_000, "")


def test_resamples_are_drawn_evenly():
    # All 4^4 samples of four queries, told apart by their sums.
    units = np.array([[1.0], [10.0], [100.0], [1000.0]])
    expected = {}
    for drawn in itertools.product(units[:, 0].tolist(), repeat=4):
        expected[sum(drawn)] = expected.get(sum(drawn), 0) + 1 / 256
    sums = resampled_sums(units, Draws(resamples=40_000))[:, 0]
    found, counts = np.unique(sums, return_counts=True)
    assert found.tolist() == sorted(expected)
    assert stats.chisquare(counts, [40_000 * expected[s] for s in found]).pvalue > 0.001


def test_columns_share_their_resamples():
    column = np.random.default_rng(3).normal(0, 1, 150)
    units = on_grid(np.repeat(column[:, None], 70, axis=1)).units
    units[:, 69] *= -1
    sums = resampled_sums(units, Draws(resamples=150))
    assert np.array_equal(sums[:, 0], sums[:, 68])
    assert np.array_equal(sums[:, 0], -sums[:, 69])


def test_one_query_has_no_interval_but_the_whole_line():
    for found in (t_interval([0.3]), hall_interval([0.3]), *bca_interval([[0.3, 0.0]])):
        assert (found.low, found.high) == (-math.inf, math.inf)
        assert "one query" in found.note


def test_equal_values_have_a_point_and_say_so():
    equal = [0.3 - 0.2, 0.8 - 0.7, 0.1]
    columns = np.stack((equal, [0.0, 0.5, 0.2], [0.0] * 3), axis=1)
    points = bca_interval(columns)
    for found in (points[0], t_interval(equal), hall_interval(equal)):
        assert found.low == found.high == math.fsum(equal) / 3  # 0.1, but for their rounding
        assert "same value" in found.note
    for found in (points[2], t_interval([0.0, 0.0])):
        assert found.low == found.high == 0.0
        assert "same value" in found.note
    assert points[1].low < points[1].high
    assert points[1].note == ""


@pytest.mark.parametrize("resamples", [1, 2, 3])
@pytest.mark.parametrize("level", [0.001, 0.95, 1 - 1e-12])
def test_no_end_is_ever_nan(resamples, level):
    columns = np.stack((np.eye(12)[0], np.arange(12) ** 3.0, -np.eye(12)[3]), axis=1)
    for seed in range(5):
        for found in bca_interval(columns, Draws(resamples, seed), level=level):
            assert math.isfinite(found.low)
            assert found.low <= found.high


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_the_scale_does_not_matter(factor):
    column = np.random.default_rng(4).exponential(1, (40, 1))
    for method in USUAL.values():
        (small,), (plain,) = (method.build(c, None, 0.95) for c in (column * factor, column))
        assert small.low / factor == pytest.approx(plain.low)
        assert small.high / factor == pytest.approx(plain.high)


def test_bad_input():
    for level in (0, 1, 95, math.nan, "0.95"):
        with pytest.raises(
            gf.errors.InputError, match="level: expected a number above 0 and below 1"
        ):
            t_interval([0.1, 0.2], level=level)
        with pytest.raises(gf.errors.InputError, match="level"):
            bca_interval([[0.1], [0.2]], level=level)
    with pytest.raises(gf.errors.InputError, match="finite"):
        bca_interval([[0.1], [math.nan]])
