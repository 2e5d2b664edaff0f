"""Power of the paired t test: a published table, beside statsmodels, and by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from statsmodels.stats.power import TTestPower

import gainful as gf
from gainful.analysis.power import Power, detectable, power, power_of, queries_needed
from gainful.arithmetic.statistics.distributions import t_power

TABLE = {
    0.10: {0.01: 787, 0.02: 199, 0.05: 34},
    0.18: {0.01: 2545, 0.02: 638, 0.05: 104},
    0.25: {0.01: 4908, 0.02: 1229, 0.05: 199},
}


@pytest.mark.parametrize("sd", TABLE)
def test_the_table(sd):
    assert {difference: queries_needed(sd, difference) for difference in TABLE[sd]} == TABLE[sd]


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.02, 2),
    st.integers(2, 3_000),
    st.sampled_from([0.001, 0.01, 0.05, 0.1]),
)
def test_power_is_that_of_statsmodels(effect, queries, alpha):
    expected = TTestPower().power(effect, queries, alpha)
    if not math.isnan(expected):  # where the far tail vanishes, theirs is NaN
        assert power_of(0.5, effect / 2, queries, alpha) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("wanted", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("effect", [0.05, 0.2, 0.7])
def test_solved_as_statsmodels_does(effect, wanted):
    theirs = TTestPower().solve_power(effect_size=effect, power=wanted, alpha=0.05)
    needed = queries_needed(1.0, effect, wanted)
    assert needed == math.ceil(theirs)
    assert power_of(1.0, effect, needed) >= wanted > power_of(1.0, effect, needed - 1)
    found = detectable(1.0, needed, wanted)
    expected = TTestPower().solve_power(nobs=needed, power=wanted, alpha=0.05)
    assert found == pytest.approx(expected, rel=1e-4)  # theirs stops early
    assert power_of(1.0, found, needed) == pytest.approx(wanted, abs=1e-9)


def literal_power(shift, freedom, alpha):
    """P(|T| > c) with the roles changed: over Z, the χ² that is small enough for it."""
    critical = stats.t.isf(alpha / 2, freedom)
    nodes, weights = np.polynomial.legendre.leggauss(60)

    def beyond(side):
        # Where the χ² is near its mean, the integrand changes most.
        middle, spread = critical - side, critical / math.sqrt(2 * freedom)
        points = {-side, 40.0, *range(-8, 40, 2), *(middle + k * spread for k in range(-8, 9))}
        edges = np.array(sorted(point for point in points if -side <= point <= 40))
        half = np.diff(edges)[:, None] / 2
        z = edges[:-1, None] + half * (1 + nodes)
        least = freedom / 2 * ((z + side) / critical) ** 2
        density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        return (half * weights * density * special.gammainc(freedom / 2, least)).sum()

    return beyond(shift) + beyond(-shift)


@pytest.mark.parametrize("alpha", [0.9, 0.05, 1e-3, 1e-4, 1e-6, 1e-12])
@pytest.mark.parametrize("queries", [2, 3, 10, 50, 255, 2_683])
def test_power_is_an_integral_of_another_form(queries, alpha):
    for shift in (0.01, 1.0, 2.5, 6.35, 6.8, 9.0, 30.0):
        found = power_of(1.0, shift / math.sqrt(queries), queries, alpha)
        assert found == pytest.approx(literal_power(shift, queries - 1, alpha), rel=1e-8)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-6, 1e-30, 1e-100])
@pytest.mark.parametrize("queries", [2, 7, 300, 10**6, 10**12])
def test_without_a_difference_the_power_is_the_level(queries, alpha):
    assert t_power(0.0, queries - 1, alpha) == pytest.approx(alpha, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-4, 1e-6, 1e-12, 1e-50])
@pytest.mark.parametrize("wanted", [0.6, 0.8, 0.99, 1 - 1e-9])
def test_the_fewest_queries_are_the_fewest(wanted, alpha):
    for effect in (1e-6, 0.01, 0.1, 0.2, 0.4, 1.0, 3.0, 100.0):
        needed = queries_needed(1.0, effect, wanted, alpha)
        assert power_of(1.0, effect, needed, alpha) >= wanted
        assert needed == 2 or power_of(1.0, effect, needed - 1, alpha) < wanted


def test_a_simulation_finds_as_many_at_a_strict_level():
    """At a noncentrality of 6.6, where scipy's noncentral t is NaN."""
    rng = np.random.default_rng(1)
    samples = rng.normal(0.93, 1.0, (20_000, 50))
    t = samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / math.sqrt(50))
    share = np.mean(np.abs(t) > stats.t.isf(5e-8, 49))
    expected = power_of(1.0, 0.93, 50, 1e-7)
    assert 0.3 < expected < 0.7
    assert share == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 20_000))


def test_a_simulation_finds_as_many():
    rng = np.random.default_rng(0)
    samples = rng.normal(0.05, 0.1, (20_000, 34))
    t = samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / math.sqrt(34))
    share = np.mean(np.abs(t) > 2.0345153)  # the 97.5% quantile with 33 degrees of freedom
    assert share == pytest.approx(power_of(0.1, 0.05, 34), abs=4 * math.sqrt(0.16 / 20_000))


