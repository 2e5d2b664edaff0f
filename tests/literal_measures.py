"""A literal, slow formula for every family of the catalogue: one query, one list.

It shares no code with the package. `listed` are the grades of the list in rank order, None for
a document without a judgment; `unseen` are the grades of the judged documents that were not
retrieved; `k` is the cutoff. A value is None where the measure is undefined for the query.
"""

import math

import literal_users  # noqa: F401 - its formulas register themselves
from literal import discount_of
from literal_query import FORMULAS, Query, dcg, formula, not_relevant, relevant, worths


@formula("CG")
def cumulated_gain(q, gain):
    return sum(q.gains(gain)[: q.k])


@formula("DCG")
def discounted(q, gain, discount, base):
    return dcg(q.gains(gain), q.k, discount, base)


@formula("IDCG")
def ideal_discounted(q, gain, discount, base, ideal, depth):
    grades = q.judged if ideal == "judged" else q.listed
    gains = [0.0 if grade is None else q.gain(grade, gain) for grade in grades]
    gains.sort(reverse=True)
    if q.negative != "both":
        gains = [worth for worth in gains if worth > 0]
    if depth == "retrieved":
        gains = gains[: len(q.listed)]
    return dcg(gains, None if depth == "all" else q.k, discount, base)


@formula("nDCG")
def normalised(q, gain, discount, base, norm, ideal, depth):
    found = discounted(q, gain, discount, base)
    best = ideal_discounted(q, gain, discount, base, ideal, depth)
    if best < 1e-12 and norm == "ideal":  # what is left of terms that cancel is rounding
        return None
    worst = 0.0
    if norm == "minmax":
        negative = sorted(worth for worth in (q.gain(g, gain) for g in q.judged) if worth < 0)
        worst = dcg(negative, q.k, discount, base)
    if best == worst:
        return None
    return (found - worst) / (best - worst)


@formula("nDCGrel")
def ndcg_at_relevant(q, gain):
    gains, ideal = q.gains(gain), q.ideal(gain)
    if not ideal:
        return None
    total = 0.0
    for rank, worth in enumerate(gains, 1):
        if worth > 0:
            total += dcg(gains, rank) / dcg(ideal, rank)
    for grade in q.unseen:
        if q.gain(grade, gain) > 0:
            total += dcg(gains) / dcg(ideal)
    return total / len(ideal)


@formula("RnDCG")
def ndcg_at_falls(q, gain, rel):
    gains, ideal = q.gains(gain), q.ideal(gain)
    if not ideal or not q.relevant(rel):
        return None
    falls = [
        rank
        for rank in range(1, len(ideal) + 1)
        if rank == len(ideal) or ideal[rank] < ideal[rank - 1]
    ]
    values = [dcg(gains, rank) / dcg(ideal, rank) for rank in falls]
    if len(gains) >= len(ideal) + 2:
        values.append(dcg(gains) / dcg(ideal))
    return sum(values) / len(values)


@formula("G")
def normalised_gain(q, gain):
    gains, ideal = q.gains(gain), q.ideal(gain)
    if not ideal:
        return None
    total = reached = could = 0.0
    for index, worth in enumerate(gains):
        reached += worth
        could += max(ideal[index], 1.0) if index < len(ideal) else 1.0
        total += worth / math.log2(2 + could - reached) if worth else 0.0
    return total / sum(ideal)


@formula("binG")
def binary_gain(q, rel):
    if not q.relevant(rel):
        return None
    others, total = 0, 0.0
    for grade in q.listed:
        if relevant(grade, rel):
            total += 1 / math.log2(2 + others)
        else:
            others += 1
    return total / q.relevant(rel)


@formula("SDCG")
def scaled(q, rel, max, discount="log", base=2):  # noqa: A002
    gains = [float(worth) for worth in worths(q, rel, max)]
    return dcg(gains, q.k, discount, base) / dcg([1.0] * q.k, q.k, discount, base)


def places(columns, k):
    """The row and the column of the first k ranks, which fill the page one after the other."""
    listed = [columns, "..."] if isinstance(columns, int) else [*columns]
    row, column, found = 1, 1, []
    while len(found) < k:
        size = listed[min(row, len(listed)) - 1]
        size = listed[-2] if size == "..." else size
        found.append((row, column))
        column += 1
        if column > size:
            row, column = row + 1, 1
        if row > len(listed) and listed[-1] != "...":
            break
    return found


def page_weights(k, columns, row, column):
    products = [
        discount_of(row, 2, down) * discount_of(column, 2, across)
        for down, across in places(columns, k)
    ]
    return products + [0.0] * (k - len(products))


@formula("grid_DCG")
def gain_of_page(q, gain, columns, row, column):
    weights = page_weights(q.k, columns, row, column)
    return sum(worth * weight for worth, weight in zip(q.gains(gain), weights, strict=False))


@formula("grid_nDCG")
def gain_of_best_page(q, gain, columns, row, column):
    """The largest products belong together: no exchange of two documents makes the best page better."""
    best = q.ideal(gain)
    if not best:
        return None
    weights = sorted(page_weights(q.k, columns, row, column), reverse=True)
    ideal = sum(worth * weight for worth, weight in zip(best, weights, strict=False))
    return gain_of_page(q, gain, columns, row, column) / ideal


