"""Temporary folders and files, locked by their process and removed after a crash by the next one.

Each is locked as long as its process lives, and its name contains the machine. A process that was killed leaves
unlocked ones behind, which the next process removes.
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
_MOST_LOOKED_AT = 10_000  # names in a folder; the search for leftovers must be fast
_MOST_TRIES = 100
_PRIVATE_FOLDER = 0o700


class Temporary:
    """A folder or a file that belongs to this process."""

    def __init__(self, path: Path, lock: int | None, *, is_folder: bool) -> None:
        self.path = path
        self.lock = lock
        self._is_folder = is_folder

    def remove(self) -> None:
        """Remove it with its contents, if it still exists."""
        if self._is_folder:
            import shutil

            shutil.rmtree(self.path, ignore_errors=True)
        else:
            self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Release the lock on something that has been moved or removed."""
        lock, self.lock = self.lock, None
        if lock is not None:
            os.close(lock)


def temporary_folder(parent: str | os.PathLike[str] | None) -> Temporary:
    """Create a folder for temporary files; in the system's place for them if `parent` is None."""
    import tempfile

    try:
        where = Path(tempfile.gettempdir() if parent is None else parent)
        _remove_leftovers(str(where))
        return _made(where, "", is_folder=True, mode=_PRIVATE_FOLDER)
    except OSError as problem:
        raise no_room(problem.strerror) from None


def held_folder(parent: str | os.PathLike[str] | None) -> Temporary:
    """Create a folder that is removed when it is no longer referenced, at the latest with the process."""
    folder = temporary_folder(parent)
    weakref.finalize(folder, Temporary(folder.path, folder.lock, is_folder=True).remove)
    return folder


def temporary_file(beside: Path, mode: int) -> Temporary:
    """Create a hidden empty file in the folder of another file, which it may replace."""
    _remove_leftovers(str(beside.parent))
    return _made(beside.parent, ".", is_folder=False, mode=mode)


def no_room(reason: object) -> InputError:
    """Return the error for a folder that can't hold temporary files."""
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
        # Before it is locked, another process may take it for a leftover and remove it.
        with suppress(BlockingIOError):
            made = Temporary(path, _locked(path, is_folder=is_folder), is_folder=is_folder)
            if path.exists():
                return made
            made.release()
    raise OSError(None, "names that are taken at once")


def _locked(path: Path, *, is_folder: bool) -> int | None:
    """Lock a folder or a file against removal; None if that isn't possible.

    Raises:
        BlockingIOError: another process has locked it.
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
        # If the locked file and the file of that name differ, the name now belongs to another process.
        if path.lstat().st_ino == os.fstat(lock).st_ino:
            left.remove()
        else:
            left.release()
