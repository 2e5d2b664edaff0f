"""Where the values of clean JSON lines stand: all lines are the first one with other values.

What is not a value, `{"query": "`, `", "doc": "`, `", "score": ` and `}`, is the skeleton of the first
line. Between two values is a comma, and the quote before the next key; where these are found in
each line, the bytes around them are compared with the skeleton's.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.array_types import Bools, Floats, Ints
from gainful.inputs.clean_field_positions import LINE_FEED, QUOTE, RETURN, SPACE, by_line, is_utf8
from gainful.inputs.decimal_parsing import WORD, Bytes, Words, are_digits, read_decimals
from gainful.inputs.format_detection import Layout
from gainful.inputs.values_as_numbers import is_exact

_COMMA, _BACKSLASH, _MINUS, _ZERO, _NINE = (ord(mark) for mark in ",\\-09")
_STRING = rb'"[^"\\\x00-\x1f]*"'
_NUMBER = rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_MEMBER = re.compile(
    rb"([{,] *" + _STRING + rb" *: *)(?:(" + _STRING + rb")|" + _NUMBER + rb")( *)"
)
_END = re.compile(rb"\} *\r?\n")


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What all lines of a file have in common.

    Attributes:
        literals: (v+1) what stands before, between and behind the values; quotes of strings are
            in them.
        strings: (v) which of the values are strings; the others are numbers.
        step: how far the quote before a key is from the comma between two values.
        layout: which of the values are read.
    """

    literals: tuple[bytes, ...]
    strings: tuple[bool, ...]
    step: int
    layout: Layout

    def fields(self, text: Bytes, words: Words, begin: int, end: int) -> "JsonFields | None":
        """Find the values of lines; None if one has another skeleton, or values that are not clean."""
        edges = self._edges(text, begin, end)
        if edges is None or not is_utf8(text[begin:end]):
            return None
        found = self._between(text, begin, edges)
        return found if found is not None and self._are_clean(found, text, words) else None

    def _edges(self, text: Bytes, begin: int, end: int) -> Ints | None:
        """Return where the quotes behind commas and the line feed of each line stand [line, edge].

        None if a line has others, if the skeleton does not have all quotes, or if there are escapes.
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
        if self.step > 1:  # or an id such as a,b would seem to end before a key
            quotes[1:] &= inside[:-1] == SPACE
        behind = int(np.count_nonzero(quotes))
        edges = np.zeros(end, np.bool_)  # of what stands before, nothing is looked for
        np.logical_or(quotes, feeds, out=edges[begin:])
        return by_line(text, edges, behind, len(self.strings))

    def _between(self, text: Bytes, begin: int, edges: Ints) -> "JsonFields | None":
        """Find what stands between the literals; None where these are others."""
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
                # Where literals share a byte, quotes were counted in vain.
                if (place < starts[-1]).any():
                    return None
            if 0 < at < len(self.strings) and not _stands(literal, text, place):
                return None
            starts.append(place + len(literal))
        # From the end of a line to the next: the fewer looks at the text, the better.
        first, last = self.literals[0], self.literals[-1]
        edge = starts[0][:1] - len(first)
        if not (_stands(first, text, edge) and _stands(last, text, place[-1:])):
            return None
        if place.size > 1 and not _stands(last + first, text, place[:-1]):
            return None
        return JsonFields(starts[:-1], ends)

    def _are_clean(self, found: "JsonFields", text: Bytes, words: Words) -> bool:
        """Return whether ids are whole numbers or not empty, and other numbers are some."""
        query, doc, number = self.layout.places
        for at, (start, end) in enumerate(zip(*found, strict=True)):
            if at in (query, doc):
                if not (
                    (end > start).all() if self.strings[at] else _are_ids(text, words, start, end)
                ):
                    return False
            elif at != number and not self.strings[at] and found.numbers(text, words, at) is None:
                return False
        return True


class JsonFields(NamedTuple):
    """Where the values of some lines stand: from (v), to (v) each (n,)."""

    starts: list[Ints]
    ends: list[Ints]

    def start(self, field: int) -> Ints:
        """Return where a value begins in each line."""
        return self.starts[field]

    def end(self, field: int) -> Ints:
        """Return where it ends."""
        return self.ends[field]

    def numbers(self, text: Bytes, words: Words, field: int) -> Floats | None:
        """Read a value of each line as a number; None where one is none in JSON."""
        start, end = self.starts[field], self.ends[field]
        # What else is read as a number is 1.e5, which has an exponent and so is read alone.
        if not _begin_with_digits(text, start) or not _is_digit(text[end - 1]).all():
            return None
        return read_decimals(text, words, start, end, _read_number)


def skeleton_of(head: bytes, layout: Layout) -> Skeleton | None:
    r"""Return the skeleton of lines, of which the first is whole; None where they are not clean.

    >>> layout = Layout("jsonl", names=("q", "d", "s"), places=(0, 1, 2))
    >>> skeleton_of(b'{"q": "1", "d": 7, "s": 0.5}\n{"q"', layout).literals
    (b'{"q": "', b'", "d": ', b', "s": ', b'}\n')
    """
    line = head.partition(b"\n")[0] + b"\n"
    literals = [b""]
    strings: list[bool] = []
    steps: list[int] = []  # from the mark before each key to its quote
    place = 0
    while member := _MEMBER.match(line, place):
        key, string, blanks = member.groups()
        quote = b"" if string is None else b'"'
        literals[-1] += key + quote
        literals.append(quote + blanks)
        strings.append(string is not None)
        steps.append(key.index(QUOTE))
        place = member.end()
    # A key that stands twice is one name.
    if not _END.fullmatch(line, place) or len(strings) != len(layout.names):
        return None
    literals[-1] += line[place:]
    number = layout.places[2]
    if (number >= 0 and strings[number]) or len({*steps[1:]}) != 1:
        return None
    return Skeleton(tuple(literals), tuple(strings), steps[1], layout)


def _stands(literal: bytes, text: Bytes, places: Ints) -> bool:
    """Return whether a literal stands at some places of a text, which ascend.

    Compared are integers of eight bytes each: while strings of bytes are, all other threads wait.
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
    """Return whether values begin as numbers in JSON do: no plus, no point, no 0 before a digit."""
    first = start + (text[start] == _MINUS)
    digits = text[first]
    if not _is_digit(digits).all():
        return False
    # Behind a value stands a literal, which begins with none.
    return not ((digits == _ZERO) & _is_digit(text[first + 1])).any()


def _are_ids(text: Bytes, words: Words, start: Ints, end: Ints) -> bool:
    """Return whether values are integers, as they are written where they are ids: −0 would be 0."""
    negative = text[start] == _MINUS
    first = start + negative
    if not _begin_with_digits(text, start) or (negative & (text[first] == _ZERO)).any():
        return False
    return are_digits(words, first, end)


def _read_number(written: bytes) -> float:
    """Read one number as JSON has it; a ValueError says that it is none, or is not held exactly."""
    # Imported here because most files have no such numbers.
    import json

    value = json.loads(written)
    if isinstance(value, int) and not is_exact(value):
        raise ValueError(written)
    return float(value)
