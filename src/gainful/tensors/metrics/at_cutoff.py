"""Whether a measure at a cutoff can be had from one kernel on a GPU, and having it."""

from collections.abc import Mapping
from typing import Any

from gainful.tensors.fusible import compiling, fusible
from gainful.tensors.metrics.lists import check_lists


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
    # What is compiled is fused anyway, and plain code can be compiled together with what is around it.
    if cutoff is None or not fusible(scores, labels, mask) or compiling():
        return None
    check_lists(scores, labels, mask)
    from gainful.tensors.metrics.prepared import at_cutoff

    return at_cutoff(scores, labels, mask, cutoff, settings, ties, normalised)
