"""Ranks by score, and the blocks of ranks that documents with equal scores share."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from array_api_compat import is_numpy_namespace

from gainful.arguments import choice
from gainful.array_types import Array
from gainful.errors import MeasureError
from gainful.training.metrics.array_libraries import is_jax, is_torch
from gainful.training.metrics.scored_lists import ScoredLists

TIES = ("average", "order")

# A selection is faster than a sort if the list is about this many times as long as the cutoff.
_SMALL_BESIDE = 4


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents `[..., rank]` of each list, best first; padding comes last.

    `order` holds their places in the list, down to the depth of the measure. `first` and `last` are
    the first and last rank, from 0, of each document's tie block; None if the order is certain, so
    that every rank is its own block.

    If the ranking ends at a cutoff, its last block may extend below it. `across` `[..., list]`
    marks that block's documents: any of them may fill its ranks, each with the mean of the block.
    `last` is then the last rank above the cutoff.
    """

    xp: ModuleType
    order: Array
    first: Array = None
    last: Array = None
    across: Array = None

    @property
    def depth(self) -> int:
        """The number of ranks."""
        return int(self.order.shape[-1])

    def ranked(self, values: Array) -> Array:
        """Sort values `[..., list]` by rank."""
        ordered = take(self.xp, values, self.order)
        if self.across is None:
            return ordered
        count = self.xp.sum(self.across, axis=-1, keepdims=True, dtype=values.dtype)
        total = self.xp.sum(self.xp.where(self.across, values, 0), axis=-1, keepdims=True)
        mean = total / self.xp.where(count > 0, count, 1)  # a NaN score equals nothing
        return self.xp.where(take(self.xp, self.across, self.order), mean, ordered)

    def blocks(self, counts: Array) -> tuple[Array, Array]:
        """Sum counts `[..., rank]` above each rank's block, and over the block."""
        running = self.xp.cumsum(counts, -1)
        if self.first is None:
            return running - counts, counts
        from_none = self.xp.concat([running[..., :1] * 0, running], axis=-1)
        above = take(self.xp, from_none, self.first)
        return above, take(self.xp, from_none, self.last + 1) - above


def rank(lists: ScoredLists, cutoff: int | None, ties: str) -> Ranking:
    """Rank the documents of each list by score, down to the cutoff where ties allow."""
    xp, keys = lists.xp, _keys(lists)
    if ties == "order":
        depth = lists.depth(cutoff)
        order = _first_places(lists, keys, depth)
        if order is None:
            order = xp.argsort(-keys, axis=-1, stable=True)[..., :depth]
        return Ranking(xp, order)
    order = xp.argsort(-keys, axis=-1, stable=True)
    return Ranking(xp, order, *_blocks(lists, take(xp, keys, order)))


def rank_for_sum(lists: ScoredLists, cutoff: int | None, ties: str) -> Ranking:
    """Rank down to the cutoff, for a sum of gains times a weight of the rank.

    In such a sum any document of a block can be replaced by the mean of the block, so documents
    below the cutoff need no rank.
    """
    xp, depth = lists.xp, lists.depth(cutoff)
    selected = None
    if ties != "order":
        keys = _keys(lists)
        selected = _select(xp, keys, depth + 1)
    if selected is None:
        return rank(lists, cutoff, ties)
    ordered, order = selected
    top, places = ordered[..., :depth], order[..., :depth]
    if lists.at_hand:  # most lists have no ties there and need no second look
        equal = ordered[..., 1:] == ordered[..., :-1]
        if not xp.any(equal):
            return Ranking(xp, places)
        if not xp.any(equal[..., -1]):
            return Ranking(xp, places, *_blocks(lists, top))
    return Ranking(xp, places, *_blocks(lists, top), keys == top[..., -1:])


def _keys(lists: ScoredLists) -> Array:
    """Return scores `[..., list]`, with −∞ for padding."""
    if not lists.padded:
        return lists.scores
    lowest = lists.xp.finfo(lists.scores.dtype).min
    # A document ranks above padding, even with a score of −∞.
    bounded = lists.xp.where(lists.scores < lowest, lowest, lists.scores)
    return lists.xp.where(lists.valid, bounded, -float("inf"))


