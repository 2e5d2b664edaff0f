"""Temporary folders, locked by their process and removed after a crash by the next one.

Each is locked as long as its process lives, and its name contains the machine. A process that was killed leaves
unlocked ones behind, which the next process removes.
"""

import os
import re
import sys
import weakref
import zlib
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path

from gainful.errors import InputError

if sys.platform != "win32":
    import fcntl

_NAME = re.compile(r"\.?gainful-(?P<machine>[0-9a-f]{8})-[0-9a-f]{16}")
_MOST_LOOKED_AT = 10_000  # names in a folder; the search for leftovers must be fast
_MOST_TRIES = 100
_PRIVATE_FOLDER = 0o700


class Temporary:
    """A folder of this process; it is removed by `remove()`, or once nothing refers to it."""

    def __init__(self, path: Path, lock: int | None) -> None:
        self.path = path
        self._finalizer = weakref.finalize(self, _remove, path, lock)

    def remove(self) -> None:
        """Remove the folder, even where Ctrl-C or another signal interrupts the removal."""
        if self._finalizer.alive:
            try:
                _remove(self.path, None)
            finally:
                self._finalizer()  # once more, if the first attempt was interrupted


def _remove(path: Path, lock: int | None) -> None:
    import shutil

    shutil.rmtree(path, ignore_errors=True)
    if lock is not None:
        os.close(lock)


def temporary_folder(parent: str | os.PathLike[str] | None) -> Temporary:
    """Create a folder for temporary files; in the system's place for them if `parent` is None."""
    import tempfile

    try:
        return _made(Path(tempfile.gettempdir() if parent is None else parent), "")
    except OSError as problem:
        raise no_room(problem.strerror) from None


def folder_beside(file: Path) -> Temporary:
    """Create a hidden folder next to a file; a file in it can replace that one."""
    return _made(file.parent, ".")


def no_room(reason: object) -> InputError:
    """Return the error for a folder that can't hold temporary files."""
    return InputError(
        "temporary directory",
        "room for temporary files",
        str(reason),
        "Choose another: the folder of the engine, --temp-dir, or TMPDIR in the environment.",
    )


def _made(parent: Path, dot: str) -> Temporary:
    _remove_leftovers(str(parent))
    for _ in range(_MOST_TRIES):
        path = parent / f"{dot}gainful-{_machine()}-{os.urandom(8).hex()}"
        try:
            path.mkdir(_PRIVATE_FOLDER)
            # Before it is locked, another process may take it for a leftover and remove it.
            with suppress(BlockingIOError):
                folder = Temporary(path, _locked(path))
                if path.exists():
                    return folder
                folder.remove()
        except OSError:
            raise
        except BaseException:  # a signal came before the folder had an owner that removes it
            _remove(path, None)
            raise
    raise OSError(None, "names that are not immediately taken")


def _locked(path: Path) -> int | None:
    """Lock a folder against removal; None if that isn't possible.

    Raises:
        BlockingIOError: another process has locked it.
    """
    if sys.platform == "win32":
        return None
    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        os.close(lock)
        if isinstance(problem, BlockingIOError):
            raise
        return None  # some file systems have no locks; what can't be locked isn't removed
    return lock


@cache
def _machine() -> str:
    """Return an identifier of this machine, since locks may not work across machines that share a folder."""
    name = "" if sys.platform == "win32" else os.uname().nodename
    return f"{zlib.crc32(name.encode(errors='surrogateescape')):08x}"


@cache
def _remove_leftovers(folder: str) -> None:
    """Remove leftovers of this user and machine from a folder, once per process."""
    if sys.platform == "win32":
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, _MOST_LOOKED_AT):
            name = _NAME.fullmatch(entry.name)
            if name is None or name["machine"] != _machine():
                continue
            with suppress(OSError):
                path = Path(entry.path)
                if path.lstat().st_uid == os.geteuid() and (lock := _locked(path)) is not None:
                    _remove(path, lock)
