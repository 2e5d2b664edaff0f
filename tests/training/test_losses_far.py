"""Scores and labels far apart, and what else losses are given in practice: no digit is lost."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint

import gainful as gf
from array_libraries import quickly_compiled
from loss_rows import LABELS, SCORES

L = gf.losses
MAKERS = [torch.tensor, jnp.asarray]


def of_float64(function, scores, labels, **options):
    given = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    value = function(given, torch.tensor(labels), **options)
    value.backward()
    return value.item(), given.grad.numpy()


_in_jax = functools.cache(quickly_compiled)


@pytest.mark.parametrize("far", [-1e9, -1e6, 1e6, 1e9], ids=str)
@pytest.mark.parametrize(
    "function", [L.approx_ndcg, L.neural_ndcg, L.pirank_ndcg, L.list_mle, L.p_list_mle]
)
def test_an_item_far_away_takes_no_digits_from_the_others(function, far):
    # One that is right without rounding: what is near the far one plays no part.
    scores, labels = [2.0, 1.0, 0.0, 0.5, far], [0, 1, 0, 2, 3 if far > 0 else 0]
    expected, slopes = of_float64(function, scores, labels)
    given = torch.tensor(scores, requires_grad=True)
    value = function(given, torch.tensor(labels))
    value.backward()
    assert value.item() == pytest.approx(expected, rel=1e-5, abs=1e-6)
    assert given.grad.numpy() == pytest.approx(slopes, rel=1e-4, abs=1e-6)
    in_jax = _in_jax(function)(jnp.asarray(scores, jnp.float32), jnp.asarray(labels))
    assert float(in_jax) == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_draws_are_not_lost_beside_an_item_far_away():
    scores = torch.tensor([1e8, 0.0, 0.0])
    generator = torch.Generator().manual_seed(2)
    first, second = (
        L.pl_rank(scores, torch.tensor(labels), samples=4000, generator=generator).item()
        for labels in ([0, 1, 0], [0, 0, 1])
    )
    half = 1 - (1 / np.log2(3) + 1 / 2) / 2  # at rank 2 or 3, each as likely
    assert first == pytest.approx(half, abs=0.01)
    assert second == pytest.approx(half, abs=0.01)


def test_without_normalisation_a_gap_is_of_all_lists():
    scores, labels = torch.zeros(3, 2), torch.tensor([[1, 0], [0, 0], [-1, 0]])
    options = {"normalized": False, "gain": "linear"}
    found = L.gap(scores, labels, **options)
    assert found["loss"] == pytest.approx(L.approx_ndcg(scores, labels, **options).item())
    assert found["dcg"] == pytest.approx(gf.metrics.dcg(scores, labels).mean().item(), abs=1e-7)


@pytest.mark.parametrize("make", MAKERS, ids=["torch", "jax"])
def test_gains_whose_sum_overflows_give_nan(make):
    scores, labels = make([0.0, 0.0]), make([127.0, 127.0])
    assert np.isnan(float(L.xe_ndcg(scores, labels, gamma=1.0)))


def test_numbers_of_numpy_are_checked_as_numbers():
    scores, labels = torch.tensor([0.1, 0.2]), torch.tensor([1, 0])
    with pytest.raises(gf.errors.InputError, match="gamma: expected a number from 0 to 1"):
        L.xe_ndcg(scores, labels, gamma=np.float64(5.0))
    with pytest.raises(gf.errors.InputError, match="offsets: expected whole numbers that rise"):
        L.approx_ndcg(scores, labels, offsets=list(np.array([0, 2, 1, 2], np.uint64)))


def test_unknown_noise_is_unknown():
    noise = torch.tensor([[torch.nan, 0.0]])
    for function in (L.pl_rank, L.gumbel_approx_ndcg):
        assert function(torch.tensor([0.1, 0.2]), torch.tensor([1, 0]), noise=noise).isnan()


def test_masked_arrays_are_refused():
    labels = np.ma.masked_array([1, 0, 9], mask=[False, False, True])
    with pytest.raises(
        gf.errors.InputError, match="labels: expected an array without a mask of its own"
    ):
        L.approx_ndcg(torch.zeros(3), labels)
    with pytest.raises(
        gf.errors.InputError, match="weight: expected an array without a mask of its own"
    ):
        L.approx_ndcg(torch.zeros(1, 3), [[1, 0, 0]], weight=labels[:1])


@pytest.mark.parametrize("make", MAKERS, ids=["torch", "jax"])
def test_labels_of_any_layout_and_type(make):
    scores = make(np.array(SCORES, np.float32))
    expected = float(L.approx_ndcg(scores, make(np.array(LABELS))))
    plain = np.array(LABELS)
    mask = np.ones(plain.shape, bool)
    for labels in (
        np.ascontiguousarray(plain[:, ::-1])[:, ::-1],
        plain.astype(np.longdouble),
        plain.astype(">f4"),
        torch.tensor(plain).bfloat16(),
        torch.tensor(plain).double().requires_grad_(),
    ):
        assert float(L.approx_ndcg(scores, labels, mask[:, ::-1])) == pytest.approx(expected)
    L.approx_ndcg(scores, np.broadcast_to(plain[0], plain.shape))  # warnings are errors here
    with pytest.raises(gf.errors.InputError, match="mask: expected a dense tensor"):
        L.approx_ndcg(scores, plain, torch.tensor(mask).to_sparse())


def test_a_gain_of_one_grade_is_told_that_it_gets_them_all():
    def one(grade):
        return 3 if grade > 1 else 0

    told = "called once, with all"
    with pytest.raises(gf.errors.InputError, match=told):
        L.approx_ndcg(torch.zeros(3), torch.tensor([1, 0, 2]), gain=one)
    with pytest.raises(gf.errors.InputError, match=told):
        gf.metrics.ndcg(np.zeros(3), np.array([1, 0, 2]), gain=one)


def test_a_gain_may_work_in_place():
    scores, labels = torch.tensor([0.2, 1.5, 0.3]), torch.tensor([1.0, 0.0, 2.0])
    expected = L.lambda_loss(scores, labels, gain=lambda grades: 2 - grades)
    found = L.lambda_loss(scores, labels, gain=lambda grades: grades.neg_().add_(2))
    assert found == expected
    assert labels.tolist() == [1.0, 0.0, 2.0]


@pytest.mark.parametrize(
    "name",
    [
        "approx_ndcg",
        "lambda_loss",
        "pl_rank",
        "gumbel_approx_ndcg",
        "neural_ndcg",
        "pirank_ndcg",
        "soft_ndcg",
    ],
)
def test_checkpoints(name):
    function, labels = getattr(L, name), torch.tensor(LABELS)
    options = (
        {"noise": torch.zeros(1, *labels.shape)}
        if name in ("pl_rank", "gumbel_approx_ndcg")
        else {}
    )
    scores = torch.tensor(SCORES, requires_grad=True)
    function(scores, labels, **options).backward()
    again = scores.detach().clone().requires_grad_()
    checkpoint(lambda s: function(s, labels, **options), again, use_reentrant=False).backward()
    assert torch.equal(again.grad, scores.grad)


def test_losses_with_arrays_can_be_compared_and_compiled():
    one, other = (gf.losses.loss("nDCG@3", weight=jnp.full(4, value)) for value in (1.0, 2.0))
    assert one != other
    assert one == gf.losses.loss("nDCG@3", weight=one.options["weight"])
    scores, labels = jnp.zeros((4, 6)), jnp.ones((4, 6))
    assert jax.jit(one)(scores, labels) == pytest.approx(jax.jit(other)(scores, labels))


def test_a_discount_that_does_not_fall_is_refused_when_a_loss_is_made():
    with pytest.raises(gf.errors.InputError, match="one that falls with the rank"):
        gf.losses.loss("nDCG(discount=none)", method="lambda")
    gf.losses.loss("nDCG(discount=none)", method="lambda", scheme="ranknet")


@pytest.mark.parametrize("grade", [1, 3, 13, 23])
def test_exponential_gains_of_whole_grades_are_exact_in_jax(grade):
    assert gf.metrics.cg(jnp.zeros(1), jnp.array([grade]), gain="exp2") == 2**grade - 1


def test_calls_that_are_not_compiled_compile_nothing_anew(logged):
    scores, labels = jnp.asarray(np.array(SCORES, np.float32)), jnp.asarray(np.array(LABELS))
    for function in (L.approx_ndcg, L.lambda_loss):
        function(scores, labels)
        with jax.log_compiles():
            logged.clear()
            function(scores, labels)
        assert not [line for line in logged if "Compiling" in line], function.__name__
    with jax.log_compiles():
        jax.jit(lambda array: array * 3 - 1)(scores)
    assert [line for line in logged if "Compiling" in line]
