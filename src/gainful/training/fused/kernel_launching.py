"""Launch a kernel repeatedly without inspecting its arguments each time.

On every call Triton looks up the type, value and alignment of each argument, which takes as long as
the launch; most calls repeat an earlier one with other tensors of the same kind.
"""

from collections.abc import Mapping
from typing import Any

import torch
import triton

# Since this version a compiled kernel takes all arguments in order, including constants.
_KEEPS_ORDER = tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 3)
_ALIGNED = 16  # bytes; Triton compiles different code for tensors that are not aligned to this


class Launcher:
    """A kernel for tensors that differ only in their contents; everything else is fixed.

    Args:
        kernel: a kernel whose first arguments are tensors or None.
        programs: the number of programs to launch.
        device: the device of the tensors.
        rest: all other arguments of the kernel, by name.
        warps: the warps per program.
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
        """Launch the kernel; tensor types and None arguments must match the first call."""
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
