"""How often a gate fails runs that are as good as the baseline, and runs that are worse."""

import numpy as np
import pytest
from scipy import stats

from gainful.analysis.comparison.comparison_gate_and_charts import Comparison
from gainful.analysis.comparison.gate import check_gate
from gainful.analysis.comparison.paired_scores import Paired
from gainful.analysis.comparison.settings import Settings

GATES = 2_000
LEVEL = 0.025  # one side of 95%


def bounded(rng, shape):
    """Scores like nDCG: from 0 to 1, skewed, some queries hard for all, a quarter of them 0."""
    easy = rng.beta(0.8, 1.6, (*shape[:2], 1, 1))
    found = rng.random(shape) < 0.3 + 0.65 * easy
    return np.where(found, rng.beta(0.5 + 3 * easy, 3.5 - 3 * easy, shape), 0.0)


def mostly_zero(rng, shape):
    """Scores like reciprocal rank: nothing found, or at a rank."""
    found = rng.random(shape) < 0.4
    return np.where(found, 1 / rng.integers(1, 11, shape), 0.0)


DRAWN = {"bounded": bounded, "mostly_zero": mostly_zero}


def share_failed(values, fail_if=(), fail_unless=()):
    """Return the share of gates that fail, for values [gate, query, system, measure]."""
    _, queries, systems, measures = values.shape
    names = tuple(f"s{at}" for at in range(systems))
    ids = tuple(f"q{at}" for at in range(queries))
    columns = tuple(f"M{at}" for at in range(measures))
    failed, usual = 0, Settings()
    for each in values:
        paired = Paired(names, columns, ids, each)
        comparison = Comparison("s0", paired, usual, ())
        failed += check_gate(comparison, fail_if, fail_unless).failed
    return failed / len(values)


def allowed(share):
    """The shares that chance leaves with 99.9% probability."""
    return stats.binom.ppf([0.0005, 0.9995], GATES, share) / GATES


@pytest.mark.parametrize("queries", [50, 200])
@pytest.mark.parametrize("name", DRAWN)
def test_a_run_that_is_as_good_fails_in_one_of_forty_cases(name, queries):
    values = DRAWN[name](np.random.default_rng(queries), (GATES, queries, 2, 1))
    low, high = allowed(LEVEL)
    assert low <= share_failed(values, "Δ M0 < 0") <= high
    # A gate of points would fail half of them.
    worse = (values[:, :, 1, 0] - values[:, :, 0, 0]).mean(axis=1) < 0
    assert 0.45 < worse.mean() < 0.55


@pytest.mark.parametrize("name", DRAWN)
def test_with_several_conditions_the_whole_gate_fails_no_more_often(name):
    values = DRAWN[name](np.random.default_rng(5), (GATES, 50, 2, 2))
    _, high = allowed(LEVEL)
    assert 0.005 < share_failed(values, ["Δ M0 < 0", "Δ M1 < 0"]) <= high
    alike = np.repeat(values[:, :, :, :1], 2, axis=3)  # as alike as measures can be
    assert 0 < share_failed(alike, ["Δ M0 < 0", "Δ M1 < 0"]) <= high


def test_with_several_runs_the_whole_gate_fails_no_more_often():
    values = bounded(np.random.default_rng(6), (GATES, 50, 4, 1))
    _, high = allowed(LEVEL)
    assert 0.005 < share_failed(values, "Δ M0 < 0") <= high


def test_a_tolerance_makes_false_alarms_rarer():
    values = bounded(np.random.default_rng(7), (GATES, 50, 2, 1))
    assert share_failed(values, "Δ M0 < -0.02") < share_failed(values, "Δ M0 < 0") / 2


def test_a_run_that_is_truly_worse_fails_as_often_as_the_power_says():
    rng = np.random.default_rng(8)
    values = bounded(rng, (GATES, 200, 2, 1))
    sd = (values[:, :, 1, 0] - values[:, :, 0, 0]).std()
    values[:, :, 1] -= 0.1
    shift = 0.1 * np.sqrt(200) / sd
    power = stats.nct.sf(stats.t.ppf(1 - LEVEL, 199), 199, shift)
    assert power > 0.85
    low, high = allowed(power)
    assert low - 0.01 <= share_failed(values, "Δ M0 < 0") <= high + 0.01


def test_proof_is_demanded_of_runs_that_are_worse_by_the_bound():
    """`fail unless M > -0.05` passes a run that is worse by 0.05 in one of forty cases."""
    values = bounded(np.random.default_rng(9), (GATES, 200, 2, 1))
    values[:, :, 1] -= 0.05
    low, high = allowed(LEVEL)
    passed = 1 - share_failed(values, fail_unless="Δ M0 > -0.05")
    assert low <= passed <= high
    # The same gate passes most runs that are better by as much.
    values[:, :, 1] += 0.1
    assert share_failed(values, fail_unless="Δ M0 > -0.05") < 0.2
