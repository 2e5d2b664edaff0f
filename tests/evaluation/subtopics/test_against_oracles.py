"""Every measure against ndeval, and against a literal implementation, on random queries."""

import math
import random
import warnings

import pyndeval
import pytest

import gainful as gf
from literal_subtopics import (
    alpha_ndcg,
    d_ndcg,
    intent_aware,
    nrbp,
    over_complete,
    reciprocal,
    relevant_to,
)

CUTOFFS = (1, 3, 5, 20)
AT_CUTOFFS = ("ERR-IA", "nERR-IA", "alpha-DCG", "alpha-nDCG", "P-IA", "strec")
NDEVAL = [f"{name}@{k}" for name in AT_CUTOFFS for k in CUTOFFS] + ["NRBP", "nNRBP", "MAP-IA"]


def random_topics(seed, *, grades=(0, 0, 1, 1, 2), queries=3):
    """Judgments and a run with ties, unjudged documents, documents that are not retrieved."""
    rng = random.Random(seed)  # noqa: S311
    docs = [f"d{number}" for number in range(rng.choice([4, 9, 30]))]
    judgments, run = {}, {}
    for number in range(queries):
        query = f"q{number}"
        judgments[query] = {
            f"s{subtopic}": {
                doc: rng.choice(grades) for doc in rng.sample(docs, rng.randint(1, len(docs)))
            }
            for subtopic in range(rng.randint(1, 6))
        }
        returned = rng.sample([*docs, "x", "y", "z"], rng.randint(1, len(docs)))
        run[query] = {doc: rng.choice([0.1, 0.2, 0.3, 4, 5.5]) for doc in returned}
    return judgments, run


def many_topics(seeds, **options):
    """The random judgments and runs of several seeds in one."""
    judgments, run = {}, {}
    for seed in seeds:
        for whole, part in zip((judgments, run), random_topics(seed, **options), strict=True):
            whole |= {f"{seed}/{query}": found for query, found in part.items()}
    return judgments, run


def in_tens(count):
    """The seeds below a number, ten of them together."""
    return pytest.mark.parametrize(
        "seeds", [range(at, at + 10) for at in range(0, count, 10)], ids=str
    )


def listed(documents):
    return sorted(documents, key=lambda doc: (documents[doc], doc), reverse=True)


def in_ranks(run):
    """Return a run without ties, in the order that trec_eval and `ndeval -traditional` have."""
    return {
        query: {doc: -rank for rank, doc in enumerate(listed(docs))} for query, docs in run.items()
    }


def by_ndeval(judgments, run, **parameters):
    rows = [
        (query, subtopic, doc, grade)
        for query, subtopics in judgments.items()
        for subtopic, docs in subtopics.items()
        for doc, grade in docs.items()
    ]
    rel = parameters.pop("rel", 1)
    oracle = pyndeval.RelevanceEvaluator(rows, NDEVAL, relevance_level=rel, **parameters)
    found = oracle.evaluate(
        [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    )
    for query, values in found.items():
        # At rank 1 it does not divide by what documents relevant to all subtopics would give.
        count = len(relevant_to(judgments[query], rel)) or 1
        for name in ("ERR-IA@1", "alpha-DCG@1"):
            values[name] /= count
    return found


def evaluated(judgments, run, measures, **options):
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", gf.errors.GainfulWarning
        )  # of runs without a judged document
        return gf.subtopics.evaluate_subtopics(judgments, run, measures, **options).per_query


@in_tens(150)
def test_the_same_as_ndeval(seeds):
    judgments, run = many_topics(seeds)
    # pyndeval has equal scores by id ascending; so it is given ranks.
    expected = by_ndeval(judgments, in_ranks(run))
    compare_with_ndeval(evaluated(judgments, run, NDEVAL), expected)


@in_tens(60)
def test_the_order_of_ties_in_pyndeval(seeds):
    judgments, run = many_topics(seeds)
    expected = by_ndeval(judgments, run)
    found = evaluated(judgments, run, NDEVAL, policy={"ties": "doc_ascending"})
    compare_with_ndeval(found, expected)


def test_the_two_orders_of_four_tied_documents():
    judgments = {"q": {"1": {"d1": 1, "d2": 1}, "2": {"d3": 1}}}
    run = {"q": {"d1": 1.0, "d2": 1.0, "d3": 1.0, "d4": 1.0}}
    for ties, ranked, value in (
        ("doc", in_ranks(run), 0.387),
        ("doc_ascending", run, 0.807),
    ):
        policy = {"ties": ties}
        found = evaluated(judgments, run, ["alpha_nDCG@2", "alpha_nDCG@3"], policy=policy)
        assert round(found["alpha_nDCG@2"][0], 3) == value
        expected = by_ndeval(judgments, ranked)["q"]["alpha-nDCG@3"]
        assert found["alpha_nDCG@3"][0] == pytest.approx(expected, abs=1e-12)


