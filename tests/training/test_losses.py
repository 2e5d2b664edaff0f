"""Every loss in one matrix: a loss without its row fails."""

import functools
import itertools
import math

import numpy as np
import pytest

from array_libraries import quickly_compiled
from literal_losses import gradient
from loss_rows import LABELS, ROWS, SCORES, VARIANTS

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = jax.numpy

import gainful as gf  # noqa: E402
from gainful.training.losses import flat_lists  # noqa: E402
from gainful.training.losses.jax_operations import JaxOperations  # noqa: E402
from gainful.training.losses.torch_operations import BLOCK, TorchOperations  # noqa: E402

L = gf.losses
rows = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
cutoffs = pytest.mark.parametrize("k", [None, 3])


def in_torch(row, scores, labels=LABELS, mask=None, dtype=torch.float64, **options):
    """Return the value and the gradient."""
    s = torch.tensor(scores, dtype=dtype, requires_grad=True)
    items = {name: torch.tensor(value) for name, value in row.draw(s.shape).items()}
    given = row.options | items | options
    marks = None if mask is None else torch.tensor(mask)
    value = row.function(s, torch.tensor(labels), marks, **given)
    value.sum().backward()
    return value.detach().numpy(), s.grad


def in_jax(row, scores, labels=LABELS, mask=None, dtype=jnp.float64, **options):
    """Return the value and the gradient."""
    constants = row.options | {
        name: tuple(given) if isinstance(given, list) else given for name, given in options.items()
    }
    ways = JaxOperations.kept_pairs, flat_lists._FEW, flat_lists._NEAR  # which tests change
    compiled = _compiled(row.function, tuple(constants.items()), ways)
    items = row.draw(np.shape(scores))
    value, slope = compiled(jnp.asarray(scores, dtype=dtype), labels, mask, items)
    return np.asarray(value), np.asarray(slope)


@functools.cache
def _compiled(function, constants, ways):
    """Return a compiled loss and its gradient, which JAX compiles once for each shape and type."""

    def loss(scores, labels, mask, items):
        return function(scores, labels, mask, **dict(constants), **items)

    return quickly_compiled(jax.value_and_grad(loss))


def test_every_loss_has_its_row():
    assert set(gf.losses.METHODS.values()) == {row.function for row in ROWS.values()}


FORMULAS = {name: (row, BLOCK) for name, row in (ROWS | VARIANTS).items()}
# Two rows of pairs at a time, of two lists of five.
FORMULAS |= {
    f"{name}-in blocks": (row, 20)
    for name, (row, _) in FORMULAS.items()
    if row.function in (L.approx_ndcg, L.gumbel_approx_ndcg, L.lambda_loss)
}


@pytest.mark.parametrize(("row", "block"), FORMULAS.values(), ids=FORMULAS)
@cutoffs
def test_pytorch_and_jax_compute_the_formula(row, k, block, monkeypatch):
    if block != BLOCK:
        for operations in (JaxOperations, TorchOperations):
            monkeypatch.setattr(operations, "block", block)
            monkeypatch.setattr(operations, "kept_pairs", block)
    drawn = row.draw(SCORES.shape)
    values, slopes = [], []
    for at, (s, y) in enumerate(zip(SCORES.tolist(), LABELS.tolist(), strict=True)):
        own = {name: array[..., at, :] for name, array in drawn.items()}
        held = {"at": s} if row.constant_ranks else {}

        def formula(x, own=own, held=held, y=y):
            return row.literal(x, y, k, **own, **held)

        values.append(formula(s))
        slopes.append(row.slope(s, y, k, **own) if row.slope else gradient(formula, s))
    value, slope = in_torch(row, SCORES, k=k, reduction="sum")
    assert value == pytest.approx(sum(values), abs=1e-10)
    assert slope.numpy() == pytest.approx(np.array(slopes), abs=1e-9)
    with jax.enable_x64(True):
        there = in_jax(row, SCORES, k=k, reduction="sum")
    assert there[0] == pytest.approx(value, abs=1e-10)
    assert there[1] == pytest.approx(slope.numpy(), abs=1e-10)
    for found in (
        in_torch(row, SCORES, dtype=torch.float32, k=k, reduction="sum"),
        in_jax(row, SCORES, dtype=jnp.float32, k=k, reduction="sum"),
    ):
        assert found[0] == pytest.approx(value, rel=1e-6, abs=1e-6)
        assert np.asarray(found[1]) == pytest.approx(slope.numpy(), rel=3e-6, abs=5e-6)


