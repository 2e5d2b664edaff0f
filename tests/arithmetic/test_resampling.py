"""The same seed gives the same bits, however many threads work on them; and sums are exact."""

import os
import subprocess
import sys
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import gainful as gf
from gainful.arithmetic.statistics import resampling as draws_module
from gainful.arithmetic.statistics.exact_sums import on_grid
from gainful.arithmetic.statistics.intervals import bca_interval
from gainful.arithmetic.statistics.joint_tests import _packed, tukey
from gainful.arithmetic.statistics.paired_tests import sign_flips
from gainful.arithmetic.statistics.resampling import (
    Draws,
    Purpose,
    draw_places,
    in_pieces,
    weighted_sums,
)

DIFFERENCES = np.random.default_rng(5).normal(0.02, 0.2, (300, 6))
SCORES = np.random.default_rng(6).random((60, 5, 2))


def everything(draws):
    """All numbers that come from random draws."""
    return (
        [outcome.p for outcome in sign_flips(DIFFERENCES, draws)],
        [(found.low, found.high) for found in bca_interval(DIFFERENCES, draws)],
        tukey(SCORES, draws).tolist(),
    )


def test_one_thread_and_several_give_the_same_bits(monkeypatch):
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(draws_module, "cores", lambda cores=cores: cores)
        found.append(everything(Draws(resamples=6_000, seed=3)))
    assert found[0] == found[1] == found[2]


def test_another_seed_gives_other_numbers():
    first, second = (everything(Draws(resamples=500, seed=seed)) for seed in (1, 2))
    assert all(one != other for one, other in zip(first, second, strict=True))


PRINT = """
import numpy as np
from gainful.arithmetic.statistics.resampling import Draws
from gainful.arithmetic.statistics.intervals import bca_interval
from gainful.arithmetic.statistics.paired_tests import sign_flips
values = np.random.default_rng(1).normal(0.01, 0.2, (700, 40))
draws = Draws(resamples=3_000, seed=9)
print([(found.low, found.high) for found in bca_interval(values, draws)])
print([outcome.p for outcome in sign_flips(values, draws)])
"""


