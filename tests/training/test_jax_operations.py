"""What the losses of JAX do in their own way: powers of two, sorting, falls from rank to rank."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import gainful as gf
from array_libraries import quickly_compiled
from gainful.training.losses.jax_operations import JAX, falls_in_whole_numbers
from gainful.training.losses.relaxed_sorting import _Relaxation

TYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
FALLS = jax.jit(falls_in_whole_numbers, static_argnums=2)  # compiled once for every τ


@TYPES
def test_gains_of_whole_grades_are_exact(dtype):
    last = np.finfo(dtype).maxexp
    grades = np.arange(-last - 60, last + 3).astype(dtype)
    # NumPy's exp2 of float32 is off at 2^127 on some CPUs.
    with np.errstate(over="ignore"), jax.enable_x64(True):
        expected = np.ldexp(dtype(1), grades.astype(int)) - dtype(1)
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
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_relaxed_orders_from_rank_to_rank(deep, tau, backend, monkeypatch):
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
    monkeypatch.setattr(jax, "default_backend", lambda: backend)
    found, expected = (np.asarray(form(*given)) for form in (jax.jit(powers), powers))
    assert found == pytest.approx(expected, rel=2e-5, abs=1e-7)
    assert (found[:4, 0].sum(-1) >= 1).all()


def literal_falls(s, tau, deep):
    """Return what each item falls from each rank, step by step, in the widest type."""
    s = s.astype(np.longdouble)
    width = s.shape[-1]
    found = np.zeros((len(s), deep, width), np.longdouble)
    for rank in range(deep):
        for item in range(rank, width - 1):
            step = (2 * (item - rank) + 1) * (s[:, item] - s[:, item + 1])
            found[:, rank, item + 1 :] += step[:, None]
        for item in range(rank - 1, -1, -1):
            step = (2 * (rank - item) - 1) * (s[:, item] - s[:, item + 1])
            found[:, rank, : item + 1] += step[:, None]
    return found / np.longdouble(tau)


@functools.cache
def odd_falls(width, deep, dtype):
    """Return the literal falls of odd scores for τ = 1, which take long in the widest type."""
    return literal_falls(odd_scores(width, dtype), 1.0, deep)


def odd_scores(width, dtype):
    """Return lists of scores from high to low: equal ones, clusters, far ones, large and tiny."""
    rng = np.random.default_rng(width)
    scores = rng.normal(size=(9, width))
    scores[1] = 3
    scores[2] = scores[2].round()
    scores[3, :1] = 1e30
    scores[3, width // 2 :][-1:] = -1e30
    scores[4] = scores[4] / 1000 + np.where(np.arange(width) < width // 2, 1e6, 0)
    scores[5] *= 1e-30
    scores[6] /= width**2
    scores[7] += 1e4
    scores[8] *= 1e8
    return -np.sort(-scores.astype(dtype), -1)


@TYPES
@pytest.mark.parametrize("tau", [0.01, 1.0, 30.0, 1e-30])
@pytest.mark.parametrize(
    ("width", "deep"), [(1, 1), (2, 2), (3, 1), (100, 100), (200, 7), (257, 40), (1000, 9)]
)
def test_falls_in_whole_numbers(width, deep, tau, dtype):
    scores = odd_scores(width, dtype)
    with jax.enable_x64(True):
        found = np.asarray(FALLS(jnp.asarray(scores), tau, deep))
    assert found.dtype == dtype
    assert found.shape == (len(scores), deep, width)
    expected = odd_falls(width, deep, dtype) / np.longdouble(tau)
    # Powers of what is not seen are 0.
    seen = expected < math.log(2) - math.log(np.finfo(dtype).smallest_subnormal)
    off = abs(found - expected)[seen] / np.maximum(expected, 1)[seen]
    assert off.max() < 2 * np.finfo(dtype).eps + width * np.finfo(np.longdouble).eps
    assert (np.exp(-found[~seen]) == 0).all()
    assert (found[:, range(deep), range(deep)] == 0).all()


def test_falls_in_the_widest_list():
    rng = np.random.default_rng(0)
    scores = -np.sort(-rng.normal(size=(1, 2**11)) / 1000, -1).astype(np.float32)
    found = np.asarray(FALLS(scores, 1.0, 12))
    expected = literal_falls(scores, 1.0, 12)
    assert 5 < expected.max() < 50
    assert (abs(found - expected) / np.maximum(expected, 1)).max() < 2 * np.finfo(np.float32).eps


def test_falls_do_not_see_padding():
    scores = odd_scores(40, np.float32)
    padded = np.concatenate([scores, np.zeros((len(scores), 24), np.float32)], -1)
    expected = literal_falls(scores, 0.5, 40)
    found = np.asarray(FALLS(padded, 0.5, 64))[:, :40, :40]
    seen = expected < 100
    assert (np.exp(-found[~seen]) < 1e-43).all()
    assert found[seen] == pytest.approx(expected[seen].astype(float), rel=3e-7, abs=3e-7)


@pytest.mark.parametrize("name", ["soft_ndcg", "neural_ndcg", "pirank_ndcg"])
def test_losses_as_on_a_gpu(name, monkeypatch):
    rng = np.random.default_rng(1)
    scores, labels = rng.normal(size=(2, 7)).astype(np.float32), rng.integers(0, 4, (2, 7))
    options = {"iterations": 7} if name == "neural_ndcg" else {}  # no whole number of turns

    def found():
        loss = functools.partial(getattr(gf.losses, name), labels=jnp.asarray(labels), **options)
        return quickly_compiled(jax.value_and_grad(loss))(jnp.asarray(scores))

    expected = found()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    value, slope = found()
    assert float(value) == pytest.approx(float(expected[0]), rel=1e-5)
    assert np.asarray(slope) == pytest.approx(np.asarray(expected[1]), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("k", [None, 5])
@pytest.mark.parametrize("tau", [0.01, 1.0, 30.0])
def test_pirank_on_a_gpu_keeps_the_digits(tau, k, monkeypatch):
    rng = np.random.default_rng(2)
    scores = rng.permuted(odd_scores(30, np.float32), axis=-1)
    labels, mask = rng.integers(0, 5, scores.shape), rng.random(scores.shape) < 0.8

    def loss(s):
        return gf.losses.pirank_ndcg(s, labels, mask, tau=tau, k=k, reduction="none")

    def values_and_slopes(s):
        values, pull = jax.vjp(loss, s)
        return values, pull(jnp.ones_like(values))[0]

    given = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    expected = loss(given)
    expected.sum().backward()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    made = []

    def watched(*given):
        made.append(falls_in_whole_numbers(*given))
        return made[-1]

    monkeypatch.setattr(f"{falls_in_whole_numbers.__module__}.falls_in_whole_numbers", watched)
    values, slopes = map(np.asarray, quickly_compiled(values_and_slopes)(jnp.asarray(scores)))
    assert made
    assert values.dtype == slopes.dtype == np.float32
    assert values == pytest.approx(expected.detach().numpy(), rel=1e-6, abs=1e-6)
    for slope, literal in zip(slopes, given.grad.numpy(), strict=True):
        # Last digits of the sum over ranks, which is less than 1, are divided by τ: two or three of
        # them, by the CPU.
        last_digits = 8 * np.finfo(np.float32).eps / tau
        assert abs(slope - literal).max() < 1e-5 * abs(literal).max() + last_digits


def test_lists_too_wide_for_whole_numbers(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    shapes = []

    def falls(s):
        shapes.append(None if (found := JAX.falls_by_rank(s, 1.0, 2)) is None else found.shape)
        return s

    for width in (2**11, 2**11 + 1):
        jax.jit(falls)(jnp.zeros((1, width)))
    assert shapes == [(1, 2, 2**11), None]