@rows
def test_a_shift_of_all_scores_changes_nothing(row):
    value, slope = in_torch(row, SCORES, reduction="sum")
    shifted = in_torch(row, SCORES + 3, reduction="sum")
    assert shifted[0] == pytest.approx(value, abs=1e-12)
    assert shifted[1].numpy() == pytest.approx(slope.numpy(), abs=1e-12)
    assert slope.abs().max() > 1e-3
    if row.slope is None:  # an estimate sums to 0 in expectation, as test_pl_rank.py shows
        assert slope.sum(-1).numpy() == pytest.approx([0, 0], abs=1e-12)


@rows
@cutoffs
def test_padding_of_any_width_and_kind_changes_nothing(row, k):
    value, slope = in_torch(row, SCORES, k=k, reduction="none")
    wide = ((0, 0), (0, 3))
    padded = in_torch(
        Padded(row, 3),
        np.pad(SCORES, wide, constant_values=math.nan),
        np.pad(LABELS, wide, constant_values=math.nan),
        np.pad(np.ones(SCORES.shape, bool), wide),
        k=k,
        reduction="none",
    )
    assert padded[0] == pytest.approx(value, abs=1e-12)
    assert padded[1][:, :5].numpy() == pytest.approx(slope.numpy(), abs=1e-12)
    assert (padded[1][:, 5:] == 0).all()


class Padded:
    """A row whose items are drawn for narrower lists."""

    def __init__(self, row, by):
        self.function, self.options, self.row, self.by = row.function, row.options, row, by

    def draw(self, shape):
        drawn = self.row.draw((*shape[:-1], shape[-1] - self.by))
        return {
            name: np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, self.by)])
            for name, array in drawn.items()
        }


@rows
def test_the_order_of_items_does_not_matter(row):
    order = np.array([3, 0, 4, 1, 2])
    value, slope = in_torch(row, SCORES, reduction="sum")
    moved = row.draw(SCORES.shape)
    moved = {name: torch.tensor(array[..., order]) for name, array in moved.items()}
    found = in_torch(row, SCORES[:, order], LABELS[:, order], reduction="sum", **moved)
    assert found[0] == pytest.approx(value, abs=1e-12)
    assert found[1].numpy() == pytest.approx(slope[:, order].numpy(), abs=1e-12)


ODD = {
    "no lists": np.zeros((0, 4)),
    "empty lists": np.zeros((2, 0)),
    "one item": np.array([[0.7]]),
    "all equal": np.full((1, 5), 0.5),
    "extreme": np.array([[1e30, -1e30, 0.0, 1e30, -1e30]]),
    "one far above": np.array([[1e30, 0.1, 0.2, 0.3, -0.4]]),
}


@rows
@cutoffs
@pytest.mark.parametrize("scores", ODD.values(), ids=ODD)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("label", [0.0, None])
def test_odd_input_is_finite(row, k, scores, masked, label):
    labels = np.resize([1.0, 0.0, 3.0, 2.0, 0.0], scores.shape) if label is None else scores * 0
    mask = np.full(scores.shape, not masked)
    value, slope = in_torch(row, scores, labels, mask, dtype=torch.float32, k=k)
    assert np.isfinite(value)
    assert slope.shape == scores.shape
    assert slope.isfinite().all()
    if masked or not scores.size:
        assert value == 0
        assert (slope == 0).all()
    if k is None and label is None:  # JAX compiles each shape: once is enough
        found, slope = in_jax(row, scores, labels, dtype=jnp.float32, mask=mask)
        assert np.isfinite(found)
        assert np.isfinite(slope).all()


