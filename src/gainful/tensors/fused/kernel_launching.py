"""Launching a kernel again without looking at its arguments again.

In each call Triton looks up the type, value and alignment of every argument, which takes as long as
launching; most calls repeat an earlier one with other tensors of the same kind.
"""

from collections.abc import Mapping
from typing import Any

import torch
import triton

# Since then a compiled kernel takes all arguments in their order, constants among them.
_KEEPS_ORDER = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 3)
_ALIGNED = 16  # bytes; Triton compiles other code for tensors that do not begin at such a place


class Launcher:
    """A kernel for tensors that differ in nothing but their contents; all else is fixed.

    Args:
        kernel: takes tensors first, some of which may be None.
        programs: how many of it run.
        device: of the tensors.
        rest: by name, all other arguments of the kernel.
        warps: of a program.
    """

    def __init__(
        self,
        kernel: Any,
        programs: int,
        device: torch.device,
        rest: Mapping[str, Any],
        warps: int,
    ) -> None:
        self._kernel, self._programs, self._device, self._warps = kernel, programs, device, warps
        self._rest = [rest[name] for name in kernel.arg_names if name in rest]
        self._again: Any = None

    def __call__(self, *tensors: torch.Tensor | None) -> None:
        """Launch the kernel; types of tensors, and which are None, must be those of the first call."""
        if torch.cuda.current_device() == self._device.index:
            self._launch(tensors)
        else:
            with torch.cuda.device(self._device):
                self._launch(tensors)

    def _launch(self, tensors: tuple[torch.Tensor | None, ...]) -> None:
        addresses = [None if one is None else one.data_ptr() for one in tensors]
        aligned = all(one is None or one % _ALIGNED == 0 for one in addresses)
        if aligned and self._again is not None:
            self._again(*addresses, *self._rest)
            return
        compiled = self._kernel[(self._programs,)](*tensors, *self._rest, num_warps=self._warps)
        if aligned and _KEEPS_ORDER:
            self._again = compiled[(self._programs, 1, 1)]
