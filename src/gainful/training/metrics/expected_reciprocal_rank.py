"""Expected reciprocal rank."""

from gainful.array_types import Array
from gainful.errors import InputError
from gainful.measures.measure import Measure
from gainful.training.metrics.gains_and_discounts import reciprocals
from gainful.training.metrics.ranks_by_score import product_above, rank, read_ties
from gainful.training.metrics.scored_lists import read_lists


def err(
    scores: object,
    labels: object,
    mask: object = None,
    *,
    k: int | None = None,
    max: float = 4,  # noqa: A002 - the parameter of the catalogue
    ties: str = "order",
    padding: float | None = None,
) -> Array:
    """Return the expected reciprocal rank, Σ_{i≤k} (1/i)·s_i·Π_{j<i} (1 − s_j), s = (2^g − 1)/2^max.

    Args:
        scores: [..., list] floating, higher is better; −∞ is the lowest score.
        labels: [..., list] the grade of each document, at most `max`; negative ones count as 0.
        mask: [..., list] True where there is a document; everywhere if None.
        k: cutoff; None for the whole list.
        max: the highest grade of the scale.
        ties: `order` to keep the given order of equal scores; the mean over all orders has no
            closed form.
        padding: the label that marks padding, such as -1; padding is masked.

    Returns:
        [...] in the type of the scores.

    >>> import numpy as np
    >>> err(np.array([[3.0, 2.0, 1.0]]), np.array([[0, 1, 1]]), max=1).round(4)
    array([0.3333])
    """
    measure = Measure("ERR", cutoff=k, max=max)
    if read_ties(ties) == "average":
        raise InputError(
            "ties for err",
            "order: the mean over all orders has no closed form",
            "average",
            "Choose ties='order'.",
        )
    lists = read_lists(scores, labels, mask, padding)
    xp, top = lists.xp, measure.parameters["max"]
    ranking = rank(lists, measure.cutoff, ties)
    grades = ranking.ranked(lists.grades)
    chances = (xp.exp2(xp.where(grades > 0, grades, 0)) - 1) / 2.0**top
    terms = chances * product_above(lists.xp, 1 - chances)
    total = lists.total(terms * reciprocals(lists, ranking, measure.cutoff))
    beyond = xp.any(lists.grades > top, axis=-1, keepdims=True)
    return lists.result(total, beyond)
