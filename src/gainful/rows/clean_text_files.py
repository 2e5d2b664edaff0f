"""Read clean TREC files, CSV, TSV and JSON lines as whole arrays of bytes.

A clean file has all fields on every line, a single delimiter between them, and no control characters; white space
in TREC files is normalised first, if necessary. In tables, quotes enclose whole fields on one line, and ids contain
no quotes. Lines of clean JSON differ only in their values, and their strings contain no escapes. Chunks are read on several cores, and queries are processed while their chunk is in memory, so the whole file
never is. The engine reads any other file, with the same result, and the row readers report errors.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from gainful.arithmetic.cores import cores, in_parallel, keep_memory
from gainful.array_types import Bools, Floats, Ints
from gainful.rows.decimal_parsing import WORD, Bytes, Words, are_digits, read_decimals
from gainful.rows.files import BYTE_ORDER_MARK, read_at
from gainful.rows.packed_rows import (
    PackedRows,
    joined_queries,
    joined_rows,
    joined_words,
    keys_of,
    word_at,
    words_of,
)
from gainful.rows.text_formats import Layout
from gainful.rows.values_as_numbers import in_single, is_exact

TAB, LINE_FEED, RETURN, SPACE, QUOTE = b'\t\n\r "'
_LAST_ASCII = 127


class Fields(NamedTuple):
    """The ids and numbers of some lines.

    Attributes:
        queries: where the query ids begin and end, each (n,).
        docs: where the document ids begin and end, each (n,).
        numbers: (n,) float64; 1 if lines have no number.
    """

    queries: tuple[Ints, Ints]
    docs: tuple[Ints, Ints]
    numbers: Floats


Find = Callable[[Bytes, Words, int, int], Fields | None]
"""A function that locates the fields of whole lines between two positions; None if they aren't clean."""


def finder_of_fields(layout: Layout, head: bytes, *, strict: bool = False) -> Find | None:
    """Return the function that locates fields, given the first whole line; None if that line isn't clean.

    With `strict`, tables with quotes, spaces or empty fields aren't clean.
    """
    if layout.format == "jsonl":
        skeleton = skeleton_of(head, layout)
        return None if skeleton is None else skeleton.fields
    if layout.format == "trec":
        return partial(_fields_of_trec, layout)
    return partial(_fields_of_table, layout, strict=strict)


def _fields_of_trec(
    layout: Layout, text: Bytes, words: Words, begin: int, end: int
) -> Fields | None:
    """Locate the fields; None if a line lacks fields, or has other blanks than its delimiters."""
    inside = text[begin:end]
    edges = np.zeros(end, np.bool_)  # nothing before `begin` is searched
    np.less_equal(inside, SPACE, out=edges[begin:])
    delimiters = int(np.count_nonzero(inside == ord(layout.delimiter)))
    ends = None if _has_gaps(edges, begin) else by_line(text, edges, delimiters, len(layout.names))
    del edges  # numbers need the memory
    if ends is None or not is_utf8(inside):
        return None
    return _fields_at(text, words, layout, partial(_span, ends, begin))


def _fields_of_table(
    layout: Layout, text: Bytes, words: Words, begin: int, end: int, *, strict: bool
) -> Fields | None:
    """Locate the fields; None if a line lacks fields, or has odd quotes, or an id that isn't clean."""
    inside, delimiter = text[begin:end], ord(layout.delimiter)
    edges = np.zeros(end, np.bool_)
    quotes = np.flatnonzero(inside == QUOTE) + begin
    np.equal(inside, delimiter, out=edges[begin:])
    feeds = inside == LINE_FEED
    if quotes.size:
        quoted = np.logical_xor.accumulate(inside == QUOTE)
        if (feeds & quoted).any() or not _are_usual(text, begin, quotes, delimiter):
            return None
        edges[begin:] &= ~quoted
    delimiters, lines = int(np.count_nonzero(edges)), int(np.count_nonzero(feeds))
    returns = int(np.count_nonzero(inside == RETURN))
    controls = lines + returns + (np.count_nonzero(inside == TAB) if delimiter == TAB else 0)
    edges[begin:] |= feeds
    if strict and (quotes.size or _has_gaps(edges, begin) or (inside == SPACE).any()):
        return None
    ends = by_line(text, edges, delimiters, len(layout.names))
    del feeds, edges  # numbers need the memory
    if ends is None or np.count_nonzero(inside < SPACE) != controls or not is_utf8(inside):
        return None
    if returns:
        before = text[ends[:, -1] - 1 - np.arange(2)[:, None]]
        if returns != lines or (before[0] != RETURN).any() or (strict and delimiter in before[1]):
            return None
    span = partial(_unquoted, text, ends, begin, returns, quotes)
    ids = map(span, layout.places[:2])
    clean = all(_are_clean_ids(text, *id_span, quotes) for id_span in ids)
    return _fields_at(text, words, layout, span) if clean else None