@rows
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_accumulated_in_single(row, dtype):
    rounded = torch.tensor(SCORES, dtype=dtype)
    expected, slope = in_torch(row, rounded.float().numpy(), dtype=torch.float32)
    value, found = in_torch(row, SCORES, dtype=dtype)
    assert value.dtype == np.float32
    assert found.dtype == dtype
    assert value == pytest.approx(expected, rel=1e-6)
    assert found.float().numpy() == pytest.approx(slope.numpy(), rel=1e-2, abs=1e-4)
    half = jnp.float16 if dtype == torch.float16 else jnp.bfloat16
    value, there = in_jax(row, SCORES, dtype=half)
    assert value.dtype == np.float32
    assert there.dtype == half
    assert value == pytest.approx(expected, rel=1e-5)
    assert there.astype(np.float32) == pytest.approx(slope.numpy(), rel=1e-2, abs=1e-4)


exact = {name: row for name, row in ROWS.items() if row.slope is None}


@pytest.mark.parametrize("row", exact.values(), ids=exact)
def test_gradients_by_finite_differences(row):
    items = {name: torch.tensor(array) for name, array in row.draw(SCORES.shape).items()}

    def loss(s):
        return row.function(s, torch.tensor(LABELS), reduction="none", **row.options, **items)

    assert torch.autograd.gradcheck(loss, torch.tensor(SCORES, requires_grad=True))


@rows
@pytest.mark.parametrize("grouped", [False, True])
def test_flat_lists_are_the_padded_ones(row, grouped, monkeypatch):
    if grouped:  # every length becomes a group of its own
        monkeypatch.setattr(flat_lists, "_FEW", -1)
        monkeypatch.setattr(flat_lists, "_NEAR", 1)
    scores, labels, offsets = SCORES.reshape(-1), LABELS.reshape(-1), [0, 2, 2, 7, 10]
    given = {"k": 3, "offsets": offsets}
    each, slope = in_torch(row, scores, labels, **given, reduction="none")
    total = in_torch(row, scores, labels, **given, weight=[1.0, 5.0, 2.0, 0.5], reduction="mean")
    for at, (start, stop) in enumerate(itertools.pairwise(offsets)):
        here = slice(start, stop)
        part = {name: torch.tensor(a[..., here]) for name, a in row.draw((10,)).items()}
        one = in_torch(row, scores[here], labels[here], k=3, **part, reduction="sum")
        assert each[at] == pytest.approx(one[0], abs=1e-12)
        assert slope[here].numpy() == pytest.approx(one[1].numpy(), abs=1e-12)
    assert total[0] == pytest.approx((each[0] + 2 * each[2] + 0.5 * each[3]) / 3.5, abs=1e-12)
    if not grouped or row.function in (L.gumbel_approx_ndcg, L.xe_ndcg):  # JAX takes long
        with jax.enable_x64(True):
            there = in_jax(row, scores, labels, **given, reduction="sum")
        assert there[0] == pytest.approx(each.sum(), abs=1e-10)
        assert there[1] == pytest.approx(slope.numpy(), abs=1e-10)


def test_how_near_the_page_says_that_a_temperature_comes():
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(20, 1000, generator=generator)
    grades = torch.randint(0, 5, (20, 1000), generator=generator)
    places = scores.argsort(dim=-1, descending=True).argsort(dim=-1)
    best = torch.where(places == 0, 4, torch.where(places < 9, 3, 0))
    for labels, cold, warm in ((grades, 0.01, 0.1), (best, 0.25, 0.75)):
        missed = 1 - gf.metrics.ndcg(scores, labels, gain="exp2")
        for temperature, most in ((0.1, cold), (1.0, warm)):
            found = gf.losses.approx_ndcg(scores, labels, temperature=temperature, reduction="none")
            apart = (found - missed).abs().max().item()
            assert 0.5 * most < apart < most, (temperature, apart)
