"""Clean TREC files, read as whole arrays of bytes.

A file is clean where every line has all its fields, with one delimiter between them and no
other white space or control. Its fields are then found by one look for blanks, and what is
needed of them is gathered for all lines of a chunk at a time, on all cores. Anything else
is for the engine, which gives the same result, and for the rows, which say what is wrong.
"""

import mmap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Floats, Ints
from gainful.inputs.cores import in_parallel
from gainful.inputs.decimal_parsing import WORD, Bytes, Words, read_decimals
from gainful.inputs.files import BYTE_ORDER_MARK, read_at
from gainful.inputs.float_precision import in_single
from gainful.inputs.judgments_or_run import Kind

Places = NDArray[np.int32]

LARGEST = 2**31 - 1  # bytes of a file that is read here
_CHUNK = 1 << 20
_HINT = 31 << 20  # bytes; 32 MB and more would be no hint
_LONGEST_LINE = 1 << 12
_LONG_ID = 64  # from there on, ids are compared one by one
_MARGIN = 16  # zeros around a chunk, so that words may reach over its ends
_SPACE, _LINE_FEED, _LAST_ASCII = 32, 10, 127

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
# Which bytes of a word the first n of eight characters are.
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], np.uint64)


@dataclass(frozen=True, slots=True)
class TrecArrays:
    """The rows of a clean file; those of a query stand together.

    Attributes:
        path: the file.
        queries: (q,) ids, in the order of the file.
        starts: (q+1,) int64, the rows of each query.
        retrieved: (q,) int64, how many rows each query has in the file.
        numbers: (n,) float64.
        docs: (n,) int32, where the ids of the documents stand in the file.
        lengths: (n,) int32, how long they are.
        keys: (n,) uint64: equal for equal ids, and almost never for others.
    """

    path: Path
    queries: list[str]
    starts: Ints
    retrieved: Ints
    numbers: Floats
    docs: Places
    lengths: Places
    keys: Words


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of a chunk; the first stretch of one query may continue that of the chunk before."""

    queries: list[bytes]
    counts: Ints
    kept: Ints
    numbers: Floats
    docs: Places
    lengths: Places
    keys: Words


def read_trec_arrays(
    path: Path, kind: Kind, delimiter: str, depth: int | None = None, *, single: bool = False
) -> TrecArrays | None:
    """Read a clean file; None if it is not, or if the rows of a query do not stand together.

    With a depth, rows that cannot be among so many highest of their query may be left out. With
    `single`, numbers are rounded to float32 before; None if it cannot hold one.
    """
    size = path.stat().st_size
    if size > LARGEST:
        return None
    _keep_memory()
    with path.open("rb", buffering=0) as file:
        if file.read(len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK:
            return None
    # Where few rows are kept of each chunk, larger ones cost less.
    chunk = _CHUNK if depth is None else 2 * _CHUNK

    def work(start: int) -> _Part | None:
        span = start, min(start + chunk, size)
        return _part(path, span, size, kind, ord(delimiter), depth, single=single)

    parts = in_parallel(work, range(0, size, chunk))
    found = [part for part in parts if part is not None and part.queries]
    if None in parts or not found:
        return None
    return _joined(path, found)


@cache
def _keep_memory() -> None:
    """Keep the allocator from handing memory back to the system after each use.

    It takes the size of what was last freed for a hint. Without it, the arrays of every chunk
    come from the system anew, page by page, which takes a quarter of the time.
    """
    np.empty(_HINT, np.uint8)


def _joined(path: Path, parts: list[_Part]) -> TrecArrays | None:
    queries: list[bytes] = []
    counts: list[int] = []
    kept: list[int] = []
    for part in parts:
        again = bool(queries) and part.queries[0] == queries[-1]
        if again:
            counts[-1] += int(part.counts[0])
            kept[-1] += int(part.kept[0])
        queries += part.queries[again:]
        counts += part.counts[again:].tolist()
        kept += part.kept[again:].tolist()
    if len(set(queries)) < len(queries):
        return None
    return TrecArrays(
        path,
        [query.decode() for query in queries],
        np.concatenate(([0], np.cumsum(kept))),
        np.array(counts),
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("numbers", "docs", "lengths", "keys")
        ),
    )


def _part(
    path: Path,
    span: tuple[int, int],
    size: int,
    kind: Kind,
    delimiter: int,
    depth: int | None,
    *,
    single: bool,
) -> _Part | None:
    """Read the lines that begin in a chunk; None if they are not clean."""
    start, last = span
    # One byte before tells whether a line begins with the chunk.
    first = max(start - 1, 0)
    text = np.zeros(last - first + _LONGEST_LINE + 2 * _MARGIN, np.uint8)
    room = text[_MARGIN : text.size - _MARGIN]
    got = read_at(path, first, room[: min(size, last + _LONGEST_LINE) - first])
    text = text[: got + 2 * _MARGIN]
    if first + got == size and text[_MARGIN + got - 1] != _LINE_FEED:
        text[_MARGIN + got] = _LINE_FEED  # the last line may lack its end
        got += 1
    begin, end = _MARGIN, _MARGIN + got
    if start:
        begin = _after_line(text, _MARGIN, end)
    if first + got < size or last < size:
        end = _after_line(text, _MARGIN + last - first - 1, end)
    if begin < 0 or end < 0:
        return None  # a line longer than any that is read here
    if begin >= end:
        none, nowhere = np.empty(0, np.int64), np.empty(0, np.int32)
        return _Part([], none, none, np.empty(0), nowhere, nowhere, np.empty(0, np.uint64))
    return _rows(text, begin, end, first - _MARGIN, kind, delimiter, depth, single=single)


def _after_line(text: Bytes, place: int, end: int) -> int:
    """Return where the line after the one at a place begins; −1 if its end is not in the text."""
    found = np.flatnonzero(text[place : min(place + _LONGEST_LINE, end)] == _LINE_FEED)
    return place + int(found[0]) + 1 if found.size else -1


def _rows(
    text: Bytes,
    begin: int,
    end: int,
    offset: int,
    kind: Kind,
    delimiter: int,
    depth: int | None,
    *,
    single: bool,
) -> _Part | None:
    """Read whole lines, whose first field is the query; None if they are not clean.

    `offset` is where the text stands in the file.
    """
    ends = _field_ends(text, begin, end, len(kind.fields), delimiter)
    if ends is None:
        return None
    words = np.ndarray((text.size - WORD + 1,), np.uint64, text, strides=(1,))
    query, doc, number = kind.places
    numbers = read_decimals(text, words, ends[:, number - 1] + 1, ends[:, number].copy())
    if numbers is not None and single:  # before rows are left out by their numbers
        numbers = in_single(numbers)
    if numbers is None or (single and np.isinf(numbers).any()):
        return None
    numbers += 0.0  # there is no −0

    line = np.concatenate(([begin], ends[:-1, -1] + 1))
    opens = _opens(words, line, ends[:, query] - line)
    stretches = np.flatnonzero(opens)  # rows of one query each
    counts = np.diff(stretches, append=line.size)
    names = [text[line[row] : ends[row, query]].tobytes() for row in stretches.tolist()]

    docs, doc_ends, kept = ends[:, doc - 1], ends[:, doc], counts
    if depth is not None and counts.max() > depth:
        chosen, kept = _highest(numbers, stretches, counts, depth)
        numbers, docs, doc_ends = numbers[chosen], docs[chosen], doc_ends[chosen]
    docs = docs + 1
    lengths = doc_ends - docs
    keys = _keys(words, docs, lengths)
    stand: Places = (docs + offset).astype(np.int32)
    return _Part(names, counts, kept, numbers, stand, lengths.astype(np.int32), keys)


def _field_ends(text: Bytes, begin: int, end: int, count: int, delimiter: int) -> Ints | None:
    """Return where each field ends, [line, field]; None if a line has not just `count` of them.

    Nor may it have blanks other than one delimiter between fields and a line feed at its end, or
    bytes that are not UTF-8.
    """
    inside = text[begin:end]
    blank = np.zeros(end, np.bool_)  # of what stands before, nothing is looked for
    np.less_equal(inside, _SPACE, out=blank[begin:])
    if blank[begin] or (blank[1:] & blank[:-1]).any():
        return None  # a field is empty
    places = np.flatnonzero(blank)
    lines, rest = divmod(places.size, count)
    # Each line has so many blanks; the last is its end, and the others are delimiters.
    if rest or np.count_nonzero(inside == delimiter) != lines * (count - 1):
        return None
    ends = places.reshape(-1, count)
    if (text[ends[:, -1]] != _LINE_FEED).any():
        return None
    if inside.max() > _LAST_ASCII and not _is_utf8(inside):
        return None
    return ends


def _is_utf8(text: Bytes) -> bool:
    try:
        text.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def _opens(words: Words, starts: Ints, lengths: Ints) -> NDArray[np.bool_]:
    """Return whether the field of each row differs from that of the row before."""
    opens = np.empty(starts.size, np.bool_)
    opens[0] = True
    opens[1:] = lengths[1:] != lengths[:-1]
    for place in range(0, int(lengths.max()), WORD):
        word = _word(words, starts, lengths, place)
        opens[1:] |= word[1:] != word[:-1]
    return opens


def _word(words: Words, starts: Ints, lengths: Ints, place: int) -> Words:
    """Return the characters of each field from a place on, up to eight, 0 where it has no more."""
    at = starts + place
    if place:  # of long fields; for shorter ones it may lie beyond the text
        np.minimum(at, words.size - 1, out=at)
    length = int(lengths[0])
    # Ids are often of one length.
    inside = _FIRST[max(0, min(length - place, WORD))]
    if (lengths != length).any():
        inside = _FIRST.take(lengths - place, mode="clip")
    word: Words = words[at] & inside
    return word


def _keys(words: Words, starts: Ints, lengths: Ints) -> Words:
    """Return a number for each field that is the same wherever the same field stands."""
    keys = lengths.astype(np.uint64)
    for place in range(0, int(lengths.max(initial=0)), WORD):
        left = lengths - place
        mixed = (keys ^ _word(words, starts, lengths, place)) * _MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
        keys = mixed if left.min() > 0 else np.where(left > 0, mixed, keys)
    return keys * _MULTIPLIER


def _highest(numbers: Floats, starts: Ints, counts: Ints, depth: int) -> tuple[Ints, Ints]:
    """Return the rows with a number as high as the one at a depth of their stretch, and how many."""
    edges = np.full(starts.size, -np.inf)
    long = np.flatnonzero(counts > depth)
    rises = numbers[1:] > numbers[:-1]
    rises[starts[1:] - 1] = False
    if not rises.any():  # as runs are usually written
        edges[long] = numbers[starts[long] + depth - 1]
        long = long[:0]
    for length in set(counts[long].tolist()):
        alike = long[counts[long] == length]
        matrix = numbers[starts[alike][:, None] + np.arange(length)]
        matrix.partition(length - depth, axis=1)
        edges[alike] = matrix[:, length - depth]
    near = numbers >= np.repeat(edges, counts)
    kept = np.add.reduceat(near, starts, dtype=np.int64)
    return np.flatnonzero(near), kept


def same_docs(left: TrecArrays, rows: Ints, right: TrecArrays, others: Ints) -> NDArray[np.bool_]:
    """Return whether the documents at some rows of two files have the same id, byte by byte."""
    lengths = left.lengths[rows]
    same: NDArray[np.bool_] = lengths == right.lengths[others]
    if not rows.size:
        return same
    longest = int(lengths.max())
    if longest > _LONG_ID:
        ours, theirs = doc_bytes(left, rows), doc_bytes(right, others)
        return np.array([one == other for one, other in zip(ours, theirs, strict=True)])
    place = np.arange(longest)
    inside = place < lengths[:, None]
    letters = []
    for arrays, at in ((left, rows), (right, others)):
        text = np.memmap(arrays.path, np.uint8, "r")
        letters.append(text[np.minimum(arrays.docs[at][:, None] + place, text.size - 1)])
    same &= ((letters[0] == letters[1]) | ~inside).all(axis=1)
    return same


def doc_bytes(arrays: TrecArrays, rows: Ints) -> list[bytes]:
    """Return the ids of the documents at some rows."""
    starts, lengths = arrays.docs[rows].tolist(), arrays.lengths[rows].tolist()
    with (
        arrays.path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return [
            content[start : start + length] for start, length in zip(starts, lengths, strict=True)
        ]
