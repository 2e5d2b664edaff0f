"""Max-T: a literal loop over all flips, beside flips of one column, and what it keeps."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import gainful as gf
from gainful.arithmetic.statistics.corrections import adjusted
from gainful.arithmetic.statistics.joint_tests import max_t
from gainful.arithmetic.statistics.paired_tests import sign_flips
from gainful.arithmetic.statistics.resampling import Draws


def literal(columns, steps):
    """Adjusted p by the definition, with t itself, over all flips."""

    def t(values):
        spread = np.std(values, ddof=1)
        if spread:
            return abs(np.mean(values)) / (spread / math.sqrt(len(values)))
        return math.inf if np.mean(values) else 0.0

    count = columns.shape[1]
    found = [t(column) for column in columns.T]
    order = sorted(range(count), key=lambda place: -found[place])
    reached = [0] * count
    flips = list(itertools.product((1, -1), repeat=len(columns)))
    for flip in flips:
        flipped = [t(column) for column in (columns * np.array(flip)[:, None]).T]
        for at, place in enumerate(order):
            rivals = order if steps == "single" else order[at:]
            reached[place] += max(flipped[rival] for rival in rivals) >= found[place] * (1 - 1e-9)
    p, before = [0.0] * count, 0.0
    for place in order:
        before = max(before, reached[place] / len(flips))
        p[place] = before
    return p


@pytest.mark.parametrize("steps", ["down", "single"])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_literal_loop(seed, steps):
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 0.2, (7, 1))
    columns = shared + rng.normal([0.2, 0.05, 0.0], 0.2, (7, 3))
    columns[0, 1] = 0.0
    assert max_t(columns, steps=steps).tolist() == pytest.approx(literal(columns, steps))


@pytest.mark.parametrize("steps", ["down", "single"])
def test_random_flips_estimate_the_share_of_all(steps):
    columns = np.random.default_rng(8).normal([0.15, 0.05, 0.0], 0.25, (16, 3))
    exact = max_t(columns, steps=steps)
    # Another query that changed in no more than a trace makes the flips too many to count.
    more = np.concatenate((columns, np.full((1, 3), 1e-9)))
    found = max_t(more, Draws(resamples=40_000), steps=steps)
    error = np.sqrt(exact * (1 - exact) / 40_000)
    assert (np.abs(found - exact) <= 4 * error + 1e-3).all()


@pytest.mark.parametrize("queries", [9, 60])
def test_one_column_is_the_randomisation_test(queries):
    column = np.random.default_rng(2).normal(0.05, 0.2, (queries, 1))
    (outcome,) = sign_flips(column)
    for steps in ("down", "single"):
        assert max_t(column, steps=steps)[0] == pytest.approx(outcome.p)


def test_between_no_correction_and_bonferroni():
    rng = np.random.default_rng(3)
    columns = rng.normal(0, 0.2, (14, 1)) + rng.normal(0.1, 0.1, (14, 5))
    plain = [outcome.p for outcome in sign_flips(columns)]
    down, single = max_t(columns), max_t(columns, steps="single")
    assert (down <= single).all()
    assert (down >= np.array(plain)).all()
    assert (single <= np.array(adjusted(plain, "bonferroni")) + 1e-12).all()
    # Copies of a column are one question.
    assert max_t(np.repeat(columns[:, :1], 4, axis=1)).tolist() == pytest.approx([plain[0]] * 4)


def test_the_level_of_the_whole_family_is_kept():
    """Eight measures of the same two systems, which go together: rarely any p below 5%."""
    rng = np.random.default_rng(4)
    found = 0
    for seed in range(400):
        columns = rng.normal(0, 1, (30, 1)) + rng.normal(0, 0.7, (30, 8))
        found += max_t(columns, Draws(resamples=199, seed=seed)).min() <= 0.05
    low, high = stats.binom.ppf([0.0005, 0.9995], 400, 0.05)
    assert low <= found <= high


def test_columns_without_a_difference_and_bad_input():
    assert max_t(np.zeros((5, 2))).tolist() == [1.0, 1.0]
    assert max_t([[0.3, 0.0]]).tolist() == [1.0, 1.0]
    with pytest.raises(gf.errors.InputError, match="steps: expected 'down' or 'single'"):
        max_t([[0.1]], steps="up")
    with pytest.raises(gf.errors.InputError, match="finite"):
        max_t([[math.nan]])
