"""The one exception tree.

Every error says where it happened, what was expected, what was found and, where
there is something to do, what to do. One that comes of a choice of a policy says which, such
as `missing=error`. All are kept as attributes, so that a program can use them and a message is
composed in one place. No message holds the password of an address, whatever its scheme.

>>> raise InputError("qrels.txt:7", "4 fields", "3", "Add the missing field.")
Traceback (most recent call last):
    ...
gainful.errors.InputError: qrels.txt:7: expected 4 fields, found 3. Add the missing field.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Self

from gainful.message_texts import printable, shortened, without_password

__all__ = [
    "DisjointError",
    "GainfulError",
    "GainfulWarning",
    "InputError",
    "LeaseLostError",
    "MeasureError",
    "MissingDependencyError",
    "PolicyError",
    "StudyError",
]
_ABOUT = ContextVar("about", default="")  # what warnings are about
_QUIET = ContextVar("quiet", default=False)  # whether nothing is warned of
_TAKEN: ContextVar[list[str] | None] = ContextVar("taken", default=None)  # instead of warning
_PACKAGE = __name__.partition(".")[0]
_LONGEST_PART = 1000  # characters of a place, or of what was found
_LONGEST_REMEDY = 1500  # as many choices as are listed, and a sentence or two


class GainfulError(Exception):
    """Any error that gainful raises on purpose; catch this to catch them all."""

    def __init__(
        self,
        where: str,
        expected: str,
        found: str,
        remedy: str = "",
        choice: str = "",
        whose: str = "",
    ) -> None:
        where, expected, found, remedy = map(_without_password, (where, expected, found, remedy))
        # They are also the exception's args, so that it survives pickling.
        super().__init__(where, expected, found, remedy, *((choice, whose) if choice else ()))
        self.where = where
        self.expected = expected
        self.found = found
        self.remedy = remedy
        self.choice = choice
        self.whose = whose

    def __str__(self) -> str:
        expected, found = self.expected, self.found
        if self.choice and self.choice not in found:
            aside = ", ".join(filter(None, [f"policy {self.choice}", self.whose]))
            expected = f"{expected} ({aside})"
        elif self.whose:
            found = f"{found}, {self.whose}"
        # An escape is longer than what it stands for, so parts are shortened after that.
        where, found = (
            shortened(printable(str(part)), _LONGEST_PART) for part in (self.where, found)
        )
        remedy = shortened(printable(self.remedy), _LONGEST_REMEDY)
        message = printable(f"{where}: expected {expected}, found {found}.")
        return f"{message} {remedy}" if remedy else message

    def at(self, where: str) -> Self:
        """Return the same error at another place, where only the caller knows it."""
        return type(self)(where, self.expected, self.found, self.remedy, self.choice, self.whose)

    def with_remedy(self, remedy: str) -> Self:
        """Return the same error with what to do about it."""
        return type(self)(self.where, self.expected, self.found, remedy, self.choice, self.whose)

    def of(self, whose: str) -> Self:
        """Return the same error, whose choice of a policy is somebody's."""
        return type(self)(self.where, self.expected, self.found, self.remedy, self.choice, whose)


class MeasureError(GainfulError, ValueError):
    """A measure, a parameter or a spelling that does not exist or does not fit."""


class PolicyError(GainfulError, ValueError):
    """A choice that a policy does not have."""


class InputError(GainfulError, ValueError):
    """Judgments, runs, arrays or files that cannot be taken as they are."""


class DisjointError(InputError):
    """A run that has none of the judged queries."""


class MissingDependencyError(GainfulError, ImportError):
    """An optional package that is needed for what was asked and is not installed."""


class StudyError(GainfulError, RuntimeError):
    """A study of the judging desk whose database cannot be opened, read or written."""


class LeaseLostError(StudyError):
    """A grade for a document that others judge meanwhile: its lease has expired, and it has all assessors that it needs."""


class GainfulWarning(UserWarning):
    """Something that is legal and probably not meant."""


@contextmanager
def about(what: str) -> Iterator[None]:
    """Begin all warnings with what they are about, where only the caller knows it.

    >>> with about("run 'new'"), warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn("ties: many.")
    >>> str(seen[0].message)
    "run 'new', ties: many."
    """
    before = _ABOUT.set(f"{what}, ")
    try:
        yield
    finally:
        _ABOUT.reset(before)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Warn of nothing, where all of it is known; in this thread alone, unlike the filters of Python.

    >>> with without_warnings(), warnings.catch_warnings(record=True) as seen:
    ...     warn("ties: many.")
    >>> seen
    []
    """
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)


@contextmanager
def taken_warnings() -> Iterator[list[str]]:
    """Return what would be warned of, for a caller that says it in another way; in this thread alone.

    >>> with taken_warnings() as taken:
    ...     warn("ties: many.")
    >>> taken
    ['ties: many.']
    """
    taken: list[str] = []
    before = _TAKEN.set(taken)
    try:
        yield taken
    finally:
        _TAKEN.reset(before)


def _without_password(part: str) -> str:
    """Return a part of a message without passwords; a place may be a path, which is written later."""
    return without_password(part) if isinstance(part, str) else part


def warn(message: str) -> None:
    """Warn of something legal, at the line outside of gainful that led to it.

    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn("ties: many.")
    >>> seen[0].category.__name__, str(seen[0].message)
    ('GainfulWarning', 'ties: many.')
    """
    message = without_password(_ABOUT.get() + message)
    taken = _TAKEN.get()
    if taken is not None:
        taken.append(message)
        return
    if _QUIET.get():
        return
    frame = sys._getframe(1)  # noqa: SLF001, there is no other way to the callers
    warnings.warn(printable(message), GainfulWarning, stacklevel=2 + _frames_inside(frame))


def _frames_inside(frame: FrameType) -> int:
    """Return how many frames lie between one of gainful and the caller's line.

    Between frames of gainful, some are of the standard library: a property that is kept, the entry
    of a context. Where all others are, as in a thread of its own, the first of them is the line.
    """
    level, library, each = 0, None, frame
    while True:
        module = str(each.f_globals.get("__name__", "")).partition(".")[0]
        if module != _PACKAGE:
            if module not in sys.stdlib_module_names:
                return level
            library = level if library is None else library
        if each.f_back is None:
            return level if library is None else library
        level, each = level + 1, each.f_back


def __dir__() -> list[str]:
    return __all__
