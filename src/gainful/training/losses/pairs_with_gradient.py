"""Losses over pairs of items of PyTorch tensors on a CPU, each computed together with its gradient.

Tracing visits all pairs twice and computes a logistic for each. Here each item is exponentiated
once, and e^(s_j − s_i) is a quotient of two results. Each pair is visited from one side only, in
blocks that fit in a cache, and contributes to both items as its value is computed.
Scores too far apart for powers are subtracted pair by pair. Input that is not finite is left to the
formula, which marks the lists that are undefined.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gainful.training.losses.gains_and_discounts import discounts_of
from gainful.training.losses.listwise_with_gradient import Lists, Losses
from gainful.training.losses.torch_operations import BLOCK, TORCH
from gainful.training.losses.training_lists import around_middle

# Quotients and products of e^x are normal numbers for x within this distance of 0.
_NEAR = {torch.float32: 40.0, torch.float64: 340.0}


_LEAST_ROWS = 8  # rows of a block, as long as there are several lists


class _Block(NamedTuple):
    """Pairs of items [start, stop) of lists with all items from `start`, [list, row, item]."""

    some: slice
    start: int
    stop: int
    temporaries: tuple[Tensor, ...]

    @property
    def rows(self) -> slice:
        """The first items of the pairs."""
        return slice(self.start, self.stop)

    @property
    def columns(self) -> slice:
        """Their second items."""
        return slice(self.start, None)

    @property
    def high(self) -> int:
        """The number of first items."""
        return self.stop - self.start

    @property
    def rest(self) -> slice:
        """The second items that are not first items of any pair."""
        return slice(self.stop, None)

    @property
    def has_rest(self) -> bool:
        """Whether there are any."""
        return self.temporaries[0].shape[2] > self.high

    def first(self, values: Tensor) -> Tensor:
        """Return values [list, item] of the first items."""
        return values[self.some, self.rows, None]

    def second(self, values: Tensor) -> Tensor:
        """Return values [list, item] of the second items."""
        return values[self.some, None, self.columns]

    def subtract_from_first(self, sums: Tensor, pairs: Tensor) -> None:
        """Subtract pair values from the sums of their first items, and add them to the second."""
        sums[self.some, self.rows].sub_(pairs.sum(-1))
        sums[self.some, self.columns].add_(pairs.sum(-2))


def _blocks(like: Tensor, rows: int, temporaries: int, *, least: int = 1) -> Iterator[_Block]:
    """Yield the pairs of the first rows of lists [list, item] in blocks.

    There are at least `least` blocks; the more blocks, the fewer pairs are computed twice.
    """
    lists, width = like.shape
    highest = max(_LEAST_ROWS, -(-rows // least))
    together = max(1, min(lists, BLOCK // (_LEAST_ROWS * width)))
    row = together * width
    room = row * max(1, min(rows, highest, BLOCK // row))
    kept = [like.new_empty(room) for _ in range(temporaries)]
    for first in range(0, lists, together):
        some = slice(first, min(first + together, lists))
        count, start = some.stop - first, 0
        while start < rows:
            wide = width - start
            stop = min(rows, start + max(1, min(highest, room // (count * wide))))
            shape = count, stop - start, wide
            views = tuple(one[: math.prod(shape)].view(shape) for one in kept)
            yield _Block(some, start, stop, views)
            start = stop


def approx_ndcg(scores: Tensor, lists: Lists, *, temperature: float) -> Losses | None:
    """1 − nDCG with approximate ranks 1 + Σ_{j≠i} σ((s_j − s_i)/T)."""
    gained = _gains(scores, lists)
    if gained is None:
        return None
    # A difference or a quotient rounds; a score itself does not, nor does its power.
    as_given = temperature == 1 and _farthest(_seen(scores, lists)) <= _NEAR[scores.dtype]
    levels = scores if as_given else _middled(scores, lists) / temperature
    return _smooth(levels, gained, lists, temperature)


def gumbel_approx_ndcg(
    scores: Tensor, lists: Lists, *, temperature: float, beta: float
) -> Losses | None:
    """Return the mean of `approx_ndcg` over scores with noise."""
    gained = _gains(scores, lists)
    if gained is None or lists.drawn is None:
        return None
    keys, samples = _middled(scores, lists) + beta * lists.drawn, lists.drawn.shape[0]
    wide = lists._replace(hidden=None if lists.hidden is None else lists.hidden.repeat(samples, 1))
    gained = _Gained(*(one.repeat(samples, *[1] * (one.ndim - 1)) for one in gained))
    result = _smooth(keys.flatten(0, 1) / temperature, gained, wide, temperature)
    if result is None:
        return None
    values, slope = result
    if slope is not None:
        slope = slope.view(samples, -1, scores.shape[1]).mean(0)
    return values.view(samples, -1).mean(0), slope


class _Gained(NamedTuple):
    """The gains [list, item], the DCG of the best order [list], and where it is above 0."""

    gains: Tensor
    ideal: Tensor
    positive: Tensor

    def shares(self, *, normalized: bool) -> Tensor:
        """Return the gains, divided by the ideal DCG if normalised; 0 in lists without gain."""
        if not normalized:
            return self.gains
        return torch.where(self.positive[:, None], self.gains / self.ideal[:, None], 0.0)


def _gains(scores: Tensor, lists: Lists) -> _Gained | None:
    """Return the gains and ideals of lists; None if a number that counts is not finite.

    The check is free on a CPU.
    """
    gains, width = lists.gains(), scores.shape[1]
    best = gains.sort(-1, descending=True).values
    deep = width if lists.k is None else min(lists.k, width)
    worth = discounts_of(TORCH, TORCH.counting(deep, scores), lists.discount, lists.base)
    ideal = best[:, :deep].clamp_(min=0.0).mul_(worth).sum(-1)
    total = _seen(scores, lists).sum() + lists.labels.sum() + gains.sum() + ideal.sum()
    if not math.isfinite(total.item()):
        return None
    positive = ideal > 0
    return _Gained(gains, ideal.masked_fill_(~positive, 1.0), positive)


def _seen(values: Tensor, lists: Lists) -> Tensor:
    """Return the values, with 0 for padding."""
    return values if lists.hidden is None else values.masked_fill(lists.hidden, 0.0)


def _farthest(values: Tensor) -> float:
    """Return the largest distance from 0."""
    low, high = values.aminmax()
    return max(-low.item(), high.item())


def _middled(scores: Tensor, lists: Lists) -> Tensor:
    """Return scores minus the median of their list; padding gets arbitrary finite numbers."""
    if lists.hidden is None:
        return scores - scores.median(-1, keepdim=True).values
    middled: Tensor = around_middle(TORCH, _seen(scores, lists), ~lists.hidden)
    return middled


def _smooth(levels: Tensor, gained: _Gained, lists: Lists, temperature: float) -> Losses | None:
    """Return the loss of lists of scores divided by the temperature; None if some are too large."""
    above, normalized = _Above(levels, lists.hidden), lists.normalized
    if above.too_far:
        return None
    ranks = above.ranks()
    shares = gained.shares(normalized=normalized)
    worth, inside = discounts_of(TORCH, ranks, lists.discount, lists.base), None
    if lists.k is not None:  # a function of the ratio of ranks, as in the formula
        inside = torch.sigmoid((math.log(lists.k + 0.5) - ranks.log()) / temperature)
    dcg = (shares * (worth if inside is None else worth * inside)).sum(-1)
    values = torch.where(gained.positive, 1 - dcg, 0.0) if normalized else -dcg
    if not lists.sloped:
        return values, None
    steep = _slope_of(worth, ranks, lists)
    if inside is not None:
        steep = (steep - worth * (1 - inside) / (temperature * ranks)) * inside
    return values, above.pulled(shares * steep).div_(-temperature)


def _slope_of(worth: Tensor, ranks: Tensor, lists: Lists) -> Tensor:
    """Return the derivatives of discounts at real ranks."""
    if lists.discount.form == "log":
        return worth.square().div_(ranks + 1).div_(-math.log(lists.base))
    with torch.enable_grad():
        leaf = ranks.detach().requires_grad_()
        total = discounts_of(TORCH, leaf, lists.discount, lists.base).sum()
    return torch.autograd.grad(total, leaf)[0]


class _Above:
    """How far each item j ranks above each item i: σ(x_j − x_i); padding ranks above none.

    `too_far` means that levels are too large to subtract. Pairs that fit in one block are kept.
    """

    def __init__(self, levels: Tensor, hidden: Tensor | None) -> None:
        self._hidden = hidden
        self._kept: Tensor | None = None
        seen = levels if hidden is None else levels.masked_fill(hidden, 0.0)
        farthest = _farthest(seen)
        self.too_far = not farthest < torch.finfo(levels.dtype).max / 4
        self._near = farthest <= _NEAR[levels.dtype]
        if self._near:
            seen = seen.exp()
        lowest = 0.0 if self._near else TORCH.lowest(levels)
        self._levels = seen if hidden is None else seen.masked_fill(hidden, lowest)

    def ranks(self) -> Tensor:
        """Return 1 + Σ_{j≠i} σ(x_j − x_i), and 1 for padding."""
        # An item counts itself as ½, so another ½ makes the 1.
        ranks = torch.full_like(self._levels, 0.5)
        for block in _blocks(ranks, ranks.shape[1], 1):
            above = self._of(block, block.temporaries[0])
            ranks[block.some, block.rows].add_(above.sum(-1))
            if block.has_rest:
                rest = ranks[block.some, block.rest]
                rest.sub_(above[..., block.high :].sum(-2)).add_(block.high)
        return ranks if self._hidden is None else ranks.masked_fill_(self._hidden, 1.0)

    def pulled(self, slopes: Tensor) -> Tensor:
        """Return Σ_j σ'(x_j − x_i)·(c_j − c_i), c the slopes by the ranks; 0 for padding."""
        pulls = torch.zeros_like(self._levels)
        for block in _blocks(pulls, pulls.shape[1], 2):
            above = self._of(block, block.temporaries[0])
            apart = torch.sub(block.second(slopes), block.first(slopes), out=block.temporaries[1])
            torch.ops.aten.sigmoid_backward.grad_input(apart, above, grad_input=apart)
            pulls[block.some, block.rows].add_(apart.sum(-1))
            if block.has_rest:
                pulls[block.some, block.rest].sub_(apart[..., block.high :].sum(-2))
        return pulls if self._hidden is None else pulls.masked_fill_(self._hidden, 0.0)

    def _of(self, block: _Block, out: Tensor) -> Tensor:
        """Return the pairs of a block; a pair of padding may be NaN."""
        if self._kept is not None:
            return self._kept
        first, second = block.first(self._levels), block.second(self._levels)
        if self._near:
            torch.div(second, torch.add(first, second, out=out), out=out)
        else:
            torch.sub(second, first, out=out).sigmoid_()
        if out.numel() == self._levels.numel() * self._levels.shape[1]:
            self._kept = out
        return out


