"""Tests and intervals of paired differences by resampling, beside scipy."""

import math

import numpy as np

import gainful as gf
from gainful.arithmetic.statistics.intervals import bca_interval
from gainful.arithmetic.statistics.paired_tests import sign_flips
from gainful.arithmetic.statistics.resampling import Draws
from timing import Result, take_turns

RESAMPLES, QUERIES = 10_000, 5_000
BATCH = 100  # resamples that the peer takes at once: faster than all, its default


def resampling(turns: int) -> list[Result]:
    """W6: 10,000 resamples of 5,000 queries."""
    differences = np.random.default_rng(0).normal(0.004, 0.18, QUERIES)
    return [flips(differences, turns), bootstrap(differences, turns), systems(turns)]


def systems(turns: int) -> Result:
    """Compare all pairs of twenty systems under three measures, with every test and interval."""
    values = np.random.default_rng(1).beta(0.8, 1.2, (1_000, 20, 3))
    tables = {
        f"system {at}": {
            f"q{query}": dict(zip(("nDCG@10", "AP", "RR"), row, strict=True))
            for query, row in enumerate(values[:, at].tolist())
        }
        for at in range(20)
    }

    def ours():
        return gf.comparison.compare_scores(tables, pairs="all", correction="tukey")

    assert len(ours().differences) == 3 * 20 * 19 / 2
    work = "W6 compare, 20 systems × 3 measures × 1,000 queries, all pairs, Tukey"
    times = take_turns(lambda: None, ours, turns=turns, ours_each=1)
    return Result(work, "2 s", 2.0, times[1], goal="≥ 1× (under 2 s)")


def flips(differences: np.ndarray, turns: int) -> Result:
    from scipy import stats

    zeros = np.zeros(QUERIES)

    def theirs():
        return stats.permutation_test(
            (differences, zeros),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            n_resamples=RESAMPLES,
            vectorized=True,
            batch=BATCH,
        ).pvalue

    def ours():
        return sign_flips(differences[:, None], Draws(RESAMPLES))[0].p

    expected, found = theirs(), ours()
    error = math.sqrt(2 * found * (1 - found) / RESAMPLES)
    assert abs(expected - found) < 4 * error, (expected, found)
    work = f"W6 sign-flip test, {RESAMPLES:,} resamples × {QUERIES:,} queries"
    # A turn of the peer takes seconds: its best time settles in fewer.
    times = take_turns(theirs, ours, turns=max(turns - 2, 1), ours_each=8)
    return Result(work, "scipy.stats.permutation_test", *times, goal="≥ 20×")


def bootstrap(differences: np.ndarray, turns: int) -> Result:
    from scipy import stats

    def theirs():
        return stats.bootstrap(
            (differences,), np.mean, n_resamples=RESAMPLES, method="BCa", batch=BATCH
        ).confidence_interval

    def ours():
        return bca_interval(differences[:, None], Draws(RESAMPLES))[0]

    expected, found = theirs(), ours()
    error = 0.15 * differences.std() / math.sqrt(QUERIES)  # of the end of an interval
    assert abs(expected.low - found.low) < error, (expected, found)
    assert abs(expected.high - found.high) < error, (expected, found)
    work = f"W6 BCa bootstrap, {RESAMPLES:,} × {QUERIES:,}"
    times = take_turns(theirs, ours, turns=turns, ours_each=3)
    return Result(work, "scipy.stats.bootstrap", *times, goal="≥ 3×")
