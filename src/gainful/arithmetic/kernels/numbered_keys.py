"""Whole numbers for keys such as hashes: equal keys get equal numbers."""

import numpy as np

from gainful.array_types import AnyArray, Ints


def numbered(keys: AnyArray) -> tuple[AnyArray, Ints]:
    """Return a number (n,) for each of these unsigned 64-bit keys, from 0, and the first row (p,) of each number.

    Sorting is many times faster than finding the order of a sort. So the low bits of each key make room for
    its row, and rows whose keys differ only in these bits are put in order afterwards.

    >>> numbers, firsts = numbered(np.array([7, 3, 7], np.uint64))
    >>> numbers.tolist(), firsts.tolist()
    ([1, 0, 1], [1, 0])
    """
    count = len(keys)
    bits = np.uint64(count.bit_length())
    packed = (keys >> bits << bits) | np.arange(count, dtype=np.uint64)
    packed.sort()
    rows = (packed & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    packed >>= bits
    in_order = keys[rows]
    mixed = (packed[1:] == packed[:-1]) & (in_order[1:] != in_order[:-1])
    if mixed.any():
        among = np.isin(packed, packed[1:][mixed])
        places = rows[among]
        rows[among] = places[np.argsort(keys[places], kind="stable")]
        in_order = keys[rows]
    is_new = np.append(np.ones(min(count, 1), bool), in_order[1:] != in_order[:-1])
    numbers: AnyArray = np.empty(count, np.int32)
    numbers[rows] = np.cumsum(is_new, dtype=np.int32) - 1
    return numbers, rows[is_new]
