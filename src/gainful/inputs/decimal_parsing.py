"""Decimal numbers in text, read many at a time.

The last sixteen characters of each number are two integers of 64 bits. The point is taken
out of them by shifts, and three multiplications turn eight digits into a value. A value of up to
2^53 over a power of ten is rounded once, so it is the nearest float64, as a careful reader of
single numbers gives it.
"""

import math
from collections.abc import Callable

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

# Bytes of characters are turned so that digits are their values, and a point is 30.
_ZEROS = np.uint64(0x3030303030303030)
_POINT = np.uint64(0x1E)
_POINTS = np.uint64(0x1E1E1E1E1E1E1E1E)
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_NINES = np.uint64(0x7676767676767676)  # what lifts a byte above 9 into its highest bit
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE, _SEVEN, _EIGHT, _TOP = np.uint64(1), np.uint64(7), np.uint64(8), np.uint64(56)
_HUNDRED_MILLION = np.uint64(10**WORD)
_POWERS = 10.0 ** np.arange(_LONGEST)

# Which bytes of a word the last n of eight characters are.
_LAST = np.array([(_FULL << np.uint64(8 * (8 - n))) if n else 0 for n in range(9)], np.uint64)


def read_decimal(written: bytes) -> float:
    """Read one number; a ValueError says that it is none."""
    if b"_" in written:  # which Python reads between digits
        raise ValueError(written)
    return float(written)


def read_decimals(
    text: Bytes,
    words: Words,
    starts: Ints,
    ends: Ints,
    read_one: Callable[[bytes], float] = read_decimal,
) -> Floats | None:
    """Return the numbers (n,) that stand at some places of a text.

    Args:
        text: the bytes.
        words: the eight bytes from each place on.
        starts: (n,) where the numbers begin, at least 16.
        ends: (n,) where they end.
        read_one: reads those, few, that are longer or have an exponent; a ValueError says that one
            is no number.

    Returns None where one is no finite number, or many are longer than is read fast.
    """
    signs = text[starts]
    negative = None
    if signs.min() <= _MINUS:  # or a plus: points and digits are above
        negative = signs == _MINUS
        starts = starts + (negative | (signs == _PLUS))
    lengths = ends - starts
    low = _digits(words[ends - WORD], lengths)
    if lengths.max() <= WORD:
        value, places, pointed, valid = _one_word(low)
    else:
        high = _digits(words[ends - _LONGEST], lengths - WORD)
        value, places, pointed, valid = _two_words(high, low)
        valid &= (lengths <= _LONGEST) & (value <= _LARGEST)
    valid &= lengths > pointed  # a sign or a point alone is no number
    numbers: Floats = value.view(np.int64) / _POWERS.take(places, mode="clip")
    if negative is not None:
        np.negative(numbers, out=numbers, where=negative)
    if valid.all():
        return numbers
    others = np.flatnonzero(~valid)
    if others.size > max(_FEW * ends.size, _SOME):
        return None
    for place in others.tolist():
        start = int(starts[place]) - int(signs[place] in (_PLUS, _MINUS))
        try:
            numbers[place] = read_one(text[start : ends[place]].tobytes())
        except ValueError:
            return None
        if not math.isfinite(numbers[place]):
            return None
    return numbers


def are_digits(words: Words, starts: Ints, ends: Ints) -> bool:
    """Return whether nothing but digits stands at some places of a text, each from 16 on."""
    lengths = ends - starts
    for place in range(0, int(lengths.max(initial=0)), WORD):
        # For short ones, it may lie before the text.
        word = words[np.maximum(ends - place - WORD, 0)]
        if not _valid(_digits(word, lengths - place)).all():
            return False
    return True


def _digits(word: Words, count: Ints) -> Words:
    """Return the last `count` characters, of at most eight, turned; 0 before them."""
    word ^= _ZEROS
    word &= _LAST.take(count, mode="clip")
    return word


def _one_word(word: Words) -> tuple[Words, Ints, Bools, Bools]:
    """Return the digits as an integer, how many stand after a point, if any, and if all are digits."""
    found, point, before = _point(word)
    if not found.any():
        return _value(word), np.zeros(word.size, np.int64), found, _valid(word)
    places = (7 - _count(before)) * found
    before *= found
    digits = _without_point(word, point, before)
    return _value(digits), places, found, _valid(digits)


def _two_words(high: Words, low: Words) -> tuple[Words, Ints, Bools, Bools]:
    """Do the same for sixteen characters."""
    right, point, before = _point(low)
    places = 7 - _count(before)
    low_digits = _without_point(low, point, before)
    low_digits |= high >> _TOP  # what was last of the other word, where a point has left room
    high_digits = high << _EIGHT
    left = right
    if not right.all():  # the point is further left, or there is none
        left, point, before = _point(high)
        moved = np.where(left, _without_point(high, point, before), high)
        low_digits = np.where(right, low_digits, low)
        high_digits = np.where(right, high_digits, moved)
        places = np.where(right, places, np.where(left, 15 - _count(before), 0))
    value = _value(high_digits) * _HUNDRED_MILLION + _value(low_digits)
    return value, places, left | right, _valid(low_digits) & _valid(high_digits)


def _point(word: Words) -> tuple[Bools, Words, Words]:
    """Return whether there is a point, the lowest bit of the first, and the bytes before it."""
    other = word ^ _POINTS
    bits = other - _ONES
    np.invert(other, out=other)
    bits &= other
    bits &= _HIGHS
    bits &= -bits  # the lowest of them
    bits >>= _SEVEN
    return bits != 0, bits, bits - _ONE


def _without_point(word: Words, point: Words, before: Words) -> Words:
    """Move what stands before a point in its place, which leaves a 0 first."""
    digits = word ^ (point * _POINT)
    # What is moved by a byte is 256 times as much.
    digits += (digits & before) * np.uint64(255)
    return digits


def _count(before: Words) -> Ints:
    """Return how many bytes are set."""
    return (((before & _ONES) * _ONES) >> _TOP).view(np.int64)


def _valid(word: Words) -> Bools:
    """Return whether all bytes are digits."""
    high = word + _NINES
    high |= word
    high &= _HIGHS
    valid: Bools = high == 0
    return valid


def _value(word: Words) -> Words:
    """Turn eight digits into their value: pairs, then fours, then all."""
    word = word * np.uint64(2561)
    word >>= _EIGHT
    word &= np.uint64(0x00FF00FF00FF00FF)
    word *= np.uint64(6553601)
    word >>= np.uint64(16)
    word &= np.uint64(0x0000FFFF0000FFFF)
    word *= np.uint64(42949672960001)
    word >>= np.uint64(32)
    return word
