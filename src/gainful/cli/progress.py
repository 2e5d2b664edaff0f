"""A progress bar on a terminal, once the work takes long enough to wonder."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gainful.message_texts import printable

_PATIENCE = 1.0  # seconds


@contextmanager
def progress_bar() -> Iterator[Callable[[float, str], None] | None]:
    """Yield what to call with the share that is done and a name; None without a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """Shown only after a while, so that what is quick leaves no trace.

    It may be called from any thread. What it was told last is shown when the while is over, also
    where nothing more is told: the wait for another program is one.
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
            # A run takes several steps, each of which begins anew; the bar does not go back.
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
        # Imported here because most commands end before a bar is due.
        from rich.markup import escape

        shown = escape(printable(self._name))  # a name of a file may hold anything
        if self._shown is None:
            from rich.console import Console
            from rich.progress import Progress

            self._shown = Progress(console=Console(stderr=True), transient=True)
            self._shown.start()
            self._task = self._shown.add_task(shown, total=1.0)
        self._shown.update(self._task, completed=self._share, description=shown)

    def close(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            if self._shown is not None:
                self._shown.stop()
