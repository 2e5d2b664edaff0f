"""Measures at a cutoff from one GPU kernel; calls of the same form are prepared once.

Reading the arguments of a call takes longer than the kernel.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from gainful.measures.discount import Discount
from gainful.training.fused.cutoff_measures import DEEPEST, GAINS, WIDEST, Cumulated
from gainful.training.metrics.gains_and_discounts import discount_table


def at_cutoff(
    scores: torch.Tensor,
    labels: torch.Tensor,
    mask: torch.Tensor | None,
    cutoff: int,
    settings: Mapping[str, Any],
    ties: str,
    normalised: bool,  # noqa: FBT001
) -> torch.Tensor | None:
    """Return CG, DCG or nDCG `[...]` of tensors on a GPU; None if no kernel supports it."""
    shape, form = scores.shape, settings["gain"].form
    if cutoff > DEEPEST or not 0 < shape[-1] <= WIDEST or not scores.numel() or form not in GAINS:
        return None
    cumulated = _prepared(
        shape,
        scores.device,
        (scores.dtype, labels.dtype, mask is not None),
        cutoff,
        form,
        settings["discount"],
        settings["base"],
        ties,
        normalised,
    )
    values = cumulated(scores, labels, mask)
    return values if values.dtype == scores.dtype else values.to(scores.dtype)


@functools.lru_cache(maxsize=256)
def _prepared(
    shape: Sequence[int],
    device: Any,
    kinds: tuple[Any, Any, bool],
    cutoff: int,
    gain: str,
    discount: Discount,
    base: float,
    ties: str,
    normalised: bool,  # noqa: FBT001
) -> Cumulated:
    """Return the launcher that computes the measure for these shapes and dtypes."""
    *lead, width = shape
    table = discount_table(discount, base, min(cutoff, width))
    running = np.concatenate((np.zeros(1), np.cumsum(table)))
    return Cumulated(
        math.prod(lead),
        width,
        torch.as_tensor(running, dtype=torch.float64, device=device),
        masked=kinds[-1],
        gain=gain,
        average=ties == "average",
        ideal=normalised,
    )