def _unquoted(
    text: Bytes, ends: Ints, begin: int, returns: int, quotes: Ints, field: int
) -> tuple[Ints, Ints]:
    """Return where a field begins and ends within its quotes, if any, and before carriage returns."""
    start, stop = _span(ends, begin, field)
    if returns and field == ends.shape[1] - 1:
        stop = stop - 1
    opened = text[start] == QUOTE if quotes.size else 0
    return start + opened, stop - opened


def _are_clean_ids(text: Bytes, start: Ints, stop: Ints, quotes: Ints) -> bool:
    """Return whether ids aren't empty, don't begin with a space, as blank ones do, and contain no quotes."""
    if (stop <= start).any() or (text[start] == SPACE).any():
        return False
    return not quotes.size or bool((quotes.searchsorted(start) == quotes.searchsorted(stop)).all())


def _are_usual(text: Bytes, begin: int, quotes: Ints, delimiter: int) -> bool:
    """Return whether each quote is at the edge of a field, or next to another quote."""
    opening, closing = quotes[::2], quotes[1::2]
    opens = np.isin(text[opening - 1], (delimiter, LINE_FEED, QUOTE)) | (opening == begin)
    closes = np.isin(text[closing + 1], (delimiter, LINE_FEED, RETURN, QUOTE))
    return opening.size == closing.size and bool(opens.all() and closes.all())


def _has_gaps(edges: Bools, begin: int) -> bool:
    """Return whether a field is empty."""
    return bool(edges[begin] or (edges[1:] & edges[:-1]).any())


def _span(ends: Ints, begin: int, field: int) -> tuple[Ints, Ints]:
    """Return where a field begins and ends, given the delimiters and line feeds, [line, field]."""
    starts = ends[:, field - 1] if field else np.append(begin - 1, ends[:-1, -1])
    return starts + 1, ends[:, field]


def _fields_at(
    text: Bytes, words: Words, layout: Layout, span: Callable[[int], tuple[Ints, Ints]]
) -> Fields | None:
    """Return the fields, given where each begins and ends; None if a number isn't one."""
    query, doc, number = layout.places
    if number < 0:
        queries = span(query)
        return Fields(queries, span(doc), np.ones(queries[0].size))
    numbers = read_decimals(text, words, *span(number))
    return None if numbers is None else Fields(span(query), span(doc), numbers)


def by_line(text: Bytes, edges: Bools, delimiters: int, count: int) -> Ints | None:
    """Return the positions of delimiters, [line, edge]; None if a line has another number of them.

    The last edge of a line is its line feed; the others are delimiters, which the caller has counted.
    """
    places = np.flatnonzero(edges)
    lines, rest = divmod(places.size, count)
    if rest or delimiters != lines * (count - 1):
        return None
    found = places.reshape(-1, count)
    return None if (text[found[:, -1]] != LINE_FEED).any() else found


def is_utf8(text: Bytes) -> bool:
    """Return whether a text of at least one byte is UTF-8."""
    if text.max() <= _LAST_ASCII:
        return True
    try:
        text.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


