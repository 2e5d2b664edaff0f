"""Lists that lie one after the other in flat tensors, computed in groups of about one length.

Padded to the longest of all, a few long lists would make every short one cost as much as they do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gainful.array_types import Bools, Ints
from gainful.errors import InputError
from gainful.tensors.losses.array_operations import Array, Operations, operations_for
from gainful.tensors.losses.training_lists import (
    combined,
    numbers,
    read_labels,
    read_mask,
    read_scores,
)

# Lists of a group have at least this share of the longest length. Shorter ones join as long as all
# pairs of padding in the group take no longer than another group would.
_NEAR = 2 / 3
_FEW = 2**18

# Options that have the shape of the scores, and their axes.
_LIKE_SCORES = {"noise": ("sample", "item"), "gamma": ("item",)}


@dataclass(frozen=True, slots=True)
class Group:
    """Lists of about one length, padded to the longest of them.

    `which` of all lists they are, (list,); the tensors are [list, item]. `options` are those of
    the call, without offsets, weight and reduction.
    """

    which: Ints
    scores: Array
    labels: Array
    mask: Array
    options: Mapping[str, Any]


def flat_loss(
    function: Callable[..., Any], scores: Array, labels: Any, mask: Any, options: Mapping[str, Any]
) -> Any:
    """Compute a loss of flat tensors in padded groups, and reduce it as asked."""
    ops = operations_for(scores)

    def losses(group: Group) -> tuple[Array, Array]:
        found = function(group.scores, group.labels, group.mask, **group.options, reduction="none")
        return found, ops.floats(group.mask, found).sum(-1) > 0

    values, occupied = of_each_list(losses, scores, labels, mask, options)
    with ops.exactly(scores):
        weight, reduction = options.get("weight"), options.get("reduction", "mean")
        return combined(ops, values, occupied, weight, reduction, tuple(values.shape))


def of_each_list(
    compute: Callable[[Group], Sequence[Array]],
    scores: Array,
    labels: Any,
    mask: Any,
    options: Mapping[str, Any],
) -> list[Array]:
    """Apply a function to each group, and return its values [list] in the order of the offsets."""
    ops = operations_for(scores)
    groups, found = [], []
    for group in _groups(scores, labels, mask, options):
        groups.append(group.which)
        found.append(compute(group))
    order = ops.integers(np.argsort(np.concatenate(groups)), scores)
    return [ops.join(parts)[order] for parts in zip(*found, strict=True)]


def _groups(scores: Array, labels: Any, mask: Any, options: Mapping[str, Any]) -> Iterator[Group]:
    """Yield the lists between offsets, long ones first."""
    ops = operations_for(scores)
    given = read_scores(ops, scores)
    bounds = _bounds(options["offsets"], given)
    grades, marks = read_labels(ops, labels, given), read_mask(ops, mask, given)
    kept = {n: v for n, v in options.items() if n not in ("offsets", "weight", "reduction")}
    items = {name: _like_scores(ops, name, kept, given) for name in _LIKE_SCORES if name in kept}
    for number, which in enumerate(_alike(np.diff(bounds))):
        places, inside = _places(bounds, which)
        at = ops.integers(places, given)

        def taken(values: Array, at: Array = at) -> Array:
            # The only items of empty lists are masked, but must still be taken from somewhere.
            return (values if values.shape[-1] else ops.widen(values))[..., at]

        own = {name: taken(one) for name, one in items.items() if one is not None}
        if kept.get("generator") is not None:
            own["generator"] = ops.another(kept["generator"], number)
        yield Group(
            which=which,
            scores=taken(given),
            labels=taken(grades),
            mask=taken(marks) & ops.booleans(inside, given),
            options={**kept, **own},
        )


def _alike(lengths: Ints) -> Iterator[Ints]:
    """Yield which lists make a group; without lists, one empty group.

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
    """Return where the items of lists are, [list, item], and which of these places are items."""
    first, lengths = bounds[which], np.diff(bounds)[which]
    steps = np.arange(lengths.max(initial=1))
    inside = steps < lengths[:, None]
    return np.where(inside, first[:, None] + steps, 0), inside


def _like_scores(
    ops: Operations, name: str, options: Mapping[str, Any], scores: Array
) -> Array | None:
    """Return an option as a tensor with a number for each item; None where it is a number alone."""
    value = options[name]
    if value is None or not (hasattr(value, "shape") or isinstance(value, list | tuple)):
        return None
    given = numbers(ops, name, value, scores)
    if not given.ndim:
        return None
    axes, items = _LIKE_SCORES[name], int(scores.shape[0])
    if given.ndim != len(axes) or given.shape[-1] != items:
        expected = f"[{', '.join(axes)}] with {items} items, as there are scores"
        raise InputError(name, expected, str(tuple(given.shape)))
    return given


def _bounds(offsets: Any, scores: Array) -> Ints:
    """Return offsets as whole numbers of the host."""
    try:
        found = np.asarray(offsets.tolist() if hasattr(offsets, "tolist") else list(offsets))
    except (TypeError, ValueError):
        expected = f"a sequence of whole numbers that rise from 0 to {scores.shape[-1]}"
        remedy = "They are static: known before anything is compiled."
        raise InputError("offsets", expected, type(offsets).__name__, remedy) from None
    if scores.ndim != 1:
        raise InputError("offsets", "scores with one axis beside them", f"{scores.ndim} axes")
    total = int(scores.shape[0])
    rising = found.ndim == 1 and len(found) and found[0] == 0 and found[-1] == total
    if not rising or found.dtype.kind not in "iu" or (found[1:] < found[:-1]).any():
        raise InputError("offsets", f"whole numbers that rise from 0 to {total}", str(found))
    return found.astype(np.int64)
