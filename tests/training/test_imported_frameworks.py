"""A framework is found whether it was imported before the package or after it."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
import torch

import gainful as gf
from gainful.training import imported_frameworks


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_framework_is_found(monkeypatch, when):
    if when == "after":
        monkeypatch.setattr(imported_frameworks, "_EARLIER", {})
    assert imported_frameworks.imported("torch") is torch
    assert imported_frameworks.imported("no framework") is None
    scores, labels = [[2.0, 1.0, 3.0]], [[1, 0, 2]]
    for put in (torch.tensor, jnp.asarray):
        assert float(gf.metrics.ndcg(put(scores), put(labels))[0]) == 1.0
        # 3 is chosen first of all three, then 2 of two.
        chosen = math.log(1 + math.exp(-1) + math.exp(-2)) + math.log(1 + math.exp(-1))
        found = float(gf.losses.list_mle(put(scores), put(labels)))
        assert found == pytest.approx(chosen, abs=1e-6)
    with pytest.raises(gf.errors.InputError, match="a tensor of PyTorch or JAX"):
        gf.losses.list_mle(np.array(scores), np.array(labels))
