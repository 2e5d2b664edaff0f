"""Running sums and running maxima, of numbers that may be far apart."""

from collections.abc import Iterator

import numpy as np

from gainful.tensors.losses.operations import Array, Operations


def running_highest(ops: Operations, values: Array) -> Array:
    """Return max_{k ≤ r} x_k at each place r."""
    for before, there in _doublings(ops, values):
        earlier = values[..., before]
        values = ops.where(there & (earlier > values), earlier, values)
    return values


def running_sums(ops: Operations, levels: Array, *terms: Array) -> list[Array]:
    """Return Σ_{k ≤ r} x_k·e^(levels_r − levels_k) at each place r; levels never rise."""
    found = list(terms)
    for before, there in _doublings(ops, levels):
        scale = ops.where(there, ops.exp(levels - levels[..., before]), 0.0)
        found = [values + scale * values[..., before] for values in found]
    return found


def _doublings(ops: Operations, like: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the places 1, 2, 4, … before each place, and where there are any.

    What each place has of a run of places up to it becomes, step by step, that of twice the run.
    """
    width = int(like.shape[-1])
    places = np.arange(width)
    for step in (2**power for power in range((width - 1).bit_length())):
        before = np.maximum(places - step, 0)
        yield ops.integers(before, like), ops.booleans(places >= step, like)