def lambda_loss(scores: Tensor, lists: Lists, *, options: Mapping[str, Any]) -> Losses | None:
    """Σ W_ij·log2(1 + e^(−σ(s_i − s_j))) over pairs with y_i > y_j.

    Items are in rank order. A pair of i and a lower j, with x = σ(s_j − s_i) and u = e^x from 0 to
    1, adds W·ln(1 + u) if its order is right, and W·(ln(1 + u) − x) if it is wrong. With N = −W for
    a wrong order and 0 otherwise, this is W·ln(1 + u) + N·x; its derivative by x is W·u/(1 + u) +
    N.
    """
    gained = _gains(scores, lists)
    ranked = None if gained is None else _ranked(scores, gained, lists, options)
    if ranked is None:
        return None
    values, slope = _sums_over_pairs(ranked, _Weights(ranked, lists, options), sloped=lists.sloped)
    unit = 1.0 if options["scheme"] == "ranknet" else math.log(2)
    values = values.div_(unit)
    if not lists.sloped:
        return values, None
    slope = slope.mul_(options["sigma"] / unit)
    return values, torch.zeros_like(scores).scatter_(-1, ranked.order, slope)


class _Ranked(NamedTuple):
    """Items in rank order, as deep as pairs count, [list, item].

    `order` holds their original places, `levels` are σ·s around the median, and `beyond` is True
    for padding, None without padding. Labels and shares of padding are so low that no order is
    wrong.
    """

    order: Tensor
    levels: Tensor
    beyond: Tensor | None
    labels: Tensor
    shares: Tensor
    near: bool


