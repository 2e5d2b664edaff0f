"""How many cores may be used, and work on all of them: NumPy lets go of Python's lock."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

_LIMIT: ContextVar[int | None] = ContextVar("cores", default=None)


def cores() -> int:
    """Return how many cores may be used: as many as an `Engine` allows, or as the process has.

    >>> with at_most(1):
    ...     cores()
    1
    """
    limit = _LIMIT.get()
    return _of_process() if limit is None else limit


def _of_process() -> int:
    if hasattr(os, "sched_getaffinity"):  # which some systems lack
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def at_most(limit: int | None) -> Iterator[None]:
    """Use at most so many cores for a while; None changes nothing."""
    if limit is None:
        yield
        return
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def in_parallel(
    function: Callable[[Part], Result], parts: Sequence[Part], *, most: int | None = None
) -> list[Result]:
    """Apply a function to each part, on as many threads as there are cores; order is kept.

    A function that does the same within has its own thread alone. Threads come one by one into
    Python, between two operations of NumPy; where these are short, more than `most` threads are slower.
    """
    workers = min(len(parts), cores()) if len(parts) > 1 else 1  # the system takes a while to say
    workers = workers if most is None else min(workers, most)
    if workers <= 1:
        return [function(part) for part in parts]
    # Imported here because small evaluations, the most of them, do not need it.
    from concurrent.futures import ThreadPoolExecutor

    def work(part: Part) -> Result:
        with at_most(1):
            return function(part)

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, parts))
