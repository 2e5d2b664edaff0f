"""Whether the kernels for a GPU can take tensors: PyTorch's, on one GPU, with Triton installed."""

import functools
import importlib.util
import sys
from typing import Any

_NARROW = ("float16", "bfloat16", "float32")


def fusible(scores: Any, *others: Any) -> bool:
    """Return whether kernels can take scores and what belongs to them; None stands for nothing.

    Scores in float64 are computed without kernels, which would round them, and so is what
    `torch.func.vmap` holds, whose memory no kernel can read.

    >>> import torch
    >>> fusible(torch.zeros(3))  # on no GPU
    False
    """
    torch = sys.modules.get("torch")  # whoever has a tensor has imported it
    if torch is None or not isinstance(scores, torch.Tensor) or not scores.is_cuda:
        return False
    return (
        str(scores.dtype).rpartition(".")[-1] in _NARROW
        and all(
            isinstance(one, torch.Tensor)
            and one.device == scores.device
            and not torch._C._functorch.is_batchedtensor(one)  # noqa: SLF001
            for one in (scores, *others)
            if one is not None
        )
        and _has_triton()
    )


@functools.cache
def _has_triton() -> bool:
    return importlib.util.find_spec("triton") is not None
