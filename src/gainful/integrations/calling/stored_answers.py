"""A file of answers, so that no question is sent twice.

It has a line of JSON for each answer, in order of arrival. The key is a hash of the service and
the question. If two lines have the same key, the later one counts.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from gainful.errors import InputError, warn
from gainful.message_texts import counted, shown
from gainful.output.writing.appended_lines import AppendedLines

_BEGIN = b'{"key": "'
Kept = TypeVar("Kept")


def key_of(asked: Sequence[object], question: object) -> str:
    """Return the key of an answer: a hash of the service and the question.

    >>> key_of(["https://host/v1", "a model", {}], "a prompt")[:8]
    'd14b6a26'
    """
    text = json.dumps([*asked, question], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class KeptAnswers(Generic[Kept]):
    """The answers in a file, or only in memory without one."""

    def __init__(
        self, path: str | None, contents: str, parse: Callable[[Mapping[str, object]], Kept]
    ) -> None:
        """Read existing answers.

        Args:
            path: the path of the file, created if missing.
            contents: a description of the contents, for messages.
            parse: converts a record to an answer; raises ValueError, TypeError or KeyError if
                invalid.
        """
        self._lines = None if path is None else AppendedLines(path)
        self._contents, self._parse = contents, parse
        self._known: dict[str, Kept] = {}
        if self._lines is not None:
            try:
                self._load(self._lines)
            except BaseException:
                self._lines.close()
                raise

    @property
    def name(self) -> str | None:
        """The name of the file, if there is one."""
        return None if self._lines is None else self._lines.name

    def _load(self, lines: AppendedLines) -> None:
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
                f"{lines.name}: {counted(unread, 'unreadable line')}, perhaps from a crash. The lost answers "
                "will be requested again, unless that has happened already."
            )

    def find(self, key: str) -> Kept | None:
        """Return the answer with a key, or None."""
        return self._known.get(key)

    def keep(self, key: str, record: Mapping[str, object]) -> None:
        """Store a record of an answer, permanently if there is a file."""
        if self._lines is not None:
            self._lines.add(json.dumps({"key": key, **record}).encode())

    def close(self) -> None:
        """Close the file."""
        if self._lines is not None:
            self._lines.close()
