"""Parse decimal numbers in text, many at a time.

The last sixteen characters of each number are two 64-bit integers. Shifts remove the point, and three
multiplications turn eight digits into a value. A value of up to 2^53 is divided by a power of ten and rounded
once, so the result is the nearest float64, as when Python parses the number. Numbers with more digits need two
steps: the quotient of floats, and a correction by its remainder.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

WORD = 8  # bytes
_LONGEST = 2 * WORD
_LARGEST = np.uint64(2**53)
_FEW, _SOME = 0.1, 100  # the share of numbers, and how many, that may be parsed one by one
_WIDTH = 24  # characters of a long number
_PLUS, _MINUS = ord("+"), ord("-")
_THOUSAND, _TEN_THOUSAND, _TO_15, _TO_16 = (np.uint64(10**power) for power in (3, 4, 15, 16))
_SPLITTER = 2.0**27 + 1  # splits the 53 bits of a float64 into two halves
_DOUBT = (
    2.0**-30
)  # the distance from the middle of two floats, relative to half their distance, that is uncertain

# Characters are transformed so that digits become their values and a point becomes 30.
_ZEROS = np.uint64(0x3030303030303030)
_POINTS = np.uint64(0x1E1E1E1E1E1E1E1E)
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_NINES = np.uint64(0x7676767676767676)  # raises a byte above 9 into its highest bit
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE, _EIGHT, _TOP = np.uint64(1), np.uint64(8), np.uint64(56)
_HUNDRED_MILLION = np.uint64(10**WORD)
_POWERS: Floats = np.array(
    [10.0**places for places in range(_WIDTH - 1)]
)  # 10^22 is the last exact one
# By the number of characters, of eight, up to the point; 0 without a point.
_POWERS_BEHIND = np.array([1.0, *_POWERS[WORD - 1 :: -1]])

# Masks of the last n bytes of a word, for n from 0 to 8.
_LAST = np.array([(_FULL << np.uint64(8 * (8 - n))) if n else 0 for n in range(9)], np.uint64)


def read_decimal(written: bytes) -> float:
    """Parse one number; raise ValueError if it isn't one."""
    if b"_" in written:  # Python allows it between digits
        raise ValueError(written)
    return float(written)


def number_in_text(text: str) -> float | None:
    """Return the number that a text represents; None if it isn't one.

    >>> number_in_text("0.5"), number_in_text("1_0"), number_in_text("fast")
    (0.5, None, None)
    """
    # Python also accepts digits of every script, and reads 1_000 as 1000.
    if "_" in text or not text.isascii():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def numbers_in_texts(texts: Sequence[str]) -> list[float] | None:
    """Return the numbers that texts represent, as `number_in_text` does; None if one isn't a number.

    >>> numbers_in_texts(["0.5", "2"]), numbers_in_texts(["0.5", "1_0"])
    ([0.5, 2.0], None)
    """
    every = "".join(texts)
    if "_" in every or not every.isascii():
        return None
    try:
        return [*map(float, texts)]
    except ValueError:
        return None


