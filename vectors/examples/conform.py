"""An nDCG that answers conformance cases: gainful conformance python3 vectors/examples/conform.py"""

import json
import math
import sys

DONE = {
    "ideal": "judged",
    "depth": "cutoff",
    "unjudged": "zero",
    "missing": "zero",
    "empty": "zero",
}


def dcg(gains, k):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], 1))


def ndcg(judged, run, k):
    grades = dict(judged)
    ranked = sorted(run or [], key=lambda pair: -pair[1])
    best = dcg(sorted(grades.values(), reverse=True), k)
    return dcg([grades.get(doc, 0) for doc, _ in ranked], k) / best if best > 0 else 0


for line in sys.stdin:
    case = json.loads(line)
    measure = case["measure"]
    mine = [measure["name"], measure.get("gain"), measure.get("discount")] == [
        "nDCG",
        "linear",
        "log",
    ]
    if not mine or not case["choices"].items() <= DONE.items():
        answer = {"skip": "another measure, or a choice that is not made so here"}
    else:
        queries = [query for query in case["queries"] if query["judged"] is not None]
        values = [ndcg(query["judged"], query["run"], measure["k"]) for query in queries]
        answer = {"value": sum(values) / len(values)}
    print(json.dumps({"id": case["id"], **answer}))
