"""What becomes of the values of queries: their mean, their geometric mean, or their sum."""

import math

from gainful.measures.family import GEOMETRIC, SUM
from gainful.measures.measure import Measure


def aggregate_of(measure: Measure, values: list[float]) -> float:
    """Return what a measure has over all queries, from the values of those that count.

    Sums are exact before the one rounding at the end.
    """
    try:
        return aggregate_of_sum(measure, math.fsum(summands(measure, values)), len(values))
    except OverflowError:
        if measure.family.aggregate == SUM:
            raise
        return math.fsum(value / len(values) for value in values)  # the mean may still be a number


def aggregate_of_sum(measure: Measure, total: float, count: int) -> float:
    """Return what a measure has over all queries, from the sum of its summands.

    >>> from gainful.measures.notation import parse
    >>> aggregate_of_sum(parse("RR"), 1.5, 3), aggregate_of_sum(parse("num_rel"), 6.0, 3)
    (0.5, 6.0)
    """
    if measure.family.aggregate == SUM:
        return total
    return math.exp(total / count) if measure.family.aggregate == GEOMETRIC else total / count


def summands(measure: Measure, values: list[float]) -> list[float]:
    """Return what is summed of a measure: its values, or their logarithms."""
    if measure.family.aggregate != GEOMETRIC:
        return values
    floor = measure.parameters["floor"]
    return [value if math.isnan(value) else math.log(max(value, floor)) for value in values]
