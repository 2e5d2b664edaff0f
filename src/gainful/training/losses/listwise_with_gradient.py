"""Listwise losses of PyTorch tensors, each computed together with its gradient.

Tracing such a loss operation by operation takes several times as long as a few passes over its
numbers. Here a rule computes the values and the gradient in closed form, and PyTorch records one
operation. Input that a rule does not support (scores too far apart for plain sums) goes to the
formula, which gives the same result.
"""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gainful.array_types import Array
from gainful.measures.discount import DEFAULT_BASE, Discount
from gainful.measures.discount import base as read_base
from gainful.measures.discount import discount as read_discount
from gainful.measures.gain import FORMS, Gain
from gainful.measures.gain import gain as read_gain
from gainful.measures.measure import read_cutoff
from gainful.training.losses.gains_and_discounts import discounts_of, gains_of
from gainful.training.losses.options import Common
from gainful.training.losses.torch_operations import TORCH
from gainful.training.losses.training_lists import (
    Arranged,
    around_middle,
    read_labels,
    read_scores,
    truths,
    weights_of,
)
from gainful.training.no_second_derivative import without_second_derivative

# e^x, its inverse and sums of millions of them are normal numbers for x this close to 0.
_FAR = {torch.float32: 70.0, torch.float64: 600.0}
_PLACE_BITS, _LABEL_BITS, _SCORE_BITS = 20, 10, 32

DIFFERENTIABLE_ONCE = ("pl_rank", "approx_ndcg", "gumbel_approx_ndcg", "lambda_loss")
"""Losses without a second derivative; for other losses it is traced."""

Losses = tuple[Tensor, Tensor | None]
"""Values [list] and, if requested, the gradient [list, item] of each by its own scores."""


class Lists(NamedTuple):
    """The input of a rule besides the scores; arrays are [list, item].

    `hidden` is True for padding, None without padding. `drawn` is the noise or γ of a random loss,
    [..., list, item]. `sloped` requests the gradient.
    """

    labels: Tensor
    hidden: Tensor | None
    gain: Gain
    discount: Discount
    base: float
    k: int | None
    normalized: bool
    drawn: Tensor | None
    sloped: bool

    @property
    def counts(self) -> Tensor | None:
        """The number of items of each list [list, 1]; None if nothing is hidden."""
        hidden = self.hidden
        return None if hidden is None else hidden.shape[1] - hidden.sum(-1, keepdim=True)

    def gains(self) -> Tensor:
        """Return the gains, 0 for padding."""
        worth = _gains(self.labels, self.gain)
        return worth if self.hidden is None else worth.masked_fill(self.hidden, 0.0)


Rule = Callable[[Tensor, Lists], Losses | None]
Traced = Callable[[Tensor], Tensor]
Formula = Callable[[Tensor, Tensor, Tensor | None, Common, Tensor | None], Tensor]


def loss_by_rule(
    name: str,
    rule: Rule,
    formula: Formula,
    scores: Tensor,
    labels: Array,
    mask: Array,
    common: Common,
    draw: Callable[[Arranged], Tensor] | None = None,
) -> Tensor | None:
    """Return a loss by a rule, reduced; None if there is nothing to compute.

    Args:
        name: the name of the loss.
        rule: the function that computes its values and gradients.
        formula: the same loss, traced, of lists in one batch and their random draws.
        scores: [..., item].
        labels: [..., item].
        mask: [..., item].
        common: the options shared by every loss.
        draw: the function that makes the loss's random draws for lists.
    """
    checked = _scores(scores)
    grades = _grades(labels, checked)
    marks = None if mask is None else truths(TORCH, "mask", mask, checked)
    if not checked.numel():
        return None
    if marks is not None and marks.is_cpu and bool(marks.all()):
        marks = None  # checking costs little on a CPU, and every step is faster without padding
    shape, width = checked.shape[:-1], checked.shape[-1]

    def arrange(values: Tensor) -> Tensor:
        return values.reshape(*values.shape[: values.ndim - checked.ndim], -1, width)

    listed = checked
    if checked.ndim != 2:
        listed, grades = arrange(checked), arrange(grades)
        marks = None if marks is None else arrange(marks)
    drawn = None
    if draw is not None:
        with torch.no_grad():
            drawn = draw(Arranged(TORCH, listed, arrange))
    sloped = checked.requires_grad and torch.is_grad_enabled()
    lists = _lists_of(grades, marks, common, drawn, sloped=sloped)
    weight = _weights(listed, lists.hidden, common.get("weight"), tuple(shape))
    if weight is None and name in _SHARES:
        value = _by_pytorch(name, listed, lists, common.get("reduction", "mean"))
        if value is not None:
            return value

    def traced(own: Tensor) -> Tensor:
        flat: Common = {**common, "weight": weight}
        return formula(own, grades, marks, flat, drawn)

    twice = traced if name not in DIFFERENTIABLE_ONCE else None
    value = _by_rule(rule, listed, lists, weight, common, traced, twice)
    return value.reshape(shape) if value.ndim and len(shape) != 1 else value


