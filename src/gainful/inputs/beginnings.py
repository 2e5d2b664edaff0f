"""The beginning of a file, packed or not, without reading the rest: enough to tell what it is."""

import os
import stat
import sys
import zlib

_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_READ = 1 << 16  # bytes of a packed file, which hold a block of it
_WITH_HEADER = 16 + zlib.MAX_WBITS  # how zlib is told of gzip


def beginning(path: str | os.PathLike[str], size: int) -> bytes:
    """Return the first bytes of a regular file as they are unpacked; none if that cannot be.

    >>> beginning("no such file", 10)
    b''
    """
    try:
        # A pipe cannot be read twice, so it is left alone.
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - a path may be what Path refuses
            return b""
        with open(path, "rb") as file:  # noqa: PTH123 - the same
            head = file.read(_READ)
    except (OSError, ValueError, TypeError):
        return b""
    if head.startswith(_GZIP):
        try:
            return zlib.decompressobj(_WITH_HEADER).decompress(head, size)
        except zlib.error:
            return b""
    return _from_zstandard(head, size) if head.startswith(_ZSTANDARD) else head[:size]


def _from_zstandard(head: bytes, size: int) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    try:
        return bytes(zstd.ZstdDecompressor().decompress(head, size))
    except zstd.ZstdError:
        return b""
