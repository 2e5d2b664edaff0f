"""The stages that Spark works on, told while a call waits for them."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_EVERY = 0.5  # seconds
_USUAL = 8  # stages of an evaluation: judgments are checked, edges found, rows sent, values added


@contextmanager
def telling_stages(tell: Callable[[float, str], None] | None) -> Iterator[None]:
    """Tell, from a thread of its own, how far Spark is: a share from 0 to 1, and the stage in words.

    How many stages there will be, Spark decides on its way, so the share is an estimate. Of a
    session on another machine (Connect) nothing is known, and nothing is told.
    """
    if tell is None:
        yield
        return
    done = threading.Event()
    stages = _Stages()

    def watch() -> None:
        while not done.wait(_EVERY):
            found = stages.look(_tracker())
            if found is not None and not done.is_set():
                tell(*found)

    watching = threading.Thread(target=watch, name="gainful-spark-stages", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _tracker() -> Any:
    """Return what knows the stages of the session of this process; None where there is none."""
    pyspark = sys.modules.get("pyspark")
    context = None if pyspark is None else pyspark.SparkContext._active_spark_context  # noqa: SLF001
    return None if context is None else context.statusTracker()


class _Stages:
    """The stages that were seen."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def look(self, tracker: Any) -> tuple[float, str] | None:
        """Return the share that is done, and the newest stage in words; None where there is none."""
        if tracker is None:
            return None
        try:
            active = sorted(tracker.getActiveStageIds())
            found = tracker.getStageInfo(active[-1]) if active else None
        except Exception:  # noqa: BLE001 - a session that ends says so in many ways
            return None
        if found is None or not found.numTasks:
            return None
        self._seen.update(active)
        count, tasks, ended = len(self._seen), found.numTasks, found.numCompletedTasks
        share = (count - 1 + ended / tasks) / max(_USUAL, count)
        return share, f"Spark, stage {count}: {ended} of {tasks} tasks"
