"""Where neither of two systems is better, a test at 5% finds a difference in 5% of comparisons."""

import numpy as np
import pytest
from scipy import stats

from gainful.arithmetic.statistics.intervals import bca_interval
from gainful.arithmetic.statistics.joint_tests import tukey
from gainful.arithmetic.statistics.paired_tests import TESTS, paired_t, sign_flips
from gainful.arithmetic.statistics.resampling import Draws

PAIRS = 2_000
LEVEL = 0.05


def bounded(rng, shape):
    """Scores like nDCG: anything from 0 to 1, some queries easy and some hard for all."""
    easy = rng.beta(1.2, 1.2, (shape[0], *[1] * (len(shape) - 1)))
    return rng.beta(0.5 + 4 * easy, 4.5 - 4 * easy, shape)


def skewed(rng, shape):
    """Scores like average precision: most of them small."""
    return rng.beta(0.5, 4, shape)


def mostly_zero(rng, shape):
    """Scores like reciprocal rank: nothing found, or at a rank."""
    found = rng.random(shape) < 0.4
    return np.where(found, 1 / rng.integers(1, 11, shape), 0.0)


def tenths(rng, shape):
    """Scores like P@10."""
    easy = rng.beta(1, 2, (shape[0], *[1] * (len(shape) - 1)))
    return rng.binomial(10, np.broadcast_to(easy, shape)) / 10


DRAWN = {"bounded": bounded, "skewed": skewed, "mostly_zero": mostly_zero, "tenths": tenths}


def differences(name, queries):
    """Differences (queries, pairs) of systems that are equally good."""
    first, second = np.moveaxis(DRAWN[name](np.random.default_rng(11), (queries, PAIRS, 2)), -1, 0)
    return first - second


def allowed(level, trials=PAIRS):
    """The counts that chance leaves with 99.9% probability."""
    return stats.binom.ppf([0.0005, 0.9995], trials, level)


@pytest.mark.parametrize("queries", [50, 200])
@pytest.mark.parametrize("name", DRAWN)
def test_t_and_randomisation_keep_their_level(name, queries):
    columns = differences(name, queries)
    low, high = allowed(LEVEL)
    by_t = np.array([paired_t(column).p for column in columns.T])
    by_flips = np.array([outcome.p for outcome in sign_flips(columns, Draws(resamples=1_999))])
    few, many = allowed(0.5)
    for p in (by_t, by_flips):
        assert low <= np.count_nonzero(p < LEVEL) <= high
        # And not at that level alone.
        assert np.count_nonzero(p < 0.5) <= many
        # Many sums of tenths equal the observed one. They count in p, which makes flips mild.
        assert np.count_nonzero(p < 0.5) >= few or (name == "tenths" and p is by_flips)
    assert np.abs(by_t - by_flips).max() < 0.1


def test_the_level_can_be_missed():
    columns = differences("bounded", 50)
    _, high = allowed(LEVEL)
    shifted = np.array([paired_t(column).p for column in (columns + 0.02).T])
    assert np.count_nonzero(shifted < LEVEL) > high
    # The same queries counted twice look like more evidence than they are.
    doubled = np.array([paired_t(column).p for column in np.tile(columns, (2, 1)).T])
    assert np.count_nonzero(doubled < LEVEL) > high


@pytest.mark.parametrize("name", ["wilcoxon", "sign"])
def test_the_others_keep_theirs_where_differences_are_symmetric(name):
    columns = differences("bounded", 50)
    p = np.array([outcome.p for outcome in TESTS[name](columns, None)])
    assert np.count_nonzero(p < LEVEL) <= allowed(LEVEL)[1]
    assert np.count_nonzero(p < LEVEL) >= 0.5 * LEVEL * PAIRS  # signs are few, and so the test mild


def test_the_bootstrap_covers_the_true_mean():
    columns = differences("skewed", 200)[:, :1_000]
    intervals = bca_interval(columns, Draws(resamples=1_000))
    missed = sum(not found.low <= 0 <= found.high for found in intervals)
    low, high = allowed(0.055, 1_000)  # a little liberal, as it is known to be
    assert low <= missed <= high


def test_tukey_keeps_the_level_of_the_whole_family():
    # Six systems, fifteen pairs: the share of families with any p below the level.
    scores = bounded(np.random.default_rng(12), (50, 6, 400))
    p = tukey(scores, Draws(resamples=999))
    found = np.count_nonzero(p.min(axis=(0, 1)) <= LEVEL)
    low, high = allowed(LEVEL, 400)
    assert low <= found <= high