@formula("P")
def precision(q, rel):
    size = len(q.listed) if q.k is None else q.k
    return q.hits(rel) / size if size else 0.0


@formula("R")
def recall(q, rel):
    return q.hits(rel) / q.relevant(rel) if q.relevant(rel) else None


@formula("F")
def f_measure(q, beta, rel):
    if not q.relevant(rel):
        return None
    p, r = precision(q, rel), recall(q, rel)
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0.0


@formula("RelP")
def relative_precision(q, rel):
    if not q.relevant(rel):
        return None
    most = min(len(q.listed) if q.k is None else q.k, q.relevant(rel))
    return q.hits(rel) / most if most else 0.0


@formula("SetAP")
def unranked(q, rel):
    return precision(q, rel) * recall(q, rel) if q.relevant(rel) else None


@formula("Success")
def success(q, rel):
    return float(q.hits(rel) > 0)


@formula("Utility")
def utility(q, a, b, c, d, docs, rel):
    found, retrieved, all_ = q.hits(rel), len(q.listed), q.relevant(rel)
    others = docs - retrieved - (all_ - found)
    return a * found + b * (retrieved - found) + c * (all_ - found) + d * others


@formula("Judged")
def judged_share(q):
    return sum(grade is not None for grade in q.top) / len(q.top) if q.top else 0.0


@formula("Unjudged")
def unjudged_share(q):
    return sum(grade is None for grade in q.top) / q.k


@formula("UnjudgedMass")
def unjudged_mass(q, discount, base):
    ones = [1.0] * len(q.top)
    if not ones:
        return 0.0
    open_ranks = [1.0 if grade is None else 0.0 for grade in q.top]
    return dcg(open_ranks, None, discount, base) / dcg(ones, None, discount, base)


FORMULAS["NumQ"] = lambda q: 1.0
FORMULAS["NumRet"] = lambda q: float(len(q.top))
FORMULAS["NumRel"] = lambda q, rel: float(q.relevant(rel))
FORMULAS["NumRelRet"] = lambda q, rel: float(q.hits(rel))
FORMULAS["NumNonrelRet"] = lambda q, rel: float(sum(not_relevant(grade, rel) for grade in q.top))


def precisions(q, rel):
    """P@i at the ranks i of the relevant documents down to the cutoff."""
    return [q.hits(rel, rank) / rank for rank, grade in enumerate(q.top, 1) if relevant(grade, rel)]


@formula("AP")
def average_precision(q, denominator, rel):
    if not q.relevant(rel):
        return None
    size = q.relevant(rel)
    if denominator == "min" and q.k is not None:
        size = min(q.k, size)
    if denominator == "found":
        size = len(precisions(q, rel))
    return sum(precisions(q, rel)) / size if size else 0.0


FORMULAS["GMAP"] = lambda q, floor, rel: average_precision(q, "R", rel)
FORMULAS["GMbpref"] = lambda q, floor, rel: binary_preference(q, rel)


@formula("RR")
def reciprocal_rank(q, rel):
    return next((1 / rank for rank, grade in enumerate(q.top, 1) if relevant(grade, rel)), 0.0)


@formula("Rprec")
def r_precision(q, mult, rel):
    if not q.relevant(rel):
        return None
    depth = math.floor(mult * q.relevant(rel) + 0.9)
    return q.hits(rel, depth) / depth


@formula("iprec")
def interpolated(q, recall, rel):
    if not q.relevant(rel):
        return None
    needed = math.floor(recall * q.relevant(rel) + 0.9)
    ranks = range(1, len(q.listed) + 1)
    return max((q.hits(rel, i) / i for i in ranks if q.hits(rel, i) >= needed), default=0.0)


@formula("11pt")
def eleven_points(q, rel):
    if not q.relevant(rel):
        return None
    return sum(interpolated(q, tenths / 10, rel) for tenths in range(11)) / 11


@formula("bpref")
def binary_preference(q, rel):
    all_ = q.relevant(rel)
    if not all_:
        return None
    bad = sum(not_relevant(grade, rel) for grade in q.judged)
    total = 0.0
    for index, grade in enumerate(q.listed):
        if relevant(grade, rel):
            above = sum(not_relevant(other, rel) for other in q.listed[:index])
            total += 1 - min(above, all_) / min(bad, all_) if above else 1.0
    return total / all_


@formula("infAP")
def inferred(q, rel):
    if not q.relevant(rel):
        return None
    epsilon, total = 0.00001, 0.0
    for rank, grade in enumerate(q.listed, 1):
        if relevant(grade, rel):
            above = q.listed[: rank - 1]
            r = sum(relevant(other, rel) for other in above)
            n = sum(not_relevant(other, rel) for other in above)
            pooled = sum(other is not None for other in above)
            expected = (r + epsilon) / (r + n + 2 * epsilon)
            total += 1.0 if rank == 1 else 1 / rank + pooled / rank * expected
    return total / q.relevant(rel)


@formula("yaap")
def smoothed(q, rel):
    s = sum(precisions(q, rel))
    return math.log((1 + s) / (1 + q.relevant(rel) - s))


def value(name, listed, unseen=(), *, k=None, negative="keep", **parameters):
    """The value of one query, or None where it is undefined."""
    return FORMULAS[name](Query(listed, unseen, k, negative), **parameters)
