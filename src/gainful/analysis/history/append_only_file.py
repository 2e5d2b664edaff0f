"""An append-only file of JSON lines: a completed append is never lost, whatever is killed and whoever else writes.

An append locks the file, writes its lines in one call, and returns once they are on the disk. If a writer is killed
halfway, the last line lacks its end: readers leave it out, and the next append removes it.
"""

import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gainful.analysis.history.stored_lines import SET_START, EntryColumns, StoredLine
from gainful.errors import InputError, warn

try:
    import fcntl
except ImportError:  # Windows: writers must take turns
    fcntl = None  # type: ignore[assignment]

_HEADER = b'{"gainful": "history", "format": 1}\n'
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
_PERMISSIONS = 0o666
_WINDOW = 1 << 16  # bytes


class AppendOnlyFile:
    """A history in a file.

    Args:
        name: the path of the file.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def exists(self) -> bool:
        """Return whether there is a file that isn't empty."""
        return os.path.exists(self.name) and os.path.getsize(self.name) > 0  # noqa: PTH110, PTH202

    def append(self, sets: Mapping[str, str], entry: str, columns: EntryColumns) -> None:  # noqa: ARG002
        """Append an entry and those sets of queries that the file lacks; the file is created if it doesn't exist."""
        with _failures_of(self.name), _opened(self.name, _FLAGS) as file:
            _lock(file, exclusive=True)
            size = os.fstat(file).st_size
            content = _mapped(file, size)
            whole = _whole_lines(content, size, self.name)
            starts = {digest: b"\n" + SET_START % digest.encode() for digest in sets}
            new = [text for digest, text in sets.items() if content.find(starts[digest]) < 0]
            content = b""  # Windows can't shorten a file that is mapped
            added = "".join(f"{line}\n" for line in (*new, entry)).encode()
            os.ftruncate(file, whole)
            try:
                _write(file, added if whole else _HEADER + added)
                os.fsync(file)
            except OSError:
                os.ftruncate(file, whole)
                raise
        if not size:
            _keep_name(self.name)
        if whole < size:
            warn(f"{self.name}: the last entry was not written completely, and was removed.")

    def lines(self) -> Iterator[StoredLine]:
        """Yield each line after the header."""
        with (
            _failures_of(self.name),
            _opened(self.name, os.O_RDONLY | getattr(os, "O_BINARY", 0)) as file,
        ):
            _lock(file, exclusive=False)
            size = os.fstat(file).st_size
            content = _mapped(file, size)
            whole = _whole_lines(content, size, self.name)
        if whole < size:
            warn(f"{self.name}: the last entry was not written completely, and is left out.")
        # No lock is needed any more: complete lines never change.
        number, start = 1, len(_HEADER)
        while start < whole:
            number, end = number + 1, content.find(b"\n", start)
            if start < end:
                yield StoredLine(f"{self.name}, line {number}", content[start:end])
            start = end + 1


def _whole_lines(content: "bytes | mmap.mmap", size: int, name: str) -> int:
    """Return the length of the complete lines, and reject a file that is no history."""
    if content[: len(_HEADER)] != _HEADER[:size]:
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
def held(name: str, *, exclusive: bool) -> Iterator[None]:
    """Hold a lock on a file, on systems where others can still open a locked file."""
    if os.name == "nt":
        yield
        return
    with _opened(name, os.O_RDWR if exclusive else os.O_RDONLY) as file:
        _lock(file, exclusive=exclusive)
        yield


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
