"""Weighted, clustered and stratified means: literal formulas, statsmodels, and coverage by simulation."""

import math

import numpy as np
import pytest

from gainful.arithmetic.statistics.intervals import INTERVALS, intervals_of_means
from gainful.arithmetic.statistics.moments import moments
from gainful.arithmetic.statistics.paired_tests import TESTS
from gainful.arithmetic.statistics.query_sampling import Sampling
from gainful.arithmetic.statistics.resampling import Draws

VALUES = np.array([0.31, 0.52, 0.08, 0.77, 0.64, 0.12, 0.95, 0.43, 0.29, 0.58, 0.36, 0.81])
WEIGHTS = np.array([5.0, 1, 2, 8, 1, 3, 1, 2, 6, 4, 1, 2])
CLUSTERS = np.array([0, 0, 1, 1, 1, 2, 3, 3, 4, 4, 4, 5])
STRATA = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2])

# statsmodels 0.15.0: WLS(values, ones, weights) or OLS, cov_type="HC1" or "cluster", use_t; the mean, the
# ends of its 95% interval, and p of mean 0.
STATSMODELS = {
    "weights": (Sampling(WEIGHTS), 0.47888888888888864, 0.2760252, 0.68175258, 0.00029642777039124005),
    "clusters": (
        Sampling(None, CLUSTERS), 0.48833333333333345, 0.32589477, 0.6507719, 0.0005795466037844502,
    ),
    "both": (
        Sampling(WEIGHTS, CLUSTERS), 0.47888888888888864, 0.28785165, 0.66992613, 0.001338321256013591,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STATSMODELS)
def test_the_t_interval_and_test_equal_statsmodels(name: str) -> None:
    sampling, mean, low, high, p = STATSMODELS[name]
    (interval,) = intervals_of_means("t", VALUES[:, None], None, 0.95, sampling=sampling)
    assert sampling.mean(VALUES) == pytest.approx(mean, abs=1e-15)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-8)
    (outcome,) = TESTS["t"](VALUES[:, None], None, 0.0, sampling)
    assert outcome.p == pytest.approx(p, rel=1e-12)


def literal_variance(values: np.ndarray, weights: np.ndarray, clusters: np.ndarray) -> float:
    """Return Σ_c (Σ w·(v − m))² / (Σ w)² · C/(C − 1), one query at a time."""
    total = sum(weights.tolist())
    mean = sum(w * v for w, v in zip(weights.tolist(), values.tolist(), strict=True)) / total
    sums: dict[int, float] = {}
    for weight, value, cluster in zip(weights, values, clusters, strict=True):
        sums[int(cluster)] = sums.get(int(cluster), 0.0) + float(weight) * (float(value) - mean)
    count = len(sums)
    return sum(one**2 for one in sums.values()) / total**2 * count / (count - 1)


