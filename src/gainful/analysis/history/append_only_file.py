"""An append-only file of JSON lines: a completed append is never lost, whatever is killed and whoever else writes.

An append locks the file, writes its lines in one call, and returns once they are on the disk. If a writer is killed
halfway, the last line lacks its end: readers leave it out, and the next append removes it.
"""

import json
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gainful.errors import InputError, warn
from gainful.message_texts import shown
from gainful.rows.files import path_text

try:
    import fcntl
except ImportError:  # Windows: writers must take turns
    fcntl = None  # type: ignore[assignment]

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
_PERMISSIONS = 0o666
_WINDOW = 1 << 16  # bytes


def append(
    path: str | os.PathLike[str], header: bytes, lines: Callable[[Callable[[bytes], bool]], bytes]
) -> None:
    """Append lines to a file, which is created if it doesn't exist.

    Args:
        path: the path of the file.
        header: the first line of every such file; other files are rejected.
        lines: returns the lines to append; it gets a function that says whether a line of the file begins with some bytes.
    """
    name = _name_of(path)
    with _failures_of(name), _opened(name, _FLAGS) as file:
        _lock(file, exclusive=True)
        size = os.fstat(file).st_size
        content = _mapped(file, size)
        whole = _whole_lines(content, size, header, name)
        added = lines(lambda start: content.find(b"\n" + start) >= 0)
        content = b""  # Windows can't shorten a file that is mapped
        os.ftruncate(file, whole)
        try:
            _write(file, added if whole else header + added)
            os.fsync(file)
        except OSError:
            os.ftruncate(file, whole)
            raise
    if not size:
        _keep_name(name)
    if whole < size:
        warn(f"{name}: the last entry was not written completely, and was removed.")


def read_lines(path: str | os.PathLike[str], header: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the members of each line after the header."""
    name = _name_of(path)
    with _failures_of(name), _opened(name, os.O_RDONLY | getattr(os, "O_BINARY", 0)) as file:
        _lock(file, exclusive=False)
        size = os.fstat(file).st_size
        content = _mapped(file, size)
        whole = _whole_lines(content, size, header, name)
        lines = content[:whole].split(b"\n")
    if whole < size:
        warn(f"{name}: the last entry was not written completely, and is left out.")
    for number, line in enumerate(lines[1:], 2):
        if line:
            yield number, _members(line, f"{name}, line {number}")


def _members(line: bytes, where: str) -> dict[str, Any]:
    try:
        members = json.loads(line)
    except ValueError:
        members = None
    if not isinstance(members, dict):
        remedy = "Remove the line; the other entries don't depend on it."
        raise InputError(
            where, "an entry of the history", shown(line[:80].decode(errors="replace")), remedy
        )
    return members


def _whole_lines(content: "bytes | mmap.mmap", size: int, header: bytes, name: str) -> int:
    """Return the length of the complete lines, and reject a file that is no history."""
    if content[: len(header)] != header[:size]:
        raise InputError(
            name, "a history that gainful wrote", "another file", "Choose another name."
        )
    return content.rfind(b"\n") + 1


def _write(file: int, data: bytes) -> None:
    """Write everything; a disk that is full writes a part first, and then fails."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _mapped(file: int, size: int) -> "bytes | mmap.mmap":
    return mmap.mmap(file, size, access=mmap.ACCESS_READ) if size else b""


def _lock(file: int, *, exclusive: bool) -> None:
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)


def _keep_name(name: str) -> None:
    """Store the name of a new file on the disk, where the system can."""
    if fcntl is not None:
        with _opened(os.path.dirname(name) or ".", os.O_RDONLY) as folder:  # noqa: PTH120
            os.fsync(folder)


@contextmanager
def _opened(name: str, flags: int) -> Iterator[int]:
    file = os.open(name, flags, _PERMISSIONS)
    try:
        yield file
    finally:
        os.close(file)  # which also unlocks it


@contextmanager
def _failures_of(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise InputError(name, "a history file", problem.strerror or str(problem)) from None


def _name_of(path: object) -> str:
    if not isinstance(path, str | bytes | os.PathLike) or not path:
        raise InputError("path", "the path of a history file", shown(path))
    return path_text(path)  # type: ignore[arg-type]
