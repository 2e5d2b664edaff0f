"""Matrices of users × items: scores, or the items that were shown, with relevant and seen items, as lists."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gainful.arithmetic.kernels.numbered_keys import is_among
from gainful.arithmetic.number_arrays import Numbers, as_array, checked_numbers
from gainful.array_types import AnyArray, Bools, Ints
from gainful.errors import InputError, warn
from gainful.message_texts import counted
from gainful.rows.arrays import Lists, read_lists

_PADDING = -1
_CELLS = 1 << 22  # scores that are partitioned at once
_DIMENSIONS = 2


class Cells(NamedTuple):
    """Some cells of a matrix: their keys, user · items + item, ascending, and their numbers."""

    keys: Ints
    numbers: Numbers

    def at(self, keys: Ints) -> Numbers:
        """Return the numbers (n,) of cells, 0 for other cells.

        >>> Cells(np.array([1, 4]), np.array([2.0, 3.0])).at(np.array([4, 0, 1])).tolist()
        [3.0, 0.0, 2.0]
        """
        return self.split(keys)[0]

    def split(self, keys: Ints) -> tuple[Numbers, "Cells"]:
        """Return the numbers (n,) of cells, 0 for other cells, and the cells that aren't among these keys."""
        if not self.keys.size:
            return np.zeros(keys.shape), self
        places = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        hits = self.keys[places] == keys
        others = np.ones(self.keys.size, np.bool_)
        others[places[hits]] = False
        numbers = np.where(hits, self.numbers[places], 0)
        return numbers, Cells(self.keys[others], self.numbers[others])

    def has(self, keys: Ints) -> Bools:
        """Return whether each key (n,) is one of the cells."""
        return is_among(self.keys, keys)


