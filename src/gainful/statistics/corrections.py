"""p-values adjusted for how many comparisons there were."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gainful.errors import InputError, did_you_mean, shown

Floats = NDArray[np.float64]


def _none(p: Floats) -> Floats:
    return p


def _bonferroni(p: Floats) -> Floats:
    return np.minimum(p * p.size, 1)


def _holm(p: Floats) -> Floats:
    """Return the k-th smallest times m − k + 1, and no smaller than those before it."""
    order = np.argsort(p, kind="stable")
    steps = p[order] * np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def _benjamini_hochberg(p: Floats) -> Floats:
    """Return the k-th smallest times m/k, and no larger than those after it."""
    order = np.argsort(p, kind="stable")[::-1]
    steps = p[order] * (p.size / np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps), 1)
    return adjusted


CORRECTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "holm": _holm,
    "bonferroni": _bonferroni,
    "benjamini-hochberg": _benjamini_hochberg,
    "none": _none,
}
"""The corrections by name, the default first: p (m,) → adjusted p (m,)."""


def adjusted(p: Sequence[float | None], correction: str = "holm") -> list[float | None]:
    """Return the p-values of a family of comparisons, adjusted; to be compared with the same alpha.

    `holm` and `bonferroni` keep the probability of any false finding below alpha; Holm's is never
    the larger p. `benjamini-hochberg` keeps the expected share of false findings among the
    findings below it, `none` changes nothing. The k-th smallest of m becomes, before it is
    made monotone and cut at 1: holm (m − k + 1)·p, bonferroni m·p, benjamini-hochberg m·p/k.

    Args:
        p: from 0 to 1; None where there is no test, which counts as no comparison and stays None.
        correction: a key of `CORRECTIONS`.

    >>> adjusted([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    >>> adjusted([0.01, 0.04, None, 0.03], "benjamini-hochberg")
    [0.03, 0.04, None, 0.04]
    """
    if correction not in CORRECTIONS:
        hint = did_you_mean(correction, CORRECTIONS)
        raise InputError("correction", "a correction for many comparisons", shown(correction), hint)
    for place, value in enumerate(p):
        if value is not None and not 0 <= value <= 1:
            raise InputError(f"p[{place}]", "a probability or None", shown(value))
    found = np.array([value for value in p if value is not None], np.float64)
    values = iter(CORRECTIONS[correction](found).tolist())
    return [None if value is None else next(values) for value in p]
