"""Ranks by score, and the blocks of ranks that documents with equal scores share."""

from dataclasses import dataclass
from typing import Any

from array_api_compat import is_numpy_namespace

from gainful.arguments import choice
from gainful.errors import MeasureError
from gainful.tensors.metrics.array_libraries import is_jax, is_torch
from gainful.tensors.metrics.scored_lists import ScoredLists

TIES = ("average", "order")

# A selection is faster than a sort from about so many times the cutoff on.
_SMALL_BESIDE = 4


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents `[..., rank]` of each list, best first; padding comes last.

    `order` holds their places in the list, as deep as the measure looks. `first` and `last` are
    the first and last rank, from 0, of the block that each shares; None where the order is
    certain, and every rank is a block of its own.

    Where the ranking ends at a cutoff, the block there may go on below it. `across` `[..., list]`
    tells its documents: any of them stand at its ranks, each with the mean of them all. `last` is
    then the last rank above the cutoff.
    """

    xp: Any
    order: Any
    first: Any = None
    last: Any = None
    across: Any = None

    @property
    def depth(self) -> int:
        """How many ranks there are."""
        return int(self.order.shape[-1])

    def ranked(self, values: Any) -> Any:
        """Bring values `[..., list]` into the order of ranks."""
        found = take(self.xp, values, self.order)
        if self.across is None:
            return found
        count = self.xp.sum(self.across, axis=-1, keepdims=True, dtype=values.dtype)
        total = self.xp.sum(self.xp.where(self.across, values, 0), axis=-1, keepdims=True)
        mean = total / self.xp.where(count > 0, count, 1)  # a score that is NaN equals none
        return self.xp.where(take(self.xp, self.across, self.order), mean, found)

    def blocks(self, counts: Any) -> tuple[Any, Any]:
        """Sum counts `[..., rank]` over what stands above each one's block, and over the block."""
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
    """Rank down to the cutoff, for a sum of what documents are worth times a weight of their rank.

    In such a sum every document of a block may stand for the mean of all, so that those below the
    cutoff need no rank.
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
    if lists.at_hand:  # most lists have no ties there, and need not be looked at again
        equal = ordered[..., 1:] == ordered[..., :-1]
        if not xp.any(equal):
            return Ranking(xp, places)
        if not xp.any(equal[..., -1]):
            return Ranking(xp, places, *_blocks(lists, top))
    return Ranking(xp, places, *_blocks(lists, top), keys == top[..., -1:])


def _keys(lists: ScoredLists) -> Any:
    """Return scores `[..., list]`, and −∞ where there is no document."""
    if not lists.padded:
        return lists.scores
    lowest = lists.xp.finfo(lists.scores.dtype).min
    # A document stands above padding, even with a score of −∞.
    bounded = lists.xp.where(lists.scores < lowest, lowest, lists.scores)
    return lists.xp.where(lists.valid, bounded, -float("inf"))


def _blocks(lists: ScoredLists, ordered: Any) -> tuple[Any, Any]:
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


def highest(xp: Any, values: Any, depth: int) -> Any:
    """Return the highest values of each list down to a depth, descending."""
    # NumPy sorts faster than it selects.
    selected = _select(xp, values, depth) if is_torch(xp) or is_jax(xp) else None
    if selected is not None:
        return selected[0]
    return -xp.sort(-values, axis=-1)[..., :depth]


def _select(xp: Any, values: Any, depth: int) -> tuple[Any, Any] | None:
    """Select the highest values of each list, descending, and their places.

    Which of equal ones is left open. None where a sort is as fast, or the library has no selection.
    """
    if _SMALL_BESIDE * depth > values.shape[-1]:
        return None
    if is_torch(xp):
        found, places = xp.topk(values, depth)
        return found, places
    if is_jax(xp):
        from jax import lax

        found, places = lax.top_k(values, depth)
        return found, places
    if is_numpy_namespace(xp):
        places = xp.argpartition(-values, depth - 1, axis=-1)[..., :depth]
        found = take(xp, values, places)
        order = xp.argsort(-found, axis=-1)
        return take(xp, found, order), take(xp, places, order)
    return None


def take(xp: Any, values: Any, places: Any) -> Any:
    """Return the values `[..., n]` at the places `[..., m]` of each list."""
    if is_torch(xp):
        return xp.gather(values, -1, places)
    return xp.take_along_axis(values, places, axis=-1)


def product_above(xp: Any, factors: Any) -> Any:
    """Return the product of the factors at the ranks above each one."""
    shifted = xp.concat([xp.ones_like(factors[..., :1]), factors[..., :-1]], axis=-1)
    return xp.cumprod(shifted, -1)


def _first_places(lists: ScoredLists, keys: Any, depth: int) -> Any:
    """Select the places of the highest keys, the first of equal ones first.

    None where the cutoff is deep, or the library has no selection that does this.
    """
    xp, width = lists.xp, lists.width
    if _SMALL_BESIDE * depth > width:
        return None
    if lists.at_hand:  # where there are no equal ones, any selection does
        selected = _select(xp, keys, depth + 1)
        if selected is not None and not xp.any(selected[0][..., 1:] == selected[0][..., :-1]):
            return selected[1][..., :depth]
    plain = xp.where(keys == 0, 0.0, keys)  # −0.0 is the same score as 0.0
    if is_jax(xp):
        from jax import lax

        return lax.top_k(plain, depth)[1]
    if is_torch(xp) and keys.dtype == xp.float32:
        # torch.topk leaves open which of equal keys it takes. So the key and the place become one
        # integer: the bits of a float32 rise with it, but for the order of the negative ones.
        bits = plain.view(xp.int32)
        rising = xp.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(xp.int64)
        backwards = width - 1 - xp.arange(width, device=keys.device)
        chosen = xp.topk((rising << 32) | backwards, depth).values
        return width - 1 - (chosen & 0xFFFFFFFF)
    return None


def _running_highest(xp: Any, values: Any) -> Any:
    """Return the highest of each value and those before it."""
    if is_torch(xp):
        return xp.cummax(values, -1).values
    if is_jax(xp):
        from jax import lax

        return lax.cummax(values, axis=values.ndim - 1)
    if is_numpy_namespace(xp):
        return xp.maximum.accumulate(values, axis=-1)
    return _highest_by_doubling(xp, values)


def _highest_by_doubling(xp: Any, values: Any) -> Any:
    step = 1
    while step < values.shape[-1]:
        further = xp.maximum(values[..., step:], values[..., :-step])
        values = xp.concat([values[..., :step], further], axis=-1)
        step *= 2
    return values
