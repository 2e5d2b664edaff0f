"""Where the fields of clean TREC files, CSV and TSV stand: found by one look for delimiters."""

from typing import NamedTuple

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.inputs.decimal_parsing import Bytes, Words, read_decimals
from gainful.inputs.format_detection import Layout

LINE_FEED, RETURN, SPACE, QUOTE = 10, 13, 32, 34
_LAST_ASCII = 127


class Fields(NamedTuple):
    """Where the fields of some lines stand.

    Attributes:
        begin: of the first line.
        ends: [line, field], the places of the delimiters and of the line feeds.
        returns: how many bytes, 0 or 1, a line has before its line feed that are no field's.
    """

    begin: int
    ends: Ints
    returns: int = 0

    def start(self, field: int) -> Ints:
        """Return where a field begins in each line."""
        if field:
            following: Ints = self.ends[:, field - 1] + 1
            return following
        return np.concatenate(([self.begin], self.ends[:-1, -1] + 1))

    def end(self, field: int) -> Ints:
        """Return where it ends."""
        ends: Ints = self.ends[:, field]
        return ends - self.returns if field == self.ends.shape[1] - 1 else ends.copy()

    def numbers(self, text: Bytes, words: Words, field: int) -> Floats | None:
        """Read a field of each line as a number; None where one is none."""
        return read_decimals(text, words, self.start(field), self.end(field))


def trec_fields(text: Bytes, begin: int, end: int, layout: Layout) -> Fields | None:
    """Find the fields of lines; None if one has not all, or blanks other than its delimiters."""
    inside = text[begin:end]
    edges = np.zeros(end, np.bool_)  # of what stands before, nothing is looked for
    np.less_equal(inside, SPACE, out=edges[begin:])
    delimiters = int(np.count_nonzero(inside == ord(layout.delimiter)))
    return _found(text, begin, edges, delimiters, layout)


def table_fields(text: Bytes, begin: int, end: int, layout: Layout) -> Fields | None:
    """Find the fields of lines; None if one has not all, or has blanks in them, or quotes."""
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
    fields = _found(text, begin, edges, delimiters, layout)
    if fields is None or not returns:
        return fields
    # Every line has a return at its end, and a field before it, or the file is not clean.
    before = fields.ends[:, -1] - 1
    if returns != lines or (text[before] != RETURN).any():
        return None
    return None if (before == fields.ends[:, -2] + 1).any() else fields._replace(returns=1)


def _found(text: Bytes, begin: int, edges: Bools, delimiters: int, layout: Layout) -> Fields | None:
    """Find the fields between edges, delimiters and line feeds; None if a line has not all, or no UTF-8."""
    if edges[begin] or (edges[1:] & edges[:-1]).any():
        return None  # a field is empty
    ends = by_line(text, edges, delimiters, len(layout.names))
    if ends is None or not is_utf8(text[begin : edges.size]):
        return None
    return Fields(begin, ends)


def by_line(text: Bytes, edges: Bools, delimiters: int, count: int) -> Ints | None:
    """Return where edges stand [line, edge]; None if a line has not so many.

    The last edge of a line is its line feed; the others are delimiters, which the caller counted.
    """
    places = np.flatnonzero(edges)
    lines, rest = divmod(places.size, count)
    if rest or delimiters != lines * (count - 1):
        return None
    found = places.reshape(-1, count)
    return None if (text[found[:, -1]] != LINE_FEED).any() else found


def is_utf8(text: Bytes) -> bool:
    """Return whether a text, of one byte at least, is UTF-8."""
    if text.max() <= _LAST_ASCII:
        return True
    try:
        text.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True
