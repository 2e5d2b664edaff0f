"""Locate the fields of clean text files, for all lines of a chunk at a time."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.rows.decimal_parsing import WORD, Bytes, Words, are_digits, read_decimals
from gainful.rows.text_formats import Layout
from gainful.rows.values_as_numbers import is_exact

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
