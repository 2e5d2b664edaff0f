"""Rows of every chart, small enough to be looked at."""

QUERIES = [
    {"query": "q2", "text": "second", "difference": -0.25, "base": 0.5, "run": 0.25,
     "outcome": "worse", "place": 0},
    {"query": "q3", "text": "third", "difference": 0.0, "base": 0.75, "run": 0.75,
     "outcome": "same", "place": 1},
    {"query": "q1", "text": "first", "difference": 0.5, "base": 0.125, "run": 0.625,
     "outcome": "better", "place": 2},
]  # fmt: skip
INTERVALS = [
    {"measure": "nDCG@10", "base": "old", "run": "new", "difference": 0.1, "low": 0.05,
     "high": 0.15, "verdict": "better"},
    {"measure": "nDCG@10", "base": "old", "run": "other", "difference": -0.01, "low": -0.04,
     "high": 0.02, "verdict": "inconclusive"},
    {"measure": "AP", "base": "old", "run": "new", "difference": 0.2, "low": None,
     "high": None, "verdict": "inconclusive"},
]  # fmt: skip
CURVE = [
    {"run": run, "k": k, "value": value + k / 10}
    for run, value in (("zeta", 0.2), ("alpha", 0.3))
    for k in (1, 2, 3)
]
SCORES = [
    {"run": run, "score": score}
    for run, scores in (("zeta", (0.0, 0.0, 0.5)), ("alpha", (0.25, 1.0, 1.0)))
    for score in scores
]
CONFUSION = [
    {"grade": one, "other": two, "share": share}
    for one, two, share in (("0", "0", 0.5), ("0", "2", 0.125), ("2", "0", 0.125), ("2", "2", 0.25))
]
AGREEMENT = [
    {"query": "q2", "text": "second", "agreement": 0.25, "shared": 4, "spread": 2.0, "place": 0},
    {"query": "q1", "text": "first", "agreement": 1.0, "shared": 1, "spread": 0.0, "place": 1},
]
ASSESSORS = [
    {"run": run, "assessor": assessor, "value": value}
    for run, values in (("zeta", (0.2, 0.5, 0.4)), ("alpha", (0.3, 0.4, 0.35)))
    for assessor, value in zip(("zoe", "ann", "mean"), values, strict=True)
]
UNJUDGED = [
    {"run": run, "rank": rank, "share": share + rank / 10, "documents": 4}
    for run, share in (("zeta", 0.0), ("alpha", 0.25))
    for rank in (1, 2, 3)
]
BOUNDS = [
    {"run": "zeta", "value": 0.5, "lowest": 0.4, "highest": 0.7, "estimate": 0.55, "low": 0.52, "high": 0.6},
    {"run": "alpha", "value": 0.25, "lowest": 0.2, "highest": 0.6, "estimate": None, "low": None, "high": None},
]  # fmt: skip
HEAT = [
    {"query": query, "text": text, "run": run, "score": score, "place": place}
    for place, (query, text, scores) in enumerate(
        (("q2", "second", (0.0, 0.25)), ("q1", "first", (0.5, 1.0)))
    )
    for run, score in zip(("zeta", "alpha"), scores, strict=True)
]
EVERY = {
    "intervals": INTERVALS,
    "differences": QUERIES,
    "scatter": QUERIES,
    "curve": CURVE,
    "examination": CURVE,
    "distribution": SCORES,
    "unjudged": UNJUDGED,
    "bounds": BOUNDS,
    "heat": HEAT,
    "hard": HEAT,
    "confusion": CONFUSION,
    "query_agreement": AGREEMENT,
    "assessor_means": ASSESSORS,
}