_COMMA, _BACKSLASH, _MINUS, _ZERO, _NINE = (ord(mark) for mark in ",\\-09")
_STRING = rb'"[^"\\\x00-\x1f]*"'
_NUMBER = rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_MEMBER = re.compile(
    rb"([{,] *" + _STRING + rb" *: *)(?:(" + _STRING + rb")|" + _NUMBER + rb")( *)"
)
_END = re.compile(rb"\} *\r?\n")


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The text around the values of clean JSON, the same on all lines.

    In `{"query": "q", "doc": "d", "score": 1}`, the literals are `{"query": "`, `", "doc": "`, `", "score": `
    and `}`. Between two values are a comma and the quote before the next key; once these are located, the
    bytes around them are compared with the literals.

    Attributes:
        literals: (v+1) the text before, between and after the values, including the quotes of strings.
        strings: (v) whether each value is a string rather than a number.
        step: the distance from the comma between two values to the quote before the next key.
        layout: which of the values are read.
    """

    literals: tuple[bytes, ...]
    strings: tuple[bool, ...]
    step: int
    layout: Layout

    def fields(self, text: Bytes, words: Words, begin: int, end: int) -> Fields | None:
        """Locate the values of lines; None if a line has other literals, or values that aren't clean."""
        edges = self._edges(text, begin, end)
        if edges is None or not is_utf8(text[begin:end]):
            return None
        spans = self._between(text, begin, edges)
        if spans is None:
            return None
        query, doc, number = self.layout.places
        numbers = np.ones(len(edges))
        for at, (start, stop) in enumerate(spans):
            if at in (query, doc):
                if (
                    not (stop > start).all()
                    if self.strings[at]
                    else not _are_ids(text, words, start, stop)
                ):
                    return None
            elif not self.strings[at]:  # other numbers must be valid, too
                values = _json_numbers(text, words, start, stop)
                if values is None:
                    return None
                numbers = values if at == number else numbers
        return Fields(spans[query], spans[doc], numbers)

    def _edges(self, text: Bytes, begin: int, end: int) -> Ints | None:
        """Return the positions of the quotes after commas and of each line feed, [line, edge].

        None if a line has another number, if there are quotes outside the literals, or if there are escapes.
        """
        inside = text[begin:end]
        feeds = inside == LINE_FEED
        lines = int(np.count_nonzero(feeds))
        controls = lines * (1 + (RETURN in self.literals[-1]))
        if np.count_nonzero(inside < SPACE) != controls or (inside == _BACKSLASH).any():
            return None
        quotes = inside == QUOTE
        if np.count_nonzero(quotes) != lines * sum(each.count(QUOTE) for each in self.literals):
            return None
        quotes[: self.step] = False
        quotes[self.step :] &= inside[: -self.step] == _COMMA
        if self.step > 1:  # otherwise an id such as a,b would seem to end before a key
            quotes[1:] &= inside[:-1] == SPACE
        behind = int(np.count_nonzero(quotes))
        edges = np.zeros(end, np.bool_)  # nothing before `begin` is searched
        np.logical_or(quotes, feeds, out=edges[begin:])
        return by_line(text, edges, behind, len(self.strings))

    def _between(self, text: Bytes, begin: int, edges: Ints) -> list[tuple[Ints, Ints]] | None:
        """Return where the text between the literals begins and ends; None if these differ."""
        feeds = edges[:, -1]
        place = np.concatenate(([begin], feeds[:-1] + 1))  # where the next literal begins
        starts: list[Ints] = []
        ends: list[Ints] = []
        for at, literal in enumerate(self.literals):
            if at == len(self.strings):
                place = feeds + (1 - len(literal))
            elif at:
                place = edges[:, at - 1] - (literal.index(_COMMA) + self.step)
            if at:
                ends.append(place)
                # If literals share a byte, the count of quotes was misleading.
                if (place < starts[-1]).any():
                    return None
            if 0 < at < len(self.strings) and not _stands(literal, text, place):
                return None
            starts.append(place + len(literal))
        # From the end of a line to the next one, because each pass over the text takes time.
        first, last = self.literals[0], self.literals[-1]
        edge = starts[0][:1] - len(first)
        if not (_stands(first, text, edge) and _stands(last, text, place[-1:])):
            return None
        if place.size > 1 and not _stands(last + first, text, place[:-1]):
            return None
        return [*zip(starts[:-1], ends, strict=True)]


def _json_numbers(text: Bytes, words: Words, start: Ints, end: Ints) -> Floats | None:
    """Return JSON numbers (n,); None if one isn't a JSON number."""
    # The only other text read as a number is 1.e5, but numbers with an exponent are read one by one.
    if not _begin_with_digits(text, start) or not _is_digit(text[end - 1]).all():
        return None
    return read_decimals(text, words, start, end, _read_number)


