"""Arrays as text in JSON: compressed, and the same bit for bit when read back."""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import AnyArray, Bools, Floats, Ints

_AS_THEY_ARE, _BYTE_BY_BYTE = "=", "#"


def packed(text: bytes) -> str:
    """Return compressed bytes as text."""
    return base64.b64encode(zlib.compress(text)).decode()


def unpacked(text: str) -> bytes:
    """Return the bytes of a text; a damaged text is a ValueError."""
    try:
        return zlib.decompress(base64.b64decode(text))
    except zlib.error as problem:
        raise ValueError(str(problem)) from None


def packed_numbers(numbers: Floats | Ints) -> str:
    """Return an array of 64-bit numbers (n,) as text.

    Few different numbers compress best as they are; many do if all their first bytes come first, then all second bytes.

    >>> unpacked_floats(packed_numbers(np.array([0.1, -0.0, np.nan]))).tolist()
    [0.1, -0.0, nan]
    """
    content = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).tobytes()
    columns = np.frombuffer(content, np.uint8).reshape(-1, 8).T.tobytes()
    return min(_AS_THEY_ARE + packed(content), _BYTE_BY_BYTE + packed(columns), key=len)


def unpacked_floats(text: str) -> Floats:
    """Return float64 numbers."""
    return _unpacked_numbers(text, "<f8").astype(np.float64, copy=False)


def unpacked_ints(text: str) -> Ints:
    """Return int64 numbers.

    >>> unpacked_ints(packed_numbers(np.arange(3))).tolist()
    [0, 1, 2]
    """
    return _unpacked_numbers(text, "<i8").astype(np.int64, copy=False)


def packed_bools(bools: Bools) -> str:
    """Return an array of truth values as text."""
    return packed(np.packbits(bools).tobytes())


def unpacked_bools(text: str, size: int) -> Bools:
    """Return truth values.

    >>> unpacked_bools(packed_bools(np.array([True, False, True])), 3).tolist()
    [True, False, True]
    """
    return np.unpackbits(np.frombuffer(unpacked(text), np.uint8), count=size).astype(bool)


def _unpacked_numbers(text: str, kind: str) -> NDArray[Any]:
    content: AnyArray = np.frombuffer(unpacked(text[1:]), np.uint8)
    if text[0] == _BYTE_BY_BYTE:
        content = np.ascontiguousarray(content.reshape(8, -1).T).reshape(-1)
    return content.view(kind)
