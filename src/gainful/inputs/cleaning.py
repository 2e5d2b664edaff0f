"""TREC files with ragged white space, written anew with one blank between fields."""

import os
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gainful.inputs.files import BYTE_ORDER_MARK
from gainful.inputs.parallel import in_parallel

_CHUNK = 1 << 24
_GLANCE = 1 << 18  # bytes that stay in a core's cache
_BLANKS = b" \t\v\f\r"  # with the line feed, all that separates fields
_TO_BLANK = bytes.maketrans(_BLANKS, b" " * len(_BLANKS))
_LINE_FEED, _RETURN, _SPACE = 10, 13, 32


def is_clean(path: Path, delimiter: str) -> bool:
    """Return whether a file has one delimiter between fields, and no other white space or control.

    Then no field is empty where a line has the right number of them.
    """
    size = path.stat().st_size
    with path.open("rb", buffering=0) as file:
        edges = file.read(1)
        file.seek(-1, os.SEEK_END)
        # A delimiter at the very end leaves the last field empty.
        if edges[0] <= _SPACE or file.read(1) == delimiter.encode():
            return False

        def look(start: int) -> bool:
            return _is_clean_part(file.fileno(), start, min(start + _CHUNK, size), ord(delimiter))

        return all(in_parallel(look, range(0, size, _CHUNK)))


def _is_clean_part(file: int, start: int, end: int, delimiter: int) -> bool:
    buffer = np.empty(_GLANCE + 1, np.uint8)
    for place in range(start, end, _GLANCE):
        # One byte more than the part, to see a pair that lies across its end.
        chunk = buffer[: os.preadv(file, [buffer[: min(_GLANCE, end - place) + 1]], place)]
        blank = chunk <= _SPACE
        if (blank[1:] & blank[:-1]).any():
            return False
        allowed = np.count_nonzero(chunk == delimiter) + np.count_nonzero(chunk == _LINE_FEED)
        if np.count_nonzero(blank) != allowed:
            return False
    return True


def is_usual(path: Path, delimiter: str) -> bool:
    """Return whether a table is written as all its readers understand it.

    They differ where a quote stands neither at the edge of a field nor beside another, and
    where a line ends with a delimiter.
    """
    quote, mark = ord('"'), ord(delimiter)
    edges = (mark, _LINE_FEED, _RETURN, quote)

    def look(start: int) -> bool:
        chunk = np.fromfile(path, np.uint8, _GLANCE + 2, offset=max(start - 1, 0))
        here = chunk[:-1]
        follows = chunk[1:]
        if ((here == mark) & ((follows == _LINE_FEED) | (follows == _RETURN))).any():
            return False
        places = np.flatnonzero(chunk == quote)
        places = places[(places > 0) & (places < chunk.size - 1)]  # others are seen next door
        alone = ~np.isin(chunk[places - 1], edges) & ~np.isin(chunk[places + 1], edges)
        return not alone.any()

    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1)[0] == mark:
            return False
    return all(in_parallel(look, range(0, size, _GLANCE)))


def clean(path: Path, cleaned: BinaryIO) -> None:
    """Write a file anew: one blank between fields, none around them, no blank lines."""
    with path.open("rb") as source:
        rest = source.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
        while chunk := source.read(_CHUNK):
            chunk = rest + chunk
            whole = chunk.rfind(b"\n") + 1
            rest = chunk[whole:]
            cleaned.write(_cleaned(chunk[:whole]))
        cleaned.write(_cleaned(rest + b"\n"))


def _cleaned(text: bytes) -> bytes:
    text = text.translate(_TO_BLANK)
    for pair, one in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b"\n\n", b"\n")):
        while pair in text:
            text = text.replace(pair, one)
    return text.lstrip(b" \n")
