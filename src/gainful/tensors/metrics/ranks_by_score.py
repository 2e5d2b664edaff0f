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
    """

    xp: Any
    order: Any
    first: Any = None
    last: Any = None

    @property
    def depth(self) -> int:
        """How many ranks there are."""
        return int(self.order.shape[-1])

    def ranked(self, values: Any) -> Any:
        """Bring values `[..., list]` into the order of ranks."""
        return take(self.xp, values, self.order)

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
    xp, width = lists.xp, lists.width
    lowest = xp.finfo(lists.scores.dtype).min
    # A document stands above padding, even with a score of −∞.
    bounded = xp.where(lists.scores < lowest, lowest, lists.scores)
    keys = xp.where(lists.valid, bounded, -float("inf"))
    if ties == "order":
        depth = lists.depth(cutoff)
        order = _first_places(xp, keys, depth)
        if order is None:
            order = xp.argsort(-keys, axis=-1, stable=True)[..., :depth]
        return Ranking(xp, order)
    order = xp.argsort(-keys, axis=-1, stable=True)
    ordered = take(xp, keys, order)
    differs = ordered[..., 1:] != ordered[..., :-1]
    edge = xp.ones_like(lists.valid[..., :1])
    places = lists.places()
    opens, closes = (xp.concat(parts, axis=-1) for parts in ([edge, differs], [differs, edge]))
    first = _running_highest(xp, xp.where(opens, places, 0))
    ends = xp.flip(xp.where(closes, width - 1 - places, 0), axis=-1)
    last = width - 1 - xp.flip(_running_highest(xp, ends), axis=-1)
    return Ranking(xp, order, first, last)


def read_ties(ties: object) -> str:
    """Check the name of a rule for equal scores."""
    return choice(ties, "ties", TIES, error=MeasureError)


def highest(xp: Any, values: Any, depth: int) -> Any:
    """Return the highest values of each list down to a depth, descending."""
    if _SMALL_BESIDE * depth <= values.shape[-1]:
        if is_torch(xp):
            return xp.topk(values, depth).values
        if is_jax(xp):
            from jax import lax

            return lax.top_k(values, depth)[0]
    return -xp.sort(-values, axis=-1)[..., :depth]


def take(xp: Any, values: Any, places: Any) -> Any:
    """Return the values `[..., n]` at the places `[..., m]` of each list."""
    if is_torch(xp):
        return xp.gather(values, -1, places)
    return xp.take_along_axis(values, places, axis=-1)


def product_above(xp: Any, factors: Any) -> Any:
    """Return the product of the factors at the ranks above each one."""
    shifted = xp.concat([xp.ones_like(factors[..., :1]), factors[..., :-1]], axis=-1)
    return xp.cumprod(shifted, -1)


def _first_places(xp: Any, keys: Any, depth: int) -> Any:
    """Select the places of the highest keys, the first of equal ones first.

    None where the cutoff is deep, or the library has no selection that does this.
    """
    width = keys.shape[-1]
    if _SMALL_BESIDE * depth > width:
        return None
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
