"""`gf.metrics` with arrays of a library that it does not know by name, as it does not know CuPy.

array-api-strict has what the array API standard has, computed by NumPy, and refuses the rest.
"""

import array_api_strict as strict
import numpy as np
import pytest

import gainful as gf

GAINS = ["linear", "exp2", "binary", {1: 0.1, 2: 3, 3: 3, 4: 7.3}, lambda grades: grades * grades]


@pytest.fixture(autouse=True)
def _beside_the_standard(monkeypatch):
    """Add three functions that CuPy has too, but the standard names otherwise or lacks.

    By the standard's names array-api-compat looks for the library again, and `torch.compile` warns.
    """
    added = {
        "cumsum": lambda array, axis: strict.cumulative_sum(array, axis=axis),
        "cumprod": lambda array, axis: strict.cumulative_prod(array, axis=axis),
        "exp2": lambda array: 2.0**array,
    }
    for name, function in added.items():
        monkeypatch.setattr(strict, name, function, raising=False)


def agree(name, dtype, k, masked, **settings):
    draw = np.random.default_rng(0)
    scores = (np.round(draw.normal(size=(4, 5, 12)) * 2) / 2).astype(dtype)
    labels = draw.integers(0, 5, scores.shape)
    mask = draw.random(scores.shape) < 0.8 if masked else None
    if masked:
        mask[0, 0] = False
    measure = getattr(gf.metrics, name)
    expected = measure(scores, labels, mask, k=k, **settings)
    arrays = [None if array is None else strict.asarray(array) for array in (scores, labels, mask)]
    found = measure(*arrays, k=k, **settings)
    assert isinstance(found, type(arrays[0]))
    assert found.dtype == arrays[0].dtype
    rounding = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(np.asarray(found), expected, rtol=rounding, atol=rounding)


@pytest.mark.parametrize("masked", [False, True], ids=["without mask", "with mask"])
@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("name", gf.metrics.__all__)
def test_values_are_those_of_numpy(name, k, masked):
    for dtype in (np.float32, np.float64):
        for ties in ("order",) if name == "err" else ("average", "order"):
            agree(name, dtype, k, masked, ties=ties)


@pytest.mark.parametrize(
    "gain", GAINS, ids=lambda gain: "function" if callable(gain) else str(gain)
)
@pytest.mark.parametrize("name", ["cg", "dcg", "ndcg"])
def test_every_gain(name, gain):
    for dtype in (np.float32, np.float64):
        agree(name, dtype, 5, True, gain=gain)
