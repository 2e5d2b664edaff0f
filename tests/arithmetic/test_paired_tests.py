"""Paired tests: by hand, over all flips in fractions, and beside scipy."""

import itertools
import math
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import gainful as gf
from gainful.arithmetic.statistics.moments import exact_mean, moments, moments_of_columns
from gainful.arithmetic.statistics.paired_tests import (
    TESTS,
    bootstrap_test,
    paired_t,
    sides,
    sign_flips,
    sign_test,
    signs,
    wilcoxon,
)
from gainful.arithmetic.statistics.resampling import Draws

TENTHS = st.lists(st.integers(-10, 10), min_size=1, max_size=9)
REALS = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=60)


def literal_flips(values):
    """The share of all flips of signs whose |sum| is at least the observed, in exact arithmetic."""
    observed = abs(sum(values))
    flips = list(itertools.product((1, -1), repeat=len(values)))
    reached = sum(
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) >= observed for signs in flips
    )
    return Fraction(reached, len(flips))


# --- t


@given(REALS)
def test_t_is_scipys(values):
    column = np.array(values)
    assume(np.ptp(column) > 1e-5)
    found, expected = paired_t(values), stats.ttest_1samp(column, 0)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.queries == column.size


def test_t_of_two_systems_is_the_related_t():
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 400))
    expected = stats.ttest_rel(first, second)
    found = paired_t(first - second)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))


@pytest.mark.parametrize("factor", [1e-250, 1e-160, 1e160, 1e250])
def test_the_scale_of_the_differences_does_not_matter(factor):
    values = np.array([0.1, 0.4, -0.2, 0.3])
    assert paired_t(values * factor).p == pytest.approx(paired_t(values).p, rel=1e-12)
    assert moments(values * factor).effect == pytest.approx(moments(values).effect, rel=1e-12)


def test_the_order_of_queries_does_not_matter():
    values = np.random.default_rng(1).random(1_000)
    for name in ("t", "wilcoxon", "sign"):
        (first,) = TESTS[name](values[:, None], None)
        (second,) = TESTS[name](values[::-1, None], None)
        assert first == second


# --- randomisation


@given(TENTHS)
def test_few_queries_are_flipped_in_every_way(tenths):
    # Tenths have no exact float64: sums that are equal must count as equal all the same.
    values = [(5 + t) / 10 - 0.5 for t in tenths]
    (found,) = sign_flips(np.array(values)[:, None])
    assert found.p == float(literal_flips([Fraction(t, 10) for t in tenths]))
    assert found.exact
    assert found.resamples is None


