"""The evaluators for sentence-transformers, beside the host's own, with a tiny random model."""

import csv
import warnings

import pytest
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
from sentence_transformers import SentenceTransformerTrainingArguments as Arguments
from sentence_transformers.sentence_transformer import evaluation as host
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

import gainful as gf
from gainful.integrations.sentence_transformers import (
    InformationRetrievalEvaluator,
    RerankingEvaluator,
)

WORDS = "abcdefgh"
QUERIES = {"q1": "a b", "q2": "c d", "q3": "e", "q4": "f g h"}
# Texts of the same words have the same embedding, so that there are ties, also at the ends of lists.
CORPUS = {
    f"d{n}": " ".join(word for bit, word in enumerate(WORDS) if (n % 30) * 7 + 3 >> bit & 1) or "a"
    for n in range(60)
}
GRADED = {
    "q1": {"d1": 3, "d31": 1, "d2": 2, "d9": 0},
    "q2": {"d3": 2},
    "q3": {"d7": 1, "d9": 2, "d11": 0, "none": 3},
    "q4": {"d40": 1, "d41": 1},
}
SETS = {query: {doc for doc, grade in docs.items() if grade} for query, docs in GRADED.items()}
ASCENDING = {"ties": "doc_ascending"}


def tiny(seed=0, dimensions=4):
    """A model that adds up one vector for each word."""
    torch.manual_seed(seed)
    vocabulary = {word: place for place, word in enumerate(["?", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))  # noqa: S106
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    module = StaticEmbedding(tokenizer, embedding_dim=dimensions)
    return SentenceTransformer(modules=[module], device="cpu")


@pytest.fixture(scope="module")
def model():
    return tiny()


def test_weights_weigh_the_means(model):
    weights = {"q1": 1, "q2": 5, "q3": 2, "q4": 0}
    plain, ours = (
        InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED, **options)
        for options in ({}, {"weights": weights, "clusters": "id:q"})
    )
    plain(model)
    values = dict(zip(QUERIES, plain.scores["cosine"].per_query["nDCG@10"], strict=True))
    mean = sum(weights[query] * value for query, value in values.items()) / 8
    assert ours(model)["cosine_ndcg@10"] == pytest.approx(mean, abs=1e-15)
    with pytest.raises(gf.errors.InputError, match="weights: expected a weight for every query"):
        InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED, weights={"q1": 1})


@pytest.mark.parametrize("chunk", [7, 50_000])
def test_sets_give_the_numbers_of_the_host(model, chunk):
    options = {"name": "x", "corpus_chunk_size": chunk, "ndcg_at_k": [3, 10], "map_at_k": [5, 40]}
    ours = InformationRetrievalEvaluator(QUERIES, CORPUS, SETS, **options)
    theirs = host.InformationRetrievalEvaluator(QUERIES, CORPUS, SETS, **options)
    found = ours(model)
    assert found == pytest.approx(theirs(model), abs=1e-15)
    assert ours.primary_metric == theirs.primary_metric == "x_cosine_ndcg@10"
    # All scores of each query, without chunks: the order and the cut are exact.
    every = model.similarity(
        model.encode_query([*QUERIES.values()]), model.encode_document([*CORPUS.values()])
    ).tolist()
    whole = {
        query: dict(zip(CORPUS, row, strict=True))
        for query, row in zip(QUERIES, every, strict=True)
    }
    for query, listed in ours.runs["cosine"].items():
        ranked = sorted(whole[query], key=lambda doc, of=whole[query]: (-round(of[doc], 6), doc))
        shown = sorted(listed, key=lambda doc, of=listed: (-round(of[doc], 6), doc))
        assert shown == ranked[:40]


def test_grades_are_kept(model):
    more = ["nDCG(gain=exp2)@5", "nDCG@5,10", "AP(rel=2)"]
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED, measures=more)
    found = evaluator(model, None, 1, 2)
    scores = gf.evaluate(
        GRADED,
        evaluator.runs["cosine"],
        ["nDCG@10", "R@3", "Success@1", "RR@10", "P@5", "AP(denominator=min)@100", *more],
        policy=ASCENDING,
    )
    assert evaluator.scores["cosine"]["nDCG@10"] == scores["nDCG@10"]
    for key, measure in {
        "ndcg@10": "nDCG@10",
        "recall@3": "R@3",
        "accuracy@1": "Success@1",
        "mrr@10": "RR@10",
        "precision@5": "P@5",
        "map@100": "AP(denominator=min)@100",
        "nDCG(gain=exp2)@5": "nDCG(gain=exp2)@5",
        "nDCG@5": "nDCG@5",
        "AP(rel=2)": "AP(rel=2)",
    }.items():
        assert found[f"cosine_{key}"] == scores[measure]
    binary = host.InformationRetrievalEvaluator(QUERIES, CORPUS, SETS)(model)
    assert found["cosine_ndcg@10"] != pytest.approx(binary["cosine_ndcg@10"], abs=0.001)


