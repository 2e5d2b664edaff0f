"""What the losses of JAX do in their own way: powers of two, sorting, sums from rank to rank."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import gainful as gf
from gainful.tensors.losses.jax_operations import JAX
from gainful.tensors.losses.relaxed_sorting import _Relaxation

TYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@TYPES
def test_gains_of_whole_grades_are_exact(dtype):
    last = np.finfo(dtype).maxexp
    grades = np.arange(-last - 60, last + 3).astype(dtype)
    with np.errstate(over="ignore"), jax.enable_x64(True):
        expected = np.exp2(grades) - dtype(1)
        found = jax.jit(JAX.exp2m1)(jnp.asarray(grades))
    assert found.dtype == dtype
    assert np.asarray(found).tolist() == expected.tolist()


@TYPES
def test_gains_of_fractions_keep_their_digits(dtype):
    grades = np.r_[np.geomspace(1e-30, 0.9, 200), np.linspace(0.1, 30, 200)].astype(dtype)
    grades = np.r_[grades, -grades]
    with jax.enable_x64(True):
        found = np.asarray(jax.jit(JAX.exp2m1)(jnp.asarray(grades)))
    expected = np.expm1(grades.astype(np.longdouble) * np.log(np.longdouble(2)))
    # The product with ln 2 is rounded, and a power of it is off by as many units as it is large.
    assert (abs(found / expected - 1) <= np.finfo(dtype).eps * (3 + abs(grades))).all()


def test_gains_of_what_is_not_finite():
    found = JAX.exp2m1(jnp.array([math.inf, -math.inf, math.nan]))
    assert found.tolist() == pytest.approx([math.inf, -1, math.nan], nan_ok=True)


@TYPES
def test_numbers_from_high_to_low(dtype):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(4, 9)).round(1).astype(dtype)
    numbers[1, :4] = math.inf, -math.inf, np.finfo(dtype).tiny, -np.finfo(dtype).max
    with jax.enable_x64(True):
        given = jnp.asarray(numbers)
        found = np.asarray(jax.jit(JAX.from_high_to_low)(given))
        slope = jax.grad(lambda x: (JAX.from_high_to_low(x) * jnp.arange(9.0)).sum())(given)
    assert found.tolist() == (-np.sort(-numbers, -1)).tolist()
    places = np.argsort(np.argsort(-numbers, -1, kind="stable"), -1)
    assert np.asarray(slope).tolist() == places.tolist()


def test_the_middle_of_what_is_known():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(60, 8)).astype(np.float32)
    numbers[rng.random(numbers.shape) < 0.4] = math.nan
    numbers[0] = math.nan
    numbers[1, 1:] = -math.inf
    found = np.asarray(jax.jit(JAX.median)(jnp.asarray(numbers)))[:, 0]
    for row, middle in zip(numbers, found, strict=True):
        known = np.sort(row[~np.isnan(row)])
        expected = known[(len(known) - 1) // 2] if len(known) else math.nan
        assert middle == pytest.approx(expected, abs=0, rel=0, nan_ok=True)


@pytest.mark.parametrize("deep", [1, 4, 9])
@pytest.mark.parametrize("tau", [1.0, 0.01])
def test_relaxed_orders_from_rank_to_rank(deep, tau):
    rng = np.random.default_rng(0)
    scores = -np.sort(-rng.normal(size=(6, 9)), -1)
    scores[1] *= 1e8
    scores[2, :3] += 1e30  # far from the others, and those near one another
    scores[3] = 5 + scores[3] / 1000
    scores[4] = 3
    scores[5] = np.where(np.arange(9) < 4, 3e38, -3e38)  # differences beyond the type
    given = jnp.asarray(scores, jnp.float32), jnp.array([[9.0], [9], [9], [6], [4], [9]])

    def powers(s, counts):
        return _Relaxation(JAX, s, counts, tau, deep).whole

    # Each step in the type of the scores, by the sums over a row, is what is not compiled.
    found, expected = (np.asarray(form(*given)) for form in (jax.jit(powers), powers))
    assert found == pytest.approx(expected, rel=2e-5, abs=1e-7)
    assert (found[:4, 0].sum(-1) >= 1).all()


@pytest.mark.parametrize("name", ["soft_ndcg", "neural_ndcg", "pirank_ndcg"])
def test_losses_as_on_a_gpu(name, monkeypatch):
    rng = np.random.default_rng(1)
    scores, labels = rng.normal(size=(2, 7)).astype(np.float32), rng.integers(0, 4, (2, 7))
    options = {"iterations": 7} if name == "neural_ndcg" else {}  # no whole number of turns

    def found():
        loss = functools.partial(getattr(gf.losses, name), labels=jnp.asarray(labels), **options)
        return jax.value_and_grad(loss)(jnp.asarray(scores))

    expected = found()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    value, slope = found()
    assert float(value) == pytest.approx(float(expected[0]), rel=1e-5)
    assert np.asarray(slope) == pytest.approx(np.asarray(expected[1]), rel=1e-4, abs=1e-6)
