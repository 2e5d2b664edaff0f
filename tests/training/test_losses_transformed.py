"""Every loss under what frameworks make of functions: compiled, mapped, in half precision."""

import os
import shutil
import sysconfig
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from array_libraries import quickly_compiled, usually_compiled
from loss_rows import FUNCTIONS, LABELS, ROWS, SCORES

rows = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
functions = pytest.mark.parametrize("row", FUNCTIONS.values(), ids=FUNCTIONS)


@rows
def test_transformations_of_pytorch(row):
    items = {name: torch.tensor(array) for name, array in row.draw((5,)).items()}
    s, y = torch.tensor(SCORES), torch.tensor(LABELS)

    def loss(one, labels):
        return row.function(one, labels, **row.options, **items)

    expected = torch.stack([loss(a, b) for a, b in zip(s, y, strict=True)])
    slopes = torch.stack([torch.func.grad(loss)(a, b) for a, b in zip(s, y, strict=True)])
    assert torch.allclose(torch.func.vmap(loss)(s, y), expected)
    assert torch.allclose(torch.func.vmap(torch.func.grad(loss))(s, y), slopes)


def compiled(row, backend):
    """Return the value and the gradient of a compiled loss, and those of the same as it is."""
    items = {name: torch.tensor(array) for name, array in row.draw(SCORES.shape).items()}
    y = torch.tensor(LABELS)

    def loss(s):
        return row.function(s, y, k=3, **row.options, **items)

    found = []
    with warnings.catch_warnings():
        # What the compiler itself uses may be out of date, and it looks at what it warns of.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.filterwarnings("ignore", message="The .grad attribute")
        torch.compiler.reset()
        for function in (torch.compile(loss, backend=backend), loss):
            s = torch.tensor(SCORES, requires_grad=True)
            value = function(s)
            value.backward()
            found.append((value.item(), s.grad.numpy()))
    return found


@functions
def test_compiled_losses_have_the_same_gradient(row):
    (value, slope), expected = compiled(row, "aot_eager")
    assert value == pytest.approx(expected[0], abs=1e-12)
    assert slope == pytest.approx(expected[1], abs=1e-12)


# PyTorch's own compiler needs that of the system, which a user of the package need not have.
BUILDS = shutil.which(os.environ.get("CXX", "c++")) and Path(
    sysconfig.get_path("include"), "Python.h"
)
NATIVE = "inductor" if BUILDS and BUILDS.exists() else "aot_eager"


@pytest.mark.parametrize("name", ["approx_ndcg", "xe_ndcg"])  # a gradient given, and one traced
def test_losses_compiled_to_machine_code(name):
    (value, slope), expected = compiled(ROWS[name], NATIVE)
    assert value == pytest.approx(expected[0], abs=1e-12)
    assert slope == pytest.approx(expected[1], abs=1e-12)


@rows
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_under_autocast(row, dtype):
    """A model computes in half precision, the loss of its scores in single."""
    features = torch.tensor(np.random.default_rng(3).normal(size=(2, 5, 4)), dtype=torch.float32)
    items = {name: torch.tensor(array) for name, array in row.draw((2, 5)).items()}
    slopes = []
    for lowered in (True, False):
        model = torch.nn.Linear(4, 1, bias=False)
        model.weight.data = torch.tensor([[0.5, -1.0, 0.3, 0.8]])
        with torch.autocast("cpu", dtype=dtype, enabled=lowered):
            scores = model(features).squeeze(-1)
            assert scores.dtype == (dtype if lowered else torch.float32)
            value = row.function(scores, torch.tensor(LABELS), **row.options, **items)
        assert value.dtype == torch.float32
        kept = row.function(scores.detach().float(), torch.tensor(LABELS), **row.options, **items)
        assert value.item() == pytest.approx(kept.item(), rel=1e-6)
        value.backward()
        slopes.append(model.weight.grad.numpy())
    assert slopes[0] == pytest.approx(slopes[1], rel=0.05, abs=0.02)


@functions
def test_transformations_of_jax(row):
    items = row.draw((5,))
    s, y = jnp.asarray(SCORES), jnp.asarray(LABELS)

    def loss(one, labels):
        return row.function(one, labels, **row.options, **items)

    @usually_compiled
    def mapped(scores, labels):
        return jax.vmap(loss)(scores, labels), jax.vmap(jax.grad(loss))(scores, labels)

    each = quickly_compiled(jax.value_and_grad(loss))
    for found in zip(*mapped(s, y), s, y, strict=True):
        same_in_jax(found[:2], each(*found[2:]))


@functions
def test_jax_operation_by_operation(row):
    items = row.draw((5,))
    s, y = jnp.asarray(SCORES), jnp.asarray(LABELS)

    def loss(one, labels):
        return row.function(one, labels, **row.options, **items)

    each = quickly_compiled(jax.value_and_grad(loss))
    assert float(loss(s[1], y[1])) == pytest.approx(float(each(s[1], y[1])[0]), rel=1e-5)
    same_in_jax(jax.value_and_grad(loss)(s[0], y[0]), each(s[0], y[0]))


def same_in_jax(found, expected):
    assert float(found[0]) == pytest.approx(float(expected[0]), rel=1e-5)
    assert np.asarray(found[1]) == pytest.approx(np.asarray(expected[1]), rel=1e-4, abs=1e-6)
