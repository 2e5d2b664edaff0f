"""Random resamples: flipped signs, and queries drawn with replacement.

The same seed gives the same bits on any number of cores. The resamples of a problem are split into
blocks whose size depends only on its shape. Each block has its own generator, from the seed, the
purpose and its place; blocks are computed in parallel and joined in order.

The sums of resamples are matrix products, in pieces. A BLAS computes a small product on the calling
thread but splits a large one among its own threads, which wait for each other and for ours.

Under the null hypothesis of a paired comparison, each difference is equally likely to have the
other sign. One random byte provides the signs of eight queries.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gainful import arguments
from gainful.arithmetic.cores import cores, threads
from gainful.arithmetic.statistics.exact_sums import Grid
from gainful.array_types import Floats, Ints

Part = TypeVar("Part")
Places = NDArray[np.intp]
PIECE = 64
"""The most resamples, queries and columns of a piece."""
Reduced = TypeVar("Reduced")

_BLOCK = 8 * PIECE  # resamples
_AT_ONCE = 32  # pieces of queries, whose signs need a megabyte

# (256, 8): the signs encoded by the bits of each byte.
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
_CELLS = 1 << 18  # counts of a block: two megabytes
_DRAWN = 1 << 15  # draws at once: larger arrays are returned to the system after each use


class Purpose(IntEnum):
    """The purpose of random numbers; different purposes get different numbers."""

    FLIPS = 1
    BOOTSTRAP = 2
    TUKEY = 3


@dataclass(frozen=True, slots=True)
class Draws:
    """The number of resamples to draw, and their seed.

    Attributes:
        resamples: the number of resamples, from 1 to 10,000,000.
        seed: a non-negative integer; the same gives the same resamples.
        progress: a function called in the caller's thread with the share done, up to 1.

    >>> Draws(resamples=0)
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: resamples: expected a whole number from 1 to 10,000,000, found 0.
    """

    resamples: int = 10_000
    seed: int = 0
    progress: Callable[[float], object] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        most = arguments.MOST_RESAMPLES
        resamples = arguments.whole(self.resamples, "resamples", least=1, most=most)
        seed = arguments.whole(self.seed, "seed", least=0, most=arguments.LARGEST_SEED)
        object.__setattr__(self, "resamples", resamples)
        object.__setattr__(self, "seed", seed)

    def in_blocks(
        self, purpose: Purpose, size: int, work: Callable[[np.random.Generator, int], Part]
    ) -> list[Part]:
        """Return the results of the work on each block, in the order of the blocks.

        Args:
            purpose: the purpose of the draws.
            size: the resamples per block (fewer in the last), independent of the machine.
            work: a function of a generator and a number of resamples; may run on another thread.

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

        workers = min(count, cores())
        if workers == 1:
            return [self._with_progress(block(place), place, count) for place in range(count)]
        # Imported here because a single block or core doesn't need it.
        with threads(workers) as pool:
            try:
                parts = pool.map(block, range(count))
                return [self._with_progress(part, place, count) for place, part in enumerate(parts)]
            except BaseException:
                # After an interrupt, don't wait for the remaining blocks.
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _with_progress(self, part: Part, place: int, count: int) -> Part:
        if self.progress is not None:
            self.progress((place + 1) / count)
        return part


