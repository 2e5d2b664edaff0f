"""Gumbel noise: drawn, or given by the caller."""

from typing import Any

from gainful.errors import InputError
from gainful.tensors.losses.converting import numbers
from gainful.tensors.losses.lists import Lists
from gainful.tensors.losses.operations import Array


def gumbel_noise(
    lists: Lists, shape: tuple[int, ...], samples: int, generator: Any, noise: Any
) -> Array:
    """Return [sample, list, item]; `noise`, if given, is [sample, …] before the shape of scores."""
    ops = lists.ops
    if noise is None:
        drawn = ops.uniform((samples, *lists.scores.shape), lists.scores, generator)
        return -ops.log(-ops.log(drawn))
    given = numbers(ops, "noise", noise, lists.scores)
    if tuple(given.shape[1:]) != shape or given.ndim != len(shape) + 1 or not given.shape[0]:
        expected = f"[sample, …] with the shape of the scores, {shape}, and at least 1 sample"
        raise InputError("noise", expected, str(tuple(given.shape)))
    return lists.arrange(given)
