"""Decimal numbers in text, read many at a time.

The last sixteen characters of each number are two integers of 64 bits. The point is taken
out of them by shifts, and three multiplications turn eight digits into a value. A value of up to
2^53 over a power of ten is rounded once, so it is the nearest float64, as a careful reader of
single numbers gives it.
"""

import math

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

WORD = 8  # bytes
_LONGEST = 2 * WORD
_LARGEST = np.uint64(2**53)
_FEW, _SOME = 0.1, 100  # the share of numbers, and how many, may be read one by one
_PLUS, _MINUS = ord("+"), ord("-")

_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_ZEROS = np.uint64(0x3030303030303030)
_POINTS = np.uint64(0x2E2E2E2E2E2E2E2E)
_NINES = np.uint64(0x7676767676767676)  # what lifts a byte above 9 into its highest bit
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_EIGHT, _SEVEN, _TOP = np.uint64(8), np.uint64(7), np.uint64(56)
_ZERO = np.uint64(0x30)
_HUNDRED_MILLION = np.uint64(10**WORD)
_POWERS = 10.0 ** np.arange(_LONGEST)

# Which bytes of a word the last n of eight characters are.
_LAST = np.array([(_FULL << np.uint64(8 * (8 - n))) if n else 0 for n in range(9)], np.uint64)


def read_decimals(text: Bytes, words: Words, starts: Ints, ends: Ints) -> Floats | None:
    """Return the numbers (n,) that stand at some places of a text.

    Args:
        text: the bytes.
        words: the eight bytes from each place on.
        starts: (n,) where the numbers begin, at least 16.
        ends: (n,) where they end.

    Returns None where one is no finite number, or many are longer than is read fast.
    """
    signs = text[starts]
    negative = signs == _MINUS
    starts = starts + (negative | (signs == _PLUS))
    lengths = ends - starts
    low = _digits(words[ends - WORD], lengths)
    if lengths.max() <= WORD:
        value, places, pointed, valid = _one_word(low)
    else:
        high = _digits(words[ends - _LONGEST], lengths - WORD)
        value, places, pointed, valid = _two_words(high, low)
    # A sign or a point alone is no number.
    valid &= (lengths > pointed) & (lengths <= _LONGEST) & (value <= _LARGEST)
    numbers: Floats = value.view(np.int64) / _POWERS.take(places, mode="clip")
    np.negative(numbers, out=numbers, where=negative)
    if valid.all():
        return numbers
    others = np.flatnonzero(~valid)
    if others.size > max(_FEW * ends.size, _SOME):
        return None
    for place in others.tolist():
        start = int(starts[place]) - int(signs[place] in (_PLUS, _MINUS))
        written = text[start : ends[place]].tobytes()
        if b"_" in written:  # which Python reads between digits
            return None
        try:
            numbers[place] = float(written)
        except ValueError:
            return None
        if not math.isfinite(numbers[place]):
            return None
    return numbers


def _digits(word: Words, count: Ints) -> Words:
    """Put 0 in place of what stands before the last `count` characters, of at most eight."""
    inside = _LAST.take(count, mode="clip")
    return ((word ^ _ZEROS) & inside) ^ _ZEROS


def _one_word(word: Words) -> tuple[Words, Ints, Bools, Bools]:
    """Return the digits as an integer, how many stand after a point, if any, and if all are digits."""
    found, before = _point(word)
    if not found.any():
        return _value(word), np.zeros(word.size, np.int64), found, _valid(word)
    digits, places = _without_point(word, before, _ZERO), 7 - _count(before)
    if not found.all():
        digits, places = np.where(found, digits, word), np.where(found, places, 0)
    return _value(digits), places, found, _valid(digits)


def _two_words(high: Words, low: Words) -> tuple[Words, Ints, Bools, Bools]:
    """Do the same for sixteen characters."""
    right, before = _point(low)
    low_digits = _without_point(low, before, high >> _TOP)
    high_digits = (high << _EIGHT) | _ZERO
    places = 7 - _count(before)
    left = right
    if not right.all():  # the point is further left, or there is none
        left, before = _point(high)
        moved = np.where(left, _without_point(high, before, _ZERO), high)
        low_digits = np.where(right, low_digits, low)
        high_digits = np.where(right, high_digits, moved)
        places = np.where(right, places, np.where(left, 15 - _count(before), 0))
    value = _value(high_digits) * _HUNDRED_MILLION + _value(low_digits)
    return value, places, left | right, _valid(low_digits) & _valid(high_digits)


def _point(word: Words) -> tuple[Bools, Words]:
    """Return whether there is a point, and the bytes before the first."""
    other = word ^ _POINTS
    bits = (other - _ONES) & ~other & _HIGHS
    bits &= ~bits + np.uint64(1)  # the lowest of them
    return bits != 0, (bits >> _SEVEN) - np.uint64(1)


def _without_point(word: Words, before: Words, first: Words | np.uint64) -> Words:
    """Move what stands before a point in its place, and put another byte first."""
    after = ~((before << _EIGHT) | np.uint64(0xFF))
    digits: Words = (word & after) | ((word & before) << _EIGHT) | first
    return digits


def _count(before: Words) -> Ints:
    """Return how many bytes are set."""
    return (((before & _ONES) * _ONES) >> _TOP).astype(np.int64)


def _valid(word: Words) -> Bools:
    digits = word ^ _ZEROS
    valid: Bools = (((digits + _NINES) | digits) & _HIGHS) == 0
    return valid


def _value(word: Words) -> Words:
    """Turn eight digits into their value: pairs, then fours, then all."""
    word = (word & np.uint64(0x0F0F0F0F0F0F0F0F)) * np.uint64(2561) >> _EIGHT
    word = (word & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601) >> np.uint64(16)
    return (word & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001) >> np.uint64(32)