def draw_places(generator: np.random.Generator, count: int, shape: tuple[int, int]) -> Places:
    """Draw places from 0 to count − 1, uniformly.

    Twice as fast as `Generator.integers`: 32 random bits are divided into `count` equal shares, and
    the few in the remainder are drawn again.

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


def in_pieces(units: Floats) -> Floats:
    """Return the rows of (n, c) as (p, 64, c), filled up with zeros.

    >>> in_pieces(np.ones((65, 2))).shape
    (2, 64, 2)
    """
    queries, columns = units.shape
    pieces = -(-queries // PIECE)
    filled = np.zeros((pieces * PIECE, columns))
    filled[:queries] = units
    return filled.reshape(pieces, PIECE, columns)


def weighted_sums(weights: Floats, pieces: Floats) -> Floats:
    """Return weights (r, p·64) × units (p·64, c) as (r, c).

    If weights and units are whole numbers and no sum of absolute values exceeds 2^53, the sums are
    exact, in whatever order a machine adds.

    Args:
        weights: (r, p·64), r up to 64.
        pieces: (p, 64, c), as returned by `in_pieces`.

    >>> weighted_sums(np.ones((1, 64)), in_pieces(np.array([[1.0], [2.0]]))).tolist()
    [[3.0]]
    """
    rows, columns = len(weights), pieces.shape[-1]
    outer = weights.reshape(rows, -1, PIECE).swapaxes(0, 1)
    sums = np.empty((rows, columns))
    for start in range(0, columns, PIECE):
        some = slice(start, start + PIECE)
        np.sum(outer @ pieces[:, :, some], axis=0, out=sums[:, some])
    return sums


def count_all(units: Floats, slack: float) -> int:
    """Return how many of the 2^m flips of (m,) have a sum at least as far from 0 as unflipped.

    Args:
        units: (m,) on a grid, none of them 0.
        slack: the distance of sums that count as equal.

    >>> count_all(np.array([1.0, 2.0, 3.0]), 0.0)
    2
    """
    sums = units[:1]
    for unit in units[1:]:
        sums = np.concatenate((sums + unit, sums - unit))
    # The first keeps its sign: flipping all of them changes no distance.
    return 2 * int(np.count_nonzero(np.abs(sums) >= np.abs(units.sum()) - slack))


def count_random(grid: Grid, draws: Draws) -> Ints:
    """Return (c,) how many random flips have a sum at least as far from 0 as unflipped.

    All columns are flipped in the same way, and a column's flips don't depend on the others.

    Args:
        grid: the grid of (n, c) differences.
        draws: the number of flips, and their seed.

    >>> from gainful.arithmetic.statistics.exact_sums import on_grid
    >>> grid = on_grid(np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.0], [1.0, 0.0]]))
    >>> (count_random(grid, Draws(resamples=8000)) / 8000).round(1).tolist()
    [0.1, 1.0]
    """
    least = np.abs(grid.units.sum(axis=0)) - grid.slack

    def reached(sums: Floats) -> Ints:
        counts: Ints = np.count_nonzero(np.abs(sums) >= least, axis=0)
        return counts

    total: Ints = np.sum(in_random_flips(grid.units, draws, reached), axis=0)
    return total


def all_signs(count: int) -> Floats:
    """Return (2^m, m), all ways to assign signs to m numbers.

    >>> all_signs(2).tolist()
    [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]
    """
    bits = (np.arange(1 << count)[:, None] >> np.arange(count)) & 1
    return 1.0 - 2.0 * bits.astype(np.float64)


def in_random_flips(
    units: Floats, draws: Draws, reduce: Callable[[Floats], Reduced]
) -> list[Reduced]:
    """Apply a function to the sums (r, c) under random flips of (n, c), block by block.

    Args:
        units: (n, c) on a grid, so that the sums are exact.
        draws: the number of flips, and their seed.
        reduce: a function of the sums of a block; may run on another thread.
    """
    pieces = in_pieces(units)
    columns = units.shape[1]

    def work(generator: np.random.Generator, count: int) -> Reduced:
        sums = np.zeros((count, columns))
        # One array for all signs: allocating a new one takes longer than filling it.
        spare = np.empty(PIECE * _AT_ONCE * PIECE)
        for first in range(0, count, PIECE):
            some = sums[first : first + PIECE]
            for start in range(0, len(pieces), _AT_ONCE):
                inner = pieces[start : start + _AT_ONCE]
                # 64 bits for the 64 queries of each piece.
                bits = generator.integers(0, 1 << 64, (len(some), len(inner)), np.uint64)
                signs = spare[: bits.size * PIECE].reshape(len(some), -1, _SIGNS.shape[1])
                # A mode other than "raise" writes to `out` without a copy between.
                np.take(_SIGNS, bits.view(np.uint8), axis=0, out=signs, mode="clip")
                some += weighted_sums(signs.reshape(len(some), -1), inner)
        return reduce(sums)

    return draws.in_blocks(Purpose.FLIPS, _BLOCK, work)


def resampled_sums(units: Floats, draws: Draws) -> Floats:
    """Return (r, c), the sums of each resample, with the same queries for all columns.

    A resample is the number of times each query was drawn, which weights the sums.

    Args:
        units: (n, c) on a grid, so that the sums are exact.
        draws: the number of resamples, and their seed.

    >>> sums = resampled_sums(np.array([[0.0, 1.0], [2.0, 1.0]]), Draws(resamples=100))
    >>> sums.shape, np.unique(sums[:, 0]).tolist(), np.unique(sums[:, 1]).tolist()
    ((100, 2), [0.0, 2.0, 4.0], [2.0])
    """
    queries = len(units)
    pieces = in_pieces(units)
    step = max(_DRAWN // queries, 1)

    def work(generator: np.random.Generator, count: int) -> Floats:
        counts = np.zeros((count, len(pieces) * PIECE))
        for start in range(0, count, step):
            rows = counts[start : start + step, :queries]
            drawn = draw_places(generator, queries, rows.shape)
            for row, places in zip(rows, drawn, strict=True):
                row[:] = np.bincount(places, minlength=queries)
        return weighted_sums(counts, pieces)

    size = min(max(_CELLS // queries, 1), PIECE)
    return np.concatenate(draws.in_blocks(Purpose.BOOTSTRAP, size, work))
