"""The dialects of tools that are not at hand, against their formulas, written out slowly.

Lists have no ties, but for recommenders, whose sorting keeps the order of the rows.
"""

import heapq
import math

import peers
import pytest

import gainful as gf

pytestmark = pytest.mark.filterwarnings("ignore::gainful.errors.GainfulWarning")

LEFT_OUT, BELOW = None, "an ideal below 0, by which the tool divides"
POSITIVE, ANY, WITH_NEGATIVE = (1, 2, 3), (0, 0, 1, 2, 3), (-2, -1, 0, 1, 2, 3)


def log(place):
    """The discount of a place that counts from 0."""
    return 1 / math.log2(place + 2)


def jarvelin(place):
    return 1 / max(math.log2(place + 1), 1)


def binary(hits, relevant, k):
    ideal = sum(log(place) for place in range(min(relevant, k)))
    return sum(log(place) for place, hit in enumerate(hits[:k]) if hit) / ideal


def graded(grades, pool, discount, gain=float, depth=None):
    """DCG of grades in order by that of a pool in its best order, cut at depth."""
    best = sorted((gain(grade) for grade in pool), reverse=True)[:depth]
    ideal = sum(worth * discount(place) for place, worth in enumerate(best))
    return sum(gain(grade) * discount(place) for place, grade in enumerate(grades)), ideal


def spark(judged, docs, k):
    relevant = {doc for doc, grade in judged.items() if grade > 0}
    return binary([doc in relevant for doc in docs], len(relevant), k) if relevant else 0.0


def recommenders(judged, docs, k):
    return binary([doc in judged for doc in docs], len(judged), k)


def recbole(judged, docs, k):
    relevant = {doc for doc, grade in judged.items() if grade > 0}
    hits = sum(log(place) for place, doc in enumerate(docs[:k]) if doc in relevant)
    # A user without any has the whole of the discounts below.
    return hits / sum(log(place) for place in range(min(len(relevant), k) or k))


def sentence_transformers(judged, docs, k):
    relevant = {doc for doc, grade in judged.items() if grade > 0}
    return binary([doc in relevant for doc in docs], len(relevant), k) if relevant else LEFT_OUT


def lenskit(judged, docs, k):
    found, ideal = graded(
        [judged.get(doc, 0) for doc in docs[:k]], judged.values(), jarvelin, depth=k
    )
    return BELOW if ideal < -1e-9 else found / ideal if ideal > 1e-9 else 0.0


def ntcir(judged, docs, k):
    found, ideal = graded(
        [judged.get(doc, 0) for doc in docs[:k]], judged.values(), jarvelin, depth=k
    )
    return found / ideal


def exponential(grade):
    return 2.0**grade - 1


def elasticsearch(judged, docs, k):
    hits = docs[:k]
    found, ideal = graded(
        [judged.get(doc, 0) for doc in hits], judged.values(), log, exponential, len(hits)
    )
    return BELOW if ideal < -1e-9 else found / ideal if ideal > 1e-9 else 0.0


def quepid(judged, docs, k):
    found, ideal = graded(
        [judged.get(doc, 0) for doc in docs[:k]], judged.values(), log, exponential
    )
    return 0.0 if ideal == 0 else found / ideal


def opensearch_workbench(judged, docs, k):
    found, ideal = graded(
        [judged.get(doc, 0) for doc in docs[:k]], judged.values(), log, exponential, k
    )
    return found / ideal if ideal > 1e-9 else 0.0


def kaggle(judged, docs, k):
    """From a translation of Kaggle's code: KaggleNDCG.scala of github.com/jongwook/spark-ranking-metrics."""
    found, ideal = graded(
        [judged.get(doc, 0) for doc in docs[:k]], judged.values(), log, exponential, k
    )
    return found / ideal if ideal > 0 else float(found == ideal)


def allrank(judged, docs, k, empty=1.0):
    labels = [judged.get(doc, 0) for doc in docs]
    found, ideal = graded(labels[:k], labels, log, exponential, k)
    return empty if ideal == 0 else found / ideal


def tf_ranking(judged, docs, k):
    return allrank(judged, docs, k, empty=0.0)


