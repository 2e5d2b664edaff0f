"""Work on all cores: NumPy lets go of Python's lock while it computes."""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")


def in_parallel(function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Apply a function to each part, on as many threads as there are cores; order is kept."""
    workers = min(len(parts), os.cpu_count() or 1)
    if workers <= 1:
        return [function(part) for part in parts]
    # Imported here because small evaluations, the most of them, do not need it.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, parts))
