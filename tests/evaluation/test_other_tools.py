"""Equality with other evaluators, under their own policies."""

import random
import warnings

import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import dcg_score, ndcg_score

import gainful as gf
from random_runs import random_cases

# pytrec_eval compares scores in single precision: these are exact in it, so ties are the same.
SINGLE = tuple(float(np.float32(number)) for number in (0.1, 0.25, 0.5, 0.7, 3.0, -1.5))


@pytest.mark.parametrize("chunk", range(5))
def test_pytrec_eval(chunk):
    """Its policy: negative grades gain nothing, and a judged query that the run lacks is skipped."""
    policy = gf.Policy(negative="zero", missing="skip", ties="doc")
    measures = {
        "nDCG": "ndcg",
        "nDCG@1": "ndcg_cut_1",
        "nDCG@3": "ndcg_cut_3",
        "nDCG@5": "ndcg_cut_5",
    }
    for start in range(chunk * 400, chunk * 400 + 400, 16):
        judgments, run = random_cases(
            range(start, start + 16), grades=(-1, 0, 0, 1, 2, 3), scores=SINGLE, documents=8
        )
        for docs in judgments.values():
            if max(docs.values()) < 0:
                docs[next(iter(docs))] = (
                    0  # it never returns from a query with negative grades only
                )
        evaluator = pytrec_eval.RelevanceEvaluator(judgments, {"ndcg", "ndcg_cut.1,3,5"})
        theirs = evaluator.evaluate(run)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.errors.GainfulWarning)
            ours = gf.evaluate(judgments, run, list(measures), policy=policy).per_query.to_dict()
        # It reports queries of the run without judgments as well.
        assert ours.keys() == theirs.keys() & judgments.keys()
        for query, values in ours.items():
            for measure, name in measures.items():
                assert values[measure] == pytest.approx(theirs[query][name], abs=1e-12), query


def test_pytrec_eval_compares_scores_in_single_precision():
    """Nearly tied scores: with precision=single every value is its own, with double some are not."""
    measures = {"nDCG": "ndcg", "nDCG@1": "ndcg_cut_1", "nDCG@3": "ndcg_cut_3"}
    differ = {"single": 0, "double": 0}
    for seed in range(200):
        rng = random.Random(seed)  # noqa: S311
        docs = [f"d{number}" for number in range(12)]
        judgments = {"q": {doc: rng.choice((0, 1, 2, 3)) for doc in docs[:9]} | {"d3": 1}}
        run = {"q": {doc: rng.choice((0.3, 7.1, -2.0)) + rng.randrange(60) * 1e-8 for doc in docs}}
        theirs = pytrec_eval.RelevanceEvaluator(judgments, {"ndcg", "ndcg_cut.1,3"}).evaluate(run)
        for precision in differ:
            policy = gf.Policy(ties="doc", precision=precision)
            ours = gf.evaluate(judgments, run, list(measures), policy=policy)
            differ[precision] += sum(
                ours[measure] != pytest.approx(theirs["q"][name], abs=1e-12)
                for measure, name in measures.items()
            )
    assert differ["single"] == 0
    assert differ["double"] > 100


@pytest.mark.parametrize("k", [None, 1, 3, 10])
@pytest.mark.parametrize("levels", [2, 5, 1000])
def test_scikit_learn_averages_ties(k, levels):
    rng = np.random.default_rng(levels)
    labels = rng.integers(0, 4, (300, 12)).astype(float)
    labels[::50] = 0.0  # queries without positive gain
    scores = rng.integers(0, levels, (300, 12)) / levels
    name = "nDCG(ideal=retrieved)" if k is None else f"nDCG(ideal=retrieved)@{k}"
    usual = "nDCG" if k is None else f"nDCG@{k}"
    # In arrays every document is in the list, and either ideal is the same.
    plain = gf.evaluate_arrays(labels=labels, scores=scores, measures=usual)
    ours = gf.evaluate_arrays(labels=labels, scores=scores, measures=name)
    assert ours[name] == pytest.approx(ndcg_score(labels, scores, k=k), abs=1e-12)
    each = [ndcg_score(labels[[row]], scores[[row]], k=k) for row in range(0, 300, 3)]
    assert ours.values[::3, 0] == pytest.approx(each, abs=1e-12)
    assert plain.values.tobytes() == ours.values.tobytes()


@pytest.mark.parametrize("k", [1, 2, 5, None])
def test_scikit_learn_on_the_lists_of_a_run(k):
    """It knows the documents that it is given: not those that are judged and were not retrieved."""
    name = "nDCG(ideal=retrieved)" if k is None else f"nDCG(ideal=retrieved)@{k}"
    differ = 0
    for start in range(0, 200, 20):
        judgments, run = random_cases(
            range(start, start + 20), grades=(0, 0, 1, 2, 3, 0.5), documents=8
        )
        policy = gf.Policy(ties="average", missing="skip")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.errors.GainfulWarning)
            ours = gf.evaluate(judgments, run, name, policy=policy).per_query.to_dict()
            usual = gf.evaluate(judgments, run, "nDCG", policy=policy).per_query.to_dict()
        for query, row in ours.items():
            labels = [[judgments[query].get(doc, 0) for doc in run[query]]]
            if len(labels[0]) > 1:  # one document alone is an error there
                theirs = ndcg_score(labels, [list(run[query].values())], k=k)
                assert row[name] == pytest.approx(theirs, abs=1e-12), query
                differ += row[name] != usual[query]["nDCG"]
    assert differ > 100


@pytest.mark.filterwarnings("ignore:.*the labels have fractions:gainful.errors.GainfulWarning")
@pytest.mark.parametrize("base", [2, 10, 1.5])
def test_scikit_learn_dcg(base):
    rng = np.random.default_rng(3)
    labels, scores = rng.normal(size=(100, 9)), rng.integers(0, 3, (100, 9)).astype(float)
    name = str(gf.Measure("DCG", base=base, cutoff=4))
    ours = gf.evaluate_arrays(labels=labels, scores=scores, measures=name)
    assert ours[name] == pytest.approx(dcg_score(labels, scores, k=4, log_base=base), abs=1e-12)
