"""TREC files: judgments `query iteration doc grade`, runs `query Q0 doc rank score tag`.

Fields are separated by any white space; the rank column is not used, the scores are.
"""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from gainful.errors import InputError

Table = dict[str, dict[str, float]]

_JUDGMENTS = ("query", "iteration", "doc", "grade")
_RUN = ("query", "Q0", "doc", "rank", "score", "tag")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_judgments(path: str | os.PathLike[str], *, duplicates: str = "error") -> Table:
    """Read judgments; `-` is standard input."""
    return _read(path, _JUDGMENTS, duplicates)


def read_run(path: str | os.PathLike[str], *, duplicates: str = "error") -> Table:
    """Read a run; `-` is standard input."""
    return _read(path, _RUN, duplicates)


def _read(path: str | os.PathLike[str], layout: tuple[str, ...], duplicates: str) -> Table:
    name = os.fspath(path)
    number_field = layout.index("score" if "score" in layout else "grade")
    table: Table = {}
    with _opened(name) as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(_BYTE_ORDER_MARK)
                _refuse_packed(line, name)
            fields = line.split()
            if not fields:
                continue
            where = f"{name}:{number}"
            if len(fields) != len(layout):
                raise InputError(
                    where,
                    f"{len(layout)} fields ({' '.join(layout)})",
                    f"{len(fields)}: {_quoted(line)}",
                    _other_layout(len(fields), layout),
                )
            query, doc = _text(fields[0], where), _text(fields[2], where)
            value = _number(fields[number_field], layout[number_field], where)
            documents = table.setdefault(query, {})
            if doc in documents:
                value = _choose(documents[doc], value, duplicates, where, query, doc)
            documents[doc] = value
    if not table:
        raise InputError(name, f"lines of {' '.join(layout)}", "an empty file")
    return table


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        if sys.stdin is None:
            raise InputError("standard input", "something to read", "none: it is closed")
        yield sys.stdin.buffer
        return
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - a path may be any os.PathLike
            yield file
    except InputError:
        raise  # of the content; it is a ValueError too
    except FileNotFoundError:
        raise InputError(name, "a file", "none of that name", "Check the path.") from None
    except IsADirectoryError:
        raise InputError(name, "a file", "a directory", "Name a file in it.") from None
    except (OSError, ValueError) as problem:  # ValueError: a path that no system has
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise InputError(name or "''", "a readable file", str(reason)) from None


def _refuse_packed(line: bytes, name: str) -> None:
    if line.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1")):
        raise InputError(name, "plain text", "a packed or binary file", "Unpack it first.")


def _other_layout(count: int, layout: tuple[str, ...]) -> str:
    if layout == _JUDGMENTS and count == len(_RUN):
        return "This looks like a run: judgments come first, then the run."
    if layout == _RUN and count == len(_JUDGMENTS):
        return "This looks like judgments: judgments come first, then the run."
    return ""


def _text(field: bytes, where: str) -> str:
    try:
        return field.decode()
    except UnicodeDecodeError:
        raise InputError(where, "UTF-8 text", repr(field), "Convert the file to UTF-8.") from None


def _number(field: bytes, kind: str, where: str) -> float:
    try:
        value = float(field) if b"_" not in field else math.nan  # Python reads 1_0 as 10
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(where, f"a finite number as {kind}", repr(field.decode(errors="replace")))
    return value


def _choose(old: float, new: float, duplicates: str, where: str, query: str, doc: str) -> float:
    if duplicates == "error":
        raise InputError(
            where,
            "each document once for a query",
            f"document {doc!r} of query {query!r} again",
            "Remove one, or set the policy duplicates to first or best.",
        )
    return old if duplicates == "first" else max(old, new)


def _quoted(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return repr(text if len(text) <= 60 else f"{text[:57]}…")
