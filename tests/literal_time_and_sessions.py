"""The literal formulas of users who spend time, read text and ask several queries: one user, step by step."""

import math

from literal import discount_of, gain_of


def time_biased_gain(docs, grades, lengths, same, *, k=None, **p):
    """Walk down the list with a clock."""
    clock, total, seen = 0.0, 0.0, set()
    for doc in docs[:k]:
        if seen & same.get(doc, {doc}):
            continue
        seen.add(doc)
        relevant = grades.get(doc, -math.inf) >= p["rel"]
        if relevant:
            total += p["click"] * p["save"] * math.exp(-clock * math.log(2) / p["h"])
        length = lengths.get(doc, p["words"])
        clock += p["summary"]
        clock += (p["click"] if relevant else p["click_other"]) * (
            p["word"] * length + p["opening"]
        )
    return total


def duplicates(pairs):
    """The documents that are the same as each one: what pairs connect."""
    same = {}
    for one, other in pairs:
        together = same.get(one, {one}) | same.get(other, {other})
        same |= dict.fromkeys(together, together)
    return same


def u_measure(docs, grades, lengths, same, *, gain, k=None, **p):
    """Write down the trailtext, character by character in effect, and note where each gain is."""
    position, total, seen = 0.0, 0.0, set()
    for doc in docs[:k]:
        if seen & same.get(doc, {doc}):
            continue
        seen.add(doc)
        position += p["snippet"]
        worth = gain(grades[doc]) if doc in grades else 0.0
        if worth > 0:
            position += p["read"] * lengths.get(doc, p["characters"])
            if position < p["L"]:
                total += worth * (1 - position / p["L"])
    return total


def session_dcg(session, *, gain, discount, base, bq, repeats, k=None):
    """Add up the queries (docs, grades) of a session, one document after the other."""
    total, seen = 0.0, set()
    for place, (docs, grades) in enumerate(session, 1):
        for rank, doc in enumerate(docs[:k], 1):
            again = repeats == "once" and doc in seen
            if doc in grades and not again:
                worth = gain_of(gain, grades[doc], "keep") * discount_of(discount, base, rank)
                total += worth / (1 + math.log(place, bq))
        seen |= {*docs[:k]}
    return total


def best_session_dcg(session, **settings):
    """The highest value of any lists: try all of them, document by document."""
    return _best_from(session, 0, [[] for _ in session], settings)


def _best_from(session, at, lists, settings):
    """The best value if the queries before `at` keep their lists."""
    if at == len(session):
        shown = [(docs, grades) for docs, (_, grades) in zip(lists, session, strict=True)]
        return session_dcg(shown, **settings)
    best = _best_from(session, at + 1, lists, settings)
    k = settings.get("k")
    if k is None or len(lists[at]) < k:
        for doc in session[at][1]:
            taken = (
                {doc for own in lists for doc in own}
                if settings["repeats"] == "once"
                else {*lists[at]}
            )
            if doc not in taken:
                longer = [*lists[:at], [*lists[at], doc], *lists[at + 1 :]]
                best = max(best, _best_from(session, at, longer, settings))
    return best


def session_rbp(session, *, p, b, worth, repeats, k=None, depth=400):
    """Follow the probability that the user looks at each document of endless lists."""
    total, reaches, seen = 0.0, 1.0, set()
    for docs, grades in session:
        looks, asks_next = reaches, 0.0
        for rank in range(depth):
            if rank < len(docs[:k]):
                doc = docs[rank]
                if not (repeats == "once" and doc in seen):
                    total += looks * (1 - p) * worth(grades.get(doc), grades)
            asks_next += looks * p * (1 - b)
            looks *= p * b
        reaches = asks_next
        seen |= {*docs[:k]}
    return total
