"""Measures of recommendations, one user and one pair at a time, word by word from their definitions."""

import math
from itertools import combinations


def listed(scores, k=None):
    """The items of a user by score, equal scores by id, descending, down to rank k."""
    return sorted(scores, key=lambda item: (scores[item], item), reverse=True)[:k]


def mean(values):
    return sum(values) / len(values)


def exposure(run, catalogue, k):
    return {
        item: sum(item in listed(scores, k) for scores in run.values())
        for item in sorted(catalogue)
    }


def coverage(run, catalogue, k=None):
    return mean([count > 0 for count in exposure(run, catalogue, k).values()])


def gini(run, catalogue, k=None):
    """Half the mean absolute difference of all ordered pairs, over the mean."""
    counts = [*exposure(run, catalogue, k).values()]
    apart = mean([abs(one - other) for one in counts for other in counts])
    return apart / (2 * mean(counts))


def entropy(run, catalogue, k=None):
    counts = [*exposure(run, catalogue, k).values()]
    return -sum(c / sum(counts) * math.log2(c / sum(counts)) for c in counts if c)


def personalisation(run, k=None):
    lists = [set(listed(scores, k)) for scores in run.values() if scores]
    return 1 - mean([len(a & b) / math.sqrt(len(a) * len(b)) for a, b in combinations(lists, 2)])


def popularity_of(history, item, count="once"):
    return sum(
        times if count == "all" else 1
        for items in history.values()
        for known, times in items.items()
        if known == item and times > 0
    )


def novelty(scores, history, k=None, count="once"):
    total = (
        sum(times for items in history.values() for times in items.values())
        if count == "all"
        else sum(any(times > 0 for times in items.values()) for items in history.values())
    )
    return mean(
        [
            -math.log2((popularity_of(history, item, count) or 1) / total)
            for item in listed(scores, k)
        ]
    )


def popularity(scores, history, k=None, count="once"):
    return mean([popularity_of(history, item, count) for item in listed(scores, k)])


def diversity(scores, categories, k=None):
    known = [set(categories[item]) for item in listed(scores, k) if categories.get(item)]
    if len(known) < 2:
        return None
    return mean([1 - len(a & b) / len(a | b) for a, b in combinations(known, 2)])


def cosine(one, other):
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def vector_diversity(scores, vectors, k=None):
    known = [vectors[item] for item in listed(scores, k) if item in vectors]
    if len(known) < 2:
        return None
    return mean([1 - cosine(a, b) for a, b in combinations(known, 2)])


def most_popular(history, k):
    items = {item for each in history.values() for item, times in each.items() if times > 0}
    return sorted(items, key=lambda item: (popularity_of(history, item), item), reverse=True)[:k]


def serendipity(scores, relevant, expected, k):
    shown = listed(scores, k)
    return mean([item in relevant and item not in expected for item in shown]) if shown else 0.0


def rank_serendipity(scores, relevant, history, catalogue, k):
    count = len(catalogue)
    levels = sorted({popularity_of(history, item) for item in catalogue} - {0}, reverse=True)
    total = []
    for rank, item in enumerate(listed(scores, k), 1):
        times = popularity_of(history, item)
        usual = (count + 1 - (levels.index(times) + 1)) / count if times else 0.0
        total.append(max(0.0, (count + 1 - rank) / count - usual) * (item in relevant))
    return mean(total) if total else 0.0


def hit(scores, relevant, segment, k=None):
    """1 or 0; None where nothing in the segment is relevant."""
    wanted = relevant & segment
    return float(bool(wanted & {*listed(scores, k)})) if wanted else None


def shares(weights, categories):
    known = {item: weight for item, weight in weights.items() if categories.get(item)}
    found = {}
    for item, weight in known.items():
        for category in {*categories[item]}:
            share = weight / sum(known.values()) / len({*categories[item]})
            found[category] = found.get(category, 0) + share
    return found


def miscalibration(scores, past, categories, k=None, alpha=0.01, count="once"):
    weights = {item: times if count == "all" else 1 for item, times in past.items() if times > 0}
    p = shares(weights, categories)
    q = shares(dict.fromkeys(listed(scores, k), 1), categories)
    if not p or not q:
        return None
    return sum(
        share * math.log2(share / ((1 - alpha) * q.get(name, 0) + alpha * share))
        for name, share in p.items()
    )
