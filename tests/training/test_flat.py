"""Lists in flat tensors are computed in groups of about one length."""

import itertools
import math

import jax
import numpy as np
import pytest
import torch

import gainful as gf
from array_libraries import quickly_compiled
from gainful.training.losses import flat_lists as flat
from gainful.training.losses.jax_operations import JAX
from gainful.training.losses.torch_operations import TORCH

LENGTHS = {
    "none": [],
    "empty": [0, 0, 0],
    "even": [100] * 64,
    "all": list(range(300)),
    "one long": [20_000] + [2] * 5000,
    "far apart": [1, 10, 100, 1000, 10_000] * 20,
    "skewed": np.random.default_rng(1).lognormal(4, 1.5, 3000).astype(int).tolist(),
}


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_groups_hold_each_list_once_and_little_padding(lengths):
    sizes = np.array(lengths, np.int64)
    groups = list(flat._alike(sizes))
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(lengths)))
    padded = sum(len(group) * sizes[group].max(initial=1) ** 2 for group in groups)
    needed = int((np.maximum(sizes, 1) ** 2).sum())
    assert padded <= needed / flat._NEAR**2 + len(groups) * flat._FEW
    most = 1 + math.log(max(lengths, default=1) or 1) / -math.log(flat._NEAR)
    assert 1 <= len(groups) <= most


def test_lists_of_about_one_length_are_one_group():
    assert len(list(flat._alike(np.array([100] * 64)))) == 1
    assert len(list(flat._alike(np.array([9, 3, 200, 80])))) == 1  # little work however padded
    assert len(list(flat._alike(np.array([5000, 3, 3, 3])))) == 2


def uneven(seed=0):
    rng = np.random.default_rng(seed)
    lengths = np.array([1200, 3, 0, 700, 40, 1100, 7])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    scores = torch.tensor(rng.normal(size=offsets[-1]), requires_grad=True)
    return scores, torch.tensor(rng.integers(0, 4, offsets[-1])), offsets


def test_uneven_lists_are_those_one_by_one():
    scores, labels, offsets = uneven()
    assert len(list(flat._alike(np.diff(offsets)))) > 2
    found = gf.losses.approx_ndcg(scores, labels, offsets=offsets, k=10, reduction="none")
    bounds = itertools.pairwise(offsets)
    one_by_one = [
        gf.losses.approx_ndcg(scores[start:stop], labels[start:stop], k=10)
        for start, stop in bounds
    ]
    assert found.tolist() == pytest.approx([one.item() for one in one_by_one], abs=1e-12)
    (slope,) = torch.autograd.grad(found.sum(), scores)
    (expected,) = torch.autograd.grad(torch.stack(one_by_one).sum(), scores)
    assert slope.numpy() == pytest.approx(expected.numpy(), abs=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_a_gap_of_flat_lists_is_that_of_padded_ones(reduction):
    scores, labels, offsets = uneven(2)
    weight = torch.arange(1.0, len(offsets))
    found = gf.losses.gap(scores, labels, offsets=offsets, k=5, weight=weight, reduction=reduction)
    lengths = torch.tensor(np.diff(offsets))
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    padded = torch.zeros(mask.shape, dtype=torch.float64)
    grades = torch.zeros(mask.shape)
    padded[mask], grades[mask] = scores.detach(), labels.float()
    expected = gf.losses.gap(padded, grades, mask, k=5, weight=weight)
    assert found == pytest.approx(expected, abs=1e-12)


def test_each_group_has_draws_of_its_own():
    key = jax.random.key(0)
    first, second, third = (jax.random.key_data(JAX.another(key, at)).tolist() for at in range(3))
    assert first == jax.random.key_data(key).tolist()
    assert first != second != third != first
    generator = torch.Generator()
    assert TORCH.another(generator, 3) is generator


def test_lists_of_two_groups_are_drawn_apart(monkeypatch):
    monkeypatch.setattr(flat, "_FEW", -1)
    scores = jax.numpy.zeros(7)
    labels = jax.numpy.asarray([1, 0, 0, 0, 1, 0, 0])

    @quickly_compiled
    def loss(key):
        return gf.losses.gumbel_approx_ndcg(
            scores,
            labels,
            offsets=[0, 4, 7],
            samples=1,
            temperature=0.01,
            generator=key,
            reduction="none",
        )

    for seed in range(5):  # the first three items of both would have the same noise
        one, other = loss(jax.random.key(seed))
        assert one != other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": np.zeros((2, 4))}, r"noise: expected \[sample, item\] with 5 items"),
        ({"noise": np.zeros(5)}, r"noise: expected \[sample, item\] with 5 items"),
        ({"weight": [1.0]}, r"weight: expected one number for each list, \(2,\)"),
        ({"generator": 3}, "generator: expected a torch.Generator"),
        ({"offsets": [0, 6]}, "rise from 0 to 5"),
    ],
)
def test_what_does_not_go_with_flat_lists_is_said(options, message):
    scores, labels = torch.zeros(5), torch.ones(5)
    with pytest.raises(gf.errors.InputError, match=message):
        gf.losses.gumbel_approx_ndcg(scores, labels, **{"offsets": [0, 2, 5], **options})
    with pytest.raises(gf.errors.InputError, match=r"gamma: expected \[item\] with 5 items"):
        gf.losses.xe_ndcg(scores, labels, offsets=[0, 2, 5], gamma=torch.zeros(2, 5))
    with pytest.raises(TypeError, match="labels"):
        gf.losses.xe_ndcg(scores, offsets=[0, 2, 5])


def test_flat_lists_under_jit_and_vmap():
    scores = np.random.default_rng(3).normal(size=(3, 9)).astype(np.float32)
    labels, offsets = np.array([0, 1, 2, 0, 1, 0, 0, 3, 1]), (0, 4, 4, 9)

    def loss(one):
        return gf.losses.approx_ndcg(one, labels, offsets=offsets)

    expected = [float(loss(torch.tensor(row))) for row in scores]
    there = jax.jit(jax.vmap(loss))(jax.numpy.asarray(scores))
    assert there.tolist() == pytest.approx(expected, rel=1e-5)
    here = torch.func.vmap(loss)(torch.tensor(scores))
    assert here.tolist() == pytest.approx(expected, rel=1e-5)
