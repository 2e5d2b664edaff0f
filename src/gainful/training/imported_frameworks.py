"""Frameworks already imported by this process, such as the one of any tensor that we receive."""

import sys
from typing import Any

# `torch.compile` wraps everything it reads entry by entry, and sys.modules has thousands.
_EARLIER = {name: sys.modules[name] for name in ("torch", "jax") if name in sys.modules}


def imported(name: str) -> Any:
    """Return a framework, or None if it has not been imported; nothing is imported to find out.

    >>> import torch
    >>> imported("torch") is torch
    True
    """
    return _EARLIER[name] if name in _EARLIER else sys.modules.get(name)
