"""Random resamples in blocks: the same seed gives the same bits on any number of cores.

The resamples of a problem are cut into blocks whose size depends on its shape alone. Each block
has its own generator, from the seed, the purpose and its place; blocks are worked on side by side
and joined in their order.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful import arguments

Part = TypeVar("Part")
Places = NDArray[np.intp]


class Purpose(IntEnum):
    """What random numbers are for: no two purposes share any."""

    FLIPS = 1
    BOOTSTRAP = 2
    TUKEY = 3


@dataclass(frozen=True, slots=True)
class Draws:
    """How many resamples to draw, from which seed.

    Attributes:
        resamples: how many, from 1 to 10,000,000.
        seed: a whole number from 0; the same gives the same resamples.
        progress: called in the caller's thread with the share done, from above 0 to 1.

    >>> Draws(resamples=0)
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: resamples: expected a whole number from 1 to 10,000,000, found 0.
    """

    resamples: int = 10_000
    seed: int = 0
    progress: Callable[[float], object] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        arguments.whole(self.resamples, "resamples", least=1, most=arguments.MOST_RESAMPLES)
        arguments.whole(self.seed, "seed", least=0, most=arguments.LARGEST_SEED)

    def in_blocks(
        self, purpose: Purpose, size: int, work: Callable[[np.random.Generator, int], Part]
    ) -> list[Part]:
        """Return what the work on each block gave, in the order of the blocks.

        Args:
            purpose: what the draws are for.
            size: resamples in a block; the last has fewer. Must not depend on the machine.
            work: takes a generator and a number of resamples; may run on another thread.

        >>> blocks = Draws(resamples=5, seed=1)
        >>> coins = blocks.in_blocks(Purpose.FLIPS, 2, lambda rng, count: rng.integers(0, 2, count))
        >>> [len(block) for block in coins]
        [2, 2, 1]
        """
        count = -(-self.resamples // size)

        def block(place: int) -> Part:
            entropy = np.random.SeedSequence(self.seed, spawn_key=(purpose, place))
            generator = np.random.Generator(np.random.PCG64(entropy))
            return work(generator, min(size, self.resamples - place * size))

        workers = min(count, _cores())
        if workers == 1:
            return [self._told(block(place), place, count) for place in range(count)]
        # Imported here because one block, or one core, does without.
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            try:
                parts = pool.map(block, range(count))
                return [self._told(part, place, count) for place, part in enumerate(parts)]
            except BaseException:
                # Who interrupts does not want to wait for the blocks that are still to come.
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _told(self, part: Part, place: int, count: int) -> Part:
        if self.progress is not None:
            self.progress((place + 1) / count)
        return part


def draw_places(generator: np.random.Generator, count: int, shape: tuple[int, int]) -> Places:
    """Draw places from 0 to count − 1, each as likely.

    Twice as fast as `Generator.integers`: 32 random bits are divided into `count` equal shares, and
    the few that fall into the rest are drawn anew.

    >>> draws = draw_places(np.random.default_rng(1), 3, (2, 500))
    >>> draws.shape, np.unique(draws).tolist()
    ((2, 500), [0, 1, 2])
    """
    size = shape[0] * shape[1]
    bits = generator.integers(0, 1 << 64, -(-size // 2), np.uint64).view(np.uint32)[:size]
    places = (bits // np.uint32(((1 << 32) - 1) // count)).astype(np.intp)
    rest = np.flatnonzero(places >= count)
    places[rest] = generator.integers(0, count, rest.size)
    return places.reshape(shape)


def _cores() -> int:
    """Return how many cores this process may use."""
    count: Callable[[], int | None] = getattr(os, "process_cpu_count", os.cpu_count)
    return count() or 1
