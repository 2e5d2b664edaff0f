"""Answers, kept in a file: what was answered once is not asked again.

A line of JSON for each answer, in the order in which they came. The key is a hash of who was asked and of the
question. Of two lines with one key, the later counts.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from gainful.errors import InputError, warn
from gainful.message_texts import counted, shown
from gainful.writing.appended_lines import AppendedLines

_BEGIN = b'{"key": "'
Kept = TypeVar("Kept")


def key_of(asked: Sequence[object], question: object) -> str:
    """Return the key of an answer: a hash of who was asked, and of the question.

    >>> key_of(["https://host/v1", "a model", {}], "a prompt")[:8]
    'd14b6a26'
    """
    text = json.dumps([*asked, question], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class KeptAnswers(Generic[Kept]):
    """The answers in a file, or none where there is no file."""

    def __init__(
        self, path: str | None, contents: str, parse: Callable[[Mapping[str, Any]], Kept]
    ) -> None:
        """Read what is there.

        Args:
            path: of the file, which is made if there is none.
            contents: what it holds, for messages.
            parse: makes an answer of a record; raises ValueError, TypeError or KeyError where it is none.
        """
        self._lines = None if path is None else AppendedLines(path)
        self._contents, self._parse = contents, parse
        self._known: dict[str, Kept] = {}
        if self._lines is not None:
            try:
                self._read(self._lines)
            except BaseException:
                self._lines.close()
                raise

    @property
    def name(self) -> str | None:
        """The name of the file, if there is one."""
        return None if self._lines is None else self._lines.name

    def _read(self, lines: AppendedLines) -> None:
        unread, first = 0, True
        for line in lines:
            if first and not (line.startswith(_BEGIN) or _BEGIN.startswith(line)):
                raise InputError(
                    lines.name,
                    self._contents,
                    shown(line[:60].decode(errors="replace")),
                    "Name another file for them.",
                )
            first = False
            try:
                record = json.loads(line)
                key, answer = record["key"], self._parse(record)
                if not isinstance(key, str):
                    raise TypeError
            except (ValueError, TypeError, KeyError, RecursionError):
                unread += 1
                continue
            self._known[key] = answer
        if unread:
            warn(
                f"{lines.name}: {counted(unread, 'line')} cannot be read, as after a crash; what stood there "
                "is asked again, unless it was since."
            )

    def find(self, key: str) -> Kept | None:
        """Return the answer that has a key, if it is known."""
        return self._known.get(key)

    def keep(self, key: str, record: Mapping[str, object]) -> None:
        """Keep a record of an answer, for good where there is a file."""
        if self._lines is not None:
            self._lines.add(json.dumps({"key": key, **record}).encode())

    def close(self) -> None:
        """Close the file."""
        if self._lines is not None:
            self._lines.close()