@pytest.mark.parametrize("seed", range(20))
def test_the_spread_has_the_weighted_mean_and_its_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 40))
    values, weights = rng.normal(size=count), rng.exponential(size=count)
    clusters = rng.integers(0, max(count // 3, 2), count)
    column = Sampling(weights, clusters).spread(values[:, None])[:, 0]
    spread = moments(column)
    assert spread.mean == pytest.approx(float(np.average(values, weights=weights)), abs=1e-12)
    assert spread.sd is not None
    assert spread.sd**2 / spread.count == pytest.approx(
        literal_variance(values, weights, clusters), rel=1e-9
    )


def test_strata_are_weighted_back_with_the_stratified_variance() -> None:
    population = np.array([1000.0, 300.0, 100.0])
    drawn = np.bincount(STRATA)
    sampling = Sampling((population / drawn)[STRATA], None, STRATA)
    spread = moments(sampling.spread(VALUES[:, None])[:, 0])
    shares = population / population.sum()
    mean = sum(shares[h] * VALUES[h == STRATA].mean() for h in range(3))
    variance = sum(shares[h] ** 2 * VALUES[h == STRATA].var(ddof=1) / drawn[h] for h in range(3))
    assert spread.mean == pytest.approx(mean, abs=1e-14)
    assert spread.sd is not None
    assert spread.sd**2 / spread.count == pytest.approx(variance, rel=1e-12)


def test_every_query_alone_and_alike_changes_nothing() -> None:
    assert Sampling().spread(VALUES[:, None]).tolist() == VALUES[:, None].tolist()
    assert Sampling().contributions(VALUES[:, None]).tolist() == VALUES[:, None].tolist()


def test_a_query_without_weight_counts_as_if_it_were_not_there() -> None:
    weights = WEIGHTS.copy()
    weights[3] = 0
    rest = np.flatnonzero(weights)
    with_it, without = Sampling(weights, CLUSTERS), Sampling(weights[rest], CLUSTERS[rest])
    assert with_it.units(12) == without.units(11)
    assert np.allclose(with_it.spread(VALUES[:, None]), without.spread(VALUES[rest, None]))
    assert np.allclose(
        with_it.contributions(VALUES[:, None]), without.contributions(VALUES[rest, None])
    )


def test_flips_of_clusters_are_counted_one_by_one() -> None:
    sampling = Sampling(WEIGHTS, CLUSTERS)
    apart = VALUES - 0.4
    (outcome,) = TESTS["randomisation"](apart[:, None], None, 0.0, sampling)
    sums = np.array([(WEIGHTS * apart)[c == CLUSTERS].sum() for c in range(6)])
    every = [
        abs(sum(s if flips >> at & 1 else -s for at, s in enumerate(sums))) for flips in range(64)
    ]
    reached = sum(one >= abs(sums.sum()) - 1e-9 for one in every)
    assert outcome.p == reached / 64
    assert outcome.exact


def test_a_test_of_ranks_says_that_it_counts_every_query_once() -> None:
    (outcome,) = TESTS["wilcoxon"](VALUES[:, None], None, 0.0, Sampling(WEIGHTS))
    assert outcome.p is None
    assert "counts every query once" in outcome.why


def test_few_heavy_queries_are_too_few_for_an_interval() -> None:
    weights = np.r_[np.full(4, 1000.0), np.full(60, 0.01)]
    values = np.linspace(0, 1, 64)[:, None]
    (interval,) = intervals_of_means("hall", values, None, 0.95, sampling=Sampling(weights))
    assert not interval.known
    assert interval.note == "too few queries for an interval (4; at least 10 needed)"


@pytest.mark.parametrize("clusters", [12, 30])
def test_intervals_of_clusters_cover_the_mean(clusters: int) -> None:
    """Queries of a cluster share half of their variance; ignoring it, 95% intervals cover about 80%."""
    rng = np.random.default_rng(clusters)
    held = ignored = 0
    for _ in range(600):
        shared = rng.normal(size=clusters)
        labels = np.repeat(np.arange(clusters), 5)
        values = (shared[labels] + rng.normal(size=labels.size))[:, None]
        (interval,) = intervals_of_means(
            "hall", values, None, 0.95, sampling=Sampling(None, labels)
        )
        held += interval.low <= 0 <= interval.high
        (plain,) = intervals_of_means("hall", values, None, 0.95)
        ignored += plain.low <= 0 <= plain.high
    assert held / 600 > 0.93
    assert ignored / 600 < 0.85


def test_the_bootstrap_of_clusters_agrees_with_the_t_test() -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(60), 3)
    apart = (rng.normal(size=60)[labels] + rng.normal(size=180) + 0.5)[:, None]
    sampling = Sampling(rng.exponential(size=180) + 0.1, labels)
    (drawn,) = TESTS["bootstrap"](apart, Draws(20_000), 0.0, sampling)
    (t,) = TESTS["t"](apart, None, 0.0, sampling)
    assert drawn.p is not None
    assert t.p is not None
    assert 0.001 < t.p < 0.5
    assert math.isclose(drawn.p, t.p, abs_tol=0.02)


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
@pytest.mark.parametrize("lightest", [0.5, 0.0])
def test_values_that_are_added_without_their_weight_count_once(
    clusters: np.ndarray | None, lightest: float
) -> None:
    """The mean is a ratio, (Σ v of these + Σ w·v of the others) / Σ w, with the variance of a ratio."""
    weights, once = WEIGHTS.copy(), np.arange(12) % 4 == 1
    weights[5] = lightest
    counts = np.where(once, 1.0, weights)
    total, labels = weights.sum(), np.arange(12) if clusters is None else clusters
    mean = (counts * VALUES).sum() / total
    apart = [counts[at] * VALUES[at] - weights[at] * mean for at in range(12)]
    sums = [sum(apart[at] for at in range(12) if labels[at] == one) for one in set(labels.tolist())]
    variance = sum(one**2 for one in sums) / total**2 * len(sums) / (len(sums) - 1)
    sampling = Sampling(weights, clusters, once=once)
    spread = moments(sampling.spread(VALUES[:, None])[:, 0])
    assert sampling.mean(VALUES) == pytest.approx(mean, abs=1e-15)
    assert spread.mean == pytest.approx(mean, abs=1e-14)
    assert spread.count == len(sums)
    assert spread.sd is not None
    assert spread.sd**2 / spread.count == pytest.approx(variance, rel=1e-12)
    (interval,) = intervals_of_means("betting", VALUES[:, None], None, 0.95, [(0, 1)], sampling)
    assert not interval.known
    assert "no dialect" in interval.note


SAMPLES = {
    "weights": Sampling(np.random.default_rng(1).uniform(0.5, 2, 120)),
    "clusters": Sampling(None, np.repeat(np.arange(60), 2)),
    "strata": Sampling(None, None, np.arange(120) // 40),
    "all": Sampling(
        np.random.default_rng(1).uniform(0.5, 2, 120),
        np.repeat(np.arange(60), 2),
        np.arange(120) // 40,
    ),
}
ONCE_EACH = ("wilcoxon", "wilcoxon-continuity", "sign")
"""The tests that count every query once, and say so."""


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("name", TESTS)
def test_every_test_supports_every_sample_or_says_why_not(name: str, kind: str) -> None:
    """Every p that isn't valid at any time is close to the one of the robust t test."""
    apart = np.random.default_rng(11).normal(0.03, 0.2, (120, 1)).clip(-1, 1)
    sampling = SAMPLES[kind]
    (outcome,) = TESTS[name](apart, Draws(4000), 0.0, sampling, [(-1.0, 1.0)])
    if name in ONCE_EACH:
        assert outcome.p is None
        assert "without weights and clusters" in outcome.why
        assert not TESTS[name].takes_samples
        return
    assert TESTS[name].takes_samples
    assert outcome.p is not None
    (t,) = TESTS["t"](apart, None, 0.0, sampling)
    assert t.p is not None
    assert 0.02 < t.p < 0.3
    if TESTS[name].anytime:
        assert t.p < outcome.p <= 1
    else:
        assert outcome.p == pytest.approx(t.p, abs=0.03)


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("name", INTERVALS)
def test_every_interval_supports_every_sample(name: str, kind: str) -> None:
    """Every interval that isn't valid at any time is close to the one of the robust t test."""
    apart = np.random.default_rng(11).normal(0.03, 0.2, (120, 1)).clip(-1, 1)
    sampling = SAMPLES[kind]
    made, robust = (
        intervals_of_means(one, apart, Draws(4000), 0.95, [(-1.0, 1.0)], sampling)[0]
        for one in (name, "t")
    )
    assert made.low < sampling.mean(apart[:, 0]) < made.high
    if name in ("betting", "asymptotic"):
        assert made.low < robust.low
        assert made.high > robust.high
    else:
        assert (made.low, made.high) == pytest.approx((robust.low, robust.high), abs=0.006)