@settings(max_examples=20)
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=7))
def test_all_flips_are_scipys(whole):
    column = np.array(whole, float)
    expected = stats.permutation_test(
        (column, np.zeros_like(column)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=10_000,
        vectorized=True,
    )
    assert sign_flips(column[:, None])[0].p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("seed", range(4))
def test_random_flips_estimate_the_share_of_all(seed):
    rng = np.random.default_rng(seed)
    column = np.round(rng.normal(0.03, 0.2, 17), 1 + seed % 2)
    column[column == 0] = 0.1
    signs = 1 - 2 * ((np.arange(1 << 17)[:, None] >> np.arange(17)) & 1)
    whole = np.rint(column * 100).astype(int)
    share = np.mean(np.abs(signs @ whole) >= abs(whole.sum()))
    draws = Draws(resamples=40_000, seed=seed)
    (found,) = sign_flips(column[:, None], draws)
    assert not found.exact
    assert found.resamples == 40_000
    error = math.sqrt(share * (1 - share) / 40_000)
    assert found.p == pytest.approx(share, abs=4 * error + 1e-4)
    (counted,) = sign_flips(column[:, None], Draws(resamples=1 << 17))
    assert counted.exact
    assert counted.p == share


def test_many_queries_beside_scipy():
    rng = np.random.default_rng(3)
    columns = rng.normal(0.01, 0.18, (500, 3)) * [1, 1, 3] - [0, 0.005, 0.02]
    found = sign_flips(columns)
    for column, outcome in zip(columns.T, found, strict=True):
        expected = stats.permutation_test(
            (column, np.zeros(500)),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            n_resamples=2_000,
            vectorized=True,
            batch=200,
            rng=4,
        )
        error = math.sqrt(outcome.p * (1 - outcome.p) * (1 / 2_000 + 1 / 10_000))
        assert outcome.p == pytest.approx(expected.pvalue, abs=4 * error + 5e-4)
        assert outcome.p == pytest.approx(paired_t(column).p, abs=0.03)
        assert outcome.statistic == pytest.approx(column.mean())


def test_zeros_change_nothing_and_p_is_never_zero():
    column = np.random.default_rng(5).normal(0, 0.2, 12)
    (bare,) = sign_flips(column[:, None])
    (padded,) = sign_flips(np.concatenate((column, np.zeros(500)))[:, None])
    assert padded.p == bare.p
    assert padded.exact
    assert sign_flips(np.ones((200, 1)))[0].p == 1 / 10_001
    assert sign_flips(np.ones((10, 1)))[0].p == 2 / 1_024


def test_columns_with_few_and_many_differences_together():
    rng = np.random.default_rng(8)
    columns = rng.normal(0.02, 0.2, (40, 3))
    columns[5:, 1] = 0
    found = sign_flips(columns)
    assert [outcome.exact for outcome in found] == [False, True, False]
    assert found[1].p == float(literal_flips([Fraction(v) for v in columns[:5, 1].tolist()]))
    assert found[2] == sign_flips(columns[:, 2:])[0]


# --- Wilcoxon


@given(st.lists(st.integers(-12, 12), min_size=1, max_size=13))
def test_wilcoxon_of_few_with_ties_and_zeros_is_over_all_signs(whole):
    kept = [value for value in whole if value]
    sizes = sorted(abs(value) for value in kept)
    rank = {s: sizes.index(s) + Fraction(sizes.count(s) + 1, 2) for s in sizes}
    signed = [rank[abs(value)] * (1 if value > 0 else -1) for value in kept]
    found = wilcoxon([value / 10 for value in whole])
    assume(len(kept) <= 9)  # what a literal enumeration does in time
    assert found.p == pytest.approx(float(literal_flips(signed)) if kept else 1.0)
    assert found.exact


@settings(max_examples=24, deadline=None)  # scipy takes long where few values tie
@given(st.lists(st.integers(-300, 300), min_size=1, max_size=80), st.booleans())
def test_wilcoxon_is_scipys(whole, distinct):
    if distinct:
        whole = list({abs(value): value for value in whole if value}.values())
    assume(any(whole))
    column = np.array(whole, float)
    expected = stats.wilcoxon(column)
    found = wilcoxon(column)
    assert found.statistic == expected.statistic
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(-300, 300), min_size=14, max_size=80))
def test_wilcoxon_corrected_for_continuity_is_scipys(whole):
    assume(any(whole))
    expected = stats.wilcoxon(np.array(whole, float), correction=True)
    found = wilcoxon(whole, continuity=0.5)
    assert found.statistic == expected.statistic
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.name == "wilcoxon-continuity"
    assert found.p >= wilcoxon(whole).p


def test_ties_of_rounded_scores_are_ties():
    rng = np.random.default_rng(2)
    tenths = rng.integers(0, 11, (2, 60))
    rounded = tenths[0] / 10 - tenths[1] / 10
    assert wilcoxon(rounded).p == wilcoxon(tenths[0] - tenths[1]).p


# --- signs


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=60))
def test_signs_are_scipys(whole):
    above, changed = sum(v > 0 for v in whole), sum(v != 0 for v in whole)
    found = sign_test(whole)
    expected = stats.binomtest(above, changed).pvalue if changed else 1.0
    assert found.p == pytest.approx(expected)
    assert found.statistic == above


