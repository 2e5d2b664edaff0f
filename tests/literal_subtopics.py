"""Measures for queries with subtopics, one query at a time, word by word from their definitions."""

import math

from gainful.measures.notation import parse


def relevant_to(judged, rel):
    """The subtopics with a relevant document: name → set of documents."""
    found = {
        name: {doc for doc, grade in docs.items() if grade >= rel} for name, docs in judged.items()
    }
    return {name: docs for name, docs in found.items() if docs}


def shares(names, weights):
    if weights is None:
        return {name: 1 / len(names) for name in names}
    return {name: weights[name] / sum(weights[other] for other in names) for name in names}


def gain(doc, above, topics, share, alpha):
    return sum(
        len(topics) * share[name] * (1 - alpha) ** len(docs.intersection(above))
        for name, docs in topics.items()
        if doc in docs
    )


def gains(listed, topics, share, alpha):
    return [gain(doc, listed[:place], topics, share, alpha) for place, doc in enumerate(listed)]


def greedy(topics, share, alpha):
    left, order = set().union(*topics.values()), []
    while left:
        best = max(left, key=lambda doc: (round(gain(doc, order, topics, share, alpha), 9), doc))
        order.append(best)
        left.remove(best)
    return order


def dcg(values, k=None):
    return sum(value / math.log2(rank + 1) for rank, value in enumerate(values[:k], 1))


def reciprocal(values, k=None):
    return sum(value / rank for rank, value in enumerate(values[:k], 1))


def alpha_ndcg(judged, listed, k, *, alpha=0.5, rel=1, weights=None, total=dcg):
    topics = relevant_to(judged, rel)
    share = shares(topics, weights)
    best = gains(greedy(topics, share, alpha), topics, share, alpha)
    return total(gains(listed, topics, share, alpha), k) / total(best, k)


def over_complete(judged, listed, k, *, alpha=0.5, rel=1, weights=None, total=dcg):
    topics = relevant_to(judged, rel)
    found = gains(listed, topics, shares(topics, weights), alpha)
    return total(found, k) / (len(topics) * total([(1 - alpha) ** n for n in range(k)], k))


def nrbp(judged, listed, *, alpha=0.5, beta=0.5, rel=1, weights=None):
    topics = relevant_to(judged, rel)
    found = gains(listed, topics, shares(topics, weights), alpha)
    total = sum(beta**place * value for place, value in enumerate(found))
    return (1 - (1 - alpha) * beta) / len(topics) * total


def d_ndcg(judged, listed, k, *, gamma=0.0, weights=None, worth=lambda grade: grade):
    topics = {
        name: {doc: worth(grade) for doc, grade in docs.items()} for name, docs in judged.items()
    }
    topics = {name: docs for name, docs in topics.items() if any(g > 0 for g in docs.values())}
    share = shares(topics, weights)
    known = {doc for docs in topics.values() for doc in docs}
    total = {doc: sum(share[s] * docs.get(doc, 0) for s, docs in topics.items()) for doc in known}
    ideal = sorted((value for value in total.values() if value > 0), reverse=True)
    value = dcg([total.get(doc, 0) for doc in listed], k) / dcg(ideal, k)
    seen = [s for s, docs in topics.items() if any(docs.get(doc, 0) > 0 for doc in listed[:k])]
    return gamma * len(seen) / len(topics) + (1 - gamma) * value


def intent_aware(judgments, run, measures, weights=None):
    """Return {query: {measure: value}}: each subtopic alone, as a query without subtopics."""
    import gainful as gf

    alone = {
        (query, name): (docs, run[query])
        for query, subtopics in judgments.items()
        for name, docs in subtopics.items()
    }
    judged = {f"{query} {name}": docs for (query, name), (docs, _) in alone.items()}
    listed = {f"{query} {name}": docs for (query, name), (_, docs) in alone.items()}
    values = gf.evaluate(judged, listed, measures).per_query.to_dict()
    found = {}
    for query, subtopics in judgments.items():
        found[query] = {}
        for measure in measures:
            topics = relevant_to(subtopics, parse(measure).parameters.get("rel", 1e-300))
            share = shares(topics, None if weights is None else weights[query])
            found[query][measure] = sum(
                share[name] * values[f"{query} {name}"][measure] for name in topics
            )
    return found
