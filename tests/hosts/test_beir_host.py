"""`EvaluateRetrieval`, beside BEIR's own."""

import copy
import inspect
import pathlib
import random

import pytest
from beir.retrieval.evaluation import EvaluateRetrieval as Theirs

import gainful as gf
from gainful.integrations.beir import EvaluateRetrieval


def case(seed, grades=(0, 0, 1, 2)):
    """Judgments and results with ties; every query retrieves itself, and some judge themselves."""
    rng = random.Random(seed)  # noqa: S311
    qrels = {
        f"q{n}": {f"d{i}": rng.choice(grades) for i in range(9)} | ({f"q{n}": 1} if n % 3 else {})
        for n in range(8)
    }
    results = {
        query: {f"d{i}": rng.randrange(6) / 8 for i in rng.sample(range(14), 10)} | {query: 1.5}
        for query in qrels
    }
    return qrels, results


@pytest.mark.parametrize("ignore", [True, False])
@pytest.mark.parametrize("seed", [1, 2])
def test_numbers_names_and_rounding_are_beirs(seed, ignore):
    qrels, results = case(seed)
    given = copy.deepcopy((qrels, results))
    found = EvaluateRetrieval.evaluate(qrels, results, [1, 3, 10, 100], ignore)
    assert (qrels, results) == given
    assert found == Theirs.evaluate(*given, [1, 3, 10, 100], ignore)
    assert (given[1] == results) is not ignore  # which BEIR itself has changed
    assert [*found[1]] == ["MAP@1", "MAP@3", "MAP@10", "MAP@100"]


def test_the_same_by_default_and_not_rounded_as_scores():
    qrels, results = case(3)
    evaluator = EvaluateRetrieval(k_values=[1, 10])
    found = evaluator.evaluate(qrels, results, evaluator.k_values)
    assert found == Theirs.evaluate(qrels, copy.deepcopy(results), [1, 10])
    scores = EvaluateRetrieval.scores(qrels, results, [1, 10])
    assert round(scores["nDCG@10"], 5) == found[0]["NDCG@10"] != scores["nDCG@10"]
    beir = gf.evaluate(qrels, results, ["nDCG@10", "AP@10"], dialect="beir")
    assert (scores["nDCG@10"], scores["AP@10"]) == (beir["nDCG@10"], beir["AP@10"])


def test_scores_accept_weights():
    qrels, results = case(3)
    weights = {query: at + 1 for at, query in enumerate(qrels)}
    scores = EvaluateRetrieval.scores(qrels, results, [10], weights=weights, clusters="id:q")
    values = dict(zip(scores.queries, scores.per_query["nDCG@10"], strict=True))
    mean = sum(weights[query] * value for query, value in values.items()) / sum(weights.values())
    assert scores["nDCG@10"] == pytest.approx(mean, abs=1e-15)


def test_missing_queries_are_left_out_as_in_beir_and_told():
    qrels, results = case(4)
    del results["q2"]
    results["more"] = {"d1": 1.0}
    with pytest.warns(gf.errors.GainfulWarning, match="1 judged queries are not in the results"):
        found = EvaluateRetrieval.evaluate(qrels, results, [10])
    assert found == Theirs.evaluate(qrels, copy.deepcopy(results), [10])


@pytest.mark.parametrize("metric", ["mrr", "MRR@k", "accuracy", "top_k_acc"])
def test_custom_metrics(metric):
    qrels, results = case(5)
    del results["q2"]  # BEIR counts it as 0 here
    found = EvaluateRetrieval.evaluate_custom(qrels, results, [1, 3, 5], metric)
    assert found == Theirs.evaluate_custom(qrels, results, [1, 3, 5], metric)


