"""How many cores may be used, work on all of them (NumPy lets go of Python's lock), and memory for it."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from gainful.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Part = TypeVar("Part")
Result = TypeVar("Result")

_HINT = 31 << 20  # bytes; 32 MB and more would be no hint
_LIMIT: ContextVar[int | None] = ContextVar("cores", default=None)


class cached_property(Generic[Result]):  # noqa: N801 - as the one of functools
    """An attribute that is computed when it is first asked for, without a lock.

    The one of `functools` holds a lock for all objects of a class while it computes, in Python 3.11. A
    process that is copied (fork) in that moment has a copy that waits for it forever. Two threads that
    ask at once may both compute the same value here, and the one that ends last is kept.
    """

    def __init__(self, compute: Callable[[Any], Result]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Result: ...

    def __get__(self, instance: object | None, owner: type) -> Self | Result:
        if instance is None:
            return self
        value = self._compute(instance)
        vars(instance)[self._name] = value  # where it is found from now on
        return value


def cores() -> int:
    """Return how many cores may be used: as many as an `Engine` allows, or as the process has.

    When Python is ending, work that is left in a thread stays in it: no other can be started.

    >>> with at_most(1):
    ...     cores()
    1
    """
    limit = 1 if _is_ending() else _LIMIT.get()
    return _of_process() if limit is None else limit


def _of_process() -> int:
    if hasattr(os, "sched_getaffinity"):  # which some systems lack
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_ending() -> bool:
    return not threading.main_thread().is_alive()


@contextmanager
def threads(count: int) -> Iterator["ThreadPoolExecutor"]:
    """Yield threads for some work, or say that Python is ending, which starts none."""
    try:
        # Imported here because small evaluations, the most of them, do not need it.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(count) as pool:
            yield pool
    except RuntimeError as problem:
        if not _is_ending():
            raise
        raise InputError(
            "threads",
            "a program that is running",
            "one that is ending",
            "Wait for the work before the program ends, such as with Thread.join.",
        ) from problem


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
    with threads(workers) as pool:
        return list(pool.map(_alone(function), parts))


@cache
def keep_memory() -> None:
    """Keep the allocator from handing memory back to the system after each use.

    It takes the size of what was last freed for a hint. Without it, the arrays of every part
    come from the system anew, page by page, which takes a sixth to a quarter of the time.
    """
    import numpy as np

    np.empty(_HINT, np.uint8)


@contextmanager
def beside(function: Callable[[], object]) -> Iterator[None]:
    """Call a function on another core while something else is done; before it, where there is one core."""
    if cores() == 1:
        function()
        yield
        return
    with threads(1) as pool:
        done = pool.submit(_alone(lambda _: function()), None)
        yield
    done.result()


def in_turn(function: Callable[[Part], Result], parts: Sequence[Part]) -> Iterator[Result]:
    """Do the same, and hand out each result while the next ones are made, of which a few are held."""
    workers = min(len(parts), cores()) if len(parts) > 1 else 1
    if workers <= 1:
        yield from map(function, parts)
        return
    work, waiting = _alone(function), deque["Future[Result]"]()
    with threads(workers) as pool:
        try:
            for part in parts:
                waiting.append(pool.submit(work, part))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:  # nobody wants the rest
                future.cancel()


def _alone(function: Callable[[Part], Result]) -> Callable[[Part], Result]:
    """Return a function that uses no other core than that of its thread."""

    def work(part: Part) -> Result:
        with at_most(1):
            return function(part)

    return work
