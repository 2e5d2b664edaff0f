"""Measures of evidence over sets of positions, one query at a time, word by word from their definitions."""

import math


def positions(spans):
    """The positions of spans (document, start, end), each as (document, position)."""
    return {(doc, at) for doc, start, end in spans for at in range(start, end)}


def recall(evidence, chunks):
    needed = positions(evidence)
    return len(needed & positions(chunks)) / len(needed)


def size(chunks, overlap):
    if overlap == "once":
        return len(positions(chunks))
    return sum(end - start for _, start, end in chunks)


def precision(evidence, chunks, overlap):
    text = size(chunks, overlap)
    return len(positions(evidence) & positions(chunks)) / text if text else 0.0


def intersection_over_union(evidence, chunks, overlap):
    both = len(positions(evidence) & positions(chunks))
    return both / (size(chunks, overlap) + len(positions(evidence)) - both)


def precision_omega(evidence, all_chunks, overlap):
    useful = [chunk for chunk in all_chunks if positions([chunk]) & positions(evidence)]
    return precision(evidence, useful, overlap)


def added(graded, chunks):
    """The gain that each chunk adds: each position of the evidence counts its highest grade, once."""
    worth = {}
    for grade, span in graded:
        for at in positions([span]):
            worth[at] = max(grade, worth.get(at, grade))
    gains, seen = [], set()
    for chunk in chunks:
        new = positions([chunk]) - seen
        gains.append(sum(worth.get(at, 0) for at in new))
        seen |= new
    return gains


def discounted(gains, k):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], 1))


def ndcg_of_evidence(graded, chunks, k):
    """The ideal has one chunk for each document, with all of its evidence."""
    docs = {span[0] for _, span in graded}
    whole = [(doc, 0, 10**4) for doc in docs]
    ideal = sorted(added(graded, whole), reverse=True)
    return discounted(added(graded, chunks), k) / discounted(ideal, k)


def ndcg_of_chunks(graded, chunks, all_chunks, k):
    """The ideal picks at each rank the chunk that adds the most."""
    left, picked = [*all_chunks], []
    while left and len(picked) < k:
        best = max(left, key=lambda chunk: added(graded, [*picked, chunk])[-1])
        picked.append(best)
        left.remove(best)
    return discounted(added(graded, chunks), k) / discounted(added(graded, picked), k)


def is_covered(span, chunks, cover):
    found = positions([span]) & positions(chunks)
    return len(found) >= cover * len(positions([span])) - 1e-9


def share_of_groups(grouped, chunks, cover):
    """The share of groups of which any passage is covered; `grouped` has the passages of each group."""
    return sum(
        any(is_covered(span, chunks, cover) for span in spans) for spans in grouped.values()
    ) / len(grouped)


def rank_of_completeness(grouped, chunks, cover):
    for rank in range(1, len(chunks) + 1):
        if share_of_groups(grouped, chunks[:rank], cover) == 1:
            return rank
    return math.inf
