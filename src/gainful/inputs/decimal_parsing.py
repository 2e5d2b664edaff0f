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
_POINTS = np.uint64(0x1E1E1E1E1E1E1E1E)
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_NINES = np.uint64(0x7676767676767676)  # what lifts a byte above 9 into its highest bit
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE, _EIGHT, _TOP = np.uint64(1), np.uint64(8), np.uint64(56)
_HUNDRED_MILLION = np.uint64(10**WORD)
_POWERS: Floats = np.array([10.0**places for places in range(_LONGEST)])
# By how many of eight characters there are up to a point; 0 where there is none.
_POWERS_BEHIND = np.array([1.0, *_POWERS[WORD - 1 :: -1]])

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

    Returns None where one is no finite number, or many are longer than is read fast. There is no −0.
    """
    if text[starts[0]] > _MINUS:  # then few have a sign, or none
        numbers, valid = _unsigned(words, starts, ends)
        if valid is None:
            return numbers
    signs = text[starts]
    if signs.min() <= _MINUS:  # or a plus: points and digits are above
        negative = signs == _MINUS
        numbers, valid = _unsigned(words, starts + (negative | (signs == _PLUS)), ends)
        np.negative(numbers, out=numbers, where=negative)
        numbers += 0.0  # there is no −0
    if valid is None:
        return numbers
    others = np.flatnonzero(~valid)
    if others.size > max(_FEW * ends.size, _SOME):
        return None
    for place in others.tolist():
        try:
            numbers[place] = read_one(text[starts[place] : ends[place]].tobytes()) + 0.0
        except ValueError:
            return None
        if not math.isfinite(numbers[place]):
            return None
    return numbers


def _unsigned(words: Words, starts: Ints, ends: Ints) -> tuple[Floats, Bools | None]:
    """Return the numbers (n,), and which of them are right; None for all.

    Threads wait for Python's lock after each operation, so what all numbers have in common is
    looked at first, and each of them only if need be.
    """
    lengths = ends - starts
    shortest, longest = int(lengths.min()), int(lengths.max())
    low = _digits(words[ends - WORD], lengths)
    if longest <= WORD:
        value, powers, pointed, marks = _one_word(low)
    else:
        high = _digits(words[ends - _LONGEST], lengths - WORD)
        value, powers, pointed, marks = _two_words(high, low)
    numbers: Floats = value.view(np.int64) / powers
    if (
        shortest > 1  # a point alone is no number
        and longest <= _LONGEST
        and not np.bitwise_or.reduce(marks) & _HIGHS
        and (longest <= WORD or value.max() <= _LARGEST)
    ):
        return numbers, None
    valid = (marks & _HIGHS) == 0
    valid &= lengths > pointed
    valid &= (lengths <= _LONGEST) & (value <= _LARGEST)
    return numbers, None if valid.all() else valid


def are_digits(words: Words, starts: Ints, ends: Ints) -> bool:
    """Return whether nothing but digits stands at some places of a text, each from 16 on."""
    lengths = ends - starts
    for place in range(0, int(lengths.max(initial=0)), WORD):
        # For short ones, it may lie before the text.
        word = words[np.maximum(ends - place - WORD, 0)]
        if np.bitwise_or.reduce(_marks(_digits(word, lengths - place))) & _HIGHS:
            return False
    return True


def _digits(word: Words, count: Ints) -> Words:
    """Return the last `count` characters, of at most eight, turned; 0 before them."""
    word ^= _ZEROS
    word &= _LAST.take(count, mode="clip")
    return word


def _one_word(word: Words) -> tuple[Words, Floats, Bools, Words]:
    """Return the digits as an integer, what to divide it by, if there is a point, and the marks."""
    found, upto = _point(word)
    if not found.all():
        if not found.any():
            return _value(word), np.ones(word.size), found, _marks(word)
        upto *= found
    digits = _without_point(word, upto)
    return _value(digits), _POWERS_BEHIND.take(_count(upto)), found, _marks(digits)


def _two_words(high: Words, low: Words) -> tuple[Words, Floats, Bools, Words]:
    """Do the same for sixteen characters."""
    pointed, upto = _point(low)
    places = WORD - _count(upto)
    low_digits = _without_point(low, upto)
    low_digits |= high >> _TOP  # what was last of the other word, where a point has left room
    high_digits = high << _EIGHT
    if not pointed.all():  # the point is further left, or there is none
        left, upto = _point(high)
        moved = np.where(left, _without_point(high, upto), high)
        low_digits = np.where(pointed, low_digits, low)
        high_digits = np.where(pointed, high_digits, moved)
        places = np.where(pointed, places, np.where(left, _LONGEST - _count(upto), 0))
        pointed = left | pointed
    value: Words = _value(high_digits) * _HUNDRED_MILLION + _value(low_digits)
    marks: Words = _marks(low_digits) | _marks(high_digits)
    return value, _POWERS.take(places), pointed, marks


def _point(word: Words) -> tuple[Bools, Words]:
    """Return whether there is a point, and the bytes up to the first; all where there is none."""
    other = word ^ _POINTS
    bits = other - _ONES
    np.invert(other, out=other)
    bits &= other
    bits &= _HIGHS  # the lowest of them is the point's
    upto = bits - _ONE
    upto ^= bits
    return bits != 0, upto


def _without_point(word: Words, upto: Words) -> Words:
    """Move what stands before a point in its place, which leaves a 0 first."""
    digits = word << _EIGHT
    digits ^= word
    digits &= upto
    digits ^= word
    return digits


def _count(upto: Words) -> Ints:
    """Return how many bytes are set."""
    return (((upto & _ONES) * _ONES) >> _TOP).view(np.int64)


def _marks(word: Words) -> Words:
    """Return words with the highest bit of a byte set where it is no digit; other bits are any."""
    marks = word + _NINES
    marks |= word
    return marks


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