def test_it_searches_with_what_beir_searches_with():
    class Search:
        def search(self, corpus, queries, top_k, score_function, **options):
            return {"asked": (corpus, queries, top_k, score_function, options)}

    found = {
        kind: kind(Search(), k_values=[1, 7], score_function="dot").retrieve(
            {"d": {}}, {"q": ""}, a=1
        )
        for kind in (EvaluateRetrieval, Theirs)
    }
    assert found[EvaluateRetrieval] == found[Theirs]
    assert EvaluateRetrieval().k_values == Theirs().k_values
    with pytest.raises(gf.errors.InputError, match="retriever"):
        EvaluateRetrieval().retrieve({}, {})


@pytest.mark.parametrize(
    ("k_values", "message"),
    [
        ([], "k_values"),
        ("10", "k_values"),
        (10, "k_values"),
        ([0], "k_values"),
        ([1.5], "k_values"),
    ],
)
def test_cutoffs_that_are_none_are_refused(k_values, message):
    with pytest.raises(gf.errors.GainfulError, match=message):
        EvaluateRetrieval.evaluate(*case(1), k_values)


def test_metrics_that_are_none_are_refused():
    with pytest.raises(
        gf.errors.InputError, match="metric: expected mrr or accuracy, found 'hole'"
    ):
        EvaluateRetrieval.evaluate_custom(*case(1), [1], "hole")
    with pytest.raises(gf.errors.GainfulError, match="metric"):
        EvaluateRetrieval.evaluate_custom(*case(1), [1], 3)


class Files:
    """Encodes into files, and searches these, as BEIR's dense retrievers do."""

    def encode(self, corpus, queries, encode_output_path, overwrite, **names):
        self.told = corpus, queries, overwrite, names
        folder = pathlib.Path(encode_output_path)
        for name in (names["query_filename"], "part.0.pkl", "part.1.pkl"):
            (folder / name).write_text("")

    def search_from_files(self, query_embeddings_file, corpus_embeddings_files, top_k, **options):
        return query_embeddings_file, sorted(corpus_embeddings_files), top_k, options, self.told


def test_it_encodes_and_searches_files_as_beir_does(tmp_path):
    names = {"query_filename": "asked.pkl", "corpus_filename": "part.*.pkl"}
    found = [
        kind(Files(), k_values=[1, 7]).encode_and_retrieve(
            {"d": {}}, {"q": ""}, str(tmp_path), overwrite=True, **names, a=1
        )
        for kind in (EvaluateRetrieval, Theirs)
    ]
    assert found[0] == found[1]
    assert len(found[0][1]) == 2
    ours, theirs = (
        inspect.signature(kind.encode_and_retrieve).parameters.values()
        for kind in (EvaluateRetrieval, Theirs)
    )
    assert [one.default for one in ours] == [one.default for one in theirs]
    assert [one.name for one in ours][:-1] == [one.name for one in theirs][:-1]


@pytest.mark.parametrize("retriever", [None, object()])
def test_a_retriever_that_cannot_encode_is_refused(retriever):
    with pytest.raises(gf.errors.InputError, match="retriever: expected one of BEIR's"):
        EvaluateRetrieval(retriever).encode_and_retrieve({}, {})


@pytest.mark.parametrize("few", [True, False])
def test_arguments_in_each_others_place_are_told(few, recwarn):
    qrels, results = case(6)
    if few:
        qrels, results = {"q1": {"a": 1, "b": 0}}, {"q1": {"a": 0.7, "b": 0.2}}
    told = "Check that the (qrels|judgments) come first"
    EvaluateRetrieval.evaluate(qrels, results, [10])
    EvaluateRetrieval.evaluate_custom(qrels, results, [10], "mrr")
    assert not recwarn
    if not few:
        results = {query: {doc: s / 7 + i / 99 for i, (doc, s) in enumerate(docs.items())}
                   for query, docs in results.items()}  # fmt: skip
    for call in (
        lambda: EvaluateRetrieval.evaluate(results, qrels, [10]),
        lambda: EvaluateRetrieval.evaluate_custom(results, qrels, [10], "mrr"),
    ):
        with pytest.warns(gf.errors.GainfulWarning, match=told) as seen:
            call()
        assert len(seen) == 1
