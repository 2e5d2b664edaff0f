"""Parallel work: the number of cores, threads on them (NumPy releases the GIL), and memory."""

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

_HINT = 31 << 20  # bytes; the allocator ignores 32 MB and more
_LIMIT: ContextVar[int | None] = ContextVar("cores", default=None)


class cached_property(Generic[Result]):  # noqa: N801 - as the one of functools
    """An attribute that is computed on first access, without a lock.

    In Python 3.11, `functools.cached_property` holds a lock for all objects of a class while it
    computes. A process forked at that moment waits for the lock forever. Here two threads may both
    compute the value, and the last result is kept.
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
        vars(instance)[self._name] = value  # later lookups find it first
        return value


def cores() -> int:
    """Return how many cores may be used: those that an `Engine` allows, or all of the process.

    While Python is shutting down, no new threads can start, so work stays in its thread.

    >>> with at_most(1):
    ...     cores()
    1
    """
    limit = 1 if _is_ending() else _LIMIT.get()
    return _of_process() if limit is None else limit


def _of_process() -> int:
    if hasattr(os, "sched_getaffinity"):  # missing on some systems
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_ending() -> bool:
    return not threading.main_thread().is_alive()


@contextmanager
def threads(count: int) -> Iterator["ThreadPoolExecutor"]:
    """Yield threads for some work; raise an error while Python is shutting down."""
    try:
        # Imported here because small evaluations, which are the most frequent, do not need it.
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


class at_most:  # noqa: N801 - used like a function
    """Limit the number of cores within a `with` block; None changes nothing."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit

    def __enter__(self) -> None:
        self._token = _LIMIT.set(_LIMIT.get() if self._limit is None else self._limit)

    def __exit__(self, *_: object) -> None:
        _LIMIT.reset(self._token)


def in_parallel(
    function: Callable[[Part], Result], parts: Sequence[Part], *, most: int | None = None
) -> list[Result]:
    """Apply a function to each part, with one thread per core; the order is kept.

    Nested calls use only their own thread. Between NumPy operations, threads run Python one at a
    time; if the operations are short, more than `most` threads are slower.
    """
    workers = min(len(parts), cores()) if len(parts) > 1 else 1  # asking the system takes a while
    workers = workers if most is None else min(workers, most)
    if workers <= 1:
        return [function(part) for part in parts]
    with threads(workers) as pool:
        return list(pool.map(_alone(function), parts))


@cache
def keep_memory() -> None:
    """Keep the allocator from returning memory to the system after each use.

    The allocator treats the size of the last freed block as a hint. Otherwise the arrays of every
    part are allocated by the system again, page by page, which takes a sixth to a quarter of the
    time.
    """
    import numpy as np

    np.empty(_HINT, np.uint8)


@contextmanager
def beside(function: Callable[[], object]) -> Iterator[None]:
    """Call a function on another core while other work is done; with one core, call it first."""
    if cores() == 1:
        function()
        yield
        return
    with threads(1) as pool:
        done = pool.submit(_alone(lambda _: function()), None)
        yield
    done.result()


def in_turn(function: Callable[[Part], Result], parts: Sequence[Part]) -> Iterator[Result]:
    """Do the same, yielding each result while a few of the next ones are computed."""
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
            for future in waiting:  # the rest is no longer needed
                future.cancel()


def _alone(function: Callable[[Part], Result]) -> Callable[[Part], Result]:
    """Return a function that uses only the core of its own thread."""

    def work(part: Part) -> Result:
        with at_most(1):
            return function(part)

    return work