def test_the_threads_of_a_blas_change_no_bit():
    printed = [
        subprocess.run(
            [sys.executable, "-c", PRINT],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert len(printed[0]) > 1_000
    assert printed[0] == printed[1]


def test_a_column_has_the_same_numbers_alone_and_among_others():
    draws = Draws(resamples=3_000, seed=4)
    together = sign_flips(DIFFERENCES, draws), bca_interval(DIFFERENCES, draws)
    for place in range(DIFFERENCES.shape[1]):
        column = DIFFERENCES[:, place : place + 1]
        assert sign_flips(column, draws)[0] == together[0][place]
        assert bca_interval(column, draws)[0] == together[1][place]
    for place in range(SCORES.shape[2]):
        alone = tukey(SCORES[:, :, place : place + 1], draws)[:, :, 0]
        assert np.array_equal(alone, tukey(SCORES, draws)[:, :, place])


def test_purposes_and_blocks_share_no_draws():
    draws = Draws(resamples=4, seed=0)
    seen = [
        value
        for purpose in Purpose
        for value in draws.in_blocks(purpose, 1, lambda rng, count: int(rng.integers(2**60)))
    ]
    assert len(set(seen)) == len(Purpose) * 4


@pytest.mark.parametrize("count", [1, 2, 3, 1_000, 3 << 30])
def test_places_are_drawn_evenly(count):
    # Of 3·2^30 a quarter of the bits has no share, and is drawn anew.
    drawn = draw_places(np.random.default_rng(2), count, (101, 1_001)).ravel()
    assert drawn.size == 101 * 1_001
    assert drawn.min() >= 0
    assert drawn.max() < count
    tenths = np.bincount(drawn * min(count, 10) // count)
    assert count == 1 or stats.chisquare(tenths).pvalue > 0.001


@pytest.mark.parametrize("cores", [1, 2])
def test_blocks_are_in_order_and_progress_is_told(monkeypatch, cores):
    monkeypatch.setattr(draws_module, "cores", lambda: cores)
    told, threads = [], set()

    def progress(share):
        told.append(share)
        threads.add(threading.get_ident())

    counts = Draws(resamples=10, progress=progress).in_blocks(
        Purpose.FLIPS, 4, lambda rng, count: count
    )
    assert counts == [4, 4, 2]
    assert told == [1 / 3, 2 / 3, 1.0]
    assert threads == {threading.get_ident()}


def test_who_interrupts_does_not_wait_for_every_block(monkeypatch):
    monkeypatch.setattr(draws_module, "cores", lambda: 2)
    worked = []

    def stop(share):
        raise KeyboardInterrupt

    def work(rng, count):
        worked.append(count)
        time.sleep(0.02)  # long enough for the caller to be told of the first

    with pytest.raises(KeyboardInterrupt):
        Draws(resamples=100, progress=stop).in_blocks(Purpose.FLIPS, 1, work)
    assert len(worked) < 100


@pytest.mark.parametrize(
    "arguments", [{"resamples": 0}, {"resamples": 10.0}, {"seed": -1}, {"seed": True}]
)
def test_bad_draws(arguments):
    with pytest.raises(gf.errors.InputError, match="expected a whole number"):
        Draws(**arguments)


# --- the grid


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
    st.integers(-900, 900),
)
def test_sums_on_the_grid_are_exact_in_any_order(values, random, exponent):
    column = np.ldexp(np.array(values), exponent)[:, None]
    grid = on_grid(column)
    shuffled = grid.units[:, 0].tolist()
    random.shuffle(shuffled)
    assert sum(shuffled) == grid.units.sum() == sum(map(Fraction, shuffled))
    assert np.array_equal(grid.units, np.rint(grid.units))
    largest = np.abs(column).max()
    # No value moves by more than 2^-40 of the largest, or what is coarser for many of them.
    assert (np.abs(grid.back(grid.units) - column) <= largest * 2.0**-40 + 5e-324).all()


@pytest.mark.parametrize("count", [1, 2, 4_096, 4_097, 5_000, 1_000_000])
def test_the_largest_sum_fits(count):
    grid = on_grid(np.full((count, 1), 0.999_999))
    assert grid.units.sum() <= 2**52
    assert abs(grid.back(grid.units.sum(axis=0))[0] / count - 0.999_999) < 1e-9


def test_what_differs_by_rounding_alone_is_the_same_on_the_grid():
    tenths = np.array([[a / 10 - b / 10] for a in range(11) for b in range(11)])
    distinct = np.unique(on_grid(tenths).units)
    assert np.unique(tenths).size > distinct.size == 21
    assert on_grid(np.array([[0.3 - 0.2], [0.8 - 0.7]])).constant.all()
    assert not on_grid(np.array([[0.3], [0.3001]])).constant.any()


def test_packs_hold_every_column():
    units = np.arange(14.0).reshape(2, 7)
    packs = _packed(units)
    assert packs.shape == (2, 2, 4)
    assert np.array_equal(packs.swapaxes(0, 1).reshape(2, 8)[:, :7], units)


@pytest.mark.parametrize(("rows", "queries", "columns"), [(1, 1, 1), (64, 64, 64), (5, 130, 70)])
def test_a_product_in_pieces_is_the_product(rows, queries, columns):
    rng = np.random.default_rng(3)
    units = rng.integers(-(2**40), 2**40, (queries, columns)).astype(float)
    pieces = in_pieces(units)
    weights = np.zeros((rows, len(pieces) * 64))
    weights[:, :queries] = rng.integers(-2, 3, (rows, queries))
    expected = weights[:, :queries].astype(np.int64) @ units.astype(np.int64)
    assert np.array_equal(weighted_sums(weights, pieces), expected)
