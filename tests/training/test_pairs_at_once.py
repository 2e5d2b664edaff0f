"""Losses over pairs that PyTorch computes together with their gradient are those of the formula."""

import itertools
import math

import pytest
import torch

import gainful as gf
from gainful.training.losses import pairs_with_gradient
from gainful.training.losses.options import SCHEMES, TRUNCATIONS
from gainful.training.losses.torch_operations import TorchOperations

CASES = {
    "approx": ("approx_ndcg", {}),
    "approx, sharp": ("approx_ndcg", {"temperature": 0.3}),
    "gumbel": ("gumbel_approx_ndcg", {"beta": 0.5}),
    **{scheme: ("lambda_loss", {"scheme": scheme}) for scheme in SCHEMES},
    "steep": ("lambda_loss", {"scheme": "ndcg2pp", "sigma": 2.5, "mu": 3.0}),
}
cases = pytest.mark.parametrize(("name", "own"), CASES.values(), ids=CASES)
EXACT = {"rtol": 1e-11, "atol": 1e-11}


def drawn(name, shape):
    """Return what a loss draws, the same each time."""
    if name != "gumbel_approx_ndcg":
        return {}
    given = torch.rand(3, *shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    return {"noise": -torch.log(-torch.log(given))}


def both(monkeypatch, name, scores, labels, mask=None, **options):
    """Return value and gradient, as computed at once and by the formula."""

    def compute():
        leaf = scores.clone().requires_grad_()
        value = getattr(gf.losses, name)(leaf, labels, mask, **drawn(name, scores.shape), **options)
        (slope,) = torch.autograd.grad(value.sum(), leaf)
        return value.detach(), slope

    found = [compute()]
    with monkeypatch.context() as patch:
        patch.setattr(TorchOperations, "computes_at_once", lambda *_: False)
        found.append(compute())
    return found


def assert_same(found, **tolerance):
    for ours, formula in zip(*found, strict=True):
        assert ours.shape == formula.shape
        assert ours.dtype == formula.dtype
        torch.testing.assert_close(ours, formula, equal_nan=True, **tolerance)


@pytest.fixture
def taken(monkeypatch):
    """Record of each call of a rule whether it took the lists."""
    found = []

    def recorded(rule):
        def call(*arguments, **options):
            values = rule(*arguments, **options)
            found.append(values is not None)
            return values

        return call

    for name in {name for name, _ in CASES.values()}:
        rule = recorded(getattr(pairs_with_gradient, name))
        monkeypatch.setattr(pairs_with_gradient, name, rule)
    return found


@cases
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("block", [2**20, 30])
def test_values_and_gradients_are_those_of_the_formula(
    name, own, reduction, masked, block, taken, monkeypatch
):
    torch.manual_seed(1)
    monkeypatch.setattr(pairs_with_gradient, "BLOCK", block)
    for shape, weighed, k, whole in itertools.product(
        ((7,), (4, 9), (2, 3, 5), (3, 1)), (False, True), (None, 3), (False, True)
    ):
        scores = torch.randn(shape, dtype=torch.float64) * 3
        labels = torch.randint(-1, 5, shape) if whole else 4 * torch.rand(shape)
        mask = torch.rand(shape) < 0.7 if masked else None
        if masked:
            mask.reshape(-1, shape[-1])[0] = False  # a list without items
            scores[~mask] = math.nan
        options = {**own, "reduction": reduction, "k": k}
        if weighed:
            options["weight"] = torch.rand(shape[:-1], dtype=torch.float64)
        assert_same(both(monkeypatch, name, scores, labels, mask, **options), **EXACT)
    assert taken == [True] * 32


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("truncation", TRUNCATIONS)
@pytest.mark.parametrize("k", [1, 4, 11, 50])
@pytest.mark.parametrize("masked", [False, True])
def test_every_scheme_at_every_cutoff(scheme, truncation, k, masked, taken, monkeypatch):
    torch.manual_seed(2)
    scores, labels = torch.randn(5, 11, dtype=torch.float64), torch.randint(-2, 4, (5, 11))
    mask = torch.arange(11) < torch.tensor([0, 1, 3, 7, 11])[:, None] if masked else None
    options = {"scheme": scheme, "truncation": truncation, "k": k, "reduction": "none"}
    for block in (2**20, 60):
        monkeypatch.setattr(pairs_with_gradient, "BLOCK", block)
        found = both(monkeypatch, "lambda_loss", scores, labels, mask, **options)
        assert_same(found, **EXACT)
        assert scheme == "ndcg1" or (found[0][0] >= 0).all()
    assert taken == [True] * 2


@cases
@pytest.mark.parametrize(
    "options",
    [
        {"normalized": False},
        {"gain": {1: 5.0, 2: -1.0, 3: 2.0}},  # not in the order of the labels
        {"gain": "binary"},
        {"gain": "linear", "discount": "reciprocal"},
        {"discount": "jarvelin", "base": 3},
        {"discount": "power(0.5)", "k": 4},
        {"base": 10, "k": 4, "normalized": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("masked", [False, True])
def test_every_gain_and_discount(name, own, options, masked, taken, monkeypatch):
    torch.manual_seed(3)
    scores, labels = torch.randn(4, 9, dtype=torch.float64), torch.randint(0, 4, (4, 9))
    mask = torch.rand(4, 9) < 0.6 if masked else None
    found = both(monkeypatch, name, scores, labels, mask, reduction="none", **own, **options)
    assert_same(found, **EXACT)
    assert taken == [True]


def test_a_discount_that_is_the_same_at_all_ranks_has_no_slope(monkeypatch):
    scores, labels = torch.randn(2, 5, dtype=torch.float64), torch.randint(0, 4, (2, 5))
    assert_same(both(monkeypatch, "approx_ndcg", scores, labels, discount="none"), **EXACT)
    assert_same(both(monkeypatch, "approx_ndcg", scores, labels, discount="none", k=2), **EXACT)


@cases
def test_what_is_equal_stands_in_the_order_given(name, own, monkeypatch):
    torch.manual_seed(2)
    for dtype in (torch.float32, torch.float64):
        scores = torch.randint(-2, 3, (6, 40)).to(dtype) / 2
        scores[:, ::7] = -0.0
        labels = torch.randint(0, 2, (6, 40))
        close = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else EXACT
        assert_same(both(monkeypatch, name, scores, labels, reduction="none", **own), **close)


@cases
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("spread", [20.0, 100.0, 1e5])
@pytest.mark.parametrize("shift", [0.0, 3e4])
def test_far_scores(name, own, masked, spread, shift, taken, monkeypatch):
    torch.manual_seed(4)
    scores = torch.randn(4, 12, dtype=torch.float64) * spread + shift
    scores[1], scores[2, 0] = scores[1] / spread, scores[2, 0] * 1e6  # a near list, a far item
    labels = torch.randint(0, 4, (4, 12))
    mask = torch.rand(4, 12) < 0.7 if masked else None
    found = both(monkeypatch, name, scores, labels, mask, reduction="none", **own)
    assert_same(found, rtol=1e-9, atol=1e-9)
    assert taken == [True]


@cases
def test_scores_too_large_to_be_subtracted_are_left_to_the_formula(name, own, taken, monkeypatch):
    scores = torch.tensor([[3e38, -3e38, 0.0], [0.5, 0.1, 0.9]])
    labels = torch.tensor([[0, 1, 2], [1, 0, 2]])
    assert_same(both(monkeypatch, name, scores, labels, reduction="none", **own))
    assert taken == [False]


@pytest.mark.parametrize("scheme", ["ranknet", "lambdarank", "ndcg2"])
def test_a_list_in_the_right_order_keeps_its_digits(scheme, monkeypatch):
    scores = torch.arange(8.0).mul(4).flip(0)[None]
    labels = torch.arange(8).flip(0)[None]
    ours, formula = both(monkeypatch, "lambda_loss", scores.double(), labels, scheme=scheme)
    single = both(monkeypatch, "lambda_loss", scores, labels, scheme=scheme)[0]
    for one, exact, found in zip(ours, formula, single, strict=True):
        torch.testing.assert_close(one, exact, rtol=1e-10, atol=0)
        # An item is drawn up and down by much the same; what is left has fewer digits.
        torch.testing.assert_close(
            found.double(), exact, rtol=2e-6, atol=1e-6 * exact.abs().max().item()
        )


@cases
def test_lists_that_are_not_known_are_so_at_once(name, own, taken, monkeypatch):
    scores = torch.tensor([[0.5, 0.1, 0.9]] * 6)
    labels = torch.tensor([[1.0, 0.0, 2.0]] * 6)
    scores[1, 0], scores[2, 1], scores[3, 2] = math.nan, math.inf, -math.inf
    labels[4, 1], labels[5, 2] = math.nan, math.inf
    found = both(monkeypatch, name, scores, labels, reduction="none", **own)
    assert [value.isnan().tolist() for value, _ in found] == [[False] + [True] * 5] * 2
    assert found[0][1][0].isfinite().all()
    assert taken == [False]
    mask = torch.ones(6, 3, dtype=torch.bool)
    mask[1, 0] = mask[2, 1] = mask[3, 2] = mask[4, 1] = mask[5, 2] = False
    found = both(monkeypatch, name, scores, labels, mask, reduction="none", **own)
    assert_same(found, rtol=1e-5, atol=1e-6)
    assert taken == [False, True]


@cases
def test_half_precision(name, own, monkeypatch):
    torch.manual_seed(6)
    scores, labels = torch.randn(3, 9), torch.randint(0, 4, (3, 9))
    assert_same(both(monkeypatch, name, scores, labels, **own), rtol=1e-5, atol=1e-6)
    for dtype in (torch.bfloat16, torch.float16):
        found = both(monkeypatch, name, scores.to(dtype), labels, **own)
        assert_same(found, rtol=1e-2, atol=1e-4)


@cases
def test_a_value_alone_is_the_same(name, own, taken):
    torch.manual_seed(7)
    scores, labels = torch.randn(3, 9, dtype=torch.float64), torch.randint(0, 4, (3, 9))
    loss = getattr(gf.losses, name)
    given = own | drawn(name, (3, 9)) | {"discount": "reciprocal"}
    sloped = loss(scores.clone().requires_grad_(), labels, k=4, **given)
    assert loss(scores, labels, k=4, **given).item() == sloped.item()
    with torch.no_grad():
        alone = loss(scores.clone().requires_grad_(), labels, k=4, **given)
    assert alone.item() == sloped.item()
    assert not alone.requires_grad
    with torch.inference_mode():
        inferred = loss(scores.clone(), labels, k=4, **given)
    assert inferred.item() == sloped.item()
    assert taken == [True] * 4


@cases
def test_there_is_no_second_derivative(name, own):
    scores = torch.randn(2, 5, requires_grad=True)
    value = getattr(gf.losses, name)(scores, torch.randint(0, 4, (2, 5)), **own)
    (slope,) = torch.autograd.grad(value, scores, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivative"):
        slope.sum().backward()


@cases
def test_scores_are_not_changed_and_weights_keep_their_gradients(name, own, taken):
    scores = torch.randn(2, 5)
    before, labels = scores.clone(), torch.tensor([[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]])
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    value = getattr(gf.losses, name)(scores, labels, weight=weight, **own)
    (slope,) = torch.autograd.grad(value, weight)
    assert slope.abs().max() > 0
    assert taken == []
    getattr(gf.losses, name)(scores, labels, **own)
    assert torch.equal(scores, before)
    assert taken == [True]


@cases
def test_no_lists_and_no_items(name, own, monkeypatch):
    for shape in ((0, 4), (2, 0)):
        scores, labels = torch.zeros(shape), torch.zeros(shape)
        assert_same(both(monkeypatch, name, scores, labels, **own))


@cases
def test_lists_of_flat_tensors(name, own, taken, monkeypatch):
    torch.manual_seed(8)
    scores, labels = torch.randn(30, dtype=torch.float64), torch.randint(0, 4, (30,))
    options = {**own, "offsets": [0, 1, 1, 12, 30], "k": 5, "reduction": "none"}
    assert_same(both(monkeypatch, name, scores, labels, **options), **EXACT)
    assert all(taken)
    assert taken
