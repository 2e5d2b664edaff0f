"""How gainful and a peer take turns, and what is kept of it."""

import gc
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_REST = 0.4  # seconds after which the worker threads of a peer stop spinning on a core


@dataclass(frozen=True)
class Result:
    work: str
    peer: str
    theirs: float
    ours: float
    goal: str

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


def take_turns(
    theirs: Callable[[], object],
    ours: Callable[[], object],
    *,
    turns: int,
    ours_each: int,
    theirs_each: int = 1,
):
    """Return the best time of each; what is short is called more often in its turn."""
    best = [float("inf"), float("inf")]
    for _ in range(turns):
        for place, (call, times) in enumerate(((theirs, theirs_each), (ours, ours_each))):
            time.sleep(_REST)
            for _ in range(times):
                gc.collect()
                start = time.perf_counter()
                call()
                best[place] = min(best[place], time.perf_counter() - start)
    return best


@dataclass(frozen=True)
class Process:
    """What a process printed, how long it took, and the most memory it had resident.

    `seconds` is the time on the clock, `processor` the time on all cores together.
    """

    output: str
    seconds: float
    processor: float
    resident: int

    @property
    def gigabytes(self) -> float:
        return self.resident / 1e9


def run_process(command: Sequence[str]) -> Process:
    """Run a whole process, cold; the system tells the memory of a child once it has ended."""
    start = time.perf_counter()
    read, write = os.pipe()
    child = os.posix_spawn(
        command[0], list(command), os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)]
    )
    os.close(write)
    with os.fdopen(read) as pipe:
        output = pipe.read()
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{command} failed")
    seconds = time.perf_counter() - start
    return Process(output, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def best_of(commands: Sequence[Sequence[str]], turns: int) -> list[Process]:
    """Return the fastest of each, taking turns."""
    best: list[Process | None] = [None] * len(commands)
    for _ in range(turns):
        for place, command in enumerate(commands):
            done = run_process(command)
            known = best[place]
            if known is None or done.seconds < known.seconds:
                best[place] = done
    return [process for process in best if process is not None]
