"""Numbers in the notation, which read back without loss."""

import math
import numbers
from dataclasses import dataclass

from gainful.errors import MeasureError
from gainful.message_texts import shown

_LARGEST_PLAIN = 1e15  # smaller whole floats are written exactly, without a decimal point


def write_number(value: float) -> str:
    """Write a number as the shortest text that reads back as the same float.

    >>> write_number(10.0), write_number(0.1), write_number(2.718281828459045)
    ('10', '0.1', 'e')
    """
    if value == math.e:
        return "e"
    if value == int(value) and abs(value) < _LARGEST_PLAIN:
        return str(int(value))
    return repr(value)


def _is_real(value: object) -> bool:
    # A Decimal is registered as a Number, but neither as Real nor as Complex.
    decimal = isinstance(value, numbers.Number) and not isinstance(value, numbers.Complex)
    return decimal or isinstance(value, numbers.Real)


def read_number(value: object, *, where: str, expected: str = "a finite number") -> float:
    """Read a finite number from a number or its text (`e` is Euler's number).

    >>> read_number("0.5", where="p"), read_number("e", where="base")
    (0.5, 2.718281828459045)
    """
    number = math.nan
    if isinstance(value, str):
        text = value.strip()
        if text.casefold() == "e":
            return math.e
        if "_" not in text:  # Python reads 1_0 as 10; nobody else does
            try:
                number = float(text)
            except ValueError:
                number = math.nan
    elif _is_real(value) and not _is_truth(value):
        try:
            number = float(value)  # type: ignore[arg-type]
        except OverflowError:
            number = math.inf
        except ValueError:  # a signalling NaN of Decimal
            number = math.nan
    if not math.isfinite(number):
        raise MeasureError(where, expected, shown(value))
    return number


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Range:
    """A range of allowed numbers, as a value that can be compared and pickled, unlike a function.

    `above` excludes `least` itself, and `below` excludes `most`; `whole` allows only whole numbers.

    >>> share = Range(0, 1, below=True)
    >>> share(0), share(1), Range(least=1, whole=True)(2.5)
    (True, False, False)
    """

    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    below: bool = False
    whole: bool = False

    def __call__(self, number: float) -> bool:
        """Return whether a number is allowed."""
        if self.whole and not float(number).is_integer():
            return False
        high = number > self.least if self.above else number >= self.least
        return high and (number < self.most if self.below else number <= self.most)