FORMULAS = {
    "spark-mllib": (spark, ANY),
    "recommenders": (recommenders, POSITIVE),
    "recbole": (recbole, ANY),
    "sentence-transformers": (sentence_transformers, ANY),
    "lenskit": (lenskit, WITH_NEGATIVE),
    "ntcir": (ntcir, POSITIVE),
    "elasticsearch": (elasticsearch, WITH_NEGATIVE),
    "quepid": (quepid, ANY),
    "opensearch-workbench": (opensearch_workbench, WITH_NEGATIVE),
    "kaggle": (kaggle, ANY),
    "allrank": (allrank, ANY),
    "tf-ranking": (tf_ranking, ANY),
}
MISSING_IS_ZERO = {"recommenders", "ntcir", "kaggle"}


def cases(name, grades, k):
    """Judgments, a run, and the value of each query by the formula."""
    value, _ = FORMULAS[name]
    tied = peers.TIED if name == "recommenders" else None
    judgments, run = peers.random_queries(f"{name} {k}", grades=grades, scores=tied)
    if grades == POSITIVE:
        judgments = {q: {d: g or 1 for d, g in docs.items()} for q, docs in judgments.items()}
    expected = {}
    for query, judged in judgments.items():
        docs = sorted(run.get(query, ()), key=lambda doc, query=query: -run[query][doc])
        if query in run:
            expected[query] = value(judged, docs, k)
        elif name in MISSING_IS_ZERO:
            expected[query] = 0.0
    return judgments, run, expected


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name, k):
    judgments, run, expected = cases(name, FORMULAS[name][1], k)
    for query in [query for query, value in expected.items() if value is BELOW]:
        del judgments[query], run[query], expected[query]
    found = gf.evaluate(judgments, run, f"nDCG@{k}", dialect=name)
    rows = {query: row[0] for query, row in zip(found.queries, found.values.tolist(), strict=True)}
    counted = {query: value for query, value in expected.items() if value is not LEFT_OUT}
    assert rows == pytest.approx(counted, abs=1e-12)
    mean = math.fsum(counted.values()) / len(counted)
    assert next(iter(found.means.values())) == pytest.approx(mean, abs=1e-12)
    assert len(counted) > 150


def test_without_a_cutoff():
    """What each looks at by itself."""
    found = {each.name: each.measure("nDCG").cutoff for each in gf.measures.dialects()}
    at_ten = {
        "elasticsearch",
        "quepid",
        "recommenders",
        "recbole",
        "sentence-transformers",
        "vespa",
    }
    assert {name for name, cutoff in found.items() if cutoff == 10} == at_ten
    assert {name: k for name, k in found.items() if k not in (None, 10)} == {
        "gdeval": 20,
        "mlflow": 3,
        "xgboost": 32,
    }
    assert gf.measures.dialect("elasticsearch").measure("dcg").cutoff == 10
    assert gf.measures.dialect("elasticsearch").measure("P").cutoff is None


def test_every_dialect_is_held_to_its_tool_or_to_its_formula():
    tools = {"pytrec_eval", "trec_eval-9", "beir", "ir_measures", "gdeval", "ranx"}
    by_hand = {"trec_eval-10"}  # as version 9 but for single precision and missing queries
    # Their answers are recorded: test_dialects_against_records.py.
    recorded = {"mlflow", "llamaindex", "haystack", "ragas", "mteb", "vespa"}
    groups = (set(peers.LIST_TOOLS), tools, set(FORMULAS), by_hand, recorded)
    known = set().union(*groups)
    assert known == {each.name for each in gf.measures.dialects()}
    assert len(known) == sum(map(len, groups))


def test_ties_of_older_sentence_transformers_are_not_reproduced():
    """There hits go through a heap of (score, id) and a stable sort, and the higher id comes first; now the lower one does."""
    judgments, run = {"q": {"b": 1}}, {"q": {"b": 2.0, "z": 1.0, "a": 2.0}}
    heap = []
    for doc, score in run["q"].items():
        heapq.heappush(heap, (score, doc))
    docs = [doc for _, doc in sorted(heap, key=lambda hit: hit[0], reverse=True)]
    found = gf.evaluate(judgments, run, "nDCG", dialect="sentence-transformers")
    assert sentence_transformers(judgments["q"], docs, 10) == 1.0
    assert next(iter(found.means.values())) == pytest.approx(log(1))
    assert "heap" in gf.measures.dialect("sentence-transformers").note