@given(st.lists(st.integers(-10, 10), min_size=1, max_size=40), st.integers(0, 10))
def test_a_margin_makes_ties_of_signs(tenths, margin):
    # 0.1 and 0.3 − 0.2 are both within 0.1, however they are rounded.
    values = [(7 + t) / 10 - 0.7 for t in tenths]
    found = sign_test(values, tie=margin / 10)
    above, below = sum(t > margin for t in tenths), sum(t < -margin for t in tenths)
    expected = stats.binomtest(above, above + below).pvalue if above + below else 1.0
    assert found.p == pytest.approx(expected)
    assert found.statistic == above
    sides = [(t > margin) - (t < -margin) for t in tenths]
    assert signs(values, tie=margin / 10).tolist() == sides


@pytest.mark.parametrize("tie", [-0.1, math.nan, math.inf, "0.1", True])
def test_a_margin_that_is_none(tie):
    with pytest.raises(gf.errors.InputError, match="tie: expected a non-negative number"):
        sign_test([0.1, 0.2], tie=tie)


@pytest.mark.parametrize("tie", [0.0, 0.05, 0.3, 1e301])
def test_sides_are_the_signs_of_each_column(tie):
    rng = np.random.default_rng(3)
    table = rng.normal(0, 0.2, (30, 150)) * 10.0 ** rng.integers(-9, 9, 150)  # more than a block
    table[:, :50] = (rng.integers(0, 9, (30, 50)) + 7) / 10 - 0.7
    table[:, 70] = 0
    table[1:, 71] = 0
    found = sides(table, tie=tie)
    for place, column in enumerate(table.T):
        known = signs(column, tie=tie)
        assert found.above[place] == (known > 0).sum()
        assert found.below[place] == (known < 0).sum()
        assert found.changed[place] == (signs(column) != 0).sum()
        assert np.sign(found.lean[place]) == np.sign(TESTS["t"].leans(column, tie))


@pytest.mark.parametrize("queries", [1, 2, 30])
def test_columns_are_tested_as_each_alone(queries):
    rng = np.random.default_rng(queries)
    table = rng.normal(0.1, 0.2, (queries, 6))
    table[:, 1], table[:, 2] = 0, 0.25
    table[:, 3] = 0
    table[0, 3] = 5e-324  # its spread is below the smallest number
    assert moments_of_columns(table) == tuple(moments(column) for column in table.T)
    assert TESTS["t"](table) == tuple(paired_t(column) for column in table.T)
    assert [each.p for each in TESTS["t"](table)][1] == 1


