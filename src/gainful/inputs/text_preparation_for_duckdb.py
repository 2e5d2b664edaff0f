"""Text before the engine reads it: whether it will be understood, how many rows it has, and put in order."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools
from gainful.inputs.cores import in_parallel
from gainful.inputs.files import BYTE_ORDER_MARK, read_at

_CHUNK = 1 << 24
_GLANCE = 1 << 19  # bytes that stay in a core's cache
_MOST_THREADS = 4  # more would wait for Python's lock
_BEFORE = 2  # bytes before a glance that tell what a quote in it is
_LONG = 1 << 20  # bytes of a row; of one over 2 MB, the engine loses what is after 32 MB
_BLANKS = b" \t\v\f\r"  # with the line feed, all that separates fields
_TO_BLANK = bytes.maketrans(_BLANKS, b" " * len(_BLANKS))
_TAB, _LINE_FEED, _RETURN, _SPACE, _QUOTE = 9, 10, 13, 32, ord('"')
_COMMA, _BRACKET, _BRACE = ord(","), ord("]"), ord("}")
_BEFORE_VALUES = (*b" \t:,[-+",)
_SMALL_LETTERS = np.uint8(32)  # the bit that tells them from capitals
_MOST_BLANKS = 16  # before the end of an object, where a comma is looked for

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at all bytes of a file tells, without the engine.

    Attributes:
        usual: whether the engine understands it as all other readers do.
        rows: how many rows it has, the names of columns among them.
        long: whether a row is longer than the engine reads.
    """

    usual: bool
    rows: int = 0
    long: bool = False


def see_lines(path: Path, delimiter: str) -> Seen:
    """Look at a TREC file.

    It is usual where it has one delimiter between fields, and no other white space or control.
    Then no field is empty where a line has the right number of them.
    """
    size = path.stat().st_size
    with path.open("rb", buffering=0) as file:
        edges = file.read(1)
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
    # A delimiter at the very end leaves the last field empty.
    if edges[0] <= _SPACE or last == delimiter.encode():
        return Seen(usual=False)

    def look(start: int) -> list[int] | None:
        return _clean_ends(path, start, min(start + _CHUNK, size), ord(delimiter))

    parts = in_parallel(look, range(0, size, _CHUNK), most=_MOST_THREADS)
    ends: list[int] = []
    for part in parts:
        if part is None:
            return Seen(usual=False)
        ends += part
    return Seen(usual=True, rows=sum(ends) + (last != b"\n"), long=_are_far(ends))


def _clean_ends(path: Path, start: int, end: int, delimiter: int) -> list[int] | None:
    """Return how many lines end in each glance at a part; None if it is not clean."""
    buffer = np.empty(_GLANCE + 1, np.uint8)
    ends = []
    for place in range(start, end, _GLANCE):
        # One byte more than the part, to see a pair that lies across its end.
        own = min(_GLANCE, end - place)
        chunk = buffer[: read_at(path, place, buffer[: own + 1])]
        blank = chunk <= _SPACE
        if (blank[1:] & blank[:-1]).any():
            return None
        feeds = chunk == _LINE_FEED
        allowed = np.count_nonzero(chunk == delimiter) + np.count_nonzero(feeds)
        if np.count_nonzero(blank) != allowed:
            return None
        ends.append(int(np.count_nonzero(feeds[:own])))
    return ends


def _are_far(ends: list[int]) -> bool:
    """Return whether so many glances in a row are without an end that a row is too long."""
    stretch = 0
    for count in ends:
        stretch = 0 if count else stretch + _GLANCE
        if stretch >= _LONG:
            return True
    return False


def see_cleaned(path: Path) -> Seen:
    """Look at a TREC file that was put in order."""
    return _see(path, lambda *_: True, None)


def see_json_lines(path: Path) -> Seen:
    """Look at lines of JSON; blank ones are no rows.

    The engine takes a comma before the bracket that ends an object or an array, a form feed or
    another control for a blank, and `nan` and `inf` in any case for numbers; no other reader does.
    """
    return _see(path, _is_strict_json, None)


def _has_words_as_numbers(chunk: Bytes) -> bool:
    """Return whether `nan` or `inf` may be a value; a text that has such a word counts, too."""
    small = chunk | _SMALL_LETTERS
    begins = np.flatnonzero((small[:-3] == ord("n")) | (small[:-3] == ord("i")))
    for word in (b"nan", b"inf"):
        found = begins
        for at, letter in enumerate(word):
            found = found[small[found + at] == letter]
        before, after = chunk[np.maximum(found - 1, 0)], chunk[found + len(word)]
        ends = ~((after | _SMALL_LETTERS >= ord("a")) & (after | _SMALL_LETTERS <= ord("z")))
        ends |= (word == b"inf") & (after | _SMALL_LETTERS == ord("i"))  # of infinity
        if (np.isin(before, _BEFORE_VALUES) & ends).any():
            return True
    return False


def _is_strict_json(chunk: Bytes, ending: Bools) -> bool:
    controls = np.count_nonzero(chunk < _SPACE)
    if controls != np.count_nonzero(ending) + np.count_nonzero(chunk == _TAB):
        return False
    if _has_words_as_numbers(chunk):
        return False
    ends = np.flatnonzero((chunk == _BRACE) | (chunk == _BRACKET))
    before = ends[ends > 0] - 1  # the first byte is seen next door
    for _step in range(_MOST_BLANKS):
        if (chunk[before] == _COMMA).any():
            return False
        before = before[(chunk[before] == _SPACE) | (chunk[before] == _TAB)] - 1
        if not before.size:
            return True
        if before[0] < 0:
            return False
    return False