def skeleton_of(head: bytes, layout: Layout) -> Skeleton | None:
    r"""Return the skeleton of the lines, given the first whole line; None if they aren't clean.

    >>> layout = Layout("jsonl", names=("q", "d", "s"), places=(0, 1, 2))
    >>> skeleton_of(b'{"q": "1", "d": 7, "s": 0.5}\n{"q"', layout).literals
    (b'{"q": "', b'", "d": ', b', "s": ', b'}\n')
    """
    line = head.partition(b"\n")[0] + b"\n"
    literals = [b""]
    names: list[str] = []
    strings: list[bool] = []
    steps: list[int] = []  # from the mark before each key to its quote
    place = 0
    while member := _MEMBER.match(line, place):
        key, string, blanks = member.groups()
        quote = b"" if string is None else b'"'
        literals[-1] += key + quote
        literals.append(quote + blanks)
        names.append(key.split(b'"')[1].decode(errors="replace"))
        strings.append(string is not None)
        steps.append(key.index(QUOTE))
        place = member.end()
    # In a part of a file, the first line may have other keys than the file's first line.
    if not _END.fullmatch(line, place) or tuple(names) != layout.names:
        return None
    literals[-1] += line[place:]
    number = layout.places[2]
    if (number >= 0 and strings[number]) or len({*steps[1:]}) != 1:
        return None
    return Skeleton(tuple(literals), tuple(strings), steps[1], layout)


