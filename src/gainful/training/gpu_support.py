"""Whether GPU kernels can handle tensors: PyTorch, on one GPU, with Triton installed."""

import importlib.util

from gainful.training.imported_frameworks import imported

_TRITON = importlib.util.find_spec("triton") is not None


def fusible(scores: object, *others: object) -> bool:
    """Return whether kernels can handle scores and the accompanying tensors, which may be None.

    Kernels are not used for float64 scores, which they would round, nor under `torch.func`
    transformations, whose tensors have no memory that a kernel can read.

    >>> import torch
    >>> fusible(torch.zeros(3))  # not on a GPU
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
    """Return whether `torch.compile` is tracing the caller."""
    torch = imported("torch")
    return torch is not None and bool(torch.compiler.is_compiling())