def read_decimals(
    text: Bytes,
    words: Words,
    starts: Ints,
    ends: Ints,
    read_one: Callable[[bytes], float] = read_decimal,
) -> Floats | None:
    """Return the numbers (n,) at the given positions of a text.

    None if one isn't a finite number, or if many are too long for the fast path. −0 becomes 0.

    Args:
        text: the bytes.
        words: the eight bytes that start at each position.
        starts: (n,) where the numbers begin, at least 16.
        ends: (n,) where they end.
        read_one: parses the few numbers that are longer or have an exponent; raises ValueError for text
            that isn't a number.
    """
    if text[starts[0]] > _MINUS:  # then few numbers have a sign, or none
        numbers, valid = _unsigned(words, starts, ends)
        if valid is None:
            return numbers
    signs = text[starts]
    if signs.min() <= _MINUS:  # also catches a plus; points and digits are above
        negative = signs == _MINUS
        numbers, valid = _unsigned(words, starts + (negative | (signs == _PLUS)), ends)
        np.negative(numbers, out=numbers, where=negative)
        numbers += 0.0  # turns −0 into 0
    if valid is None:
        return numbers
    others = np.flatnonzero(~valid)
    if others.size > _SOME:  # fewer are parsed quickly one by one
        others = others[~_read_long(text, words, starts, ends, others, numbers)]
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
    """Return the numbers (n,), and which of them are right; None if all are.

    Threads wait for Python's lock after each operation, so properties of all numbers are checked first, and
    single numbers only if necessary.
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
        shortest > 1  # a point alone isn't a number
        and longest <= _LONGEST
        and not np.bitwise_or.reduce(marks) & _HIGHS
        and (longest <= WORD or value.max() <= _LARGEST)
    ):
        return numbers, None
    valid = (marks & _HIGHS) == 0
    valid &= lengths > pointed
    valid &= (lengths <= _LONGEST) & (value <= _LARGEST)
    return numbers, None if valid.all() else valid


def _read_long(
    text: Bytes, words: Words, starts: Ints, ends: Ints, rows: Ints, numbers: Floats
) -> Bools:
    """Parse numbers of up to 24 characters and 19 digits, with a point, at some rows into `numbers` (n,).

    Returns which were parsed (m,); others are longer, have an exponent, or can't be rounded with certainty.
    """
    first, ends = text[starts[rows]], ends[rows]
    negative = first == _MINUS
    lengths = ends - starts[rows] - (negative | (first == _PLUS))
    low, high, top = (_digits(words[ends - to], lengths - to + WORD) for to in (8, 16, 24))
    value, powers, pointed, marks = _two_words(high, low)
    found, upto = _point(top)
    upto *= found
    digits = _without_point(top, upto)
    leading = _value(digits)
    marks |= _marks(digits)
    # 15 digits follow if one of the last 16 characters is a point, otherwise 16; the maximum is 19.
    sure: Bools = (leading < np.where(pointed, _TEN_THOUSAND, _THOUSAND)) & (pointed != found)
    sure &= ((marks & _HIGHS) == 0) & (lengths > 1) & (lengths <= _WIDTH)
    value += leading * np.where(pointed, _TO_15, _TO_16)
    value[~sure] = 0
    powers = np.where(found, _POWERS.take(_WIDTH - _count(upto), mode="clip"), powers)
    quotient, certain = _divided(value, powers)
    sure &= certain
    np.negative(quotient, out=quotient, where=negative)
    numbers[rows[sure]] = quotient[sure]
    return sure


def _divided(values: Words, powers: Floats) -> tuple[Floats, Bools]:
    """Divide integers by powers of ten: the nearest float64 (n,), and where that is certain.

    An integer is the exact sum of a float and a rest, and the remainder of the float's division is the sum
    of two floats. So the quotient is known to more than 90 bits before it is rounded once.
    """
    high = values.astype(np.float64)
    rest = (values - high.astype(np.uint64)).view(np.int64).astype(np.float64)
    quotient = high / powers
    product = quotient * powers
    remainder = (high - product) - _product_error(quotient, powers, product)
    more = (remainder + rest) / powers
    rounded: Floats = quotient + more
    left = np.abs(more - (rounded - quotient))  # the part lost by rounding
    half = np.spacing(rounded) / 2
    # Below a power of two, the next float is half as far away.
    certain = (np.abs(left - half) > half * _DOUBT) & (np.abs(left - half / 2) > half * _DOUBT)
    return rounded, certain


def _product_error(left: Floats, right: Floats, product: Floats) -> Floats:
    """Return left · right − product, exactly, from halves of 26 bits."""
    left_high, left_low = _halves(left)
    right_high, right_low = _halves(right)
    error: Floats = left_high * right_high - product
    error += left_high * right_low
    error += left_low * right_high
    error += left_low * right_low
    return error


def _halves(numbers: Floats) -> tuple[Floats, Floats]:
    scaled = numbers * _SPLITTER
    high = scaled - (scaled - numbers)
    return high, numbers - high


def are_digits(words: Words, starts: Ints, ends: Ints) -> bool:
    """Return whether the fields between starts and ends contain only digits; starts are at least 16."""
    lengths = ends - starts
    for place in range(0, int(lengths.max(initial=0)), WORD):
        # For short fields, this position may be before the text.
        word = words[np.maximum(ends - place - WORD, 0)]
        if np.bitwise_or.reduce(_marks(_digits(word, lengths - place))) & _HIGHS:
            return False
    return True


def _digits(word: Words, count: Ints) -> Words:
    """Return the last `count` characters, of at most eight, transformed, with 0 before them."""
    word ^= _ZEROS
    word &= _LAST.take(count, mode="clip")
    return word


def _one_word(word: Words) -> tuple[Words, Floats, Bools, Words]:
    """Return the digits as an integer, the divisor, whether there is a point, and the marks."""
    found, upto = _point(word)
    if not found.all():
        if not found.any():
            return _value(word), np.ones(word.size), found, _marks(word)
        upto *= found
    digits = _without_point(word, upto)
    return _value(digits), _POWERS_BEHIND.take(_count(upto)), found, _marks(digits)


def _two_words(high: Words, low: Words) -> tuple[Words, Floats, Bools, Words]:
    """Return the same for sixteen characters."""
    pointed, upto = _point(low)
    places = WORD - _count(upto)
    low_digits = _without_point(low, upto)
    low_digits |= (
        high >> _TOP
    )  # the last byte of the other word, if removing the point has left room
    high_digits = high << _EIGHT
    if not pointed.all():  # the point is further left, or missing
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
    """Return whether there is a point, and the bytes up to the first point; all bytes without one."""
    other = word ^ _POINTS
    bits = other - _ONES
    np.invert(other, out=other)
    bits &= other
    bits &= _HIGHS  # the lowest of them is the point
    upto = bits - _ONE
    upto ^= bits
    return bits != 0, upto


def _without_point(word: Words, upto: Words) -> Words:
    """Move the digits before a point one place into it, which leaves a 0 first."""
    digits = word << _EIGHT
    digits ^= word
    digits &= upto
    digits ^= word
    return digits


def _count(upto: Words) -> Ints:
    """Return how many bytes are set."""
    return (((upto & _ONES) * _ONES) >> _TOP).view(np.int64)


def _marks(word: Words) -> Words:
    """Return words in which the highest bit of a byte is set unless it is a digit; other bits are arbitrary."""
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