def _stands(literal: bytes, text: Bytes, places: Ints) -> bool:
    """Return whether a literal occurs at the given positions of a text, in ascending order.

    Compares integers of eight bytes, because NumPy holds Python's lock while it compares byte strings.
    """
    count = -(-len(literal) // WORD)
    if places[-1] + count * WORD > text.size:
        return False
    windows = np.ndarray((text.size - count * WORD + 1,), f"V{count * WORD}", text, strides=(1,))
    found = windows[places].view(np.uint64).reshape(-1, count)
    for at in range(count):
        piece, word = literal[at * WORD : (at + 1) * WORD], found[:, at]
        if len(piece) < WORD:
            word = word & np.uint64((1 << 8 * len(piece)) - 1)
        if (word != np.uint64(int.from_bytes(piece, "little"))).any():
            return False
    return True


def _is_digit(characters: Bytes) -> Bools:
    return (characters >= _ZERO) & (characters <= _NINE)


def _begin_with_digits(text: Bytes, start: Ints) -> bool:
    """Return whether values begin like JSON numbers: without a plus, a point, or a 0 before a digit."""
    first = start + (text[start] == _MINUS)
    digits = text[first]
    if not _is_digit(digits).all():
        return False
    # A value is followed by a literal, which doesn't begin with a digit.
    return not ((digits == _ZERO) & _is_digit(text[first + 1])).any()


def _are_ids(text: Bytes, words: Words, start: Ints, end: Ints) -> bool:
    """Return whether values are integers that are written like ids; −0 would become 0."""
    negative = text[start] == _MINUS
    first = start + negative
    if not _begin_with_digits(text, start) or (negative & (text[first] == _ZERO)).any():
        return False
    return are_digits(words, first, end)


def _read_number(written: bytes) -> float:
    """Read one JSON number; raise ValueError if it isn't one, or isn't exact in a float64."""
    # Imported here because most files have no such numbers.
    import json

    value = json.loads(written)
    if isinstance(value, int) and not is_exact(value):
        raise ValueError(written)
    return float(value)


Result = TypeVar("Result")

LARGEST = 2**31 - 1  # bytes; larger files are left to the engine
# Bytes of a chunk: with few, arrays stay in a core's cache; with many, threads seldom wait for
# Python's lock. Each thread takes seven times as much memory.
_SMALL_CHUNK, _LARGE_CHUNK = 1 << 20, 1 << 22
_MOST_THREADS = 8
_CHUNKS_EACH = 4  # minimum, so that all threads end at about the same time
_LONGEST_LINE = 1 << 12
_MOST_KEPT = 1 << 28  # bytes of a file whose rows are kept in memory
_LONGEST_ID = 64  # bytes of an id that is stored as a whole
MARGIN = 16
"""Zero bytes around a text, so that words may extend beyond its ends."""


@dataclass(frozen=True, slots=True)
class CleanIds:
    """Rows of a clean file with the document ids as words, without the text, grouped by query.

    Attributes:
        queries: (q,) query ids, in file order.
        starts: (q+1,) int64, the first row of each query, and the number of rows.
        numbers: (n,) float64.
        docs: (w, n) uint64, the document ids, as in `IdWords`.
    """

    queries: list[bytes]
    starts: Ints
    numbers: Floats
    docs: Words


def read_clean_ids(path: Path, layout: Layout) -> CleanIds | None:
    """Read a clean file; None if it isn't clean, is very large, has a long id, or scatters a query's rows."""
    file = _CleanFile(path, path.stat().st_size, layout, keyed=False)
    if file.size > LARGEST:
        return None

    def finish(rows: PackedRows, _start: int, _last: int) -> CleanIds | None:
        longest = int(rows.lengths.max())
        if longest > _LONGEST_ID:
            return None
        words, alike = words_of(rows.text), int(rows.lengths.min()) == longest
        docs = np.empty((-(-longest // WORD), rows.docs.size), np.uint64)
        for at, word in enumerate(docs):
            word[:] = word_at(words, rows.docs, rows.lengths, at * WORD, alike=alike)
        docs.byteswap(inplace=True)
        return CleanIds(rows.queries, rows.starts, rows.numbers, docs)

    parts = file.work_on_chunks(finish)
    if not parts or not _stand_together([part.queries for part in parts]):
        return None
    queries, lengths = joined_queries([(part.queries, np.diff(part.starts)) for part in parts])
    numbers = np.concatenate([part.numbers for part in parts])
    docs = joined_words([part.docs for part in parts])
    return CleanIds(queries, np.concatenate(([0], np.cumsum(lengths))), numbers, docs)


def read_clean_rows(path: Path, layout: Layout) -> PackedRows | None:
    """Read a clean file; None if it isn't clean, is large, or scatters the rows of a query."""
    file = _CleanFile(path, path.stat().st_size, layout)
    if file.size > _MOST_KEPT:
        return None
    parts = file.work_on_chunks(lambda rows, _start, _last: rows.kept())
    if not parts or not _stand_together([part.queries for part in parts]):
        return None
    return joined_rows(parts)


def clean_rows_in(lines: Sequence[bytes], layout: Layout) -> PackedRows | None:
    """Return the rows of lines that aren't blank, in order; None if one of them isn't clean."""
    find = finder_of_fields(layout, lines[0] + b"\n")
    content = b"\n".join([*lines, b""])
    margin = bytes(MARGIN)
    text = np.frombuffer(margin + content + margin, np.uint8)
    if layout.format == "trec":
        text = _tidied(content, layout.delimiter.encode())
    file = _CleanFile(Path(), text.size, layout, keyed=False)
    return None if find is None else file.fields(text, MARGIN, text.size - MARGIN, find)


def count_clean_rows(path: Path, layout: Layout) -> int | None:
    """Return the number of rows of a clean file, whose lines all have the fields of the first; else None."""
    layout = replace(layout, places=(*layout.places[:2], -1))  # any text as number
    file = _CleanFile(path, path.stat().st_size, layout, keyed=False, strict=True)
    counts = file.work_on_chunks(lambda rows, _start, _last: rows.numbers.size)
    return None if counts is None else sum(counts)


def work_on_clean_rows(
    path: Path,
    layout: Layout,
    work: Callable[[PackedRows], Result | None],
    depth: int | None = None,
    *,
    single: bool = False,
) -> list[Result] | None:
    """Read a clean file and process its queries, some at a time, on all cores.

    Args:
        path: the path of the file.
        layout: the layout of its fields.
        work: processes some queries with all their rows; returns None to stop.
        depth: rows that can't be among this many highest of their query may be left out.
        single: whether numbers are first rounded to float32.

    Returns the results in any order. None if the work stopped; if the file is very large or not clean; if
    the rows of a query are scattered; if a number is too large for a float32.
    """
    file = _CleanFile(path, path.stat().st_size, layout, depth, single)
    if file.size > LARGEST:
        return None
    done: list[Result] = []
    room = [_MOST_KEPT]

    def work_on_whole_queries(
        rows: PackedRows, start: int, last: int
    ) -> tuple[list[bytes], list[PackedRows]] | None:
        # The first and the last query may continue in the adjacent chunks.
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
        result = work(joined_rows(edges))
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
    """Return whether the rows of each query are contiguous; a query may continue in the next part."""
    queries: list[bytes] = []
    for part in parts:
        queries += part[bool(queries) and part[0] == queries[-1] :]
    return len(set(queries)) == len(queries)


@dataclass(frozen=True, slots=True)
class _CleanFile:
    """A file that may be clean, and how to read it.

    Attributes:
        path: the path of the file.
        size: its number of bytes.
        layout: the layout of its fields.
        depth: the number of needed rows per query; all if None.
        single: whether numbers are rounded to float32.
        keyed: whether keys are needed; otherwise they are all 0.
        strict: whether a byte order mark, other white space in TREC files, and quotes, spaces and empty fields
            in tables make it unclean, because the engine may misread them.
    """

    path: Path
    size: int
    layout: Layout
    depth: int | None = None
    single: bool = False
    keyed: bool = True
    strict: bool = False

    def work_on_chunks(
        self, finish: Callable[[PackedRows, int, int], Result | None]
    ) -> list[Result] | None:
        """Read each chunk and process its rows; None if a chunk isn't clean, or if the work stopped."""
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
        """Return the function that locates the fields; None if the first line isn't clean."""
        with self.path.open("rb", buffering=0) as file:
            head = file.read(_LONGEST_LINE)
        if head.startswith(BYTE_ORDER_MARK) and self.strict:
            return None
        head = head.removeprefix(BYTE_ORDER_MARK)
        header = head.partition(b"\n")[0].removesuffix(b"\r") if self.layout.header else b""
        # Only the row reader knows which rows follow a header that ends with a lone carriage return, or whose
        # quotes are unusual: this reader continues after the line feed.
        names = header.split(self.layout.delimiter.encode() or None)
        if (
            b"\r" in header
            or not all(map(_is_usual_name, names))
            or (self.strict and b'"' in header)
        ):
            return None
        return finder_of_fields(self.layout, head, strict=self.strict)

    def _rows(self, start: int, last: int, find: Find) -> PackedRows | None:
        """Read the lines that begin in a chunk; None if they aren't clean."""
        # The byte before the chunk shows whether a line begins with the chunk.
        first = max(start - 1, 0)
        text = np.empty(last - first + _LONGEST_LINE + 2 * MARGIN, np.uint8)
        room = text[MARGIN : min(self.size, last + _LONGEST_LINE) - first + MARGIN]
        got = read_at(self.path, first, room)
        text = text[: got + 2 * MARGIN]
        text[:MARGIN] = text[MARGIN + got :] = 0
        if first + got == self.size and text[MARGIN + got - 1] != LINE_FEED:
            text[MARGIN + got] = LINE_FEED  # the last line may lack its line end
            got += 1
        begin, end = MARGIN, MARGIN + got
        if start or self.layout.header:
            begin = _after_line(text, MARGIN, end)
        elif text[begin : begin + len(BYTE_ORDER_MARK)].tobytes() == BYTE_ORDER_MARK:
            begin += len(BYTE_ORDER_MARK)
        if first + got < self.size or last < self.size:
            end = _after_line(text, MARGIN + last - first - 1, end)
        if begin < 0 or end < 0:
            return None  # a line that is too long for this reader
        if begin >= end:
            return _no_rows(text)
        rows = self.fields(text, begin, end, find)
        if rows is None and self.layout.format == "trec" and not self.strict:
            text = _tidied(text[begin:end].tobytes(), self.layout.delimiter.encode())
            end = text.size - MARGIN
            rows = self.fields(text, MARGIN, end, find) if end > MARGIN else _no_rows(text)
        return rows

    def fields(self, text: Bytes, begin: int, end: int, find: Find) -> PackedRows | None:
        """Read whole lines; None if they aren't clean."""
        words = words_of(text)
        fields = find(text, words, begin, end)
        if fields is None:
            return None
        numbers = fields.numbers
        if self.single:  # before rows are left out by their numbers
            numbers = in_single(numbers)
            if np.isinf(numbers).any():
                return None

        start, stop = fields.queries
        stretches = np.flatnonzero(_opens(words, start, stop - start))  # rows of one query each
        counts = np.diff(stretches, append=start.size)
        bounds = zip(start[stretches].tolist(), stop[stretches].tolist(), strict=True)
        queries = [text[low:high].tobytes() for low, high in bounds]

        kept = counts
        docs, doc_ends = fields.docs
        if self.depth is not None and counts.max() > self.depth:
            chosen, kept = _highest(numbers, stretches, counts, self.depth)
            numbers, docs, doc_ends = numbers[chosen], docs[chosen], doc_ends[chosen]
        lengths = doc_ends - docs
        starts = np.concatenate(([0], np.cumsum(kept)))
        keys = keys_of(words, docs, lengths) if self.keyed else np.zeros(lengths.size, np.uint64)
        return PackedRows(queries, starts, counts, numbers, keys, docs, lengths, text)


def _is_usual_name(name: bytes) -> bool:
    """Return whether the name of a column has no quotes, or only one on either side."""
    return b'"' not in name or (name.count(b'"') == 2 and name[:1] == name[-1:] == b'"')


def _no_rows(text: Bytes) -> PackedRows:
    none = np.empty(0, np.int64)
    return PackedRows([], none, none, np.empty(0), np.empty(0, np.uint64), none, none, text)


def _tidied(text: bytes, delimiter: bytes) -> Bytes:
    """Return TREC lines with one delimiter between fields, none around them, and no blank lines."""
    blanks = b" \t\v\f\r"
    lines = text.translate(bytes.maketrans(blanks, delimiter * len(blanks)))
    for edge in (delimiter, b"\n"):
        for pair, one in ((edge + delimiter, edge), (edge + b"\n", b"\n")):
            while pair in lines:
                lines = lines.replace(pair, one)
    margin = bytes(MARGIN)
    return np.frombuffer(margin + lines.lstrip(delimiter + b"\n") + margin, np.uint8)


def _after_line(text: Bytes, place: int, end: int) -> int:
    """Return the start of the line after a position; −1 if the current line doesn't end in the text."""
    found = text[place : min(place + _LONGEST_LINE, end)].tobytes().find(LINE_FEED)
    return place + found + 1 if found >= 0 else -1


def _opens(words: Words, starts: Ints, lengths: Ints) -> Bools:
    """Return whether the field of each row differs from that of the row before."""
    opens = np.empty(starts.size, np.bool_)
    opens[0] = True
    np.not_equal(lengths[1:], lengths[:-1], out=opens[1:])
    alike = not opens[1:].any()
    for place in range(0, int(lengths[0] if alike else lengths.max()), WORD):
        word = word_at(words, starts, lengths, place, alike=alike)
        opens[1:] |= word[1:] != word[:-1]
    return opens


def _highest(numbers: Floats, starts: Ints, counts: Ints, depth: int) -> tuple[Ints, Ints]:
    """Return the rows whose number is at least as high as the one at `depth` in their stretch, and counts."""
    edges = np.full(starts.size, -np.inf)
    long = np.flatnonzero(counts > depth)
    rises = numbers[1:] > numbers[:-1]
    rises[starts[1:] - 1] = False
    if not rises.any():  # runs are usually sorted
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


# --- JSON lines that the engine reads, more than ten times as fast as the row reader

_GLANCE = 1 << 19  # bytes that fit a core's cache
_FEW_THREADS = 4  # more would wait for Python's lock
_LONG = 1 << 20  # bytes of a row; if one exceeds 2 MB, DuckDB loses everything after 32 MB
_CONTROLS = bytes({*range(32)} - {*b"\t\n\r"})
# Words that the engine reads as numbers, in small letters; the literal comes first because it is searched quickly.
_WORDS = (
    re.compile(rb"nan(?<=[ \t:,\[+-]nan)(?![a-z])"),
    re.compile(rb"inf(?<=[ \t:,\[+-]inf)(?![a-hj-z])"),
)


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
        ending = (chunk == LINE_FEED) | (chunk == RETURN)
        # Of several ends, the first counts; nothing can end at the first byte of a file.
        ends = (ending[1:] > ending[:-1])[: _GLANCE - (not lead)]
        return int(np.count_nonzero(ends)) if _is_strict_json(chunk) else None

    size = path.stat().st_size
    rows = stretch = 0
    for count in in_parallel(look, range(0, size, _GLANCE), most=_FEW_THREADS):
        stretch = 0 if count else stretch + _GLANCE  # without a line end
        if count is None or stretch >= _LONG:
            return None
        rows += count
    with path.open("rb") as file:
        file.seek(size - 1)
        return rows + (file.read(1)[0] not in (LINE_FEED, RETURN))


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
