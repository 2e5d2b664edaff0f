"""Padding marked by a label: the same as a mask, in every measure and loss of every library; unmarked padding is warned of."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import gainful as gf
from gainful.errors import GainfulWarning, InputError
from gainful.training.losses import METHODS

LABELS = np.array([[3.0, 2, 0, -1, -1], [1, 0, 2, 3, 1], [2, 0, 1, 1, -1]])
SCORES = np.array([[0.5, 0.1, 0.4, 0.9, 0.8], [0.3, 0.2, 0.9, 0.1, 0.5], [0.4, 0.7, 0.1, 0.2, 0.6]])
MASK = LABELS != -1

LIBRARIES = {
    "NumPy": np.asarray,
    "PyTorch": lambda array: torch.from_numpy(np.array(array)),
    "JAX": jnp.asarray,
}
MEASURES = [name for name in gf.metrics.__all__ if callable(getattr(gf.metrics, name))]
LOSSES = {**METHODS, "gap": gf.losses.gap, "of a measure": gf.losses.loss("nDCG@3")}
DRAWING = ("gumbel", "pl_rank", "xe")
WARNED = "−1 appears only at the ends of rows"


def as_array(value):
    if isinstance(value, dict):
        return np.array(list(value.values()))
    return value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_takes_the_label_of_padding(name, library):
    make, measure = LIBRARIES[library], getattr(gf.metrics, name)
    scores, labels, mask = make(SCORES), make(LABELS), make(MASK)
    wanted = as_array(measure(scores, labels, mask))
    np.testing.assert_array_equal(as_array(measure(scores, labels, padding=-1)), wanted)
    # What the mask leaves out besides stays out.
    fewer = make(MASK & (np.arange(5) > 0))
    np.testing.assert_array_equal(
        as_array(measure(scores, labels, fewer, padding=-1)),
        as_array(measure(scores, labels, fewer)),
    )


@pytest.mark.parametrize("library", ["PyTorch", "JAX"])
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_takes_the_label_of_padding(name, library):
    make, loss = LIBRARIES[library], LOSSES[name]
    scores, labels, mask = make(SCORES), make(LABELS), make(MASK)

    def of(*given, **options):
        if library == "JAX" and name in DRAWING:
            options["generator"] = jax.random.PRNGKey(3)
        torch.manual_seed(3)
        return as_array(loss(scores, *given, **options))

    wanted = of(labels, mask)
    np.testing.assert_array_equal(of(labels, padding=-1), wanted)
    np.testing.assert_array_equal(of(LABELS, padding=-1), wanted)  # of another library
    np.testing.assert_array_equal(of(LABELS.tolist(), padding=-1.0), wanted)


def test_flat_lists_take_it_too():
    scores, labels = (torch.from_numpy(array.ravel()) for array in (SCORES, LABELS))
    offsets = [0, 5, 10, 15]
    wanted = gf.losses.softmax(*map(torch.from_numpy, (SCORES, LABELS, MASK)))
    found = gf.losses.softmax(scores, labels, offsets=offsets, padding=-1)
    torch.testing.assert_close(found, wanted)


CALLS = {
    **{name: getattr(gf.metrics, name) for name in MEASURES},
    "softmax": gf.losses.softmax,
    "approx_ndcg": gf.losses.approx_ndcg,
    "gap": gf.losses.gap,
}


@pytest.mark.parametrize(
    ("name", "library"),
    [
        (name, library)
        for name in CALLS
        for library in LIBRARIES
        if name in MEASURES or library != "NumPy"  # losses are of frameworks
    ],
)
def test_unmarked_padding_is_warned_of_once(name, library):
    make = LIBRARIES[library]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        CALLS[name](make(SCORES), make(LABELS))
    assert [str(each.message) for each in seen if WARNED in str(each.message)][1:] == []
    assert any(WARNED in str(each.message) for each in seen)
    assert {each.filename for each in seen} == {__file__}


QUIET = {
    "a mask": (LABELS, MASK),
    "a mask that is True everywhere": (LABELS, MASK | True),
    "−1 before a grade": (np.array([[1.0, -1, 0, 2, -1]] * 3), None),
    "lower grades": (np.array([[1.0, 0, -2, -1, -1]] * 3), None),
    "no −1": (np.abs(LABELS), None),
    "nothing but −1": (-np.ones((3, 5)), None),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case", QUIET)
def test_what_is_no_padding_is_not_warned_of(case, library):
    make, (labels, mask) = LIBRARIES[library], QUIET[case]
    mask = None if mask is None else make(mask)
    gf.metrics.dcg(make(SCORES), make(labels), mask)


@pytest.mark.filterwarnings("error")
def test_what_is_compiled_or_transformed_is_not_looked_at():
    labels, scores = torch.from_numpy(LABELS), torch.from_numpy(SCORES).requires_grad_()
    compiled = torch.compile(gf.losses.softmax, fullgraph=True, backend="eager")
    compiled(scores, labels).backward()
    torch.compile(gf.metrics.ndcg, fullgraph=True, backend="eager")(scores.detach(), labels)
    torch.vmap(gf.losses.softmax)(scores, labels)
    jax.jit(gf.losses.softmax)(jnp.asarray(SCORES), jnp.asarray(LABELS))
    jax.vmap(gf.metrics.ndcg)(jnp.asarray(SCORES), jnp.asarray(LABELS))


def test_the_label_of_padding_under_compilers_and_second_derivatives():
    labels, scores = torch.from_numpy(LABELS), torch.from_numpy(SCORES).requires_grad_()

    def loss(scores, labels):
        return gf.losses.softmax(scores, labels, padding=-1)

    wanted = gf.losses.softmax(scores, labels, torch.from_numpy(MASK))
    compiled = torch.compile(loss, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(scores, labels), wanted)
    (gradient,) = torch.autograd.grad(loss(scores, labels), scores, create_graph=True)
    (second,) = torch.autograd.grad((gradient**2).sum(), scores)
    assert torch.isfinite(second).all()
    assert (second[~torch.from_numpy(MASK)] == 0).all()
    found = jax.jit(lambda s, y: gf.losses.softmax(s, y, padding=-1))(
        jnp.asarray(SCORES), jnp.asarray(LABELS)
    )
    np.testing.assert_allclose(found, wanted.item(), rtol=1e-5)


@pytest.mark.parametrize("kind", [np.uint8, np.bool_])
def test_types_without_such_a_number_have_no_padding(kind):
    labels = np.array([[255, 0, 1]]).astype(kind)
    scores = np.array([[0.1, 0.3, 0.2]])
    for make in LIBRARIES.values():
        measured = as_array(gf.metrics.recall(make(scores), make(labels), k=2, padding=-1))
        np.testing.assert_allclose(
            measured, as_array(gf.metrics.recall(make(scores), make(labels), k=2))
        )


@pytest.mark.parametrize("padding", [float("nan"), float("inf"), "x", True, np.zeros(2)])
def test_a_label_of_padding_is_a_number(padding):
    for call in (gf.metrics.ndcg, gf.losses.softmax, gf.losses.gap):
        with pytest.raises(InputError, match="padding: expected the label of padding, such as -1"):
            call(torch.from_numpy(SCORES), torch.from_numpy(LABELS), padding=padding)


def test_the_warning_is_one_of_gainful():
    with pytest.warns(GainfulWarning, match=r"pass padding=-1"):
        gf.metrics.ndcg(SCORES, LABELS)
