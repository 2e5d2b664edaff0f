"""Whole numbers for keys such as hashes: equal keys get equal numbers."""

import numpy as np

from gainful.arithmetic.cores import in_parallel
from gainful.array_types import AnyArray

_MOST_BITS = 23  # of a table of 2^bits places
_BLOCK = 1 << 16  # keys whose intermediate results fit in a core's cache
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
    in_order = np.sort(keys)
    distinct = in_order[np.append(np.ones(min(len(keys), 1), bool), in_order[1:] != in_order[:-1])]
    del in_order
    bits = min(len(distinct).bit_length() + 1, _MOST_BITS)
    shift = np.uint64(64 - bits)
    sizes = np.bincount((distinct >> shift).astype(np.int64), minlength=1 << bits)
    first = np.minimum(np.cumsum(sizes) - sizes, len(distinct) - 1).astype(np.int32)
    numbers: AnyArray = np.empty(len(keys), np.int32)

    def number(start: int) -> None:
        block = keys[start : start + _BLOCK]
        places = first.take((block >> shift).view(np.int64))
        others = np.flatnonzero(distinct.take(places) != block)
        for _ in range(_STEPS):
            places[others] += 1
            others = others[distinct.take(places[others]) != block[others]]
        places[others] = np.searchsorted(distinct, block[others])
        numbers[start : start + _BLOCK] = places

    in_parallel(number, range(0, len(keys), _BLOCK))
    return numbers, distinct