def _ranked(
    scores: Tensor, gained: _Gained, lists: Lists, options: Mapping[str, Any]
) -> _Ranked | None:
    """Sort items by rank; None if scores are too large to subtract."""
    hidden, counts, width = lists.hidden, lists.counts, scores.shape[1]
    keys = scores if hidden is None else scores.masked_fill(hidden, -math.inf)
    ranked, order = keys.sort(dim=-1, descending=True, stable=True)
    beyond = None if counts is None else torch.arange(width, device=scores.device) >= counts
    if counts is None or beyond is None:
        middle = ranked[:, width // 2, None].clone()
    else:
        ranked = ranked.masked_fill_(beyond, 0.0)
        middle = ranked.gather(-1, counts // 2)
    levels = ranked.sub_(middle).mul_(options["sigma"])
    if beyond is not None:
        levels = levels.masked_fill_(beyond, 0.0)
    farthest = _farthest(levels)
    if not farthest < torch.finfo(scores.dtype).max / 4:
        return None
    if lists.k is not None and options["truncation"] == "both":
        order, levels = order[:, : lists.k], levels[:, : lists.k]
        beyond = None if beyond is None else beyond[:, : lists.k]

    def ordered(values: Tensor) -> Tensor:
        ranked_values = values.gather(-1, order)
        if beyond is None:
            return ranked_values
        return torch.where(beyond, ranked_values.amin(-1, keepdim=True), ranked_values)

    shares = ordered(gained.shares(normalized=lists.normalized))
    near = farthest <= _NEAR[scores.dtype]
    return _Ranked(order, levels, beyond, ordered(lists.labels), shares, near)


def _sums_over_pairs(
    ranked: _Ranked, weights: "_Weights", *, sloped: bool
) -> tuple[Tensor, Tensor]:
    """Return Σ W·ln(1 + u) + N·x [list] and, if requested, its gradient by the levels."""
    levels, near = ranked.levels, ranked.near
    upper, lower = levels.neg(), levels
    if near:
        upper, lower = upper.exp_(), lower.exp()
    if ranked.beyond is not None:  # u is 0 for padding
        lower = lower.masked_fill(ranked.beyond, 0.0 if near else TORCH.lowest(levels) / 2)
    values, slope = levels.new_zeros(len(levels)), torch.zeros_like(levels)
    of_wrong = torch.zeros_like(levels)
    for block in _blocks(levels, weights.rows, 3, least=2):
        wrong, either, powers = block.temporaries
        weights.compute(block, wrong, either)
        block.subtract_from_first(of_wrong, wrong)
        if near:
            torch.mul(block.first(upper), block.second(lower), out=powers)
        else:
            # Entries below the diagonal do not count, but must not overflow.
            torch.add(block.first(upper), block.second(lower), out=powers).clamp_(max=0.0)
            values[block.some].add_(wrong.mul_(powers).sum((1, 2)))
            powers.exp_()
        logs = torch.log1p(powers, out=wrong)
        values[block.some].add_(logs.mul_(either).sum((1, 2)))
        if sloped:
            block.subtract_from_first(slope, either.mul_(powers).div_(powers.add_(1)))
    if near:  # Σ N·x, from the contribution of each item
        values += (of_wrong * levels).sum(-1)
    return values, slope.add_(of_wrong)


class _Weights:
    """The weights of pairs, the higher item first; 0 for pairs that do not count."""

    def __init__(self, ranked: _Ranked, lists: Lists, options: Mapping[str, Any]) -> None:
        self._scheme, self._mu = options["scheme"], options["mu"]
        width = ranked.levels.shape[1]
        either = lists.k is not None and options["truncation"] == "either"
        self.rows = min(lists.k or width, width) if either else width
        places = TORCH.counting(width + 1, ranked.levels)
        self._worth: Tensor = discounts_of(TORCH, places, lists.discount, lists.base)
        self._labels, self._shares = ranked.labels, ranked.shares
        # If gains rise with labels, they suffice to find the better item.
        self._by_label = self._scheme == "ranknet" or not lists.gain.rises
        if self._scheme == "ndcg1":
            self._shares = self._shares * self._worth[:-1]
            if ranked.beyond is not None:
                self._shares = self._shares.masked_fill_(ranked.beyond, 0.0)

    def compute(self, block: _Block, wrong: Tensor, either: Tensor) -> None:
        """Compute −W for pairs in the wrong order, else 0, and W for pairs in either order."""
        steps, shares = self._steps(block), self._shares
        # each pair is in the right order for one item and the wrong order for the other
        if self._scheme == "ndcg1":
            torch.mul(block.second(shares), steps, out=wrong)
            torch.addcmul(wrong, block.first(shares), steps, out=either)
            wrong.neg_()
            return
        if self._by_label:
            torch.sub(block.first(self._labels), block.second(self._labels), out=wrong).sign_()
            if self._scheme != "ranknet":
                torch.sub(block.first(shares), block.second(shares), out=either)
                wrong.mul_(either.abs_())
        else:
            torch.sub(block.first(shares), block.second(shares), out=wrong)
        wrong.mul_(steps)
        torch.abs(wrong, out=either)
        wrong.clamp_(max=0.0)

    def _steps(self, block: _Block) -> Tensor:
        """Return the discount differences of pairs, [row, item], the same for all lists."""
        high, wide = block.high, block.temporaries[0].shape[2]
        worth = self._worth[block.start :]
        if self._scheme in ("ranknet", "ndcg1"):
            return worth.new_ones(high, wide).triu_(1)
        # A discount never rises with the rank, so differences below the diagonal are negative.
        between = (worth[:high, None] - worth[:wide]).clamp_(min=0.0)
        if self._scheme == "lambdarank":
            return between
        apart = self._worth[:wide] - self._worth[1 : wide + 1]  # for distances of 1, 2, … ranks
        # The row of an item is empty up to itself, and continues with all steps from there.
        steps = torch.nn.functional.pad(apart, (high, 0)).unfold(0, wide, 1)[:high].flip(0)
        return steps if self._scheme == "ndcg2" else steps.mul_(self._mu).add_(between)
