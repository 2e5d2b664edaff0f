"""Check whether DuckDB will read JSON lines correctly, and count them.

The check pays off: DuckDB reads them more than ten times as fast as the row reader.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gainful.arithmetic.cores import in_parallel

_GLANCE = 1 << 19  # bytes that fit a core's cache
_MOST_THREADS = 4  # more would wait for Python's lock
_LONG = 1 << 20  # bytes of a row; if one exceeds 2 MB, DuckDB loses everything after 32 MB
_LINE_FEED, _RETURN = b"\n\r"
_CONTROLS = bytes({*range(32)} - {*b"\t\n\r"})
# Words that the engine reads as numbers, in small letters; the literal comes first because it is searched quickly.
_WORDS = (
    re.compile(rb"nan(?<=[ \t:,\[+-]nan)(?![a-z])"),
    re.compile(rb"inf(?<=[ \t:,\[+-]inf)(?![a-hj-z])"),
)

Bytes = NDArray[np.uint8]


def count_json_lines(path: Path) -> int | None:
    """Return the number of JSON lines that aren't blank; None if the engine may misread them, or one is too long.

    Unlike all other readers, the engine accepts a comma before a closing bracket, treats a form feed or
    another control character as a blank, and reads `nan` and `inf` in any case as numbers.
    """

    def look(start: int) -> int | None:
        """Return how many rows end in a part; None if the engine may misread it."""
        lead = min(
            start, 1
        )  # the byte before the part shows whether a line ends with its first byte
        chunk = np.fromfile(path, np.uint8, lead + _GLANCE + 1, offset=start - lead)
        ending = (chunk == _LINE_FEED) | (chunk == _RETURN)
        # Of several ends, the first counts; nothing can end at the first byte of a file.
        ends = (ending[1:] > ending[:-1])[: _GLANCE - (not lead)]
        return int(np.count_nonzero(ends)) if _is_strict_json(chunk) else None

    size = path.stat().st_size
    rows = stretch = 0
    for count in in_parallel(look, range(0, size, _GLANCE), most=_MOST_THREADS):
        stretch = 0 if count else stretch + _GLANCE  # without a line end
        if count is None or stretch >= _LONG:
            return None
        rows += count
    with path.open("rb") as file:
        file.seek(size - 1)
        return rows + (file.read(1)[0] not in (_LINE_FEED, _RETURN))


def _is_strict_json(chunk: Bytes) -> bool:
    text = chunk.tobytes().lower()
    if len(text.translate(None, _CONTROLS)) < len(text) or any(
        word.search(text) for word in _WORDS
    ):
        return False
    dense = text.translate(None, b" \t")
    if b",}" in dense or b",]" in dense:
        return False
    return not (text.startswith((b" ", b"\t")) and dense.startswith((b"}", b"]")))  # after a comma?
