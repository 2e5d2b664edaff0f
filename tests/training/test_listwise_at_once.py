"""Listwise losses that PyTorch computes together with their gradient are those of the formula."""

import itertools
import math

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

import gainful as gf
from gainful.training.losses.torch_operations import TorchOperations

NAMES = ("softmax", "listnet", "xe_ndcg", "list_mle", "p_list_mle", "pl_rank")
names = pytest.mark.parametrize("name", NAMES)


def drawn(name, shape):
    """Return what a loss draws, the same each time."""
    generator = torch.Generator().manual_seed(5)
    given = torch.rand(3, *shape, generator=generator, dtype=torch.float64)
    own = {"xe_ndcg": {"gamma": given[0]}, "pl_rank": {"noise": -torch.log(-torch.log(given))}}
    return own.get(name, {})


def both_ways(monkeypatch, compute):
    """Return what a function computes at once, and by the formula."""
    found = [compute()]
    with monkeypatch.context() as patch:
        patch.setattr(TorchOperations, "computes_at_once", lambda *_: False)
        found.append(compute())
    return found


def both(monkeypatch, name, scores, labels, mask=None, **options):
    """Return value and gradient, as computed at once and by the formula."""

    def compute():
        leaf = scores.clone().requires_grad_()
        given = drawn(name, scores.shape) | options
        value = getattr(gf.losses, name)(leaf, labels, mask, **given)
        (slope,) = torch.autograd.grad(value.sum(), leaf)
        return value.detach(), slope

    return both_ways(monkeypatch, compute)


def assert_same(found, **tolerance):
    for ours, formula in zip(*found, strict=True):
        assert ours.shape == formula.shape
        assert ours.dtype == formula.dtype
        torch.testing.assert_close(ours, formula, equal_nan=True, **tolerance)


@names
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("k", [None, 3])
def test_values_and_gradients_are_those_of_the_formula(name, reduction, masked, k, monkeypatch):
    torch.manual_seed(1)
    for shape, weighed, whole in itertools.product(
        ((7,), (4, 9), (2, 3, 5), (3, 1)), (False, True), (False, True)
    ):
        scores = torch.randn(shape, dtype=torch.float64) * 3
        labels = torch.randint(-1, 5, shape) if whole else 4 * torch.rand(shape)
        mask = torch.rand(shape) < 0.7 if masked else None
        if masked:
            mask.reshape(-1, shape[-1])[0] = False  # a list without items
            scores[~mask] = math.nan
        options = {"reduction": reduction, "k": k}
        if weighed:
            options["weight"] = torch.rand(shape[:-1], dtype=torch.float64)
        assert_same(
            both(monkeypatch, name, scores, labels, mask, **options), rtol=1e-11, atol=1e-11
        )


@names
def test_what_is_equal_stands_in_the_order_given(name, monkeypatch):
    torch.manual_seed(2)
    for dtype in (torch.float32, torch.float64):
        scores = torch.randint(-2, 3, (6, 40)).to(dtype) / 2
        scores[:, ::7] = -0.0
        labels = torch.randint(0, 2, (6, 40))
        close = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {}
        options = {"reduction": "none"}
        if name == "pl_rank":  # noise that leaves equal scores equal
            options["noise"] = torch.zeros(2, 6, 40)
        assert_same(both(monkeypatch, name, scores, labels, **options), **close)


@names
def test_lists_that_are_not_known_are_so_at_once(name, monkeypatch):
    scores = torch.tensor([[0.5, 0.1, 0.9]] * 5)
    labels = torch.tensor([[1.0, 0.0, 2.0]] * 5)
    scores[1, 0], scores[2, 1], scores[3, 2] = math.nan, math.inf, -math.inf
    labels[4, 1] = math.nan
    found = both(monkeypatch, name, scores, labels, reduction="none")
    assert [value.isnan().tolist() for value, _ in found] == [[False] + [True] * 4] * 2
    assert found[0][1][0].isfinite().all()
    assert found[0][1][1:].isnan().all()
    mean = both(monkeypatch, name, scores[:1], labels[:1])
    assert_same(mean)


@names
def test_half_precision_and_far_scores(name, monkeypatch):
    scores = torch.tensor([[0.5, 0.1, 0.9, 300.0], [0.5, 0.1, 0.9, -2.0]])
    labels = torch.tensor([[1, 0, 2, 1]] * 2)
    assert_same(both(monkeypatch, name, scores, labels, reduction="none"))
    assert_same(both(monkeypatch, name, scores[1:].bfloat16(), labels[1:]), rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("name", NAMES[:-1])
@pytest.mark.parametrize("masked", [False, True])
def test_second_derivatives_are_those_of_the_formula(name, masked, monkeypatch):
    torch.manual_seed(3)
    scores, labels = torch.randn(2, 5, dtype=torch.float64), torch.randint(0, 4, (2, 5))
    mask = torch.tensor([[True] * 5, [True, False] * 2 + [True]]) if masked else None

    def compute():
        leaf = scores.clone().requires_grad_()
        value = getattr(gf.losses, name)(leaf, labels, mask, **drawn(name, (2, 5)))
        (slope,) = torch.autograd.grad(value, leaf, create_graph=True)
        return torch.autograd.grad(slope.pow(2).sum(), leaf)[0]

    found = both_ways(monkeypatch, compute)
    torch.testing.assert_close(*found)
    assert found[0].abs().max() > 0


def test_weights_draws_and_gains_keep_their_gradients():
    scores, labels = torch.randn(2, 4), torch.randint(0, 3, (2, 4))
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    gamma = torch.full((2, 4), 0.5, requires_grad=True)
    slope = torch.tensor(2.0, requires_grad=True)
    value = gf.losses.xe_ndcg(scores, labels, weight=weight, gamma=gamma)
    measure = gf.Measure("nDCG", gain=lambda grades: grades * slope)
    value = value + gf.losses.loss(measure, method="softmax")(scores, labels)
    value.backward()
    assert all(one.grad.abs().max() > 0 for one in (weight, gamma, slope))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what PyTorch uses itself
def test_forward_mode_goes_through_the_formula():
    scores, labels = torch.randn(3, 4), torch.randint(0, 3, (3, 4))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(scores, torch.ones_like(scores))
        value = gf.losses.softmax(dual, labels)
        along = torch.autograd.forward_ad.unpack_dual(value).tangent
    assert along.item() == pytest.approx(0, abs=1e-6)  # a shift of all scores changes nothing


@names
def test_compiled_in_one_graph_and_once(name):
    counter = CompileCounterWithBackend("aot_eager")
    torch.compiler.reset()
    loss = torch.compile(getattr(gf.losses, name), backend=counter, fullgraph=True)
    mask = torch.tensor([[True] * 5, [True, False] * 2 + [True]])
    for number in range(3):
        torch.manual_seed(number)
        scores = torch.randn(2, 5, dtype=torch.float64)
        labels, found = torch.randint(0, 4, (2, 5)), []
        for function in (loss, getattr(gf.losses, name)):
            leaf = scores.clone().requires_grad_()
            value = function(leaf, labels, mask, k=3, **drawn(name, (2, 5)))
            value.backward()
            found.append((value.detach(), leaf.grad))
        assert_same(found, rtol=1e-12, atol=1e-12)
    assert counter.frame_count == 1
