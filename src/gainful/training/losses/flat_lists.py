"""Consecutive lists in flat tensors, computed in groups of similar length.

If all lists were padded to the longest, every short list would cost as much as a long one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.array_types import Array, Bools, Ints
from gainful.errors import InputError
from gainful.training.losses.array_operations import Operations, operations_for
from gainful.training.losses.training_lists import (
    combined,
    numbers,
    read_labels,
    read_mask,
    read_scores,
)

# Lists in a group are at least this share of its longest. Shorter ones join as long as the group's
# pairs of padding take less time than another group would.
_NEAR = 2 / 3
_FEW = 2**18

# Options with the shape of the scores, and their axes.
_LIKE_SCORES = {"noise": ("sample", "item"), "gamma": ("item",)}


@dataclass(frozen=True, slots=True)
class Group:
    """Lists of similar length, padded to the longest of them.

    `which` holds their places among all lists, (list,); the tensors are [list, item]. `options` are
    the call's options without offsets, weight and reduction.
    """

    which: Ints
    scores: Array
    labels: Array
    mask: Array
    options: Mapping[str, Any]


def flat_loss(
    function: Callable[..., Any],
    scores: Array,
    labels: Array,
    mask: Array,
    options: Mapping[str, Any],
) -> Array:
    """Compute a loss of flat tensors in padded groups, and reduce it."""
    ops = operations_for(scores)

    def losses(group: Group) -> tuple[Array, Array]:
        values = function(group.scores, group.labels, group.mask, **group.options, reduction="none")
        return values, ops.floats(group.mask, values).sum(-1) > 0

    values, occupied = of_each_list(losses, scores, labels, mask, options)
    with ops.exactly(scores):
        weight, reduction = options.get("weight"), options.get("reduction", "mean")
        return combined(ops, values, occupied, weight, reduction, tuple(values.shape))


def of_each_list(
    compute: Callable[[Group], Sequence[Array]],
    scores: Array,
    labels: object,
    mask: object,
    options: Mapping[str, object],
) -> list[Array]:
    """Apply a function to each group, and return its values [list] in the order of the offsets."""
    ops = operations_for(scores)
    groups, results = [], []
    for group in _groups(scores, labels, mask, options):
        groups.append(group.which)
        results.append(compute(group))
    order = ops.integers(np.argsort(np.concatenate(groups)), scores)
    return [ops.join(parts)[order] for parts in zip(*results, strict=True)]


def _groups(
    scores: Array, labels: object, mask: object, options: Mapping[str, object]
) -> Iterator[Group]:
    """Yield the lists between offsets, long ones first."""
    ops = operations_for(scores)
    listed = read_scores(ops, scores)
    bounds = _bounds(options["offsets"], listed)
    grades, marks = read_labels(ops, labels, listed), read_mask(ops, mask, listed)
    kept = {n: v for n, v in options.items() if n not in ("offsets", "weight", "reduction")}
    items = {name: _like_scores(ops, name, kept, listed) for name in _LIKE_SCORES if name in kept}
    for number, which in enumerate(_alike(np.diff(bounds))):
        places, inside = _places(bounds, which)
        at = ops.integers(places, listed)

        def taken(values: Array, at: Array = at) -> Array:
            # An empty list has one masked item, which must still be read from somewhere.
            return (values if values.shape[-1] else ops.widen(values))[..., at]

        own = {name: taken(option) for name, option in items.items() if option is not None}
        if kept.get("generator") is not None:
            own["generator"] = ops.another(kept["generator"], number)
        yield Group(
            which=which,
            scores=taken(listed),
            labels=taken(grades),
            mask=taken(marks) & ops.booleans(inside, listed),
            options={**kept, **own},
        )


def _alike(lengths: Ints) -> Iterator[Ints]:
    """Yield the places of the lists in each group; without lists, one empty group.

    >>> [[int(one) for one in group] for group in _alike(np.array([3, 5000, 4, 4000]))]
    [[1, 3], [2, 0]]
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order) or not start:
        sizes = lengths[order[start:]]
        longest = sizes.max(initial=1)
        padding = np.cumsum(longest**2 - sizes**2)
        count = max(1, int(np.sum((sizes >= _NEAR * longest) | (padding <= _FEW))))
        yield order[start : start + count]
        start += count


def _places(bounds: Ints, which: Ints) -> tuple[Ints, Bools]:
    """Return the places of the items of lists, [list, item], and which of them are real items."""
    first, lengths = bounds[which], np.diff(bounds)[which]
    steps = np.arange(lengths.max(initial=1))
    inside = steps < lengths[:, None]
    return np.where(inside, first[:, None] + steps, 0), inside


def _like_scores(
    ops: Operations, name: str, options: Mapping[str, object], scores: Array
) -> Array | None:
    """Return an option as a tensor with one number per item; None if it is a single number."""
    value = options[name]
    if value is None or not (hasattr(value, "shape") or isinstance(value, list | tuple)):
        return None
    values = numbers(ops, name, value, scores)
    if not values.ndim:
        return None
    axes, items = _LIKE_SCORES[name], int(scores.shape[0])
    if values.ndim != len(axes) or values.shape[-1] != items:
        expected = f"[{', '.join(axes)}] with {items} items, one per score"
        raise InputError(name, expected, str(tuple(values.shape)))
    return values


def _bounds(offsets: Any, scores: Array) -> Ints:
    """Return offsets as integers on the host."""
    try:
        bounds = np.asarray(offsets.tolist() if hasattr(offsets, "tolist") else list(offsets))
    except (TypeError, ValueError):
        expected = f"a sequence of whole numbers that rise from 0 to {scores.shape[-1]}"
        remedy = "Offsets are static: pass plain numbers, known before compilation."
        raise InputError("offsets", expected, type(offsets).__name__, remedy) from None
    if scores.ndim != 1:
        raise InputError("offsets", "1-D scores alongside them", f"{scores.ndim} axes")
    total = int(scores.shape[0])
    rising = bounds.ndim == 1 and len(bounds) and bounds[0] == 0 and bounds[-1] == total
    if not rising or bounds.dtype.kind not in "iu" or (bounds[1:] < bounds[:-1]).any():
        raise InputError("offsets", f"whole numbers that rise from 0 to {total}", str(bounds))
    return bounds.astype(np.int64)
