"""CG, DCG and nDCG."""

import functools
from collections.abc import Mapping

from gainful.array_types import Array
from gainful.measures.discount import Discount, GivenDiscount
from gainful.measures.gain import GivenGain
from gainful.measures.measure import Measure
from gainful.training.array_checks import mask_for
from gainful.training.gpu_support import compiling, fusible
from gainful.training.metrics.gains_and_discounts import discount_table, gains, weights
from gainful.training.metrics.ranks_by_score import highest, rank_for_sum, read_ties
from gainful.training.metrics.scored_lists import read_lists, refuse_wrong_lists

# A sum of n terms may be off by a few units in the last place; a value that close to 1 is 1.
_ROUNDING = 32

_UNDISCOUNTED = {"discount": Discount("none"), "base": 2.0}  # irrelevant to CG


def cg(
    scores: object,
    labels: object,
    mask: object = None,
    *,
    k: int | None = None,
    gain: GivenGain = "linear",
    ties: str = "average",
    padding: float | None = None,
) -> Array:
    """Return the cumulated gain, Σ g_i over the first k ranks by score.

    Args:
        scores: [..., list] floating, higher is better; −∞ is the lowest score.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; everywhere if None.
        k: cutoff; None for the whole list.
        gain: `linear`, `exp2`, `binary`, a table {grade: gain}, or a function of an array of grades.
        ties: `average` for the mean over all orders of equal scores, `order` to keep the given
            order.
        padding: the label that marks padding, such as -1; padding is masked.

    Returns:
        [...] in the type of the scores.

    >>> import numpy as np
    >>> cg(np.array([[0.9, 0.1, 0.5]]), np.array([[3, 2, 0]]), k=2)
    array([3.])
    """
    measure = Measure("CG", cutoff=k, gain=gain)
    return _cumulated(scores, labels, mask, padding, measure, ties)


def dcg(
    scores: object,
    labels: object,
    mask: object = None,
    *,
    k: int | None = None,
    gain: GivenGain = "linear",
    discount: GivenDiscount = "log",
    base: float | str = 2,
    ties: str = "average",
    padding: float | None = None,
) -> Array:
    """Return the discounted cumulated gain, Σ g_i · d_i over the first k ranks by score.

    Args:
        scores: [..., list] floating, higher is better; −∞ is the lowest score.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; everywhere if None.
        k: cutoff; None for the whole list.
        gain: `linear`, `exp2`, `binary`, a table {grade: gain}, or a function of an array of grades.
        discount: `log`, `jarvelin`, `reciprocal`, `power(p)`, `none`, `ln` or `misprint`; a table
            by rank, `[1, 0.5, 0.25]`; or a function of an array of ranks.
        base: the base of the logarithm, for log and jarvelin.
        ties: `average` for the mean over all orders of equal scores, `order` to keep the given
            order.
        padding: the label that marks padding, such as -1; padding is masked.

    Returns:
        [...] in the type of the scores.

    >>> import numpy as np
    >>> dcg(np.array([[0.9, 0.1, 0.5]]), np.array([[3, 2, 0]])).round(3)
    array([4.])
    """
    measure = _measure("DCG", k, gain, discount, base)
    return _cumulated(scores, labels, mask, padding, measure, ties)


def ndcg(
    scores: object,
    labels: object,
    mask: object = None,
    *,
    k: int | None = None,
    gain: GivenGain = "linear",
    discount: GivenDiscount = "log",
    base: float | str = 2,
    ties: str = "average",
    padding: float | None = None,
) -> Array:
    """Return DCG@k / IDCG@k, where the ideal is the list sorted by gain; 0 if IDCG@k is 0.

    Args:
        scores: [..., list] floating, higher is better; −∞ is the lowest score.
        labels: [..., list] the grade of each document.
        mask: [..., list] True where there is a document; everywhere if None.
        k: cutoff; None for the whole list.
        gain: `linear`, `exp2`, `binary`, a table {grade: gain}, or a function of an array of grades.
        discount: `log`, `jarvelin`, `reciprocal`, `power(p)`, `none`, `ln` or `misprint`; a table
            by rank, `[1, 0.5, 0.25]`; or a function of an array of ranks.
        base: the base of the logarithm, for log and jarvelin.
        ties: `average` for the mean over all orders of equal scores, `order` to keep the given
            order.
        padding: the label that marks padding, such as -1; padding is masked.

    Returns:
        [...] in the type of the scores.

    >>> import numpy as np
    >>> ndcg(np.array([[0.5, 0.5, 0.5], [3, 2, 1]]), np.array([[1, 0, 0], [2, 1, 0]])).round(4)
    array([0.7103, 1.    ])
    """
    measure = _measure("nDCG", k, gain, discount, base)
    return _cumulated(scores, labels, mask, padding, measure, ties)