def _blocks(lists: ScoredLists, ordered: Array) -> tuple[Array, Array]:
    """Return the first and last rank, from 0, of the block of each score `[..., rank]`."""
    xp, depth = lists.xp, int(ordered.shape[-1])
    differs = ordered[..., 1:] != ordered[..., :-1]
    edge = xp.ones_like(lists.valid[..., :1])
    ranks = lists.places()[:depth]
    opens, closes = (xp.concat(parts, axis=-1) for parts in ([edge, differs], [differs, edge]))
    first = _running_highest(xp, xp.where(opens, ranks, 0))
    ends = xp.flip(xp.where(closes, depth - 1 - ranks, 0), axis=-1)
    return first, depth - 1 - xp.flip(_running_highest(xp, ends), axis=-1)


def read_ties(ties: object) -> str:
    """Check the name of a rule for equal scores."""
    return choice(ties, "ties", TIES, error=MeasureError)


def highest(xp: ModuleType, values: Array, depth: int) -> Array:
    """Return the highest values of each list down to a depth, descending."""
    # NumPy sorts faster than it selects.
    selected = _select(xp, values, depth) if is_torch(xp) or is_jax(xp) else None
    if selected is not None:
        return selected[0]
    return -xp.sort(-values, axis=-1)[..., :depth]


def _select(xp: ModuleType, values: Array, depth: int) -> tuple[Any, Any] | None:
    """Select the highest values of each list, descending, and their places.

    The choice among equal values is arbitrary. None if a sort is as fast, or the library has
    no selection.
    """
    if _SMALL_BESIDE * depth > values.shape[-1]:
        return None
    if is_torch(xp):
        highest, places = xp.topk(values, depth)
        return highest, places
    if is_jax(xp):
        from jax import lax

        highest, places = lax.top_k(values, depth)
        return highest, places
    if is_numpy_namespace(xp):
        places = xp.argpartition(-values, depth - 1, axis=-1)[..., :depth]
        highest = take(xp, values, places)
        order = xp.argsort(-highest, axis=-1)
        return take(xp, highest, order), take(xp, places, order)
    return None


def take(xp: ModuleType, values: Array, places: Array) -> Array:
    """Return the values `[..., n]` at the places `[..., m]` of each list."""
    if is_torch(xp):
        return xp.gather(values, -1, places)
    return xp.take_along_axis(values, places, axis=-1)


def product_above(xp: ModuleType, factors: Array) -> Array:
    """Return the product of the factors at the ranks above each one."""
    shifted = xp.concat([xp.ones_like(factors[..., :1]), factors[..., :-1]], axis=-1)
    return xp.cumprod(shifted, -1)


def _first_places(lists: ScoredLists, keys: Array, depth: int) -> Array:
    """Select the places of the highest keys, preferring the first among equal ones.

    None if the cutoff is deep, or the library has no such selection.
    """
    xp, width = lists.xp, lists.width
    if _SMALL_BESIDE * depth > width:
        return None
    if lists.at_hand:  # without equal keys, any selection works
        selected = _select(xp, keys, depth + 1)
        if selected is not None and not xp.any(selected[0][..., 1:] == selected[0][..., :-1]):
            return selected[1][..., :depth]
    plain = xp.where(keys == 0, 0.0, keys)  # −0.0 equals 0.0
    if is_jax(xp):
        from jax import lax

        return lax.top_k(plain, depth)[1]
    if is_torch(xp) and keys.dtype == xp.float32:
        # torch.topk chooses arbitrarily among equal keys, so key and place are combined in one
        # integer. The bits of a float32 rise with its value, except for negative ones.
        bits = plain.view(xp.int32)
        rising = xp.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(xp.int64)
        backwards = width - 1 - xp.arange(width, device=keys.device)
        chosen = xp.topk((rising << 32) | backwards, depth).values
        return width - 1 - (chosen & 0xFFFFFFFF)
    return None


def _running_highest(xp: ModuleType, values: Array) -> Array:
    """Return the running maximum."""
    if is_torch(xp):
        return xp.cummax(values, -1).values
    if is_jax(xp):
        from jax import lax

        return lax.cummax(values, axis=values.ndim - 1)
    if is_numpy_namespace(xp):
        return xp.maximum.accumulate(values, axis=-1)
    return _highest_by_doubling(xp, values)


def _highest_by_doubling(xp: ModuleType, values: Array) -> Array:
    step = 1
    while step < values.shape[-1]:
        further = xp.maximum(values[..., step:], values[..., :-step])
        values = xp.concat([values[..., :step], further], axis=-1)
        step *= 2
    return values
