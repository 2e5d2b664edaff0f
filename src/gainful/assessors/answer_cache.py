"""The answers of models, kept in a file: what was answered once is not asked again.

A line of JSON for each answer, in the order in which they came. The key is a hash of who was asked
(address, model, parameters) and of the prompt, which has the document in it. Of two lines with one key, the later counts.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from gainful.assessors.model_endpoint import Reply
from gainful.errors import InputError, warn
from gainful.message_texts import counted, shown
from gainful.writing.appended_lines import AppendedLines

_BEGIN = b'{"key": "'


def key_of(asked: Sequence[object], prompt: str) -> str:
    """Return the key of an answer: a hash of who was asked, and of the prompt.

    >>> key_of(["https://host/v1", "a model", {}], "a prompt")[:8]
    'd14b6a26'
    """
    text = json.dumps([*asked, prompt], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class AnswerCache:
    """The answers in a file, or in memory alone where there is no file."""

    def __init__(self, path: str | None) -> None:
        self._lines = None if path is None else AppendedLines(path)
        self._known: dict[str, Reply] = {}
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
                    "answers of a model, as collect_grades keeps them",
                    shown(line[:60].decode(errors="replace")),
                    "Name another file for them.",
                )
            first = False
            try:
                key, reply = _parsed(line)
            except (ValueError, TypeError, KeyError, RecursionError):
                unread += 1
                continue
            self._known[key] = reply
        if unread:
            warn(
                f"{lines.name}: {counted(unread, 'line')} cannot be read, as after a crash; what stood there "
                "is asked again, unless it was since."
            )

    def find(self, key: str) -> Reply | None:
        """Return the answer that has a key, if it is known."""
        return self._known.get(key)

    def keep(self, key: str, reply: Reply, model: str, query: str, docs: Sequence[str]) -> None:
        """Keep an answer, for good where there is a file."""
        if self._lines is None:
            return
        record = {
            "key": key,
            "model": model,
            "query": query,
            "docs": [*docs],
            "answer": reply.text,
            "tokens": [reply.tokens_in, reply.tokens_out],
            "cut": reply.cut,
        }
        self._lines.add(json.dumps(record).encode())

    def close(self) -> None:
        """Close the file."""
        if self._lines is not None:
            self._lines.close()


def _parsed(line: bytes) -> tuple[str, Reply]:
    record: dict[str, Any] = json.loads(line)
    key, text, (tokens_in, tokens_out) = record["key"], record["answer"], record["tokens"]
    if not (isinstance(key, str) and isinstance(text, str)):
        raise TypeError
    return key, Reply(text, int(tokens_in), int(tokens_out), bool(record["cut"]))