def read_lists_of_items(
    relevant: Any,
    *,
    scores: Any = None,
    items: ArrayLike | None = None,
    seen: Any = None,
    query: ArrayLike | None = None,
    depth: int | None = None,
) -> Lists:
    """Return the items at the top of each user's list, and the other relevant items with the score −∞.

    Args:
        relevant: [user, item], grades or booleans, dense or sparse.
        scores: [user, item], dense or sparse; or, next to `items`, of their shape.
        items: [user, rank], columns of `relevant`; −1 is padding.
        seen: [user, item], booleans: items that count neither as returned nor as relevant.
        query: the ids of users.
        depth: the deepest rank that matters; items with the same score as the item there are kept.

    >>> lists = read_lists_of_items([[1, 0, 0, 2]], scores=[[0.1, 0.5, 0.7, 0.2]], seen=[[0, 0, 1, 0]], depth=2)
    >>> lists.labels.tolist(), lists.scores.tolist(), lists.returned.tolist()
    ([0.0, 2.0, 1.0], [0.5, 0.2, -inf], [3])
    """
    graded, shape = _cells(relevant, "relevant")
    users, width = shape
    hidden = Cells(graded.keys[:0], graded.numbers[:0])
    if seen is not None:
        hidden, _ = _cells(seen, "seen", shape)
    if np.count_nonzero(both := hidden.has(graded.keys)):
        warn(
            f"seen: {counted(int(both.sum()), 'relevant item')} of {graded.keys.size:,} "
            f"{'was' if both.sum() == 1 else 'were'} already seen by the same user, and left out. If training "
            "and test data should not overlap, check how they were split."
        )
        graded = Cells(graded.keys[~both], graded.numbers[~both])
    if hasattr(scores, "tocoo"):
        listed, _ = _cells(scores, "scores", shape, zeros=True)
        unseen = ~hidden.has(listed.keys) & ~np.isneginf(listed.numbers)
        keys, numbers = listed.keys[unseen], listed.numbers[unseen]
        returned = np.bincount(keys // width, minlength=users)
    else:
        if items is None:
            matrix, covered = _matrix(scores, "scores", shape), hidden.keys
        else:
            shown_keys, matrix = _shown(items, scores, shape)
            if hidden.keys.size:
                matrix[hidden.has(shown_keys)] = -np.inf
            covered = hidden.keys[:0]
        parts = [*_tops(matrix, covered, depth)]
        keys, numbers, returned = (np.concatenate(part) for part in zip(*parts, strict=True))
        keys = keys if items is None else shown_keys.ravel()[keys]
    labels, others = graded.split(keys)
    owner = np.concatenate((keys // width, others.keys // width))
    labels = np.concatenate((labels, others.numbers)).astype(np.float64)
    ranked = np.concatenate((numbers.astype(np.float64), np.full(others.keys.size, -np.inf)))
    if others.keys.size:
        order = np.argsort(owner, kind="stable")
        labels, ranked = labels[order], ranked[order]
    lengths = np.bincount(owner, minlength=users)
    if query is None:
        return replace(read_lists(labels, ranked, group=lengths), returned=returned)
    names = read_lists(np.zeros((users, 1)), np.zeros((users, 1)), query=query)
    place = names.starts  # of each user, in the order of their ids
    starts = np.cumsum(lengths) - lengths
    return replace(
        names, starts=starts[place], lengths=lengths[place], labels=labels, scores=ranked,
        returned=returned[place], masked=bool(others.keys.size),
    )  # fmt: skip


def _cells(
    value: Any, name: str, shape: tuple[int, ...] | None = None, *, zeros: bool = False
) -> tuple[Cells, tuple[int, int]]:
    """Return the cells of a matrix that are not 0, or of a sparse one all that are stored, and its shape."""
    if not hasattr(value, "tocoo"):
        matrix = _matrix(value, name, shape)
        keys = np.flatnonzero(matrix)
        return Cells(keys, matrix.ravel()[keys]), matrix.shape
    sparse = value.tocoo()  # of SciPy, which is not imported here
    _refuse_other_shape(sparse.shape, name, shape)
    numbers = checked_numbers(sparse.data, name, ~np.isneginf(sparse.data) if zeros else None)
    keys = sparse.row.astype(np.int64) * sparse.shape[1] + sparse.col
    kept = np.ones(keys.size, np.bool_) if zeros else numbers != 0
    keys, numbers = keys[kept], numbers[kept]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    if (keys[1:] == keys[:-1]).any():
        raise InputError(name, "each cell once", "a cell again", "Call sum_duplicates() first.")
    return Cells(keys, numbers[order]), sparse.shape


def _matrix(value: Any, name: str, shape: tuple[int, ...] | None) -> AnyArray:
    matrix = as_array(value, name)
    _refuse_other_shape(matrix.shape, name, shape)
    finite = ~np.isneginf(matrix) if name == "scores" and matrix.dtype.kind == "f" else None
    return checked_numbers(matrix, name, finite)


def _refuse_other_shape(found: tuple[int, ...], name: str, shape: tuple[int, ...] | None) -> None:
    if shape is not None and found != shape:
        raise InputError(name, f"the shape of relevant, {shape}", f"{found}")
    if len(found) != _DIMENSIONS or not all(found):
        raise InputError(name, "a matrix of users × items", f"shape {found}")


def _shown(items: ArrayLike, scores: Any, shape: tuple[int, int]) -> tuple[Ints, Numbers]:
    """Return the keys [user, rank] of items that were shown, and their scores, or falling numbers; −∞ for padding."""
    columns = as_array(items, "items")
    users, width = shape
    if columns.ndim != _DIMENSIONS or columns.dtype.kind not in "iu" or len(columns) != users:
        found = f"{columns.dtype} of shape {columns.shape}"
        raise InputError("items", f"columns of relevant, as integers [{users} users, rank]", found)
    if columns.min(initial=0) < _PADDING or columns.max(initial=0) >= width:
        found = f"{columns.min()} to {columns.max()}"
        raise InputError(
            "items", f"columns of relevant from 0 to {width - 1}, or −1 for padding", found
        )
    ordered = np.sort(columns, axis=1)
    if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != _PADDING)).any():
        raise InputError("items", "each item once per user", "an item again")
    numbers: AnyArray
    if scores is None:
        numbers = np.tile(-np.arange(columns.shape[1], dtype=np.float32), (users, 1))
    else:
        numbers = as_array(scores, "scores")
        if numbers.shape != columns.shape:
            raise InputError("scores", f"the shape of items, {columns.shape}", f"{numbers.shape}")
        numbers = numbers.astype(numbers.dtype if numbers.dtype.kind == "f" else np.float64)
    numbers[columns == _PADDING] = -np.inf
    checked_numbers(numbers, "scores", ~np.isneginf(numbers))
    return np.arange(users)[:, None] * width + columns, numbers


def _tops(
    scores: AnyArray, hidden: Ints, depth: int | None
) -> Iterator[tuple[Ints, Numbers, Ints]]:
    """Yield the places of the highest scores of some rows, these scores, and how many items each row has.

    A row is only partitioned, not sorted. `hidden` are the places of items that count as not returned.
    """
    users, width = scores.shape
    step = max(1, _CELLS // width)
    for start in range(0, users, step):
        part = scores[start : start + step]
        part = part.astype(part.dtype if part.dtype.kind == "f" else np.float64)  # a copy
        first = start * width
        low, high = np.searchsorted(hidden, (first, first + part.size))
        part.ravel()[hidden[low:high] - first] = -np.inf
        kept = part != -np.inf
        returned = kept.sum(axis=1)
        if depth is not None and depth < width:
            last = np.partition(part, width - depth, axis=1)[:, width - depth, None]
            kept &= part >= last
        places = np.flatnonzero(kept)
        yield places + first, part.ravel()[places], returned
