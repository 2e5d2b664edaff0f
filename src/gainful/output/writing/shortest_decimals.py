"""Numbers as the shortest decimals that read back bit for bit, written many at a time.

The counterpart of `rows/decimal_parsing.py`. A float64 times a power of ten is a sum of two float64:
the first holds an integer of seventeen digits, the second the remainder, without any error that matters.
Every decimal less than half a unit in the last place away reads back as the same number. The
nearest multiple of a hundred is therefore used if it is that close, otherwise the nearest multiple
of ten, and otherwise the nearest integer. Numbers that are too close to call, very large or very
small are written individually.
"""

import numpy as np
from numpy.typing import NDArray

from gainful.array_types import Bools, Floats, Ints

Words = NDArray[np.uint64]

WIDTH = 24  # characters of the longest number
_WORD = 8

_LEAST, _MOST = 1e-280, 1e15  # the largest number written here
_PLAIN = -4  # the lowest power of ten without an exponent
_LAST = 16  # of seventeen digits
_LOWEST, _HIGHEST = -281, 16  # powers of ten in the table
_STEPS = np.array([float(f"1e{power}") for power in range(_LOWEST, _HIGHEST + 1)])
_TENS = np.array([10.0**power for power in range(_LAST - _LOWEST)])
# The error of these, because powers above 22 aren't exact as float64.
_LACKING = np.array([float(10**power - int(ten)) for power, ten in enumerate(_TENS.tolist())])
_SPLIT = 2.0**27 + 1  # halves the 53 bits of a float64 (Dekker)
_CLOSE = 1e-6
_FRACTION = np.uint64((1 << 52) - 1)
_BIAS, _PLACES = 1023, np.uint64(52)

_ONES = np.uint64(0x0101010101010101)
_SEVENS = np.uint64(0x7F7F7F7F7F7F7F7F)
_HIGHS = np.uint64(0x8080808080808080)
_ZERO = np.uint64(ord("0"))
_EIGHT_DIGITS = 10**_WORD


def _halves(numbers: Floats) -> tuple[Floats, Floats]:
    """Return two float64 with half as many bits each, whose sum is the number."""
    many = _SPLIT * numbers
    high = many - (many - numbers)
    return high, numbers - high


_TENS_HIGH, _TENS_LOW = _halves(_TENS)


def _heads() -> tuple[Words, Words]:
    """Return the bytes around the first digit of numbers below 10, and the number of bits it is shifted."""
    heads, shifts = [], []
    for sign in ("", "-"):
        for zeros in range(5):  # 1.5, 0.15, …, 0.00015
            before = sign if zeros == 0 else f"{sign}0.{'0' * (zeros - 1)}"
            text = before.encode() + (b"\0." if zeros == 0 else b"\0")
            heads.append(int.from_bytes(text, "little"))
            shifts.append(8 * len(before))
    return np.array(heads, np.uint64), np.array(shifts, np.uint64)


