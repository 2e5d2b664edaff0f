"""The dialect of Spark gives the numbers of Spark itself.

It has no values of single queries, so each query is also measured alone.
"""

import random
import warnings

import peers
import pytest
from spark_peer import values

import gainful as gf

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

CUTOFFS = (1, 2, 3, 5, 10, 40)
GRADES = (0, 0, 1, 2, 3)
NAMES = ("ndcgAt", "precisionAt", "recallAt", "meanAveragePrecisionAt")


def row(judged, returned, *, graded=None):
    """A query as Spark takes it: documents in order, the relevant ones, and how relevant they are."""
    docs = sorted(returned, key=lambda doc: -returned[doc])
    if graded is None:
        return [docs, [doc for doc, grade in judged.items() if grade > 0]]
    labels = sorted(judged, key=lambda doc: -judged[doc]) if graded == "best first" else [*judged]
    return [docs, labels, [float(judged[doc]) for doc in labels]]


def both(judgments, run):
    return [query for query in judgments if query in run]


def alone(seed, queries):
    """Queries with an empty list and an empty truth among them, each with a cutoff."""
    judgments, run = peers.random_queries(seed, grades=GRADES, queries=queries, scores=None)
    run["1"] = {}
    rng = random.Random(seed)  # noqa: S311
    return judgments, run, {query: rng.choice(CUTOFFS) for query in both(judgments, run)}


LISTS = [
    peers.random_queries(f"spark {number}", grades=GRADES, queries=40, scores=None)
    for number in range(5)
]
ALONE, RELEVANCES = alone("alone", 110), alone("relevances", 90)
ASKED = [[name, k] for name in NAMES for k in (1, 5, 40)] + [["meanAveragePrecision"]]
# The ranking a, b, c, u with a=1, b=2, c=0 and x=3, in two orders of the labels.
GOLDEN = [["a", "b", "c", "u"]]
ORDERS = {
    "best first": [["x", "b", "a", "c"], [3.0, 2.0, 1.0, 0.0]],
    "as they come": [["a", "b", "x"], [1.0, 2.0, 3.0]],
}


def cases():
    for (judgments, run, cutoffs), graded in ((ALONE, None), (RELEVANCES, "best first")):
        for query, k in cutoffs.items():
            given = row(judgments[query], run[query], graded=graded)
            yield {"api": "java", "rows": [given], "asked": [["ndcgAt", k]]}
    for api in ("java", "python"):
        for labels in ORDERS.values():
            yield {"api": api, "rows": [[*GOLDEN, *labels]], "asked": [["ndcgAt", 4]]}


@pytest.fixture(scope="module")
def by_spark(spark):
    """The values of every case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = iter([values(spark.sparkContext, case) for case in cases()])
    answers = {
        "alone": [next(found)[0] for _ in ALONE[2]],
        "relevances": [next(found)[0] for _ in RELEVANCES[2]],
        "golden": [next(found)[0] for _ in range(2 * len(ORDERS))],
    }
    assert next(found, None) is None
    return answers


@pytest.mark.parametrize("number", range(len(LISTS)))
def test_means(spark, number):
    """Of all that it measures, under the names that it has for them."""
    judgments, run = LISTS[number]
    rows = [row(judgments[query], run[query]) for query in both(judgments, run)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = values(spark.sparkContext, {"api": "python", "rows": rows, "asked": ASKED})
    for (name, *k), theirs in zip(ASKED, found, strict=True):
        written = f"{name}({k[0]})" if k else name
        (mean,) = gf.evaluate(judgments, run, written, dialect="spark-mllib").means.values()
        assert mean == pytest.approx(theirs, abs=1e-12), written


def test_every_query_by_itself(by_spark):
    judgments, run, cutoffs = ALONE
    compared(judgments, run, cutoffs, by_spark["alone"], "nDCG")


def test_relevances_of_labels_that_come_best_first(by_spark):
    judgments, run, cutoffs = RELEVANCES
    compared(judgments, run, cutoffs, by_spark["relevances"], "nDCG(gain=exp2)")


def compared(judgments, run, cutoffs, theirs, name):
    found = gf.evaluate(judgments, run, [f"{name}@{k}" for k in CUTOFFS], dialect="spark-mllib")
    ours_of = dict(zip(found.queries, found.values.tolist(), strict=True))
    assert set(ours_of) == set(cutoffs)  # none is missing, and no other is there
    ours = [ours_of[query][CUTOFFS.index(k)] for query, k in cutoffs.items()]
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert len(ours) > 80
    assert sum(value == 0 for value in ours) > 5
    assert len({round(value, 6) for value in ours}) > 30


def test_relevances_and_the_order_of_the_labels(by_spark):
    """By hand: DCG 1 + 3/log2(3) = 2.8928, over that of 3, 2, 1, 0, or of 1, 2, 3 in this order.

    PySpark hands no relevances on: 3 of the 4 labels, or 2 of the 3, in the first places.
    """
    best_first, as_they_come, *by_python = by_spark["golden"]
    assert best_first == pytest.approx(0.30797979, abs=1e-8)
    assert as_they_come == pytest.approx(2.8928 / (1 + 1.8928 + 3.5), abs=1e-4)
    assert by_python == pytest.approx([2.1309 / 2.5616, 1.6309 / 2.1309], abs=1e-4)
    judgments = {"q": {"a": 1, "b": 2, "c": 0, "x": 3}}
    run = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "u": 1.0}}
    (exponential,) = gf.evaluate(
        judgments, run, "nDCG(gain=exp2)@4", dialect="spark-mllib"
    ).means.values()
    (binary,) = gf.evaluate(judgments, run, "ndcgAt(4)", dialect="spark-mllib").means.values()
    assert (exponential, binary) == pytest.approx((best_first, by_python[1]), abs=1e-12)
