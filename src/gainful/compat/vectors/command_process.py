"""A command that answers conformance cases: it reads lines of JSON and writes lines of JSON."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO

from gainful.errors import InputError
from gainful.message_texts import printable, shortened

_MOST_BYTES = 1 << 24  # the most bytes read from a command's output
_LONGEST_WORDS = 300  # characters of its last words on standard error
_CHUNK = 1 << 16
_AFTER = 0.5  # seconds to read the remaining output after it has ended


@dataclass
class _Printed:
    """The output of a command on one stream, read by its own thread."""

    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    def read(self, stream: IO[bytes], enough: threading.Event) -> None:
        with suppress(OSError, ValueError):  # closed in the meantime
            while chunk := os.read(stream.fileno(), _CHUNK):
                self.size += len(chunk)
                if self.size > _MOST_BYTES:
                    enough.set()
                    return
                self.parts.append(chunk)

    def text(self) -> str:
        return b"".join(self.parts).decode("utf-8", errors="replace")


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    Attributes:
        printed: its standard output.
        ended: a description of an abnormal end: an exit status, a signal or a timeout; empty if all
            is well.
    """

    printed: str
    ended: str


def run_command(command: Sequence[str], text: str, *, timeout: float) -> Finished:
    r"""Run a command once, with a text as standard input, and stop it after a timeout.

    >>> import sys
    >>> run_command([sys.executable, "-c", "print(input()[::-1])"], "abc\n", timeout=30)
    Finished(printed='cba\n', ended='')
    """
    process = _started(command)
    out, err, enough = _Printed(), _Printed(), threading.Event()
    threads = [
        threading.Thread(target=_feed, args=(process.stdin, text.encode()), daemon=True),
        threading.Thread(target=out.read, args=(process.stdout, enough), daemon=True),
        threading.Thread(target=err.read, args=(process.stderr, enough), daemon=True),
    ]
    try:
        for thread in threads:
            thread.start()
        late = _await(process, enough, timeout)
        for thread in threads[1:]:
            thread.join(_AFTER)
    finally:
        _end(process)
    if enough.is_set():
        return Finished("", f"printed more than {_MOST_BYTES >> 20} MB")
    if late:
        return Finished(out.text(), f"did not end within {timeout:g} s")
    return Finished(out.text(), _how(process.returncode, err.text()))


def _started(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    where = f"command {shortened(shlex.join(command), _LONGEST_WORDS)}"
    try:
        return subprocess.Popen(  # noqa: S603 - it is the caller's to choose
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        fault, hint = (
            "no program of this name",
            "Pass the program and its arguments: node my_ndcg.js",
        )
    except PermissionError:
        fault, hint = "a file that is not executable", "Name its interpreter: python3 my_ndcg.py"
    except (OSError, ValueError) as problem:
        fault, hint = str(getattr(problem, "strerror", None) or problem), ""
    raise InputError(where, "a program that can be started", fault, hint and f"{hint}.")


def _feed(stream: IO[bytes], data: bytes) -> None:
    with suppress(OSError, ValueError):  # a command that stopped reading may still have answered
        stream.write(data)
    with suppress(OSError, ValueError):
        stream.close()


def _await(process: "subprocess.Popen[bytes]", enough: threading.Event, timeout: float) -> bool:
    """Wait until the command has ended or printed too much; return whether it timed out."""
    end = time.monotonic() + timeout
    pause = 0.001
    while process.poll() is None:
        if time.monotonic() >= end:
            return True
        if enough.wait(min(pause, max(0.0, end - time.monotonic()))):
            return False
        pause = min(pause * 2, 0.05)
    return False


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Stop the command and its children, and close its streams."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _how(status: int, error: str) -> str:
    if status == 0:
        return ""
    lines = [line for line in error.splitlines() if line.strip()]
    words = f": {shortened(printable(lines[-1].strip()), _LONGEST_WORDS)}" if lines else ""
    if status < 0:
        with suppress(ValueError):
            return f"was terminated by {signal.Signals(-status).name}{words}"
    return f"ended with exit status {status}{words}"