_HEADS, _SHIFTS = _heads()
_EXPONENTS = np.array([f"e-{power:02d}".encode() for power in range(1 - _LOWEST)], "S5")
_EXPONENTS = _EXPONENTS.view(np.uint8).reshape(-1, 5)
# The digits of 0 to 9,999, a byte each, the first lowest.
_FOURS = sum(
    (np.arange(10_000, dtype=np.uint32) // 10 ** (3 - place) % 10) << (8 * place)
    for place in range(4)
)


def shortest_decimals(values: Floats) -> Words:
    r"""Return the characters (n, 3) of finite numbers, eight in a word, as `repr` writes them.

    A character may be 0, anywhere; such characters aren't printed.

    >>> cells = shortest_decimals(np.array([0.1, -12.5, 1e300]))
    >>> [row.tobytes().replace(b"\0", b"").decode() for row in cells]
    ['0.1', '-12.5', '1e+300']
    """
    size = np.abs(values)
    zero = size == 0
    usual = (size >= _LEAST) & (size < _MOST)
    size = np.where(usual, size, 1.0)
    bits = size.view(np.uint64)
    exponent = (bits >> _PLACES).view(np.int64) - _BIAS
    power = (exponent * 1292913986) >> 32  # the power of ten, or one less
    power += size >= _STEPS.take(power + (1 - _LOWEST))
    first, middle, last, sure = _digits(size, bits, exponent, power)
    if zero.any():
        first, middle, last = (np.where(zero, np.uint64(0), part) for part in (first, middle, last))
        usual |= zero
    cells = np.empty((values.size, WIDTH // _WORD), np.uint64)
    middle, last = _characters(middle), _characters(last)
    behind = _kept(last)
    cells[:, 2] = last + behind * _ZERO
    through = np.where(behind != 0, _ONES, _kept(middle))
    through |= power >= 0  # at least one digit after the point
    cells[:, 1] = middle + through * _ZERO
    kind = np.clip(-power, 0, 4) + 5 * (values < 0)
    cells[:, 0] = _HEADS.take(kind) | ((first + _ZERO) << _SHIFTS.take(kind))
    for digits in set(power[power > 0].tolist()) if power.max(initial=0) > 0 else ():
        rows = np.flatnonzero(power == digits)
        cells[rows] = _with_point(cells[rows], first[rows], digits, values[rows] < 0)
    small = np.flatnonzero(power < _PLAIN)
    if small.size:
        cells[small] = _with_exponent(cells[small], first[small], power[small], values[small] < 0)
    usual &= sure
    for row in np.flatnonzero(~usual).tolist():
        text = repr(float(values[row])).encode()
        cells[row] = np.frombuffer(text.ljust(WIDTH, b"\0"), np.uint64)
    return cells


def _digits(
    size: Floats, bits: Words, exponent: Ints, power: Ints
) -> tuple[Words, Words, Words, Bools]:
    """Return the seventeen digits of numbers, as one, eight and eight, and whether they are certain."""
    scale = _LAST - power
    tens = _TENS.take(scale)
    high, low = _halves(size)
    tens_high, tens_low = _TENS_HIGH.take(scale), _TENS_LOW.take(scale)
    whole = size * tens
    rest = high * tens_high
    rest -= whole
    rest += high * tens_low
    rest += low * tens_high
    rest += low * tens_low
    rest += size * _LACKING.take(scale)
    nearest = np.rint(rest)
    fraction = rest - nearest
    number = whole.astype(np.int64)
    number += nearest.astype(np.int64)
    half = ((exponent + (_BIAS - 53)) << 52).view(np.float64) * tens  # of a unit in the last place

    above = (number.view(np.uint64) // np.uint64(_EIGHT_DIGITS)).view(np.int64)  # never negative
    below = number - above * _EIGHT_DIGITS
    hundredth = below - ((below * 1374389535) >> 37) * 100
    tenth = hundredth - ((hundredth * 103) >> 10) * 10
    past_hundred, past_ten = hundredth + fraction, tenth + fraction
    to_hundred = np.minimum(past_hundred, 100 - past_hundred)
    to_ten = np.minimum(past_ten, 10 - past_ten)
    np.abs(to_hundred, out=to_hundred)
    np.abs(to_ten, out=to_ten)
    by_hundred, by_ten = to_hundred < half, to_ten < half
    sure = np.abs(to_hundred - half) > _CLOSE
    sure &= np.abs(to_ten - half) > _CLOSE
    sure &= (np.abs(past_ten - 5) > _CLOSE) | by_hundred | ~by_ten
    sure &= (np.abs(fraction) < 0.5 - _CLOSE) | by_ten
    # Below a power of two, numbers are twice as close.
    sure &= ((bits & _FRACTION) != 0) | (to_hundred == 0)
    step = np.where(by_ten, np.where(past_ten < 5, -tenth, 10 - tenth), 0)
    step = np.where(by_hundred, np.where(past_hundred < 50, -hundredth, 100 - hundredth), step)
    below += step
    carried = below >= _EIGHT_DIGITS
    if carried.any():
        above += carried
        below -= carried * _EIGHT_DIGITS
    first = (above * 1441151881) >> 57  # a hundred millionth
    return (
        first.view(np.uint64),
        (above - first * _EIGHT_DIGITS).view(np.uint64),
        below.view(np.uint64),
        sure,
    )


def _characters(number: Words) -> Words:
    """Return eight digits as bytes from 0 to 9, the first lowest, four of them at a time."""
    high = (number * np.uint64(3518437209)) >> np.uint64(45)
    halves = np.empty((number.size, 2), np.uint32)
    halves[:, 0] = _FOURS.take(high.view(np.int64))
    number = number - high * np.uint64(10_000)
    halves[:, 1] = _FOURS.take(number.view(np.int64))
    return halves.view(np.uint64).ravel()


def _kept(digits: Words) -> Words:
    """Return 1 in each byte, except for trailing zeros."""
    kept = digits | (digits >> np.uint64(8))
    kept |= kept >> np.uint64(16)
    kept |= kept >> np.uint64(32)
    kept += _SEVENS
    kept &= _HIGHS
    kept >>= np.uint64(7)
    return kept


def _with_exponent(cells: Words, first: Words, power: Ints, negative: Bools) -> Words:
    """Write numbers with an exponent, and with a point if a digit follows it."""
    lines = np.empty((len(cells), WIDTH), np.uint8)
    characters = cells.view(np.uint8).reshape(len(cells), WIDTH)[:, _WORD:]
    lines[:, 0] = np.where(negative, ord("-"), 0)
    lines[:, 1] = first + _ZERO
    lines[:, 2] = np.where(characters[:, 0] != 0, ord("."), 0)
    lines[:, 3 : _LAST + 3] = characters
    lines[:, _LAST + 3 :] = _EXPONENTS[-power]
    return lines.view(np.uint64)


def _with_point(cells: Words, first: Words, digits: int, negative: Bools) -> Words:
    """Move the point of numbers from 10 on after the first and so many further digits."""
    lines = np.zeros((len(cells), WIDTH), np.uint8)
    characters = cells.view(np.uint8).reshape(len(cells), WIDTH)[:, _WORD:]
    lines[:, 0] = np.where(negative, ord("-"), 0)
    lines[:, 1] = first + _ZERO
    lines[:, 2 : digits + 2] = characters[:, :digits] | np.uint8(ord("0"))
    lines[:, digits + 2] = ord(".")
    lines[:, digits + 3 : _LAST + 3] = characters[:, digits:]
    if digits < _LAST:
        lines[:, digits + 3] |= np.uint8(ord("0"))
    return lines.view(np.uint64)
