"""How grades of several assessors become one, written down as the definitions say, slowly and exactly."""

from fractions import Fraction


def exact(number):
    return Fraction(str(number))


def mean(grades, weights):
    total = sum(exact(weights[name]) for name in grades)
    return float(sum(exact(grade) * exact(weights[name]) for name, grade in grades.items()) / total)


def settled(tied, grades, ties, order):
    if ties == "lowest":
        return min(tied)
    if ties == "highest":
        return max(tied)
    if ties == "mean":
        return float(sum(map(exact, tied)) / len(tied))
    return next(grades[name] for name in order if grades.get(name) in tied)


def median(grades, weights, ties, order):
    """The grades of which half of the weight is at or below, and half at or above."""
    total = sum(exact(weights[name]) for name in grades)

    def weigh(holds):
        return sum(exact(weights[name]) for name, grade in grades.items() if holds(grade))

    middle = {
        grade
        for grade in grades.values()
        if 2 * weigh(lambda other, grade=grade: other <= grade) >= total
        and 2 * weigh(lambda other, grade=grade: other >= grade) >= total
    }
    return settled(middle, grades, ties, order)


def majority(grades, weights, ties, order):
    votes = {}
    for name, grade in grades.items():
        votes[grade] = votes.get(grade, 0) + exact(weights[name])
    most = max(votes.values())
    return settled({grade for grade, vote in votes.items() if vote == most}, grades, ties, order)


def dawid_skene(items, assessors, scale, iterations):
    """EM for items [{assessor: grade}], as Dawid and Skene write it; a count is at least 1e-10.

    Returns the probabilities of each grade, item by item, the shares, and π[assessor][true][given].
    """
    believed = [
        {grade: [*item.values()].count(grade) / len(item) for grade in scale} for item in items
    ]
    for _ in range(iterations):
        shares = {grade: sum(each[grade] for each in believed) / len(items) for grade in scale}
        confusion = {}
        for name in assessors:
            own = {item[name] for item in items if name in item}
            for true in scale:
                counts = {
                    given: max(
                        1e-10,
                        sum(
                            each[true]
                            for item, each in zip(items, believed, strict=True)
                            if item.get(name) == given
                        ),
                    )
                    for given in own
                }
                total = sum(counts.values())
                confusion.setdefault(name, {})[true] = {
                    given: counts[given] / total if given in own else 0.0 for given in scale
                }
        believed = []
        for item in items:
            likely = {}
            for true in scale:
                likely[true] = shares[true]
                for name, given in item.items():
                    likely[true] *= confusion[name][true][given]
            total = sum(likely.values())
            believed.append({grade: each / total for grade, each in likely.items()})
    return believed, shares, confusion
