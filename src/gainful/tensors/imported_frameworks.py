"""Frameworks that the process has imported: whoever has a tensor has imported its framework."""

import sys
from typing import Any

# What `torch.compile` reads, it wraps entry by entry, and sys.modules has thousands of them.
_EARLIER = {name: sys.modules[name] for name in ("torch", "jax") if name in sys.modules}


def imported(name: str) -> Any:
    """Return a framework, or None where it is not imported; nothing is imported to find out.

    >>> import torch
    >>> imported("torch") is torch
    True
    """
    return _EARLIER[name] if name in _EARLIER else sys.modules.get(name)