def see_table(path: Path, delimiter: str) -> Seen:
    """Look at a table.

    Its readers differ where a quote stands neither at the edge of a field nor beside another,
    and where a line ends with a delimiter, or with an empty field in quotes.
    """
    mark = ord(delimiter)
    edges = (mark, _LINE_FEED, _RETURN, _QUOTE)

    def is_usual(chunk: Bytes, ending: Bools) -> bool:
        if ((chunk[:-1] == mark) & ending[1:]).any():
            return False
        # Where other lines end with \n, the engine may drop what stands behind a \r alone.
        behind = chunk[1:][chunk[:-1] == _RETURN]
        others = behind != _LINE_FEED
        if others.any() and ((behind == _SPACE).any() or (chunk == _LINE_FEED).any()):
            return False
        places = np.flatnonzero(chunk == _QUOTE)
        places = places[(places > 0) & (places < chunk.size - 1)]  # others are seen next door
        before, after = chunk[places - 1], chunk[places + 1]
        pairs = (places > 1) & (before == _QUOTE) & np.isin(after, (_LINE_FEED, _RETURN, _SPACE))
        third = chunk[places[pairs] - 2]
        if np.isin(third, (mark, _SPACE)).any():
            return False
        # A field may end with a quote of its own; the engine drops blanks behind it.
        if ((third == _QUOTE) & (after[pairs] == _SPACE)).any():
            return False
        # It may end a field whose last character is a delimiter or a line end; blanks are dropped there, too.
        if (np.isin(before, edges[:-1]) & (after == _SPACE)).any():
            return False
        alone = ~np.isin(before, edges) & ~np.isin(after, edges)
        return not alone.any()

    with path.open("rb") as file:
        # The engine takes quotes behind a mark for part of the name of a column.
        marked = file.read(len(BYTE_ORDER_MARK) + 2) == BYTE_ORDER_MARK + b'""'
        file.seek(-min(path.stat().st_size, _GLANCE), os.SEEK_END)
        tail = file.read()
    if marked or tail.endswith(delimiter.encode()) or tail.rstrip(b" ").endswith(b'""'):
        return Seen(usual=False)
    return _see(path, is_usual, _QUOTE)


def _see(path: Path, is_usual: Callable[[Bytes, Bools], bool], quote: int | None) -> Seen:
    """Look at lines; what stands between quotes ends none."""

    def look(start: int) -> tuple[bool, bool, int, int]:
        """Return whether a part is usual, if its quotes are odd in number, and two counts.

        They are of the rows that end in it: where it begins outside of quotes, and inside.
        """
        lead = min(start, _BEFORE)
        chunk = np.fromfile(path, np.uint8, lead + _GLANCE + 1, offset=start - lead)
        own = slice(lead, lead + _GLANCE)
        ending = (chunk == _LINE_FEED) | (chunk == _RETURN)
        # Of several ends, the first counts; at the first byte, nothing can have ended.
        ends = (ending[1:] > ending[:-1])[max(lead - 1, 0) :][: _GLANCE - (not lead)]
        count = int(np.count_nonzero(ends))
        places = np.flatnonzero(chunk[own] == quote) if quote is not None else ends[:0]
        usual = is_usual(chunk, ending)
        if not places.size:
            return usual, False, count, 0
        inside = int(
            np.count_nonzero(np.searchsorted(places, np.flatnonzero(ends) + (not lead)) & 1)
        )
        return usual, bool(places.size & 1), count - inside, inside

    size = path.stat().st_size
    if not size:
        return Seen(usual=True)
    parts = in_parallel(look, range(0, size, _GLANCE), most=_MOST_THREADS)
    counts, within = [], False
    for _, odd, outside, inside in parts:
        counts.append(inside if within else outside)
        within ^= odd
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        open_end = file.read(1)[0] not in (_LINE_FEED, _RETURN)
    usual = all(part[0] for part in parts)
    return Seen(usual=usual, rows=sum(counts) + open_end, long=_are_far(counts))


def clean(path: Path, cleaned: BinaryIO) -> bool:
    """Write a TREC file anew: one blank between fields, none around them, no blank lines.

    Returns whether it was written to its end: not where a line is longer than the engine reads, nor
    where a byte order mark is left at its beginning, which the engine would drop.
    """
    begun = False
    with path.open("rb") as source:
        rest = source.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)
        while chunk := source.read(_CHUNK):
            chunk = rest + chunk
            whole = chunk.rfind(b"\n") + 1
            rest = chunk[whole:]
            if len(rest) > max(_LONG, _CHUNK):
                return False
            lines = _cleaned(chunk[:whole])
            if not begun and lines.startswith(BYTE_ORDER_MARK):
                return False
            begun = begun or bool(lines)
            cleaned.write(lines)
        lines = _cleaned(rest + b"\n")
        cleaned.write(lines)
    return begun or not lines.startswith(BYTE_ORDER_MARK)


def _cleaned(text: bytes) -> bytes:
    text = text.translate(_TO_BLANK)
    for pair, one in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b"\n\n", b"\n")):
        while pair in text:
            text = text.replace(pair, one)
    return text.lstrip(b" \n")
