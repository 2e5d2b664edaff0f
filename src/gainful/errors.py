"""All exceptions and warnings of gainful.

Every error states the location, the expected and the actual value and, if possible, a remedy.
Its `code` identifies the problem for programs. An error caused by a policy names the choice, such
as `missing=error`. All parts are attributes, so programs can use them, and the message is
composed in one place. No message contains the password of an address, whatever its scheme.

>>> raise InputError("qrels.txt:7", "4 fields", "3", "Add the missing field.")
Traceback (most recent call last):
    ...
gainful.errors.InputError: qrels.txt:7: expected 4 fields, found 3. Add the missing field.
"""

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import ClassVar, Self

from gainful.message_texts import printable, shortened, without_password

__all__ = [
    "CODES",
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
CODES: Mapping[str, str] = {
    "dependency.missing": "An optional package is needed and isn't installed.",
    "file.not-found": "The file doesn't exist.",
    "input.disjoint": "The run has none of the judged queries, or none of the judged documents.",
    "input.doubtful": "The input is valid, but probably not what you meant.",
    "input.invalid": "Judgments, a run, an array, an option or a file isn't valid.",
    "input.ratings": "The grades look like ratings, and even the lowest ones count as relevant.",
    "input.repeated-text": "A passage occurs several times in the documents, and its first occurrence counts.",
    "input.swapped": "Judgments were passed as a run, or a run as judgments.",
    "judgments.marked-unjudged": "Grades of −1 count as grades, but may mean that a document wasn't judged.",
    "judgments.several-assessors": "Several assessors graded the documents, and no rule for merging their grades was given.",
    "measure.invalid": "A measure or a parameter doesn't exist, or doesn't fit here.",
    "measure.uneven-ideals": "CG or DCG is averaged over queries with very different ideals, so few queries decide the mean.",
    "policy.invalid": "The policy has no such choice, or the choice has no such value.",
    "policy.refused": "The policy rejects this input: one of its choices, such as missing=error, makes it an error.",
    "rows.duplicate": "A document is listed twice for the same query.",
    "rows.fields": "A line has too many or too few fields.",
    "rows.grade-word": "A grade is a word that no number was assigned to.",
    "rows.no-column": "A table lacks a required column.",
    "rows.no-header": "A table with a single field lacks a required column; its header may be missing.",
    "rows.no-such-column": "A table has no column with the given name.",
    "rows.not-finite": "A score or a grade isn't a number, or is NaN or infinite.",
    "rows.unreadable": "A line can't be read.",
    "run.ranks-as-scores": "The scores look like ranks, where the lowest is the best.",
    "run.tied": "The order of documents with equal scores changes a mean.",
    "study.failed": "The database of a study can't be opened, read or written.",
    "study.lease-lost": "A document was graded by others after its reservation had expired.",
    "study.missing": "No study exists at that address.",
}
"""The `code` of every error and warning, and its meaning. Texts change; codes don't."""

_ABOUT = ContextVar("about", default="")  # the subject that warnings begin with
_QUIET = ContextVar("quiet", default=False)  # whether warnings are suppressed
_TAKEN: ContextVar[list[str] | None] = ContextVar("taken", default=None)  # collects them instead
_PACKAGE = __name__.partition(".")[0]
_TEXTS = ("where", "expected", "found", "remedy", "choice", "whose")
_LONGEST_PART = 1000  # characters of `where` or `found`
_LONGEST_REMEDY = 1500  # enough for a list of choices and a sentence or two


class GainfulError(Exception):
    """Any error that gainful raises on purpose; catch this to catch them all.

    Attributes:
        code: a key of `CODES`; programs branch on it, and the text is for people.
        subject: the offending value, such as a number that isn't finite, if code needs it.
        where: the place of the error.
        expected: the expected value, in words.
        found: the actual value, in words.
        remedy: how to fix it.
        choice: the policy choice that caused it, such as "missing=error".
        whose: the origin of that choice, such as a dialect.
    """

    usual_code: ClassVar[str] = "input.invalid"

    def __init__(
        self,
        where: str,
        expected: str,
        found: str,
        remedy: str = "",
        choice: str = "",
        whose: str = "",
        *,
        code: str = "",
        subject: object = None,
    ) -> None:
        where, expected, found, remedy = map(_without_password, (where, expected, found, remedy))
        # They are also the exception's args, which pickling requires.
        super().__init__(where, expected, found, remedy, *((choice, whose) if choice else ()))
        self.where = where
        self.expected = expected
        self.found = found
        self.remedy = remedy
        self.choice = choice
        self.whose = whose
        self.code = code or ("policy.refused" if choice else self.usual_code)
        self.subject = subject

    def __str__(self) -> str:
        expected, found = self.expected, self.found
        if self.choice and self.choice not in found:
            aside = ", ".join(filter(None, [f"policy {self.choice}", self.whose]))
            expected = f"{expected} ({aside})"
        elif self.whose:
            found = f"{found}, {self.whose}"
        # Escapes lengthen the text, so escape first and shorten afterwards.
        where, found = (
            shortened(printable(str(part)), _LONGEST_PART) for part in (self.where, found)
        )
        remedy = shortened(printable(self.remedy), _LONGEST_REMEDY)
        message = printable(f"{where}: expected {expected}, found {found}.")
        return f"{message} {remedy}" if remedy else message

    def at(self, where: str) -> Self:
        """Return the same error at another place, which only the caller knows."""
        return self.changed(where=where)

    def with_remedy(self, remedy: str) -> Self:
        """Return the same error with another remedy."""
        return self.changed(remedy=remedy)

    def of(self, whose: str) -> Self:
        """Return the same error with the origin of its policy choice."""
        return self.changed(whose=whose)

    def changed(self, **parts: str) -> Self:
        """Return the same error with different text and the same code.

        >>> InputError("run", "rows", "none", code="rows.fields").changed(where="a.run").code
        'rows.fields'
        """
        texts = {name: getattr(self, name) for name in _TEXTS} | parts
        return type(self)(**texts, code=self.code, subject=self.subject)


class MeasureError(GainfulError, ValueError):
    """A measure or a parameter that doesn't exist, or doesn't fit."""

    usual_code = "measure.invalid"


class PolicyError(GainfulError, ValueError):
    """A choice or a value that a policy doesn't have."""

    usual_code = "policy.invalid"


class InputError(GainfulError, ValueError):
    """Judgments, runs, arrays or files that aren't valid."""


class DisjointError(InputError):
    """A run without any of the judged queries or documents."""

    usual_code = "input.disjoint"


class MissingDependencyError(GainfulError, ImportError):
    """An optional package that is required and not installed."""

    usual_code = "dependency.missing"

    @classmethod
    def of_extra(cls, where: str, package: str, extra: str) -> Self:
        """Return the error about a package that one of gainful's extras installs."""
        return cls(where, f"the package {package}", "none installed", how_to_install(extra))


class StudyError(GainfulError, RuntimeError):
    """A study of the judging desk whose database can't be opened, read or written."""

    usual_code = "study.failed"


class LeaseLostError(StudyError):
    """A grade that came too late: its lease had expired, and other assessors had taken over the document."""

    usual_code = "study.lease-lost"


def how_to_install(extra: str) -> str:
    """Return the sentence with the command that installs an extra.

    >>> how_to_install("report")
    "From the root of gainful's repository, run: pip install '.[report]'"
    """
    return f"From the root of gainful's repository, run: pip install '.[{extra}]'"


class GainfulWarning(UserWarning):
    """Input that is valid, but probably not what the user meant.

    Attributes:
        code: a key of `gainful.errors.CODES`.
    """

    def __init__(self, message: str = "", code: str = "input.doubtful") -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def about(what: str) -> Iterator[None]:
    """Begin all warnings with their subject, which only the caller knows.

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
    """Suppress warnings, in this thread only, unlike Python's own filters.

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
    """Collect warnings, in this thread only, for a caller that reports them in another way.

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
    """Remove passwords from a part of a message; a path is returned as it is, and converted to text later."""
    return without_password(part) if isinstance(part, str) else part


def warn(message: str, code: str = "input.doubtful") -> None:
    """Issue a `GainfulWarning` that points to the caller's line outside gainful.

    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn("ties: many.")
    >>> seen[0].message
    GainfulWarning('ties: many.')
    >>> seen[0].message.code
    'input.doubtful'
    """
    message = without_password(_ABOUT.get() + message)
    taken = _TAKEN.get()
    if taken is not None:
        taken.append(message)
        return
    if _QUIET.get():
        return
    frame = sys._getframe(1)  # noqa: SLF001, there is no other way to the callers
    warning = GainfulWarning(printable(message), code)
    warnings.warn(warning, stacklevel=2 + _frames_inside(frame))


def _frames_inside(frame: FrameType) -> int:
    """Return the number of frames between a frame of gainful and the caller's line.

    Some frames in between belong to the standard library, such as a cached property or a context
    manager. If all outer frames do, as in a separate thread, the first of them is the line.
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
