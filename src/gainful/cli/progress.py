"""A progress bar on a terminal, once the work takes long enough to wonder."""

import sys
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
    """Shown only after a while, so that what is quick leaves no trace."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._share = 0.0
        self._shown: Any = None
        self._task: Any = None
        self._escape: Callable[[str], str] = str

    def __call__(self, share: float, name: str) -> None:
        if self._shown is None:
            if time.monotonic() - self._begin < _PATIENCE:
                return
            # Imported here because most commands end before a bar is due.
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import Progress

            self._escape = escape
            self._shown = Progress(console=Console(stderr=True), transient=True)
            self._shown.start()
            self._task = self._shown.add_task(self._escape(printable(name)), total=1.0)
        # A run takes several steps, each of which begins anew; the bar does not go back.
        self._share = max(self._share, min(share, 1.0))
        shown = self._escape(printable(name))  # a name of a file may hold anything
        self._shown.update(self._task, completed=self._share, description=shown)

    def close(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._shown.stop()
