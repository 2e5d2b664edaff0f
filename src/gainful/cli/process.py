"""The process around a command: its streams, its progress bar, and fast startup and exit.

Data goes to standard output, byte for byte except for terminal control characters. Messages go to standard error, one per
line. Streams may be closed or full.
"""

import gc
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import gainful as gf
from gainful.message_texts import printable

_OUTPUT, _ERROR = 1, 2
_SHOWN = 5  # messages; the rest are counted
_PATIENCE = 1.0  # seconds until progress is shown


def open_closed() -> None:
    """Open closed standard streams on the null device, so that no file gets their descriptors."""
    for number in (0, _OUTPUT, _ERROR):
        try:
            os.fstat(number)
        except OSError:
            # Writing to a read-only descriptor fails, like writing to a closed one.
            os.open(os.devnull, os.O_WRONLY if number == _ERROR else os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(_OUTPUT, "w", closefd=False)  # noqa: SIM115 - for good
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may not have all characters


def write(text: str, output: str | None) -> None:
    """Write to standard output, or replace a file once the new one is complete."""
    if output is None or output == "-":
        print_data(f"{text}\n")
    else:
        gf.writing.write_text(f"{text}\n", output)


def print_data(text: str) -> None:
    """Write to standard output; on a terminal, escape control characters."""
    with seen_enough():
        if not sys.stdout.isatty():
            gf.writing.write_text(text, "-")
            return
        shown = "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
        sys.stdout.write(shown)
        sys.stdout.flush()


@contextmanager
def seen_enough() -> Iterator[None]:
    """Allow the reader of standard output (head, less) to stop early: that isn't an error."""
    try:
        yield
    except BrokenPipeError:
        discard(_OUTPUT)


def tell(text: str) -> None:
    """Write a message to standard error, on one line."""
    tell_lines(printable(text))


def tell_lines(text: str) -> None:
    """Write gainful's own lines to standard error; if it is closed, they are lost."""
    try:
        sys.stderr.write("\n".join(map(printable, text.split("\n"))) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        discard(_ERROR)


def tell_some(texts: Sequence[str]) -> None:
    """Write the first few messages, and the number of the others."""
    for text in texts[:_SHOWN]:
        tell(text)
    if len(texts) > _SHOWN:
        tell(f"… and {len(texts) - _SHOWN:,} more; --format json lists all")


def print_error(text: str) -> None:
    """Write another tool's messages to standard error, byte for byte except on a terminal."""
    if sys.stderr.isatty() or not hasattr(sys.stderr, "buffer"):
        if text:
            tell_lines(text.removesuffix("\n"))
        return
    try:
        sys.stderr.buffer.write(text.encode(errors="surrogateescape"))
        sys.stderr.buffer.flush()
    except OSError:
        discard(_ERROR)


def discard(number: int) -> None:
    """Discard further output to a stream, so that the process ends quietly."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)


@contextmanager
def progress_bar() -> Iterator[Callable[[float, str], None] | None]:
    """Yield a function to call with the completed share and a name; None without a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """A progress bar that appears only after a delay, so that quick work shows none.

    It may be called from any thread. After the delay, it shows the latest share and name even without
    a further call, as when the command waits for another program.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._share, self._name = 0.0, ""
        self._shown: Any = None
        self._task: Any = None
        self._timer: threading.Timer | None = None
        self._closed = False
        self._begin = time.monotonic()

    def __call__(self, share: float, name: str) -> None:
        with self._lock:
            # Every step of the work starts again at 0; the bar never moves backwards.
            self._share, self._name = max(self._share, min(share, 1.0)), name
            left = _PATIENCE - (time.monotonic() - self._begin)
            if left <= 0:
                self._show()
            elif self._timer is None:
                self._timer = threading.Timer(left, self._when_due)
                self._timer.daemon = True
                self._timer.start()

    def _when_due(self) -> None:
        with self._lock:
            self._show()

    def _show(self) -> None:
        if self._closed:
            return
        # Imported here because most commands end before the bar appears.
        from rich.markup import escape

        shown = escape(printable(self._name))  # file names may contain anything
        if self._shown is None:
            from rich.console import Console
            from rich.progress import Progress

            self._shown = Progress(console=Console(stderr=True), transient=True)
            self._shown.start()
            self._task = self._shown.add_task(shown, total=1.0)
        self._shown.update(self._task, completed=self._share, description=shown)

    def close(self) -> None:
        """Remove the bar."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            if self._shown is not None:
                self._shown.stop()


def import_quickly() -> None:
    """Speed up the imports of a command that only measures.

    Without this, Python would repeatedly scan all modules for garbage, and NumPy's linear algebra
    library would start a thread per core, which measuring doesn't use. A number of threads that the
    user has set is kept.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def keep_imports() -> None:
    """Turn garbage collection on again, only for objects created from now on.

    Modules are then not scanned, nor freed one by one at exit, which would take longer than a small
    evaluation. Objects of the work itself, such as files, are closed as usual.
    """
    gc.freeze()
    gc.enable()
