"""Locate the fields of clean text files, for all lines of a chunk at a time."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.rows.decimal_parsing import WORD, Bytes, Words, are_digits, read_decimals
from gainful.rows.text_formats import Layout
from gainful.rows.values_as_numbers import is_exact

LINE_FEED, RETURN, SPACE, QUOTE = 10, 13, 32, 34
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


def finder_of_fields(layout: Layout, head: bytes) -> Find | None:
    """Return the function that locates fields, given the first whole line; None if that line isn't clean."""
    if layout.format == "jsonl":
        skeleton = skeleton_of(head, layout)
        return None if skeleton is None else skeleton.fields
    find_edges = _edges_of_trec if layout.format == "trec" else _edges_of_table

    def find(text: Bytes, words: Words, begin: int, end: int) -> Fields | None:
        edges = find_edges(text, begin, end, layout)
        return None if edges is None else _fields_between(text, words, begin, *edges, layout)

    return find


def _fields_between(
    text: Bytes, words: Words, begin: int, ends: Ints, returns: int, layout: Layout
) -> Fields | None:
    """Return the fields between delimiters and line ends; None if a number isn't one.

    Args:
        text: the bytes.
        words: the eight bytes that start at each position.
        begin: the start of the first line.
        ends: [line, field], the positions of the delimiters and of the line feeds.
        returns: the number of bytes, 0 or 1, between the last field of a line and its line feed.
        layout: the layout of the fields.
    """

    def span(field: int) -> tuple[Ints, Ints]:
        starts = ends[:, field - 1] if field else np.append(begin - 1, ends[:-1, -1])
        return starts + 1, ends[:, field] - returns * (field == ends.shape[1] - 1)

    query, doc, number = layout.places
    numbers = np.ones(len(ends)) if number < 0 else read_decimals(text, words, *span(number))
    return None if numbers is None else Fields(span(query), span(doc), numbers)


def _edges_of_trec(text: Bytes, begin: int, end: int, layout: Layout) -> tuple[Ints, int] | None:
    """Return `ends` and `returns`; None if a line lacks fields, or has other blanks than its delimiters."""
    inside = text[begin:end]
    edges = np.zeros(end, np.bool_)  # nothing before `begin` is searched
    np.less_equal(inside, SPACE, out=edges[begin:])
    delimiters = int(np.count_nonzero(inside == ord(layout.delimiter)))
    ends = _ends(text, begin, edges, delimiters, layout)
    return None if ends is None else (ends, 0)


def _edges_of_table(text: Bytes, begin: int, end: int, layout: Layout) -> tuple[Ints, int] | None:
    """Return `ends` and `returns`; None if a line lacks fields, or has blanks in them, or quotes."""
    inside, delimiter = text[begin:end], ord(layout.delimiter)
    edges = np.zeros(end, np.bool_)
    np.equal(inside, delimiter, out=edges[begin:])
    delimiters = int(np.count_nonzero(edges))
    feeds = inside == LINE_FEED
    lines = np.count_nonzero(feeds)
    returns = np.count_nonzero(inside == RETURN)
    blanks = lines + returns + (delimiters if delimiter <= SPACE else 0)
    if np.count_nonzero(inside <= SPACE) != blanks or (inside == QUOTE).any():
        return None
    edges[begin:] |= feeds
    ends = _ends(text, begin, edges, delimiters, layout)
    if ends is None or not returns:
        return None if ends is None else (ends, 0)
    # Either every line has a carriage return at its end, after a field, or the file isn't clean.
    before = ends[:, -1] - 1
    if returns != lines or (text[before] != RETURN).any() or (before == ends[:, -2] + 1).any():
        return None
    return ends, 1


def _ends(text: Bytes, begin: int, edges: Bools, delimiters: int, layout: Layout) -> Ints | None:
    """Return the positions of delimiters and line feeds; None if a line lacks fields or isn't UTF-8."""
    if edges[begin] or (edges[1:] & edges[:-1]).any():
        return None  # a field is empty
    ends = by_line(text, edges, delimiters, len(layout.names))
    return ends if ends is not None and is_utf8(text[begin : edges.size]) else None


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
