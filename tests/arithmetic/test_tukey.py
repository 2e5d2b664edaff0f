"""Randomised Tukey HSD: over all assignments, beside flips for two systems, and literally."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

import gainful as gf
from gainful.arithmetic.statistics.distributions import range_upper
from gainful.arithmetic.statistics.joint_tests import _Orders, _ranges, anova_tukey, tukey
from gainful.arithmetic.statistics.paired_tests import sign_flips
from gainful.arithmetic.statistics.resampling import Draws, Purpose


def all_assignments(whole):
    """The p of every pair over all (m!)^n orders of whole numbers (n, m)."""
    systems = whole.shape[1]
    totals = [np.zeros(systems, int)]
    for row in whole:
        orders = [np.array(order) for order in itertools.permutations(row.tolist())]
        totals = [total + order for total in totals for order in orders]
    ranges = np.ptp(np.array(totals), axis=1)
    apart = np.abs(whole.sum(axis=0)[:, None] - whole.sum(axis=0))
    return np.mean(ranges >= apart[:, :, None], axis=2)


@pytest.mark.parametrize(
    ("shape", "seed"), [((3, 3), 0), ((4, 3), 1), ((3, 4), 2), ((6, 2), 3), ((1, 5), 4)]
)
def test_the_share_over_all_assignments(shape, seed):
    # Tenths, whose sums are tied in truth though not in float64.
    whole = np.random.default_rng(seed).integers(0, 11, shape)
    expected = all_assignments(whole)
    resamples = 20_000
    found = tukey(whole[:, :, None] / 10, Draws(resamples, seed))[:, :, 0]
    error = np.sqrt(expected * (1 - expected) / resamples)
    assert (np.abs(found - expected) <= 4 * error + 2 / resamples).all()


def test_every_order_is_as_likely():
    orders = _Orders(2, 300_000, 3, 1).draw(np.random.default_rng(3), 2)
    for places in orders:
        assert (np.sort(places, axis=1) == np.arange(3)).all()
        found = np.unique(places @ [9, 3, 1], return_counts=True)[1]
        assert found.size == 6
        assert stats.chisquare(found).pvalue > 0.001


@pytest.mark.parametrize(
    ("queries", "systems", "measures", "resamples"),
    [(1, 2, 1, 40), (23, 2, 3, 1_001), (7, 3, 5, 600), (61, 20, 3, 501), (9, 33, 2, 30),
     (3, 512, 1, 140), (3, 513, 2, 140), (2, 1_500, 1, 50)],
)  # fmt: skip
def test_the_order_is_that_of_one_number_of_64_bits_for_each_system(
    queries, systems, measures, resamples
):
    # Literally, block by block: so a seed gives the same p as ever.
    units = np.random.default_rng(7).integers(0, 1 << 40, (queries, systems, measures)) * 1.0
    size = min(max((1 << 16) // systems, 1), 500)
    expected = []
    for block, start in enumerate(range(0, resamples, size)):
        count = min(size, resamples - start)
        entropy = np.random.SeedSequence(11, spawn_key=(Purpose.TUKEY, block))
        generator = np.random.Generator(np.random.PCG64(entropy))
        sums = np.zeros((count, systems, measures))
        for scores in units:
            drawn = generator.integers(0, 1 << 64, (count, systems), np.uint64)
            sums += scores[np.argsort(drawn, axis=1)]
        expected.append(np.ptp(sums, axis=1))
    assert np.array_equal(_ranges(units, Draws(resamples, 11)), np.concatenate(expected))


class Given:
    """A generator that draws given numbers."""

    def __init__(self, drawn):
        self._drawn = drawn

    def integers(self, _low, _high, shape, _kind):
        assert shape == self._drawn.shape
        return self._drawn


@pytest.mark.parametrize("systems", [2, 5, 20, 40, 600])
@pytest.mark.parametrize("bits", [1, 8, 31, 33, 45, 63])
def test_numbers_whose_upper_bits_tie_are_ordered_by_all(systems, bits):
    rng = np.random.default_rng(bits)
    drawn = rng.integers(0, 1 << bits, (3, 50, systems), np.uint64) << np.uint64(64 - bits)
    # Below what may tie, numbers that never do, in an order of their own.
    free = min(64 - bits, 12)
    drawn |= rng.permuted(np.tile(np.arange(systems, dtype=np.uint64), (3, 50, 1)), axis=2) & (
        np.uint64((1 << free) - 1)
    )
    found = _Orders(3, 50, systems, 1).draw(Given(drawn), 3)
    assert np.array_equal(found, np.argsort(drawn, axis=2, kind="stable"))


def test_two_systems_are_flipped():
    scores = np.random.default_rng(1).random((14, 2)) * [1.0, 0.8]
    (exact,) = sign_flips((scores[:, 0] - scores[:, 1])[:, None])
    assert exact.exact
    found = tukey(scores[:, :, None], Draws(resamples=40_000))[0, 1, 0]
    assert found == pytest.approx(exact.p, abs=4 * math.sqrt(exact.p / 40_000))


def test_many_systems_beside_a_literal_sample():
    rng = np.random.default_rng(2)
    scores = rng.random((70, 9, 5)) + np.linspace(0, 0.12, 9)[:, None]
    found = tukey(scores, Draws(resamples=5_000))
    places = rng.permuted(np.tile(np.arange(9), (3_000, 70, 1)), axis=2)
    for measure in range(5):
        permuted = scores[np.arange(70)[:, None], places, measure]
        ranges = np.ptp(permuted.mean(axis=1), axis=1)
        means = scores[:, :, measure].mean(axis=0)
        expected = np.mean(ranges >= np.abs(means[:, None] - means)[:, :, None] - 1e-12, axis=2)
        error = np.sqrt(expected * (1 - expected) * (1 / 5_000 + 1 / 3_000))
        assert (np.abs(found[:, :, measure] - expected) <= 4 * error + 1e-3).all()


def test_shape_and_symmetry():
    scores = np.random.default_rng(4).random((30, 4, 3))
    found = tukey(scores, Draws(resamples=500))
    assert found.shape == (4, 4, 3)
    assert np.array_equal(found, found.swapaxes(0, 1))
    assert (found[np.arange(4), np.arange(4)] == 1).all()
    assert ((found > 0) & (found <= 1)).all()
    # The farthest pair has the smallest p.
    means = scores.mean(axis=0)
    for measure in range(3):
        best, worst = means[:, measure].argmax(), means[:, measure].argmin()
        assert found[best, worst, measure] == found[:, :, measure].min()


def test_equal_systems_are_equal():
    scores = np.repeat(np.random.default_rng(5).random((20, 1, 1)), 3, axis=1)
    assert (tukey(scores, Draws(resamples=100)) == 1).all()


def test_more_systems_than_are_permuted_at_once():
    scores = np.random.default_rng(6).random((3, 70_000, 1))
    assert tukey(scores[:, :2], Draws(resamples=5)).shape == (2, 2, 1)
    # A row that is longer than a step: the range of one query is that of its scores.
    whole = np.arange(70_000.0).reshape(1, 70_000, 1)
    assert _ranges(whole, Draws(resamples=2)).tolist() == [[69_999.0], [69_999.0]]


# --- after an analysis of variance


@pytest.mark.parametrize("groups", [2, 3, 8, 30])
def test_the_studentised_range_is_scipys(groups):
    q = np.array([0.0, 0.5, 2.0, 3.5, 6.0, 15.0])
    for freedom in (1, 4, 29, 400):
        expected = [stats.studentized_range.sf(one, groups, freedom) for one in q]
        assert range_upper(q, groups, freedom) == pytest.approx(expected, abs=1e-6)
        if groups == 2:
            t = 2 * stats.t.sf(q / math.sqrt(2), freedom)
            assert range_upper(q, 2, freedom) == pytest.approx(t, abs=1e-10)


def test_tukey_after_the_anova_of_statsmodels():
    rng = np.random.default_rng(7)
    scores = rng.random((25, 1, 2)) + rng.normal([[0.0], [0.1], [0.15], [0.4]], 0.25, (25, 4, 2))
    found = anova_tukey(scores)
    for measure in range(2):
        frame = pd.DataFrame(
            [
                {"y": scores[query, system, measure], "query": query, "system": system}
                for query in range(25)
                for system in range(4)
            ]
        )
        fitted = ols("y ~ C(query) + C(system)", frame).fit()
        assert found.residual[measure] == pytest.approx(fitted.mse_resid)
        assert found.f[measure] == pytest.approx(anova_lm(fitted)["F"]["C(system)"])
        means = scores[:, :, measure].mean(axis=0)
        for one, two in itertools.permutations(range(4), 2):
            effect = (means[two] - means[one]) / math.sqrt(fitted.mse_resid)
            assert found.effect[one, two, measure] == pytest.approx(effect)
            p = stats.studentized_range.sf(abs(effect) * 5, 4, fitted.df_resid)
            assert found.p[one, two, measure] == pytest.approx(p, abs=1e-7)
    assert (found.p[np.arange(4), np.arange(4)] == 1).all()


def test_tukey_of_two_systems_is_the_paired_t_test():
    scores = np.random.default_rng(8).random((20, 2)) + np.array([0.0, 0.1])
    found = anova_tukey(scores[:, :, None])
    apart = scores[:, 1] - scores[:, 0]
    assert found.p[0, 1, 0] == pytest.approx(stats.ttest_1samp(apart, 0).pvalue, abs=1e-10)
    assert found.effect[0, 1, 0] == pytest.approx(math.sqrt(2) * apart.mean() / apart.std(ddof=1))


def test_without_an_error_there_is_no_tukey():
    for scores in (np.full((5, 3, 1), 0.3), np.array([[[0.1], [0.4]]] * 4), [[[0.1], [0.2]]]):
        found = anova_tukey(scores)
        assert np.isnan(found.p).all()
        assert np.isnan(found.effect).all()


def test_bad_input():
    with pytest.raises(gf.errors.InputError, match="systems, at least 2"):
        anova_tukey([[[0.1]]])
    with pytest.raises(gf.errors.InputError, match=r"\(queries, systems, measures\)"):
        tukey([[0.1, 0.2]])
    with pytest.raises(gf.errors.InputError, match="systems, at least 2"):
        tukey([[[0.1]]])
    with pytest.raises(gf.errors.InputError, match="finite"):
        tukey([[[0.1], [math.nan]]])