def test_a_graded_ndcg_worked_by_hand(model):
    """The best document of d2, d1 has the grade 1 and the other 3: (1 + 3/log2 3) / (3 + 1/log2 3)."""
    queries, corpus = {"q": "a b"}, {"d1": "a c d", "d2": "a b"}
    evaluator = InformationRetrievalEvaluator(queries, corpus, {"q": {"d1": 3, "d2": 1}})
    assert evaluator(model)["cosine_ndcg@10"] == pytest.approx(0.7967075809905066)
    assert [*evaluator.runs["cosine"]["q"]] == ["d2", "d1"]


def test_score_functions_prompts_files_and_predictions_are_the_hosts(model, tmp_path):
    functions = {"dot": lambda a, b: a @ b.T, "minus": lambda a, b: -(a @ b.T)}
    evaluator = InformationRetrievalEvaluator(
        QUERIES, CORPUS, GRADED, score_functions=functions, name="two", write_predictions=True
    )
    found = evaluator(model, str(tmp_path), 3, 40)
    assert evaluator.scores.keys() == evaluator.runs.keys() == functions.keys()
    for name in functions:
        scores = gf.evaluate(GRADED, evaluator.runs[name], policy=ASCENDING)
        assert found[f"two_{name}_ndcg@10"] == scores["nDCG@10"]
    assert found[evaluator.primary_metric] == max(
        found[f"two_{name}_ndcg@10"] for name in functions
    )
    table = tmp_path / "Information-Retrieval_evaluation_two_results.csv"
    (row,) = csv.DictReader(table.read_text().splitlines())
    assert (row["epoch"], row["steps"]) == ("3", "40")
    assert float(row["dot-NDCG@10"]) == found["two_dot_ndcg@10"]
    written = tmp_path / "Information-Retrieval_evaluation_two_predictions_dot.jsonl"
    scores = gf.evaluate(GRADED, written, policy=ASCENDING)
    assert scores["nDCG@10"] == found["two_dot_ndcg@10"]


def test_it_measures_again_without_being_called(model):
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED)
    found = evaluator(model)
    for _ in range(2):
        again = evaluator.compute_metrices(model)
        assert again["cosine"]["ndcg@k"][10] == found["cosine_ndcg@10"]
        assert [*evaluator.scores] == [*evaluator.runs] == ["cosine"]


def test_no_scores_but_those_of_a_chunk_are_there_at_once(model):
    shapes = []

    def product(asking, told):
        shapes.append((len(asking), len(told)))
        return asking @ told.T

    options = {"score_functions": {"dot": product}, "corpus_chunk_size": 8}
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED, **options)
    found = evaluator(model)
    assert shapes == [(4, 8)] * 7 + [(4, 4)]
    whole = InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED, score_functions={"dot": product})
    assert found == pytest.approx(whole(model), abs=1e-12)


def test_policies_and_dialects(model):
    options = {"measures": ["AP"], "dialect": "sentence-transformers"}
    found = InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED, **options)(model)
    zeros = {query: {doc for doc, grade in docs.items() if grade} for query, docs in GRADED.items()}
    theirs = host.InformationRetrievalEvaluator(QUERIES, CORPUS, zeros)(model)
    assert found["cosine_ndcg@10"] == pytest.approx(theirs["cosine_ndcg@10"], abs=1e-15)
    assert found["cosine_AP"] > 0
    averaged = InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED, policy={"ties": "average"})
    assert (
        averaged(model)["cosine_ndcg@10"]
        == (gf.evaluate(GRADED, averaged.runs["cosine"], policy={"ties": "average"})["nDCG@10"])
    )


def test_nothing_is_left_out_in_silence(model):
    with pytest.warns(gf.errors.GainfulWarning, match="1 × a query that has no relevant_docs"):
        InformationRetrievalEvaluator({**QUERIES, "q5": "a"}, CORPUS, GRADED)
    with pytest.warns(gf.errors.GainfulWarning, match="2 × a query of relevant_docs that has no"):
        InformationRetrievalEvaluator(
            QUERIES, CORPUS, {**GRADED, "q5": {"d1": 1}, "q6": {"d1"}, "q7": set()}
        )
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED)
    evaluator(model)
    assert evaluator.scores["cosine"].queries == ("q1", "q2", "q3", "q4")
    assert [*GRADED["q3"]] == ["d7", "d9", "d11", "none"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relevant_docs": None}, "relevant_docs: expected a dict by id"),
        ({"corpus": ["a b"]}, "corpus: expected a dict by id"),
        ({"relevant_docs": {"q1": [["d1"]]}}, "query 'q1': expected {doc: grade}, or a set"),
        ({"relevant_docs": {}}, "relevant_docs: expected documents of some of the queries"),
        ({"relevant_docs": {"q1": "d1"}}, "query 'q1': expected {doc: grade}, or a set"),
        ({"relevant_docs": {"q1": {"d1": "high"}}}, "'high'"),
        ({"measures": "nDCG@1000"}, "cutoffs of at most 100, .* found nDCG@1000. Ask the host"),
        ({"measures": "nDGC@10"}, "nDCG"),
        ({"policy": {"ties": "no"}}, "policy ties"),
    ],
)
def test_what_is_wrong_is_said_before_a_model_is_trained(options, message):
    given = {"queries": QUERIES, "corpus": CORPUS, "relevant_docs": GRADED, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        with pytest.raises(gf.errors.GainfulError, match=message):
            InformationRetrievalEvaluator(**given)


def test_a_model_that_gives_nan_is_refused():
    model = tiny()
    with torch.no_grad():
        model[0].embedding.weight.fill_(float("nan"))
    with pytest.raises(gf.errors.InputError, match="nan"):
        InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED)(model)


