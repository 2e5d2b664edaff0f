"""Which tensors go to the kernels of a GPU; the tensors here only pretend to lie on one."""

import pytest
import torch

from gainful.training import gpu_support as module
from gainful.training.gpu_support import fusible


class OnGpu(torch.Tensor):
    is_cuda = True


def pretended(dtype=torch.float32):
    return torch.zeros(2, 3, dtype=dtype).as_subclass(OnGpu)


@pytest.fixture(autouse=True)
def _with_triton(monkeypatch):
    monkeypatch.setattr(module, "_TRITON", True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_narrow_scores_on_a_gpu_do(dtype):
    assert fusible(pretended(dtype), pretended(), None)


@pytest.mark.parametrize(
    ("scores", "other"),
    [
        (torch.zeros(2, 3), None),
        (pretended(torch.float64), None),
        ([0.0], None),
        (pretended(), [[1, 2, 3], [1, 2, 3]]),
        (pretended(), torch.zeros(2, 3, device="meta")),
    ],
    ids=["on no GPU", "double precision", "no tensor", "labels in a list", "on another device"],
)
def test_others_do_not(scores, other):
    assert not fusible(scores, other)


@pytest.mark.parametrize("transformed", [torch.func.vmap, torch.func.grad])
def test_nothing_does_under_a_transformation(transformed):
    found = []

    def asked(row):
        found.append(fusible(pretended(), pretended()))
        return row.sum()

    transformed(asked)(torch.zeros(2, 3))
    assert found == [False]


def test_nothing_does_without_triton(monkeypatch):
    monkeypatch.setattr(module, "_TRITON", False)
    assert not fusible(pretended())
