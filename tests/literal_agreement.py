"""Coefficients of agreement from their definitions, pair by pair, with fractions where grades are whole."""

import itertools
import math


def pairs_of(items):
    """All ordered pairs of grades of one item, with the number of its grades."""
    for grades in items:
        known = [grade for grade in grades if grade is not None]
        for one, other in itertools.permutations(range(len(known)), 2):
            yield known[one], known[other], len(known)


def raw(items):
    found = []
    for grades in items:
        known = [grade for grade in grades if grade is not None]
        if len(known) > 1:
            every = [*itertools.combinations(known, 2)]
            found.append(sum(one == other for one, other in every) / len(every))
    return sum(found) / len(found)


def shares(items):
    """The share of each grade, every item counting alike."""
    known = [[grade for grade in grades if grade is not None] for grades in items]
    known = [grades for grades in known if grades]
    values = sorted({grade for grades in known for grade in grades})
    return {
        value: sum(grades.count(value) / len(grades) for grades in known) / len(known)
        for value in values
    }


def fleiss(items):
    chance = sum(share**2 for share in shares(items).values())
    return (raw(items) - chance) / (1 - chance)


def gwet(items, weight):
    share = shares(items)
    values = [*share]
    agreeing = []
    for grades in items:
        known = [grade for grade in grades if grade is not None]
        if len(known) > 1:
            every = [*itertools.combinations(known, 2)]
            agreeing.append(sum(weight(one, other, values) for one, other in every) / len(every))
    observed = sum(agreeing) / len(agreeing)
    total = sum(weight(one, other, values) for one in values for other in values)
    spread = sum(part * (1 - part) for part in share.values())
    chance = total * spread / (len(values) * (len(values) - 1))
    return (observed - chance) / (1 - chance)


def identity(one, other, _):
    return float(one == other)


def linear(one, other, values):
    return 1 - abs(one - other) / (max(values) - min(values))


def quadratic(one, other, values):
    return 1 - ((one - other) / (max(values) - min(values))) ** 2


def krippendorff(items, kind):
    """α, from the matrix of coincidences."""
    coincidences = {}
    for one, other, count in pairs_of(items):
        coincidences[one, other] = coincidences.get((one, other), 0) + 1 / (count - 1)
    values = sorted({value for pair in coincidences for value in pair})
    often = {one: sum(coincidences.get((one, other), 0) for other in values) for one in values}
    total = sum(often.values())

    def apart(one, other):
        if kind == "nominal":
            return float(one != other)
        if kind == "interval":
            return (one - other) ** 2
        low, high = min(one, other), max(one, other)
        between = sum(often[value] for value in values if low <= value <= high)
        return (between - (often[low] + often[high]) / 2) ** 2

    observed = sum(count * apart(*pair) for pair, count in coincidences.items()) / total
    expected = sum(
        often[one] * often[other] * apart(one, other) for one in values for other in values
    ) / (total * (total - 1))
    return 1 - observed / expected if expected else math.nan


def cohen(items, first, second, weight, values):
    both = [(g[first], g[second]) for g in items if g[first] is not None and g[second] is not None]
    count = len(both)
    observed = sum(1 - weight(one, other, values) for one, other in both) / count
    expected = (
        sum(
            (1 - weight(one, other, values))
            * sum(a == one for a, _ in both)
            * sum(b == other for _, b in both)
            for one in values
            for other in values
        )
        / count**2
    )
    return 1 - observed / expected if expected else math.nan
