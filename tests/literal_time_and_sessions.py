"""The literal formulas of users who spend time, read text and ask several queries: one user, step by step."""

import math


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
