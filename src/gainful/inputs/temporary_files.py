"""Folders and files on the way to a result: held by their process, and removed after a crash.

Each is locked for as long as its process lives, and bears the machine in its name. What is not
locked any more belongs to a process that was killed, and the next process removes it.
"""

import os
import re
import stat
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
_MOST_LOOKED_AT = 10_000  # names in a folder: to look for what is left must cost no time
_MOST_TRIES = 100
_PRIVATE_FOLDER = 0o700


class Temporary:
    """A folder or a file that is this process's own."""

    def __init__(self, path: Path, lock: int | None, *, is_folder: bool) -> None:
        self.path = path
        self.lock = lock
        self._is_folder = is_folder

    def remove(self) -> None:
        """Remove it with all that is in it; nothing happens if it is not there any more."""
        if self._is_folder:
            import shutil

            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Let go of what now stands at another place, or is removed."""
        lock, self.lock = self.lock, None
        if lock is not None:
            os.close(lock)


def temporary_folder(parent: str | os.PathLike[str] | None) -> Temporary:
    """Make a folder for what is written on the way; in the system's place for such if None."""
    import tempfile

    try:
        where = Path(tempfile.gettempdir() if parent is None else parent)
        _remove_leftovers(str(where))
        return _made(where, "", is_folder=True, mode=_PRIVATE_FOLDER)
    except OSError as problem:
        raise no_room(problem.strerror) from None


def held_folder(parent: str | os.PathLike[str] | None) -> Temporary:
    """Make a folder that is removed when nobody holds it any more, at the latest with the process."""
    folder = temporary_folder(parent)
    weakref.finalize(folder, Temporary(folder.path, folder.lock, is_folder=True).remove)
    return folder


def temporary_file(beside: Path, mode: int) -> Temporary:
    """Make a hidden empty file in the folder of another, whose place it may take."""
    _remove_leftovers(str(beside.parent))
    return _made(beside.parent, ".", is_folder=False, mode=mode)


def no_room(reason: object) -> InputError:
    """Return the error of a folder for temporary files that cannot hold them."""
    return InputError(
        "temporary directory",
        "room for what is written on the way",
        str(reason),
        "Name another: the folder of the engine, --temp-dir, or TMPDIR in the environment.",
    )


def _made(parent: Path, dot: str, *, is_folder: bool, mode: int) -> Temporary:
    for _ in range(_MOST_TRIES):
        path = parent / f"{dot}gainful-{_machine()}-{os.urandom(8).hex()}"
        if is_folder:
            path.mkdir(mode)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        # Another process may take it for a leftover before it is locked, and then removes it.
        with suppress(BlockingIOError):
            made = Temporary(path, _locked(path, is_folder=is_folder), is_folder=is_folder)
            if path.exists():
                return made
            made.release()
    raise OSError(None, "names that are taken at once")


def _locked(path: Path, *, is_folder: bool) -> int | None:
    """Lock a folder or a file against removal; None if that cannot be.

    Raises:
        BlockingIOError: where another process has locked it.
    """
    if sys.platform == "win32":
        return None
    kind = os.O_DIRECTORY if is_folder else os.O_NONBLOCK
    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | kind)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        os.close(lock)
        if isinstance(problem, BlockingIOError):
            raise
        return None  # not every file system has locks: what cannot be locked is not removed
    return lock


@cache
def _machine() -> str:
    """Return what tells machines apart that share a folder, whose locks may not reach each other."""
    name = "" if sys.platform == "win32" else os.uname().nodename
    return f"{zlib.crc32(name.encode(errors='surrogateescape')):08x}"


@cache
def _remove_leftovers(folder: str) -> None:
    """Remove what processes of this user on this machine left in a folder, once in a process."""
    if sys.platform == "win32":
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, _MOST_LOOKED_AT):
            found = _NAME.fullmatch(entry.name)
            if found is not None and found["machine"] == _machine():
                _remove_if_left(Path(entry.path))


def _remove_if_left(path: Path) -> None:
    with suppress(OSError):
        status = path.lstat()
        is_folder = stat.S_ISDIR(status.st_mode)
        if status.st_uid != os.geteuid() or not (is_folder or stat.S_ISREG(status.st_mode)):
            return
        lock = _locked(path, is_folder=is_folder)
        if lock is None:
            return
        left = Temporary(path, lock, is_folder=is_folder)
        # What the lock is on and what has the name can differ: then it is another's by now.
        if path.lstat().st_ino == os.fstat(lock).st_ino:
            left.remove()
        else:
            left.release()