@pytest.mark.parametrize("largest", [5e-324, 1e-310, 1e-20, 1.0, 1e300])
@pytest.mark.parametrize("tie", [0.0, 5e-324, 1e-310, 1e-20, 1e301, sys.float_info.max])
def test_a_margin_of_any_size_makes_ties_without_a_warning(largest, tie):
    expected = [0.0, 0.0, 0.0] if tie >= largest else [1.0, -1.0, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert signs([largest, -largest, 0.0], tie=tie).tolist() == expected


# --- bootstrap


def literal_shift(values):
    """p of the shift method over all n^n resamples, in exact arithmetic."""
    mean = sum(values) / len(values)
    shifted = [value - mean for value in values]
    sums = [sum(drawn) for drawn in itertools.product(shifted, repeat=len(values))]
    return Fraction(sum(abs(one) >= abs(sum(values)) for one in sums), len(sums))


@pytest.mark.parametrize("tenths", [(1, 3, 2, 0), (5, -4, 3, 3, 1), (1, 1, 2), (4, 4, -4, -5, 9)])
def test_the_bootstrap_test_is_the_shift_method(tenths):
    expected = float(literal_shift([Fraction(t, 10) for t in tenths]))
    values = np.array([(7 + t) / 10 - 0.7 for t in tenths])
    (found,) = bootstrap_test(values[:, None], Draws(resamples=40_000))
    error = math.sqrt(expected * (1 - expected) / 40_000)
    assert found.p == pytest.approx(expected, abs=4 * error + 1e-4)
    assert found.statistic == pytest.approx(values.mean())
    assert (found.exact, found.resamples) == (False, 40_000)


def test_the_bootstrap_test_of_many_is_near_the_t_test():
    columns = np.random.default_rng(6).normal([0.01, 0.02, 0.0], 0.18, (400, 3))
    for column, found in zip(columns.T, bootstrap_test(columns), strict=True):
        assert found.p == pytest.approx(paired_t(column).p, abs=0.02)


def test_the_bootstrap_test_has_nothing_to_draw_from_equal_differences():
    for values in ([0.4], [0.5, 0.5], [0.3 - 0.2, 0.8 - 0.7, 0.1]):
        (found,) = bootstrap_test(np.array(values)[:, None])
        assert (found.p, found.statistic) == (None, None)
        assert "nothing else to draw" in found.why


# --- what is common to all


# Those that hold at any time need a range, or a spread: test_anytime.py.
AT_ONCE = {name: test for name, test in TESTS.items() if not test.anytime}


def test_no_difference_at_all():
    for count in (1, 5, 200):
        for name, test in AT_ONCE.items():
            (found,) = test(np.zeros((count, 1)), None)
            assert (found.name, found.p, found.statistic) == (name, 1.0, 0.0)


def test_one_query_has_no_t_and_proves_nothing():
    assert paired_t([0.4]).p is None
    assert "one query" in paired_t([0.4]).why
    found = {name: test(np.array([[0.4]]), None)[0].p for name, test in AT_ONCE.items()}
    assert {name for name, p in found.items() if p is None} == {"t", "bootstrap"}
    assert {p for p in found.values() if p is not None} == {1.0}


def test_equal_differences_leave_t_undefined():
    for values in ([0.5, 0.5], [0.3 - 0.2, 0.8 - 0.7, 0.1]):
        found = paired_t(values)
        assert (found.p, found.statistic) == (None, None)
        assert "the same" in found.why
    assert sign_flips([[0.5], [0.5]])[0].p == 0.5


def test_tests_take_columns():
    columns = np.random.default_rng(9).normal(0.1, 0.2, (30, 3))
    for name, test in AT_ONCE.items():
        found = test(columns, Draws(resamples=500))
        assert [outcome.name for outcome in found] == [name] * 3
        assert found[1] == test(columns[:, 1:2], Draws(resamples=500))[0]
        assert all(0 < outcome.p <= 1 for outcome in found)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e305])
def test_what_is_no_number_is_refused(bad):
    for test in (paired_t, wilcoxon, sign_test, moments, exact_mean):
        with pytest.raises(gf.errors.InputError):
            test([0.1, bad])
    with pytest.raises(gf.errors.InputError):
        sign_flips([[0.1], [bad]])


def test_shapes_are_refused():
    with pytest.raises(gf.errors.InputError, match=r"an array \(queries\)"):
        paired_t([[0.1, 0.2]])
    with pytest.raises(gf.errors.InputError, match=r"an array \(queries, columns\)"):
        sign_flips([0.1, 0.2])
    with pytest.raises(gf.errors.InputError, match="queries, at least one"):
        paired_t([])


def test_effect_size_by_hand():
    found = moments([0.1, 0.2, 0.6])
    assert found.mean == pytest.approx(0.3)
    assert found.sd == pytest.approx(math.sqrt(0.07))
    assert found.effect == pytest.approx(0.3 / math.sqrt(0.07))
    assert moments([0.2]).effect is None
    for values in ([0.1, 0.2, 0.6], [0.2], [1e300, -1e300, 3e299], [5e-324, 0.0], [-0.3] * 7):
        assert exact_mean(values) == moments(values).mean
    assert moments([0.0, 0.0]).effect is None