def compare_with_ndeval(found, expected):
    for name in NDEVAL:
        for query, value in zip(found["query"], found[name], strict=True):
            if not math.isnan(expected[query][name]):  # 0/0 of a query without relevant documents
                assert value == pytest.approx(expected[query][name], abs=1e-12), (query, name)


@in_tens(60)
@pytest.mark.parametrize(("alpha", "beta", "rel"), [(0.25, 0.75, 1), (0.0, 0.5, 2), (1.0, 0.9, 1)])
def test_the_same_as_ndeval_with_other_parameters(seeds, alpha, beta, rel):
    judgments, run = many_topics(seeds)
    expected = by_ndeval(judgments, in_ranks(run), alpha=alpha, beta=beta, rel=rel)
    ours = {
        "alpha-nDCG@5": f"alpha_nDCG(alpha={alpha}, rel={rel})@5",
        "alpha-DCG@5": f"alpha_DCG(alpha={alpha}, rel={rel})@5",
        "ERR-IA@3": f"ERR_IA(alpha={alpha}, rel={rel})@3",
        "nERR-IA@3": f"nERR_IA(alpha={alpha}, rel={rel})@3",
        "NRBP": f"NRBP(alpha={alpha}, beta={beta}, rel={rel})",
        "nNRBP": f"nNRBP(alpha={alpha}, beta={beta}, rel={rel})",
        "P-IA@5": f"P_IA(rel={rel})@5",
        "MAP-IA": f"AP_IA(rel={rel})",
        "strec@3": f"strec(rel={rel})@3",
    }
    found = evaluated(judgments, run, list(ours.values()))
    for name, measure in ours.items():
        for query, value in zip(found["query"], found[measure], strict=True):
            if not math.isnan(expected[query][name]):
                assert value == pytest.approx(expected[query][name], abs=1e-12), (query, name)


def weights_of(judgments, seed):
    rng = random.Random(seed)  # noqa: S311
    return {
        query: {subtopic: rng.choice([0.1, 0.25, 0.5, 3]) for subtopic in subtopics}
        for query, subtopics in judgments.items()
    }


LITERAL = {
    "alpha_nDCG(alpha=0.3)@4": lambda j, d, w: alpha_ndcg(j, d, 4, alpha=0.3, weights=w),
    "alpha_nDCG": lambda j, d, w: alpha_ndcg(j, d, None, weights=w),
    "nERR_IA@4": lambda j, d, w: alpha_ndcg(j, d, 4, weights=w, total=reciprocal),
    "alpha_DCG@4": lambda j, d, w: over_complete(j, d, 4, weights=w),
    "ERR_IA(alpha=0.7)@4": lambda j, d, w: over_complete(
        j, d, 4, alpha=0.7, weights=w, total=reciprocal
    ),
    "NRBP(beta=0.8)": lambda j, d, w: nrbp(j, d, beta=0.8, weights=w),
    "D_nDCG@4": lambda j, d, w: d_ndcg(j, d, 4, weights=w),
    "D_nDCG(gain=exp2)": lambda j, d, w: d_ndcg(j, d, None, weights=w, worth=lambda g: 2**g - 1),
    "Dsharp_nDCG@3": lambda j, d, w: d_ndcg(j, d, 3, gamma=0.5, weights=w),
    "Dsharp_nDCG(gamma=0.2)@9": lambda j, d, w: d_ndcg(j, d, 9, gamma=0.2, weights=w),
}


@pytest.mark.parametrize("weighted", [False, True])
@in_tens(80)
def test_the_same_as_the_literal_implementation(seeds, weighted):
    judgments, run = many_topics((seed + 1000 for seed in seeds), grades=(0, 0, 1, 2, 3))
    weights = weights_of(judgments, seeds[0]) if weighted else None
    found = evaluated(judgments, run, list(LITERAL), weights=weights)
    for query, row in found.to_dict().items():
        if not relevant_to(judgments[query], 1):
            assert set(row.values()) == {0.0}
            continue
        given = None if weights is None else weights[query]
        for name, literal in LITERAL.items():
            expected = literal(judgments[query], listed(run[query]), given)
            assert row[name] == pytest.approx(expected, abs=1e-12), (query, name)


INNER = ["nDCG@3", "ERR@20", "AP", "P(rel=2)@3", "RR", "nDCG(gain=exp2)", "RBP(p=0.5)", "R@5"]


