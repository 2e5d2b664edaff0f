"""Checks of arguments, in one place for each kind of value.

Every function returns the value in the type that the package uses, or raises an error. No function compares,
hashes or writes a value of unknown type, because that can fail: an array has no single truth value.
"""

import math
import numbers
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from gainful.errors import GainfulError, InputError
from gainful.message_texts import did_you_mean, shown

MOST_CUTOFFS = 100_000
"""The maximum number of cutoffs of a curve: each is a column of the result."""
MOST_RANKS = 10_000_000
"""The length of the longest ideal for which bounds are computed: each rank is a number in memory."""
MOST_DOCUMENTS = 2**63 - 1
"""The deepest rank, and the maximum number of documents: larger than any real collection."""
MOST_RESAMPLES = 10_000_000
"""The maximum number of resamples of a test or an interval: more would run for days without changing a result."""
MOST_SAMPLES = 100_000
"""The maximum number of samples, and of steps, of a loss: each one is as large as the scores."""
MOST_PIXELS = 100_000
"""The maximum width and height of a chart."""
LARGEST_SEED = 2**128 - 1
"""The largest seed: it has more bits than any generator uses."""

SWAPPED = (
    "labels, scores: the labels {oddity}, and all scores are whole numbers from 0 to 4, as grades "
    "are. Check that labels= contains the grades and scores= the values that documents are ranked by."
)
"""The warning about labels and scores that were probably swapped."""

Kind = TypeVar("Kind")


def choice(
    value: object,
    name: str,
    choices: Collection[str],
    *,
    expected: str | None = None,
    error: type[GainfulError] = InputError,
) -> str:
    """Return a word that is among the choices.

    >>> choice("dark", "theme", ["light", "dark"])
    'dark'
    >>> choice([], "theme", ["light", "dark"])
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: theme: expected light or dark, found []. Choices: light, dark.
    """
    if isinstance(value, str) and value in choices:
        return str(value)
    wanted = " or ".join(choices) if expected is None else expected
    raise error(name, wanted, shown(value), did_you_mean(value, choices))


def whole(
    value: object, name: str, *, least: int, most: int | None = None, expected: str | None = None
) -> int:
    """Return a whole number within a range, from any library.

    >>> whole(3, "upto", least=1, most=100_000)
    3
    >>> whole(10**20, "upto", least=1, most=100_000)
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: upto: expected a whole number from 1 to 100,000, found 100000000000000000000.
    """
    number = None
    if not is_truth(value) and not isinstance(value, str):
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001 - a foreign value may raise anything
            number = None
    if number is None or number < least or (most is not None and number > most):
        unbounded = "a positive integer" if least else "a non-negative integer"
        limited = unbounded if most is None else f"a whole number from {least} to {most:,}"
        wanted = limited if expected is None else expected
        raise InputError(name, wanted, shown(value))
    return number


def number(value: object, name: str, expected: str, holds: Callable[[float], bool]) -> float:
    """Return a finite number that satisfies a condition.

    >>> number(0.5, "level", "a number above 0 and below 1", lambda level: 0 < level < 1)
    0.5
    """
    real = as_float(value)
    if not math.isfinite(real) or not holds(real):
        raise InputError(name, expected, shown(value))
    return real


def as_float(value: object) -> float:
    """Return a real number as a float; NaN for other values, infinity for numbers that are too large."""
    if is_truth(value) or not isinstance(value, numbers.Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def is_truth(value: object) -> bool:
    """Return whether a value is True or False, of Python or of NumPy."""
    # NumPy 1 calls its own type bool_, NumPy 2 bool.
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def truth(value: object, name: str) -> bool:
    """Return True or False.

    >>> truth("no", "dry")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: dry: expected True or False, found 'no'.
    """
    if not is_truth(value):
        raise InputError(name, "True or False", shown(value))
    return bool(value)


def text(value: object, name: str, expected: str = "a string") -> str:
    """Return a string that can be written to files and terminals.

    >>> text("a title", "title")
    'a title'
    """
    if not isinstance(value, str):
        raise InputError(name, expected, shown(value))
    if not is_writable(value):
        raise InputError(name, expected, shown(value), HALF)
    return str(value)


HALF = "It contains half of a character (a lone surrogate), which can't be written to a file."
"""The remedy in errors about text that can't be written."""


def is_writable(value: str, errors: str = "strict") -> bool:
    r"""Return whether a text can be written as UTF-8, without lone surrogates.

    >>> is_writable("é"), is_writable("\ud800")
    (True, False)
    """
    if value.isascii():
        return True
    try:
        value.encode(errors=errors)
    except UnicodeEncodeError:
        return False
    return True


def one_of_type(value: object, name: str, kind: type[Kind], expected: str, hint: str = "") -> Kind:
    """Return a value of a class.

    >>> one_of_type(3, "engine", str, "an engine")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: engine: expected an engine, found 3.
    """
    if not isinstance(value, kind):
        raise InputError(name, expected, shown(value), hint)
    return value


def function(value: Any, name: str) -> Any:
    """Return a function or None; a class isn't accepted as a function."""
    if value is not None and (not callable(value) or isinstance(value, type)):
        raise InputError(name, "a function, or None", shown(value))
    return value


def refuse_unnamed(value: object, name: str, expected: str) -> None:
    """Reject anything but a dict with at least one key, all of them text.

    Keys may be names of files that aren't UTF-8: Python keeps such bytes as lone surrogates, and writes
    them back unchanged.

    >>> refuse_unnamed({1: "a run"}, "runs", "a dict {name: run}")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: runs: expected a string as the name of each, found 1.
    """
    if not isinstance(value, Mapping) or not value:
        raise InputError(name, expected, shown(value))
    for key in value:
        as_file = isinstance(key, str) and is_writable(key, errors="surrogateescape")
        text("" if as_file else key, name, "a string as the name of each")


def listed(
    value: Any, name: str, expected: str, *, error: type[GainfulError] = InputError
) -> list[Any]:
    """Return the items of a list, or of anything else that has some; a string is one item.

    >>> listed("kind", "by", "names of columns"), listed(("a", "b"), "by", "names of columns")
    (['kind'], ['a', 'b'])
    """
    if isinstance(value, str):
        return [value]
    try:
        return list(value)
    except Exception:  # noqa: BLE001 - whatever the value does when it is asked
        raise error(name, expected, shown(value)) from None
