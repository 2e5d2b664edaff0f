"""Whether the kernels for a GPU can take tensors: of PyTorch, on one GPU, with Triton installed."""

import importlib.util
from typing import Any

from gainful.tensors.imported_frameworks import imported

_TRITON = importlib.util.find_spec("triton") is not None


def fusible(scores: Any, *others: Any) -> bool:
    """Return whether kernels can take scores and the tensors beside them, which may be None.

    Scores in float64 are computed without kernels, which would round them, and so is everything
    under the transformations of `torch.func`, whose tensors have no memory that a kernel can read.

    >>> import torch
    >>> fusible(torch.zeros(3))  # on no GPU
    False
    """
    torch = imported("torch")
    if torch is None or not isinstance(scores, torch.Tensor) or not scores.is_cuda:
        return False
    if scores.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return False
    if scores.layout is not torch.strided or scores.is_nested:
        return False
    if torch._C._are_functorch_transforms_active():  # noqa: SLF001
        return False
    device = scores.device
    for one in others:
        if one is not None and not (isinstance(one, torch.Tensor) and one.device == device):
            return False
    return _TRITON


def compiling() -> bool:
    """Return whether `torch.compile` is reading the code that asks."""
    torch = imported("torch")
    return torch is not None and bool(torch.compiler.is_compiling())
