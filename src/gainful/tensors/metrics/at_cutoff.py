"""When a measure at a cutoff can be had from one kernel on a GPU, and having it."""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from gainful.measures.discount import Discount
from gainful.tensors.fusible import fusible
from gainful.tensors.metrics.lists import check_lists
from gainful.tensors.metrics.worth import discount_table


def fused_at_cutoff(
    scores: Any,
    labels: Any,
    mask: Any,
    cutoff: int | None,
    settings: Mapping[str, Any],
    ties: str,
    normalised: bool,  # noqa: FBT001
) -> Any:
    """Return CG, DCG or nDCG `[...]` in the type of the scores; None where no kernel does it.

    Args:
        scores: `[..., list]`, of any library.
        labels: `[..., list]`.
        mask: `[..., list]` or None.
        cutoff: of the measure.
        settings: its gain, discount and base.
        ties: `average` or `order`.
        normalised: divide by the ideal.
    """
    if cutoff is None or not fusible(scores, labels, mask):
        return None
    from gainful.tensors.fused.cutoff import DEEPEST, GAINS, WIDEST, cumulated

    check_lists(scores, labels, mask)
    width, form = int(scores.shape[-1]), settings["gain"].form
    if cutoff > DEEPEST or not 0 < width <= WIDEST or form not in GAINS:
        return None
    sums = _sums(settings["discount"], settings["base"], min(cutoff, width), scores.device)
    found = cumulated(
        scores.detach(), labels, mask, sums, gain=form, average=ties == "average", ideal=normalised
    )
    return found.to(scores.dtype)


@functools.lru_cache(maxsize=64)
def _sums(discount: Discount, base: float, depth: int, device: Any) -> Any:
    """Return the sums (depth + 1,) of the discounts of the first ranks, kept on the device."""
    import torch

    table = discount_table(discount, base, depth)
    running = np.concatenate((np.zeros(1), np.cumsum(table)))
    return torch.as_tensor(running, dtype=torch.float64, device=device)
