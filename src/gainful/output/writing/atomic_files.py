"""Files that are replaced only when the new one is complete: every file is written this way."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from gainful import arguments
from gainful.errors import GainfulError, InputError
from gainful.message_texts import shown
from gainful.rows.files import path_text
from gainful.rows.temporary_files import folder_beside, no_room, temporary_folder

_CHUNK = 1 << 22
_PERMISSIONS = 0o7777
# Names of what a process already has open: no file can be put beside or in place of them.
_OPEN = ("/dev/std", "/dev/fd/", "/proc/")


class _Never(Exception):  # noqa: N818 - nothing went wrong
    """Ends a trial before anything is written."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield an empty file to write to, which takes the place of the target when the block ends.

    It stands beside the target and keeps its permissions; a link stays, and what it leads to is
    replaced. Where the block fails, the old file stays and the new one is removed. Devices,
    pipes and `-`, standard output, are not replaced: what is complete is sent to them.
    """
    name = name_of(path)
    with (
        _blamed(name),
        _sent(name) if _is_stream(name) else _beside(Path(name).resolve()) as temporary,
    ):
        yield temporary


def write_text(text: str, path: str | os.PathLike[str], *, dry: bool = False) -> None:
    """Write text to a file, which is replaced only when the new one is complete.

    Args:
        text: what to write, as UTF-8. Names of files that are no text, as the system hands
            them over, go out as they came in.
        path: of the file; `-` is standard output.
        dry: only refuse a path that cannot be written, before work whose result goes there;
            nothing there changes.
    """
    if not isinstance(text, str):
        raise InputError("text", "a text to write", shown(text))
    try:
        content = text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise InputError("text", "a text to write", shown(text), arguments.HALF) from None
    arguments.truth(dry, "dry")
    name = name_of(path)
    with _blamed(name):
        if _is_stream(name):
            if not dry:
                _send(io.BytesIO(content), name)
            elif name == "-":
                _print(io.BytesIO())
            return
    with suppress(_Never), replacing(path) as file:
        if dry:
            raise _Never
        file.write_bytes(content)


@contextmanager
def _blamed(name: str) -> Iterator[None]:
    """Say that a file cannot be written, and why."""
    if not name:
        raise InputError("''", "the name of a file to write", "an empty one")
    try:
        yield
    except (GainfulError, BrokenPipeError):
        raise  # a reader of a pipe who has seen enough is for the caller to handle
    except (OSError, ValueError) as problem:  # ValueError: a path that no system has
        reason = problem.strerror if isinstance(problem, OSError) else problem
        if name == "-" and isinstance(problem, OSError) and problem.errno == errno.EBADF:
            reason = "none: it is closed"
        where = "standard output" if name == "-" else name
        raise InputError(where, "a file that can be written", str(reason)) from None


def name_of(path: object) -> str:
    """Return a path as a string, `-` for standard output."""
    if not isinstance(path, str | bytes | os.PathLike):
        raise InputError("path", "the path of a file to write", shown(path))
    return path_text(path)  # type: ignore[arg-type]


def _is_stream(name: str) -> bool:
    path = Path(name)
    if name != "-" and path.is_dir():
        raise IsADirectoryError(None, "Is a directory")
    return name == "-" or name.startswith(_OPEN) or (path.exists() and not path.is_file())


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    # Others must at no moment read what the old file kept from them, and the folder is private.
    folder = folder_beside(target)
    try:
        temporary = folder.path / target.name
        temporary.touch()
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode & _PERMISSIONS)
        temporary.replace(target)
    finally:
        folder.remove()


@contextmanager
def _sent(name: str) -> Iterator[Path]:
    folder = temporary_folder(None)
    try:
        temporary = folder.path / "output"
        try:
            temporary.touch()
            yield temporary
        except OSError as problem:
            raise no_room(problem.strerror) from None
        with temporary.open("rb") as source:
            _send(source, name)
    finally:
        folder.remove()


def _send(source: BinaryIO, name: str) -> None:
    if name == "-":
        _print(source)
    else:
        with Path(name).open("wb") as stream:
            _copy(source, stream)


def _copy(source: BinaryIO, target: BinaryIO) -> None:
    while chunk := source.read(_CHUNK):
        target.write(chunk)


def _print(source: BinaryIO) -> None:
    stream: Any = sys.stdout
    if stream is None:  # it was closed before Python began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if not hasattr(stream, "buffer"):  # a program has replaced it, to collect what is printed
        stream.write(source.read().decode(errors="surrogateescape"))
        return
    stream.flush()  # what was printed earlier comes first
    stream.buffer.flush()
    _copy(source, stream.buffer)
    with suppress(io.UnsupportedOperation):
        os.write(stream.fileno(), b"")  # writes nothing, and fails where the stream is closed
    stream.buffer.flush()
