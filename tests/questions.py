"""Questions with grades and what was retrieved for them, some of it twice; and the values by hand."""

import math

import gainful as gf

GRADES = {
    "red wine": {"a": 3, "b": 1, "c": 0},
    "white wine": {"d": 1, "e": 2},
    "beer": {"f": 1},  # of which nothing is found
    "water": {"g": 0},  # for which nothing is relevant
    "tea": {"h": 2},  # for which nothing is retrieved
}
RETRIEVED = {
    "red wine": ["x", "a", "a", "c", "b"],
    "white wine": ["e", "d", "e"],
    "beer": ["y", "z"],
    "water": ["g", "y"],
    "tea": [],
}
BINARY = {query: [doc for doc, grade in docs.items() if grade] for query, docs in GRADES.items()}
COUNTS = {
    "red wine": {"retrieved": 4, "judged": 3, "repeated": ["a"]},
    "white wine": {"retrieved": 2, "judged": 2, "repeated": ["e"]},
    "beer": {"retrieved": 2, "judged": 0, "repeated": []},
    "water": {"retrieved": 2, "judged": 1, "repeated": []},
    "tea": {"retrieved": 0, "judged": 0, "repeated": []},
}
log2 = math.log2
# By hand: each id once, at its first rank.
NDCG = {
    "red wine": (3 / log2(3) + 1 / log2(5)) / (3 + 1 / log2(3)),
    "white wine": 1.0,
    "beer": 0.0,
    "water": 0.0,
    "tea": 0.0,
}
BINARY_NDCG = {**NDCG, "red wine": (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))}
SKIP = {"empty": "skip", "missing": "skip"}  # leaves out water, and not tea, which was answered


def run():
    """What was retrieved, each id once, as a run."""
    return {
        query: {doc: 1 / rank for rank, doc in enumerate(dict.fromkeys(docs), 1)}
        for query, docs in RETRIEVED.items()
    }


def evaluated(measures="nDCG@10", *, judgments=GRADES, **options):
    """What `evaluate` gives of all questions."""
    return gf.evaluate(judgments, run(), measures, **options)


def of_queries(measure="nDCG@10", **options):
    """The value of each question; None where it does not count."""
    rows = {row["query"]: row[measure] for row in evaluated(measure, **options).per_query}
    return {query: rows.get(query) for query in GRADES}


# Passages, and chunks that a retriever of a framework returns: document, start and end.
TEXTS = {
    "leave.md": "Staff have 25 days of leave. Unused days expire in March.",
    "travel.md": "Hotels are booked by the office.",
}
PASSAGES = {"q": ["25 days of leave", "booked by the office"]}
CHUNKS = [("travel.md", 0, 20), ("leave.md", 0, 28), ("travel.md", 20, 32)]
RECALLS = {"evidence_recall@1": 9 / 36, "evidence_recall@2": 25 / 36, "evidence_recall": 1.0}


def recalls(run, **options):
    """The recall of the passages in chunks, whose offsets their own fields name."""
    return gf.evaluate(PASSAGES, {"q": run}, [*RECALLS], **options).means
