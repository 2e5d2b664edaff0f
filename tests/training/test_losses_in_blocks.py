"""Losses over relaxed orders and distributions of ranks: blocks of any size give the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import gainful as gf
from array_libraries import quickly_compiled
from gainful.training.losses import rank_distributions, relaxed_sorting
from gainful.training.losses.jax_operations import JaxOperations
from gainful.training.losses.torch_operations import TorchOperations

L = gf.losses
LISTS, WIDTH = 3, 11


def lists():
    rng = np.random.default_rng(5)
    scores, labels = rng.normal(size=(LISTS, WIDTH)), rng.integers(0, 5, (LISTS, WIDTH))
    scores[1, ::3] = scores[1, 0]  # some are equal
    mask = rng.random((LISTS, WIDTH)) < 0.8
    return scores, labels, mask


def in_torch(function, options):
    scores, labels, mask = (torch.tensor(array) for array in lists())
    scores.requires_grad_()
    value = function(scores, labels, mask, reduction="sum", **options)
    value.backward()
    return value.item(), scores.grad.numpy()


def in_jax(function, options):
    scores, *others = (jnp.asarray(array) for array in lists())

    def loss(s):
        return function(s, *others, reduction="sum", **options)

    value, slope = quickly_compiled(jax.value_and_grad(loss))(scores)
    return float(value), np.asarray(slope)


def same(found, expected):
    assert found[0] == pytest.approx(expected[0], rel=1e-5)
    assert found[1] == pytest.approx(expected[1], rel=1e-4, abs=1e-6)


# All lists at once; each list at once; blocks of ranks, with a last one that is not full.
@pytest.mark.parametrize(("block", "held"), [(2**20, 2**25), (WIDTH**2, 2**25), (40, 1)])
@pytest.mark.parametrize(
    ("function", "options"),
    [
        (L.neural_ndcg, {"iterations": 3}),
        (L.neural_ndcg, {"iterations": 0}),
        (L.pirank_ndcg, {}),
        (L.pirank_ndcg, {"k": 4}),
    ],
)
def test_relaxed_orders(function, options, block, held, monkeypatch):
    expected = in_torch(function, options)
    for operations in (JaxOperations, TorchOperations):
        monkeypatch.setattr(operations, "block", block)
        monkeypatch.setattr(operations, "kept_pairs", block)
    monkeypatch.setattr(relaxed_sorting, "_HELD", held)
    for found in (in_torch(function, options), in_jax(function, options)):
        same(found, expected)


# All items at once, with every step kept; then made anew; several lists; some items of one; one item.
@pytest.mark.parametrize(
    ("items", "kept"),
    [(LISTS * WIDTH, 2**20), (LISTS * WIDTH, 0), (2 * WIDTH, 0), (4, 0), (1, 0)],
)
@pytest.mark.parametrize("k", [None, 4])
def test_distributions_of_ranks(items, kept, k, monkeypatch):
    monkeypatch.setattr(TorchOperations, "kept_ranks", 0)
    expected = in_torch(L.soft_ndcg, {"k": k})
    deep, length = k or WIDTH, 4  # 4 is the root of 11, rounded up
    for operations in (TorchOperations, JaxOperations):
        monkeypatch.setattr(operations, "kept_ranks", kept)
        monkeypatch.setattr(operations, "room", lambda *_: items * (8 * WIDTH + 4 * length * deep))
    for found in (in_torch(L.soft_ndcg, {"k": k}), in_jax(L.soft_ndcg, {"k": k})):
        same(found, expected)


@pytest.mark.parametrize("iterations", [0, 1, 30])
def test_a_long_list_is_like_all_its_pairs_at_once(iterations):
    torch.manual_seed(0)
    scores = torch.randn(1, 300, dtype=torch.float64)
    labels = torch.randint(0, 5, scores.shape)
    # From the definition: a softmax of each row, then columns and rows by turns.
    ranks = torch.arange(1, 301, dtype=torch.float64)
    spread = (scores[:, :, None] - scores[:, None, :]).abs().sum(-1)
    logs = (301 - 2 * ranks)[:, None] * scores[:, None, :] - spread[:, None, :]
    logs = logs.log_softmax(-1)
    for _ in range(iterations):
        logs = logs.log_softmax(-2).log_softmax(-1)
    gains = 2.0 ** labels.double() - 1
    discounts = 1 / torch.log2(1 + ranks)
    ideal = (gains.sort(descending=True).values * discounts).sum()
    expected = 1 - ((logs.exp() @ gains[0]) * discounts).sum() / ideal
    found = L.neural_ndcg(scores, labels, iterations=iterations)
    assert found.item() == pytest.approx(expected.item(), rel=1e-9)


def test_soft_ndcg_says_beforehand_what_it_costs(monkeypatch):
    monkeypatch.setattr(rank_distributions, "_LONG", 2 * 5 * 5 * 5)
    scores, labels = torch.zeros(2, 5), torch.ones(2, 5)
    with pytest.warns(gf.errors.GainfulWarning, match="250 steps for 2 lists of 5 items"):
        L.soft_ndcg(scores, labels)
    L.soft_ndcg(scores, labels, k=4)  # warnings are errors here
    L.soft_ndcg(scores[:1], labels[:1])
