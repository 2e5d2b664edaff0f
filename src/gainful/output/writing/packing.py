"""Bytes packed by gzip or Zstandard on their way to a file; same bytes, same file."""

import os
import struct
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from gainful.arithmetic.cores import cores, in_parallel
from gainful.output.writing.atomic_files import replacing

_PART = 1 << 20
_AT_ONCE = 64  # parts, so that memory does not grow with the file
_LEVEL = 3  # half the time of the usual 6, for 4 % more bytes
_NO_HEADER = -zlib.MAX_WBITS
# The magic number, deflate, no flags, no time, nothing special, of an unknown system.
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def parts_of(path: Path) -> Iterator[bytes]:
    """Yield the content of a file, part by part."""
    with path.open("rb") as file:
        while part := file.read(_PART):
            yield part


def gzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Pack with gzip: one member, whose parts are deflated separately and joined.

    >>> import gzip
    >>> gzip.decompress(b"".join(gzipped([b"one ", b"file"])))
    b'one file'
    """
    yield _GZIP_HEADER
    check, size = 0, 0
    remaining = iter(parts)
    while some := list(islice(remaining, _AT_ONCE)):
        yield from in_parallel(_deflated, some)
        for part in some:
            check, size = zlib.crc32(part, check), size + len(part)
    yield zlib.compressobj(wbits=_NO_HEADER).flush()  # the end, with nothing in it
    yield struct.pack("<II", check, size % (1 << 32))


def zstandard(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Pack with Zstandard: one frame."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    parameter = zstd.CompressionParameter
    # A library built without threads allows no workers.
    workers = min(cores(), parameter.nb_workers.bounds()[1])
    packer = zstd.ZstdCompressor(
        options={parameter.nb_workers: workers, parameter.checksum_flag: 1}
    )
    for part in parts:
        yield packer.compress(part)
    yield packer.flush()


PACKINGS: Mapping[str, Callable[[Iterable[bytes]], Iterator[bytes]]] = {
    ".gz": gzipped,
    ".zst": zstandard,
}
"""The functions that pack, by the ending of the name."""


def write_parts(parts: Iterable[bytes], path: str | os.PathLike[str], packing: str | None) -> None:
    """Write bytes to a file, compressed if `packing` is an ending of `PACKINGS`."""
    with replacing(path) as file, file.open("wb") as opened:
        opened.writelines(parts if packing is None else PACKINGS[packing](parts))


def _deflated(part: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, wbits=_NO_HEADER)
    return packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH)  # ends on a whole byte