def test_power_grows_with_the_queries_and_is_never_nan():
    for effect in (1e-6, 0.01, 0.3, 5.0, 1e4):
        values = [power_of(1.0, effect, n) for n in (2, 3, 10, 1_000, 10**6, 10**9)]
        assert values == pytest.approx(sorted(values), rel=1e-9)  # near 1, rounding alone
        assert 0.05 * (1 - 1e-9) <= values[0] <= values[-1] <= 1


def test_few_and_many_queries():
    assert queries_needed(1.0, 1_000.0) == 2
    assert queries_needed(1.0, 1e-6) == pytest.approx(7.8489e12, rel=1e-4)
    assert detectable(1.0, 2) > 10
    assert queries_needed(1.0, 0.1, power=1 - 1e-9) < 10_000


def test_what_is_left_out_is_solved_for():
    needed = power(sd=0.18, difference=0.02)
    assert needed == Power(0.18, 0.02, 638, 0.8, 0.05, "queries")
    least = power(sd=0.18, queries=638, power=0.9, alpha=0.01)
    assert least.solved_for == "difference"
    assert least.difference == detectable(0.18, 638, 0.9, 0.01)
    given_all = power(sd=0.18, difference=0.02, queries=638)
    assert given_all.solved_for == "power"
    assert given_all.power == power_of(0.18, 0.02, 638) >= 0.8


def test_it_reads_as_a_table():
    found = power(sd=0.18, difference=0.02)
    assert found.table().records() == [
        {"sd": 0.18, "difference": 0.02, "queries": 638, "power": 0.8, "alpha": 0.05}
    ]
    assert "638" in str(found)
    assert "solved for queries" in str(found)
    assert found._repr_html_().startswith("<table>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sd": 0.2}, "a difference or a number of queries, found neither"),
        ({"sd": 0.2, "power": 0.8}, "found neither"),
        ({"sd": 0.2, "difference": 0.1, "queries": 9, "power": 0.8}, "found all of them"),
        ({"sd": 0, "difference": 0.1}, "sd: expected a number above 0"),
        ({"sd": math.nan, "difference": 0.1}, "sd: expected a number above 0"),
        ({"sd": 0.2, "difference": -0.1}, "difference: expected a number above 0"),
        ({"sd": 0.2, "difference": 1e-9}, "difference: expected at least 1e-07"),
        ({"sd": 0.2, "queries": 1}, "queries: expected a whole number from 2"),
        ({"sd": 0.2, "queries": 50.5}, "queries: expected a whole number from 2"),
        ({"sd": 0.2, "queries": 50, "power": 0.05}, "more than alpha, 0.05"),
        ({"sd": 0.2, "queries": 50, "power": 1}, "power: expected a number above 0 and below 1"),
        ({"sd": 0.2, "queries": 50, "alpha": 5}, "alpha: expected a number above 0 and below 1"),
        ({"sd": 0.2, "queries": 50, "alpha": 1e-200}, "alpha: expected at least 1e-100"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(gf.errors.InputError, match=message):
        power(**arguments)


def test_clusters_count_as_one_and_are_counted_in_queries() -> None:
    """Four queries in a cluster: 34 clusters are 136 queries, and 139 queries are 34 whole clusters."""
    needed = gf.power(sd=0.1, difference=0.05, cluster_size=4)
    assert needed.queries == 4 * gf.power(sd=0.1, difference=0.05).queries == 136
    least = gf.power(sd=0.1, queries=139, cluster_size=4)
    assert least.difference == gf.power(sd=0.1, queries=34).difference
    assert least.queries == 139
    reached = gf.power(sd=0.1, difference=0.05, queries=136, cluster_size=4)
    assert reached.power == gf.power(sd=0.1, difference=0.05, queries=34).power
    assert "34 clusters of 4 queries on average" in str(reached)
    assert gf.power(sd=0.1, difference=0.05, cluster_size=2.5).queries == 85
    for wrong, message in (
        ({"cluster_size": 0.5}, "cluster_size"),
        ({"cluster_size": 3, "queries": 5}, "at least 2 clusters, 6 queries, found 5"),
    ):
        with pytest.raises(gf.errors.InputError, match=message):
            gf.power(**{"sd": 0.1, "difference": 0.05, **wrong})


def test_a_comparison_with_clusters_finds_differences_as_often_as_computed() -> None:
    """In 400 simulations with 40 clusters of 3, the share of significant differences is near the power."""
    rng = np.random.default_rng(5)
    queries = [f"user{at // 3}_q{at}" for at in range(120)]
    found = 0
    for _ in range(400):
        shared = np.repeat(rng.normal(0.06, 0.12, 40), 3)
        new = dict(zip(queries, (shared + rng.normal(0, 0.1, 120)).tolist(), strict=True))
        old = dict.fromkeys(queries, 0.0)
        (one,) = gf.comparison.compare_scores({"old": old, "new": new}, clusters="id:_").differences
        found += one.p is not None and one.p < 0.05
    sd = math.sqrt(0.12**2 + 0.1**2 / 3)
    power = gf.power(sd=sd, difference=0.06, queries=120, cluster_size=3).power
    assert 0.6 < power < 0.9
    assert found / 400 == pytest.approx(power, abs=0.06)