def test_a_trainer_keeps_the_best_model_by_it(tmp_path):
    pairs = Dataset.from_dict({"anchor": ["a b", "c d", "e"], "positive": ["a", "d", "h g"]})
    model = tiny(1)
    evaluator = InformationRetrievalEvaluator(QUERIES, CORPUS, GRADED, name="dev")
    arguments = Arguments(
        output_dir=str(tmp_path), max_steps=2, eval_strategy="steps", eval_steps=1, save_steps=1,
        load_best_model_at_end=True, metric_for_best_model="eval_dev_cosine_ndcg@10",
        per_device_train_batch_size=3, report_to=[], use_cpu=True, disable_tqdm=True,
        learning_rate=0.5,
    )  # fmt: skip
    trainer = SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=pairs, evaluator=evaluator,
        loss=MultipleNegativesRankingLoss(model),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the trainer
        trainer.train()
    values = [
        each["eval_dev_cosine_ndcg@10"]
        for each in trainer.state.log_history
        if "eval_dev_cosine_ndcg@10" in each
    ]
    assert len(values) == 2
    assert trainer.state.best_metric == max(values)
    assert evaluator(model)["dev_cosine_ndcg@10"] == pytest.approx(max(values))


SAMPLES = [
    {"query": "a b", "positive": ["a c", "b"], "negative": ["d", "e f", "g"]},
    {"query": "c", "positive": "c d", "negative": ["a", "b", "h g"]},
]


@pytest.mark.parametrize("batched", [True, False])
def test_reranking_without_grades_is_the_hosts(model, batched, tmp_path):
    options = {"name": "x", "use_batched_encoding": batched, "at_k": 3}
    ours = RerankingEvaluator(SAMPLES, measures="nDCG(gain=exp2)@5", **options)
    found = ours(model, str(tmp_path))
    lists = [SAMPLES[0], {**SAMPLES[1], "positive": ["c d"]}]
    theirs = host.RerankingEvaluator(lists, **options)(model)
    assert {key: found[key] for key in theirs} == pytest.approx(theirs, abs=1e-7)
    assert found.keys() - theirs.keys() == {"x_nDCG(gain=exp2)@5"}
    assert ours.primary_metric == "x_ndcg@3"
    assert (tmp_path / "RerankingEvaluator_x_results_@3.csv").exists()
    assert SAMPLES[1]["positive"] == "c d"


def test_reranking_keeps_grades(model):
    graded = [{**SAMPLES[0], "positive": {"a c": 3, "b": 1}}, SAMPLES[1]]
    evaluator = RerankingEvaluator(graded, measures=["nDCG(gain=exp2)@5"])
    found = evaluator(model)
    labels, scores, group = [3, 1, 0, 0, 0, 1, 0, 0, 0], [], [5, 4]
    for sample in SAMPLES:
        texts = [*([sample["positive"]] if sample is SAMPLES[1] else sample["positive"])]
        texts += sample["negative"]
        query = model.encode_query([sample["query"]])
        scores += model.similarity(query, model.encode_document(texts))[0].tolist()
    measures = ["AP", "RR@10", "nDCG@10", "nDCG(gain=exp2)@5"]
    scored = gf.evaluate_arrays(labels=labels, scores=scores, group=group, measures=measures)
    assert [*found.values()] == pytest.approx([*scored.means.values()], abs=1e-7)
    assert evaluator.scores.queries == ("0", "1")
    with pytest.warns(gf.errors.GainfulWarning, match="1 × a sample that has no positive"):
        RerankingEvaluator([*SAMPLES, {"query": "a", "positive": [], "negative": ["b"]}])
    with pytest.raises(gf.errors.InputError, match="samples: expected some"):
        RerankingEvaluator([])
    for odd in (
        None,
        3,
        [None],
        [{"query": "a", "positive": "b"}],
        [{**SAMPLES[0], "negative": 3}],
    ):
        with pytest.raises(gf.errors.InputError, match="samples"):
            RerankingEvaluator(odd)