@pytest.mark.parametrize("weighted", [False, True])
@in_tens(30)
def test_intent_aware_measures_are_those_of_each_subtopic_alone(seeds, weighted):
    judgments, run = many_topics((seed + 2000 for seed in seeds), grades=(0, 0, 1, 2, 3))
    weights = weights_of(judgments, seeds[0]) if weighted else None
    found = evaluated(judgments, run, [f"IA({name})" for name in INNER], weights=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        expected = intent_aware(judgments, run, INNER, weights)
    for query, row in found.to_dict().items():
        for name in INNER:
            value = expected[query][name]
            assert row[f"IA({name})"] == pytest.approx(value, abs=1e-12), (query, name)


@in_tens(40)
def test_two_ways_to_the_same_number(seeds):
    """P_IA and AP_IA have kernels of their own, and are IA(P) and IA(AP)."""
    judgments, run = many_topics(seed + 3000 for seed in seeds)
    found = evaluated(
        judgments, run, ["P_IA@5", "IA(P@5)", "AP_IA", "IA(AP)", "strec@5", "IA(Success@5)"]
    )
    for direct, by_parts in (
        ("P_IA@5", "IA(P@5)"),
        ("AP_IA", "IA(AP)"),
        ("strec@5", "IA(Success@5)"),
    ):
        assert found[direct] == pytest.approx(found[by_parts], abs=1e-12)


@in_tens(40)
def test_facts(seeds):
    judgments, run = many_topics(seed + 4000 for seed in seeds)
    single = {query: {"only": subtopics["s0"]} for query, subtopics in judgments.items()}
    # With one subtopic and no novelty, it is nDCG of binary grades, and D_nDCG is nDCG.
    found = evaluated(single, run, ["alpha_nDCG(alpha=0)@5", "D_nDCG@5", "IA(nDCG@5)"])
    plain = {query: subtopics["only"] for query, subtopics in single.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        usual = gf.evaluate(plain, run, ["nDCG(gain=binary)@5", "nDCG@5"]).per_query
    assert found["alpha_nDCG(alpha=0)@5"] == pytest.approx(usual["nDCG(gain=binary)@5"], abs=1e-12)
    assert found["D_nDCG@5"] == pytest.approx(usual["nDCG@5"], abs=1e-12)
    assert found["IA(nDCG@5)"] == pytest.approx(usual["nDCG@5"], abs=1e-12)
    # Weights that are all alike, and any multiple of weights, change nothing.
    weights = weights_of(judgments, seeds[0])
    twice = {q: {s: 8 * weight for s, weight in each.items()} for q, each in weights.items()}
    alike = {q: dict.fromkeys(each, 0.125) for q, each in weights.items()}
    names = ["alpha_nDCG@5", "ERR_IA@5", "NRBP", "Dsharp_nDCG@5", "IA(nDCG@5)"]
    bare = evaluated(judgments, run, names)
    for one, other in (
        (bare, evaluated(judgments, run, names, weights=alike)),
        (
            evaluated(judgments, run, names, weights=weights),
            evaluated(judgments, run, names, weights=twice),
        ),
    ):
        for name in names:
            assert one[name] == pytest.approx(other[name], abs=1e-12)
    # Unjudged documents at the end, and judgments of grade 0, change nothing either.
    longer = {q: {**docs, "unknown": -1.0} for q, docs in run.items()}
    assert evaluated(judgments, longer, names).to_dict() == bare.to_dict()
    more = {q: {**subtopics, "none": {"d0": 0}} for q, subtopics in judgments.items()}
    assert evaluated(more, run, names).to_dict() == bare.to_dict()


def test_greedy_ties_take_the_larger_id():
    # Greedy by the larger id takes "c" first, then "a" and "b" have a gain of 1 each; by the
    # smaller it would take "a", "b", "c" with gains 2, 2 and 0.
    judgments = {"q": {"1": {"a": 1, "c": 1}, "2": {"a": 1}, "3": {"b": 1, "c": 1}, "4": {"b": 1}}}
    run = {"q": {"a": 3, "b": 2, "c": 1}}
    value = gf.subtopics.evaluate_subtopics(judgments, run, "alpha_nDCG(alpha=1)@3")[
        "alpha_nDCG(alpha=1)@3"
    ]
    discount = 1 / math.log2(3)
    # 2 + 2·d over 2 + d + 1/2: the greedy order is not the best one, and the value is above 1.
    assert value == pytest.approx((2 + 2 * discount) / (2 + discount + 0.5), abs=1e-12)
    assert value > 1
