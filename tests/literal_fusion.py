"""Fusion as the definitions are written, document by document, with nothing shared."""

import math
import statistics


def ranks(scores, ties):
    """Document → rank in a list."""
    ascending = ties == "doc_ascending"
    order = sorted(scores, reverse=not ascending)
    order.sort(key=lambda doc: -scores[doc])
    found = {doc: place for place, doc in enumerate(order, 1)}
    if ties == "average":
        return {
            doc: statistics.mean(found[other] for other in scores if scores[other] == scores[doc])
            for doc in scores
        }
    return found


def normalised(scores, name, ties):
    """Document → normalised score."""
    low, high, count = min(scores.values()), max(scores.values()), len(scores)
    if name == "none":
        return dict(scores)
    if name == "rank":
        return {doc: 1 - (rank - 1) / count for doc, rank in ranks(scores, ties).items()}
    if low == high:
        return dict.fromkeys(scores, {"minmax": 1.0, "zscore": 0.0, "sum": 1 / count}[name])
    if name == "minmax":
        return {doc: (score - low) / (high - low) for doc, score in scores.items()}
    if name == "sum":
        total = sum(score - low for score in scores.values())
        return {doc: (score - low) / total for doc, score in scores.items()}
    mean, sd = statistics.fmean(scores.values()), statistics.pstdev(scores.values())
    return {doc: (score - mean) / sd for doc, score in scores.items()}


def fuse(runs, method, *, k=60, p=0.8, weights=None, normalise="minmax", depth=None, ties="doc"):
    """Query → document → fused score."""
    weights = weights or [1] * len(runs)
    fused = {}
    for query in {query for run in runs for query, docs in run.items() if docs}:
        lists = []
        for run, weight in zip(runs, weights, strict=True):
            scores = run.get(query, {})
            if depth is not None:
                settled = ranks(scores, "doc" if ties == "average" else ties)
                scores = {doc: score for doc, score in scores.items() if settled[doc] <= depth}
            if scores:
                lists.append((weight, ranks(scores, ties), normalised(scores, normalise, ties)))
        docs = {doc for _, placed, _ in lists for doc in placed}
        fused[query] = {
            doc: one(doc, lists, len(docs), method, k=k, p=p) for doc in docs
        }  # fmt: skip
    return fused


def one(doc, lists, count, method, *, k, p):
    """The fused score of one document."""
    have = [(weight, placed[doc], worth[doc]) for weight, placed, worth in lists if doc in placed]
    worths = [worth for _, _, worth in have]
    total = math.fsum(weight * worth for weight, _, worth in have)
    squares = math.fsum(weight / rank**2 for weight, rank, _ in have)
    return {
        "rrf": lambda: math.fsum(weight / (k + rank) for weight, rank, _ in have),
        "sum": lambda: total,
        "mnz": lambda: len(have) * total,
        "anz": lambda: total / len(have),
        "min": lambda: min(worths),
        "max": lambda: max(worths),
        "med": lambda: statistics.median(worths),
        "borda": lambda: math.fsum(
            weight
            * (
                count - placed[doc] + 1
                if doc in placed
                else statistics.mean(range(1, count - len(placed) + 1))
            )
            for weight, placed, _ in lists
        ),
        "isr": lambda: len(have) * squares,
        "log_isr": lambda: math.log(len(have)) * squares,
        "rbc": lambda: math.fsum(weight * (1 - p) * p ** (rank - 1) for weight, rank, _ in have),
    }[method]()
