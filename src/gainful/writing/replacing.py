"""Files that are replaced only when the new one is complete: the one way in which any is written."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gainful.errors import GainfulError, InputError, shown
from gainful.inputs.files import path_text
from gainful.inputs.temporary import temporary_file, temporary_folder

_CHUNK = 1 << 22
_PERMISSIONS = 0o7777
# Names of what a process has open already: nothing can stand beside them or take their place.
_OPEN = ("/dev/std", "/dev/fd/", "/proc/")


class _Never(Exception):  # noqa: N818 - nothing went wrong
    """Ends a try to write before anything is written."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield an empty file to write to, which takes the place of the target when the block ends.

    It stands beside the target and keeps its permissions; a link stays, and what it leads to is
    replaced. Where the block fails, the old file stays and the new one is removed. Devices,
    pipes and `-`, standard output, are not replaced: what is complete is sent to them.
    """
    name = name_of(path)
    if not name:
        raise InputError("''", "the name of a file to write", "an empty one")
    try:
        with _sent(name) if _is_stream(name) else _beside(Path(name).resolve()) as temporary:
            yield temporary
    except (GainfulError, BrokenPipeError):
        raise  # a reader that has seen enough of a pipe is the caller's affair
    except (OSError, ValueError) as problem:  # ValueError: a path that no system has
        where = "standard output" if name == "-" else name
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise InputError(where, "a file that can be written", str(reason)) from None


def write_text(text: str, path: str | os.PathLike[str], *, dry: bool = False) -> None:
    """Write text to a file, which is replaced only when the new one is complete.

    Args:
        text: what to write, as UTF-8. Names of files that are no text, as the system hands
            them over, go out as they came in.
        path: of the file; `-` is standard output.
        dry: only refuse a path that cannot be written, before work whose result goes there;
            nothing there changes.
    """
    with suppress(_Never), replacing(path) as file:
        if dry:
            raise _Never
        file.write_bytes(text.encode(errors="surrogateescape"))


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
    # What an old file may keep from others is theirs at no moment; a new one gets what is usual.
    temporary = temporary_file(target, 0o600 if target.exists() else 0o666)
    try:
        yield temporary.path
        if target.exists():
            temporary.path.chmod(target.stat().st_mode & _PERMISSIONS)
        temporary.path.replace(target)
    except BaseException:
        temporary.remove()
        raise
    temporary.release()


@contextmanager
def _sent(name: str) -> Iterator[Path]:
    folder = temporary_folder(None)
    try:
        temporary = folder.path / "output"
        temporary.touch()
        yield temporary
        with temporary.open("rb") as source:
            if name == "-":
                sys.stdout.flush()  # what was printed before stands before
                shutil.copyfileobj(source, sys.stdout.buffer, _CHUNK)
                sys.stdout.buffer.flush()
            else:
                with Path(name).open("wb") as stream:
                    shutil.copyfileobj(source, stream, _CHUNK)
    finally:
        folder.remove()
