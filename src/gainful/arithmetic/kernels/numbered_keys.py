"""Whole numbers for keys such as hashes: equal keys get equal numbers, and which keys are among others."""

import numpy as np

from gainful.arithmetic.cores import in_parallel
from gainful.array_types import AnyArray, Bools, Ints

_MOST_BITS = 23  # of a table of 2^bits places
_BLOCK = 1 << 16  # keys whose intermediate results fit in a core's cache
_FACTOR = 0x9E3779B97F4A7C15  # odd, so that multiplying by it spreads keys and can be undone
_LARGEST_TABLE = 1 << 24  # keys that have a place in a table
_STEPS = 4  # from the first place, before a binary search


def numbered(keys: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the number (n,) of each of these unsigned 64-bit keys, from 0, and the distinct keys (p,) in order.

    The first bits of a hash nearly determine its place among the distinct keys. A table of the first place
    with these bits, and a few steps from there, are much faster than a binary search, which only keys need
    that aren't spread evenly.

    >>> numbers, distinct = numbered(np.array([7, 3, 7], np.uint64))
    >>> numbers.tolist(), distinct.tolist()
    ([1, 0, 1], [3, 7])
    """
    distinct = _distinct(keys)
    return _places(keys, distinct, None), distinct


def _distinct(keys: AnyArray) -> AnyArray:
    """Return the distinct keys, in order."""
    in_order = np.sort(keys)
    is_first = np.append(np.ones(min(len(keys), 1), bool), in_order[1:] != in_order[:-1])
    distinct: AnyArray = in_order[is_first]
    return distinct


def _places(keys: AnyArray, distinct: AnyArray, unknown: list[AnyArray] | None) -> AnyArray:
    """Return the place (n,) of each key among distinct keys in order.

    Args:
        keys: (n,).
        distinct: (p,), at least one unless there are no keys.
        unknown: gets the rows of keys that aren't among them, block by block; None if all are.
    """
    bits = min(len(distinct).bit_length() + 1, _MOST_BITS)
    shift = np.uint64(64 - bits)
    sizes = np.bincount((distinct >> shift).astype(np.int64), minlength=1 << bits)
    first = np.minimum(np.cumsum(sizes) - sizes, len(distinct) - 1).astype(np.int32)
    places: AnyArray = np.empty(len(keys), np.int32)

    def place(start: int) -> None:
        block = keys[start : start + _BLOCK]
        near = first.take((block >> shift).view(np.int64))
        others = np.flatnonzero(distinct.take(near) != block)
        for _ in range(_STEPS):
            near[others] = np.minimum(near[others] + 1, len(distinct) - 1)
            others = others[distinct.take(near[others]) != block[others]]
        far = np.searchsorted(distinct, block[others])
        near[others] = np.minimum(far, len(distinct) - 1)
        if unknown is not None:
            unknown.append(start + others[distinct.take(near[others]) != block[others]])
        places[start : start + _BLOCK] = near

    in_parallel(place, range(0, len(keys), _BLOCK))
    return places


class KeyNumbers:
    """Numbers from 0 for the distinct keys in blocks of keys, in which only keys that are new are sorted.

    Attributes:
        keys: (p,) the distinct keys, in order.
        numbers: (p,) the number of each.

    >>> known = KeyNumbers()
    >>> known.add(np.array([7, 3, 7], np.uint64))[0].tolist()
    [1, 0, 1]
    >>> numbers, rows = known.add(np.array([3, 5, 7], np.uint64))
    >>> numbers.tolist(), rows.tolist()
    ([0, 2, 1], [1])
    """

    def __init__(self) -> None:
        self.keys: AnyArray = np.empty(0, np.uint64)
        self.numbers: AnyArray = np.empty(0, np.int32)

    def add(self, keys: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Return the number (n,) of each key, and a row of each key that is new, by their numbers."""
        count = len(self.keys)
        if not count:
            numbers, self.keys = numbered(keys)
            self.numbers = np.arange(len(self.keys), dtype=np.int32)
            return numbers, _any_row(numbers, len(self.keys))
        missing: list[AnyArray] = []
        places = _places(keys, self.keys, missing)
        numbers = np.empty(len(keys), np.int32)

        def number(start: int) -> None:
            numbers[start : start + _BLOCK] = self.numbers.take(places[start : start + _BLOCK])

        in_parallel(number, range(0, len(keys), _BLOCK))
        unknown = np.concatenate(missing)
        others, new = numbered(keys[unknown])
        numbers[unknown] = others + np.int32(count)
        self.keys = np.concatenate([self.keys, new])
        order = np.argsort(self.keys, kind="stable")  # of two series in order
        self.keys = self.keys[order]
        added = np.arange(count, count + len(new), dtype=np.int32)
        self.numbers = np.concatenate([self.numbers, added])[order]
        return numbers, unknown[_any_row(others, len(new))]


def _any_row(numbers: AnyArray, count: int) -> AnyArray:
    """Return any row (p,) of each number (n,)."""
    rows: AnyArray = np.empty(count, np.int32)
    rows[numbers] = np.arange(len(numbers), dtype=np.int32)
    return rows


def is_among(members: Ints, values: Ints) -> Bools:
    """Return whether each of some integers (n,) is one of the members (m,), in any order.

    Members from a small range become a table. `np.isin` sorts or hashes all values, which takes several times as long.

    >>> is_among(np.array([5, 1]), np.array([1, 2, 5])).tolist()
    [True, False, True]
    """
    if not members.size or not values.size:
        return np.zeros(values.shape, np.bool_)
    low, high = int(members.min()), int(members.max())
    if high - low <= _LARGEST_TABLE:
        table = np.zeros(high - low + 1, np.bool_)
        table[members - low] = True
        inside = (values >= low) & (values <= high)
        return inside & table[np.where(inside, values - low, 0)]
    ordered = np.sort(members)
    places = np.minimum(np.searchsorted(ordered, values), ordered.size - 1)
    return np.asarray(ordered[places] == values)


def numbered_integers(values: AnyArray) -> tuple[AnyArray, Ints]:
    """Return the distinct integers (p,), in any order, and the number (n,) of each value among them.

    >>> [array.tolist() for array in numbered_integers(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > _LARGEST_TABLE:
        keys = values.astype(np.uint64) * np.uint64(_FACTOR)
        numbers, different = numbered(keys.ravel())
        back = different * np.uint64(pow(_FACTOR, -1, 1 << 64))
        return back.astype(values.dtype), numbers.astype(np.int64).reshape(values.shape)
    table = np.zeros(high - low + 1, np.bool_)
    table[values - low] = True
    places = np.cumsum(table) - 1
    return np.flatnonzero(table) + low, places[values - low]
