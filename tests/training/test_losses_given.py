"""What losses take, and what they refuse: tensors of any kind, keys, options."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import gainful as gf
from gainful.training.array_checks import refuse_sparse
from loss_rows import LABELS, SCORES

L = gf.losses


def test_a_loss_is_compiled_and_taken_apart_as_it_is():
    train = gf.losses.loss("nDCG@3", temperature=0.5)
    scores, labels = jnp.asarray(SCORES), jnp.asarray(LABELS)
    assert jax.jit(train)(scores, labels) == pytest.approx(float(train(scores, labels)), rel=1e-6)
    slope = jax.grad(jax.checkpoint(train))(scores, labels)
    assert np.asarray(slope) == pytest.approx(np.asarray(jax.grad(train)(scores, labels)), abs=1e-6)


def test_tensors_without_numbers_have_losses_without_numbers():
    scores, labels = (torch.tensor(x, device="meta") for x in (SCORES, LABELS))
    assert L.approx_ndcg(scores, labels, reduction="none").shape == (2,)
    with pytest.raises(gf.errors.InputError, match="bfloat16, float16, float32 or float64"):
        L.approx_ndcg(torch.zeros(3).to(torch.float8_e4m3fn), torch.zeros(3))


@pytest.mark.parametrize("options", [{"scheme": "ndcg3"}, {"truncation": "any"}])
def test_a_misspelled_choice_is_found_when_a_loss_is_made(options):
    with pytest.raises(gf.errors.InputError, match=r"ndcg2pp|either, both or none"):
        gf.losses.loss("nDCG", method="lambda", **options)


def test_a_base_beside_a_discount_without_one_is_refused():
    scores, labels = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0])
    for function in (gf.losses.approx_ndcg, gf.losses.softmax):
        with pytest.raises(
            gf.errors.MeasureError, match="base: expected no base beside discount=none"
        ):
            function(scores, labels, discount="none", base=3)
        function(scores, labels, discount="none", base=2)
        function(scores, labels, discount="jarvelin", base=3)


def test_only_a_tensor_is_told_that_it_is_none_of_python():
    for value, tensor in ((torch.tensor(1.0), True), ("1", False), (None, False), (True, False)):
        with pytest.raises(gf.errors.InputError) as raised:
            L.approx_ndcg(torch.zeros(3), torch.zeros(3), temperature=value)
        assert ("not a tensor" in str(raised.value)) == tensor


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda: torch.nested.nested_tensor([torch.zeros(2)], layout=torch.jagged), "a nested one"),
        (lambda: torch.zeros(2, 3).to_sparse(), "one of layout sparse_coo"),
    ],
    ids=["nested", "sparse"],
)
def test_only_dense_tensors_are_taken(make, found):
    dense = torch.zeros(2, 3)
    for call in (L.approx_ndcg, gf.metrics.ndcg):
        with pytest.raises(
            gf.errors.InputError, match=f"scores: expected a dense tensor, found {found}"
        ):
            call(make(), dense)
        with pytest.raises(
            gf.errors.InputError, match=f"labels: expected a dense tensor, found {found}"
        ):
            call(dense, make())


def test_a_layout_that_is_not_of_pytorch_is_no_matter():
    """Since version 0.11, what JAX traces has a layout: how it lies in memory."""

    class Laid:
        layout = "AutoLayout"

    refuse_sparse("scores", Laid())
    with pytest.raises(gf.errors.InputError, match="one of layout sparse_coo"):
        refuse_sparse("scores", torch.zeros(2, 3).to_sparse())


@pytest.mark.parametrize(
    ("labels", "found"),
    [(["a", "b"], "text"), (None, "NoneType"), (np.zeros(2, complex), "type complex128")],
)
def test_labels_are_numbers(labels, found):
    with pytest.raises(gf.errors.InputError, match=f"labels: expected numbers, found {found}"):
        L.approx_ndcg(torch.zeros(2), labels)


def test_a_key_is_one():
    scores, labels = jnp.zeros(3), jnp.zeros(3)
    key = jax.random.key(1)
    for one in (key, jax.random.PRNGKey(1)):
        assert np.isfinite(L.xe_ndcg(scores, labels, generator=one))
    for several in (jax.random.split(key, 2), jnp.zeros((2, 2), jnp.uint32), jnp.zeros(())):
        with pytest.raises(
            gf.errors.InputError, match="generator: expected one key of JAX, found an array"
        ):
            L.xe_ndcg(scores, labels, generator=several)