def _measure(
    name: str, k: int | None, gain: object, discount: object, base: float | str
) -> Measure:
    named = isinstance(gain, str) and isinstance(discount, str) and isinstance(k, int | None)
    named = named and isinstance(base, int | float | str)
    if named and not compiling():  # a compiler reads it only once, and warns of caches
        return _known_measure(name, k, gain, discount, base)
    return Measure(name, cutoff=k, gain=gain, discount=discount, base=base)


@functools.lru_cache(maxsize=64, typed=True)  # parsing takes as long as launching a kernel
def _known_measure(
    name: str, k: int | None, gain: str, discount: str, base: float | str
) -> Measure:
    return Measure(name, cutoff=k, gain=gain, discount=discount, base=base)


def _cumulated(
    scores: Array, labels: object, mask: object, padding: float | None, measure: Measure, ties: str
) -> Array:
    settings = {**_UNDISCOUNTED, **measure.parameters}
    rule, normalised = read_ties(ties), measure.name == "nDCG"
    if padding is not None:
        mask = mask_for(labels, mask, padding)
    fused = fused_at_cutoff(scores, labels, mask, measure.cutoff, settings, rule, normalised)
    if fused is not None:
        return fused
    lists = read_lists(scores, labels, mask)
    depth = lists.depth(measure.cutoff)
    table = discount_table(settings["discount"], settings["base"], depth)
    worth = gains(lists, settings["gain"])
    unknown = lists.unknown
    if worth is not lists.grades:
        unknown = unknown | lists.xp.any(lists.xp.isnan(worth), axis=-1, keepdims=True)
    ranking = rank_for_sum(lists, measure.cutoff, rule)
    total = lists.total(ranking.ranked(worth) * weights(lists, ranking, table))
    if not normalised:
        return lists.result(total, unknown)
    best = highest(lists.xp, worth, table.size)
    ideal = lists.total(lists.xp.where(best > 0, best, 0) * lists.constant(table))
    unknown = unknown | lists.xp.isinf(ideal)  # overflow: every quotient would be 0
    quotient = lists.ratio(total, ideal)
    rounding = _ROUNDING * lists.xp.finfo(lists.scores.dtype).eps
    near = lists.xp.abs(quotient - 1) <= rounding
    return lists.result(lists.xp.where(near, 1, quotient), unknown)


def fused_at_cutoff(
    scores: Array,
    labels: Array,
    mask: Array,
    cutoff: int | None,
    settings: Mapping[str, object],
    ties: str,
    normalised: bool,  # noqa: FBT001
) -> Array:
    """Return CG, DCG or nDCG `[...]` in the type of the scores; None if no kernel supports it.

    Args:
        scores: `[..., list]`, of any library.
        labels: `[..., list]`.
        mask: `[..., list]` or None.
        cutoff: the cutoff of the measure.
        settings: the gain, discount and base of the measure.
        ties: `average` or `order`.
        normalised: whether to divide by the ideal.
    """
    # A compiler fuses plain code anyway, together with the code around it.
    if cutoff is None or not fusible(scores, labels, mask) or compiling():
        return None
    refuse_wrong_lists(scores, labels, mask)
    from gainful.training.metrics.fused_kernel_calls import at_cutoff

    return at_cutoff(scores, labels, mask, cutoff, settings, ties, normalised)