def _by_rule(
    rule: Rule,
    scores: Tensor,
    lists: Lists,
    weight: Tensor | None,
    common: Common,
    traced: Traced,
    twice: Traced | None,
) -> Tensor:
    """Return a loss by its rule, or traced if the rule does not support the scores.

    `twice` is `traced` if it has a second derivative.
    """
    with torch.no_grad(), TORCH.exactly(scores):
        result = rule(scores.detach(), lists)
        if result is not None and lists.gain.form not in FORMS:
            # A label without a gain makes its list NaN, whether or not it is used.
            unknown = lists.gains().isnan().any(-1)
            result = torch.where(unknown, math.nan, result[0]), result[1]
        computed = None if result is None else _reduced(result, lists.hidden, weight, common)
    if computed is None:
        return traced(scores)
    if lists.sloped:
        return with_its_gradient(scores, computed, twice)
    return computed.value


class Computed(NamedTuple):
    """A loss, reduced or [list], and its gradient [list, item] up to a factor, if any."""

    value: Tensor
    gradient: Tensor | None
    factor: float | Tensor | None = None


def with_its_gradient(scores: Tensor, computed: Computed, traced: Traced | None) -> Tensor:
    """Return a loss that is connected to its scores [list, item].

    `traced` computes the same loss by its formula, for a second derivative; None if it has none.
    """
    loss: Tensor = _Together.apply(scores, computed, traced)  # type: ignore[no-untyped-call]
    return loss


