"""Clean TREC files, CSV, TSV and JSON lines, read as whole arrays of bytes.

A file is clean where every line has all its fields, with one delimiter between them and no
other white space, no control and no quotes; in JSON, where lines differ in their values alone, and
strings have no escapes. Its fields are then found by one look for delimiters, or for quotes,
and what is needed of them is gathered for all lines of a chunk at a time. Chunks are read on several
cores; what is done with a query is done while its chunk is at hand, so that a few chunks are in
memory and never the file. Anything else is for the engine, which gives the same result, and
for the rows, which say what is wrong.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.inputs.clean_field_positions import LINE_FEED, Fields, table_fields, trec_fields
from gainful.inputs.cores import cores, in_parallel, keep_memory
from gainful.inputs.decimal_parsing import WORD, Bytes, Words
from gainful.inputs.files import BYTE_ORDER_MARK, read_at
from gainful.inputs.format_detection import Layout
from gainful.inputs.packed_ids import joined_words
from gainful.inputs.single_precision import in_single

if TYPE_CHECKING:
    from gainful.inputs.clean_json_lines import JsonFields

Result = TypeVar("Result")
Find = Callable[[Bytes, Words, int, int], "Fields | JsonFields | None"]
"""What finds the fields of whole lines, from a place of a text to another; None if they are not clean."""

LARGEST = 2**31 - 1  # bytes of a file that is read here
# Bytes of a chunk: with few, arrays stay in a core's cache; with many, threads seldom wait for
# Python's lock. Each thread takes seven times as much memory.
_SMALL_CHUNK, _LARGE_CHUNK = 1 << 20, 1 << 22
_MOST_THREADS = 8
_CHUNKS_EACH = 4  # at least, so that all threads end at about the same time
_LONGEST_LINE = 1 << 12
_MOST_KEPT = 1 << 28  # bytes of a file whose rows are kept
_LONGEST_ID = 64  # bytes of an id that is held in whole
_MARGIN = 16  # zeros around a text, so that words may reach over its ends

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
# Which bytes of a word the first n of eight characters are.
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], np.uint64)


@dataclass(frozen=True, slots=True)
class CleanRows:
    """Rows of a clean file; those of a query stand together.

    Attributes:
        queries: (q,) ids, in the order of the file.
        starts: (q+1,) int64, the rows of each query.
        retrieved: (q,) int64, how many rows each query has in the file.
        numbers: (n,) float64.
        keys: (n,) uint64: equal for equal ids of documents, and almost never for others.
        docs: (n,) int64, where the ids of the documents stand in the text.
        lengths: (n,) int64, how long they are.
        text: (b,) uint8, some lines of the file.
    """

    queries: list[bytes]
    starts: Ints
    retrieved: Ints
    numbers: Floats
    keys: Words
    docs: Ints
    lengths: Ints
    text: Bytes

    def of_queries(self, first: int, end: int) -> "CleanRows":
        """Return the rows of some queries that follow one another, in the same memory."""
        low, high = int(self.starts[first]), int(self.starts[end])
        return CleanRows(
            self.queries[first:end],
            self.starts[first : end + 1] - low,
            self.retrieved[first:end],
            self.numbers[low:high],
            self.keys[low:high],
            self.docs[low:high],
            self.lengths[low:high],
            self.text,
        )

    def kept(self) -> "CleanRows":
        """Return a copy that holds no more of the text than it needs."""
        begin, end = int(self.docs[0]), int(self.docs[-1] + self.lengths[-1])
        return CleanRows(
            self.queries,
            self.starts,
            self.retrieved.copy(),
            self.numbers.copy(),
            self.keys.copy(),
            self.docs - begin,
            self.lengths.copy(),
            self.text[begin : end + WORD].copy(),
        )

    def characters(self, rows: Ints, place: int) -> Words:
        """Return up to eight characters of the ids at some rows, from a place on, in one integer."""
        return _word(_words(self.text), self.docs[rows], self.lengths[rows], place, alike=False)


@dataclass(frozen=True, slots=True)
class CleanIds:
    """Rows of a clean file with the whole ids of their documents, and no text; those of a query stand together.

    Attributes:
        queries: (q,) ids, in the order of the file.
        starts: (q+1,) int64, the rows of each query.
        numbers: (n,) float64.
        docs: (w, n) uint64, the ids, as `IdWords` has them.
    """

    queries: list[bytes]
    starts: Ints
    numbers: Floats
    docs: Words


def read_clean_ids(path: Path, layout: Layout) -> CleanIds | None:
    """Read a clean file; None if it is not, if it is very large, if an id is long or the rows of a query stand apart."""
    file = _CleanFile(path, path.stat().st_size, layout, keyed=False)
    if file.size > LARGEST:
        return None

    def finish(rows: CleanRows, _start: int, _last: int) -> CleanIds | None:
        longest = int(rows.lengths.max())
        if longest > _LONGEST_ID:
            return None
        words, alike = _words(rows.text), int(rows.lengths.min()) == longest
        docs = np.empty((-(-longest // WORD), rows.docs.size), np.uint64)
        for at, word in enumerate(docs):
            word[:] = _word(words, rows.docs, rows.lengths, at * WORD, alike=alike)
        docs.byteswap(inplace=True)
        return CleanIds(rows.queries, rows.starts, rows.numbers, docs)

    parts = file.work_on_chunks(finish)
    if not parts or not _stand_together([part.queries for part in parts]):
        return None
    return _joined_ids(parts)


def read_clean_rows(path: Path, layout: Layout) -> CleanRows | None:
    """Read a clean file; None if it is not, if it is large, or if the rows of a query stand apart."""
    file = _CleanFile(path, path.stat().st_size, layout)
    if file.size > _MOST_KEPT:
        return None
    parts = file.work_on_chunks(lambda rows, _start, _last: rows.kept())
    if not parts or not _stand_together([part.queries for part in parts]):
        return None
    return _joined(parts)


def are_lines_alike(path: Path, layout: Layout) -> bool:
    """Return whether a file is clean, and so every line has the fields of the first."""
    file = _CleanFile(path, path.stat().st_size, layout, keyed=False)
    return file.size <= LARGEST and file.work_on_chunks(lambda *_: True) is not None


def work_on_clean_rows(
    path: Path,
    layout: Layout,
    work: Callable[[CleanRows], Result | None],
    depth: int | None = None,
    *,
    single: bool = False,
) -> list[Result] | None:
    """Read a clean file, and do something with its queries, some at a time, on all cores.

    Args:
        path: of the file.
        layout: of its fields.
        work: what to do with some queries, given all their rows; None from it ends all.
        depth: rows that cannot be among so many highest of their query may be left out.
        single: whether numbers are rounded to float32 before.

    Returns what came of it, in any order. None where the work ended; if the file is very large or
    not clean; if the rows of a query stand apart; if a float32 cannot hold a number.
    """
    file = _CleanFile(path, path.stat().st_size, layout, depth, single)
    if file.size > LARGEST:
        return None
    done: list[Result] = []
    room = [_MOST_KEPT]

    def work_on_whole_queries(
        rows: CleanRows, start: int, last: int
    ) -> tuple[list[bytes], list[CleanRows]] | None:
        # The first and the last query may go on in the chunks around.
        count = len(rows.queries)
        first, end = int(start > 0), count - int(last < file.size)
        if first < end:
            result = work(rows.of_queries(first, end))
            if result is None:
                return None
            done.append(result)
        edges = sorted({*range(first), *range(max(first, end), count)})
        kept = [rows.of_queries(query, query + 1).kept() for query in edges]
        room[0] -= sum(part.text.size for part in kept)
        return None if room[0] < 0 else (rows.queries, kept)

    found = file.work_on_chunks(work_on_whole_queries)
    if not found or not _stand_together([queries for queries, _ in found]):
        return None
    edges = [part for _, parts in found for part in parts]
    if edges:
        result = work(_joined(edges))
        if result is None:
            return None
        done.append(result)
    return done


def _chunk_size(size: int) -> int:
    """Return how many bytes of a file are read at a time."""
    if size <= _SMALL_CHUNK or (threads := min(cores(), _MOST_THREADS)) == 1:
        return _SMALL_CHUNK
    return min(max(size // (_CHUNKS_EACH * threads), _SMALL_CHUNK), _LARGE_CHUNK)


def _stand_together(parts: Sequence[list[bytes]]) -> bool:
    """Return whether no query comes again after another; from one part to the next it may go on."""
    queries: list[bytes] = []
    for part in parts:
        queries += part[bool(queries) and part[0] == queries[-1] :]
    return len(set(queries)) == len(queries)


def _joined(parts: Sequence[CleanRows]) -> CleanRows:
    """Return the rows of parts that follow one another; a query may go on in the next."""
    queries, lengths = _joined_queries([(part.queries, np.diff(part.starts)) for part in parts])
    _, retrieved = _joined_queries([(part.queries, part.retrieved) for part in parts])
    sizes = [part.text.size for part in parts]
    places = np.cumsum([0, *sizes[:-1]])
    return CleanRows(
        queries,
        np.concatenate(([0], np.cumsum(lengths))),
        np.array(retrieved),
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.docs + place for part, place in zip(parts, places, strict=True)]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([part.text for part in parts]),
    )


def _joined_queries(parts: Sequence[tuple[list[bytes], Ints]]) -> tuple[list[bytes], list[int]]:
    """Return the queries of parts that follow one another, with how many rows each has in all."""
    queries: list[bytes] = []
    lengths: list[int] = []
    for some, counts in parts:
        rows = counts.tolist()
        again = bool(queries) and some[0] == queries[-1]
        if again:
            lengths[-1] += rows[0]
        queries += some[again:]
        lengths += rows[again:]
    return queries, lengths


def _joined_ids(parts: Sequence[CleanIds]) -> CleanIds:
    queries, lengths = _joined_queries([(part.queries, np.diff(part.starts)) for part in parts])
    return CleanIds(
        queries,
        np.concatenate(([0], np.cumsum(lengths))),
        np.concatenate([part.numbers for part in parts]),
        joined_words([part.docs for part in parts]),
    )


@dataclass(frozen=True, slots=True)
class _CleanFile:
    """A file that may be clean, and how it is read.

    Attributes:
        path, size, layout: which, how many bytes, and how its fields are written.
        depth: of the rows of each query that are needed; None for all.
        single: whether numbers are rounded to float32.
        keyed: whether keys are needed; if not, they are all 0.
    """

    path: Path
    size: int
    layout: Layout
    depth: int | None = None
    single: bool = False
    keyed: bool = True

    def work_on_chunks(
        self, finish: Callable[[CleanRows, int, int], Result | None]
    ) -> list[Result] | None:
        """Read each chunk, and finish its rows; None where a chunk is not clean, or not finished."""
        keep_memory()
        find = self._find()
        if find is None:
            return None
        chunk = _chunk_size(self.size)
        stopped: list[bool] = []

        def read_chunk(start: int) -> tuple[Result | None] | None:
            last = min(start + chunk, self.size)
            rows = None if stopped else self._rows(start, last, find)
            if rows is None:
                stopped.append(True)
                return None
            if not rows.queries:  # a line is longer than the chunk
                return (None,)
            result = finish(rows, start, last)
            if result is None:
                stopped.append(True)
            return (result,)

        parts = in_parallel(read_chunk, range(0, self.size, chunk), most=_MOST_THREADS)
        if stopped:
            return None
        return [part[0] for part in parts if part is not None and part[0] is not None]

    def _find(self) -> Find | None:
        """Return what finds the fields of its lines; None where the first line tells that it is not clean."""
        with self.path.open("rb", buffering=0) as file:
            head = file.read(_LONGEST_LINE)
        if head.startswith(BYTE_ORDER_MARK):
            return None
        header = head.partition(b"\n")[0].removesuffix(b"\r") if self.layout.header else b""
        # Only the rows say whether quotes are closed where they should be, and which rows follow a
        # header that ends with a carriage return alone: this reader goes on behind the line feed.
        if b'"' in header or b"\r" in header:
            return None
        if self.layout.format == "jsonl":
            # Imported here because the command line starts faster without.
            from gainful.inputs.clean_json_lines import skeleton_of

            skeleton = skeleton_of(head, self.layout)
            return None if skeleton is None else skeleton.fields
        fields = trec_fields if self.layout.format == "trec" else table_fields
        return lambda text, _words, begin, end: fields(text, begin, end, self.layout)

    def _rows(self, start: int, last: int, find: Find) -> CleanRows | None:
        """Read the lines that begin in a chunk; None if they are not clean."""
        # One byte before tells whether a line begins with the chunk.
        first = max(start - 1, 0)
        text = np.empty(last - first + _LONGEST_LINE + 2 * _MARGIN, np.uint8)
        room = text[_MARGIN : min(self.size, last + _LONGEST_LINE) - first + _MARGIN]
        got = read_at(self.path, first, room)
        text = text[: got + 2 * _MARGIN]
        text[:_MARGIN] = text[_MARGIN + got :] = 0
        if first + got == self.size and text[_MARGIN + got - 1] != LINE_FEED:
            text[_MARGIN + got] = LINE_FEED  # the last line may lack its end
            got += 1
        begin, end = _MARGIN, _MARGIN + got
        if start or self.layout.header:
            begin = _after_line(text, _MARGIN, end)
        if first + got < self.size or last < self.size:
            end = _after_line(text, _MARGIN + last - first - 1, end)
        if begin < 0 or end < 0:
            return None  # a line longer than any that is read here
        if begin >= end:
            none = np.empty(0, np.int64)
            return CleanRows([], none, none, np.empty(0), np.empty(0, np.uint64), none, none, text)
        return self._fields(text, begin, end, find)

    def _fields(self, text: Bytes, begin: int, end: int, find: Find) -> CleanRows | None:
        """Read whole lines; None if they are not clean."""
        words = _words(text)
        fields = find(text, words, begin, end)
        if fields is None:
            return None
        query, doc, number = self.layout.places
        if number >= 0:
            numbers = fields.numbers(text, words, number)
        else:  # every row has the number 1
            numbers = np.ones(fields.start(query).size)
        if numbers is not None and self.single:  # before rows are left out by their numbers
            numbers = in_single(numbers)
        if numbers is None or (self.single and np.isinf(numbers).any()):
            return None

        start, stop = fields.start(query), fields.end(query)
        stretches = np.flatnonzero(_opens(words, start, stop - start))  # rows of one query each
        counts = np.diff(stretches, append=start.size)
        bounds = zip(start[stretches].tolist(), stop[stretches].tolist(), strict=True)
        queries = [text[low:high].tobytes() for low, high in bounds]

        kept = counts
        docs, doc_ends = fields.start(doc), fields.end(doc)
        if self.depth is not None and counts.max() > self.depth:
            chosen, kept = _highest(numbers, stretches, counts, self.depth)
            numbers, docs, doc_ends = numbers[chosen], docs[chosen], doc_ends[chosen]
        lengths = doc_ends - docs
        starts = np.concatenate(([0], np.cumsum(kept)))
        keys = _keys(words, docs, lengths) if self.keyed else np.zeros(lengths.size, np.uint64)
        return CleanRows(queries, starts, counts, numbers, keys, docs, lengths, text)


def _after_line(text: Bytes, place: int, end: int) -> int:
    """Return where the line after the one at a place begins; −1 if its end is not in the text."""
    found = text[place : min(place + _LONGEST_LINE, end)].tobytes().find(LINE_FEED)
    return place + found + 1 if found >= 0 else -1


def _words(text: Bytes) -> Words:
    """Return the eight bytes from each place of a text on, in its memory."""
    return np.ndarray((text.size - WORD + 1,), np.uint64, text, strides=(1,))


def _opens(words: Words, starts: Ints, lengths: Ints) -> Bools:
    """Return whether the field of each row differs from that of the row before."""
    opens = np.empty(starts.size, np.bool_)
    opens[0] = True
    np.not_equal(lengths[1:], lengths[:-1], out=opens[1:])
    alike = not opens[1:].any()
    for place in range(0, int(lengths[0] if alike else lengths.max()), WORD):
        word = _word(words, starts, lengths, place, alike=alike)
        opens[1:] |= word[1:] != word[:-1]
    return opens


def _word(words: Words, starts: Ints, lengths: Ints, place: int, *, alike: bool) -> Words:
    """Return the characters of each field from a place on, up to eight, 0 where it has no more.

    Ids are often of one length, `alike`.
    """
    at = starts
    if place:  # of long fields; for shorter ones it may lie beyond the text
        at = starts + place
        np.minimum(at, words.size - 1, out=at)
    word: Words = words[at]
    if not alike:
        word &= _FIRST.take(lengths - place, mode="clip")
    elif lengths[0] < place + WORD:
        word &= _FIRST[lengths[0] - place]
    return word


def _keys(words: Words, starts: Ints, lengths: Ints) -> Words:
    """Return a number for each field that is the same wherever the same field stands."""
    shortest, longest = int(lengths.min()), int(lengths.max())
    keys = lengths.astype(np.uint64)
    for place in range(0, longest, WORD):
        mixed = _word(words, starts, lengths, place, alike=shortest == longest)
        mixed ^= keys
        mixed *= _MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
        keys = mixed if shortest > place else np.where(lengths > place, mixed, keys)
    keys *= _MULTIPLIER
    return keys


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
