"""A file that grows by one line at a time; written lines survive if the process ends."""

import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from gainful.errors import InputError
from gainful.output.writing.output_files import name_of

_END = b"\n"


@contextmanager
def _alone(number: int | None) -> Iterator[None]:
    """Lock a file for a moment, if the system supports that; otherwise a line is still written at once."""
    if sys.platform == "win32" or number is None:
        yield
        return
    import fcntl

    with suppress(OSError):  # the file system doesn't support locks
        fcntl.flock(number, fcntl.LOCK_EX)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_UN)


class AppendedLines:
    """Lines of bytes in a file, to which threads and other processes may add at the same time.

    Each line is written at once, while nobody else writes or reads. If a process was killed while
    writing, the incomplete line stays on a line of its own.

    >>> import pathlib, tempfile
    >>> with AppendedLines(pathlib.Path(tempfile.mkdtemp(), "lines")) as lines:
    ...     lines.add(b"one")
    ...     [*lines]
    [b'one']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = name_of(path)
        self._lock = threading.Lock()
        self._number: int | None = None
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            self._number = os.open(self.name, flags, 0o666)
        except (OSError, ValueError) as problem:  # ValueError: a path that no system allows
            reason = problem.strerror if isinstance(problem, OSError) else problem
            raise InputError(
                self.name or "''", "a file that can be read and written", str(reason)
            ) from None
        if not stat.S_ISREG(os.fstat(self._number).st_mode):
            self.close()
            raise InputError(self.name, "a file", "a device or a pipe, which stores nothing")

    def __iter__(self) -> Iterator[bytes]:
        """Yield the existing lines, without line ends; blank lines are left out."""
        with _alone(self._number), open(self.name, "rb") as file:  # noqa: PTH123 - Path rejects some
            yield from (line.rstrip(_END) for line in file if line.strip())

    def add(self, line: bytes) -> None:
        """Add a line, or do nothing if the file was closed."""
        with self._lock:
            if self._number is None:
                return
            try:
                with _alone(self._number):
                    content = (b"" if self._ends_a_line(self._number) else _END) + line + _END
                    while content:
                        content = content[os.write(self._number, content) :]
            except OSError as problem:
                expected = "a file that can be written"
                raise InputError(self.name, expected, str(problem.strerror)) from None

    @staticmethod
    def _ends_a_line(number: int) -> bool:
        size = os.lseek(number, 0, os.SEEK_END)
        if not size:
            return True
        os.lseek(number, size - 1, os.SEEK_SET)
        return os.read(number, 1) == _END

    def close(self) -> None:
        """Close the file; later lines are lost."""
        with self._lock:
            if self._number is not None:
                os.close(self._number)
                self._number = None

    def __enter__(self) -> "AppendedLines":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