class _Together(torch.autograd.Function):
    """A loss computed together with its gradient."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, computed: Computed, traced: Traced | None) -> Tensor:
        """Return the loss; keep its gradient."""
        ctx.save_for_backward(scores, computed.gradient)
        ctx.factor, ctx.traced = computed.factor, traced
        return computed.value

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Array:
        """Scale the gradient, or trace the formula if it is differentiated again."""
        held, gradient = ctx.saved_tensors

        def scaled(slope: Tensor, _: Tensor) -> Tensor:
            slope = slope if ctx.factor is None else slope * ctx.factor
            scaled_gradient: Tensor = gradient * (slope[:, None] if slope.ndim else slope)
            return scaled_gradient.to(held.dtype)

        if ctx.traced is None:
            return without_second_derivative(scaled, slopes[0], held), None, None
        if torch.is_grad_enabled():
            (own,) = torch.autograd.grad(ctx.traced(held), held, slopes[0], create_graph=True)
            return own, None, None
        return scaled(slopes[0], held), None, None


def _lists_of(
    labels: Tensor, marks: Tensor | None, common: Common, drawn: Tensor | None, *, sloped: bool
) -> Lists:
    """Read labels, mask and options [list, item] of a call."""
    hidden, k = None if marks is None else ~marks, common.get("k")
    return Lists(
        labels=labels if hidden is None else labels.masked_fill(hidden, 0.0),
        hidden=hidden,
        gain=_read_once(read_gain, common.get("gain", "exp2")),
        discount=_read_once(read_discount, common.get("discount", "log")),
        base=_read_once(read_base, common.get("base", DEFAULT_BASE)),
        k=None if k is None else read_cutoff(k),
        normalized=bool(common.get("normalized", True)),
        drawn=drawn,
        sloped=sloped,
    )


def _scores(scores: Tensor) -> Tensor:
    """Return scores in the computation dtype, skipping slow checks for usual tensors."""
    if scores.dtype in _FAR and scores.layout is torch.strided and scores.ndim:
        return scores
    checked: Tensor = read_scores(TORCH, scores)
    return checked


def _grades(labels: Array, scores: Tensor) -> Tensor:
    """Return labels in the dtype of the scores; a plain tensor needs few checks."""
    plain = type(labels) is Tensor and labels.layout is torch.strided and not labels.is_complex()
    if plain and labels.shape == scores.shape and labels.device == scores.device:
        own: Tensor = labels.detach() if labels.requires_grad else labels
        return own if own.dtype is scores.dtype else own.to(scores.dtype)
    grades: Tensor = read_labels(TORCH, labels, scores)
    return grades


_read_text = functools.lru_cache(maxsize=256, typed=True)(lambda read, text: read(text))


def _read_once(read: Callable[[Any], Any], value: object) -> Array:
    """Read an option; cache strings and numbers, since reading takes as long as a small loss."""
    return _read_text(read, value) if type(value) in (str, int, float) else read(value)


def _weights(
    scores: Tensor, hidden: Tensor | None, weight: Array, shape: tuple[int, ...]
) -> Tensor | None:
    """Return the weight of each list [list]; None if all are 1."""
    if weight is None and hidden is None:
        return None
    like = scores[:, 0]
    occupied = torch.ones_like(like, dtype=torch.bool) if hidden is None else ~hidden.all(-1)
    weights: Tensor = weights_of(TORCH, like, occupied, weight, shape)
    return weights


def _reduced(
    result: Losses, hidden: Tensor | None, weight: Tensor | None, common: Common
) -> Computed:
    """Reduce the losses of lists."""
    (values, gradient), reduction = result, common.get("reduction", "mean")
    if weight is None and reduction != "none" and values.device.type == "cpu":
        total = values.sum()
        # then all are; on a GPU, this check would wait for the device
        if math.isfinite(total.item()):
            factor = 1 / values.shape[0] if reduction == "mean" else 1.0
            return Computed(total * factor, gradient, factor)
    # A value that is not finite becomes NaN, as does its gradient.
    factors = values - values + 1
    if weight is not None:
        factors = factors * weight
    if reduction == "mean":
        total = values.new_tensor(values.shape[0]) if weight is None else weight.sum()
        factors = factors / torch.where(total > 0, total, 1.0)
    values = values * factors
    if gradient is not None:
        gradient.mul_(factors[:, None])
        if hidden is not None:  # items get NaN, padding does not
            gradient.masked_fill_(hidden, 0.0)
    return Computed(values if reduction == "none" else values.sum(), gradient)


def _gains(labels: Tensor, gain: Gain) -> Tensor:
    """Return the gain of each label, with half the operations if all labels are whole."""
    if gain.form == "exp2" and labels.device.type == "cpu" and torch.equal(labels, labels.floor()):
        return labels.exp2().sub_(1)
    gains: Tensor = gains_of(TORCH, labels, gain)
    return gains


def _gains_as_shares(lists: Lists) -> Tensor:
    """Return the gains unchanged."""
    return lists.gains()


def _shares_of_labels(lists: Lists) -> Tensor:
    """Return the softmax of the labels."""
    labels = lists.labels
    if lists.hidden is not None:
        labels = labels.masked_fill(lists.hidden, -math.inf)
    shares = torch.softmax(labels, -1)
    if lists.hidden is not None:
        shares = shares.masked_fill_(lists.hidden, 0.0)
    return shares


def _shares_of_mass(lists: Lists) -> Tensor:
    """Return shares proportional to g + 1 − γ."""
    assert lists.drawn is not None  # noqa: S101
    mass = (lists.gains() + 1).sub_(lists.drawn)
    if lists.hidden is not None:
        mass = mass.masked_fill_(lists.hidden, 0.0)
    total = mass.sum(-1, keepdim=True)
    if total.is_cpu:
        low, high = (end.item() for end in total.aminmax())
        if low > 0 and high < math.inf:
            return mass.div_(total)
    # Without mass, all shares are 0; a sum that overflows the type is NaN.
    none = total <= 0
    total = torch.where(none, math.inf, torch.where(total == math.inf, math.nan, total))
    return mass.div_(total)


_SHARES: Mapping[str, Callable[[Lists], Tensor]] = {
    "softmax": _gains_as_shares,
    "listnet": _shares_of_labels,
    "xe_ndcg": _shares_of_mass,
}


def _cross_entropy(shares_of: Callable[[Lists], Tensor], scores: Tensor, lists: Lists) -> Losses:
    """Compute −Σ φ_i·ln p_i and its gradient p_i·Σ φ − φ_i, p the softmax of the scores."""
    hidden, shares = lists.hidden, shares_of(lists)
    if hidden is not None:
        scores = scores.masked_fill(hidden, -math.inf)
    logs = torch.log_softmax(scores, -1)
    if hidden is not None:
        logs = logs.masked_fill_(hidden, 0.0)
    values = -(shares * logs).sum(-1)
    if not lists.sloped:
        return values, None
    return values, logs.exp_().mul_(shares.sum(-1, keepdim=True)).sub_(shares)


def _by_pytorch(name: str, scores: Tensor, lists: Lists, reduction: str) -> Tensor | None:
    """Return a cross entropy by PyTorch's own function, the fastest for few numbers.

    None if it is not finite, in which case each list must be checked. The check is free on a CPU
    but would wait for a GPU.
    """
    if reduction == "none" or not scores.is_cpu or lists.gain.form not in FORMS:
        return None
    with TORCH.exactly(scores):
        value = torch.nn.functional.cross_entropy(scores, _SHARES[name](lists), reduction=reduction)
    return value if math.isfinite(value.item()) else None


def list_mle(scores: Tensor, lists: Lists) -> Losses | None:
    """Σ_i (ln Σ_{j≥i} e^(s_j) − s_i) over the items from high to low labels, up to the cutoff."""
    return _likelihood(scores, lists, None)


def p_list_mle(scores: Tensor, lists: Lists) -> Losses | None:
    """`list_mle` with the step at rank i weighted by 2^(n−i) − 1, normalised."""
    width = scores.shape[1]
    counts = lists.counts
    if counts is None:
        counts = torch.full((1, 1), width, device=scores.device)
    # Divided by 2^n, which would overflow in long lists.
    last = torch.exp2(-counts.to(scores.dtype))
    total = 1 - (counts + 1) * last
    ranks = torch.arange(width, 0, -1, dtype=scores.dtype, device=scores.device)
    weights = (torch.exp2(-ranks) - last) / torch.where(total > 0, total, math.inf)
    return _likelihood(scores, lists, weights)


def _likelihood(scores: Tensor, lists: Lists, weights: Tensor | None) -> Losses | None:
    """Return the weighted sum of −ln of the probability of each successive choice.

    Items run from the last rank to the first, so that sums over the remaining items are running
    sums.
    """
    if not _are_near(scores, lists.hidden):
        return None
    width, counts = scores.shape[1], lists.counts
    order = _by_label_and_score(scores, lists)
    s = scores.gather(-1, order)
    ranks = torch.arange(width, 0, -1, device=s.device)
    beyond = None if counts is None else ranks > counts
    if beyond is not None:
        s = s.masked_fill_(beyond, -math.inf)
    below = s.sub_(s.amax(-1, keepdim=True))
    shares = below.exp()
    left = shares.cumsum(-1)
    if beyond is not None:
        left, below = left.masked_fill_(beyond, 1.0), below.masked_fill_(beyond, 0.0)
        shares = shares.masked_fill_(beyond, 0.0)  # a list without items would be NaN
    rest = left.log().sub_(below)
    if lists.k is not None and lists.k < width:
        first = (ranks <= lists.k).to(s.dtype)
        weights = first if weights is None else weights * first
    if beyond is not None:
        weights = (~beyond).to(s.dtype) if weights is None else weights.masked_fill(beyond, 0.0)
    values = (rest if weights is None else rest.mul_(weights)).sum(-1)
    values = values + 0 * lists.labels.sum(-1)  # a NaN label makes its list NaN
    if not lists.sloped:
        return values, None
    chances = left.reciprocal_() if weights is None else weights / left
    slope = chances.flip(-1).cumsum(-1).flip(-1).mul_(shares)
    slope = slope.sub_(1.0 if weights is None else weights)
    return values, torch.empty_like(slope).scatter_(-1, order, slope)


def _are_near(scores: Tensor, hidden: Tensor | None) -> bool:
    """Return whether each list's scores are so close that plain sums of e^s lose no digits.

    The check is free on a CPU but would wait for a GPU.
    """
    if scores.device.type != "cpu":
        return False
    low = high = scores
    if hidden is not None:
        low, high = scores.masked_fill(hidden, math.inf), scores.masked_fill(hidden, -math.inf)
    spread = (high.amax(-1) - low.amin(-1)).amax().item()
    return bool(spread <= _FAR[scores.dtype])  # False for NaN


def _by_label_and_score(scores: Tensor, lists: Lists) -> Tensor:
    """Return the items from low to high labels, equal ones from low to high scores, padding first.

    Among items equal in both, the last comes first: reversed, the order is stable.
    """
    labels, hidden = lists.labels, lists.hidden
    low, high = (one.item() for one in labels.aminmax())
    fit = scores.dtype == torch.float32 and high - low < (1 << _LABEL_BITS) - 1
    if not (fit and torch.equal(labels, labels.floor())):
        return _by_two_sorts(scores, lists)
    codes = labels.sub(low - 1).to(torch.int64)
    if hidden is not None:
        codes = codes.masked_fill_(hidden, 0)
    return _by_code_and_score(codes, scores)


def _by_code_and_score(codes: Tensor, scores: Tensor) -> Tensor:
    """Return items from low to high codes, equal ones from low to high scores.

    Among items equal in both, the last comes first. Codes are small whole numbers from 0.
    """
    width = scores.shape[-1]
    if scores.dtype != torch.float32 or width > 1 << _PLACE_BITS:
        order = scores.argsort(dim=-1, descending=True, stable=True)
        then = codes.expand_as(scores).gather(-1, order)
        return order.gather(-1, then.argsort(dim=-1, descending=True, stable=True)).flip(-1)
    # Code, score and place form one integer, which is sorted directly. The bits of a float rise
    # with its value, except for negative ones; adding 0 turns −0 into 0.
    bits = (scores + 0).view(torch.int32)
    rising = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    last = (1 << _PLACE_BITS) - 1
    places = torch.arange(last, last - width, -1, device=scores.device)
    keys = ((codes << _SCORE_BITS) + rising).bitwise_left_shift_(_PLACE_BITS).add_(places)
    keys = keys.sort(-1).values
    return keys.bitwise_and_(last).neg_().add_(last)


def _by_two_sorts(scores: Tensor, lists: Lists) -> Tensor:
    """Do the same for labels and scores of any kind."""
    labels = lists.labels
    if lists.hidden is not None:
        labels = labels.masked_fill(lists.hidden, -math.inf)
        scores = scores.masked_fill(lists.hidden, -math.inf)
    order = scores.argsort(dim=-1, descending=True, stable=True)
    then = labels.gather(-1, order).argsort(dim=-1, descending=True, stable=True)
    return order.gather(-1, then).flip(-1)


def pl_rank(scores: Tensor, lists: Lists) -> Losses | None:
    """1 − the mean nDCG of rankings by scores and noise, with PL-Rank's estimate of its gradient."""
    if not _are_near(scores, lists.hidden) or lists.drawn is None:
        return None
    hidden, width = lists.hidden, scores.shape[1]
    gains = lists.gains()
    best = gains
    if hidden is None:
        keys = scores.sub(scores.nanmedian(-1, keepdim=True).values) + lists.drawn
        # Sums per list take ten times as long as one total, which shows that all are finite.
        sums = 0.0 if math.isfinite(keys.sum().item()) else keys.sum((0, -1))
        order = _from_high_to_low(keys)
    else:
        keys = around_middle(TORCH, scores, ~hidden) + lists.drawn
        sums = keys.masked_fill(hidden, 0.0).sum((0, -1))
        keys, best = keys.masked_fill_(hidden, -math.inf), gains.masked_fill(hidden, -math.inf)
        order = keys.argsort(dim=-1, descending=True, stable=True)  # hidden items are equal
    ranks = torch.arange(1, width + 1, dtype=scores.dtype, device=scores.device)
    worth = discounts_of(TORCH, ranks, lists.discount, lists.base)
    worth = worth if lists.k is None else worth * (ranks <= lists.k)
    best = best.sort(dim=-1, descending=True).values
    ideal = (torch.where(best > 0, best, 0.0) * worth).sum(-1)
    positive = ideal > 0
    ideal = torch.where(positive, ideal, 1.0)
    samples = keys.shape[0]
    gained = gains.expand_as(keys).gather(-1, order)
    ahead = (gained * worth).flip(-1).cumsum_(-1).flip(-1)
    dcg = ahead[..., 0].mean(0)
    values = torch.where(positive, 1 - dcg / ideal, 0.0) if lists.normalized else -dcg
    # A NaN key, label or ideal makes its list NaN.
    values = values + 0 * (gains.sum(-1) + ideal + sums)
    if not lists.sloped:
        return values, None
    levels = scores if hidden is None else scores.masked_fill(hidden, -math.inf)
    shares = (levels - levels.amax(-1, keepdim=True)).exp()
    if hidden is not None:
        shares = shares.masked_fill_(hidden, 0.0)
    shares = shares.expand_as(keys).gather(-1, order)
    left = shares.flip(-1).cumsum_(-1).flip(-1)
    if hidden is not None:
        left = left.masked_fill_(left == 0, 1.0)
    inverse = left.reciprocal_()
    direct = (inverse * worth).cumsum_(-1)
    risk = inverse.mul_(ahead).cumsum_(-1)
    terms = shares.mul_(direct.mul_(gained).sub_(risk))
    terms[..., :-1].add_(ahead[..., 1:])  # += would write the result twice
    slope = torch.empty_like(terms).scatter_(-1, order, terms).sum(0).div_(-samples)
    if hidden is not None:
        slope = slope.masked_fill_(hidden, 0.0)
    if lists.normalized:
        slope = slope.mul_(torch.where(positive, 1 / ideal, 0.0)[:, None])
    return values, slope


def _from_high_to_low(keys: Tensor) -> Tensor:
    """Return the items by descending key; among equal keys, the first has the better rank.

    PyTorch sorts faster without a stable order, and keys with noise are rarely equal.
    """
    ordered, order = keys.sort(dim=-1, descending=True)
    odd = (ordered[..., 1:] < ordered[..., :-1]).all(-1).logical_not_()
    if bool(odd.any()):
        order[odd] = keys[odd].argsort(dim=-1, descending=True, stable=True)
    return order


RULES: Mapping[str, Rule] = {
    **{name: functools.partial(_cross_entropy, shares) for name, shares in _SHARES.items()},
    "list_mle": list_mle,
    "p_list_mle": p_list_mle,
    "pl_rank": pl_rank,
}
